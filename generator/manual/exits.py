# SPDX-License-Identifier: Apache-2.0
"""The exit codes of the command, for the reference and for man pages."""
from __future__ import annotations

EXIT_CODES: tuple[tuple[str, str, str], ...] = (  # code, which commands, meaning
    ("0", "all", "fine"),
    ("1", "all", "not fine: a difference, a problem that was found, or a file that is refused or fails"),
    ("2", "all", "wrong use: an argument or option does not fit; nothing was done"),
    ("3", "probe, check --live", "nothing differs, and something was not seen"),
    ("70", "all", "a fault of weft itself; WEFT_TRACEBACK=1 shows where"),
    ("77", "bench", "what it needs is not here: a fabric, a device or a library"),
    ("124", "run", "the job was still running at --timeout"),
    ("130", "add, run", "a signal interrupted it; add wrote nothing"),
    ("others", "run, emulate, trace record", "that of the program; 128 and the signal's number where one ended it"),
)
