// SPDX-License-Identifier: Apache-2.0
//
// Locks that say that a process lives: its own opens and closes of the file do not end them, and a child of fork() does
// not keep them.
#include <weft/compose/counting/owned_locks.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>

#include <cstdlib>

namespace weft::detail {
namespace {

/// Whether another process sees the lock, as `weft top` asks.
bool is_locked(const char* path) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int file = ::open(path, O_RDWR);
    struct flock whole {};
    whole.l_type = F_WRLCK;
    ::_exit(::fcntl(file, F_SETLK, &whole) == 0 ? 0 : 1);
  }
  int code = -1;
  EXPECT_EQ(::waitpid(child, &code, 0), child);
  return WEXITSTATUS(code) == 1;
}

struct owned_lock : testing::Test {
  char path[32] = "/tmp/weft-lock-XXXXXX";
  void SetUp() override { (void)::close(::mkstemp(path)); }
  void TearDown() override { (void)::unlink(path); }
};

TEST_F(owned_lock, stays_when_its_process_opens_and_closes_the_file) {
  const int lock = owned_locks::take(path);
  ASSERT_GE(lock, 0);
  EXPECT_TRUE(is_locked(path));
  (void)::close(::open(path, O_RDWR));
  EXPECT_TRUE(is_locked(path));
  EXPECT_EQ(owned_locks::take(path), -EAGAIN) << "each open file has its own lock";
  owned_locks::give(lock);
  EXPECT_FALSE(is_locked(path));
}

TEST_F(owned_lock, ends_with_its_process_while_a_child_of_it_lives) {
  int gate[2], stands[2];
  ASSERT_EQ(::pipe(gate), 0);
  ASSERT_EQ(::pipe(stands), 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    if (owned_locks::take(path) < 0) ::_exit(2);
    if (::fork() != 0) ::_exit(0);
    char end{};
    (void)!::write(stands[1], "!", 1);
    (void)::close(gate[1]);
    (void)!::read(gate[0], &end, 1);  // until the test ends
    ::_exit(0);
  }
  int code = -1;
  ASSERT_EQ(::waitpid(owner, &code, 0), owner);
  ASSERT_EQ(code, 0);
  char began{};
  ASSERT_EQ(::read(stands[0], &began, 1), 1);  // the child gave the lock up on its way out of fork
  EXPECT_FALSE(is_locked(path));
  for (const int each : {gate[0], gate[1], stands[0], stands[1]}) (void)::close(each);
}

TEST_F(owned_lock, of_no_file_says_why) {
  (void)::unlink(path);
  EXPECT_EQ(owned_locks::take(path), -ENOENT);
}

}  // namespace
}  // namespace weft::detail
