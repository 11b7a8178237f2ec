// SPDX-License-Identifier: Apache-2.0
//
// The place of a set where tagged messages are matched, and the empty part that stands there by default. Only a program
// that asks each fabric of a set for tagged::matched_over_messages includes the real part (compose/sets/tagged.hpp).
// Fabric fact: none. Hot path: nothing remains of it. Threads: the owner's.
#pragma once

#include "../transport.hpp"

namespace weft::detail {

struct set_without_tags {
  template <class... Any>
  static status refuse() noexcept {
    static_assert(sizeof...(Any) > 1000,
                  "weft: a fabric of this set answers none to tagged: ask each for it, as in "
                  "weft::with_each<weft::selected, weft::answers::tagged::matched_over_messages<>>, "
                  "and #include <weft/compose/sets/tagged.hpp> [WEFT-C016]");
    return {};
  }
};

template <bool Matches>
consteval bool set_tags_have_their_header() {  // apart from the types, so that the compiler says nothing else
  static_assert(!Matches,
                "weft: tagged messages of a set have a header of their own: #include <weft/compose/sets/tagged.hpp> "
                "[WEFT-C015]");
  return true;
}

/// What a set has for tagged messages. compose/sets/tagged.hpp adds sets whose fabrics all match tags.
template <bool Matches>
struct tagged_of_set {
  static_assert(set_tags_have_their_header<Matches>());
  /// What the matchers of all members share.
  struct shared {
    static constexpr void join(auto& /*engine*/) noexcept {}
  };
  template <class Transport, class... F>
  using calls = refused_tagged_calls<set_without_tags>;
};

/// Of the set of these fabrics.
template <class... F>
using tagged_of_fabrics = tagged_of_set<(answer<F, tagged_family>::matches && ...)>;

}  // namespace weft::detail
