# SPDX-License-Identifier: Apache-2.0
"""Cells about addresses, the setting that gives writes an immediate, and a completion queue that is too small."""
from __future__ import annotations

from ..matrix.facts import Value
from ..matrix.interfaces import FORMATS, format_words
from .program import SETTING
from .reading import facts
from .seen import Seen

IPV4, IPV6 = FORMATS.index("FI_SOCKADDR_IN"), FORMATS.index("FI_SOCKADDR_IN6")
_WITH = f"write_immediate@{SETTING}"


def formats_claimed(seen: Seen) -> Value | None:
    numbers = seen.claim("address_formats")
    return format_words(numbers) if numbers else None


def formats_shown(seen: Seen) -> Value | None:
    """Not shown where the library claims a format that nobody could try here."""
    met, claimed = seen.fact("formats", "met"), seen.claim("address_formats")
    if not met or claimed is None:
        return None
    tried = {*met, IPV4, *((IPV6,) if seen.fact("formats", "has_ipv6") else ())}
    return format_words(met) if set(claimed) <= tried else None


def setting_shown(seen: Seen) -> Value | None:
    """Nothing, where a write carries an immediate unasked. The setting, where it does so with that alone."""
    if seen.fact("write_immediate", "events"):
        return ""
    if not seen.ran(_WITH) or not seen.fact(_WITH, "events"):
        return None
    return str(seen.claim("immediate_setting")) if seen.fact(_WITH, "values_right") else None


def setting_test(seen: Seen) -> str:
    with_it = facts(_WITH, "bytes", "events", "values_right")(seen) if seen.ran(_WITH) else ""
    return facts("write_immediate", "bytes", "events", "values_right")(seen) + (f"; with it: {with_it}" if with_it
                                                                                else "")


def small_queue(seen: Seen) -> Value | None:
    wanted, taken, ended = (seen.fact("small_queue", name) for name in ("wanted", "taken_unread", "ended"))
    if wanted is None or wanted <= 2 * seen.fact("small_queue", "entries"):
        return None  # the transmit queue is too short to tell
    return "loses" if ended < taken else "keeps" if taken == wanted else "refuses"
