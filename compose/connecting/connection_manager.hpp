// SPDX-License-Identifier: Apache-2.0
//
// How peers meet and part. On every fabric: a link (a connection, or an address in a table), then hello and accept or
// reject as messages (wire/hello.hpp), later a goodbye. Nothing of a peer is used before its introduction was checked:
// wire version, fingerprint, sizes. Repeated hellos are answered again, not taken for new peers: unreliable moments (a
// lost accept) heal by asking once more. Hot path: post() only. Threads: the owner's.
#pragma once

#include "../engine/engine.hpp"
#include "../engine/receives.hpp"
#include "../events.hpp"
#include "compatibility.hpp"
#include "teardown.hpp"

#include <string>

namespace weft::detail {

template <class Engine>
class connection_manager {
 public:
  using record = typename Engine::record;
  using receive = typename Engine::receive;

  explicit connection_manager(Engine& e) noexcept : e_(e) {}

  void post(receive& r) noexcept { receives<Engine>(e_).post(r); }
  bool try_post(receive& r) noexcept { return receives<Engine>(e_).try_post(r); }

  // ---- asking
  /// Begins to connect; connected or lost tells how it ended.
  result<peer> start(const address_bytes& address, const_bytes private_data, bool has_private_data) {
    if (private_data.size() > wire::largest_private_data)
      return {error(errc::invalid, "connect"),
              "private data has " + std::to_string(private_data.size()) + " bytes; at most 64 travel with a request"};
    record* r = e_.peers.take();
    if (r == nullptr)
      return {error(errc::no_memory, "connect"),
              "all " + std::to_string(e_.peers.capacity()) + " peer records are in use (transport_options::peers)"};
    begin(*r, peer_state::dialling);
    if (!keep_private(*r, private_data, has_private_data)) {
      teardown<Engine>(e_).forget(*r);
      return {error(errc::no_memory, "connect"), "no memory for the private data of a request"};
    }
    r->nonce = e_.entropy() | 1;
    r->handshake_pending = true;
    auto link = e_.port->dial(address, r->number);
    if (!link) {
      teardown<Engine>(e_).forget(*r);
      return std::move(link).error();
    }
    r->link = *link;
    r->link_gone = false;
    claim_link(*r);
    if constexpr (Engine::connected) {
      if constexpr (Engine::links_have_receives) receives<Engine>(e_).provide(*r);
    } else {
      r->link_stands = true;
      e_.set_state(*r, peer_state::greeting);
      send_deferred_handshake(*r);
    }
    return e_.handle(*r);
  }

  // ---- answering
  status accept(record& r, const_bytes private_data, bool has_private_data) noexcept {
    if (!keep_private(r, private_data, has_private_data)) return error(errc::no_memory, "accept");
    e_.set_state(r, peer_state::established);
    r.heard = e_.tick;
    r.spoke = e_.tick;
    r.handshake_pending = true;
    send_deferred_handshake(r);
    return {};
  }
  void reject(record& r, errc code, const std::string& reason) {
    if (peer_words* words = r.made_words(); words != nullptr) {
      words->refusal = code;
      words->reason = reason;
    }
    e_.set_state(r, peer_state::refusing);
    r.handshake_pending = true;
    send_deferred_handshake(r);
  }

  /// A hello arrived. New ones become requests; repeated ones are answered again.
  template <class Handler>
  void hello(receive& slot_of, record* named, const_bytes body, Handler& on) {
    wire::introduction theirs;
    const auto verdict = wire::parse(body, theirs);
    record* r = asker(slot_of, named, theirs, verdict);
    if (r == nullptr) {
      ++e_.garbled;
      return;
    }
    if (r->state != peer_state::arrived) {  // said before
      r->handshake_pending = r->state == peer_state::established || r->state == peer_state::refusing;
      return send_deferred_handshake(*r);
    }
    if (verdict == wire::parse_verdict::garbled) return drop(*r);
    r->nonce = theirs.nonce;
    r->theirs = theirs.connection;
    r->heard = e_.tick;
    if (const auto unlike = incompatibility(own_build, theirs, verdict, asking::they); !unlike.empty())
      return reject(*r, errc::incompatible, unlike);
    adopt(*r, theirs);
    if (e_.half_open > e_.options.pending)
      return reject(*r, errc::rejected, "too many requests are waiting for an answer");
    e_.set_state(*r, peer_state::requested);
    on(requested{e_.handle(*r), theirs.has_private_data, theirs.private_data});
  }

  /// Our hello was answered.
  template <class Handler>
  void answered(record& r, wire::message_kind kind, const_bytes body, Handler& on) {
    if (r.state != peer_state::greeting) return;  // said twice
    if (kind == wire::message_kind::reject) {
      const auto no = wire::parse_refusal(body);
      if (no && r.made_words() != nullptr)
        r.words->reason.assign(reinterpret_cast<const char*>(no->reason.data()), no->reason.size());
      const bool known = no && (no->code == static_cast<std::uint8_t>(errc::incompatible));
      return teardown<Engine>(e_).gone(r, error(known ? errc::incompatible : errc::rejected, "connect"), on);
    }
    wire::introduction theirs;
    const auto verdict = wire::parse(body, theirs);
    if (verdict == wire::parse_verdict::garbled) {
      ++e_.garbled;
      return;
    }
    if (auto unlike = incompatibility(own_build, theirs, verdict, asking::we); !unlike.empty()) {
      if (r.made_words() != nullptr) r.words->reason = std::move(unlike);
      return teardown<Engine>(e_).gone(r, error(errc::incompatible, "connect"), on);
    }
    r.theirs = theirs.connection;
    r.heard = e_.tick;
    r.spoke = e_.tick;
    adopt(r, theirs);
    if (r.words && r.words->user_data == nullptr) r.words.reset();  // the peer has our private data
    e_.set_state(r, peer_state::established);
    if constexpr (Engine::uses_ring) e_.rings_are_due = true;
    on(connected{e_.handle(r), theirs.has_private_data, theirs.private_data});
  }

  template <class Handler>
  void gone(record& r, status why, Handler& on) {
    teardown<Engine>(e_).gone(r, why, on);
  }
  template <class Handler>
  void unreachable(record& r, status why, Handler& on) {
    teardown<Engine>(e_).gone(r, {errc::unreachable, why.from, why.native(), "connect"}, on);
  }

  // ---- links
  template <class Handler>
  void follow_links(Handler& on) {
    e_.port->poll_links([&](link_change change, std::uint32_t tag, typename Engine::link link) -> std::uint32_t {
      e_.links_moved = e_.tick;
      if (change == link_change::arrived) return admit(link);
      record* about = e_.peers.find({tag});
      if (about == nullptr) return no_tag;
      record& r = *about;
      if (change == link_change::established) {
        r.link_stands = true;
        learn_number(r);
        if (r.state == peer_state::dialling) e_.set_state(r, peer_state::greeting);
        send_deferred_handshake(r);
      } else if (r.state == peer_state::arrived || r.state == peer_state::refusing) {
        teardown<Engine>(e_).forget(r);
      } else if (r.state == peer_state::leaving) {
        teardown<Engine>(e_).gone(r, error(errc::closed, "goodbye"), on);
      } else if (change == link_change::refused || r.state == peer_state::dialling) {
        teardown<Engine>(e_).gone(r, error(errc::unreachable, "connect"), on);
      } else if (Engine::connected) {
        e_.put_off();
        r.link_ended = e_.draining =
            true;  // a goodbye, or a refusal with its reason, may have come before the end and be unread
      } else {
        teardown<Engine>(e_).gone(r, error(errc::peer_lost, "link"), on);
      }
      return no_tag;
    });
  }

  /// After the queue was seen empty: links that ended brought nothing more.
  template <class Handler>
  void settle_links(Handler& on) {
    for (record& r : e_.peers)
      if (r.state != peer_state::free && r.link_ended) {
        r.link_ended = false;
        teardown<Engine>(e_).gone(r, error(errc::peer_lost, "link"), on);
      }
  }

  /// Sends the hello, accept or reject that this record still owes, if the link can take it.
  void send_deferred_handshake(record& r) noexcept {
    if (!r.handshake_pending || !r.link_stands) return;
    std::byte body[wire::largest_handshake];
    std::size_t size = 0;
    auto kind = wire::message_kind::hello;
    if (r.state == peer_state::refusing) {
      kind = wire::message_kind::reject;
      const std::string reason = r.reason();
      const auto* text = reinterpret_cast<const std::byte*>(reason.data());
      const errc code = r.words ? r.words->refusal : errc::rejected;
      size = wire::encode(
          wire::refusal_notice{static_cast<std::uint8_t>(code), {text, std::min(reason.size(), wire::largest_reason)}},
          body);
    } else {
      if (r.state == peer_state::established) kind = wire::message_kind::accept;
      size = wire::encode(introduce(r, kind), body);
    }
    if (const status said = e_.tell(r, kind, {body, size}); said) {
      r.handshake_pending = false;
      r.spoke = e_.tick;
    } else if (said.is_again() && is_fresh(r)) {
      e_.unsaid = true;
      e_.poll_budget.timers_after(polls_until_sent_again);
    }
  }

  /// A library that connects by itself takes nothing for a peer until it has (rxm: some 0.3 ms after the first try),
  /// and does not say when: what it did not take is offered again each few looks while that is recent. Later each tick
  /// must do, since each offer to an address where nobody listens may be another attempt to connect.
  void say_again() noexcept {
    e_.unsaid = false;
    for (record& r : e_.peers)
      if (r.state != peer_state::free && r.handshake_pending) send_deferred_handshake(r);
  }
  /// How soon the owner of a record whose meeting is not over should look again, in milliseconds.
  std::uint32_t due(const record& r) const noexcept { return is_fresh(r) ? 1U : 10U; }

 private:
  void begin(record& r, peer_state s) noexcept {
    e_.links_moved = e_.tick;
    r.link_stands = false;
    r.link_ended = false;
    r.handshake_pending = false;
    r.has_private_data = false;
    r.words.reset();
    r.theirs = {};
    r.speak_every = 0;
    if constexpr (Engine::uses_ring) r.ring_posted = r.ring_credited = r.ring_read = r.ring_told = 0;
    if constexpr (Engine::goodbye_overtakes) r.messages_sent = r.messages_taken = 0;
    r.heard = e_.tick;
    if constexpr (Engine::watches_cells) static_cast<cell_state&>(r) = e_.cells.fresh(e_.peers.index_of(r));
    if constexpr (Engine::uses_ring) {
      auto* ring = e_.ring_memory.get() + e_.peers.index_of(r) * Engine::ring_entries * sizeof(wire::ring_entry);
      std::memset(ring, 0, Engine::ring_entries * sizeof(wire::ring_entry));
    }
    e_.set_state(r, s);
  }

  std::uint32_t admit(typename Engine::link link) {
    record* r = e_.half_open < e_.options.pending ? e_.peers.take() : nullptr;
    if (r == nullptr) return no_tag;
    begin(*r, peer_state::arrived);
    r->link = link;
    r->link_gone = false;
    claim_link(*r);
    r->nonce = 0;
    if constexpr (Engine::links_have_receives) receives<Engine>(e_).provide(*r);
    return r->number;
  }

  void claim_link(record& r) noexcept {
    if constexpr (Engine::notices_name_links) e_.port->belongs_to(r.link, &r);
  }

  /// Who was dialled and takes messages from a pool cannot tell by the receive who says hello: it sent its number for
  /// this link along.
  void learn_number(record& r) noexcept {
    if constexpr (requires { e_.port->peer_tag(r.link); })
      if (const std::uint32_t told = e_.port->peer_tag(r.link); told != no_tag && r.state == peer_state::dialling)
        r.theirs = {told & 0x0fff'ffffU};
  }

  /// The record of whoever says hello: the link's on connected fabrics (of a pool: the one that the message names), the
  /// nonce's or a new one on addressed ones.
  record* asker(receive& slot_of, record* named, const wire::introduction& theirs, wire::parse_verdict verdict) {
    if constexpr (Engine::links_have_receives) {
      return slot_of.owner == no_index ? nullptr : &e_.peers.at(slot_of.owner);
    } else if constexpr (Engine::connected) {
      return named;
    } else {
      if (verdict == wire::parse_verdict::garbled || theirs.address.empty()) return nullptr;  // no way to answer
      for (record& known : e_.peers)
        if (known.state != peer_state::free && known.nonce == theirs.nonce && known.theirs == theirs.connection)
          return &known;
      record* r = e_.peers.take();
      if (r == nullptr) return nullptr;
      begin(*r, peer_state::arrived);
      auto link = e_.port->dial(address_bytes(theirs.address.begin(), theirs.address.end()), r->number);
      if (!link) {
        teardown<Engine>(e_).forget(*r);
        return nullptr;
      }
      r->link = *link;
      r->link_gone = false;
      r->link_stands = true;
      return r;
    }
  }

  void drop(record& r) {
    ++e_.garbled;
    teardown<Engine>(e_).forget(r);
  }

  void adopt(record& r, const wire::introduction& theirs) noexcept {
    r.their_max_message_bytes = theirs.max_message_bytes;
    r.speak_every = static_cast<std::uint16_t>(std::min(theirs.heartbeat_ms, 30'000U));
    if constexpr (Engine::uses_ring) {
      r.ring = theirs.ring;
      if (r.ring.entries > Engine::ring_entries) r.ring.entries = Engine::ring_entries;
    }
    if constexpr (Engine::watches_cells) {
      r.their_cells = {theirs.ring.address, theirs.ring.key};
      if (theirs.ring.entries != wire::ring_cells)
        r.cells_posted = wire::ring_cells;  // no peer of this build: nothing is ever free
    }
    if constexpr (answer<typename Engine::fabric, liveness_family>::watches_process) {
      r.process = theirs.process;
      r.watch = e_.watch_over(theirs.process);
    }
  }

  wire::introduction introduce(record& r, wire::message_kind kind) noexcept {
    wire::introduction mine;
    mine.fingerprint = Engine::fabric::fingerprint;
    mine.nonce = r.nonce;
    mine.connection = {r.number};
    mine.max_message_bytes = e_.options.max_message_bytes;
    mine.process = e_.own_process();
    if constexpr (answer<typename Engine::fabric, liveness_family>::speaks)
      mine.heartbeat_ms = Engine::ticks(e_.options.silence_limit) / 4 + 1;
    if constexpr (Engine::uses_ring) {
      const std::uint64_t place = e_.peers.index_of(r) * Engine::ring_entries * sizeof(wire::ring_entry);
      const auto* start = e_.ring_memory.get();
      mine.ring = {answer<typename Engine::fabric, region_address_family>::base_of(start) + place,
                   e_.ring_registration.key, Engine::ring_entries};
    }
    if constexpr (Engine::watches_cells) {
      const std::uint64_t place = e_.peers.index_of(r) * wire::cell_ring_bytes;
      mine.ring = {answer<typename Engine::fabric, region_address_family>::base_of(e_.cells.incoming().data()) + place,
                   e_.cells.registered.key, wire::ring_cells};
    }
    if (kind == wire::message_kind::hello && !Engine::connected) mine.address = e_.own_address;
    mine.fabric = {reinterpret_cast<const std::byte*>(Engine::fabric::name.data()), Engine::fabric::name.size()};
    mine.shared = {reinterpret_cast<const std::byte*>(Engine::fabric::shared.data()), Engine::fabric::shared.size()};
    mine.has_private_data = r.has_private_data;
    if (r.words) mine.private_data = {r.words->private_data.data(), r.words->private_size};
    return mine;
  }

  /// False: no memory.
  bool keep_private(record& r, const_bytes data, bool has) noexcept {
    r.has_private_data = has;
    if (data.empty()) return true;
    peer_words* words = r.made_words();
    if (words == nullptr) return false;
    words->private_size = static_cast<std::uint8_t>(std::min(data.size(), wire::largest_private_data));
    std::copy_n(data.begin(), words->private_size, words->private_data.begin());
    return true;
  }

  static constexpr std::uint32_t polls_until_sent_again = 8;
  static constexpr std::uint32_t fresh_ms = 4;
  bool is_fresh(const record& r) const noexcept { return e_.tick - r.since < fresh_ms; }

  static constexpr build_words own_build{Engine::fabric::name, Engine::fabric::shared, Engine::fabric::fingerprint};
  Engine& e_;
};

}  // namespace weft::detail
