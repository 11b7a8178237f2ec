// SPDX-License-Identifier: Apache-2.0
//
// The definitions of rare_calls (engine/rare_calls.hpp): all of a transport that the hot path does not contain. Every
// program has them, unless it links weft::<fabric>_compiled, which defines WEFT_COMPILED and has them in a library.
// Such a program includes this header first where it opens transports of further fabrics: other answers
// (compose/with.hpp), fabrics of its own. Hot path: no. Threads: the owner's.
#pragma once

#if !defined(WEFT_HAS_RARE_WORK)
#define WEFT_HAS_RARE_WORK 1  // core/error.hpp
#elif !WEFT_HAS_RARE_WORK
#error "weft: include <weft/compose/progress/once_per_fabric.hpp> before other headers of weft [WEFT-C044]"
#endif

#include "../../core/if_memory.hpp"
#include "../built_for.hpp"
#include "../connecting/connect_calls.hpp"
#include "../connecting/opening.hpp"
#include "../engine/rare_calls.hpp"
#include "../memory/registration.hpp"
#include "../receiving/cq_poller.hpp"
#include "../receiving/deferred_work.hpp"
#include "../receiving/operation_steps.hpp"
#include "../receiving/rare_messages.hpp"
#include "../receiving/target_atomics.hpp"
#include "blocking_calls.hpp"
#include "completion_level.hpp"
#include "orderly_close.hpp"
#include "sleeping.hpp"
#include "timers.hpp"

namespace weft::detail {

template <class Engine>
void engine_deleter<Engine>::operator()(Engine* e) const noexcept {
  std::default_delete<Engine>()(e);
}

template <class Engine>
result<held_engine<Engine>> rare_calls<Engine>::open(const transport_options& options) {
  carry_built_for<typename Engine::fabric>();
  auto e = opening<Engine>::open(options);
  if (!e) return std::move(e).error();
  return held_engine<Engine>(std::move(e).value().release());
}
template <class Engine>
void rare_calls<Engine>::close_all(Engine& e) {
  orderly_close<Engine>(e).close_all(250ms);
}

template <class Engine>
result<peer> rare_calls<Engine>::start(Engine& e, std::string_view where, const_bytes private_data, bool has) {
  return connect_calls<Engine, blocking_calls<Engine>>(e).start(where, private_data, has);
}
template <class Engine>
result<peer> rare_calls<Engine>::connect(Engine& e, std::string_view where, const_bytes private_data, bool has,
                                         duration timeout, const waiting_handler& waits) {
  return connect_calls<Engine, blocking_calls<Engine>>(e).connect(where, private_data, has, timeout, waits);
}
template <class Engine>
result<peer> rare_calls<Engine>::accept_one(Engine& e, duration timeout, const waiting_handler& waits) {
  return connect_calls<Engine, blocking_calls<Engine>>(e).accept_one(timeout, waits);
}
template <class Engine>
status rare_calls<Engine>::accept(Engine& e, peer p, const_bytes private_data, bool has) noexcept {
  return connect_calls<Engine, blocking_calls<Engine>>(e).accept(p, private_data, has);
}
template <class Engine>
status rare_calls<Engine>::reject(Engine& e, peer p, std::string_view reason) {
  return connect_calls<Engine, blocking_calls<Engine>>(e).reject(p, reason);
}
template <class Engine>
status rare_calls<Engine>::close(Engine& e, peer p, duration timeout, erased_handler on) {
  return orderly_close<Engine>(e).close(p, timeout, on);
}
template <class Engine>
result<remote_region> rare_calls<Engine>::receive_region(Engine& e, peer from, duration timeout,
                                                         const waiting_handler& waits) {
  return blocking_calls<Engine>(e).receive_region(from, timeout, waits);
}
template <class Engine>
status rare_calls<Engine>::flush_and_wait(Engine& e, peer to, duration timeout, erased_handler on) {
  return completion_level<Engine>(e).flush_and_wait(to, timeout, on);
}

/// Registers by `make`, and keeps the region for its owner.
template <class Engine, class Make>
result<kept_region> kept(Engine& e, Make&& make) {
  result<kept_region> outcome(error(errc::no_memory, "register"), "");
  const bool had_memory = if_memory([&] {
    const std::shared_ptr<region_home>& home = registrar<Engine>(e).home();
    auto made = make(registrar<Engine>(e));
    if (made) outcome = kept_region{*made, home};
    else outcome = std::move(made).error();
  });
  if (had_memory) return outcome;
  return {error(errc::no_memory, "register"), "no memory for the registration"};
}
template <class Engine>
result<kept_region> rare_calls<Engine>::register_memory(Engine& e, bytes memory, rights granted, atomicity executor) {
  return kept(e, [&](auto by) { return by.register_memory(memory, granted, nullptr, executor); });
}
template <class Engine>
result<kept_region> rare_calls<Engine>::register_memory(Engine& e, const device_memory& memory, rights granted) {
  return kept(e, [&](auto by) { return by.register_memory(memory, granted); });
}
template <class Engine>
result<kept_region> rare_calls<Engine>::allocate(Engine& e, std::size_t size, rights granted, atomicity executor) {
  return kept(e, [&](auto by) { return by.allocate(size, granted, executor); });
}
template <class Engine>
wire::region_record rare_calls<Engine>::describe(Engine& e, std::uint32_t number) noexcept {
  return registrar<Engine>(e).describe(number);
}
template <class Engine>
void rare_calls<Engine>::release(Engine& e, std::uint32_t number) {
  registrar<Engine>(e).release(number);
}

template <class Engine>
void rare_calls<Engine>::run_timers(Engine& e, erased_handler on) {
  timers<Engine>(e).run(on);
}
template <class Engine>
duration rare_calls<Engine>::until_due(Engine& e) noexcept {
  return timers<Engine>(e).until_due();
}
template <class Engine>
void rare_calls<Engine>::hello(Engine& e, receive& in, record* named, const_bytes body, erased_handler on) {
  connection_manager<Engine>(e).hello(in, named, body, on);
}
template <class Engine>
void rare_calls<Engine>::answered(Engine& e, record& r, wire::message_kind kind, const_bytes body, erased_handler on) {
  connection_manager<Engine>(e).answered(r, kind, body, on);
}
template <class Engine>
void rare_calls<Engine>::unreachable(Engine& e, record& r, status why, erased_handler on) {
  connection_manager<Engine>(e).unreachable(r, why, on);
}
template <class Engine>
void rare_calls<Engine>::left(Engine& e, record& r, const_bytes body, erased_handler on) {
  teardown<Engine>(e).left(r, body, on);
}
template <class Engine>
void rare_calls<Engine>::gone(Engine& e, record& r, status why, erased_handler on) {
  teardown<Engine>(e).gone(r, why, on);
}
template <class Engine>
void rare_calls<Engine>::ended_badly(Engine& e, const completion_entry& c, erased_handler on) {
  completions<Engine, erased_handler>(e, on).ended_badly(c);
}
template <class Engine>
message_fate rare_calls<Engine>::fate_of(Engine& e, record& r, wire::message_kind kind) noexcept {
  return rare_messages<Engine>::fate_of(e, r, kind);
}
template <class Engine>
void rare_calls<Engine>::early_notice(Engine& e, std::uint64_t named) {
  rare_messages<Engine>::early_notice(e, named);
}
template <class Engine>
void rare_calls<Engine>::keep_unexpected(Engine& e, unexpected_message<receive> message, bool last) {
  rare_messages<Engine>::keep_unexpected(e, message, last);
}
template <class Engine>
bool rare_calls<Engine>::keep_region(Engine& e, record& r, const_bytes body, erased_handler on) {
  return rare_messages<Engine>::keep_region(e, r, body, on);
}
template <class Engine>
bool rare_calls<Engine>::take_step(Engine& e, slot& s, status outcome, erased_handler on,
                                   ended_operation<record>& done) {
  return operation_steps<Engine>(e, on).end_of(s, outcome, done);
}
template <class Engine>
bool rare_calls<Engine>::execute_atomic(Engine& e, record& r, const_bytes body) {
  return target_atomics<Engine>(e).execute(r, body);
}
template <class Engine>
bool rare_calls<Engine>::answer_flush(Engine& e, record& r, const_bytes body) noexcept {
  return flushing<Engine>(e).answer_to(r, body);
}
template <class Engine>
typename Engine::slot* rare_calls<Engine>::flush_answered(Engine& e, record& r, const_bytes body) noexcept {
  return flushing<Engine>(e).answered(r, body);
}
template <class Engine>
status rare_calls<Engine>::sleep(Engine& e, duration at_most) noexcept {
  return sleeping<Engine>(e).sleep(at_most);
}
template <class Engine>
std::optional<duration> rare_calls<Engine>::longest_sleep(Engine& e) noexcept {
  return sleeping<Engine>(e).longest_sleep();
}
template <class Engine>
void rare_calls<Engine>::retry_unexpected(Engine& e, erased_handler on) {
  receive_path<Engine, erased_handler>(e, on).retry_unexpected();
}
template <class Engine>
void rare_calls<Engine>::run_deferred(Engine& e, erased_handler on, int found) {
  deferred_work<Engine>::run(e, on, found);
}
/// Only a port that is polled in two calls leaves an error to a third.
template <class Engine>
int report_error_of(Engine& /*e*/, erased_handler /*on*/) {
  return 0;
}
template <class Engine>
requires reads_apart<typename Engine::port_type>
int report_error_of(Engine& e, erased_handler on) { return cq_poller<Engine, erased_handler>::report_error(e, on); }
template <class Engine>
int rare_calls<Engine>::report_error(Engine& e, erased_handler on) {
  return report_error_of(e, on);
}

}  // namespace weft::detail
