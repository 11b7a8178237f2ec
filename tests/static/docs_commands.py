# SPDX-License-Identifier: Apache-2.0
"""Each command of the documents is run, or has a reason: docs_commands.py ROOT [--run | --list].
Exit 1 names each that has neither.

The commands are the lines of `sh` and `console` blocks in Markdown written by hand. COMMANDS says what happens to each:
- `here()`: `--run` runs it as it stands, in the top folder, and it must end with 0. Such a command changes nothing and
  needs no build.
- `by(test)`: that test of a CMakeLists.txt runs the same command, or what it does.
- `nobody(reason)`: no test runs it.
A command takes the first line of the table whose pattern is the whole command. A pattern without a command is refused.
`--list` prints which line each command takes.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from docs import Tree, pages, unknown_test
from sources import project_files, report

SECONDS = 60


@dataclass(frozen=True)
class Fate:
    """What happens to a command: run here, run by a test, or not run for a reason."""

    run: bool = False
    test: str = ""
    reason: str = ""


def here() -> Fate:
    return Fate(run=True)


def by(test: str) -> Fate:
    return Fate(test=test)


def nobody(reason: str) -> Fate:
    return Fate(reason=reason)


# Pattern of a whole command -> what happens to it. Stale lines are refused: remove them with the command.
COMMANDS: dict[str, Fate] = {
    r"\./weft (matrix|check|clean|explain \w+( \w+)?)": here(),
    r"\./weft clean --remove": by("generator.pytest"),
    r"\./weft (doctor|list)": by("generator.pytest"),
    r"readelf -n \./app .*": by("loopback.probes"),
    r"bpftrace -e [^\0]*": nobody("it needs a kernel that lets bpftrace in"),
    r"weft top --format prometheus > .*": nobody("it writes into a folder of node_exporter"),
    r"weft top.*": by("loopback.top"),
    r"\./configure --with-(ofi|cuda)=.*": nobody("it builds a client from a source that is not in the tree"),
    r"(SHMEM_OFI_PROVIDER|FI_PROVIDER)=efa .*\./weft emulate efa .*": nobody("it needs such a client"),
    r"\./weft bench .*--list": here(),
    r"\./weft add .*": by("add.unknown_providers"),
    r"\./weft probe .*": by("probe.row.<fabric>"),
    r"\./weft inspect .*": by("generator.pytest"),
    r"\./weft bench .*": by("bench-smoke.combinations.tcp"),
    r"\./weft emulate .*": by("emulator.*"),
    r"\./weft trace .*": by("emulator.recording"),
    r"\./weft simulate .*": by("generator.pytest"),
    r"\./weft run .*": by("generator.pytest"),
    r"python3 -m venv .*": by("python.wheel"),
    r"~/weft/bin/weft .*": by("python.wheel"),
    r"~/weft/bin/python examples/hello/python/listener\.py & .*": by("python.bindings"),
    r"mpirun .*": by("job.launchers.tcp"),
    r"srun .*": nobody("tests/job/test_cluster.py runs it in scripts/nightly"),
    r"torchrun .*": nobody("no package of Debian has it; job.launchers.tcp sets its variables"),
    r"RANK=. WORLD_SIZE=2 .*": by("job.launchers.tcp"),
    r"scripts/cluster .*": nobody("tests/job/test_cluster.py and the demo run it in scripts/nightly"),
    r"tests/simulation/planted\.py .*": by("simulation.planted_bugs"),
    r"scripts/demo": by("invocation.live.<fabric>"),
    r"scripts/test": nobody("it runs every test, this one too"),
    r"scripts/setup (bench|cluster|docs|packages)": nobody("it installs packages"),
    r"scripts/setup packages && scripts/packages debs": nobody("scripts/packages in scripts/nightly does"),
    r"apt-get install \./build/packages/.*": nobody("scripts/packages in scripts/nightly does, in a root"),
    r"apt-get install cmake make zlib1g-dev .*": nobody("scripts/packages in scripts/nightly does, in a root"),
    r"cmake -S examples/invocation/installed .*": nobody("scripts/packages in scripts/nightly does, in a root"),
    r"cmake --build demo .*": nobody("scripts/packages in scripts/nightly does, in a root"),
    r"examples/invocation/demo.py --build demo": nobody("scripts/packages in scripts/nightly does, in a root"),
    r"for each in listener caller; do c\+\+ .*": nobody("scripts/packages in scripts/nightly does, in a root"),
    r"\./listener & sleep 1; \./caller": nobody("scripts/packages in scripts/nightly does, in a root"),
    r"scripts/docs": by("docs.site"),
    r"scripts/fuzz.*": by("static.runner"),
    r"scripts/vm run .*": by("vm.*"),
    r"scripts/faults .*": by("faults.hello.tcp"),
    r"scripts/campaign .*": by("static.runner"),
    r"scripts/releases --list": here(),
    r"scripts/releases .*": nobody("it makes roots and builds libraries; scripts/nightly runs it"),
    r"WEFT_FABRICS=mapped build/release/bench/abi/.*": nobody("it is built on request: a minute of compile time"),
    r"bench/instructions/run .*": by("bench-smoke.bench-instructions.<fabric>"),
    r"cmake --preset (release|dev).*": nobody("scripts/test configures and builds by the same presets"),
    r"cmake --build build/emulated": nobody("the preset dev builds an emulated fabric, and emulator.* runs it"),
    r"build/release/docs/tutorial/tutorial\.\w+\.tcp": by("tutorial.<step>.tcp"),
    r"build/release/examples/hello/hello-listener\.(shm|kernel_tcp) .*": by("example.hello.<fabric>"),
    r"(build/\w+/examples/transfer_engine/)transfer-engine[\w.-]* (demo|server|client|rank).*":
        by("example.transfer_engine.*"),
    r"(sleep 1; )?/usr/bin/python3 examples/transfer_engine/python/pages\.py .*": by("python.bindings"),
    r"cmake --build build/release --target weft_python .*": nobody("scripts/test builds the target"),
    r"(build/\w+/examples/paged_writer/)paged-writer[\w.-]* (both|server|client) .*": by("example.paged_writer.*"),
    r"\./invocation-\w+\.tcp .*": by("invocation.live.<fabric>"),
    r"(invocation-manager|\./weft-node)\.tcp .*": by("invocation.nodes.tcp"),
    r"cd build/release/examples/invocation": nobody("it only names the folder of the next commands"),
    r"mkdir -p /tmp/found && cp providers\.yaml /tmp/found/": nobody("it prepares the next command"),
    r"tests/emulator/(seeds|compare)\.py .*": by("emulator.seed.<fabric>"),
    r"tests/emulator/mpi/run\.py .*": by("emulator.mpi.efa"),
    r"WEFT_RANDOM_ROWS=\d+ .*": by("generator.random_rows"),
}


def commands(root: Path) -> list[tuple[str, int, str]]:
    """(page, line, command) of every sh block."""
    return [(page.name, line, command) for page in pages(root, project_files(root)) for line, command in page.commands]


def fate_of(command: str, table: dict[str, Fate]) -> str | None:
    """The table's first pattern that is the whole command."""
    return next((pattern for pattern in table if re.fullmatch(pattern, command)), None)


def check(root: Path, table: dict[str, Fate] | None = None) -> list[str]:
    """One sentence per command without a line, per line without a command, and per test that does not exist."""
    table = COMMANDS if table is None else table
    problems = []
    used: Counter[str] = Counter()
    for page, line, command in commands(root):
        pattern = fate_of(command, table)
        if pattern is None:
            problems.append(f"{page}:{line}: no line of tests/static/docs_commands.py says who runs `{command}`")
        else:
            used[pattern] += 1
    names = project_files(root)
    tree = Tree(root, names, {str(parent) for name in names for parent in PurePosixPath(name).parents})
    for pattern, fate in table.items():
        if not used[pattern]:
            problems.append(
                f'tests/static/docs_commands.py: no document has a command like "{pattern}": remove the line'
            )
        if fate.test and (wrong := unknown_test(tree, fate.test)):
            problems.append(f"tests/static/docs_commands.py: {wrong}")
    return problems


def run(root: Path) -> list[str]:
    """Runs what is to be run here; one sentence per command that does not end with 0 in time."""
    problems = []
    for command in sorted(
        {command for _, _, command in commands(root) if COMMANDS.get(fate_of(command, COMMANDS) or "", Fate()).run}
    ):
        try:
            ended = subprocess.run(
                ["bash", "-c", command],
                cwd=root,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            problems.append(f"`{command}` did not end within {SECONDS} s")
            continue
        if ended.returncode:
            last = (ended.stderr or ended.stdout).strip().splitlines()[-1:]
            problems.append(f"`{command}` ended with {ended.returncode}: {' '.join(last)}")
        else:
            print(f"runs: {command}")
    return problems


def _list(root: Path) -> int:
    for page, line, command in commands(root):
        fate = COMMANDS.get(fate_of(command, COMMANDS) or "")
        print(f"{page}:{line}: {command}\n    {fate or 'nothing says'}")
    return 0


if __name__ == "__main__":
    top = Path(sys.argv[1])
    if "--list" in sys.argv:
        sys.exit(_list(top))
    if "--run" in sys.argv:
        sys.exit(report(run(top), "every cheap command of the documents runs"))
    sys.exit(report(check(top), "every command of the documents is run, or has a reason"))
