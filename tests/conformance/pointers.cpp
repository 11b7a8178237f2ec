// SPDX-License-Identifier: Apache-2.0
//
// Virtual addresses of the target on a fabric that uses offsets by default. Transfers work there too. Answers that
// relied on the order that virtual addresses cost are replaced. One promise is not kept, and its test is excluded: no
// key is checked.
#include "environment.hpp"
#include "put_get.hpp"
#include "put_notify.hpp"

#include "../../compose/ordering.hpp"
#include "../../compose/with.hpp"

namespace weft::conformance {

using by_pointer = with<tested, answers::region_address::virtual_address>;
static_assert(answer<tested, region_address_family>::form == wire::address_form::offset,
              "otherwise this program tests nothing new");
static_assert(consistent_fabric<by_pointer>());
static_assert(by_pointer::fingerprint != tested::fingerprint, "peers need the same build");
static_assert(std::same_as<answer<by_pointer, flush_family>, answers::flush::tracked_writes>,
              "no message is kept behind writes to pointers");
static_assert(!ordering<by_pointer>::send_after_write && !ordering<by_pointer>::write_after_write);

INSTANTIATE_TYPED_TEST_SUITE_P(by_pointer, put_get, live<by_pointer>, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(by_pointer, put_notify, live<by_pointer>, fabric_name);

}  // namespace weft::conformance
