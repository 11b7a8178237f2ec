// SPDX-License-Identifier: Apache-2.0
//
// The contender's gather lists, batch, delivered put and notice with its bytes, with the same care as its single posts (raw_careful.hpp):
// as an author of a program for one fabric writes them.
// Hot path: all of it. Threads: one owner.
#pragma once

#include "raw_careful.hpp"

#include <span>

namespace weft::bench {

template <class F, bool Atomics>
class raw_composed : public raw_careful<F, Atomics> {
  using base = raw_careful<F, Atomics>;
  using base::check, base::give, base::living, base::marker_, base::posted, base::take;

 public:
  using base::raw_careful::raw_careful;
  using typename base::handle, typename base::memory, typename base::place, typename base::record, typename base::slot;

  /// A list as the library wants it, of pieces that were looked at.
  struct list {
    iovec pieces[8];
    void* descriptors[8];
    std::size_t count = 0, bytes = 0;
  };
  [[gnu::always_inline]] static bool gather(std::span<const memory> from, list& l) noexcept {
    for (const memory& each : from) {
      if (each.size == 0) continue;
      if (l.count == std::size(l.pieces)) [[unlikely]]
        return false;
      l.pieces[l.count] = {each.data, each.size};
      l.descriptors[l.count++] = each.descriptor;
      l.bytes += each.size;
    }
    return true;
  }

  /// A put, or with an immediate a put_notify; without a context.
  template <bool Notify>
  [[gnu::always_inline]] int put(const handle& to, std::span<const memory> from, const place& at, std::uint32_t immediate) noexcept {
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
    const fi_msg_rma message{l.pieces, l.descriptors, l.count, r->at, &target, 1, &marker_, Notify ? immediate | std::uint64_t{r->theirs} << 32 : 0};
    return static_cast<int>(fi_writemsg(r->ep, &message, Notify ? FI_REMOTE_CQ_DATA : 0));
  }
  [[gnu::always_inline]] int get(const handle& to, std::span<const memory> into, const place& at, void* context) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return base::gone;
    list l;
    if (!gather(into, l)) [[unlikely]]
      return base::outside;
    if (l.bytes > at.room) [[unlikely]]
      return base::outside;
    slot* s = take(*r, base::kind::fetch_add, context);
    if (s == nullptr) [[unlikely]]
      return base::full;
    const fi_rma_iov theirs{at.address, l.bytes, at.key};
    const fi_msg_rma message{l.pieces, l.descriptors, l.count, r->at, &theirs, 1, s, 0};
    return posted(*s, fi_readmsg(r->ep, &message, FI_COMPLETION));
  }
  /// A put that ends when the target has it.
  [[gnu::always_inline]] int put_delivered(const handle& to, const memory& from, std::size_t size, const place& at, void* context) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return base::gone;
    if (const int wrong = check(from, size, at)) [[unlikely]]
      return wrong;
    slot* s = take(*r, base::kind::put_notify, context);
    if (s == nullptr) [[unlikely]]
      return base::full;
    const iovec piece{from.data, size};
    void* descriptor = from.descriptor;
    const fi_rma_iov target{at.address, size, at.key};
    const fi_msg_rma message{&piece, &descriptor, 1, r->at, &target, 1, s, 0};
    return posted(*s, fi_writemsg(r->ep, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE));
  }
  /// One of many: FI_MORE on all but the last.
  [[gnu::always_inline]] int put_notify_of_many(const handle& to, const memory& from, std::size_t size, const place& at, std::uint32_t immediate,
                                                bool more) noexcept {
    const record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return base::gone;
    if (const int wrong = check(from, size, at)) [[unlikely]]
      return wrong;
    const iovec piece{from.data, size};
    void* descriptor = from.descriptor;
    const fi_rma_iov target{at.address, size, at.key};
    const fi_msg_rma message{&piece, &descriptor, 1, r->at, &target, 1, &marker_, immediate | std::uint64_t{r->theirs} << 32};
    return static_cast<int>(fi_writemsg(r->ep, &message, FI_REMOTE_CQ_DATA | (more ? FI_MORE : 0)));
  }
  /// The bytes in the notice: a head that says where they belong, and they. Without a context.
  [[gnu::always_inline]] int fused(const handle& to, const memory& from, std::size_t size, const place& at, std::uint32_t immediate) noexcept {
    const record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return base::gone;
    if (const int wrong = check(from, size, at)) [[unlikely]]
      return wrong;
    struct head {
      std::uint64_t token, address, key;
      std::uint32_t immediate;
    } const h{0, at.address, at.key, immediate};
    std::byte message[256];
    if (size > sizeof message - sizeof h) [[unlikely]]
      return base::outside;
    std::memcpy(message, &h, sizeof h);
    std::memcpy(message + sizeof h, from.data, size);
    return static_cast<int>(fi_injectdata(r->ep, message, sizeof h + size, r->theirs, r->at));
  }
};

}  // namespace weft::bench
