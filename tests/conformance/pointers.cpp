// SPDX-License-Identifier: Apache-2.0
//
// Pointers of the target on a fabric that takes offsets unless it is asked: what moves bytes does so there too, and
// what relied on the order that pointers cost is answered otherwise. One promise is not kept, and its test is left out
// where this is run: no key is looked at.
#include "put_get.hpp"
#include "put_notify.hpp"
#include "stage.hpp"

#include "../../compose/ordering.hpp"
#include "../../compose/with.hpp"

namespace weft::conformance {

using by_pointer = with<tested, answers::region_address::virtual_address>;
static_assert(answer<tested, region_address_family>::form == wire::address_form::offset, "else nothing is asked for");
static_assert(consistent_fabric<by_pointer>());
static_assert(by_pointer::fingerprint != tested::fingerprint, "its peers must be built with the same");
static_assert(std::same_as<answer<by_pointer, flush_family>, answers::flush::tracked_writes>,
              "no message is kept behind writes to pointers");
static_assert(!ordering<by_pointer>::send_after_write && !ordering<by_pointer>::write_after_write);

INSTANTIATE_TYPED_TEST_SUITE_P(by_pointer, put_get, live<by_pointer>, fabric_name);
INSTANTIATE_TYPED_TEST_SUITE_P(by_pointer, put_notify, live<by_pointer>, fabric_name);

}  // namespace weft::conformance
