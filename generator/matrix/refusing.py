# SPDX-License-Identifier: Apache-2.0
"""What does not fit a schema, in sentences: where it is, what is there, and what would be right."""
from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

import jsonschema

from .facts import FACT
from .loader import Document, Problem, Refused, Where
from .schema import EVIDENCED, Schema


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A tail for a sentence: the nearest known word, or nothing."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean '{near[0]}'?" if near else ""


def require(document: Document, schema: Schema) -> None:
    """Errors: Refused, with a sentence for each thing that does not fit the schema."""
    found = jsonschema.Draft202012Validator(schema).iter_errors(document.data)
    problems = [problem for error in found for problem in _sentences(document, error)]
    if problems:
        raise Refused(problems)


def shown(where: Where) -> str:
    """A path in the words of a reader: tcp.key_bytes rather than tcp/facts/key_bytes/is."""
    parts = [str(part) for part in where if part not in ("facts", "is")]
    return ".".join(parts) or "the file"


def _sentences(document: Document, error: Any) -> list[Problem]:
    where: Where = tuple(error.absolute_path)
    kind: str = error.validator
    if kind == "additionalProperties" and isinstance(error.schema.get("properties"), dict):
        known = error.schema["properties"]
        return [document.problem((*where, key),
                                 f"unknown key '{key}' in "
                                 f"{shown(where)}{did_you_mean(key, known) or '; known are ' + _few(known)}")
                for key in error.instance if key not in known]
    if kind == "required" and isinstance(error.validator_value, list):
        return [_missing(document, where, key, error.schema) for key in error.validator_value
                if key not in error.instance]
    if "propertyNames" in error.absolute_schema_path:
        right = error.schema.get("x-right", "a name")
        return [document.problem((*where, error.instance),
                                 f"'{error.instance:.60}' cannot be a name in {shown(where)}: expected {right}")]
    if kind == "anyOf" and EVIDENCED[0] in error.validator_value:
        return [document.problem(where,
                                 f"{shown(where)} has no evidence: add claimed, observed or copied, as claimed: "
                                 f"\"[source], what it says\"")]
    if kind == "anyOf" and {"required": ["because"]} in error.validator_value:
        return [document.problem(where,
                                 f"{shown(where)} has neither when nor because: say what it requires, or why it "
                                 f"always holds")]
    if kind in ("minProperties", "minItems"):
        return [document.problem(where,
                                 f"{shown(where)} is empty: {error.schema.get('description', 'an entry')} is expected")]
    return [_wrong_value(document, where, error)]


def _wrong_value(document: Document, where: Where, error: Any) -> Problem:
    right = error.schema.get("x-right") or error.schema.get("description") or "something else"
    if error.schema.get("type") == "object":
        meaning = FACT[str(where[-1])].meaning if where and where[-1] in FACT else error.schema.get("description", "")
        right = f"a mapping ({meaning})"
    hint = did_you_mean(error.instance, error.schema["enum"]) if isinstance(error.instance,
                                                                            str) and "enum" in error.schema else ""
    return document.problem(where, f"{shown(where)} is {_as_text(error.instance)}: expected {right}{hint}")


def _missing(document: Document, where: Where, key: str, schema: Schema) -> Problem:
    if where and where[-1] == "facts" and key in FACT:  # a row may be named so by mistake
        return document.problem(where,
                                f"{shown(where)} does not answer {key} ({FACT[key].meaning}): add {key}: {{is: ..., "
                                f"claimed: \"[source], ...\"}}")
    meaning = schema.get("properties", {}).get(key, {}).get("description", "")
    return document.problem(where, f"{shown(where)} lacks {key}" + (f" ({meaning})" if meaning else ""))


def _as_text(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'the text "{value:.60}"'
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    return f"the number {str(value):.40}"


def _few(known: Iterable[str]) -> str:
    names = list(known)
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
