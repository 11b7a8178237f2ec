// SPDX-License-Identifier: Apache-2.0
//
// The names of a killed process's shared memory stay until a survivor that was connected removes them. A later process
// with the same number still opens.
#include <weft/compose/transport.hpp>
#include <weft/generated/shm.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

namespace weft {
namespace {

namespace files = std::filesystem;

/// Names of a process in /dev/shm: they begin with its number.
std::vector<files::path> names_of(pid_t process) {
  std::vector<files::path> found;
  for (const auto& each : files::directory_iterator("/dev/shm"))
    if (each.path().filename().string().starts_with(std::to_string(process) + ":")) found.push_back(each.path());
  return found;
}
std::vector<files::path> own_names() { return names_of(::getpid()); }

/// A listener in a process of its own: writes its address, and lives until it is killed.
[[noreturn]] void listen(int into) {
  auto net = open<fabrics::shm>({.listens = true});
  if (!net) ::_exit(1);
  const std::string at = net->listen_address();
  if (::write(into, at.c_str(), at.size() + 1) < 0) ::_exit(1);
  for (;;) net->progress(overloaded{[&](const requested& r) { (void)net->accept(r.peer); }, [](auto&&) {}});
}

/// Before the other test: a child of a process that has used the library may not use it.
TEST(names_left_behind, are_removed_by_a_peer_that_closes_before_it_notices_the_end) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t listener = ::fork();
  if (listener == 0) listen(ends[1]);
  ::close(ends[1]);
  std::string at;
  for (char one = 0; ::read(ends[0], &one, 1) == 1 && one != 0;) at += one;
  ::close(ends[0]);
  {
    auto net = open<fabrics::shm>({});
    ASSERT_TRUE(net) << net.error().sentence;
    const auto there = net->connect(at, std::chrono::seconds(20));
    EXPECT_TRUE(there) << there.error().sentence;
    ::kill(listener, SIGKILL);
    siginfo_t how{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(listener), &how, WEXITED | WNOWAIT), 0);
    EXPECT_FALSE(names_of(listener).empty());
  }
  EXPECT_TRUE(names_of(listener).empty());
  for (const files::path& each : names_of(listener)) files::remove(each);
  ::waitpid(listener, nullptr, 0);
}

TEST(names_left_behind, names_of_dead_processes_do_not_block_a_reused_process_id) {
  std::vector<files::path> left;
  {
    auto net = open<fabrics::shm>({});
    ASSERT_TRUE(net) << net.error().sentence;
    const std::vector<files::path> own = own_names();
    if (own.empty()) GTEST_SKIP() << "this library has other names for its shared memory";
    const std::string name = own.front().string();
    for (int next = 0; next < 4; ++next) {  // the last part is the endpoint's number: the next endpoint may get these
      left.emplace_back(name.substr(0, name.rfind(':') + 1) + std::to_string(next));
      if (left.back() != own.front()) files::copy_file(own.front(), left.back());
    }
    files::copy_file(own.front(), "/dev/shm/weft-test-kept");
  }
  for (const files::path& each : left)
    if (!files::exists(each)) files::copy_file("/dev/shm/weft-test-kept", each);
  files::remove("/dev/shm/weft-test-kept");
  {
    auto net = open<fabrics::shm>({});
    EXPECT_TRUE(net) << net.error().sentence;
  }
  for (const files::path& each : left) files::remove(each);
}

}  // namespace
}  // namespace weft
