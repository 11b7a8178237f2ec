// SPDX-License-Identifier: Apache-2.0
//
// Two processes and a channel between them. A network bench runs its two ends in two processes, as its users do. The
// side channel carries addresses and region descriptions, never measured data. The second process dies with the first,
// and both at the deadline. Hot path: no. Threads: one per process.
#pragma once

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

namespace weft::bench {

/// The local address of both processes: this machine's own, or WEFT_NODE where the device has another one.
inline std::string home() {
  const char* said = std::getenv("WEFT_NODE");
  return said == nullptr ? "127.0.0.1" : said;
}

/// One end of the side channel. Messages keep their boundaries.
class channel {
 public:
  explicit channel(int descriptor) noexcept : descriptor_(descriptor) {}

  void send_text(const std::string& message) const {
    if (::send(descriptor_, message.data(), message.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(message.size()))
      throw std::runtime_error("the other process of the bench is gone");
  }
  /// Waits for a message and makes progress meanwhile: some libraries finish a connection only while both sides poll.
  template <class Progress>
  std::string receive_text(Progress&& progress) const {
    char message[4096];
    for (;;) {
      const ssize_t length = ::recv(descriptor_, message, sizeof message, MSG_DONTWAIT);
      if (length > 0) return {message, static_cast<std::size_t>(length)};
      if (length == 0 || (errno != EAGAIN && errno != EINTR))
        throw std::runtime_error("the other process of the bench is gone");
      progress();
    }
  }
  std::string receive_text() const {
    return receive_text([] { usleep(200); });
  }
  /// Exchanges one message with the other end. The end that `begins` posts nothing before the other end has stopped
  /// discarding what it polls.
  template <class Progress>
  std::string swap(bool begins, const std::string& message, Progress&& progress) const {
    send_text(message);
    std::string theirs = receive_text(progress);
    if (begins) receive_text(progress);
    else send_text("go");
    return theirs;
  }
  /// Waits until both sides are done. Without that, a last post may wait in its library for the next poll, and is lost
  /// when the process ends.
  template <class Progress>
  void part(bool begins, Progress&& progress) const {
    swap(begins, "done", progress);
  }

 private:
  int descriptor_;
};

/// Runs `first` here and `second` in a child; each gets its end of the channel and returns an exit code. The kernel
/// ends a process that is not done after `seconds`. Returns the worse code.
template <class First, class Second>
int two_processes(unsigned seconds, First&& first, Second&& second) {
  const auto guarded = [](auto& body, int descriptor) {
    try {
      return body(channel(descriptor));
    } catch (const std::exception& e) {
      std::fprintf(stderr, "bench: %s\n", e.what());
      return 1;
    }
  };
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) throw std::runtime_error("socketpair failed");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("fork failed");
  alarm(seconds);
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[0]);
    const int code = guarded(second, ends[1]);
    std::fflush(nullptr);
    _exit(code);
  }
  close(ends[1]);
  const int here = guarded(first, ends[0]);
  close(ends[0]);
  int there = 0;
  waitpid(child, &there, 0);
  return here != 0 ? here : WIFEXITED(there) ? WEXITSTATUS(there) : 1;
}

}  // namespace weft::bench
