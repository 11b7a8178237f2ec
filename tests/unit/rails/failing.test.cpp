// SPDX-License-Identifier: Apache-2.0
//
// One rail refuses what the others did: a registration, or the beginning of a connection. The transports are
// made up, so that the refusal comes when the test wants it. Hot path: no. Threads: one.
#include "../../../compose/rails/connecting.hpp"
#include "../../../compose/rails/memory.hpp"
#include "../../../generated/loopback.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace weft {

struct made_up : fabrics::loopback {
  static constexpr std::string_view name = "made_up";
};
/// A rail that takes so many regions and connections. An event of another peer comes while it closes one.
template <>
class transport<made_up> {
 public:
  std::uint32_t most = 1;
  std::uint32_t regions = 0, connections = 0;

  result<owned_region> register_region(bytes memory, rights) {
    if (memory.empty()) return {error(errc::invalid, "register"), "a region needs at least one byte"};
    if (regions == most) return {error(errc::no_memory, "register"), "no room"};
    return owned_region(region({nullptr, nullptr, 7, memory.data(), memory.size()}, ++regions), nullptr);
  }
  void release_region(const region&) noexcept { --regions; }
  result<peer> start_connect(std::string_view, const_bytes) {
    if (connections == most) return {error(errc::unreachable, "connect"), "nobody is there"};
    ++connections;
    return peer();
  }
  template <class Handler>
  status close(const peer&, duration, Handler&& on) {
    --connections;
    on(notified{peer(), 9});
    return {};
  }
};

namespace {

using nets_of = std::vector<transport<made_up>>;

/// What rails put between a rail and the owner's handler.
struct counting {
  int* came;
  std::uint32_t rail = 0;
  void operator()(const notified& n) const { *came += rail == 0 && n.immediate == 9 ? 1 : 100; }
};

TEST(rails_that_fail, keep_no_registration_of_memory_that_one_rail_refuses) {
  nets_of nets(3);
  nets[2].most = 0;
  rails_memory<made_up> all;
  std::array<std::byte, 64> mine{};
  const auto refused = all.register_memory(nets, mine, rights::remote_write);
  EXPECT_EQ(refused.why().code, errc::no_memory);
  EXPECT_EQ(nets[0].regions, 0U) << "its owner may free the memory now";
  EXPECT_EQ(nets[1].regions, 0U);
  EXPECT_FALSE(all.allocate(nets, 4096, rights::remote_write));
  EXPECT_EQ(nets[0].regions, 0U);
}
TEST(rails_that_fail, refuse_a_region_of_no_bytes_as_a_transport_does) {
  nets_of nets(2);
  const auto refused = rails_memory<made_up>().allocate(nets, 0, rights::remote_write);
  EXPECT_EQ(refused.why().code, errc::invalid);
  EXPECT_EQ(refused.error().sentence, "a region needs at least one byte");
}
TEST(rails_that_fail, hand_on_what_comes_while_they_give_up_a_connection) {
  nets_of nets(2);
  nets[1].most = 0;
  int came = 0;
  rails_connecting<made_up> connecting;
  const auto wrong = connecting.begin(nets, striping{65536, 2}, "one,two", counting{&came});
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->why.code, errc::unreachable);
  EXPECT_EQ(nets[0].connections, 0U);
  EXPECT_EQ(came, 1) << "of another peer on that rail";
}

}  // namespace
}  // namespace weft
