# SPDX-License-Identifier: Apache-2.0
"""Names that no row may have: C++ words, macros, members of generated classes, and weft's targets and headers.

A row's name becomes a C++ struct, a file in generated/ and a CMake target, so it must be free in all three.
"""
from __future__ import annotations

from .facts import FACTS

_KEYWORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t
class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype
default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int long
mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register reinterpret_cast
requires return short signed sizeof static static_assert static_cast struct switch template this thread_local throw
true try typedef typeid typename union unsigned using virtual void volatile wchar_t while xor xor_eq"""
_MACROS = "errno linux unix assert stdin stdout stderr offsetof"
_MEMBERS = """any_later_version atomics_by built_with by_library complete_fabric environment environment_setting
fabric_facts facts fingerprint half_round_trip_ns made_from name permitted policies policy_set port refused settings shared unlimited
why_not"""
_WEFT = """all any backends core detail fabrics headers install library main package profiles selected sources std
test unordered weft"""
RESERVED = frozenset(" ".join((_KEYWORDS, _MACROS, _MEMBERS, _WEFT)).split()) | {fact.cpp for fact in FACTS}
