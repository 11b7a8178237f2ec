// SPDX-License-Identifier: Apache-2.0
//
// Maps libfabric's numbers to weft's codes, and reads error entries of completion queues.
// Two facts are handled here and nowhere else: providers disagree about the sign of `err`, and an announced entry may
// not be there yet (fi_cq(3), fi_errno(3)). prov_errno is kept for messages.
// Hot path: posted() only. Threads: values.
#pragma once

#include "../../core/error.hpp"

#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>

#include <sys/types.h>
#include <cstdint>
#include <optional>
#include <string>

namespace weft::backends::libfabric {

/// The code of a libfabric number of either sign.
constexpr errc meaning(int number) noexcept {
  switch (number < 0 ? -number : number) {
    case FI_SUCCESS:
      return errc::ok;
    case FI_EAGAIN:
      return errc::again;
    case FI_ETRUNC:
    case FI_ETOOSMALL:
    case FI_EMSGSIZE:
      return errc::truncated;
    case FI_EACCES:
    case FI_EPERM:
    case FI_ENOKEY:
    case FI_EKEYREJECTED:
      return errc::denied;
    case FI_EFAULT:
    case ERANGE:
      return errc::out_of_range;
    case FI_ECONNREFUSED:
    case FI_EHOSTUNREACH:
    case FI_ENETUNREACH:
    case FI_EADDRNOTAVAIL:
      return errc::unreachable;
    case FI_ENOTCONN:
    case FI_ECONNRESET:
    case FI_ECONNABORTED:
    case FI_ESHUTDOWN:
    case FI_EHOSTDOWN:
    case FI_ETIMEDOUT:
    case EPIPE:
      return errc::peer_lost;
    case FI_ECANCELED:
      return errc::closed;
    case FI_EINVAL:
    case FI_EBADFLAGS:
      return errc::invalid;
    case FI_ENOMEM:
    case FI_ENOBUFS:
    case EMFILE:
      return errc::no_memory;
    case FI_ENOSYS:
    case FI_EOPNOTSUPP:
    case FI_ENOPROTOOPT:
    case FI_ENODATA:
      return errc::unsupported;
    case FI_EOVERRUN:
      return errc::broken;
    default:
      return errc::native;
  }
}

/// A status for a libfabric number of either sign. The status keeps the number without its sign.
constexpr status failed(int number, const char* operation) noexcept {
  return {meaning(number), origin::libfabric, number < 0 ? -number : number, operation};
}

/// The status of a post that failed. A full queue is `again`; everything else is an error. Only established links are
/// posted to, so an unreachable peer is a lost peer. sockets returns FI_ENOENT when it cannot reconnect
/// (sock_ep_get_conn, 1.17).
[[gnu::cold, gnu::noinline]] inline status not_posted(ssize_t returned, const char* operation) noexcept {
  if (returned == -FI_EAGAIN) return again(waits_for::queue, operation);
  status s = failed(static_cast<int>(returned), operation);
  if (returned == -FI_ENOENT || s.code == errc::unreachable) s.code = errc::peer_lost;
  return s;
}

/// The status of a posting call.
[[gnu::always_inline]] inline status posted(ssize_t returned, const char* operation) noexcept {
  if (returned == 0) [[likely]]
    return {};
  return not_posted(returned, operation);
}

/// The failure of a set-up call: the attempt, and libfabric's own text.
inline failure refused(int returned, const char* call, const std::string& tried) {
  const int number = returned < 0 ? -returned : returned;
  return {failed(number, call),
          tried + ": " + call + " answered " + std::to_string(number) + " (" + fi_strerror(number) + ")"};
}

/// One error entry of a completion queue, with corrected signs.
struct queue_error {
  void* context = nullptr;
  std::uint64_t flags = 0;
  std::uint64_t data = 0;
  std::size_t length = 0;    ///< Bytes that arrived, where a receive failed.
  std::size_t overflow = 0;  ///< Bytes that did not fit.
  status outcome{};
  int provider_number = 0;  ///< prov_errno: valid only for fi_cq_strerror of the same queue.
};

/// Reads the error entry that -FI_EAVAIL announced. Nothing if it is not there yet: the library will announce it again.
[[gnu::cold, gnu::noinline]] inline std::optional<queue_error> read_error(fid_cq* queue) noexcept {
  fi_cq_err_entry entry{};  // err_data_size 0: weft provides no buffer for provider data.
  if (fi_cq_readerr(queue, &entry, 0) < 1) return std::nullopt;
  const int number = entry.err == 0 ? FI_EOTHER : entry.err;
  return queue_error{entry.op_context, entry.flags, entry.data, entry.len, entry.olen, failed(number, "completion"),
                     entry.prov_errno};
}

}  // namespace weft::backends::libfabric
