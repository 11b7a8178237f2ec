# SPDX-License-Identifier: Apache-2.0
"""What a listed provider lacks is found by relaxing one demand at a time, against libraries that are made up here."""
from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from generator.adding.lacking import PROMISES, Answers, FiInfo, found_out

ROOT = Path(__file__).resolve().parents[3]
LISTED = ["tcp", "udp", "shm", "sm2", "lnx", "ofi_rxm", "ofi_rxd", "ofi_hook_noop", "psm3"]
BOTH = ["connected", "addressed"]
# What each answers with: name, kind, and capabilities.
Library = list[tuple[str, str, set[str]]]
EVERYTHING = {"FI_MSG", "FI_RMA"}


def _told(provider: str, library: Library, kinds: list[str] | None = None) -> tuple[str, tuple[str, str] | None]:
    """What is found out, and what to go on with; two empty answers where nothing is missing."""
    asked: list[tuple[str, tuple[str, ...]]] = []

    def ask(*, provider: str, caps: tuple[str, ...] = ()) -> Answers | None:
        asked.append((provider, caps))
        core = provider.split(";")[0]
        return frozenset((name, kind) for name, kind, has in library
                         if set(caps) <= has and core in re.split("[;+:]", name) and
                         (";" not in provider or name == provider))

    found = found_out(provider, kinds or BOTH, LISTED, ask, lambda _provider, _kind: 1472)
    assert len(asked) == len(set(asked)) <= 8
    return (found.sentence, found.instead) if found else ("", None)


def test_messages_only() -> None:
    sentence, instead = _told("sm2", [("sm2", "addressed", {"FI_MSG"})])
    assert sentence == ("its addressed endpoints have messages, and no writes (FI_RMA): weft promises puts and gets on "
                        "every fabric (contract 5 in docs/conformance.md)")
    assert instead is None


def test_writes_only() -> None:
    sentence, instead = _told("sm2", [("sm2", "addressed", {"FI_RMA"})])
    assert "have writes, and no messages (FI_MSG): weft promises messages on every fabric (contract 4 " in sentence
    assert instead is None


def test_datagrams_go_on_with_the_layer_above_them() -> None:
    library: Library = [("udp", "datagram", {"FI_MSG"}), ("udp;ofi_rxd", "addressed", EVERYTHING)]
    sentence, instead = _told("udp", library)
    assert sentence == "it has datagram endpoints, and ofi_rxd makes addressed ones of them"
    assert instead == ("udp;ofi_rxd", "addressed")


def test_datagrams_without_a_layer() -> None:
    sentence, instead = _told("udp", [("udp", "datagram", {"FI_MSG"})])
    assert sentence == (
        "its datagrams of at most 1472 bytes may be lost, repeated and reordered: weft promises one end of each "
        "operation on every fabric (contract 8 in docs/conformance.md), and ofi_rxd, which repeats lost ones, is not "
        "offered above it"
    )
    assert instead is None
    assert _told("udp", [("udp", "datagram", {"FI_MSG"})], ["datagram"]) == (sentence, None)


def test_datagrams_that_were_asked_for() -> None:
    """Also where the provider has another kind, and never by a layer above that other kind."""
    library: Library = [("udp", "datagram", {"FI_MSG"}), ("udp;ofi_rxd", "addressed", EVERYTHING)]
    assert _told("udp", library, ["datagram"])[1] == ("udp;ofi_rxd", "addressed")
    library = [("psm3", "datagram", EVERYTHING), ("psm3", "addressed", EVERYTHING)]
    assert _told("psm3", library, ["datagram"])[0].startswith("its datagrams of at most 1472 bytes may be lost")
    library = [("tcp", "connected", EVERYTHING), ("tcp;ofi_rxm", "addressed", EVERYTHING)]
    assert _told("tcp", library, ["datagram"]) == ("it has connected endpoints only, and no datagram ones", None)


def test_the_promises_have_their_numbers() -> None:
    """The page numbers them by tests/conformance/promises.yaml."""
    text = (ROOT / "tests" / "conformance" / "promises.yaml").read_text("utf-8")
    for name, number in PROMISES.values():
        assert f"\n  {name}:\n    section: contract\n    number: {number}\n" in text


def test_connected_endpoints_where_addressed_ones_were_asked_for() -> None:
    library: Library = [("tcp", "connected", EVERYTHING), ("tcp;ofi_rxm", "addressed", EVERYTHING)]
    assert _told("tcp", library, ["addressed"])[1] == ("tcp;ofi_rxm", "addressed")
    sentence, instead = _told("shm", [("shm", "addressed", EVERYTHING)], ["connected"])
    assert sentence == "it has addressed endpoints only, and no connected ones" and instead is None


def test_another_name() -> None:
    library: Library = [("psm3;x", "addressed", EVERYTHING)]
    assert _told("psm3", library) == ("it calls itself psm3;x here", ("psm3;x", "addressed"))
    library.append(("psm3;y", "addressed", EVERYTHING))
    assert _told("psm3", library) == ("it calls itself psm3;x or psm3;y here", None)


def test_linked_providers_before_the_own_name() -> None:
    """As libfabric 2.1 names lnx: it answers to its own name, and to no other."""
    library: Library = [("shm+tcp;ofi_rxm:lnx", "addressed", {"FI_MSG"})]
    assert "its addressed endpoints have messages, and no writes" in _told("lnx", library)[0]


def test_tagged_messages_only() -> None:
    """As lnx of libfabric 2.2 and later."""
    assert _told("lnx", [("lnx", "addressed", {"FI_TAGGED"})]) == (
        "its addressed endpoints have tagged messages only (FI_TAGGED): weft promises messages and puts and gets on "
        "every fabric (contract 4 and 5 in docs/conformance.md)", None)


def test_no_device_and_no_provider() -> None:
    sentence, instead = _told("psm3", [])
    assert sentence.startswith("it is listed, and offers nothing here: its device is missing, or it needs settings")
    assert instead is None
    assert _told("tpc", [])[0] == "there is no tpc; did you mean 'tcp'?"
    assert _told("tcp;ofi_rxn", [])[0] == "there is no ofi_rxn; did you mean 'ofi_rxm'?"
    sentence = _told("zzzzzzzz", [])[0]
    assert "fi_info -l lists tcp, udp" in sentence and "ofi_hook" not in sentence


def test_a_provider_that_lacks_nothing() -> None:
    assert _told("shm", [("shm", "addressed", EVERYTHING)]) == ("", None)
    assert _told("lnx", [("shm+tcp;ofi_rxm:lnx", "addressed", EVERYTHING)]) == ("", None)


@pytest.fixture
def fi_info(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    return tmp_path / "fi_info"


def _program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n", "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def test_what_fi_info_prints_is_read(fi_info: Path) -> None:
    _program(fi_info, r"""[ "$1" = -l ] && { printf 'udp:\n    version: 117.0\nofi_rxd:\n    version: 117.0\n'; exit; }
[ "$2" = "udp;ofi_rxd" ] || exit 61
[ "$FI_MADE_UP" = 1 ] || exit 61
printf 'provider: udp;ofi_rxd\n    fabric: 127.0.0.1/32\n    domain: lo\n    version: 117.0\n    type: FI_EP_RDM\n'
printf '    protocol: FI_PROTO_RXD\nprovider: udp\n    fabric: x\n    type: FI_EP_DGRAM\n'
printf '%s' "$4" > "$(dirname "$0")/caps"
""")
    asked = FiInfo({"FI_MADE_UP": "1"})
    assert asked.listed() == ["udp", "ofi_rxd"]
    found = asked.ask(provider="udp;ofi_rxd", caps=("FI_MSG", "FI_RMA"))
    assert found == frozenset({("udp;ofi_rxd", "addressed"), ("udp", "datagram")})
    assert (fi_info.parent / "caps").read_text("utf-8") == "FI_MSG|FI_RMA"
    assert asked.ask(provider="tcp") == frozenset()


def test_the_largest_datagram_is_read(fi_info: Path) -> None:
    _program(fi_info, r"""[ "$*" = "-v -p udp -t FI_EP_DGRAM" ] || exit 61
printf 'fi_info:\n    fi_ep_attr:\n        type: FI_EP_DGRAM\n        max_msg_size: 1472\n'
printf 'fi_info:\n    fi_ep_attr:\n        max_msg_size: 1452\n'
""")
    assert FiInfo({}).largest("udp", "datagram") == 1452
    assert FiInfo({}).largest("udp", "addressed") is None


def test_without_fi_info(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    library = FiInfo({})
    assert library.listed() == [] and library.ask(provider="tcp") is None
    found = found_out("tcp", BOTH, library.listed(), library.ask)
    assert found is not None and "fi_info cannot be asked" in found.sentence
