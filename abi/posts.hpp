// SPDX-License-Identifier: Apache-2.0
//
// What the posts of messages have in common: flags, the peer, the memory, and copies of bytes of any memory. Hot path:
// message(). Threads: as weft.h.
#pragma once

#include "calls.hpp"

#include <cstring>

namespace weft::abi {

inline void* context_of(std::uint64_t given) noexcept {
  return reinterpret_cast<void*>(given);  // NOLINT(performance-no-int-to-ptr): it is never read through
}

inline int unknown_flags(open_transport& t, const char* name) noexcept {
  return wrong(t, name, "the flags have a bit that this call does not know");
}

/// Calls body(transport, peer, local memory), which returns C's answer.
template <class Body>
[[gnu::always_inline]] inline int message(weft_transport net, const char* name, weft_peer to, const weft_slice& from,
                                          std::uint32_t flags, Body&& body) noexcept {
  return call(net, name, [&](open_transport& t) {
    if ((flags & ~std::uint32_t{WEFT_QUIET}) != 0) [[unlikely]]
      return unknown_flags(t, name);
    const peer* const p = t.peers.find(to);
    if (p == nullptr) [[unlikely]]
      return no_peer(t, name, to);
    owned_region* const r = t.regions.find(from.region);
    if (r == nullptr) [[unlikely]]
      return no_region(t, name, from.region);
    return body(t, *p, r->slice(from.offset, from.size));
  });
}

/// Copies bytes of any memory, and calls body(transport, peer, the copy, its context), which returns weft's answer.
/// `largest(transport, peer)` is the longest message of this kind that the peer takes.
template <class Largest, class Body>
int copied_message(weft_transport net, const char* name, weft_peer to, const void* bytes, std::uint64_t size,
                   std::uint32_t flags, std::uint64_t context, Largest&& largest, Body&& body) noexcept {
  return call(net, name, [&](open_transport& t) {
    if ((flags & ~std::uint32_t{WEFT_QUIET}) != 0) return unknown_flags(t, name);
    if (bytes == nullptr && size != 0) return wrong(t, name, "the bytes are NULL");
    const peer* const p = t.peers.find(to);
    if (p == nullptr) return no_peer(t, name, to);
    if (!p->alive()) return t.answer(error(errc::peer_lost, "send"));
    if (const std::uint64_t most = largest(t, *p); size > most)
      return t.answer(status{errc::truncated, origin::weft, static_cast<std::int32_t>(most), "send"});
    failure why;
    staged_send* const copy = t.staged().take(
        size, [&](std::uint64_t n) { return t.net.allocate(n, rights::none); }, &why);
    if (copy == nullptr) return t.answer(why);
    if (size != 0) std::memcpy(copy->memory.data, bytes, size);
    copy->quiet = (flags & WEFT_QUIET) != 0;
    copy->context = copy->quiet ? 0 : context;
    const int answered = body(t, *p, local_memory{copy->memory.data, size, copy->memory.descriptor}, copy);
    if (answered != WEFT_OK) t.staged().give(*copy);
    return answered;
  });
}

}  // namespace weft::abi
