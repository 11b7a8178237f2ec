// SPDX-License-Identifier: Apache-2.0
// FABRIC: tcp
// EXPECT: cannot answer provider: it needs atomics to be provider, and
// EXPECT: .atomics is none (claimed: libfabric
// EXPECT: the nearest legal answer is atomics::target
// EXPECT: [WEFT-C001]
#include <weft/compose/selected.hpp>
#include <weft/compose/with.hpp>

#ifdef WEFT_FIXED
using asked = weft::with<weft::selected, weft::answers::atomics::target>;
#else
using asked = weft::with<weft::selected, weft::answers::atomics::provider>;
#endif

int main() { return asked::fingerprint != 0 ? 0 : 1; }
