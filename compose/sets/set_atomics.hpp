// SPDX-License-Identifier: Apache-2.0
//
// The atomics of a set: those of the fabric that reaches the peer. All of them are executed by the target. Hot path:
// all of it. Threads: the owner's.
#pragma once

#include "../posting/atomic_calls.hpp"
#include "members.hpp"

#include <type_traits>

namespace weft::detail {

/// Stands where atomic_calls expects the posts of one engine.
template <class Set>
class set_atomic_posts {
 public:
  explicit set_atomic_posts(Set& all) noexcept : all_(all) {}

  template <atomicity Who, atomic_operation What, atomic_number T>
  [[gnu::always_inline]] status post(peer to, const remote_place& at, operation reported, T operand, T expected,
                                     void* context) noexcept {
    if (!to.alive()) [[unlikely]]
      return all_.dead(to, name_of(reported));
    return all_.to_living(
        to, [&](auto& net, auto) __attribute__((always_inline)) {
          auto& e = transport_parts::engine_of(net);
          using engine_type = std::remove_reference_t<decltype(e)>;
          if (const status s = e.coalescer.before(to); !s) return s;
          return atomic_posts<engine_type>(e).template post<Who, What, T>(to, at, reported, operand, expected, context);
        });
  }

 private:
  Set& all_;
};

}  // namespace weft::detail
