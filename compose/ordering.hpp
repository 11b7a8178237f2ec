// SPDX-License-Identifier: Apache-2.0
//
// What is ordered with what on a fabric, as constants to ask and to constrain with:
// `static_assert(ordering<F>::write_after_write)`. Forced by fi_endpoint(3): orders of messages and of data are
// properties of a provider, and hold only where they were asked for (msg_order): a row that has an order does not give
// it to transports whose answers do not rely on it, since some cards pay for it with their best path. Whoever relies on
// more asks by type: `ordered<F, order::write_after_write>`, which does not compile where the row has it not. "B after
// A": B, posted to the same peer later than A, is not seen by the target before A is whole. No order between peers
// exists anywhere. Hot path: compile time only. Threads: none.
#pragma once

#include "fabric.hpp"

namespace weft {

/// What transports of fabric F keep, from its row and its answers. False means: reordering happens, or nobody has said
/// that it does not.
template <complete_fabric F>
struct ordering {
 private:
  using shape = shape_of<F>;
  using notify_answer = answer<F, notify_family>;
  static constexpr const fabric_facts& row = F::facts;
  static constexpr bool fused = notify_answer::notice_is_message && row.fused_bytes > 0;
  static constexpr bool grouped =
      answer<F, coalesce_family>::gathers;  // then puts may be copied by the target, from messages
  static constexpr bool atomics_are_messages = answer<F, atomics_family>::executed_by_target;

 public:
  /// Messages arrive in the order of their posting.
  static constexpr bool send_after_send = row.order_send_after_send;
  /// A message is seen after the bytes of the puts before it.
  static constexpr bool send_after_write = row.order_send_after_write && shape::ordered_send_after_write &&
                                           !(row.atomics_cost_order && shape::native_atomics) &&
                                           (!grouped || row.order_send_after_send);
  /// The bytes of a put are seen after those of the puts before it. Not where the target copies small put_notifies, and
  /// does it later: those in messages, and those in the ring that it watches.
  static constexpr bool write_after_write =
      row.order_write_after_write && shape::ordered_write_after_write && !fused && !shape::watches_cells;
  /// A put is seen after the messages before it: no fabric says so, since messages wait until their target looks.
  static constexpr bool write_after_send = false;
  /// A get sees the puts before it, a put does not change what a get before it reads: no cell of a row says so. Wait
  /// for the first one's end.
  static constexpr bool read_after_write = false;
  static constexpr bool write_after_read = false;
  /// Atomics of one initiator are executed in the order of their posting: where they are messages that the target
  /// executes.
  static constexpr bool atomic_after_atomic = atomics_are_messages && send_after_send;
  /// An atomic is executed after the bytes of the puts before it are there.
  static constexpr bool atomic_after_write = atomics_are_messages && send_after_write;

  /// A notice is told after the bytes of its own put_notify: weft's promise, on every fabric.
  static constexpr bool notice_after_its_bytes = true;
  /// A notice is told after the bytes of the plain puts before it: only then may the last write of many carry the
  /// notice. Else count them (compose/notification_counter.hpp).
  static constexpr bool notice_after_puts = shape::watches_cells               ? row.order_write_after_write && !grouped
                                            : notify_answer::notice_is_message ? send_after_write
                                                                               : write_after_write;
  /// Notices are told in the order of their put_notifies. Watched ones: not where those larger than a cell ride on
  /// their writes.
  static constexpr bool notice_after_notice =
      shape::remote_counter || (shape::watches_cells && !shape::write_immediate && !grouped) ? true
      : notify_answer::rides_on_write                                                        ? write_after_write
                                      : std::same_as<notify_answer, answers::notify::message_after_ordered_write> &&
                                            send_after_write && send_after_send;
  /// A signalled put that has ended is in the target's memory, not only out of the source.
  static constexpr bool end_is_delivery = answer<F, write_fault_family>::signalled_write == post_mode::delivered;
};

/// Orders that a program may ask of a row.
enum class order : std::uint8_t { send_after_write, write_after_write };

/// Fabric F with orders that its own answers do not need, asked of the library and attested at open. Choose it where a
/// program relies on one; it may cost what the row's library takes for it. Both sides must be built with the same.
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
                "weft: order::send_after_write is not to be had: order_send_after_write is false in the fabric's row");
  static_assert(
      has_write_after_write,
      "weft: order::write_after_write is not to be had: order_write_after_write is false in the fabric's row");
  static_assert(atomics_leave_it,
                "weft: order::send_after_write is not to be had beside atomics::provider: atomics_cost_order in the "
                "fabric's row");
  static_assert(pointers_leave_it,
                "weft: no order of writes is to be had beside region_address::virtual_address: "
                "virtual_addressing_costs_order in the fabric's row");
  static_assert(written_at_once,
                "weft: order::write_after_write is not to be had beside notify::watched_word: the target copies small "
                "payloads later");
  static_assert(
      written_only,
      "weft: order::write_after_write is not to be had where small payloads travel in notices: take fused_up_to<F, 0>");
};

}  // namespace weft
