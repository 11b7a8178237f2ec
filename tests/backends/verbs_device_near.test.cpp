// SPDX-License-Identifier: Apache-2.0
//
// The verbs backend takes a device by an address of it, and says which (tests/stub_device: every address of this
// machine belongs to the one device).
#include "../../backends/verbs/bound_devices.hpp"
#include "../../compose/connecting/near_device.hpp"
#include "../stub_device/tested_row.hpp"

#include <gtest/gtest.h>

namespace weft::backends::verbs {
namespace {

using port_type = port<shape_of<stub_device::tested_row>>;

TEST(verbs_device_near, a_device_with_several_addresses_is_one_device) {
  const bound_devices all;
  ASSERT_FALSE(all.empty());
  const device_offers offers = all.offers();
  const auto& only = *static_cast<const bound_devices::bound_device*>(offers.first);
  EXPECT_EQ(only.device.name, "stub0");
  EXPECT_FALSE(only.at.any());
  EXPECT_EQ(offers.next(offers.first), nullptr);
}

TEST(verbs_device_near, the_port_listens_at_the_chosen_device_and_says_why) {
  port_options o{.operations = 32, .receives = 16, .links = 4};
  o.listens = true;
  o.service = "7471";
  EXPECT_EQ(port_type::open(o).value()->devices().at(0).reason, "the library has it first, and device_near is none");
  if (!devices::has_topology) GTEST_SKIP() << "built without hwloc";
  o.device_near = near_this_thread();
  auto near = port_type::open(o);
  ASSERT_TRUE(near) << near.error().sentence;
  const std::vector<device_verdict>& said = near.value()->devices();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_TRUE(said[0].taken);
  EXPECT_EQ(said[0].device, "stub0");
  EXPECT_EQ(said[0].reason, "it is no PCI device, or nobody says at which address it is; it is the only device");
  const auto at = socket_address::parse(near.value()->address());
  ASSERT_TRUE(at);
  EXPECT_FALSE(at->any());
  EXPECT_EQ(at->port(), 7471);
}

TEST(verbs_device_near, a_node_stands_before_the_nearest_device) {
  port_options o{.operations = 32, .receives = 16, .links = 4};
  o.node = "127.0.0.1";
  o.device_near = near_this_thread();
  EXPECT_EQ(port_type::open(o).value()->devices().at(0).reason, "it has the address 127.0.0.1");
}

}  // namespace
}  // namespace weft::backends::verbs
