// SPDX-License-Identifier: Apache-2.0
//
// libfabric's names of atomic operations and number types. A fetching FI_ATOMIC_WRITE is a swap (fi_atomic(3)).
// Hot path: constants. Threads: values.
#pragma once

#include "../../core/atomics.hpp"

#include <rdma/fi_atomic.h>

namespace weft::backends::libfabric {

constexpr fi_datatype native_type(number_type t) noexcept {
  switch (t) {
    case number_type::int32:
      return FI_INT32;
    case number_type::uint32:
      return FI_UINT32;
    case number_type::int64:
      return FI_INT64;
    case number_type::uint64:
      return FI_UINT64;
    case number_type::float32:
      return FI_FLOAT;
    case number_type::float64:
      return FI_DOUBLE;
  }
  return FI_VOID;
}

constexpr fi_op native_operation(atomic_operation o) noexcept {
  switch (o) {
    case atomic_operation::add:
      return FI_SUM;
    case atomic_operation::compare_swap:
      return FI_CSWAP;
    case atomic_operation::swap:
      return FI_ATOMIC_WRITE;
    case atomic_operation::bit_and:
      return FI_BAND;
    case atomic_operation::bit_or:
      return FI_BOR;
    case atomic_operation::bit_xor:
      return FI_BXOR;
    case atomic_operation::minimum:
      return FI_MIN;
    case atomic_operation::maximum:
      return FI_MAX;
    case atomic_operation::read:
      return FI_ATOMIC_READ;
  }
  return FI_NOOP;
}

}  // namespace weft::backends::libfabric
