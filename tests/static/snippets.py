# SPDX-License-Identifier: Apache-2.0
"""The code in the documents is code that is compiled: snippets.py ROOT. Exit 1 names each block that is not.

- A `cpp` block of a Markdown file stands, line by line, in one C++ file of the tree; only its indentation may differ.
  Every C++ file is compiled: lists.py demands it.
- A `c` block stands so in one C file.
- A block with lines `// error: sentence` shows what does not compile: one file of tests/fail/ holds code and sentence.
- A `python` block stands in one program below examples/, in the same way.
- A block says its language, so that none escapes (`text` for output).
- The hello world has at most 20 lines per side.
UNCOMPILED excuses a block by its first line, with the reason. An excuse that no block needs is refused.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from prose import tokens_of
from sources import CPP, GENERATED, project_files, report

HELLO = ("examples/hello/listener.cpp", "examples/hello/caller.cpp")
HELLO_LINES = 20
PROGRAMS = "examples/"  # where the Python of the documents stands; python.bindings runs it
# (page, first line of the block): why no file holds it.
UNCOMPILED: dict[tuple[str, str], str] = {}

_ERROR = re.compile(r"^\s*// error: (.*)$")


def blocks(text: str) -> Iterator[tuple[int, str, str]]:
    """(line, language, content) of each fenced block, in lists and quotations too."""
    for token in tokens_of(text):
        if token.type == "fence" and token.map:
            yield token.map[0] + 1, token.info.split(" ")[0], token.content


def holds(source: list[str], block: list[str]) -> bool:
    """Do the block's lines stand in the source one after another, all indented by the same blanks?"""
    first = block[0].strip()
    for begin, line in enumerate(source):
        if line.strip() != first or begin + len(block) > len(source):
            continue
        extra = len(line) - len(line.lstrip()) - (len(block[0]) - len(block[0].lstrip()))
        if extra >= 0 and all(
            there == (" " * extra + wanted if wanted else "")
            for there, wanted in zip(source[begin:], block, strict=False)
        ):
            return True
    return False


def check(root: Path) -> list[str]:
    """One sentence per block that no compiled file holds."""
    names = project_files(root)
    code = [name for name in names if name.endswith((*CPP, ".c"))]
    sources = {name: (root / name).read_text(encoding="utf-8").splitlines() for name in code}
    programs = [(root / name).read_text(encoding="utf-8").splitlines() for name in names
                if name.startswith(PROGRAMS) and name.endswith(".py")]
    problems = []
    excused = set()
    for name in names:
        if not name.endswith(".md") or GENERATED.match(name):
            continue
        for line, language, content in blocks((root / name).read_text(encoding="utf-8")):
            shown = [each.rstrip() for each in content.rstrip().splitlines()]
            if not language:
                problems.append(f"{name}:{line}: a block without a language: say sh, cpp, cmake, yaml or text")
            elif language in ("cpp", "c++", "C++") and shown and (wrong := _cpp(sources, shown)):
                key = (name, shown[0].strip())
                excused.add(key)
                if key not in UNCOMPILED:
                    problems.append(f"{name}:{line}: {wrong}")
            elif language == "python" and shown and not any(holds(program, shown) for program in programs):
                problems.append(f"{name}:{line}: no program below {PROGRAMS} holds these lines")
            elif language == "c" and not any(holds(sources[each], shown) for each in code if each.endswith(".c")):
                problems.append(f'{name}:{line}: no C file holds the block that begins with "{shown[0].strip()}"')
    problems += [
        f'tests/static/snippets.py: "{first}" of {page} needs no excuse: remove it'
        for page, first in UNCOMPILED
        if (page, first) not in excused
    ]
    for name in HELLO:
        count = sum(1 for line in sources.get(name, []) if line and not line.startswith("//"))
        if count > HELLO_LINES:
            problems.append(f"{name}: {count} lines; the hello world has at most {HELLO_LINES} per side")
    return problems


def _is_cpp(name: str) -> bool:
    return name.endswith(CPP) and not name.startswith("tests/fail/")


def _cpp(sources: dict[str, list[str]], shown: list[str]) -> str | None:
    errors = [match.group(1) for line in shown if (match := _ERROR.match(line))]
    if not errors:
        found = any(holds(source, shown) for name, source in sources.items() if _is_cpp(name))
        return None if found else f'no C++ file of the tree holds the block that begins with "{shown[0].strip()}"'
    code = [line for line in shown if not line.lstrip().startswith("//")]
    for name, source in sources.items():
        expected = "\n".join(line for line in source if line.startswith("// EXPECT: "))
        if (
            name.startswith("tests/fail/")
            and code
            and holds(source, code)
            and all(error in expected for error in errors)
        ):
            return None
    return f'no file of tests/fail/ holds "{(code or shown)[0].strip()}" and expects "{errors[0]}"'


if __name__ == "__main__":
    sys.exit(report(check(Path(sys.argv[1])), "the code in the documents is compiled"))
