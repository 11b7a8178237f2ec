// SPDX-License-Identifier: Apache-2.0
//
// The environment of live fabrics: each side is a process of its own, forked before the network library is touched. The
// test's own process only supervises. It collects the reports of the sides, kills them when time is over, and has the
// histories checked. Hot path: no. Threads: one per process.
#pragma once

#include "../../history/checker.hpp"
#include "../../history/file.hpp"
#include "sides/test_side.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>

#if defined(__SANITIZE_ADDRESS__)
#define WEFT_FINDS_LEAKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WEFT_FINDS_LEAKS
#endif
#endif
#if defined(WEFT_FINDS_LEAKS)
#include <sanitizer/lsan_interface.h>
/// Leaks of the library are not weft's: libfabric 1.17 keeps the address and a connection of a peer that broke off
/// under ofi_rxm.
extern "C" const char* __lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier): the sanitizer's name
extern "C" const char* __lsan_default_suppressions() {
  return "leak:libfabric.so";
}  // NOLINT(bugprone-reserved-identifier)
#endif

namespace weft::conformance {

/// Memory that the supervisor and the sides share.
struct shared_board {
  bool dies_at_rest = false;                  ///< A side is killed or stopped between two calls of the library.
  std::array<std::atomic<bool>, 4> doomed{};  ///< Will be killed.
  std::array<std::atomic<bool>, 4> halted{};  ///< Will stop itself.
  std::array<pid_t, 4> process{};
  std::array<std::array<char, 120>, 4> step{};
  std::atomic<std::uint64_t> moves{};  ///< Progress of all sides.
};

class process_side final : public test_side {
 public:
  process_side(int number, std::vector<int> channels, shared_board& board)
      : test_side(number, 1), channels_(std::move(channels)), board_(board) {}

  void send_value(int to, const_bytes message) override {
    moves();
    if (::send(channel(to), message.data(), message.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(message.size()))
      throw stopped("side " + std::to_string(to) + " ended before a value could be sent to it");
  }
  using test_side::send_value;
  bool has_value(int from) override {
    heed_signals();
    pollfd p{channel(from), POLLIN, 0};
    return ::poll(&p, 1, 0) == 1;
  }
  std::vector<std::byte> wait_for_value(int from) override {
    pollfd p{channel(from), POLLIN, 0};
    if (::poll(&p, 1, static_cast<int>(patience / 1ms)) != 1)
      throw stopped("side " + std::to_string(from) + " sent no value in time");
    std::vector<std::byte> into(65536);
    const ssize_t got = ::recv(p.fd, into.data(), into.size(), 0);
    if (got <= 0) throw stopped("side " + std::to_string(from) + " ended before it sent the requested value");
    into.resize(static_cast<std::size_t>(got));
    moves();
    return into;
  }
  void kill(int which) override {
    const auto side = static_cast<std::size_t>(which);
    if (board_.dies_at_rest && !is_stopped(board_.process.at(side))) board_.doomed.at(side) = true;
    else (void)::kill(board_.process.at(side), SIGKILL);
  }
  void stop(int which, duration /*span*/) override {
    const auto side = static_cast<std::size_t>(which);
    if (board_.dies_at_rest) board_.halted.at(side) = true;
    else (void)::kill(board_.process.at(side), SIGSTOP);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!is_stopped(board_.process.at(side))) {
      if (std::chrono::steady_clock::now() >= end) throw stopped("side " + std::to_string(which) + " does not stop");
      ::usleep(1000);
    }
  }
  void resume(int which) override { (void)::kill(board_.process.at(static_cast<std::size_t>(which)), SIGCONT); }
  void rest(duration span) override {
    heed_signals();
    ::usleep(static_cast<useconds_t>(span / 1us));
  }
  bool simulated() const noexcept override { return false; }
  void moves() override { board_.moves.fetch_add(1, std::memory_order_relaxed); }
  void at(std::string_view step) override {
    moves();
    auto& line = board_.step.at(static_cast<std::size_t>(number()));
    line.fill(0);
    std::copy_n(step.begin(), std::min(step.size(), line.size() - 1), line.begin());
  }
  void note(std::string_view name, std::int64_t value) override { noted.emplace_back(name, std::to_string(value)); }

  std::vector<std::pair<std::string, std::string>> noted;

 private:
  void heed_signals() const {
    const auto self = static_cast<std::size_t>(number());
    if (board_.doomed.at(self)) (void)::kill(::getpid(), SIGKILL);
    if (board_.halted.at(self).exchange(false)) (void)::raise(SIGSTOP);
  }
  /// The state in proc(5)'s stat, after the name in parentheses.
  static bool is_stopped(pid_t process) {
    std::ifstream in("/proc/" + std::to_string(process) + "/stat");
    std::string line;
    std::getline(in, line);
    return line.find(") T") != std::string::npos;
  }
  int channel(int to) const { return channels_.at(static_cast<std::size_t>(to)); }

  std::vector<int> channels_;  ///< To each side; -1 at the side's own number.
  shared_board& board_;
};

/// The report of a side to the supervisor: failures and figures as text, then the history.
class side_report {
 public:
  static void failure(std::string& into, const testing::TestPartResult& each) {
    number(into, 1);
    text(into, each.file_name() == nullptr ? "" : each.file_name());
    number(into, static_cast<std::uint32_t>(each.line_number()));
    text(into, each.message());
  }
  static void figure(std::string& into, std::string_view name, std::string_view value) {
    number(into, 3);
    text(into, name);
    text(into, value);
  }
  static void records(std::string& into, const std::vector<history::record>& all) {
    number(into, 2);
    number(into, static_cast<std::uint32_t>(all.size()));
    for (const history::record& each : all) {
      const history::record_image image = history::encode(each);
      into.append(reinterpret_cast<const char*>(image.data()), image.size());
    }
  }

  /// Effects: adds the failures and the figures to the test's own; appends the records. Returns: whether the report was
  /// complete.
  static bool read(const std::string& from, int side, std::vector<history::record>& records_into) {
    std::size_t at = 0;
    while (at < from.size()) {
      const std::uint32_t kind = number(from, at);
      if (kind == 1) {
        const std::string file = text(from, at);
        const auto line = static_cast<int>(number(from, at));
        ADD_FAILURE_AT(file.c_str(), line) << "side " << side << ": " << text(from, at);
      } else if (kind == 3) {
        const std::string name = text(from, at);
        testing::Test::RecordProperty(name, text(from, at));
      } else {
        std::uint32_t count = number(from, at);
        for (; count > 0 && at + history::record_bytes <= from.size(); --count, at += history::record_bytes) {
          history::record_image image;
          std::memcpy(image.data(), from.data() + at, image.size());
          history::record each;
          if (history::decode(image, each)) records_into.push_back(each);
        }
        return kind == 2 && count == 0;
      }
    }
    return false;
  }

 private:
  static void number(std::string& into, std::uint32_t value) {
    into.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  static void text(std::string& into, std::string_view value) {
    number(into, static_cast<std::uint32_t>(value.size()));
    into += value;
  }
  static std::uint32_t number(const std::string& from, std::size_t& at) {
    std::uint32_t value = 0;
    if (at + sizeof value <= from.size()) std::memcpy(&value, from.data() + at, sizeof value);
    at += sizeof value;
    return value;
  }
  static std::string text(const std::string& from, std::size_t& at) {
    const std::uint32_t size = number(from, at);
    std::string value = at <= from.size() ? from.substr(at, size) : std::string();
    at += size;
    return value;
  }
};

/// How much later than its deadline an end may be recorded: the machine may run other programs meanwhile.
inline constexpr duration live_slack = 500ms;

/// Runs one test's sides as processes.
class company {
 public:
  company(const circumstances& how, const std::vector<body>& sides, bool dies_at_rest)
      : how_(how), sides_(sides), reports_(sides.size()), pipes_(sides.size(), -1) {
    board_ = static_cast<shared_board*>(
        ::mmap(nullptr, sizeof(shared_board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (board_ == MAP_FAILED) throw stopped("no shared page for the test's sides");
    new (board_) shared_board;
    board_->dies_at_rest = dies_at_rest;
    connect_all();
  }
  company(const company&) = delete;
  company& operator=(const company&) = delete;
  ~company() { ::munmap(board_, sizeof(shared_board)); }

  void run() {
    std::fflush(nullptr);
    for (std::size_t i = 0; i < sides_.size(); ++i) start(i);
    for (auto& row : channels_)
      for (const int fd : row)
        if (fd >= 0) ::close(fd);
    const bool in_time = gather();
    std::vector<history::record> all;
    for (std::size_t i = 0; i < sides_.size(); ++i) conclude(i, in_time, all);
    history::checker judge(history::judgement_options{.deadline_slack = live_slack});
    judge.add(all);
    if (const auto said = judge.judge(); !said.clean()) ADD_FAILURE() << "the history of this run: " << said.text();
    if (how_.judged && !testing::Test::HasFailure()) how_.judged(all);
  }

 private:
  void connect_all() {
    channels_.assign(sides_.size(), std::vector<int>(sides_.size(), -1));
    for (std::size_t i = 0; i < sides_.size(); ++i)
      for (std::size_t j = i + 1; j < sides_.size(); ++j) {
        int pair[2];
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
          throw stopped("no socket pair for the test's sides");
        channels_[i][j] = pair[0];
        channels_[j][i] = pair[1];
      }
  }

  void start(std::size_t i) {
    int out[2];
    if (::pipe2(out, O_CLOEXEC) != 0) throw stopped("no pipe for a side's report");
    const pid_t child = ::fork();
    if (child < 0) throw stopped("a side could not be started");
    if (child == 0) {
      ::close(out[0]);
      be(i, out[1]);
    }
    ::close(out[1]);
    pipes_[i] = out[0];
    board_->process[i] = child;
  }

  [[noreturn]] void be(std::size_t i, int out) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (std::size_t row = 0; row < channels_.size(); ++row)
      for (const int fd : channels_[row])
        if (row != i && fd >= 0) ::close(fd);
    testing::TestPartResultArray said;
    std::string report;
    {
      const testing::ScopedFakeTestPartResultReporter listener(
          testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &said);
      process_side me(static_cast<int>(i), channels_[i], *board_);
      try {
        sides_[i](me);
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
#if defined(WEFT_FINDS_LEAKS)  // a side ends by _exit, which checks for no leaks
      if (__lsan_do_recoverable_leak_check() != 0)
        ADD_FAILURE() << "memory leaked: the sanitizer's report is on standard error";
#endif
      for (int k = 0; k < said.size(); ++k) side_report::failure(report, said.GetTestPartResult(k));
      for (const auto& [name, value] : me.noted) side_report::figure(report, name, value);
      if (said.size() > 0) side_report::records(report, {});  // a failed side has no history to check
      else side_report::records(report, me.book.records());
    }
    for (std::size_t at = 0; at < report.size();) {
      const ssize_t wrote = ::write(out, report.data() + at, report.size() - at);
      if (wrote <= 0) break;
      at += static_cast<std::size_t>(wrote);
    }
    std::fflush(nullptr);
    ::_exit(0);
  }

  /// Reads every side's report. Returns: whether all sides ended. Without progress of any side for the limit, the
  /// sides are killed. A busy machine slows progress, and does not stop it.
  bool gather() {
    std::uint64_t moved = 0;
    auto end = std::chrono::steady_clock::now() + how_.limit * slowness();
    std::size_t open = pipes_.size();
    while (open > 0) {
      std::vector<pollfd> waiting;
      for (const int fd : pipes_) waiting.push_back({fd, POLLIN, 0});
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
      const int came = left <= 0 ? 0 : ::poll(waiting.data(), waiting.size(), static_cast<int>(left));
      if (came == 0) {
        if (std::exchange(moved, board_->moves.load(std::memory_order_relaxed)) != board_->moves.load()) {
          end = std::chrono::steady_clock::now() + how_.limit * slowness();
          continue;
        }
        for (std::size_t i = 0; i < sides_.size(); ++i)
          if (pipes_[i] >= 0) (void)::kill(board_->process[i], SIGKILL);
        return false;
      }
      for (std::size_t i = 0; i < waiting.size(); ++i) open -= std::size_t{waiting[i].revents != 0 && !take(i)};
    }
    return true;
  }
  /// False at the end of the report.
  bool take(std::size_t i) {
    char buffer[65536];
    const ssize_t got = ::read(pipes_[i], buffer, sizeof buffer);
    if (got > 0) {
      reports_[i].append(buffer, static_cast<std::size_t>(got));
      return true;
    }
    ::close(pipes_[i]);
    pipes_[i] = -1;
    return false;
  }

  void conclude(std::size_t i, bool in_time, std::vector<history::record>& all) {
    if (pipes_[i] >= 0) ::close(pipes_[i]);
    int how = 0;
    ::waitpid(board_->process[i], &how, 0);
    sweep(board_->process[i]);
    const bool whole = side_report::read(reports_[i], static_cast<int>(i), all);
    const bool meant = i == 0 && how_.first_is_killed && WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL;
    if (meant && in_time) return;
    if (WIFSIGNALED(how) || !whole)
      ADD_FAILURE() << "side " << i << (in_time ? " died" : " was killed at the end of the test's time,") << " (signal "
                    << WTERMSIG(how) << ", exit " << WEXITSTATUS(how) << ") at: " << board_->step[i].data();
  }

  /// Removes shared memory of a killed process: libraries name it by process, and only the parent knows that the
  /// process is gone.
  static void sweep(pid_t ended) {
    const std::string prefix = std::to_string(ended) + ":";
    std::error_code ignored;
    for (const auto& each : std::filesystem::directory_iterator("/dev/shm", ignored))
      if (each.path().filename().string().starts_with(prefix)) std::filesystem::remove(each.path(), ignored);
  }

  const circumstances& how_;
  const std::vector<body>& sides_;
  std::vector<std::string> reports_;
  std::vector<int> pipes_;
  std::vector<std::vector<int>> channels_;
  shared_board* board_ = nullptr;
};

/// Whether a death inside a library call blocks other processes. shm of libfabric 1.17 keeps spin locks in shared
/// memory, so every other sender then hangs in the library (docs/limitations.md). weft cannot mend that, so tests kill
/// between calls there.
template <class F>
inline constexpr bool dies_at_rest = F::facts.same_host && !F::facts.provider.empty();
template <class... F>
inline constexpr bool dies_at_rest<fabric_set<F...>> = (dies_at_rest<F> || ...);

/// Sides of fabric F as processes.
template <class F>
struct live {
  using fabric = F;
  static constexpr bool simulated = false;
  static void run(const circumstances& how, const std::vector<body>& sides) {
    company(how, sides, dies_at_rest<F>).run();
  }
};

}  // namespace weft::conformance
