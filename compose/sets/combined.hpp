// SPDX-License-Identifier: Apache-2.0
//
// The facts and answers that hold for every fabric of a set. A promise holds where each fabric keeps it; a duty of the
// program holds where one fabric has it. Sizes are the least ones. Hot path: compile time only. Threads: none.
#pragma once

#include "../fabric.hpp"

#include <algorithm>
#include <string_view>

namespace weft::detail {

/// The facts that hold for both.
constexpr fabric_facts weakest_of(const fabric_facts& a, const fabric_facts& b) noexcept {
  fabric_facts w = a;
  w.provider = w.fabric_name = {};
  w.endpoint_type = std::max(a.endpoint_type, b.endpoint_type);
  w.address_resolution = address_resolution::opaque;
  w.connects_lazily = a.connects_lazily || b.connects_lazily;
  w.forgets_peers = a.forgets_peers && b.forgets_peers;
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
consteval int demands_of() {
  if constexpr (requires { Answer::needs_owner; }) return Answer::needs_owner;
  else if constexpr (requires { Answer::any_memory; }) return !Answer::any_memory;
  else if constexpr (requires { Answer::by_message; Answer::tracks; })
    return Answer::by_message ? 1 : Answer::tracks ? 2 : 3;
  else if constexpr (requires { Answer::speaks; }) return Answer::speaks ? 2 : Answer::watches_process;
  else if constexpr (requires { Answer::trusts_caller; }) return Answer::trusts_caller;
  else if constexpr (requires { Answer::asks_secret; }) return Answer::asks_secret;
  else if constexpr (requires { Answer::signalled_write; }) return Answer::signalled_write != post_mode::delivered;
  else if constexpr (requires { Answer::asks_each_time; }) return !Answer::asks_each_time;
  else return 0;
}

template <class First, class... Rest>
consteval auto most_demanding() {
  if constexpr (sizeof...(Rest) == 0) {
    return First{};
  } else {
    using other = decltype(most_demanding<Rest...>());
    if constexpr (demands_of<First>() >= demands_of<other>()) return First{};
    else return other{};
  }
}

/// The answer of a set to one family.
template <class Family, class... F>
consteval auto answer_of_set() {
  if constexpr (std::same_as<Family, atomics_family> && sizeof...(F) > 1) return answers::atomics::target{};
  else return most_demanding<answer<F, Family>...>();
}
template <class Families, class... F>
struct answers_of_set;
template <class... Families, class... F>
struct answers_of_set<family_list<Families...>, F...> {
  using type = policy_set<decltype(answer_of_set<Families, F...>())...>;
};

/// Whether two fabrics want different values of one environment variable. A process has one value.
template <class A, class B>
consteval bool environments_agree() {
  for (const environment_setting& a : A::environment)
    for (const environment_setting& b : B::environment)
      if (std::string_view(a.name) == b.name && std::string_view(a.value) != b.value) return false;
  return true;
}
template <class... F>
consteval bool names_differ() {
  const std::string_view names[] = {F::name...};
  for (std::size_t i = 0; i < sizeof...(F); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (names[i] == names[j]) return false;
  return true;
}
template <class First, class... Rest>
consteval bool environments_agree_in_set() {
  if constexpr (sizeof...(Rest) == 0) return true;
  else return (environments_agree<First, Rest>() && ...) && environments_agree_in_set<Rest...>();
}

}  // namespace weft::detail
