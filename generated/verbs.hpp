// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row verbs, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_57169b0f {
/// Connected endpoints on InfiniBand or RoCE cards through libfabric. libfabric 1.15 to before 2.2.
struct verbs_since_1_15 {
  static constexpr std::string_view name = "verbs", library = "libfabric", made_from = "rules 3ae7adf7, row 9106edc5";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=connected bootstrap=socket_address framing=immediate region_address=virtual_address region_key=provider "
      "notify=immediate_consumes_receive atomics=target liveness=heartbeat key_bytes=4 write_immediate_bytes=4 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0x29aa71da0d221f86;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "verbs", .fabric_name = "", .since = {1, 15}, .until = {2, 2},
      .endpoint_type = endpoint_type::connected, .address_resolution = address_resolution::socket, .connects_lazily = false,
      .forgets_peers = true, .address_formats = "in in6 ib", .own_node_path = own_node_path::fabric,
      .virtual_addressing = true, .virtual_addressing_optional = false, .virtual_addressing_costs_order = false,
      .key_owner = key_owner::provider, .key_bytes = 4, .local_registration = true, .region_endpoint_binding = false,
      .write_immediate_bytes = 4, .write_immediate_consumes_receive = true, .write_immediate_setting = "",
      .send_immediate_bytes = 4, .remote_counter_counts_writes = false,
      .order_send_after_write = true, .order_write_after_write = true, .bytes_visible_in_order = false,
      .order_send_after_send = true, .delivery_complete = false, .refused_write = refusal::reported, .selective_completion = true,
      .atomics = atomic_execution::none, .atomic_operations = "none", .atomics_cost_order = false,
      .data_progress = data_progress::hardware, .completion_wait = completion_wait::descriptor, .reports_killed_peer = false,
      .same_host = false,
      .context_bytes = 0, .inject_bytes = 64, .gather_limit = 4, .rma_gather_limit = 1, .queue_depth = 384,
      .largest_message = 8388608, .largest_write = 8388608, .fused_bytes = 0,
      .multi_receive = false, .shared_receives = false,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::refuses,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"tttttt tttt-- tttttt tttt-- tttt-- tttt-- tttttt tttttt tttttt"};
  static constexpr std::array<environment_setting, 1> environment{ {
      // FI_MR_CACHE_MAX_COUNT: the provider's cache keeps a closed region registered, and peers can still write into it; weft registers each region
      //   once
      {"FI_MR_CACHE_MAX_COUNT", "0"},
  } };
  using policies = policy_set<
      // endpoint: connected: verbs.endpoint_type is connected (claimed: libfabric 2.6 prov/verbs: FI_EP_MSG; observed: 2026-11-20 libfabric 1.17.0 on
      //   soft-RoCE in a virtual machine, fi_info -v, FI_EP_MSG)
      answers::endpoint::connected,
      // bootstrap: socket_address: verbs.address_resolution is socket (claimed: libfabric 2.6 prov/verbs: librdmacm addresses, FI_SOCKADDR_IN, IN6
      //   and IB; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, addr_format FI_SOCKADDR_IN)
      answers::bootstrap::socket_address,
      // framing: immediate: verbs.send_immediate_bytes is 4 (claimed: libfabric 2.6 prov/verbs, cq_data_size 4 if the hints offer FI_RX_CQ_DATA;
      //   observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, cq_data_size 4)
      answers::framing::immediate,
      // region_address: virtual_address: verbs.virtual_addressing is true (claimed: libfabric 2.6 prov/verbs: the provider requires FI_MR_VIRT_ADDR;
      //   observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, mr_mode has FI_MR_VIRT_ADDR)
      answers::region_address::virtual_address,
      // region_key: provider: verbs.key_owner is provider (claimed: libfabric 2.6 prov/verbs: the provider requires FI_MR_PROV_KEY; observed:
      //   2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, mr_mode has FI_MR_PROV_KEY)
      answers::region_key::provider,
      // local_descriptor: required: verbs.local_registration is true (claimed: libfabric 2.6 prov/verbs: the provider requires FI_MR_LOCAL; observed:
      //   2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, mr_mode has FI_MR_LOCAL)
      answers::local_descriptor::required,
      // region_binding: domain: verbs.region_endpoint_binding is false (claimed: libfabric 2.6 prov/verbs; observed: 2026-11-20 libfabric 1.17.0 on
      //   soft-RoCE in a virtual machine, fi_info -v, mr_mode has no FI_MR_ENDPOINT)
      answers::region_binding::domain,
      // notify: immediate_consumes_receive: verbs.write_immediate_bytes is 4 (claimed: libfabric 2.6 prov/verbs, cq_data_size 4 if the hints offer
      //   FI_RX_CQ_DATA; 0 on iWARP; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_writedata with FI_RX_CQ_DATA arrived
      //   with the right value); verbs.write_immediate_consumes_receive is true (claimed: libfabric 2.6 prov/verbs: mode FI_RX_CQ_DATA; observed:
      //   2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, mode FI_RX_CQ_DATA)
      answers::notify::immediate_consumes_receive,
      // write_fault: reported: verbs.refused_write is reported (claimed: InfiniBand reliable connection: the responder answers with a remote access
      //   error; observed: 2026-11-20 libfabric 1.17.0, Linux 6.1.0-56 with soft-RoCE in a virtual machine, with FI_MR_CACHE_MAX_COUNT=0 a write into
      //   a closed region failed at the initiator and changed no byte)
      answers::write_fault::reported,
      // atomics: target: verbs.atomics is none (claimed: libfabric 1.11 to 2.1 prov/verbs puts the operand's address into the work request instead of
      //   its value; fixed in 2.2; observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fetch-add and compare-swap gave wrong
      //   values (2.1 too)); the target's progress can execute them on any fabric
      answers::atomics::target,
      // progress: hardware: verbs.data_progress is hardware (claimed: libfabric 2.6 prov/verbs: the card moves the data)
      answers::progress::hardware,
      // wait: descriptor: verbs.completion_wait is descriptor (claimed: libfabric 2.6 prov/verbs: FI_WAIT_FD; observed: 2026-11-20 libfabric 1.17.0,
      //   Linux 6.1.0-56 with soft-RoCE in a virtual machine, a sleeping thread woke for each of 2,000 messages at random times)
      answers::wait::descriptor,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: verbs.selective_completion is true (claimed: libfabric 2.6 prov/verbs)
      answers::completion::selective,
      // liveness: heartbeat: verbs.reports_killed_peer is false (copied: conservative; not established); verbs.same_host is false (claimed: a network
      //   protocol); weft's own messages work on any fabric
      answers::liveness::heartbeat,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: per_link: verbs.endpoint_type is connected (claimed: libfabric 2.6 prov/verbs: FI_EP_MSG; observed: 2026-11-20 libfabric 1.17.0
      //   on soft-RoCE in a virtual machine, fi_info -v, FI_EP_MSG)
      answers::receive_pool::per_link,
      // flush: message_behind_writes: verbs.order_send_after_write is true (claimed: libfabric 2.6 prov/verbs, FI_ORDER_SAW; observed: 2026-11-20
      //   libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v, msg_order lists FI_ORDER_SAW); verbs.atomics_cost_order is false (claimed:
      //   libfabric 2.6 prov/verbs: msg_order is the same with FI_ATOMIC); verbs.virtual_addressing_costs_order is false (claimed: the provider
      //   requires pointers, weft does not request them)
      answers::flush::message_behind_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: verbs.inject_bytes is 64 (observed: 2026-11-20 libfabric 1.17.0 on soft-RoCE in a virtual machine, fi_info -v,
      //   inject_size 256; copied: conservative lower bound; not established)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<verbs_since_1_15>);
}  // namespace rules_57169b0f
inline namespace rules_c2b9c678 {
/// libfabric 2.2 and later.
struct verbs_since_2_2 : verbs_since_1_15 {
  static constexpr std::string_view made_from = "rules 3ae7adf7, row ab3e3381";
  static constexpr std::string_view shared =
      "endpoint=connected bootstrap=socket_address framing=immediate region_address=virtual_address region_key=provider "
      "notify=immediate_consumes_receive atomics=provider liveness=heartbeat key_bytes=4 write_immediate_bytes=4 send_immediate_bytes=4";
  static constexpr std::uint64_t fingerprint = 0xf2a0abdaee878799;
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = verbs_since_1_15::facts;
    changed.since = {2, 2};
    changed.until = any_later_version;
    // verbs.atomics (claimed: libfabric 2.2 prov/verbs: 64-bit FI_SUM and FI_CSWAP by value (pull request 10923))
    changed.atomics = atomic_execution::provider;
    // verbs.atomic_operations (claimed: libfabric 2.2 prov/verbs grants FI_SUM and FI_CSWAP of 64 bits; the grant includes float and double, which
    //   the card would add as integers)
    changed.atomic_operations = "add compare_swap: int64 uint64";
    return changed;
  }();
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"wwnnwl wwnn-- wwllwl wwll-- wwll-- wwll-- wwllwl wwllwl wwllwl"};
  using policies = policy_set<
      answers::endpoint::connected, answers::bootstrap::socket_address, answers::framing::immediate,
      answers::region_address::virtual_address, answers::region_key::provider, answers::local_descriptor::required,
      answers::region_binding::domain, answers::notify::immediate_consumes_receive, answers::write_fault::reported,
      // atomics: provider: verbs.atomics is provider (claimed: libfabric 2.2 prov/verbs: 64-bit FI_SUM and FI_CSWAP by value (pull request 10923));
      //   verbs.atomics_cost_order is false (claimed: libfabric 2.6 prov/verbs: msg_order is the same with FI_ATOMIC)
      answers::atomics::provider,
      answers::progress::hardware, answers::wait::descriptor, answers::threading::one_owner, answers::completion::selective,
      answers::liveness::heartbeat, answers::receive_buffers::slots, answers::receive_pool::per_link,
      answers::flush::message_behind_writes, answers::coalesce::none, answers::queues::one, answers::inject::as_the_row_permits,
      answers::checks::verified, answers::authentication::none, answers::tagged::none
  >;
};
static_assert(complete_fabric<verbs_since_2_2>);
}  // namespace rules_c2b9c678

using verbs = by_library<backends::libfabric::built_with, verbs_since_1_15, verbs_since_2_2>;
// clang-format on
}  // namespace weft::fabrics

#include "verbs.why_not.hpp"
