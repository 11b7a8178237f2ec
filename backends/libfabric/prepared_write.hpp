// SPDX-License-Identifier: Apache-2.0
//
// A write that is prepared now and posted when the next one is known. libfabric wants to know with each post whether
// another follows (FI_MORE, fi_rma(3)), and weft knows that one post later.
// It is stored in libfabric's structures at once, since a conversion later costs as much as the post.
// Hot path: members of batches. Threads: values.
#pragma once

#include "../../core/memory.hpp"

#include <rdma/fi_rma.h>

namespace weft::backends::libfabric {

class prepared_write {
 public:
  /// Clears nothing. Call keep() and aim() before any read.
  prepared_write() noexcept {}  // NOLINT(modernize-use-equals-default,hicpp-use-equals-default)
  prepared_write(const prepared_write& other) noexcept
      : piece_(other.piece_), descriptor_(other.descriptor_), target_(other.target_), message_(other.message_) {
    point();
  }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment,cert-oop54-cpp): self-assignment keeps each part
  prepared_write& operator=(const prepared_write& other) noexcept {
    piece_ = other.piece_;
    descriptor_ = other.descriptor_;
    target_ = other.target_;
    message_ = other.message_;
    point();
    return *this;
  }
  ~prepared_write() = default;

  /// Stores another write. A message is stored too, without a remote place; only from() reads it.
  [[gnu::always_inline]] void keep(local_memory from, remote_memory at, std::uint64_t immediate) noexcept {
    piece_ = {from.data, from.size};
    descriptor_ = from.descriptor;
    target_ = {at.address, from.size, at.key};
    message_.data = immediate;
  }
  local_memory from() const noexcept { return {static_cast<std::byte*>(piece_.iov_base), piece_.iov_len, descriptor_}; }
  remote_memory to() const noexcept { return {target_.addr, target_.key}; }
  std::uint64_t immediate() const noexcept { return message_.data; }

  /// Sets the peer and the context of a failure, for this write and later ones.
  void aim(fi_addr_t peer, void* context) noexcept {
    point();
    message_.addr = peer;
    message_.context = context;
  }
  /// The argument of fi_writemsg.
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
