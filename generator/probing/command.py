# SPDX-License-Identifier: Apache-2.0
"""`./weft probe` and `./weft check --live`: arguments, output, exit codes."""
from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import click

from ..benching import disagreeing
from ..bundling.sending import send
from ..matrix.facts import FACT
from ..matrix.loader import Problem, Refused, text_of
from ..matrix.model import Fabric, Matrix, read_matrix
from ..matrix.writing import edited, write as write_matrix
from ..report import as_json
from ..matrix.refusing import did_you_mean
from ..releasing.records import outside, read_all as observed_releases
from .compare import UNKNOWN
from .findings import Finding
from .patch import difference, mended
from .report import as_content, show
from .rows import UNSEEN, Probed, probe_present, probe_row
from .running import Unseen

ROOT = Path(__file__).resolve().parents[2]
_existing = click.Path(exists=True, dir_okay=False, path_type=Path)
node_option = click.option("--node", default="127.0.0.1", show_default=True,
                           help="The local address that both processes of a probe use.")
program_option = click.option("--program", type=_existing, default=None,
                              help="A weft-probe that is built already.  [default: built under build/probe]")


@click.command()
@click.argument("fabric")
@click.option("--cell", "cells", multiple=True, help="Only this cell; may be given more than once.")
@click.option("--write", is_flag=True, help="Correct the row in the matrix file, and show the difference.")
@click.option("--observe", is_flag=True,
              help="With --write: also note what was seen in cells that nobody has observed yet.")
@click.option("--bundle", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
              help="Write all that was seen to FILE, to be sent to those who keep the matrix.")
@click.option("--sign", type=_existing, metavar="KEY",
              help="With --bundle: sign FILE with this ssh key (ssh-keygen -Y).")
@click.option("--json", "as_text", is_flag=True, help="The same as --format json.")
@click.option("--format", "kind", type=click.Choice(("table", "json")), default="table", show_default=True,
              help="How to answer.")
@click.option("--matrix", type=_existing, default=ROOT / "providers.yaml", show_default="providers.yaml of this tree",
              help="The matrix to read.")
@click.option("--seconds", type=click.IntRange(1, 60), default=10, show_default=True,
              help="For each behaviour; an emulated machine needs more.")
@node_option
@program_option
def probe(fabric: str, cells: tuple[str, ...], write: bool, observe: bool, as_text: bool, kind: str, matrix: Path,
          seconds: int, node: str,
          program: Path | None, bundle: Path | None, sign: Path | None) -> None:
    """Compare a row with what its provider claims and with what two processes see it do.

    Each cell is filled twice: by what the library claims, and by what a behaviour between two processes shows.
    Exit code 1 if the row differs, if a claimed value is not that of this release, or if a behaviour told what no
    provider may do. Exit code 3 if nothing differs and something was not seen: a behaviour crashed, hung, was refused
    or did not answer, or it does not show an observed cell any more. A lost behaviour does not end the run.

    \b
    Examples:
      ./weft probe tcp
      ./weft probe shm --cell queue_depth --cell order_send_after_write
      ./weft probe sockets --write        then ./weft generate
      ./weft probe efa --bundle efa.json --sign ~/.ssh/id_ed25519
    """
    for cell in cells:
        if cell not in FACT:
            raise click.BadParameter(f"no cell '{cell}'{did_you_mean(cell, FACT)}", param_hint="--cell")
    if bundle is not None and cells:
        raise click.UsageError("a bundle has all cells: --cell has no place beside --bundle")
    if sign is not None and bundle is None:
        raise click.UsageError("--sign signs a bundle: give --bundle too")
    try:
        read = read_matrix(matrix, matrix.name)
        found = probe_row(read, _pick(read, fabric), node=node, program=program, cells=cells or None, seconds=seconds,
                          report=_print_ending)
        wrong = _wrong(read, found)
        if as_text or kind == "json":
            click.echo(as_json("probe", as_content(found)))
        else:
            show(found)
        if bundle is not None:
            send(found, bundle, sign)
        if write and (wrong or observe):
            _mend(matrix, found, observe)
    except Unseen as unseen:
        _leave(unseen.problems, UNSEEN)
    except Refused as refused:
        _leave(refused.problems)
    if found.code:
        _leave([*wrong, *_unseen(read, found)], found.code)


def _pick(matrix: Matrix, name: str) -> Fabric:
    row = matrix.fabric(name)
    if row is None:
        names = [each.name for each in matrix.fabrics]
        raise click.BadParameter(f"no fabric '{name}'{did_you_mean(name, names) or '; there are ' + ', '.join(names)}",
                                 param_hint="FABRIC")
    return row


def _print_ending(finding: Finding) -> None:
    """Only what cost a cell."""
    if finding.ended not in ("shown", "refused"):
        click.echo(f"{finding.behaviour} {finding.ended}: {finding.why}", err=True)


def _wrong(matrix: Matrix, found: Probed) -> list[Problem]:
    return [*(Problem(matrix.file, each.cell.line, each.sentence) for each in found.verdicts if each.wrong),
            *(Problem(matrix.file, found.fabric.line, f"{found.fabric.name}: {each.sentence}")
              for each in found.faults)]


def _unseen(matrix: Matrix, found: Probed) -> list[Problem]:
    return [Problem(matrix.file, each.cell.line, each.sentence) for each in found.verdicts if each.unseen]


def _mend(matrix: Path, found: Probed, observe: bool) -> None:
    before = text_of(matrix, matrix.name)
    after = edited(before, lambda text: mended(text, found.fabric, found.verdicts, found.found_by, found.release,
                                               observe, matrix.name))
    write_matrix(matrix, after)
    click.echo(difference(before, after, matrix.name), err=True)


def _leave(problems: list[Problem], code: int = 1) -> NoReturn:
    for problem in problems:
        click.echo(str(problem), err=True)
    raise SystemExit(code)


def check_live(matrix: Matrix, *, node: str, program: Path | None, kind: str, benches: bool) -> NoReturn:
    """The cheap part of a probe for every fabric of this machine, then the benches that rows have measured.

    Exit codes as of `weft probe`. Errors: Refused.
    """
    probed, absent = probe_present(matrix, node=node, program=program)
    wrong = [problem for one in probed for problem in _wrong(matrix, one)]
    unseen = [problem for one in probed for problem in _unseen(matrix, one)]
    unseen += [Problem(matrix.file, row.fabric.line, f"{row.fabric.name}: {row.why}") for row in absent if row.lost]
    here = [outside(observed_releases(), one.fabric.name, one.release) for one in probed]
    limits = [one.warning for one in probed if one.warning]
    judged_benches = disagreeing.judged_today(matrix, node, lambda line: click.echo(line, err=True)) if benches else []
    wrong += [each.problem(matrix.file) for each in judged_benches if each.verdict == disagreeing.CONTRADICTS]
    if kind == "json":
        click.echo(as_json("live",
                           {"fabrics": [as_content(one) for one in probed],
                                    "absent": [{"fabric": row.fabric.name, "why": row.why, "lost": row.lost}
                                               for row in absent],
                                    "measured": [each.content() for each in judged_benches],
                                    "outside": [each for each in here if each], "limits": limits}))
    else:
        for one in probed:
            looked_at = [each for each in one.verdicts if each.verdict != UNKNOWN]
            click.echo(f"{one.fabric.name}: {len(looked_at)} cells looked at, {sum(each.wrong for each in looked_at)} "
                       f"differ, {sum(each.unseen for each in looked_at)} lost ({one.found_by})")
        click.echo(f"not here: {', '.join(row.fabric.name for row in absent if not row.lost) or 'none'}")
        for sentence in (*filter(None, here), *limits):
            click.echo(f"warning: {sentence}")
        for each in judged_benches:
            if each.verdict == disagreeing.DIFFERS:
                click.echo(f"{matrix.file}:{each.line}: warning: {each.sentence}")
            elif each.verdict != disagreeing.CONTRADICTS:
                click.echo(f"{each.verdict}: {each.sentence}")
    if wrong or unseen:
        _leave([*wrong, *unseen], 1 if wrong else UNSEEN)
    raise SystemExit(0)
