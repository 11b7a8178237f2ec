// SPDX-License-Identifier: Apache-2.0
//
// Where is an arriving message stored? Forced by fi_msg(3), FI_MULTI_RECV: some libraries fill one large buffer with
// many messages and report when it is spent. Others take one message per posted receive.
// Answers:
// - slots: each message has its own receive, so their number bounds the messages that wait. On any fabric.
// - multi_receive: few large buffers hold many messages. Small messages waste no slots (256 bytes use 6 % of a slot of
//   4096), and one post serves hundreds. A buffer is posted again when the library has released it and the handler took
//   all its messages.
// Absent: one buffer that wraps around. The library decides where it stores messages.
// Hot path: compile time only.
#pragma once

#include "../core/policy.hpp"

#include <concepts>

namespace weft {
struct receive_buffers_family;
template <class P>
concept receive_buffers_policy = answers_family<P, receive_buffers_family> && requires {
  { P::many_in_one } -> std::convertible_to<bool>;
};

namespace answers::receive_buffers {
struct slots {
  using family = receive_buffers_family;
  static constexpr bool many_in_one = false;
};
static_assert(receive_buffers_policy<slots>);

struct multi_receive {
  using family = receive_buffers_family;
  static constexpr bool many_in_one = true;
};
static_assert(receive_buffers_policy<multi_receive>);
}  // namespace answers::receive_buffers
}  // namespace weft
