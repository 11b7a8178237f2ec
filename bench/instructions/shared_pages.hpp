// SPDX-License-Identifier: Apache-2.0
//
// Memory of two processes for the contenders over mapped memory, by the kernel's calls alone: a file in memory for each
// end (memfd_create(2)), mapped by both. The other end opens the file by its place in /proc. Hot path: none. Threads:
// one per process.
#pragma once

#include "../mapped/hand_ring.hpp"
#include "../two_processes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>

namespace weft::bench {

/// The pages that the other end writes: a ring of messages, then the memory of its puts.
class shared_pages {
 public:
  static constexpr std::size_t landing_bytes = std::size_t{64} * 1024;

  shared_pages(const channel& to, bool first) : file_(memfd_create("weft-bench", MFD_CLOEXEC)) {
    if (file_ < 0 || ftruncate(file_, bytes) != 0) throw std::runtime_error("no memory file");
    ours_ = mapped(file_);
    new (ours_) hand_ring();
    const std::string theirs =
        to.swap(first, "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_), [] { usleep(200); });
    const int other = ::open(theirs.c_str(), O_RDWR | O_CLOEXEC);  // NOLINT: the call is variadic
    if (other < 0) throw std::runtime_error(theirs + " cannot be opened");
    theirs_ = mapped(other);
    close(other);
    to.swap(first, "mapped", [] { usleep(200); });
  }
  shared_pages(const shared_pages&) = delete;
  shared_pages& operator=(const shared_pages&) = delete;
  ~shared_pages() {
    munmap(ours_, bytes);
    munmap(theirs_, bytes);
    close(file_);
  }

  std::byte* landing() const noexcept { return ours_ + sizeof(hand_ring); }
  std::byte* there() const noexcept { return theirs_ + sizeof(hand_ring); }
  hand_sender out() const noexcept { return hand_sender(*reinterpret_cast<hand_ring*>(theirs_)); }
  hand_taker in() const noexcept { return hand_taker(*reinterpret_cast<hand_ring*>(ours_)); }

 private:
  static constexpr std::size_t bytes = sizeof(hand_ring) + landing_bytes;
  static std::byte* mapped(int file) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) throw std::runtime_error("a memory file cannot be mapped");
    return static_cast<std::byte*>(at);
  }
  int file_;
  std::byte* ours_ = nullptr;
  std::byte* theirs_ = nullptr;
};

}  // namespace weft::bench
