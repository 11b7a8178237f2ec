// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft::backends::verbs::port<
// EXPECT: incomplete type | undefined template
#include <weft/generated/ibverbs_roce.hpp>
#include "made_fabric.hpp"

#ifdef WEFT_FIXED
using fabric = weft::over<weft::fabrics::ibverbs_roce, weft::backends::loopback::port>;
#else
using fabric = weft::fabrics::ibverbs_roce;
#endif

int main() { return weft::open<fabric>({}) ? 0 : 1; }
