# SPDX-License-Identifier: Apache-2.0
"""The verdict on a guest's end: only a complete one passes. No guest is booted here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import initramfs
import machine
import pytest
import result
from packages import failed


@pytest.fixture
def booted(tmp_path: Path) -> machine.guest:
    return machine.guest(tmp_path / "vmlinuz", tmp_path / "initramfs", tmp_path, (), "tcg")


def test_the_status_counts_only_with_the_exit_byte(booted: machine.guest) -> None:
    (booted.results / "status").write_text("3\n")
    assert machine.verdict(booted, machine.REACHED_END, 9) == 3
    for ended in (0, 1, 124, 137):  # powered off, qemu's own error, deadline, killed
        with pytest.raises(failed):
            machine.verdict(booted, ended, 9)


def test_the_exit_byte_counts_only_with_a_status(booted: machine.guest) -> None:
    with pytest.raises(failed):
        machine.verdict(booted, machine.REACHED_END, 9)


def test_a_panic_is_told_with_its_words(booted: machine.guest) -> None:
    (booted.results / "console").write_text("early\n" + "[1.0] Kernel panic - not syncing: why\n" + "a frame\n" * 100)
    with pytest.raises(failed, match="without a verdict.*\n.*Kernel panic - not syncing: why"):
        machine.verdict(booted, 0, 9)


def test_a_hang_names_the_deadline(booted: machine.guest) -> None:
    with pytest.raises(failed, match="ended after 9 s, its deadline"):
        machine.verdict(booted, 124, 9)


def test_a_guest_that_says_nothing_is_ended(booted: machine.guest) -> None:
    (booted.results / "console").write_text("the kernel began\n")
    with pytest.raises(failed, match="said nothing for 0 s.*\n.*the kernel began"):
        machine.watch(booted, lambda: False, silence=0.01, pause=0.001)


def test_a_guest_that_goes_on_is_not_ended(booted: machine.guest, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    asked = 0

    def over() -> bool:
        nonlocal asked
        asked += 1
        with (booted.results / "output").open("a") as output:
            output.write(f"suite {asked}\n")
        return asked == 20

    machine.watch(booted, over, silence=0.0, pause=0.001)
    assert capfdbinary.readouterr().out == b"".join(b"suite %d\n" % number for number in range(1, 21))


@pytest.mark.parametrize(("status", "expected"), [("0", 0), ("1", 1), ("139", 1), ("77", 77)])
def test_a_suite_ends_as_it_did_in_the_guest(tmp_path: Path, status: str, expected: int) -> None:
    (tmp_path / "suite.log").write_text("what it said\n")
    (tmp_path / "suite.status").write_text(status)
    assert result.main(tmp_path, "suite") == expected


def test_a_suite_without_an_end_failed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "suite.log").write_text("it began\n")
    assert result.main(tmp_path, "suite") == 1
    assert "did not end in the guest" in capsys.readouterr().out


def test_without_a_guest_suites_are_skipped_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "skipped").write_text("this machine is something else")
    assert result.main(tmp_path, "suite") == 77
    assert "this machine is something else" in capsys.readouterr().out


def test_the_archive_is_one_that_cpio_reads(tmp_path: Path) -> None:
    module = tmp_path / "odd.ko"
    module.write_bytes(b"odd")
    (tmp_path / "init").write_text("#!/bin/busybox sh\n")
    initramfs.make([module], tmp_path / "init", tmp_path / "made.gz")
    listed = subprocess.run(
        f"gzip -dc {tmp_path}/made.gz | busybox cpio -t",
        shell=True,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert {"bin/busybox", "init", "modules/order", "modules/odd.ko"} <= set(listed.stdout.split())
