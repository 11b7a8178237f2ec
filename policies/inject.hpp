// SPDX-License-Identifier: Apache-2.0
//
// Up to which size does a post copy its bytes at the call, so that the source is free at once (fi_inject(3))?
// It concerns unsignalled messages, put_notify whose notice rides on its write, and puts whose refusal would be silent
// anyway (refused_write).
// Forced by the row's inject_bytes: the library or the card reads larger sources later. On tcp_rxm a put without the
// copy makes an entry inside the library, which costs two system calls.
// Answers:
// - as_the_row_permits: every size that fits is copied.
// - up_to<bytes>: less than the row permits. Choose it where a benchmark shows that copying larger ones costs more than
//   it saves.
// - never: nothing is copied, on any fabric. Keep the source of every post unchanged until a reply of the peer implies
//   that it was read.
// Programs can see the difference: ask transport::inject_bytes and put_inject_bytes. Absent: more than inject_bytes.
// Signalling is separate: the caller decides per post, and family completion.
// Hot path: compile time only.
#pragma once

#include "../core/policy.hpp"

#include <concepts>
#include <cstdint>
#include <limits>

namespace weft {
struct inject_family;
template <class P>
concept inject_policy = answers_family<P, inject_family> && requires {
  { P::bytes } -> std::convertible_to<std::uint32_t>;
};

namespace answers::inject {
struct as_the_row_permits {
  using family = inject_family;
  static constexpr std::uint32_t bytes = std::numeric_limits<std::uint32_t>::max();
};
static_assert(inject_policy<as_the_row_permits>);

/// At most so many bytes, and no more than the row's inject_bytes.
template <std::uint32_t Bytes = 16>
struct up_to {
  static_assert(Bytes >= 1 && Bytes <= 65536,
                "weft: inject::up_to<bytes>: between 1 and 65536; inject::never copies nothing [WEFT-C030]");
  using family = inject_family;
  static constexpr std::uint32_t bytes = Bytes;
};
static_assert(inject_policy<up_to<16>>);

struct never {
  using family = inject_family;
  static constexpr std::uint32_t bytes = 0;
};
static_assert(inject_policy<never>);
}  // namespace answers::inject
}  // namespace weft
