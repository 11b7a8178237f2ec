// SPDX-License-Identifier: Apache-2.0
//
// What a fabric is: a row's facts, one answer for each family, and the backend that serves the row. Generated headers
// define fabrics; this file checks that they are complete (compose/fabric_rules.hpp: that they are consistent), and
// makes the Shape that a backend takes as its template argument. Hot path: compile time only. Threads: none.
#pragma once

#include "../core/atomic_listing.hpp"
#include "../core/facts.hpp"
#include "../core/policy.hpp"
#include "../core/port.hpp"
#include "../policies/policies.hpp"
#include "../wire/fused.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace weft {

/// The answer that fabric F gives to a family: `answer<tcp, notify_family>`.
template <class F, class Family>
using answer = typename F::policies::template pick<Family>;

namespace detail {
template <class F>
concept fabric_with_facts = requires {
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
};
}  // namespace detail

/// A fabric has one answer for every family, and its facts. sizeof is first, so that errors within F come before the
/// requirements, which a compiler would print.
template <class F>
concept complete_fabric =
    (sizeof(F) != 0) && detail::fabric_with_facts<F>&& all_families::answered_by<typename F::policies>;

/// Whether a fabric's facts permit an answer that a program selects (compose/with.hpp). Generated headers refuse with
/// overloads of why_not(), whose bodies hold the sentence. This one serves answers that they do not refuse.
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
/// Some answers make answers to other families illegal. This is what the rules choose for those families then.
/// Generated together with why_not().
template <class Answer>
constexpr policy_set<> follows(const void* /*fabric*/, Answer /*answer*/) noexcept {
  return {};
}

/// Up to this size in bytes, an unsignalled post is copied at the call, and its source is free at once. 0: never.
template <class F>
inline constexpr std::uint32_t inject_bytes_of = std::min<std::uint32_t>(F::facts.inject_bytes,
                                                                         answer<F, inject_family>::bytes);

/// Who executes the atomics on a plain region.
template <class F>
inline constexpr atomicity usual_atomicity = answer<F, atomics_family>::executor;

namespace detail {
/// Orders that a program requests by type (compose/ordering.hpp, ordered).
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

/// Several fabrics as one: compose/sets/fabric_set.hpp.
template <complete_fabric... F>
struct fabric_set;
template <class F>
inline constexpr bool is_fabric_set = false;
template <class... F>
inline constexpr bool is_fabric_set<fabric_set<F...>> = true;
namespace detail {
template <class... F>
void base_that_is_a_set(const fabric_set<F...>*);
}  // namespace detail
/// A type that derives from a set, as ordered<fabric_set<...>, ...> would. A transport of it would know no fabric but
/// the first.
template <class F>
concept changed_fabric_set = !is_fabric_set<F> && requires(const F* fabric) {
  detail::base_that_is_a_set(fabric);
};

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
  /// Where the target watches cells, a larger write carries its notice as an immediate, if the row has immediates that
  /// consume no receive.
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
  static constexpr bool trusts_caller = answer<F, checks_family>::trusts_caller;
};

namespace detail {
template <library_version Built, class First, class... Rest>
consteval auto newest_that_fits() {
  if constexpr (sizeof...(Rest) == 0) return First{};
  else if constexpr ((... || (Rest::facts.since <= Built))) return newest_that_fits<Built, Rest...>();
  else return First{};
}
}  // namespace detail

/// Picks among the version ranges of a row, oldest first: the newest range that the library's headers have reached.
/// Headers older than every range get the oldest range, so that the program compiles; open() then refuses with both
/// versions.
template <library_version Built, complete_fabric... Ranges>
using by_library = decltype(detail::newest_that_fits<Built, Ranges...>());

/// The same fabric over another backend: same facts, same answers. Tests run each row over the loopback with this.
template <complete_fabric F, template <class> class Port>
struct over : F {
  template <class Shape>
  using port = Port<Shape>;
};

/// The same fabric with payloads of up to Bytes inside their notices (compose/posting/fused.hpp); 0: none. Has an
/// effect where the notify answer is a message. The two sides may differ.
template <complete_fabric F, std::uint32_t Bytes>
struct fused_up_to : F {
  static constexpr fabric_facts facts = [] {
    fabric_facts changed = F::facts;
    changed.fused_bytes = Bytes;
    return changed;
  }();
};

}  // namespace weft
