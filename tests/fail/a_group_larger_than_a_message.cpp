// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: coalesce::up_to<messages, bytes>: bytes is more than a message of this fabric holds (largest_message in its row)
// EXPECT: [WEFT-C002]
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/efa_direct.hpp>

#ifdef WEFT_FIXED
using grouping = weft::with<weft::fabrics::efa_direct, weft::answers::coalesce::up_to<64, 4096>>;
#else
using grouping = weft::with<weft::fabrics::efa_direct, weft::answers::coalesce::up_to<64, 65536>>;
#endif

static_assert(weft::consistent_fabric<grouping>());

int main() {}
