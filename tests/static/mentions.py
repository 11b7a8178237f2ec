# SPDX-License-Identifier: Apache-2.0
"""Names and numbers that prose states are those of the code: mentions.py ROOT. Exit 1 names each that is not.

In Markdown and in comments of every language:
- `type::member` and `type::member()` in backticks: the type's body holds that member, or one of its bases does;
- `name()` in backticks: a function of that name exists. Names of libraries (LIBRARIES) pass;
- a file that a comment names (`pieces.hpp`, compose/posting/initiator.hpp) exists;
- numbers of NUMBERS: wherever prose states one, it is the constant of the code.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from prose import inline_tokens, kind_of, paragraphs, tokens_of
from sources import CPP, GENERATED, project_files, report, text_of, without_comments

# Names that no file of ours declares: those of libraries, of the language, and of examples in prose.
LIBRARIES = re.compile(
    r"^(std|MPI\w*|fi|fid|ibv|rdma|ucp?\w?|lci|folly|asio|boost|testing|benchmark|CLI|nlohmann|chrono"
    r"|fi_\w+|ibv_\w+|rdma_\w+|ucp_\w+|uct_\w+"
    r"|FI_\w+|IBV_\w+|smr_\w+|ofi_\w+|rxm_\w+|mlx5_\w+|efadv_\w+|f|main|\w{1,2})$"
)


@dataclass(frozen=True)
class Number:
    """A number that prose states: where the code says it, and how prose does. The pattern's group is the number."""

    file: str  # a name that ends so, wherever its folder is
    constant: str
    prose: str
    page: str = ""  # the files that are read; empty: all


NUMBERS: tuple[Number, ...] = (
    Number(
        "message_tag.hpp",
        r"\bnumber_bits = (\d+)",
        r"connection numbers?(?: names? \w+)? (?:in|of|has|have) (\d+) bits",
    ),
    Number("message_tag.hpp", r"\bnumber_bits = (\d+)", r"guess a number of (\d+) bits"),
    Number("message_tag.hpp", r"\bnumber_bits = (\d+)", r"\d+ of its (\d+) bits count"),
    Number("message_tag.hpp", r"\bmost_index_bits = (\d+)", r"\bindex in (\d+) bits"),
    Number("tests/static/subjects.py", r"^COLUMNS = (\d+)", r"subjects? .*?at most (\d+) characters"),
    Number("message_tag.hpp", r"\bcounted_bits = (\d+)", r"(\d+) of its \d+ bits count"),
    Number(
        "tests/static/sizes.py",
        r"^LINES = (\d+)",
        r"(?:header|file)s? (?:has|have) at most (\d+) lines",
        r"^(?!CONTRIB)",
    ),
    Number("tests/static/sizes.py", r"^LINES = (\d+)", r"at most (\d+) lines", page=r"^CONTRIBUTING\.md$"),
    Number("tests/static/sizes.py", r"^FILES = (\d+)", r"folders? (?:holds?|has|have) at most (\d+) files"),
    Number(
        "tests/static/words.py",
        r"^WORDS = (\d+)",
        r"sentences? (?:of|has|have|above|with)(?: at most| more than)? (\d+) words",
    ),
    Number(
        "tests/static/words.py",
        r"^COLUMNS = (\d+)",
        r"lines? (?:of|has|have|above|with)(?: at most| more than)? (\d+) columns",
    ),
)

_SPAN = re.compile(r"`([^`]+)`")
_QUALIFIED = re.compile(r"(?<![\w:.>])((?:[A-Za-z_]\w*(?:<[^<>()]*>)?::)+)(~?[A-Za-z_]\w*)(<[^<>()]*>)?(\()?")
_CALL = re.compile(r"(?<![\w:.~])([A-Za-z_]\w*)(?:<[^<>()]*>)?\(")
_FILE = re.compile(r"(?<![\w./<*-])((?:[\w-]+/)*[\w-]+\.(?:hpp|cpp|py|cmake|j2|yaml|md)(?:\.j2)?)(?![\w*])")
_HEAD = re.compile(
    r"\b(?:class|struct|union|concept|namespace|enum(?:\s+(?:class|struct))?)\s+"
    r"(?:\[\[[^\]]*\]\]\s*)?((?:\w+::)*\w+)([^;{}()]*)\{"
)
_ALIAS = re.compile(r"\b(?:using\s+(\w+)\s*=|concept\s+(\w+)\s*=|typename\s+(\w+)|class\s+(\w+)\s*[,>])")


class Code:
    """What the C++ of the tree declares, as far as text says it."""

    def __init__(self, root: Path, names: list[str]) -> None:
        self.words: set[str] = set()
        self.functions: set[str] = set()
        self.bodies: dict[str, list[str]] = defaultdict(list)
        self.bases: dict[str, set[str]] = defaultdict(set)
        self.aliases: set[str] = set()
        self.files = {PurePosixPath(name).name for name in names}
        self.paths = set(names)
        for name in names:
            if name.endswith(CPP) or name.endswith((".py", ".h", ".c", ".cmake", ".txt", ".j2")):
                text = (root / name).read_text(encoding="utf-8")
                self._read(without_comments(text) if name.endswith((*CPP, ".h", ".c")) else text, name.endswith(CPP))

    def _read(self, text: str, cpp: bool) -> None:
        self.words.update(re.findall(r"\w+", text))
        self.functions.update(re.findall(r"(\w+)\s*(?:<[^;{}()]*>)?\s*\(", text))
        if not cpp:
            return
        for match in _ALIAS.finditer(text):
            self.aliases.update(group for group in match.groups() if group)
        for match in _HEAD.finditer(text):
            body = _body(text, match.end() - 1)
            for part in match.group(1).split("::"):
                self.bodies[part].append(body)
                self.bases[part].update(re.findall(r"\w+", match.group(2).partition(":")[2]))

    def has_member(self, kind: str, member: str, called: bool, seen: frozenset[str] = frozenset()) -> bool:
        """Does a body of that name, or of a base, hold the member; as a function where it is called?"""
        wanted = re.compile(rf"\b{re.escape(member)}\b" + (r"\s*(?:<[^;{}()]*>)?\s*[({]" if called else ""))
        if any(wanted.search(body) for body in self.bodies[kind]):
            return True
        return any(
            self.has_member(base, member, called, seen | {kind})
            for base in self.bases[kind] - seen - {kind}
            if base in self.bodies
        )


def _body(text: str, begin: int) -> str:
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, begin):
        depth += 1 if match.group(0) == "{" else -1
        if depth == 0:
            return text[begin + 1 : match.start()]
    return text[begin + 1 :]


def prose_of(root: Path, names: list[str]) -> Iterator[tuple[str, int, str]]:
    """(file, line, paragraph) of Markdown and of comments."""
    for name in names:
        if GENERATED.match(name) or name.startswith("tests/fail/") or name == "CHANGELOG.md":
            continue
        text = None if name.endswith(".md") else text_of(root / name)
        if text is not None and kind_of(name, text):
            for each in paragraphs(name, text):
                yield name, each.line, each.text
        elif name.endswith(".md"):
            for line, token in inline_tokens(tokens_of((root / name).read_text(encoding="utf-8"))):
                yield name, line, token.content


def check(root: Path) -> list[str]:
    """One sentence per name that does not exist, and per number that the code contradicts."""
    names = project_files(root)
    code = Code(root, names)
    prose = list(prose_of(root, names))
    problems = []
    for name, line, text in prose:
        for span in _SPAN.findall(text):
            problems += [f"{name}:{line}: {wrong}" for wrong in _span(code, span)]
        if not name.endswith(".md"):
            problems += [f"{name}:{line}: {wrong}" for wrong in _files(code, name, text)]
    return problems + _numbers(root, names, prose)


def _span(code: Code, span: str) -> list[str]:
    if re.match(r"^(\.?/|-|scripts/|cmake |ctest |bash |sh |WEFT_)", span) or "://" in span:
        return []
    problems = []
    for match in _QUALIFIED.finditer(span):
        kinds = [part for part in re.sub(r"<[^<>]*>", "", match.group(1)).split("::") if part]
        member, called = match.group(2), bool(match.group(4))
        if LIBRARIES.match(kinds[0]) or any(LIBRARIES.match(kind) for kind in kinds):
            continue
        kind = kinds[-1]
        if kind in code.bodies:
            if not code.has_member(kind, member, called) and member.lstrip("~") != kind:
                problems.append(f"`{span}`: {kind} has no {'function' if called else 'member'} {member}")
        elif kind not in code.aliases and kind not in code.words:
            problems.append(f"`{span}`: no {kind} is declared")
        elif member not in code.words:
            problems.append(f"`{span}`: no {member} is declared")
    for match in _CALL.finditer(span):
        if match.group(1) not in code.functions | code.aliases and not LIBRARIES.match(match.group(1)):
            problems.append(f"`{span}`: no function {match.group(1)} is declared")
    return problems


def _files(code: Code, name: str, text: str) -> list[str]:
    problems = []
    for found in _FILE.findall(text):
        below = PurePosixPath(name).parent / found
        known = (
            found in code.paths
            or below.as_posix() in code.paths
            or any(path.endswith("/" + found) for path in code.paths)
        )
        if not known and not (("/" not in found) and found in code.files):
            problems.append(f"{found} is no file of the tree")
    return problems


def _numbers(root: Path, names: list[str], prose: list[tuple[str, int, str]]) -> list[str]:
    problems = []
    for number in NUMBERS:
        sources = [name for name in names if name.endswith(number.file)]
        said = [
            match.group(1)
            for name in sources
            if (match := re.search(number.constant, (root / name).read_text(encoding="utf-8"), re.MULTILINE))
        ]
        if len(said) != 1:
            problems.append(f"tests/static/mentions.py: {number.file} does not say {number.constant}: mend the table")
            continue
        for name, line, text in prose:
            for match in re.finditer(number.prose, text, re.IGNORECASE) if re.search(number.page, name) else ():
                if match.group(1) != said[0]:
                    problems.append(f'{name}:{line}: "{match.group(0)}", but {number.file} says {said[0]}')
    return problems


if __name__ == "__main__":
    sys.exit(report(check(Path(sys.argv[1])), "names and numbers of the prose are those of the code"))
