// SPDX-License-Identifier: Apache-2.0
//
// Finds the shortest form of a failing run: fewer faults, fewer disturbances, fewer steps. It repeats the run with a
// part of the plan left out, and keeps the part out where the same finding comes again (delta debugging).
// Hot path: no. Threads: one.
#pragma once

#include "plan.hpp"

#include <functional>

namespace weft::simulation {

class shrinker {
 public:
  /// `fails` runs a plan and returns whether the finding comes again. At most `runs` runs are made.
  shrinker(std::function<bool(const plan&)> fails, std::uint32_t runs = 2000) : fails_(std::move(fails)), left_(runs) {}

  /// Returns the shortest plan that was found. Requires: the plan of this selection fails.
  plan shortest(std::uint64_t seed, const selection& from) {
    seed_ = seed;
    plan best = make_plan(seed, from);
    kept_ = from;
    kept_.steps = numbers(best.steps);
    kept_.disturbances = numbers(best.disturbances);
    for (bool smaller = true; smaller && left_ > 0;) {
      smaller = without_faults();
      smaller = without(kept_.disturbances) || smaller;
      smaller = without(kept_.steps) || smaller;
    }
    return make_plan(seed, kept_);
  }

 private:
  template <class Parts>
  static std::vector<std::uint32_t> numbers(const Parts& parts) {
    std::vector<std::uint32_t> all;
    for (const auto& each : parts) all.push_back(each.number);
    return all;
  }
  bool still_fails() { return left_ > 0 && (--left_, fails_(make_plan(seed_, kept_))); }

  bool without_faults() {
    bool smaller = false;
    for (std::size_t i = 0; i < fault_kinds; ++i) {
      const fault_set before = kept_.faults;
      if (!before.has(static_cast<fault>(i))) continue;
      kept_.faults.remove(static_cast<fault>(i));
      if (still_fails()) smaller = true;
      else kept_.faults = before;
    }
    return smaller;
  }

  /// Leaves out halves, quarters, and at last single members.
  bool without(std::optional<std::vector<std::uint32_t>>& list) {
    bool smaller = false;
    for (std::size_t size = (list->size() + 1) / 2; size > 0; size = size == 1 ? 0 : (size + 1) / 2)
      for (std::size_t at = 0; at < list->size();) {
        const std::vector<std::uint32_t> before = *list;
        const auto first = list->begin() + static_cast<std::ptrdiff_t>(at);
        list->erase(first, first + static_cast<std::ptrdiff_t>(std::min(size, list->size() - at)));
        if (still_fails()) {
          smaller = true;
        } else {
          *list = before;
          at += size;
        }
      }
    return smaller;
  }

  std::function<bool(const plan&)> fails_;
  std::uint32_t left_;
  std::uint64_t seed_ = 0;
  selection kept_;
};

}  // namespace weft::simulation
