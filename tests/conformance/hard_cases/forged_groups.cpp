// SPDX-License-Identifier: Apache-2.0
//
// Forged requests to a target whose peers coalesce: it opens groups, so puts in a group are judged by key, bounds and
// rights (compose/memory/write_target.hpp). Rows that never coalesce only count such messages. Hot path: no. Threads:
// one per side.
#include "../environment.hpp"
#include "forged_requests.hpp"

#include "../../../compose/coalescing.hpp"

namespace weft::conformance {

using gathering_environment = simulated_environment<with<tested, answers::coalesce::up_to<16, 1024>>>;
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(striped_rails);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(wrong_posts);
INSTANTIATE_TYPED_TEST_SUITE_P(gathering, forged_requests, gathering_environment, fabric_name);

}  // namespace weft::conformance
