// SPDX-License-Identifier: Apache-2.0
// Generated from providers.yaml, row shm, by templates/fabric.hpp.j2: do not edit. After a change there: ./weft generate
#pragma once

#include "../backends/libfabric/port.hpp"
#include "../compose/fabric.hpp"
#include "../policies/policies.hpp"

namespace weft::fabrics {
// clang-format off
inline namespace rules_3a23cea2 {
/// Processes of one host over shared memory. libfabric 1.15 to before 1.17.
struct shm_since_1_15 {
  static constexpr std::string_view name = "shm", library = "libfabric", made_from = "rules 3ae7adf7, row eaff09a8";
  static constexpr library_version built_with = backends::libfabric::built_with;
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=provider liveness=process key_bytes=8 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0xe89dab4bb49d21be;
  // half round trip, measured: 2026-11-26 libfabric 1.17.0: put_notify of 8 bytes, in slices
  static constexpr std::uint32_t half_round_trip_ns = 499;
  template <class Shape>
  using port = backends::libfabric::port<Shape>;
  static constexpr fabric_facts facts{
      .provider = "shm", .fabric_name = "", .since = {1, 15}, .until = {1, 17},
      .endpoint_type = endpoint_type::addressed, .address_resolution = address_resolution::opaque, .connects_lazily = true,
      .forgets_peers = true, .address_formats = "str", .own_node_path = own_node_path::shared_memory,
      .virtual_addressing = false, .virtual_addressing_optional = true, .virtual_addressing_costs_order = true,
      .key_owner = key_owner::application, .key_bytes = 8, .local_registration = false, .region_endpoint_binding = false,
      .write_immediate_bytes = 8, .write_immediate_consumes_receive = false, .write_immediate_setting = "",
      .send_immediate_bytes = 8, .remote_counter_counts_writes = true,
      .order_send_after_write = true, .order_write_after_write = true, .bytes_visible_in_order = true,
      .order_send_after_send = true, .delivery_complete = true, .refused_write = refusal::silent, .selective_completion = true,
      .atomics = atomic_execution::provider,
      .atomic_operations = "add compare_swap swap and or xor min max read: int32 uint32 int64 uint64; add swap min max read: float double",
      .atomics_cost_order = false,
      .data_progress = data_progress::polling, .completion_wait = completion_wait::yield, .reports_killed_peer = false,
      .same_host = true,
      .context_bytes = 0, .inject_bytes = 4096, .gather_limit = 4, .rma_gather_limit = 4, .queue_depth = 512,
      .largest_message = unlimited, .largest_write = unlimited, .fused_bytes = 740,
      .multi_receive = true, .shared_receives = false,
      .extended_posting = false, .split_queues = true, .thread_levels = true, .full_queue = full_queue::refuses,
      .full_completion_queue = full_completion_queue::refuses,
  };
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = policy_set<
      // endpoint: addressed: shm.endpoint_type is addressed (claimed: libfabric 1.17 prov/shm: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, FI_EP_RDM)
      answers::endpoint::addressed,
      // bootstrap: exchange: shm.address_resolution is opaque (claimed: libfabric 1.17 prov/shm, FI_ADDR_STR; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, addr_format FI_ADDR_STR)
      answers::bootstrap::exchange,
      // framing: immediate: shm.send_immediate_bytes is 8 (claimed: libfabric 1.17 prov/shm, cq_data_size 8; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, cq_data_size 8)
      answers::framing::immediate,
      // region_address: offset: shm.virtual_addressing is false (claimed: libfabric 1.17 and 2.6 prov/shm: the library returns FI_MR_VIRT_ADDR only
      //   if the hints offer it, and never with FI_ORDER_SAW; observed: 2026-11-20 libfabric 1.17.0 loopback, hints without FI_MR_VIRT_ADDR gave
      //   offsets); measured: 2026-11-21 libfabric 1.17.0, rdma-core 44.0, Intel(R) Xeon(R) Processor, 2 cores, Linux 6.18.44-fc-v657, ./weft bench
      //   --fabric shm --vary region_address --operations put --sizes 8,64,1024,4096,65536 --turns 8: small: virtual_address takes 2.56 times as long
      //   as offset (2.22 to 2.79, put); medium: virtual_address takes 1.94 times as long as offset (1.75 to 2.01, put)
      answers::region_address::offset,
      // region_key: application: shm.key_owner is application (claimed: libfabric 1.17 and 2.6 prov/shm; observed: 2026-11-20 libfabric 1.17.0
      //   loopback, the provider used the requested key)
      answers::region_key::application,
      // local_descriptor: not_needed: shm.local_registration is false (claimed: libfabric 1.17 prov/shm; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, mr_mode has no FI_MR_LOCAL)
      answers::local_descriptor::not_needed,
      // region_binding: domain: shm.region_endpoint_binding is false (claimed: libfabric 1.17 prov/shm; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, mr_mode has no FI_MR_ENDPOINT)
      answers::region_binding::domain,
      // notify: immediate: shm.write_immediate_bytes is 8 (claimed: libfabric 1.17 prov/shm, cq_data_size 8; observed: 2026-11-20 libfabric 1.17.0
      //   loopback, 240 writes with an immediate gave 240 target entries with the right value); shm.write_immediate_consumes_receive is false
      //   (claimed: libfabric 1.17 prov/shm: mode has no FI_RX_CQ_DATA; observed: 2026-11-20 libfabric 1.17.0 loopback, 240 writes with an immediate
      //   used up no posted receive)
      answers::notify::immediate,
      // write_fault: delivery_confirmed: shm.refused_write is silent (claimed: libfabric 1.17 prov/shm: the target drops the command; observed:
      //   2026-11-20 libfabric 1.17.0 loopback, the target refused a wrong key, and a write of 512 bytes got success; a write with
      //   FI_DELIVERY_COMPLETE or of 8 KiB never ended, nor did later writes to that peer); shm.delivery_complete is true (claimed: libfabric 1.17
      //   prov/shm: the completion waits for the target's progress; observed: 2026-11-20 libfabric 1.17.0 loopback, writes with FI_DELIVERY_COMPLETE
      //   completed when the target polled)
      answers::write_fault::delivery_confirmed,
      // atomics: provider: shm.atomics is provider (claimed: libfabric 1.17 prov/shm: the target's progress executes atomics; observed: 2026-11-20
      //   libfabric 1.17.0 loopback, 64-bit fetch-add and compare-swap returned the right values); shm.atomics_cost_order is false (claimed:
      //   libfabric 1.17 prov/shm; observed: 2026-11-20 libfabric 1.17.0 loopback, hints with FI_ATOMIC and FI_ORDER_SAW were granted)
      answers::atomics::provider,
      // progress: polling: shm.data_progress is polling (claimed: libfabric 1.17 prov/shm: FI_PROGRESS_MANUAL, AUTO refused; observed: 2026-11-20
      //   libfabric 1.17.0 loopback, memory did not change until the target polled (2.6.0 too))
      answers::progress::polling,
      // wait: yield: shm.completion_wait is yield (claimed: libfabric 1.17 prov/shm: FI_WAIT_NONE, FI_WAIT_UNSPEC and FI_WAIT_YIELD only; observed:
      //   2026-11-20 libfabric 1.17.0 loopback, fi_cq_open with FI_WAIT_FD gave ENOSYS)
      answers::wait::yield,
      // threading: one_owner: one owner needs no lock on any fabric
      answers::threading::one_owner,
      // completion: selective: shm.selective_completion is true (claimed: libfabric 1.17 prov/shm; observed: 2026-11-20 libfabric 1.17.0 loopback,
      //   unsignalled writes gave no completion)
      answers::completion::selective,
      // liveness: process: shm.same_host is true (claimed: libfabric 1.17 man fi_shm: processes of one host)
      answers::liveness::process,
      // receive_buffers: slots: a slot for each message bounds the memory of unexpected messages on any fabric; many small messages may want
      //   multi_receive
      answers::receive_buffers::slots,
      // receive_pool: shared: shm.endpoint_type is addressed (claimed: libfabric 1.17 prov/shm: FI_EP_RDM; observed: 2026-11-20 libfabric 1.17.0,
      //   fi_info -v, FI_EP_RDM)
      answers::receive_pool::shared,
      // flush: message_behind_writes: shm.order_send_after_write is true (claimed: libfabric 1.17 prov/shm: only if the hints request FI_ORDER_SAW;
      //   observed: 2026-11-20 libfabric 1.17.0 loopback, hints with FI_ORDER_SAW were granted); shm.atomics_cost_order is false (claimed: libfabric
      //   1.17 prov/shm; observed: 2026-11-20 libfabric 1.17.0 loopback, hints with FI_ATOMIC and FI_ORDER_SAW were granted);
      //   shm.virtual_addressing_costs_order is true (claimed: libfabric 1.15 to 2.1 prov/shm: granted only with hints that request no order of
      //   writes); no chosen answer removes that order
      answers::flush::message_behind_writes,
      // coalesce: none: no operation waits for another on any fabric; many small messages may want up_to<messages, bytes>
      answers::coalesce::none,
      // queues: one: one poll finds both on any fabric
      answers::queues::one,
      // inject: as_the_row_permits: shm.inject_bytes is 4096 (claimed: libfabric 1.17 prov/shm, inject_size 4096, 0 with FI_HMEM; observed:
      //   2026-11-20 libfabric 1.17.0, fi_info -v, inject_size 4096)
      answers::inject::as_the_row_permits,
      // checks: verified: a wrong post returns an error on any fabric; programs without mistakes may want trusted
      answers::checks::verified,
      // authentication: none: no fabric says who a peer is; where strangers reach a listener, choose shared_secret by hand
      answers::authentication::none,
      // tagged: none: matching costs memory and credits on any fabric; programs that receive by tag choose it by hand
      answers::tagged::none
  >;
};
static_assert(complete_fabric<shm_since_1_15>);
}  // namespace rules_3a23cea2
inline namespace rules_0ed10497 {
/// libfabric 1.17 to before 2.0.
struct shm_since_1_17 : shm_since_1_15 {
  static constexpr std::string_view made_from = "rules 3ae7adf7, row d8b3808a";
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=provider liveness=process key_bytes=8 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0xe89dab4bb49d21be;
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = shm_since_1_15::facts;
    changed.since = {1, 17};
    changed.until = {2, 0};
    // shm.full_completion_queue (claimed: libfabric 1.17 to 2.6 prov/util, ofi_cq_write_overflow: entries beyond the size are kept in a list;
    //   observed: 2026-11-26 libfabric 1.17.0 loopback, weft probe: 96 posts over a queue of 8, none read meanwhile: all were taken, and 96 ended)
    changed.full_completion_queue = full_completion_queue::keeps;
    return changed;
  }();
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  using policies = policy_set<
      answers::endpoint::addressed, answers::bootstrap::exchange, answers::framing::immediate, answers::region_address::offset,
      answers::region_key::application, answers::local_descriptor::not_needed, answers::region_binding::domain,
      answers::notify::immediate, answers::write_fault::delivery_confirmed, answers::atomics::provider,
      answers::progress::polling, answers::wait::yield, answers::threading::one_owner, answers::completion::selective,
      answers::liveness::process, answers::receive_buffers::slots, answers::receive_pool::shared,
      answers::flush::message_behind_writes, answers::coalesce::none, answers::queues::one, answers::inject::as_the_row_permits,
      answers::checks::verified, answers::authentication::none, answers::tagged::none
  >;
};
static_assert(complete_fabric<shm_since_1_17>);
}  // namespace rules_0ed10497
inline namespace rules_23612dd1 {
/// libfabric 2.0 to before 2.5.
struct shm_since_2_0 : shm_since_1_17 {
  static constexpr std::string_view made_from = "rules 3ae7adf7, row fa82b006";
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=provider liveness=process key_bytes=8 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0xe89dab4bb49d21be;
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = shm_since_1_17::facts;
    changed.since = {2, 0};
    changed.until = {2, 5};
    // shm.forgets_peers (claimed: libfabric 2.0 to 2.6 prov/shm, smr_unmap_from_endpoint: the side that removes its peer second writes before its
    //   table, and does not free its own entry; observed: 2026-11-20 libfabric 2.1.0 loopback, after 256 removals the library used a place again, and
    //   the next send ended in a segmentation fault)
    changed.forgets_peers = false;
    return changed;
  }();
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  using policies = policy_set<
      answers::endpoint::addressed, answers::bootstrap::exchange, answers::framing::immediate, answers::region_address::offset,
      answers::region_key::application, answers::local_descriptor::not_needed, answers::region_binding::domain,
      answers::notify::immediate, answers::write_fault::delivery_confirmed, answers::atomics::provider,
      answers::progress::polling, answers::wait::yield, answers::threading::one_owner, answers::completion::selective,
      answers::liveness::process, answers::receive_buffers::slots, answers::receive_pool::shared,
      answers::flush::message_behind_writes, answers::coalesce::none, answers::queues::one, answers::inject::as_the_row_permits,
      answers::checks::verified, answers::authentication::none, answers::tagged::none
  >;
};
static_assert(complete_fabric<shm_since_2_0>);
}  // namespace rules_23612dd1
inline namespace rules_1bfd7eaa {
/// libfabric 2.5 and later.
struct shm_since_2_5 : shm_since_2_0 {
  static constexpr std::string_view made_from = "rules 3ae7adf7, row b64f5018";
  static constexpr std::string_view shared =
      "endpoint=addressed bootstrap=exchange framing=immediate region_address=offset region_key=application notify=immediate "
      "atomics=provider liveness=process key_bytes=8 write_immediate_bytes=8 send_immediate_bytes=8";
  static constexpr std::uint64_t fingerprint = 0xe89dab4bb49d21be;
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = shm_since_2_0::facts;
    changed.since = {2, 5};
    changed.until = any_later_version;
    // shm.refused_write (claimed: libfabric 2.5 prov/shm, smr_progress_cmd_rma: a command whose key or range is wrong returns without SMR_OP_ERROR,
    //   so that its initiator gets a success (commit 488dc58b5); observed: 2026-11-26 libfabric 2.6.0 loopback, scripts/releases: a wrong key and a
    //   write out of range got success, also with FI_DELIVERY_COMPLETE)
    changed.refused_write = refusal::hidden;
    return changed;
  }();
  // add compare_swap swap and or xor min max read, each of int32 uint32 int64 uint64 float double: n native, l loop, w wide loop, t by the target
  static constexpr atomic_table atomics_by{"nnnnnn nnnn-- nnnnnn nnnn-- nnnn-- nnnn-- nnnnnn nnnnnn nnnnnn"};
  using policies = policy_set<
      answers::endpoint::addressed, answers::bootstrap::exchange, answers::framing::immediate, answers::region_address::offset,
      answers::region_key::application, answers::local_descriptor::not_needed, answers::region_binding::domain,
      answers::notify::immediate,
      // write_fault: undetected: shm.refused_write is hidden (claimed: libfabric 2.5 prov/shm, smr_progress_cmd_rma: a command whose key or range is
      //   wrong returns without SMR_OP_ERROR, so that its initiator gets a success (commit 488dc58b5); observed: 2026-11-26 libfabric 2.6.0 loopback,
      //   scripts/releases: a wrong key and a write out of range got success, also with FI_DELIVERY_COMPLETE); no completion of the library tells a
      //   refused write from another
      answers::write_fault::undetected,
      answers::atomics::provider, answers::progress::polling, answers::wait::yield, answers::threading::one_owner,
      answers::completion::selective, answers::liveness::process, answers::receive_buffers::slots, answers::receive_pool::shared,
      answers::flush::message_behind_writes, answers::coalesce::none, answers::queues::one, answers::inject::as_the_row_permits,
      answers::checks::verified, answers::authentication::none, answers::tagged::none
  >;
};
static_assert(complete_fabric<shm_since_2_5>);
}  // namespace rules_1bfd7eaa

using shm = by_library<backends::libfabric::built_with, shm_since_1_15, shm_since_1_17, shm_since_2_0, shm_since_2_5>;
// clang-format on
}  // namespace weft::fabrics

#include "shm.why_not.hpp"
