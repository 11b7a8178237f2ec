// SPDX-License-Identifier: Apache-2.0
//
// Owners of rdma-core's objects, move-only.
// Members close in reverse order of their declaration. rdma-core needs this order of closing: queue pairs, connection
// ids, shared receive queue, regions, completion queue, completion channel, protection domain, event channel.
// Devices belong to the connection manager: it opens each once per process and never closes it.
// Hot path: get() only. Threads: one owner.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <netdb.h>
#include <memory>

namespace weft::backends::verbs {

struct closer {
  void operator()(ibv_pd* object) const noexcept { (void)ibv_dealloc_pd(object); }
  void operator()(ibv_cq* object) const noexcept { (void)ibv_destroy_cq(object); }
  void operator()(ibv_qp* object) const noexcept { (void)ibv_destroy_qp(object); }
  void operator()(ibv_srq* object) const noexcept { (void)ibv_destroy_srq(object); }
  void operator()(ibv_mr* object) const noexcept { (void)ibv_dereg_mr(object); }
  void operator()(ibv_comp_channel* object) const noexcept { (void)ibv_destroy_comp_channel(object); }
  void operator()(rdma_event_channel* object) const noexcept { rdma_destroy_event_channel(object); }
  /// The id's queue pair is destroyed first.
  void operator()(rdma_cm_id* object) const noexcept {
    if (object->qp != nullptr) rdma_destroy_qp(object);
    (void)rdma_destroy_id(object);
  }
  void operator()(addrinfo* list) const noexcept { ::freeaddrinfo(list); }
};

template <class T>
using owned = std::unique_ptr<T, closer>;

}  // namespace weft::backends::verbs
