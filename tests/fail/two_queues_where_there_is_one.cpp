// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: queues: fabric mapped cannot answer two: it needs split_queues to be true, and mapped.split_queues is false (claimed: weft's own: one queue holds completions and received messages); the nearest legal answer is queues::one
// EXPECT: [WEFT-C001]
#include <weft/compose/transport.hpp>
#include <weft/compose/with.hpp>
#include <weft/generated/mapped.hpp>

#ifdef WEFT_FIXED
using fabric = weft::with<weft::fabrics::mapped, weft::answers::queues::one>;
#else
using fabric = weft::with<weft::fabrics::mapped, weft::answers::queues::two>;
#endif

static_assert(weft::consistent_fabric<fabric>());

int main() {}
