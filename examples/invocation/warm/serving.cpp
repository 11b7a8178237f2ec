// SPDX-License-Identifier: Apache-2.0
#include "serving.hpp"

#include "../confinement/confinement.hpp"
#include "channel.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

namespace weft::invocation::warm {
namespace {

using std::filesystem::directory_iterator;

int fail(const std::string& sentence, int code) {
  (void)std::fprintf(stderr, "invocation-executor: %s\n", sentence.c_str());
  return code;
}

std::size_t entries(const char* folder) {
  std::error_code ignored;
  std::size_t found = 0;
  for (directory_iterator at(folder, ignored), end; at != end; at.increment(ignored)) ++found;
  return found;
}

/// libfabric sets up its providers at its first call; this one does only that, and opens nothing (fi_provider(7)).
/// Debian's library reads all of /proc/kallsyms in it. A program of another library has no such function.
void set_libraries_up() {
  struct parameter;
  using get = int(parameter**, int*);
  using drop = void(parameter*);
  auto* const all = reinterpret_cast<get*>(::dlsym(RTLD_DEFAULT, "fi_getparams"));
  auto* const free = reinterpret_cast<drop*>(::dlsym(RTLD_DEFAULT, "fi_freeparams"));
  parameter* found = nullptr;
  int number = 0;
  if (all != nullptr && free != nullptr && all(&found, &number) == 0) free(found);
}

/// Why this process cannot be copied: a copy has no threads of the libraries, and shares what they have opened. Empty:
/// it can.
std::string not_to_copy(std::size_t descriptors_at_start) {
  const std::size_t running = entries("/proc/self/task");
  const std::size_t opened = entries("/proc/self/fd") - descriptors_at_start;
  if (running == 1 && opened == 0) return {};
  return "the libraries have " + std::to_string(running) + " threads and " + std::to_string(opened) +
         " new descriptors before anything is opened, so executors cannot be copies: each is executed, "
         "as with --fresh-executors";
}

/// The name of this process, as the kernel keeps it.
std::string own_name() {
  std::array<char, 16> name{};
  (void)::prctl(PR_GET_NAME, name.data(), 0, 0, 0);
  return {name.data()};
}
void set_name(const std::string& name) { (void)::prctl(PR_SET_NAME, name.c_str(), 0, 0, 0); }

/// Forks twice. Returns the second child's number in the caller, 0 in that child, -errno where a fork failed. In the
/// caller the process between has ended, so the child has a new parent already.
pid_t fork_for_the_manager() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return -errno;
  descriptor out(ends[0]), in(ends[1]);
  const pid_t between = ::fork();
  if (between < 0) return -errno;
  if (between == 0) {
    const pid_t child = ::fork();
    if (child == 0) return 0;
    const pid_t told = child < 0 ? -errno : child;
    ::_exit(::write(in.number(), &told, sizeof told) == sizeof told ? 0 : 1);
  }
  in.reset();
  pid_t child = -EIO;
  if (::read(out.number(), &child, sizeof child) != sizeof child) child = -EIO;
  while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
  }
  return child;
}

/// In a copy: waits for its order. Only its manager can have sent one, and the end of the manager closes the channel.
std::variant<int, copied_order> take_order(const parent_command& c, descriptor orders,
                                           const std::function<void()>& prepare, const std::string& name) {
  // What is opened ahead must not get the journal's place.
  if (::dup2(orders.number(), journal_place) < 0) return fail("the journal has no place", 1);
  auto first = receive(orders, std::nullopt);
  if (!first) return 0;
  if (!c.user.empty())
    if (const auto done = become(c.user); !done) return fail(done.error().sentence, 2);
  if (first->bytes == prepare_request) {
    set_name(waiting_name);
    prepare();
    // No signal ends it while it waits: it sees the end of the manager here, and closes what it has opened.
    first = receive(orders, std::nullopt);
    if (!first) return 0;
  }
  // A change of user takes this setting back, so it comes after that.
  if (const auto tied = die_with(c.manager); !tied) return fail(tied.error().sentence, 1);
  if (!first->file) return fail("an order came without a journal", 2);
  set_name(name);
  if (c.user.empty()) (void)::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);  // as after an execution; after a change of user not
  if (::dup2(first->file.number(), journal_place) < 0) return fail("the journal has no place", 1);
  orders.reset();
  auto words = unpacked(first->bytes);
  if (!words) return fail("an order came that is not a list of arguments, each with its length before it", 2);
  return copied_order{std::move(*words)};
}

}  // namespace

std::string packed(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) {
    const auto size = static_cast<std::uint32_t>(word.size());
    all.append(reinterpret_cast<const char*>(&size), sizeof size).append(word);
  }
  return all;
}

std::optional<std::vector<std::string>> unpacked(std::string_view packet) {
  std::vector<std::string> words;
  while (!packet.empty()) {
    std::uint32_t size = 0;
    if (packet.size() < sizeof size) return std::nullopt;
    std::memcpy(&size, packet.data(), sizeof size);
    packet.remove_prefix(sizeof size);
    if (packet.size() < size) return std::nullopt;
    words.emplace_back(packet.substr(0, size));
    packet.remove_prefix(size);
  }
  return words;
}

result<void> die_with(pid_t manager) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != manager)
    return {error(errc::peer_lost, "prctl"),
            "the manager, process " + std::to_string(manager) + ", is gone, or did not start this executor"};
  return {};
}

std::variant<int, copied_order> serve(const parent_command& c, const std::function<void()>& prepare) {
  descriptor channel(c.channel);
  if (const auto tied = die_with(c.manager); !tied) return fail(tied.error().sentence, 1);
  const std::size_t descriptors = entries("/proc/self/fd");
  set_libraries_up();
  if (const std::string no = not_to_copy(descriptors); !no.empty()) return fail(no, exit_not_to_copy);
  const std::string name = own_name();
  const pid_t self = ::getpid();
  (void)::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  set_name(parent_name);
  if (!send(channel, parent_ready)) return 1;
  while (auto request = receive(channel, std::nullopt)) {
    if (!request->file) continue;
    const pid_t child = fork_for_the_manager();
    if (child == 0) {
      channel.reset();
      auto order = take_order(c, std::move(request->file), prepare, name);
      if (auto* found = std::get_if<copied_order>(&order)) found->warm_parent = self;
      return order;
    }
    if (!send(channel, {reinterpret_cast<const char*>(&child), sizeof child})) return 1;
  }
  return 0;
}

}  // namespace weft::invocation::warm
