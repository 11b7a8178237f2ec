// SPDX-License-Identifier: Apache-2.0
//
// The row of tests over the stub device: ibverbs_roce, or with WEFT_TEST_EXTENDED_POSTING the same row with
// extended_posting. The same tests hold for both. Hot path: no. Threads: any.
#pragma once

#include "../../generated/ibverbs_roce.hpp"

namespace weft::stub_device {

struct extended_row : fabrics::ibverbs_roce {
  static constexpr std::string_view name = "ibverbs_extended";
  static constexpr fabric_facts facts = [] {
    fabric_facts like = fabrics::ibverbs_roce::facts;
    like.extended_posting = true;
    return like;
  }();
};

#ifdef WEFT_TEST_EXTENDED_POSTING
inline constexpr bool extended = true;
using tested_row = extended_row;
#else
inline constexpr bool extended = false;
using tested_row = fabrics::ibverbs_roce;
#endif

}  // namespace weft::stub_device
