// SPDX-License-Identifier: Apache-2.0
//
// What endpoints and the contexts of scalable endpoints have in common (fi_endpoint(3)).
#pragma once

#include "objects.hpp"

#include <cstdint>

namespace weft::emulator {

/// A new endpoint of the domain, which peers find as `number` once it is enabled.
endpoint* make_endpoint(fid_domain* domain, const fi_info* info, std::uint64_t number, void* context);
/// Ends it; what it posted gets no completion any more.
void destroy_endpoint(endpoint* closed);
/// A number that fits into an address.
std::uint64_t new_number();
/// All calls of an endpoint, for a handle of one.
void give_calls(fid_ep& to);
int bind_endpoint(fid* handle, fid* to, std::uint64_t flags);
int control_endpoint(fid* handle, int command, void* argument);

}  // namespace weft::emulator
