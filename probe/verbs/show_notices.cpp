// SPDX-License-Identifier: Apache-2.0
//
// Immediates and orders: what a target gets in addition to the bytes, and whether any operation overtakes another. No
// observed overtaking is no proof. Hot path: no. Threads: one owner per process.
#include "../behaviours.hpp"
#include "card.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

namespace weft::probe {

namespace {

using cards::card;

constexpr std::uint32_t receives = 8, writes = 4;

unsigned bytes_kept(std::uint32_t immediate) {
  unsigned count = 0;
  for (; count < 4 && (immediate & 0xFF) == 0xFF; immediate >>= 8) ++count;
  return count;
}

void write_immediate_initiator(const role& self) {
  card net(self.about, {.receives = receives}, self.side, true);
  net.warm_up();
  if (net.internet_wire()) {
    self.told.fact("bytes", 0);
    self.side.tell(0);
    return;
  }
  for (std::uint32_t i = 0; i < writes; ++i)
    net.must({.what = IBV_WR_RDMA_WRITE_WITH_IMM, .to = 4096, .context = i, .immediate = i == 0 ? ~0U : i},
             "ibv_post_send(write with immediate)");
  net.until([&] { return net.ended(writes - 1) > 0; });
  self.side.tell(1);
  self.side.hear();
  for (std::uint32_t i = 0; i < receives; ++i) net.post({.what = IBV_WR_SEND, .context = 100 + i});
  self.side.tell(0);
  net.until([&] { return self.side.ready(); });
}

void write_immediate_target(const role& self) {
  card net(self.about, {.receives = receives}, self.side, false);
  if (net.serve() == 0) return;
  const auto landed = [&] {
    std::vector<ibv_wc> found;
    std::copy_if(net.came.begin(), net.came.end(), std::back_inserter(found),
                 [](const ibv_wc& e) { return e.opcode == IBV_WC_RECV_RDMA_WITH_IMM; });
    return found;
  };
  net.until([&] { return landed().size() >= writes; });
  const std::vector<ibv_wc> all = landed();
  self.told.fact("bytes", all.empty() ? 0 : bytes_kept(ntohl(all[0].imm_data)));
  self.told.fact("events", all.size());
  bool right = true;
  for (std::uint32_t i = 1; i < all.size(); ++i) right = right && ntohl(all[i].imm_data) == i;
  self.told.fact("values_right", right);
  if (!all.empty()) self.told.fact("event_context", all[0].wr_id >= card::first_receive ? "a receive's" : "other");
  self.side.tell(1);
  net.serve();
  net.until([&] { return net.received().size() >= receives; });
  self.told.fact("receives_used_up", all.size());
  self.side.tell(0);
}

void send_immediate_initiator(const role& self) {
  card net(self.about, {}, self.side, true);
  net.warm_up();
  if (net.internet_wire()) {
    self.told.fact("bytes", 0);
    self.side.tell(0);
    return;
  }
  net.must({.what = IBV_WR_SEND_WITH_IMM, .context = 1, .immediate = ~0U}, "ibv_post_send(send with immediate)");
  net.until([&] { return net.ended(1) > 0; });
  self.side.tell(1);
  self.side.hear();
}

void send_immediate_target(const role& self) {
  card net(self.about, {}, self.side, false);
  if (net.serve() == 0) return;
  net.until([&] { return !net.received().empty(); });
  for (const ibv_wc& each : net.came)
    if (each.opcode == IBV_WC_RECV)
      self.told.fact("bytes", (each.wc_flags & IBV_WC_WITH_IMM) != 0 ? bytes_kept(ntohl(each.imm_data)) : 0);
  self.side.tell(0);
}

void counter_initiator(const role&) { throw refused{"a counter of remote writes: verbs have none", EOPNOTSUPP}; }
void counter_target(const role&) {}

// ---- orders
constexpr std::uint32_t bursts = 10, slots = 16, slot_size = 16384;
constexpr std::size_t flags_at = std::size_t{slots} * slot_size;
const cards::wishes with_slots{.page = flags_at + 4096, .receives = slots};

std::uint8_t pattern(std::size_t burst, std::size_t slot) {
  return static_cast<std::uint8_t>(1 + (burst * slots + slot) % 251);
}

bool complete(card& net, std::size_t burst, std::size_t slot) {
  const std::byte* first = net.page() + slot * slot_size;
  return std::all_of(first, first + slot_size, [&](std::byte each) { return each == std::byte{pattern(burst, slot)}; });
}

/// Bursts of a large write, then a small operation.
void after_writes(const role& self, ibv_wr_opcode small) {
  card net(self.about, with_slots, self.side, true);
  net.warm_up();
  for (std::uint32_t burst = 0; burst < bursts; ++burst) {
    net.came.clear();
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      std::memset(net.page() + slot * slot_size, pattern(burst, slot), slot_size);
      std::memset(net.page() + flags_at + slot * 64, pattern(burst, slot), 8);
    }
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      const std::size_t at = std::size_t{slot} * slot_size, flag = flags_at + slot * 64;
      net.must({.from = at, .size = slot_size, .to = at, .context = 1}, "ibv_post_send(write)");
      net.must({.what = small, .from = flag, .to = flag, .context = 2}, "ibv_post_send");
    }
    if (!net.until([&] { return net.ended(1) + net.ended(2) >= 2 * slots; })) throw refused{"a burst", ETIMEDOUT};
    if (net.failure() != IBV_WC_SUCCESS) throw refused{ibv_wc_status_str(net.failure()), EIO};
    if (!net.until([&] { return self.side.ready(); })) throw refused{"the target's answer", ETIMEDOUT};
    self.side.hear();
  }
  self.side.tell(0);
}

void send_after_write_initiator(const role& self) { after_writes(self, IBV_WR_SEND); }
void write_after_write_initiator(const role& self) { after_writes(self, IBV_WR_RDMA_WRITE); }

/// Target: for each burst, whether the event in `arrived` came before the earlier bytes.
template <class Arrived>
void watch(const role& self, Arrived arrived) {
  card net(self.about, with_slots, self.side, false);
  std::size_t overtaken = 0, pairs = 0;
  for (std::size_t burst = 0; burst < bursts; ++burst) {
    std::size_t seen = 0;
    net.came.clear();
    const bool all = net.until([&] {
      for (; seen < slots && arrived(net, burst, seen); ++seen, ++pairs) {
        std::atomic_thread_fence(std::memory_order_acquire);
        overtaken += !complete(net, burst, seen);
      }
      return seen == slots;
    });
    if (!all) throw refused{"a burst", ETIMEDOUT};
    for (const std::size_t each : net.received()) net.receive(static_cast<std::uint32_t>(each));
    self.side.tell(1);
  }
  self.told.fact("pairs", pairs);
  self.told.fact("overtaken", overtaken);
  net.serve();
}

void send_after_write_target(const role& self) {
  watch(self, [](card& net, std::size_t, std::size_t seen) { return net.received().size() > seen; });
}
void write_after_write_target(const role& self) {
  watch(self, [](card& net, std::size_t burst, std::size_t seen) {
    const volatile std::byte* flag = net.page() + flags_at + seen * 64;
    return *flag == std::byte{pattern(burst, seen)};
  });
}

constexpr std::uint32_t messages = 512, room = 4096, ahead = 32;
const cards::wishes with_messages{.page = 2 * std::size_t{room}, .receives = ahead, .receive_bytes = room};

void send_after_send_initiator(const role& self) {
  card net(self.about, with_messages, self.side, true);
  net.warm_up();
  for (std::uint32_t first = 0; first < messages; first += ahead) {
    net.came.clear();
    for (std::uint32_t i = 0; i < ahead; ++i) {
      const std::uint32_t number = first + i;
      std::memcpy(net.page() + i * 8, &number, sizeof number);
      net.must({.what = IBV_WR_SEND, .from = i * 8, .size = i % 3 == 0 ? 3072U : 8U, .context = 1},
               "ibv_post_send(send)");
    }
    if (!net.until([&] { return net.ended(1) >= ahead && self.side.ready(); })) throw refused{"a burst", ETIMEDOUT};
    self.side.hear();
  }
  self.side.tell(0);
}

void send_after_send_target(const role& self) {
  card net(self.about, with_messages, self.side, false);
  std::uint32_t expected = 0;
  std::size_t overtaken = 0;
  while (expected < messages) {
    net.came.clear();
    if (!net.until([&] { return net.received().size() >= ahead; })) throw refused{"messages of a burst", ETIMEDOUT};
    for (const std::size_t each : net.received()) {
      std::uint32_t number = 0;
      std::memcpy(&number, net.receive_memory(each), sizeof number);
      overtaken += number != expected++;
      net.receive(static_cast<std::uint32_t>(each));
    }
    self.side.tell(1);
  }
  self.told.fact("pairs", expected);
  self.told.fact("overtaken", overtaken);
  net.serve();
}

}  // namespace

const behaviour write_immediate{"write_immediate", "what reaches the target with a write's immediate?",
                                write_immediate_initiator, write_immediate_target};
const behaviour send_immediate{"send_immediate", "how much of a message's immediate arrives?", send_immediate_initiator,
                               send_immediate_target};
const behaviour counter{"counter", "which writes does the target's counter count?", counter_initiator, counter_target};
const behaviour send_after_write{"send_after_write", "does a message overtake a write?", send_after_write_initiator,
                                 send_after_write_target};
const behaviour write_after_write{"write_after_write", "does a write overtake a write?", write_after_write_initiator,
                                  write_after_write_target};
const behaviour send_after_send{"send_after_send", "does a message overtake a message?", send_after_send_initiator,
                                send_after_send_target};

}  // namespace weft::probe
