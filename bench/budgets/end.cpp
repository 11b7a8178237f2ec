// SPDX-License-Identifier: Apache-2.0
//
// The smallest whole use of a fabric: two processes connect, and one put_notify goes each way. The file is built twice,
// over weft and by hand (WEFT_BUDGET_BY_HAND). The difference is what weft adds to compile time, code and memory. Hot
// path: no. Threads: one per process.
#include "../../compose/selected.hpp"
#if defined(WEFT_BUDGET_BY_HAND)
#include "../raw_pingpong/raw_end.hpp"
#else
#include "../transport/weft_end.hpp"
#endif

#include <thread>

namespace {
using namespace weft::bench;
constexpr std::size_t size = 64;

#if defined(WEFT_BUDGET_BY_HAND)
struct user {
  user(const channel& to, bool first) : end(to, first, size) {}
  void poll_once() { end.poll(); }
  raw_end<weft::selected> end;
};
#else
struct user {
  user(const channel& to, bool first) : pair(to, first, size), end(pair) {}
  void poll_once() {
    pair.net.progress([](auto&&) {});
  }  // while both leave: a goodbye is no loss to report
  weft_pair<weft::selected> pair;
  weft_end<weft::selected, carrier::put_notify> end;
};
#endif

std::size_t resident_kib() {
  std::size_t whole = 0, pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r"); file != nullptr) {
    if (std::fscanf(file, "%zu %zu", &whole, &pages) != 2) pages = 0;
    (void)std::fclose(file);
  }
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
}

int side(const channel& to, bool first) {
  user u(to, first);
  const auto put_notice = [&] {
    while (!u.end.post<ending::unsignalled>(size, 1)) u.end.poll();
  };
  const auto await_notice = [&] {
    while (u.end.poll() == 0) std::this_thread::yield();
  };
  if (first) {
    put_notice();
    await_notice();
    std::printf("%zu\n", resident_kib());
  } else {
    await_notice();
    put_notice();
  }
  to.part(first, [&] { u.poll_once(); });
  return 0;
}
}  // namespace

int main() {
  return two_processes(
      60, [](const channel& to) { return side(to, true); }, [](const channel& to) { return side(to, false); });
}
