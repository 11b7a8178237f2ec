// SPDX-License-Identifier: Apache-2.0
//
// Messages that arrive. The usual path comes first and in one piece: arrived(), take_at_once(), the user's handler.
// Other messages take the slow path below, and control messages go to control_path.hpp. The entry's kind says what
// arrived, because notices have no context on most fabrics (fi_cq(3)). A message that cannot be handled yet keeps its
// receive in unexpected_messages, and the next poll offers it again. Hot path: all of it. Threads: the owner's.
#pragma once

#include "../engine/receives.hpp"
#include "../events.hpp"
#include "control_path.hpp"
#include "ring_watch.hpp"

#include <utility>

namespace weft::detail {

template <class Engine, class Handler>
class receive_path {
 public:
  using record = typename Engine::record;
  using receive = typename Engine::receive;

  receive_path(Engine& e, Handler on) noexcept : e_(e), on_(on) {}

  [[gnu::always_inline]] void arrived(const completion_entry& c) {
    if (!c.outcome) [[unlikely]]
      return arrived_badly(c);
    receive& r = *static_cast<receive*>(c.context);
    const auto tag = static_cast<typename Engine::tag_word>(c.immediate);
    if constexpr (tag_names_peer && Engine::links_have_receives) {
      record& from = *static_cast<record*>(r.from);
      if (from.live_number() == tag && tag < e_.heard_at_once) [[likely]]
        return take_at_once(from, r, c);
    } else if constexpr (tag_names_peer && Engine::proves_sender) {
      if (record* const from = e_.peers.living_proven({tag}, e_.heard_at_once); from != nullptr) [[likely]]
        return take_at_once(*from, r, c);
    } else if constexpr (tag_names_peer && !Engine::notices_name_links) {
      if (record* const from = e_.peers.living({tag}, e_.heard_at_once); from != nullptr) [[likely]]
        return take_at_once(*from, r, c);
    }
    take_message(e_, on_, r, c.length, tag, c.at, c.last);
  }
  /// The same where the port names the link's record. Only the tag is compared, and no table is read.
  [[gnu::always_inline]] void arrived(const completion_entry& c, record& from) {
    if (!c.outcome) [[unlikely]]
      return arrived_badly(c);
    receive& r = *static_cast<receive*>(c.context);
    const auto tag = static_cast<std::uint32_t>(c.immediate);
    if (tag_names_peer && tag < e_.heard_at_once && from.live_number() == tag) [[likely]]
      return take_at_once(from, r, c);
    take_message(e_, on_, r, c.length, tag, c.at, c.last);
  }
  /// A message of a user, from an established peer, with no earlier message waiting.
  [[gnu::always_inline]] void take_at_once(record& from, receive& r, const completion_entry& c) {
    e_.hear(from);
    std::byte* const start = Engine::many_in_one ? c.at : r.data;
    if (!offer(on_, received{e_.handle(from), const_bytes(start, c.length)})) [[unlikely]]
      return rare_calls<Engine>::keep_unexpected(
          e_, {&r, start, static_cast<std::uint32_t>(c.length), static_cast<typename Engine::tag_word>(c.immediate)},
          c.last);
    if constexpr (Engine::many_in_one || Engine::chains_receives) give_back(r, c.last);
    else receives<Engine>(e_).post_at_once(from, r, c);
  }

  /// The message is handled, and its receive is posted again. A buffer of many messages is posted again only when it is
  /// spent, and no other message in it waits.
  void give_back(receive& r, bool last) noexcept {
    if (!Engine::many_in_one) return receives<Engine>(e_).post(r);
    r.released |= last;
    receives<Engine>(e_).post_if_spent(r);
  }

  // ---- rare variants
  /// A write with an immediate that consumed a receive, or whose immediate has no room for a connection number.
  void notice_in_receive(const completion_entry& c) {
    auto* consumed = static_cast<receive*>(c.context);
    record* r = nullptr;
    if (Engine::wide_immediate) r = e_.peers.find({static_cast<std::uint32_t>(c.immediate >> 32)});
    else if (Engine::links_have_receives && consumed != nullptr) r = receives<Engine>(e_).peer_of(*consumed);
    const bool known = Engine::wide_immediate || (Engine::links_have_receives && consumed != nullptr);
    if (consumed != nullptr) receives<Engine>(e_).post(*consumed);
    if (known && (r == nullptr || !r->is_live()))
      return rare_calls<Engine>::early_notice(e_, named(r == nullptr ? peer_header::dead : r->number, c.immediate));
    on_(notified{r == nullptr ? peer() : e_.handle(*r), static_cast<std::uint32_t>(c.immediate)});
  }

  static constexpr std::uint64_t named(std::uint32_t connection, std::uint64_t immediate) noexcept {
    return std::uint64_t{connection} << 32 | static_cast<std::uint32_t>(immediate);
  }

  /// Offers the messages that wait, in their order.
  void retry_unexpected() {
    e_.retrying = true;
    std::size_t kept = 0;
    const std::size_t count = e_.unexpected_messages.size();
    for (std::size_t i = 0; i < count; ++i) {
      const unexpected_message<receive> message = e_.unexpected_messages[i];
      receive& r = *message.in;
      if (receives<Engine>(e_).is_retired(r)) continue;  // its peer is gone
      e_.left_in_group = message.left;
      if (!handle(r, {message.tag}, const_bytes(message.data, message.length).subspan(Engine::front))) {
        e_.unexpected_messages[kept] = message;
        e_.unexpected_messages[kept++].left = std::exchange(e_.left_in_group, 0);
        continue;
      }
      e_.left_in_group = 0;
      if (Engine::many_in_one) --r.held;
      give_back(r, false);
    }
    e_.unexpected_messages.resize(kept);
    e_.note_unexpected();
    e_.retrying = false;
  }

 private:
  /// The tag of a user's message is the number of its connection, because the kind of such messages is 0. The tag of
  /// another kind is the number of no connection.
  static constexpr bool tag_names_peer = !Engine::goodbye_overtakes && !Engine::framed && !Engine::watches_cells;

  [[gnu::cold, gnu::noinline]] void arrived_badly(const completion_entry& c) {
    if (c.outcome.code == errc::truncated) {
      ++e_.garbled;
      e_.overrun.note(c.length, e_.options.max_message_bytes + Engine::front);
    }
    if (c.outcome.code != errc::closed || !Engine::links_have_receives)
      give_back(*static_cast<receive*>(c.context), c.last);
  }

  /// The slow path. All arguments travel in registers. `at`, `last`: for a buffer of many messages.
  [[gnu::noinline]] static void take_message(Engine& e, Handler on, receive& r, std::size_t length,
                                             typename Engine::tag_word tag, std::byte* at, bool last) {
    receive_path(e, on).take(r, length, {tag}, at, last);
  }
  void take(receive& r, std::size_t length, wire::message_tag tag, std::byte* at, bool last) {
    std::byte* const start = Engine::many_in_one ? at : r.data;
    const_bytes whole{start, length};
    if (Engine::framed) {
      wire::reader head(whole.first(std::min(whole.size(), wire::header_bytes)));
      tag.word = head.number<typename Engine::tag_word>();
      if (whole.size() < wire::header_bytes) {
        ++e_.garbled;
        return give_back(r, last);
      }
      whole = whole.subspan(wire::header_bytes);
    }
    if (!handle(r, tag, whole))
      return rare_calls<Engine>::keep_unexpected(e_, {&r, start, static_cast<std::uint32_t>(length), tag.word}, last);
    give_back(r, last);
  }
  /// False: the message must wait.
  bool handle(receive& slot_of, wire::message_tag tag, const_bytes body) {
    record* r = named_by(tag);
    if (r != nullptr && r->is_live())
      (void)ring_watch_of<Engine, Handler>(e_, on_).drain(*r);  // cells posted before this message
    if (tag.kind() != wire::message_kind::user) [[unlikely]]
      return control_path<Engine, Handler>(e_, on_).take(slot_of, r, tag, body);
    if (r != nullptr && is_heard(*r) && owns(e_, *r, slot_of)) [[likely]] {
      e_.hear(*r);
      if (!e_.unexpected_messages.empty() && !e_.retrying) [[unlikely]]
        return false;  // earlier messages wait
      return counted_if_taken<Engine>(*r, [&] { return offer(on_, received{e_.handle(*r), body}); });
    }
    if (r != nullptr && owns(e_, *r, slot_of))
      return rare_calls<Engine>::fate_of(e_, *r, wire::message_kind::user) != message_fate::keep;
    ++e_.stale;
    return true;
  }
  /// The record that a tag names, or null. A wrong proof names no record. A hello has no proof: its sender learns the
  /// proof from the answer.
  record* named_by(wire::message_tag tag) const noexcept {
    if constexpr (Engine::proves_sender)
      if (tag.kind() != wire::message_kind::hello) return e_.peers.find_proven(tag.connection());
    return e_.peers.find(tag.connection().number());
  }
  /// The peer is established, or its goodbye overtook this message, or came while this message waited here.
  bool is_heard(const record& r) const noexcept {
    return r.is_live() || ((Engine::goodbye_overtakes || e_.retrying) && r.state == peer_state::leaving);
  }

  Engine& e_;
  Handler on_;
};

}  // namespace weft::detail
