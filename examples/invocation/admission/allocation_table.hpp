// SPDX-License-Identifier: Apache-2.0
//
// All allocations of a manager, found by what messages name: a worker's token, a client, a worker's connection. A
// manager has thousands, so no message reads all of them, and a round looks at a part of them at most. Hot path: no.
// Threads: the manager's.
#pragma once

#include "../allocation.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weft::invocation {

template <class Child>
class allocation_table {
 public:
  using entry = allocation<Child>;
  /// A worker of an allocation.
  struct place {
    entry* of = nullptr;
    typename entry::worker_seen* worker = nullptr;
  };

  /// `key`: random. Without it, nobody can tell from times which tokens exist.
  explicit allocation_table(const token& key) : key_(key) {}

  std::size_t size() const noexcept { return all_.size(); }
  std::uint64_t bytes() const noexcept { return bytes_; }      ///< Of slots and objects of all.
  std::uint32_t workers() const noexcept { return workers_; }  ///< Of all.
  auto begin() const noexcept { return all_.begin(); }
  auto end() const noexcept { return all_.end(); }

  void enter(std::unique_ptr<entry> made) {
    entry& a = *made;
    a.place = all_.size();
    bytes_ += a.bytes;
    workers_ += a.order.workers;
    by_token_.emplace(mixed(a.order.common.allocation), &a);
    by_client_.emplace(a.client, &a);
    all_.push_back(std::move(made));
  }
  /// The allocation of a worker's token; null: there is none.
  entry* with_token(const token& t) const noexcept {
    const auto [first, last] = by_token_.equal_range(mixed(t));
    for (auto i = first; i != last; ++i)
      if (same_token(i->second->order.common.allocation, t)) return i->second;
    return nullptr;
  }
  /// Allocations of one client: the one that it uses, and earlier ones that still end. Null: `which` is true of none.
  template <class Which>
  entry* of_client(peer client, Which&& which) const {
    const auto [first, last] = by_client_.equal_range(client);
    const auto found = std::find_if(first, last, [&](const auto& each) { return which(*each.second); });
    return found == last ? nullptr : found->second;
  }
  bool has(peer client) const noexcept { return by_client_.contains(client); }
  /// The client is gone.
  void leave_client(entry& a) {
    if (a.client) drop(by_client_, a.client, a);
    a.client = {};
  }
  void worker_came(entry& a, std::size_t worker, peer link) {
    a.workers[worker].link = link;
    by_link_[link] = {&a, &a.workers[worker]};
  }
  /// The worker behind a connection; of null: there is none.
  place behind(peer link) const noexcept {
    const auto found = by_link_.find(link);
    return found == by_link_.end() ? place{} : found->second;
  }

  /// It ends soon: each round looks at it.
  void press(entry& a) {
    if (!std::exchange(a.presses, true)) pressing_.push_back(&a);
  }
  /// Calls `look(allocation)` for all that press, then for some others, so that all have their turn. True: it is
  /// over, and is erased. `look` may enter others.
  template <class Look>
  void each_in_turn(Look&& look) {
    for (std::size_t pressing = pressing_.size(); pressing != 0; --pressing) {
      entry& a = *pressing_.front();
      pressing_.pop_front();
      if (look(a)) erase(a);
      else pressing_.push_back(&a);
    }
    for (std::size_t left = std::min(looks_of_a_round, all_.size()); left != 0 && !all_.empty(); --left, ++turn_) {
      if (turn_ >= all_.size()) turn_ = 0;
      entry& a = *all_[turn_];
      if (a.presses) continue;
      if (!look(a)) continue;
      if (a.presses) pressing_.erase(std::find(pressing_.begin(), pressing_.end(), &a));  // since this look
      erase(a);
    }
  }
  /// At those that do not press, at most. With fewer allocations, each round looks at all.
  static constexpr std::size_t looks_of_a_round = 256;

 private:
  /// Forgets it. The last one takes its place in the order of looks.
  void erase(entry& a) {
    bytes_ -= a.bytes;
    workers_ -= a.order.workers;
    drop(by_token_, mixed(a.order.common.allocation), a);
    leave_client(a);
    for (const auto& w : a.workers)
      if (w.link) by_link_.erase(w.link);
    const std::size_t at = a.place;
    std::swap(all_[at], all_.back());
    all_[at]->place = at;
    all_.pop_back();
  }
  template <class Map, class Key>
  static void drop(Map& map, const Key& key, const entry& a) {
    const auto [first, last] = map.equal_range(key);
    const auto found = std::find_if(first, last, [&a](const auto& each) { return each.second == &a; });
    if (found != last) map.erase(found);
  }
  std::uint64_t mixed(const token& t) const noexcept {
    std::uint64_t words[2], keys[2];
    std::memcpy(words, t.data(), sizeof words);
    std::memcpy(keys, key_.data(), sizeof keys);
    return (words[0] ^ keys[0]) * ((words[1] ^ keys[1]) | 1);
  }

  token key_;
  std::vector<std::unique_ptr<entry>> all_;
  std::unordered_multimap<std::uint64_t, entry*> by_token_;
  std::unordered_multimap<peer, entry*> by_client_;
  std::unordered_map<peer, place> by_link_;
  std::deque<entry*> pressing_;
  std::uint64_t bytes_ = 0;
  std::uint32_t workers_ = 0;
  std::size_t turn_ = 0;
};

}  // namespace weft::invocation
