// SPDX-License-Identifier: Apache-2.0
//
// Regions: keys are never used twice, descriptions travel as bytes and are parsed strictly, and after its release a
// region is never written again. Hot path: no. Threads: one per side.
#pragma once

#include "connecting.hpp"

#include <algorithm>
#include <unordered_set>

namespace weft::conformance {

template <class Environment>
class regions : public suite<Environment> {};
TYPED_TEST_SUITE_P(regions);

template <class F>
std::uint64_t key_of(transport<F>& net, const region& r) {
  const auto bytes_of = net.export_region(r, owner_polls);
  return net.parse_region(bytes_of).value().record().key;
}

TYPED_TEST_P(regions, ten_thousand_keys_are_all_different) {
  using fabric = typename TestFixture::tested_fabric;
  if (!answer<fabric, region_key_family>::made_here)
    GTEST_SKIP() << "row " << fabric::name << ", key_owner: the provider makes the keys";
  if (TestFixture::facts.key_bytes < 4)
    GTEST_SKIP() << "row " << fabric::name << ", key_bytes " << int{TestFixture::facts.key_bytes}
                 << ": too narrow for 10,000 keys in a process";
  TestFixture::play({.once = true}, [](test_side& side) {
    auto net = opened<fabric>(side);
    std::vector<std::byte> memory(64);
    std::unordered_set<std::uint64_t> seen;
    std::uint64_t all_bits = 0;
    for (int i = 0; i < 10'000; ++i) {
      const auto r = net.register_region(memory, rights::remote_write);
      ASSERT_TRUE(r) << r.error().sentence;
      const std::uint64_t key = key_of(net, *r);
      ASSERT_TRUE(seen.insert(key).second) << "key " << key << " was used before";
      EXPECT_NE(key, 0U);
      all_bits |= key;
      net.release_region(*r);
    }
    const int wide = fabric::facts.key_bytes >= 8 ? 63 : 8 * fabric::facts.key_bytes;
    EXPECT_EQ(all_bits, (std::uint64_t{1} << wide) - 1) << "narrower than the row allows";
  });
}

TYPED_TEST_P(regions, allocated_memory_is_zeroed_and_page_aligned) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play({.once = true}, [](test_side& side) {
    auto net = opened<fabric>(side);
    for (const std::size_t size : {1U, 64U, 4095U, 4096U, 4097U, 100'000U}) {
      auto r = net.allocate(size, rights::all).value();
      ASSERT_EQ(r.size(), size);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(r.data()) % 4096, 0U) << size;
      for (std::byte& each : r.memory()) {
        ASSERT_EQ(each, std::byte{});
        each = std::byte{0xEE};  // the next owner must not see these bytes
      }
      net.release_region(r);
    }
  });
}

TYPED_TEST_P(regions, descriptions_are_parsed_strictly) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play({}, [](test_side& side) {
    auto net = opened<fabric>(side);
    const auto r = net.allocate(12345, rights::remote_write | rights::remote_read).value();
    const region_bytes good = net.export_region(r, owner_polls);
    const auto parsed = net.parse_region(good);
    ASSERT_TRUE(parsed) << parsed.error().sentence;
    EXPECT_EQ(parsed->size(), 12345U);
    EXPECT_EQ(parsed->granted(), rights::remote_write | rights::remote_read);
    for (std::size_t n = 0; n < good.size(); ++n)
      EXPECT_FALSE(net.parse_region(const_bytes(good).first(n))) << n << " bytes";
    std::vector<std::byte> longer(good.begin(), good.end());
    longer.push_back({});
    EXPECT_EQ(net.parse_region(longer).why().code, errc::invalid);
    auto other = opened<of_other_rules<fabric>>(side);
    const auto foreign = other.allocate(64, rights::all).value();
    const auto refused = net.parse_region(other.export_region(foreign, owner_polls));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.why().code, errc::incompatible);
    EXPECT_NE(refused.error().sentence.find("another fabric"), std::string::npos) << refused.error().sentence;
    EXPECT_EQ(net.allocate(0, rights::all).why().code, errc::invalid);
  });
}

TYPED_TEST_P(regions, a_write_to_a_released_region_fails) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {},
      [](test_side& side) {
        auto net = opened<fabric>(side, {.listens = true, .operation_timeout = 3s});
        observer seen;
        std::vector<std::byte> memory(8192, std::byte{0x33});
        const auto r = net.register_region(memory, rights::remote_write);
        ASSERT_TRUE(r) << r.error().sentence;
        seen.on_lost = [](const lost&) {};
        (void)meet_as_listener(side, net, seen);
        side.send_value(1, const_bytes(net.export_region(*r, owner_polls)));
        net.release_region(*r);
        side.ready(1);
        serve(side, net, seen, 1);
        EXPECT_EQ(std::count(memory.begin(), memory.end(), std::byte{0x33}), 8192);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 4096, {.operation_timeout = 3s});
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        guest.seen.on_failed = [](const failed&) {};
        guest.seen.on_lost = [](const lost&) {};
        push(side, guest.net, guest.seen, "put",
             [&] { return guest.net.put(guest.other, guest.memory.first(100), guest.there.at(0), &guest); });
        await(
            side, guest.net, guest.seen, "its completion", [&] { return guest.seen.ends() == 1; }, 10s);
        EXPECT_EQ(guest.seen.completions, 0U) << "a write into released memory was reported as a success";
        side.ready(0);
      });
}

/// Side 0 sends a message, a region, a message, and another region. Side 1 must find each where it belongs, whether the
/// handler takes messages while receive_region() waits or leaves them.
template <class F>
void send_regions_among_messages(test_side& side) {
  auto net = opened<F>(side, listening());
  observer seen;
  const auto text = net.allocate(8, rights::none).value();
  const auto first = net.allocate(100, rights::remote_write).value(), second = net.allocate(200, rights::all).value();
  const peer other = meet_as_listener(side, net, seen);
  for (const region& each : {region(first), region(second)}) {
    paint(text.memory(), each.size());
    std::uint64_t ends = seen.completions;
    push(side, net, seen, "send", [&] { return net.send(other, text.first(8), &net); });
    await(side, net, seen, "its end", [&] { return seen.completions == ends + 1; });
    push(side, net, seen, "send_region", [&] { return net.send_region(other, each, owner_polls); });
  }
  serve(side, net, seen, 1);
}
template <class F>
void take_regions_among_messages(test_side& side, bool handler_takes) {
  auto net = opened<F>(side);
  observer seen;
  std::vector<std::size_t> messages;
  seen.on_received = [&](const received& m) {
    for (const std::size_t which : {100U, 200U})
      if (first_unlike(m.message, which) == m.message.size() && m.message.size() == 8) messages.push_back(which);
  };
  const peer other = meet_as_caller(side, net, seen);
  std::vector<std::uint64_t> sizes;
  for (int i = 0; i < 2; ++i) {
    side.at("receive_region");
    const auto there = handler_takes ? net.receive_region(other, patience, seen) : net.receive_region(other, patience);
    ASSERT_TRUE(there) << there.error().sentence;
    sizes.push_back(there->size());
  }
  if constexpr (F::facts.order_send_after_send) {
    EXPECT_EQ(sizes, (std::vector<std::uint64_t>{100, 200}));
  } else {
    EXPECT_EQ(sizes[0] + sizes[1], 300U);
  }
  await(side, net, seen, "both messages", [&] { return messages.size() == 2; });
  EXPECT_EQ(seen.messages, 2U) << "a region's description reached the handler";
  EXPECT_EQ(net.garbled(), 0U);
  side.ready(0);
}
TYPED_TEST_P(regions, a_message_before_a_region_reaches_the_handler_and_the_region_its_call) {
  using fabric = typename TestFixture::tested_fabric;
  for (const bool handler_takes : {true, false})
    TestFixture::play({}, send_regions_among_messages<fabric>,
                      [=](test_side& side) { take_regions_among_messages<fabric>(side, handler_takes); });
}

TYPED_TEST_P(regions, an_owned_region_deregisters_itself_and_may_outlive_its_transport) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play({.once = true}, [](test_side& side) {
    owned_region late;
    {
      auto net = opened<fabric>(side);
      region view;
      {
        const auto first = net.allocate(64, rights::all).value();
        view = first;
        EXPECT_NE(key_of(net, view), 0U);
      }
      EXPECT_EQ(net.parse_region(net.export_region(view, owner_polls)).value().size(), 0U) << "still registered";
      auto second = net.allocate(128, rights::all).value();
      auto third = std::move(second);
      EXPECT_EQ(second.size(), 0U);
      EXPECT_EQ(net.parse_region(net.export_region(third, owner_polls)).value().size(), 128U);
      second = net.allocate(256, rights::all).value();
      third = std::move(second);
      EXPECT_EQ(third.size(), 256U);
      const region kept = third.release();
      third = owned_region();
      EXPECT_EQ(net.parse_region(net.export_region(kept, owner_polls)).value().size(), 256U)
          << "released to the transport";
      late = net.allocate(512, rights::all).value();
    }
    EXPECT_EQ(late.size(), 512U);
  });
}

REGISTER_TYPED_TEST_SUITE_P(regions, a_message_before_a_region_reaches_the_handler_and_the_region_its_call,
                            an_owned_region_deregisters_itself_and_may_outlive_its_transport,
                            allocated_memory_is_zeroed_and_page_aligned, ten_thousand_keys_are_all_different,
                            descriptions_are_parsed_strictly, a_write_to_a_released_region_fails);

}  // namespace weft::conformance
