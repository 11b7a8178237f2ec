# SPDX-License-Identifier: Apache-2.0
"""A man page of a command, in the language of man(7). No date: the same tree makes the same bytes."""
from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from .exits import EXIT_CODES

_WIDTH = 100


def page(command: click.Command, name: str, version: str, siblings: tuple[str, ...]) -> str:
    """`name`: as it is typed, such as "weft explain". `siblings`: other pages to see."""
    context = click.Context(command, info_name=name, max_content_width=_WIDTH, help_option_names=["-h", "--help"])
    title = name.replace(" ", "-")
    summary, body = _parts(command)
    lines = [f'.\\" Made from the help of {title}.', f'.TH "{title.upper()}" 1 "" "weft {version}" "weft"',
             ".SH NAME", f"{_text(title)} \\- {_text(summary)}", ".SH SYNOPSIS", f".B {_text(name)}",
             _text(" ".join(command.collect_usage_pieces(context))), ".SH DESCRIPTION", *body]
    records = [record for parameter in command.get_params(context)
               if (record := parameter.get_help_record(context)) is not None]
    if records:
        lines += [".SH OPTIONS", *(line for option, said in records for line in _item(option, said))]
    if isinstance(command, click.Group):
        lines += [".SH COMMANDS", *(line for each in sorted(command.commands)
                                    for line in _item(f"{title}-{each}(1)", _summary(command.commands[each])))]
    lines += [".SH EXIT STATUS"]
    for code, who, meaning in EXIT_CODES:
        if who == "all" or isinstance(command, click.Group) or name.split()[-1] in who.replace(",", "").split():
            lines += _item(code, meaning if who == "all" else f"{meaning} ({who})")
    return "\n".join([*lines, ".SH SEE ALSO", *(f".BR {_text(each)} (1)" for each in siblings)]) + "\n"


def _summary(command: click.Command) -> str:
    """The first sentence."""
    return " ".join(inspect.cleandoc(command.help or "").split("\n\n")[0].split()).split(". ")[0].rstrip(".")


def _parts(command: click.Command) -> tuple[str, list[str]]:
    """The first sentence, and the paragraphs; those after \\b stay as they are written."""
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    body: list[str] = []
    for number, paragraph in enumerate(paragraphs):
        if number:
            body.append(".PP")
        body += _as_written(paragraph) if paragraph.startswith("\b") else [_text(" ".join(paragraph.split()))]
    return _summary(command), body


def _as_written(paragraph: str) -> Iterator[str]:
    yield ".nf"
    yield from (_text(line) for line in paragraph.lstrip("\b").strip("\n").split("\n"))
    yield ".fi"


def _item(head: str, text: str) -> list[str]:
    return [".TP", f".B {_text(head)}", _text(" ".join(text.split()))]


def _text(text: str) -> str:
    """No character of the text is a command of troff. An installed command is not in the reader's folder."""
    safe = text.replace("./weft", "weft").replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{safe}" if safe.startswith((".", "'")) else safe
