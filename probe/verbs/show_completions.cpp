// SPDX-License-Identifier: Apache-2.0
//
// Completions of a device: the error of a refused write, whether a read after a write proves its arrival, and whether
// unsignalled work stays silent. Also who moves the bytes, who wakes a sleeping process, and who detects a killed peer.
// Hot path: no. Threads: one owner per process.
#include "../behaviours.hpp"
#include "card.hpp"

#include <fcntl.h>
#include <poll.h>
#include <csignal>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string>

namespace weft::probe {

namespace {

using cards::card;

constexpr std::uint32_t large = 65536;
constexpr std::size_t place = std::size_t{1} << 18;

void serving_target(const role& self) {
  card net(self.about, {}, self.side, false);
  net.serve();
}

/// A write, then a read, while the target sleeps and only reads its memory. InfiniBand verbs have no completion that
/// promises more.
void delivery_initiator(const role& self) {
  card net(self.about, {}, self.side, true);
  net.warm_up();
  self.told.fact("offered", net.internet_wire());
  if (!net.internet_wire()) {
    self.side.tell(0);
    throw refused{"asking for delivery: verbs have no flag for it", EOPNOTSUPP};
  }
  bool ended = true, premature = false;
  for (std::uint32_t round = 1; round <= 12; ++round) {
    net.came.clear();
    std::memset(net.page(), static_cast<int>(round), large);
    net.must({.size = large, .to = place, .flags = 0, .context = 1}, "ibv_post_send(write)");
    net.must({.what = IBV_WR_RDMA_READ, .from = place, .to = 0, .context = 2}, "ibv_post_send(read)");
    ended = net.until([&] { return net.ended(2) > 0; }) && ended;
    self.side.tell(round);
    premature = self.side.hear() == 0 || premature;
  }
  self.told.fact("ended_while_target_slept", ended);
  self.told.fact("ended", ended);
  self.told.fact("ended_before_delivery", premature);
  self.side.tell(0);
}

void delivery_target(const role& self) {
  card net(self.about, {}, self.side, false);
  for (std::uint64_t round = self.side.hear(); round != 0; round = self.side.hear()) {
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::byte* first = net.page() + place;
    self.side.tell(std::all_of(first, first + large, [&](std::byte each) { return each == std::byte(round); }) ? 1 : 0);
  }
}

/// One write that the target must refuse; reports its completion.
void refuse(const role& self, card& net, std::size_t to) {
  const auto begin = std::chrono::steady_clock::now();
  if (const int said = net.post({.to = to, .context = 1}); said != 0) {
    self.told.fact("plain", "refused when posted: " + error_name(said));
    return;
  }
  net.until([&] { return net.ended(1) > 0; });
  const ibv_wc_status failed = net.failure();
  self.told.fact("plain", failed != IBV_WC_SUCCESS ? "error"
                          : net.ended(1) > 0       ? "success"
                          : net.ends > 0           ? "connection ended"
                                                   : "silence");
  if (failed != IBV_WC_SUCCESS) self.told.fact("plain_error", std::string(ibv_wc_status_str(failed)));
  self.told.fact("plain_ms",
                 std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin).count());
}

void wrong_key_initiator(const role& self) {
  card net(self.about, {}, self.side, true);
  net.warm_up();
  net.peer.key ^= 0x5500;
  refuse(self, net, 0);
  self.side.tell(0);
}

void out_of_range_initiator(const role& self) {
  card net(self.about, {}, self.side, true);
  net.warm_up();
  refuse(self, net, net.peer.size + (std::size_t{1} << 20));
  self.side.tell(0);
}

constexpr std::uint32_t unsignalled = 8;

void completions_initiator(const role& self) {
  card net(self.about, {}, self.side, true);
  net.warm_up();
  for (std::uint32_t i = 0; i < unsignalled; ++i) {
    net.must({.to = place, .flags = 0, .context = i}, "ibv_post_send(unsignalled write)");
    net.must({.what = IBV_WR_SEND, .flags = 0, .context = i}, "ibv_post_send(unsignalled send)");
  }
  net.must({.to = place, .context = 100}, "ibv_post_send(write)");
  net.until([&] { return net.ended(100) > 0; });
  net.until([] { return false; }, milliseconds(100));
  self.told.fact("signalled_told", net.ended(100));
  self.told.fact("unsignalled_told", net.came.size() - net.ended(100));
  self.told.fact("context_bytes_changed", 0);  // a context is a number
  self.side.tell(0);
}

constexpr std::size_t small_at = 4096, large_at = 131072;

std::size_t threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

void progress_initiator(const role& self) {
  card net(self.about, {}, self.side, true);
  net.warm_up();
  self.side.tell(1);
  self.side.hear();  // sleeps
  std::memset(net.page(), 0x66, large);
  net.must({.to = small_at, .context = 1}, "ibv_post_send(write)");
  net.must({.size = large, .to = large_at, .context = 2}, "ibv_post_send(write)");
  self.told.fact("ended_while_target_slept", net.until([&] { return net.ended(1) > 0 && net.ended(2) > 0; }));
  self.side.tell(1);
  self.side.hear();
}

/// The target makes no library call until all writes completed. Bytes that are not there a moment later do not arrive
/// by themselves.
void progress_target(const role& self) {
  card net(self.about, {}, self.side, false);
  net.serve();
  self.side.tell(1);
  self.side.hear();
  const volatile std::byte* small = net.page() + small_at;
  const volatile std::byte* last = net.page() + large_at + large - 1;
  for (int i = 0; i < 200 && *last != std::byte{0x66}; ++i) usleep(5000);
  self.told.fact("small_landed_while_asleep", *small == std::byte{0x66});
  self.told.fact("large_landed_while_asleep", *last == std::byte{0x66});
  self.told.fact("library_threads", threads() - 1);
  self.side.tell(1);
}

constexpr std::uint32_t naps = 40;

void waiting_initiator(const role& self) {
  card net(self.about, {.sleeps = true, .receives = naps + 8}, self.side, true);
  net.warm_up();
  self.side.tell(1);
  for (std::uint32_t i = 0; i < naps; ++i) {
    const std::timespec pause{0, i % 4 == 0 ? 0 : 400'000L * (i % 7)};
    nanosleep(&pause, nullptr);
    net.came.clear();
    net.must({.what = IBV_WR_SEND, .context = 1}, "ibv_post_send(send)");
    if (!net.until([&] { return net.ended(1) > 0; })) throw refused{"a message", ETIMEDOUT};
  }
  net.until([&] { return self.side.ready(); });
}

/// Arms the queue, polls once more, then sleeps, as ibv_get_cq_event(3) needs it. Returns whether it was woken (or need
/// not sleep).
bool nap(card& net, milliseconds longest) {
  if (const int r = ibv_req_notify_cq(net.queue(), 0); r != 0) throw refused{"ibv_req_notify_cq", r};
  if (net.poll()) return true;
  pollfd one{net.wakes()->fd, POLLIN, 0};
  if (::poll(&one, 1, static_cast<int>(longest.count())) <= 0) return false;
  ibv_cq* which = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(net.wakes(), &which, &context) == 0) ibv_ack_cq_events(which, 1);
  return true;
}

void waiting_target(const role& self) {
  card net(self.about, {.sleeps = true, .receives = naps + 8}, self.side, false);
  self.told.fact("descriptor", net.wakes() != nullptr);
  net.serve();
  int lost = 0;
  for (int round = 0; round < 400 && net.received().size() < naps && lost < 4; ++round) {
    const bool woken = nap(net, self.about.deadline / 10);
    const std::size_t before = net.received().size();
    net.poll();
    lost += !woken && net.received().size() > before;
  }
  self.told.fact("messages", net.received().size());
  self.told.fact("lost_wake_ups", lost);
  self.side.tell(1);
}

void killed_peer_initiator(const role& self) {
  card net(self.about, {}, self.side, true);
  net.warm_up();
  self.side.tell(1);
  const auto begin = std::chrono::steady_clock::now();
  const bool learned = net.until([&] { return net.ends > 0 || net.failure() != IBV_WC_SUCCESS; });
  self.told.fact("waiter_learned", learned);
  if (learned)
    self.told.fact("waiter_ms",
                   std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin).count());
  net.came.clear();
  const int posted = net.post({.context = 1});
  if (posted == 0) net.until([&] { return net.ended(1) > 0; });
  self.told.fact("post_afterwards", posted != 0 ? "refused: " + error_name(posted)
                                    : net.failure() != IBV_WC_SUCCESS
                                        ? "error: " + std::string(ibv_wc_status_str(net.failure()))
                                    : net.ended(1) > 0 ? "success"
                                                       : "silence");
}

void killed_peer_target(const role& self) {
  card net(self.about, {}, self.side, false);
  net.serve();
  raise(SIGKILL);
}

}  // namespace

const behaviour delivery{"delivery", "does a read after a write prove its arrival?", delivery_initiator,
                         delivery_target};
const behaviour wrong_key{"wrong_key", "which error ends a write with a wrong key?", wrong_key_initiator,
                          serving_target};
const behaviour out_of_range{"out_of_range", "which error ends a write out of range?", out_of_range_initiator,
                             serving_target};
const behaviour completions{"completions", "do unsignalled operations stay silent?", completions_initiator,
                            serving_target};
const behaviour progress{"progress", "do bytes arrive while the target sleeps?", progress_initiator, progress_target};
const behaviour waiting{"waiting", "does a descriptor wake its sleeper every time?", waiting_initiator, waiting_target};
const behaviour killed_peer{"killed_peer", "does a waiting side detect a killed peer?", killed_peer_initiator,
                            killed_peer_target};

}  // namespace weft::probe
