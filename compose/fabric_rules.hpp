// SPDX-License-Identifier: Apache-2.0
//
// The rules that span families, or bind an answer to a fact of the row. This file decides; the generator repeats these
// rules only to name a line of the YAML. Hot path: compile time only. Threads: none.
#pragma once

#include "fabric.hpp"

#include <concepts>

namespace weft {

/// Rules that span families or bind an answer to a fact. Each member is one rule.
template <complete_fabric F>
struct rules_hold {
  static constexpr const fabric_facts& facts = F::facts;
  using notify_answer = answer<F, notify_family>;

  static constexpr bool endpoint = answer<F, endpoint_family>::type == facts.endpoint_type;
  static constexpr bool immediate = !notify_answer::rides_on_write || facts.write_immediate_bytes >= 4;
  static constexpr bool reserve =
      !notify_answer::rides_on_write ||
      (notify_answer::target_keeps == notify_needs::receive_reserve) == facts.write_immediate_consumes_receive;
  static constexpr bool framing =
      answer<F, framing_family>::bytes_in_front == 0 ? facts.send_immediate_bytes >= 4 : facts.gather_limit >= 2;
  static constexpr bool by_pointer = answer<F, region_address_family>::form == wire::address_form::virtual_address;
  static constexpr bool writes_ordered = !by_pointer || !facts.virtual_addressing_costs_order;
  static constexpr bool overtaking = !std::same_as<notify_answer, answers::notify::message_after_ordered_write> ||
                                     (facts.order_send_after_write && writes_ordered);
  static constexpr bool flush_order = !answer<F, flush_family>::by_message ||
                                      (facts.order_send_after_write && writes_ordered &&
                                       (!facts.atomics_cost_order || answer<F, atomics_family>::executed_by_target));
  static constexpr bool flush_tracking =
      !answer<F, flush_family>::tracks ||
      (facts.delivery_complete && answer<F, write_fault_family>::signalled_write == post_mode::delivered);
  static constexpr bool ring = !std::same_as<notify_answer, answers::notify::remote_counter> ||
                               (facts.remote_counter_counts_writes && facts.order_write_after_write && writes_ordered);
  static constexpr bool watching =
      notify_answer::target_keeps != notify_needs::cells ||
      (facts.bytes_visible_in_order && facts.order_write_after_write && facts.context_bytes == 0 && writes_ordered);
  static constexpr bool delivery = (!std::same_as<notify_answer, answers::notify::message_after_delivery> &&
                                    answer<F, write_fault_family>::signalled_write != post_mode::delivered) ||
                                   facts.delivery_complete;
  static constexpr bool fused = facts.fused_bytes <= wire::largest_fused;
  static constexpr bool atomics =
      answer<F, atomics_family>::executed_by_target || facts.atomics == atomic_execution::provider;
  static constexpr bool lowerings = answer<F, atomics_family>::executed_by_target || possible(F::atomics_by, facts);
  static constexpr bool order_kept = answer<F, atomics_family>::executed_by_target || !facts.atomics_cost_order ||
                                     !overtaking ||
                                     (!std::same_as<notify_answer, answers::notify::message_after_ordered_write> &&
                                      notify_answer::target_keeps != notify_needs::cells);
  static constexpr bool addresses =
      by_pointer == facts.virtual_addressing || (by_pointer && facts.virtual_addressing_optional);
  static constexpr bool keys = answer<F, region_key_family>::made_here == (facts.key_owner == key_owner::application);
  static constexpr bool descriptor = !answer<F, local_descriptor_family>::any_memory || !facts.local_registration;
  static constexpr bool polling =
      answer<F, progress_family>::needs_owner || facts.data_progress != data_progress::polling;
  static constexpr bool selective = !answer<F, completion_family>::asks_each_time || facts.selective_completion;
  static constexpr bool many_in_one = !answer<F, receive_buffers_family>::many_in_one ||
                                      (facts.multi_receive && !facts.write_immediate_consumes_receive);
  static constexpr bool groups =
      !answer<F, coalesce_family>::gathers ||
      answer<F, coalesce_family>::bytes + answer<F, framing_family>::bytes_in_front <= facts.largest_message;
  static constexpr bool two_queues = !answer<F, queues_family>::apart || facts.split_queues;
  static constexpr bool levels = answer<F, threading_family>::asks == thread_level::one_owner || facts.thread_levels;
  static constexpr bool injected = answer<F, inject_family>::bytes == answers::inject::as_the_row_permits::bytes ||
                                   answer<F, inject_family>::bytes <= facts.inject_bytes;
  static constexpr bool pool = answer<F, receive_pool_family>::one_for_all
                                   ? facts.endpoint_type == endpoint_type::addressed || facts.shared_receives
                                   : facts.endpoint_type == endpoint_type::connected;
};

/// Every rule, each with the sentence that its author should read. A transport asserts it:
/// `static_assert(consistent_fabric<F>())`.
template <complete_fabric F>
consteval bool consistent_fabric() {
  using rules = rules_hold<F>;
  static_assert(!changed_fabric_set<F>,
                "weft: a set cannot be changed as a whole: change its fabrics, as in "
                "fabric_set<ordered<F, order::write_after_write>, ...> [WEFT-C033]");
  static_assert(
      !requires { typename F::uncounted; },
      "weft: counters are asked for last: counted<with<F, answers::checks::trusted>> [WEFT-C043]");
  static_assert(rules::endpoint,
                "weft: the fabric's answer to endpoint is not what its row says in endpoint_type [WEFT-C002]");
  static_assert(rules::immediate,
                "weft: a notify answer that rides on the write needs write_immediate_bytes of 4 or more in the "
                "fabric's row [WEFT-C002]");
  static_assert(rules::reserve,
                "weft: notify::immediate_consumes_receive belongs to rows where write_immediate_consumes_receive is "
                "true, notify::immediate to the others [WEFT-C002]");
  static_assert(rules::framing,
                "weft: framing::immediate needs send_immediate_bytes of 4 or more in the fabric's row, framing::header "
                "a gather_limit of 2 or more [WEFT-C002]");
  static_assert(rules::overtaking,
                "weft: notify::message_after_ordered_write needs order_send_after_write in the fabric's row: without "
                "it the message overtakes the write [WEFT-C002]");
  static_assert(rules::flush_order,
                "weft: flush::message_behind_writes needs order_send_after_write in the fabric's row, and no answer "
                "that takes it away [WEFT-C002]");
  static_assert(rules::flush_tracking,
                "weft: flush::tracked_writes needs delivery_complete in the fabric's row, and "
                "write_fault::delivery_confirmed [WEFT-C002]");
  static_assert(rules::ring,
                "weft: notify::remote_counter needs remote_counter_counts_writes and order_write_after_write in the "
                "fabric's row [WEFT-C002]");
  static_assert(rules::watching,
                "weft: notify::watched_word needs bytes_visible_in_order, order_write_after_write and context_bytes of "
                "0 in the fabric's row [WEFT-C002]");
  static_assert(rules::delivery,
                "weft: notify::message_after_delivery and write_fault::delivery_confirmed need delivery_complete in "
                "the fabric's row [WEFT-C002]");
  static_assert(rules::fused,
                "weft: fused_bytes in the fabric's row is larger than a control message has room for (wire/fused.hpp, "
                "largest_fused) [WEFT-C002]");
  static_assert(rules::atomics,
                "weft: atomics::provider needs atomics to be provider in the fabric's row; atomics::target is legal on "
                "every row [WEFT-C002]");
  static_assert(
      rules::lowerings,
      "weft: atomics_by lowers an operation to what atomic_operations in the fabric's row does not list [WEFT-C002]");
  static_assert(rules::order_kept,
                "weft: atomics::provider takes away the order that notify::message_after_ordered_write and "
                "notify::watched_word rely on "
                "(atomics_cost_order in the row) [WEFT-C002]");
  static_assert(rules::addresses,
                "weft: the fabric's answer to region_address is not what its row says in virtual_addressing and "
                "virtual_addressing_optional [WEFT-C002]");
  static_assert(rules::keys,
                "weft: the fabric's answer to region_key is not what its row says in key_owner [WEFT-C002]");
  static_assert(
      rules::descriptor,
      "weft: local_descriptor::not_needed is illegal where the fabric's row says local_registration [WEFT-C002]");
  static_assert(
      rules::polling,
      "weft: the fabric's answer to progress must be polling where its row says data_progress: polling [WEFT-C002]");
  static_assert(rules::selective,
                "weft: completion::selective needs selective_completion in the fabric's row [WEFT-C002]");
  static_assert(rules::many_in_one,
                "weft: receive_buffers::multi_receive needs multi_receive in the fabric's row, and immediates that "
                "consume no receive [WEFT-C002]");
  static_assert(rules::groups,
                "weft: coalesce::up_to<messages, bytes>: bytes is more than a message of this fabric holds "
                "(largest_message in its row) [WEFT-C002]");
  static_assert(rules::two_queues, "weft: queues::two needs split_queues in the fabric's row [WEFT-C002]");
  static_assert(rules::levels,
                "weft: threading::one_owner_per_queue and threading::library_locks need thread_levels in the fabric's "
                "row [WEFT-C002]");
  static_assert(rules::injected,
                "weft: inject::up_to<bytes>: bytes is more than a post of this fabric can copy (inject_bytes in its "
                "row) [WEFT-C002]");
  static_assert(rules::pool,
                "weft: receive_pool::shared needs shared_receives in the fabric's row where endpoints are connected; "
                "addressed ones have no other [WEFT-C002]");
  return true;
}

}  // namespace weft
