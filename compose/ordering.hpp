// SPDX-License-Identifier: Apache-2.0
//
// Which operations are ordered on a fabric, as constants: `static_assert(ordering<F>::write_after_write)`. Forced by
// fi_endpoint(3): an order is a property of a provider, and holds only if the program requests it (msg_order). A
// transport requests only the orders that its answers need, because some cards use a slower path for an order. A
// program that needs more names it by type: `ordered<F, order::write_after_write>`. A row without that order does not
// compile. "B after A" means: B was posted later to the same peer, and the target does not see B before A is whole. No
// order
// exists between peers. Hot path: compile time only. Threads: none.
#pragma once

#include "fabric_rules.hpp"

namespace weft {

/// The orders that transports of fabric F keep, from its row and its answers. False means: reordering happens, or no
/// source excludes it.
template <complete_fabric F>
struct ordering {
 private:
  using shape = shape_of<F>;
  using notify_answer = answer<F, notify_family>;
  static constexpr const fabric_facts& row = F::facts;
  static constexpr bool fused = notify_answer::notice_is_message && row.fused_bytes > 0;
  static constexpr bool grouped = answer<F, coalesce_family>::gathers;  // the target may copy puts from messages
  static constexpr bool atomics_are_messages = answer<F, atomics_family>::executed_by_target;

 public:
  /// Messages arrive in the order of their posting.
  static constexpr bool send_after_send = row.order_send_after_send;
  /// A message is seen after the bytes of the puts before it.
  static constexpr bool send_after_write = row.order_send_after_write && shape::ordered_send_after_write &&
                                           !(row.atomics_cost_order && shape::native_atomics) &&
                                           (!grouped || row.order_send_after_send);
  /// The bytes of a put are seen after those of the puts before it. False where the target copies small put_notifies
  /// later: those in messages, and those in the watched ring.
  static constexpr bool write_after_write =
      row.order_write_after_write && shape::ordered_write_after_write && !fused && !shape::watches_cells;
  /// A put is seen after the messages before it. No fabric has this order: messages wait until their target polls.
  static constexpr bool write_after_send = false;
  /// A get sees the puts before it. No row says so: wait for the end of the put.
  static constexpr bool read_after_write = false;
  /// A put does not change what a get before it reads. No row says so: wait for the end of the get.
  static constexpr bool write_after_read = false;
  /// Atomics of one initiator are executed in the order of their posting. True where the target executes them from
  /// messages.
  static constexpr bool atomic_after_atomic = atomics_are_messages && send_after_send;
  /// An atomic is executed after the bytes of the puts before it are there.
  static constexpr bool atomic_after_write = atomics_are_messages && send_after_write;

  /// The handler gets a notice after the bytes of its own put_notify: weft's promise, on every fabric.
  static constexpr bool notice_after_its_bytes = true;
  /// The handler gets a notice after the bytes of the plain puts before it. Only then may the last write of many carry
  /// the notice; otherwise count notices (compose/notification_counter.hpp).
  static constexpr bool notice_after_puts = shape::watches_cells               ? row.order_write_after_write && !grouped
                                            : notify_answer::notice_is_message ? send_after_write
                                                                               : write_after_write;
  /// Notices come in the order of their put_notifies. False with watched cells where larger payloads have their notice
  /// on the write: two paths have no common order.
  static constexpr bool notice_after_notice =
      shape::remote_counter || (shape::watches_cells && !shape::write_immediate && !grouped) ? true
      : notify_answer::rides_on_write                                                        ? write_after_write
                                      : std::same_as<notify_answer, answers::notify::message_after_ordered_write> &&
                                            send_after_write && send_after_send;
  /// A put that ended with `completed` is in the target's memory, not only out of the source.
  static constexpr bool end_is_delivery = answer<F, write_fault_family>::signalled_write == post_mode::delivered;
};

/// Orders that a program may request with ordered<F, …>.
enum class order : std::uint8_t { send_after_write, write_after_write };

/// Fabric F with orders that its answers do not need. A transport requests them at open, and checks that the library
/// grants them. Choose it where a program relies on such an order; it may cost latency. Both sides must be built with
/// the same orders.
template <complete_fabric F, order... Asked>
struct ordered : F {
  static constexpr bool asks_send_after_write = ((Asked == order::send_after_write) || ...);
  static constexpr bool asks_write_after_write = ((Asked == order::write_after_write) || ...);
  static constexpr std::uint64_t fingerprint = F::fingerprint ^ (asks_send_after_write ? 0x5a3f'0000'0000'0000U : 0U) ^
                                               (asks_write_after_write ? 0x0000'9c61'0000'0000U : 0U);

 private:
  static constexpr bool has_send_after_write = !asks_send_after_write || F::facts.order_send_after_write;
  static constexpr bool has_write_after_write = !asks_write_after_write || F::facts.order_write_after_write;
  static constexpr bool atomics_leave_it =
      !asks_send_after_write || !F::facts.atomics_cost_order || answer<F, atomics_family>::executed_by_target;
  static constexpr bool pointers_leave_it =
      rules_hold<F>::writes_ordered || !(asks_send_after_write || asks_write_after_write);
  static constexpr bool written_only =
      !asks_write_after_write || !answer<F, notify_family>::notice_is_message || F::facts.fused_bytes == 0;
  static constexpr bool written_at_once =
      !asks_write_after_write || answer<F, notify_family>::target_keeps != notify_needs::cells;
  static_assert(has_send_after_write,
                "weft: order::send_after_write is not to be had: order_send_after_write is false in the fabric's row "
                "[WEFT-C017]");
  static_assert(has_write_after_write,
                "weft: order::write_after_write is not to be had: order_write_after_write is false in the fabric's row "
                "[WEFT-C017]");
  static_assert(atomics_leave_it,
                "weft: order::send_after_write is not possible with atomics::provider: atomics_cost_order in the "
                "fabric's row [WEFT-C017]");
  static_assert(pointers_leave_it,
                "weft: no order of writes is possible with region_address::virtual_address: "
                "virtual_addressing_costs_order in the fabric's row [WEFT-C017]");
  static_assert(written_at_once,
                "weft: order::write_after_write is not possible with notify::watched_word: the target copies small "
                "payloads later [WEFT-C017]");
  static_assert(written_only,
                "weft: order::write_after_write is not possible where small payloads travel in notices: take "
                "fused_up_to<F, 0> [WEFT-C017]");
};

}  // namespace weft
