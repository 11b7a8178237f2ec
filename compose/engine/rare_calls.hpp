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
#include "operations.hpp"
#include "peers.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace weft::detail {

class waiting_handler;

/// What an owned region is made of.
struct kept_region {
  region view;
  std::shared_ptr<region_home> home;
};

/// What becomes of a message whose connection is not established.
enum class message_fate : std::uint8_t { deliver, keep, drop };

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
  using slot = typename Engine::slot;

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
  [[gnu::cold, gnu::noinline]] static message_fate fate_of(Engine& e, record& r, wire::message_kind kind) noexcept;
  [[gnu::cold, gnu::noinline]] static void early_notice(Engine& e, std::uint64_t named);
  [[gnu::cold, gnu::noinline]] static void keep_unexpected(Engine& e, unexpected_message<receive> message, bool last);
  static void retry_unexpected(Engine& e, erased_handler on);
  [[gnu::cold, gnu::noinline]] static bool keep_region(Engine& e, record& r, const_bytes body, erased_handler on);

  // ---- operations of several calls, and requests of peers
  [[gnu::noinline]] static bool take_step(Engine& e, slot& s, status outcome, erased_handler on,
                                          ended_operation<record>& done);
  static bool execute_atomic(Engine& e, record& r, const_bytes body);
  static bool answer_flush(Engine& e, record& r, const_bytes body) noexcept;
  static slot* flush_answered(Engine& e, record& r, const_bytes body) noexcept;

  // ---- sleeping, deferred work
  static status sleep(Engine& e, duration at_most) noexcept;
  static std::optional<duration> longest_sleep(Engine& e) noexcept;
  static void run_deferred(Engine& e, erased_handler on, int found);
  static int report_error(Engine& e, erased_handler on);
};

}  // namespace weft::detail
