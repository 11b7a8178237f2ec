// SPDX-License-Identifier: Apache-2.0
//
// The entry of a table of calls (fi_provider(7)) for a call that is not there.
#pragma once

#include <rdma/fi_errno.h>

#include <type_traits>

namespace weft::emulator {

/// Replaces every call that a table does not have: returns "not implemented" (null where the result is a pointer).
struct not_implemented {
  template <class Result, class... Arguments>
  using call = Result (*)(Arguments...);
  template <class Result, class... Arguments>
  constexpr operator call<Result, Arguments...>()
      const {  // NOLINT(google-explicit-constructor,hicpp-explicit-conversions)
    return [](Arguments...) -> Result {
      if constexpr (std::is_pointer_v<Result>) return nullptr;
      else return static_cast<Result>(-FI_ENOSYS);
    };
  }
};
inline constexpr not_implemented none{};

}  // namespace weft::emulator
