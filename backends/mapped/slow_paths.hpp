// SPDX-License-Identifier: Apache-2.0
//
// The slow paths of a port's posts: into another region than the last one, into memory outside the mapping, long
// messages, gather lists.
// Arguments are scalars, which travel in registers: the fast paths then store none of them in memory.
// Hot path: only messages of more than 48 bytes and gather lists. Threads: the owner's.
#pragma once

#include "posts.hpp"
#include "transfers.hpp"

namespace weft::backends::mapped {

template <post_mode M>
status finish(transfer_result how, connection& c, void* context, const char* operation) noexcept {
  if (how.code != errc::ok) return c.through->not_moved<M>(how, context, operation);
  return ended<M>(c, context);
}

template <post_mode M>
status send_pieces(connection& c, gather_list from, std::uint32_t immediate, void* context) noexcept {
  if (!c.out.has_room(total_of(from)) || !has_room_for_end<M>(c))
    return c.through->not_ready(c, total_of(from), "send");
  c.out.send(from, immediate);
  return sent<M>(c, context);
}
/// From this size on the receiver copies a message out of this side's arena, if it is there and its end is reported.
/// Shorter ones go through the ring: they end at once, although the receiver does not poll.
inline constexpr std::size_t least_lent = 4096;

/// Sends a message of more than ring_entry::room bytes, or asks for room first. Where the receiver can reach the bytes,
/// it copies them itself: once, and not twice. Without a context no end says when the source is free, so only messages
/// are lent whose source the row does not promise to copy.
template <post_mode M, std::size_t Copied>
[[gnu::noinline]] status send_apart(connection& c, std::byte* data, std::size_t size, std::uint32_t immediate,
                                    void* context) noexcept {
  constexpr std::size_t least = M == post_mode::unsignalled ? Copied + 1 : least_lent;
  if (size >= least && c.through->can_lend({data, size}) && c.out.has_room()) {
    c.through->lend(c, {data, size}, immediate, M == post_mode::unsignalled ? nullptr : context);
    c.sent();
    return M == post_mode::at_return ? reported_later("send") : status{};
  }
  const local_memory from{data, size, nullptr};
  return send_pieces<M>(c, {&from, 1}, immediate, context);
}

template <post_mode M>
[[gnu::cold, gnu::noinline]] status write_slow(connection& c, std::byte* data, std::size_t size, std::uint64_t address,
                                               std::uint64_t key, void* context) noexcept {
  const local_memory from{data, size, nullptr};
  return finish<M>(put(c, {&from, 1}, {address, key}), c, context, "write");
}
template <post_mode M>
[[gnu::cold, gnu::noinline]] status read_slow(connection& c, std::byte* data, std::size_t size, std::uint64_t address,
                                              std::uint64_t key, void* context) noexcept {
  const local_memory into{data, size, nullptr};
  return finish<M>(get(c, {&into, 1}, {address, key}), c, context, "read");
}
template <post_mode M, atomic_operation What, atomic_number T>
[[gnu::cold, gnu::noinline]] status atomic_slow(connection& c, T operand, T expected, std::uint64_t* old,
                                                std::uint64_t address, std::uint64_t key, void* context) noexcept {
  return finish<M>(count<What, T>(c, operand, expected, old, {address, key}), c, context, "atomic");
}

/// Requires: is_ready<M>(c).
template <post_mode M>
[[gnu::noinline]] status notify_copied(connection& c, std::byte* there, const std::byte* data, std::size_t size,
                                       std::uint64_t immediate, void* context) noexcept {
  store(there, {data, size});
  c.notify(there, size, immediate);
  return sent<M>(c, context);
}
/// `AtOnce`: the status reports a refused write, because no completion will.
template <post_mode M, bool AtOnce>
status notify_pieces(connection& c, gather_list from, remote_memory at, std::uint64_t immediate,
                     void* context) noexcept {
  if (!is_ready<M>(c)) return c.through->not_ready(c, 0, "write_immediate");
  if (const transfer_result how = put(c, from, at); how.code != errc::ok)
    return AtOnce ? c.through->refused(how, "write_immediate")
                  : c.through->not_moved<M>(how, context, "write_immediate");
  const auto size = static_cast<std::size_t>(total_of(from));
  if (c.there.knows<rights::remote_write>(at, size))
    c.notify(c.there.known<rights::remote_write>(at.address), size, immediate);
  else c.out.send_notice(immediate, {});
  return sent<M>(c, context);
}
template <post_mode M, bool AtOnce>
[[gnu::noinline]] status notify_apart(connection& c, std::byte* data, std::size_t size, std::uint64_t address,
                                      std::uint64_t key, std::uint64_t immediate, void* context) noexcept {
  const local_memory from{data, size, nullptr};
  return notify_pieces<M, AtOnce>(c, {&from, 1}, {address, key}, immediate, context);
}

}  // namespace weft::backends::mapped
