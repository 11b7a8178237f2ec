# SPDX-License-Identifier: Apache-2.0
"""`weft explain FABRIC ordering` says what compose/ordering.hpp is compiled to, for every row and release."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import jsonschema
import pytest
from command import Run

from generator.decided import decide_all
from generator.matrix.model import read_matrix
from generator.ordering import NEVER, orders
from generator.rules import read_rules
from generator.schemas import all_schemas

ROOT = Path(__file__).resolve().parents[2]


def test_what_is_told_is_what_is_compiled() -> None:
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    headers = ("/usr/include/rdma/fabric.h", "/usr/include/infiniband/verbs.h")
    if compiler is None or not all(Path(header).exists() for header in headers):
        pytest.skip("no compiler, or no headers of libfabric and rdma-core here")
    program = f'#include "{ROOT}/compose/ordering.hpp"\n'
    claims = ""
    for row in decide_all(read_matrix(ROOT / "providers.yaml"), read_rules(ROOT / "generator" / "rules.yaml")):
        name = row.fabric.name
        program += f'#include "{ROOT}/generated/{name}.hpp"\n'
        for span, choices in zip(row.fabric.ranges, row.choices):
            struct = name if len(row.fabric.ranges) == 1 else f"{name}_since_{str(span.since).replace('.', '_')}"
            for each in orders(name, span, {choice.family: choice.answer for choice in choices}):
                constant = f"weft::ordering<weft::fabrics::{struct}>::{each.name}"
                claims += f"static_assert({constant} == {str(each.holds).lower()});\n"
                if each.asked:
                    claims += (f"static_assert(weft::ordering<weft::ordered<weft::fabrics::{struct}, "
                               f"weft::order::{each.name}>>::{each.name});\n")
    done = subprocess.run([compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", "-"],
                          input=program + claims,
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[:3000]
    assert claims.count("static_assert") > 18 * 12


def test_the_command_answers_in_each_format(weft: Run) -> None:
    told = weft("explain", "tcp", "ordering", "--format", "json")
    answer = json.loads(told.stdout)
    jsonschema.validate(answer, all_schemas()["ordering"])
    kept = {each["order"]: each["answer"] for each in answer["orders"]}
    assert kept["send_after_send"] == "yes" and kept["write_after_write"] == "if asked"
    assert kept["notice_after_puts"] == "no"
    assert all(kept[name] == "no" for name in NEVER)
    assert "weft::ordered<weft::fabrics::tcp" in weft("explain", "tcp", "ordering").stdout
    assert weft("explain", "tcp", "ordering", "--format", "csv").stdout.startswith("fabric,order,since,answer,reason")
