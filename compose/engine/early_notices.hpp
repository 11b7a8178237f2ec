// SPDX-License-Identifier: Apache-2.0
//
// Notices that came before the accept of their peer. A write may overtake a message: the peer accepts, posts a notice
// at once, and the accept is the one that is late. The notices wait here until the accept comes. Where one finds no
// room, the record says so (notices_lost), and the connection ends when the accept comes.
// Hot path: no, a notice of a connection that is not established. Threads: the owner's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::detail {

class early_notices {
 public:
  /// A peer cannot make this side keep more.
  static constexpr std::size_t most = 1024;

  /// Keeps a notice. `waits(connection)`: whether the connection still waits for its accept. False: no room.
  template <class Waits>
  bool keep(std::uint32_t connection, std::uint32_t immediate, Waits&& waits) {
    if (all_.size() == most) std::erase_if(all_, [&](const notice& each) { return !waits(each.connection); });
    if (all_.size() == most) return false;
    all_.push_back({connection, immediate});
    return true;
  }
  /// Removes the oldest notice of this connection, and returns whether there was one.
  bool take(std::uint32_t connection, std::uint32_t& immediate) noexcept {
    auto found = all_.begin();
    while (found != all_.end() && found->connection != connection) ++found;
    if (found == all_.end()) return false;
    immediate = found->immediate;
    all_.erase(found);
    return true;
  }

 private:
  struct notice {
    std::uint32_t connection;
    std::uint32_t immediate;
  };
  std::vector<notice> all_;
};

}  // namespace weft::detail
