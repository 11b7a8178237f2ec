// SPDX-License-Identifier: Apache-2.0
//
// Immediates by the hundred, in bursts that fill a queue: each must arrive once, unchanged, and after the bytes of its
// write. A provider that loses one in a hundred is not seen with a few. Hot path: no. Threads: one owner per process.
#include "../behaviours.hpp"
#include "../endpoint_pair.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <vector>

namespace weft::probe {

namespace {

constexpr std::size_t burst_size = 32, burst_count = 16, piece = 1024, total = burst_size * burst_count;
const wishes with_bursts{.page = burst_size * piece, .receives = 2 * burst_size, .receive_bytes = 64};

/// Every byte of the immediate changes from one to the next.
std::uint64_t value_of(std::size_t index, std::size_t width) {
  const std::uint64_t wide = 0x9E3779B97F4A7C15 * (index + 1);
  return width >= sizeof wide ? wide : wide & ((std::uint64_t{1} << (8 * width)) - 1);
}

std::byte byte_of(std::size_t index) { return std::byte(1 + index % 251); }

/// What became of the immediates so far.
struct tally {
  std::size_t width;
  std::vector<bool> seen = std::vector<bool>(total);
  std::size_t arrived = 0, doubled = 0, wrong = 0, early = 0;

  /// Counts one value. Returns its index, or `total` for one that nobody sent.
  std::size_t count(std::uint64_t value) {
    for (std::size_t i = 0; i < total; ++i) {
      if (value_of(i, width) != value) continue;
      if (seen[i]) ++doubled;
      else ++arrived;
      seen[i] = true;
      return i;
    }
    ++wrong;
    return total;
  }
};

template <class Post>
void post_bursts(const role& self, Post post) {
  endpoint_pair net(self.about, with_bursts, self.side, true);
  net.warm_up();
  const std::size_t width = net.info().domain_attr->cq_data_size;
  self.report.fact("posted", width == 0 ? 0 : total);
  self.side.send_value(width);
  for (std::size_t first = 0; width > 0 && first < total; first += burst_size) {
    net.came.clear();
    for (std::size_t i = 0; i < burst_size; ++i)
      std::memset(net.page() + i * piece, std::to_integer<int>(byte_of(first + i)), piece);
    for (std::size_t i = 0; i < burst_size; ++i)
      require(net.insist([&] { return post(net, i * piece, value_of(first + i, width)); }), "an immediate");
    if (!net.until([&] { return net.ended(1) >= burst_size || net.failure() != 0; }))
      throw refused{"a burst", FI_ETIMEDOUT};
    if (net.failure() != 0) throw refused{"a burst", net.failure()};
    self.side.send_value(first);  // the burst has left
    if (!net.until([&] { return self.side.ready(); }, milliseconds(4000)))
      throw refused{"the target's answer", FI_ETIMEDOUT};
    self.side.wait_for_value();
  }
  self.side.send_value(0);
}

/// Target: counts each burst. When the initiator says that a burst has left, the rest of it is near. After a loss the
/// target waits only shortly for that rest: the next bursts may lose as well.
template <class Carries>
void count_bursts(const role& self, Carries carries) {
  endpoint_pair net(self.about, with_bursts, self.side, false);
  tally all{.width = net.serve()};
  for (std::size_t first = 0; all.width > 0 && first < total; first += burst_size) {
    net.came.clear();
    std::size_t looked_at = 0, events = 0;
    const milliseconds rest(all.arrived == first ? 1500 : 100);
    std::optional<std::chrono::steady_clock::time_point> last;  // until when the rest may come
    net.until(
        [&] {
          if (!last && self.side.ready()) {
            self.side.wait_for_value();
            last = std::chrono::steady_clock::now() + rest;
          }
          for (; looked_at < net.came.size(); ++looked_at) {
            const entry& each = net.came[looked_at];
            const std::size_t receive = net.index_of(each.context);
            if (receive != ~std::size_t{0} && receive >= endpoint_pair::first_receive)
              require(net.receive(receive - endpoint_pair::first_receive), "fi_recv");
            if (!carries(each)) continue;
            ++events;
            const std::size_t index = all.count(each.data);
            const std::byte* slot = net.page() + index % burst_size * piece;
            if (index < total && (each.flags & FI_RECV) == 0)
              all.early += !std::all_of(slot, slot + piece, [&](std::byte b) { return b == byte_of(index); });
          }
          return events >= burst_size || (last && std::chrono::steady_clock::now() > *last);
        },
        milliseconds(4000));
    if (!last) self.side.wait_for_value();
    self.side.send_value(1);
  }
  self.report.fact("arrived", all.arrived);
  self.report.fact("doubled", all.doubled);
  self.report.fact("wrong", all.wrong);
  self.report.fact("early", all.early);
  if (all.width > 0) net.serve();
}

void write_initiator(const role& self) {
  post_bursts(self, [](endpoint_pair& net, std::size_t slot, std::uint64_t value) {
    return net.write({.from = slot,
                      .size = piece,
                      .to = slot,
                      .flags = FI_COMPLETION | FI_REMOTE_CQ_DATA,
                      .context = 1,
                      .data = value});
  });
}
/// One provider omits FI_REMOTE_WRITE, and devices report the receive that the immediate used up.
void write_target(const role& self) {
  count_bursts(self, [](const entry& each) {
    return each.error == 0 && (each.flags & FI_REMOTE_CQ_DATA) != 0 && (each.flags & (FI_WRITE | FI_SEND)) == 0;
  });
}

void send_initiator(const role& self) {
  post_bursts(self, [](endpoint_pair& net, std::size_t slot, std::uint64_t value) {
    return net.send({.from = slot, .flags = FI_COMPLETION | FI_REMOTE_CQ_DATA, .context = 1, .data = value});
  });
}
void send_target(const role& self) {
  count_bursts(self, [](const entry& each) {
    return each.error == 0 && (each.flags & FI_RECV) != 0 && (each.flags & FI_REMOTE_CQ_DATA) != 0;
  });
}

}  // namespace

const behaviour many_write_immediates{"many_write_immediates", "does every immediate of many writes arrive once?",
                                      write_initiator, write_target};
const behaviour many_send_immediates{"many_send_immediates", "does every immediate of many messages arrive once?",
                                     send_initiator, send_target};

}  // namespace weft::probe
