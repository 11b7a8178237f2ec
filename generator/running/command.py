# SPDX-License-Identifier: Apache-2.0
"""The command `./weft run`."""
from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import time
from collections import Counter

import click

from ..errors.ending import silence
from ..options import NumberRange
from .hosts import BadHosts, Host, hosts_of, places
from .output import prefix_of
from .ranks import NotStarted, Running
from .starting import Job, fresh_name, store_here, store_on

_ENDPOINT = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):([0-9]{1,5})")
_PREFIX = re.compile(r"(?!/)[A-Za-z0-9._/-]{1,64}(?<!/)")
_ETCD = "etcd://"
_FORMS = "host:port, file:FOLDER or etcd://host:port/prefix"
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def _store(_context: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    if value.startswith("file:"):
        if not os.path.isdir(value[5:]):
            raise click.BadParameter(f"{value[5:] or 'no name'} is no folder; it must be {_FORMS}")
        return "file:" + os.path.abspath(value[5:])
    hosts, slash, prefix = value.removeprefix(_ETCD).partition("/") if value.startswith(_ETCD) else (value, "", "")
    matches = [_ENDPOINT.fullmatch(each) for each in (hosts.split(",") if value.startswith(_ETCD) else [hosts])]
    if (slash and not _PREFIX.fullmatch(prefix)) or not all(each and 1 <= int(each[1]) <= 65535 for each in matches):
        raise click.BadParameter(f"\"{value}\" must be {_FORMS}")
    return value


def _variables(_context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for each in value:
        name, equals, text = each.partition("=")
        if not _NAME.fullmatch(name) or name.startswith("WEFT_"):
            raise click.BadParameter(f"\"{each}\" must be NAME or NAME=VALUE, and no name of weft's own")
        if not equals and name not in os.environ:
            raise click.BadParameter(f"{name} is not set here: give NAME=VALUE")
        found[name] = text if equals else os.environ[name]
    return found


def _hosts(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[Host, ...] | None:
    try:
        return None if value is None else hosts_of(value)
    except BadHosts as bad:
        raise click.BadParameter(str(bad)) from None


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("-n", "ranks", required=True, type=click.IntRange(1, 65536), help="How many ranks.")
@click.option("--hosts", callback=_hosts, metavar="FILE|a,b",
              help="Machines that ssh reaches: a list, or a file with `host [slots=N]` lines.  [default: this one]")
@click.option("--store", callback=_store, metavar="HOST:PORT|file:FOLDER|etcd://HOST:PORT",
              help="Where ranks meet.  [default: a free port of rank 0's host]")
@click.option("--env", "variables", multiple=True, callback=_variables, metavar="NAME[=VALUE]",
              help="A variable for the ranks on other hosts (repeatable). Ranks here inherit all.")
@click.option("--ssh", default="ssh -o BatchMode=yes", show_default=True, metavar="COMMAND",
              help="What starts a command on a host: COMMAND HOST SCRIPT.")
@click.option("--grace", default=5.0, show_default=True, type=NumberRange(0.1, 3600),
              help="Seconds between SIGTERM and SIGKILL.")
@click.option("--timeout", "limit", type=NumberRange(0.1), help="Seconds after which the job ends with 124.")
@click.option("--prefix/--no-prefix", default=True, show_default=True, help="Begin each line with its rank.")
@click.option("-q", "--quiet", is_flag=True, help="No lines about the job itself.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def run(ranks: int, hosts: tuple[Host, ...] | None, store: str | None, variables: dict[str, str], ssh: str,
        grace: float, limit: float | None, prefix: bool, quiet: bool, command: tuple[str, ...]) -> None:
    """Run COMMAND as a job of N ranks, here or on hosts that ssh reaches.

    Each rank gets WEFT_RANK, WEFT_SIZE, WEFT_STORE and WEFT_JOB, which weft::job reads. When a rank fails, the others
    get SIGTERM, and SIGKILL after the grace. Exit code: that of the rank that failed first; 124 after the limit; 130
    after SIGINT; 1 where the output cannot be written. On clusters use their own launchers: srun, mpirun.

    \b
    Examples:
      ./weft run -n 4 -- ./app
      ./weft run -n 8 --hosts n1,n2 -- ./app
    """
    def say(text: str) -> None:
        try:
            if not quiet:
                click.echo(f"weft run: {text}", err=True)
        except OSError:
            silence(sys.stderr)  # the ranks come first

    if hosts is None and shutil.which(command[0]) is None:
        raise click.UsageError(f"{command[0]} is no program that can be run here")
    try:
        words = tuple(shlex.split(ssh))
    except ValueError as wrong:
        raise click.UsageError(f"--ssh \"{ssh}\" is no command: {str(wrong).lower()}") from None
    if hosts is not None and (not words or shutil.which(words[0]) is None):
        raise click.UsageError(f"--ssh: {words[0] if words else 'nothing'} is no program that can be run here")
    try:
        found: tuple[Host | None, ...] = tuple(places(hosts, ranks)) if hosts else (None,) * ranks
    except BadHosts as bad:
        raise click.UsageError(f"--hosts: {bad}") from None
    listener = None
    if store is None:
        if found[0] is None:
            store, listener = store_here()
        else:
            store = store_on(found[0])
    job = Job(command, found, store, fresh_name(), variables, words, grace, listener)
    used = Counter(host.name if host else "this machine" for host in found)
    on = ", ".join(f"{number} on {name}" for name, number in list(used.items())[:8])
    say(f"{ranks} rank{'s' * (ranks > 1)}: {on}{', …' * (len(used) > 8)}; store {store}")
    began = time.monotonic()
    running = Running(job, lambda rank: prefix_of(rank, ranks, prefix), say, limit)
    try:
        code = running.run()
    except NotStarted as error:
        raise click.UsageError(f"{command[0]} cannot be run: {error}") from None
    well = sum(rank.code == 0 for rank in running.ranks)
    say(f"{well} of {ranks} rank{'s' * (ranks > 1)} ended well after {time.monotonic() - began:.1f} s; "
        f"exit code {code}")
    sys.exit(code)
