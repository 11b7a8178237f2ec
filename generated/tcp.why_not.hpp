// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row tcp, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What tcp cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "tcp.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const tcp*, answers::endpoint::addressed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric tcp cannot answer addressed: it needs endpoint_type to be addressed, and tcp.endpoint_type is connected "
      "(claimed: libfabric 1.17 prov/tcp: FI_EP_MSG; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, FI_EP_MSG is the only type of "
      "provider tcp); the nearest legal answer is endpoint::connected [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::bootstrap::exchange, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric tcp cannot answer exchange: it needs address_resolution to be opaque, and tcp.address_resolution is socket "
      "(claimed: libfabric 1.17 prov/tcp, FI_SOCKADDR_IN and FI_SOCKADDR_IN6; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, "
      "addr_format FI_SOCKADDR_IN and FI_SOCKADDR_IN6); the nearest legal answer is bootstrap::socket_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::region_address::virtual_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric tcp cannot answer virtual_address: it needs virtual_addressing to be true, and tcp.virtual_addressing "
      "is false (claimed: libfabric 1.11 to 2.6 prov/tcp: fi_getinfo clears FI_MR_VIRT_ADDR; observed: 2026-11-20 libfabric 1.17.0 "
      "loopback, the target refused a write to a pointer, and a write to an offset arrived); or virtual_addressing_optional to be true, "
      "and tcp.virtual_addressing_optional is false (claimed: libfabric 1.11 to 2.6 prov/tcp: fi_getinfo clears FI_MR_VIRT_ADDR); the "
      "nearest legal answer is region_address::offset [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::region_key::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric tcp cannot answer provider: it needs key_owner to be provider, and tcp.key_owner is application (claimed: "
      "libfabric 1.11 to 2.6 prov/tcp: fi_getinfo clears FI_MR_PROV_KEY; observed: 2026-11-20 libfabric 1.17.0 loopback, the provider "
      "used the requested key); the nearest legal answer is region_key::application [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric tcp cannot answer required: it needs local_registration to be true, and tcp.local_registration is "
      "false (claimed: libfabric 1.17 prov/tcp: fi_getinfo clears FI_MR_LOCAL; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, mr_mode "
      "empty); the nearest legal answer is local_descriptor::not_needed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric tcp cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "tcp.region_endpoint_binding is false (claimed: libfabric 1.17 prov/tcp: the provider does not request FI_MR_ENDPOINT; observed: "
      "2026-11-20 libfabric 1.17.0, fi_info -v, mr_mode empty); the nearest legal answer is region_binding::domain [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric tcp cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "tcp.write_immediate_consumes_receive is false (claimed: libfabric 1.17 prov/tcp: mode has no FI_RX_CQ_DATA; observed: 2026-11-20 "
      "libfabric 1.17.0 loopback, 240 writes with an immediate used up no posted receive); the nearest legal answer is notify::immediate "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::notify::remote_counter, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric tcp cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and "
      "tcp.remote_counter_counts_writes is false (claimed: libfabric 1.17 to 2.6 prov/tcp: the counter counts only writes with an "
      "immediate, although the provider advertises FI_RMA_EVENT; observed: 2026-11-20 libfabric 1.17.0 loopback, the target's counter "
      "stayed 0 after plain writes (2.6.0 too)); the nearest legal answer is notify::message_after_ordered_write [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::write_fault::reported, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric tcp cannot answer reported: it needs refused_write to be reported, and tcp.refused_write is silent "
      "(observed: 2026-11-20 libfabric 1.17.0 loopback, the target refused a wrong key, and the initiator got success; with "
      "FI_DELIVERY_COMPLETE the initiator got ECANCELED; copied: libfabric 2.x: not established, as 1.17); the nearest legal answer is "
      "write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric tcp cannot answer undetected: it needs refused_write to be hidden, and tcp.refused_write is silent "
      "(observed: 2026-11-20 libfabric 1.17.0 loopback, the target refused a wrong key, and the initiator got success; with "
      "FI_DELIVERY_COMPLETE the initiator got ECANCELED; copied: libfabric 2.x: not established, as 1.17); the nearest legal answer is "
      "write_fault::delivery_confirmed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::atomics::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: atomics: fabric tcp cannot answer provider: it needs atomics to be provider, and tcp.atomics is none (claimed: libfabric "
      "1.11 to 2.6 prov/tcp: no FI_ATOMIC; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, caps have no FI_ATOMIC); the nearest legal "
      "answer is atomics::target [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric tcp cannot answer hardware: it needs data_progress to be hardware, and tcp.data_progress is polling "
      "(claimed: libfabric man fi_domain: the provider claims FI_PROGRESS_AUTO, but does not progress by itself; observed: 2026-11-20 "
      "libfabric 1.17.0 loopback, bytes arrived only when the target polled (1.11.1 and 2.6.0 too)); the nearest legal answer is "
      "progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric tcp cannot answer thread: it needs data_progress to be thread, and tcp.data_progress is polling (claimed: "
      "libfabric man fi_domain: the provider claims FI_PROGRESS_AUTO, but does not progress by itself; observed: 2026-11-20 libfabric "
      "1.17.0 loopback, bytes arrived only when the target polled (1.11.1 and 2.6.0 too)); the nearest legal answer is progress::polling "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::wait::yield, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric tcp cannot answer yield: it needs completion_wait to be yield, and tcp.completion_wait is descriptor (claimed: "
      "libfabric 1.17 prov/tcp: FI_WAIT_FD; observed: 2026-11-20 libfabric 1.17.0 loopback, a completion queue with FI_WAIT_FD woke the "
      "waiting thread); the nearest legal answer is wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric tcp cannot answer spin: it needs completion_wait to be none, and tcp.completion_wait is descriptor (claimed: "
      "libfabric 1.17 prov/tcp: FI_WAIT_FD; observed: 2026-11-20 libfabric 1.17.0 loopback, a completion queue with FI_WAIT_FD woke the "
      "waiting thread); the nearest legal answer is wait::descriptor [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric tcp cannot answer every_operation: it needs selective_completion to be false, and "
      "tcp.selective_completion is true (claimed: libfabric 1.17 prov/tcp; observed: 2026-11-20 libfabric 1.17.0 loopback, unsignalled "
      "writes gave no completion); the nearest legal answer is completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric tcp cannot answer process: it needs same_host to be true, and tcp.same_host is false (claimed: a network "
      "protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const tcp*, answers::receive_buffers::multi_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_buffers: fabric tcp cannot answer multi_receive: it needs multi_receive to be true, and tcp.multi_receive is false "
      "(claimed: libfabric 1.17 prov/tcp: no FI_MULTI_RECV with FI_EP_MSG; observed: 2026-11-20 libfabric 1.17.0 and 2.1.0, fi_getinfo "
      "with FI_EP_MSG, caps have no FI_MULTI_RECV); the nearest legal answer is receive_buffers::slots [WEFT-C001]");
  return {};
}
// clang-format on
}  // namespace weft::fabrics
