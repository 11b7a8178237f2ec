# SPDX-License-Identifier: Apache-2.0
"""docs/reference/pages.py refuses what it must, and --check goes red for a page that somebody edited."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROW = '- feature: "a"\n  fabric: "all"\n  limit: "{limit}"\n  workaround: "None."\n  source: "`unit.*`"\n'


def pages(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Runs the program on a copy of what it reads."""
    return subprocess.run(
        [sys.executable, "-B", ROOT / "docs/reference/pages.py", root, *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for folder in ("docs", "core", "generator", "templates", "bench", "policies"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("providers.yaml", "CMakeLists.txt"):  # without the latter, an installed command says less
        shutil.copy(ROOT / file, tmp_path)
    # Pages name tests and functions, which must exist, and limits of the example.
    for folder in ("tests", "compose", "backends", "examples"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    return tmp_path


def test_the_pages_are_what_their_sources_say(tree: Path) -> None:
    done = pages(tree, "--check")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("page", ["docs/limitations.md", "docs/glossary.md", "docs/reference/generated/errors.md"])
def test_an_edited_page_is_named(tree: Path, page: str) -> None:
    (tree / page).write_text((tree / page).read_text("utf-8") + "more\n", encoding="utf-8")
    done = pages(tree, "--check")
    assert done.returncode == 1
    assert f"{page}: not what the sources say; run scripts/docs --pages" in done.stdout


@pytest.mark.parametrize(("source", "old", "new", "picture"), [
    ("policies/notify.hpp", "initiator.write_then_ring(w)", "initiator.ring_then_write(w)", "lowerings"),
    ("providers.yaml", "refused_write: {is: silent,", "refused_write: {is: reported,", "lowerings"),
    ("docs/explanation/connection_states.md", "greeting: link_stands", "greeting: link_stands, hello", "states"),
    ("docs/explanation/paths.md", "| 5 | `write_message` | the same |", "| 5 | `write` | the same |", "road"),
])
def test_a_change_of_a_source_makes_a_picture_stale(tree: Path, source: str, old: str, new: str, picture: str) -> None:
    text = (tree / source).read_text("utf-8")
    assert old in text
    (tree / source).write_text(text.replace(old, new, 1), encoding="utf-8")
    done = pages(tree, "--check")
    assert (done.returncode, done.stderr) == (1, "")
    assert f"docs/reference/generated/{picture}.svg" in done.stdout.split(":")[0]


@pytest.mark.parametrize(("source", "old", "new", "sentence"), [
    ("docs/explanation/paths.md", "`posting_calls::put`", "`posting_calls::place`",
     "paths.md, A put: compose/posting/posting_calls.hpp has no function posting_calls::place"),
    ("docs/explanation/paths.md", "| 4 | `write` | `backends/libfabric/post_calls.hpp` |",
     "| 4 | `dial` | `backends/libfabric/port.hpp` |", "A put: nothing up to compose/posting/initiator.hpp calls dial"),
    ("docs/explanation/connection_states.md", "established --> leaving: goodbye", "established --> dialling: goodbye",
     "states that are no end lead in a circle"),
    ("policies/flush.hpp", "struct refused {", "struct declined {", "policies/flush.hpp has no type refused"),
])
def test_what_a_picture_cannot_show_is_refused(tree: Path, source: str, old: str, new: str, sentence: str) -> None:
    text = (tree / source).read_text("utf-8")
    assert old in text
    (tree / source).write_text(text.replace(old, new, 1), encoding="utf-8")
    done = pages(tree, "--check")
    assert done.returncode == 1
    assert sentence in done.stderr


def test_a_cell_of_26_words_is_refused(tree: Path) -> None:
    (tree / "docs/tables/limitations.yaml").write_text(ROW.format(limit="word " * 26), encoding="utf-8")
    done = pages(tree)
    assert done.returncode == 1
    assert "a cell of more than 25 words" in done.stderr


def test_a_row_without_a_source_is_refused(tree: Path) -> None:
    row = ROW.format(limit="b").split("  source")[0]
    (tree / "docs/tables/limitations.yaml").write_text(row, encoding="utf-8")
    done = pages(tree)
    assert done.returncode == 1
    assert "must have exactly feature, fabric, limit, workaround, source" in done.stderr


def test_a_new_error_code_makes_the_page_old(tree: Path) -> None:
    header = tree / "core/error.hpp"
    text = header.read_text("utf-8").replace("  native,", "  tired,  ///< Needs sleep.\n  native,", 1)
    header.write_text(text, encoding="utf-8")
    assert pages(tree, "--check").returncode == 1


def test_a_new_bench_makes_the_page_of_benches_stale(tree: Path) -> None:
    lists = tree / "bench/rails/CMakeLists.txt"
    lists.write_text(lists.read_text("utf-8") + "add_executable(bench-another another.cpp)\n", encoding="utf-8")
    done = pages(tree, "--check")
    assert done.returncode == 1
    assert "bench/README.md: not what the sources say" in done.stdout


def test_a_new_measurement_makes_the_page_of_benches_stale(tree: Path) -> None:
    matrix = tree / "providers.yaml"
    matrix.write_text(matrix.read_text("utf-8").replace('times: "2.56"', 'times: "2.57"'), encoding="utf-8")
    done = pages(tree, "--check")
    assert done.returncode == 1
    assert "bench/README.md: not what the sources say" in done.stdout


@pytest.mark.parametrize(("old", "new", "sentence"), [
    ("a_hostile_object_is_confined", "a_test" + "_that_is_gone", "attacks: no test is named a_test" + "_that_is_gone"),
    ("state: partly", "state: mostly", 'the state is "mostly"; it must be one of defended, partly, open'),
    ("state: defended\n    tests: [that_listens_cannot_reflect_the_proof_of_its_caller, "
     "covers_secret_role_nonces_and_introduction]", "state: defended\n    tests: []", '"defended" needs a test'),
])
def test_an_attack_without_its_test_or_state_is_refused(tree: Path, old: str, new: str, sentence: str) -> None:
    lists = tree / "docs/tables/reliability.yaml"
    lists.write_text(lists.read_text("utf-8").replace(old, new, 1), encoding="utf-8")
    done = pages(tree)
    assert done.returncode == 1
    assert sentence in done.stderr


def test_a_broken_figure_has_its_reason_or_says_that_none_is_known(tree: Path) -> None:
    lists = tree / "docs/tables/reliability.yaml"
    text = lists.read_text("utf-8").split("\nreasons:\n")[0]
    broken: dict[str, object] = {"good": False, "said": "3 problems", "command": "scripts/campaign kills",
                                 "commit": "0123", "date": "2026-01-01", "series": {}}
    good: dict[str, object] = {**broken, "good": True}
    figures = {"kills": {"tcp": broken, "shm": broken, "mapped": good}}
    (tree / "docs/tables/reliability.json").write_text(json.dumps(figures), encoding="utf-8")
    reason = '  - campaign: kills\n    of: {}\n    why: "The machine slept."\n'
    lists.write_text(f"{text}\nreasons:\n" + reason.format("tcp") + reason.format("mapped"), encoding="utf-8")
    assert pages(tree).returncode == 0
    page = (tree / "docs/reference/reliability.md").read_text("utf-8")
    assert "| kills | tcp | The machine slept. |\n| kills | shm | not examined |\n\n## Commands" in page


def test_a_series_of_a_figure_is_drawn(tree: Path) -> None:
    figure = {"good": True, "said": "a night", "command": "scripts/campaign soak", "commit": "0123",
              "date": "2026-01-01", "series": {"descriptors": [20, 21, 27]}}
    (tree / "docs/tables/reliability.json").write_text(json.dumps({"soak": {"tcp": figure}}), encoding="utf-8")
    assert pages(tree).returncode == 0
    page = (tree / "docs/reference/reliability.md").read_text("utf-8")
    assert "| tcp | descriptors | 20 | 20 | 27 | 27 | ▁▂█ |" in page


def test_a_long_item_is_wrapped_and_stays_one_item(tree: Path) -> None:
    catalogue = tree / "generator/errors/pages/usage.yaml"
    text = catalogue.read_text("utf-8")
    cause = f"{'word ' * 21}before - {'more ' * 21}four 2. end"  # "before" and "four" end at column 120
    changed = text.replace("cause: The matrix has no row of that name.", f'cause: "{cause}"', 1)
    assert changed != text
    catalogue.write_text(changed, encoding="utf-8")
    assert pages(tree).returncode == 0
    page = (tree / "docs/reference/generated/errors.md").read_text("utf-8")
    item = page.split("- Cause: word")[1].split("\n- How")[0]
    assert [line[:12] for line in item.splitlines()] == [" word word w", "  before - m", "  four 2. en"]


def test_figures_of_an_unknown_campaign_are_refused(tree: Path) -> None:
    (tree / "docs/tables/reliability.json").write_text('{"dances": {}}', encoding="utf-8")
    done = pages(tree)
    assert done.returncode == 1
    assert 'figures of "dances" belong to no promise' in done.stderr
