// SPDX-License-Identifier: Apache-2.0
// EXPECT: weft: two policies answer for the same family
// EXPECT: [WEFT-C005]
#include <weft/policies/policies.hpp>

#ifdef WEFT_FIXED
using answers = weft::policy_set<weft::answers::region_address::offset, weft::answers::region_key::application>;
#else
using answers = weft::policy_set<weft::answers::region_address::offset, weft::answers::region_address::virtual_address>;
#endif

int main() { return answers::count<weft::region_address_family> == 1 ? 0 : 1; }
