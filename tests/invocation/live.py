#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Function invocation with real processes over one fabric.

No call is lost, accounting is exact, and a client survives a killed executor.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
import select
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples" / "invocation"))
from running import NODE, Failed, Manager, clean_shared_memory, program  # noqa: E402


SLOWNESS = int(os.environ.get("WEFT_TEST_SLOWNESS", "1"))  # an emulated machine sets a larger number
LONGEST_MS = min(30_000 * SLOWNESS, 60_000)  # a manager's limit for the time of a function
# in hundredths of a second: on emulated processors an executor takes two seconds to start
PAST_START = 50 if SLOWNESS == 1 else 200 * SLOWNESS


def expect(condition: bool, sentence: str) -> None:
    if not condition:
        raise Failed(sentence)


def end_of(done: subprocess.CompletedProcess[str]) -> str:
    return f"exit code {done.returncode}, {done.stderr!r}"


class Suite:
    def __init__(self, build: Path, fabric: str, folder: Path, calls: int, start_limit_ms: int) -> None:
        self.calls = calls
        self.start_limit_ms = start_limit_ms
        self.build = build
        self.fabric = fabric
        self.folder = folder

    def manager(self, *arguments: str) -> Manager:
        return Manager(self.build, self.fabric, ("--start-limit-ms", str(self.start_limit_ms), *arguments))

    def many_calls_of_one_worker_lose_nothing(self) -> None:
        self._measured(("run", "echo", "--count", str(self.calls)))

    def thousands_of_calls_lose_nothing(self) -> None:
        self._measured(
            ("--workers", "2", "run", "checksum", "--count", "2000", "--size", "3000", "--depth", "4"),
            ("--polling", "warm", "--own-polling", "warm", "run", "echo", "--count", "500"),
            ("--polling", "hot-then-warm", "--hot-ms", "5", "run", "echo", "--count", "200"),
            ("run", "echo", "--count", "200", "--batch", "16"),
        )

    def times_of_batches_are_refused_where_calls_overlap(self) -> None:
        with self.manager() as m:
            for arguments in (
                ("run", "--depth", "2", "--batch", "16"),
                ("--workers", "2", "run", "--batch", "16"),
                ("run", "--count", "8", "--batch", "16"),
            ):
                done = m.client(*arguments)
                expect(
                    done.returncode == 2 and "--batch 16 measures so many calls together" in done.stderr,
                    f"{arguments}: {done.returncode}, {done.stderr}",
                )

    def _measured(self, *runs: tuple[str, ...]) -> None:
        with self.manager() as m:
            for arguments in runs:
                report = m.measure(*arguments, limit=120 + self.calls / 50)
                expect(report["lost"] == 0 and report["done"] == report["asked"], f"{arguments}: {report}")
                accounts = report["accounting"]
                expect(accounts["exact"] is True, f"{arguments}: accounting is not exact: {accounts}")
                expect(accounts["hot_ns"] == accounts["worker_hot_ns"], f"{arguments}: hot: {accounts}")
                expect(
                    accounts["execution_ns"] == accounts["worker_execution_ns"] > 0,
                    f"{arguments}: execution: {accounts}",
                )
                expect(accounts["invocations"] >= report["asked"], f"{arguments}: {accounts}")
                if "warm" in arguments:
                    expect(accounts["hot_ns"] == 0, f"warm workers spun: {accounts}")
                print(
                    f"{report['done']} of {report['asked']} calls ({' '.join(arguments)}), "
                    f"lost {report['lost']}, accounting exact",
                    flush=True,
                )
            code, said = m.stop()
            expect(code == 0, f"the manager ended with {code}: {said}")

    def a_real_file_is_compressed(self) -> None:
        source, packed = ROOT / "providers.yaml", self.folder / "packed"
        with self.manager() as m:
            done = m.client("invoke", "compress", "--input", str(source), "--output", str(packed))
            expect(done.returncode == 0, end_of(done))
            expect(zlib.decompress(packed.read_bytes()) == source.read_bytes(), "other contents came back")

    def failures_are_typed(self) -> None:
        garbage = self.folder / "garbage"
        garbage.write_bytes(b"not compressed")
        with self.manager() as m:
            for arguments, word in (
                (("invoke", "absent"), "no_such_function"),
                (("invoke", "decompress", "--input", str(garbage)), "function_failed (-2)"),
                (("--input-bytes", "5", "invoke", "echo", "--input", str(garbage)), "too_large"),
                (("--workers", "200", "list"), "200 workers"),
                (("--output-bytes", "20000000", "list"), "20000000 bytes"),
                (("--output-bytes", "4000000000", "list"), "1 GiB"),
            ):
                done = m.client(*arguments)
                expect(
                    done.returncode == 1 and word in done.stderr,
                    f"{arguments}: {done.returncode} {done.stderr!r}, wanted {word}",
                )
            spin = self._spin(5_000_000)
            begin = time.monotonic()
            done = m.client("--deadline-ms", "300", "invoke", "spin", "--input", str(spin))
            expect(done.returncode == 1 and "deadline" in done.stderr, end_of(done))
            expect(time.monotonic() - begin < 30, "the deadline of 300 ms was forgotten")

    def a_manager_that_never_answers_is_given_up(self) -> None:
        with self.manager() as m:
            os.kill(m.process.pid, signal.SIGSTOP)
            try:
                done = m.client("--connect-limit-ms", "2000", "list")
            finally:
                os.kill(m.process.pid, signal.SIGCONT)
            expect(done.returncode == 1 and "within 2 s" in done.stderr, end_of(done))
            self._serves(m)
            expect(m.stop()[0] == 0, "accounting is not exact")

    def a_function_over_its_limit_ends_its_executor(self) -> None:
        with self.manager() as m:
            done = m.client(
                "--function-limit-ms",
                "300",
                "--deadline-ms",
                str(20_000 * SLOWNESS),
                "invoke",
                "spin",
                "--input",
                str(self._spin(30_000_000)),
            )
            expect(done.returncode == 1 and "executor_lost" in done.stderr, end_of(done))
            self._serves(m)
            expect(m.stop()[0] == 0, "accounting is not exact")

    def a_killed_executor_is_survived(self) -> None:
        with self.manager() as m:
            command = [
                str(program(self.build, "client", self.fabric)),
                "--manager",
                m.address,
                *NODE,
                "--function-limit-ms",
                str(LONGEST_MS),
            ]
            command += [
                "--deadline-ms",
                str(20_000 * SLOWNESS),
                "invoke",
                "spin",
                "--input",
                str(self._spin(LONGEST_MS * 800)),
            ]
            client = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            try:
                victim = self._wait_until_busy(m, client)
                os.kill(victim, signal.SIGKILL)
                begin = time.monotonic()
                _, said = client.communicate(timeout=20 * SLOWNESS)
                took = time.monotonic() - begin
            finally:
                if client.poll() is None:
                    client.kill()
                    client.wait()
            expect(client.returncode == 1 and "executor_lost" in said, f"exit code {client.returncode}, {said!r}")
            expect(took < 15 * SLOWNESS, f"the client learned of it after {took:.1f} s")
            self._serves(m)
            left = [each.name for each in Path("/dev/shm").iterdir() if each.name.startswith(f"{victim}:")]
            expect(not left, f"the killed executor left {left} in /dev/shm")
            code, told = m.stop()
            expect(code == 0, f"accounting is not exact: {told}")

    def a_stopped_executor_is_lost_by_its_silence(self) -> None:
        """The client's limit of silence is the function's limit and 2 s. The call has a longer deadline."""
        with self.manager() as m:
            command = [
                str(program(self.build, "client", self.fabric)),
                "--manager",
                m.address,
                *NODE,
                "--function-limit-ms",
                str(6_000 * SLOWNESS),
                "--deadline-ms",
                str(50_000 * SLOWNESS),
                "invoke",
                "spin",
                "--input",
                str(self._spin(5_000_000)),
            ]
            client, victim = self._busy_client(m, command)
            try:
                os.kill(victim, signal.SIGSTOP)
                _, said = client.communicate(timeout=40 * SLOWNESS)
            finally:
                if client.poll() is None:
                    client.kill()
                    client.wait()
            expect(client.returncode == 1 and "executor_lost" in said, f"exit code {client.returncode}, {said!r}")
            self._serves(m)
            code, told = m.stop()
            expect(code == 0, f"accounting is not exact: {told}")
            expect(not Path(f"/proc/{victim}").exists(), "the stopped executor still lives")

    def a_killed_client_is_cleaned_up(self) -> None:
        with self.manager() as m:
            command = [
                str(program(self.build, "client", self.fabric)),
                "--manager",
                m.address,
                *NODE,
                "--function-limit-ms",
                "1000",
            ]
            command += ["run", "echo", "--count", "100000000"]
            with (self.folder / "killed_client").open("w+") as said:
                client = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, text=True)
                try:
                    self._wait_until_busy(m, client)
                except Failed as e:
                    raise Failed(
                        f"{e}; the client said: {(self.folder / 'killed_client').read_text()!r}, code {client.poll()}"
                    ) from None
                finally:
                    client.kill()
                    client.wait()
            end = time.monotonic() + 60 * SLOWNESS
            while m.executors() and time.monotonic() < end:
                time.sleep(0.05)
            expect(not m.executors(), "the executor of a killed client still runs after 60 s")
            self._serves(m)
            expect(m.stop()[0] == 0, "accounting is not exact")

    def idle_strangers_do_not_shut_honest_clients_out(self) -> None:
        strangers = self.build / "tests" / "invocation" / f"invocation.idle_clients.{self.fabric}"
        if not strangers.exists():  # built for two fabrics: a connected one and an addressed one
            return
        with self.manager() as m:
            idle = subprocess.Popen(
                [str(strangers), m.address, "300"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            try:
                assert idle.stdout is not None
                ready, _, _ = select.select([idle.stdout], [], [], 60 * SLOWNESS)
                said = idle.stdout.readline() if ready else ""
                expect(said == "ready\n", f"the strangers said {said!r}; exit code {idle.poll()}")
                for _ in range(3):
                    self._serves(m)
                expect(idle.poll() is None, "the strangers left")
            finally:
                idle.kill()
                idle.communicate()
            code, told = m.stop()
            expect(code == 0, f"accounting is not exact: {told}")

    def requests_without_bound_are_refused(self) -> None:
        with self.manager("--max-allocation-bytes", "100000", "--max-bytes", "100000") as m:
            done = m.client("--input-bytes", "100000", "--output-bytes", "100000", "list")
            expect(done.returncode == 1 and "at most 100000 are possible" in done.stderr, end_of(done))
            expect("--max-allocation-bytes" in done.stderr, end_of(done))
            done = m.client("--slots", "2", "--input-bytes", "1000", "--output-bytes", "1000", "list")
            expect(done.returncode == 0, end_of(done))

    def only_trusted_objects_run(self) -> None:
        image = self.build / "examples" / "invocation" / "image_functions.so"
        picture = self.folder / "picture.ppm"
        picture.write_bytes(b"P6\n4 2\n255\n" + bytes(range(24)))
        result = self.folder / "thumbnail.ppm"
        ship = ("--object", str(image), "invoke", "thumbnail", "--input", str(picture), "--output", str(result))
        with self.manager() as m:
            done = m.client(*ship)
            expect(done.returncode == 1 and "not trusted" in done.stderr, end_of(done))
        kept = self.folder / "kept"
        kept.mkdir()
        trusted = hashlib.sha256(image.read_bytes()).hexdigest()
        with self.manager("--functions", str(kept), "--trust", trusted) as m:
            for _ in range(2):  # sent by the client, then taken from the folder
                done = m.client(*ship)
                expect(done.returncode == 0, end_of(done))
            expect(result.read_bytes() == b"P6\n2 1\n255\n" + bytes([8, 9, 10, 14, 15, 16]), f"{result.read_bytes()!r}")
            expect([p.name for p in kept.iterdir()] == [trusted + ".so"], "something else was kept")
            garbage = self.folder / "garbage.so"
            garbage.write_bytes(b"\x7fELF")
            done = m.client("--object", str(garbage), "list")
            expect(done.returncode == 1 and "not trusted" in done.stderr, end_of(done))

    def _closes_other_processes(self) -> bool:
        """Whether an executor sees no memory of others: the kernel has Landlock, and the fabric needs no such sight."""
        create_ruleset, version = 444, 1
        return self.fabric not in ("shm", "mapped") and ctypes.CDLL(None).syscall(create_ruleset, None, 0, version) >= 1

    def a_hostile_object_is_confined(self) -> None:
        hostile = self.build / "tests" / "invocation" / "hostile_functions.so"
        kept, victim = self.folder / "kept_hostile", Path("/tmp/weft-hostile")  # noqa: S108 - the object's own path
        kept.mkdir()
        trusted = ("--functions", str(kept), "--trust", hashlib.sha256(hostile.read_bytes()).hexdigest())
        eperm, enomem, eacces = "error 1", "error 12", "error 13"
        wanted = {
            "start_thread": "done",
            "fork_process": eperm,
            "run_program": eperm,
            "make_socket": eperm,
            "trace_manager": eperm,
            "signal_manager": eperm,
            "signal_by_descriptor": eperm,
            "cut_journal": eperm,
            "make_memory_file": eperm,
            "memory_file_from_constructor": eperm,
            "memory_of_manager_from_constructor": eacces if self._closes_other_processes() else "done",
            "change_priority": eperm,
            "pin_manager": eperm,
            "read_manager": eperm,
            "from_constructor": eperm,
            "read_file": eacces,
            "write_file": eacces,
            "take_memory": enomem,
        }
        free = ("start_thread", "make_socket", "read_file", "write_file", "take_memory", "fork_process")
        names = self.folder / "attempts"
        victim.unlink(missing_ok=True)

        def told(m: Manager, attempts: Iterable[str]) -> dict[str, str]:
            names.write_text("".join(f"{each}\n" for each in attempts))
            done = m.client("--object", str(hostile), "invoke", "try_each", "--input", str(names))
            expect(done.returncode == 0, end_of(done))
            return dict(line.split(" ", 1) for line in done.stdout.splitlines())

        with self.manager(*trusted) as m:
            seen = told(m, wanted)
            expect(seen == wanted, f"a confined object: {seen}, wanted {wanted}")
            expect(not victim.exists(), f"{victim} was made")
            self._serves(m)
            expect(m.stop()[0] == 0, "accounting is not exact")
        unconfined = ("--unconfined-executors", "--executor-memory-mib", "0")
        with self.manager(*trusted, *unconfined) as m:  # the object does what it tries, where nothing hinders it
            seen = told(m, free)
            expect(seen == dict.fromkeys(free, "done"), f"an object that is not confined: {seen}")
        victim.unlink(missing_ok=True)

    def executors_have_their_own_user(self) -> None:
        if self.fabric in ("shm", "mapped"):  # shared memory is of one user
            try:
                with self.manager("--executor-user", "nobody"):
                    raise Failed(f"a manager over {self.fabric} accepted a user that cannot share memory")
            except Failed as e:
                expect("must be of one user" in str(e), str(e))
            return
        if os.geteuid() != 0:
            print("left out: only root can start executors of another user", flush=True)
            return
        closed = [each for each in self.build.resolve().parents if not each.stat().st_mode & stat.S_IXOTH]
        if closed:  # the executor loads a provider of the build as that user
            print(f"left out: other users cannot enter {closed[-1]}", flush=True)
            return
        with self.manager("--executor-user", "nobody") as m:
            command = [str(program(self.build, "client", self.fabric)), "--manager", m.address, *NODE]
            command += ["--function-limit-ms", "1000", "run", "echo", "--count", "100000000"]
            client = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True
            )
            try:
                status = Path(f"/proc/{self._wait_until_busy(m, client)}/status").read_text()
            finally:
                client.kill()
                client.wait()
            end = time.monotonic() + 60 * SLOWNESS
            while m.executors() and time.monotonic() < end:
                time.sleep(0.05)
            users = next(line for line in status.splitlines() if line.startswith("Uid:")).split()[1:]
            expect("0" not in users and len(set(users)) == 1, f"the executor has the users {users}")
            expect("\nSeccomp:\t2\n" in status and "\nNoNewPrivs:\t1\n" in status, f"not confined: {status}")
            expect(m.stop()[0] == 0, "accounting is not exact")

    def _spin(self, microseconds: int) -> Path:
        path = self.folder / "spin"
        path.write_bytes(struct.pack("<I", microseconds))
        return path

    @staticmethod
    def _serves(m: Manager) -> None:
        report = m.measure("run", "echo", "--count", "100", "--warm-up", "0")
        expect(report["lost"] == 0 and report["accounting"]["exact"], f"the new executor: {report}")

    def _busy_client(self, m: Manager, command: list[str]) -> tuple[subprocess.Popen[str], int]:
        """A client in its call, and its executor. On a busy machine the call may end before anybody sees it."""
        for left in reversed(range(5)):
            client = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
            try:
                return client, self._wait_until_busy(m, client)
            except Failed:
                ended = client.poll()
                client.kill()
                client.wait()
                if ended != 0 or left == 0:
                    raise
        raise AssertionError

    @staticmethod
    def _wait_until_busy(m: Manager, client: subprocess.Popen[str]) -> int:
        """The client's executor, after its start: it has used processor time."""
        end = time.monotonic() + 60 * SLOWNESS
        while time.monotonic() < end:
            if client.poll() is not None:
                words = client.stderr.read() if client.stderr else ""
                raise Failed(f"the client ended with {client.returncode} before its executor was busy: {words.strip()}")
            for process in m.executors():
                fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
                if int(fields[11]) + int(fields[12]) > PAST_START:  # it polls, or executes
                    return process
            time.sleep(0.02)
        raise Failed(f"no executor became busy within 60 s: {m.said()}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--fabric", required=True)
    parser.add_argument("--calls", type=int, default=2000, help="how many the first measured run makes")
    parser.add_argument("--start-limit-ms", type=int, default=10_000, help="how long an executor may take to start")
    parser.add_argument("--only", metavar="NAME", action="append", help="only this test (repeatable)")
    given = parser.parse_args()
    for quiet in ("HFI_NO_BACKTRACE", "IPATH_NO_BACKTRACE"):  # else a crash exits with 1
        os.environ.setdefault(quiet, "1")
    failed = 0
    with clean_shared_memory(), tempfile.TemporaryDirectory(prefix="weft-live-") as folder:
        suite = Suite(given.build, given.fabric, Path(folder), given.calls, given.start_limit_ms)
        tests: dict[str, Callable[[], None]] = {
            name: getattr(suite, name) for name in vars(Suite) if not name.startswith("_") and name != "manager"
        }
        for name, test in tests.items():
            if given.only and name not in given.only:
                continue
            begin = time.monotonic()
            try:
                test()
                print(f"passed  {name} ({time.monotonic() - begin:.1f} s)", flush=True)
            except (Failed, subprocess.TimeoutExpired) as e:
                failed += 1
                print(f"FAILED  {name}: {e}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
