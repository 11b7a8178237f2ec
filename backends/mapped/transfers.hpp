// SPDX-License-Identifier: Apache-2.0
//
// Transfers to and from a peer's memory outside of the last used region or outside of the mapping: found and copied,
// copied by the kernel, or refused.
// Each transfer is complete when its call returns. The port itself handles the last used region.
// Hot path: only gather lists. Threads: the owner's.
#pragma once

#include "../../core/atomics.hpp"
#include "connection.hpp"
#include "copying.hpp"
#include "ordinary_memory.hpp"

namespace weft::backends::mapped {

/// The result of a transfer. `again`: the peer's mapping must grow first. `at_once`: the post itself refuses, because
/// the place lacks the room, the right or the alignment. Transports rely on that check (port::checks_places).
struct transfer_result {
  errc code = errc::ok;
  bool at_once = false;
};
constexpr transfer_result meaning(absence why) noexcept {
  switch (why) {
    case absence::unmapped:
      return {errc::again};
    case absence::outside:
      return {errc::out_of_range, true};
    case absence::broken:
      return {errc::broken};
    case absence::denied:
      return {errc::denied, true};
    default:
      return {errc::denied};
  }
}

/// A place outside of the mapping: the kernel copies, or the result says why not.
[[gnu::cold, gnu::noinline]] inline transfer_result copy_by_kernel(const connection& c, gather_list here,
                                                                   remote_memory at, rights asked) noexcept {
  const missing_place missing = c.there.missing(at, static_cast<std::size_t>(total_of(here)), asked);
  if (missing.why == absence::ordinary)
    return {copy_by_system_call(c.process, c.socket.get(), here, missing.address, asked == rights::remote_write)};
  return meaning(missing.why);
}

inline transfer_result put(const connection& c, gather_list from, remote_memory at) noexcept {
  std::byte* there = c.there.find(at, static_cast<std::size_t>(total_of(from)), rights::remote_write);
  if (there == nullptr) return copy_by_kernel(c, from, at, rights::remote_write);
  for (const local_memory& each : from) {
    store(there, {each.data, each.size});
    there += each.size;
  }
  return {};
}
inline transfer_result get(const connection& c, gather_list into, remote_memory at) noexcept {
  std::byte* there = c.there.find(at, static_cast<std::size_t>(total_of(into)), rights::remote_read);
  if (there == nullptr) return copy_by_kernel(c, into, at, rights::remote_read);
  for (const local_memory& each : into) {
    load({each.data, each.size}, there);
    there += each.size;
  }
  return {};
}

/// Changes a word. The old value goes into the first bytes of `old`.
template <atomic_operation What, atomic_number T>
[[gnu::always_inline]] inline void count(std::byte* there, T operand, T expected, std::uint64_t* old) noexcept {
  const T before = change<What, T>(there, operand, expected);
  std::memcpy(old, &before, sizeof before);
}
template <class T>
bool holds_whole(const std::byte* word) noexcept {
  return reinterpret_cast<std::uintptr_t>(word) % sizeof(T) == 0;
}
template <atomic_operation What, atomic_number T>
transfer_result count(const connection& c, T operand, T expected, std::uint64_t* old, remote_memory at) noexcept {
  std::byte* there = c.there.find(at, sizeof(T), rights::remote_atomic);
  if (there == nullptr) {
    const absence why = c.there.missing(at, sizeof(T), rights::remote_atomic).why;
    return why == absence::ordinary ? transfer_result{errc::unsupported} : meaning(why);
  }
  if (!holds_whole<T>(there)) return {errc::invalid, true};
  count<What, T>(there, operand, expected, old);
  return {};
}

}  // namespace weft::backends::mapped
