# SPDX-License-Identifier: Apache-2.0
"""The probes of a program with counters: notes for tracers, and one nop each. A program without counters has none.

WEFT_EXPOSES: a program with a counted transport. WEFT_PLAIN: one with another transport.
"""
from __future__ import annotations

import os
import re
import subprocess

ARGUMENTS = {"posted": 6, "completed": 4, "failed": 5, "received": 3, "notified": 3, "met": 2, "lost": 3}

_NOTE = re.compile(r"Provider: weft\n\s+Name: (\w+)\n\s+Location: (0x[0-9a-f]+), Base: 0x[0-9a-f]+, "
                   r"Semaphore: (0x[0-9a-f]+)\n\s+Arguments: ([^\n]*)")


def output_of(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def probes_of(program: str) -> list[tuple[str, int, int, str]]:
    """Name, address, semaphore and arguments of each probe."""
    return [(name, int(at, 16), int(semaphore, 16), arguments)
            for name, at, semaphore, arguments in _NOTE.findall(output_of("readelf", "-n", program))]


def instruction_at(program: str, address: int) -> str:
    text = output_of("objdump", "-d", "--no-show-raw-insn", f"--start-address={address}",
                     f"--stop-address={address + 4}", program)
    found = re.search(rf"^\s*{address:x}:\s+(\S+)", text, re.MULTILINE)
    assert found is not None, text
    return found[1]


def test_a_tracer_finds_each_probe_with_its_arguments() -> None:
    found = probes_of(os.environ["WEFT_EXPOSES"])
    assert {name for name, _, _, _ in found} == set(ARGUMENTS)
    for name, _, semaphore, arguments in found:
        assert len(arguments.split()) == ARGUMENTS[name], (name, arguments)
        assert semaphore == 0, "a semaphore would be a load and a branch"


def test_a_probe_is_one_nop() -> None:
    program = os.environ["WEFT_EXPOSES"]
    for name, address, _, _ in probes_of(program)[:40]:
        assert instruction_at(program, address) == "nop", name


def test_a_program_without_counters_has_no_probe() -> None:
    assert "stapsdt" not in output_of("readelf", "-S", "-W", os.environ["WEFT_PLAIN"])
