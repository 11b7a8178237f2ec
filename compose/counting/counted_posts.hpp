// SPDX-License-Identifier: Apache-2.0
//
// The posts of a counted transport: each is the post of the fabric below, whose status and size are counted after it.
// The overloads are those of posting/posting_calls.hpp, so that a call reads the same with counters and without. Hot
// path: all of it. Threads: the owner's.
#pragma once

#include "../posting/posting_calls.hpp"
#include "../states.hpp"
#include "counting_engine.hpp"

namespace weft::detail {

/// Base of transport<counted<F>>. `Plain` is transport<F>.
template <class Transport, class Plain>
class counted_posts : public refused_posts<counted_posts<Transport, Plain>> {
  using refused = refused_posts<counted_posts>;

 public:
  using refused::get, refused::put, refused::put_notify, refused::send;
  [[gnu::always_inline]] status send(peer to, local_memory from, void* context) noexcept {
    return posted(to, traffic::send, from, plain().send(to, from, context), context);
  }
  [[gnu::always_inline]] status send(peer to, local_memory from) noexcept {
    return posted(to, traffic::send, from, plain().send(to, from));
  }
  [[gnu::always_inline]] status put(peer to, local_memory from, const remote_place& at, void* context) noexcept {
    return posted(to, traffic::put, from, plain().put(to, from, at, context), context);
  }
  [[gnu::always_inline]] status put(peer to, local_memory from, const remote_place& at) noexcept {
    return posted(to, traffic::put, from, plain().put(to, from, at));
  }
  template <write_state State>
  [[gnu::always_inline]] status put(peer to, local_memory from, const remote_place& at,
                                    completes_when<State> wanted) noexcept {
    return posted(to, traffic::put, from, plain().put(to, from, at, wanted), wanted.context);
  }
  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at, std::uint32_t immediate,
                                           void* context) noexcept {
    return posted(to, traffic::put_notify, from, plain().put_notify(to, from, at, immediate, context), context);
  }
  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at,
                                           std::uint32_t immediate) noexcept {
    return posted(to, traffic::put_notify, from, plain().put_notify(to, from, at, immediate));
  }
  template <spilling_layout L>
  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at, const L& fields,
                                           void* context) noexcept {
    return posted(to, traffic::put_notify, from, plain().put_notify(to, from, at, fields, context), context);
  }
  template <spilling_layout L>
  [[gnu::always_inline]] status put_notify(peer to, local_memory from, const remote_place& at,
                                           const L& fields) noexcept {
    return posted(to, traffic::put_notify, from, plain().put_notify(to, from, at, fields));
  }
  [[gnu::always_inline]] status get(peer from, local_memory into, const remote_place& at, void* context) noexcept {
    return posted(from, traffic::get, into, plain().get(from, into, at, context), context);
  }

  // ---- of several pieces
  [[gnu::always_inline]] status send(peer to, gather_list from, void* context) noexcept {
    return posted(to, traffic::send, from, plain().send(to, from, context), context);
  }
  [[gnu::always_inline]] status send(peer to, gather_list from) noexcept {
    return posted(to, traffic::send, from, plain().send(to, from));
  }
  [[gnu::always_inline]] status put(peer to, gather_list from, const remote_place& at, void* context) noexcept {
    return posted(to, traffic::put, from, plain().put(to, from, at, context), context);
  }
  [[gnu::always_inline]] status put(peer to, gather_list from, const remote_place& at) noexcept {
    return posted(to, traffic::put, from, plain().put(to, from, at));
  }
  template <write_state State>
  [[gnu::always_inline]] status put(peer to, gather_list from, const remote_place& at,
                                    completes_when<State> wanted) noexcept {
    return posted(to, traffic::put, from, plain().put(to, from, at, wanted), wanted.context);
  }
  [[gnu::always_inline]] status put_notify(peer to, gather_list from, const remote_place& at, std::uint32_t immediate,
                                           void* context) noexcept {
    return posted(to, traffic::put_notify, from, plain().put_notify(to, from, at, immediate, context), context);
  }
  [[gnu::always_inline]] status put_notify(peer to, gather_list from, const remote_place& at,
                                           std::uint32_t immediate) noexcept {
    return posted(to, traffic::put_notify, from, plain().put_notify(to, from, at, immediate));
  }
  [[gnu::always_inline]] status get(peer from, gather_list into, const remote_place& at, void* context) noexcept {
    return posted(from, traffic::get, into, plain().get(from, into, at, context), context);
  }

 private:
  Plain& plain() noexcept { return static_cast<Transport&>(*this); }
  [[gnu::always_inline]] status posted(peer to, traffic kind, const local_memory& piece, status s,
                                       const void* context = nullptr) noexcept {
    return static_cast<Transport&>(*this).counts_().posted(to, kind, piece.size, s, context);
  }
  [[gnu::always_inline]] status posted(peer to, traffic kind, gather_list pieces, status s,
                                       const void* context = nullptr) noexcept {
    return static_cast<Transport&>(*this).counts_().posted(to, kind, total_of(pieces), s, context);
  }
};

}  // namespace weft::detail
