// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row sockets, by templates/why_not.hpp.j2: do not edit. After a change there: ./weft generate
// What sockets cannot answer, for compose/with.hpp: a sentence costs nothing until somebody asks for its answer.
#pragma once

#include "sockets.hpp"

namespace weft::fabrics {
// clang-format off
template <class Asked>
constexpr refused why_not(const sockets*, answers::endpoint::connected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: endpoint: fabric sockets cannot answer connected: it needs endpoint_type to be connected, and sockets.endpoint_type is "
      "addressed (claimed: libfabric 1.17 prov/sockets: FI_EP_RDM, of three types; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, "
      "FI_EP_RDM); the nearest legal answer is endpoint::addressed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::bootstrap::exchange, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: bootstrap: fabric sockets cannot answer exchange: it needs address_resolution to be opaque, and sockets.address_resolution "
      "is socket (claimed: libfabric 1.17 prov/sockets, FI_SOCKADDR_IN and FI_SOCKADDR_IN6; observed: 2026-11-20 libfabric 1.17.0, "
      "fi_info -v, addr_format FI_SOCKADDR_IN and FI_SOCKADDR_IN6); the nearest legal answer is bootstrap::socket_address [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::region_address::virtual_address, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_address: fabric sockets cannot answer virtual_address: it needs virtual_addressing to be true, and "
      "sockets.virtual_addressing is false (claimed: libfabric 1.11 to 2.6 prov/sockets: fi_getinfo clears FI_MR_VIRT_ADDR; observed: "
      "2026-11-20 libfabric 1.17.0 loopback, the target refused a write to a pointer, and a write to an offset arrived); or "
      "virtual_addressing_optional to be true, and sockets.virtual_addressing_optional is false (claimed: libfabric 1.11 to 2.6 "
      "prov/sockets: fi_getinfo clears FI_MR_VIRT_ADDR); the nearest legal answer is region_address::offset [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::region_key::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_key: fabric sockets cannot answer provider: it needs key_owner to be provider, and sockets.key_owner is application "
      "(claimed: libfabric 1.11 to 2.6 prov/sockets: fi_getinfo clears FI_MR_PROV_KEY; observed: 2026-11-20 libfabric 1.17.0 loopback, "
      "the provider used the requested key); the nearest legal answer is region_key::application [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::local_descriptor::required, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: local_descriptor: fabric sockets cannot answer required: it needs local_registration to be true, and "
      "sockets.local_registration is false (claimed: libfabric 1.17 prov/sockets: fi_getinfo clears FI_MR_LOCAL; observed: 2026-11-20 "
      "libfabric 1.17.0, fi_info -v, mr_mode empty); the nearest legal answer is local_descriptor::not_needed [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::region_binding::endpoint, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: region_binding: fabric sockets cannot answer endpoint: it needs region_endpoint_binding to be true, and "
      "sockets.region_endpoint_binding is false (claimed: libfabric 1.17 prov/sockets; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, "
      "mr_mode empty); the nearest legal answer is region_binding::domain [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::notify::immediate_consumes_receive, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric sockets cannot answer immediate_consumes_receive: it needs write_immediate_consumes_receive to be true, and "
      "sockets.write_immediate_consumes_receive is false (claimed: libfabric 1.17 prov/sockets: mode has no FI_RX_CQ_DATA; observed: "
      "2026-11-20 libfabric 1.17.0 loopback, 240 writes with an immediate used up no posted receive); the nearest legal answer is "
      "notify::remote_counter [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::notify::watched_word, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: notify: fabric sockets cannot answer watched_word: it needs bytes_visible_in_order to be true, and "
      "sockets.bytes_visible_in_order is false (copied: conservative: the stream keeps order, but the provider's thread may receive the "
      "bytes; not established); the nearest legal answer is notify::message_after_delivery [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::write_fault::delivery_confirmed, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric sockets cannot answer delivery_confirmed: it needs refused_write to be silent, and sockets.refused_write "
      "is reported (claimed: libfabric 1.17 prov/sockets; observed: 2026-11-20 libfabric 1.17.0 loopback, a wrong key and an address out "
      "of range gave the initiator a completion with EACCES (1.11.1 too)); the nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::write_fault::undetected, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: write_fault: fabric sockets cannot answer undetected: it needs refused_write to be hidden, and sockets.refused_write is "
      "reported (claimed: libfabric 1.17 prov/sockets; observed: 2026-11-20 libfabric 1.17.0 loopback, a wrong key and an address out of "
      "range gave the initiator a completion with EACCES (1.11.1 too)); the nearest legal answer is write_fault::reported [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::progress::hardware, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric sockets cannot answer hardware: it needs data_progress to be hardware, and sockets.data_progress is polling "
      "(claimed: libfabric 1.17 prov/sockets: the library honours FI_PROGRESS_MANUAL; FI_PROGRESS_AUTO would start a thread of the "
      "library; observed: 2026-11-20 libfabric 1.17.0 loopback, two processors: with MANUAL a round trip took 16 us, and no message was "
      "lost; with AUTO a round trip took 154 us to 48 ms; up to 25 of 100 messages to 32 receives were lost after a completion with "
      "success); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::progress::thread, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: progress: fabric sockets cannot answer thread: it needs data_progress to be thread, and sockets.data_progress is polling "
      "(claimed: libfabric 1.17 prov/sockets: the library honours FI_PROGRESS_MANUAL; FI_PROGRESS_AUTO would start a thread of the "
      "library; observed: 2026-11-20 libfabric 1.17.0 loopback, two processors: with MANUAL a round trip took 16 us, and no message was "
      "lost; with AUTO a round trip took 154 us to 48 ms; up to 25 of 100 messages to 32 receives were lost after a completion with "
      "success); the nearest legal answer is progress::polling [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::wait::descriptor, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric sockets cannot answer descriptor: it needs completion_wait to be descriptor, and sockets.completion_wait is "
      "yield (claimed: libfabric 1.17 prov/sockets: the library grants FI_WAIT_FD under AUTO progress only; observed: 2026-11-20 "
      "libfabric 1.17.0 loopback, FI_GETWAIT returned FI_ENOSYS under MANUAL progress); the nearest legal answer is wait::yield "
      "[WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::wait::spin, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: wait: fabric sockets cannot answer spin: it needs completion_wait to be none, and sockets.completion_wait is yield (claimed: "
      "libfabric 1.17 prov/sockets: the library grants FI_WAIT_FD under AUTO progress only; observed: 2026-11-20 libfabric 1.17.0 "
      "loopback, FI_GETWAIT returned FI_ENOSYS under MANUAL progress); the nearest legal answer is wait::yield [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::completion::every_operation, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: completion: fabric sockets cannot answer every_operation: it needs selective_completion to be false, and "
      "sockets.selective_completion is true (claimed: libfabric 1.17 prov/sockets; observed: 2026-11-20 libfabric 1.17.0 loopback, "
      "unsignalled writes gave no completion); the nearest legal answer is completion::selective [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::liveness::provider, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric sockets cannot answer provider: it needs reports_killed_peer to be true, and sockets.reports_killed_peer is "
      "false (claimed: libfabric 1.17 prov/sockets: a posted receive is not bound to a peer; observed: 2026-11-20 libfabric 1.17.0 "
      "loopback, a waiting peer got no event within 10.8 s after a kill -9); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::liveness::process, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: liveness: fabric sockets cannot answer process: it needs same_host to be true, and sockets.same_host is false (claimed: a "
      "network protocol); the nearest legal answer is liveness::heartbeat [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::receive_pool::per_link, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: receive_pool: fabric sockets cannot answer per_link: it needs endpoint_type to be connected, and sockets.endpoint_type is "
      "addressed (claimed: libfabric 1.17 prov/sockets: FI_EP_RDM, of three types; observed: 2026-11-20 libfabric 1.17.0, fi_info -v, "
      "FI_EP_RDM); the nearest legal answer is receive_pool::shared [WEFT-C001]");
  return {};
}
template <class Asked>
constexpr refused why_not(const sockets*, answers::flush::tracked_writes, Asked) {
  static_assert(detail::nobody_asks<Asked>,
      "weft: flush: fabric sockets cannot answer tracked_writes: it needs refused_write to be silent, and sockets.refused_write is "
      "reported (claimed: libfabric 1.17 prov/sockets; observed: 2026-11-20 libfabric 1.17.0 loopback, a wrong key and an address out of "
      "range gave the initiator a completion with EACCES (1.11.1 too)); the nearest legal answer is flush::refused [WEFT-C001]");
  return {};
}
// clang-format on
}  // namespace weft::fabrics
