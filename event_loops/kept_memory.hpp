// SPDX-License-Identifier: Apache-2.0
//
// Owners of the memory of operations that nobody waits for any more. A cancellation or a deadline ends the wait, and
// the library goes on reading or writing; an owner stays here until the operation ends. Hot path: one comparison.
// Threads: the owner's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace weft::event_loops {

class kept_memory {
  using owner = std::shared_ptr<const void>;

 public:
  /// For operations with these many tickets.
  explicit kept_memory(std::uint32_t tickets) : kept_(tickets) { let_go_.reserve(tickets); }
  kept_memory(const kept_memory&) = delete;
  kept_memory& operator=(const kept_memory&) = delete;
  /// Nobody would learn when the library lets go of what is left, so that memory stays for ever.
  ~kept_memory() {
    if (count_ > 0) (void)new (std::nothrow) std::vector<owner>(std::move(kept_));
  }

  void keep(std::size_t number, owner what) noexcept {
    kept_[number] = std::move(what);
    ++count_;
  }
  /// The operation of the ticket with this number ended.
  void let_go(std::size_t number) noexcept {
    if (count_ == 0 || kept_[number].use_count() == 0) return;  // an owner need not point at anything
    --count_;
    let_go_.push_back(std::exchange(kept_[number], nullptr));
  }
  /// Ends what was let go. Not inside of progress(): an owner's end may use the transport, which lets go of more.
  void release() noexcept {
    while (!let_go_.empty()) {
      const owner last = std::move(let_go_.back());
      let_go_.pop_back();
    }
  }

 private:
  std::vector<owner> kept_, let_go_;
  std::uint32_t count_ = 0;
};

}  // namespace weft::event_loops
