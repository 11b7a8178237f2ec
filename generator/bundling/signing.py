# SPDX-License-Identifier: Apache-2.0
"""Signatures by ssh-keygen -Y (ssh-keygen(1)): everybody who sends code has an ssh key, and nothing is set up."""
from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

import click

from .bundle import Bundle, Tampered

_NAMESPACE = "weft-bundle"
_WHO = "sender"
_FINGERPRINT = re.compile(r"key (SHA256:[A-Za-z0-9+/]+)")


def _ssh_keygen(*arguments: str | Path, given: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["ssh-keygen", "-Y", *map(str, arguments)], input=given, capture_output=True, timeout=120,
                              check=False, stdin=subprocess.DEVNULL if given is None else None)
    except FileNotFoundError:
        raise click.UsageError("ssh-keygen is not here, and signatures need it: apt-get install openssh-client"
                               ) from None
    except subprocess.TimeoutExpired:
        raise click.UsageError("ssh-keygen did not end in 120 s: give a key that needs no passphrase, or start "
                               "ssh-agent") from None


def signed(bundle: Bundle, key: Path) -> Bundle:
    """The bundle with a signature by this private key, or by the public key of one that ssh-agent holds.

    Errors: UsageError.
    """
    with tempfile.TemporaryDirectory() as folder:
        content = Path(folder) / "content"
        content.write_bytes(bundle.canonical)
        done = _ssh_keygen("sign", "-n", _NAMESPACE, "-f", key, content)
        signature = content.with_suffix(".sig")
        if done.returncode != 0 or not signature.is_file():
            raise click.UsageError(f"{key} signs nothing: {_last(done.stderr)}")
        return Bundle(bundle.content, signature.read_text("ascii"))


def fingerprint(path: Path, bundle: Bundle, sender: Path | None) -> str:
    """The key that signed the bundle, as "SHA256:...": it fits the content. Empty where nobody signed it.

    `sender`: the public key that must have signed it. Errors: Tampered; UsageError.
    """
    if not bundle.signature:
        if sender is not None:
            raise Tampered(f"{path} has no signature, and {sender} should have signed it: ask its sender for one")
        return ""
    with tempfile.TemporaryDirectory() as folder:
        signature = Path(folder) / "content.sig"
        signature.write_text(bundle.signature, encoding="ascii")
        done = _ssh_keygen("check-novalidate", "-n", _NAMESPACE, "-s", signature, given=bundle.canonical)
        found = _FINGERPRINT.search(done.stdout.decode("utf-8", "replace"))
        if done.returncode != 0 or found is None:
            raise Tampered(f"{path} was changed: its signature is not of its content ({_last(done.stderr)}); ask its "
                           "sender for the file")
        if sender is not None:
            allowed = Path(folder) / "allowed"
            allowed.write_text(f"{_WHO} {_public(sender)}\n", encoding="utf-8")
            known = _ssh_keygen("verify", "-n", _NAMESPACE, "-s", signature, "-f", allowed, "-I", _WHO,
                                given=bundle.canonical)
            if known.returncode != 0:
                raise Tampered(f"{path} is signed by {found[1]}, which is not the key of {sender}")
        return found[1]


def _public(path: Path) -> str:
    """The key of a file such as id_ed25519.pub. Errors: UsageError."""
    try:
        line = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        line = ""
    if not re.fullmatch(r"(ssh|ecdsa|sk)-[a-z0-9@.-]+ [A-Za-z0-9+/=]+( [^\n]*)?", line):
        raise click.UsageError(f"{path} is no public key: give one line such as that of ~/.ssh/id_ed25519.pub")
    return " ".join(line.split(" ")[:2])


def _last(said: bytes) -> str:
    lines = said.decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it says nothing"
