// SPDX-License-Identifier: Apache-2.0
#include "session.hpp"

#include "clock.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

namespace weft::recording {
namespace {

std::atomic<unsigned> threads{0};
std::atomic<bool> one_has_begun{false};
thread_local unsigned own_thread = 0;

const char* variable(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}
void size_from(const char* name, std::size_t& into) {
  std::uint64_t n = 0;
  if (const char* set = variable(name)) {
    if (!number_of(set, n)) stop(std::string(name) + "=" + set + " is not a number of bytes");
    into = n;
  }
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words((std::istreambuf_iterator<char>(file)), {});
  if (!words.empty()) words.pop_back();
  std::replace(words.begin(), words.end(), '\0', ' ');
  return word_of(words);
}

/// The number that a launcher gave this process, as ".3"; empty where there is none.
std::string process_suffix() {
  for (const char* name : {"WEFT_EMULATED_PROCESS", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
    if (const char* set = variable(name)) return std::string(".") + set;
  return {};
}

/// A descriptor that the program's own do not collide with, so that these have the numbers that they always had.
int out_of_the_way(int descriptor) {
  if (descriptor < 0) return descriptor;
  const int moved = fcntl(descriptor, F_DUPFD_CLOEXEC, 200);
  if (moved < 0) return descriptor;
  close(descriptor);
  return moved;
}

constexpr int most_processes = 1000;
std::string name_of(const std::string& wanted, int n) { return n == 1 ? wanted : wanted + "." + std::to_string(n); }

}  // namespace

thread_local int inside_library = 0;

bool is_of_library(const void* code) {
  Dl_info where{};
  if (dladdr(code, &where) == 0 || where.dli_fname == nullptr) return false;
  const std::string_view path = where.dli_fname;
  const std::string_view name = path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1);
  return name.starts_with("libfabric.so") || name.find("-fi.so") != std::string_view::npos;
}

bool session::begun() { return one_has_begun.load(); }
session& session::get() {
  static auto& the = *new session;  // never destroyed: own threads of the program may outlive the end of main
  return the;
}

session::session() : process_(getpid()), begin_(machine_now()), matched_(begin_) {
  size_from("WEFT_TRACE_DATA", data_limit);
  size_from("WEFT_TRACE_MEMORY", memory_limit);
  one_has_begun = true;
  const char* to = variable("WEFT_TRACE_RECORD");
  const char* from = variable("WEFT_TRACE_REPLAY");
  if (to != nullptr) open_to_write(to);
  else if (from != nullptr) choose_to_read(from);
}

mode session::how() const { return mode_ == mode::recording && getpid() != process_ ? mode::off : mode_; }

void session::open_to_write(const std::string& wanted) {
  const std::string suffix = process_suffix();
  for (int n = 1; file_ < 0 && n < most_processes; ++n) {
    path = suffix.empty() ? name_of(wanted, n) : wanted + suffix;
    file_ = out_of_the_way(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600));
    if (file_ < 0 && (errno != EEXIST || !suffix.empty()))
      stop(path + " cannot be written: " + std::strerror(errno) + "; a record is never written over another file");
  }
  mode_ = mode::recording;
  write_out(std::string(first_line) + "\nprogram=" + command_line() + " data=" + std::to_string(data_limit) +
            " memory=" + std::to_string(memory_limit) + '\n');
  lines_ = 2;
}

/// Several programs without numbers, such as those of a script: each takes the first record of its own command line.
void session::choose_to_read(const std::string& wanted) {
  mode_ = mode::replaying;
  const std::string suffix = process_suffix();
  path = wanted + suffix;
  if (suffix.empty()) {
    const std::string own = command_line();
    for (int n = 1; n < most_processes; ++n) {
      const std::string each = name_of(wanted, n);
      std::ifstream file(each, std::ios::binary);
      std::string line;
      if (!file) break;
      if (!std::getline(file, line) || !std::getline(file, line) || !line.starts_with("program=" + own + ' ')) continue;
      const int claim = out_of_the_way(open(each.c_str(), O_RDONLY | O_CLOEXEC));
      path = each;
      if (claim >= 0 && flock(claim, LOCK_EX | LOCK_NB) == 0) break;
      if (claim >= 0) close(claim);
    }
  }
  replayed_ = read_record(path);
}

void session::write_out(const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = write(file_, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      std::fprintf(stderr, "weft record: %s: %s; nothing more is recorded\n", path.c_str(), std::strerror(errno));
      mode_ = mode::off;
      return;
    }
    done += static_cast<std::size_t>(n);
  }
}

std::size_t session::begin_line(std::uint64_t at_ns, unsigned thread, const std::string& asked) {
  ++lines_;
  write_out(std::to_string(lines_) + ' ' + seconds_of(at_ns) + " t" + std::to_string(thread) + ' ' + asked);
  return lines_;
}
void session::end_line(const std::string& answered) { write_out(answered + '\n'); }

const event* session::next() const {
  return position_ < replayed_.events.size() ? &replayed_.events[position_] : nullptr;
}
void session::take() {
  ++position_;
  matched_ = machine_now();
  moved.notify_all();
}

bool session::may_be(const event& e) const {
  const auto known = threads_.find(e.thread);
  if (known != threads_.end()) return known->second == thread();
  return std::none_of(threads_.begin(), threads_.end(), [](const auto& each) { return each.second == thread(); });
}
bool session::not_known(const event& e) const { return threads.load() > 1 && !threads_.contains(e.thread); }
void session::is(const event& e) { threads_.emplace(e.thread, thread()); }

bool session::out_of_patience() const {
  const std::uint64_t before = position_ == 0 ? 0 : replayed_.events[position_ - 1].at_ns;
  const std::uint64_t gap = next() == nullptr ? 0 : next()->at_ns - std::min(before, next()->at_ns);
  return machine_now() - matched_ > std::chrono::nanoseconds(2 * gap) + std::chrono::seconds(10);
}

void session::differs(const std::string& asked) const {
  const event* e = next();
  const std::string at = path + ":" + std::to_string(e != nullptr ? e->line : 2 + replayed_.events.size() + 1) + ": ";
  if (e == nullptr && !replayed_.whole)
    stop(at + "the record ends here without \"end\" (it was cut, or its program was killed); the program called \"" +
         asked + '"');
  if (e == nullptr) stop(at + "the record ends here; the program called \"" + asked + '"');
  if (!e->finished) stop(at + "the record ends in the call \"" + e->call + e->request + "\": it has no answer");
  stop(at + "the program called \"" + asked + "\"; the record has \"" + e->call + e->request + '"');
}

unsigned session::thread() {
  if (own_thread == 0) own_thread = ++threads;
  return own_thread;
}
bool session::known_thread() { return own_thread != 0; }

std::uint64_t session::now_ns() const { return static_cast<std::uint64_t>((machine_now() - begin_).count()); }

std::uint64_t session::program_ns() {
  if (mode_ != mode::replaying) return now_ns();
  // It passes as it did on the machine of the record. Where the program had seen less before its next call it stands
  // still, and goes on after a while: a program that polls by its clock needs it for the polls that are missing.
  const std::lock_guard hold(lock);
  const std::uint64_t before = position_ == 0 ? 0 : replayed_.events[position_ - 1].at_ns;
  const std::uint64_t passed = before + static_cast<std::uint64_t>((machine_now() - matched_).count());
  std::uint64_t now = passed;
  if (next() != nullptr && passed > next()->saw_ns) {
    const std::uint64_t pause = (next()->at_ns - std::min(before, next()->at_ns)) / 2 + 100'000'000;
    now = next()->saw_ns + (passed - next()->saw_ns > pause ? passed - next()->saw_ns - pause : 0);
  }
  std::uint64_t latest = last_seen_ns.load();
  while (latest < now && !last_seen_ns.compare_exchange_weak(latest, now)) {
  }
  return std::max(latest, now);
}

void session::finish() {
  if (how() == mode::recording) {
    const std::lock_guard hold(lock);
    write_out(std::to_string(++lines_) + ' ' + seconds_of(now_ns()) + " end\n");
    mode_ = mode::off;
  }
  if (how() == mode::replaying && next() != nullptr && next()->finished)
    stop(path + ":" + std::to_string(next()->line) + ": the program ended; the record goes on with \"" + next()->call +
         next()->request + '"');
}

/// After the program's own exit handlers, which may still call the library.
[[gnu::destructor]] void finish_session() {
  if (session::begun()) session::get().finish();
}

}  // namespace weft::recording
