# SPDX-License-Identifier: Apache-2.0
"""Plots of a run by matplotlib: PNG files, and one self-contained page of HTML with the same plots as SVG."""
from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import click
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from . import showing

ROOT = Path(__file__).resolve().parents[2]
_RATES = ("put_notify_rate", "send_rate")  # plotted over windows; all others over sizes
_WHAT = {"put_notify": "round trip", "send": "round trip", "put_visible": "time until visible",
         "fetch_add": "time until its end"}
_MISSING = ("plots are drawn by matplotlib, which is not installed (Debian: python3-matplotlib; scripts/setup bench "
            "installs it); without --out none are drawn")


def require_matplotlib() -> None:
    """Call it before the build, which may take an hour. Errors: UsageError, if matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise click.UsageError(_MISSING) from None


def write(answer: dict[str, Any], folder: Path) -> list[Path]:
    """Writes index.html, and a PNG per plot. Returns the names of the files."""
    require_matplotlib()
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    written, drawn = [], []
    with plt.rc_context({"svg.hashsalt": "weft", "svg.fonttype": "path", "figure.figsize": (9, 5),
                         "legend.fontsize": "small"}):
        for name, title, draw in _plots(answer):
            figure, axes = plt.subplots(layout="constrained")
            draw(axes)
            axes.set_title(title)
            axes.grid(True, which="both", alpha=.25)
            axes.legend()
            figure.supxlabel(showing.provenance(answer), fontsize=5, color="gray")
            path = folder / f"{name}.png"
            figure.savefig(path, dpi=120)
            buffer = io.StringIO()
            figure.savefig(buffer, format="svg", metadata={"Date": None})
            plt.close(figure)
            written.append(path)
            drawn.append({"name": name, "title": title, "svg": _inline(buffer.getvalue(), name)})
    page = folder / "index.html"
    page.write_text(html(answer, drawn), "utf-8")
    return [page, *written]


def html(answer: dict[str, Any], drawn: list[dict[str, str]]) -> str:
    """One file: the page loads nothing."""
    own = showing.own_answers(answer)
    tables = [{"title": f"{name} ({showing._bounds(ranked[0])})", "header": header, "rows": rows}
              for name, ranked in showing._classes(answer) for header, rows in [showing.table_of(ranked, own)]]
    refused = [{"combination": showing.name_of(each["combination"], own),
                "kind": "not measured" if each["legal"] else "illegal",
                "reason": each["reason"]}
               for each in answer["results"] if each["reason"]]
    environment = Environment(loader=FileSystemLoader(str(ROOT / "templates")), undefined=StrictUndefined,
                              autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.get_template("bench.html.j2").render(answer=answer, own=own,
                                                            provenance=showing.provenance(answer), tables=tables,
                                                            refused=refused, plots=drawn)


def _inline(svg: str, prefix: str) -> str:
    """The SVG element, with ids unique in the page and without addresses of other files."""
    element = svg[svg.index("<svg"):]
    element = re.sub(r"<metadata>.*?</metadata>", "", element, flags=re.DOTALL)
    element = re.sub(r'\s+xmlns(:\w+)?="[^"]*"', "", element)  # HTML ignores them
    element = re.sub(r'\bid="', f'id="{prefix}-', element)
    element = re.sub(r'(xlink:href|href)="#', rf'\1="#{prefix}-', element)
    return re.sub(r"url\(#", f"url(#{prefix}-", element)


def _plots(answer: dict[str, Any]) -> list[tuple[str, str, Any]]:
    """File name, title and drawing function of each plot; only where the run has data for it."""
    own = showing.own_answers(answer)
    lines = [(showing.name_of(each["combination"], own), each["operations"]) for each in answer["results"]
             if each["operations"]]
    found: list[tuple[str, str, Any]] = []
    names = dict.fromkeys(one["operation"] for _, operations in lines for one in operations)
    for name in (each for each in names if each not in _RATES):
        found.append((f"latency_{name}", f"{answer['fabric']}: {name}, " + _WHAT.get(name, "time") + " over size",
                      lambda axes, name=name: _over_size(axes, lines, name)))
    for name in (each for each in names if each in _RATES):
        found.append((f"rate_{name.removesuffix('_rate')}",
                      f"{answer['fabric']}: {name.removesuffix('_rate')}, rate over window",
                      lambda axes, name=name: _over_window(axes, lines, name)))
    for name in (each for each in names if each not in _RATES):
        size = min(one["bytes"] for _, operations in lines for one in operations if one["operation"] == name)
        found.append((f"cdf_{name}", f"{answer['fabric']}: {name} of {size} bytes, how many end within",
                      lambda axes, name=name, size=size: _cumulative(axes, lines, name, size)))
    return found


def _over_size(axes: Any, lines: list[tuple[str, list[dict[str, Any]]]], name: str) -> None:
    for label, operations in lines:
        points = sorted((one["bytes"], one["median_ns"] / 1e3, one["p10_ns"] / 1e3, one["p90_ns"] / 1e3)
                        for one in operations if one["operation"] == name)
        if points:
            sizes, middle, low, high = zip(*points)
            (line,) = axes.plot(sizes, middle, marker="o", label=label)
            axes.fill_between(sizes, low, high, alpha=.15, color=line.get_color())
    _doubling(axes)
    axes.set_yscale("log")
    axes.set_xlabel("bytes")
    axes.set_ylabel("microseconds (median; band: p10 to p90 of the turns)")


def _doubling(axes: Any) -> None:
    """Powers of two, in figures."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda value, _place: f"{value / (1 << 20):g} Mi" if value >= 1 << 20
                                   else f"{value / 1024:g} Ki" if value >= 1024 else f"{value:g}")


def _over_window(axes: Any, lines: list[tuple[str, list[dict[str, Any]]]], name: str) -> None:
    for label, operations in lines:
        points = sorted((one["window"], 1e3 / one["median_ns"], 1e3 / max(one["p90_ns"], 1),
                         1e3 / max(one["p10_ns"], 1)) for one in operations
                        if one["operation"] == name and one["window"] and one["median_ns"] > 0)
        if points:
            windows, middle, low, high = zip(*points)
            (line,) = axes.plot(windows, middle, marker="o", label=label)
            axes.fill_between(windows, low, high, alpha=.15, color=line.get_color())
    _doubling(axes)
    axes.set_xlabel("operations before one answer")
    axes.set_ylabel("million operations per second")


def _cumulative(axes: Any, lines: list[tuple[str, list[dict[str, Any]]]], name: str, size: int) -> None:
    for label, operations in lines:
        for one in operations:
            if one["operation"] == name and one["bytes"] == size:
                values = one["quantiles_ns"]
                axes.plot([each / 1e3 for each in values], [place / (len(values) - 1) for place in range(len(values))],
                          label=label)
    axes.set_xscale("log")
    axes.set_xlabel("microseconds")
    axes.set_ylabel("share of operations")
