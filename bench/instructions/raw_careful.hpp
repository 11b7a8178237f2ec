// SPDX-License-Identifier: Apache-2.0
//
// The contender of the instruction count: libfabric by hand, with what a careful author adds because a program needs it, and weft has it
// too, each in its cheapest form: a handle of the peer is a record and a number, so that a handle kept too long is recognised; the bytes lie in
// the source and in the region, which grants it; each signalled operation has a slot that remembers kind, peer, context and time; each
// completion gives its slot back and tells what it remembered; a notice tells who wrote; a look inside of a handler finds nothing; every
// 32nd look does the housekeeping.
// Hot path: all of it. Threads: one owner.
#pragma once

#include "../raw_pingpong/raw_end.hpp"

#include <rdma/fi_atomic.h>

#include <tuple>

namespace weft::bench {

template <class F, bool Atomics>
class raw_careful : public raw_end<F, Atomics> {
  using base = raw_end<F, Atomics>;
  using base::address_, base::cq_, base::descriptor_, base::ep_, base::inject_, base::key_, base::peer_, base::size_;

 public:
  struct record {
    std::uint32_t live = 0;
    std::uint32_t theirs = 0;        ///< Their number of the connection: goes into each notice.
    std::uint32_t takes = 1U << 20;  ///< Bytes of their receives.
    fid_ep* ep = nullptr;
    fi_addr_t at = FI_ADDR_UNSPEC;
  };
  struct handle {
    record* of = nullptr;
    std::uint32_t number = 0;
  };
  struct memory {
    std::byte* data = nullptr;
    std::size_t size = 0;
    void* descriptor = nullptr;
  };
  struct place {
    std::uint64_t address = 0, key = 0, room = 0;
    bool writable = false, atomic = false;
  };
  enum class kind : std::uint8_t { put_notify, fetch_add };
  struct slot {
    fi_context2 space;
    record* of = nullptr;
    std::uint32_t posted = 0;
    kind what{};
    bool used = false;
    void* user = nullptr;
    std::uint64_t old = 0, operand = 0;
    slot* next = nullptr;
  };
  static constexpr int denied = -FI_EACCES, outside = -FI_EINVAL, gone = -FI_ENOTCONN, full = -FI_EAGAIN;

  raw_careful(const channel& to, bool first, std::size_t size) : base(to, first, size), slots_(256) {
    for (slot& s : slots_) give(s);
    records_[0] = {1U << 16, 1U << 16, 1U << 20, ep_, peer_};
    other = {&records_[0], 1U << 16};
    source = {base::outgoing(), size, descriptor_};
    there = {address_, key_, size, true, true};
  }

  /// What a program would keep, and pass to each call.
  handle other;
  memory source;
  place there;

  [[gnu::always_inline]] int send(const handle& to, const memory& from, std::size_t size) noexcept {
    const record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (size > from.size || size > r->takes) [[unlikely]]
      return outside;
    return static_cast<int>(size <= F::facts.inject_bytes ? fi_injectdata(r->ep, from.data, size, r->theirs, r->at)
                                                          : fi_senddata(r->ep, from.data, size, from.descriptor, r->theirs, r->at, &marker_));
  }
  [[gnu::always_inline]] int put(const handle& to, const memory& from, std::size_t size, const place& at) noexcept {
    const record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (const int wrong = check(from, size, at)) [[unlikely]]
      return wrong;
    return static_cast<int>(fi_write(r->ep, from.data, size, from.descriptor, r->at, at.address, at.key, &marker_));
  }
  [[gnu::always_inline]] int put_notify(const handle& to, const memory& from, std::size_t size, const place& at, std::uint32_t immediate) noexcept {
    const record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (const int wrong = check(from, size, at)) [[unlikely]]
      return wrong;
    const std::uint64_t data = immediate | std::uint64_t{r->theirs} << 32;
    return static_cast<int>(size <= F::facts.inject_bytes
                                ? fi_inject_writedata(r->ep, from.data, size, data, r->at, at.address, at.key)
                                : fi_writedata(r->ep, from.data, size, from.descriptor, data, r->at, at.address, at.key, &marker_));
  }
  template <bool Delivered>
  [[gnu::always_inline]] int put_notify(const handle& to, const memory& from, std::size_t size, const place& at, std::uint32_t immediate,
                                        void* context) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (const int wrong = check(from, size, at)) [[unlikely]]
      return wrong;
    if (Delivered && size == 0) [[unlikely]]
      return nothing_to_deliver(to, immediate);
    slot* s = take(*r, kind::put_notify, context);
    if (s == nullptr) [[unlikely]]
      return full;
    const iovec piece{from.data, size};
    void* descriptor = from.descriptor;
    const fi_rma_iov target{at.address, size, at.key};
    const fi_msg_rma message{&piece, &descriptor, 1, r->at, &target, 1, s, immediate | std::uint64_t{r->theirs} << 32};
    return posted(*s, fi_writemsg(r->ep, &message, FI_REMOTE_CQ_DATA | FI_COMPLETION | (Delivered ? FI_DELIVERY_COMPLETE : 0)));
  }
  [[gnu::always_inline]] int fetch_add(const handle& to, const place& at, std::uint64_t operand, void* context) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (at.room < sizeof operand || at.address % sizeof operand != 0) [[unlikely]]
      return outside;
    if (!at.atomic) [[unlikely]]
      return denied;
    slot* s = take(*r, kind::fetch_add, context);
    if (s == nullptr) [[unlikely]]
      return full;
    s->operand = operand;
    const fi_ioc add{&s->operand, 1};
    fi_ioc found{&s->old, 1};
    const fi_rma_ioc target{at.address, 1, at.key};
    void* descriptor = slots_descriptor_;
    const fi_msg_atomic message{&add, &descriptor, 1, r->at, &target, 1, FI_UINT64, FI_SUM, s, 0};
    return posted(*s, fi_fetch_atomicmsg(r->ep, &message, &found, &descriptor, 1, FI_COMPLETION));
  }

  /// `ended(kind, peer, user, old)` for own operations, `landed(peer, immediate)` for writes of the peer. Returns how many entries there were.
  template <class Ended, class Landed>
  [[gnu::always_inline]] int look(Ended&& ended, Landed&& landed) {
    if (handling_) [[unlikely]]
      return 0;
    std::array<fi_cq_data_entry, 16> entries;
    const ssize_t count = fi_cq_read(cq_, entries.data(), entries.size());
    if (count < 0 && count != -FI_EAGAIN) [[unlikely]]
      base::failed();
    for (ssize_t i = 0; i < count; ++i) {
      handling_ = true;
      const fi_cq_data_entry& e = entries[static_cast<std::size_t>(i)];
      if ((e.flags & FI_REMOTE_WRITE) != 0) {
        if (const handle from = writer(static_cast<std::uint32_t>(e.data >> 32)); from.of != nullptr)
          landed(from, static_cast<std::uint32_t>(e.data));
      } else if ((e.flags & FI_RECV) == 0 && e.op_context != &marker_) {
        slot& s = *static_cast<slot*>(e.op_context);
        const auto [what, from, user, old] = std::tuple(s.what, handle{s.of, s.of->live}, s.user, s.old);
        give(s);
        ended(what, from, user, old);
      }
    }
    if (count > 0) handling_ = false;
    if (--until_housekeeping_ == 0) [[unlikely]]
      keep_house();
    return count > 0 ? static_cast<int>(count) : 0;
  }

 protected:  // raw_composed.hpp
  static record* living(const handle& h) noexcept { return h.of->live == h.number ? h.of : nullptr; }
  /// Whose number this is; nobody's where the connection exists no more.
  handle writer(std::uint32_t number) noexcept {
    const std::uint32_t index = number & 0xffffU;
    if (index >= records_.size() || records_[index].live != number) return {};
    return {&records_[index], number};
  }
  static int check(const memory& from, std::size_t size, const place& at) noexcept {
    if (size > from.size || size > at.room) [[unlikely]]
      return outside;
    if (!at.writable) [[unlikely]]
      return denied;
    return 0;
  }
  slot* take(record& of, kind what, void* context) noexcept {
    slot* s = free_;
    if (s == nullptr) [[unlikely]]
      return nullptr;
    free_ = s->next;
    s->of = &of;
    s->what = what;
    s->user = context;
    s->posted = tick_;
    s->used = true;
    return s;
  }
  int posted(slot& s, ssize_t returned) noexcept {
    if (returned != 0) [[unlikely]]
      give(s);
    return static_cast<int>(returned);
  }
  void give(slot& s) noexcept {
    s.used = false;
    s.next = free_;
    free_ = &s;
  }
  /// Libraries wait for ever for the delivery of no bytes: the notice goes as a message.
  [[gnu::cold, gnu::noinline]] static int nothing_to_deliver(const handle& to, std::uint32_t immediate) noexcept {
    return static_cast<int>(fi_injectdata(to.of->ep, nullptr, 0, immediate | std::uint64_t{to.of->theirs} << 32, to.of->at));
  }
  [[gnu::noinline]] void keep_house() noexcept {
    until_housekeeping_ = 32;
    tick_ = static_cast<std::uint32_t>(now_ns() / 1'000'000);
  }

  std::vector<slot> slots_;
  std::vector<record> records_ = std::vector<record>(64);
  slot* free_ = nullptr;
  void* slots_descriptor_ = nullptr;
  slot marker_;
  std::uint32_t tick_ = 0;
  std::uint32_t until_housekeeping_ = 32;
  bool handling_ = false;
};

}  // namespace weft::bench
