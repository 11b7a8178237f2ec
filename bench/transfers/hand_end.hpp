// SPDX-License-Identifier: Apache-2.0
//
// Lists of pages by libfabric's own calls: a write for each page, some of them in flight, and one notice. For a row
// that keeps its writes in order, the last write carries the notice. Hot path: the loops. Threads: one owner.
#pragma once

#include "../raw_pingpong/raw_end.hpp"
#include "list_plan.hpp"

namespace weft::bench {

/// Which writes ask for FI_DELIVERY_COMPLETE. Where the row drops a refused write in silence, `each` promises what
/// weft's puts promise, and `last` is the floor: it never learns which page is missing.
enum class confirmed : std::uint8_t { last, each };

/// Requires: `largest` bytes, at least those of a list.
template <class F>
class hand_end : public raw_end<F> {
  using base = raw_end<F>;

 public:
  hand_end(const channel& to, bool first, std::size_t largest) : base(to, first, largest) {}
  void plan(const list_plan& p, patience waiting) {
    plan_ = p;
    spin_ = spinner(waiting);
  }
  void write(confirmed which) {
    const std::uint64_t before = this->ended();
    for (std::uint32_t sent = 0; this->ended() - before < plan_.pages;) {
      for (std::uint32_t batch = 0;
           batch < posts_at_once && sent < plan_.pages && sent - (this->ended() - before) < plan_.in_flight; ++batch)
        if (!post_page(sent, which)) break;
        else ++sent;
      (void)polled();
    }
  }
  void await() {
    for (++awaited_; arrived_ < awaited_;) (void)polled();
  }
  void look() { arrived_ += static_cast<std::uint64_t>(this->poll()); }
  bytes source() { return {this->outgoing(), this->size_}; }
  const_bytes landing() const { return {this->incoming(), this->size_}; }

 private:
  bool post_page(std::uint32_t i, confirmed which) {
    const bool last = i + 1 == plan_.pages;
    const iovec piece{this->outgoing() + i * plan_.size, plan_.size};
    const fi_rma_iov target{this->address_ + place_of(plan_, i) * plan_.size, plan_.size, this->key_};
    const fi_msg_rma message{&piece, &this->descriptor_, 1, this->peer_, &target, 1, &contexts_[i % contexts_.size()],
                             1};
    const ssize_t r = fi_writemsg(
        this->ep_, &message,
        FI_COMPLETION | (last ? FI_REMOTE_CQ_DATA : 0) | (last || which == confirmed::each ? FI_DELIVERY_COMPLETE : 0));
    if (r != 0 && r != -FI_EAGAIN) base::refuse("writing a page", static_cast<int>(r));
    return r == 0;
  }
  int polled() {
    const std::uint64_t before = this->ended();
    const int came = this->poll();
    arrived_ += static_cast<std::uint64_t>(came);
    spin_.polled(came > 0 || this->ended() != before);
    return came;
  }

  list_plan plan_;
  spinner spin_{{}};
  std::array<fi_context2, 256> contexts_{};
  std::uint64_t arrived_ = 0, awaited_ = 0;
};

}  // namespace weft::bench
