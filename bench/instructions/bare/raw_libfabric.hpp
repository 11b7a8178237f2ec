// SPDX-License-Identifier: Apache-2.0
//
// The bare program over libfabric: one peer, one region, no checks. It has no handles, bounds, rights, slots, deadlines
// or error entries. The context of an operation is the caller's own. It makes the library calls of raw_careful.hpp, and
// chooses between injected and other posts by the size, which is known at run time only. Hot path: all of it. Threads:
// one owner.
#pragma once

#include "../../raw_pingpong/raw_end.hpp"

namespace weft::bench {

template <class F, bool Atomics>
class raw_bare : public raw_end<F, Atomics> {
  using base = raw_end<F, Atomics>;
  using base::address_, base::cq_, base::descriptor_, base::ep_, base::key_, base::size_;

 public:
  raw_bare(const channel& to, bool first, std::size_t size)
      : base(to, first, size), messages_(each_message * receives), receives_(receives), from_(base::outgoing()) {
    for (std::size_t i = 0; i < receives; ++i) {
      receives_[i].data = messages_.data() + i * each_message;
      post_again(receives_[i]);
    }
  }

  [[gnu::always_inline]] bool send(std::size_t size) noexcept {
    return (size <= inject ? fi_injectdata(ep_, from_, size, 0, peer())
                           : fi_senddata(ep_, from_, size, descriptor_, 0, peer(), nullptr)) == 0;
  }
  [[gnu::always_inline]] bool send(std::size_t size, void* context) noexcept {
    const iovec piece{from_, size};
    const fi_msg message{&piece, &descriptor_, 1, peer(), context, 0};
    return fi_sendmsg(ep_, &message, FI_REMOTE_CQ_DATA | FI_COMPLETION) == 0;
  }
  [[gnu::always_inline]] bool put(std::size_t size) noexcept {
    if constexpr (F::facts.refused_write == refusal::silent)
      if (size <= inject) return fi_inject_write(ep_, from_, size, peer(), address_, key_) == 0;
    return fi_write(ep_, from_, size, descriptor_, peer(), address_, key_, nullptr) == 0;
  }
  [[gnu::always_inline]] bool put_notify(std::size_t size, std::uint32_t immediate) noexcept {
    return (size <= inject
                ? fi_inject_writedata(ep_, from_, size, immediate, peer(), address_, key_)
                : fi_writedata(ep_, from_, size, descriptor_, immediate, peer(), address_, key_, nullptr)) == 0;
  }
  template <bool Delivered>
  [[gnu::always_inline]] bool put_notify(std::size_t size, std::uint32_t immediate, void* context) noexcept {
    const iovec piece{from_, size};
    const fi_rma_iov target{address_, size, key_};
    const fi_msg_rma message{&piece, &descriptor_, 1, peer(), &target, 1, context, immediate};
    return fi_writemsg(ep_, &message, FI_REMOTE_CQ_DATA | FI_COMPLETION | (Delivered ? FI_DELIVERY_COMPLETE : 0)) == 0;
  }
  [[gnu::always_inline]] bool get(std::size_t size, void* context) noexcept {
    const iovec piece{from_, size};
    const fi_rma_iov theirs{address_, size, key_};
    const fi_msg_rma message{&piece, &descriptor_, 1, peer(), &theirs, 1, context, 0};
    return fi_readmsg(ep_, &message, FI_COMPLETION) == 0;
  }

  /// No single call of the rows that are counted.
  static constexpr bool has_atomics = false;
  template <class T>
  static bool fetch_add(T, void*) noexcept {
    return false;
  }
  template <class T>
  static bool fetch_max(T, void*) noexcept {
    return false;
  }

  /// `ended(context)` for own operations, `landed(immediate)` for notices, `heard(data, size)` for messages.
  template <class Ended, class Landed, class Heard>
  [[gnu::always_inline]] int poll_once(Ended&& ended, Landed&& landed, Heard&& heard) {
    std::array<fi_cq_data_entry, 16> entries;
    const ssize_t count = fi_cq_read(cq_, entries.data(), entries.size());
    return count > 0 ? found(*this, entries.data(), count, ended, landed, heard) : 0;
  }

 private:
  static constexpr std::size_t inject = F::facts.inject_bytes, receives = 64, each_message = 4096;
  struct receive {
    fi_context2 space;
    std::byte* data = nullptr;
  };
  fi_addr_t peer() const noexcept { return base::connected ? FI_ADDR_UNSPEC : base::peer_; }
  template <class Ended, class Landed, class Heard>
  [[gnu::noinline]] static int found(raw_bare& here, const fi_cq_data_entry* e, ssize_t count, Ended& ended,
                                     Landed& landed, Heard& heard) {
    const fi_cq_data_entry* const end = e + count;
    do {
      if ((e->flags & FI_REMOTE_WRITE) != 0) [[likely]] {
        landed(static_cast<std::uint32_t>(e->data));
      } else if ((e->flags & FI_RECV) != 0) {
        receive& in = *static_cast<receive*>(e->op_context);
        heard(in.data, e->len);
        here.post_again(in);
      } else {
        ended(e->op_context);
      }
    } while (++e != end);
    return static_cast<int>(count);
  }
  void post_again(receive& in) { (void)fi_recv(ep_, in.data, each_message, descriptor_, FI_ADDR_UNSPEC, &in); }

  std::vector<std::byte> messages_;
  std::vector<receive> receives_;
  std::byte* from_;
};

}  // namespace weft::bench
