# SPDX-License-Identifier: Apache-2.0
"""scripts/again.sh on planted ctest projects: unsteady tests are named, and more than two fail the run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUN = f"""set -euo pipefail
. {ROOT}/scripts/environment.sh
. {ROOT}/scripts/again.sh
again=$1
shift
failed=no
for build in "$@"; do run_ctest "$build" "$build/log.txt" -E '^left_out' || failed=yes; done
unsteady_tests || failed=yes
[ $failed = no ]
"""
# A test is a line of shell, which runs in the build directory.
STEADY, BROKEN = "true", "false"
UNSTEADY = "test -e {name}.ran || ! touch {name}.ran"
SKIPPED_ALONE = "test -e {name}.ran && exit 77 || ! touch {name}.ran"
IN_GUEST = (  # as tests/vm does; ctest keeps only the beginning of the long output
    "seq 2000 > vm.log; echo 'unsteady: passed the second time' >> vm.log; echo 0 > vm.status; "
    f"/usr/bin/python3 -B {ROOT}/tests/vm/result.py . vm"
)


def plant(build: Path, tests: dict[str, str]) -> Path:
    """A build directory as CMake would write it."""
    build.mkdir()
    lines = []
    for name, command in tests.items():
        lines.append(f'add_test({name} "/bin/sh" "-c" "{command.format(name=name)}")')
        lines.append(f'set_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 77 WORKING_DIRECTORY "{build}")')
    (build / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return build


def run(*builds: Path, again: str = "yes") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", RUN, "run", again, *map(str, builds)], capture_output=True, text=True, timeout=60, check=False
    )


def unsteady_of(build: Path) -> list[str]:
    return (build / "results" / "unsteady.txt").read_text(encoding="utf-8").split("\n")[:-1]


def test_steady_tests_pass_and_leave_an_empty_list(tmp_path: Path) -> None:
    build = plant(tmp_path / "b", {"a": STEADY})
    done = run(build)
    assert done.returncode == 0, done.stderr
    assert unsteady_of(build) == []
    assert "unsteady" not in done.stdout


def test_two_unsteady_tests_pass_and_are_named(tmp_path: Path) -> None:
    build = plant(tmp_path / "b", {"a": STEADY, "first": UNSTEADY, "second": UNSTEADY})
    done = run(build)
    assert done.returncode == 0, done.stdout + done.stderr
    assert unsteady_of(build) == ["first", "second"]
    assert "unsteady: 2 tests failed and then passed alone (2 are permitted):\n  first\n  second\n" in done.stdout


def test_a_filter_does_not_move_the_second_run_to_other_tests(tmp_path: Path) -> None:
    build = plant(tmp_path / "b", {"left_out.a": STEADY, "left_out.b": STEADY, "a": STEADY, "first.test-1": UNSTEADY})
    done = run(build)
    assert done.returncode == 0, done.stdout
    assert unsteady_of(build) == ["first.test-1"]


def test_three_unsteady_tests_fail_the_run(tmp_path: Path) -> None:
    build = plant(tmp_path / "b", dict.fromkeys(("first", "second", "third"), UNSTEADY))
    done = run(build)
    assert done.returncode == 1
    assert unsteady_of(build) == ["first", "second", "third"]


def test_unsteady_tests_of_all_builds_are_counted_together(tmp_path: Path) -> None:
    one = plant(tmp_path / "one", {"first": UNSTEADY, "second": UNSTEADY})
    other = plant(tmp_path / "other", {"third": UNSTEADY})
    done = run(one, other)
    assert done.returncode == 1
    assert "unsteady: 3 tests" in done.stdout


def test_suites_that_a_guest_ran_twice_count(tmp_path: Path) -> None:
    build = plant(tmp_path / "b", {"vm.a": IN_GUEST, "first": UNSTEADY, "second": UNSTEADY})
    done = run(build)
    assert done.returncode == 1
    assert unsteady_of(build) == ["first", "second", "vm.a (in its guest)"]


@pytest.mark.parametrize("command", [BROKEN, SKIPPED_ALONE])
def test_a_test_that_fails_and_never_passes_fails_the_run(tmp_path: Path, command: str) -> None:
    build = plant(tmp_path / "b", {"bad": command, "first": UNSTEADY})
    assert run(build).returncode == 1
    assert unsteady_of(build) == ["first"]


def test_a_program_that_is_missing_fails_the_run(tmp_path: Path) -> None:
    build = plant(tmp_path / "b", {"a": STEADY})
    (build / "CTestTestfile.cmake").write_text('add_test(gone "/nowhere/gone")\n', encoding="utf-8")
    assert run(build).returncode == 1


def test_without_a_second_run_a_failure_is_a_failure(tmp_path: Path) -> None:
    build = plant(tmp_path / "b", {"first": UNSTEADY})
    assert run(build, again="no").returncode == 1
    assert unsteady_of(build) == []


def test_lists_of_an_earlier_run_do_not_count(tmp_path: Path) -> None:
    build = plant(tmp_path / "b", dict.fromkeys(("first", "second", "third"), UNSTEADY))
    assert run(build).returncode == 1
    assert run(build).returncode == 0


def test_a_second_run_of_an_earlier_time_does_not_excuse_a_failure(tmp_path: Path) -> None:
    build = plant(tmp_path / "b", {"first": UNSTEADY})
    assert run(build).returncode == 0
    (build / "first.ran").unlink()
    assert run(build, again="no").returncode == 1
