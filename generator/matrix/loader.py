# SPDX-License-Identifier: Apache-2.0
"""Reads YAML to plain data with a line number for each key and value, and refuses what YAML would misread.

Refused here: duplicate keys, bare yes/no/on/off, true and false in capital letters, and numbers that look octal (010).
Refused too: tags, anchors, values that are no text, number, truth value, list or mapping, and characters that could end
a C++ comment.
"""
from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import ReusedAnchorWarning, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Where = tuple[str | int, ...]

_BOOLEAN_WORDS = frozenset({"yes", "no", "on", "off", "y", "n", "true", "false"})
_OCTAL = re.compile(r"[-+]?0[0-9_]+|[-+]?0o[0-7_]+")
_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_NUMBER_TAGS = frozenset({"tag:yaml.org,2002:int", "tag:yaml.org,2002:float"})
_PLAIN_TAGS = frozenset({"tag:yaml.org,2002:str", "tag:yaml.org,2002:bool", "tag:yaml.org,2002:null"}) | _NUMBER_TAGS
_DEEPEST = 20
_DEEPEST_OF_LIBYAML = 5000
_LOOKS_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # printable letters and signs without ink


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong: where, what, and what would be right."""

    file: str
    line: int
    sentence: str

    def __str__(self) -> str:
        from ..errors.catalogue import INPUTS, with_id  # read only where something is wrong

        return f"{self.file}:{self.line}: {with_id(self.sentence, INPUTS)}"


class Refused(Exception):
    """The input is not accepted; holds every problem found, in the order of the lines."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__(problems)
        self.problems = sorted(set(problems))

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


@dataclass
class Document:
    """Plain data, and the line of each value by its path from the root (of its key, where it has one)."""

    file: str
    data: Any
    lines: dict[Where, int] = field(default_factory=dict)

    def line(self, where: Where) -> int:
        """The line of a path, or of the nearest thing above it that has one."""
        for length in range(len(where), -1, -1):
            if where[:length] in self.lines:
                return self.lines[where[:length]]
        return 1

    def problem(self, where: Where, sentence: str) -> Problem:
        return Problem(self.file, self.line(where), sentence)


def load(path: Path, shown: str | None = None) -> Document:
    """Reads a file. Errors: Refused, with `shown` (or the path) as the file's name."""
    file = shown or str(path)
    return load_text(text_of(path, file), file)


def text_of(path: Path, file: str) -> str:
    """The text with its line ends as they are. Errors: Refused, with `file` as the file's name."""
    data = b""
    try:
        data = path.read_bytes()
        return data.decode("utf-8")
    except OSError as error:
        raise Refused([Problem(file, 1, f"cannot be read: {error.strerror}")]) from None
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        raise Refused([Problem(file, line, f"is not UTF-8 text (byte {error.start})")]) from None


def load_text(text: str, file: str) -> Document:
    """Reads text. Errors: Refused."""
    try:
        root = _composed(text)
    except YAMLError as error:
        raise Refused([_from_parser(error, file, text)]) from None
    except RecursionError:
        raise Refused([Problem(file, 1, f"is nested deeper than {_DEEPEST} levels")]) from None
    except (ValueError, TypeError, AttributeError, IndexError, KeyError,
            AssertionError) as error:  # the parser's own slips on odd text
        raise Refused([Problem(file, 1, f"is not YAML ({type(error).__name__})")]) from None
    document = Document(file, None)
    if root is None:
        raise Refused([Problem(file, 1, "is empty: a mapping is expected")])
    reader = _Reader(document)
    document.data = reader.read(root, ())
    if reader.problems:
        raise Refused(reader.problems)
    return document


@functools.lru_cache(maxsize=8)
def _composed(text: str) -> Node | None:
    """Once for each text, as nobody changes nodes. libyaml is eight times faster; what it refuses, Python explains."""
    if "!" not in text and _nests_at_most(text, _DEEPEST_OF_LIBYAML):  # libyaml writes a tag out
        try:
            quickly: Node | None = YAML(typ="safe").compose(text)
            return quickly
        except (YAMLError, ValueError, TypeError, AttributeError, IndexError, KeyError):
            pass
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReusedAnchorWarning)  # _Reader refuses each anchor, at its line
        root: Node | None = YAML(typ="rt", pure=True).compose(text)
    return root


def _nests_at_most(text: str, levels: int) -> bool:
    """Surely so: a level takes a column of a line or a bracket. libyaml crashes on text that is nested deeply."""
    return max(map(len, text.splitlines()), default=0) + text.count("[") + text.count("{") <= levels


def _from_parser(error: YAMLError, file: str, text: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    what = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
    # What the reader refuses, such as a control character, has no mark.
    line = mark.line + 1 if mark is not None else 1 + text.count("\n", 0, getattr(error, "position", 0))
    return Problem(file, line, f"is not YAML: {' '.join(str(what).split())}")


class _Reader:
    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems: list[Problem] = []
        self._seen: set[int] = set()

    def read(self, node: Node, where: Where) -> Any:
        line = node.start_mark.line + 1
        self.document.lines.setdefault(where, line)
        if id(node) in self._seen or node.anchor:
            return self._refuse(line, "anchors and aliases are not used here: write the value out")
        self._seen.add(id(node))
        if len(where) > _DEEPEST:
            return self._refuse(line, f"is nested deeper than {_DEEPEST} levels")
        readers: dict[type, Callable[[Any, Where], Any]] = {
            ScalarNode: self._scalar, MappingNode: self._mapping, SequenceNode: self._sequence}
        return readers[type(node)](node, where)

    def _refuse(self, line: int, sentence: str) -> None:
        self.problems.append(Problem(self.document.file, line, sentence))

    def _mapping(self, node: MappingNode, where: Where) -> dict[str, Any]:
        self._known_tag(node, "tag:yaml.org,2002:map")
        result: dict[str, Any] = {}
        first: dict[str, int] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, ScalarNode):
                self._refuse(line, "a key must be one word")
                continue
            key = str(key_node.value)
            if not self._plain_text(key, line):
                continue
            if key in first:
                self._refuse(line, f"duplicate key '{key}': line {first[key]} has it already; keep one of the two")
                continue
            first[key] = line
            self.document.lines[(*where, key)] = line
            result[key] = self.read(value_node, (*where, key))
        return result

    def _sequence(self, node: SequenceNode, where: Where) -> list[Any]:
        self._known_tag(node, "tag:yaml.org,2002:seq")
        return [self.read(child, (*where, index)) for index, child in enumerate(node.value)]

    def _known_tag(self, node: Node, tag: str) -> None:
        if str(node.tag) != tag:
            self._refuse(node.start_mark.line + 1, f"unknown tag '{node.tag}': tags are not used here")

    def _plain_text(self, text: str, line: int) -> bool:
        if text.isprintable() and "\\" not in text and _LOOKS_BLANK.isdisjoint(text):
            return True
        self._refuse(line,
                     f"{text!r:.60} has a line break, a backslash or an invisible character: write it in one "
                     f"printable line")
        return False

    def _scalar(self, node: ScalarNode, where: Where) -> Any:
        line, text, tag = node.start_mark.line + 1, str(node.value), str(node.tag)
        if not self._plain_text(text, line):
            return None
        if node.style:  # quoted: always text
            if tag != "tag:yaml.org,2002:str":
                self._refuse(line, f"unknown tag '{tag}': tags are not used here")
            return text
        if tag == "tag:yaml.org,2002:timestamp":
            return self._refuse(line, f'{text} is read as a date: write "{text}"')
        if tag not in _PLAIN_TAGS:
            return self._refuse(line, f"unknown tag '{tag}': tags are not used here")
        return self._bare(text, tag, line)

    def _bare(self, text: str, tag: str, line: int) -> Any:
        if text in ("true", "false"):
            return text == "true"
        if text.lower() in _BOOLEAN_WORDS:
            return self._refuse(line,
                                f"bare '{text}' means different things to different readers: write true or false, "
                                f'or "{text}" if text is meant')
        if _OCTAL.fullmatch(text):
            return self._refuse(line,
                                f'{text} looks octal: write {text.replace("o", "").lstrip("0+-_") or "0"}, or '
                                f'"{text}" if text is meant')
        if tag == "tag:yaml.org,2002:null":
            return None
        if tag in _NUMBER_TAGS:
            if _INTEGER.fullmatch(text) and len(text) <= 24:
                return int(text)
            return self._number(text, line)
        return text

    def _number(self, text: str, line: int) -> Any:
        """A fraction is never a fact; it is nearly always a release that lost its quotes (1.10 would become 1.1)."""
        return self._refuse(line,
                            f'{text} is read as a fraction or an odd number: write "{text}" if a release or text is '
                            f'meant, '
                            "or a plain decimal number")
