// SPDX-License-Identifier: Apache-2.0
//
// Records the history of one process as it happens. Records stay in memory, in order; file.hpp stores them.
// Hot path: one append per call. Reserve first where allocations are counted. Threads: one owner.
#pragma once

#include "record.hpp"

#include <vector>

namespace weft::history {

/// The history of one process.
class recorder {
 public:
  explicit recorder(std::uint16_t process, std::size_t expected = 0) : process_(process) { all_.reserve(expected); }

  /// Returns the operation's id, for `ended`. A deadline of `instant{}` means none.
  std::uint64_t posted(work kind, std::uint16_t peer, instant at, instant deadline, std::uint64_t value = 0,
                       std::uint32_t subject = 0) {
    record& fresh = add(event::posted, at);
    fresh.kind = kind;
    fresh.peer = peer;
    fresh.deadline = deadline.time_since_epoch().count();
    fresh.value = value;
    fresh.subject = subject;
    fresh.id = ++last_id_;
    return fresh.id;
  }
  /// The same, for operations that carry bytes.
  std::uint64_t posted(work kind, std::uint16_t peer, instant at, instant deadline, std::uint64_t value,
                       const_bytes carried) {
    const std::uint64_t id = posted(kind, peer, at, deadline, value);
    all_.back().sum = sum_of(carried);
    all_.back().summed = 1;
    return id;
  }
  void ended(std::uint64_t id, instant at, errc outcome, std::uint64_t old_value = 0) {
    record& fresh = add(event::ended, at);
    fresh.id = id;
    fresh.outcome = outcome;
    fresh.value = old_value;
  }
  /// Records a notification. `seen` are the bytes that it announces, as they are now.
  void notified(std::uint16_t writer, instant at, std::uint64_t immediate, const_bytes seen) {
    carried(event::notified, writer, at, immediate, seen);
  }
  void notified(std::uint16_t writer, instant at, std::uint64_t immediate) {
    record& fresh = add(event::notified, at);
    fresh.peer = writer;
    fresh.value = immediate;
  }
  void received(std::uint16_t sender, instant at, std::uint64_t value, const_bytes seen) {
    carried(event::received, sender, at, value, seen);
  }
  void peer_lost(std::uint16_t peer, instant at) { add(event::peer_lost, at).peer = peer; }
  void key_issued(instant at, std::uint64_t key) { add(event::key_issued, at).value = key; }
  /// Records the guard bytes around a region, which no peer may change: expected and actual ones.
  void guard(instant at, std::uint32_t region, const_bytes should, const_bytes is) {
    record& fresh = add(event::guard, at);
    fresh.subject = region;
    fresh.value = sum_of(should);
    fresh.sum = sum_of(is);
    fresh.summed = 1;
  }
  /// Records the bytes of an operation that ended well: expected ones, and those in memory at its end.
  void acknowledged(std::uint64_t id, instant at, const_bytes should, const_bytes is) {
    record& fresh = add(event::acknowledged, at);
    fresh.id = id;
    fresh.value = sum_of(should);
    fresh.sum = sum_of(is);
    fresh.summed = 1;
  }
  void counter_start(instant at, std::uint32_t counter, std::uint64_t value) {
    counter_at(event::counter_start, at, counter, value);
  }
  void counter_end(instant at, std::uint32_t counter, std::uint64_t value) {
    counter_at(event::counter_end, at, counter, value);
  }
  void finished(instant at) { add(event::finished, at); }

  /// Records a post whose call never returned, because its process was killed in it.
  void attempted(record post) {
    post.what = event::posted;
    post.process = process_;
    post.id = ++last_id_;
    all_.push_back(post);
  }

  std::uint16_t process() const noexcept { return process_; }
  const std::vector<record>& records() const noexcept { return all_; }

 private:
  record& add(event what, instant at) {
    record& fresh = all_.emplace_back();
    fresh.what = what;
    fresh.process = process_;
    fresh.at = at.time_since_epoch().count();
    return fresh;
  }
  void carried(event what, std::uint16_t peer, instant at, std::uint64_t value, const_bytes seen) {
    record& fresh = add(what, at);
    fresh.peer = peer;
    fresh.value = value;
    fresh.sum = sum_of(seen);
    fresh.summed = 1;
  }
  void counter_at(event what, instant at, std::uint32_t counter, std::uint64_t value) {
    record& fresh = add(what, at);
    fresh.subject = counter;
    fresh.value = value;
  }

  std::uint16_t process_;
  std::uint64_t last_id_ = 0;
  std::vector<record> all_;
};

}  // namespace weft::history
