# SPDX-License-Identifier: Apache-2.0
"""`weft bench --write`: writes the result of a run into the row, with its command, machine, library and date.

Only combinations that change one answer count. A class of sizes is decided if one answer is ahead in an operation by
more than noise, over the middle four fifths of the turns, and no operation contradicts.
The matrix is edited as text, so that comments and layout stay.
"""
from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click
from ruamel.yaml import YAML

from ..matrix.layout import child_pair, entry, pair, sentence, shares, start_of_line
from ..matrix.loader import Refused, text_of
from ..matrix.measured import LEAST, Won
from ..matrix.model import read_matrix
from ..matrix.writing import edited, write
from ..probing.patch import difference
from ..rules import decide, read_rules
from .decisions import decided_classes

ROOT = Path(__file__).resolve().parents[2]


def write_winners(answer: dict[str, Any], matrix: Path = ROOT / "providers.yaml") -> None:
    """Edits the matrix and shows the difference. Leaves with 1 where the matrix would be refused."""
    try:
        before = after = text_of(matrix, matrix.name)
        for family in answer["varied"]:
            classes, undecided = decided_classes(answer, family)
            for sentence in undecided:
                click.echo(f"{family}: {sentence}", err=True)
            if classes:
                after = edited(after, partial(_with, fabric=answer["fabric"], family=family, name=matrix.name,
                                              entry=measured_text(answer, family, classes)))
            else:
                click.echo(f"{family}: nothing is written: no answer was ahead by more than "
                           f"{int((LEAST - 1) * 100)} percent", err=True)
        if after == before:
            return
        _judge(after, matrix.name, answer["fabric"])
        write(matrix, after)
    except Refused as refused:
        for problem in refused.problems:
            click.echo(str(problem), err=True)
        raise SystemExit(1) from None
    click.echo(difference(before, after, matrix.name), err=True)
    click.echo("now: ./weft generate", err=True)


def measured_text(answer: dict[str, Any], family: str, classes: Sequence[Won]) -> str:
    """One family's entry, indented as in a row."""
    machine = answer["machine"]
    lines = [f"    {family}:", f"      winner: {classes[0].winner}", "      classes:"]
    lines += [entry(won.sizes,
                    [("winner", won.winner, False), ("than", won.than, False), ("operation", won.operation, False),
                                ("times", str(won.times), True), ("spread", f'["{won.low}", "{won.high}"]', False)], 8)
              for won in classes]
    where = f"{_plain(machine['processor'])}, {machine['cores']} cores, {_plain(machine['kernel'])}"
    lines += [pair("command", _command(answer), 6), pair("machine", where, 6),
              pair("library", _plain(answer["versions"]["library"]), 6), pair("date", answer["date"][:10], 6)]
    return "\n".join(lines) + "\n"


def _command(answer: dict[str, Any]) -> str:
    """What repeats the run."""
    timed = [each for result in answer["results"] for each in result["operations"]]
    operations = ",".join(dict.fromkeys(each["operation"] for each in timed))
    sizes = ",".join(str(each) for each in sorted({each["bytes"] for each in timed if each["window"] is None}))
    return (f"./weft bench --fabric {answer['fabric']} --vary {','.join(answer['varied'])} --operations {operations}"
            + (f" --sizes {sizes}" if sizes else "")
            + f" --turns {answer['turns']}")


def _plain(text: str) -> str:
    return sentence(text, 120)


def _with(text: str, fabric: str, family: str, name: str, entry: str) -> str:
    """The text with this entry in the row. The entry replaces an older one of its family. Errors: Refused."""
    found = child_pair(YAML(typ="rt", pure=True).compose(text), fabric)
    assert found is not None
    row = found[1]
    there = child_pair(row, "measured")
    if there is None:
        facts = child_pair(row, "facts")
        assert facts is not None
        at = start_of_line(text, facts[0], shares(name, facts[0].start_mark.line + 1, f"{fabric}.facts"))
        return text[:at] + "  measured:\n" + entry + text[at:]
    old = child_pair(there[1], family)
    key = (old or there[1].value[0])[0]
    start = start_of_line(text, key, shares(name, key.start_mark.line + 1, f"{fabric}.measured.{key.value}"))
    if old is None:
        return text[:start] + entry + text[start:]
    last = max(int(value.end_mark.index) for _, value in old[1].value)
    return text[:start] + entry + text[text.index("\n", last) + 1:]


def _judge(text: str, name: str, fabric: str) -> None:
    """Errors: Refused, where this were no matrix, or a winner is forbidden by the facts."""
    families = read_rules(ROOT / "generator" / "rules.yaml", "generator/rules.yaml")
    with tempfile.TemporaryDirectory(prefix="weft-winners-") as folder:
        path = Path(folder) / name
        path.write_bytes(text.encode("utf-8"))
        matrix = read_matrix(path, name)
    row = matrix.fabric(fabric)
    assert row is not None
    for span in row.ranges:
        decide(matrix, row, span, families)


