// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: tagged::matched_over_messages<window> has a header of its own: #include <weft/compose/tagged/tagged.hpp>
// EXPECT: [WEFT-C015]
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>
#ifdef WEFT_FIXED
#include <weft/compose/tagged/tagged.hpp>
#endif

using tagging = weft::with<weft::fabrics::loopback, weft::answers::tagged::matched_over_messages<16>>;

int main() { return weft::open<tagging>({}).value().in_flight() == 0 ? 0 : 1; }
