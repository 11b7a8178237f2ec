// SPDX-License-Identifier: Apache-2.0
//
// The settings of every two-process bench, and their meaning for the fabric: where each side runs and how it waits. Hot
// path: no.
#pragma once

#include "../core/facts.hpp"
#include "pingpong.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace weft::bench {

struct run_settings {
  std::size_t size = 64;
  std::size_t count = 10000;
  std::size_t turns = 20;
  unsigned limit = 300;
  std::uint32_t yield_after = 16;
  bool spin_only = false;
  bool pinned = true;
  std::string json;
  std::string csv;
  patience waiting;

  round_plan plan(std::size_t rounds) const noexcept { return {size, rounds, waiting}; }
};

/// Where a side runs and how it waits. The two sides are pinned to processors 1 and 0, and yield. Where the library's
/// own threads move the data, both would be unfair: the threads would inherit the processor, and a yielding caller
/// starves them. There no side is pinned, and an idle side sleeps for the kernel's shortest time. Both contenders
/// always get the same.
template <class F>
void settle(bool first, run_settings& o) {
  constexpr bool thread_moves_data = F::facts.data_progress == data_progress::thread;
  o.waiting = {o.spin_only ? fruitless::never : thread_moves_data ? fruitless::nap : fruitless::yield, o.yield_after};
  if (o.pinned && !thread_moves_data) pin_to(first ? 1 : 0);
}

}  // namespace weft::bench
