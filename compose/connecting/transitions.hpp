// SPDX-License-Identifier: Apache-2.0
//
// The life of one connection as a table: state x event -> action, next state, and the reason. advance() is the only
// place where a state is assigned; the other files of this room report events and carry out actions. Fabrics force the
// size of the table: links, messages and the owner's calls arrive in any order, and some of them twice.
// docs/explanation/connection_states.md is generated from this file. Hot path: none; established peers are found by
// `live`, and receiving compares that first. Threads: the owner's.
#pragma once

#include "../../wire/message_tag.hpp"
#include "../engine/peers.hpp"
#include "link_table.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace weft::detail {

/// What can happen to a connection.
enum class peer_event : std::uint8_t {
  // calls of the owner
  owner_connects,  ///< connect(): the record is taken for a new connection.
  owner_accepts,
  owner_rejects,
  owner_closes,    ///< close(), after the goodbye was posted or cannot be posted.
  owner_releases,  ///< The record is given back, and nothing is reported.
  // the link, as the port reports it
  link_arrives,  ///< A peer dialled this side.
  link_stands,
  link_refused,
  link_ends,
  link_drained,  ///< The queue was seen empty after the link ended.
  // messages, after their bytes were checked
  hello,
  hello_unproven,  ///< A hello without the proof that this side asks for, or with one for another challenge.
  hello_refused,   ///< A hello of a build that cannot talk to this one, or one request too many.
  hello_garbled,
  accept,
  challenge,        ///< The listener asks for a proof (policies/authentication.hpp).
  answer_garbled,   ///< Bytes that are no accept or reject, or one that answers another hello.
  reject,           ///< Also an accept of a build that cannot talk to this one.
  data_message,     ///< user, notify, fused, group.
  control_message,  ///< Atomics, ring credits, flushes, replies, heartbeats.
  goodbye,
  // failures and time
  hello_failed,  ///< The library reports that a message of weft's own was not delivered.
  repeat_time,   ///< An answer is late.
  patience_over,
  peer_dies,  ///< Silent for too long, process ended, heartbeat refused, or bytes that nobody can read.
};
inline constexpr std::size_t peer_events = 25;
inline constexpr std::array<std::string_view, peer_events> event_names{
    "owner_connects", "owner_accepts",  "owner_rejects", "owner_closes",  "owner_releases",
    "link_arrives",   "link_stands",    "link_refused",  "link_ends",     "link_drained",
    "hello",          "hello_unproven", "hello_refused", "hello_garbled", "accept",
    "challenge",      "answer_garbled", "reject",        "data_message",  "control_message",
    "goodbye",        "hello_failed",   "repeat_time",   "patience_over", "peer_dies"};
inline constexpr std::array<std::string_view, peer_states> state_names{
    "free", "dialling", "greeting", "arrived", "requested", "established", "leaving", "refusing", "closing", "lost"};
constexpr std::string_view name_of(peer_state s) noexcept { return state_names[static_cast<std::size_t>(s)]; }
constexpr std::string_view name_of(peer_event e) noexcept { return event_names[static_cast<std::size_t>(e)]; }

/// What the caller of advance() must do.
enum class peer_action : std::uint8_t {
  none,
  impossible,              ///< Only an error of weft leads here. Counted as garbled.
  count_garbled,           ///< No transport of this build sends that.
  count_stale,             ///< The connection takes no messages any more, or not yet.
  refuse_call,             ///< The call answers peer_lost.
  dial,                    ///< The port dials. A link that is up at once reports link_stands.
  admit,                   ///< The new link gets this record.
  send_handshake,          ///< A hello, accept, reject or challenge goes out now, or when the library takes it.
  send_pending_handshake,  ///< The same, if one waits.
  refuse_hello,            ///< A reject with its reason goes out.
  report_request,          ///< The handler gets `requested`.
  report_connected,        ///< The handler gets `connected`.
  deliver,                 ///< The message goes to its part.
  deliver_overtaken,       ///< The same where a goodbye may overtake messages, or one waited here; else count_stale.
  keep,                    ///< The message waits in its receive and is offered again.
  drain_link,              ///< Messages that came before are read first; then link_drained.
  report_lost,             ///< Outstanding operations fail, the handler gets `lost` with the event's reason.
  report_unreachable,      ///< The same with errc::unreachable.
  report_closed,           ///< The same with errc::closed.
  release,                 ///< The link and the record are given back.
  drop,                    ///< The same, and counted as garbled.
};
inline constexpr std::size_t peer_actions = 21;
inline constexpr std::array<std::string_view, peer_actions> action_names{
    "none",          "impossible",        "count_garbled",
    "count_stale",   "refuse_call",       "dial",
    "admit",         "send_handshake",    "send_pending_handshake",
    "refuse_hello",  "report_request",    "report_connected",
    "deliver",       "deliver_overtaken", "keep",
    "drain_link",    "report_lost",       "report_unreachable",
    "report_closed", "release",           "drop"};
constexpr std::string_view name_of(peer_action a) noexcept { return action_names[static_cast<std::size_t>(a)]; }

/// The part of a table cell that a running transport reads.
struct step {
  peer_action does = peer_action::impossible;
  peer_state next = peer_state::free;
};
/// One cell of the table. The reasons stay out of the program.
struct transition : step {
  std::string_view why{};
};

namespace connection_table {

using enum peer_state;
using state_set = std::uint16_t;
constexpr state_set in(auto... states) noexcept {
  return static_cast<state_set>(((1U << static_cast<unsigned>(states)) | ...));
}
/// The states without an earlier rule for this event.
inline constexpr state_set others = 0;
inline constexpr std::uint8_t same = 0xff;

/// One row of the text below: an event in a set of states. `next`: a peer_state, or same.
struct rule {
  peer_event on;
  state_set states;
  peer_action does;
  std::uint8_t next;
  std::string_view why;
};
constexpr rule when(peer_event on, state_set in, peer_action does, peer_state next, std::string_view why) {
  return {on, in, does, static_cast<std::uint8_t>(next), why};
}
constexpr rule when(peer_event on, state_set in, peer_action does, std::string_view why) {
  return {on, in, does, same, why};
}

using e = peer_event;
using a = peer_action;
inline constexpr auto known = in(dialling, greeting, requested, established);
inline constexpr auto unreported = in(arrived, refusing, closing);

inline constexpr rule rules[] = {
    when(e::owner_connects, in(free), a::dial, dialling, "The owner asks for a connection."),
    when(e::owner_connects, others, a::impossible, "Only a free record is taken."),
    when(e::owner_accepts, in(requested), a::send_handshake, established, "Posts may follow; the accept goes first."),
    when(e::owner_accepts, others, a::refuse_call, "There is no request to answer."),
    when(e::owner_rejects, in(requested), a::send_handshake, refusing, "The record stays until the reject is out."),
    when(e::owner_rejects, others, a::refuse_call, "There is no request to answer."),
    when(e::owner_closes, in(established), a::none, closing, "The record stays until the goodbye is out."),
    when(e::owner_closes, in(free, lost), a::none, "The peer left before."),
    when(e::owner_closes, others, a::release, free, "Nobody waits for a goodbye."),
    when(e::owner_releases, in(free), a::none, "The record was given back before."),
    when(e::owner_releases, others, a::release, free, "The owner knows of the end."),

    when(e::link_arrives, in(free), a::admit, arrived, "A peer dialled; its hello comes as a message."),
    when(e::link_arrives, others, a::impossible, "Only a free record is taken."),
    when(e::link_stands, in(dialling), a::send_pending_handshake, greeting, "The hello can travel now."),
    when(e::link_stands, in(free, lost), a::impossible, "The record has no link."),
    when(e::link_stands, others, a::send_pending_handshake, "An answer may wait for the link."),
    when(e::link_refused, known, a::report_unreachable, lost, "Nobody listens there."),
    when(e::link_refused, unreported, a::release, free, "The owner knows nothing of this peer, or closed it."),
    when(e::link_refused, in(leaving), a::report_closed, lost, "The goodbye came before."),
    when(e::link_refused, others, a::impossible, "The record has no link."),
    when(e::link_ends, in(dialling), a::report_unreachable, lost, "The link never carried a message."),
    when(e::link_ends, in(greeting, requested, established), a::drain_link, "A goodbye or a reject may be unread."),
    when(e::link_ends, in(leaving), a::report_closed, lost, "The goodbye came before."),
    when(e::link_ends, unreported, a::release, free, "The owner knows nothing of this peer, or closed it."),
    when(e::link_ends, others, a::impossible, "The record has no link."),
    when(e::link_drained, in(greeting, requested, established), a::report_lost, lost, "The link brought no goodbye."),
    when(e::link_drained, in(leaving), a::report_closed, lost, "The goodbye was read before the end of the link."),
    when(e::link_drained, unreported, a::release, free, "The owner answered or closed while the link was drained."),
    when(e::link_drained, others, a::impossible, "No link of this record ended."),

    when(e::hello, in(arrived), a::report_request, requested, "The owner answers, now or later."),
    when(e::hello, in(established, refusing), a::send_handshake, "The hello is repeated: the answer was lost."),
    when(e::hello, in(dialling, greeting), a::count_garbled, "The side that dials says hello."),
    when(e::hello, in(requested), a::none, "The hello is repeated; the owner has not answered."),
    when(e::hello, in(leaving, closing, lost), a::none, "The hello is repeated and late."),
    when(e::hello, others, a::impossible, "A hello finds a record or takes a new one."),
    when(e::hello_unproven, in(arrived), a::send_handshake, "A repeated hello gets the same challenge."),
    when(e::hello_unproven, in(dialling, greeting), a::count_garbled, "The side that dials says hello."),
    when(e::hello_unproven, others, a::none, "Only a caller that nobody has heard of must prove itself."),
    when(e::hello_refused, in(arrived), a::refuse_hello, refusing, "The reject carries the reason."),
    when(e::hello_refused, in(established, refusing), a::send_handshake, "The hello is repeated: the answer was lost."),
    when(e::hello_refused, in(dialling, greeting), a::count_garbled, "The side that dials says hello."),
    when(e::hello_refused, in(requested), a::none, "The hello is repeated; the owner has not answered."),
    when(e::hello_refused, in(leaving, closing, lost), a::none, "The hello is repeated and late."),
    when(e::hello_refused, others, a::impossible, "A hello finds a record or takes a new one."),
    when(e::hello_garbled, in(arrived), a::drop, free, "This is no peer; nothing of it is kept."),
    when(e::hello_garbled, in(free), a::impossible, "A garbled hello takes no record."),
    when(e::hello_garbled, others, a::count_garbled, "The connection does not end by it."),
    when(e::accept, in(greeting), a::report_connected, established, "The hello is answered."),
    when(e::accept, in(free, dialling, arrived, requested), a::count_garbled, "No hello of this side asked for it."),
    when(e::accept, others, a::none, "The accept is repeated."),
    when(e::challenge, in(greeting), a::send_handshake, "The hello goes out again with its proof."),
    when(e::challenge, in(free, dialling, arrived, requested), a::count_garbled, "No hello of this side asked for it."),
    when(e::challenge, others, a::none, "The challenge is late: the connection has its end or its accept."),
    when(e::answer_garbled, others, a::count_garbled, "Only an answer to this hello connects or ends."),
    when(e::reject, in(greeting), a::report_lost, lost, "The peer refused, or was built for other rules."),
    when(e::reject, in(free, dialling, arrived, requested), a::count_garbled, "No hello of this side asked for it."),
    when(e::reject, others, a::none, "The answer is late: the connection has its end or its accept."),
    when(e::data_message, in(established), a::deliver, "Both sides agreed."),
    when(e::data_message, in(leaving), a::deliver_overtaken, "The goodbye overtook it, or it waited here."),
    when(e::data_message, in(greeting), a::keep, "It overtook the accept."),
    when(e::data_message, others, a::count_stale, "The connection does not carry data, or not any more."),
    when(e::control_message, in(established), a::deliver, "Both sides agreed."),
    when(e::control_message, in(greeting), a::keep, "It overtook the accept."),
    when(e::control_message, others, a::count_stale, "Nothing waits for it."),
    when(e::goodbye, in(established), a::deliver, leaving, "Ends of earlier operations may still arrive."),
    when(e::goodbye, in(greeting), a::keep, "It overtook the accept."),
    when(e::goodbye, others, a::count_stale, "The connection is not established, or ended before."),

    when(e::hello_failed, in(greeting), a::report_unreachable, lost, "The hello cannot reach its address."),
    when(e::hello_failed, others, a::none, "Timers and links find a peer that is gone."),
    when(e::repeat_time, in(greeting), a::send_handshake, "The hello may be lost with a peer that restarted."),
    when(e::repeat_time, others, a::impossible, "Only a hello is repeated by time."),
    when(e::patience_over, in(leaving), a::report_closed, lost, "The rest has come, or never will."),
    when(e::patience_over, unreported, a::release, free, "No hello came, or the last words had time to get out."),
    when(e::patience_over, others, a::impossible, "No timer runs in this state."),
    when(e::peer_dies, known, a::report_lost, lost, "Nothing more will come."),
    when(e::peer_dies, in(leaving), a::report_lost, lost, "Its last messages will not come."),
    when(e::peer_dies, unreported, a::release, free, "The owner knows nothing of this peer, or closed it."),
    when(e::peer_dies, others, a::none, "Its end is reported already."),
};

using table = std::array<std::array<transition, peer_events>, peer_states>;
inline constexpr std::string_view claimed_twice = "two rules";

consteval table build() {
  table all{};
  for (const rule& r : rules)
    for (std::size_t s = 0; s < peer_states; ++s) {
      transition& cell = all[s][static_cast<std::size_t>(r.on)];
      if (r.states == others ? !cell.why.empty() : (r.states >> s & 1U) == 0) continue;
      const auto next = static_cast<peer_state>(r.next == same ? s : r.next);
      cell = {{r.does, next}, cell.why.empty() ? r.why : claimed_twice};
    }
  return all;
}
inline constexpr table cells = build();

consteval auto without_reasons() {
  std::array<std::array<step, peer_events>, peer_states> all{};
  for (std::size_t s = 0; s < peer_states; ++s)
    for (std::size_t n = 0; n < peer_events; ++n) all[s][n] = cells[s][n];
  return all;
}
inline constexpr auto steps = without_reasons();

consteval bool is_complete() {
  for (const auto& events : cells)
    for (const transition& t : events)
      if (t.why.empty() || t.why == claimed_twice) return false;
  return true;
}
static_assert(is_complete(), "weft: a pair of state and event has no rule, or two [WEFT-C039]");

}  // namespace connection_table

constexpr const transition& transition_of(peer_state s, peer_event e) noexcept {
  return connection_table::cells[static_cast<std::size_t>(s)][static_cast<std::size_t>(e)];
}

/// The same without the reason, for the transport itself.
constexpr step step_of(peer_state s, peer_event e) noexcept {
  return connection_table::steps[static_cast<std::size_t>(s)][static_cast<std::size_t>(e)];
}

/// The event of a message that is no handshake. Hello, accept and reject are checked first (connection_manager.hpp).
constexpr peer_event event_of(wire::message_kind kind) noexcept {
  using enum wire::message_kind;
  if (kind == user || kind == notify || kind == fused || kind == group || kind == region)
    return peer_event::data_message;
  return kind == goodbye ? peer_event::goodbye : peer_event::control_message;
}

/// Takes one step: counts, and assigns the next state. Returns what the caller has to do; never deliver_overtaken.
template <class Engine>
peer_action advance(Engine& e, typename Engine::record& r, peer_event what) noexcept {
  const step t = step_of(r.state, what);
  peer_action does = t.does;
  if (does == peer_action::deliver_overtaken)
    does = Engine::goodbye_overtakes || e.retrying ? peer_action::deliver : peer_action::count_stale;
  if (does == peer_action::count_stale) ++e.stale;
  if (does == peer_action::impossible || does == peer_action::count_garbled || does == peer_action::drop) ++e.garbled;
  if (t.next == r.state) return does;
  e.half_open += std::uint32_t{is_half_open(t.next)};
  e.half_open -= std::uint32_t{is_half_open(r.state)};
  r.state = t.next;
  r.since = e.tick;
  r.set_live(t.next == peer_state::established);
  if (t.next != peer_state::established && t.next != peer_state::free) e.peers.is_unfinished(r);
  return does;
}

}  // namespace weft::detail
