# SPDX-License-Identifier: Apache-2.0
"""What the documents point at exists: docs.py ROOT. Exit 1 names each pointer that leads nowhere.

In every Markdown file that is written by hand:
- links lead to files of the tree, and anchors to headings;
- text in backticks that looks like a path names a file or folder (`<noun>`, `*` and `…` stand for any name);
- text in backticks that looks like a test's name is a test of a CMakeLists.txt;
- `./weft COMMAND --option` is a command of weft with that option;
- a program's `--option` stands in the program's text, and a preset of CMake in CMakePresets.json.
Members and functions in backticks: mentions.py.
"""

from __future__ import annotations

import fnmatch
import importlib
import re
import shlex
import sys
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from prose import inline_tokens, tokens_of
from sources import GENERATED, project_files, report, text_of

# Text in backticks that looks like a path of the tree and is none: pattern -> why.
NOT_OURS: dict[str, str] = {
    r"^(/|~|\$)": "a path of a machine",
    r"^build(/|$)": "what a build makes",
    r"^(include/)?weft/": "an installed header",
    r"^(prov|benchmarks|common|functional|man)/": "a path of libfabric's or fabtests' sources",
    r"^(results|plots|trial|shm|tcp|app|index|emulated)\.(json|yaml|html|xml|csv)$": "a file that a command writes",
    r"^(fabric|verbs|fi_\w+|rdma_cma|cuda)\.h$": "a header of a library",
    r"^\.\w+$": "the end of a name",
}
SUFFIXES = "hpp|cpp|h|py|md|j2|cmake|yaml|yml|json|sh|txt|in|toml"
KINDS = (
    "static|unit|loopback|backends|conformance|threads|made_up_row|history|invocation|fail|generator|consumer|vm|add"
    "|probe|emulator|event_loops|example|bench-smoke|docs|tutorial"
)
_PATH = re.compile(rf"^[\w.<>*{{}}…-]+(?:/[\w.<>*{{}}…-]+)*(?:/|\.(?:{SUFFIXES}))$|^[\w.<>*-]+(?:/[\w.<>*{{}}…-]+)+$")
_TEST = re.compile(rf"^(?:{KINDS})(?:\.[\w<>*-]+)+$")
_WILD = re.compile(r"<[^>]*>|\*+|…|\{[^}]*\}")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
_HTML_ANCHOR = re.compile(r"""<a\s+(?:id|name)=["']([^"']+)["']""")


@dataclass
class Page:
    """One Markdown file: links, code spans, command lines, anchors."""

    name: str
    links: list[tuple[int, str]] = field(default_factory=list)
    spans: list[tuple[int, str]] = field(default_factory=list)
    commands: list[tuple[int, str]] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)


def slug(heading: str) -> str:
    """A heading's anchor as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def read_page(name: str, text: str) -> Page:
    page = Page(name)
    page.anchors.update(_HTML_ANCHOR.findall(text))
    tokens = tokens_of(text)
    for line, token in inline_tokens(tokens):
        for child in token.children or ():
            if child.type == "link_open":
                page.links.append((line, str(child.attrs["href"])))
            elif child.type == "image":
                page.links.append((line, str(child.attrs["src"])))
            elif child.type == "code_inline":
                page.spans.append((line, child.content.strip()))
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            content = "".join(
                child.content for child in tokens[index + 1].children or () if child.type in ("text", "code_inline")
            )
            base = slug(content)
            count = sum(1 for anchor in page.anchors if re.fullmatch(re.escape(base) + r"(-\d+)?", anchor))
            page.anchors.add(base if not count else f"{base}-{count}")
        elif token.type == "fence" and token.info.split(" ")[0] in ("sh", "bash", "console") and token.map:
            console = token.info.startswith("console")  # commands after a prompt, and what they print
            content = (
                re.sub(r"^(?:\$ (.*)|.*)$", r"\1", token.content, flags=re.MULTILINE) if console else token.content
            )
            page.commands += [(token.map[0] + 1 + line, command) for line, command in shell_lines(content)]
    return page


def shell_lines(block: str) -> list[tuple[int, str]]:
    """(line within the block, command) with continued lines joined and comments cut off."""
    found: list[tuple[int, str]] = []
    pending = ""
    begin = 0
    for number, line in enumerate(block.splitlines(), start=1):
        line = re.sub(r"(^|\s+)# .*$", "", line).strip()
        begin = begin if pending else number
        pending = f"{pending} {line}".strip()
        if pending.endswith("\\"):
            pending = pending[:-1].strip()
        else:
            if pending:
                found.append((begin, pending))
            pending = ""
    return found


def pages(root: Path, names: list[str]) -> list[Page]:
    """Every Markdown file that a person writes."""
    found = []
    for name in names:
        if name.endswith(".md") and not GENERATED.match(name):
            found.append(read_page(name, (root / name).read_text(encoding="utf-8")))
    return found


def check(root: Path) -> list[str]:
    """One sentence per pointer that leads nowhere."""
    names = project_files(root)
    folders = {str(parent) for name in names for parent in PurePosixPath(name).parents}
    tree = Tree(root, names, folders)
    problems = []
    for page in pages(root, names):
        problems += [
            f"{page.name}:{line}: {wrong}" for line, target in page.links if (wrong := _link(tree, page, target))
        ]
        for line, span in page.spans:
            for wrong in (_path(tree, page, span), unknown_test(tree, span), *command_problems(tree, page, span)):
                if wrong:
                    problems.append(f"{page.name}:{line}: {wrong}")
        problems += [
            f"{page.name}:{line}: {wrong}"
            for line, command in page.commands
            for wrong in command_problems(tree, page, command)
        ]
    return problems


class Tree:
    """Names of the project's files and folders, and the lists of its tests."""

    def __init__(self, root: Path, names: list[str], folders: set[str]) -> None:
        self.root = root
        self.names = names
        self.known = {*names, *folders}
        self.stems = {PurePosixPath(name).name for name in self.known}
        lists = [text_of(root / name) or "" for name in names if name.endswith(("CMakeLists.txt", ".cmake"))]
        self.lists = "\n".join(lists)
        self.words = set(re.findall(r"[\w-]+", self.lists)) | {
            PurePosixPath(name).name.split(".", 1)[0] for name in names
        }
        found = re.findall(
            r"(?:add_test\(\s*NAME|weft_add_test\(|weft_\w*test\w*\()\s*([\w.${}-]+\.[\w.${}-]+)", self.lists
        )
        found += re.findall(r"set\(\w+\s+((?:" + KINDS + r")\.[\w.${}-]+)", self.lists)
        self.tests = sorted(set(found))
        fabrics = text_of(root / "providers.yaml") if (root / "providers.yaml").is_file() else ""
        presets = text_of(root / "CMakePresets.json") if (root / "CMakePresets.json").is_file() else ""
        self.presets = set(re.findall(r'"name": *"([^"]+)"', presets or ""))
        self.fabrics = set(re.findall(r"^(\w+):", fabrics or "", re.MULTILINE))

    def has(self, pattern: str) -> bool:
        """A name of the tree, or a pattern with stars that at least one name fits."""
        if "*" not in pattern:
            return pattern in self.known
        return any(fnmatch.fnmatchcase(name, pattern) for name in self.known)


def _link(tree: Tree, page: Page, target: str) -> str | None:
    if re.match(r"[a-z]+:", target):
        return None
    path, _, anchor = unquote(target).partition("#")
    reached = _normal(PurePosixPath(page.name).parent / path) if path else page.name
    if reached not in tree.known:
        return f"the link to {target} leads to no file"
    if not anchor or not reached.endswith(".md"):
        return None
    anchors = read_page(reached, (tree.root / reached).read_text(encoding="utf-8")).anchors
    return None if anchor in anchors else f"{reached} has no heading #{anchor}"


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."


def _path(tree: Tree, page: Page, span: str) -> str | None:
    if not _PATH.match(span) or any(re.search(pattern, span) for pattern in NOT_OURS):
        return None
    wanted = _WILD.sub("*", span.rstrip("/")).removeprefix("./")
    first = wanted.split("/", 1)[0]
    below = _normal(PurePosixPath(page.name).parent / wanted)
    looks = span.endswith("/") or re.search(rf"\.({SUFFIXES})$", span) or first in tree.known and "/" in wanted
    if not looks or tree.has(wanted) or tree.has(below) or tree.has(f"*/{wanted}"):
        return None
    if "/" not in wanted and (wanted in tree.stems or any(fnmatch.fnmatchcase(stem, wanted) for stem in tree.stems)):
        return None
    return f"`{span}` is no file or folder of the tree"


def unknown_test(tree: Tree, span: str) -> str | None:
    if not _TEST.match(span) or re.search(rf"\.({SUFFIXES})$", span):
        return None
    wanted = _WILD.sub("*", span)
    kind = wanted.split(".", 1)[0]
    for test in tree.tests:
        if "${" not in test:
            if (
                fnmatch.fnmatchcase(test, wanted)
                or test.startswith(wanted + ".")
                or fnmatch.fnmatchcase(test, wanted.removesuffix(".*"))
            ):
                return None
        elif test.split(".", 1)[0] in (kind, "${name}", "${kind}"):
            parts = [part for part in wanted.split(".")[1:] if part != "*"]
            if all(part in tree.words or part in tree.fabrics or "*" in part for part in parts):
                return None
    return f"`{span}` is no test that a CMakeLists.txt adds"


def command_problems(tree: Tree, page: Page, command: str) -> list[str]:
    problems = []
    for part in re.split(r"\s*(?:&&|\|\||;|\||&(?=\s|$))\s*", command):
        words = _words(part)
        while words and re.match(r"^\w+=", words[0]):
            words.pop(0)
        if not words:
            continue
        program = words[0].removeprefix("./")
        if program in ("cmake", "ctest") and "--preset" in words[:-1]:
            preset = words[words.index("--preset") + 1]
            if preset not in tree.presets and not _WILD.search(preset):
                problems.append(f"`{program} --preset {preset}`: CMakePresets.json has no such preset")
        if (
            program == "weft"
            and (words[0] == "./weft" or len(words) > 1)
            and (tree.root / "generator/cli.py").is_file()
        ):
            problems += _weft(tree, words[1:])
        elif "/" in words[0] and not words[0].startswith("/") and len(words) > 1:
            problems += _program(tree, page, program, words[1:])
    return problems


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


@cache
def _cli(root: Path) -> Any:
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(root))
    return importlib.import_module("generator.cli").weft


def _weft(tree: Tree, words: list[str]) -> list[str]:
    """Words after ./weft: a command, and options that it has."""
    group = _cli(tree.root)
    words = words[: words.index("--")] if "--" in words else words
    if not words or not re.fullmatch(r"[a-z][a-z-]*", words[0]):
        return (
            []
            if not words or words[0].startswith(("-", "…", "<")) or words[0].isupper()
            else [f"`./weft {words[0]}` is no command of weft"]
        )
    command = group.commands.get(words[0])
    if command is None:
        return [f"`./weft {words[0]}` is no command of weft; it has {', '.join(sorted(group.commands))}"]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)} | {
        "--help"
    }
    asked = {option for word in words[1:] for option in _OPTION.findall(word) if word.lstrip("[").startswith("--")}
    return [f"`./weft {words[0]}` has no option {option}" for option in sorted(asked - known)]


def _program(tree: Tree, page: Page, program: str, words: list[str]) -> list[str]:
    """A script of the tree: each option stands in its text, or in the text of a program that it names."""
    name = program if program in tree.known else _normal(PurePosixPath(page.name).parent / program)
    path = tree.root / name
    if not path.is_file():
        first = program.split("/", 1)[0]
        ours = first in tree.known and not any(re.search(pattern, program) for pattern in NOT_OURS)
        return [f"`{program}` is no program of the tree"] if ours and not _WILD.search(program) else []
    text = text_of(path) or ""
    text += "".join(text_of(tree.root / other) or "" for other in tree.names if other.endswith(".py") and other in text)
    words = words[: words.index("--")] if "--" in words else words
    asked = {option for word in words for option in _OPTION.findall(word) if word.lstrip("[").startswith("--")}
    return [
        f"`{program}` has no option {option}" for option in sorted(asked) if option not in text and option != "--help"
    ]


if __name__ == "__main__":
    sys.exit(report(check(Path(sys.argv[1])), "what the documents point at exists"))
