# SPDX-License-Identifier: Apache-2.0
"""The file itself: JSON with the content, the SHA-256 digest of the content, and perhaps a signature of it.

The digest finds damage and careless edits. Only a signature shows who sent the file, as anybody can make a new digest.
Digest and signature are over the canonical form of the content: JSON with sorted keys, without blanks, in ASCII.
"""
from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema

from ..matrix.days import wrong_day
from ..matrix.refusing import shown as place_of
from ..probing.findings import Demands, Finding, Provenance
from ..probing.seen import Seen

VERSION = 1
LARGEST = 4 << 20  # bytes of a file
_TEXT = {"type": "string", "maxLength": 2000, "pattern": r"^[^\x00-\x1f\x7f]*$"}
_LINES = {"type": "string", "maxLength": 1 << 20}
_NAME = {"type": "string", "pattern": r"^[a-z][a-z0-9_]{0,39}$"}
_SCALAR = {"anyOf": [{"type": ["boolean", "null"]}, _TEXT,
                     {"type": "number", "minimum": -2 ** 63, "maximum": 2 ** 64}]}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _texts_by_name(most: int) -> dict[str, Any]:
    return {"type": "object", "maxProperties": most, "propertyNames": {"pattern": "^[A-Za-z][A-Za-z0-9_]{0,59}$"},
            "additionalProperties": _TEXT}


def bundle_fields() -> dict[str, Any]:
    """The schema of the file."""
    finding = _closed({"behaviour": {"type": "string", "pattern": "^[a-z_]{1,60}(@[a-z]{1,20})?$"},
                       "ended": {"enum": ["shown", "refused", "crashed", "hung", "missing"]},
                       "facts": {"type": "object", "maxProperties": 500,
                                 "additionalProperties": {"anyOf": [_SCALAR, {"type": "array", "maxItems": 2000,
                                                                              "items": _SCALAR}]}},
                       "why": _TEXT, "seconds": {"type": "number", "minimum": 0}})
    content = _closed({
        "fabric": _NAME, "weft": _TEXT,
        "demands": _closed({"provider": _TEXT, "endpoint_type": {"enum": ["connected", "addressed"]},
                            "fabric_name": _TEXT, "settings": _texts_by_name(20),
                            "backend": {"enum": ["libfabric", "verbs"]}}),
        "provenance": _closed({"library": _TEXT, "api": _TEXT, "kernel": _TEXT, "device": _TEXT, "date": _TEXT}),
        "findings": {"type": "array", "minItems": 1, "maxItems": 200, "items": finding},
        "fi_info": _LINES, "versions": _texts_by_name(20), "machine": _texts_by_name(60)})
    return {"weft_bundle": {"const": VERSION}, "digest": {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"},
            "signature": {"type": "string", "maxLength": 10_000}, "content": content}


def bundle_schema() -> dict[str, Any]:
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "weft probe --bundle",
            **_closed(bundle_fields())}


class Tampered(Exception):
    """The file is no bundle, or it is not what its sender wrote. The text is a sentence that begins with its name."""


@dataclass(frozen=True)
class Bundle:
    """What was sent. `signature`: of ssh-keygen, empty where the sender had no key."""

    content: dict[str, Any]
    signature: str = ""

    @property
    def canonical(self) -> bytes:
        return json.dumps(self.content, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode("ascii")

    @property
    def digest(self) -> str:
        return "sha256:" + hashlib.sha256(self.canonical).hexdigest()

    @property
    def name(self) -> str:
        """As evidence names the bundle."""
        return "bundle " + self.digest.removeprefix("sha256:")[:16]

    @property
    def fabric(self) -> str:
        return str(self.content["fabric"])

    @property
    def seen(self) -> Seen:
        return Seen({raw["behaviour"]: Finding(raw["behaviour"], raw["ended"], raw["facts"], raw["why"],
                                               raw["seconds"]) for raw in self.content["findings"]})

    @property
    def demands(self) -> Demands:
        raw = self.content["demands"]
        return Demands(raw["provider"], raw["endpoint_type"], raw["fabric_name"], settings=raw["settings"],
                       backend=raw["backend"])

    @property
    def provenance(self) -> Provenance:
        return Provenance(**self.content["provenance"])

    def write(self, path: Path) -> None:
        """Errors: OSError."""
        text = json.dumps({"weft_bundle": VERSION, "digest": self.digest, "signature": self.signature,
                           "content": self.content}, indent=1)
        path.write_text(text + "\n", encoding="ascii")


def read_bundle(path: Path) -> Bundle:
    """The file, with its digest checked. The signature is left to signing.py. Errors: Tampered."""
    try:
        if path.stat().st_size > LARGEST:
            raise Tampered(f"{path}: more than 4 MiB is no bundle")
        raw = json.loads(path.read_bytes().decode("ascii"), parse_constant=_no_number)
    except OSError as error:
        raise Tampered(f"{path} cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError):
        raise Tampered(f"{path} is no bundle: it is not JSON in ASCII") from None
    if not isinstance(raw, dict) or "weft_bundle" not in raw:
        raise Tampered(f"{path} is no bundle: ./weft probe FABRIC --bundle FILE writes one")
    try:
        jsonschema.validate(raw, bundle_schema())
    except jsonschema.ValidationError as wrong:
        where = place_of(tuple(wrong.absolute_path)) or "the file"
        raise Tampered(f"{path} is no bundle of this version: {where} is not what a probe writes there") from None
    bundle = Bundle(raw["content"], raw["signature"])
    if bundle.digest != raw["digest"]:
        raise Tampered(f"{path} was changed: its digest is {raw['digest'][:23]}..., that of its content is "
                       f"{bundle.digest[:23]}...; ask its sender for the file")
    names = [each["behaviour"] for each in bundle.content["findings"]]
    if len(set(names)) != len(names):
        raise Tampered(f"{path} is no bundle: it has two findings of one behaviour")
    if day := wrong_day(bundle.provenance.date):
        raise Tampered(f"{path} is of the day {day}")
    return bundle


def _no_number(word: str) -> None:
    raise ValueError(word)
