// SPDX-License-Identifier: Apache-2.0
//
// Moves packets between the endpoints of one host by stream sockets in the abstract namespace, which leave no file when
// a process dies. An endpoint is found by its number. Nothing blocks; the epoll descriptor is readable when there is
// work. Threads: one at a time (the emulator's lock).
#pragma once

#include "packet.hpp"

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace weft::emulator {

enum class sent : std::uint8_t { yes, full, nobody };

class carrier {
 public:
  carrier() = default;
  ~carrier();
  carrier(const carrier&) = delete;
  carrier& operator=(const carrier&) = delete;

  /// Peers find this endpoint as `number` from now on. Returns 0 or a positive errno value.
  int open(std::uint64_t number);
  /// Queues a packet. `full`: this peer's queue is too long (answers are never refused for that).
  sent send(std::uint64_t to, packet_header head, std::string_view payload);
  /// Whether `send` would refuse a packet to this peer that is no answer.
  bool full(std::uint64_t to) const noexcept;
  /// Reads packets into `arrived`, writes queued ones, adds lost peers to `gone`.
  void pump(std::deque<packet>& arrived, std::vector<std::uint64_t>& gone);
  int descriptor() const noexcept { return epoll_; }
  bool idle() const noexcept { return queued_ == 0; }

 private:
  struct path {
    int descriptor = -1;
    std::uint64_t peer = 0;  ///< 0 until its hello arrived.
    std::string in;
    std::string out;
    std::size_t out_begin = 0;
    bool watched = false;  ///< The epoll descriptor also reports room to write.
  };
  path* to(std::uint64_t peer);
  path* add(int descriptor, std::uint64_t peer);
  bool read_from(path& from, std::deque<packet>& arrived);
  bool write_to(path& into);
  void drop(path& lost, std::vector<std::uint64_t>& gone);

  std::uint64_t number_ = 0;
  int listener_ = -1;
  int epoll_ = -1;
  std::size_t queued_ = 0;
  std::unordered_map<int, std::unique_ptr<path>> paths_;
  std::unordered_map<std::uint64_t, path*> peers_;
};

}  // namespace weft::emulator
