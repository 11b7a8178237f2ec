// SPDX-License-Identifier: Apache-2.0
//
// Bytes and words to and from a peer's memory: loads and stores where it is mapped, the kernel's copies where it is not. Each has happened, or not, when
// its call returns.
// Hot path: put, get and count of what is mapped. Threads: the owner's.
#pragma once

#include "../../core/atomics.hpp"
#include "connection.hpp"
#include "copying.hpp"
#include "ordinary_memory.hpp"

namespace weft::backends::mapped {

/// `again`: the peer's mapping has to be larger here.
constexpr errc meaning(absence why) noexcept {
  switch (why) {
    case absence::unmapped:
      return errc::again;
    case absence::outside:
      return errc::out_of_range;
    case absence::broken:
      return errc::broken;
    default:
      return errc::denied;
  }
}

/// A place that is not in the mapping: copied by the kernel, or why not.
[[gnu::cold, gnu::noinline]] inline errc elsewhere(const connection& c, gather_list here, remote_memory at, rights asked) noexcept {
  const missing_place missing = c.there.missing(at, static_cast<std::size_t>(total_of(here)), asked);
  if (missing.why == absence::ordinary) return reach_into(c.process, c.socket.get(), here, missing.address, asked == rights::remote_write);
  return meaning(missing.why);
}
[[gnu::cold, gnu::noinline]] inline errc elsewhere(const connection& c, local_memory here, remote_memory at, rights asked) noexcept {
  return elsewhere(c, gather_list(&here, 1), at, asked);
}

[[gnu::always_inline]] inline errc put(const connection& c, local_memory from, remote_memory at) noexcept {
  std::byte* there = c.there.find(at, from.size, rights::remote_write);
  if (there == nullptr) [[unlikely]]
    return elsewhere(c, from, at, rights::remote_write);
  store(there, {from.data, from.size});
  return errc::ok;
}
inline errc put(const connection& c, gather_list from, remote_memory at) noexcept {
  std::byte* there = c.there.find(at, static_cast<std::size_t>(total_of(from)), rights::remote_write);
  if (there == nullptr) return elsewhere(c, from, at, rights::remote_write);
  for (const local_memory& each : from) {
    store(there, {each.data, each.size});
    there += each.size;
  }
  return errc::ok;
}
[[gnu::always_inline]] inline errc get(const connection& c, local_memory into, remote_memory at) noexcept {
  std::byte* there = c.there.find(at, into.size, rights::remote_read);
  if (there == nullptr) [[unlikely]]
    return elsewhere(c, into, at, rights::remote_read);
  load({into.data, into.size}, there);
  return errc::ok;
}
inline errc get(const connection& c, gather_list into, remote_memory at) noexcept {
  std::byte* there = c.there.find(at, static_cast<std::size_t>(total_of(into)), rights::remote_read);
  if (there == nullptr) return elsewhere(c, into, at, rights::remote_read);
  for (const local_memory& each : into) {
    load({each.data, each.size}, there);
    there += each.size;
  }
  return errc::ok;
}

[[gnu::cold, gnu::noinline]] inline errc why_not_counted(const connection& c, remote_memory at, std::size_t size) noexcept {
  if (c.there.find(at, size, rights::remote_atomic) != nullptr) return errc::invalid;  // not aligned
  const absence why = c.there.missing(at, size, rights::remote_atomic).why;
  return why == absence::ordinary ? errc::unsupported : meaning(why);
}
/// The word before goes into the first bytes of `old`.
template <atomic_operation What, atomic_number T>
[[gnu::always_inline]] inline errc count(const connection& c, T operand, T expected, std::uint64_t* old, remote_memory at) noexcept {
  std::byte* there = c.there.find(at, sizeof(T), rights::remote_atomic);
  if (there == nullptr || reinterpret_cast<std::uintptr_t>(there) % sizeof(T) != 0) [[unlikely]]
    return why_not_counted(c, at, sizeof(T));
  const T before = change<What, T>(there, operand, expected);
  std::memcpy(old, &before, sizeof before);
  return errc::ok;
}

}  // namespace weft::backends::mapped
