// SPDX-License-Identifier: Apache-2.0
//
// The server: peers over weft, sockets and a timer in one io_context of one thread. Each peer and each socket is a
// coroutine that sends back what it gets.
#pragma once

#include <weft/event_loops/asio.hpp>
#include <weft/weft.hpp>

#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

namespace echo {

using asio::use_awaitable;
using asio::ip::tcp;
using net_type = weft::transport<weft::selected>;
using loop_type = weft::event_loops::asio_transport<weft::selected>;
inline constexpr std::size_t largest = 1024;

class server {
 public:
  server(asio::io_context& io, net_type& net, std::uint32_t most_clients)
      : io_(io),
        memory_of_(net),
        net_(io.get_executor(), net),
        sockets_(io, {tcp::v4(), 0}),
        timer_(io),
        most_(most_clients) {
    asio::co_spawn(io_, accept_peers(), asio::detached);
    asio::co_spawn(io_, accept_sockets(), asio::detached);
    asio::co_spawn(io_, report(), asio::detached);
  }
  unsigned short socket_port() const { return sockets_.local_endpoint().port(); }

 private:
  static auto redirect(asio::error_code& why) { return asio::redirect_error(use_awaitable, why); }

  asio::awaitable<void> accept_peers() {
    for (;;) {
      const weft::peer who = co_await net_.async_accept(use_awaitable);
      asio::co_spawn(io_, echo_to(who), asio::detached);
    }
  }
  asio::awaitable<void> echo_to(weft::peer who) {
    const auto memory = memory_of_.allocate(largest, weft::rights::none).value();
    asio::error_code why;
    for (;;) {
      const auto came = co_await net_.async_receive(who, {memory.data(), largest}, redirect(why));
      if (why) break;
      co_await net_.async_send(who, memory.first(came.bytes), redirect(why));
      if (why) break;
      ++messages_;
    }
    left();
  }
  asio::awaitable<void> accept_sockets() {
    for (;;) asio::co_spawn(io_, echo_to(co_await sockets_.async_accept(use_awaitable)), asio::detached);
  }
  asio::awaitable<void> echo_to(tcp::socket who) {
    std::array<char, largest> text{};
    asio::error_code why;
    for (;;) {
      const std::size_t came = co_await who.async_read_some(asio::buffer(text), redirect(why));
      if (why) break;
      co_await asio::async_write(who, asio::buffer(text.data(), came), redirect(why));
      if (why) break;
      bytes_ += came;
    }
    left();
  }
  asio::awaitable<void> report() {
    for (;;) {
      timer_.expires_after(std::chrono::seconds(1));
      co_await timer_.async_wait(use_awaitable);
      std::printf("%lu messages of peers, %lu bytes of sockets\n", messages_, bytes_);
    }
  }
  void left() {
    if (++left_ != most_) return;
    std::printf("%lu messages of peers, %lu bytes of sockets: the end\n", messages_, bytes_);
    net_.close();
    sockets_.close();
    timer_.cancel();
  }

  asio::io_context& io_;
  net_type& memory_of_;
  loop_type net_;
  tcp::acceptor sockets_;
  asio::steady_timer timer_;
  std::uint32_t most_, left_ = 0;
  unsigned long messages_ = 0, bytes_ = 0;
};

}  // namespace echo
