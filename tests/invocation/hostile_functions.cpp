// SPDX-License-Identifier: Apache-2.0
//
// A shared object whose functions try what a confined executor must not do. Each returns "done", or the number of the
// error. `from_constructor` tells what the constructor of the object could do, while the object was loaded.
#include <invocation/functions/manifest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>

namespace {

/// The text of a result: below 0 is an error.
std::int64_t tell(long result, unsigned char* out, std::uint32_t room) {
  const int code = errno;
  char text[64];
  const int size = result < 0 ? std::snprintf(text, sizeof text, "error %d", code)
                              : std::snprintf(text, sizeof text, "done");
  if (static_cast<std::uint32_t>(size) > room) return -1;
  std::memcpy(out, text, static_cast<std::size_t>(size));
  return size;
}

long fork_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  if (child > 0) ::waitpid(child, nullptr, 0);
  return child;
}
long write_file() { return ::open("/tmp/weft-hostile", O_CREAT | O_WRONLY | O_CLOEXEC, 0600); }

long constructed_file = 0;
int constructed_code = 0;
[[gnu::constructor]] void construct() {
  constructed_file = write_file();
  constructed_code = errno;
}

/// A function of the object around one attempt.
template <long (*Attempt)()>
std::int64_t attempt(const unsigned char* /*in*/, std::uint32_t /*in_bytes*/, unsigned char* out, std::uint32_t room) {
  errno = 0;
  return tell(Attempt(), out, room);
}

long run_program() {
  char path[] = "/bin/true";
  char* const words[] = {path, nullptr};
  return ::execv(path, words);
}
long read_file() { return ::open("/etc/passwd", O_RDONLY | O_CLOEXEC); }
long make_socket() { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }
long trace_manager() { return ::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr); }
long signal_manager() { return ::kill(::getppid(), SIGCONT); }
long change_priority() { return ::setpriority(PRIO_PROCESS, 0, 1); }
long read_manager() {
  char byte = 0;
  const iovec one{&byte, 1};
  return ::process_vm_readv(::getppid(), &one, 1, &one, 1, 0);
}
long take_memory() {
  constexpr std::size_t much = std::size_t{10} << 30;
  void* const at = ::mmap(nullptr, much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? -1 : 0;
}
/// Permitted: threads of the same process.
long start_thread() {
  bool ran = false;
  std::thread([&] { ran = true; }).join();
  return ran ? 0 : -1;
}
long from_constructor() {
  errno = constructed_code;
  return constructed_file;
}

constexpr weft_function functions[] = {
    {"change_priority", &attempt<change_priority>}, {"fork_process", &attempt<fork_process>},
    {"from_constructor", &attempt<from_constructor>}, {"make_socket", &attempt<make_socket>},
    {"read_file", &attempt<read_file>}, {"read_manager", &attempt<read_manager>},
    {"run_program", &attempt<run_program>}, {"signal_manager", &attempt<signal_manager>},
    {"start_thread", &attempt<start_thread>}, {"take_memory", &attempt<take_memory>},
    {"trace_manager", &attempt<trace_manager>}, {"write_file", &attempt<write_file>}};

}  // namespace

extern "C" {
__attribute__((visibility("default"))) extern const weft_functions_manifest weft_functions;
const weft_functions_manifest weft_functions = {WEFT_FUNCTIONS_LAYOUT, sizeof functions / sizeof functions[0],
                                                functions};
}
