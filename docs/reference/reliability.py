# SPDX-License-Identifier: Apache-2.0
"""reliability.md: what was tried to break weft, with figures; from reliability.yaml and .json of docs/tables."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

PAGE = "docs/reference/reliability.md"
LISTS = "docs/tables/reliability.yaml"
FIGURES = "docs/tables/reliability.json"
_STATES = ("defended", "partly", "open")
_FIELDS = {
    "promises": ("name", "says", "campaign"),
    "attacks": ("name", "attack", "state", "tests", "note"),
    "defects": ("found_by", "defect", "tests"),
    "reasons": ("campaign", "of", "why"),
}
_BARS = "▁▂▃▄▅▆▇█"
_SOURCES = ("*.cpp", "*.hpp", "*.py", "*.txt", "*.cmake", "*.yaml")
Lists = dict[str, list[dict[str, Any]]]
Figures = dict[str, dict[str, dict[str, Any]]]


def page(root: Path) -> str:
    """Promises with their figures per fabric, attacks with their tests, defects with theirs."""
    lists: Lists = YAML(typ="safe").load((root / LISTS).read_text("utf-8"))
    figures: Figures = json.loads((root / FIGURES).read_text("utf-8")) if (root / FIGURES).exists() else {}
    for problem in problems(lists, figures, _named_tests(root)):
        raise SystemExit(f"{LISTS}: {problem}")
    tried = sum(each["campaign"] in figures for each in lists["promises"])
    counts = ", ".join(f"{sum(each['state'] == state for each in lists['attacks'])} {state}" for state in _STATES)
    return (
        "# What was tried to break weft\n\n"
        "A figure is that of a run: the command repeats the run with the same choices. Machines differ, so times are\n"
        "those of one machine with 2 processors. `BUILD` is a build folder of the programs. `+` after a commit: the\n"
        "tree had changes that were not in it.\n\n"
        f"{tried} of {len(lists['promises'])} campaigns have figures. Of {len(lists['attacks'])} attacks: {counts}.\n\n"
        "## Campaigns\n\n" + _promises(lists, figures) + _broken(lists, figures)
        + "\n## Commands of these figures\n\n" + _commands(figures) + _plots(figures)
        + "\n## Attacks\n\nThe threat model is in [SECURITY.md](../../SECURITY.md).\n\n" + _attacks(lists)
        + "\n## Defects that were found and mended\n\n" + _defects(lists)
    )


def problems(lists: Lists, figures: Figures, tests: set[str]) -> list[str]:
    """Sentences about entries that are incomplete, name unknown tests, or figures that belong to no promise."""
    found = []
    for section, names in _FIELDS.items():
        for each in lists[section]:
            if tuple(each) != names:
                found.append(f"{section}: {each} must have exactly {', '.join(names)}, in this order")
            found += [f"{section}: no test is named {name}" for name in each.get("tests", ()) if name not in tests]
    found += [f"{each['name']}: the state is \"{each['state']}\"; it must be one of {', '.join(_STATES)}"
              for each in lists["attacks"] if each.get("state") not in _STATES]
    found += [f"{each['name']}: \"defended\" needs a test" for each in lists["attacks"]
              if each.get("state") == "defended" and not each.get("tests")]
    known = {each.get("campaign") for each in lists["promises"]}
    found += [f"figures of \"{campaign}\" belong to no promise" for campaign in figures if campaign not in known]
    return found


def _named_tests(root: Path) -> set[str]:
    """Every word of the tests' sources: a renamed test is not among them."""
    words: set[str] = set()
    for folder in ("tests", "fuzz"):
        for kind in _SOURCES:
            for file in (root / folder).rglob(kind):
                words.update(re.findall(r"\w+", file.read_text("utf-8", errors="replace")))
    return words


def _promises(lists: Lists, figures: Figures) -> str:
    rows = []
    for each in lists["promises"]:
        of_fabrics = figures.get(each["campaign"], {})
        first = True
        nothing: list[tuple[str, dict[str, Any]]] = [("", {})]
        for fabric, figure in list(of_fabrics.items()) or nothing:
            said = f"{'' if figure['good'] else '**BROKEN**: '}{figure['said']}" if figure else "**not run**"
            rows.append((each["name"] if first else "", each["says"] if first else "", fabric, said,
                         figure.get("date", "")))
            first = False
    return _table(("", "promise", "fabric or program", "figures", "date"), rows)


def _broken_figures(figures: Figures) -> list[tuple[str, str]]:
    return [(campaign, fabric) for campaign, of_fabrics in figures.items() for fabric, figure in of_fabrics.items()
            if not figure["good"]]


def _broken(lists: Lists, figures: Figures) -> str:
    """The reason of each broken figure, as far as somebody found one. Empty where none is broken."""
    reasons = {(each["campaign"], each["of"]): each["why"] for each in lists["reasons"]}
    rows = [(*broken, reasons.get(broken, "not examined")) for broken in _broken_figures(figures)]
    return "\n## Why figures are broken\n\n" + _table(("campaign", "fabric", "why"), rows) if rows else ""


def _commands(figures: Figures) -> str:
    rows = [(campaign, fabric, f"`{figure['command']}`", f"`{figure['commit']}`")
            for campaign, of_fabrics in figures.items() for fabric, figure in of_fabrics.items()]
    return _table(("campaign", "fabric or program", "command", "commit"), rows) if rows else "None yet.\n"


def _plots(figures: Figures) -> str:
    """Quantities over the time of a run, one line each; the lowest bar is the smallest value. Empty without any."""
    rows = []
    for of_fabrics in figures.values():
        for fabric, figure in of_fabrics.items():
            for name, values in figure.get("series", {}).items():
                low, high = min(values), max(values)
                bars = "".join(_BARS[int((each - low) / (high - low or 1) * (len(_BARS) - 1))] for each in values)
                rows.append((fabric, name, f"{values[0]:g}", f"{low:g}", f"{high:g}", f"{values[-1]:g}", bars))
    head = ("fabric", "manager's", "first", "least", "most", "last", "over the run")
    return "\n## Soak over time\n\n" + _table(head, rows) if rows else ""


def _attacks(lists: Lists) -> str:
    return _table(("", "attack", "state", "note", "tests"), [
        (each["name"], each["attack"], each["state"] if each["state"] == "defended" else f"**{each['state']}**",
         each["note"], ", ".join(f"`{name}`" for name in each["tests"])) for each in lists["attacks"]])


def _defects(lists: Lists) -> str:
    rows = [(each["found_by"], each["defect"], ", ".join(f"`{name}`" for name in each["tests"]))
            for each in lists["defects"]]
    return _table(("found by", "defect", "tests"), rows) if rows else "None yet.\n"


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)
