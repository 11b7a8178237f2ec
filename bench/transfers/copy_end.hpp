// SPDX-License-Identifier: Apache-2.0
//
// Lists of pages over memory that two processes map, by hand: each page is copied to its place, and then a counter
// grows. It is the floor of the row `mapped`. Hot path: write, await. Threads: one owner.
#pragma once

#include "../../core/describe.hpp"
#include "../harness.hpp"
#include "../two_processes.hpp"
#include "list_plan.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::bench {

/// Requires: `largest` bytes, at least those of a list.
class copy_end {
 public:
  copy_end(const channel& to, bool first, std::size_t largest)
      : bytes_(first_page + largest), file_(memfd_create("weft-bench", MFD_CLOEXEC)), source_(largest) {
    if (file_ < 0 || ftruncate(file_, static_cast<off_t>(bytes_)) != 0) throw std::runtime_error("no memory file");
    const std::string theirs =
        to.swap(first, "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_), [] { usleep(200); });
    const int other = ::open(theirs.c_str(), O_RDWR | O_CLOEXEC);  // NOLINT: the call is variadic
    if (other < 0) throw std::runtime_error(theirs + " cannot be opened");
    ours_ = mapped(file_);
    theirs_ = mapped(other);
    close(other);
    to.swap(first, "mapped", [] { usleep(200); });
  }
  copy_end(const copy_end&) = delete;
  copy_end& operator=(const copy_end&) = delete;
  ~copy_end() {
    munmap(ours_, bytes_);
    munmap(theirs_, bytes_);
    close(file_);
  }
  void plan(const list_plan& p, patience waiting) {
    plan_ = p;
    spin_ = spinner(waiting);
  }
  void write() {
    for (std::uint32_t i = 0; i < plan_.pages; ++i)
      std::memcpy(theirs_ + first_page + place_of(plan_, i) * plan_.size, source_.data() + i * plan_.size, plan_.size);
    lists(theirs_).fetch_add(1, std::memory_order_release);
  }
  void await() {
    for (++awaited_; lists(ours_).load(std::memory_order_acquire) < awaited_;) spin_.polled(false);
  }
  void look() {}
  bytes source() { return source_; }
  const_bytes landing() const { return {ours_ + first_page, bytes_ - first_page}; }

 private:
  static constexpr std::size_t first_page = 4096;  ///< Before it: how many lists are there.
  std::byte* mapped(int file) const {
    void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) throw std::runtime_error("a memory file cannot be mapped");
    return static_cast<std::byte*>(at);
  }
  static std::atomic_ref<std::uint64_t> lists(std::byte* of) {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(of));
  }

  std::size_t bytes_;
  int file_;
  std::vector<std::byte> source_;
  std::byte* ours_ = nullptr;
  std::byte* theirs_ = nullptr;
  list_plan plan_;
  spinner spin_{{}};
  std::uint64_t awaited_ = 0;
};

}  // namespace weft::bench
