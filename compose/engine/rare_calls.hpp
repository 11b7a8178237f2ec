// SPDX-License-Identifier: Apache-2.0
//
// The calls from the hot path to rare work: opening, meeting, timers, registration, failures, closing. Here they are
// declared; progress/once_per_fabric.hpp defines them. So a program that links weft::<fabric>_compiled instantiates and
// compiles none of that work, which is most of a transport's code. Fabric fact: none. Hot path: no. Threads: the
// owner's.
#pragma once

#include "../../core/device_memory.hpp"
#include "../../core/port.hpp"
#include "../options.hpp"
#include "../region.hpp"
#include "../words.hpp"
#include "erased_handler.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace weft::detail {

class waiting_handler;

/// What an owned region is made of.
struct kept_region {
  region view;
  std::shared_ptr<region_home> home;
};

/// Ends a transport's engine.
template <class Engine>
struct engine_deleter {
  void operator()(Engine* e) const noexcept;
};
template <class Engine>
using held_engine = std::unique_ptr<Engine, engine_deleter<Engine>>;

/// Each function is one call of another room, which says what it does.
template <class Engine>
struct rare_calls {
  using record = typename Engine::record;
  using receive = typename Engine::receive;

  static result<held_engine<Engine>> open(const transport_options& options);
  static void close_all(Engine& e);

  // ---- peers
  static result<peer> start(Engine& e, std::string_view where, const_bytes private_data, bool has);
  static result<peer> connect(Engine& e, std::string_view where, const_bytes private_data, bool has, duration timeout,
                              const waiting_handler& waits);
  static result<peer> accept_one(Engine& e, duration timeout, const waiting_handler& waits);
  static status accept(Engine& e, peer p, const_bytes private_data, bool has) noexcept;
  static status reject(Engine& e, peer p, std::string_view reason);
  static status close(Engine& e, peer p, duration timeout, erased_handler on);
  static result<remote_region> receive_region(Engine& e, peer from, duration timeout, const waiting_handler& waits);
  static status flush_and_wait(Engine& e, peer to, duration timeout, erased_handler on);

  // ---- memory
  static result<kept_region> register_memory(Engine& e, bytes memory, rights granted, atomicity executor);
  static result<kept_region> register_memory(Engine& e, const device_memory& memory, rights granted);
  static result<kept_region> allocate(Engine& e, std::size_t size, rights granted, atomicity executor);
  static wire::region_record describe(Engine& e, std::uint32_t number) noexcept;
  static void release(Engine& e, std::uint32_t number);

  // ---- what a poll finds, rarely
  static void run_timers(Engine& e, erased_handler on);
  static duration until_due(Engine& e) noexcept;
  static void hello(Engine& e, receive& in, record* named, const_bytes body, erased_handler on);
  static void answered(Engine& e, record& r, wire::message_kind kind, const_bytes body, erased_handler on);
  static void unreachable(Engine& e, record& r, status why, erased_handler on);
  static void left(Engine& e, record& r, const_bytes body, erased_handler on);
  static void gone(Engine& e, record& r, status why, erased_handler on);
  static void ended_badly(Engine& e, const completion_entry& c, erased_handler on);
  static void retry_unexpected(Engine& e, erased_handler on);
  static void run_deferred(Engine& e, erased_handler on, int found);
  static int report_error(Engine& e, erased_handler on);
};

}  // namespace weft::detail
