// SPDX-License-Identifier: Apache-2.0
//
// Compile errors with a sentence, for arguments that posts do not take: memory that is no slice of a region, and
// immediates of more than 32 bits. Without these overloads the compiler lists candidates, or narrows the number in
// silence. Hot path: no code. Threads: none.
#pragma once

#include "../../core/memory.hpp"
#include "../region.hpp"
#include "gather.hpp"

#include <concepts>
#include <cstdint>
#include <type_traits>

namespace weft::detail {

template <class>
inline constexpr bool never = false;

/// Neither a slice nor a list of slices.
template <class Source>
concept wrong_source =
    !std::convertible_to<const Source&, local_memory> && !std::convertible_to<const Source&, gather_list>;
/// No slice. Members of batches and groups are single slices.
template <class Source>
concept wrong_member = !std::convertible_to<const Source&, local_memory>;
/// A number that an immediate of 32 bits may not hold.
template <class Number>
concept wide_immediate =
    std::is_arithmetic_v<Number> && !(std::integral<Number> && sizeof(Number) <= sizeof(std::uint32_t));

template <class Source>
status refuse_source() noexcept {
  static_assert(
      never<Source>,
      "weft: a transfer takes a slice of a region: region.slice(offset, size) or region.first(size); of any "
      "other memory net.memory(span), where the fabric permits it; of several pieces an array of these [WEFT-C008]");
  return {};
}
template <class Source>
status refuse_member() noexcept {
  static_assert(
      never<Source>,
      "weft: a member of a batch or a group is one slice of a region: region.slice(offset, size) or "
      "region.first(size); of any other memory net.memory(span), where the fabric permits it; post several pieces "
      "without a batch [WEFT-C009]");
  return {};
}
template <class Number>
status refuse_immediate() noexcept {
  static_assert(never<Number>,
                "weft: an immediate has 32 bits on every fabric: cast the number to std::uint32_t, or pack several "
                "fields with weft::immediate_layout or weft::spilled_layout [WEFT-C010]");
  return {};
}

/// Base of what posts. `Self` derives from it, and makes a base of its own for each layer of a transport.
template <class Self>
class refused_posts {
 public:
  template <wrong_source Source, class... Rest>
  status send(peer, const Source&, Rest&&...) noexcept {
    return refuse_source<Source>();
  }
  template <wrong_source Source, class... Rest>
  status put(peer, const Source&, Rest&&...) noexcept {
    return refuse_source<Source>();
  }
  template <wrong_source Source, class... Rest>
  status put_notify(peer, const Source&, Rest&&...) noexcept {
    return refuse_source<Source>();
  }
  template <wrong_source Source, class... Rest>
  status get(peer, const Source&, Rest&&...) noexcept {
    return refuse_source<Source>();
  }
  template <class Source, wide_immediate Number, class... Rest>
  requires(!wrong_source<Source>) status put_notify(peer, const Source&, const remote_place&, Number, Rest&&...)
  noexcept { return refuse_immediate<Number>(); }
};

/// Base of batches and groups.
class refused_members {
 public:
  template <wrong_member Source>
  status send(const Source&) noexcept {
    return refuse_member<Source>();
  }
  template <wrong_member Source>
  status put(const Source&, const remote_place&) noexcept {
    return refuse_member<Source>();
  }
  template <wrong_member Source, class Number>
  status put_notify(const Source&, const remote_place&, Number&&) noexcept {
    return refuse_member<Source>();
  }
  template <class Source, wide_immediate Number>
  requires(!wrong_member<Source>) status put_notify(const Source&, const remote_place&, Number)
  noexcept { return refuse_immediate<Number>(); }
};

}  // namespace weft::detail
