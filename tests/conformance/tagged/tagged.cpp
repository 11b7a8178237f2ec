// SPDX-License-Identifier: Apache-2.0
//
// Tagged messages over one fabric. Hot path: no. Threads: one per side.
#include "tagged_cases.hpp"

namespace weft::conformance {

using tagging_fabric = with<tested, answers::tagged::matched_over_messages<window>>;
static_assert(tagging_fabric::fingerprint == tested::fingerprint, "sides with and without tagged messages meet");
using tagging_environment =
    std::conditional_t<in_process<tagging_fabric>, simulated_environment<tagging_fabric>, live<tagging_fabric>>;

INSTANTIATE_TYPED_TEST_SUITE_P(tagging, tagged_messages, tagging_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(tagging, messages, tagging_environment, fabric_name);

}  // namespace weft::conformance
