// SPDX-License-Identifier: Apache-2.0
//
// Transfers that several rails carry. Each rail carries some pieces of a transfer. They are posted while the rail's
// queue has room; the others wait in the order of the calls. A transfer ends once, when all its pieces have ended, with
// the first error of a piece. While nothing waits, the call posts the pages in order, and keeps the source only if a
// rail has no room. Hot path: all of it: no allocation after opening. Threads: the rails' owner.
#pragma once

#include "../transport.hpp"
#include "striped_memory.hpp"
#include "striping.hpp"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace weft {

/// One transfer.
struct striped_operation {
  operation what{};
  std::uint32_t rails_left = 0;  ///< Rails with pieces still to be posted; 0 after the end.
  striped_peer to;
  void* user = nullptr;
  status fault;
  std::uint64_t outstanding = 0;  ///< Pieces that were posted and have not ended; 0 after the end.
  // What is not posted yet:
  striped_slice from;
  striped_place at;
  std::uint32_t immediate = 0;
  std::uint64_t* page_ends = nullptr;  ///< For each rail: the end of its next page.
  std::uint32_t index = 0;
  striped_operation* after = nullptr;  ///< Free list.
};

template <complete_fabric F>
class striped_operations {
 public:
  striped_operations(std::uint32_t count, striping cut)
      : cut_(cut),
        all_(std::make_unique<striped_operation[]>(count)),
        count_(count),
        page_ends_(std::make_unique<std::uint64_t[]>(std::size_t{count} * cut.rails)),
        ended_(count) {
    for (std::uint32_t i = count; i-- > 0; give(all_[i])) {
      all_[i].index = i;
      all_[i].page_ends = &page_ends_[std::size_t{i} * cut.rails];
    }
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
  [[gnu::always_inline]] void begin(std::vector<transport<F>>& nets, const striped_peer& to, const striped_slice& from,
                                    const striped_place& at, std::uint32_t immediate, void* user) noexcept {
    striped_operation& o = *free_;
    free_ = o.after;
    o.what = What;
    o.to = to;
    o.user = user;
    o.fault.code = errc::ok;
    if (waiting_ != 0) [[unlikely]] {
      keep(o, from, at, immediate);
      return wait_in_turn<What>(*this, nets, o);
    }
    const std::uint64_t end = at.offset + from.size;
    std::uint64_t begin = at.offset;
    std::uint64_t page_end = cut_.page_end(begin);
    std::uint32_t rail = cut_.rail_of(begin);
    do {
      const std::uint64_t until = std::min(page_end, end);
      if (const status s = post_piece<What>(nets[rail], rail, o, from, at, immediate, {begin, until - begin}); !s)
          [[unlikely]] {
        keep(o, from, at, immediate);
        o.fault = s;
        return stopped<What>(*this, nets, o, page_end, rail);
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
      if (o.fault && !post_waiting(net, rail, o)) return;
      queue.pop();
      --waiting_;
      --o.rails_left;
      if (o.rails_left == 0 && o.outstanding == 0) ended_.push(index);
    }
  }

  /// A piece ended. After the last piece, take() returns the transfer.
  void piece_ended(void* context, status how) noexcept {
    auto& o = *static_cast<striped_operation*>(context);
    if (!how && o.fault) o.fault = how;
    if (--o.outstanding == 0 && o.rails_left == 0) ended_.push(o.index);
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
  /// The rail did not take the piece of this page. Without room the rest waits; after an error the rest is not posted.
  template <operation What>
  [[gnu::cold, gnu::noinline]] static void stopped(striped_operations& self, std::vector<transport<F>>& nets,
                                                   striped_operation& o, std::uint64_t page_end,
                                                   std::uint32_t rail) noexcept {
    if (o.fault.is_again()) {
      o.fault.code = errc::ok;
      return wait<What>(self, nets, o, page_end, rail, rail);
    }
    if (o.outstanding == 0) self.ended_.push(o.index);
  }
  template <operation What>
  [[gnu::cold, gnu::noinline]] static void wait_in_turn(striped_operations& self, std::vector<transport<F>>& nets,
                                                        striped_operation& o) noexcept {
    wait<What>(self, nets, o, self.cut_.page_end(o.at.offset), self.cut_.rail_of(o.at.offset), self.cut_.rails);
  }
  /// From the page that ends at `page_end` on, the pieces wait on the rail that `refused` and on rails with waiting
  /// transfers. Other rails post theirs now, until they have no room.
  template <operation What>
  static void wait(striped_operations& self, std::vector<transport<F>>& nets, striped_operation& o,
                   std::uint64_t page_end, std::uint32_t rail, std::uint32_t refused) noexcept {
    const std::uint64_t end = o.at.offset + o.from.size;
    std::uint32_t left = self.cut_.rails;
    do {
      number_ring& queue = self.queues_[rail];
      o.page_ends[rail] = page_end;
      if (rail == refused || !queue.empty() || (o.fault && !post_rest<What>(self, nets[rail], rail, o))) {
        queue.push(o.index);
        ++self.waiting_;
        ++o.rails_left;
      }
      if (page_end >= end) break;
      page_end += self.cut_.page_bytes;
      if (++rail == self.cut_.rails) rail = 0;
    } while (--left != 0);
    if (o.rails_left == 0 && o.outstanding == 0) self.ended_.push(o.index);
  }

  /// One check covers all pieces, because all rails register the same memory with the same rights.
  template <operation What>
  [[gnu::always_inline]] static status post_piece(transport<F>& net, std::uint32_t rail, striped_operation& o,
                                                  const striped_slice& from, const striped_place& at,
                                                  std::uint32_t immediate, stripe_piece piece) noexcept {
    std::byte* const data = from.whole->memory.data() + from.offset + (piece.offset - at.offset);
    const local_memory here{data, piece.size, from.whole->descriptors[rail]};
    const remote_memory start = at.whole->starts[rail];
    const remote_place there{start.address + piece.offset, start.key, piece.size, rights::all};
    const peer other = o.to.on(rail);
    // The rail may have lost its peer before the rails report it: a trusted caller cannot test that.
    if (answer<F, checks_family>::trusts_caller && !other.alive()) return error(errc::peer_lost, name_of(What));
    if constexpr (What == operation::put) return net.put(other, here, there, &o);
    else if constexpr (What == operation::get) return net.get(other, here, there, &o);
    else return net.put_notify(other, here, there, immediate, &o);
  }
  /// Posts this rail's pieces from its next page on. False: no room; page_ends names the page that waits.
  template <operation What>
  [[gnu::noinline]] static bool post_rest(striped_operations& self, transport<F>& net, std::uint32_t rail,
                                          striped_operation& o) noexcept {
    std::uint64_t& page_end = o.page_ends[rail];
    const striping cut = self.cut_;
    const std::uint64_t offset = o.at.offset;
    const std::uint64_t size = o.from.size;
    do {
      if (const status s = post_piece<What>(net, rail, o, o.from, o.at, o.immediate, cut.piece(offset, size, page_end));
          !s) [[unlikely]] {
        if (s.is_again()) return false;
        o.fault = s;
        return true;
      }
      ++o.outstanding;
      page_end += cut.page_bytes * cut.rails;
    } while (page_end - cut.page_bytes < offset + size);
    return true;
  }
  /// Posts the pieces of a transfer that waited.
  bool post_waiting(transport<F>& net, std::uint32_t rail, striped_operation& o) noexcept {
    if (!o.to.alive()) {
      o.fault = error(errc::peer_lost, name_of(o.what));
      return true;
    }
    switch (o.what) {
      case operation::put:
        return post_rest<operation::put>(*this, net, rail, o);
      case operation::get:
        return post_rest<operation::get>(*this, net, rail, o);
      default:
        return post_rest<operation::put_notify>(*this, net, rail, o);
    }
  }

  striping cut_;
  std::unique_ptr<striped_operation[]> all_;
  std::uint32_t count_;
  striped_operation* free_ = nullptr;
  std::uint32_t waiting_ = 0;                   ///< Entries of all queues.
  std::unique_ptr<std::uint64_t[]> page_ends_;  ///< For each transfer and rail: the end of the next page.
  std::vector<number_ring> queues_;             ///< For each rail: transfers with pieces to be posted.
  number_ring ended_;
};

}  // namespace weft
