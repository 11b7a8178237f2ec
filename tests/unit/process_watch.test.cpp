// SPDX-License-Identifier: Apache-2.0
//
// A watch over a process that a peer named: the number may be a lie (backends/process/watch.hpp).
#include <weft/backends/process/watch.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdint>

namespace weft::backends::process {
namespace {

TEST(process_watch, a_living_process_is_not_gone_until_it_ends) {
  const pid_t child = ::fork();
  if (child == 0)
    for (;;) ::pause();
  const watch w = watch::of(static_cast<std::uint64_t>(child));
  EXPECT_FALSE(w.gone());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(w.gone());
  EXPECT_TRUE(watch::of(static_cast<std::uint64_t>(child)).gone());
  EXPECT_FALSE(watch().gone());
}

/// kill(2) gives 0, -1 and other numbers below 0 a meaning: a group, or every process.
TEST(process_watch, numbers_of_no_process_are_gone_at_once) {
  for (const std::uint64_t number : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0x8000'0000},
                                     std::uint64_t{0x1'0000'0001}, std::uint64_t{0x7fff'ffff}})
    EXPECT_TRUE(watch::of(number).gone()) << number;
}

TEST(process_watch, a_process_of_another_user_is_no_peer) {
  const auto first_process_is_gone = [] { return watch::of(1).gone(); };
  if (::geteuid() != 0) {
    EXPECT_TRUE(first_process_is_gone());
    return;
  }
  EXPECT_FALSE(first_process_is_gone()) << "root may name any process";
  const pid_t child = ::fork();  // as another user
  if (child == 0) ::_exit(::setresuid(65534, 65534, 65534) == 0 && first_process_is_gone() ? 0 : 1);
  int how = 0;
  ::waitpid(child, &how, 0);
  EXPECT_EQ(how, 0);
}

}  // namespace
}  // namespace weft::backends::process
