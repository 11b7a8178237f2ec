// SPDX-License-Identifier: Apache-2.0
#include "parent.hpp"

#include "serving.hpp"

#include <weft/backends/libfabric/leftovers.hpp>

#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <utility>

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX leaves it to the program

namespace weft::invocation::warm {
namespace {

using std::chrono::milliseconds;

/// The manager adopts orphans of its descendants while this lives. An executor that may make processes leaves orphans
/// too, and these are init's.
struct adopting {
  adopting() noexcept { (void)::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }
  ~adopting() { (void)::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0); }
  adopting(const adopting&) = delete;
  adopting& operator=(const adopting&) = delete;
};

/// Kills a child and waits for its end. Removes the shared memory that it has opened ahead.
void finish(pid_t process) noexcept {
  if (process == 0) return;
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  (void)backends::libfabric::sweep_leftovers_of(process);
}

/// The children of this process. Adopted ones are children of its first thread (proc(5)).
std::vector<pid_t> children() {
  std::vector<pid_t> all;
  const std::string self = std::to_string(::getpid());
  std::ifstream list("/proc/" + self + "/task/" + self + "/children");
  for (pid_t each = 0; list >> each;) all.push_back(each);
  return all;
}

std::string name_of(pid_t process) {
  std::string name;
  std::ifstream("/proc/" + std::to_string(process) + "/comm") >> name;
  return name;
}

/// Ends what a copy left that did not succeed: its own process, and the one between it and the warm parent. Nobody told
/// their numbers, so they are the children with the warm parent's name that were not there `before`.
void end_adopted(const std::vector<pid_t>& before) {
  for (int generation = 0; generation < 2; ++generation)  // the death of the one between brings the copy
    for (const pid_t each : children())
      if (std::ranges::find(before, each) == before.end() && name_of(each) == parent_name) finish(each);
}

}  // namespace

int launch(const std::vector<std::string>& words, int file, pid_t& process) {
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const std::string& word : words)
    argv.push_back(const_cast<char*>(word.c_str()));  // posix_spawn does not write to them
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawnattr_init(&attributes);
  ::posix_spawn_file_actions_adddup2(&actions, file, journal_place);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, journal_place + 1);
  sigset_t none;
  ::sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  const int code = ::posix_spawn(&process, argv[0], &actions, &attributes, argv.data(), environ);
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&actions);
  return code;
}

waiting_executor::~waiting_executor() { finish(process_); }

bool waiting_executor::lives() noexcept {
  if (process_ != 0 && ::waitpid(process_, nullptr, WNOHANG) != 0)
    (void)backends::libfabric::sweep_leftovers_of(std::exchange(process_, 0));
  return process_ != 0;
}

bool waiting_executor::prepare() noexcept { return send(orders_, prepare_request); }

pid_t waiting_executor::order(std::string_view words, int journal) noexcept {
  return lives() && send(orders_, words, journal) ? std::exchange(process_, 0) : 0;
}

parent::parent(parent&& other) noexcept
    : s_(std::move(other.s_)),
      process_(std::exchange(other.process_, 0)),
      channel_(std::move(other.channel_)),
      ready_(std::exchange(other.ready_, false)),
      from_pool_(other.from_pool_),
      pool_(std::move(other.pool_)),
      start_at_(other.start_at_),
      ready_by_(other.ready_by_),
      refill_at_(other.refill_at_) {}

void parent::start(clock::time_point now) {
  start_at_ = now + restart_after;  // also after a failure
  ready_by_ = now + s_.start_limit;
  auto ends = make_channel();
  if (!ends) return;
  std::vector<std::string> words = s_.command;
  for (const std::string& word : {std::string("--warm-parent"), std::to_string(journal_place), std::string("--parent"),
                                  std::to_string(::getpid())})
    words.push_back(word);
  if (launch(words, ends->second.number(), process_) != 0) {
    process_ = 0;
    return;
  }
  channel_ = std::move(ends->first);
}

void parent::end() noexcept {
  finish(std::exchange(process_, 0));
  channel_.reset();
  ready_ = false;
}

bool parent::look(clock::time_point now) noexcept {
  if (process_ == 0) return false;
  int how = 0;
  if (::waitpid(process_, &how, WNOHANG) != 0) {
    if (WIFEXITED(how) && WEXITSTATUS(how) == exit_not_to_copy) start_at_ = clock::time_point::max();
    process_ = 0;
    end();
    return false;
  }
  if (!ready_) {
    const auto said = receive(channel_, milliseconds(0));
    ready_ = said && said->bytes == parent_ready;
    if (!ready_ && now > ready_by_) end();
  }
  return ready_;
}

void parent::tend(clock::time_point now) {
  if (process_ == 0 && now >= start_at_) start(now);
  if (!look(now) || now < refill_at_) return;
  if (std::erase_if(pool_, [](waiting_executor& each) { return !each.lives(); }) > 0) {
    refill_at_ = now + restart_after;  // else one that cannot live is started all the time
    return;
  }
  if (pool_.size() >= s_.pool) return;
  auto made = copy();
  if (made && made->prepare()) pool_.push_back(std::move(*made));
}

std::optional<waiting_executor> parent::take(clock::time_point now) {
  refill_at_ = now + refill_after;
  while (!pool_.empty()) {
    waiting_executor first = std::move(pool_.front());
    pool_.pop_front();
    from_pool_ = true;
    if (first.lives()) return first;
  }
  from_pool_ = false;
  return look(now) ? copy() : std::nullopt;
}

std::optional<waiting_executor> parent::copy() {
  auto ends = make_channel();
  if (!ends) return std::nullopt;
  const adopting orphans;
  const std::vector<pid_t> before = children();
  pid_t child = 0;
  if (send(channel_, "copy", ends->second.number())) {
    const auto said = receive(channel_, copy_limit);
    if (said && said->bytes.size() == sizeof child) std::memcpy(&child, said->bytes.data(), sizeof child);
  }
  if (child <= 0) {
    if (child == 0) end();  // no answer: it was killed or stopped
    end_adopted(before);
    return std::nullopt;
  }
  return waiting_executor(child, std::move(ends->first));
}

}  // namespace weft::invocation::warm
