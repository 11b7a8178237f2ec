// SPDX-License-Identifier: Apache-2.0
//
// Explains why the library found nothing: the smallest sets of demands that it cannot grant together. The search drops
// demands and asks again.
// It tries single demands first, then pairs that exclude each other (atomics and order on rxm), then larger sets.
// The search asks some hundred questions at most, and runs only after opening failed. Hot path: no. Threads: none.
#pragma once

#include "demands.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace weft::backends::libfabric {

/// Finds conflicts among `count` demands. `granted(kept)` says whether the library grants the kept demands together.
template <class Granted>
class conflict_search {
 public:
  using set = std::vector<std::size_t>;

  conflict_search(std::size_t count, Granted granted) : count_(count), granted_(std::move(granted)) {}

  /// Disjoint sets, each as small as possible. Without all of them the library grants the rest. Empty: dropping demands
  /// does not help.
  std::vector<set> all() {
    std::vector<set> found;
    if (!granted_(std::vector<bool>(count_, false))) return found;
    std::vector<bool> kept(count_, true);
    while (!granted_(kept)) {
      found.push_back(smallest(kept));
      for (const std::size_t each : found.back()) kept[each] = false;
    }
    return found;
  }

 private:
  bool granted_alone(const set& these) {
    std::vector<bool> kept(count_, false);
    for (const std::size_t each : these) kept[each] = true;
    return granted_(kept);
  }
  set smallest(const std::vector<bool>& kept) {
    for (std::size_t one = 0; one < count_; ++one)
      if (kept[one] && !granted_alone({one})) return {one};
    for (std::size_t one = 0; one < count_; ++one)
      for (std::size_t two = one + 1; two < count_; ++two)
        if (kept[one] && kept[two] && !granted_alone({one, two})) return {one, two};
    return thinned(kept);
  }
  /// Drops one demand after the other, as long as the rest is still refused.
  set thinned(std::vector<bool> kept) {
    for (std::size_t each = 0; each < count_; ++each) {
      if (!kept[each]) continue;
      kept[each] = false;
      if (granted_(kept)) kept[each] = true;
    }
    set left;
    for (std::size_t each = 0; each < count_; ++each)
      if (kept[each]) left.push_back(each);
    return left;
  }

  std::size_t count_;
  Granted granted_;
};

/// The conflicts of a port's demands, as the rest of a sentence that begins with the provider's name.
template <class Shape>
std::string conflicts_of(const port_options& options) {
  const std::vector<demand> demands = demands_of<Shape>(options);
  const auto reply = [&](const std::vector<bool>& kept) {
    question asked = question_of<Shape>(options);
    if (!asked.hints) return owned_info();
    for (std::size_t i = 0; i < demands.size(); ++i)
      if (!kept[i]) demands[i].give_up(asked);
    return asked.ask();
  };
  const auto found =
      conflict_search(demands.size(), [&](const std::vector<bool>& kept) { return reply(kept) != nullptr; }).all();
  if (found.empty())
    return "has no endpoint with messages and remote writes, whichever demands are dropped [WEFT-O004]";
  std::vector<bool> rest(demands.size(), true);
  for (const auto& each : found)
    for (const std::size_t index : each) rest[index] = false;
  const owned_info instead = reply(rest);
  std::string text;
  for (const auto& each : found) {
    text += text.empty() ? "" : ", and ";
    text += each.size() == 1 ? "does not grant " : "does not grant together, though any fewer of them, ";
    for (const std::size_t index : each) text += (index == each.front() ? "" : " and ") + demands[index].said;
    if (each.size() == 1 && instead != nullptr)
      text += " (it returns " + demands[each.front()].returned(*instead) + ")";
  }
  return text + "; everything else that was asked for is granted [WEFT-O004]";
}

}  // namespace weft::backends::libfabric
