// SPDX-License-Identifier: Apache-2.0
//
// Two transports that met in one io_context, and messages that are counted. Asio takes its own memory by operator new
// here, so that counted_new.cpp counts it too, and keeps 16 blocks for reuse: with its usual 2 the loop's timer, wait
// and queue do not fit, and Asio allocates. Hot path: no. Threads: one.
#pragma once

#define ASIO_DISABLE_STD_ALIGNED_ALLOC 1
#define ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE 16

#include "../../compose/selected.hpp"
#include "../../compose/words.hpp"
#include "../../event_loops/asio.hpp"
#include "../conformance/allocation_count.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <optional>

namespace weft::event_loops_test {

using namespace std::chrono_literals;
using event_loops::arrived;
using net_type = transport<selected>;
using loop_type = event_loops::asio_transport<selected>;
using asio::use_awaitable;

inline transport_options local(bool listens) { return {.node = "127.0.0.1", .listens = listens, .sleeps = true}; }

/// Runs handlers until `done()`. False: not within 20 s.
template <class Done>
bool runs_until(asio::io_context& io, Done&& done) {
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!done() && std::chrono::steady_clock::now() < end) io.run_one_for(100ms);
  return done();
}

/// A listener and a caller that met, each with 4 KiB that the other may use.
struct two_sides : testing::Test {
  asio::io_context io{1};
  net_type listening = open<selected>(local(true)).value();
  net_type calling = open<selected>(local(false)).value();
  owned_region here = listening.allocate(4096, rights::all).value();
  owned_region there = calling.allocate(4096, rights::all).value();
  loop_type listener{io.get_executor(), listening};
  loop_type caller{io.get_executor(), calling};
  peer to_caller, to_listener;

  void SetUp() override {
    listener.async_accept([this](asio::error_code why, peer p) {
      EXPECT_FALSE(why) << why.message();
      to_caller = p;
    });
    caller.async_connect(listening.listen_address(), [this](asio::error_code why, peer p) {
      EXPECT_FALSE(why) << why.message() << caller.last_refusal();
      to_listener = p;
    });
    ASSERT_TRUE(runs_until([this] { return to_caller && to_listener; }));
  }
  template <class Done>
  bool runs_until(Done&& done) {
    return event_loops_test::runs_until(io, done);
  }
  /// Runs a coroutine to its end, and rethrows what it throws.
  void runs(asio::awaitable<void> body) {
    std::optional<std::exception_ptr> end;
    asio::co_spawn(io, std::move(body), [&](std::exception_ptr e) { end = e; });
    ASSERT_TRUE(runs_until([&] { return end.has_value(); }));
    if (*end) std::rethrow_exception(*end);
  }
};

/// Counts what a handler's allocator gives.
template <class T>
struct counting {
  using value_type = T;
  std::uint32_t* given;
  explicit counting(std::uint32_t& count) noexcept : given(&count) {}
  template <class Other>
  counting(const counting<Other>& o) noexcept : given(o.given) {}  // NOLINT(google-explicit-constructor)
  T* allocate(std::size_t n) { return ++*given, asio::recycling_allocator<T>().allocate(n); }
  void deallocate(T* at, std::size_t n) noexcept { asio::recycling_allocator<T>().deallocate(at, n); }
  friend bool operator==(const counting&, const counting&) noexcept = default;
};
/// A handler that has an allocator of its own.
template <class Function>
struct with_allocator {
  using allocator_type = counting<void>;
  std::uint32_t* given;
  Function call;
  allocator_type get_allocator() const noexcept { return allocator_type(*given); }
  template <class... Results>
  void operator()(asio::error_code why, Results... results) {
    EXPECT_FALSE(why) << why.message();
    call(results...);
  }
};

/// One message at a time from the caller to the listener. Counts between two of them. Asio takes a further block when
/// more operations of the two loops are under way at once than ever before, as a busy machine brings it about. There
/// are few kinds, so one of three thousands of messages takes none.
struct messages {
  static constexpr std::uint32_t warm = 200, all = 1200, rounds = 3;
  two_sides& t;
  std::uint32_t sent = 0, blocks = 0, blocks_before = 0, round = 1;
  std::uint64_t before = 0, after = 0;
  std::byte text[16]{};

  template <class Function>
  auto handler(Function f) {
    return with_allocator<Function>{&blocks, f};
  }
  void next() {
    if (sent == warm) before = conformance::allocation_count(), blocks_before = blocks;
    if (sent == all) {
      after = conformance::allocation_count();
      if (after == before || round == rounds) return ++sent, t.io.stop();
      ++round, sent = warm, before = conformance::allocation_count(), blocks_before = blocks;
    }
    ++sent;
    t.listener.async_receive(t.to_caller, text, handler([this](const arrived&) { next(); }));
    t.caller.async_send(t.to_listener, t.there.first(5), handler([] {}));
  }
};

}  // namespace weft::event_loops_test
