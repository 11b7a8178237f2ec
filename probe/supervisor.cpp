// SPDX-License-Identifier: Apache-2.0
//
// Children of the supervisor end with it (PR_SET_PDEATHSIG), by their own alarm, or by its signal: no process stays,
// whatever the library does. Hot path: no. Threads: one.
#include "supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weft::probe {

namespace {

using clock = std::chrono::steady_clock;

/// Exit codes of a child.
enum leaving : int { done = 0, was_refused = 11, was_abandoned = 13 };

struct child {
  pid_t process;
  const char* side;
  int status = 0;
  bool ended = false;
};

/// A child that does one thing and leaves without the library's clean-up at exit, in which some providers crash.
child start(const char* side, const demands& about, int report, const std::function<void(const findings&)>& work) {
  const pid_t parent = getpid();
  const pid_t made = fork();
  if (made < 0) {  // no process: nobody may be signalled by its number
    const int why = errno;
    findings(report).refusal(side, {"fork", why});
    return {made, side, was_refused << 8, true};
  }
  if (made != 0) return {made, side};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(was_abandoned);
  alarm(static_cast<unsigned>(about.deadline.count() / 1000 + 2));
  const findings out(report);
  int code = done;
  try {
    work(out);
    out.over(side);
  } catch (const refused& why) {
    out.refusal(side, why);
    code = was_refused;
  } catch (const abandoned&) {
    code = was_abandoned;
  } catch (const std::exception& wrong) {
    out.refusal(side, {wrong.what(), FI_EOTHER});
    code = was_refused;
  }
  _exit(code);
}

/// The lines of the pipe, in one record.
class record {
 public:
  void add(const char* data, std::size_t size) {
    text_.append(data, size);
    for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n')) {
      const nlohmann::json line = nlohmann::json::parse(text_.substr(0, end), nullptr, false);
      text_.erase(0, end + 1);
      if (line.contains("fact")) facts_[line["fact"].get<std::string>()] = line["value"];
      if (line.contains("over")) over_.insert(line["over"].get<std::string>());
      // The first refusal is the cause; the other side's is its echo.
      if (line.contains("refused") && why_.empty()) {
        const auto& said = line["refused"];
        why_ = said["call"].get<std::string>() + " at the " + said["side"].get<std::string>() + ": " +
               said["name"].get<std::string>();
      }
    }
  }
  const std::string& why() const { return why_; }
  bool over(const char* side) const { return over_.contains(side); }
  const nlohmann::ordered_json& facts() const { return facts_; }

 private:
  std::string text_, why_;
  std::set<std::string> over_;
  nlohmann::ordered_json facts_ = nlohmann::ordered_json::object();
};

/// Reads the children's lines until all have ended or the time is over.
bool gather_records(std::vector<child>& children, int pipe, record& into, clock::time_point end, bool may_die) {
  for (;;) {
    pollfd one{pipe, POLLIN, 0};
    std::array<char, 4096> buffer{};
    if (poll(&one, 1, 10) > 0)
      if (const ssize_t length = read(pipe, buffer.data(), buffer.size()); length > 0)
        into.add(buffer.data(), static_cast<std::size_t>(length));
    bool all = true;
    for (child& each : children) {
      if (!each.ended && waitpid(each.process, &each.status, WNOHANG) == each.process) {
        each.ended = true;
        // The other side waits only shortly for a crashed one.
        if (WIFSIGNALED(each.status) && !may_die) end = std::min(end, clock::now() + milliseconds(500));
      }
      all = all && each.ended;
    }
    if (all) {
      for (ssize_t length = 0; (length = read(pipe, buffer.data(), buffer.size())) > 0;)
        into.add(buffer.data(), static_cast<std::size_t>(length));
      return true;
    }
    if (clock::now() >= end) return false;
  }
}

/// Whether the number stands alone in a name: 12 does in "12:0:1", and not in "312:0:1".
bool has_number(std::string_view name, const std::string& number) {
  const auto is_digit = [&](std::size_t at) { return at < name.size() && name[at] >= '0' && name[at] <= '9'; };
  for (std::size_t at = name.find(number); at != std::string_view::npos; at = name.find(number, at + 1))
    if ((at == 0 || !is_digit(at - 1)) && !is_digit(at + number.size())) return true;
  return false;
}

/// Files of shared memory that the children made and could not remove: their names contain the process number. Older
/// ones are of other programs. The clock of files may be late by some milliseconds.
void sweep(const std::vector<child>& children, std::filesystem::file_time_type begun) {
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator("/dev/shm", ignored))
    for (const child& of : children)
      if (of.process > 0 && has_number(each.path().filename().string(), std::to_string(of.process)) &&
          std::filesystem::is_regular_file(each, ignored) &&
          std::filesystem::last_write_time(each, ignored) > begun - std::chrono::seconds(1))
        std::filesystem::remove(each, ignored);
}

/// Whether the library ended the process (exit, or a signal that it catches): the side's own end is in the record.
bool left_by_itself(const child& side, const record& heard) {
  switch (WEXITSTATUS(side.status)) {
    case done:
      return !heard.over(side.side);
    case was_refused:
      return heard.why().empty();
    case was_abandoned:
      return false;
    default:
      return true;
  }
}

std::string run(const demands& about, std::string_view name,
                const std::function<std::vector<child>(int report)>& begin) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw refused{"pipe", errno};
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const auto started = clock::now();
  const auto files_since = std::filesystem::file_time_type::clock::now();
  std::vector<child> children = begin(ends[1]);
  close(ends[1]);
  record heard;
  const bool in_time = gather_records(children, ends[0], heard, started + about.deadline, name == killed_peer.name);
  std::string ended = "shown", why = heard.why();
  if (!why.empty()) ended = "refused";
  bool alone = false;
  std::string stuck;
  for (child& each : children) {
    const bool may_die = name == killed_peer.name && WTERMSIG(each.status) == SIGKILL;
    if (!each.ended) {
      stuck += (stuck.empty() ? "the " : " and the ") + std::string(each.side);
      kill(each.process, SIGKILL);
      waitpid(each.process, &each.status, 0);
    } else if (WIFSIGNALED(each.status) && !may_die) {
      ended = "crashed";
      why = std::string("the ") + each.side + " ended by signal " + std::to_string(WTERMSIG(each.status)) + " (" +
            strsignal(WTERMSIG(each.status)) + ")";
    } else if (WIFEXITED(each.status) && left_by_itself(each, heard)) {
      ended = "crashed";
      why = std::string("the ") + each.side + " ended by itself with exit code " +
            std::to_string(WEXITSTATUS(each.status));
    } else if (WIFEXITED(each.status)) {
      alone = alone || WEXITSTATUS(each.status) == was_abandoned;
    }
  }
  if (!in_time && ended != "crashed") {  // a side that waited for the other one may have given up before
    ended = "hung";
    why = stuck + " did not end within " + std::to_string(about.deadline.count()) + " ms" +
          (why.empty() ? "" : "; " + why);
  }
  if (alone && ended == "shown") {
    ended = "refused";
    why = "one side ended and the other waited for it";
  }
  close(ends[0]);
  sweep(children, files_since);
  const double seconds = std::chrono::duration<double>(clock::now() - started).count();
  return nlohmann::ordered_json{
      {"behaviour", name}, {"ended", ended}, {"why", why}, {"facts", heard.facts()}, {"seconds", seconds}}
      .dump();
}

}  // namespace

std::string supervise(const demands& about, const behaviour& what) {
  return run(about, what.name, [&](int report) {
    std::array<int, 2> pair{};
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair.data()) != 0) throw refused{"socketpair", errno};
    const auto part = [&](int own, int other, auto act) {
      return [&about, own, other, act](const findings& out) {
        close(other);
        channel side(own);
        act(role{about, side, out});
      };
    };
    std::vector<child> made{start("target", about, report, part(pair[1], pair[0], what.target))};
    made.push_back(start("initiator", about, report, part(pair[0], pair[1], what.initiator)));
    close(pair[0]);
    close(pair[1]);
    return made;
  });
}

std::string supervise_claims(const demands& about) {
  return run(about, "claims", [&](int report) {
    return std::vector<child>{start("asker", about, report, [&about](const findings& out) {
      channel nobody(-1);
      claims(role{about, nobody, out});
    })};
  });
}

}  // namespace weft::probe
