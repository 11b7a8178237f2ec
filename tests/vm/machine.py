# SPDX-License-Identifier: Apache-2.0
"""Boots the guest with qemu and judges its end.

Only the exit byte and the status in the share prove that the command ran to its end.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packages import failed

# qemu's isa-debug-exit makes this exit code of the guest's byte; qemu's own errors exit with 1
REACHED_END = (0x2A << 1) | 1
TRIAL_SECONDS = 10.0
ACCELERATIONS = {
    "tcg": ["-accel", "tcg,thread=multi,tb-size=256", "-cpu", "max"],
    "kvm": ["-accel", "kvm", "-cpu", "host"],
}


@dataclass(frozen=True)
class guest:
    """What to boot, and the folders that the guest has."""

    image: Path
    initramfs: Path
    results: Path
    shown: tuple[Path, ...]
    acceleration: str
    memory: int = 768

    def command(self, serial: list[str], deadline: float, extra: str = "") -> list[str]:
        """qemu's command line; `timeout` ends it even if this process dies."""
        show = ":".join(map(str, self.shown))
        return [
            *("timeout", "--foreground", "--kill-after=5", f"{deadline:.0f}", "qemu-system-x86_64", "-machine", "pc"),
            *ACCELERATIONS[self.acceleration],
            *(
                "-m",
                str(self.memory),
                "-smp",
                "2",
                "-nodefaults",
                "-no-reboot",
                "-display",
                "none",
                "-monitor",
                "none",
                *serial,
            ),
            *(
                "-device",
                "isa-debug-exit,iobase=0xf4,iosize=0x04",
                "-kernel",
                str(self.image),
                "-initrd",
                str(self.initramfs),
            ),
            *("-append", f"console=ttyS0 quiet panic=-1 mitigations=off rdinit=/init weft.show={show} {extra}"),
            *("-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap"),
            *("-device", "virtio-9p-pci,fsdev=root,mount_tag=root"),
            *("-fsdev", f"local,id=results,path={self.results},security_model=none"),
            *("-device", "virtio-9p-pci,fsdev=results,mount_tag=results"),
        ]


def acceleration(cache: Path, image: Path, initramfs: Path, results: Path, say: Callable[[str], None]) -> str:
    """kvm where it booted this kernel within TRIAL_SECONDS, else tcg; tried once per kernel and boot of this machine.
    A /dev/kvm may exist and still not run an unmodified guest. WEFT_VM_ACCELERATION decides where it is set.
    """
    wish = os.environ.get("WEFT_VM_ACCELERATION", "")
    if wish:
        if wish not in ACCELERATIONS:
            raise failed(f'WEFT_VM_ACCELERATION is "{wish}"; it must be {" or ".join(ACCELERATIONS)}')
        return wish
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "tcg"
    question = Path("/proc/sys/kernel/random/boot_id").read_text() + str(image)
    answer = cache / f"acceleration-{hashlib.sha256(question.encode()).hexdigest()[:12]}"
    if not answer.exists():
        say(f"trying KVM for {TRIAL_SECONDS:.0f} s, as /dev/kvm exists")
        trial = guest(image, initramfs, results, (), "kvm").command(["-serial", "null"], TRIAL_SECONDS, "weft.trial")
        ended = subprocess.run(trial, stdin=subprocess.DEVNULL, capture_output=True, check=False).returncode
        answer.write_text("kvm" if ended == REACHED_END else "tcg")
    return answer.read_text()


def run(machine: guest, deadline: float, silence: float | None = None) -> int:
    """Boots, and prints the command's output. Returns: the command's exit status. Raises failed where there is none.

    `silence`: seconds without output after which the guest is ended. A slow machine reaches a deadline, a guest that
    hangs reaches this limit.
    """
    console = machine.results / "console"
    with _ended(
        subprocess.Popen(machine.command(["-serial", f"file:{console}"], deadline), stdin=subprocess.DEVNULL)
    ) as qemu:
        watch(machine, lambda: qemu.poll() is not None, silence)
    return verdict(machine, qemu.returncode, deadline)


def watch(machine: guest, over: Callable[[], bool], silence: float | None, pause: float = 0.2) -> None:
    """Passes the guest's output on until `over()`. Raises failed where no output came for `silence` seconds."""
    shown = 0
    heard = time.monotonic()
    while True:
        last = over()
        before, shown = shown, _pass_on(machine.results / "output", shown)
        if last:
            return
        now = time.monotonic()
        if shown != before:
            heard = now
        elif silence is not None and now - heard > silence:
            raise failed(f"the guest was ended: it said nothing for {silence:.0f} s; {_told(machine)}")
        time.sleep(pause)


def shell(machine: guest, deadline: float) -> int:
    """Boots with this terminal as the guest's console."""
    (machine.results / "interactive").touch()
    with _raw_terminal():
        ended = subprocess.run(machine.command(["-serial", "stdio"], deadline), check=False).returncode
    return verdict(machine, ended, deadline)


def verdict(machine: guest, ended: int, deadline: float) -> int:
    """The command's exit status, if the guest reached its end; else raises failed with the console's last lines."""
    status = machine.results / "status"
    if ended == REACHED_END and status.exists():
        return int(status.read_text())
    how = (
        f"was ended after {deadline:.0f} s, its deadline"
        if ended in (124, 137)
        else f"ended without a verdict (qemu's exit {ended})"
    )
    raise failed(f"the guest {how}; {_told(machine)}")


def _told(machine: guest) -> str:
    lines = _last_words(machine.results / "console")
    return "its console's last lines:\n" + "\n".join(f"  | {line}" for line in lines)


def _last_words(console: Path) -> list[str]:
    """The console's end; after a kernel panic, from that line on."""
    lines = console.read_text(errors="replace").splitlines() if console.exists() else []
    panic = [number for number, line in enumerate(lines) if "Kernel panic" in line or "Oops" in line]
    return lines[panic[0] :][:40] if panic else lines[-40:]


def _pass_on(output: Path, shown: int) -> int:
    if not output.exists():
        return shown
    with output.open("rb") as file:
        file.seek(shown)
        content = file.read()
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()
    return shown + len(content)


@contextmanager
def _ended(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    """Ends the process at the end of the block."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()


@contextmanager
def _raw_terminal() -> Iterator[None]:
    """Keys such as control-C go to the guest."""
    if not sys.stdin.isatty() or shutil.which("stty") is None:
        yield
        return
    before = subprocess.run(["stty", "-g"], stdin=sys.stdin, capture_output=True, text=True, check=True).stdout.strip()
    try:
        subprocess.run(["stty", "raw", "-echo"], check=True)
        yield
    finally:
        subprocess.run(["stty", before], check=False)
