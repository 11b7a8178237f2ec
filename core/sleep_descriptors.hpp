// SPDX-License-Identifier: Apache-2.0
//
// The descriptors on which one thread sleeps for several ports at once. Each port adds those of its own when it is
// armed. Hot path: no. Threads: values.
#pragma once

#include <poll.h>

#include <array>
#include <cstddef>

namespace weft {

struct sleep_descriptors {
  static constexpr std::size_t most = 32;  ///< Eight fabrics with four descriptors each.
  std::array<pollfd, most> each{};
  std::size_t count = 0;

  /// Requires: count is below `most`.
  void add(int descriptor) noexcept { each[count++] = {descriptor, POLLIN, 0}; }
};

}  // namespace weft
