#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""No output shows a secret: manager, executor and client run with known random numbers (planted_random.cpp).

Tokens, region keys and the proofs of connections are such numbers. The test searches what the programs print, write and
show to other users: arguments, environments, names in /dev/shm.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "invocation"))
from running import SHARED_MEMORY, Failed, Manager, clean_shared_memory  # noqa: E402

KNOWN = 0x5EC2E7  # the upper bytes of each random word
_HEX = re.compile(rb"5ec2e7|e7c25e", re.IGNORECASE)
_BYTES = (KNOWN.to_bytes(3, "big"), KNOWN.to_bytes(3, "little"))


def leaks(output: bytes) -> bool:
    """Whether a planted word is in an output: as bytes, as a hexadecimal or as a decimal number."""
    decimal = any(int(number) >> 40 == KNOWN for number in re.findall(rb"\d{18,20}", output))
    return decimal or _HEX.search(output) is not None or any(raw in output for raw in _BYTES)


def arguments_of(process: int) -> Iterator[tuple[str, bytes]]:
    for name in ("cmdline", "environ"):
        try:
            yield f"/proc/{process}/{name}", Path(f"/proc/{process}/{name}").read_bytes()
        except OSError:
            return  # it has ended


class Watch(threading.Thread):
    """Reads again and again what other processes of the machine can see of a manager and its executors."""

    def __init__(self, manager: Manager) -> None:
        super().__init__(daemon=True)
        self.manager = manager
        self.seen: dict[str, bytes] = {}
        self.executors: set[int] = set()
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.005):
            try:
                running = self.manager.executors()
            except OSError:
                return
            self.executors.update(running)
            for process in (self.manager.process.pid, *running):
                self.seen.update(arguments_of(process))
            if SHARED_MEMORY.is_dir():
                self.seen[str(SHARED_MEMORY)] = "\n".join(os.listdir(SHARED_MEMORY)).encode()


def clients(manager: Manager, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Successes and every usual failure."""
    garbage = folder / "garbage"
    garbage.write_bytes(b"not compressed")
    spin = folder / "spin"
    spin.write_bytes((5_000_000).to_bytes(4, "little"))
    for words, code in (
        (("list",), 0),
        (("--json", "--workers", "2", "run", "echo", "--count", "200"), 0),
        (("--json", "run", "checksum", "--count", "100", "--size", "3000", "--depth", "4"), 0),
        (("invoke", "absent"), 1),
        (("invoke", "decompress", "--input", str(garbage)), 1),
        (("--workers", "200", "list"), 1),
        (("--deadline-ms", "300", "invoke", "spin", "--input", str(spin)), 1),
        (("--function-limit-ms", "300", "--deadline-ms", "20000", "invoke", "spin", "--input", str(spin)), 1),
    ):
        done = manager.client(*words)
        if done.returncode != code:
            raise Failed(f"{' '.join(words)}: exit code {done.returncode}, {done.stderr!r}")
        yield f"output of {' '.join(words)}", (done.stdout + done.stderr).encode()


def search(build: Path, fabric: str, planted: Path, folder: Path) -> int:
    """Returns the number of outputs that were searched. Errors: Failed."""
    marks = folder / "marks"
    marks.mkdir()
    os.environ |= {"LD_PRELOAD": str(planted), "WEFT_PLANTED": str(marks)}
    outputs: dict[str, bytes] = {}
    with clean_shared_memory(), Manager(build, fabric) as manager:
        watch = Watch(manager)
        watch.start()
        outputs["the announced address"] = manager.address.encode()
        outputs.update(clients(manager, folder))
        watch.over.set()
        watch.join()
        code, said = manager.stop()
        if code != 0:
            raise Failed(f"the manager ended with {code}: {said}")
        outputs |= {"output of manager and executors": said.encode(), **watch.seen}
        drew = {int(each.name) for each in marks.iterdir()}
        if manager.process.pid not in drew or not watch.executors & drew or len(drew) < 3:
            raise Failed(f"only {drew} drew planted numbers: the search proves nothing")
    shown = [name for name, output in outputs.items() if leaks(output)]
    if shown:
        raise Failed(f"shown in: {', '.join(shown)}")
    return len(outputs)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--fabric", required=True)
    parser.add_argument("--planted", type=Path, required=True, help="the built planted_random.cpp")
    given = parser.parse_args()
    word = KNOWN << 40 | 7
    if not all(map(leaks, (b"token %x" % word, b"key %d" % word, word.to_bytes(8, "little").hex().encode(),
                           word.to_bytes(8, "little")))) or leaks(b"5ec2 e7"):
        print("the search finds no planted word")
        return 1
    try:
        with tempfile.TemporaryDirectory(prefix="weft-outputs-") as folder:
            count = search(given.build, given.fabric, given.planted, Path(folder))
    except Failed as e:
        print(f"a_secret_is_in_no_output: {e}")
        return 1
    print(f"a_secret_is_in_no_output: {count} outputs searched")
    return 0


if __name__ == "__main__":
    sys.exit(main())
