// SPDX-License-Identifier: Apache-2.0
//
// The events that the peer or the port causes: hello, accept, reject and changes of links. On every fabric a connection
// is a link (or an address in a table), then hello and accept or reject as messages (wire/hello.hpp). Nothing of a peer
// is used before its introduction was checked: wire version, fingerprint, sizes. A repeated hello gets the same answer
// again and makes no new peer, so a lost answer does no harm. Where peers prove a secret, the application hears of a
// caller after its proof. What happens next is in transitions.hpp. Hot path: no. Threads: the owner's.
#pragma once

#include "../../core/if_memory.hpp"
#include "../engine/engine.hpp"
#include "../engine/erased_handler.hpp"
#include "../engine/receives.hpp"
#include "../events.hpp"
#include "admission.hpp"
#include "compatibility.hpp"
#include "handshake.hpp"
#include "teardown.hpp"

#include <string>

namespace weft::detail {

template <class Engine>
class connection_manager {
 public:
  using record = typename Engine::record;
  using receive = typename Engine::receive;
  using authentication = typename Engine::template authentication<Engine>;

  explicit connection_manager(Engine& e) noexcept : e_(e) {}

  // ---- messages
  /// A hello arrived in `in`. `named`: the record that the message's tag names, or null.
  void hello(receive& in, record* named, const_bytes body, erased_handler on) {
    wire::introduction theirs;
    auto verdict = wire::parse(body, theirs);
    if (verdict == wire::parse_verdict::good && theirs.nonce != theirs.own_word().value)
      verdict = wire::parse_verdict::garbled;
    const std::uint64_t before = e_.turned_away;
    record* const r = record_of_hello(in, named, theirs, verdict);
    if (r == nullptr) return void(e_.garbled += std::uint64_t{e_.turned_away == before});
    errc code = errc::incompatible;
    std::string refusal = verdict == wire::parse_verdict::garbled
                              ? std::string()
                              : incompatibility(own_build, theirs, verdict, asking::they);
    auto proof = verdict == wire::parse_verdict::garbled ? hello_proof::garbled : hello_proof::enough;
    if (proof == hello_proof::enough && refusal.empty() && r->state == peer_state::arrived) {
      if (refusal = admission<Engine>(e_).refusal(*r); refusal.empty())
        proof = authentication(e_).judge(*r, theirs, refusal);
      if (!refusal.empty()) code = errc::rejected;
    }
    const peer_event what = proof == hello_proof::garbled   ? peer_event::hello_garbled
                            : !refusal.empty()              ? peer_event::hello_refused
                            : proof == hello_proof::missing ? peer_event::hello_unproven
                                                            : peer_event::hello;
    switch (const peer_action does = advance(e_, *r, what); does) {
      case peer_action::report_request:
        learn(*r, theirs);
        handshakes().adopt(*r, theirs);
        on(requested{e_.handle(*r), theirs.has_private_data, theirs.private_data});
        return;
      case peer_action::refuse_hello:
        learn(*r, theirs);
        handshakes().keep_reason(*r, code, std::move(refusal), theirs.wire_version);
        return handshakes().send(*r);
      case peer_action::send_handshake:
        if (what == peer_event::hello_unproven) learn(*r, theirs);  // the challenge names this hello
        return handshakes().send(*r);
      default:
        return teardown<Engine>(e_).carry_out(*r, does, {}, on);
    }
  }

  /// An accept or a reject arrived, or a challenge, which is a form of reject.
  void answered(record& r, wire::message_kind kind, const_bytes body, erased_handler on) {
    if (kind == wire::message_kind::reject) rejected(r, body, on);
    else accepted(r, body, on);
  }

  /// The listener wants a proof: the hello goes out again, with it.
  void challenged(record& r, const wire::refusal_notice& said) noexcept {
    if (advance(e_, r, peer_event::challenge) != peer_action::send_handshake) return;
    authentication::take_challenge(r, said);
    handshakes().send(r);
  }

  /// The library reports that a message of weft's own was not delivered.
  void unreachable(record& r, status why, erased_handler on) {
    teardown<Engine>(e_).end(r, peer_event::hello_failed, why, on);
  }

  // ---- links
  /// Polls the port for changes of links.
  void follow_links(erased_handler on) {
    e_.port->poll_links([&](link_change change, std::uint32_t tag, typename Engine::link link) -> std::uint32_t {
      e_.links_moved = e_.tick;
      if (change == link_change::arrived) return admit(link);
      if (record* r = e_.peers.find({tag}); r != nullptr) {
        if (change == link_change::established) link_stands(*r);
        else link_is_gone(*r, change == link_change::refused ? peer_event::link_refused : peer_event::link_ends, on);
      }
      return no_tag;
    });
  }
  /// The queue was seen empty: links that ended brought nothing more.
  void settle_links(erased_handler on) {
    e_.peers.each_ended_link([&](record& r) { link_is_gone(r, peer_event::link_drained, on); });
  }
  /// The link carries messages now.
  void link_stands(record& r) noexcept {
    learn_number(r);
    advance_link(r, link_event::stands);
    if (advance(e_, r, peer_event::link_stands) == peer_action::send_pending_handshake) handshakes().send_pending(r);
  }

 private:
  void rejected(record& r, const_bytes body, erased_handler on) {
    auto no = wire::parse_refusal(body);
    const bool answers = no && no->nonce == r.word().value;
    if (answers && authentication::is_challenge(*no)) return challenged(r, *no);
    if constexpr (Engine::links_have_receives)  // the link says who sent it
      if (!answers) no = wire::parse_refusal(body, wire::refusal_form::without_nonce);
    const bool garbled = !answers && !Engine::links_have_receives;
    std::string reason;
    if (no) reason = printable({reinterpret_cast<const char*>(no->reason.data()), no->reason.size()});
    const bool unlike = no && no->code == static_cast<std::uint8_t>(errc::incompatible);
    end_of_meeting(r, garbled ? peer_event::answer_garbled : peer_event::reject,
                   error(unlike ? errc::incompatible : errc::rejected, "connect"), std::move(reason), on);
  }

  void accepted(record& r, const_bytes body, erased_handler on) {
    wire::introduction theirs;
    const auto verdict = wire::parse(body, theirs);
    const status unlike = error(errc::incompatible, "connect");
    if (verdict == wire::parse_verdict::garbled || theirs.nonce != r.word().value)
      return end_of_meeting(r, peer_event::answer_garbled, unlike, {}, on);
    if (std::string reason = incompatibility(own_build, theirs, verdict, asking::we); !reason.empty())
      return end_of_meeting(r, peer_event::reject, unlike, std::move(reason), on);
    if (r.state == peer_state::greeting && !authentication(e_).is_proven(r, theirs)) {
      // A link says who sent it. Elsewhere the right answer may still come.
      const auto what = Engine::links_have_receives ? peer_event::reject : peer_event::answer_garbled;
      return end_of_meeting(r, what, error(errc::rejected, "connect"), authentication::unproven_accept(), on);
    }
    const peer_action does = advance(e_, r, peer_event::accept);
    if (does != peer_action::report_connected) return;
    r.theirs = theirs.own_word();
    r.last_sent = e_.tick;
    handshakes().adopt(r, theirs);
    if (r.words && r.words->user_data == nullptr) r.words.reset();  // the peer has our private data
    if (Engine::uses_ring) e_.rings_are_due = true;
    const peer handle = e_.handle(r);
    on(connected{handle, theirs.has_private_data, theirs.private_data});
    report_early_notices(r, handle, on);
  }

  /// An answer that is no good accept. The table says whether it ends the connection.
  void end_of_meeting(record& r, peer_event what, status why, std::string reason, erased_handler on) {
    const peer_action does = advance(e_, r, what);
    if (does != peer_action::report_lost) return;
    handshakes().keep_reason(r, why.code, std::move(reason));
    teardown<Engine>(e_).carry_out(r, does, why, on);
  }

  /// Notices that overtook the accept. The handler may close the peer meanwhile. A notice that found no room is lost,
  /// and the owner may wait for it: the connection ends with the reason.
  void report_early_notices(record& r, peer from, erased_handler on) {
    std::uint32_t immediate = 0;
    while (e_.overtaking_notices.take(peer_access::number(from), immediate))
      if (from.alive()) on(notified{from, immediate});
      else ++e_.stale;
    if (!from.alive() || !r.notices_lost) return;
    if (peer_words* const words = r.made_words())
      words->reason = "more notices came before the peer's accept than this side keeps (1,024), or memory was short";
    teardown<Engine>(e_).gone(r, error(errc::broken, "connect"), on);
  }
  void link_is_gone(record& r, peer_event what, erased_handler on) {
    // A message waits for its handler: the timers end the peer when the handler has taken it.
    if (r.state == peer_state::leaving && teardown<Engine>(e_).waits(r)) return;
    const peer_action does = advance(e_, r, what);
    if (does != peer_action::drain_link)
      return teardown<Engine>(e_).carry_out(r, does, error(errc::peer_lost, "link"), on);
    if (Engine::connected) links<Engine>(e_).ended(r);
    else link_is_gone(r, peer_event::link_drained, on);  // an address has no queue to drain
  }

  /// A peer dialled. Returns the tag of its link, or no_tag.
  std::uint32_t admit(typename Engine::link link) {
    const std::uint64_t host = admission<Engine>(e_).host_of_place(link);
    record* r = admission<Engine>(e_).make_room(host) ? handshakes().begin(peer_event::link_arrives) : nullptr;
    if (r == nullptr) return no_tag;
    const bool attached = if_memory([&] {
      admission<Engine>(e_).note(*r, host);
      links<Engine>(e_).attach(*r, link);
    });
    if (attached) return r->number;
    teardown<Engine>(e_).forget(*r);  // no memory for its receives: the peer is refused
    return no_tag;
  }

  /// With a shared pool of receives, only the tag says who sent a hello. So the acceptance of a link carries the peer's
  /// number of this connection.
  void learn_number(record& r) noexcept {
    if constexpr (requires { e_.port->peer_tag(r.link); })
      if (const std::uint32_t tag = e_.port->peer_tag(r.link); tag != no_tag && r.state == peer_state::dialling)
        r.theirs = wire::connection_word::of({tag & (wire::connection_number::end - 1)}, 0);
  }

  /// The record that a hello belongs to, or null. Connected fabrics: the link's. Addressed fabrics: the record of the
  /// same hello, or a new one.
  record* record_of_hello(receive& in, record* named, const wire::introduction& theirs, wire::parse_verdict verdict) {
    if constexpr (Engine::links_have_receives) {
      return receives<Engine>(e_).peer_of(in);
    } else if constexpr (Engine::connected) {
      return named;
    } else {
      if (verdict == wire::parse_verdict::garbled || theirs.address.empty()) return nullptr;  // no way to answer
      if (record* const known = e_.peers.callers.find(e_.peers, theirs.own_word()); known != nullptr) return known;
      record* r = nullptr;
      if (e_.peers.callers.ready() && if_memory([&] { r = dial_back(theirs); })) return r;
      return nullptr;
    }
  }

  /// A record with a link to the address in a hello, or null: its host has its share, or the address is unknown.
  record* dial_back(const wire::introduction& theirs) {
    const address_bytes where(theirs.address.begin(), theirs.address.end());
    const std::uint64_t host = admission<Engine>(e_).host_of_place(where);
    if (!admission<Engine>(e_).make_room(host)) return nullptr;
    record* r = handshakes().begin(peer_event::link_arrives);
    if (r == nullptr) return nullptr;
    bool attached = false;
    const bool in_memory = if_memory([&] {
      admission<Engine>(e_).note(*r, host);
      auto link = e_.port->dial(where, r->number);
      if (!link) return;
      links<Engine>(e_).attach(*r, *link);
      attached = true;
    });
    if (!in_memory || !attached) {
      teardown<Engine>(e_).forget(*r);
      return nullptr;
    }
    link_stands(*r);
    return r;
  }

  /// A caller introduced itself.
  void learn(record& r, const wire::introduction& theirs) noexcept {
    const wire::connection_word word = theirs.own_word();
    if constexpr (!Engine::connected) {
      if (r.theirs == word) return;
      r.theirs = word;
      e_.peers.callers.insert(e_.peers, r);
    } else {
      r.theirs = word;
    }
  }

  handshake<Engine> handshakes() const noexcept { return handshake<Engine>(e_); }

  static constexpr build_words own_build{Engine::fabric::name, Engine::fabric::shared, Engine::fabric::fingerprint};
  Engine& e_;
};

}  // namespace weft::detail
