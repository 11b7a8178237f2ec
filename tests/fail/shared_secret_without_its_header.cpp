// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: authentication::shared_secret has a header of its own, which needs libcrypto: #include <weft/compose/authentication.hpp>, and link weft::authentication
// EXPECT: [WEFT-C015]
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>
#ifdef WEFT_FIXED
#include <weft/compose/authentication.hpp>
#endif

using guarded = weft::with<weft::fabrics::loopback, weft::answers::authentication::shared_secret>;

int main() { return weft::open<guarded>({}).value().in_flight() == 0 ? 0 : 1; }
