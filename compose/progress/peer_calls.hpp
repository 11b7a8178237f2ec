// SPDX-License-Identifier: Apache-2.0
//
// The calls of a transport by which peers meet, exchange regions and part. They belong to set-up: those with a timeout
// make progress themselves, and none of these may run inside a handler. Hot path: no. Threads: the owner's.
#pragma once

#include "../connecting/refuse_events.hpp"
#include "../engine/rare_calls.hpp"
#include "../memory/memory_calls.hpp"
#include "../posting/posting_calls.hpp"
#include "blocking_calls.hpp"

#include <string>
#include <string_view>

namespace weft::detail {

/// Base of transport<F>.
template <class Transport, class F>
class peer_calls {
  using engine_type = engine<F>;
  using waiting = blocking_calls<engine_type>;
  using rare = rare_calls<engine_type>;

 public:
  /// Where others connect to: "host:service" for connect() on their side. Requires options.listens or a service.
  std::string listen_address() const { return e_().listens_at; }

  /// Begins to connect and returns at once; the end is `connected` or `lost`. `where` is host:service on every fabric.
  result<peer> start_connect(std::string_view where) { return rare::start(e_(), where, {}, false); }
  result<peer> start_connect(std::string_view where, const_bytes private_data) {
    return rare::start(e_(), where, private_data, true);
  }
  /// Connects, and returns when the other side has accepted. Other events go to `on` meanwhile; without a handler they
  /// are an error. Errors: unreachable, rejected, incompatible, deadline; the sentence says which and why.
  template <class Handler = refuse_events>
  result<peer> connect(std::string_view where, duration timeout, Handler&& on = {}) {
    return rare::connect(e_(), where, {}, false, timeout, on);
  }
  template <class Handler = refuse_events>
  result<peer> connect(std::string_view where, const_bytes private_data, duration timeout, Handler&& on = {}) {
    return rare::connect(e_(), where, private_data, true, timeout, on);
  }
  /// Waits for a request and accepts it. Further requests go to `on`; without a handler they stay for the next call,
  /// and other events are an error. Errors: invalid (this transport does not listen), deadline.
  template <class Handler = refuse_events>
  result<peer> accept_one(duration timeout, Handler&& on = {}) {
    return rare::accept_one(e_(), timeout, on);
  }
  /// Answers a `requested` event. Private data of up to 64 bytes reaches the other side with `connected`.
  status accept(peer p) noexcept { return rare::accept(e_(), p, {}, false); }
  status accept(peer p, const_bytes private_data) noexcept { return rare::accept(e_(), p, private_data, true); }
  status reject(peer p, std::string_view reason) { return rare::reject(e_(), p, reason); }
  /// Waits for outstanding operations, says goodbye, and releases the peer. No event follows for this peer. A peer that
  /// left before is no error. Tagged receives that name the peer fail first, with `closed`. Inside a handler it cannot
  /// wait: operations are cut off, no event reports them, and where the goodbye cannot overtake them the peer gets
  /// `peer_lost`. Events that come meanwhile, also of other peers, go to `on`: without a handler they are dropped.
  /// Errors: deadline: operations that had not ended fail with `closed`, reported to `on`.
  template <class Handler = refuse_events>
  status close(peer p, duration timeout, Handler&& on = {}) {
    (void)e_().coalescer.before(p);
    return rare::close(e_(), p, timeout, erased_handler::of(on));
  }
  /// The name of the fabric that reaches the peer; empty for nobody. A fabric_set has several.
  static std::string_view fabric_of(peer p) noexcept { return p ? F::name : std::string_view(); }
  /// The sentence of the last `lost` event. Valid inside the handler and until the next such event.
  const std::string& reason() const noexcept { return e_().last_reason; }

  /// Sends the description of a region. The peer takes it with receive_region(); its handler sees nothing. At most 64
  /// descriptions may wait at a peer: a peer that gets more closes the connection. Errors: again, peer_lost.
  status send_region(peer to, const region& r, progress_owner) noexcept {
    return self().after_waiting(to,
                                [&] { return waiting(e_()).send_region(to, self().export_region(r, owner_polls)); });
  }
  template <class G = F>
  status send_region(peer to, const region& r) noexcept {
    static_assert(!answer<G, progress_family>::needs_owner,
                  "weft: on this fabric bytes land only while the target polls; name the progress owner: "
                  "send_region(peer, region, weft::owner_polls) [WEFT-C006]");
    return send_region(to, r, owner_polls);
  }
  /// Takes the oldest description that this peer sent with send_region(), or waits for one. Messages of users stay with
  /// the handler. Other events go to `on` meanwhile; without a handler they are an error. Errors: deadline, peer_lost,
  /// incompatible.
  template <class Handler = refuse_events>
  result<remote_region> receive_region(peer from, duration timeout, Handler&& on = {}) {
    return rare::receive_region(e_(), from, timeout, on);
  }

  /// The largest message that this peer takes, in bytes. 0 for a peer that is gone.
  std::uint32_t largest_message(peer p) const noexcept {
    return p.alive() ? initiator<engine_type>::living(p)->their_max_message_bytes : 0;
  }

 private:
  Transport& self() noexcept { return static_cast<Transport&>(*this); }
  engine_type& e_() const noexcept { return *static_cast<const Transport&>(*this).e_; }
};

}  // namespace weft::detail
