# SPDX-License-Identifier: Apache-2.0
"""The shape of providers.yaml and of rules.yaml, as JSON schemas with a description of each key.

Unknown keys are refused, and facts without a cell. Editors may use generator/schemas/providers.schema.json, a copy of
the first schema. `x-right` says what would be right; refusing.py makes sentences of it.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .facts import BACKENDS, FACT, FACTS, UNLIMITED, Fact
from .measured import CLASSES

Schema = dict[str, Any]

VERSION = {"type": "string", "pattern": r"^(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})$",
           "description": 'a release in quotes, as "1.17"', "x-right": 'a release in quotes, as "1.17"'}
NAME = r"^[a-z][a-z0-9]*(_[a-z0-9]+)*$"
LONGEST_NAME = 40
SNAKE = f"a name in snake_case, {LONGEST_NAME} letters, digits and underscores at most"
# At least one letter or digit: blanks and dots are no sentence.
SENTENCE = {"type": "string", "pattern": r"[^\W_]", "maxLength": 300,
            "x-right": "a sentence in quotes, not blank, 300 characters at most"}
SOURCE_NAME = r"[a-z][a-z0-9]*(?:[._-][a-z0-9]+)*"
# Variables of libraries. Programs and the loader read others, which no row may set.
SETTING = r"^(?!(?:LD_|MALLOC_|GLIBC_|LC_|PATH$|HOME$|IFS$|SHELL$|ENV$|BASH_ENV$|TMPDIR$))[A-Z][A-Z0-9_]*$"
CITATION = rf"\[({SOURCE_NAME})\]"
_DAY = {"type": "string", "pattern": r"^20[0-9]{2}-[01][0-9]-[0-3][0-9]$",
        "x-right": 'a day in quotes, as "2026-11-21"'}
_CITING = {"type": "string", "pattern": CITATION, "maxLength": 300,
           "x-right": 'text with a source in brackets, as "[weft], seen"'}
_EVIDENCE: Schema = {
    "claimed": {**_CITING,
                "description": "what a source says: its name in brackets, then what it says about this fact"},
    "observed": {**_CITING, "pattern": f"^{CITATION}",
                 "description": "what we saw: the observation's name in brackets, then what was done and seen",
                 "x-right": 'text that begins with a source, as "[run], 8"'},
    "copied": {**_CITING,
               "description": "taken over from another row or release, or assumed as the safe value: from where, and "
                              "what is not established"},
}
EVIDENCE: Schema = {name: {"$ref": f"#/$defs/{name}"} for name in _EVIDENCE}
EVIDENCED = [{"required": ["claimed"]}, {"required": ["observed"]}, {"required": ["copied"]}]
LITERAL = r'^(?!.*\?\?)[^"]*$'  # goes into C++ text, where two question marks may begin a trigraph


def _closed(properties: Schema, required: Iterable[str], description: str, **more: Any) -> Schema:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False,
            "description": description, **more}


def _kind_of(fact: Fact) -> str:
    """The name of what a fact's value may be: facts of the same kind share it."""
    if fact.values:
        return fact.cpp
    if fact.is_number:
        least = f"number_from_{fact.least}" if fact.least else "number"
        return f"unlimited_{least}" if fact.largest == UNLIMITED else f"{least}_to_{fact.largest}"
    return {"bool": "truth", "text": "text"}[fact.cpp] if fact.name != "atomic_operations" else fact.name


def _value(fact: Fact) -> Schema:
    shape: Schema = {"description": fact.expects(), "x-right": fact.expects()}
    if fact.values:
        return {"enum": list(fact.values), **shape}
    if fact.cpp == "bool":
        return {"type": "boolean", **shape}
    if fact.cpp == "text":
        return {"type": "string", "maxLength": 200 if fact.name == "atomic_operations" else 40, "pattern": LITERAL,
                **shape}
    number: Schema = {"type": "integer", "minimum": fact.least, "maximum": fact.largest}
    if fact.step > 1:
        number["multipleOf"] = fact.step
    return {"anyOf": [number, {"const": "unlimited"}], **shape} if fact.largest == UNLIMITED else {**number, **shape}


def _definitions() -> Schema:
    """Evidence, measurements, the kinds of values, a cell for each kind of value, and all cells of a row."""
    values = {_kind_of(fact): _value(fact) for fact in FACTS}
    cell = _closed({"is": {"description": "the value"},
                    "claimed_value": {"description": "what the library claims, where it behaves otherwise"},
                    "claimed_until": {**VERSION,
                                      "description": "the first release that keeps that claim, or does not make it, in "
                                                     "quotes"},
                    **EVIDENCE},
                   ["is"], "a value with its evidence", anyOf=EVIDENCED)
    kinds: Schema = {f"{kind}_cell": {"$ref": "#/$defs/cell", "description": "a cell",
                                      "properties": {"is": {"$ref": f"#/$defs/{kind}"},
                                                     "claimed_value": {"$ref": f"#/$defs/{kind}"}}} for kind in values}
    cells = _closed({fact.name: {"$ref": f"#/$defs/{_kind_of(fact)}_cell", "description": fact.meaning}
                     for fact in FACTS}, [], "cells, one for each fact")
    return {**_EVIDENCE, "won": _won(), "measurement": _measured(), **values, "cell": cell, **kinds, "cells": cells}


def _cells(all_of_them: bool) -> Schema:
    what = "one cell per fact" if all_of_them else "the cells that this release changes"
    more: Schema = {"required": list(FACT)} if all_of_them else {"minProperties": 1}
    return {"$ref": "#/$defs/cells", "description": what, **more}


def _won() -> Schema:
    word = {"type": "string", "pattern": NAME, "x-right": "the name of an answer"}
    times = {"type": "string", "pattern": r"^[1-9][0-9]{0,4}\.[0-9]{2}$",
             "x-right": 'a number with two decimals in quotes, as "5.80"'}
    return _closed({"winner": {**word, "description": "the fastest answer"},
                    "than": {**word, "description": "the answer that it is compared with"},
                    "operation": {**word, "description": "the operation of weft bench"},
                    "times": {**times,
                              "description": "how many times as long the other answer takes, median of the turns"},
                    "spread": {"type": "array", "minItems": 2, "maxItems": 2, "items": times,
                               "description": "10th and 90th percentile over the turns",
                               "x-right": 'two numbers in quotes, as ["5.10", "6.20"]'}},
                   ["winner", "than", "operation", "times", "spread"], "a class of sizes in which an answer won")


def _measured() -> Schema:
    """What a bench found about one family."""
    word = {"type": "string", "pattern": NAME, "x-right": "the name of an answer"}
    classes = _closed({name: {"$ref": "#/$defs/won", "description": what} for name, what in CLASSES.items()}, [],
                      "the classes of sizes that were decided", minProperties=1)
    return _closed({"winner": {**word,
                               "description": "the answer that the rules take, where facts permit it and programs "
                                              "cannot tell it from the others"},
                    "classes": classes, "command": {**SENTENCE, "description": "what was run"},
                    "machine": {**SENTENCE, "description": "where"},
                    "library": {**SENTENCE, "description": "the library and its release"},
                    "date": {**_DAY, "description": "the day of the run"}},
                   ["winner", "classes", "command", "machine", "library", "date"], "a measurement of one family")


def _half_round_trip() -> Schema:
    """How long a small transfer takes."""
    return _closed({"ns": {"type": "integer", "minimum": 1, "maximum": 1_000_000_000,
                           "x-right": "nanoseconds, from 1 on",
                           "description": "half of the median round trip of 8 bytes"},
                    "of": {**SENTENCE, "description": "the operation"},
                    "command": {**SENTENCE, "description": "what was run"},
                    "machine": {**SENTENCE, "description": "where"},
                    "library": {**SENTENCE, "description": "the library and its release"},
                    "date": {**_DAY, "description": "the day of the run"}},
                   ["ns", "of", "command", "machine", "library", "date"],
                   "how long a small transfer takes; sets of fabrics take the faster one")


def _sources() -> Schema:
    one = _closed({"kind": {"enum": ["claimed", "observed", "copied"], "description": "how far it is believed",
                            "x-right": "one of claimed, observed, copied"},
                   "text": {**SENTENCE,
                            "description": "claimed, copied: the source and its version, as a citation of it reads"},
                   "date": {**_DAY, "description": "observed: the day"},
                   "library": {**SENTENCE, "description": "observed: the library and its release"},
                   "setup": {**SENTENCE, "description": "observed: where and how"}},
                  ["kind"], "a source; an observation has date, library and setup, the others have text")
    return {"type": "object", "minProperties": 1, "additionalProperties": one,
            "propertyNames": {"pattern": f"^{SOURCE_NAME}$", "maxLength": 60,
                              "x-right": "small letters and digits, joined by hyphens, dots and underscores"},
            "description": "where the evidence comes from: each source is named once, and cells cite it",
            "x-right": "a mapping {name: source}"}


def matrix_schema() -> Schema:
    """The JSON schema of providers.yaml."""
    setting = _closed({"value": {"type": "string", "maxLength": 60, "pattern": LITERAL,
                                 "description": "the value to set",
                                 "x-right": 'text in quotes, as "100"'},
                       "reason": {**SENTENCE, "description": "what it is good for"}}, ["value", "reason"],
                      "a variable of the environment, set before the library is first asked unless the user set it")
    row = _closed(
        {
            "measured": {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/measurement"},
                         "propertyNames": {"pattern": NAME, "x-right": SNAKE},
                         "description": "what a bench found, by family; ./weft bench --write writes it",
                         "x-right": "a mapping {family: measurement}"},
            "half_round_trip": _half_round_trip(),
            "summary": {**SENTENCE, "description": "one sentence for people"},
            "backend": {"enum": list(BACKENDS), "description": "the backend that serves the row",
                        "x-right": "one of " + ", ".join(BACKENDS)},
            "library": _closed({"since": {**VERSION,
                                          "description": "the first release that the row describes, in quotes"},
                                "until": {**VERSION,
                                          "description": "the first release that it no longer describes, in quotes"},
                                **EVIDENCE},
                               ["since"], "the releases of the backend's library that the row describes",
                               anyOf=EVIDENCED),
            "settings": {"type": "object",
                         "propertyNames": {"pattern": SETTING,
                                           "x-right": "a variable of the library in capital letters, not PATH or LD_*"},
                         "additionalProperties": setting,
                         "minProperties": 1, "description": "settings of the library's environment",
                         "x-right": "a mapping of settings"},
            "facts": _cells(True),
            "ranges": {"type": "array", "minItems": 1, "description": "later releases that change cells, oldest first",
                       "x-right": "a list of {since, facts}",
                       "items": _closed({"since": {**VERSION,
                                                   "description": "the first release with these cells, in quotes"},
                                         "facts": _cells(False)}, ["since", "facts"],
                                        "the cells that a release changes")},
            "override": {"type": "object", "minProperties": 2, "required": ["reason"],
                         "description": "answers chosen by hand, checked against the same rules",
                         "x-right": "a mapping {family: answer, reason: ...}",
                         "properties": {"reason": {**SENTENCE, "description": "why by hand"}},
                         "additionalProperties": {"type": "string", "x-right": "the name of an answer"}},
        },
        ["summary", "backend", "library", "facts"], "one fabric")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "weft: the capability matrix",
            "type": "object",
            "description": "the sources, and one row per fabric", "minProperties": 1,
            "propertyNames": {"pattern": NAME, "maxLength": LONGEST_NAME, "x-right": SNAKE},
            "properties": {"sources": _sources()}, "required": ["sources"], "additionalProperties": row,
            "$defs": _definitions()}


def rules_schema() -> Schema:
    """The JSON schema of rules.yaml."""
    word = {"type": "string", "pattern": NAME, "x-right": SNAKE}
    answer = _closed(
        {
            "answer": {**word, "description": "the C++ type in policies/<family>.hpp"},
            "when": {"type": "object", "minProperties": 1, "description": "cells and the values that they must have",
                     "x-right": "a mapping {cell: value}",
                     "additionalProperties": {"type": ["string", "boolean", "integer"]}},
            "unless": {"type": "object", "minProperties": 1,
                       "description": "answers of earlier families that forbid this one",
                       "x-right": "a mapping {family: [answer, ...]}",
                       "additionalProperties": {"type": "array", "minItems": 1, "items": word,
                                                "x-right": "a list of answers"}},
            "because": {**SENTENCE, "description": "what the cells do not say"},
            "by_measurement": {"type": "boolean",
                               "description": "a bench may choose it: programs cannot tell it from the others",
                               "x-right": "true or false"},
            "parameters": {"type": "boolean",
                           "description": "the C++ type is a template of numbers, all with defaults",
                           "x-right": "true or false"},
        },
        ["answer"], "one answer and what it requires", anyOf=[{"required": ["when"]}, {"required": ["because"]}])
    family = _closed({"question": {**SENTENCE, "description": "what every fabric must answer"},
                      "wire": {"type": "boolean", "description": "both peers must have the same answer",
                               "x-right": "true or false"},
                      "answers": {"type": "array", "minItems": 1, "items": answer,
                                  "description": "in the order in which they are tried",
                                  "x-right": "a list of answers"}},
                     ["question", "wire", "answers"], "one family")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "weft: the rules", "type": "object",
            "minProperties": 1,
            "description": "one entry per family", "propertyNames": {"pattern": NAME, "x-right": SNAKE},
            "additionalProperties": family}
