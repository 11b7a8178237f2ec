# SPDX-License-Identifier: Apache-2.0
"""unsteady.py RESULTS CODE: names the unsteady tests of a build in RESULTS/unsteady.txt, one a line.
unsteady.py --failed RESULTS: prints a regular expression of the tests that failed the first time.

RESULTS holds all.xml, and again.xml if failed tests ran once more. CODE is the exit code of the first run of ctest.
Exit 0: each test passed, the first time or alone. A test that fails and is then skipped did not pass.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

IN_GUEST = "unsteady: passed the second time"  # tests/vm/suites.sh writes it into the log of a suite
PASSED, SKIPPED, FAILED = "passed", "skipped", "failed"


def _how(case: ElementTree.Element) -> str:
    """How a test ended. A test that could not start, because its program is missing, failed."""
    status, skipped = case.get("status", ""), case.find("skipped")
    if status == "notrun" and skipped is not None and skipped.get("message", "").startswith("SKIP_"):
        return SKIPPED
    return {"run": PASSED, "disabled": SKIPPED}.get(status, FAILED)


def _cases(file: Path) -> list[ElementTree.Element]:
    return list(ElementTree.parse(file).iter("testcase")) if file.exists() else []


def judge(results: Path, code: int) -> tuple[list[str], list[str]]:
    """The unsteady tests, and those that never passed. An exit code without a failed test counts as one."""
    first, second = _cases(results / "all.xml"), _cases(results / "again.xml")
    passed_alone = {case.get("name", "") for case in second if _how(case) == PASSED}
    failed = [case.get("name", "") for case in first if _how(case) == FAILED]
    unsteady = [name for name in failed if name in passed_alone]
    unsteady += [f"{case.get('name')} (in its guest)" for case in first
                 if _how(case) == PASSED and IN_GUEST in case.findtext("system-out", "")]
    never = [name for name in failed if name not in passed_alone]
    if code != 0 and not failed:
        never.append("ctest itself")
    return unsteady, never


def failed_first(results: Path) -> str:
    """For ctest -R. Without a failed test it matches nothing."""
    names = [re.escape(case.get("name", "")) for case in _cases(results / "all.xml") if _how(case) == FAILED]
    return f"^({'|'.join(names)})$"


def main(results: Path, code: int) -> int:
    try:
        unsteady, never = judge(results, code)
    except ElementTree.ParseError as error:
        print(f"{results}: a result file is no whole XML: {error}", file=sys.stderr)
        return 1
    (results / "unsteady.txt").write_text("".join(f"{name}\n" for name in unsteady), encoding="utf-8")
    return 1 if never else 0


if __name__ == "__main__":
    if sys.argv[1] == "--failed":
        print(failed_first(Path(sys.argv[2])))
        sys.exit(0)
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
