// SPDX-License-Identifier: Apache-2.0
//
// Two endpoints of one process over plain libfabric, for tests of each call. The provider is that of the variable
// WEFT_CALLS_PROVIDER: an emulated one, or one of the library, which shows that the tests ask for nothing but
// libfabric's rules. What the provider offers is in `info`; a test of what it lacks expects a refusal.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weft::calls {

/// What a test asks of its endpoints.
struct wishes {
  std::uint64_t caps = FI_MSG | FI_TAGGED;
  std::uint64_t receive_binding = 0;  ///< FI_SELECTIVE_COMPLETION, or nothing.
  std::uint64_t transmit_flags = 0;   ///< Of calls without flags.
  std::uint64_t receive_flags = 0;
  std::uint64_t modes = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA;  ///< What the program can live with.
};

inline constexpr std::size_t memory_size = std::size_t{1} << 16U;

/// One end: everything that an endpoint needs, and what its queue reported.
struct side {
  fid_ep* ep = nullptr;
  fid_cq* cq = nullptr;
  fid_av* av = nullptr;
  fid_mr* mr = nullptr;
  fi_addr_t other = FI_ADDR_UNSPEC;
  std::vector<std::byte> memory = std::vector<std::byte>(memory_size);
  std::deque<fi_cq_tagged_entry> entries;
  std::deque<fi_addr_t> sources;
  std::deque<fi_cq_err_entry> errors;

  std::byte* at(std::size_t offset) { return memory.data() + offset; }
  void fill(std::size_t offset, std::size_t size, int value) { std::memset(at(offset), value, size); }
  void* descriptor() const { return mr == nullptr ? nullptr : fi_mr_desc(mr); }
};

const char* provider();

class pair : public testing::Test {
 public:
  side a;
  side b;
  fi_info* info = nullptr;
  fid_fabric* fabric = nullptr;
  fid_domain* domain = nullptr;

  /// Opens both ends; false where the provider has not all of `wanted`.
  bool open(const wishes& wanted);
  /// Skips the test where the provider has not all of `wanted`.
#define WEFT_OPEN(...) \
  if (!open(wishes{__VA_ARGS__})) GTEST_SKIP() << "the provider has not all that this test asks for"

  /// A context that lives as long as the test.
  void* context() { return &contexts_.emplace_back(); }
  /// Reads both queues once.
  void poll();
  /// Polls until `done`, for at most ten seconds.
  [[nodiscard]] bool until(const std::function<bool()>& done);
  /// Posts, and polls while the queue is full. Returns the call's last answer.
  ssize_t post(const std::function<ssize_t()>& call);
  /// The next entry or error entry of an end. Fails the test where none comes.
  fi_cq_tagged_entry entry(side& of);
  fi_cq_err_entry error(side& of);
  /// Nothing more comes of either end for a while.
  [[nodiscard]] bool quiet();
  /// Where the memory of `of` begins for the other end's reads and writes.
  std::uint64_t base(const side& of) const;
  std::uint64_t key(const side& of) const { return fi_mr_key(of.mr); }

 protected:
  void TearDown() override;

 private:
  void open_side(side& of, const wishes& wanted, std::uint64_t key);
  static void read(side& of);
  static void close(side& of);
  std::deque<fi_context2> contexts_;
};

}  // namespace weft::calls
