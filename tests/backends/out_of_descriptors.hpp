// SPDX-License-Identifier: Apache-2.0
//
// A process that has no descriptor left, as a listener in it sees that. Hot path: no. Threads: one.
#pragma once

#include "../../backends/process/owned_descriptor.hpp"
#include "../../core/port.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>
#include <cerrno>

#include <vector>

namespace weft::backends {

/// While it lives, the process can open nothing.
class out_of_descriptors {
 public:
  out_of_descriptors() {
    EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
    all_.emplace_back(::open("/dev/null", O_RDONLY));
    const rlimit tight{static_cast<rlim_t>(all_.front().get()) + 8, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
    while (all_.back()) all_.emplace_back(::open("/dev/null", O_RDONLY));
    EXPECT_EQ(errno, EMFILE);
  }
  out_of_descriptors(const out_of_descriptors&) = delete;
  out_of_descriptors& operator=(const out_of_descriptors&) = delete;
  ~out_of_descriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

 private:
  rlimit before_{};
  std::vector<process::owned_descriptor> all_;
};

/// Whether a sleep on the descriptor ends within these milliseconds.
inline bool would_wake(int descriptor, int within_ms = 0) {
  pollfd events{descriptor, POLLIN, 0};
  return ::poll(&events, 1, within_ms) == 1;
}

/// What one poll of a side says of its links.
template <class Connections>
std::vector<link_change> changes_in(Connections& side) {
  std::vector<link_change> heard;
  const auto note = [&heard](link_change change, std::uint32_t, auto* /*link*/) -> std::uint32_t {
    heard.push_back(change);
    return no_tag;
  };
  side.poll();
  side.report(note);
  return heard;
}

}  // namespace weft::backends
