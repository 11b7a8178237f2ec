// SPDX-License-Identifier: Apache-2.0
//
// Which device is nearest, on machines that are described: two packages, ties, cards of no node, a container that may
// use one package. Then this machine's own, as far as it has devices.
#include "../../backends/devices/libfabric/offers.hpp"
#include "../../compose/connecting/near_device.hpp"
#include "../../compose/transport.hpp"
#include "../../generated/tcp.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace weft::backends::devices {
namespace {

using testing::HasSubstr;

/// Without its comment: hwloc's own parser knows none, and its plugin of libxml2 is not everywhere.
std::string two_packages() {
  std::ifstream file(WEFT_TEST_TOPOLOGIES "/two_packages.xml");
  std::stringstream read;
  read << file.rdbuf();
  std::string text = read.str();
  const auto from = text.find("<!--"), to = text.find("<!DOCTYPE");
  if (from == std::string::npos || to == std::string::npos) throw std::runtime_error("no topology");
  return text.erase(from, to - from);
}
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  if (at == std::string::npos) throw std::runtime_error(from + " is not in the text");
  return text.replace(at, from.size(), to);
}

/// The four cards of the two packages, in an order that is no order of distance.
const std::vector<offered_device> cards{
    {"mlx5_2", "0000:b1:00.0"}, {"mlx5_0", "0000:17:00.0"}, {"mlx5_1", "0000:18:00.1"}, {"eth9"}};

nearest near(const topology& machine, const std::vector<offered_device>& all, const numa_nodes& from) {
  return nearest_on(machine, "a_fabric", all, from, "this thread runs");
}
/// Checks that the verdicts agree with the choice. Returns the name of the chosen device.
std::string taken(const nearest& choice) {
  for (std::size_t i = 0; i < choice.verdicts.size(); ++i) {
    EXPECT_EQ(choice.verdicts[i].taken, i == choice.index);
    EXPECT_FALSE(choice.verdicts[i].reason.empty());
    EXPECT_EQ(choice.verdicts[i].fabric, "a_fabric");
  }
  return choice.verdicts.at(choice.index).device;
}

TEST(device_choice, a_thread_takes_the_first_card_of_its_package) {
  const topology machine = topology::from_xml(two_packages()).value();
  EXPECT_EQ(machine.of_processor(1).value(), numa_nodes{0});
  EXPECT_EQ(machine.of_processor(2).value(), numa_nodes{1});
  const nearest low = near(machine, cards, machine.of_processor(1).value());
  EXPECT_EQ(taken(low), "mlx5_0");
  EXPECT_EQ(low.verdicts[0].reason, "distance 21 from NUMA node 0");
  EXPECT_EQ(low.verdicts[1].reason, "distance 10 from NUMA node 0, where this thread runs");
  EXPECT_EQ(low.verdicts[2].reason, "distance 10 from NUMA node 0 too, and the library has it later");
  const nearest high = near(machine, cards, machine.of_processor(2).value());
  EXPECT_EQ(taken(high), "mlx5_2");
  EXPECT_EQ(high.verdicts[3].reason, "distance 10 from NUMA node 1 too, and the library has it later");
}

TEST(device_choice, memory_on_both_packages_is_near_every_card) {
  const topology machine = topology::from_xml(two_packages()).value();
  EXPECT_EQ(taken(near(machine, cards, {0, 1})), "mlx5_2");
}

TEST(device_choice, a_device_without_an_address_is_found_by_the_system_s_name) {
  const topology machine = topology::from_xml(two_packages()).value();
  const placed_device card = machine.place({"eth9"}, {0});
  EXPECT_EQ(card.device.bus, "0000:b2:00.0");
  EXPECT_EQ(card.distance, 21U);
  EXPECT_EQ(machine.place({"mlx5_0-rdm", "", "mlx5_0"}, {0}).distance, 10U);
}

TEST(device_choice, a_device_without_a_place_comes_last_and_says_why) {
  const topology machine = topology::from_xml(two_packages()).value();
  const nearest some = near(machine, {{"lo"}, {"eth0"}, {"far", "0000:ff:00.0"}, {"mlx5_2", "0000:b1:00.0"}}, {0});
  EXPECT_EQ(taken(some), "mlx5_2");
  EXPECT_EQ(some.verdicts[0].reason, "it is no PCI device, or nobody says at which address it is");
  EXPECT_EQ(some.verdicts[1].reason, "the system does not say at which NUMA node it is");
  EXPECT_EQ(some.verdicts[2].reason, "hwloc does not know a device at 0000:ff:00.0");
  const nearest none = near(machine, {{"eth0"}, {"lo"}}, {0});
  EXPECT_EQ(taken(none), "eth0");
  EXPECT_THAT(none.verdicts[0].reason, HasSubstr("no other has a place, and it is first"));
  EXPECT_THAT(near(machine, {{"lo"}}, {0}).verdicts[0].reason, HasSubstr("it is the only device"));
}

TEST(device_choice, a_container_that_may_use_one_package_still_sees_the_cards_of_the_other) {
  const topology machine =
      topology::from_xml(
          replaced(replaced(two_packages(), R"(allowed_cpuset="0x0000000f")", R"(allowed_cpuset="0x0000000c")"),
                   R"(allowed_nodeset="0x00000003")", R"(allowed_nodeset="0x00000002")"))
          .value();
  EXPECT_EQ(taken(near(machine, cards, machine.of_processor(3).value())), "mlx5_2");
  EXPECT_EQ(machine.place(cards[1], {1}).distance, 21U);
}

TEST(device_choice, without_figures_two_nodes_are_at_distance_20) {
  const topology machine = topology::from_synthetic("pack:2 [numa] core:2 pu:1").value();
  EXPECT_EQ(machine.distance(0, 0), 10U);
  EXPECT_EQ(machine.distance(0, 1), 20U);
}

TEST(device_choice, on_a_machine_of_one_node_every_card_is_local) {
  std::string text = two_packages();
  text = text.substr(0, text.find("    <object type=\"Package\" os_index=\"0\"")) +
         R"(<object type="NUMANode" os_index="0" cpuset="0xf" complete_cpuset="0xf" nodeset="0x1"
             complete_nodeset="0x1" gp_index="3" local_memory="1000"/>
            <object type="PU" os_index="0" cpuset="0xf" complete_cpuset="0xf" nodeset="0x1" complete_nodeset="0x1"
             gp_index="4"/>)" +
         text.substr(text.find("      <object type=\"Bridge\""));
  text =
      text.substr(0, text.find("    </object>\n    <object type=\"Package\" os_index=\"1\"")) + "</object></topology>";
  for (const char* const set :
       {"nodeset=\"0x00000003\"", "complete_nodeset=\"0x00000003\"", "allowed_nodeset=\"0x00000003\""})
    if (text.find(set) != std::string::npos) text = replaced(text, "0x00000003", "0x00000001");
  const topology machine = topology::from_xml(text).value();
  const nearest all = near(machine, {{"mlx5_1", "0000:18:00.1"}, {"mlx5_0", "0000:17:00.0"}}, {0});
  EXPECT_EQ(taken(all), "mlx5_1");
  EXPECT_EQ(all.verdicts[1].reason, "distance 10 from NUMA node 0 too, and the library has it later");
}

TEST(device_choice, a_description_that_hwloc_cannot_read_is_refused) {
  EXPECT_EQ(topology::from_synthetic("no machine").error().sentence, "hwloc cannot read this description of a machine");
  EXPECT_THAT(topology::from_xml("<nothing/>").error().sentence, HasSubstr("hwloc cannot read"));
  const topology machine = topology::from_synthetic("core:2 pu:1").value();
  EXPECT_EQ(machine.of_processor(9).error().sentence, "processor 9 belongs to no NUMA node");
}

// ---- libfabric's replies

struct reply_of {
  std::unique_ptr<fi_info, void (*)(fi_info*)> info{fi_allocinfo(), fi_freeinfo};
  fid_nic nic{};
  fi_bus_attr bus{};
  fi_device_attr device{};
  std::string system_name;

  reply_of(const char* domain, int bus_id, const char* name) : system_name(name) {
    info->domain_attr->name = strdup(domain);
    if (bus_id == 0) return;
    bus.bus_type = FI_BUS_PCI;
    bus.attr.pci = {0, static_cast<std::uint8_t>(bus_id), 0, 0};
    device.name = system_name.data();
    nic.bus_attr = &bus;
    nic.device_attr = &device;
    info->nic = &nic;
  }
  reply_of(const reply_of&) = delete;
  reply_of& operator=(const reply_of&) = delete;
  ~reply_of() { info->nic = nullptr; }
};

TEST(device_choice, replies_of_one_domain_are_one_device_with_its_first_address) {
  const reply_of first("mlx5_0", 0x17, "mlx5_0"), again("mlx5_0", 0x17, "mlx5_0"), other("cxi0", 0xb1, "cxi0"),
      plain("eth0", 0, "");
  first.info->next = again.info.get(), again.info->next = other.info.get(), other.info->next = plain.info.get();
  const listed_devices listed({first.info.get(),
                               [](const void* one) -> const void* { return static_cast<const fi_info*>(one)->next; },
                               [](const void* one) { return device_of(*static_cast<const fi_info*>(one)); }});
  for (const reply_of* each : {&first, &again, &other}) each->info->next = nullptr;  // each owns its own
  const std::vector<offered_device>& all = listed.all();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].bus, "0000:17:00.0");
  EXPECT_EQ(all[1].system_name, "cxi0");
  EXPECT_EQ(all[2].bus, "");
  EXPECT_EQ(listed.offer(0), first.info.get());
  const topology machine = topology::from_xml(two_packages()).value();
  EXPECT_EQ(taken(near(machine, all, {1})), "cxi0");
}

// ---- this machine

bool says_where_memory_is() {
  const std::vector<std::byte> here(4096, std::byte{1});
  return topology::of_machine().value().of_memory(here).why().code == errc::ok;
}
std::size_t taken_of(const std::vector<device_verdict>& all) {
  std::size_t count = 0;
  for (const device_verdict& each : all) {
    EXPECT_EQ(each.fabric, "tcp");
    EXPECT_FALSE(each.reason.empty());
    count += each.taken ? 1U : 0U;
  }
  return count;
}

TEST(device_choice, a_transport_says_which_device_it_took) {
  const auto as_listed = open<fabrics::tcp>({}).value();
  EXPECT_EQ(taken_of(as_listed.explain()), 1U);
  EXPECT_TRUE(as_listed.explain().at(0).taken);
  const auto by_thread = open<fabrics::tcp>({.device_near = near_this_thread()}).value();
  EXPECT_EQ(taken_of(by_thread.explain()), 1U);
  for (const device_verdict& each : by_thread.explain())
    EXPECT_THAT(each.reason, Not(HasSubstr("device_near is none")));
  const auto named = open<fabrics::tcp>({.node = "127.0.0.1", .device_near = near_this_thread()}).value();
  ASSERT_EQ(named.explain().size(), 1U);
  if (!says_where_memory_is()) GTEST_SKIP() << "move_pages(2) is not allowed here";
  const std::vector<std::byte> here(4096, std::byte{1});
  auto net = open<fabrics::tcp>({.device_near = near_memory(here)}).value();
  std::string text;
  for (const device_verdict& each : net.explain())
    text += each.device + (each.taken ? " (taken): " : ": ") + each.reason + "\n";
  EXPECT_EQ(taken_of(net.explain()), 1U);
  EXPECT_THAT(text, HasSubstr(" (taken): "));
}

TEST(device_choice, memory_that_nobody_wrote_has_no_place) {
  if (!says_where_memory_is()) GTEST_SKIP() << "move_pages(2) is not allowed here";
  void* const fresh = ::mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(fresh, MAP_FAILED);
  const auto refused =
      open<fabrics::tcp>({.device_near = near_memory({static_cast<const std::byte*>(fresh), 1 << 16})});
  EXPECT_EQ(refused.why().code, errc::invalid);
  EXPECT_EQ(refused.error().sentence, "near_memory has no page on any NUMA node yet: write to it before open");
  (void)::munmap(fresh, 1 << 16);
}

TEST(device_choice, memory_of_no_bytes_is_refused) {
  const auto refused = open<fabrics::tcp>({.device_near = near_memory({})});
  EXPECT_EQ(refused.why().code, errc::invalid);
  EXPECT_EQ(refused.error().sentence, "near_memory has no bytes: name the buffer");
}

}  // namespace
}  // namespace weft::backends::devices
