// SPDX-License-Identifier: Apache-2.0
//
// When a notice may follow the puts of a list. Forced by the row: whether an end means delivery (fi_cq(3),
// FI_DELIVERY_COMPLETE), whether a notice can overtake writes (fi_endpoint(3), FI_ORDER_WAW, FI_ORDER_SAW), and the
// answer to flush. Hot path: compile time only. Threads: none.
#pragma once

#include "../compose/ordering.hpp"
#include "../compose/states.hpp"

#include <cstdint>

namespace weft::transfers::detail {

/// What shows that the bytes of a put are visible at the target, before the notice is posted.
enum class confirms : std::uint8_t {
  end,      ///< The end of the put; or the notice cannot overtake it.
  state,    ///< The end of a put that asks for states::visible.
  flush,    ///< A flush after the ends.
  nothing,  ///< This fabric cannot say it.
};
template <class F>
inline constexpr confirms confirmation_of =
    ordering<F>::end_is_delivery || ordering<F>::notice_after_puts ? confirms::end
    : reached_by<F, states::visible>::native                       ? confirms::state
    : reached_by<F, states::visible>::emulated                     ? confirms::flush
                                                                   : confirms::nothing;

}  // namespace weft::transfers::detail
