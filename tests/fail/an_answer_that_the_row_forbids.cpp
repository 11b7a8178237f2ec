// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: notify: fabric loopback cannot answer remote_counter: it needs remote_counter_counts_writes to be true, and loopback.remote_counter_counts_writes is false (claimed: weft's loopback); the nearest legal answer is notify::message_after_ordered_write
// EXPECT: [WEFT-C001]
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/loopback.hpp>

#ifdef WEFT_FIXED
using fabric = weft::with<weft::fabrics::loopback, weft::answers::notify::message_after_ordered_write>;
#else
using fabric = weft::with<weft::fabrics::loopback, weft::answers::notify::remote_counter>;
#endif

int main() { return weft::open<fabric>({}) ? 0 : 1; }
