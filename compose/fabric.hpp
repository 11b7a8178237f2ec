// SPDX-License-Identifier: Apache-2.0
//
// What a fabric is to the composition: a row's facts, one answer per family, and the backend that serves it.
// Generated headers define fabrics; this file checks that they are complete and consistent (the authority for rules
// that span families: the generator repeats them only to name a YAML line), and tells the backend what it must know, as
// a Shape. Hot path: compile time only.
#pragma once

#include "../core/atomic_listing.hpp"
#include "../core/facts.hpp"
#include "../core/policy.hpp"
#include "../core/port.hpp"
#include "../policies/policies.hpp"
#include "../wire/fused.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace weft {

/// The answer that fabric F gives to a family: `answer<tcp, notify_family>`.
template <class F, class Family>
using answer = typename F::policies::template pick<Family>;

/// A fabric answers every family, each once, and carries its facts.
template <class F>
concept complete_fabric = requires {
  { F::name } -> std::convertible_to<std::string_view>;
  { F::fingerprint } -> std::convertible_to<std::uint64_t>;
  { F::shared } -> std::convertible_to<std::string_view>;
  { F::made_from } -> std::convertible_to<std::string_view>;
  { F::library } -> std::convertible_to<std::string_view>;
  { F::built_with } -> std::convertible_to<library_version>;
  { F::facts } -> std::convertible_to<const fabric_facts&>;
  { F::atomics_by } -> std::convertible_to<const atomic_table&>;
  F::environment.size();
  typename F::policies;
}
&&all_families::answered_by<typename F::policies>;

/// What a fabric's facts say to an answer that somebody asks for by hand (compose/with.hpp). Generated headers refuse
/// with overloads of their own, whose bodies hold the sentence; this is for all that they do not refuse.
struct permitted {};
struct refused {};
namespace detail {
struct asked {};
template <class>
inline constexpr bool nobody_asks = false;
}  // namespace detail
template <class Answer, class Asked>
constexpr permitted why_not(const void* /*fabric*/, Answer /*answer*/, Asked /*asked*/) noexcept {
  return {};
}
/// The answers to other families that an answer asked for by hand makes illegal, replaced as the rules would choose.
/// Generated beside why_not.
template <class Answer>
constexpr policy_set<> follows(const void* /*fabric*/, Answer /*answer*/) noexcept {
  return {};
}

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

/// Every rule, each with the sentence that whoever broke it should read. A transport asserts it:
/// `static_assert(consistent_fabric<F>())`.
template <complete_fabric F>
consteval bool consistent_fabric() {
  using rules = rules_hold<F>;
  static_assert(rules::endpoint, "weft: the fabric's answer to endpoint is not what its row says in endpoint_type");
  static_assert(
      rules::immediate,
      "weft: a notify answer that rides on the write needs write_immediate_bytes of 4 or more in the fabric's row");
  static_assert(rules::reserve,
                "weft: notify::immediate_consumes_receive belongs to rows where write_immediate_consumes_receive is "
                "true, notify::immediate to the others");
  static_assert(rules::framing,
                "weft: framing::immediate needs send_immediate_bytes of 4 or more in the fabric's row, framing::header "
                "a gather_limit of 2 or more");
  static_assert(rules::overtaking,
                "weft: notify::message_after_ordered_write needs order_send_after_write in the fabric's row: without "
                "it the message overtakes the write");
  static_assert(rules::flush_order,
                "weft: flush::message_behind_writes needs order_send_after_write in the fabric's row, and no answer "
                "that takes it away");
  static_assert(
      rules::flush_tracking,
      "weft: flush::tracked_writes needs delivery_complete in the fabric's row, and write_fault::delivery_confirmed");
  static_assert(rules::ring,
                "weft: notify::remote_counter needs remote_counter_counts_writes and order_write_after_write in the "
                "fabric's row");
  static_assert(rules::watching,
                "weft: notify::watched_word needs bytes_visible_in_order, order_write_after_write and context_bytes of "
                "0 in the fabric's row");
  static_assert(rules::delivery,
                "weft: notify::message_after_delivery and write_fault::delivery_confirmed need delivery_complete in "
                "the fabric's row");
  static_assert(rules::fused,
                "weft: fused_bytes in the fabric's row is larger than a control message has room for (wire/fused.hpp, "
                "largest_fused)");
  static_assert(rules::atomics,
                "weft: atomics::provider needs atomics to be provider in the fabric's row; atomics::target is legal on "
                "every row");
  static_assert(rules::lowerings,
                "weft: atomics_by lowers an operation to what atomic_operations in the fabric's row does not list");
  static_assert(rules::order_kept,
                "weft: atomics::provider takes away the order that notify::message_after_ordered_write and "
                "notify::watched_word rely on "
                "(atomics_cost_order in the row)");
  static_assert(rules::addresses,
                "weft: the fabric's answer to region_address is not what its row says in virtual_addressing and "
                "virtual_addressing_optional");
  static_assert(rules::keys, "weft: the fabric's answer to region_key is not what its row says in key_owner");
  static_assert(rules::descriptor,
                "weft: local_descriptor::not_needed is illegal where the fabric's row says local_registration");
  static_assert(rules::polling,
                "weft: the fabric's answer to progress must be polling where its row says data_progress: polling");
  static_assert(rules::selective, "weft: completion::selective needs selective_completion in the fabric's row");
  static_assert(rules::many_in_one,
                "weft: receive_buffers::multi_receive needs multi_receive in the fabric's row, and immediates that "
                "consume no receive");
  static_assert(rules::groups,
                "weft: coalesce::up_to<messages, bytes>: bytes is more than a message of this fabric holds "
                "(largest_message in its row)");
  static_assert(rules::two_queues, "weft: queues::two needs split_queues in the fabric's row");
  static_assert(
      rules::levels,
      "weft: threading::one_owner_per_queue and threading::library_locks need thread_levels in the fabric's row");
  static_assert(
      rules::injected,
      "weft: inject::up_to<bytes>: bytes is more than a post of this fabric can copy (inject_bytes in its row)");
  static_assert(rules::pool,
                "weft: receive_pool::shared needs shared_receives in the fabric's row where endpoints are connected; "
                "addressed ones have no other");
  return true;
}

/// Bytes up to which an unsignalled post is copied at the call, and its source free at once; 0: none is.
template <class F>
inline constexpr std::uint32_t inject_bytes_of = std::min<std::uint32_t>(F::facts.inject_bytes,
                                                                         answer<F, inject_family>::bytes);

/// Who executes the atomics on regions that do not say it.
template <class F>
inline constexpr atomicity usual_atomicity = answer<F, atomics_family>::executor;

namespace detail {
/// Orders that somebody asked for by type (compose/ordering.hpp, ordered).
template <class F>
consteval bool asks_send_after_write() {
  if constexpr (requires { F::asks_send_after_write; }) return F::asks_send_after_write;
  else return false;
}
template <class F>
consteval bool asks_write_after_write() {
  if constexpr (requires { F::asks_write_after_write; }) return F::asks_write_after_write;
  else return false;
}
}  // namespace detail

/// The fabric as its backend sees it (core/port.hpp, port_shape).
template <complete_fabric F>
struct shape_of {
  static constexpr std::string_view name = F::name;
  static constexpr const fabric_facts& facts = F::facts;
  static constexpr const auto& environment = F::environment;
  static constexpr bool virtual_address = answer<F, region_address_family>::form == wire::address_form::virtual_address;
  static constexpr bool provider_key = !answer<F, region_key_family>::made_here;
  static constexpr bool local_descriptor = !answer<F, local_descriptor_family>::any_memory;
  static constexpr bool bind_regions = answer<F, region_binding_family>::bind_and_enable;
  static constexpr bool native_atomics = !answer<F, atomics_family>::executed_by_target;
  /// Where the target watches cells, what is larger than a cell carries its notice as an immediate, if the row has such
  /// that consume nothing.
  static constexpr bool write_immediate = answer<F, notify_family>::rides_on_write ||
                                          (answer<F, notify_family>::target_keeps == notify_needs::cells &&
                                           facts.write_immediate_bytes >= 8 && !facts.write_immediate_consumes_receive);
  static constexpr bool receive_reserve = answer<F, notify_family>::target_keeps == notify_needs::receive_reserve;
  static constexpr bool remote_counter = answer<F, notify_family>::target_keeps == notify_needs::ring;
  static constexpr bool watches_cells = answer<F, notify_family>::target_keeps == notify_needs::cells;
  static constexpr bool ordered_send_after_write =
      std::same_as<answer<F, notify_family>, answers::notify::message_after_ordered_write> ||
      detail::asks_send_after_write<F>() || answer<F, flush_family>::by_message;
  static constexpr bool ordered_write_after_write =
      std::same_as<answer<F, notify_family>, answers::notify::remote_counter> || watches_cells ||
      detail::asks_write_after_write<F>();
  static constexpr bool delivery_complete =
      facts.delivery_complete;  // completes_when<delivered>, and parts that a notice waits for
  static constexpr bool selective_completion = answer<F, completion_family>::asks_each_time;
  static constexpr bool framed = answer<F, framing_family>::bytes_in_front != 0;
  static constexpr bool multi_receive = answer<F, receive_buffers_family>::many_in_one;
  static constexpr bool shared_receives =
      answer<F, receive_pool_family>::one_for_all && facts.endpoint_type == endpoint_type::connected;
  static constexpr bool two_queues = answer<F, queues_family>::apart;
  static constexpr thread_level threads = answer<F, threading_family>::asks;
};

namespace detail {
template <library_version Built, class First, class... Rest>
consteval auto newest_that_fits() {
  if constexpr (sizeof...(Rest) == 0) return First{};
  else if constexpr ((... || (Rest::facts.since <= Built))) return newest_that_fits<Built, Rest...>();
  else return First{};
}
}  // namespace detail

/// Picks among the version ranges of a row, given oldest first: the newest that the library's headers have reached.
/// Where the headers are older than every range the oldest is taken, so that the header compiles; open() then refuses
/// with the versions named.
template <library_version Built, complete_fabric... Ranges>
using by_library = decltype(detail::newest_that_fits<Built, Ranges...>());

/// The same fabric over another backend: same facts, same answers (used to run a row over the loopback).
template <complete_fabric F, template <class> class Port>
struct over : F {
  template <class Shape>
  using port = Port<Shape>;
};

/// The same fabric with payloads of up to Bytes inside of their notices, whatever its row says
/// (compose/posting/fused.hpp). 0: none. Both sides may differ in it. Means something where the answer to notify is a
/// message.
template <complete_fabric F, std::uint32_t Bytes>
struct fused_up_to : F {
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = F::facts;
    changed.fused_bytes = Bytes;
    return changed;
  }();
};

}  // namespace weft
