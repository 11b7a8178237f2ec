// SPDX-License-Identifier: Apache-2.0
//
// What tests of sets share: the fabrics of a set, transports that may use some of them, and callers on any fabric. Hot
// path: no. Threads: one per side.
#pragma once

#include "../../../compose/sets/fabric_set.hpp"
#include "../two_sides.hpp"

#include <string>
#include <vector>

namespace weft::conformance {

/// The same fabric, generated from other rules.
template <class F>
struct made_by_other_rules : F {
  static constexpr std::uint64_t fingerprint = F::fingerprint ^ 1;
};

template <class>
struct fabrics_of;
template <class First, class Second, class... Rest>
struct fabrics_of<fabric_set<First, Second, Rest...>> {
  using first = First;
  using last = std::tuple_element_t<sizeof...(Rest), std::tuple<Second, Rest...>>;
  /// The same names, and another fingerprint of the first.
  using foreign = fabric_set<made_by_other_rules<First>, Second, Rest...>;
};

template <class>
inline constexpr std::size_t sizeof_set = 0;
template <class... F>
inline constexpr std::size_t sizeof_set<fabric_set<F...>> = sizeof...(F);

inline transport_options only(std::string_view fabrics, transport_options o = {}) {
  o.fabrics = fabrics;
  return o;
}
inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// Accepts this many callers, on any fabric. Requests may come in one poll.
template <class F>
std::vector<peer> accept_all(test_side& side, transport<F>& net, observer& seen, std::size_t count) {
  std::vector<peer> all;
  seen.on_requested = [&](const requested& r) {
    EXPECT_TRUE(net.accept(r.peer));
    all.push_back(r.peer);
  };
  await(side, net, seen, "all callers", [&] { return all.size() == count; });
  seen.on_requested = nullptr;
  return all;
}

}  // namespace weft::conformance
