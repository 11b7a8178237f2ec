// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: coalesce::up_to<messages, bytes> has a header of its own: #include <weft/compose/coalescing.hpp>
// EXPECT: [WEFT-C015]
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>
#ifdef WEFT_FIXED
#include <weft/compose/coalescing.hpp>
#endif

using coalescing = weft::with<weft::fabrics::loopback, weft::answers::coalesce::up_to<16, 1024>>;

int main() { return weft::open<coalescing>({}).value().in_flight() == 0 ? 0 : 1; }
