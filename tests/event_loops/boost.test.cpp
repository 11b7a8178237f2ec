// SPDX-License-Identifier: Apache-2.0
//
// Two transports in one io_context of Boost.Asio: callbacks, futures, coroutines, timers beside them, and error codes
// of Boost's own type. asio.test.cpp has the whole behaviour; here is what differs with the library.
#define WEFT_BOOST_ASIO 1

#include "../../compose/selected.hpp"
#include "../../event_loops/asio.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#ifdef BOOST_ASIO_HAS_CO_AWAIT
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/use_awaitable.hpp>
#endif
#ifdef WEFT_ASIO_CANCELS
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#endif

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <exception>
#include <future>
#include <optional>

namespace weft::event_loops_test {
namespace {

using namespace std::chrono_literals;
namespace boost_asio = ::boost::asio;
using boost::system::error_code;
using net_type = transport<selected>;
using loop_type = event_loops::asio_transport<selected>;

transport_options local(bool listens) { return {.node = "127.0.0.1", .listens = listens, .sleeps = true}; }

/// A listener and a caller that met, each with 4 KiB that the other may use.
struct boost_loop : testing::Test {
  boost_asio::io_context io{1};
  net_type listening = open<selected>(local(true)).value();
  net_type calling = open<selected>(local(false)).value();
  owned_region here = listening.allocate(4096, rights::all).value();
  owned_region there = calling.allocate(4096, rights::all).value();
  loop_type listener{io.get_executor(), listening};
  loop_type caller{io.get_executor(), calling};
  peer to_caller, to_listener;

  void SetUp() override {
    listener.async_accept([this](error_code why, peer p) {
      EXPECT_FALSE(why) << why.message();
      to_caller = p;
    });
    caller.async_connect(listening.listen_address(), [this](error_code why, peer p) {
      EXPECT_FALSE(why) << why.message() << caller.last_refusal();
      to_listener = p;
    });
    ASSERT_TRUE(runs_until([this] { return to_caller && to_listener; }));
  }
  template <class Done>
  bool runs_until(Done&& done) {
    const auto end = std::chrono::steady_clock::now() + 20s;
    while (!done() && std::chrono::steady_clock::now() < end) io.run_one_for(100ms);
    return done();
  }
};

TEST_F(boost_loop, callbacks_and_a_timer_run_in_one_context) {
  std::memcpy(there.data(), "weft", 4);
  std::byte text[16] = {};
  std::optional<event_loops::arrived> came;
  std::optional<error_code> sent, rang;
  boost_asio::steady_timer timer(io);
  timer.expires_after(1ms);
  timer.async_wait([&](error_code why) { rang = why; });
  listener.async_receive(to_caller, text, [&](error_code why, event_loops::arrived a) {
    EXPECT_FALSE(why) << why.message();
    came = a;
  });
  caller.async_send(to_listener, there.first(4), [&](error_code why) { sent = why; });
  ASSERT_TRUE(runs_until([&] { return came && sent && rang; }));
  EXPECT_FALSE(*sent) << sent->message();
  EXPECT_FALSE(*rang);
  EXPECT_EQ(came->bytes, 4U);
  EXPECT_EQ(came->from, to_caller);
  EXPECT_EQ(std::memcmp(text, "weft", 4), 0);
}

TEST_F(boost_loop, futures_get_values_and_exceptions) {
  std::byte text[2] = {};
  std::future<event_loops::arrived> came = listener.async_receive(to_caller, text, boost_asio::use_future);
  std::future<void> sent = caller.async_send(to_listener, there.first(4), boost_asio::use_future);
  const auto ready = [](auto& f) { return f.wait_for(0s) == std::future_status::ready; };
  ASSERT_TRUE(runs_until([&] { return ready(came) && ready(sent); }));
  EXPECT_NO_THROW(sent.get());
  try {
    (void)came.get();
    ADD_FAILURE() << "4 bytes went into 2";
  } catch (const boost::system::system_error& e) {
    EXPECT_EQ(e.code(), boost::system::errc::message_size);
    EXPECT_STREQ(e.code().category().name(), "weft");
    EXPECT_EQ(e.code().message(), event_loops::status_category().message(e.code().value()));
  }
}

TEST_F(boost_loop, errors_compare_with_those_of_both_libraries) {
  std::optional<error_code> late, closed;
  std::byte text[16];
  listener.with({.timeout = 1ms}).async_receive(to_caller, text, [&](error_code why, auto) { late = why; });
  ASSERT_TRUE(runs_until([&] { return late.has_value(); }));
  EXPECT_EQ(*late, boost::system::errc::timed_out) << late->message();
  EXPECT_EQ(static_cast<std::error_code>(*late), std::errc::timed_out);
  listener.async_receive(to_caller, text, [&](error_code why, auto) { closed = why; });
  listener.close();
  ASSERT_TRUE(runs_until([&] { return closed.has_value(); }));
  EXPECT_EQ(*closed, boost::system::errc::not_connected) << closed->message();
}

#ifdef BOOST_ASIO_HAS_CO_AWAIT
TEST_F(boost_loop, coroutines_await_a_notice_after_its_bytes) {
  std::optional<std::exception_ptr> listened, called;
  while (listening.send_region(to_caller, here, owner_polls).is_again()) io.poll();
  boost_asio::co_spawn(
      io,
      [this]() -> boost_asio::awaitable<void> {
        const notified n = co_await listener.async_notified(boost_asio::use_awaitable);
        EXPECT_EQ(n.immediate, 7U);
        EXPECT_EQ(std::memcmp(here.data(), "weft", 4), 0);
      },
      [&](std::exception_ptr e) { listened = e; });
  boost_asio::co_spawn(
      io,
      [this]() -> boost_asio::awaitable<void> {
        const auto page = co_await caller.async_receive_region(to_listener, boost_asio::use_awaitable);
        std::memcpy(there.data(), "weft", 4);
        co_await caller.async_put_notify(to_listener, there.first(4), page.at(0), 7, boost_asio::use_awaitable);
      },
      [&](std::exception_ptr e) { called = e; });
  ASSERT_TRUE(runs_until([&] { return listened && called; }));
  for (const std::exception_ptr& each : {*listened, *called})
    if (each) std::rethrow_exception(each);
}
#endif

#ifdef WEFT_ASIO_CANCELS
TEST_F(boost_loop, a_signal_cancels) {
  boost_asio::cancellation_signal stop;
  std::optional<error_code> ended;
  std::byte text[16];
  listener.async_receive(to_caller, text,
                         boost_asio::bind_cancellation_slot(stop.slot(), [&](error_code why, auto) { ended = why; }));
  io.poll();
  stop.emit(boost_asio::cancellation_type::terminal);
  ASSERT_TRUE(runs_until([&] { return ended.has_value(); }));
  EXPECT_EQ(*ended, boost_asio::error::operation_aborted);
}
#endif

}  // namespace
}  // namespace weft::event_loops_test
