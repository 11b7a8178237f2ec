// SPDX-License-Identifier: Apache-2.0
//
// Memory for messages that wait for a receive: room for a whole window of each peer that may send some. A record of a
// peer gets its room when the first such peer introduces itself, and the record's next peers use it again. Pages that
// no message touched take no memory. Hot path: take(), give(). Threads: the owner's.
#pragma once

#include "../../core/if_memory.hpp"
#include "matching.hpp"

#include <cstdint>
#include <memory>

namespace weft::detail {

class waiting_rooms {
 public:
  /// Room for `window` messages of `each` bytes from each of `records` peers. Throws std::bad_alloc.
  void open(std::uint32_t records, std::uint32_t window, std::size_t each) {
    rooms_ = std::make_unique<room[]>(records);
    records_ = records, window_ = window, each_ = each;
  }
  /// Without memory, messages of the record's peers wait in the transport's own receives.
  void furnish(std::uint32_t record, message_holder& holder) noexcept {
    room& r = rooms_[record];
    if (r.messages) return;
    (void)if_memory([&] {
      r.bytes = std::make_unique_for_overwrite<std::byte[]>(window_ * each_);
      r.messages = std::make_unique<waiting_message[]>(window_);
      for (std::size_t i = window_; i-- > 0;) {
        waiting_message& m = r.messages[i];
        m.bytes = r.bytes.get() + i * each_;
        m.holder = &holder;
        give(m);
      }
    });
  }
  std::size_t each() const noexcept { return each_; }
  /// Null: furnish() got no memory.
  waiting_message* take() noexcept {
    if (free_.alone()) return nullptr;
    waiting_message& m = tag_matching::message_at<in_order_list>(*free_.after);
    m.in_order_list::leave();
    return &m;
  }
  void give(waiting_message& m) noexcept { m.in_order_list::join(free_); }
  /// Calls body(message) for each message that waits. Reads all: cold.
  template <class Body>
  void each_waiting(Body&& body) noexcept {
    for (std::uint32_t record = 0; record < records_; ++record)
      for (std::uint32_t i = 0; rooms_[record].messages && i < window_; ++i)
        if (waiting_message& m = rooms_[record].messages[i]; !m.in_tag_list::alone()) body(m);
  }

 private:
  struct room {
    std::unique_ptr<std::byte[]> bytes;
    std::unique_ptr<waiting_message[]> messages;
  };

  std::unique_ptr<room[]> rooms_;
  in_order_list free_;
  std::uint32_t records_ = 0;
  std::uint32_t window_ = 0;
  std::size_t each_ = 0;
};

}  // namespace weft::detail
