// SPDX-License-Identifier: Apache-2.0
//
// Regions: keys are never used twice, descriptions travel as bytes and are parsed strictly, and after its release a
// region is never written again. Hot path: no. Threads: one per side.
#pragma once

#include "connecting.hpp"

#include <algorithm>
#include <unordered_set>

namespace weft::conformance {

template <class Stage>
class regions : public suite<Stage> {};
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
  TestFixture::play({.once = true}, [](party& side) {
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
  TestFixture::play({.once = true}, [](party& side) {
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
  TestFixture::play({}, [](party& side) {
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
      [](party& side) {
        auto net = opened<fabric>(side, {.listens = true, .operation_timeout = 3s});
        observer seen;
        std::vector<std::byte> memory(8192, std::byte{0x33});
        const auto r = net.register_region(memory, rights::remote_write);
        ASSERT_TRUE(r) << r.error().sentence;
        seen.on_lost = [](const lost&) {};
        (void)meet_as_listener(side, net, seen);
        side.tell(1, const_bytes(net.export_region(*r, owner_polls)));
        net.release_region(*r);
        side.ready(1);
        serve(side, net, seen, 1);
        EXPECT_EQ(std::count(memory.begin(), memory.end(), std::byte{0x33}), 8192);
      },
      [](party& side) {
        visiting<fabric> guest(side, 4096, {.operation_timeout = 3s});
        (void)serve_and_ask(side, guest.net, guest.seen, 0);
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

REGISTER_TYPED_TEST_SUITE_P(regions, allocated_memory_is_zeroed_and_page_aligned, ten_thousand_keys_are_all_different,
                            descriptions_are_parsed_strictly, a_write_to_a_released_region_fails);

}  // namespace weft::conformance
