// SPDX-License-Identifier: Apache-2.0
//
// Reads the order from the environment when main() begins, and writes a report when it ends: the number of calls of
// each point, the blocks and descriptors that are left. A call that fails is recorded before, with its stack.
#include "decision.hpp"

#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace faults {
namespace {

struct order {
  const char* call = "";         // The point that fails.
  std::uint64_t at = 0;          // Its call that fails, from 1; 0: none.
  int error = 0;                 // 0: the call is recorded and proceeds.
  bool kills = false;            // The process dies there instead.
  bool program_only = true;      // Other callers are not counted.
  const char* report = nullptr;  // Path without its end.
};
struct range {
  std::uintptr_t from, to;
};
struct block {
  const void* at;
  std::size_t bytes;
  const point* how;
  std::uint64_t number;
};

constexpr std::size_t most_ranges = 16, most_blocks = std::size_t{1} << 18, most_descriptors = 4096;
order orders;
range ranges[most_ranges];
std::size_t range_count = 0;
std::atomic<point*> first_point = nullptr;
std::atomic<bool> running = false;
std::atomic_flag busy = ATOMIC_FLAG_INIT;
block blocks[most_blocks];
std::size_t block_count = 0;
bool open_before[most_descriptors];
thread_local bool inside = false;

struct lock {
  lock() noexcept {
    while (busy.test_and_set(std::memory_order_acquire)) continue;
  }
  ~lock() { busy.clear(std::memory_order_release); }
};

// The system's own calls: the interposed ones would count.
long plain(long number, long a, long b, long c, long d) noexcept {
  static const auto real = next<long(long, ...)>("syscall");
  return real(number, a, b, c, d);
}
int create(const char* path) noexcept {
  return static_cast<int>(plain(SYS_openat, AT_FDCWD, reinterpret_cast<long>(path), O_WRONLY | O_CREAT | O_EXCL, 0644));
}
void put(int file, const char* line, int length) noexcept {
  (void)plain(SYS_write, file, reinterpret_cast<long>(line), length, 0);
}

int add_ranges(dl_phdr_info* object, std::size_t, void*) noexcept {
  const bool program = object->dlpi_name == nullptr || *object->dlpi_name == 0;
  if (!program && std::strstr(object->dlpi_name, "libstdc++") == nullptr) return 0;
  for (int i = 0; i < object->dlpi_phnum && range_count < most_ranges; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    ranges[range_count++] = {object->dlpi_addr + part.p_vaddr, object->dlpi_addr + part.p_vaddr + part.p_memsz};
  }
  return 0;
}

void list(point& p) noexcept {
  if (p.listed.exchange(true)) return;
  p.next = first_point.load();
  while (!first_point.compare_exchange_weak(p.next, &p)) continue;
}

/// Once in a run, also where several processes have the same order. Writes the call and its stack.
bool record(const point& p) noexcept {
  char path[4096], line[256];
  (void)std::snprintf(path, sizeof path, "%s.fired", orders.report);
  const int file = create(path);
  if (file < 0) return false;
  put(file, line,
      std::snprintf(line, sizeof line, "%s %llu %d\n", p.name, static_cast<unsigned long long>(orders.at),
                    static_cast<int>(::getpid())));
  void* frames[24];
  const int depth = ::backtrace(frames, 24);
  ::backtrace_symbols_fd(frames, depth, file);
  (void)plain(SYS_close, file, 0, 0, 0);
  return true;
}

std::size_t home(const void* at) noexcept {
  return (reinterpret_cast<std::uintptr_t>(at) >> 4) * 0x9e3779b97f4a7c15U >> 46;
}
static_assert(most_blocks == std::size_t{1} << (64 - 46));

void begin() noexcept {
  const char* const report = std::getenv("WEFT_FAULTS_REPORT");
  if (report == nullptr) return;
  const auto said = [](const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  orders.report = report;
  orders.program_only = std::strcmp(said("WEFT_FAULTS_FROM"), "all") != 0;
  if (std::strcmp(said("WEFT_FAULTS_PROGRAM"), program_invocation_short_name) == 0) {
    orders.call = said("WEFT_FAULTS_CALL");
    orders.at = std::strtoull(said("WEFT_FAULTS_AT"), nullptr, 10);
    orders.error = static_cast<int>(std::strtol(said("WEFT_FAULTS_ERROR"), nullptr, 10));
    orders.kills = *said("WEFT_FAULTS_KILL") != 0;
  }
  ::dl_iterate_phdr(add_ranges, nullptr);
  void* warm[2];
  (void)::backtrace(warm, 2);  // loads its library now, not when memory has run out
  for (int i = 0; i < static_cast<int>(most_descriptors); ++i) open_before[i] = plain(SYS_fcntl, i, F_GETFD, 0, 0) >= 0;
  running = true;
}

void end(int code) noexcept {
  if (!running.exchange(false)) return;
  char path[4096], line[4608];
  (void)std::snprintf(path, sizeof path, "%s.%d", orders.report, static_cast<int>(::getpid()));
  const int file = create(path);
  if (file < 0) return;
  put(file, line, std::snprintf(line, sizeof line, "program %s\nexit %d\n", program_invocation_short_name, code));
  for (const point* p = first_point; p != nullptr; p = p->next)
    put(file, line,
        std::snprintf(line, sizeof line, "calls %s %llu\n", p->name, static_cast<unsigned long long>(p->seen.load())));
  for (int i = 0; i < static_cast<int>(most_descriptors); ++i) {
    if (i == file || open_before[i] || plain(SYS_fcntl, i, F_GETFD, 0, 0) < 0) continue;
    char link[64], where[4096];
    (void)std::snprintf(link, sizeof link, "/proc/self/fd/%d", i);
    const ssize_t length = ::readlink(link, where, sizeof where - 1);
    where[length < 0 ? 0 : length] = 0;
    put(file, line, std::snprintf(line, sizeof line, "descriptor %d %s\n", i, where));
  }
  const lock held;
  for (const block& b : blocks)
    if (b.at != nullptr)
      put(file, line,
          std::snprintf(line, sizeof line, "block %zu %s %llu\n", b.bytes, b.how->name,
                        static_cast<unsigned long long>(b.number)));
  (void)plain(SYS_close, file, 0, 0, 0);
}

int (*real_main)(int, char**, char**) = nullptr;
int interposed_main(int argc, char** argv, char** environment) {
  begin();
  const int code = real_main(argc, argv, environment);
  end(code);
  return code;
}

}  // namespace

bool from_program(const void* caller) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  for (std::size_t i = 0; i < range_count; ++i)
    if (at >= ranges[i].from && at < ranges[i].to) return true;
  return false;
}

bool in_main() noexcept { return running.load(std::memory_order_relaxed); }

int decide(point& p, const void* caller) noexcept {
  if (!running.load(std::memory_order_relaxed) || inside) return 0;
  if (orders.program_only && !from_program(caller)) return 0;
  list(p);
  const std::uint64_t number = p.seen.fetch_add(1) + 1;
  if (number != orders.at || std::strcmp(p.name, orders.call) != 0) return 0;
  const int before = errno;
  inside = true;
  const bool first = record(p);
  inside = false;
  errno = before;
  if (!first) return 0;
  if (orders.kills) {
    (void)plain(SYS_kill, ::getpid(), SIGKILL, 0, 0);
    for (;;) ::pause();
  }
  return orders.error;
}

void keep(const void* at, std::size_t bytes, const point& p, const void* caller) noexcept {
  if (at == nullptr || !running.load(std::memory_order_relaxed) || inside || !from_program(caller)) return;
  const lock held;
  if (block_count * 2 > most_blocks) return;
  std::size_t i = home(at);
  while (blocks[i].at != nullptr) i = (i + 1) % most_blocks;
  blocks[i] = {at, bytes, &p, p.seen.load()};
  ++block_count;
}

void drop(const void* at) noexcept {
  if (at == nullptr || !running.load(std::memory_order_relaxed) || inside) return;
  const lock held;
  std::size_t i = home(at);
  for (; blocks[i].at != at; i = (i + 1) % most_blocks)
    if (blocks[i].at == nullptr) return;
  --block_count;
  // Later entries of the same run move up, so that no search ends before them.
  for (std::size_t j = (i + 1) % most_blocks; blocks[j].at != nullptr; j = (j + 1) % most_blocks) {
    const std::size_t wanted = home(blocks[j].at);
    if ((j - wanted) % most_blocks < (j - i) % most_blocks) continue;
    blocks[i] = blocks[j];
    i = j;
  }
  blocks[i] = {};
}

}  // namespace faults

using main_function = int(int, char**, char**);
extern "C" __attribute__((visibility("default"))) int interposed_start(main_function* begin, int argc, char** argv,
                                                                       void (*start)(), void (*stop)(),
                                                                       void (*unload)(),
                                                                       void* stack) __asm__("__libc_start_main");
extern "C" int interposed_start(main_function* begin, int argc, char** argv, void (*start)(), void (*stop)(),
                                void (*unload)(), void* stack) {
  faults::real_main = begin;
  return faults::next<decltype(interposed_start)>("__libc_start_main")(faults::interposed_main, argc, argv, start, stop,
                                                                       unload, stack);
}
extern "C" __attribute__((visibility("default"), noreturn)) void interposed_exit(int code) __asm__("exit");
extern "C" void interposed_exit(int code) {
  faults::end(code);
  faults::next<void(int)>("exit")(code);
  __builtin_unreachable();
}
