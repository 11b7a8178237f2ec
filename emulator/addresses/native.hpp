// SPDX-License-Identifier: Apache-2.0
//
// Addresses in the provider's own format (fi_addr formats of fi_getinfo(3)): its length, and its text. The profile says
// where an address holds the endpoint's number and a check of it. Hot path: no. Threads: any.
#pragma once

#include "profile.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::emulator {

/// The number of an endpoint that fits into an address, made of `random`. Never 0.
std::uint64_t number_that_fits(const profile& row, std::uint64_t random);
/// The address at which endpoint `number` is found.
std::vector<std::byte> address_of(const profile& row, std::uint64_t number);
/// The number in an address of `row.address_bytes` bytes; 0 where these bytes are no address.
std::uint64_t number_in(const profile& row, const void* address);
/// The address as text, as fi_av_straddr(3) gives it.
std::string address_as_text(const profile& row, const void* address);

}  // namespace weft::emulator
