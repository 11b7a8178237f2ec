// SPDX-License-Identifier: Apache-2.0
//
// The set of fabrics that libweft.so holds. Each fabric matches tags. Peers of other programs meet it all the same: a
// side says in its hello whether it matches tags (wire/tagged.hpp). It counts for `weft top` when the program or the
// environment asks (WEFT_COUNTS). Hot path: compile time only. Threads: none.
#pragma once

#include "../compose/counting/counted.hpp"
#include "../compose/selected.hpp"
#include "../compose/sets/tagged.hpp"

#include <array>

namespace weft::abi {

using library_set = counted<with_each<selected, answers::tagged::matched_over_messages<>>, counting::on_request>;

/// Whether the end of a connection ends all reads of its sources, for each fabric of a set. A peer on the same host
/// reads memory by itself, and a provider without connections may go on.
template <class Set>
inline constexpr std::array<bool, 0> end_ends_reads{};
template <complete_fabric... F>
inline constexpr std::array<bool, sizeof...(F)> end_ends_reads<fabric_set<F...>>{
    (F::facts.endpoint_type == endpoint_type::connected && !F::facts.same_host)...};
template <complete_fabric Set, counting When>
inline constexpr auto end_ends_reads<counted<Set, When>> = end_ends_reads<Set>;

}  // namespace weft::abi
