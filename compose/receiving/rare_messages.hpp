// SPDX-License-Identifier: Apache-2.0
//
// Messages and notices that cannot be handled where they arrive, and descriptions of regions. Compiled once for each
// fabric: receive_path.hpp and control_path.hpp, which know the user's handler, call it through rare_calls. Hot path:
// no. Threads: the owner's.
#pragma once

#include "../../core/if_memory.hpp"
#include "../connecting/transitions.hpp"
#include "../engine/rare_calls.hpp"
#include "../engine/receives.hpp"

#include <utility>

namespace weft::detail {

template <class Engine>
class rare_messages {
 public:
  using record = typename Engine::record;
  using receive = typename Engine::receive;

  /// What becomes of a message whose connection is not established.
  static message_fate fate_of(Engine& e, record& r, wire::message_kind kind) noexcept {
    switch (advance(e, r, event_of(kind))) {
      case peer_action::deliver:
        return message_fate::deliver;
      case peer_action::keep:
        return message_fate::keep;
      default:
        return message_fate::drop;
    }
  }

  /// A notice of no established connection. It waits if it overtook the accept (engine/early_notices.hpp). `named`: the
  /// connection's number in the upper half, the immediate in the lower.
  static void early_notice(Engine& e, std::uint64_t named) {
    const auto connection = static_cast<std::uint32_t>(named >> 32);
    const auto waiting = [&e](std::uint32_t number) -> record* {
      record* const of = e.peers.find({number});
      return of != nullptr && of->state == peer_state::greeting ? of : nullptr;
    };
    record* const of = waiting(connection);
    bool kept = false;
    if (of != nullptr)
      (void)if_memory(
          [&] { kept = e.overtaking_notices.keep(connection, static_cast<std::uint32_t>(named), waiting); });
    if (kept) return;
    ++e.stale;
    if (of != nullptr) of->notices_lost = true;
  }

  /// The message waits, and its receive is posted again later.
  static void keep_unexpected(Engine& e, unexpected_message<receive> message, bool last) {
    message.left = std::exchange(e.left_in_group, 0);
    e.unexpected_messages.push_back(message);  // at most one per slot: capacity reserved at open
    e.note_unexpected();
    e.put_off();
    if (!Engine::many_in_one) return;
    ++message.in->held;
    message.in->released |= last;
    receives<Engine>(e).post_if_spent(*message.in);
  }

  /// Keeps a region's description in the peer's record, for receive_region(). False: no memory; the message stays.
  static bool keep_region(Engine& e, record& r, const_bytes body, erased_handler on) {
    constexpr std::size_t most = 64;
    region_bytes description;
    if (body.size() != description.size()) return ++e.garbled, true;
    peer_words* const words = r.made_words();
    if (words == nullptr) return false;
    if (words->regions.size() == most) {
      words->reason = "the peer sent more than 64 regions that receive_region() has not taken";
      rare_calls<Engine>::gone(e, r, error(errc::broken, "receive region"), on);
      return true;
    }
    std::copy(body.begin(), body.end(), description.begin());
    return if_memory([&] { words->regions.push_back(description); });
  }
};

}  // namespace weft::detail
