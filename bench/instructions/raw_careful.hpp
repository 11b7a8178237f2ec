// SPDX-License-Identifier: Apache-2.0
//
// The contender of the instruction count: libfabric by hand, with what a careful author adds because a program needs it, and weft has it
// too: the peer is alive, the bytes lie in the region, the region grants it, each signalled operation has a slot that remembers the
// caller's context, each completion gives its slot back, and every 32nd look does the housekeeping.
// Hot path: all of it. Threads: one owner.
#pragma once

#include "../raw_pingpong/raw_end.hpp"

#include <rdma/fi_atomic.h>

namespace weft::bench {

template <class F, bool Atomics>
class raw_careful : public raw_end<F, Atomics> {
  using base = raw_end<F, Atomics>;
  using base::address_, base::cq_, base::descriptor_, base::ep_, base::inject_, base::key_, base::peer_, base::size_;

 public:
  struct slot {
    fi_context2 space;
    void* user = nullptr;
    std::uint64_t old = 0, operand = 0;
    std::uint32_t posted = 0;
    slot* next = nullptr;
    bool used = false;
  };
  static constexpr int denied = -FI_EACCES, outside = -FI_EINVAL, gone = -FI_ENOTCONN, full = -FI_EAGAIN;

  raw_careful(const channel& to, bool first, std::size_t size) : base(to, first, size), slots_(256) {
    for (slot& s : slots_) give(s);
  }

  int send(std::size_t size) noexcept {
    if (!alive_) [[unlikely]]
      return gone;
    if (size > size_) [[unlikely]]
      return outside;
    return static_cast<int>(size <= inject_ ? fi_injectdata(ep_, base::outgoing(), size, 1, peer_)
                                            : fi_senddata(ep_, base::outgoing(), size, descriptor_, 1, peer_, &marker_));
  }
  int put(std::size_t offset, std::size_t size) noexcept {
    if (const int wrong = check(offset, size)) [[unlikely]]
      return wrong;
    return static_cast<int>(fi_write(ep_, base::outgoing(), size, descriptor_, peer_, address_ + offset, key_, &marker_));
  }
  int put_notify(std::size_t offset, std::size_t size, std::uint32_t immediate) noexcept {
    if (const int wrong = check(offset, size)) [[unlikely]]
      return wrong;
    const std::uint64_t data = immediate | std::uint64_t{their_number_} << 32;
    return static_cast<int>(size <= inject_ ? fi_inject_writedata(ep_, base::outgoing(), size, data, peer_, address_ + offset, key_)
                                            : fi_writedata(ep_, base::outgoing(), size, descriptor_, data, peer_, address_ + offset, key_, &marker_));
  }
  template <bool Delivered>
  int put_notify(std::size_t offset, std::size_t size, std::uint32_t immediate, void* context) noexcept {
    if (const int wrong = check(offset, size)) [[unlikely]]
      return wrong;
    slot* s = take(context);
    if (s == nullptr) [[unlikely]]
      return full;
    const iovec piece{base::outgoing(), size};
    const fi_rma_iov target{address_ + offset, size, key_};
    const fi_msg_rma message{&piece, &descriptor_, 1, peer_, &target, 1, s, immediate | std::uint64_t{their_number_} << 32};
    const ssize_t r = fi_writemsg(ep_, &message, FI_REMOTE_CQ_DATA | FI_COMPLETION | (Delivered ? FI_DELIVERY_COMPLETE : 0));
    if (r != 0) [[unlikely]]
      give(*s);
    return static_cast<int>(r);
  }
  int fetch_add(std::size_t offset, std::uint64_t operand, void* context) noexcept {
    if (const int wrong = check(offset, sizeof operand)) [[unlikely]]
      return wrong;
    if (offset % sizeof operand != 0) [[unlikely]]
      return outside;
    slot* s = take(context);
    if (s == nullptr) [[unlikely]]
      return full;
    s->operand = operand;
    const fi_ioc add{&s->operand, 1};
    fi_ioc found{&s->old, 1};
    const fi_rma_ioc target{address_ + offset, 1, key_};
    const fi_msg_atomic message{&add, &descriptor_, 1, peer_, &target, 1, FI_UINT64, FI_SUM, s, 0};
    const ssize_t r = fi_fetch_atomicmsg(ep_, &message, &found, &descriptor_, 1, FI_COMPLETION);
    if (r != 0) [[unlikely]]
      give(*s);
    return static_cast<int>(r);
  }

  /// `ended(user, old)` for own operations, `landed(immediate)` for writes of the peer. Returns how many entries there were.
  template <class Ended, class Landed>
  int look(Ended&& ended, Landed&& landed) {
    std::array<fi_cq_data_entry, 16> entries;
    const ssize_t count = fi_cq_read(cq_, entries.data(), entries.size());
    for (ssize_t i = 0; i < count; ++i) {
      const fi_cq_data_entry& e = entries[static_cast<std::size_t>(i)];
      if ((e.flags & FI_REMOTE_WRITE) != 0) {
        landed(static_cast<std::uint32_t>(e.data));
      } else if ((e.flags & FI_RECV) == 0 && e.op_context != &marker_) {
        slot& s = *static_cast<slot*>(e.op_context);
        void* const user = s.user;
        const std::uint64_t old = s.old;
        give(s);
        ended(user, old);
      }
    }
    if (count < 0 && count != -FI_EAGAIN) [[unlikely]]
      base::failed();
    if (--until_housekeeping_ == 0) [[unlikely]]
      keep_house();
    return count > 0 ? static_cast<int>(count) : 0;
  }

 private:
  int check(std::size_t offset, std::size_t size) const noexcept {
    if (!alive_) [[unlikely]]
      return gone;
    if (offset > size_ || size > size_ - offset) [[unlikely]]
      return outside;
    if (!writable_) [[unlikely]]
      return denied;
    return 0;
  }
  slot* take(void* context) noexcept {
    slot* s = free_;
    if (s == nullptr) [[unlikely]]
      return nullptr;
    free_ = s->next;
    s->user = context;
    s->posted = tick_;
    s->used = true;
    return s;
  }
  void give(slot& s) noexcept {
    s.used = false;
    s.next = free_;
    free_ = &s;
  }
  [[gnu::noinline]] void keep_house() noexcept {
    until_housekeeping_ = 32;
    tick_ = static_cast<std::uint32_t>(now_ns() / 1'000'000);
  }

  std::vector<slot> slots_;
  slot* free_ = nullptr;
  slot marker_;
  std::uint32_t tick_ = 0;
  std::uint32_t until_housekeeping_ = 32;
  std::uint32_t their_number_ = 1;
  bool alive_ = true;
  bool writable_ = true;
};

}  // namespace weft::bench
