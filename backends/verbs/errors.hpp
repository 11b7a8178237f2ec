// SPDX-License-Identifier: Apache-2.0
//
// Maps rdma-core's numbers to weft's codes. There are two kinds: the status of a work completion (origin::verbs), and
// the errno of a call (origin::system).
// A completion's vendor_err is meaningful to the device's maker only; it is kept for messages.
// After an error completion the queue pair is broken: later work is flushed and reported as `closed`.
// Hot path: posted() only. Threads: values.
#pragma once

#include "../../core/error.hpp"

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

namespace weft::backends::verbs {

/// The code of a work completion's status.
constexpr errc meaning(ibv_wc_status ended) noexcept {
  switch (ended) {
    case IBV_WC_SUCCESS:
      return errc::ok;
    case IBV_WC_LOC_LEN_ERR:  // A message larger than its receive.
      return errc::truncated;
    case IBV_WC_REM_ACCESS_ERR:  // Wrong key, out of range, or a missing right: the target does not say which.
      return errc::denied;
    case IBV_WC_LOC_QP_OP_ERR:
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_MW_BIND_ERR:
      return errc::invalid;
    case IBV_WC_RETRY_EXC_ERR:      // The peer acknowledges no more.
    case IBV_WC_RNR_RETRY_EXC_ERR:  // The peer posts no more receives.
    case IBV_WC_REM_ABORT_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
      return errc::peer_lost;
    case IBV_WC_WR_FLUSH_ERR:
      return errc::closed;
    case IBV_WC_BAD_RESP_ERR:
    case IBV_WC_REM_OP_ERR:
      return errc::broken;
    default:
      return errc::native;
  }
}

/// The result of an operation, with the library's own number.
constexpr status ended(ibv_wc_status how) noexcept {
  if (how == IBV_WC_SUCCESS) return {};
  return {meaning(how), origin::verbs, static_cast<std::int32_t>(how), "completion"};
}

/// The code of a call's errno.
constexpr errc meaning_of_errno(int number) noexcept {
  switch (number) {
    case 0:
      return errc::ok;
    case EAGAIN:
      return errc::again;
    case EACCES:
    case EPERM:
      return errc::denied;
    case ECONNREFUSED:
    case EHOSTUNREACH:
    case ENETUNREACH:
    case EADDRNOTAVAIL:
      return errc::unreachable;
    case ENOTCONN:
    case ECONNRESET:
    case ECONNABORTED:
    case ESHUTDOWN:
    case ETIMEDOUT:
    case EPIPE:
      return errc::peer_lost;
    case EINVAL:
    case EFAULT:
      return errc::invalid;
    case ENOMEM:
    case ENOBUFS:
    case EMFILE:
      return errc::no_memory;
    case ENOSYS:
    case EOPNOTSUPP:
    case ENODEV:
      return errc::unsupported;
    default:
      return errc::native;
  }
}

constexpr status failed(int number, const char* operation) noexcept {
  const int positive = number < 0 ? -number : number;
  return {meaning_of_errno(positive), origin::system, positive, operation};
}

/// The status of a post that failed: drivers answer ENOMEM when a queue is full.
[[gnu::cold, gnu::noinline]] inline status not_posted(int number, const char* operation) noexcept {
  const int positive = number < 0 ? -number : number;
  if (positive == ENOMEM || positive == EAGAIN) return again(waits_for::queue, operation);
  return failed(positive, operation);
}

inline status posted(int returned, const char* operation) noexcept {
  if (returned == 0) [[likely]]
    return {};
  return not_posted(returned, operation);
}

/// The failure of a set-up call: the attempt, and the system's own text. `number` is an errno.
inline failure refused(int number, const char* call, const std::string& tried) {
  return {failed(number, call), tried + ": " + call + " answered " + std::to_string(number) + " (" +
                                    std::generic_category().message(number) + ")"};
}

}  // namespace weft::backends::verbs
