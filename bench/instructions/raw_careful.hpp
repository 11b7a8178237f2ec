// SPDX-License-Identifier: Apache-2.0
//
// The contender of the instruction count: libfabric by hand, with what a careful author adds because a program needs
// it. weft has all of it too. Each is here in its cheapest form:
// - A peer's handle is a record and a number, so that a stale handle is recognised.
// - The bytes are inside the source and the region, and the region grants the access.
// - Each signalled operation has a slot with kind, peer and context. Its completion frees the slot and reports these.
// - A notice and a message name their sender, one of up to a million peers (transport_options). The message's receive
//   is posted again.
// - A poll inside of a handler finds nothing. Every 32nd poll leaves the short path, as for housekeeping.
// Nothing in it may move: the library holds addresses. Hot path: all of it. Threads: one owner.
#pragma once

#include "../raw_pingpong/raw_end.hpp"

#include <rdma/fi_atomic.h>

#include <tuple>
#include <type_traits>

namespace weft::bench {

template <class F, bool Atomics, class Use = tuned_use>
class raw_careful : public raw_end<F, Atomics, Use> {
  using base = raw_end<F, Atomics, Use>;
  static constexpr bool pools = requires { Use::pool; };
  using base::address_, base::breath_, base::cq_, base::descriptor_, base::ep_, base::inject_, base::key_, base::peer_,
      base::size_;

 public:
  struct record {
    std::uint32_t live = 0;
    std::uint32_t theirs = 0;        ///< The peer's number of the connection: goes into each notice.
    std::uint32_t takes = 1U << 20;  ///< Bytes of the peer's receives.
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
    bool writable = false, atomic = false, readable = false;
  };
  enum class kind : std::uint8_t { send, put_notify, get, fetch_add, put };
  struct receive {
    fi_context2 space;
    record* from = nullptr;
    std::byte* data = nullptr;
  };
  struct slot {
    fi_context2 space;
    record* of = nullptr;
    kind what{};
    std::uint32_t flushes = 0;  ///< Number of flushes at its post: later ones wait for it.
    void* user = nullptr;
    std::uint64_t old = 0, operand = 0;
    slot* next = nullptr;
  };
  static constexpr int denied = -FI_EACCES, outside = -FI_EINVAL, gone = -FI_ENOTCONN, full = -FI_EAGAIN;

  raw_careful(const channel& to, bool first, std::size_t size)
      : base(to, first, size), slots_(256), messages_(each_message * receives), receives_(receives) {
    for (slot& s : slots_) give(s);
    records_[0] = {first_number, first_number, 1U << 20, ep_, peer_};
    other = {&records_[0], first_number};
    source = {base::outgoing(), size, descriptor_};
    there = {address_, key_, size, true, true, true};
    for (std::size_t i = 0; i < receives; ++i) {
      receives_[i].from = &records_[0];
      receives_[i].data = messages_.data() + i * each_message;
      post_again(receives_[i]);
    }
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
    return static_cast<int>(
        size <= F::facts.inject_bytes
            ? fi_injectdata(r->ep, from.data, size, r->theirs, address_of(*r))
            : fi_senddata(r->ep, from.data, size, from.descriptor, r->theirs, address_of(*r), &marker_));
  }
  [[gnu::always_inline]] int send(const handle& to, const memory& from, std::size_t size, void* context) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (size > from.size || size > r->takes) [[unlikely]]
      return outside;
    slot* s = take(*r, kind::send, context);
    if (s == nullptr) [[unlikely]]
      return full;
    const iovec piece{from.data, size};
    void* descriptor = from.descriptor;
    const fi_msg message{&piece, &descriptor, 1, address_of(*r), s, r->theirs};
    return posted(*s, fi_sendmsg(r->ep, &message, FI_REMOTE_CQ_DATA | FI_COMPLETION));
  }
  [[gnu::always_inline]] int get(const handle& from, const memory& into, std::size_t size, const place& at,
                                 void* context) noexcept {
    record* r = living(from);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (size > into.size || size > at.room) [[unlikely]]
      return outside;
    if (!at.readable) [[unlikely]]
      return denied;
    if (size == 0) [[unlikely]]
      return outside;
    slot* s = take(*r, kind::get, context);
    if (s == nullptr) [[unlikely]]
      return full;
    const iovec piece{into.data, size};
    void* descriptor = into.descriptor;
    const fi_rma_iov from_there{at.address, size, at.key};
    const fi_msg_rma message{&piece, &descriptor, 1, address_of(*r), &from_there, 1, s, 0};
    return posted(*s, fi_readmsg(r->ep, &message, FI_COMPLETION));
  }
  [[gnu::always_inline]] int put(const handle& to, const memory& from, std::size_t size, const place& at) noexcept {
    record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (const int wrong = check(from, size, at)) [[unlikely]]
      return wrong;
    if constexpr (tracks) return put_tracked(*r, from, size, at);
    if constexpr (F::facts.refused_write == refusal::silent)
      if (size - 1 < F::facts.inject_bytes)
        return static_cast<int>(fi_inject_write(r->ep, from.data, size, address_of(*r), at.address, at.key));
    return static_cast<int>(
        fi_write(r->ep, from.data, size, from.descriptor, address_of(*r), at.address, at.key, &marker_));
  }
  [[gnu::always_inline]] int put_notify(const handle& to, const memory& from, std::size_t size, const place& at,
                                        std::uint32_t immediate) noexcept {
    const record* r = living(to);
    if (r == nullptr) [[unlikely]]
      return gone;
    if (const int wrong = check(from, size, at)) [[unlikely]]
      return wrong;
    const std::uint64_t data = immediate | std::uint64_t{r->theirs} << 32;
    return static_cast<int>(size <= F::facts.inject_bytes
                                ? fi_inject_writedata(r->ep, from.data, size, data, address_of(*r), at.address, at.key)
                                : fi_writedata(r->ep, from.data, size, from.descriptor, data, address_of(*r),
                                               at.address, at.key, &marker_));
  }
  template <bool Delivered>
  [[gnu::always_inline]] int put_notify(const handle& to, const memory& from, std::size_t size, const place& at,
                                        std::uint32_t immediate, void* context) noexcept {
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
    const fi_msg_rma message{&piece,  &descriptor, 1, address_of(*r),
                             &target, 1,           s, immediate | std::uint64_t{r->theirs} << 32};
    return posted(
        *s, fi_writemsg(r->ep, &message, FI_REMOTE_CQ_DATA | FI_COMPLETION | (Delivered ? FI_DELIVERY_COMPLETE : 0)));
  }
  template <class T = std::uint64_t>
  [[gnu::always_inline]] int fetch_add(const handle& to, const place& at, std::type_identity_t<T> operand,
                                       void* context) noexcept {
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
    std::memcpy(&s->operand, &operand, sizeof operand);
    const fi_ioc add{&s->operand, 1};
    fi_ioc found{&s->old, 1};
    const fi_rma_ioc target{at.address, 1, at.key};
    void* descriptor = slots_descriptor_;
    const fi_msg_atomic message{
        &add,   &descriptor, 1, address_of(*r), &target, 1, std::is_same_v<T, float> ? FI_FLOAT : FI_UINT64,
        FI_SUM, s,           0};
    return posted(*s, fi_fetch_atomicmsg(r->ep, &message, &found, &descriptor, 1, FI_COMPLETION));
  }

  /// `ended(kind, peer, user, old)` for own operations, `landed(peer, immediate)` for writes of the peer, `heard(peer,
  /// data, size)` for its messages. Returns the number of entries. One word says whether more than the queue needs
  /// attention. A function of its own handles what is found.
  template <class Ended, class Landed, class Heard>
  [[gnu::always_inline]] int poll_once(Ended&& ended, Landed&& landed, Heard&& heard) {
    if (static_cast<std::int32_t>(--quick_polls_) < 0) [[unlikely]]
      if (!is_owner_polling()) return 0;
    poll_frame l;
    l.from = this;
    breath_.before_poll();
    const ssize_t count = fi_cq_read(cq_, l.entries.data(), l.entries.size());
    if (count > 0) return found(l, static_cast<int>(count), ended, landed, heard);
    if (count == -FI_EAVAIL) [[unlikely]]
      l.from->failed_entry();
    return 0;
  }

 protected:  // raw_composed.hpp
  /// Connected endpoints have one peer, and take no address.
  static fi_addr_t address_of(const record& r) noexcept { return base::connected ? FI_ADDR_UNSPEC : r.at; }
  static record* living(const handle& h) noexcept { return h.of->live == h.number ? h.of : nullptr; }
  /// The peer with this number; none where the connection is gone.
  handle writer(std::uint32_t number) noexcept {
    const std::uint32_t index = number & (first_number - 1);
    if (index >= capacity_ || records_[index].live != number) return {};
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
    if constexpr (tracks) s->flushes = flushes_;
    return s;
  }
  /// No later message can overtake this flush, so it waits for the delivery.
  [[gnu::always_inline]] int put_tracked(record& r, const memory& from, std::size_t size, const place& at) noexcept {
    slot* s = take(r, kind::put, nullptr);
    if (s == nullptr) [[unlikely]]
      return full;
    const iovec piece{from.data, size};
    void* descriptor = from.descriptor;
    const fi_rma_iov target{at.address, size, at.key};
    const fi_msg_rma message{&piece, &descriptor, 1, address_of(r), &target, 1, s, 0};
    return posted(*s, fi_writemsg(r.ep, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE));
  }
  int posted(slot& s, ssize_t returned) noexcept {
    if (returned != 0) [[unlikely]]
      give(s);
    return static_cast<int>(returned);
  }
  void give(slot& s) noexcept {
    s.next = free_;
    free_ = &s;
  }
  /// Libraries never complete the delivery of zero bytes: the notice goes as a message.
  [[gnu::cold, gnu::noinline]] static int nothing_to_deliver(const handle& to, std::uint32_t immediate) noexcept {
    return static_cast<int>(
        fi_injectdata(to.of->ep, nullptr, 0, immediate | std::uint64_t{to.of->theirs} << 32, address_of(*to.of)));
  }
  /// Receives of a link that ended come back as cancelled; nothing else may fail here.
  [[gnu::cold, gnu::noinline]] void failed_entry() {
    fi_cq_err_entry e{};
    fi_cq_readerr(cq_, &e, 0);
    if (e.err != FI_ECANCELED) base::refuse("completion", e.err);
  }
  /// The path of a poll: one that finds nothing keeps nothing in registers.
  struct poll_frame {
    raw_careful* from;
    std::array<fi_cq_data_entry, 16> entries;
  };
  template <class Ended, class Landed, class Heard>
  [[gnu::noinline]] static int found(const poll_frame& l, int count, Ended& ended, Landed& landed, Heard& heard) {
    l.from->breath_.found();
    l.from->report_entries(l.entries.data(), count, ended, landed, heard);
    return count;
  }
  template <class Ended, class Landed, class Heard>
  [[gnu::always_inline]] void report_entries(const fi_cq_data_entry* e, int count, Ended& ended, Landed& landed,
                                             Heard& heard) {
    quick_polls_ |= handling;
    const fi_cq_data_entry* const end = e + count;
    do {
      if ((e->flags & FI_REMOTE_WRITE) != 0) [[likely]] {
        if (const handle from = writer(static_cast<std::uint32_t>(e->data >> 32)); from.of != nullptr)
          landed(from, static_cast<std::uint32_t>(e->data));
      } else if ((e->flags & FI_RECV) != 0) {
        arrived(*static_cast<receive*>(e->op_context), static_cast<std::uint32_t>(e->data), e->len, heard);
      } else if (e->op_context != &marker_) {
        slot& s = *static_cast<slot*>(e->op_context);
        const auto [what, from, user, old] = std::tuple(s.what, handle{s.of, s.of->live}, s.user, s.old);
        give(s);
        if (!tracks || what != kind::put) ended(what, from, user, old);
      }
    } while (++e != end);
    quick_polls_ &= ~handling;
  }
  /// A message: its sender must be the peer that it names. Its receive is posted again after the handler.
  template <class Heard>
  [[gnu::always_inline]] void arrived(receive& in, std::uint32_t number, std::size_t size, Heard& heard) {
    handle from;
    if constexpr (!base::connected || pools) from = writer(number);
    else if (in.from->live == number) from = {in.from, number};
    if (from.of != nullptr) heard(from, in.data, size);
    post_again(in);
  }
  [[gnu::always_inline]] void post_again(receive& in) {
    if (fi_recv(pools ? base::pool_ : in.from->ep, in.data, each_message, nullptr, FI_ADDR_UNSPEC, &in) != 0)
        [[unlikely]]
      base::refuse("fi_recv", FI_EOTHER);
  }
  /// False: a handler is running.
  [[gnu::cold, gnu::noinline]] bool is_owner_polling() noexcept {
    if (static_cast<std::int32_t>(++quick_polls_) < 0) return false;
    quick_polls_ = 31;
    return true;
  }

  static constexpr std::uint32_t first_number =
      1U << 20;  ///< 20 bits of the record's index; above them the number of its uses.
  /// A program that counts at its peers may get no order after writes (rxm of libfabric 1.17). Then only delivery shows
  /// that the writes are visible.
  static constexpr bool tracks = Atomics && F::facts.atomics_cost_order;
  static constexpr std::size_t receives = 64, each_message = 4096;
  std::vector<slot> slots_;
  std::vector<std::byte> messages_;
  std::vector<receive> receives_;
  std::unique_ptr<record[]> records_ = std::make_unique<record[]>(64);
  std::uint32_t capacity_ = 64;
  slot* free_ = nullptr;
  void* slots_descriptor_ = nullptr;
  slot marker_;
  static constexpr std::uint32_t handling = 0xc0000000U;
  std::uint32_t flushes_ = 0;
  std::uint32_t quick_polls_ = 32;  ///< Below 0: a handler is running, and polls inside of it find nothing.
};

}  // namespace weft::bench
