# SPDX-License-Identifier: Apache-2.0
"""Runs seeds in chunks on several processors, and keeps the results, so that an interrupted run continues."""
from __future__ import annotations

import hashlib
import json
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field
from pathlib import Path

CHUNK = 200  # seeds of one process: its memory stays small, and a crash costs little
_FAILED = re.compile(r"^failed (\d+) (\w+): (.*)$")
_CRASHED = re.compile(r"^(crashed|hang) (\d+)$")


@dataclass
class Failure:
    """A failing seed, and the commands that repeat it."""

    seed: int
    finding: str
    sentence: str
    repeat: str = ""
    shortest: str = ""


@dataclass
class Chunk:
    """The results of some seeds."""

    first: int
    ran: int = 0
    operations: int = 0
    seconds: float = 0
    virtual_seconds: float = 0
    failures: list[Failure] = field(default_factory=list)


@dataclass(frozen=True)
class Campaign:
    """What runs: the results of another campaign do not count."""

    program: Path
    row: str
    system: str
    faults: str

    def name(self) -> str:
        return f"{self.row}.{self.system}" + ("" if self.faults == "all" else "." + self.faults.replace(",", "-"))

    def digest(self) -> str:
        return hashlib.sha256(self.program.read_bytes()).hexdigest()[:16]


def parse(text: str, first: int) -> Chunk:
    """The output of one process. The last line is a summary; a crash leaves none."""
    chunk = Chunk(first)
    for line in text.splitlines():
        if found := _FAILED.match(line):
            chunk.failures.append(Failure(int(found[1]), found[2], found[3]))
        elif line.startswith("  repeat: ") and chunk.failures:
            chunk.failures[-1].repeat = line.removeprefix("  repeat: ")
        elif line.startswith("  shortest: ") and chunk.failures:
            chunk.failures[-1].shortest = line.removeprefix("  shortest: ")
        elif found := _CRASHED.match(line):
            seed = int(found[2])
            finding = "crashed" if found[1] == "crashed" else "endless"
            chunk.failures.append(Failure(seed, finding, f"the program {found[1]}s with this seed"))
            chunk.ran = seed - first + 1
        elif line.startswith("{"):
            summary = json.loads(line)
            chunk.ran = summary["ran"]
            chunk.operations, chunk.seconds = summary["operations"], summary["seconds"]
            chunk.virtual_seconds = summary["virtual_seconds"]
    return chunk


def run_chunk(campaign: Campaign, first: int, last: int) -> Chunk:
    """Runs the seeds of a chunk. After a crash the rest of the seeds run in another process."""
    whole = Chunk(first)
    at = first
    while at <= last:
        words = [str(campaign.program), "--system", campaign.system, "--faults", campaign.faults, "--shrink",
                 "--seeds", f"{at}..{last}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        part = parse(done.stdout, at)
        if part.ran == 0:
            sentence = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
            part.failures.append(Failure(at, "no_result", sentence))
            part.ran = last - at + 1
        for failure in part.failures:
            if not failure.repeat:
                failure.repeat = f"{campaign.program.name} --system {campaign.system} --seed {failure.seed}"
        whole.ran += part.ran
        whole.operations += part.operations
        whole.seconds += part.seconds
        whole.virtual_seconds += part.virtual_seconds
        whole.failures += part.failures
        at += part.ran
    return whole


class Record:
    """The chunks that are done, in a file beside the summary."""

    def __init__(self, folder: Path, campaign: Campaign, fresh: bool) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / f"{campaign.name()}.state.json"
        self._digest = campaign.digest()
        self.chunks: dict[int, Chunk] = {}
        if fresh or not self._file.is_file():
            return
        kept = json.loads(self._file.read_text("utf-8"))
        if kept["program"] != self._digest:
            return
        for each in kept["chunks"]:
            failures = [Failure(**failure) for failure in each.pop("failures")]
            self.chunks[each["first"]] = Chunk(**each, failures=failures)

    def add(self, chunk: Chunk) -> None:
        self.chunks[chunk.first] = chunk
        text = json.dumps({"program": self._digest, "chunks": [asdict(each) for each in self.chunks.values()]})
        part = self._file.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        part.replace(self._file)


def chunks_of(first: int, seeds: int | None, done: Record) -> Iterator[tuple[int, int]]:
    """Ranges of seeds that have not run. Without a number of seeds they never end."""
    at = first
    while seeds is None or at < first + seeds:
        last = at + CHUNK - 1 if seeds is None else min(at + CHUNK, first + seeds) - 1
        kept = done.chunks.get(at)
        if kept is None or kept.ran < last - at + 1:
            yield at, last
        at = last + 1


def run(campaign: Campaign, record: Record, first: int, seeds: int | None, hours: float | None, jobs: int,
        progress: Callable[[Record], None]) -> None:
    """Runs chunks until all seeds ran or the time is over."""
    end = None if hours is None else time.monotonic() + hours * 3600
    waiting = chunks_of(first, seeds, record)
    running: set[Future[Chunk]] = set()
    with ThreadPoolExecutor(jobs) as pool:
        while True:
            while len(running) < jobs and (end is None or time.monotonic() < end):
                following = next(waiting, None)
                if following is None:
                    break
                running.add(pool.submit(run_chunk, campaign, *following))
            if not running:
                return
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for each in ended:
                record.add(each.result())
                progress(record)
