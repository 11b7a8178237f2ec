// SPDX-License-Identifier: Apache-2.0
//
// Other answers for every fabric of a set: `with_each<weft::selected, answers::checks::trusted>` is the set of
// with<F, answers::checks::trusted> for each of its fabrics F. Choose it for a set that CMake wrote
// (weft_add_fabric_set). One fabric is with<F, ...> (compose/with.hpp). Hot path: compile time only. Threads: none.
#pragma once

#include "../with.hpp"
#include "fabric_set.hpp"

namespace weft {
namespace detail {
template <class F, policy... Asked>
struct with_each_of {
  using type = with<F, Asked...>;
};
template <complete_fabric... F, policy... Asked>
struct with_each_of<fabric_set<F...>, Asked...> {
  using type = fabric_set<with<F, Asked...>...>;
};
}  // namespace detail

/// The set with these answers on each fabric. An answer that a fabric's facts forbid does not compile: the sentence
/// says why.
template <complete_fabric Set, policy... Asked>
using with_each = typename detail::with_each_of<Set, Asked...>::type;

}  // namespace weft
