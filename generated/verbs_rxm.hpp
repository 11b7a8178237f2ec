// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row verbs_rxm, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_26ca956a {
/// Addressed endpoints on InfiniBand or RoCE cards by the rxm layer. libfabric 1.15 and later.
struct verbs_rxm {
  static constexpr std::string_view name = "verbs_rxm", library = "libfabric", made_from = "rules 3ae7adf7, row 0db29a26";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=socket_address framing=immediate region_address=virtual_address region_key=provider notify=immediate "
      "atomics=provider liveness=heartbeat key_bytes=4 write_immediate_bytes=4 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0x83185de7bb839d31;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "verbs;ofi_rxm", .fabric_name = "", .since = {1, 15}, .until = any_later_version,
      .endpoint_type = endpoint_type::addressed, .address_resolution = address_resolution::socket, .connects_lazily = true,
      .forgets_peers = true, .address_formats = "in in6 ib", .own_node_path = own_node_path::fabric,
      .virtual_addressing = true, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::provider, .key_bytes = 4, .local_registration = true, .region_endpoint_binding = false,
      .write_immediate_bytes = 4, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 4, .remote_counter_counts_writes = false,
      .order_send_after_write = true, .order_write_after_write = true, .bytes_visible_in_order = false,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::reported, .selective_completion = true,
      .atomics = atomic_execution::provider,
      .atomic_operations = "add compare_swap swap and or xor min max read: int32 uint32 int64 uint64; add swap min max read: float double",
      .atomics_cost_order = true,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::descriptor, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 0, .gather_limit = 4, .rma_gather_limit = 1, .queue_depth = 2048,
      .largest_message = 8388608, .largest_write = 8388608, .fused_bytes = 0,
      .multi_receive = true, .shared_receives = false,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::keeps,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  static constexpr std::array<environment_setting, 3> environment{ {
      // FI_OFI_RXM_CM_PROGRESS_INTERVAL: connecting to a peer takes 0.31 ms instead of 20 ms, 65 times less
      {"FI_OFI_RXM_CM_PROGRESS_INTERVAL", "100"},
      // FI_MR_CACHE_MAX_COUNT: the provider's cache keeps a closed region registered, and peers can still write into it; weft registers each region
      //   once
      {"FI_MR_CACHE_MAX_COUNT", "0"},
      // FI_UNIVERSE_SIZE: rxm requests 4096 entries of a completion queue for each expected process; soft-RoCE does not grant them for 256 processes,
      //   the default, nor for 128
      {"FI_UNIVERSE_SIZE", "16"},
  } };
  using policies = policy_set<
      // endpoint: addressed: verbs_rxm.endpoint_type is addressed (claimed: libfabric 2.6 prov/rxm over prov/verbs: FI_EP_RDM; observed: 2026-11-20
      //   libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, FI_EP_RDM)
      answers::endpoint::addressed,
      // bootstrap: socket_address: verbs_rxm.address_resolution is socket (claimed: libfabric 2.6 prov/verbs: librdmacm addresses, FI_SOCKADDR_IN,
      //   IN6 and IB; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, addr_format FI_SOCKADDR_IN)
      answers::bootstrap::socket_address,
      // framing: immediate: verbs_rxm.send_immediate_bytes is 4 (claimed: libfabric 2.6 prov/rxm over prov/verbs, cq_data_size 4; observed:
      //   2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, cq_data_size 4)
      answers::framing::immediate,
      // region_address: virtual_address: verbs_rxm.virtual_addressing is true (claimed: libfabric 2.6 prov/verbs: the provider requires
      //   FI_MR_VIRT_ADDR; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, mr_mode has FI_MR_VIRT_ADDR)
      answers::region_address::virtual_address,
      // region_key: provider: verbs_rxm.key_owner is provider (claimed: libfabric 2.6 prov/verbs: the provider requires FI_MR_PROV_KEY; observed:
      //   2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, mr_mode has FI_MR_PROV_KEY)
      answers::region_key::provider,
      // local_descriptor: required: verbs_rxm.local_registration is true (claimed: libfabric 2.6 prov/rxm over prov/verbs: rxm registers local
      //   buffers if the hints do not offer FI_MR_LOCAL; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, mr_mode
      //   has FI_MR_LOCAL where it is offered)
      answers::local_descriptor::required,
      // region_binding: domain: verbs_rxm.region_endpoint_binding is false (claimed: libfabric 2.6 prov/verbs; observed: 2026-11-20 libfabric 1.17.0
      //   on soft-RoCE in a virtual machine, fi_info -v, mr_mode has no FI_MR_ENDPOINT)
      answers::region_binding::domain,
      // notify: immediate: verbs_rxm.write_immediate_bytes is 4 (claimed: libfabric 2.6 prov/rxm over prov/verbs, cq_data_size 4; observed:
      //   2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_writedata arrived with the right value);
      //   verbs_rxm.write_immediate_consumes_receive is false (claimed: libfabric 2.6 prov/rxm over prov/verbs: rxm posts its own receives; observed:
      //   2026-11-20 libfabric 1.17.0, Linux 6.1.0-56 with soft-RoCE in a virtual machine, all immediates of the notify suite arrived at a target
      //   without reserved receives)
      answers::notify::immediate,
      // write_fault: reported: verbs_rxm.refused_write is reported (claimed: InfiniBand reliable connection: the responder answers with a remote
      //   access error; observed: 2026-11-20 libfabric 1.17.0, Linux 6.1.0-56 with soft-RoCE in a virtual machine, with FI_MR_CACHE_MAX_COUNT=0 a
      //   write into a closed region failed at the initiator and changed no byte)
      answers::write_fault::reported,
      // atomics: provider: verbs_rxm.atomics is provider (claimed: libfabric 1.17 man fi_rxm: the target's progress executes atomics; observed:
      //   2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, 64-bit fetch-add and compare-swap returned the right values);
      //   verbs_rxm.atomics_cost_order is true (claimed: libfabric 1.17 man fi_rxm, limitations of FI_ATOMIC); no chosen answer relies on the order
      //   that atomics cost
      answers::atomics::provider,
      // progress: polling: verbs_rxm.data_progress is polling (claimed: libfabric 2.6 prov/rxm over prov/verbs: FI_PROGRESS_MANUAL; observed:
      //   2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, data_progress FI_PROGRESS_MANUAL)
      answers::progress::polling,
      // wait: descriptor: verbs_rxm.completion_wait is descriptor (claimed: libfabric 2.6 prov/rxm over prov/verbs: FI_WAIT_FD; observed: 2026-11-20
      //   libfabric 1.17.0, Linux 6.1.0-56 with soft-RoCE in a virtual machine, a sleeping thread woke for each of 2,000 messages at random times)
      answers::wait::descriptor,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: verbs_rxm.selective_completion is true (claimed: libfabric 2.6 prov/rxm over prov/verbs)
      answers::completion::selective,
      // liveness: heartbeat: verbs_rxm.reports_killed_peer is false (claimed: libfabric 1.17 prov/rxm: a posted receive is not bound to a peer);
      //   verbs_rxm.same_host is false (claimed: a network protocol); weft's own messages work on any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: shared: verbs_rxm.endpoint_type is addressed (claimed: libfabric 2.6 prov/rxm over prov/verbs: FI_EP_RDM; observed: 2026-11-20
      //   libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, FI_EP_RDM)
      answers::receive_pool::shared,
      // flush: refused: verbs_rxm.atomics_cost_order is true (claimed: libfabric 1.17 man fi_rxm, limitations of FI_ATOMIC);
      //   verbs_rxm.virtual_addressing_costs_order is false (claimed: the provider requires pointers, weft does not request them);
      //   verbs_rxm.refused_write is reported (claimed: InfiniBand reliable connection: the responder answers with a remote access error; observed:
      //   2026-11-20 libfabric 1.17.0, Linux 6.1.0-56 with soft-RoCE in a virtual machine, with FI_MR_CACHE_MAX_COUNT=0 a write into a closed region
      //   failed at the initiator and changed no byte); no message stays after writes, and no completion of a write means delivered;
      //   message_behind_writes needs atomics to be another than provider
      answers::flush::refused,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: never: verbs_rxm.inject_bytes is 0 (observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, inject_size
      //   192; copied: conservative: the card's inline size less 64; not established on cards); the library can read unchanged memory later on any
      //   fabric
      answers::inject::never,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<verbs_rxm>);
}  // namespace rules_26ca956a
// clang-format on
}  // namespace weft::fabrics

#include "verbs_rxm.why_not.hpp"
