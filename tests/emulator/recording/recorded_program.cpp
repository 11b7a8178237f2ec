// SPDX-License-Identifier: Apache-2.0
//
// recorded-program PROVIDER [CHANGE]: sends messages and writes memory between two endpoints, and prints all that the
// fabric decided: empty polls, refused posts, the order of completions, errors, and the bytes that arrived. Those are
// random. CHANGE is another program: `larger` sends one byte more in message 7, `earlier` ends after message 7, `waits`
// polls where the others post, `dies` kills itself there. `threads` posts from two threads.
#include "../pair_of_endpoints.hpp"

#include <sys/random.h>

#include <csignal>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int messages = 12;
constexpr int changed_message = 7;

struct tally {
  int empty = 0;
  int refused = 0;
  int ended = 0;
  int arrived = 0;
  bool sent = true;  ///< The last message left.
};

/// One word for bytes that nobody can read.
std::uint64_t digest(const std::byte* bytes, std::size_t size) {
  std::uint64_t sum = 1469598103934665603U;
  for (std::size_t i = 0; i < size; ++i) sum = (sum ^ static_cast<std::uint64_t>(bytes[i])) * 1099511628211U;
  return sum;
}

void print_next(wrong::end& e, const char* side, tally& all) {
  fi_cq_data_entry entry{};
  const ssize_t n = fi_cq_read(e.cq, &entry, 1);
  if (n == -FI_EAGAIN) {
    ++all.empty;
    return;
  }
  ++all.ended;
  if (n == -FI_EAVAIL) {
    fi_cq_err_entry error{};
    (void)fi_cq_readerr(e.cq, &error, 0);
    if (error.op_context == e.contexts[2].data()) all.sent = false;
    if (error.op_context == e.contexts[0].data()) ++all.arrived;
    std::printf("%s after %d empty polls: error %d\n", side, all.empty, error.err);
    return;
  }
  const bool receives = (entry.flags & FI_RECV) != 0;
  if (receives) ++all.arrived;
  std::printf("%s after %d empty polls: flags %llx, %zu bytes, %llx\n", side, all.empty,
              static_cast<unsigned long long>(entry.flags), receives ? entry.len : 0,
              static_cast<unsigned long long>(receives ? digest(e.memory.data(), 4096) : 0));
}

void post(wrong::pair& p, tally& all, const std::function<ssize_t()>& call) {
  const auto limit = wrong::steady_clock::now() + std::chrono::seconds(10);
  while (call() == -FI_EAGAIN && wrong::steady_clock::now() < limit) {
    ++all.refused;
    print_next(p.a, "a", all);
    print_next(p.b, "b", all);
  }
}

bool polled(wrong::end& e, bool& arrived, bool& sent) {
  fi_cq_data_entry entry{};
  if (fi_cq_read(e.cq, &entry, 1) != 1) return false;
  ((entry.flags & FI_RECV) != 0 ? arrived : sent) = true;
  return true;
}

/// Sends messages to the other thread's endpoint and takes as many. Returns how many came in time.
int exchange(wrong::end& own, int count) {
  const auto limit = wrong::steady_clock::now() + std::chrono::seconds(30);
  const auto late = [&] { return wrong::steady_clock::now() > limit; };
  for (int i = 0; i < count; ++i) {
    bool arrived = false;
    bool sent = false;
    const std::size_t bytes = 100 + static_cast<std::size_t>(i);
    while (!late() && fi_recv(own.ep, own.memory.data(), 4096, fi_mr_desc(own.mr), FI_ADDR_UNSPEC,
                              own.contexts[0].data()) == -FI_EAGAIN) {
    }
    while (!late() && fi_send(own.ep, own.memory.data() + 4096, bytes, fi_mr_desc(own.mr), own.other,
                              own.contexts[1].data()) == -FI_EAGAIN)
      (void)polled(own, arrived, sent);
    while (!late() && !(arrived && sent)) (void)polled(own, arrived, sent);
    if (!arrived || !sent) return i;
  }
  return count;
}

/// Two threads of one program post in an order by chance.
int run_threads(wrong::pair& p) {
  constexpr int count = 40;
  std::array<int, 2> arrived{};
  std::thread other([&] { arrived[1] = exchange(p.b, count); });
  std::thread one([&] { arrived[0] = exchange(p.a, count); });
  one.join();
  other.join();
  std::printf("%d and %d arrived\n", arrived[0], arrived[1]);
  return arrived[0] == count && arrived[1] == count ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: recorded-program PROVIDER [larger|earlier|waits|dies|threads]\n");
    return 2;
  }
  const std::string change = argc > 2 ? argv[2] : "";
  wrong::pair p = wrong::open_pair(argv[1], 0, wrong::all_modes);
  wrong::meet(p);
  if (change == "threads") return run_threads(p);
  tally all;
  int received = 0;
  bool open = false;  ///< A receive waits.
  for (int i = 0; i < messages; ++i) {
    std::size_t bytes = static_cast<std::size_t>(i) * 100 + 1;
    if (i == changed_message && change == "larger") ++bytes;
    if (i == changed_message && change == "earlier") break;
    if (i == changed_message && change == "dies") (void)std::raise(SIGKILL);
    while (i == changed_message && change == "waits") print_next(p.b, "b", all);
    std::vector<std::byte> drawn(bytes);  // in no region: only the record of getrandom has it
    if (getrandom(drawn.data(), bytes, 0) != static_cast<ssize_t>(bytes)) return 1;
    std::memcpy(p.a.memory.data(), drawn.data(), bytes);
    if (!std::exchange(open, true))
      post(p, all, [&] {
        return fi_recv(p.b.ep, p.b.memory.data(), 4096, fi_mr_desc(p.b.mr), FI_ADDR_UNSPEC, p.b.contexts[0].data());
      });
    post(p, all,
         [&] { return wrong::write(p, 0, bytes, wrong::base(p) + 8192, wrong::descriptor(p), wrong::context(p, 1)); });
    post(p, all, [&] {
      return fi_send(p.a.ep, p.a.memory.data(), bytes, wrong::descriptor(p), p.a.other, wrong::context(p, 2));
    });
    const auto limit = wrong::steady_clock::now() + std::chrono::seconds(10);
    for (int late = 0; late < 50 && wrong::steady_clock::now() < limit;) {  // a message that failed may arrive or not
      print_next(p.a, "a", all);
      print_next(p.b, "b", all);
      if (all.ended - all.arrived == 2 * (i + 1) && (all.arrived > received || !all.sent)) ++late;
    }
    open = all.arrived == received;
    received = all.arrived;
    all.sent = true;
    std::printf("message %d of %llx: %d refused posts, memory %llx\n", i,
                static_cast<unsigned long long>(digest(drawn.data(), bytes)), all.refused,
                static_cast<unsigned long long>(digest(p.b.memory.data() + 8192, 4096)));
  }
  std::printf("%d ends, %d arrived\n", all.ended, all.arrived);
  return all.ended - all.arrived == 2 * messages ? 0 : 1;
}
