// SPDX-License-Identifier: Apache-2.0
//
// Tagged receives of a C program that have not ended. A record's address is the context of its end. Records are used
// again, so a steady program allocates nothing. Hot path: take(), end(). Threads: the owner's.
#pragma once

#include "../compose/tagged/receive.hpp"
#include "../weft.h"
#include "handles.hpp"

#include <cstdint>
#include <deque>
#include <vector>

namespace weft::abi {

struct receive_record : tagged_receive {
  std::uint64_t context = 0;
  weft_tagged handle = nullptr;
};

class tagged_receives {
 public:
  /// A record with a handle. Throws std::bad_alloc.
  receive_record& take(std::uint64_t context) {
    if (free_.empty()) {
      free_.reserve(all_.size() + 1);
      free_.push_back(&all_.emplace_back());
    }
    receive_record& r = *free_.back();
    r.handle = by_handle_.add(&r);
    free_.pop_back();
    r.context = context;
    return r;
  }
  /// The receive ended, or was not posted.
  void give(receive_record& r) noexcept {
    by_handle_.remove(r.handle);
    free_.push_back(&r);  // capacity reserved by take()
  }
  /// The record whose receive this is. Requires: one of take().
  static receive_record& of(void* context) noexcept {
    return *static_cast<receive_record*>(static_cast<tagged_receive*>(context));
  }
  /// Null: it has ended, or it is no handle of this transport.
  receive_record* find(weft_tagged handle) noexcept {
    receive_record** const found = by_handle_.find(handle);
    return found == nullptr ? nullptr : *found;
  }

 private:
  std::deque<receive_record> all_;
  std::vector<receive_record*> free_;
  handle_table<handle_kind::tagged, weft_tagged_handle, receive_record*> by_handle_;
};

}  // namespace weft::abi
