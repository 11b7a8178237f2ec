// SPDX-License-Identifier: Apache-2.0
//
// An rdma-core device that exists in this process only: the entry points of libibverbs and librdmacm that the verbs
// backend calls, linked in place of those libraries. Posted work is executed at once by copying: nothing stays in
// flight, and nothing is timed. The device counts its calls and fails on request. So tests reach failures that real
// devices show only when a cable is pulled, and the cost of a post can be counted. Hot path: no. Threads: one.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <utility>

namespace weft::stub_device {

/// Calls of the device since the last forget().
struct tally {
  std::uint64_t doorbells = 0;        ///< Calls that post sends.
  std::uint64_t requests = 0;         ///< Work requests in these calls.
  std::uint64_t signalled = 0;        ///< Requests with a completion.
  std::uint64_t inlined = 0;          ///< Requests with inline bytes.
  std::uint64_t longest = 0;          ///< The most requests in one call.
  std::uint64_t receives = 0;         ///< Receives posted.
  std::uint64_t built = 0;            ///< Requests that were built by ibv_wr_* calls.
  std::uint64_t shared_receives = 0;  ///< Receives posted to shared queues.
  std::uint64_t armed = 0;            ///< Requests for an event of a completion queue.
};
tally& seen() noexcept;
/// Resets all counts and planned failures.
void forget() noexcept;

/// The next request, after `after` others, ends with this status, and its queue pair breaks. Requests posted with it
/// and after it are flushed.
void end_badly(ibv_wc_status how, std::uint32_t vendor_number, std::uint32_t after = 0) noexcept;
/// The next call that posts sends accepts so many requests, then returns this number and names the first request that
/// it refused.
void refuse_post(int number, std::uint32_t taken = 0) noexcept;
/// The device grants at most so many works from now on.
void set_queue_depth(int works) noexcept;

/// Whether queue pairs offer ibv_wr_* calls.
void set_extended(bool offered) noexcept;

/// Two connected queue pairs with a completion queue each, for tests without a connection manager. The caller destroys
/// them.
std::pair<ibv_qp*, ibv_qp*> connected_pair(ibv_pd* domain, ibv_cq* first, ibv_cq* second, const ibv_qp_cap& cap);
/// The device's context.
ibv_context* context() noexcept;

}  // namespace weft::stub_device
