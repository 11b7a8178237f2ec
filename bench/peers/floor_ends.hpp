// SPDX-License-Identifier: Apache-2.0
//
// What this machine can do at all: a stream socket over the loopback address, polled without sleep; and memory that two
// processes share: a flag in a line, bytes and a flag, a ring of messages that are copied in and out. No keys, no
// bounds, no completions, no peers. Hot path: post, poll. Threads: one owner.
#pragma once

#include "../breather.hpp"
#include "ladder.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace weft::bench {

inline constexpr std::size_t largest_floor = std::size_t{1} << 20;
inline constexpr std::size_t ring_bytes = 4 * largest_floor;

/// Bytes that begin so far behind a page. Some processors copy at a twentieth of the speed where a target lies 1 to 31
/// bytes behind its source, modulo 4096 (docs/decisions/0023). So a floor's buffers lie like what they are copied with.
class placed_bytes {
 public:
  placed_bytes(std::size_t size, std::size_t behind_a_page)
      : held_(size + 2 * page),
        begin_(held_.data() + (page - reinterpret_cast<std::uintptr_t>(held_.data()) % page) + behind_a_page) {}
  std::byte* data() noexcept { return begin_; }
  const std::byte* data() const noexcept { return begin_; }

 private:
  static constexpr std::size_t page = 4096;
  std::vector<std::byte> held_;
  std::byte* begin_;
};

/// What both kinds of ends offer to the pattern check.
class floor_end {
 public:
  explicit floor_end(std::size_t behind_a_page) : outgoing_(largest_floor, behind_a_page) {}
  static constexpr bool tells_immediate = false;
  static std::uint64_t ended() noexcept { return 0; }
  static std::uint32_t immediate() noexcept { return 0; }
  void expect(std::size_t size) noexcept { expected_ = size; }
  std::byte* outgoing() noexcept { return outgoing_.data(); }

 protected:
  std::size_t expected_ = 8;
  placed_bytes outgoing_;
};

/// How a stream carries a large transfer. Which is fastest depends on the size and on the kernel, so callers try some.
struct stream_shape {
  std::size_t piece = 0;   ///< Bytes of one send(); 0: all. The target copies a piece while the next one is sent.
  int kernel_buffers = 0;  ///< Bytes of SO_SNDBUF and SO_RCVBUF; 0: the kernel's own, which grow.
};

class socket_end : public floor_end {
 public:
  socket_end(const channel& to, bool first, stream_shape shape)
      : floor_end(0),  // the kernel's memory begins at pages
        landed_(largest_floor, 0),
        socket_(first ? dial(to, shape.kernel_buffers) : answer(to, shape.kernel_buffers)),
        piece_(shape.piece == 0 ? largest_floor : shape.piece) {
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  socket_end(const socket_end&) = delete;
  socket_end& operator=(const socket_end&) = delete;
  ~socket_end() { ::close(socket_); }
  const std::byte* incoming() const noexcept { return landed_.data(); }

  template <ending>
  bool post(std::size_t size, std::uint32_t) {
    while (left_ < size) {
      const ssize_t n =
          ::send(socket_, outgoing_.data() + left_, std::min(piece_, size - left_), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (n < 0 && errno == EAGAIN) return false;
      if (n <= 0) throw std::runtime_error("send failed");
      left_ += static_cast<std::size_t>(n);
    }
    left_ = 0;
    return true;
  }
  int poll() {
    const ssize_t n = ::recv(socket_, landed_.data() + came_, expected_ - came_, MSG_DONTWAIT);
    if (n < 0 && errno == EAGAIN) return 0;
    if (n <= 0) throw std::runtime_error("the other end of the socket is gone");
    came_ += static_cast<std::size_t>(n);
    if (came_ < expected_) return 0;
    came_ = 0;
    return 1;
  }

 private:
  static sockaddr_in loopback(in_port_t port) {
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = port;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return a;
  }
  /// Sizes of buffers bind only before the connection. An accepted socket has those of the listening one.
  static int made(int kernel_buffers) {
    const int s = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) throw std::runtime_error("socket failed");
    for (const int which : {SO_SNDBUF, SO_RCVBUF})
      if (kernel_buffers > 0) setsockopt(s, SOL_SOCKET, which, &kernel_buffers, sizeof kernel_buffers);
    return s;
  }
  static int answer(const channel& to, int kernel_buffers) {
    const int listening = made(kernel_buffers);
    sockaddr_in where = loopback(0);
    socklen_t length = sizeof where;
    if (::bind(listening, reinterpret_cast<sockaddr*>(&where), sizeof where) != 0 || ::listen(listening, 1) != 0 ||
        ::getsockname(listening, reinterpret_cast<sockaddr*>(&where), &length) != 0)
      throw std::runtime_error("listening on 127.0.0.1 failed");
    to.send_text(std::string(reinterpret_cast<const char*>(&where.sin_port), sizeof where.sin_port));
    const int accepted = ::accept(listening, nullptr, nullptr);
    ::close(listening);
    if (accepted < 0) throw std::runtime_error("accept failed");
    return accepted;
  }
  static int dial(const channel& to, int kernel_buffers) {
    const std::string port_bytes = to.receive_text();
    in_port_t port = 0;
    std::memcpy(&port, port_bytes.data(), sizeof port);
    const sockaddr_in there = loopback(port);
    const int s = made(kernel_buffers);
    if (::connect(s, reinterpret_cast<const sockaddr*>(&there), sizeof there) != 0)
      throw std::runtime_error("connecting to 127.0.0.1 failed");
    return s;
  }

  placed_bytes landed_;
  int socket_;
  std::size_t piece_;
  std::size_t left_ = 0;
  std::size_t came_ = 0;
};

/// Memory of one direction. The word and a small transfer's bytes share a line; directions lie pages apart.
struct alignas(4096) one_way {
  std::atomic<std::uint64_t> word;
  std::byte bytes[ring_bytes];
  alignas(4096) std::atomic<std::uint64_t> taken;
};
struct both_ways {
  one_way to[2];
};

/// One copy and a flag, polled as `Looks` says.
template <class Looks = breather<room_at_line>>
class put_end : public floor_end {
 public:
  put_end(both_ways& shared, bool first)
      : floor_end(sizeof one_way::word), mine_(shared.to[first ? 0 : 1]), theirs_(shared.to[first ? 1 : 0]) {}
  const std::byte* incoming() const noexcept { return mine_.bytes; }
  template <ending>
  bool post(std::size_t size, std::uint32_t) noexcept {
    std::memcpy(theirs_.bytes, outgoing_.data(), size);
    theirs_.word.store(++sent_, std::memory_order_release);
    return true;
  }
  /// A put that only the next one's flag announces.
  bool stream(std::size_t size) noexcept {
    std::memcpy(theirs_.bytes, outgoing_.data(), size);
    return true;
  }
  int poll() noexcept {
    breath_.before_poll();
    if (mine_.word.load(std::memory_order_acquire) == seen_) return 0;
    breath_.found();
    ++seen_;
    return 1;
  }

 private:
  one_way& mine_;
  one_way& theirs_;
  Looks breath_;
  std::uint64_t sent_ = 0;
  std::uint64_t seen_ = 0;
};

/// Copied into a cell of the ring, copied out of it. The cell's own word says that it is full. Now and then the
/// receiver writes the number of taken cells back.
class ring_end : public floor_end {
 public:
  ring_end(both_ways& shared, bool first)
      : floor_end(sizeof one_way::word + header),
        landed_(largest_floor, sizeof one_way::word + header),
        mine_(shared.to[first ? 0 : 1]),
        theirs_(shared.to[first ? 1 : 0]) {}
  const std::byte* incoming() const noexcept { return landed_.data(); }
  void expect(std::size_t size) {
    floor_end::expect(size);
    stride_ = (size + header + 63) / 64 * 64;
    cells_ = std::min<std::size_t>(64, ring_bytes / stride_);
  }
  template <ending>
  bool post(std::size_t size, std::uint32_t) noexcept {
    if (sent_ - known_taken_ == cells_ &&
        sent_ - (known_taken_ = theirs_.taken.load(std::memory_order_acquire)) >= cells_)
      return false;
    std::byte* const cell = theirs_.bytes + sent_ % cells_ * stride_;
    std::memcpy(cell + header, outgoing_.data(), size);
    word_of(cell).store(++sent_, std::memory_order_release);
    return true;
  }
  int poll() noexcept {
    std::byte* const cell = mine_.bytes + seen_ % cells_ * stride_;
    breath_.before_poll();
    if (word_of(cell).load(std::memory_order_acquire) != seen_ + 1) return 0;
    breath_.found();
    std::memcpy(landed_.data(), cell + header, expected_);
    ++seen_;
    if (seen_ % 16 == 0 || cells_ < 32) mine_.taken.store(seen_, std::memory_order_release);
    return 1;
  }

 private:
  static constexpr std::size_t header = 8;
  static std::atomic_ref<std::uint64_t> word_of(std::byte* cell) noexcept {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(cell));
  }

  placed_bytes landed_;
  one_way& mine_;
  one_way& theirs_;
  breather<room_at_line> breath_;
  std::size_t stride_ = 64;
  std::size_t cells_ = 64;
  std::uint64_t sent_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t known_taken_ = 0;
};

}  // namespace weft::bench
