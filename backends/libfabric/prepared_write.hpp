// SPDX-License-Identifier: Apache-2.0
//
// A write that is made up now and posted when one more follows: libfabric wants to be told with each post whether more
// comes (FI_MORE, fi_rma(3)), which is known one post later. Made up in libfabric's words at once, since a copy in
// other words costs as much as the post. Hot path: members of batches. Threads: values.
#pragma once

#include "../../core/memory.hpp"

#include <rdma/fi_rma.h>

namespace weft::backends::libfabric {

class prepared_write {
 public:
  /// Nothing is cleared; nothing of it is read before keep() and aim().
  prepared_write() noexcept {}  // NOLINT(modernize-use-equals-default,hicpp-use-equals-default)
  prepared_write(const prepared_write& other) noexcept
      : piece_(other.piece_), descriptor_(other.descriptor_), target_(other.target_), message_(other.message_) {
    point();
  }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment,cert-oop54-cpp): of itself, each part is what it was
  prepared_write& operator=(const prepared_write& other) noexcept {
    piece_ = other.piece_;
    descriptor_ = other.descriptor_;
    target_ = other.target_;
    message_ = other.message_;
    point();
    return *this;
  }
  ~prepared_write() = default;

  /// Keeps another one. A message, too, which has no place: it is read by from() only.
  [[gnu::always_inline]] void keep(local_memory from, remote_memory at, std::uint64_t immediate) noexcept {
    piece_ = {from.data, from.size};
    descriptor_ = from.descriptor;
    target_ = {at.address, from.size, at.key};
    message_.data = immediate;
  }
  local_memory from() const noexcept { return {static_cast<std::byte*>(piece_.iov_base), piece_.iov_len, descriptor_}; }
  remote_memory to() const noexcept { return {target_.addr, target_.key}; }
  std::uint64_t immediate() const noexcept { return message_.data; }

  /// Whom it and those kept after it go to, and what the library tells a failure with.
  void aim(fi_addr_t peer, void* context) noexcept {
    point();
    message_.addr = peer;
    message_.context = context;
  }
  /// As the call takes it.
  [[gnu::always_inline]] const fi_msg_rma* message() const noexcept { return &message_; }

 private:
  void point() noexcept {
    message_.msg_iov = &piece_;
    message_.desc = &descriptor_;
    message_.iov_count = 1;
    message_.rma_iov = &target_;
    message_.rma_iov_count = 1;
  }

  iovec piece_;
  void* descriptor_;
  fi_rma_iov target_;
  fi_msg_rma message_;
};

}  // namespace weft::backends::libfabric
