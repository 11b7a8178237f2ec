// SPDX-License-Identifier: Apache-2.0
//
// Rows for the mistakes: the in-process fabric, with one answer or fact replaced.
// Hot path: no. Threads: none.
#pragma once

#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

namespace mistake {

/// The facts of a row that has neither order nor immediates.
constexpr weft::fabric_facts without_order() {
  weft::fabric_facts f = weft::fabrics::loopback::facts;
  f.order_send_after_write = false;
  f.write_immediate_bytes = 0;
  return f;
}

/// The in-process fabric's answers, except for notify.
template <class Notify>
using answers =
    weft::policy_set<weft::endpoint::connected, weft::bootstrap::socket_address, weft::framing::immediate,
                     weft::region_address::offset, weft::region_key::application, weft::local_descriptor::not_needed,
                     weft::region_binding::domain, Notify, weft::write_fault::reported, weft::atomics::provider,
                     weft::progress::polling, weft::wait::yield, weft::back_pressure::report,
                     weft::threading::one_owner, weft::completion::selective, weft::liveness::provider,
                     weft::receive_buffers::slots, weft::receive_pool::per_link, weft::flush::refused,
                     weft::coalesce::none, weft::queues::one, weft::inject::as_the_row_permits>;

}  // namespace mistake
