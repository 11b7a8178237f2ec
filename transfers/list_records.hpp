// SPDX-License-Identifier: Apache-2.0
//
// What an engine keeps: a record for each list, the queues of each peer, a token for each operation in flight. All are
// made at once; afterwards they move between lists that link the records themselves. Hot path: yes: no allocation.
// Threads: the engine's owner.
#pragma once

#include "transfer.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <utility>

namespace weft::transfers::detail {

/// Where a list is on its way. In a queue, the next step is still to be posted.
enum class phase : std::uint8_t {
  unused,
  posting,   ///< Transfers of the body are to be posted.
  draining,  ///< All of the body is posted.
  flushing,  ///< The peer is asked whether the body is visible.
  noticing,  ///< The last transfer, which carries the notice.
  stopping,
  ended,
};

struct peer_lists;
struct list_record {
  static constexpr std::uint8_t no_queue = 0xff;

  const transfer* all = nullptr;
  peer_lists* to = nullptr;
  list_record* before = nullptr;  ///< In the queue.
  list_record* after = nullptr;   ///< In the queue, or among the unused.
  std::uint32_t count = 0;        ///< Transfers.
  std::uint32_t body = 0;         ///< Those that are posted first: all, or all but the one with the notice.
  std::uint32_t next = 0;         ///< The next of the body.
  std::uint32_t outstanding = 0;  ///< Operations in flight.
  std::uint64_t bytes_done = 0;
  std::uint32_t done = 0;
  std::uint32_t failed_transfer = no_transfer;
  operation what{};
  phase at = phase::unused;
  std::uint8_t queue = no_queue;
  priority urgency{};
  bool notifies = false;
  bool cancelled = false;
  std::uint32_t immediate = 0;
  std::uint32_t generation = 1;
  status why{};
  instant due = instant::max();
  ended_function ended = nullptr;
  void* context = nullptr;
};

/// Records in order of their arrival.
class record_queue {
 public:
  list_record* first() const noexcept { return first_; }
  void enter(list_record& r) noexcept {
    r.before = last_;
    r.after = nullptr;
    (last_ != nullptr ? last_->after : first_) = &r;
    last_ = &r;
  }
  void leave(list_record& r) noexcept {
    (r.before != nullptr ? r.before->after : first_) = r.after;
    (r.after != nullptr ? r.after->before : last_) = r.before;
  }

 private:
  list_record* first_ = nullptr;
  list_record* last_ = nullptr;
};

/// The lists to one peer. Queue 0 holds those whose body has ended: a flush and a notice go first, so that the target
/// does not wait. The others are one for each priority.
struct peer_lists {
  static constexpr std::uint8_t closing = 0;

  peer to;
  std::uint32_t in_flight = 0;
  std::uint32_t lists = 0;  ///< That have not ended.
  bool full = false;        ///< The transport answered the last post with `again`.
  std::array<record_queue, 1 + priorities> queues{};

  list_record* first() const noexcept {
    for (const record_queue& q : queues)
      if (q.first() != nullptr) return q.first();
    return nullptr;
  }
  void enter(list_record& r, std::uint8_t queue) noexcept {
    queues[queue].enter(r);
    r.queue = queue;
  }
  void leave(list_record& r) noexcept {
    if (r.queue == list_record::no_queue) return;
    queues[r.queue].leave(r);
    r.queue = list_record::no_queue;
  }
};

/// The context of an operation in flight.
struct token {
  union {
    list_record* list;
    token* next;
  };
  std::uint64_t bytes;
  std::uint32_t index;  ///< Of the transfer; no_transfer: a flush.
};

class token_pool {
 public:
  token_pool() noexcept = default;
  explicit token_pool(std::size_t count) : all_(new (std::nothrow) token[count]), count_(count) {
    for (std::size_t i = all_ ? count : 0; i > 0; --i) give(all_[i - 1]);
  }
  explicit operator bool() const noexcept { return all_ != nullptr; }
  /// Requires: one is left. All peers together hold no more than the pool has.
  [[gnu::always_inline]] token& take() noexcept { return *std::exchange(free_, free_->next); }
  [[gnu::always_inline]] void give(token& t) noexcept {
    t.next = free_;
    free_ = &t;
  }
  [[gnu::always_inline]] bool holds(const void* context) const noexcept {
    const std::less<> before;
    return !before(context, all_.get()) && before(context, all_.get() + count_);
  }

 private:
  std::unique_ptr<token[]> all_;
  std::size_t count_ = 0;
  token* free_ = nullptr;
};

/// All records, found by their handles.
class record_table {
 public:
  record_table() noexcept = default;
  explicit record_table(std::uint32_t count) : all_(new (std::nothrow) list_record[count]), count_(count) {
    for (std::uint32_t i = all_ ? count : 0; i > 0; --i) link(all_[i - 1]);
  }
  explicit operator bool() const noexcept { return all_ != nullptr; }
  /// Null: all are in use.
  list_record* take() noexcept { return unused_ == nullptr ? nullptr : std::exchange(unused_, unused_->after); }
  void give(list_record& r) noexcept {
    const std::uint32_t generation = r.generation + 1;
    r = {};
    r.generation = generation == 0 ? 1 : generation;
    link(r);
  }
  list_record* at(list_handle h) noexcept {
    list_record* const r = h.index() < count_ ? &all_[h.index()] : nullptr;
    return r != nullptr && r->generation == h.generation() && r->at != phase::unused ? r : nullptr;
  }
  list_handle handle_of(const list_record& r) const noexcept {
    return {static_cast<std::uint32_t>(&r - all_.get()), r.generation};
  }
  std::uint32_t size() const noexcept { return count_; }
  list_record& operator[](std::uint32_t i) noexcept { return all_[i]; }

 private:
  void link(list_record& r) noexcept {
    r.after = unused_;
    unused_ = &r;
  }
  std::unique_ptr<list_record[]> all_;
  std::uint32_t count_ = 0;
  list_record* unused_ = nullptr;
};

}  // namespace weft::transfers::detail
