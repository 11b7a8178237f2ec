# SPDX-License-Identifier: Apache-2.0
"""`./weft add`: its arguments, the order of its steps, and its exit codes."""
from __future__ import annotations

import re
from pathlib import Path

import click

from ..bundling.bundle import Tampered
from ..bundling.receiving import MATRIX, receive
from ..errors.catalogue import INPUTS, with_id
from ..matrix.loader import Refused
from ..matrix.schema import LITERAL, SETTING
from .adding import ROOT, Add, Wanted
from .interrupting import Interrupted, interruptible

_ENDPOINTS = {"msg": "connected", "rdm": "addressed", "dgram": "datagram"}
_USUAL = ["connected", "addressed"]
_INTERRUPTED = 130
_USAGE = 2
_EXISTING = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.argument("fabric", required=False)
@click.option("--from-bundle", "from_bundle", type=_EXISTING, metavar="FILE",
              help="Read what ./weft probe --bundle wrote where the hardware is; FABRIC and --provider are in it.")
@click.option("--sender", type=_EXISTING, metavar="KEY.pub",
              help="With --from-bundle: the public ssh key that must have signed FILE.")
@click.option("--matrix", type=_EXISTING, help="With --from-bundle: the matrix to write.  [default: providers.yaml]")
@click.option("--provider", help="The library's name for the provider, as fi_info prints it.")
@click.option("--endpoint", type=click.Choice(list(_ENDPOINTS)),
              help="msg: connected, rdm: addressed, dgram: datagrams, with ofi_rxd above them.  "
                   "[default: msg or rdm, as the provider has it]")
@click.option("--environment", "settings", multiple=True, metavar="NAME=VALUE",
              help="A variable that the provider needs; may be given more than once. The row sets it too.")
@click.option("--node", default="127.0.0.1", show_default=True,
              help="A local address that both processes of the probe use.")
@click.option("--dry-run", is_flag=True,
              help="Print the findings and the row; write and build nothing.")
@click.option("--keep", is_flag=True, help="Write the row although suites fail, to correct it by hand.")
@click.option("--program", type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="A weft-probe that is built already.")
@click.option("--build", type=click.Path(file_okay=False, path_type=Path), help="Where to build.  [default: build/add]")
def add(fabric: str | None, from_bundle: Path | None, sender: Path | None, matrix: Path | None,
        provider: str | None, endpoint: str | None, settings: tuple[str, ...], node: str, dry_run: bool,
        keep: bool, program: Path | None, build: Path | None) -> None:
    """Make a working fabric of a provider that has no row.

    Probes the provider and makes a row with the evidence. Compiles and runs every conformance suite in a copy of the
    tree under build/. If suites fail, cells that they rest on and that were only claimed get their safe value, and the
    suites run again. The row goes into providers.yaml when all pass.
    Exit code 1 if suites fail, or if no row can be made: the tree is as it was. 130 after SIGINT, at any moment:
    nothing runs any more.

    \b
    Examples:
      ./weft add net --provider net --endpoint msg
      ./weft add net_rxm --provider 'net;ofi_rxm' --dry-run
      ./weft add tcp_lo --provider tcp --environment FI_TCP_IFACE=lo
      ./weft add --from-bundle efa.json --sender sender.pub --dry-run
    """
    if from_bundle is not None:
        if fabric is not None or provider is not None or endpoint is not None or settings or keep:
            raise click.UsageError("--from-bundle takes fabric, provider and settings from its file: only --sender, "
                                   "--matrix and --dry-run have a place beside it")
        _from_bundle(from_bundle, sender, matrix, dry_run)
        return
    if fabric is None or provider is None:
        raise click.UsageError("FABRIC and --provider are needed, or --from-bundle FILE")
    if sender is not None or matrix is not None:
        raise click.UsageError("--sender and --matrix belong to --from-bundle")
    wanted = Wanted(fabric, provider, [_ENDPOINTS[endpoint]] if endpoint else _USUAL, node,
                    settings_of(settings), dry_run, keep, program, build or ROOT / "build" / "add")
    written = False
    try:
        with interruptible() as state:
            adding = Add(wanted, state)
            try:
                code = adding.run()
            finally:
                written = adding.written
    except Interrupted:
        click.echo(f"interrupted: {f'the row {fabric} is written' if written else 'nothing is written'}, and nothing "
                   "runs", err=True)
        raise SystemExit(_INTERRUPTED) from None
    except Refused as refused:
        for problem in refused.problems:
            click.echo(str(problem), err=True)
        raise SystemExit(1) from None
    raise SystemExit(code)


def _from_bundle(path: Path, sender: Path | None, matrix: Path | None, dry_run: bool) -> None:
    """Exit code 2 for a file that is not what its sender wrote, 1 where the matrix cannot take it."""
    try:
        receive(path, sender, matrix or MATRIX, dry_run)
    except Tampered as tampered:
        click.echo(with_id(str(tampered), INPUTS), err=True)
        raise SystemExit(_USAGE) from None
    except Refused as refused:
        for problem in refused.problems:
            click.echo(str(problem), err=True)
        raise SystemExit(1) from None


def settings_of(words: tuple[str, ...]) -> dict[str, str]:
    """NAME=VALUE as a mapping. Errors: click.BadParameter."""
    settings: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not re.search(SETTING, name) or not re.search(LITERAL, value) or len(value) > 60:
            raise click.BadParameter(f"'{word}': expected NAME=VALUE with a variable of the library, as "
                                     "FI_TCP_IFACE=lo", param_hint="--environment")
        if name in settings:
            raise click.BadParameter(f"{name} is given twice: give one value", param_hint="--environment")
        settings[name] = value
    return settings
