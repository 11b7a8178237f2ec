# SPDX-License-Identifier: Apache-2.0
"""Pages of docs/ that are made from other files: pages.py ROOT [--check]. Exit 1 with --check if a page differs.

- docs/limitations.md and docs/glossary.md from the lists in docs/tables/;
- docs/reference/generated/cli.md from the help of `./weft`;
- docs/reference/generated/errors.md from core/error.hpp, core/describe.hpp and generator/errors/pages/;
- docs/reference/mutation.md and docs/reference/nightly.md from the results in docs/tables/ (campaigns.py);
- the tables of bench/README.md from the build's lists and the results in the tree (benches.py);
- docs/reference/drift.md from what was observed of each release of libfabric (generator/releasing/page.py);
- docs/reference/instructions.md from the committed instruction counts (instructions.py);
- pictures in docs/reference/generated/ from the tables, rules and answers of the code (pictures/);
- docs/reference/reliability.md from the lists and figures of campaigns and attacks (reliability.py);
- docs/reference/scale.md from the runs of invocation.scale (scale.py).
"""

from __future__ import annotations

import importlib
import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import benches
import campaigns
import instructions
import reliability
import scale
from pictures import lowerings, road, states
from ruamel.yaml import YAML

CELL_WORDS = 25
COLUMNS = 120
# A line that begins so is read as a list item, a heading or a quotation: its blank is no place to break at.
_NO_BREAK = re.compile(r" (?=(?:[-+#>=]+|\d+[.)])(?: |$))")
_NOTE = (
    "<!-- Generated from {source} by docs/reference/pages.py: do not edit. -->\n"
    "<!-- After a change there: scripts/docs --pages -->\n"
)


def limitations(root: Path) -> str:
    """One table: feature, fabric, limit, workaround, source."""
    source = "docs/tables/limitations.yaml"
    columns = ("feature", "fabric", "limit", "workaround", "source")
    rows = []
    for entry in _read(root / source):
        if tuple(entry) != columns:
            raise SystemExit(f"{source}: {entry} must have exactly {', '.join(columns)}, in this order")
        rows.append([str(entry[column]) for column in columns])
    head = (
        "# What weft does not do\n\n"
        'A row says what is missing, where, and what to do until then. "By hand" means: only `weft::with` chooses\n'
        "that answer, never a rule. Commands and tests in the last column show the limit.\n\n"
    )
    return _NOTE.format(source=source) + head + _table(source, (*columns[:-1], "test or source"), rows)


def glossary(root: Path) -> str:
    """weft's terms next to those of libfabric, verbs and UCX; one table per group."""
    source = "docs/tables/glossary.yaml"
    text = (
        "# Glossary\n\n"
        "weft's terms next to the nearest ones of libfabric, verbs (rdma-core) and UCX. An empty cell means: there is\n"
        "no such thing. Near terms differ in details; the last column says what weft means.\n"
    )
    for group, terms in _read(root / source).items():
        rows = [[str(cell) for cell in term] for term in terms]
        text += f"\n## {group}\n\n" + _table(source, ("weft", "libfabric", "verbs", "UCX", "meaning"), rows)
    return _NOTE.format(source=source) + text


def commands(root: Path) -> str:
    """The help of each command of ./weft."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root))
    click = importlib.import_module("click")
    group = importlib.import_module("generator.cli").weft
    text = "# The command ./weft\n"
    for name, command in [("", group), *sorted(group.commands.items())]:
        title = f"./weft {name}".strip()
        context = click.Context(command, info_name=title, max_content_width=100, help_option_names=["-h", "--help"])
        help_text = command.get_help(context).replace(str(root), ".").rstrip()
        text += f"\n## {title}\n\n```text\n{help_text}\n```\n"
    codes = importlib.import_module("generator.manual.exits").EXIT_CODES
    rows = [list(each) for each in codes]
    text += "\n## Exit codes\n\n" + _table("generator/manual/exits.py", ("code", "of", "meaning"), rows)
    return _NOTE.format(source="generator/cli.py") + text


def drift(root: Path) -> str:
    """What changes from one release of libfabric to the next."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root))
    made: str = importlib.import_module("generator.releasing.page").page(root)
    return _NOTE.format(source="docs/tables/releases/ and docs/tables/drift.yaml") + made


def errors(root: Path) -> str:
    """Each code of errc with its comment and describe()'s words, and what `again` may wait for."""
    header = (root / "core/error.hpp").read_text("utf-8")
    words = (root / "core/describe.hpp").read_text("utf-8")
    rows = []
    for name, comment in _enumerators(header, "errc"):
        meaning = re.search(rf'case errc::{name}:\s*return "([^"]*)"', words)
        rows.append([f"`{name}`", meaning.group(1) if meaning else "", comment])
    waits = []
    for name, _ in _enumerators(header, "waits_for"):
        meaning = re.search(rf'case waits_for::{name}:\s*return "([^"]*)"', words)
        if meaning:
            waits.append([f"`{name}`", meaning.group(1)])
    origins = [[f"`{name}`", comment] for name, comment in _enumerators(header, "origin")]
    text = (
        "# Error codes\n\n"
        "`status::code` and `failure::why.code` are one of these. `describe(status)` makes a sentence of a status.\n\n"
        + _table("core/error.hpp", ("code", "`describe` says", "notes"), rows, limit=0)
        + "\n## What `again` waits for\n\n`status::waits_for()` is one of these.\n\n"
        + _table("core/error.hpp", ("value", "meaning"), waits, limit=0)
        + "\n## Who found the error\n\n`status::from` says how to read `native_code`: "
        + ", ".join(row[0] for row in origins)
        + ".\n"
        + _catalogue(root)
    )
    return _NOTE.format(source="core/error.hpp and generator/errors/pages/") + text


def _catalogue(root: Path) -> str:
    """Every id with its page."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root))
    catalogue = importlib.import_module("generator.errors.catalogue")
    text = (
        "\n## Ids\n\nAn error ends with its id in brackets. `./weft explain ID` prints what stands here, without a "
        "network.\n`./weft explain --list` lists all.\n"
    )
    kind = ""
    for name, error in sorted(catalogue.all_errors().items(), key=lambda each: ("ROCMW".index(each[0][5]), each[0])):
        if name[5] != kind:
            kind = name[5]
            text += f"\n## {catalogue.KINDS[kind]}\n"
        text += f"\n### {name}: {error.title}\n\n"
        for head, part in (("It says", "says"), ("Cause", "cause"), ("How to see it", "see"), ("Mend", "mend")):
            text += f"- {head}: {getattr(error, part)}\n".replace("<", "\\<").replace("*", "\\*").replace("[", "\\[")
        text += f"\n```text\n{error.example}\n```\n"
    return text


PAGES: dict[str, Callable[[Path], str]] = {
    "docs/limitations.md": limitations,
    "docs/glossary.md": glossary,
    "docs/reference/generated/cli.md": commands,
    "docs/reference/generated/errors.md": errors,
    "docs/reference/drift.md": drift,
    "docs/reference/mutation.md": lambda root: _NOTE.format(source=campaigns.MUTATION) + campaigns.mutation(root),
    "docs/reference/nightly.md": lambda root: _NOTE.format(source=campaigns.NIGHTLY) + campaigns.nightly(root),
    benches.PAGE: benches.page,
    instructions.PAGE: instructions.page,
    "docs/reference/generated/lowerings.svg": lowerings.picture,
    "docs/reference/generated/road.svg": road.picture,
    "docs/reference/generated/states.svg": states.picture,
    scale.PAGE: lambda root: _NOTE.format(source=scale.FIGURES) + scale.page(root),
    reliability.PAGE: lambda root: _NOTE.format(source=reliability.LISTS) + reliability.page(root),
}


def _read(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text("utf-8"))


def _table(source: str, head: tuple[str, ...], rows: list[list[str]], limit: int = CELL_WORDS) -> str:
    for row in rows:
        if len(row) != len(head):
            raise SystemExit(f"{source}: {row} has {len(row)} cells, expected {len(head)}")
        for cell in row:
            if limit and len(cell.split()) > limit:
                raise SystemExit(f'{source}: a cell of more than {limit} words: "{cell}"')
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _enumerators(header: str, name: str) -> list[tuple[str, str]]:
    """(name, comment) of an enumeration. A comment stands after the enumerator, or on lines before it."""
    body = re.search(rf"enum class {name}\b[^{{]*{{(.*?)}};", header, re.DOTALL)
    if body is None:
        raise SystemExit(f"core/error.hpp has no enum class {name}")
    found: list[tuple[str, str]] = []
    before: list[str] = []
    for line in body.group(1).splitlines():
        code, _, comment = line.strip().partition("//")
        comment = comment.lstrip("/<").strip()
        names = re.findall(r"(\w+)(?:\s*=[^,]*)?\s*(?:,|$)", code)
        if names:
            found += [(each, "") for each in names[:-1]]
            found.append((names[-1], " ".join([*before, comment]).strip()))
            before = []
        elif found and comment and line.strip().startswith("///<"):
            found[-1] = (found[-1][0], f"{found[-1][1]} {comment}".strip())
        elif comment:
            before.append(comment)
    return found


def wrapped(text: str) -> str:
    """The page with at most COLUMNS columns in prose and lists. Rows of tables and code stay as they are."""
    lines: list[str] = []
    code = False
    for line in text.split("\n"):
        code ^= line.startswith("```")
        if len(line) <= COLUMNS or code or line.startswith(("|", "#", "<!--")):
            lines.append(line)
            continue
        further = " " * len(re.match(r"(?: *[-*] )?", line)[0])  # type: ignore[index]  # it matches an empty text
        kept = _NO_BREAK.sub("\0", line)
        lines += [each.replace("\0", " ") for each in textwrap.wrap(
            kept, COLUMNS, subsequent_indent=further, break_long_words=False, break_on_hyphens=False)]
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    root = Path(arguments[0]).resolve()
    different = []
    for name, made in PAGES.items():
        text = made(root) if name.endswith(".svg") else wrapped(made(root))
        path = root / name
        if path.is_file() and path.read_text("utf-8") == text:
            continue
        different.append(name)
        if "--check" not in arguments:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    if "--check" in arguments and different:
        print(f"{', '.join(different)}: not what the sources say; run scripts/docs --pages")
        return 1
    print(f"{len(PAGES)} pages are what their sources say")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
