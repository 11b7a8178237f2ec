// SPDX-License-Identifier: Apache-2.0
//
// The facts and answers that hold for every fabric of a set. A promise holds where each fabric keeps it; a duty of the
// program holds where one fabric has it. Sizes are the least ones. Hot path: compile time only. Threads: none.
#pragma once

#include "../fabric.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

namespace weft::detail {

/// The facts that hold for both.
constexpr fabric_facts weakest_of(const fabric_facts& a, const fabric_facts& b) noexcept {
  fabric_facts w = a;
  w.provider = w.fabric_name = {};
  w.endpoint_type = std::max(a.endpoint_type, b.endpoint_type);
  w.address_resolution = address_resolution::opaque;
  w.connects_lazily = a.connects_lazily || b.connects_lazily;
  w.forgets_peers = a.forgets_peers && b.forgets_peers;
  w.address_formats = {};
  w.own_node_path = std::max(a.own_node_path, b.own_node_path);
  w.write_immediate_setting = {};
  w.virtual_addressing = a.virtual_addressing && b.virtual_addressing;
  w.virtual_addressing_optional = a.virtual_addressing_optional && b.virtual_addressing_optional;
  w.virtual_addressing_costs_order = a.virtual_addressing_costs_order || b.virtual_addressing_costs_order;
  w.key_bytes = std::min(a.key_bytes, b.key_bytes);
  w.local_registration = a.local_registration || b.local_registration;
  w.region_endpoint_binding = a.region_endpoint_binding || b.region_endpoint_binding;
  w.write_immediate_bytes = std::min(a.write_immediate_bytes, b.write_immediate_bytes);
  w.write_immediate_consumes_receive = a.write_immediate_consumes_receive || b.write_immediate_consumes_receive;
  w.send_immediate_bytes = std::min(a.send_immediate_bytes, b.send_immediate_bytes);
  w.remote_counter_counts_writes = a.remote_counter_counts_writes && b.remote_counter_counts_writes;
  w.order_send_after_write = a.order_send_after_write && b.order_send_after_write;
  w.order_write_after_write = a.order_write_after_write && b.order_write_after_write;
  w.bytes_visible_in_order = a.bytes_visible_in_order && b.bytes_visible_in_order;
  w.order_send_after_send = a.order_send_after_send && b.order_send_after_send;
  w.delivery_complete = a.delivery_complete && b.delivery_complete;
  w.refused_write = std::max(a.refused_write, b.refused_write);
  w.selective_completion = a.selective_completion && b.selective_completion;
  w.atomics = atomic_execution::none;  // two fabrics are two executors, so the target executes
  w.atomic_operations = "none";
  w.atomics_cost_order = a.atomics_cost_order || b.atomics_cost_order;
  w.data_progress = std::max(a.data_progress, b.data_progress);
  w.completion_wait = std::max(a.completion_wait, b.completion_wait);
  w.reports_killed_peer = a.reports_killed_peer && b.reports_killed_peer;
  w.same_host = a.same_host && b.same_host;
  w.context_bytes = std::max(a.context_bytes, b.context_bytes);
  w.inject_bytes = std::min(a.inject_bytes, b.inject_bytes);
  w.gather_limit = std::min(a.gather_limit, b.gather_limit);
  w.rma_gather_limit = std::min(a.rma_gather_limit, b.rma_gather_limit);
  w.queue_depth = std::min(a.queue_depth, b.queue_depth);
  w.largest_message = std::min(a.largest_message, b.largest_message);
  w.largest_write = std::min(a.largest_write, b.largest_write);
  w.fused_bytes = std::min(a.fused_bytes, b.fused_bytes);
  w.multi_receive = a.multi_receive && b.multi_receive;
  w.shared_receives = a.shared_receives && b.shared_receives;
  w.extended_posting = a.extended_posting && b.extended_posting;
  w.split_queues = a.split_queues && b.split_queues;
  w.thread_levels = a.thread_levels && b.thread_levels;
  w.full_queue = std::max(a.full_queue, b.full_queue);
  w.full_completion_queue = std::max(a.full_completion_queue, b.full_completion_queue);
  return w;
}

template <class First, class... Rest>
constexpr fabric_facts weakest_facts() noexcept {
  fabric_facts w = First::facts;
  ((w = weakest_of(w, Rest::facts)), ...);
  return w;
}

/// How much an answer asks of the program, within its family. The set has the answer that asks most.
template <class Answer>
inline constexpr int demands_of = 0;
template <class A>
requires requires { A::needs_owner; }
inline constexpr int demands_of<A> = A::needs_owner;
template <class A>
requires requires { A::any_memory; }
inline constexpr int demands_of<A> = !A::any_memory;
template <class A>
requires requires { A::tracks; }
inline constexpr int demands_of<A> = A::by_message ? 1 : A::tracks ? 2 : 3;
template <class A>
requires requires { A::speaks; }
inline constexpr int demands_of<A> = A::speaks ? 2 : A::watches_process;
template <class A>
requires requires { A::trusts_caller; }
inline constexpr int demands_of<A> = A::trusts_caller;
template <class A>
requires requires { A::asks_secret; }
inline constexpr int demands_of<A> = A::asks_secret;
template <class A>
requires requires { A::signalled_write; }
inline constexpr int demands_of<A> = A::signalled_write != post_mode::delivered;
template <class A>
requires requires { A::matches; }
inline constexpr int demands_of<A> = !A::matches;
template <class A>
requires requires { A::asks_each_time; }
inline constexpr int demands_of<A> = !A::asks_each_time;

/// The answer that asks most; of equal ones the first.
template <class First, class... Rest>
struct most_demanding {
  using type = First;
};
template <class First, class Second, class... Rest>
struct most_demanding<First, Second, Rest...> {
  using type = typename most_demanding<std::conditional_t<(demands_of<First> >= demands_of<Second>), First, Second>,
                                       Rest...>::type;
};

/// The answer of a set to one family.
template <class Family, class... F>
struct answer_of_set {
  using type = std::conditional_t<std::same_as<Family, atomics_family> && (sizeof...(F) > 1), answers::atomics::target,
                                  typename most_demanding<answer<F, Family>...>::type>;
};
template <class Families, class... F>
struct answers_of_set;
template <class... Families, class... F>
struct answers_of_set<family_list<Families...>, F...> {
  using type = policy_set<typename answer_of_set<Families, F...>::type...>;
};

/// Whether all fabrics want the same value of each environment variable that several of them set. A process has one.
template <class... F>
consteval bool environments_agree() {
  std::array<environment_setting, (F::environment.size() + ... + 1)> all{};
  std::size_t count = 0;
  bool agree = true;
  const auto add = [&](const environment_setting& one) {
    for (std::size_t i = 0; i < count; ++i)
      agree = agree && (std::string_view(all[i].name) != one.name || std::string_view(all[i].value) == one.value);
    all[count++] = one;
  };
  const auto add_each = [&](const auto& settings) {
    for (const environment_setting& one : settings) add(one);
  };
  (add_each(F::environment), ...);
  return agree;
}
/// The same fabrics in another order are another set: descriptions of regions have the set's order.
template <class... F>
consteval std::uint64_t fingerprint_of_set() {
  std::uint64_t sum = 0xcbf29ce484222325;  // FNV-1a
  for (const std::uint64_t each : {F::fingerprint...}) sum = (sum ^ each) * 0x100000001b3;
  return sum;
}
template <class... F>
consteval bool names_differ() {
  const std::string_view names[] = {F::name...};
  for (std::size_t i = 0; i < sizeof...(F); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (names[i] == names[j]) return false;
  return true;
}
}  // namespace weft::detail
