// SPDX-License-Identifier: Apache-2.0
//
// Two transports, a timer and coroutines in one io_context of one thread: every operation with several kinds of
// completion token, cancellation, closing under way, a peer that leaves and a killed one, and allocations.
#include "asio_sides.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/detached.hpp>
#include <asio/use_future.hpp>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <cstring>
#include <future>
#include <thread>

namespace weft::event_loops_test {
namespace {

using asio_loop = two_sides;

/// The first test: its child is made before this process has touched the network library.
TEST(asio_peer, a_killed_peer_ends_the_waits_for_it) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    net_type net = open<selected>(local(true)).value();
    const std::string where = net.listen_address();
    if (::write(ends[1], where.data(), where.size()) < 0) ::_exit(1);
    ::close(ends[1]);
    (void)net.accept_one(20s);
    (void)net.until([] { return false; }, 60s, [](auto&&) {});
    ::_exit(1);
  }
  ::close(ends[1]);
  char where[256] = {};
  EXPECT_GT(::read(ends[0], where, sizeof where - 1), 0);
  ::close(ends[0]);
  asio::io_context io{1};
  net_type net = open<selected>(local(false)).value();
  loop_type loop(io.get_executor(), net);
  peer to;
  std::uint32_t told = 0;
  std::optional<asio::error_code> met, message, region_of_it, posted;
  std::byte text[16];
  const owned_region memory = net.allocate(64, rights::none).value();
  loop.on_lost([&](const lost&) { ++told; });
  loop.async_connect(where, [&](asio::error_code why, peer p) { met = why, to = p; });
  EXPECT_TRUE(runs_until(io, [&] { return met.has_value(); }));
  EXPECT_FALSE(*met) << loop.last_refusal();
  loop.async_receive(to, text, [&](asio::error_code why, arrived) { message = why; });
  loop.async_receive_region(to, [&](asio::error_code why, const remote_region&) { region_of_it = why; });
  (void)io.poll();
  EXPECT_FALSE(message || region_of_it);
  ::kill(child, SIGKILL);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(runs_until(io, [&] { return message && region_of_it; }));
  EXPECT_EQ(*message, std::errc::connection_reset) << message->message();
  EXPECT_EQ(*region_of_it, std::errc::connection_reset) << region_of_it->message();
  EXPECT_EQ(told, 1U);
  loop.async_send(to, memory.first(4), [&](asio::error_code why) { posted = why; });
  ASSERT_TRUE(runs_until(io, [&] { return posted.has_value(); }));
  EXPECT_EQ(*posted, std::errc::connection_reset) << posted->message();
}

TEST_F(asio_loop, coroutines_await_each_operation) {
  asio::co_spawn(
      io,
      [this]() -> asio::awaitable<void> {
        while (listening.send_region(to_caller, here, owner_polls).is_again()) co_await asio::post(io, use_awaitable);
        const notified n = co_await listener.async_notified(use_awaitable);
        EXPECT_EQ(n.immediate, 7U);
        EXPECT_EQ(std::memcmp(here.data(), "weft", 4), 0);
        std::byte text[16];
        const arrived m = co_await listener.async_receive(to_caller, text, use_awaitable);
        EXPECT_EQ(m.bytes, 5U);
        EXPECT_TRUE(m.from == to_caller);
        co_await listener.async_send(to_caller, here.first(4), use_awaitable);
      },
      asio::detached);
  runs([](two_sides& t) -> asio::awaitable<void> {
    const remote_region at = co_await t.caller.async_receive_region(t.to_listener, use_awaitable);
    std::memcpy(t.there.data(), "weft, hello", 11);
    co_await t.caller.async_put(t.to_listener, t.there.first(8), at.at(64), use_awaitable);
    co_await t.caller.async_put_notify(t.to_listener, t.there.first(4), at.at(0), 7, use_awaitable);
    co_await t.caller.async_get(t.to_listener, t.there.slice(4, 4), at.at(64), use_awaitable);
    EXPECT_EQ(std::memcmp(t.there.data() + 4, "weft", 4), 0);
    co_await t.caller.async_send(t.to_listener, t.there.first(5), use_awaitable);
    std::byte text[16];
    const arrived m = co_await t.caller.async_receive({}, text, use_awaitable);
    EXPECT_EQ(std::memcmp(text, "weft", m.bytes), 0);
  }(*this));
}

TEST_F(asio_loop, a_future_of_another_thread_gets_the_end) {
  std::atomic<bool> over{false};
  std::thread other([&] {
    caller.async_send(to_listener, there.first(4), asio::use_future).get();
    over = true;
  });
  EXPECT_TRUE(runs_until([&] { return over.load(); }));
  other.join();
}

TEST_F(asio_loop, a_longer_message_is_message_size) {
  asio::error_code seen;
  std::size_t size = 0;
  std::byte small[2];
  listener.async_receive({}, small, [&](asio::error_code why, arrived m) { seen = why, size = m.bytes; });
  caller.async_send(to_listener, there.first(5), asio::detached);
  ASSERT_TRUE(runs_until([&] { return bool(seen); }));
  EXPECT_EQ(seen, std::errc::message_size);
  EXPECT_EQ(size, 5U);
}

TEST_F(asio_loop, a_cancelled_wait_ends_at_once_and_the_next_one_gets_the_notice) {
  asio::cancellation_signal stop;
  asio::error_code first;
  std::optional<std::uint32_t> second;
  listener.async_notified(
      asio::bind_cancellation_slot(stop.slot(), [&](asio::error_code why, notified) { first = why; }));
  asio::steady_timer later(io, 5ms);
  later.async_wait([&](asio::error_code) { stop.emit(asio::cancellation_type::total); });
  ASSERT_TRUE(runs_until([&] { return bool(first); }));
  EXPECT_EQ(first, asio::error::operation_aborted);
  stop.emit(asio::cancellation_type::total);  // the slot is clear
  listener.async_notified([&](asio::error_code, notified n) { second = n.immediate; });
  runs([](two_sides& t) -> asio::awaitable<void> {
    (void)t.listening.send_region(t.to_caller, t.here, owner_polls);
    const remote_region at = co_await t.caller.async_receive_region(t.to_listener, use_awaitable);
    co_await t.caller.async_put_notify(t.to_listener, t.there.first(4), at.at(0), 9, use_awaitable);
  }(*this));
  ASSERT_TRUE(runs_until([&] { return second.has_value(); }));
  EXPECT_EQ(*second, 9U);
}

/// A transport that makes progress only when the test says so.
struct stalled {
  net_type net = open<selected>(local(true)).value();
  owned_region page = net.allocate(64, rights::all).value();
  peer caller;
  void progress() {
    net.progress(overloaded{[&](const requested& r) { EXPECT_TRUE(net.accept(caller = r.peer)); }, [](auto&&) {}});
  }
};

TEST_F(asio_loop, a_deadline_ends_the_wait_once_and_its_memory_lives_until_the_library_lets_go) {
  stalled other;
  peer to;
  caller.async_connect(other.net.listen_address(), [&](asio::error_code, peer p) { to = p; });
  ASSERT_TRUE(runs_until([&] { return other.progress(), bool(to); }));
  remote_region page;
  caller.async_receive_region(to, [&](asio::error_code, const remote_region& r) { page = r; });
  EXPECT_TRUE(
      other.net.retry([&] { return other.net.send_region(other.caller, other.page, owner_polls); }, 5s, [](auto&&) {}));
  ASSERT_TRUE(runs_until([&] { return other.progress(), page.size() == 64; }));
  std::strcpy(reinterpret_cast<char*>(other.page.data()), "late");

  const auto owner = std::make_shared<int>(7);
  const auto on_time = std::make_shared<int>(8);
  int ends = 0;
  std::optional<asio::error_code> got, noticed, sent;
  asio::cancellation_signal stop;
  caller.with({.timeout = 20ms, .keeps = owner}).async_get(to, there.first(5), page.at(0), [&](asio::error_code why) {
    got = why, ++ends;
  });
  caller.with({.timeout = 10ms}).async_notified([&](asio::error_code why, notified) { noticed = why; });
  caller.with({.timeout = 10s, .keeps = on_time})
      .async_send(to_listener, there.slice(64, 5), [&](asio::error_code why) { sent = why; });
  caller.with({.timeout = 10s, .keeps = owner})
      .async_get(to, there.slice(8, 5), page.at(0),
                 asio::bind_cancellation_slot(stop.slot(), [&](asio::error_code why) {
                   EXPECT_EQ(why, asio::error::operation_aborted);
                   ++ends;
                 }));
  ASSERT_TRUE(runs_until([&] { return got && noticed && sent; }));
  EXPECT_EQ(*got, std::errc::timed_out) << got->message();
  EXPECT_EQ(*noticed, std::errc::timed_out) << noticed->message();
  EXPECT_FALSE(*sent) << sent->message();
  EXPECT_EQ(on_time.use_count(), 1) << "its operation ended";
  stop.emit(asio::cancellation_type::total);
  ASSERT_TRUE(runs_until([&] { return ends == 2; }));
  EXPECT_EQ(caller.in_flight(), 2U) << "both reads go on";
  EXPECT_EQ(owner.use_count(), 3) << "they keep the memory";
  ASSERT_TRUE(runs_until([&] { return other.progress(), owner.use_count() == 1; }));
  EXPECT_EQ(caller.in_flight(), 0U);
  EXPECT_STREQ(reinterpret_cast<char*>(there.data()), "late");
  EXPECT_STREQ(reinterpret_cast<char*>(there.data()) + 8, "late");
  EXPECT_EQ(ends, 2) << "each ended once";
}

TEST_F(asio_loop, a_peer_that_leaves_ends_the_waits_for_it) {
  asio::error_code message, region_of_it;
  bool told = false;
  std::byte text[16];
  listener.on_lost([&](const lost& l) { told = l.peer == to_caller; });
  listener.async_receive(to_caller, text, [&](asio::error_code why, arrived) { message = why; });
  listener.async_receive_region(to_caller, [&](asio::error_code why, const remote_region&) { region_of_it = why; });
  EXPECT_TRUE(caller.close(to_listener, 5s));
  ASSERT_TRUE(runs_until([&] { return message && region_of_it; }));
  EXPECT_TRUE(told);
  EXPECT_EQ(message, std::errc::not_connected) << message.message();
  asio::error_code posted;
  listener.async_send(to_caller, here.first(4), [&](asio::error_code why) { posted = why; });
  ASSERT_TRUE(runs_until([&] { return bool(posted); }));
  EXPECT_EQ(posted, std::errc::connection_reset) << posted.message();
}

TEST_F(asio_loop, closing_ends_every_operation_under_way_and_run_returns) {
  std::uint32_t closed = 0, others = 0;
  const auto count = [&](asio::error_code why, auto&&...) {
    if (why == std::errc::not_connected) ++closed;
    else if (why) ++others;
  };
  std::byte text[16];
  caller.async_accept(count);
  caller.async_notified(count);
  caller.async_receive({}, text, count);
  caller.async_receive_region(to_listener, count);
  for (int i = 0; i < 300; ++i) caller.async_send(to_listener, there.first(8), [](asio::error_code) {});
  caller.close();
  listener.close();
  caller.async_notified(count);  // begins after the end
  io.run();
  EXPECT_EQ(closed, 5U);
  EXPECT_EQ(others, 0U);
}

TEST_F(asio_loop, an_operation_takes_one_block_of_its_handlers_allocator) {
  asio::steady_timer limit(io, 20s);
  limit.async_wait([&](asio::error_code why) {
    if (!why) io.stop();
  });
  messages m{*this};
  m.next();
  io.run();  // not run_for(): that gives Asio's recycled memory back after each handler
  ASSERT_EQ(m.sent, messages::all + 1);
  EXPECT_EQ(m.after - m.before, 0U) << "in 1000 messages";
  EXPECT_EQ(m.blocks - m.blocks_before, 2U * (messages::all - messages::warm));
}

TEST_F(asio_loop, an_idle_loop_sleeps) {
  std::size_t handlers = 0;
  for (const auto end = std::chrono::steady_clock::now() + 200ms; std::chrono::steady_clock::now() < end;)
    handlers += io.run_one_for(10ms);
  EXPECT_LT(handlers, 1000U);  // one that polled would run hundreds of thousands
}

TEST_F(asio_loop, nobody_at_an_address_is_a_sentence) {
  asio::error_code seen;
  caller.async_connect("127.0.0.1:1", [&](asio::error_code why, peer) { seen = why; });
  ASSERT_TRUE(runs_until([&] { return bool(seen); }));
  EXPECT_NE(caller.last_refusal(), "");
}

}  // namespace
}  // namespace weft::event_loops_test
