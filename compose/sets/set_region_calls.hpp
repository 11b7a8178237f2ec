// SPDX-License-Identifier: Apache-2.0
//
// Regions that travel to the peers of a set by send_region() and receive_region(), in the form of the peer's fabric.
// Hot path: no. Threads: the owner's.
#pragma once

#include "../progress/blocking_calls.hpp"
#include "../progress_owner.hpp"
#include "members.hpp"

#include <type_traits>

namespace weft::detail {

/// Base of transport<Set>, where Set is fabric_set<F...>.
template <class Transport, class Set>
class set_region_calls {
 public:
  /// As peer_calls::send_region, in the form of the peer's fabric. Errors: again, peer_lost.
  status send_region(peer to, const region& r, progress_owner) {
    if (!to.alive()) return error(errc::peer_lost, "send_region");
    const region_bytes described = self().export_region(to, r, owner_polls);
    return self().to_member(to, [&](auto& net, auto) {
      auto& e = transport_parts::engine_of(net);
      return blocking_calls<std::remove_reference_t<decltype(e)>>(e).send_region(to, described);
    });
  }
  template <class G = Set>
  status send_region(peer to, const region& r) {
    static_assert(!answer<G, progress_family>::needs_owner,
                  "weft: on a fabric of this set bytes land only while the target polls; name the progress owner: "
                  "send_region(peer, region, weft::owner_polls) [WEFT-C006]");
    return send_region(to, r, owner_polls);
  }
  /// As peer_calls::receive_region. Makes progress on every fabric.
  template <class Handler = refuse_events>
  result<remote_region> receive_region(peer from, duration timeout, Handler&& on = {}) {
    return self().to_member(from, [&](auto& net, auto) -> result<remote_region> {
      auto& e = transport_parts::engine_of(net);
      using engine_type = std::remove_reference_t<decltype(e)>;
      result<region_bytes> taken(error(errc::deadline, "receive region"),
                                 "the peer did not describe its region in time");
      const auto came = [&] {  // other fabrics make progress too: their peers may wait for it
        taken = blocking_calls<engine_type>(e).receive_description(from, duration(0), on);
        return bool(taken) || taken.why().code != errc::deadline;
      };
      (void)self().until(came, timeout, on);
      if (!taken) return std::move(taken).error();
      return self().parse_region(from, *taken);
    });
  }

 private:
  Transport& self() noexcept { return static_cast<Transport&>(*this); }
};

}  // namespace weft::detail
