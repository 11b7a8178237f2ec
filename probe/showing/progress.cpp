// SPDX-License-Identifier: Apache-2.0
//
// Who moves the bytes, who wakes a sleeping process, and who reports a death. A sleeping target makes no library call;
// the library's own threads continue and are counted. Hot path: no. Threads: one owner per process.
#include "../behaviours.hpp"
#include "../endpoint_pair.hpp"

#include <poll.h>
#include <rdma/fi_domain.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>

namespace weft::probe {

namespace {

constexpr std::size_t small_at = 4096, large_at = 65536, large = 65536;

std::size_t threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

void progress_initiator(const role& self) {
  endpoint_pair net(self.about, {}, self.side, true);
  self.report.fact("reply",
                   std::string(net.info().domain_attr->data_progress == FI_PROGRESS_AUTO ? "automatic" : "manual"));
  net.warm_up();
  self.side.send_value(1);
  self.side.wait_for_value();  // sleeps
  std::memset(net.page(), 0x66, large);
  require(net.insist([&] { return net.write({.to = small_at, .context = 1}); }, milliseconds(300)), "fi_writemsg");
  const ssize_t second =
      net.insist([&] { return net.write({.size = large, .to = large_at, .context = 2}); }, milliseconds(300));
  const bool ended = net.until([&] { return net.ended(1) > 0 && net.ended(2) > 0; }, milliseconds(400));
  self.report.fact("ended_while_target_slept", ended);
  self.side.send_value(1);
  self.side.wait_for_value();
  if (second != 0)
    require(net.insist([&] { return net.write({.size = large, .to = large_at, .context = 2}); }), "fi_writemsg");
  self.report.fact("ended_once_target_polled", net.until([&] { return net.ended(1) > 0 && net.ended(2) > 0; }));
  net.until([&] { return self.side.ready(); }, milliseconds(3000));
}

void progress_target(const role& self) {
  endpoint_pair net(self.about, {}, self.side, false);
  net.serve();
  self.side.send_value(1);
  self.side.wait_for_value();
  const volatile std::byte* small = net.page() + small_at;
  const volatile std::byte* last = net.page() + large_at + large - 1;
  self.report.fact("small_landed_while_asleep", *small == std::byte{0x66});
  self.report.fact("large_landed_while_asleep", *last == std::byte{0x66});
  self.report.fact("library_threads", threads() - 1);
  self.side.send_value(1);
  self.report.fact("landed_once_polled",
                   net.until([&] { return *small == std::byte{0x66} && *last == std::byte{0x66}; }));
  self.side.send_value(1);
}

constexpr int naps = 40;
constexpr milliseconds longest_nap{500};

void pause(long microseconds) {
  const std::timespec length{0, microseconds * 1000};
  nanosleep(&length, nullptr);
}

void waiting_initiator(const role& self) {
  endpoint_pair net(self.about, {.sleeps = true, .receives = naps + 8}, self.side, true);
  if (self.side.wait_for_value() == 0) return;
  net.warm_up();
  self.side.send_value(1);
  for (int i = 0; i < naps; ++i) {
    pause(i % 4 == 0 ? 0 : 400L * (i % 7));
    net.came.clear();
    require(net.insist([&] { return net.send({.context = 1}); }), "fi_sendmsg");
    if (!net.until([&] { return net.ended(1) > 0; })) throw refused{"a message", FI_ETIMEDOUT};
  }
  net.until([&] { return self.side.ready(); }, milliseconds(4000));
}

/// Sleeps on the descriptor as fi_poll(3) says. Returns whether it was woken (or need not sleep).
bool nap(endpoint_pair& net, int descriptor) {
  fid* object = &net.queue()->fid;
  if (fi_trywait(net.fabric(), &object, 1) != FI_SUCCESS) return true;
  pollfd one{descriptor, POLLIN, 0};
  return ::poll(&one, 1, static_cast<int>(longest_nap.count())) > 0;
}

void waiting_target(const role& self) {
  endpoint_pair net(self.about, {.sleeps = true, .receives = naps + 8}, self.side, false);
  int descriptor = -1;
  const int said = fi_control(&net.queue()->fid, FI_GETWAIT, &descriptor);
  self.report.fact("descriptor", said == 0);
  if (said != 0) self.report.fact("said", error_name(said));
  self.side.send_value(said == 0 ? 1 : 0);
  if (said != 0) return;
  net.serve();
  int lost = 0;
  for (int round = 0; round < 200 && net.received().size() < naps && lost < 4; ++round) {
    const bool woken = nap(net, descriptor);
    const std::size_t before = net.received().size();
    net.poll();
    lost += !woken && net.received().size() > before;
  }
  self.report.fact("messages", net.received().size());
  self.report.fact("lost_wake_ups", lost);
  self.side.send_value(1);
}

void killed_peer_initiator(const role& self) {
  endpoint_pair net(self.about, {}, self.side, true);
  net.warm_up();
  self.side.send_value(1);
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [&] {
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin).count();
  };
  const bool learned = net.until([&] { return net.ends > 0 || net.failure() != 0; }, milliseconds(2000));
  self.report.fact("waiter_learned", learned);
  if (learned) self.report.fact("waiter_ms", since());
  net.came.clear();
  const ssize_t posted = net.insist([&] { return net.write({.context = 1}); }, milliseconds(800));
  if (posted == 0) net.until([&] { return net.ended(1) > 0 || net.failure() != 0; }, milliseconds(800));
  self.report.fact("post_afterwards", posted != 0          ? "refused: " + error_name(posted)
                                      : net.failure() != 0 ? "error: " + error_name(net.failure())
                                      : net.ended(1) > 0   ? "success"
                                                           : "silence");
}

void killed_peer_target(const role& self) {
  endpoint_pair net(self.about, {}, self.side, false);
  net.serve();
  raise(SIGKILL);
}

}  // namespace

const behaviour progress{"progress", "do bytes arrive while the target sleeps?", progress_initiator, progress_target};
const behaviour waiting{"waiting", "does a descriptor wake its sleeper every time?", waiting_initiator, waiting_target};
const behaviour killed_peer{"killed_peer", "does a waiting side detect a killed peer?", killed_peer_initiator,
                            killed_peer_target};

}  // namespace weft::probe
