// SPDX-License-Identifier: Apache-2.0
//
// Up to which size are the bytes of an unsignalled message, of a put_notify whose notice rides on its write, or of a
// put whose refusal would be silent in any case (refused_write), copied at the call (fi_inject(3) in fi_msg and
// fi_rma), so that their source is free at once? Forced by what the row says in inject_bytes; larger ones are read
// later, by the library or the card. On tcp_rxm a put that is not copied makes an entry inside of the library, which
// costs two system calls. Answers: as_the_row_permits - whatever fits is copied. up_to<bytes> - less than the row
// permits: where a bench says that the library's copy of larger ones costs more than it saves. never - nothing is
// copied: the source of every post stays untouched until the peer's answer implies that it was read; on any fabric.
// Programs can tell them apart: a source that is free at once under one is not under another; transport::inject_bytes
// and put_inject_bytes say which are. Absent: more than inject_bytes. Whether an operation is signalled is the caller's
// to say, post by post, and family completion's. Hot path: compile time only.
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
                "weft: inject::up_to<bytes>: between 1 and 65536; inject::never copies nothing");
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
