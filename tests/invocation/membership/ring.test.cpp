// SPDX-License-Identifier: Apache-2.0
//
// The ring shares clients evenly, and moves few of them. Clients have fixed names here, so no run differs.
#include <invocation/membership/ring.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace {

using namespace weft::invocation;

token client(std::uint64_t number) {
  token made{};
  for (std::size_t i = 0; i < 8; ++i) made[i] = std::byte(number >> (8 * i));
  return made;
}
std::vector<std::string> managers(int count) {
  std::vector<std::string> all;
  for (int i = 0; i < count; ++i) all.push_back("10.7.0." + std::to_string(11 + i) + ":7480");
  return all;
}
constexpr std::uint64_t clients = 20'000;

TEST(manager_rings, share_clients_evenly) {
  for (const int count : {2, 3, 10}) {
    const manager_ring ring(managers(count));
    std::map<std::string, std::uint64_t> shares;
    for (std::uint64_t i = 0; i < clients; ++i) ++shares[ring.owner(client(i))];
    EXPECT_EQ(shares.size(), static_cast<std::size_t>(count));
    for (const auto& [who, share] : shares) {
      EXPECT_LT(share, clients / static_cast<std::uint64_t>(count) * 13 / 10) << who << " of " << count;
      EXPECT_GT(share, clients / static_cast<std::uint64_t>(count) * 7 / 10) << who << " of " << count;
    }
  }
}

TEST(manager_rings, move_only_the_clients_of_one_that_goes) {
  const manager_ring before(managers(5));
  auto left = managers(5);
  const std::string gone = left[2];
  left.erase(left.begin() + 2);
  const manager_ring after(left);
  std::map<std::string, std::uint64_t> heirs;
  for (std::uint64_t i = 0; i < clients; ++i) {
    const std::string old = before.owner(client(i));
    const std::string now = after.owner(client(i));
    if (old != gone) EXPECT_EQ(now, old);
    else ++heirs[now];
    if (old == gone) EXPECT_EQ(now, before.in_order(client(i), 2)[1]) << "the next on the ring takes it over";
  }
  EXPECT_EQ(heirs.size(), 4U) << "all others share its clients";
}

TEST(manager_rings, move_to_one_that_comes_about_its_share) {
  const manager_ring before(managers(4));
  const manager_ring after(managers(5));
  std::uint64_t moved = 0;
  for (std::uint64_t i = 0; i < clients; ++i) {
    if (before.owner(client(i)) == after.owner(client(i))) continue;
    EXPECT_EQ(after.owner(client(i)), managers(5)[4]);
    ++moved;
  }
  EXPECT_LT(moved, clients / 5 * 13 / 10);
  EXPECT_GT(moved, clients / 5 * 7 / 10);
}

TEST(manager_rings, do_not_depend_on_the_order_of_the_list) {
  auto turned = managers(5);
  std::ranges::reverse(turned);
  for (std::uint64_t i = 0; i < 100; ++i)
    EXPECT_EQ(manager_ring(managers(5)).in_order(client(i), 5), manager_ring(turned).in_order(client(i), 5));
}

TEST(manager_rings, of_few_managers_have_few_answers) {
  EXPECT_EQ(manager_ring().owner(client(1)), "");
  EXPECT_TRUE(manager_ring().empty());
  EXPECT_EQ(manager_ring({"a"}).in_order(client(1), 3), std::vector<std::string>{"a"});
  EXPECT_EQ(manager_ring({"a", "b"}).in_order(client(1), 3).size(), 2U);
}

}  // namespace
