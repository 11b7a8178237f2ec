// SPDX-License-Identifier: Apache-2.0
//
// etcd as the store of a job: for clusters that run etcd already, and for ranks that should not depend on rank 0's
// host. Values are keys below PREFIX/jobs/JOB/, with a lease of a day, so that a job that crashed leaves nothing for
// ever. Each rank grants its own lease, which also tells its keys from those of a second process with its number.
// A rank that dies is found only by limits: a lease short enough to tell would need a thread in every program.
// Hot path: no. Threads: one owner.
#pragma once

#include "gateway.hpp"

#include <algorithm>
#include <set>

namespace weft::jobs::etcd {

class store {
 public:
  /// Joins the job `job`. Errors: invalid (the rank is taken, the name is none, or the sizes differ), deadline (rank 0
  /// did not come), those of gateway::ask().
  static result<store> join(const etcd_address& at, const std::string& job, std::uint32_t rank, std::uint32_t size,
                            duration limit) {
    const auto may_stand = [](char c) {
      return c == '-' || c == '_' || c == '.' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
             (c >= 'A' && c <= 'Z');
    };
    if (job.empty() || job.size() > 64 || !std::ranges::all_of(job, may_stand))
      return failure{error(errc::invalid, "join"), "WEFT_JOB is \"" + printable(job) +
                                                       "\": a store in etcd needs a new name for each run, of 1 to " +
                                                       "64 letters, digits, -, _ and ."};
    auto net = gateway::open(at);
    if (!net) return std::move(net).error();
    store made(std::move(net).value(), job, rank, size);
    const instant end = std::chrono::steady_clock::now() + limit;
    if (auto granted = made.grant(end); !granted) return std::move(granted).error();
    auto mine = made.create_key("rank/" + std::to_string(rank), std::to_string(size), end);
    if (!mine) return std::move(mine).error();
    if (!*mine)
      return failure{error(errc::invalid, "join"), "two processes have rank " + std::to_string(rank) + " of the job " +
                                                       job + " in etcd, or an earlier run had the same WEFT_JOB"};
    auto first = made.wait_for_key("rank/0", end);
    if (!first) return std::move(first).error();
    if (!*first)
      return failure{error(errc::deadline, "join"), "rank 0 did not come to the job " + job + " in etcd at " +
                                                        in_words(made.net_.host()) + " in " + in_words(limit)};
    if (**first != std::to_string(size))
      return failure{error(errc::invalid, "join"), "rank " + std::to_string(rank) + " was started for a job of " +
                                                       std::to_string(size) + " ranks, and rank 0 for one of another"};
    return made;
  }

  result<void> put(std::string_view key, std::string_view value, duration limit) {
    if (std::string why = refused_put(key, value); !why.empty()) return {error(errc::invalid, "put"), std::move(why)};
    const std::string name = name_of(rank_, key);
    if (put_.contains(name)) return put_before(key);
    if (bytes_ + key.size() + value.size() > most_bytes_per_rank)
      return {error(errc::no_memory, "put"),
              "the keys and values of one rank have at most " + std::to_string(most_bytes_per_rank) + " bytes in all"};
    const instant end = std::chrono::steady_clock::now() + limit;
    if (auto kept = renew(end); !kept) return kept;
    auto done = create_key(name, value, end);
    if (!done) return std::move(done).error();
    if (!*done) return put_before(key);
    put_.insert(name);
    bytes_ += key.size() + value.size();
    return {};
  }
  result<std::string> get(std::uint32_t rank, std::string_view key, duration limit) {
    if (std::string why = refused_put(key, {}); !why.empty()) return {error(errc::invalid, "get"), std::move(why)};
    const instant end = std::chrono::steady_clock::now() + limit;
    auto found = wait_for_key(name_of(rank, key), end);
    if (!found) return std::move(found).error();
    if (*found) return std::move(**found);
    auto missing = ranks_without("rank/", end + grace);
    if (!missing) return std::move(missing).error();
    const bool came = std::ranges::find(*missing, rank) == missing->end();
    return {error(errc::deadline, "get"),
            "rank " + std::to_string(rank) + (came ? " put no such key in " : " did not come in ") + in_words(limit)};
  }
  result<void> barrier(duration limit) {
    const instant end = std::chrono::steady_clock::now() + limit;
    if (auto kept = renew(end); !kept) return kept;
    const std::string all = "barrier/" + std::to_string(barriers_) + "/";
    // A rank that enters barrier n has ended n - 1, so every rank has ended n - 2.
    json old;
    if (barriers_ >= 2)
      old = json::object({{"request_delete_range", range_of(base_ + "barrier/" + std::to_string(barriers_ - 2) + "/" +
                                                            std::to_string(rank_))}});
    if (auto entered = create_key(all + std::to_string(rank_), {}, end, old); !entered)
      return std::move(entered).error();
    auto late = wait_for_all(all, end);
    if (!late) return std::move(late).error();
    if (!late->empty()) {
      auto never = ranks_without("rank/", end + grace);
      if (!never) return std::move(never).error();
      return {error(errc::deadline, "barrier"),
              never->empty() ? ranks_in_words(*late) + " did not reach the barrier in " + in_words(limit)
                             : ranks_in_words(*never) + " never came: the barrier waited " + in_words(limit)};
    }
    ++barriers_;
    return {};
  }
  /// Rank 0 waits for the others and removes the job's keys.
  result<void> leave(duration limit) {
    const instant end = std::chrono::steady_clock::now() + limit;
    if (auto done = create_key("left/" + std::to_string(rank_), {}, end); !done) return std::move(done).error();
    if (rank_ != 0) return {};
    auto late = wait_for_all("left/", end);
    if (!late) return std::move(late).error();
    if (!late->empty()) return {};  // the keys stay for those that are late, and end with the leases
    if (auto gone = net_.ask("kv/deleterange", all_with(base_), end + grace); !gone) return std::move(gone).error();
    return {};
  }
  std::string host() { return net_.own_address().empty() ? "127.0.0.1" : net_.own_address(); }

 private:
  static constexpr std::uint64_t lease_seconds = std::uint64_t{24} * 60 * 60;
  static constexpr duration renewal = std::chrono::hours(1);
  /// A request may take so long after the limit: else the sentence of a short limit names etcd and no rank.
  static constexpr duration grace = std::chrono::seconds(2);

  store(gateway net, const std::string& job, std::uint32_t rank, std::uint32_t size)
      : net_(std::move(net)), base_(net_.prefix() + "/jobs/" + job + "/"), rank_(rank), size_(size) {}

  static std::string name_of(std::uint32_t rank, std::string_view key) {
    return "value/" + std::to_string(rank) + "/" + std::string(key);
  }
  failure put_before(std::string_view key) const {
    return {error(errc::invalid, "put"),
            "rank " + std::to_string(rank_) + " has put \"" + printable(key) + "\" before"};
  }
  result<void> grant(instant end) {
    auto reply = net_.ask("lease/grant", {{"TTL", lease_seconds}}, end);
    if (!reply) return {reply.why(), "rank " + std::to_string(rank_) + " of a job in etcd: " + reply.error().sentence};
    lease_ = number(field(*reply, "ID"));
    if (lease_ == 0) return {error(errc::incompatible, "join"), "etcd at " + in_words(net_.host()) + " gives no lease"};
    renewed_ = std::chrono::steady_clock::now();
    return {};
  }
  result<void> renew(instant end) {
    if (std::chrono::steady_clock::now() - renewed_ < renewal) return {};
    auto reply = net_.ask("lease/keepalive", {{"ID", std::to_string(lease_)}}, end + grace);
    if (!reply) return std::move(reply).error();
    if (number(field(field(*reply, "result"), "TTL")) == 0)
      return {error(errc::peer_lost, "renew"), "the job called nothing for a day, so its values in etcd are gone"};
    renewed_ = std::chrono::steady_clock::now();
    return {};
  }
  /// False: another process has put it.
  result<bool> create_key(const std::string& name, std::string_view value, instant end, const json& also = {}) {
    auto reply = net_.ask("kv/txn", create(base_ + name, value, lease_, also), end + grace);
    if (!reply) return std::move(reply).error();
    if (succeeded(*reply)) return true;
    const auto held = held_instead(*reply);
    return held && held->lease == lease_;  // the first request arrived, and its reply did not
  }
  /// The key's value; nothing: the limit is over.
  result<std::optional<std::string>> wait_for_key(const std::string& name, instant end) {
    for (;;) {
      auto reply = net_.ask("kv/range", range_of(base_ + name), end + grace);
      if (!reply) return std::move(reply).error();
      if (auto found = entries_of(*reply); !found.empty()) return std::optional(std::move(found.front().value));
      if (std::chrono::steady_clock::now() >= end) return std::optional<std::string>();
      std::optional<std::string> value;
      net_.watch(range_of(base_ + name), revision_of(*reply) + 1, end, [&](const change& each) {
        if (!each.removed) value = each.of.value;
        return value.has_value();
      });
      if (value) return value;
    }
  }
  /// The ranks without a key when the limit is over; none as soon as each has one.
  result<std::vector<std::uint32_t>> wait_for_all(const std::string& prefix, instant end) {
    for (;;) {
      std::set<std::uint32_t> missing;
      std::uint64_t revision = 0;
      auto found = ranks_without(prefix, end + grace, &revision);
      if (!found || found->empty() || std::chrono::steady_clock::now() >= end) return found;
      missing.insert(found->begin(), found->end());
      net_.watch(all_with(base_ + prefix), revision + 1, end, [&](const change& each) {
        if (const auto rank = rank_in(each.of.key, prefix); rank && !each.removed) missing.erase(*rank);
        return missing.empty();
      });
      if (missing.empty()) return std::vector<std::uint32_t>();
    }
  }
  result<std::vector<std::uint32_t>> ranks_without(const std::string& prefix, instant end,
                                                   std::uint64_t* revision = nullptr) {
    json question = all_with(base_ + prefix);
    question["keys_only"] = true;
    auto reply = net_.ask("kv/range", question, end);
    if (!reply) return std::move(reply).error();
    if (revision != nullptr) *revision = revision_of(*reply);
    std::vector<bool> there(size_);
    for (const entry& each : entries_of(*reply))
      if (const auto rank = rank_in(each.key, prefix)) there[*rank] = true;
    std::vector<std::uint32_t> missing;
    for (std::uint32_t rank = 0; rank < size_; ++rank)
      if (!there[rank]) missing.push_back(rank);
    return missing;
  }
  std::optional<std::uint32_t> rank_in(const std::string& key, const std::string& prefix) const {
    const std::string begin = base_ + prefix;
    return key.starts_with(begin) ? number_of(std::string_view(key).substr(begin.size()), size_ - 1) : std::nullopt;
  }

  gateway net_;
  std::string base_;
  std::uint32_t rank_;
  std::uint32_t size_;
  std::uint64_t lease_ = 0;
  instant renewed_{};
  std::uint64_t barriers_ = 0;
  std::size_t bytes_ = 0;
  std::set<std::string> put_;
};
static_assert(backend<store>);

}  // namespace weft::jobs::etcd
