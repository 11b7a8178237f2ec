// SPDX-License-Identifier: Apache-2.0
//
// What an atomic operation does to memory (fi_atomic(3)), and which of them the emulated provider executes.
#pragma once

#include "packet.hpp"

#include <rdma/fi_atomic.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace weft::emulator {

/// Bytes of one element; 0 for a type that no emulated provider has.
std::size_t size_of(std::uint8_t datatype);
/// Whether the operation has a value to compare with.
bool compares(fi_op operation);
/// Whether the provider executes it: the row's own list, and beyond it everything where the profile says so.
bool executes(fi_datatype datatype, fi_op operation);
/// Applies an arrived atomic, element by element; returns 0 or a positive FI_E code. `old` gets the values before it.
int execute_atomic(std::byte* at, const packet_header& what, std::string_view operands, std::string& old);

}  // namespace weft::emulator
