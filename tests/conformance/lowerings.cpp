// SPDX-License-Identifier: Apache-2.0
//
// Notices by message on fabrics that have something better: after delivery, and small payloads in one message with the
// notice. The rows that need them belong to hardware that is not here. These fabrics are here, and they lose, reorder
// and refuse, live or simulated.
#include "bytes_with_notices.hpp"
#include "counting.hpp"
#include "environment.hpp"
#include "ordering.hpp"
#include "put_notify.hpp"

#include "../../compose/with.hpp"

namespace weft::conformance {

using by_message = fused_up_to<with<tested, answers::notify::message_after_delivery>, 100>;
using by_message_environment =
    std::conditional_t<in_process<by_message>, simulated_environment<by_message>, live<by_message>>;

INSTANTIATE_TYPED_TEST_SUITE_P(by_message, put_notify, by_message_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(by_message, counting_of_notices, by_message_environment, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(by_message, fused_notices, by_message_environment, fabric_name);

using in_order = ordered<tested, order::write_after_write>;
static_assert(ordering<in_order>::write_after_write);
using in_order_environment = std::conditional_t<in_process<in_order>, simulated_environment<in_order>, live<in_order>>;
INSTANTIATE_TYPED_TEST_SUITE_P(in_order, ordering_of_writes, in_order_environment, fabric_name);

}  // namespace weft::conformance
