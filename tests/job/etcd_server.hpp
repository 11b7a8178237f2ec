// SPDX-License-Identifier: Apache-2.0
//
// An etcd of this test: Debian's server on free ports, its data in a folder that goes with it. It dies with the thread
// that started it. Starting it takes about a second, so the tests of a program share one.
// Hot path: no. Threads: one owner.
#pragma once

#include "../../job/sockets.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace weft::job_tests {

class etcd_server {
 public:
  static std::string program() {
    for (const char* at : {"/usr/bin/etcd", "/usr/local/bin/etcd"})
      if (::access(at, X_OK) == 0) return at;
    return {};
  }
  /// Why there is none; empty: it answers.
  std::string missing;

  etcd_server() {
    if (program().empty()) {
      missing = "etcd is not installed (Debian: etcd-server)";
      return;
    }
    char name[] = "/dev/shm/weft-etcd-XXXXXX";
    char other[] = "/tmp/weft-etcd-XXXXXX";
    const char* made = ::mkdtemp(name);
    folder_ = made != nullptr ? made : ::mkdtemp(other);
    for (int i = 0; i < 3 && !answers_; ++i) start();
    if (!answers_) missing = "etcd did not start within 30 s: see " + std::exchange(folder_, "") + "/log";
  }
  etcd_server(const etcd_server&) = delete;
  etcd_server& operator=(const etcd_server&) = delete;
  ~etcd_server() {
    stop();
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  const jobs::endpoint& at() const noexcept { return at_; }
  std::string store() const { return "etcd://" + in_words(at_); }
  /// Stops it as a machine stops: without a word.
  void pause() const { ::kill(process_, SIGSTOP); }
  void resume() const { ::kill(process_, SIGCONT); }
  void stop() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(std::exchange(process_, 0), nullptr, 0);
    answers_ = false;
  }
  /// With the data and the port of before.
  void start() {
    if (at_.port == 0 || process_ < 0) at_ = jobs::address_of(jobs::listening_everywhere(0, true).value.get());
    const auto peers = jobs::address_of(jobs::listening_everywhere(0, true).value.get());
    const std::string own = "http://" + in_words(at_);
    const std::string other = "http://" + in_words(peers);
    const std::vector<std::string> words{program(),
                                         "--name",
                                         "test",
                                         "--data-dir",
                                         folder_ + "/data",
                                         "--listen-client-urls",
                                         own,
                                         "--advertise-client-urls",
                                         own,
                                         "--listen-peer-urls",
                                         other,
                                         "--initial-advertise-peer-urls",
                                         other,
                                         "--initial-cluster",
                                         "test=" + other};
    std::vector<char*> arguments;
    for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    const std::string log = folder_ + "/log";
    process_ = ::fork();
    if (process_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
      ::dup2(file, 1);
      ::dup2(file, 2);
      ::execv(arguments[0], arguments.data());
      ::_exit(127);
    }
    const instant end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!answers_ && ::waitpid(process_, nullptr, WNOHANG) == 0 && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      answers_ = is_healthy(end);
    }
    if (!answers_) {
      stop();
      process_ = -1;  // another program has the port
    }
  }

 private:
  /// It has chosen itself as the leader: before that, requests wait.
  bool is_healthy(instant end) const {
    const auto one = jobs::connected_to(at_, end).value;
    constexpr std::string_view question = "GET /health HTTP/1.0\r\n\r\n";
    if (!one || ::send(one.get(), question.data(), question.size(), MSG_NOSIGNAL) < 0) return false;
    std::string answer;
    char some[1024];
    while (jobs::wait_for(one.get(), POLLIN, end) == 0) {
      const ssize_t got = ::recv(one.get(), some, sizeof some, 0);
      if (got <= 0) break;
      answer.append(some, static_cast<std::size_t>(got));
    }
    return answer.find("\"true\"") != std::string::npos;
  }

  std::string folder_;
  jobs::endpoint at_;
  pid_t process_ = 0;
  bool answers_ = false;
};

/// The one that the tests of this program share.
inline etcd_server& shared_etcd() {
  static etcd_server one;
  return one;
}

}  // namespace weft::job_tests
