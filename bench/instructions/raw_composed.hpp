// SPDX-License-Identifier: Apache-2.0
//
// The contender's gather lists, batch, delivered put and notice with its bytes, with the same care as its single posts
// (raw_careful.hpp): as an author of a program for one fabric writes them. raw_asked.hpp has what goes by a message and
// its answer (a flush, an atomic that the target executes). raw_striped.hpp has transfers over several rails. Hot path:
// all of it. Threads: one owner.
#pragma once

#include "raw_careful.hpp"

#include <algorithm>
#include <span>

namespace weft::bench {

template <class F, bool Atomics, class Use = tuned_use>
class raw_composed : public raw_careful<F, Atomics, Use> {
  using base = raw_careful<F, Atomics, Use>;

 protected:
  using base::check, base::give, base::living, base::marker_, base::posted, base::take;

 public:
  using base::raw_careful::raw_careful;
  using typename base::handle, typename base::memory, typename base::place, typename base::record, typename base::slot;

  static constexpr std::size_t most = std::min(F::facts.gather_limit, F::facts.rma_gather_limit);
  /// A list in the library's form, of checked pieces.
  struct list {
    iovec pieces[most];
    void* descriptors[most];
    std::size_t count, bytes;
  };
  /// False for more pieces than one call carries, and for a piece without bytes (another path leaves those out). False
  /// also for a sum that wrapped around: a slice that left its region has the largest size, and must not come back into
  /// bounds.
  [[gnu::always_inline]] static bool gather(std::span<const memory> from, list& l) noexcept {
    if (from.size() > most) [[unlikely]]
      return false;
    std::size_t sum = 0;
    for (std::size_t i = 0; i < from.size(); ++i) {
      l.pieces[i] = {from[i].data, from[i].size};
      l.descriptors[i] = from[i].descriptor;
      const std::size_t more = sum + from[i].size;
      if (more <= sum) [[unlikely]]
        return false;
      sum = more;
    }
    l.count = from.size();
    l.bytes = sum;
    return sum != 0;
  }

  /// A put, or with an immediate a put_notify; without a context.
  template <bool Notify>
  [[gnu::always_inline]] int put(const handle& to, std::span<const memory> from, const place& at,
                                 std::uint32_t immediate) noexcept {
    const record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return base::gone;
    list l;
    if (!gather(from, l)) [[unlikely]]
      return base::outside;
    if (l.bytes > at.room) [[unlikely]]
      return base::outside;
    if (!at.writable) [[unlikely]]
      return base::denied;
    const fi_rma_iov target{at.address, l.bytes, at.key};
    const fi_msg_rma message{l.pieces, l.descriptors,
                             l.count,  base::address_of(*r),
                             &target,  1,
                             &marker_, Notify ? immediate | std::uint64_t{r->theirs} << 32 : 0};
    return static_cast<int>(fi_writemsg(r->ep, &message, Notify ? FI_REMOTE_CQ_DATA : 0));
  }
  [[gnu::always_inline]] int get(const handle& to, std::span<const memory> into, const place& at,
                                 void* context) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return base::gone;
    list l;
    if (!gather(into, l)) [[unlikely]]
      return base::outside;
    if (l.bytes > at.room) [[unlikely]]
      return base::outside;
    if (!at.readable) [[unlikely]]
      return base::denied;
    slot* s = take(*r, base::kind::get, context);
    if (s == nullptr) [[unlikely]]
      return base::full;
    const fi_rma_iov theirs{at.address, l.bytes, at.key};
    const fi_msg_rma message{l.pieces, l.descriptors, l.count, base::address_of(*r), &theirs, 1, s, 0};
    return posted(*s, fi_readmsg(r->ep, &message, FI_COMPLETION));
  }
  /// A put that completes when the target has the bytes.
  [[gnu::always_inline]] int put_delivered(const handle& to, const memory& from, std::size_t size, const place& at,
                                           void* context) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return base::gone;
    if (const int wrong = check(from, size, at)) [[unlikely]]
      return wrong;
    if (size == 0) [[unlikely]]
      return base::outside;  // libraries never complete the delivery of zero bytes: another path
    slot* s = take(*r, base::kind::put_notify, context);
    if (s == nullptr) [[unlikely]]
      return base::full;
    const iovec piece{from.data, size};
    void* descriptor = from.descriptor;
    const fi_rma_iov target{at.address, size, at.key};
    const fi_msg_rma message{&piece, &descriptor, 1, base::address_of(*r), &target, 1, s, 0};
    return posted(*s, fi_writemsg(r->ep, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE));
  }

  /// Posts that leave together, FI_MORE on all but the last. Only close() knows the last post. So one post is kept
  /// back, in the library's form. A closed or broken batch keeps none.
  class batch {
   public:
    batch(raw_composed& end, const handle& to) noexcept : to_(to), marker_(&end.marker_) {}
    batch(const batch&) = delete;  // its message points into it
    batch& operator=(const batch&) = delete;

    [[gnu::always_inline]] int put_notify(const memory& from, std::size_t size, const place& at,
                                          std::uint32_t immediate) noexcept {
      const record* r = living(to_);
      if (r == nullptr) [[unlikely]]
        return base::gone;
      if (const int wrong = check(from, size, at)) [[unlikely]]
        return wrong;
      if (size == 0) [[unlikely]]
        return base::outside;  // needs no write: a notice alone
      if (kept_) [[likely]] {
        if (const ssize_t refused = fi_writemsg(r->ep, &message_, FI_REMOTE_CQ_DATA | FI_MORE); refused != 0)
            [[unlikely]]
          return broken(refused);
        ++posted_;
      } else if (const int why = first(*r)) [[unlikely]] {
        return why;
      }
      piece_ = {from.data, size};
      descriptor_ = from.descriptor;
      target_ = {at.address, size, at.key};
      message_.data = immediate | std::uint64_t{r->theirs} << 32;
      return 0;
    }
    int close() noexcept {
      const record* r = living(to_);
      if (r == nullptr || !kept_) return r == nullptr ? base::gone : why_;
      const auto refused = static_cast<int>(fi_writemsg(r->ep, &message_, FI_REMOTE_CQ_DATA));
      if (refused == -FI_EAGAIN) return refused;
      kept_ = false;
      posted_ += refused == 0;
      return refused;
    }
    std::uint32_t posted() const noexcept { return posted_; }

   private:
    [[gnu::cold, gnu::noinline]] int broken(ssize_t refused) noexcept {
      if (refused != -FI_EAGAIN) {
        why_ = static_cast<int>(refused);
        kept_ = false;
      }
      return static_cast<int>(refused);
    }
    [[gnu::noinline]] int first(const record& r) noexcept {
      if (why_ != 0) return why_;
      message_ = {&piece_, &descriptor_, 1, base::address_of(r), &target_, 1, marker_, 0};
      kept_ = true;
      return 0;
    }
    handle to_;
    slot* marker_;
    bool kept_ = false;
    int why_ = 0;
    std::uint32_t posted_ = 0;  ///< When the library refuses one, the program must know which were taken.
    iovec piece_;
    void* descriptor_;
    fi_rma_iov target_;
    fi_msg_rma message_;
  };
};

}  // namespace weft::bench
