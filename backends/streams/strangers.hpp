// SPDX-License-Identifier: Apache-2.0
//
// Callers that have connected and have not said hello. Each holds a descriptor and some bytes, for a second at most.
// When all places are taken, the oldest silent caller leaves: strangers cannot delay the callers after them.
// Hot path: no. Threads: the owner's.
#pragma once

#include "address.hpp"
#include "frame.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

namespace weft::backends::streams {

/// Bytes of the other side's hello.
struct heard_hello {
  std::array<std::byte, hello::size> bytes{};
  std::size_t count = 0;

  enum class state : std::uint8_t { missing, whole, ended };
  /// Reads no byte beyond the hello.
  state read(int socket) noexcept {
    while (count != bytes.size()) {
      const ssize_t got = ::recv(socket, bytes.data() + count, bytes.size() - count, MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return state::missing;
      if (got <= 0) return state::ended;
      count += static_cast<std::size_t>(got);
    }
    return state::whole;
  }
};

class strangers {
 public:
  static constexpr std::size_t most = 128;
  static constexpr duration patience = std::chrono::seconds(1);

  struct stranger {
    owned_socket socket;
    heard_hello said;
    instant since{};
    bool leaves = false;
  };

  bool empty() const noexcept { return all_.empty(); }
  /// A caller for whom there is room now. The address stays until forget().
  stranger& admit(owned_socket socket) {
    if (all_.size() >= most) all_.erase(all_.begin());  // the oldest
    all_.push_back(std::make_unique<stranger>());
    all_.back()->socket = std::move(socket);
    all_.back()->since = std::chrono::steady_clock::now();
    return *all_.back();
  }
  /// Drops those that ended, or said nothing for too long.
  void forget() {
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(all_, [now](const auto& each) { return each->leaves || now - each->since > patience; });
  }
  bool holds(const void* one) const noexcept {
    return std::any_of(all_.begin(), all_.end(), [one](const auto& each) { return each.get() == one; });
  }

 private:
  std::vector<std::unique_ptr<stranger>> all_;
};

}  // namespace weft::backends::streams
