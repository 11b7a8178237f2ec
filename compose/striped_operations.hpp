// SPDX-License-Identifier: Apache-2.0
//
// Transfers that several rails carry: each is a row of pieces on each rail, posted as far as the rail's queue has room, the rest behind them in
// the order of the calls. A transfer ends once: when all of its pieces have, in the first error that one of them met.
// Hot path: all of it: no allocation after opening. Threads: the rails' owner.
#pragma once

#include "striped_memory.hpp"
#include "striping.hpp"
#include "transport.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace weft {

/// One transfer.
struct striped_operation {
  operation what{};
  striped_peer to;
  striped_slice from;
  striped_place at;
  std::uint32_t immediate = 0;
  void* user = nullptr;
  status fault;
  std::uint32_t rails_left = 0;   ///< Rails on which pieces have still to be posted.
  std::uint64_t outstanding = 0;  ///< Pieces that were posted and have not ended.
};

template <complete_fabric F>
class striped_operations {
 public:
  striped_operations(std::uint32_t count, striping cut)
      : cut_(cut),
        all_(std::make_unique<striped_operation[]>(count)),
        count_(count),
        next_page_(std::make_unique<std::uint64_t[]>(std::size_t{count} * cut.rails)),
        free_(count),
        ended_(count) {
    for (std::uint32_t i = 0; i < count; ++i) free_.push(i);
    for (std::uint32_t i = 0; i < cut.rails; ++i) queues_.emplace_back(count);
  }
  const striping& cut() const noexcept { return cut_; }
  bool mine(const void* context) const noexcept {
    return std::less_equal<>()(static_cast<const void*>(all_.get()), context) &&
           std::less<>()(context, static_cast<const void*>(all_.get() + count_));
  }
  bool full() const noexcept { return free_.empty(); }
  std::uint32_t in_flight() const noexcept { return taken_; }

  /// Takes a transfer and posts what has room. Requires: !full(), and that its bounds were checked.
  void begin(std::vector<transport<F>>& nets, const striped_operation& asked) noexcept {
    const std::uint32_t index = free_.front();
    free_.pop();
    ++taken_;
    striped_operation& o = all_[index] = asked;
    const std::uint64_t last = cut_.last_page(o.at.offset, o.from.size);
    for (std::uint32_t rail = 0; rail < cut_.rails; ++rail) {
      const std::uint64_t first = cut_.first_page(o.at.offset, rail);
      if (first > last) continue;
      page_of(index, rail) = first;
      queues_[rail].push(index);
      ++o.rails_left;
    }
    for (std::uint32_t rail = 0; rail < cut_.rails; ++rail) post(nets[rail], rail);
  }

  /// Posts what waits for this rail, until its queue is full again.
  void post(transport<F>& net, std::uint32_t rail) noexcept {
    number_ring& queue = queues_[rail];
    while (!queue.empty()) {
      const std::uint32_t index = queue.front();
      striped_operation& o = all_[index];
      std::uint64_t& page = page_of(index, rail);
      const std::uint64_t last = cut_.last_page(o.at.offset, o.from.size);
      for (; o.fault && page <= last; page += cut_.rails) {
        const status s = post_piece(net, rail, o, cut_.piece(o.at.offset, o.from.size, page));
        if (s.is_again()) return;
        if (s) ++o.outstanding;
        else o.fault = s;
      }
      queue.pop();
      --o.rails_left;
      if (o.rails_left == 0 && o.outstanding == 0) ended_.push(index);
    }
  }

  /// A piece ended. Returns true when its transfer has: then take() gives it.
  void piece_ended(void* context, status how) noexcept {
    auto& o = *static_cast<striped_operation*>(context);
    if (!how && o.fault) o.fault = how;
    if (--o.outstanding == 0 && o.rails_left == 0) ended_.push(static_cast<std::uint32_t>(&o - all_.get()));
  }
  bool any_ended() const noexcept { return !ended_.empty(); }
  /// The next transfer that ended; its place is free again. Requires: any_ended().
  striped_operation take() noexcept {
    const std::uint32_t index = ended_.front();
    ended_.pop();
    free_.push(index);
    --taken_;
    return all_[index];
  }

 private:
  std::uint64_t& page_of(std::uint32_t index, std::uint32_t rail) noexcept { return next_page_[std::size_t{index} * cut_.rails + rail]; }

  static status post_piece(transport<F>& net, std::uint32_t rail, striped_operation& o, stripe_piece piece) noexcept {
    if (!o.to.alive()) return error(errc::peer_lost, name_of(o.what));
    const local_memory here = o.from.whole->rails[rail].slice(o.from.offset + (piece.offset - o.at.offset), piece.size);
    const remote_place there = o.at.whole->rails[rail].at(piece.offset);
    const peer other = o.to.on(rail);
    switch (o.what) {
      case operation::put:
        return net.put(other, here, there, &o);
      case operation::get:
        return net.get(other, here, there, &o);
      default:
        return net.put_notify(other, here, there, o.immediate, &o);
    }
  }

  striping cut_;
  std::unique_ptr<striped_operation[]> all_;
  std::uint32_t count_;
  std::uint32_t taken_ = 0;
  std::unique_ptr<std::uint64_t[]> next_page_;  ///< Of each transfer on each rail.
  std::vector<number_ring> queues_;             ///< Of each rail: transfers with pieces to be posted.
  number_ring free_, ended_;
};

}  // namespace weft
