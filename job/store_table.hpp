// SPDX-License-Identifier: Apache-2.0
//
// What the store of a job knows: which ranks came, what they put, and who stands in the barrier. No socket, no clock.
// Each question of the server's loop takes constant time, except the sentences about ranks that did not come.
// Hot path: no. Threads: one owner.
#pragma once

#include "backend.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace weft::jobs {

enum class presence : std::uint8_t {
  never,  ///< The rank has not come yet.
  here,
  left,  ///< It said goodbye.
  gone,  ///< Its connection ended without a goodbye.
};

class store_table {
 public:
  explicit store_table(std::uint32_t size) : ranks_(size) {}

  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(ranks_.size()); }
  presence is(std::uint32_t rank) const { return ranks_.at(rank).is; }

  /// A rank comes. Errors: invalid, where this rank came before.
  result<void> enter(std::uint32_t rank) {
    if (ranks_.at(rank).is != presence::never)
      return {error(errc::invalid, "join"),
              "two processes have rank " + std::to_string(rank) + " of one job: each rank needs a number of its own"};
    ranks_[rank].is = presence::here;
    return {};
  }
  /// A rank ends, in order or not. Nobody waits for it any more.
  void end(std::uint32_t rank, presence how) {
    leave_barrier(rank);
    if (ranks_.at(rank).is == presence::here) ++ended_;
    ranks_[rank].is = how;
  }

  /// Errors: invalid: the rank has put this key before, or too many bytes in all.
  result<void> put(std::uint32_t rank, const std::string& key, const std::string& value) {
    if (std::string why = refused_put(key, value); !why.empty()) return {error(errc::invalid, "put"), std::move(why)};
    if (ranks_.at(rank).bytes + key.size() + value.size() > most_bytes_per_rank)
      return {error(errc::no_memory, "put"),
              "the keys and values of one rank have at most " + std::to_string(most_bytes_per_rank) + " bytes in all"};
    if (!values_.emplace(std::pair(rank, key), value).second)
      return {error(errc::invalid, "put"),
              "rank " + std::to_string(rank) + " has put this key before: a value is put once"};
    ranks_[rank].bytes += key.size() + value.size();
    return {};
  }
  /// The value, or null.
  const std::string* find(std::uint32_t rank, const std::string& key) const {
    const auto found = values_.find(std::pair(rank, key));
    return found == values_.end() ? nullptr : &found->second;
  }

  /// A rank enters the barrier. Returns the number of this barrier.
  std::uint64_t enter_barrier(std::uint32_t rank) {
    const std::uint64_t number = passed_;
    if (!std::exchange(ranks_.at(rank).waits, true)) ++waiting_;
    if (waiting_ == size()) {
      ++passed_;
      waiting_ = 0;
      for (one& each : ranks_) each.waits = false;
    }
    return number;
  }
  /// A rank no longer waits: its limit is over. It may enter the same barrier again.
  void leave_barrier(std::uint32_t rank) {
    if (std::exchange(ranks_.at(rank).waits, false)) --waiting_;
  }
  bool has_passed(std::uint64_t number) const noexcept { return number < passed_; }
  /// Whether some rank has ended, so that a barrier may wait in vain.
  bool has_ended_ranks() const noexcept { return ended_ > 0; }
  std::uint32_t ended_ranks() const noexcept { return ended_; }

  std::vector<std::uint32_t> outside_barrier() const {
    return those([](const one& each) { return !each.waits; });
  }
  std::vector<std::uint32_t> ranks_that_are(presence how) const {
    return those([how](const one& each) { return each.is == how; });
  }

 private:
  struct one {
    presence is = presence::never;
    bool waits = false;
    std::size_t bytes = 0;
  };
  template <class Condition>
  std::vector<std::uint32_t> those(Condition&& holds) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t rank = 0; rank < size(); ++rank)
      if (holds(ranks_[rank])) found.push_back(rank);
    return found;
  }

  std::vector<one> ranks_;
  std::map<std::pair<std::uint32_t, std::string>, std::string> values_;
  std::uint64_t passed_ = 0;
  std::uint32_t waiting_ = 0;
  std::uint32_t ended_ = 0;
};

}  // namespace weft::jobs
