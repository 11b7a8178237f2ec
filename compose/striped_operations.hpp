// SPDX-License-Identifier: Apache-2.0
//
// Transfers that several rails carry: each is a row of pieces on each rail, posted as far as the rail's queue has room, the rest behind them in
// the order of the calls. A transfer ends once: when all of its pieces have, in the first error that one of them met.
// While nothing waits, the call posts a transfer page by page as it was given; where it came from is kept only when a rail has no more room.
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
  std::uint32_t rails_left = 0;  ///< Rails on which pieces have still to be posted.
  striped_peer to;
  void* user = nullptr;
  status fault;
  std::uint64_t outstanding = 0;  ///< Pieces that were posted and have not ended.
  // What is not posted yet:
  striped_slice from;
  striped_place at;
  std::uint32_t immediate = 0;
  striped_operation* after = nullptr;  ///< Free list.
};

template <complete_fabric F>
class striped_operations {
 public:
  striped_operations(std::uint32_t count, striping cut)
      : cut_(cut),
        all_(std::make_unique<striped_operation[]>(count)),
        count_(count),
        next_page_(std::make_unique<std::uint64_t[]>(std::size_t{count} * cut.rails)),
        ended_(count) {
    for (std::uint32_t i = count; i-- > 0;) give(all_[i]);
    for (std::uint32_t i = 0; i < cut.rails; ++i) queues_.emplace_back(count);
  }
  const striping& cut() const noexcept { return cut_; }
  bool mine(const void* context) const noexcept {
    return std::less_equal<>()(static_cast<const void*>(all_.get()), context) &&
           std::less<>()(context, static_cast<const void*>(all_.get() + count_));
  }
  bool full() const noexcept { return free_ == nullptr; }
  std::uint32_t in_flight() const noexcept {
    std::uint32_t free = 0;
    for (const striped_operation* each = free_; each != nullptr; each = each->after) ++free;
    return count_ - free;
  }

  /// Takes a transfer and posts what has room. Requires: !full(), and that its peer, bounds and rights were checked.
  template <operation What>
  [[gnu::always_inline]] void begin(std::vector<transport<F>>& nets, const striped_peer& to, const striped_slice& from, const striped_place& at,
                                    std::uint32_t immediate, void* user) noexcept {
    striped_operation& o = *free_;
    free_ = o.after;
    o.what = What;
    o.rails_left = 0;
    o.to = to;
    o.user = user;
    o.fault.code = errc::ok;
    o.outstanding = 0;
    if (waiting_ != 0) [[unlikely]] {
      keep(o, from, at, immediate);
      return put_off(*this, nets, o, at.offset, cut_.rails);
    }
    const std::uint64_t first = at.offset / cut_.page_bytes;
    const std::uint64_t end = at.offset + from.size;
    std::uint64_t begin = at.offset;
    std::uint64_t page_end = (first + 1) * cut_.page_bytes;
    auto rail = static_cast<std::uint32_t>(first % cut_.rails);
    do {
      const std::uint64_t until = std::min(page_end, end);
      if (const status s = post_piece<What>(nets[rail], rail, o, from, at, immediate, {begin, until - begin}); !s) [[unlikely]] {
        keep(o, from, at, immediate);
        return stopped(*this, nets, o, begin, s);
      }
      ++o.outstanding;
      begin = until;
      page_end += cut_.page_bytes;
      if (++rail == cut_.rails) rail = 0;
    } while (begin != end);
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
        const status s = post_kept(net, rail, o, cut_.piece(o.at.offset, o.from.size, page));
        if (s.is_again()) return;
        if (s) ++o.outstanding;
        else o.fault = s;
      }
      queue.pop();
      --waiting_;
      --o.rails_left;
      if (o.rails_left == 0 && o.outstanding == 0) ended_.push(index);
    }
  }

  /// A piece ended. Returns true when its transfer has: then take() gives it.
  void piece_ended(void* context, status how) noexcept {
    auto& o = *static_cast<striped_operation*>(context);
    if (!how && o.fault) o.fault = how;
    if (--o.outstanding == 0 && o.rails_left == 0) ended_.push(index_of(o));
  }
  bool any_ended() const noexcept { return !ended_.empty(); }
  /// The next transfer that ended; its place is free again. Requires: any_ended().
  striped_operation take() noexcept {
    striped_operation& o = all_[ended_.front()];
    ended_.pop();
    give(o);
    return o;
  }

 private:
  std::uint32_t index_of(const striped_operation& o) const noexcept { return static_cast<std::uint32_t>(&o - all_.get()); }
  std::uint64_t& page_of(std::uint32_t index, std::uint32_t rail) noexcept { return next_page_[std::size_t{index} * cut_.rails + rail]; }
  void give(striped_operation& o) noexcept {
    o.after = free_;
    free_ = &o;
  }

  [[gnu::always_inline]] static void keep(striped_operation& o, const striped_slice& from, const striped_place& at,
                                          std::uint32_t immediate) noexcept {
    o.from = from;
    o.at = at;
    o.immediate = immediate;
  }
  /// A rail did not take the piece that begins here: what follows waits where there is no room, or is not posted any more.
  [[gnu::cold, gnu::noinline]] static void stopped(striped_operations& self, std::vector<transport<F>>& nets, striped_operation& o,
                                                   std::uint64_t begin, status why) noexcept {
    if (why.is_again()) return put_off(self, nets, o, begin, static_cast<std::uint32_t>(begin / self.cut_.page_bytes % self.cut_.rails));
    o.fault = why;
    if (o.outstanding == 0) self.ended_.push(self.index_of(o));
  }
  [[gnu::cold, gnu::noinline]] static void put_off(striped_operations& self, std::vector<transport<F>>& nets, striped_operation& o,
                                                   std::uint64_t begin, std::uint32_t refused) noexcept {
    self.wait(nets, o, begin, refused);
  }
  /// What begins here or later waits on its rails, behind what waits there. The rail that `refused`, and those on which something waited, are asked
  /// again by the next look.
  void wait(std::vector<transport<F>>& nets, striped_operation& o, std::uint64_t begin, std::uint32_t refused) noexcept {
    const std::uint32_t index = index_of(o);
    const std::uint64_t last = cut_.last_page(o.at.offset, o.from.size);
    for (std::uint32_t rail = 0; rail < cut_.rails; ++rail) {
      const std::uint64_t first = cut_.first_page(begin, rail);
      if (first > last) continue;
      page_of(index, rail) = first;
      queues_[rail].push(index);
      ++waiting_;
      ++o.rails_left;
    }
    for (std::uint32_t rail = 0; rail < cut_.rails; ++rail)
      if (rail != refused && !queues_[rail].empty() && queues_[rail].front() == index) post(nets[rail], rail);
  }

  /// All registrations of a region are of the same memory, and grant the same: what was checked for the whole is not checked for its pieces.
  template <operation What>
  [[gnu::always_inline]] static status post_piece(transport<F>& net, std::uint32_t rail, striped_operation& o, const striped_slice& from,
                                                  const striped_place& at, std::uint32_t immediate, stripe_piece piece) noexcept {
    std::byte* const data = from.whole->memory.data() + from.offset + (piece.offset - at.offset);
    const local_memory here{data, piece.size, from.whole->descriptors[rail]};
    const remote_memory start = at.whole->starts[rail];
    const remote_place there{start.address + piece.offset, start.key, piece.size, rights::all};
    const peer other = o.to.on(rail);
    if constexpr (What == operation::put) return net.put(other, here, there, &o);
    else if constexpr (What == operation::get) return net.get(other, here, there, &o);
    else return net.put_notify(other, here, there, immediate, &o);
  }
  /// A piece that waited.
  [[gnu::noinline]] static status post_kept(transport<F>& net, std::uint32_t rail, striped_operation& o, stripe_piece piece) noexcept {
    if (!o.to.alive()) return error(errc::peer_lost, name_of(o.what));
    switch (o.what) {
      case operation::put:
        return post_piece<operation::put>(net, rail, o, o.from, o.at, o.immediate, piece);
      case operation::get:
        return post_piece<operation::get>(net, rail, o, o.from, o.at, o.immediate, piece);
      default:
        return post_piece<operation::put_notify>(net, rail, o, o.from, o.at, o.immediate, piece);
    }
  }

  striping cut_;
  std::unique_ptr<striped_operation[]> all_;
  std::uint32_t count_;
  striped_operation* free_ = nullptr;
  std::uint32_t waiting_ = 0;                   ///< Entries of all queues.
  std::unique_ptr<std::uint64_t[]> next_page_;  ///< Of each transfer on each rail.
  std::vector<number_ring> queues_;             ///< Of each rail: transfers with pieces to be posted.
  number_ring ended_;
};

}  // namespace weft
