# SPDX-License-Identifier: Apache-2.0
"""The checks of this folder go red on planted violations, and stay green on what is right."""

from __future__ import annotations

from pathlib import Path

import arrows
import forms
import lists
import names
import pytest
import states
import subjects
import version
from sources import without_comments

PROVIDERS = """
tcp: {facts: {provider: {is: tcp}}}
udp_rxd: {facts: {provider: {is: "udp;ofi_rxd"}}}
far: {facts: {provider: {is: ""}}, ranges: [{facts: {provider: {is: efa}}}]}
"""


def test_a_subject_that_is_long_or_a_sentence_is_named() -> None:
    short = "a" * 72
    found = subjects.problems_of([("a1", short), ("b2", short + "b"), ("c3", "Add a row."), ("d4", "Add a row")])
    assert [each.partition(":")[0] for each in found] == ["b2", "c3"]
    assert "73 characters, 72 are the limit" in found[0]


def test_subjects_of_a_folder_without_commits_are_skipped(tmp_path: Path) -> None:
    assert subjects.subjects_of(tmp_path) is None


def plant(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "line", "sentence"),
    [
        ("core/a.hpp", '#include "../wire/b.hpp"', "core/ may include nothing of weft, not wire"),
        ("policies/a.hpp", '#include "../backends/x/b.hpp"', "policies/ may include core, wire, not backends"),
        ("backends/x/a.hpp", '#include "../../policies/b.hpp"', "backends/ may include core, wire, not policies"),
        ("compose/a.hpp", '#include "../generated/b.hpp"', "not generated"),
        ("compose/a.hpp", "#include HEADER", "only compose/selected.hpp picks a header by macro"),
        ("history/a.hpp", '#include "../wire/b.hpp"', "history/ may include core, not wire"),
        ("compose/a.hpp", '#include "../tests/b.hpp"', "not tests"),
        ("wire/a.hpp", "#include <weft/core/b.hpp>", "by relative path"),
        ("compose/a.hpp", "#  include <rdma/fabric.h>", "only backends/"),
        ("examples/a.cpp", "#include <infiniband/verbs.h>", "only backends/"),
        ("bench/invocation/weft.cpp", "#include <rdma/fabric.h>", "only backends/"),
        ("compose/engine/a.hpp", '#include "../posting/b.hpp"', "the room engine stands before posting"),
        ("compose/connecting/a.hpp", '#include "../progress/b.hpp"', "the room connecting stands before progress"),
        ("compose/with.hpp", '#include "coalescing.hpp"', "asks for no such feature"),
        ("compose/posting/a.hpp", '#include "coalescer.hpp"', "asks for no such feature"),
        ("compose/rails/a.hpp", '#include "../tagged/calls.hpp"', "asks for no such feature"),
    ],
)
def test_an_arrow_against_the_rules_is_named(tmp_path: Path, name: str, line: str, sentence: str) -> None:
    plant(tmp_path, name, f"// first line\n{line}\n")
    (problem,) = arrows.check(tmp_path)
    assert problem.startswith(f"{name}:2: ")
    assert sentence in problem


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("wire/a.hpp", '#include "../core/b.hpp"'),
        ("compose/selected.hpp", "#include HEADER"),
        ("backends/x/a.hpp", "#include <rdma/fabric.h>"),
        ("bench/invocation/raw_ping.cpp", "#include <rdma/fabric.h>"),
        ("bench/raw_ping/main.cpp", "#include <rdma/fabric.h>"),
        ("tests/a.cpp", "#include <weft/generated/b.hpp>"),
        ("core/a.hpp", '// #include "../wire/b.hpp"'),
        ("core/a.hpp", "#include <vector>"),
        ("compose/progress/a.hpp", '#include "../engine/b.hpp"'),
        ("compose/posting/a.hpp", '#include "../region.hpp"'),
        ("compose/coalescing.hpp", '#include "posting/coalescer.hpp"'),
        ("bench/a.cpp", '#include "../compose/coalescing.hpp"'),
    ],
)
def test_an_arrow_within_the_rules_passes(tmp_path: Path, name: str, line: str) -> None:
    plant(tmp_path, name, line + "\n")
    assert arrows.check(tmp_path) == []


def test_a_room_does_not_include_the_rooms_above_by_a_header_between(tmp_path: Path) -> None:
    plant(tmp_path, "compose/transport.hpp", '#include "progress/b.hpp"\n')
    plant(tmp_path, "compose/progress/b.hpp", "\n")
    plant(tmp_path, "compose/posting/a.hpp", '#include "../transport.hpp"\n')
    (problem,) = arrows.check(tmp_path)
    assert "which includes rooms" in problem
    plant(tmp_path, "compose/posting/a.hpp", "\n")
    plant(tmp_path, "compose/rails/a.hpp", '#include "../transport.hpp"\n')
    assert arrows.check(tmp_path) == []


def test_a_heavy_header_is_found_below_the_first_header_unless_rare_work_needs_it(tmp_path: Path) -> None:
    plant(tmp_path, "weft.hpp", '#include "compose/a.hpp"\n')
    plant(tmp_path, "compose/a.hpp", '#include "b.hpp"\n#if WEFT_HAS_RARE_WORK\n#include "c.hpp"\n#endif\n')
    plant(tmp_path, "compose/c.hpp", "#include <algorithm>\n")
    plant(tmp_path, "compose/b.hpp", "#include <vector>\n")
    assert arrows.check(tmp_path) == []
    plant(tmp_path, "compose/b.hpp", "#include <vector>\n#include <functional>\n")
    (problem,) = arrows.check(tmp_path)
    assert problem.startswith("compose/b.hpp: includes <functional>, which each unit")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("compose/a.hpp", 'if (facts.provider == "tcp") return;'),
        ("policies/a.hpp", "constexpr bool is_efa = true;"),
        ("backends/x/a.hpp", 'auto hint = "udp;ofi_rxd";'),
        ("examples/a.cpp", "using fabric = weft::fabrics::udp_rxd;"),
        ("backends/x/a.hpp", 'auto text = "// not a comment: tcp";'),
        ("compose/a.hpp", "constexpr auto wants_tcp = 1;"),
    ],
)
def test_a_providers_name_in_code_is_named(tmp_path: Path, name: str, line: str) -> None:
    plant(tmp_path, "providers.yaml", PROVIDERS)
    plant(tmp_path, name, f"\n{line}\n")
    problems = names.check(tmp_path)
    assert problems
    assert all(problem.startswith(f"{name}:2: ") for problem in problems)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("compose/a.hpp", "// tcp loses writes without a word"),
        ("backends/oob_exchange/a.hpp", "int tcp = 0;"),
        ("compose/a.hpp", "int tcpdump = 0;"),
        ("backends/x/a.hpp", "using oob_exchange = backends::oob_exchange::tcp;"),
        ("compose/a.hpp", '#include "../backends/oob_exchange/tcp.hpp"'),
        ("tests/a.cpp", 'auto label = "tcp";'),
    ],
)
def test_a_name_in_a_comment_or_allowed_place_passes(tmp_path: Path, name: str, line: str) -> None:
    plant(tmp_path, "providers.yaml", PROVIDERS)
    plant(tmp_path, name, line + "\n")
    assert names.check(tmp_path) == []


def test_a_matrix_that_is_not_understood_is_red(tmp_path: Path) -> None:
    plant(tmp_path, "providers.yaml", "something_else: {}\n")
    assert "no longer understands" in names.check(tmp_path)[0]


def test_an_unlisted_file_is_named(tmp_path: Path) -> None:
    plant(tmp_path, "cmake/headers.cmake", "set(HEADERS\n  core/a.hpp\n)\n")
    plant(tmp_path, "core/a.hpp", "")
    plant(tmp_path, "core/b.hpp", "")
    plant(tmp_path, "tests/unit/CMakeLists.txt", "add(listed.test.cpp)\nforeach(mistake looped)\n")
    for name in ("listed", "looped", "forgotten", "list"):
        plant(tmp_path, f"tests/unit/{name}.test.cpp", "")
    found = [problem.split(":", 1)[0] for problem in lists.check(tmp_path)]
    assert found == ["core/b.hpp", "tests/unit/forgotten.test.cpp", "tests/unit/list.test.cpp"]


def test_comments_go_and_literals_stay() -> None:
    text = "n = 1'000; // it's gone\n" + 'a("//x", \'"\'); // gone\n/* gone\n too */ b(R"(// "raw)");\n'
    assert without_comments(text).split() == ["n", "=", "1'000;", 'a("//x",', "'\"');", 'b(R"(//', '"raw)");']
    assert without_comments(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "line",
    [
        "r.state = peer_state::lost;",
        "record->link_is = link_state::none;",
        "r.live = peer_header::dead;",
        "std::exchange(r.state, next);",
    ],
)
def test_a_state_that_is_assigned_beside_the_table_is_named(tmp_path: Path, line: str) -> None:
    plant(tmp_path, states.TABLE, line + "\n")
    plant(tmp_path, "compose/connecting/a.hpp", f"// r.state = 1\nif (r.state == x) return;\n{line}\n")
    (problem,) = states.check(tmp_path)
    assert problem.startswith("compose/connecting/a.hpp:3: ")


HEADER = "#define WEFT_VERSION_MAJOR 0\n#define WEFT_VERSION_MINOR 2\n#define WEFT_VERSION_PATCH 0\n"
VERSIONED = {
    "core/version.hpp": HEADER,
    "pyproject.toml": '[project]\nversion = "0.2.0"\n',
    "CHANGELOG.md": "## [0.2.0] - unreleased\n\n## [0.1.0] - 2026-11-25\n",
    "README.md": "find_package(weft 0.2 REQUIRED)\n",
}


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("pyproject.toml", '[project]\nversion = "0.1.0"\n', "pyproject.toml: the version is 0.1.0, "),
        ("CHANGELOG.md", "## [0.1.0]\n", "CHANGELOG.md: the newest section is 0.1.0, "),
        ("CHANGELOG.md", "nothing\n", "CHANGELOG.md: the newest section is missing, "),
        ("README.md", "find_package(weft 0.1 REQUIRED)\n", "README.md: find_package asks for weft 0.1, "),
        ("core/version.hpp", "#define WEFT_VERSION_MAJOR 0\n", "core/version.hpp: it must define WEFT_VERSION_MINOR "),
    ],
)
def test_another_version_is_named(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    for path, right in VERSIONED.items():
        plant(tmp_path, path, right)
    assert version.check(tmp_path) == []
    plant(tmp_path, name, text)
    (problem,) = version.check(tmp_path)
    assert problem.startswith(sentence)


FORM = "name: Bug\ndescription: A fault.\nbody:\n  - type: input\n    id: seen\n    attributes: {label: Seen}\n"
WORKFLOW = (
    "jobs:\n  all:\n    container: {image: 'debian:12'}\n" "    steps: [{uses: actions/checkout@v4}, {run: .ci/run}]\n"
)
HOSTED = {
    **{f".github/ISSUE_TEMPLATE/{name}.yml": FORM for name in forms.FORMS},
    ".github/workflows/ci.yml": WORKFLOW,
    ".devcontainer/devcontainer.json": '{"image": "debian:12", "postCreateCommand": "scripts/setup ci"}',
    "scripts/setup": "",
}
A_FORM = ".github/ISSUE_TEMPLATE/bug.yml"


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        (A_FORM, "name: [", "cannot be read"),
        (A_FORM, FORM.replace("name: Bug\n", ""), "the key 'name' is missing"),
        (A_FORM, FORM.replace("type: input", "type: text"), "part 1 has type 'text'"),
        (A_FORM, FORM.replace("{label: Seen}", "{}"), "part 1 has no label"),
        (A_FORM, FORM + "  - type: input\n    id: seen\n    attributes: {label: Again}\n", "part 2 has id 'seen'"),
        (A_FORM, FORM.replace("type: input", "type: dropdown"), "fewer than two options"),
        (".github/workflows/ci.yml", WORKFLOW.replace(".ci/run", "true"), "no step runs .ci/run"),
        (".github/workflows/ci.yml", WORKFLOW.replace("debian:12", "debian:11"), "it must be debian:12"),
        (".github/workflows/ci.yml", WORKFLOW.replace("checkout", "cache"), "no step checks the sources out"),
        (".devcontainer/devcontainer.json", "{", "cannot be read"),
        (".devcontainer/devcontainer.json", '{"image": "debian:12"}', "postCreateCommand must run a script"),
    ],
)
def test_a_file_that_the_hosting_site_refuses_is_named(tmp_path: Path, name: str, text: str, sentence: str) -> None:
    for path, right in HOSTED.items():
        plant(tmp_path, path, right)
    assert forms.check(tmp_path) == []
    plant(tmp_path, name, text)
    assert any(problem.startswith(name) and sentence in problem for problem in forms.check(tmp_path))
