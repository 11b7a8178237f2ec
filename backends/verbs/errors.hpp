// SPDX-License-Identifier: Apache-2.0
//
// How rdma-core's numbers become weft's answers. There are two kinds, told apart by their origin: the status of a work
// completion (origin::verbs) and the errno of a call (origin::system). A completion's vendor_err means something to the
// device's maker only; it is kept for the cold side. After any error completion the queue pair is broken: what follows
// is flushed, told as `closed`. Hot path: posted() only. Threads: values.
#pragma once

#include "../../core/error.hpp"

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

namespace weft::backends::verbs {

/// The kind of a work completion's status.
constexpr errc meaning(ibv_wc_status ended) noexcept {
  switch (ended) {
    case IBV_WC_SUCCESS:
      return errc::ok;
    case IBV_WC_LOC_LEN_ERR:  // a message larger than the receive it met
      return errc::truncated;
    case IBV_WC_REM_ACCESS_ERR:  // wrong key, out of range, or a right not granted: the target does not say which
      return errc::denied;
    case IBV_WC_LOC_QP_OP_ERR:
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_MW_BIND_ERR:
      return errc::invalid;
    case IBV_WC_RETRY_EXC_ERR:      // nobody acknowledges any more
    case IBV_WC_RNR_RETRY_EXC_ERR:  // nobody posts receives any more
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

/// How an operation ended; the library's own number is kept.
constexpr status ended(ibv_wc_status how) noexcept {
  if (how == IBV_WC_SUCCESS) return {};
  return {meaning(how), origin::verbs, static_cast<std::int32_t>(how), "completion"};
}

/// The kind of a call's errno.
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

/// What a post that did not return 0 says: drivers answer ENOMEM when a queue is full.
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

/// A failure of a set-up call: what was tried, and the system's own words. `number` is an errno.
inline failure refused(int number, const char* call, const std::string& tried) {
  return {failed(number, call), tried + ": " + call + " answered " + std::to_string(number) + " (" +
                                    std::generic_category().message(number) + ")"};
}

}  // namespace weft::backends::verbs
