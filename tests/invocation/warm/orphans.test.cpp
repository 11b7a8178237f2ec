// SPDX-License-Identifier: Apache-2.0
//
// A warm parent that does not answer is killed in the middle of a copy. The manager has adopted the processes that were
// to become the copy, and none of them stays, neither alive nor as a zombie.
#include <invocation/warm/parent.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>

namespace weft::invocation::warm {
namespace {

class invocation_warm_parent : public testing::TestWithParam<const char*> {};

TEST_P(invocation_warm_parent, that_does_not_answer_leaves_no_process) {
  parent p({.command = {WEFT_HANGING_PARENT, GetParam()}});
  while (!p.ready()) {
    p.tend();
    ::usleep(1000);
  }
  EXPECT_FALSE(p.take()) << "it hangs";
  EXPECT_EQ(p.process(), 0) << "it was killed";
  errno = 0;
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1) << "this process still has a child";
  EXPECT_EQ(errno, ECHILD);
}
INSTANTIATE_TEST_SUITE_P(places, invocation_warm_parent, testing::Values("asked", "begun", "forked"));

}  // namespace
}  // namespace weft::invocation::warm
