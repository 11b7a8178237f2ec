// SPDX-License-Identifier: Apache-2.0
//
// A device of rdma-core's that exists in this process only: the entry points of libibverbs and librdmacm that the verbs
// backend calls, linked in their place. What is posted is carried out at once, by copying; nothing is ever under way,
// nothing is timed. It counts how it was called, and fails as it is told to: what cards do only when cables are pulled
// can be tested, and what a post costs its caller can be counted. Hot path: no. Threads: one.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <utility>

namespace weft::stub_device {

/// How the device was called since the last forget().
struct tally {
  std::uint64_t doorbells = 0;        ///< Calls that post sends.
  std::uint64_t requests = 0;         ///< Work requests in them.
  std::uint64_t signalled = 0;        ///< Those that asked for a completion.
  std::uint64_t inlined = 0;          ///< Those whose bytes lay in the request.
  std::uint64_t longest = 0;          ///< The most requests in one call.
  std::uint64_t receives = 0;         ///< Receives posted.
  std::uint64_t built = 0;            ///< Requests that were built by ibv_wr_* calls.
  std::uint64_t shared_receives = 0;  ///< Receives posted to shared queues.
};
tally& seen() noexcept;
/// Nothing was counted, nothing is to fail.
void forget() noexcept;

/// The next request, after `after` others, ends with this status, and its queue pair breaks. What was posted with it
/// and behind it is flushed.
void end_badly(ibv_wc_status how, std::uint32_t vendor_number, std::uint32_t after = 0) noexcept;
/// The next call that posts sends takes so many requests of it, then answers this number and names the request that it
/// did not take.
void refuse_post(int number, std::uint32_t taken = 0) noexcept;
/// The device grants at most so much from now on.
void set_queue_depth(int works) noexcept;

/// Whether queue pairs with ibv_wr_* calls are made.
void set_extended(bool offered) noexcept;

/// Two queue pairs that are connected, with a completion queue each, for whoever needs no connection manager. The
/// caller destroys them.
std::pair<ibv_qp*, ibv_qp*> connected_pair(ibv_pd* domain, ibv_cq* first, ibv_cq* second, const ibv_qp_cap& cap);
/// The device's context.
ibv_context* context() noexcept;

}  // namespace weft::stub_device
