// SPDX-License-Identifier: Apache-2.0
//
// A secret in a page of its own. The kernel leaves that page out of core files, which other people read (madvise(2),
// MADV_DONTDUMP); it knows whole pages only. Hot path: no. Threads: values.
#pragma once

#include "secret.hpp"

#include <sys/mman.h>
#include <new>

namespace weft {

/// Holds a copy of a secret for as long as it lives. The page of an empty secret is none.
class secret_page {
 public:
  explicit secret_page(const secret& of) noexcept {
    if (of.size() == 0) return;
    void* const page = ::mmap(nullptr, sizeof(secret), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return;
    if (::madvise(page, sizeof(secret), MADV_DONTDUMP) == 0) held_ = new (page) secret(of);
    else (void)::munmap(page, sizeof(secret));
  }
  secret_page(const secret_page&) = delete;
  secret_page& operator=(const secret_page&) = delete;
  ~secret_page() {
    if (held_ == nullptr) return;
    held_->~secret();
    (void)::munmap(held_, sizeof(secret));
  }

  /// False: the secret was empty, or the kernel gave no such page.
  bool holds() const noexcept { return held_ != nullptr; }
  /// Requires: holds().
  const secret& get() const noexcept { return *held_; }

 private:
  secret* held_ = nullptr;
};

}  // namespace weft
