# SPDX-License-Identifier: Apache-2.0
"""Words that a stranger can read: words.py ROOT [--update-open | --count | path...]. Exit 1 names each finding.

In Markdown (table cells too) and in comments of every language of the tree it refuses:
- a sentence of more than 30 words. A sentence ends at . ! ? : or ; before a blank, and with its paragraph, list item or
  cell. Text in backticks, a link's address, a path and a URL are one word each;
- a phrase of PHRASES.
In every text file it refuses a line of more than 120 columns; rows of Markdown tables count too. Longer may be only a
URL alone, an `// EXPECT:` line of tests/fail/, and a row of a table that is made from a list. Generated files
(sources.GENERATED) and parts of pages are exempt, but lines outside of tables in generated pages of docs/reference/ are
not: people read them in narrow windows.

words_exceptions.txt holds sentences that stay: `path | beginning of the sentence | reason`.
words_open.txt names the files that still break a rule, one path a line. A file that is clean must leave that list, so
the list only shrinks. An exception that excuses nothing is refused too.
`--update-open` rewrites the list (after files moved). `--count` prints the number of findings of each folder.
`words.py ROOT path...` prints the findings of files whose names begin so, open ones included.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from prose import paragraphs
from sources import GENERATED, project_files, read_list, report, text_of, write_list

WORDS = 30
COLUMNS = 120
OPEN = "tests/static/words_open.txt"
EXCEPTIONS = "tests/static/words_exceptions.txt"

# Phrase -> what to write instead.
PHRASES: dict[str, str] = {
    "whoever": 'name the actor ("the caller", "a thread that")',
    "whosoever": "name the actor",
    "of which": "begin a new sentence that names the thing",
    "is told": 'say who reports what to whom ("the handler gets an event")',
    "are told": "say who reports what to whom",
    "what of": "name the thing",
    "thereof": "name the thing",
}
_PHRASE = re.compile(r"\b(" + "|".join(re.escape(phrase) for phrase in PHRASES) + r")\b", re.IGNORECASE)

_CODE = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_LINK_TARGET = re.compile(r"\]\([^)\s]*(?:\s+\"[^\"]*\")?\)")
_HTML = re.compile(r"<!--.*?-->")
_SENTENCE_END = re.compile(r"[.!?:;][)\"'»”*_\]]*(?=\s|$)")
# A URL alone; and the sentences of tests/fail/, which CMake reads line by line.
_MAY_BE_LONG = re.compile(r"^[\s#/*>|\-]*<?\[?[^\s\]]*\]?[:(]?\s?<?https?://\S+$|^// EXPECT: ")
# Pages whose tables docs/reference/pages.py writes: a row may be long, its sentences not.
_MADE_TABLES = re.compile(r"^docs/(limitations|glossary)\.md$")
_NARROW = re.compile(r"^docs/reference/.*\.md$")  # also where it is generated
_GENERATED_PART = re.compile(r"<!-- ([\w ]+): generated .*?<!-- end of \1 -->", re.DOTALL)


@dataclass(frozen=True)
class Finding:
    """One line or sentence that breaks a rule."""

    path: str
    line: int
    sentence: str
    about: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.about}"


def plain(text: str) -> str:
    """Prose with code and addresses reduced to one word each."""
    return _LINK_TARGET.sub("]", _HTML.sub(" ", _CODE.sub("code", text)))


def sentences(text: str) -> list[str]:
    """Sentences of a paragraph, in order."""
    found = []
    begin = 0
    for match in _SENTENCE_END.finditer(text):
        found.append(text[begin : match.end()].strip())
        begin = match.end()
    return [each for each in (*found, text[begin:].strip()) if each]


def count_words(sentence: str) -> int:
    """Words by blanks; a sign alone ("-", "+", "→") is none."""
    return sum(1 for word in sentence.split() if any(character.isalnum() for character in word))


def long_lines(name: str, text: str) -> list[Finding]:
    """Every line of one file that is too wide."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        made = line.startswith("| ") and (GENERATED.match(name) or _MADE_TABLES.match(name)) is not None
        if len(line) > COLUMNS and not made and not _MAY_BE_LONG.match(line):
            found.append(Finding(name, number, line.strip(), f"{len(line)} columns; a line has at most {COLUMNS}"))
    return found


def in_file(name: str, text: str) -> list[Finding]:
    """Every finding of one file."""
    if GENERATED.match(name):
        return long_lines(name, text)
    text = _GENERATED_PART.sub(lambda match: "\n" * match.group(0).count("\n"), text)
    found = long_lines(name, text)
    for paragraph in paragraphs(name, text):
        for sentence in sentences(plain(paragraph.text)):
            begin = " ".join(sentence.split()[:6])
            words = count_words(sentence)
            if words > WORDS:
                about = f'a sentence of {words} words ("{begin} …"); at most {WORDS}: make two'
                found.append(Finding(name, paragraph.line, sentence, about))
            for match in _PHRASE.finditer(sentence):
                phrase = match.group(1).lower()
                about = f'"{phrase}" ("{begin} …"): {PHRASES[phrase]}'
                found.append(Finding(name, paragraph.line, sentence, about))
    return sorted(found, key=lambda each: each.line)


def findings(root: Path) -> tuple[list[Finding], list[str]]:
    """Findings that no exception excuses, open files included; and what is wrong with the exceptions."""
    exceptions: dict[tuple[str, str], int] = {}
    wrong = []
    for entry in read_list(root / EXCEPTIONS):
        fields = [field.strip() for field in entry.split(" | ")]
        if len(fields) != 3 or not all(fields):
            wrong.append(f'{EXCEPTIONS}: "{entry}" is not "path | beginning of the sentence | reason"')
        else:
            exceptions[(fields[0], fields[1])] = 0
    found = []
    for name in project_files(root):
        skipped = name in (OPEN, EXCEPTIONS) or (GENERATED.match(name) and not _NARROW.match(name))
        text = None if skipped else text_of(root / name)
        for finding in in_file(name, text) if text is not None else ():
            excuses = [key for key in exceptions if key[0] == name and finding.sentence.startswith(key[1])]
            for key in excuses:
                exceptions[key] += 1
            if not excuses:
                found.append(finding)
    wrong += [
        f'{EXCEPTIONS}: nothing in {path} that begins with "{begin}" breaks a rule: remove the line'
        for (path, begin), used in exceptions.items()
        if not used
    ]
    return found, wrong


def check(root: Path) -> list[str]:
    """One sentence per finding outside the open files, and per stale line of the lists."""
    found, problems = findings(root)
    still_open = read_list(root / OPEN)
    broken = {finding.path for finding in found}
    problems += [
        f"{OPEN}: {path} breaks no rule, or is gone: remove it from the list"
        for path in still_open
        if path not in broken
    ]
    return [*problems, *(str(finding) for finding in found if finding.path not in set(still_open))]


def _count(root: Path) -> int:
    found, _ = findings(root)
    folders = Counter(finding.path.rpartition("/")[0] or "." for finding in found)
    files = Counter(path.rpartition("/")[0] or "." for path in {finding.path for finding in found})
    for folder, number in sorted(folders.items()):
        print(f"{number:5} in {files[folder]:3} files of {folder}")
    print(f"{len(found):5} in {sum(files.values()):3} files")
    return 0


def main(arguments: list[str]) -> int:
    root = Path(arguments[0])
    if "--count" in arguments:
        return _count(root)
    if "--update-open" in arguments:
        before = set(read_list(root / OPEN))
        now = {finding.path for finding in findings(root)[0]}
        write_list(root / OPEN, sorted(now))
        print("".join(f"new on the list: {path}\n" for path in sorted(now - before)), end="")
        print(f"{len(before)} files were on the list, {len(now)} are")
        return 0
    wanted = [argument for argument in arguments[1:] if not argument.startswith("-")]
    if wanted:  # these files, although they may be on the open list
        found, problems = findings(root)
        return report([str(each) for each in found if each.path.startswith(tuple(wanted))], "every sentence is short")
    return report(check(root), "every sentence is short, and every line")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
