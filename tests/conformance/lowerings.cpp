// SPDX-License-Identifier: Apache-2.0
//
// Notices by message on fabrics that have something better: behind delivery, and for small payloads in one message with
// the bytes. The rows that need them are of hardware that is not here; these fabrics are, and they lose, reorder and
// refuse for real or in simulation.
#include "bytes_with_notices.hpp"
#include "counting.hpp"
#include "ordering.hpp"
#include "put_notify.hpp"
#include "stage.hpp"

#include "../../compose/with.hpp"

namespace weft::conformance {

using by_message = fused_up_to<with<tested, answers::notify::message_after_delivery>, 100>;
using by_message_stage = std::conditional_t<in_process<by_message>, simulated_stage<by_message>, live<by_message>>;

INSTANTIATE_TYPED_TEST_SUITE_P(by_message, put_notify, by_message_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(by_message, counting_of_notices, by_message_stage, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(by_message, fused_notices, by_message_stage, fabric_name);

using in_order = ordered<tested, order::write_after_write>;
static_assert(ordering<in_order>::write_after_write);
using in_order_stage = std::conditional_t<in_process<in_order>, simulated_stage<in_order>, live<in_order>>;
INSTANTIATE_TYPED_TEST_SUITE_P(in_order, ordering_of_writes, in_order_stage, fabric_name);

}  // namespace weft::conformance
