// SPDX-License-Identifier: Apache-2.0
//
// The side channel for opaque addresses: a client that asks gets the bytes, a silent client is dropped, a foreign
// server is refused.
#include "../../backends/oob_exchange/tcp.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace weft::testing {
namespace {

using backends::oob_exchange::owned_socket;
using channel = backends::oob_exchange::tcp;
using namespace std::chrono_literals;

address_bytes some_address(std::size_t size) {
  address_bytes address(size);
  for (std::size_t i = 0; i < size; ++i) address[i] = static_cast<std::byte>(i * 7);
  return address;
}

/// A channel that a thread of the test progresses.
struct server {
  explicit server(std::unique_ptr<channel> served)
      : serving(std::move(served)), worker([this] {
          while (!stop) {
            serving->progress();
            std::this_thread::sleep_for(1ms);
          }
        }) {}
  ~server() {
    stop = true;
    worker.join();
  }
  std::unique_ptr<channel> serving;
  std::atomic<bool> stop{false};
  std::thread worker;
};

owned_socket plain_connection(const std::string& service) {
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<in_port_t>(std::stoi(service)));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  owned_socket made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(made.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) return {};
  return made;
}

TEST(oob_exchange, hands_out_addresses_of_any_length) {
  for (const std::size_t size : {1u, 16u, 28u, 32u, 255u, 4096u}) {
    auto served = channel::serve("127.0.0.1", "", some_address(size));
    ASSERT_TRUE(served) << served.error().sentence;
    const server running(std::move(served).value());
    for (int i = 0; i < 20; ++i) {
      auto fetched = channel::fetch("127.0.0.1", running.serving->service(), 5s);
      ASSERT_TRUE(fetched) << fetched.error().sentence;
      ASSERT_EQ(*fetched, some_address(size));
    }
  }
}

TEST(oob_exchange, speaks_ipv6_and_defaults_to_the_loopback) {
  for (const char* node : {"::1", ""}) {
    auto served = channel::serve(node, "", some_address(32));
    ASSERT_TRUE(served) << served.error().sentence;
    const server running(std::move(served).value());
    auto fetched = channel::fetch(*node == '\0' ? "127.0.0.1" : node, running.serving->service(), 5s);
    ASSERT_TRUE(fetched) << fetched.error().sentence;
    EXPECT_EQ(*fetched, some_address(32));
  }
}

TEST(oob_exchange, refuses_addresses_that_are_too_long) {
  EXPECT_EQ(channel::serve("127.0.0.1", "", {}).why().code, errc::invalid);
  EXPECT_EQ(channel::serve("127.0.0.1", "", some_address(4097)).why().code, errc::invalid);
}

TEST(oob_exchange, reports_a_port_in_use) {
  auto first = channel::serve("127.0.0.1", "", some_address(4));
  ASSERT_TRUE(first);
  auto second = channel::serve("127.0.0.1", (*first)->service(), some_address(4));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.why().native_code, EADDRINUSE);
  EXPECT_NE(second.error().sentence.find((*first)->service()), std::string::npos);
}

TEST(oob_exchange, reports_a_missing_server) {
  std::string service;
  {
    auto gone = channel::serve("127.0.0.1", "", some_address(4));
    ASSERT_TRUE(gone);
    service = (*gone)->service();
  }
  EXPECT_EQ(channel::fetch("127.0.0.1", service, 2s).why().code, errc::unreachable);
  EXPECT_EQ(channel::fetch("no such host", "1", 2s).why().code, errc::unreachable);
}

/// Without answers meanwhile, both would wait for each other until the deadline.
TEST(oob_exchange, two_that_ask_each_other_at_once_get_both_addresses) {
  auto first = channel::serve("127.0.0.1", "", some_address(8));
  auto second = channel::serve("127.0.0.1", "", some_address(16));
  ASSERT_TRUE(first && second);
  std::atomic<int> over = 0;
  const auto ask = [&over](channel& own, const channel& other) {
    const auto fetched = channel::fetch("127.0.0.1", other.service(), 5s, &own);
    EXPECT_TRUE(fetched) << fetched.error().sentence;
    for (++over; over < 2;) {  // the slower one still asks
      own.progress();
      std::this_thread::sleep_for(1ms);
    }
  };
  std::thread beside([&] { ask(**second, **first); });
  ask(**first, **second);
  beside.join();
}

TEST(oob_exchange, a_silent_server_costs_at_most_the_deadline) {
  auto silent = channel::serve("127.0.0.1", "", some_address(4));  // no thread progresses it
  ASSERT_TRUE(silent);
  const auto fetched = channel::fetch("127.0.0.1", (*silent)->service(), 100ms);
  EXPECT_EQ(fetched.why().code, errc::deadline);
}

TEST(oob_exchange, a_foreign_server_is_refused) {
  // A listener that answers with other bytes: those of a channel, with a wrong first letter.
  const owned_socket listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof at;
  ASSERT_EQ(bind(listener.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  ASSERT_EQ(listen(listener.get(), 1), 0);
  getsockname(listener.get(), reinterpret_cast<sockaddr*>(&at), &length);
  std::thread stranger([&] {
    const owned_socket one(accept(listener.get(), nullptr, nullptr));
    EXPECT_EQ(send(one.get(), "HTTP/1.1 400 Bad Request\r\n", 26, MSG_NOSIGNAL), 26);
    char rest[64];
    while (recv(one.get(), rest, sizeof rest, 0) > 0) {
    }
  });
  const auto fetched = channel::fetch("127.0.0.1", std::to_string(ntohs(at.sin_port)), 5s);
  EXPECT_EQ(fetched.why().code, errc::incompatible) << fetched.error().sentence;
  stranger.join();
}

TEST(oob_exchange, a_wrong_request_gets_no_answer) {
  auto served = channel::serve("127.0.0.1", "", some_address(8));
  ASSERT_TRUE(served);
  const server running(std::move(served).value());
  const owned_socket wrong = plain_connection(running.serving->service());
  ASSERT_TRUE(wrong);
  ASSERT_EQ(send(wrong.get(), "GET / HT", 8, MSG_NOSIGNAL), 8);
  char answer = 0;
  EXPECT_LE(recv(wrong.get(), &answer, 1, 0), 0);
}

/// Whether the server closed this connection. Never waits.
bool is_closed(const owned_socket& one) {
  char any = 0;
  return recv(one.get(), &any, 1, MSG_DONTWAIT) == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

/// Connects strangers, each with `said` as its first bytes, while the server makes steps.
std::vector<owned_socket> strangers(channel& served, std::size_t count, std::string_view said) {
  std::vector<owned_socket> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(plain_connection(served.service()));
    EXPECT_TRUE(all.back());
    EXPECT_EQ(send(all.back().get(), said.data(), said.size(), MSG_NOSIGNAL), static_cast<ssize_t>(said.size()));
    if (i % 16 == 15) served.progress();
  }
  served.progress();
  return all;
}

/// The honest client is the last one, and gets its reply while the strangers before it are still connected: it waited
/// for the end of none of them.
void serves_the_last(std::string_view strangers_say) {
  auto made = channel::serve("127.0.0.1", "", some_address(8));
  ASSERT_TRUE(made);
  channel& served = **made;
  const auto before = strangers(served, 3 * channel::most_pending, strangers_say);
  const owned_socket honest = plain_connection(served.service());
  ASSERT_TRUE(honest);
  ASSERT_EQ(send(honest.get(), "weftadr1", 8, MSG_NOSIGNAL), 8);
  std::array<char, 20> reply{};
  ssize_t got = -1;
  for (int steps = 0; steps < 1000 && got < 0 && !is_closed(before.back()); ++steps) {
    served.progress();
    got = recv(honest.get(), reply.data(), reply.size(), MSG_DONTWAIT);
  }
  EXPECT_EQ(got, 20) << "the strangers before the honest client left first";
  EXPECT_TRUE(is_closed(before.front())) << "the oldest stranger kept its place";
}

TEST(oob_exchange, silent_strangers_delay_no_later_client) { serves_the_last(""); }
TEST(oob_exchange, slow_strangers_delay_no_later_client) { serves_the_last("w"); }

TEST(oob_exchange, a_client_that_asks_slowly_is_served_while_there_are_places) {
  auto made = channel::serve("127.0.0.1", "", some_address(8));
  ASSERT_TRUE(made);
  const owned_socket slow = plain_connection((*made)->service());
  for (const char each : std::string_view("weftadr1")) {
    ASSERT_EQ(send(slow.get(), &each, 1, MSG_NOSIGNAL), 1);
    (*made)->progress();
  }
  std::array<char, 20> reply{};
  pollfd readable{slow.get(), POLLIN, 0};
  for (int steps = 0; steps < 100 && ::poll(&readable, 1, 10) == 0; ++steps) (*made)->progress();
  EXPECT_EQ(recv(slow.get(), reply.data(), reply.size(), MSG_DONTWAIT), 20);
}

TEST(oob_exchange, silent_clients_are_dropped_and_do_not_block_others) {
  auto served = channel::serve("127.0.0.1", "", some_address(8));
  ASSERT_TRUE(served);
  const server running(std::move(served).value());
  std::vector<owned_socket> silent;
  for (std::size_t i = 0; i < 2 * channel::most_pending; ++i)
    silent.push_back(plain_connection(running.serving->service()));
  const auto fetched = channel::fetch("127.0.0.1", running.serving->service(), 10s);
  ASSERT_TRUE(fetched) << fetched.error().sentence;
  EXPECT_EQ(*fetched, some_address(8));
  char answer = 0;
  EXPECT_EQ(recv(silent.front().get(), &answer, 1, 0), 0) << "the silent client was not dropped";
}

}  // namespace
}  // namespace weft::testing
