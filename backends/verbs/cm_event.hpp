// SPDX-License-Identifier: Apache-2.0
//
// One event of the connection manager, copied so that it can be acknowledged first: an id with an unacknowledged event
// cannot be closed.
// Private data comes from the peer and is parsed strictly (credit.hpp). Hot path: no. Threads: values.
#pragma once

#include "credit.hpp"

#include <rdma/rdma_cma.h>

#include <array>
#include <cstdint>
#include <optional>

namespace weft::backends::verbs {

/// A copy of an event.
struct cm_event {
  explicit cm_event(const rdma_cm_event& e) : what(e.event), id(e.id) {
    if (what != RDMA_CM_EVENT_CONNECT_REQUEST && what != RDMA_CM_EVENT_ESTABLISHED) return;
    reads = {e.param.conn.responder_resources, e.param.conn.initiator_depth};
    if (e.param.conn.private_data != nullptr)
      peer = credit_introduction::parse(
          {static_cast<const std::byte*>(e.param.conn.private_data), e.param.conn.private_data_len});
  }
  rdma_cm_event_type what;
  rdma_cm_id* id;
  std::array<std::uint8_t, 2> reads{};
  std::optional<credit_introduction> peer;
};

}  // namespace weft::backends::verbs
