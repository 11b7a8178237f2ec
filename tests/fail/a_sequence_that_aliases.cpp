// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: more than half of a sequence's space may not be outstanding: a late number would be taken for a new one
// EXPECT: [WEFT-C029]
#include <weft/compose/sequence_window.hpp>

#ifdef WEFT_FIXED
weft::sequence_source<8, 128> source;
#else
weft::sequence_source<8, 200> source;
#endif

int main() { return source.next() ? 0 : 1; }
