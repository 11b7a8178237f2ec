// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: framing::watched_words needs receives of each link's own, one for each message, and one queue: it is not to be had beside receive_pool::shared, receive_buffers::multi_receive or queues::two
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>

#ifdef WEFT_FIXED
using fabric = weft::with<weft::fabrics::loopback, weft::answers::framing::watched_words>;
#else
using fabric =
    weft::with<weft::fabrics::loopback, weft::answers::framing::watched_words, weft::answers::receive_pool::shared>;
#endif

static_assert(weft::consistent_fabric<fabric>());

int main() {}
