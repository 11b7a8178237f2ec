# SPDX-License-Identifier: Apache-2.0
"""The project's old private words are gone: retired_words.py ROOT [--count].
Exit 1 names each use and the word that replaces it.

RETIRED is the table. Its forms:
- `part`: a part of an identifier or of a file's name (`lane` in `coalescing_lane`, `lane_` and `Lane`).
- `type`: a type, alias, concept or namespace, or a part of a file's name. A variable may have the name.
- `call`: a function that is declared or called: the word before a parenthesis.
A `term` is refused in comments, messages and Markdown too: it has no other meaning in plain English.
ALLOWED says where a word has the field's own meaning, and why.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal

from prose import kind_of
from sources import GENERATED, project_files, report, text_of, without_comments

PRODUCT = r"^(core|wire|policies|compose|backends|coroutines|transfers|event_loops|threads)/"
EVERYWHERE = r""


@dataclass(frozen=True)
class Retired:
    """One old word: how it is found, what replaces it, and where it is refused."""

    word: str
    replacement: str
    form: Literal["part", "type", "call"] = "part"
    term: bool = False
    where: str = EVERYWHERE


RETIRED: tuple[Retired, ...] = (
    Retired("lane", "initiator", term=True),
    Retired("lanes", "initiators", term=True),
    Retired("inbox", "cq_poller", term=True),
    Retired("arrivals", "receive_path", "type"),
    Retired("ends", "completions", "type", where=PRODUCT),
    Retired("meeting", "connection_manager", "type", where=PRODUCT),
    Retired("parting", "teardown", where=PRODUCT),
    Retired("closing", "teardown", "type", where=PRODUCT),
    Retired("awaiting", "blocking_calls", "type", where=PRODUCT),
    Retired("upkeep", "timers", term=True),
    Retired("attention", "poll_budget", "type"),
    Retired("owed", "deferred", term=True, where=PRODUCT),
    Retired("owe", "defer", term=True, where=PRODUCT),
    Retired("owes", "defers", term=True, where=PRODUCT),
    Retired("parked", "unexpected_messages", term=True, where=PRODUCT),
    Retired("graveyard", "retired_receives", term=True),
    Retired("told", "reported", where=PRODUCT),
    Retired("tells", "reports", where=PRODUCT),
    Retired("station", "endpoint_pair"),
    Retired("enrolment", "registration", term=True),
    Retired("enroll", "register_memory, or another name with register", term=True),
    Retired("withdraw", "deregister"),
    Retired("reaching", "completion_level", "type"),
    Retired("together", "notice_batching", "type"),
    Retired("kept_member", "prepared_write", term=True),
    Retired("kept_write", "prepared_write", term=True),
    Retired("listed_batch", "work_request_chain", term=True),
    Retired("likeness", "compatibility", term=True),
    Retired("unlikeness", "incompatibility", term=True),
    Retired("look", "poll", where=PRODUCT),
    Retired("looks", "polls", where=PRODUCT),
    Retired("landed", "write-with-immediate completion", where=PRODUCT),
    Retired("share", "send_region", "call", where=r"^(?!generator/|tests/generator/)"),
    Retired("publish", "export_region", "call"),
    Retired("where", "listen_address", "call", where=PRODUCT),
    Retired("slot_bytes", "max_message_bytes", term=True),
    Retired("rendezvous", "oob_exchange"),
    # A setuid program must not obey its caller's variables.
    Retired(
        "getenv",
        "secure_getenv",
        "call",
        where=r"^(core|wire|policies|compose|backends|coroutines|transfers|event_loops|threads|job|emulator)/",
    ),
)

# (path pattern, word): why the word may stand there.
ALLOWED: dict[tuple[str, str], str] = {
    (r"^CHANGELOG\.md$", ""): "names what was called otherwise before",
    (r"^docs/decisions/", ""): "a decision is recorded in the words of its day",
    (r"^docs/glossary\.md$", ""): "compares words",
    (r"^tests/static/(retired_words|test_\w+)\.py$", ""): "the table itself, and its tests",
    (r"^tests/static/(words|sizes)_\w+\.txt$", ""): "lists of files; the files' own names are refused",
}

_TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|(?<![0-9A-Za-z_])\'(?:\\.|[^\'\\\n])*\'')
_HASH_COMMENT = re.compile(r"(?:^|(?<=\s))#.*$", re.MULTILINE)
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b[^\n]*", re.MULTILINE)  # the file's name is refused, not each mention


def _pattern(retired: Retired) -> re.Pattern[str]:
    word = re.escape(retired.word)
    if retired.form == "part":
        return re.compile(rf"(?<![A-Za-z0-9])(?:{word}|{word.capitalize()})(?![A-Za-z0-9])")
    if retired.form == "type":
        kind = r"\b(?:class|struct|union|enum|concept|namespace|using)\s+(?:\[\[[^\]]*\]\]\s*)?(?:\w+::)*"
        return re.compile(rf"{kind}{word}\b(?!\s*::\s*\w+\s*;)|(?<![\w.]){word}(?:::|<\w)")
    empty = r"\s*\(\s*\)" if retired.word == "where" else r"\s*\("
    return re.compile(rf"(?<![A-Za-z0-9_]){word}{empty}")


_PATTERNS = {retired: _pattern(retired) for retired in RETIRED}


def _code(kind: str, text: str) -> str:
    """The text without comments and literals; line numbers stay."""
    if kind == "cpp":
        text = without_comments(_INCLUDE.sub("", text))
    elif kind in ("hash", "python"):
        text = _HASH_COMMENT.sub("", text)
        text = re.sub(r'"""(.*?)"""', lambda match: "\n" * match.group(0).count("\n"), text, flags=re.DOTALL)
    elif kind == "markdown":
        return ""
    return _TEXT.sub('""', text)


def _allowed(path: str, word: str) -> bool:
    return any(name in ("", word) and re.search(pattern, path) for pattern, name in ALLOWED)


def _in_name(path: str, retired: Retired) -> bool:
    if retired.form == "call":
        return False
    parts = re.split(r"[./]", str(PurePosixPath(path)))
    return (
        any(retired.word in (part, *part.split("_"), *part.split("-")) for part in parts)
        or f"/{retired.word}." in f"/{path}"
    )


def findings(root: Path) -> list[tuple[str, int, int, Retired]]:
    """(path, first line, number of uses, word); line 0: the file's name."""
    found = []
    for path in project_files(root):
        if GENERATED.match(path):
            continue
        wanted = [retired for retired in RETIRED if re.search(retired.where, path) and not _allowed(path, retired.word)]
        found += [(path, 0, 1, retired) for retired in wanted if _in_name(path, retired)]
        text = text_of(root / path)
        kind = kind_of(path, text) if text else None
        if text is None or kind is None:
            continue
        code = _code(kind, text)
        for retired in wanted:
            if retired.form == "call" and kind != "cpp":
                continue
            seen = text if retired.term else code
            lines = [seen.count("\n", 0, match.start()) + 1 for match in _PATTERNS[retired].finditer(seen)]
            if lines:
                found.append((path, lines[0], len(lines), retired))
    return found


def check(root: Path) -> list[str]:
    """One sentence per old word and file."""
    problems = []
    for path, line, uses, retired in findings(root):
        if line == 0:
            problems.append(f'{path}: "{retired.word}" in its name is a retired word: say "{retired.replacement}"')
        else:
            times = f" ({uses} times)" if uses > 1 else ""
            problems.append(f'{path}:{line}: "{retired.word}"{times} is a retired word: say "{retired.replacement}"')
    return problems


def _count(root: Path) -> int:
    words: Counter[str] = Counter()
    for _, _, uses, retired in findings(root):
        words[f"{retired.word} -> {retired.replacement}"] += uses
    for word, uses in words.most_common():
        print(f"{uses:5} {word}")
    return 0


if __name__ == "__main__":
    sys.exit(
        _count(Path(sys.argv[1]))
        if "--count" in sys.argv
        else report(check(Path(sys.argv[1])), "no retired word is used")
    )
