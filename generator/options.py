# SPDX-License-Identifier: Apache-2.0
"""What the commands share: options, how the matrix and the rules are read, and how a refusal is printed."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import click

from .decided import Decided, decide_all
from .matrix.loader import Problem, Refused
from .matrix.model import Matrix, read_matrix
from .rules import Family, read_rules
from .matrix.refusing import did_you_mean

ROOT = Path(__file__).resolve().parent.parent
FINE, NEGATIVE = 0, 1
MEND = "take a checkout of weft, and start ./weft there"


class NumberRange(click.FloatRange):
    """Numbers of a range. click lets "nan" into each range, where every comparison is false."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value} is not in the range {self._describe_range()}.", param, ctx)
        return number


EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)
matrix_option = click.option("--matrix", type=EXISTING, default=ROOT / "providers.yaml",
                             show_default="providers.yaml of this tree",
                       help="The matrix to read.")
rules_option = click.option("--rules", type=EXISTING, default=ROOT / "generator" / "rules.yaml",
                            show_default="those of this tree",
                      help="The rules to apply.")
output_option = click.option("--output", type=click.Path(file_okay=False, path_type=Path), default=ROOT,
                             show_default="this tree",
                       help="The folder that has generated/ and docs/.")


# A wheel has the generator and the files that it reads, at the same places below one folder (setup.py). It has no C++
# sources, so commands that build programs or write into the tree say so.
def in_checkout() -> bool:
    return (ROOT / "CMakeLists.txt").is_file()


def builds_programs(command: click.Command) -> click.Command:
    """The command. Without a checkout: one with its help, which refuses every argument."""
    if in_checkout():
        return command

    def refuse() -> None:
        raise click.UsageError(f"this weft is installed without its C++ sources, which `weft {command.name}` builds: "
                               f"{MEND}")

    return click.Command(command.name, callback=refuse, help=command.help,
                         context_settings={"ignore_unknown_options": True, "allow_extra_args": True})


def written_to(output: Path) -> Path:
    """The folder for files that the generator writes or compares. Errors: UsageError, without a checkout."""
    if output == ROOT and not in_checkout():
        raise click.UsageError("this weft is installed, and has no generated/: name a folder with --output")
    return output


def format_option(*kinds: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return click.option("--format", "kind", type=click.Choice(kinds), default=kinds[0], show_default=True,
                        help="How to answer.")


def shown(path: Path) -> str:
    """A file's name in sentences: relative to the working folder or the tree, if it is there."""
    try:
        whole, bases = path.resolve(), (Path.cwd(), ROOT)
    except FileNotFoundError:  # the working folder was deleted
        whole, bases = path, (ROOT, ROOT)
    base = next(filter(whole.is_relative_to, bases), None)
    return whole.relative_to(base).as_posix() if base is not None else str(path)


def read_inputs(matrix: Path, rules: Path) -> tuple[Matrix, tuple[Family, ...]]:
    return read_matrix(matrix, shown(matrix)), read_rules(rules, shown(rules))


def leave(problems: list[Problem]) -> NoReturn:
    """Prints the problems on standard error, and ends the command with exit code 1."""
    for problem in problems:
        click.echo(str(problem), err=True)
    raise SystemExit(NEGATIVE)


def refusing(command: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except Refused as refused:
            leave(refused.problems)

    return wrapped


def decided_rows(matrix: Path, rules: Path) -> tuple[tuple[Decided, ...], tuple[Family, ...]]:
    read, families = read_inputs(matrix, rules)
    return decide_all(read, families), families


def pick_fabric(decided: tuple[Decided, ...], name: str) -> Decided:
    for each in decided:
        if each.fabric.name == name:
            return each
    names = [each.fabric.name for each in decided]
    raise click.BadParameter(f"no fabric '{name}'{did_you_mean(name, names) or '; there are ' + ', '.join(names)}",
                             param_hint="FABRIC")


def pick_family(families: tuple[Family, ...], name: str) -> Family:
    for family in families:
        if family.name == name:
            return family
    names = [family.name for family in families]
    raise click.BadParameter(f"no family '{name}'{did_you_mean(name, names) or '; there are ' + ', '.join(names)}",
                             param_hint="FAMILY")
