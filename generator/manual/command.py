# SPDX-License-Identifier: Apache-2.0
"""`weft manual` writes man pages, `weft completion` prints what a shell reads to complete words."""
from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from ..options import ROOT
from ..version import version_of
from .completion import SHELLS, script
from .troff import page


@click.command()
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), required=True,
              help="The folder to write to, such as /usr/local/share/man/man1.")
@click.pass_context
def manual(context: click.Context, output: Path) -> None:
    """Write man pages: weft.1 and one for each command.

    The pages are made from the help of the commands.

    \b
    Examples:
      ./weft manual --output /usr/local/share/man/man1
      ./weft manual --output . && man -l ./weft-explain.1
    """
    group = context.find_root().command
    assert isinstance(group, click.Group)
    made = pages(group)
    try:
        output.mkdir(parents=True, exist_ok=True)
        for name, text in made.items():
            (output / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"{output} cannot be written: {error.strerror}") from None
    click.echo(f"{len(made)} pages in {output}")


def pages(group: click.Group) -> dict[str, str]:
    """File name to text."""
    return dict(_pages(group, "weft", ()))


def _pages(command: click.Command, name: str, above: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    file = name.replace(" ", "-")
    below = sorted(command.commands) if isinstance(command, click.Group) else []
    yield f"{file}.1", page(command, name, version_of(ROOT), (*above, *(f"{file}-{each}" for each in below)))
    for each in below:
        assert isinstance(command, click.Group)
        yield from _pages(command.commands[each], f"{name} {each}", (file,))


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what SHELL reads to complete commands, options, and names of fabrics and errors.

    The command must be found as `weft`.

    \b
    Examples:
      weft completion bash > ~/.local/share/bash-completion/completions/weft
      weft completion zsh > ~/.zfunc/_weft
      weft completion fish > ~/.config/fish/completions/weft.fish
    """
    click.echo(script(context.find_root().command, shell))
