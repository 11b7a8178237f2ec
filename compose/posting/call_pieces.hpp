// SPDX-License-Identifier: Apache-2.0
//
// The pieces of one call, as a port takes them: in its library's types where it has them (core/port.hpp, piece_vector),
// else as the caller gave them. One pass over the caller's list fills either. Hot path: gather lists only. Threads:
// values.
#pragma once

#include "../../core/memory.hpp"

#include <cstddef>

namespace weft::detail {

/// The caller's list without a copy, for ports without piece_vector (core/port.hpp).
class pieces_as_given {
 public:
  /// False: more than `Most` pieces, one without bytes, none at all, or more bytes than a number counts.
  template <std::size_t Most>
  [[gnu::always_inline]] bool take(gather_list from) noexcept {
    if (from.size() > Most) [[unlikely]]
      return false;
    std::size_t sum = 0;
    for (const local_memory& each : from) {
      if (sum + each.size <= sum) [[unlikely]]  // nothing was added, or too much
        return false;
      sum += each.size;
    }
    given_ = from;
    bytes = sum;
    return sum != 0;
  }
  operator gather_list() const noexcept { return given_; }  // NOLINT(google-explicit-constructor): it is that list

  std::size_t bytes = 0;

 private:
  gather_list given_;
};

template <class Port>
struct pieces_of {
  using type = pieces_as_given;
};
template <class Port>
requires requires { typename Port::piece_vector; }
struct pieces_of<Port> {
  using type = typename Port::piece_vector;
};

}  // namespace weft::detail
