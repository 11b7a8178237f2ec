// SPDX-License-Identifier: Apache-2.0
//
// asio-echo serve [HOST:SERVICE] | call WEFT_ADDRESS SOCKET_PORT | demo
// serve: an echo server for peers over weft and for sockets. call: sends through both, and compares. demo: one of each.
#include "server.hpp"

#include <asio/connect.hpp>
#include <asio/read.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string_view>

namespace echo {
namespace {

constexpr std::uint32_t rounds = 100;
constexpr std::string_view usage = "asio-echo serve HOST:SERVICE | call WEFT_ADDRESS SOCKET_PORT | demo";

void serve(const std::string& node, const std::string& service, std::uint32_t most_clients, int tell) {
  net_type net =
      weft::open<weft::selected>({.node = node, .service = service, .listens = true, .sleeps = true}).value();
  asio::io_context io{1};
  server all(io, net, most_clients);
  std::printf("peers: %s, sockets: port %u\n", net.listen_address().c_str(), unsigned{all.socket_port()});
  if (tell >= 0) {
    const std::string where = net.listen_address() + " " + std::to_string(all.socket_port()) + "\n";
    if (::write(tell, where.data(), where.size()) < 0) throw std::runtime_error("the client's pipe is closed");
  }
  io.run();
}

asio::awaitable<void> call_both(asio::io_context& io, net_type& memory_of, loop_type& net, std::string where,
                                unsigned short port) {
  const auto out = memory_of.allocate(largest, weft::rights::none).value();
  std::array<std::byte, largest> in{};
  tcp::socket socket(io);
  co_await socket.async_connect({asio::ip::address_v4::loopback(), port}, use_awaitable);
  const weft::peer server = co_await net.async_connect(where, use_awaitable);
  for (std::uint32_t i = 0; i < rounds; ++i) {
    const std::string text = "message " + std::to_string(i);
    std::memcpy(out.data(), text.data(), text.size());
    co_await net.async_send(server, out.first(text.size()), use_awaitable);
    const auto came = co_await net.async_receive(server, in, use_awaitable);
    if (came.bytes != text.size() || std::memcmp(in.data(), text.data(), text.size()) != 0)
      throw std::runtime_error("the peer sent back something else than \"" + text + "\"");
    co_await asio::async_write(socket, asio::buffer(text), use_awaitable);
    std::string back(text.size(), ' ');
    co_await asio::async_read(socket, asio::buffer(back), use_awaitable);
    if (back != text) throw std::runtime_error("the socket sent back \"" + back + "\" and not \"" + text + "\"");
  }
  weft::require(net.close(server, std::chrono::seconds(5)));
}

void call(const std::string& where, unsigned short port) {
  net_type net = weft::open<weft::selected>({.node = "127.0.0.1", .sleeps = true}).value();
  asio::io_context io{1};
  std::exception_ptr wrong;
  bool over = false;
  {
    loop_type loop(io.get_executor(), net);
    asio::co_spawn(io, call_both(io, net, loop, where, port), [&](std::exception_ptr e) {
      wrong = std::move(e), over = true;
      loop.close();
    });
    io.run_for(std::chrono::seconds(20));
    if (!over) throw std::runtime_error("the server did not answer within 20 s");
  }
  if (wrong) std::rethrow_exception(wrong);
  std::printf("%u messages and as many lines came back\n", rounds);
}

int demo() {
  std::array<int, 2> pipe{};
  if (::pipe(pipe.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    serve("127.0.0.1", "", 2, pipe[1]);
    std::fflush(stdout);
    ::_exit(0);
  }
  ::close(pipe[1]);
  std::string said;
  for (char c = 0; ::read(pipe[0], &c, 1) == 1 && c != '\n';) said += c;
  const auto space = said.find(' ');
  if (space == std::string::npos) throw std::runtime_error("the server did not start");
  call(said.substr(0, space), static_cast<unsigned short>(std::stoi(said.substr(space + 1))));
  int how = 0;
  return ::waitpid(child, &how, 0) == child && WIFEXITED(how) ? WEXITSTATUS(how) : 1;
}

int run(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "demo" && argc == 2) return demo();
  if (what == "serve" && argc == 3) {
    const std::string_view where = argv[2];
    const auto colon = where.rfind(':');
    if (colon != std::string_view::npos)
      return serve(std::string(where.substr(0, colon)), std::string(where.substr(colon + 1)), 0, -1), 0;
  }
  if (what == "call" && argc == 4) return call(argv[2], static_cast<unsigned short>(std::stoi(argv[3]))), 0;
  std::fprintf(stderr, "asio-echo: use %s\n", usage.data());
  return 2;
}

}  // namespace
}  // namespace echo

int main(int argc, char** argv) {
  try {
    return echo::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "asio-echo: %s\n", e.what());
    return 2;
  }
}
