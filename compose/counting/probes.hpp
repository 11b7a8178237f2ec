// SPDX-License-Identifier: Apache-2.0
//
// Static probes (USDT) of counted transports, for bpftrace, perf, SystemTap and gdb. A probe is one nop instruction and
// a note in the program's file (sys/sdt.h, .note.stapsdt); a tracer writes a trap over the nop while it traces. They
// are there where <sys/sdt.h> is (Debian: systemtap-sdt-dev), unless the whole program is compiled with WEFT_NO_PROBES
// (CMake: -DWEFT_PROBES=OFF). Names and arguments are those of docs/how-to/observing/trace_with_probes.md. Hot path: a
// nop each, and its arguments in registers. Threads: the owner's.
#pragma once

#include "../events.hpp"
#include "traffic.hpp"

#include <cstdint>

#if !defined(WEFT_NO_PROBES) && __has_include(<sys/sdt.h>)
#include <sys/sdt.h>
#define WEFT_HAS_PROBES 1
#else
#define WEFT_HAS_PROBES 0
#endif

namespace weft::detail::probes {

// `transport`: one address for each transport of the process. `connection`: the number of the peer's connection, 0 for
// nobody. `operation`: a text. `code`: an errc as a number.
#if WEFT_HAS_PROBES
// NOLINTBEGIN(readability-function-cognitive-complexity): the macros of <sys/sdt.h> choose widths by conditionals
[[gnu::always_inline]] inline void posted(const void* transport, std::uint32_t connection, const char* operation,
                                          std::uint64_t bytes, errc code, const void* context) noexcept {
  DTRACE_PROBE6(weft, posted, transport, connection, operation, bytes, static_cast<int>(code), context);
}
[[gnu::always_inline]] inline void completed(const void* transport, std::uint32_t connection, const char* operation,
                                             const void* context) noexcept {
  DTRACE_PROBE4(weft, completed, transport, connection, operation, context);
}
[[gnu::always_inline]] inline void failed(const void* transport, std::uint32_t connection, const char* operation,
                                          const void* context, errc code) noexcept {
  DTRACE_PROBE5(weft, failed, transport, connection, operation, context, static_cast<int>(code));
}
[[gnu::always_inline]] inline void received(const void* transport, std::uint32_t connection,
                                            std::uint64_t bytes) noexcept {
  DTRACE_PROBE3(weft, received, transport, connection, bytes);
}
[[gnu::always_inline]] inline void notified(const void* transport, std::uint32_t connection,
                                            std::uint32_t immediate) noexcept {
  DTRACE_PROBE3(weft, notified, transport, connection, immediate);
}
[[gnu::always_inline]] inline void met(const void* transport, std::uint32_t connection) noexcept {
  DTRACE_PROBE2(weft, met, transport, connection);
}
[[gnu::always_inline]] inline void lost(const void* transport, std::uint32_t connection, errc code) noexcept {
  DTRACE_PROBE3(weft, lost, transport, connection, static_cast<int>(code));
}
// NOLINTEND(readability-function-cognitive-complexity)
#else
inline void posted(const void*, std::uint32_t, const char*, std::uint64_t, errc, const void*) noexcept {}
inline void completed(const void*, std::uint32_t, const char*, const void*) noexcept {}
inline void failed(const void*, std::uint32_t, const char*, const void*, errc) noexcept {}
inline void received(const void*, std::uint32_t, std::uint64_t) noexcept {}
inline void notified(const void*, std::uint32_t, std::uint32_t) noexcept {}
inline void met(const void*, std::uint32_t) noexcept {}
inline void lost(const void*, std::uint32_t, errc) noexcept {}
#endif

}  // namespace weft::detail::probes
