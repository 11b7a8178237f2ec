// SPDX-License-Identifier: Apache-2.0
//
// Which manager serves a client: consistent hashing. Each manager has many points on a ring, and a client belongs to
// the manager of the next point. So a manager that comes or goes moves only the clients next to its points, and every
// manager computes the same answer from the same list. Hot path: no. Threads: values.
#pragma once

#include "../protocol.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::invocation {

/// FNV-1a, and then the mixer of splitmix64: neighbours of a name get places far from each other. It must be the same
/// on every machine, which std::hash is not.
constexpr std::uint64_t ring_place(std::string_view of) noexcept {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : of) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  hash = (hash ^ hash >> 30U) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ hash >> 27U) * 0x94d049bb133111eb;
  return hash ^ hash >> 31U;
}

class manager_ring {
 public:
  /// With 128 points the shares of ten managers stay within 30 % of the mean (unit.invocation.ring).
  static constexpr std::uint32_t points_of_one = 128;

  manager_ring() = default;
  explicit manager_ring(std::vector<std::string> managers) : managers_(std::move(managers)) {
    std::ranges::sort(managers_);
    for (std::uint32_t m = 0; m < managers_.size(); ++m)
      for (std::uint32_t point = 0; point < points_of_one; ++point)
        points_.emplace_back(ring_place(managers_[m] + "#" + std::to_string(point)), m);
    std::ranges::sort(points_);
  }

  bool empty() const noexcept { return managers_.empty(); }
  /// The manager of a client; empty where there is none.
  std::string owner(const token& client) const { return in_order(client, 1).empty() ? "" : in_order(client, 1)[0]; }
  /// The first managers of a client: its own, and those that take it over, in order. At most `most`.
  std::vector<std::string> in_order(const token& client, std::size_t most) const {
    return in_order(std::string_view(reinterpret_cast<const char*>(client.data()), client.size()), most);
  }
  /// The same of a node, by its name.
  std::vector<std::string> in_order(std::string_view name, std::size_t most) const {
    std::vector<std::string> found;
    const auto first = std::ranges::lower_bound(points_, std::pair(ring_place(name), std::uint32_t{0}));
    const std::size_t begin = static_cast<std::size_t>(first - points_.begin());
    for (std::size_t i = 0; i < points_.size() && found.size() < std::min(most, managers_.size()); ++i) {
      const std::string& next = managers_[points_[(begin + i) % points_.size()].second];
      if (std::ranges::find(found, next) == found.end()) found.push_back(next);
    }
    return found;
  }

 private:
  std::vector<std::string> managers_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> points_;  ///< Sorted; the manager's index beside each.
};

}  // namespace weft::invocation
