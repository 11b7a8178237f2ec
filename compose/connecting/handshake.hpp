// SPDX-License-Identifier: Apache-2.0
//
// Builds and sends hello, accept, reject and challenge (wire/hello.hpp, wire/authentication.hpp). A library that
// connects lazily refuses sends until it has connected, and does not report when. So a refused handshake stays pending
// and is sent again: every few polls in the first 4 ms, then each tick. Hot path: no. Threads: the owner's.
#pragma once

#include "../engine/engine.hpp"
#include "transitions.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace weft::detail {

/// The handshake that a state sends; none in most states.
constexpr std::optional<wire::message_kind> handshake_of(peer_state s) noexcept {
  if (s == peer_state::greeting) return wire::message_kind::hello;
  if (s == peer_state::established) return wire::message_kind::accept;
  if (s == peer_state::refusing) return wire::message_kind::reject;
  if (s == peer_state::arrived) return wire::message_kind::reject;  // a challenge; only its event makes one pending
  return std::nullopt;
}

template <class Engine>
class handshake {
 public:
  using record = typename Engine::record;
  using authentication = typename Engine::template authentication<Engine>;

  explicit handshake(Engine& e) noexcept : e_(e) {}

  /// A fresh record for a new connection; null when the table is full. `how`: owner_connects or link_arrives.
  record* begin(peer_event how) noexcept {
    const std::uint64_t random = e_.entropy();
    record* const r = random == 0 ? nullptr : e_.peers.take(random);  // no connection without a proof
    if (r == nullptr) return nullptr;
    (void)advance(e_, *r, how);
    r->reset();
    e_.links_moved = e_.tick;
    if constexpr (Engine::watches_cells) static_cast<cell_state&>(*r) = e_.cells.fresh(e_.peers.index_of(*r));
    if (Engine::uses_ring) std::fill_n(e_.ring_memory.get() + ring_offset(*r), ring_bytes, std::byte{});
    return r;
  }
  /// Keeps private data for the next handshake. False: no memory. Requires: at most wire::largest_private_data bytes.
  bool keep_private(record& r, const_bytes data, bool has) noexcept {
    r.has_private_data = has;
    if (data.empty()) return true;
    peer_words* words = r.made_words();
    if (words == nullptr) return false;
    words->private_size = static_cast<std::uint8_t>(std::min(data.size(), wire::largest_private_data));
    std::copy_n(data.begin(), words->private_size, words->private_data.begin());
    return true;
  }
  /// Keeps the sentence of a refusal. Without memory the refusal travels without one.
  static void keep_reason(record& r, errc code, std::string reason,
                          std::uint16_t their_wire_version = wire::version) noexcept {
    peer_words* words = r.made_words();
    if (words == nullptr) return;
    words->refusal = code;
    words->their_wire_version = their_wire_version;
    words->reason = std::move(reason);
  }

  /// Sends the handshake of the record's state, now or as soon as link and library take it.
  void send(record& r) noexcept {
    r.handshake_pending = true;
    e_.peers.is_unfinished(r);
    send_pending(r);
  }
  /// Sends the handshake that is still pending, if the link can take it.
  void send_pending(record& r) noexcept {
    if (!r.handshake_pending || r.link_is != link_state::up) return;
    const auto kind = handshake_of(r.state);
    if (!kind) return void(r.handshake_pending = false);
    std::byte body[wire::largest_handshake];
    const std::size_t size = r.state == peer_state::arrived        ? authentication::write_challenge(r, body)
                             : *kind == wire::message_kind::reject ? write_refusal(r, body)
                                                                   : write_introduction(r, *kind, body);
    const status sent = e_.tell(r, *kind, {body, size});
    if (sent) {
      r.handshake_pending = false;
      r.last_sent = e_.tick;
    } else if (sent.is_again() && is_fresh(r)) {
      e_.handshake_unsent = true;
      e_.poll_budget.timers_after(polls_until_sent_again);
    }
  }
  /// Sends every pending handshake again. After fresh_ms this happens once per tick only: where nobody listens, each
  /// try may be another attempt to connect.
  void resend_handshakes() noexcept {
    e_.handshake_unsent = false;
    e_.peers.each_unfinished([this](record& r) { send_pending(r); });
  }
  /// Milliseconds until the owner of an unfinished handshake has to poll again.
  std::uint32_t due(const record& r) const noexcept { return is_fresh(r) ? 1U : 10U; }

  /// Copies the peer's limits and addresses from its introduction.
  void adopt(record& r, const wire::introduction& theirs) noexcept {
    r.their_max_message_bytes = theirs.max_message_bytes;
    e_.tagged.adopt(r, theirs.shared);
    r.heartbeat_every = static_cast<std::uint16_t>(std::min(theirs.heartbeat_ms, 30'000U));
    e_.peers.wants_heartbeats(r);
    if constexpr (Engine::uses_ring) {
      r.ring = theirs.ring;
      r.ring.entries = std::min(r.ring.entries, Engine::ring_entries);
    }
    if constexpr (Engine::watches_cells) {
      r.their_cells = {theirs.ring.address, theirs.ring.key};
      if (theirs.ring.entries != wire::ring_cells) r.cells_posted = wire::ring_cells;  // another build: no cell is free
    }
    if constexpr (answer<typename Engine::fabric, liveness_family>::watches_process) {
      r.process = theirs.process;
      // An address that names a process is dialled, so it is no mere claim.
      if constexpr (requires { Engine::port_type::process_at(theirs.address); })
        if (const std::uint64_t named = Engine::port_type::process_at(theirs.address); named != 0) r.process = named;
      r.watch = e_.watch_over(r.process);
    }
  }

 private:
  static constexpr std::uint32_t polls_until_sent_again = 8;
  static constexpr std::uint32_t fresh_ms = 4;  ///< rxm takes some 0.3 ms after the first try.
  static constexpr std::size_t ring_bytes = Engine::ring_entries * sizeof(wire::ring_entry);

  bool is_fresh(const record& r) const noexcept { return e_.tick - r.since < fresh_ms; }
  std::size_t ring_offset(const record& r) const noexcept { return e_.peers.index_of(r) * ring_bytes; }

  static std::size_t write_refusal(const record& r, bytes into) {
    const std::string reason = r.reason();
    const errc code = r.words ? r.words->refusal : errc::rejected;
    const bool old = r.words && r.words->their_wire_version < wire::first_version_with_proof;
    const const_bytes text{reinterpret_cast<const std::byte*>(reason.data()),
                           std::min(reason.size(), wire::largest_reason)};
    return wire::encode(wire::refusal_notice{static_cast<std::uint8_t>(code), r.theirs.value, text}, into,
                        old ? wire::refusal_form::without_nonce : wire::refusal_form::with_nonce);
  }

  std::size_t write_introduction(record& r, wire::message_kind kind, bytes into) noexcept {
    std::byte words[wire::largest_authentication];
    wire::introduction mine = introduce(r, kind);
    mine.authentication = authentication(e_).words(r, kind, mine, words);
    return wire::encode(mine, into);
  }
  wire::introduction introduce(record& r, wire::message_kind kind) noexcept {
    using addresses = answer<typename Engine::fabric, region_address_family>;
    const auto text = [](std::string_view t) {
      return const_bytes(reinterpret_cast<const std::byte*>(t.data()), t.size());
    };
    wire::introduction mine;
    mine.fingerprint = Engine::fabric::fingerprint;
    mine.nonce = (kind == wire::message_kind::hello ? r.word() : r.theirs).value;
    mine.connection = {r.number};
    mine.proof = r.word().proof();
    mine.max_message_bytes = e_.options.max_message_bytes;
    mine.process = e_.own_process();
    if (const std::uint32_t limit = e_.silence_ticks(); limit > 0) mine.heartbeat_ms = limit / 4 + 1;
    if (Engine::uses_ring)
      mine.ring = {addresses::base_of(e_.ring_memory.get()) + ring_offset(r), e_.ring_registration.key,
                   Engine::ring_entries};
    if constexpr (Engine::watches_cells)
      mine.ring = {addresses::base_of(e_.cells.incoming().data()) + e_.peers.index_of(r) * wire::cell_ring_bytes,
                   e_.cells.registered.key, wire::ring_cells};
    if (kind == wire::message_kind::hello && !Engine::connected) mine.address = e_.own_address;
    mine.fabric = text(Engine::fabric::name);
    mine.shared = text(Engine::tagged_type::introduced);
    mine.has_private_data = r.has_private_data;
    if (r.words) mine.private_data = {r.words->private_data.data(), r.words->private_size};
    return mine;
  }

  Engine& e_;
};

}  // namespace weft::detail
