// SPDX-License-Identifier: Apache-2.0
//
// The calls of a transport about when a write has ended: a put that completes in a named state, and flush. Hot path:
// put, flush. Threads: the owner's.
#pragma once

#include "../posting/posting_calls.hpp"
#include "completion_level.hpp"

namespace weft::detail {

/// Base of transport<F>.
template <class Transport, class F>
class completion_calls {
  using engine_type = engine<F>;

 public:
  /// A put whose end means one of the four states of compose/states.hpp:
  /// `put(peer, from, at, weft::completes_when<weft::states::visible>(context))`.
  /// A state that the fabric cannot report does not compile.
  template <write_state State>
  [[gnu::always_inline]] status put(peer to, local_memory from, const remote_place& at,
                                    completes_when<State> wanted) noexcept {
    return self().after_waiting(
        to, [&]() __attribute__((always_inline)) {
          return completion_level<engine_type>(e_()).put(to, from, at, wanted);
        });
  }
  template <write_state State>
  [[gnu::always_inline]] status put(peer to, gather_list from, const remote_place& at,
                                    completes_when<State> wanted) noexcept {
    return self().after_waiting(
        to, [&]() __attribute__((always_inline)) {
          return completion_level<engine_type>(e_()).put(to, from, at, wanted);
        });
  }
  /// Ends when each earlier write to this peer is visible there, or has failed; such failures are reported before. One
  /// `completed` or `failed` carries the context. Where the row's flush answer sends a message, the peer must make
  /// progress; where the answer is refused, this does not compile. Where writes are tracked, a flush does not wait for
  /// a put_notify without a context of at most inject_bytes, or of one that travels in its notice (fused_bytes).
  /// Errors: also `again`, while parts of an earlier transfer are not posted yet.
  template <class G = F>
  [[gnu::always_inline]] status flush(peer to, void* context) noexcept {
    flush_is_possible<G>();
    return completion_level<engine_type>(e_()).flush(to, context);
  }
  /// The same, and waits. Other events go to `on` meanwhile.
  template <event_handler Handler, class G = F>
  status flush(peer to, duration timeout, Handler&& on) {
    flush_is_possible<G>();
    return rare_calls<engine_type>::flush_and_wait(e_(), to, timeout, erased_handler::of(on));
  }

 private:
  template <class G>
  static consteval void flush_is_possible() {
    static_assert(!std::same_as<answer<G, flush_family>, answers::flush::refused>,
                  "weft: this fabric cannot tell when earlier writes are visible: no message is kept behind them, and "
                  "no end of a write means delivered; "
                  "`weft explain FABRIC flush` names the facts [WEFT-C018]");
  }
  Transport& self() noexcept { return static_cast<Transport&>(*this); }
  engine_type& e_() const noexcept { return *static_cast<const Transport&>(*this).e_; }
};

}  // namespace weft::detail
