// SPDX-License-Identifier: Apache-2.0
//
// A shared object whose functions try what a confined executor must not do. `from_constructor` tells what the
// constructor of the object could do, while the object was loaded.
#include <invocation/functions/manifest.h>

#include <fcntl.h>
#include <sched.h>
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
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace {

long fork_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  if (child > 0) ::waitpid(child, nullptr, 0);
  return child;
}
long write_file() { return ::open("/tmp/weft-hostile", O_CREAT | O_WRONLY | O_CLOEXEC, 0600); }

/// The process that this one is a copy of: a child of the manager with its own name. 0: there is none.
pid_t find_warm_parent() {
  const std::string manager = std::to_string(::getppid());
  std::ifstream children("/proc/" + manager + "/task/" + manager + "/children");
  for (pid_t child = 0; children >> child;) {
    std::string name;
    std::ifstream("/proc/" + std::to_string(child) + "/comm") >> name;
    if (name == "invocation-warm") return child;
  }
  return 0;
}

/// Memory that no limit of the address space counts. Who has such a file fills it by writes.
long make_memory_file() { return ::memfd_create("weft-hostile", MFD_CLOEXEC); }

/// The whole memory of the manager, with the secrets of other clients.
long open_memory_of_manager() {
  const std::string memory = "/proc/" + std::to_string(::getppid()) + "/mem";
  return ::open(memory.c_str(), O_RDONLY | O_CLOEXEC);
}

long constructed_file = 0, constructed_memory = 0, constructed_sight = 0;
int constructed_code = 0, constructed_memory_code = 0, constructed_sight_code = 0;
pid_t warm_parent = 0;
[[gnu::constructor]] void construct() {
  warm_parent = find_warm_parent();
  constructed_file = write_file();
  constructed_code = errno;
  constructed_memory = make_memory_file();
  constructed_memory_code = errno;
  constructed_sight = open_memory_of_manager();
  constructed_sight_code = errno;
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
/// A write to the pipe sends this signal to the process that owns the pipe's end (F_SETOWN of fcntl(2)).
long signal_by_descriptor() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) return -1;
  long done = ::fcntl(ends[0], F_SETOWN, ::getppid());
  if (done == 0) done = ::fcntl(ends[0], F_SETSIG, SIGCONT);
  if (done == 0) done = ::fcntl(ends[0], F_SETFL, O_ASYNC);
  if (done == 0) done = ::write(ends[1], "x", 1);
  const int code = errno;
  for (const int end : ends) ::close(end);
  errno = code;
  return done;
}
/// Cuts the file that the manager reads for the bill, if this process has it.
long cut_journal() {
  for (int file = 0; file < 64; ++file) {
    char name[64] = {};
    if (::readlink(("/proc/self/fd/" + std::to_string(file)).c_str(), name, sizeof name - 1) < 0) continue;
    if (std::strstr(name, "weft_journal") != nullptr) return ::ftruncate(file, 0);
  }
  return 0;  // "done" where it must be an error
}
long pin_manager() {
  cpu_set_t all;
  if (::sched_getaffinity(0, sizeof all, &all) != 0) return 0;  // "done" where it must be an error
  return ::sched_setaffinity(::getppid(), sizeof all, &all);
}
long change_priority() { return ::setpriority(PRIO_PROCESS, 0, 1); }
long read_memory_of(pid_t process) {
  char byte = 0;
  const iovec one{&byte, 1};
  return ::process_vm_readv(process, &one, 1, &one, 1, 0);
}
long read_manager() { return read_memory_of(::getppid()); }
long read_warm_parent() {
  if (warm_parent == 0) return 0;  // "done" where it must be an error
  return read_memory_of(warm_parent);
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
long memory_file_from_constructor() {
  errno = constructed_memory_code;
  return constructed_memory;
}
long memory_of_manager_from_constructor() {
  errno = constructed_sight_code;
  return constructed_sight;
}

struct attempt {
  const char* name;
  long (*run)();
};
constexpr attempt attempts[] = {{"change_priority", &change_priority},
                                {"cut_journal", &cut_journal},
                                {"fork_process", &fork_process},
                                {"from_constructor", &from_constructor},
                                {"make_memory_file", &make_memory_file},
                                {"make_socket", &make_socket},
                                {"memory_file_from_constructor", &memory_file_from_constructor},
                                {"memory_of_manager_from_constructor", &memory_of_manager_from_constructor},
                                {"pin_manager", &pin_manager},
                                {"read_file", &read_file},
                                {"read_manager", &read_manager},
                                {"read_warm_parent", &read_warm_parent},
                                {"run_program", &run_program},
                                {"signal_by_descriptor", &signal_by_descriptor},
                                {"signal_manager", &signal_manager},
                                {"start_thread", &start_thread},
                                {"take_memory", &take_memory},
                                {"trace_manager", &trace_manager},
                                {"write_file", &write_file}};

/// The input names attempts, one per line. The output has a line for each: its name, and "done" or an error's number.
std::int64_t try_each(const unsigned char* in, std::uint32_t in_bytes, unsigned char* out, std::uint32_t room) {
  std::istringstream names(std::string(reinterpret_cast<const char*>(in), in_bytes));
  std::string text;
  for (std::string name; std::getline(names, name);)
    for (const attempt& each : attempts) {
      if (name != each.name) continue;
      errno = 0;
      const long result = each.run();
      text += name + (result < 0 ? " error " + std::to_string(errno) : std::string(" done")) + "\n";
    }
  if (text.size() > room) return -1;
  std::memcpy(out, text.data(), text.size());
  return static_cast<std::int64_t>(text.size());
}

constexpr weft_function functions[] = {{"try_each", &try_each}};

}  // namespace

extern "C" {
__attribute__((visibility("default"))) extern const weft_functions_manifest weft_functions;
const weft_functions_manifest weft_functions = {WEFT_FUNCTIONS_LAYOUT, 1, functions};
}
