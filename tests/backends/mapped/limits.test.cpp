// SPDX-License-Identifier: Apache-2.0
//
// Mapped memory where the system or the program grants little: a limit on the size of files, regions without rights for
// peers, addresses that grow scarce, and no descriptors. Hot path: no. Threads: one.
#include "../../../backends/mapped/connections.hpp"
#include "../../../backends/mapped/shared_regions.hpp"
#include "../out_of_descriptors.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <unistd.h>
#include <array>
#include <fstream>

namespace weft::backends::mapped {
namespace {

/// What make() gives while no file of this process may have more bytes.
auto arena_within(std::uint64_t bytes_of_files) {
  rlimit before{};
  EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit tight{bytes_of_files, before.rlim_max};
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &tight), 0);
  auto made = arena::make("test");
  EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  return made;
}
TEST(a_limit_on_files, shrinks_arenas_and_ends_no_process) {
  const auto made = arena_within(std::uint64_t{20} << 30);
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->size(), std::uint64_t{16} << 30);
  const auto refused = arena_within(arena::least_bytes - 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().sentence, "test: ftruncate failed (File too large)");
}

TEST(regions_without_rights, have_keys_of_their_own) {
  shared_regions all(arena::make("test").value(), "test");
  std::array<std::byte, 64> mine{};
  const auto first = all.register_fresh(64, rights::none), second = all.register_fresh(64, rights::none),
             third = all.register_memory(mine, rights::none);
  ASSERT_TRUE(first && second && third);
  EXPECT_NE(first->key, 0U) << "messages name a region by its key, and the target executes their atomics";
  EXPECT_NE(first->key, second->key);
  EXPECT_NE(third->key, first->key);
  EXPECT_NE(third->key, second->key);
}

/// Addresses that this process has in use, in MiB.
std::uint64_t addresses_in_use() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) >> 20;
}
/// A listener with two links. One peer uses 400 MiB, and a post found a place behind them.
TEST(addresses, are_taken_for_the_link_alone_that_needs_them) {
  const std::array arenas{arena::make("a").value(), arena::make("b").value(), arena::make("c").value()};
  port_options options;
  options.links = 4;
  connections listener(*arenas[0], options, "a"), large(*arenas[1], options, "b"), small(*arenas[2], options, "c");
  ASSERT_TRUE(listener.open(true) && large.open(false) && small.open(false));
  int established = 0;
  const auto met = [&](link_change change, std::uint32_t, connection*) -> std::uint32_t {
    established += change == link_change::established ? 1 : 0;
    return 7;
  };
  for (connections* caller : {&large, &small}) {
    ASSERT_TRUE(caller->dial(listener.address(), 7));
    for (int i = 0; i < 100 && established < (caller == &large ? 2 : 4); ++i)
      for (connections* each : {caller, &listener, caller, &listener}) each->poll(), each->report(met);
  }
  ASSERT_EQ(established, 4);
  (void)arenas[1]->take(std::size_t{400} << 20);  // its pages are never touched
  const std::uint64_t key = arenas[1]->list(arenas[1]->take(64), rights::remote_write);
  const peer_memory& there = listener.all().front()->there;
  ASSERT_EQ(there.missing({0, key}, 64, rights::remote_write).why, absence::unmapped);
  const std::uint64_t before = addresses_in_use();
  listener.want_growth();
  listener.tidy();
  EXPECT_NE(there.find({0, key}, 64, rights::remote_write), nullptr);
  EXPECT_EQ(addresses_in_use() - before, 768U) << "the other link has all that its peer uses";
}

TEST(a_listener_without_descriptors, turns_a_caller_away_and_sleeps) {
  const std::array arenas{arena::make("a").value(), arena::make("b").value()};
  port_options options;
  options.links = 4;
  connections listener(*arenas[0], options, "a"), caller(*arenas[1], options, "b");
  ASSERT_TRUE(listener.open(true) && caller.open(false));
  ASSERT_TRUE(caller.dial(listener.address(), 7));
  EXPECT_TRUE(would_wake(listener.events()));
  {
    const out_of_descriptors now;
    listener.poll();
    EXPECT_FALSE(would_wake(listener.events())) << "the caller stays in the queue, and no sleep is one";
  }
  EXPECT_EQ(changes_in(caller), std::vector{link_change::refused});
}

}  // namespace
}  // namespace weft::backends::mapped
