# SPDX-License-Identifier: Apache-2.0
"""Files for the hosting site and for editors: forms.py ROOT. Exit 1 names each file with a fault.

Covers the issue forms, the workflow and the development container. yamllint (.ci/run) judges their layout.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError
from sources import report

FORMS = ("bug", "provider_row", "question")
IMAGE = "debian:12"
_INPUTS = ("input", "textarea", "dropdown", "checkboxes")


def check(root: Path) -> list[str]:
    """One sentence per fault."""
    problems = []
    for name in FORMS:
        problems += _form(root, f".github/ISSUE_TEMPLATE/{name}.yml")
    return problems + _workflow(root, ".github/workflows/ci.yml") + _container(root, ".devcontainer/devcontainer.json")


def _read(root: Path, name: str) -> tuple[Any, list[str]]:
    try:
        tree = YAML(typ="safe").load((root / name).read_text(encoding="utf-8"))
    except (OSError, YAMLError) as error:
        return {}, [f"{name}: cannot be read: {error}"]
    return (tree, []) if isinstance(tree, dict) else ({}, [f"{name}: it must be a map"])


def _form(root: Path, name: str) -> list[str]:
    tree, problems = _read(root, name)
    if problems:
        return problems
    problems = [f"{name}: the key '{key}' is missing" for key in ("name", "description", "body") if not tree.get(key)]
    seen: set[str] = set()
    for number, part in enumerate(tree.get("body") or [], start=1):
        where, kind, attributes = f"{name}: part {number}", part.get("type"), part.get("attributes") or {}
        if kind == "markdown":
            problems += [] if attributes.get("value") else [f"{where} has no text"]
            continue
        if kind not in _INPUTS:
            problems.append(f"{where} has type '{kind}'; it must be markdown, {', '.join(_INPUTS)}")
            continue
        if not re.fullmatch(r"[a-z_]+", str(part.get("id"))) or part["id"] in seen:
            problems.append(f"{where} has id '{part.get('id')}'; it must be a word of its own")
        seen.add(str(part.get("id")))
        if not attributes.get("label"):
            problems.append(f"{where} has no label")
        if kind == "dropdown" and len(attributes.get("options") or []) < 2:
            problems.append(f"{where} has fewer than two options")
    return problems if seen else [*problems, f"{name}: it asks nothing"]


def _workflow(root: Path, name: str) -> list[str]:
    tree, problems = _read(root, name)
    if problems:
        return problems
    jobs = (tree.get("jobs") or {}).values()
    steps = [(job, step) for job in jobs for step in job.get("steps", []) if step.get("run") == ".ci/run"]
    if not steps:
        return [f"{name}: no step runs .ci/run"]
    container = steps[0][0].get("container") or {}
    if container.get("image") != IMAGE:
        problems.append(f"{name}: the container's image is '{container.get('image')}'; it must be {IMAGE}")
    if not any(str(step.get("uses", "")).startswith("actions/checkout@") for step in steps[0][0]["steps"]):
        problems.append(f"{name}: no step checks the sources out")
    return problems


def _container(root: Path, name: str) -> list[str]:
    try:
        tree = json.loads((root / name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return [f"{name}: cannot be read: {error}"]
    problems = []
    if tree.get("image") != IMAGE:
        problems.append(f"{name}: the image is '{tree.get('image')}'; it must be {IMAGE}")
    command = shlex.split(str(tree.get("postCreateCommand", "")))
    if not command or not (root / command[0]).is_file():
        problems.append(f"{name}: postCreateCommand must run a script of this project, such as scripts/setup")
    return problems


if __name__ == "__main__":
    sys.exit(report(check(Path(sys.argv[1])), "the hosting site's files are as it wants them"))
