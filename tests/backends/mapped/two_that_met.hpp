// SPDX-License-Identifier: Apache-2.0
//
// Two transports of one process over mapped memory, and messages with known bytes. Hot path: no. Threads: two while
// they meet.
#pragma once

#include "../../../compose/transport.hpp"
#include "../../../generated/mapped.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weft::backends::mapped {

using namespace std::chrono_literals;
using fabric = fabrics::mapped;
inline constexpr std::size_t longest = 65536;

/// Two transports of one process that have met. One thread may make progress on both.
struct two_that_met {
  transport<fabric> from;
  std::optional<transport<fabric>> to;
  peer there, back;
  int completed_ends = 0, failed_ends = 0, ended_peers = 0;
  errc why = errc::ok;
  std::vector<std::vector<std::byte>> came;

  explicit two_that_met(bool sleeps = false)
      : from(open<fabric>({.sleeps = sleeps, .max_message_bytes = longest}).value()),
        to(open<fabric>({.node = "127.0.0.1", .listens = true, .sleeps = sleeps, .max_message_bytes = longest})
               .value()) {
    const std::string where = to->listen_address();
    std::thread accepts([this] { back = to->accept_one(5s).value(); });
    auto met = from.connect(where, 5s);
    accepts.join();
    there = met.value();
  }
  void poll_sender() {
    from.progress(overloaded{[this](const completed&) { ++completed_ends; },
                             [this](const failed& f) {
                               ++failed_ends;
                               why = f.why.code;
                             },
                             [](auto&&) {}});
  }
  void poll_receiver() {
    to->progress(overloaded{[this](const received& m) { came.emplace_back(m.message.begin(), m.message.end()); },
                            [this](const lost&) { ++ended_peers; }, [](auto&&) {}});
  }
  template <class Done>
  void until(Done&& done) {
    for (const auto end = std::chrono::steady_clock::now() + 5s; !done() && std::chrono::steady_clock::now() < end;) {
      poll_sender();
      if (to) poll_receiver();
    }
    EXPECT_TRUE(done());
  }
};
inline std::vector<std::byte> painted(std::size_t size, int seed) {
  std::vector<std::byte> all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = static_cast<std::byte>(i * 7 + static_cast<std::size_t>(seed));
  return all;
}
inline void paint(const owned_region& into, std::size_t size, int seed) {
  const auto all = painted(size, seed);
  std::memcpy(into.data(), all.data(), size);
}

}  // namespace weft::backends::mapped
