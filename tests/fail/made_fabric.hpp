// SPDX-License-Identifier: Apache-2.0
//
// Rows and transports for the mistakes: the in-process fabric, with one answer or fact replaced.
// Hot path: no. Threads: none.
#pragma once

#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

namespace mistake {

/// A transport that weft::open<F>() would return. The compiler reads only what the mistake calls, and not open().
template <class F>
weft::transport<F>& opened();

/// The facts of a row that has neither order nor immediates.
constexpr weft::fabric_facts without_order() {
  weft::fabric_facts f = weft::fabrics::loopback::facts;
  f.order_send_after_write = false;
  f.write_immediate_bytes = 0;
  return f;
}

/// The in-process fabric's answers, except for notify.
template <class Notify>
using answers = weft::policy_set<
    weft::answers::endpoint::connected, weft::answers::bootstrap::socket_address, weft::answers::framing::immediate,
    weft::answers::region_address::offset, weft::answers::region_key::application,
    weft::answers::local_descriptor::not_needed, weft::answers::region_binding::domain, Notify,
    weft::answers::write_fault::reported, weft::answers::atomics::provider, weft::answers::progress::polling,
    weft::answers::wait::yield, weft::answers::threading::one_owner, weft::answers::completion::selective,
    weft::answers::liveness::provider, weft::answers::receive_buffers::slots, weft::answers::receive_pool::per_link,
    weft::answers::flush::refused, weft::answers::coalesce::none, weft::answers::queues::one,
    weft::answers::inject::as_the_row_permits, weft::answers::checks::verified, weft::answers::authentication::none,
    weft::answers::tagged::none>;

}  // namespace mistake
