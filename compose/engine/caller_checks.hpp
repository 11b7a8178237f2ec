// SPDX-License-Identifier: Apache-2.0
//
// The checks that posts make of their caller's arguments: the peer's handle, bounds and rights, the size of a message,
// the alignment of a word. The answer to the family checks decides who makes them (core/caller_duty.hpp). Requests of
// peers are checked elsewhere, with every answer. Hot path: all of it. Threads: the owner's.
#pragma once

#include "../../core/caller_duty.hpp"
#include "../fabric.hpp"
#include "../peer.hpp"
#include "../region.hpp"

#include <cstddef>
#include <cstdint>

namespace weft::detail {

template <class Engine>
struct caller_checks {
  using record = typename Engine::record;
  static constexpr bool trusted = Engine::trusts_caller;
  static constexpr bool port_checks_writes = Engine::port_checks_places && Engine::write_mode != post_mode::delivered &&
                                             answer<typename Engine::fabric, notify_family>::rides_on_write &&
                                             !Engine::watches_cells;

  /// The record of the peer that the caller names. Null: not alive, and the caller is not trusted.
  [[gnu::always_inline]] static record* addressed(peer p, const char* operation) noexcept {
    return duty_kept<trusted>(p.alive(), operation, "the peer is not alive") ? record_of(p) : nullptr;
  }
  /// The same where the peer may have ended without the caller's knowledge.
  [[gnu::always_inline]] static record* living(peer p) noexcept { return p.alive() ? record_of(p) : nullptr; }
  /// The peer of a kept post ended, and a trusted caller need not have noticed.
  [[gnu::always_inline]] static bool ended_meanwhile(peer p) noexcept { return trusted && !p.alive(); }

  /// Bounds and rights. `ByPort`: the port makes this check.
  template <bool ByPort = false>
  [[gnu::always_inline]] static status check(std::size_t size, const remote_place& at, rights asked,
                                             const char* operation) noexcept {
    if (ByPort && !trusted) return {};
    if (trusted) (void)duty_kept<trusted>(size != no_slice, operation, "a slice ends after its region");
    if (!duty_kept<trusted>(size <= at.room, operation, "more bytes than the peer's region has from this place"))
      return error(errc::out_of_range, operation);
    if (!duty_kept<trusted>(grants(at.granted, asked), operation, "the peer's region does not grant the access"))
      return error(errc::denied, operation);
    return {};
  }
  /// The same for one write, and for one read: some ports check these places themselves.
  [[gnu::always_inline]] static status check_write(std::size_t size, const remote_place& at,
                                                   const char* operation) noexcept {
    return check<port_checks_writes>(size, at, rights::remote_write, operation);
  }
  [[gnu::always_inline]] static status check_read(std::size_t size, const remote_place& at,
                                                  const char* operation) noexcept {
    return check<Engine::port_checks_places>(size, at, rights::remote_read, operation);
  }
  /// Whether the peer takes messages of this size.
  [[gnu::always_inline]] static bool is_taken(const record& r, std::uint64_t size) noexcept {
    return duty_kept<trusted>(size <= r.their_max_message_bytes, "send",
                              "a message of more bytes than the peer's receives have");
  }
  [[gnu::always_inline]] static status word_is_aligned(std::uint64_t address, std::size_t bytes,
                                                       const char* operation) noexcept {
    if (!duty_kept<trusted>(address % bytes == 0, operation, "the word is not aligned to its size"))
      return error(errc::invalid, operation);
    return {};
  }

 private:
  [[gnu::always_inline, gnu::returns_nonnull]] static record* record_of(peer p) noexcept {
    return static_cast<record*>(peer_access::living(p));
  }
};

}  // namespace weft::detail
