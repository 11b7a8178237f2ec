// SPDX-License-Identifier: Apache-2.0
//
// The contender of transfers over several rails: an endpoint for each, pages in turn. A transfer ends once, when all of its pieces have; what a rail has
// no room for is posted when there is. The remote region's pages are cut by a size that is known when the program runs.
// Hot path: put, look. Threads: one owner.
#pragma once

#include "raw_composed.hpp"

#include <array>

namespace weft::bench {

template <class F, std::size_t Rails>
class raw_striped {
  using end = raw_composed<F, false>;

 public:
  raw_striped(const channel& to, bool first, std::size_t size, std::uint64_t page) : page_(page) {
    for (auto& each : rails_) each = std::make_unique<end>(to, first, size);
    for (transfer& t : all_) give(t);
  }

  /// `size` bytes from the source's start to the region's.
  [[gnu::always_inline]] int put(std::size_t size, void* context) noexcept {
    for (const auto& each : rails_)
      if (size > each->source.size || size > each->there.room) [[unlikely]]
        return end::outside;
    if (!rails_[0]->there.writable) [[unlikely]]
      return end::denied;
    transfer* t = free_;
    if (t == nullptr) [[unlikely]]
      return end::full;
    free_ = t->next;
    t->user = context;
    t->size = size;
    t->outstanding = 0;
    t->fault = 0;
    t->rails_left = Rails;
    for (std::size_t rail = 0; rail < Rails; ++rail) {
      t->page[rail] = rail;
      if (waiting_[rail].empty()) [[likely]] {
        if (!post(*t, rail)) [[unlikely]]
          waiting_[rail].push_back(t);
      } else {
        waiting_[rail].push_back(t);
      }
    }
    return 0;
  }

  /// `ended(user, fault)` for each transfer.
  template <class Ended>
  int look(Ended&& ended) {
    int found = 0;
    for (std::size_t rail = 0; rail < Rails; ++rail) {
      found += rails_[rail]->look(
          [&](auto, auto, void* user, std::uint64_t) {
            auto& t = *static_cast<transfer*>(user);
            if (--t.outstanding != 0 || t.rails_left != 0) return;
            const auto [whose, fault] = std::tuple(t.user, t.fault);
            give(t);
            ended(whose, fault);
          },
          [](auto, std::uint32_t) {}, [](auto, const std::byte*, std::size_t) {});
      while (!waiting_[rail].empty() && post(*waiting_[rail].front(), rail)) waiting_[rail].erase(waiting_[rail].begin());
    }
    return found;
  }

 private:
  struct transfer {
    void* user = nullptr;
    std::uint64_t size = 0, outstanding = 0;
    std::array<std::uint64_t, Rails> page{};  ///< The next one on each rail.
    std::uint32_t rails_left = 0;
    int fault = 0;
    transfer* next = nullptr;
  };

  /// False: the rail has no room. The end of the transfer is told by the last piece that ends.
  [[gnu::always_inline]] bool post(transfer& t, std::size_t rail) noexcept {
    end& by = *rails_[rail];
    for (std::uint64_t& page = t.page[rail]; page * page_ < t.size; page += Rails) {
      const std::uint64_t begin = page * page_, size = std::min(page_, t.size - begin);
      const typename end::memory from{by.source.data + begin, size, by.source.descriptor};
      typename end::place at = by.there;
      at.address += begin;
      at.room -= begin;
      if (const int refused = by.put_delivered(by.other, from, size, at, &t)) [[unlikely]] {
        if (refused == end::full) return false;
        t.fault = refused;
        break;
      }
      ++t.outstanding;
    }
    --t.rails_left;
    return true;
  }
  void give(transfer& t) noexcept {
    t.next = free_;
    free_ = &t;
  }

  std::array<std::unique_ptr<end>, Rails> rails_;
  std::array<transfer, 8> all_;
  std::array<std::vector<transfer*>, Rails> waiting_;
  transfer* free_ = nullptr;
  std::uint64_t page_;
};

}  // namespace weft::bench
