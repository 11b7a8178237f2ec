# SPDX-License-Identifier: Apache-2.0
"""Names that no row may have, each with the reason.

A row's name becomes a C++ struct, a file in generated/, a CMake target and a part of tests' names. So it must be free
in all of these.
"""
from __future__ import annotations

import functools
import re
from pathlib import Path

from .facts import FACTS
from .schema import LONGEST_NAME, NAME, SNAKE

_HEADERS = Path(__file__).resolve().parents[2] / "cmake" / "headers.cmake"
_KEYWORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t
class co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype
default delete do double dynamic_cast else enum explicit export extern false final float for friend goto if import
inline int long module mutable namespace new noexcept not not_eq nullptr operator or or_eq override private protected
public register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch
template this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
while xor xor_eq"""
# Compilers define linux, unix and i386; the other macros come with headers of the C library.
_MACROS = """assert d_fileno errno h_addr h_errno htonl htons i386 linux major makedev math_errhandling minor ntohl
ntohs offsetof sa_handler sa_sigaction sched_priority setjmp sigmask sin_zero stderr stdin stdout strdupa strndupa unix
va_arg va_copy va_end va_start"""
_MACRO_FAMILIES = re.compile(r"(bswap|hwloc|ibv|if[acr]|s6|si|sigev|st)_[a-z0-9_]+|[bhl]e?\d*to[bhl]e?\d+")
_GENERATED = """answers any_later_version atomic_table atomics_by built_with by_library changed complete_fabric
environment environment_setting fabric_facts facts fingerprint follows half_round_trip_ns library library_version
made_from name permitted policies policy_set port refused settings shared unlimited why_not"""
_NAMESPACES = "backends core detail fabrics std weft wire"
_TARGETS = "asio authentication backend_libfabric backend_verbs c etcd job threads weft"
_CMAKE = """all clean edit_cache help install list_install_components package package_source preinstall
rebuild_cache test"""
_FALSE_OR_TRUE = "ignore n no notfound off on y yes"  # an option with this value would be no list of fabrics
_FILES = "headers profiles"
_WORDS = "any main selected sources unordered"
_LIKE_A_RANGE = re.compile(r".*_since_\d+_\d+")
_LIKE_RULES = re.compile(r"rules_[0-9a-f]{8}")

_REASONS = ((_KEYWORDS, "is a keyword of C++"), (_MACROS, "is a macro of the C library or of a compiler"),
            (" ".join(fact.cpp for fact in FACTS if fact.values), "is the type of a fact"),
            (_GENERATED, "is a word that generated headers use themselves"),
            (_NAMESPACES, "is a namespace or a folder of weft"),
            (_TARGETS, "is a CMake target of weft"), (_CMAKE, "is a target of CMake"),
            (_FALSE_OR_TRUE, "is true or false to CMake"), (_FILES, "is a folder or a set of weft's headers"),
            (_WORDS, "is a word of weft's commands"))
_REASON = {name: reason for names, reason in reversed(_REASONS) for name in names.split()}


def why_taken(name: str) -> str:
    """Why no row can have this name, as `is a keyword of C++`; empty where a row can."""
    if name in _REASON:
        return _REASON[name]
    if _MACRO_FAMILIES.fullmatch(name):
        return "may be a macro of a library"
    if _LIKE_A_RANGE.fullmatch(name):
        return "is how generated headers name a range of releases"
    if _LIKE_RULES.fullmatch(name):
        return "is how generated headers name their namespaces"
    header = _public_headers().get(name, "")
    return f"is a header of weft, {header}" if header else ""


def wrong_name(name: str) -> str:
    """What is wrong with a name for a row, as the end of a sentence; empty where nothing is."""
    if not re.fullmatch(NAME, name) or len(name) > LONGEST_NAME:
        return f"is not {SNAKE}"
    return why_taken(name)


@functools.cache
def _public_headers() -> dict[str, str]:
    """The public headers by their names, without those of families; none in a tree without CMake's lists."""
    text = _HEADERS.read_text("utf-8") if _HEADERS.is_file() else ""
    lists = re.findall(r"set\(WEFT_(?:PUBLIC|SELECTED)_HEADERS\n([^)]*)\)", text)
    return {Path(header).stem: header for each in lists for header in each.split()
            if not header.startswith("policies/")}
