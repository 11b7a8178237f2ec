// SPDX-License-Identifier: Apache-2.0
//
// What every way to exchange values inside a job can do, and its limits. Launchers differ in how ranks find each other
// (variables, PMIx, a shared folder); after that the calls are the same.
// Every limit is checked before memory is taken, because bytes of other processes are not trusted.
// Hot path: no. Threads: one owner.
#pragma once

#include "../core/error.hpp"
#include "../core/time.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jobs {

inline constexpr std::uint32_t most_ranks = 1U << 16U;
inline constexpr std::size_t longest_key = 96;               ///< In bytes.
inline constexpr std::size_t longest_value = 64 * 1024;      ///< In bytes.
inline constexpr std::size_t most_bytes_per_rank = 1 << 20;  ///< Keys and values that one rank may put.

/// Exchange inside a job. A value is put once by its rank and stays; a get waits for it. A barrier counts: the n-th of
/// a rank ends when each rank has entered its n-th. No call waits longer than its limit, and the sentence of a limit
/// that is over names the ranks that did not come.
template <class Backend>
concept backend = requires(Backend& b, std::string_view key, std::string_view value, std::uint32_t rank,
                           duration limit) {
  { b.put(key, value, limit) } -> std::same_as<result<void>>;
  { b.get(rank, key, limit) } -> std::same_as<result<std::string>>;
  { b.barrier(limit) } -> std::same_as<result<void>>;
  { b.leave(limit) } -> std::same_as<result<void>>;  // no other call follows
  { b.host() } -> std::same_as<std::string>;         // where other ranks reach this process
};

/// "rank 3", or "ranks 1, 4 to 6 and 9". Long lists end with "and 12 more".
inline std::string ranks_in_words(const std::vector<std::uint32_t>& ranks) {
  constexpr std::size_t most_shown = 8;
  std::vector<std::string> runs;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < ranks.size() && runs.size() < most_shown;) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (last - i == 1) last = i;
    runs.push_back(std::to_string(ranks[i]) + (last > i ? " to " + std::to_string(ranks[last]) : ""));
    shown += last - i + 1;
    i = last + 1;
  }
  if (shown < ranks.size()) runs.push_back(std::to_string(ranks.size() - shown) + " more");
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (i > 0) text += i + 1 == runs.size() ? " and " : ", ";
    text += runs[i];
  }
  return text;
}

/// A year stands for "no limit", duration::max(): clocks, libraries and the store's protocol cannot add that.
constexpr duration bounded(duration limit) {
  constexpr duration year = std::chrono::hours(24 * 365);
  return limit < year ? limit : year;
}

/// "30 s", or "250 ms".
inline std::string in_words(duration limit) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
  return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
}

/// The reason why a key or a value cannot be put; empty where it can.
inline std::string refused_put(std::string_view key, std::string_view value) {
  if (key.empty() || key.size() > longest_key)
    return "a key of a job has 1 to " + std::to_string(longest_key) + " bytes; this one has " +
           std::to_string(key.size());
  if (value.size() > longest_value)
    return "a value of a job has at most " + std::to_string(longest_value) + " bytes; this one has " +
           std::to_string(value.size());
  return {};
}

}  // namespace weft::jobs
