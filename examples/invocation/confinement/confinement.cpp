// SPDX-License-Identifier: Apache-2.0
#include "confinement.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/landlock.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

namespace weft::invocation {
namespace {

using filter = std::unique_ptr<void, void (*)(void*)>;

std::string words_of(int code) { return std::strerror(code); }  // NOLINT(concurrency-mt-unsafe): cold, and only text

failure refused(const char* call, int code, const std::string& what) {
  return {{errc::native, origin::system, code, call}, what + ": " + words_of(code)};
}

// Names, not numbers: libseccomp ignores those that this processor's kernel does not have.
// No call here makes a memory file: what a process writes to one is outside of its address space, which has the limit.
constexpr const char* permitted[] = {
    // bytes of open descriptors
    "read", "write", "readv", "writev", "pread64", "pwrite64", "lseek", "close", "close_range", "dup", "dup2", "dup3",
    "fstat", "newfstatat", "statx", "readlink", "readlinkat", "access", "faccessat", "faccessat2", "getdents64",
    "getcwd", "pipe2",
    // sockets that are open; a listener accepts
    "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "shutdown", "accept", "accept4", "getsockopt",
    "setsockopt", "getsockname", "getpeername",
    // waiting
    "poll", "ppoll", "select", "pselect6", "epoll_wait", "epoll_pwait", "epoll_pwait2", "epoll_ctl", "epoll_create1",
    "eventfd2", "timerfd_create", "timerfd_settime", "timerfd_gettime", "futex", "futex_waitv", "nanosleep",
    "clock_nanosleep", "sched_yield", "pidfd_open",
    // memory
    "mmap", "munmap", "mremap", "mprotect", "madvise", "mlock", "mlock2", "munlock", "msync", "brk", "membarrier",
    // threads and signals of this process
    "set_robust_list", "get_robust_list", "rseq", "rt_sigaction", "rt_sigprocmask", "rt_sigreturn", "rt_sigtimedwait",
    "rt_sigsuspend", "sigaltstack", "restart_syscall", "sched_getaffinity", "getcpu", "exit", "exit_group",
    // questions
    "clock_gettime", "clock_getres", "gettimeofday", "times", "getrusage", "sysinfo", "uname", "getrandom", "getpid",
    "gettid", "getppid", "getuid", "geteuid", "getgid", "getegid", "getrlimit",
    // a further filter only takes away
    "seccomp"};

// Requests of fcntl(2). F_SETOWN is none of them: the kernel would send signals of a descriptor to any process of the
// same user, so to the manager.
constexpr int permitted_of_fcntl[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GET_SEALS};

/// A condition of a rule: an argument of the call, and its value, or some bits of it.
scmp_arg_cmp equals(unsigned argument, std::uint64_t value) noexcept { return {argument, SCMP_CMP_EQ, value, 0}; }
scmp_arg_cmp has_bits(unsigned argument, std::uint64_t of, std::uint64_t value) noexcept {
  return {argument, SCMP_CMP_MASKED_EQ, of, value};
}

/// Adds rules until one fails, and keeps the failure.
class rules {
 public:
  rules(void* to, std::uint32_t action) noexcept : to_(to), action_(action) {}

  template <class... Comparison>
  void add(const char* call, Comparison... compare) noexcept {
    const int number = ::seccomp_syscall_resolve_name(call);
    if (code_ != 0 || number == __NR_SCMP_ERROR) return;
    code_ = ::seccomp_rule_add(to_, action_, number, sizeof...(compare), compare...);
  }
  int code() const noexcept { return code_; }

 private:
  void* to_;
  std::uint32_t action_;
  int code_ = 0;
};

/// An empty filter for all threads; none without memory.
filter filter_with(std::uint32_t otherwise) {
  filter made(::seccomp_init(otherwise), &::seccomp_release);
  if (!made) return made;
  // NNP would call prctl(2), which the first filter denies to the second; the executor has set it. SYSRAWRC: errors are
  // the kernel's own.
  if (::seccomp_attr_set(made.get(), SCMP_FLTATR_CTL_TSYNC, 1) != 0 ||
      ::seccomp_attr_set(made.get(), SCMP_FLTATR_CTL_NNP, 0) != 0 ||
      ::seccomp_attr_set(made.get(), SCMP_FLTATR_API_SYSRAWRC, 1) != 0)
    made.reset();
  return made;
}

result<void> load(const filter& made, int code) {
  if (code == 0) code = ::seccomp_load(made.get());
  if (code != 0) return refused("seccomp_load", -code, "the kernel takes no filter of system calls");
  return {};
}

constexpr std::uint64_t writes = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;

constexpr const char* memory_of_others[] = {"process_vm_readv", "process_vm_writev"};

result<void> filter_calls(bool reaches_neighbours) {
  const filter made = filter_with(SCMP_ACT_ERRNO(EPERM));
  if (!made) return {error(errc::no_memory, "seccomp_init"), "no memory for a filter of system calls"};
  rules allow(made.get(), SCMP_ACT_ALLOW);
  for (const char* call : permitted) allow.add(call);
  allow.add("openat", has_bits(2, writes, 0));
  allow.add("open", has_bits(1, writes, 0));
  allow.add("clone", has_bits(0, CLONE_THREAD, CLONE_THREAD));
  allow.add("tgkill", equals(0, static_cast<std::uint64_t>(::getpid())));
  allow.add("sched_setaffinity", equals(0, 0));  // of the calling thread
  allow.add("prlimit64", equals(2, 0));          // asks for a limit, and sets none
  for (const int option : {PR_SET_NAME, PR_GET_NAME}) allow.add("prctl", equals(0, static_cast<std::uint64_t>(option)));
  for (const int request : permitted_of_fcntl) allow.add("fcntl", equals(1, static_cast<std::uint64_t>(request)));
  // Devices of RDMA are driven by requests of this kind. The requests of terminals stay denied: one of them types
  // commands into the terminal of the manager.
  constexpr std::uint64_t kind_of_request = 0xff00;
  constexpr std::uint64_t rdma = 0x1b00;  // RDMA_IOCTL_MAGIC of rdma/rdma_user_ioctl_cmds.h
  allow.add("ioctl", has_bits(1, kind_of_request, rdma));
  for (const int request : {FIONREAD, FIONBIO}) allow.add("ioctl", equals(1, static_cast<std::uint64_t>(request)));
  // A library of one host moves large transfers by these calls. Their peers are processes of the same user, which could
  // read each other anyway.
  if (reaches_neighbours)
    for (const char* call : memory_of_others)
      allow.add(call, scmp_arg_cmp{0, SCMP_CMP_NE, static_cast<std::uint64_t>(::getppid()), 0});
  rules without(made.get(), SCMP_ACT_ERRNO(ENOSYS));
  without.add("clone3");  // its flags are in memory, which no filter reads: the C library tries clone next
  return load(made, allow.code() != 0 ? allow.code() : without.code());
}

/// One rule compares an argument with one value, so the second forbidden process has a filter of its own.
result<void> close_memory_of(std::int32_t process) {
  const filter made = filter_with(SCMP_ACT_ALLOW);
  if (!made) return {error(errc::no_memory, "seccomp_init"), "no memory for a filter of system calls"};
  rules deny(made.get(), SCMP_ACT_ERRNO(EPERM));
  for (const char* call : memory_of_others) deny.add(call, equals(0, static_cast<std::uint64_t>(process)));
  return load(made, deny.code());
}

result<void> limit(__rlimit_resource what, rlim_t most, const char* name) {
  const rlimit both{most, most};
  if (::setrlimit(what, &both) != 0) return refused("setrlimit", errno, std::string("the limit ") + name);
  return {};
}

/// Whether a descriptor of this process is a device, other than memory devices and terminals. Drivers of RDMA devices
/// (ib_safe_file_access() of the kernel) take no request of a thread that entered a domain after the device was opened.
bool drives_a_device() {
  std::error_code none;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd", none)) {
    struct stat about {};
    if (::stat(each.path().c_str(), &about) != 0 || !S_ISCHR(about.st_mode)) continue;
    const unsigned kind = major(about.st_rdev);  // Documentation/admin-guide/devices.txt of Linux
    const bool is_terminal = kind == 4 || kind == 5 || (kind >= 136 && kind <= 143);
    if (kind != 1 && !is_terminal) return true;
  }
  return false;
}

/// Address space of the process now, in bytes; 0 where the kernel does not say.
std::uint64_t address_space() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

result<void> become(const std::string& user) {
  const passwd* const found = ::getpwnam(user.c_str());  // NOLINT(concurrency-mt-unsafe): one thread yet
  if (found == nullptr)
    return {error(errc::invalid, "getpwnam"), "there is no user " + user + " for executors (--executor-user)"};
  if (::setgroups(0, nullptr) != 0 || ::setresgid(found->pw_gid, found->pw_gid, found->pw_gid) != 0 ||
      ::setresuid(found->pw_uid, found->pw_uid, found->pw_uid) != 0)
    return refused("setresuid", errno, "the executor cannot become user " + user + "; the manager must be root for it");
  return {};
}

result<void> close_other_processes(const confinement& c) {
  if (!c.filter || c.reaches_neighbours || drives_a_device()) return {};
  // A domain of Landlock must deny something; the filter denies device nodes too. What counts here: a process in a
  // domain may not trace one outside, and /proc asks that for the memory of others, also of root.
  const std::uint64_t denied = LANDLOCK_ACCESS_FS_MAKE_CHAR;
  const auto domain = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &denied, sizeof denied, 0));
  if (domain < 0 && (errno == ENOSYS || errno == EOPNOTSUPP)) return {};
  const bool entered = domain >= 0 && ::syscall(SYS_landlock_restrict_self, domain, 0) == 0;
  const int code = errno;
  if (domain >= 0) ::close(domain);
  if (!entered) return refused("landlock_restrict_self", code, "the kernel closes no other processes to the executor");
  return {};
}

result<void> confine(const confinement& c) {
  if (auto set = limit(RLIMIT_CORE, 0, "of core files"); !set) return set;  // a core file holds the tokens
  if (c.memory_mib != 0) {
    const std::uint64_t now = address_space();
    if (now == 0) return {error(errc::native, "confine"), "/proc/self/statm does not tell the size of the executor"};
    if (auto set = limit(RLIMIT_AS, now + (std::uint64_t{c.memory_mib} << 20), "of memory"); !set) return set;
  }
  if (!c.filter) return {};
  if (c.reaches_neighbours && c.warm_parent != 0)
    if (auto closed = close_memory_of(c.warm_parent); !closed) return closed;
  return filter_calls(c.reaches_neighbours);
}

result<void> deny_files() {
  const filter made = filter_with(SCMP_ACT_ALLOW);
  if (!made) return {error(errc::no_memory, "seccomp_init"), "no memory for a filter of system calls"};
  rules deny(made.get(), SCMP_ACT_ERRNO(EACCES));
  for (const char* call : {"openat", "open", "openat2", "seccomp"}) deny.add(call);
  return load(made, deny.code());
}

}  // namespace weft::invocation
