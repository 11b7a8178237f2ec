// SPDX-License-Identifier: Apache-2.0
//
// Keys of regions, with a library that is made up: libfabric has no key for a region that no peer may reach, from 2.2
// on, and always had one before.
#include "../../backends/libfabric/memory.hpp"
#include "libfabric_shapes.hpp"

#include <gtest/gtest.h>

namespace weft::backends::libfabric {
namespace {

struct shape : testing::plain_answers {
  static constexpr std::string_view name = "made_up";
  static constexpr fabric_facts facts = testing::software_facts("made_up");
};

int close_nothing(fid*) { return 0; }
fi_ops region_calls = [] {
  fi_ops calls{};
  calls.size = sizeof calls;
  calls.close = close_nothing;
  return calls;
}();
fid_mr region{};
std::uint64_t granted_access;
bool keyless;  // a library that has no key, whatever the access

int register_region(fid*, const void*, std::size_t, std::uint64_t access, std::uint64_t, std::uint64_t key,
                    std::uint64_t, fid_mr** made, void*) {
  granted_access = access;
  const bool remote = (access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0;
  region.fid.ops = &region_calls;
  region.key = remote && !keyless ? key : FI_KEY_NOTAVAIL;
  *made = &region;
  return 0;
}

struct region_keys : ::testing::Test {
  fi_ops_mr calls{};
  fid_domain domain{};
  std::byte place[64]{};
  region_keys() {
    calls.size = sizeof calls;
    calls.reg = register_region;
    domain.mr = &calls;
    keyless = false;
  }
};

TEST_F(region_keys, a_region_that_no_peer_may_reach_needs_none) {
  memory<shape> regions(&domain);
  const auto made = regions.register_memory({place, sizeof place}, rights::none, 7);
  ASSERT_TRUE(made) << made.error().sentence;
  EXPECT_EQ(granted_access & (FI_REMOTE_READ | FI_REMOTE_WRITE), 0U);
  EXPECT_EQ(made->key, 7U) << "the caller compares it with the wanted key";
}

TEST_F(region_keys, a_region_that_a_peer_may_write_has_the_wanted_one) {
  memory<shape> regions(&domain);
  const auto made = regions.register_memory({place, sizeof place}, rights::remote_write, 7);
  ASSERT_TRUE(made) << made.error().sentence;
  EXPECT_EQ(made->key, 7U);
}

TEST_F(region_keys, a_region_that_a_peer_may_write_is_refused_without_one) {
  keyless = true;
  memory<shape> regions(&domain);
  const auto made = regions.register_memory({place, sizeof place}, rights::remote_write, 7);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().sentence.find("the library has no 64-bit key for it"), std::string::npos)
      << made.error().sentence;
}

}  // namespace
}  // namespace weft::backends::libfabric
