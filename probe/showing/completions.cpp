// SPDX-License-Identifier: Apache-2.0
//
// Completions: whether a delivery-complete completion is true (the sleeping target's memory is read), the error of a
// refused write, and whether unsignalled operations stay silent. Hot path: no. Threads: one owner per process.
#include "../behaviours.hpp"
#include "../endpoint_pair.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>

namespace weft::probe {

namespace {

constexpr std::array<std::size_t, 3> sizes{8, 4096, 65536};
constexpr std::size_t place = std::size_t{1} << 18;

/// The target's answer to "are the bytes of this write there?", while it sleeps: it only reads its memory.
bool there(const role& self, std::size_t size, std::uint8_t pattern) {
  self.side.send_value(size << 8 | pattern);
  return self.side.wait_for_value() != 0;
}

/// Target: answers requests without a library call until a 0; then polls until the next value.
void sleep_then_poll_queue(endpoint_pair& net, const role& self) {
  for (std::uint64_t word = self.side.wait_for_value(); word != 0; word = self.side.wait_for_value()) {
    std::atomic_thread_fence(std::memory_order_acquire);
    const std::byte* first = net.page() + place;
    self.side.send_value(
        std::all_of(first, first + (word >> 8), [&](std::byte each) { return each == std::byte(word & 0xFF); }) ? 1
                                                                                                                : 0);
  }
  net.serve();
}

void delivery_initiator(const role& self) {
  endpoint_pair net(self.about, {}, self.side, true);
  net.warm_up();
  self.side.send_value(1);
  bool slept = true, premature = false, ended = true;
  std::uint8_t pattern = 1;
  for (const std::size_t size : sizes) {
    std::memset(net.page(), ++pattern, size);
    net.came.clear();
    const transfer what{.size = size, .to = place, .flags = FI_COMPLETION | FI_DELIVERY_COMPLETE, .context = 1};
    const ssize_t posted = net.insist([&] { return net.write(what); }, milliseconds(500));
    self.report.fact("offered", posted == 0);
    if (posted != 0) throw refused{"fi_writemsg(FI_DELIVERY_COMPLETE)", static_cast<int>(-posted)};
    const bool early = net.until([&] { return net.ended(1) > 0; }, milliseconds(300));
    slept = slept && early;
    if (early) premature = premature || !there(self, size, pattern);
    self.side.send_value(0);
    if (!early) ended = net.until([&] { return net.ended(1) > 0; }) && ended;
    self.side.send_value(1);  // sleeps again
    premature = premature || !there(self, size, pattern);
    if (net.failure() != 0) throw refused{"a delivery-complete write", net.failure()};
  }
  self.report.fact("ended_while_target_slept", slept);
  self.report.fact("ended", ended);
  self.report.fact("ended_before_delivery", premature);
  self.side.send_value(0);
  self.side.send_value(1);
}

void delivery_target(const role& self) {
  endpoint_pair net(self.about, {}, self.side, false);
  net.serve();
  for (std::size_t i = 0; i <= sizes.size(); ++i) sleep_then_poll_queue(net, self);
}

/// Posts one write that the target must refuse; reports its completion.
void refuse(const role& self, endpoint_pair& net, std::size_t to, std::uint64_t flags, std::size_t context,
            const std::string& name) {
  const auto begin = std::chrono::steady_clock::now();
  const ssize_t posted =
      net.insist([&] { return net.write({.to = to, .flags = FI_COMPLETION | flags, .context = context}); });
  if (posted != 0) {
    self.report.fact(name, "refused when posted: " + error_name(posted));
    return;
  }
  const bool over =
      net.until([&] { return net.ended(context) > 0 || net.failure() != 0 || net.ends > 0; }, milliseconds(1500));
  const int failed = net.failure();
  self.report.fact(name, failed != 0              ? "error"
                         : net.ended(context) > 0 ? "success"
                         : net.ends > 0           ? "connection ended"
                                                  : "silence");
  if (failed != 0) self.report.fact(name + "_error", error_name(failed));
  if (over)
    self.report.fact(name + "_ms",
                     std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin).count());
}

void wrong_key_initiator(const role& self) {
  endpoint_pair net(self.about, {}, self.side, true);
  net.warm_up();
  net.peer.key ^= 0x5500;
  refuse(self, net, 0, 0, 1, "plain");
  net.came.clear();
  if (net.ends == 0) refuse(self, net, 0, FI_DELIVERY_COMPLETE, 2, "delivered");
  self.side.send_value(0);
}

void out_of_range_initiator(const role& self) {
  endpoint_pair net(self.about, {}, self.side, true);
  net.warm_up();
  const std::size_t beyond = net.peer.size + (std::size_t{1} << 20);
  refuse(self, net, beyond, 0, 1, "plain");
  net.came.clear();
  if (net.ends == 0) refuse(self, net, beyond, FI_DELIVERY_COMPLETE, 2, "delivered");
  self.side.send_value(0);
}

void refusing_target(const role& self) {
  endpoint_pair net(self.about, {}, self.side, false);
  net.serve();
}

constexpr std::size_t unsignalled = 8;

/// Bytes of contexts that differ from the endpoint_pair's pattern.
std::size_t changed(endpoint_pair& net, std::size_t first, std::size_t count) {
  std::size_t most = 0;
  for (std::size_t i = first; i < first + count; ++i) {
    const auto* bytes = static_cast<const std::uint8_t*>(net.context(i));
    for (std::size_t at = 0; at < sizeof(fi_context2); ++at)
      if (bytes[at] != 0xA5) most = std::max(most, at + 1);
  }
  return most;
}

void completions_initiator(const role& self) {
  endpoint_pair net(self.about, {}, self.side, true);
  net.warm_up();
  for (std::size_t i = 0; i < unsignalled; ++i) {
    require(net.insist([&] { return net.write({.to = place, .flags = 0, .context = i}); }), "fi_writemsg(no flags)");
    require(net.insist([&] { return net.send({.flags = 0, .context = i}); }), "fi_sendmsg(no flags)");
  }
  require(net.insist([&] { return net.write({.to = place, .context = 100}); }), "fi_writemsg");
  net.until([&] { return net.ended(100) > 0; });
  net.until([] { return false; }, milliseconds(100));
  self.report.fact("signalled_told", net.ended(100));
  self.report.fact("unsignalled_told", net.came.size() - net.ended(100));
  // The warm-up used the last context with a completion, so it counts too.
  self.side.send_value(0);
  const std::size_t theirs = self.side.wait_for_value();
  self.report.fact("context_bytes_changed",
                   std::max({theirs, changed(net, 0, unsignalled), changed(net, 100, 1), changed(net, 4095, 1)}));
}

void completions_target(const role& self) {
  endpoint_pair net(self.about, {}, self.side, false);
  net.serve();
  net.until([&] { return net.received().size() >= unsignalled; }, milliseconds(500));
  self.side.send_value(changed(net, endpoint_pair::first_receive, 16));
}

}  // namespace

const behaviour delivery{"delivery", "is a delivery-complete completion true?", delivery_initiator, delivery_target};
const behaviour wrong_key{"wrong_key", "which error ends a write with a wrong key?", wrong_key_initiator,
                          refusing_target};
const behaviour out_of_range{"out_of_range", "which error ends a write out of range?", out_of_range_initiator,
                             refusing_target};
const behaviour completions{"completions", "do unsignalled operations stay silent, and contexts unchanged?",
                            completions_initiator, completions_target};

}  // namespace weft::probe
