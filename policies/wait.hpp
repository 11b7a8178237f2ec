// SPDX-License-Identifier: Apache-2.0
//
// How may a thread sleep until something happens? Forced by fi_cq(3), wait_obj: shm and gni queues have no file
// descriptor.
// Under every answer the order is arm, poll once more, sleep. So no wake-up is lost.
// Answers:
// - descriptor: poll(2) on the queue's descriptor.
// - yield: yield the processor, then sleep in short steps.
// - spin: spin only.
// Hot path: no; a transport opened without `sleeps` has no wait object and pays nothing.
#pragma once

#include "../core/policy.hpp"

namespace weft {
struct wait_family;
template <class P>
concept wait_policy = answers_family<P, wait_family> && requires {
  { P::has_descriptor } -> std::convertible_to<bool>;
  { P::may_sleep } -> std::convertible_to<bool>;
};

namespace answers::wait {
struct descriptor {
  using family = wait_family;
  static constexpr bool has_descriptor = true;
  static constexpr bool may_sleep = true;
};
static_assert(wait_policy<descriptor>);

struct yield {
  using family = wait_family;
  static constexpr bool has_descriptor = false;
  static constexpr bool may_sleep = true;
};
static_assert(wait_policy<yield>);

struct spin {
  using family = wait_family;
  static constexpr bool has_descriptor = false;
  static constexpr bool may_sleep = false;
};
static_assert(wait_policy<spin>);
}  // namespace answers::wait
}  // namespace weft
