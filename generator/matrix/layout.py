# SPDX-License-Identifier: Apache-2.0
"""How providers.yaml is written by the commands that edit it: cells and sources as text, no line above 120 columns.

Edits are edits of text, so that comments and the layout of everything else stay.
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode

from .loader import Problem, Refused
from .sources import Source, cited

WIDTH = 120
LONGEST = 300  # of one sentence of evidence
Part = tuple[str, str, bool]  # name, value, and whether the value is text in quotes
_BREAK = re.compile(r"(?<=\S) (?=\S)")
_UNQUOTED = str.maketrans({'"': "'", "\\": "/", "[": "(", "]": ")"})


def sentence(text: str, most: int = LONGEST) -> str:
    """Text as evidence takes it: one printable line without quotation marks and brackets, not too long."""
    plain = " ".join("".join(letter if letter.isprintable() else " " for letter in text).translate(_UNQUOTED).split())
    return plain if len(plain) <= most else plain[:most - 4].rsplit(" ", 1)[0] + " ..."


def citing(source: str, text: str, between: str = ": ") -> str:
    """Evidence that cites one source: its name in brackets, then what the source says."""
    head = f"[{source}]{between}"
    return head + sentence(text, LONGEST - len(head))


def plain_name(text: str) -> str:
    """A text as the name of a source."""
    words = re.findall(r"[a-z0-9]+(?:[._][a-z0-9]+)*", text.lower())
    return "-".join(words if words and words[0][0].isalpha() else ["source", *words])[:50].rstrip("._-")


def quoted(text: str, start: int, indent: int) -> str:
    """Text in double quotes that begins in column `start`. The next lines begin in column `indent`."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    words = _BREAK.split(escaped)
    lines = ['"' + words[0]]
    for word in words[1:]:
        column = start if len(lines) == 1 else indent
        if column + len(lines[-1]) + 1 + len(word) > WIDTH - 3:  # room for the quotation mark, a brace and a comma
            lines.append(word)
        else:
            lines[-1] += " " + word
    return ("\n" + " " * indent).join(lines) + '"'


def pair(key: str, text: str, indent: int) -> str:
    """`key: "text"` in a line of its own."""
    return f"{' ' * indent}{key}: {quoted(text, indent + len(key) + 2, indent + 2)}"


def entry(key: str, parts: Sequence[Part], indent: int) -> str:
    """`key: {name: value, ...}` from its parts.

    The entry is one line where that fits. Else values stay in the first line, and each sentence begins a line.
    """
    head = f"{' ' * indent}{key}: {{"
    line = head + ", ".join(f"{name}: {quoted(value, 0, 0) if text else value}" for name, value, text in parts) + "}"
    if len(line) <= WIDTH and "\n" not in line:
        return line
    lines = [head]
    for number, (name, value, text) in enumerate(parts):
        joined = f"{name}: {value}" if not text else ""
        if number == 0 or (not text and len(lines) == 1):
            start = len(lines[-1]) + len(name) + 2
            lines[-1] += ("" if number == 0 else " ") + (joined or f"{name}: {quoted(value, start, indent + 4)}")
        else:
            lines.append(f"{' ' * (indent + 2)}{joined}" if joined else pair(name, value, indent + 2))
        lines[-1] += "}" if number + 1 == len(parts) else ","
    return "\n".join(lines)


def source_text(name: str, source: Source) -> str:
    """One entry of `sources`: its fields are after the name, or below it where they do not fit."""
    parts = [("kind", source.kind, False), *((field, value, True) for field, value in (
        ("text", source.text), ("date", source.date), ("library", source.library), ("setup", source.setup)) if value)]
    beside = entry(name, parts, 2)
    if "\n" not in beside:
        return beside
    lines = ["    {"]
    for number, (field, value, text) in enumerate(parts):
        last = number + 1 == len(parts)
        one = f"{field}: {quoted(value, 0, 0) if text else value}"
        if len(lines[-1]) + 1 + len(one) < WIDTH and "\n" not in one:
            lines[-1] += ("" if lines[-1].endswith("{") else " ") + one
        else:
            lines.append(pair(field, value, 5))
        lines[-1] += "}" if last else ","
    return f"  {name}:\n" + "\n".join(lines)


def child(node: Any, key: str) -> Any:
    """The value of a key; none where there is no such key."""
    found = child_pair(node, key)
    return found[1] if found else None


def child_pair(node: Any, key: str) -> tuple[Any, Any] | None:
    """The key and the value; none where there is no such key."""
    pairs = node.value if isinstance(node, MappingNode) else []
    return next(((name, value) for name, value in pairs if name.value == key), None)


def end_of_text(text: str, node: Node) -> int:
    """After the last character of a block that is no blank and no comment."""
    end = int(node.end_mark.index)
    lines = text[:end].split("\n")
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        end -= len(lines.pop()) + 1
    return end


def require_lines(text: str, file: str) -> None:
    """An edit of text adds and removes whole lines of sources. Errors: Refused, where they stand in braces."""
    found = child_pair(_root(text), "sources")
    if found and found[1].flow_style:
        raise Refused([Problem(file, found[0].start_mark.line + 1,
                               "sources are in braces: give each source a line of its own")])


def start_of_line(text: str, key: Node, refusal: Problem) -> int:
    """Where the line of a key begins. Errors: Refused with `refusal`, where something else is before the key."""
    start = text.rfind("\n", 0, key.start_mark.index) + 1
    if text[start:key.start_mark.index].strip():
        raise Refused([refusal])
    return start


def shares(file: str, line: int, what: str) -> Problem:
    return Problem(file, line, f"{what} shares its line with others: give it a line of its own")


def with_source(text: str, name: str, source: Source) -> tuple[str, str]:
    """The matrix with this source, and the name to cite.

    The name is `name`, unless another source has that name or this source is there already.
    """
    sources = child(_root(text), "sources")
    there = {key.value: _source_of(value) for key, value in sources.value} if sources is not None else {}
    same = next((each for each, known in there.items() if known == source), None)
    if same is not None:
        return text, same
    free, number = name, 2
    while free in there:
        free, number = f"{name}-{number}", number + 1
    added = source_text(free, source)
    if sources is None:
        return f"sources:\n{added}\n{text}", free
    alike = [value for key, value in sources.value if there[key.value].kind == source.kind]
    at = end_of_text(text, alike[-1] if alike else sources)
    return f"{text[:at]}\n{added}{text[at:]}", free


def without_unused(text: str) -> str:
    """The matrix without the sources that nobody cites: an edit may have taken away the last citation."""
    root = _root(text)
    sources = child(root, "sources")
    rows = [value for key, value in root.value if key.value != "sources"]
    used = {name for row in rows for scalar in _scalars(row) for name in cited(scalar)}
    for key, value in reversed(sources.value if sources is not None else []):
        if key.value not in used:
            start = text.rindex("\n", 0, key.start_mark.index) + 1
            end = text.find("\n", end_of_text(text, value))
            text = text[:start] + (text[end + 1:] if end >= 0 else "")
    return text


def _root(text: str) -> Any:
    return YAML(typ="rt", pure=True).compose(text)


def _source_of(node: Any) -> Source:
    return Source(**{key.value: value.value for key, value in node.value})


def _scalars(node: Node) -> Iterable[str]:
    if isinstance(node, ScalarNode):
        yield str(node.value)
    elif isinstance(node, MappingNode):
        for _, value in node.value:
            yield from _scalars(value)
    else:
        for value in node.value:
            yield from _scalars(value)
