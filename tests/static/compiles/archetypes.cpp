// SPDX-License-Identifier: Apache-2.0
//
// The concepts, on the smallest types that satisfy them and on types that lack one thing each. The test is that it
// compiles.
#include <weft/backends/loopback/port.hpp>
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

namespace weft {
namespace {

// ---- policies
struct some_family;
struct an_answer {
  using family = some_family;
};
struct no_family {};
struct with_state {
  using family = some_family;
  int state;
};
static_assert(policy<an_answer> && answers_family<an_answer, some_family>);
static_assert(!policy<no_family>, "an answer names its family");
static_assert(!policy<with_state>, "a choice costs nothing: answers are empty");
static_assert(!answers_family<an_answer, notify_family>);

/// An answer to notify that does not state the target's needs.
struct silent_notify {
  using family = notify_family;
  static constexpr bool rides_on_write = true;
};
static_assert(!notify_policy<silent_notify> && notify_policy<answers::notify::immediate>);

// ---- fabrics
static_assert(complete_fabric<fabrics::loopback>);
struct without_a_name {
  [[maybe_unused]] static constexpr std::uint64_t fingerprint = 1;
  [[maybe_unused]] static constexpr fabric_facts facts{};
  [[maybe_unused]] static constexpr std::array<environment_setting, 0> environment{};
  using policies = fabrics::loopback::policies;
};
static_assert(!complete_fabric<without_a_name>);
struct half_answered : fabrics::loopback {
  using policies = policy_set<answers::endpoint::connected, answers::framing::immediate>;
};
static_assert(!complete_fabric<half_answered>);
static_assert(consistent_fabric<fabrics::loopback>());

// ---- ports
using shape = shape_of<fabrics::loopback>;
static_assert(port_shape<shape> && !port_shape<fabrics::loopback> && !port_shape<int>);
static_assert(port<backends::loopback::port<shape>>);
struct no_port {};
static_assert(!port<no_port>);
static_assert(oob_exchange_channel<backends::loopback::oob_exchange> && !oob_exchange_channel<no_port>);

// ---- handlers
struct everything {
  template <class Event>
  void operator()(const Event&) {}
};
struct only_messages {
  void operator()(const received&) {}
};
static_assert(event_handler<everything> && event_handler<detail::refuse_events> && !event_handler<only_messages> &&
              !event_handler<int>);

// ---- transports and values
using net = transport<fabrics::loopback>;
static_assert(std::is_nothrow_move_constructible_v<net> && !std::is_copy_constructible_v<net> &&
              !std::is_default_constructible_v<net>);
struct other : fabrics::loopback {};
static_assert(!std::is_assignable_v<net&, transport<other>> && !std::is_constructible_v<net, transport<other>>);
static_assert(std::is_trivially_copyable_v<peer> && std::is_trivially_copyable_v<status> &&
              std::is_trivially_copyable_v<remote_place>);
static_assert(!peer());
static_assert(sizeof(status) == 16);

template <class Net>
concept posts_without_throwing = requires(Net n, peer p, local_memory m, remote_place at, void* c) {
  { n.send(p, m, c) }
  noexcept->std::same_as<status>;
  { n.put(p, m, at, c) }
  noexcept->std::same_as<status>;
  { n.put_notify(p, m, at, 1U, c) }
  noexcept->std::same_as<status>;
  { n.get(p, m, at, c) }
  noexcept->std::same_as<status>;
  { n.fetch_add(p, at, 1U, c) }
  noexcept->std::same_as<status>;
  { n.compare_swap(p, at, 1U, 2U, c) }
  noexcept->std::same_as<status>;
};
static_assert(posts_without_throwing<net>);

}  // namespace
}  // namespace weft
