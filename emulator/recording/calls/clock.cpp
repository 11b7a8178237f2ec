// SPDX-License-Identifier: Apache-2.0
#include "clock.hpp"

#include "call.hpp"
#include "session.hpp"

#include <dlfcn.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

namespace weft::recording {
namespace {

using clock_function = int (*)(clockid_t, timespec*);

int machine_clock(clockid_t which, timespec* into) {
  static const auto real = reinterpret_cast<clock_function>(dlsym(RTLD_NEXT, "clock_gettime"));
  return real != nullptr ? real(which, into) : static_cast<int>(syscall(SYS_clock_gettime, which, into));
}

bool runs_with_the_record(clockid_t which) {
  return which == CLOCK_REALTIME || which == CLOCK_MONOTONIC || which == CLOCK_MONOTONIC_RAW ||
         which == CLOCK_REALTIME_COARSE || which == CLOCK_MONOTONIC_COARSE || which == CLOCK_BOOTTIME;
}

std::uint64_t in_ns(const timespec& t) {
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(t.tv_nsec);
}

int program_clock(clockid_t which, timespec* into) {
  const int refused = machine_clock(which, into);
  if (refused != 0 || inside_library > 0 || !session::known_thread() || !runs_with_the_record(which)) return refused;
  session& s = session::get();
  if (s.how() == mode::recording) s.last_seen_ns.store(s.now_ns());
  if (s.how() != mode::replaying) return 0;
  // Differences of times are what they were: the replay may be behind the record, or ahead of it.
  const std::uint64_t at = in_ns(*into) + s.program_ns() - s.now_ns();
  into->tv_sec = static_cast<time_t>(at / 1'000'000'000);
  into->tv_nsec = static_cast<long>(at % 1'000'000'000);
  return 0;
}

}  // namespace

std::chrono::steady_clock::time_point machine_now() {
  timespec t{};
  (void)machine_clock(CLOCK_MONOTONIC, &t);
  return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(in_ns(t)));
}

}  // namespace weft::recording

using namespace weft::recording;

extern "C" {

__attribute__((visibility("default"))) int clock_gettime(clockid_t which, timespec* into) noexcept {
  return program_clock(which, into);
}

__attribute__((visibility("default"))) int gettimeofday(timeval* into, void* /*zone*/) noexcept {
  timespec t{};
  const int refused = program_clock(CLOCK_REALTIME, &t);
  *into = {t.tv_sec, static_cast<suseconds_t>(t.tv_nsec / 1000)};
  return refused;
}

__attribute__((visibility("default"))) time_t time(time_t* into) noexcept {
  timespec t{};
  (void)program_clock(CLOCK_REALTIME, &t);
  if (into != nullptr) *into = t.tv_sec;
  return t.tv_sec;
}

__attribute__((visibility("default"))) ssize_t getrandom(void* into, std::size_t size, unsigned flags) {
  const auto real = [&]() -> std::int64_t { return syscall(SYS_getrandom, into, size, flags); };
  if (inside_library > 0 || !session::begun() || is_of_library(__builtin_return_address(0)) ||
      session::get().how() == mode::off)
    return real();
  call c(nullptr, "getrandom");
  c.in("size", size).in("flags", flags);
  const ssize_t given = c.answer(real);
  std::size_t count = given < 0 ? 0 : static_cast<std::size_t>(given);
  c.out_bytes("bytes", into, size, count, true);
  if (given < 0) errno = EAGAIN;
  return given;
}
}
