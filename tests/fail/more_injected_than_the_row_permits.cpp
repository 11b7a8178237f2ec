// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: inject::up_to<bytes>: bytes is more than a post of this fabric can copy (inject_bytes in its row)
// EXPECT: [WEFT-C002]
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>

#ifdef WEFT_FIXED
using injecting =
    weft::with<weft::fabrics::loopback, weft::answers::inject::up_to<weft::fabrics::loopback::facts.inject_bytes>>;
#else
using injecting =
    weft::with<weft::fabrics::loopback, weft::answers::inject::up_to<weft::fabrics::loopback::facts.inject_bytes + 1>>;
#endif

static_assert(weft::consistent_fabric<injecting>());

int main() {}
