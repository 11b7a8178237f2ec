// SPDX-License-Identifier: Apache-2.0
//
// The place of an engine where posts may wait for others (policies/coalesce.hpp), and the empty part that stands there
// by default. The core calls its members in every case, and here they do nothing. Only a program that asks for
// coalesce::up_to includes the real part (posting/coalescer.hpp). Fabric fact: none; each side decides alone. Hot path:
// nothing remains of it. Threads: the owner's.
#pragma once

#include "../../core/error.hpp"
#include "../events.hpp"

namespace weft::detail {

template <class Engine>
class initiator;

/// What the record of a peer holds for coalesced posts: nothing.
struct not_coalesced {};

/// The part of a transport that sends each post at its call.
struct no_coalescer {
  static constexpr bool posts_at_once = true;  ///< No post waits for another.
  explicit no_coalescer(auto& /*engine*/) noexcept {}

  // ---- memory of groups
  /// Reserves memory when the transport opens.
  static constexpr void open() noexcept {}
  /// The buffers of groups, also of those that a program opens by hand: the control buffers.
  [[gnu::always_inline]] static constexpr auto& buffers(auto& controls) noexcept { return controls; }
  /// Takes the buffer of a slot back. False: it is a control buffer.
  [[gnu::always_inline]] static constexpr bool takes_back(const auto& /*slot*/) noexcept { return false; }
  /// Replaces a buffer that the library keeps.
  static constexpr void refill() noexcept {}

  // ---- posts
  /// Call before each post to a peer that must stay behind earlier ones. `again`: this post must wait.
  [[gnu::always_inline]] static constexpr status before(const auto& /*record_or_peer*/) noexcept { return {}; }
  /// After a poll: sends the groups that are due. `found`: the poll found entries.
  [[gnu::always_inline]] static constexpr void post_due(bool /*found*/) noexcept {}
  /// Before a sleep: sends all groups. False: the queue is full.
  [[gnu::always_inline]] static constexpr bool post_all() noexcept { return true; }
  /// Whether posts may wait.
  [[gnu::always_inline]] static constexpr bool any_waits() noexcept { return false; }

  // ---- ends
  /// A group was opened.
  [[gnu::always_inline]] static constexpr void opened(auto& /*record*/, const auto& /*group*/) noexcept {}
  /// A group's slot ends early.
  [[gnu::always_inline]] static constexpr void slot_ends(auto& /*record*/, const auto& /*slot*/) noexcept {}
  /// A peer is gone, and with it the slots of its groups.
  [[gnu::always_inline]] static constexpr void peer_ends(auto& /*record*/) noexcept {}
};

template <class Answer>
consteval bool has_its_header() {  // apart from the types, so that the compiler says nothing else
  static_assert(!Answer::gathers,
                "weft: coalesce::up_to<messages, bytes> has a header of its own: "
                "#include <weft/compose/coalescing.hpp> [WEFT-C015]");
  return true;
}

/// The types that an answer to `coalesce` brings. posting/coalescer.hpp adds those of coalesce::up_to.
template <class Answer>
struct coalescing_of {
  static_assert(has_its_header<Answer>());
  using peer_part = not_coalesced;
  template <class Traits>
  using type = no_coalescer;
  template <class Engine>
  using initiator_type = initiator<Engine>;
};

}  // namespace weft::detail
