// SPDX-License-Identifier: Apache-2.0
//
// A port of stream sockets, and peers that a test speaks for by plain sockets: a peer says each frame that it wants,
// and answers nothing of its own. Hot path: no. Threads: one.
#pragma once

#include "../../../compose/transport.hpp"
#include "../../../generated/kernel_tcp.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft::backends::streams {

/// A link of the port, and the socket at its other end.
struct met_peer {
  link_handle link;
  owned_socket socket;

  void say(const frame& f, const std::string& payload = "") const {
    std::string whole(frame_bytes, '\0');
    encode(f, reinterpret_cast<std::byte*>(whole.data()));
    say(whole + payload);
  }
  void say(const std::string& text) const {
    EXPECT_EQ(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }
};

class port_by_socket {
 public:
  using port_type = weft::detail::engine<fabrics::kernel_tcp>::port_type;
  static constexpr std::uint32_t window = 1024;  ///< Of each peer.

  std::vector<completion_entry> ends;  ///< Of operations, in the order of their reports.
  std::vector<std::uint32_t> lost;     ///< Tags of links.

  explicit port_by_socket(std::uint32_t operations)
      : listener_(listening_socket("127.0.0.1", "0", "test").value()),
        port_(port_type::open({.node = "127.0.0.1", .operations = operations}).value()) {}
  port_type* operator->() noexcept { return port_.get(); }

  /// A peer that is established, and has said nothing but its hello.
  met_peer meet() {
    met_peer made{port_->dial(socket_address::of_socket(listener_.get(), false)->copied(), next_tag_++).value(), {}};
    const auto accepted = [&] {
      made.socket = owned_socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      return static_cast<bool>(made.socket);
    };
    EXPECT_TRUE(until(accepted));
    const auto hello_of_peer = hello{window}.bytes();
    made.say(std::string(reinterpret_cast<const char*>(hello_of_peer.data()), hello_of_peer.size()));
    EXPECT_TRUE(until([&] { return made.link.held->is_up(); }));
    return made;
  }
  bool hears_the_loss_of(const met_peer& peer) {
    return until([&] { return std::find(lost.begin(), lost.end(), peer.link.held->tag) != lost.end(); });
  }
  /// Polls the links' frames. Returns the number of entries.
  int poll() {
    return port_->poll([this](const completion_entry& e, const auto&...) {
      if (e.kind == completion_kind::ended) ends.push_back(e);
    });
  }
  void poll_until_quiet() {
    while (poll() != 0) {
    }
  }
  /// `hears`: changes of links are reported too.
  template <class Done>
  bool until(Done&& done, bool hears = true) {
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
         std::chrono::steady_clock::now() < end;) {
      if (done()) return true;
      poll();
      if (!hears) continue;
      port_->poll_links([this](link_change change, std::uint32_t tag, link_handle) {
        if (change == link_change::lost) lost.push_back(tag);
        return no_tag;
      });
    }
    return false;
  }

 private:
  owned_socket listener_;
  std::unique_ptr<port_type> port_;
  std::uint32_t next_tag_ = 1;
};

}  // namespace weft::backends::streams
