// SPDX-License-Identifier: Apache-2.0
//
// Requests to fi_getinfo. The *needs* of a provider are found by offering every mode and removing offers one by one. A
// bit that comes back only because it was offered is no need: one provider returns FI_MR_VIRT_ADDR to every caller that
// offers it, and is five times slower then. Only replies of the requested provider and endpoint type count, because the
// same hint finds others first in other releases. Hot path: no. Threads: values.
#pragma once

#include "demands.hpp"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace weft::probe {

struct info_closer {
  void operator()(fi_info* info) const noexcept { fi_freeinfo(info); }
};
using owned_info = std::unique_ptr<fi_info, info_closer>;

inline constexpr std::uint64_t every_mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA | FI_ASYNC_IOV;
inline constexpr int every_region_mode =
    FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
inline constexpr std::uint64_t every_order = FI_ORDER_SAW | FI_ORDER_WAW | FI_ORDER_SAS;

/// The contents of one fi_getinfo request.
struct question {
  std::uint64_t caps = FI_MSG | FI_RMA;
  std::uint64_t mode = every_mode;
  int region_mode = every_region_mode;
  std::uint64_t order = 0;
  std::uint64_t op_flags = 0;
  std::size_t immediate_bytes = 0;
  fi_progress progress = FI_PROGRESS_UNSPEC;
  std::uint32_t address_format = FI_FORMAT_UNSPEC;
};

/// Hints of a request, for calls that need them.
owned_info hints_of(const demands& about, const question& asked);
/// The first reply of the provider and the endpoint type, or nothing. `who` names the local address where addresses are
/// of sockets.
owned_info reply_to(const demands& about, const question& asked);
/// All replies, of any provider.
owned_info replies_to(const demands& about, const question& asked);
/// Whether a reply is of the requested provider, fabric and endpoint type, with pointers where they were requested.
bool wanted(const demands& about, const fi_info& info);

/// The request with no more than the provider needs, and with the widest immediate that it has. Errors: refused, where
/// the provider is not there.
question least(const demands& about);
/// The orders that are granted together with `base`.
std::uint64_t granted_orders(const demands& about, const question& base);
/// Whether addresses are those of sockets.
bool socket_addresses(const fi_info& info);

}  // namespace weft::probe
