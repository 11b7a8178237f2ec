// SPDX-License-Identifier: Apache-2.0
//
// What a binary says about a set of fabrics, for `weft inspect`: the fabrics in the order in which they are chosen,
// each with its tier and its measured half round trip. Each fabric also has its own text (compose/built_for.hpp). Hot
// path: no. Threads: immutable.
#pragma once

#include "../../core/constant_text.hpp"
#include "choice.hpp"

namespace weft::detail {

template <class... F>
constexpr constant_text<1024> text_of_set() {
  constexpr std::array<fabric_profile, sizeof...(F)> all{profile_of<F>...};
  constexpr std::array<std::string_view, 3> tiers{"same_host", "hardware", "software"};
  constant_text<1024> text;
  text.add("weft-set 1\nfabrics=");
  std::string_view between;
  for (const std::size_t i : best_first<F...>()) {
    text.add(between).add(all[i].name).add(" ").add(tiers[static_cast<std::size_t>(all[i].tier())]).add(" ");
    text.add(std::uint64_t{all[i].half_round_trip_ns});
    between = ";";
  }
  return text.add("\n");
}
template <class... F>
inline constexpr constant_text<1024> built_for_set = text_of_set<F...>();
/// Volatile, so that optimiser and linker keep the text.
template <class... F>
inline constexpr const volatile void* const volatile carried_set = &built_for_set<F...>;

/// Keeps the text in the program although nothing uses it.
template <class... F>
inline void carry_built_for_set() noexcept {
  [[maybe_unused]] const volatile void* const read = carried_set<F...>;
}

}  // namespace weft::detail
