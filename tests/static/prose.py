# SPDX-License-Identifier: Apache-2.0
"""The prose of a file: comments of code, paragraphs and table cells of Markdown. Code blocks are no prose.

Markdown is parsed by markdown-it-py (Debian: python3-markdown-it).
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from markdown_it import MarkdownIt
from markdown_it.token import Token
from sources import COMMENT_OR_LITERAL


@dataclass(frozen=True)
class Paragraph:
    """Prose that belongs together: its first line, and its text with single blanks."""

    line: int
    text: str


@dataclass(frozen=True)
class _Comment:
    line: int
    column: int
    alone: bool  # nothing but blanks stands before it
    marker: str
    text: str


_HASH = re.compile(r""""(?:\\.|[^"\\])*"|(?<!\w)'[^']*'|(?:^|(?<=\s))(?P<marker>#+(?!!))(?P<text>.*)$""")
_JINJA_COMMENT = re.compile(r"\{#-?(.*?)-?#\}", re.DOTALL)
_JINJA_VALUE = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_JINJA_STATEMENT = re.compile(r"\{%.*?%\}", re.DOTALL)
_LIST_ITEM = re.compile(r"^([-*+•]|\d+[.)])\s+")
_COLUMNS = re.compile(r"\S {3,}\S")  # a row of a table that is drawn with blanks
_COMMAND = re.compile(
    r"^([\\@][a-z]+\b|(Args|Returns|Raises|Examples?|Requires|Hot path|Threads):|-{1,2}[a-z][\w-]*(, | |$))"
)
# Data whose texts become sentences of a generated page.
_SPOKEN = ("tests/conformance/promises.yaml",)
_QUOTED = re.compile(r'(?<=[:,\[{-] )"((?:\\.|[^"\\])*)"')
_MARKDOWN = MarkdownIt("commonmark").enable("table")


def kind_of(name: str, text: str) -> str | None:
    """cpp, python, hash, markdown or jinja; None where no prose is known."""
    path = PurePosixPath(name)
    if path.suffix in (".hpp", ".cpp", ".h", ".c"):
        return "cpp"
    if path.suffix == ".py":
        return "python"
    if path.suffix in (".cmake", ".yaml", ".yml", ".toml", ".sh", ".in") or path.name in (
        "CMakeLists.txt",
        ".clang-format",
        ".clang-tidy",
    ):
        return "hash"
    if path.suffix == ".md":
        return "markdown"
    if path.suffix == ".j2":
        return "jinja"
    if text.startswith("#!"):
        return "python" if "python" in text.split("\n", 1)[0] else "hash"
    return None


def paragraphs(name: str, text: str) -> list[Paragraph]:
    """The prose of a file, by the kind that its name says."""
    kind = kind_of(name, text)
    if kind == "cpp":
        return _joined(_cpp_comments(text))
    if kind == "python":
        return _python(text)
    if kind == "hash":
        return _joined(_hash_comments(text)) + (_quoted(text) if name in _SPOKEN else [])
    if kind == "markdown":
        return _markdown(text)
    if kind == "jinja":
        return _jinja(name, text)
    return []


def tokens_of(text: str) -> list[Token]:
    """Markdown's tokens, front matter blanked out."""
    front = re.match(r"---\n.*?\n---\n", text, re.DOTALL)
    if front:
        text = "\n" * front.group(0).count("\n") + text[front.end() :]
    return _MARKDOWN.parse(text)


def inline_tokens(tokens: Iterable[Token]) -> Iterator[tuple[int, Token]]:
    """Each inline token with its line; a table's cells have the line of their row."""
    line = 1
    for token in tokens:
        if token.map:
            line = token.map[0] + 1
        if token.type == "inline":
            yield line, token


def _cpp_comments(text: str) -> Iterator[_Comment]:
    for match in COMMENT_OR_LITERAL.finditer(text):
        found = match.group(0)
        if not found.startswith(("//", "/*")):
            continue
        start = text.rfind("\n", 0, match.start()) + 1
        line = text.count("\n", 0, match.start()) + 1
        alone = not text[start : match.start()].strip()
        if found.startswith("/*"):
            for offset, part in enumerate(found[2:-2].splitlines()):
                yield _Comment(line + offset, 0, True, "/*", part.strip().lstrip("*").rstrip())
            continue
        marker = re.match(r"//[/!]?<?", found)
        assert marker
        yield _Comment(line, match.start() - start, alone, marker.group(0), found[marker.end() :])


def _hash_comments(text: str) -> Iterator[_Comment]:
    for number, line in enumerate(text.splitlines(), start=1):
        if "#" not in line:
            continue
        for match in _HASH.finditer(line):
            if match.group("marker"):
                column = match.start("marker")
                yield _Comment(number, column, not line[:column].strip(), "#", match.group("text"))


def _quoted(text: str) -> list[Paragraph]:
    return [
        Paragraph(text.count("\n", 0, match.start()) + 1, " ".join(match.group(1).split()))
        for match in _QUOTED.finditer(text)
    ]


def _python(text: str) -> list[Paragraph]:
    comments = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and not token.string.startswith("#!"):
            alone = not token.line[: token.start[1]].strip()
            comments.append(_Comment(token.start[0], token.start[1], alone, "#", token.string[1:]))
    found = _joined(comments)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node, clean=False
        ):
            literal = node.body[0]
            lines = (ast.get_docstring(node, clean=False) or "").splitlines()
            found += _joined(
                _Comment(literal.lineno + offset, 0, True, '"""', line)
                for offset, line in enumerate(_without_examples(lines))
            )
    return found


def _without_examples(lines: list[str]) -> Iterator[str]:
    r"""A paragraph that begins with \b is drawn as it stands (click): commands, no prose."""
    drawn = False
    for line in lines:
        if line.strip() in ("\\b", "\b"):
            drawn = True
        elif not line.strip():
            drawn = False
        yield "" if drawn else line


def _joined(comments: Iterable[_Comment]) -> list[Paragraph]:
    """Consecutive comment lines are one paragraph; a list item, a blank line and a drawn table's row begin another."""
    found: list[Paragraph] = []
    parts: list[str] = []
    begin = 0
    last: _Comment | None = None

    def end() -> None:
        if parts:
            found.append(Paragraph(begin, " ".join(" ".join(parts).split())))
        parts.clear()

    for comment in comments:
        text = comment.text.strip()
        follows = (
            last is not None
            and comment.alone
            and comment.line == last.line + 1
            and comment.marker == last.marker
            and (comment.column == last.column)
        )
        item = _LIST_ITEM.match(text)
        if not follows or not text or item or _COMMAND.match(text) or _COLUMNS.search(comment.text.rstrip()):
            end()
        if text and not re.fullmatch(r"[\W_]+", text) and "SPDX-License" not in text:
            if not parts:
                begin = comment.line
            parts.append(text[item.end() :] if item else text)
        last = comment
    end()
    return found


def _markdown(text: str) -> list[Paragraph]:
    found = []
    tokens = tokens_of(text)
    for line, token in inline_tokens(tokens):
        found.append(Paragraph(line, " ".join(token.content.split())))
    return found


def _jinja(name: str, text: str) -> list[Paragraph]:
    found = [
        Paragraph(text.count("\n", 0, match.start()) + 1, " ".join(match.group(1).split()))
        for match in _JINJA_COMMENT.finditer(text)
        if "SPDX-License" not in match.group(1)
    ]

    def lines_of(match: re.Match[str]) -> str:
        return "\n" * match.group(0).count("\n")

    plain = _JINJA_STATEMENT.sub(lines_of, _JINJA_COMMENT.sub(lines_of, text))
    plain = _JINJA_VALUE.sub(lambda match: "value" + lines_of(match), plain)
    return found + paragraphs(name.removesuffix(".j2"), plain)
