# SPDX-License-Identifier: Apache-2.0
"""The command of scripts/vm: prepares kernel and initramfs, boots, and ends with the guest command's exit code."""

from __future__ import annotations

import argparse
import fcntl
import os
import platform
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import initramfs
import kernel
import machine
from packages import cannot, failed

HERE = Path(__file__).resolve().parent
NO_VERDICT = 70
SKIPPED = 77
NEEDED = {
    "qemu-system-x86_64": "qemu-system-x86",
    "busybox": "busybox-static",
    "apt-get": "apt",
    "dpkg-deb": "dpkg",
    "rdma": "iproute2",
}
NEEDED_FOR_SIW = {"make": "make", "gcc": "gcc", "xz": "xz-utils"}

SHARED = ("guest", "device", "directory", "command", "interactive", "status", "output", "console", "skipped")


def say(text: str) -> None:
    print(f"vm: {text}", file=sys.stderr, flush=True)


def main() -> int:
    asked = arguments()
    try:
        return boot(asked)
    except cannot as reason:
        note_skip(asked, str(reason))
        print(f"skipped: {reason}")
        return SKIPPED
    except failed as reason:
        say(str(reason))
        return NO_VERDICT


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/vm", description=__doc__)
    parser.add_argument("--cache", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("what", choices=("shell", "run", "check", "prepare"))
    parser.add_argument(
        "--device", choices=tuple(kernel.DEVICE_MODULES), default="rxe", help="soft-RoCE (default) or soft-iWARP"
    )
    parser.add_argument("--deadline", type=float, help="seconds until the guest is ended (default 300; shell: 4 hours)")
    parser.add_argument("--silence", type=float, help="run, check: seconds without output until the guest is ended")
    parser.add_argument(
        "--results", type=Path, help="folder that the guest may write, as /run/weft (default: a temporary one)"
    )
    parser.add_argument(
        "--show",
        type=Path,
        action="append",
        default=[],
        help="a folder below /tmp that the guest shall see (read-only)",
    )
    given = sys.argv[1:]
    split = given.index("--") if "--" in given else len(given)
    asked = parser.parse_args(given[:split])
    asked.command = given[split + 1 :]
    if (asked.what == "run") != bool(asked.command):
        parser.error("run needs a command behind --, such as: scripts/vm run -- ibv_devinfo; the others take none")
    if asked.what == "check":
        asked.command = ["bash", str(HERE / "pingpong.sh")]
    return asked


def boot(asked: argparse.Namespace) -> int:
    check_machine(asked.device)
    with results_folder(asked.results) as results:
        with locked(asked.cache):
            built = kernel.obtain(asked.cache, asked.device, say)
            archive = built.folder / f"initramfs-{asked.device}.gz"
            initramfs.make(built.modules_for(asked.device), HERE / "init", archive)
            speed = machine.acceleration(asked.cache, built.image, archive, results, say)
        if asked.what == "prepare":
            say(f"ready: {built.release}, {asked.device}, {speed}")
            return 0
        furnish(results, asked)
        guest = machine.guest(built.image, archive, results, shown(asked.show), speed)
        if asked.what == "shell":
            return machine.shell(guest, asked.deadline or 4 * 3600)
        return machine.run(guest, asked.deadline or 300, asked.silence)


def check_machine(device: str) -> None:
    """Raises cannot where no package that scripts/setup installs could help."""
    if platform.machine() != "x86_64":
        raise cannot(f"the guest is for x86_64, and this machine is {platform.machine()}")
    needed = NEEDED | (NEEDED_FOR_SIW if device == "siw" else {})
    missing = [
        package
        for program, package in needed.items()
        if shutil.which(program, path="/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin") is None
    ]
    if missing:
        raise cannot(f"the guest needs Debian's packages {' '.join(missing)}; scripts/setup test installs them")


def furnish(results: Path, asked: argparse.Namespace) -> None:
    """Writes the files that the guest reads at its start to the share, and removes those of an earlier run."""
    for each in results.iterdir():
        if each.name in SHARED or each.suffix in (".log", ".status"):
            each.unlink()
    shutil.copy(HERE / "guest", results / "guest")
    (results / "device").write_text(asked.device)
    (results / "directory").write_text(str(Path.cwd()))
    again = "WEFT_AGAIN=1 " if os.environ.get("WEFT_AGAIN") else ""  # scripts/test --again, for suites.sh
    (results / "command").write_text(again + shlex.join(asked.command) + "\n")


def shown(wishes: list[Path]) -> tuple[Path, ...]:
    """Folders below /tmp that the guest needs, whose own /tmp is empty: also the project's and the present one."""
    folders = {each.resolve() for each in (*wishes, HERE.parent.parent, Path.cwd())}
    return tuple(sorted(each for each in folders if Path("/tmp") in each.parents))


def note_skip(asked: argparse.Namespace, reason: str) -> None:
    if asked.results:
        asked.results.mkdir(parents=True, exist_ok=True)
        (asked.results / "skipped").write_text(reason)


@contextmanager
def results_folder(wish: Path | None) -> Iterator[Path]:
    if wish is not None:
        wish.mkdir(parents=True, exist_ok=True)
        yield wish.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="weft-vm-") as made:
        yield Path(made)


@contextmanager
def locked(cache: Path) -> Iterator[None]:
    """Only one process at a time prepares."""
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


if __name__ == "__main__":
    sys.exit(main())
