// SPDX-License-Identifier: Apache-2.0
//
// Memory that manager and executor share: the allocation's secrets and a journal per worker, in a memory file that the
// manager makes and the executor inherits. The file outlives a killed executor, and no command line shows its contents.
// It is sealed: if an executor could shrink it, the manager would die of SIGBUS when it reads the journal.
// Hot path: no. Threads: see accounting.hpp.
#pragma once

#include "accounting.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <new>
#include <span>
#include <utility>

namespace weft::invocation {

class journal_memory {
 public:
  journal_memory() = default;
  journal_memory(journal_memory&& other) noexcept { swap(other); }
  journal_memory& operator=(journal_memory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~journal_memory() {
    if (base_ != nullptr) ::munmap(base_, size_of(workers_));
    if (file_ >= 0) ::close(file_);
  }

  /// The manager's: new and zeroed.
  static result<journal_memory> make(std::uint16_t workers) {
    journal_memory m;
    m.file_ = ::memfd_create("weft_journal", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (m.file_ < 0 || ::ftruncate(m.file_, static_cast<off_t>(size_of(workers))) != 0) return system("memfd_create");
    if (::fcntl(m.file_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) return system("F_ADD_SEALS");
    return map(std::move(m), workers);
  }
  /// The executor's: inherited. Takes the descriptor.
  static result<journal_memory> inherit(int file, std::uint16_t workers) {
    journal_memory m;
    m.file_ = file;
    struct stat about {};
    if (::fstat(file, &about) != 0 || about.st_size < static_cast<off_t>(size_of(workers)))
      return {error(errc::invalid, "journal"), "descriptor " + std::to_string(file) +
                                                   " is not the journal that a manager made for " +
                                                   std::to_string(workers) + " workers"};
    return map(std::move(m), workers);
  }

  journal_head& head() noexcept { return *static_cast<journal_head*>(base_); }
  std::span<worker_journal> workers() noexcept {
    return {reinterpret_cast<worker_journal*>(static_cast<std::byte*>(base_) + front), workers_};
  }
  int file() const noexcept { return file_; }

 private:
  static constexpr std::size_t front = 128;
  static_assert(sizeof(journal_head) <= front);
  static constexpr std::size_t size_of(std::uint16_t workers) noexcept {
    return front + workers * sizeof(worker_journal);
  }

  static failure system(const char* what) {
    return {{errc::native, origin::system, errno, what},
            std::string("no memory for the journal: ") + what + " failed with errno " + std::to_string(errno)};
  }
  static result<journal_memory> map(journal_memory m, std::uint16_t workers) {
    void* at = ::mmap(nullptr, size_of(workers), PROT_READ | PROT_WRITE, MAP_SHARED, m.file_, 0);
    if (at == MAP_FAILED) return system("mmap");
    m.base_ = at;  // zero bytes are a valid head and valid journals: atomics of integers, lock-free
    m.workers_ = workers;
    return m;
  }
  void swap(journal_memory& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(workers_, other.workers_);
    std::swap(file_, other.file_);
  }

  void* base_ = nullptr;
  std::uint16_t workers_ = 0;
  int file_ = -1;
};

}  // namespace weft::invocation
