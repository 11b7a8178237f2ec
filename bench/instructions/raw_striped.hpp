// SPDX-License-Identifier: Apache-2.0
//
// The contender of transfers over several rails: an endpoint for each, pages in turn. A transfer completes once, when
// all of its pieces have. A piece without room on its rail is posted later. Known at run time only: the number of rails
// (as many as it got addresses), the size of the pages that divide the remote region, and a transfer's offset. Bounds
// and rights are checked once for the whole, a connection by each post. Hot path: put, look. Threads: one owner.
#pragma once

#include "raw_composed.hpp"

#include <array>

namespace weft::bench {

template <class F>
class raw_striped {
  using end = raw_composed<F, false>;
  static constexpr std::size_t most_rails = 64;

 public:
  /// Connections of all rails; none of them is used after one was lost.
  struct record {
    std::uint32_t live = 0;
    bool lost = false;
    std::vector<typename end::handle> on;  ///< One per rail.
  };
  struct handle {
    const record* of = nullptr;
    std::uint32_t number = 0;
  };

  /// One memory, registered with each rail, and a peer's: a program has several, and passes one to each call.
  struct memory {
    std::size_t size = 0;
    std::vector<typename end::memory> on;
  };
  struct place {
    std::uint64_t room = 0;
    bool writable = false;
    std::vector<typename end::place> on;
  };

  raw_striped(const channel& to, bool first, std::uint32_t rails, std::size_t size, std::uint64_t page) : page_(page) {
    for (std::uint32_t i = 0; i < rails; ++i) {
      rails_.push_back(std::make_unique<end>(to, first, size));
      first_.on.push_back(rails_[i]->other);
      source.on.push_back(rails_[i]->source);
      there.on.push_back(rails_[i]->there);
    }
    source.size = size;
    there.room = rails_[0]->there.room;
    there.writable = rails_[0]->there.writable;
    waiting_on_.resize(rails);
    for (transfer& t : all_) give(t);
  }
  handle other{&first_, 1};
  memory source;
  place there;

  /// `size` bytes from `offset` in the source to `at` in the region.
  [[gnu::always_inline]] int put(const handle& to, const memory& from, std::uint64_t offset, std::size_t size,
                                 const place& target, std::uint64_t at, void* context) noexcept {
    if (to.of->live != to.number || to.of->lost) [[unlikely]]
      return end::gone;
    if (offset > from.size || size > from.size - offset || at > target.room || size > target.room - at) [[unlikely]]
      return end::outside;
    if (!target.writable) [[unlikely]]
      return end::denied;
    transfer* t = free_;
    if (t == nullptr) [[unlikely]]
      return end::full;
    free_ = t->next;
    t->to = to;
    t->user = context;
    t->what = end::kind::put_notify;
    t->fault = 0;
    if (waiting_ != 0) [[unlikely]]
      return wait(*t, from, offset, size, target, at, at, rails_.size());
    const std::uint64_t first = at / page_, last = at + size;
    std::uint64_t begin = at, page_end = (first + 1) * page_;
    std::size_t rail = first % rails_.size();
    do {
      const std::uint64_t until = std::min(page_end, last);
      if (const int refused = post(*t, rail, from, offset + (begin - at), until - begin, target, begin)) [[unlikely]]
        return stopped(*t, refused, from, offset, size, target, at, begin);
      ++t->outstanding;
      begin = until;
      page_end += page_;
      if (++rail == rails_.size()) rail = 0;
    } while (begin != last);
    return 0;
  }

  /// `ended(kind, peer, user, fault)` for each transfer.
  template <class Ended>
  int poll_once(Ended&& ended) {
    int found = 0;
    for (std::size_t rail = 0; rail < rails_.size(); ++rail) {
      found += rails_[rail]->poll_once(
          [&](auto, auto, void* user, std::uint64_t) {
            auto& t = *static_cast<transfer*>(user);
            --t.outstanding;
            report_end(t, ended);
          },
          [](auto, std::uint32_t) {}, [](auto, const std::byte*, std::size_t) {});
      while (!waiting_on_[rail].empty()) {
        transfer& t = *waiting_on_[rail].front();
        if (!post_rest(t, rail)) break;
        waiting_on_[rail].erase(waiting_on_[rail].begin());
        --waiting_;
        report_end(t, ended);
      }
    }
    return found;
  }

 private:
  struct transfer {
    handle to;
    void* user = nullptr;
    typename end::kind what{};
    int fault = 0;
    std::uint64_t outstanding = 0;  // 0 once the transfer has completed, or without rails
    std::uint32_t rails_left = 0;
    const memory* from = nullptr;  ///< Of a transfer that waits, as are all members until `page`.
    const place* target = nullptr;
    std::uint64_t offset = 0, size = 0, at = 0;
    std::array<std::uint64_t, most_rails> page{};  ///< The next page on each rail.
    transfer* next = nullptr;
  };

  [[gnu::always_inline]] int post(transfer& t, std::size_t rail, const memory& from, std::uint64_t offset,
                                  std::uint64_t size, const place& target, std::uint64_t at) noexcept {
    const auto& [data, whole, descriptor] = from.on[rail];
    const typename end::place& theirs = target.on[rail];
    return rails_[rail]->put_delivered(t.to.of->on[rail], {data + offset, size, descriptor}, size,
                                       {theirs.address + at, theirs.key, size, true}, &t);
  }
  [[gnu::cold, gnu::noinline]] int stopped(transfer& t, int refused, const memory& from, std::uint64_t offset,
                                           std::size_t size, const place& target, std::uint64_t at,
                                           std::uint64_t begin) noexcept {
    if (refused == end::full) return wait(t, from, offset, size, target, at, begin, begin / page_ % rails_.size());
    t.fault = refused;
    if (t.outstanding != 0) return 0;
    give(t);
    return refused;
  }
  [[gnu::cold, gnu::noinline]] int wait(transfer& t, const memory& from, std::uint64_t offset, std::size_t size,
                                        const place& target, std::uint64_t at, std::uint64_t begin,
                                        std::size_t refused) noexcept {
    t.from = &from;
    t.target = &target;
    t.offset = offset;
    t.size = size;
    t.at = at;
    const std::uint64_t first = begin / page_;
    for (std::uint64_t page = first; page < first + rails_.size() && std::max(at, page * page_) < at + size; ++page) {
      const std::size_t rail = page % rails_.size();
      t.page[rail] = page;
      waiting_on_[rail].push_back(&t);
      ++waiting_;
      ++t.rails_left;
    }
    for (std::size_t rail = 0; rail < rails_.size(); ++rail)  // the others need not wait for the next poll
      if (rail != refused && !waiting_on_[rail].empty() && waiting_on_[rail].front() == &t && post_rest(t, rail)) {
        waiting_on_[rail].erase(waiting_on_[rail].begin());
        --waiting_;
      }
    return 0;
  }
  /// False: the rail has no room.
  bool post_rest(transfer& t, std::size_t rail) noexcept {
    for (std::uint64_t& page = t.page[rail]; t.fault == 0 && page * page_ < t.at + t.size; page += rails_.size()) {
      const std::uint64_t begin = std::max(t.at, page * page_), until = std::min(t.at + t.size, (page + 1) * page_);
      if (const int refused = post(t, rail, *t.from, t.offset + (begin - t.at), until - begin, *t.target, begin))
          [[unlikely]] {
        if (refused == end::full) return false;
        t.fault = refused;
        break;
      }
      ++t.outstanding;
    }
    --t.rails_left;
    return true;
  }
  template <class Ended>
  void report_end(transfer& t, Ended& ended) {
    if (t.outstanding != 0 || t.rails_left != 0) return;
    const auto [what, whose, user, fault] = std::tuple(t.what, t.to, t.user, t.fault);
    give(t);
    ended(what, whose, user, fault);
  }
  void give(transfer& t) noexcept {
    t.next = free_;
    free_ = &t;
  }

  record first_{1, false, {}};
  std::vector<std::unique_ptr<end>> rails_;
  std::array<transfer, 8> all_;
  std::vector<std::vector<transfer*>> waiting_on_;  ///< Per rail.
  std::size_t waiting_ = 0;                         ///< Over all rails.
  transfer* free_ = nullptr;
  std::uint64_t page_;
};

}  // namespace weft::bench
