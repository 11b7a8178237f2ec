// SPDX-License-Identifier: Apache-2.0
//
// Order under load: bursts of large transfers, each followed by a small one that might overtake it. An observed
// overtaking is a fact; none observed is no proof, so these facts are counts. Hot path: no. Threads: one owner per
// process.
#include "../behaviours.hpp"
#include "../endpoint_pair.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

namespace weft::probe {

namespace {

constexpr std::size_t slots = 16, slot_size = 16384, bursts = 30;
constexpr std::size_t flag_area = slots * slot_size;
const wishes with_slots{.page = flag_area + slots * 64, .receives = 2 * slots, .receive_bytes = 64};

std::uint8_t pattern(std::size_t burst, std::size_t slot) {
  return static_cast<std::uint8_t>(1 + (burst * slots + slot) % 251);
}

/// Whether the slot contains only its pattern.
bool complete(const endpoint_pair& net, std::size_t burst, std::size_t slot) {
  const std::byte* first = net.page() + slot * slot_size;
  return std::all_of(first, first + slot_size, [&](std::byte each) { return each == std::byte{pattern(burst, slot)}; });
}

/// Bursts of a large write and a small operation after it; both sides continue burst by burst.
template <class Small>
void after_writes(const role& self, std::uint64_t order, Small small) {
  endpoint_pair net(self.about, with_slots, self.side, true);
  self.report.fact("promised", (net.info().tx_attr->msg_order & net.info().rx_attr->msg_order & order) != 0);
  net.warm_up();
  for (std::size_t burst = 0; burst < bursts; ++burst) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      std::memset(net.page() + slot * slot_size, pattern(burst, slot), slot_size);
      std::memset(net.page() + flag_area + slot * 64, pattern(burst, slot), 8);
    }
    net.came.clear();
    for (std::size_t slot = 0; slot < slots; ++slot) {
      require(net.insist([&] {
        return net.write({.from = slot * slot_size, .size = slot_size, .to = slot * slot_size, .context = 1});
      }),
              "fi_writemsg");
      require(net.insist([&] { return small(net, flag_area + slot * 64); }), "the operation after the write");
    }
    if (!net.until([&] { return net.ended(1) + net.ended(2) >= 2 * slots || net.failure() != 0; }))
      throw refused{"a burst", FI_ETIMEDOUT};
    if (net.failure() != 0) throw refused{"a burst", net.failure()};
    self.side.send_value(1);
    if (!net.until([&] { return self.side.ready(); }, milliseconds(4000)))
      throw refused{"the target's answer", FI_ETIMEDOUT};
    self.side.wait_for_value();
  }
  self.side.send_value(0);
}

void send_after_write_initiator(const role& self) {
  after_writes(self, FI_ORDER_SAW,
               [](endpoint_pair& net, std::size_t from) { return net.send({.from = from, .context = 2}); });
}

void send_after_write_target(const role& self) {
  endpoint_pair net(self.about, with_slots, self.side, false);
  std::size_t overtaken = 0, pairs = 0;
  for (std::size_t burst = 0; burst < bursts; ++burst) {
    net.came.clear();
    std::size_t seen = 0;
    net.until([&] {
      for (const std::vector<std::size_t> got = net.received(); seen < got.size(); ++seen, ++pairs)
        overtaken += !complete(net, burst, seen);
      return seen >= slots;
    });
    if (seen < slots) throw refused{"messages of a burst", FI_ETIMEDOUT};
    for (const std::size_t each : net.received()) require(net.insist([&] { return net.receive(each); }), "fi_recv");
    net.serve();
    self.side.send_value(1);
  }
  self.report.fact("pairs", pairs);
  self.report.fact("overtaken", overtaken);
  net.serve();
}

void write_after_write_initiator(const role& self) {
  after_writes(self, FI_ORDER_WAW, [](endpoint_pair& net, std::size_t from) {
    return net.write({.from = from, .to = from, .context = 2});
  });
}

void write_after_write_target(const role& self) {
  endpoint_pair net(self.about, with_slots, self.side, false);
  std::size_t overtaken = 0, pairs = 0;
  for (std::size_t burst = 0; burst < bursts; ++burst) {
    std::size_t seen = 0;
    const bool all = net.until([&] {
      for (; seen < slots; ++seen, ++pairs) {
        const volatile std::byte* flag = net.page() + flag_area + seen * 64;
        if (*flag != std::byte{pattern(burst, seen)}) break;
        std::atomic_thread_fence(std::memory_order_acquire);
        overtaken += !complete(net, burst, seen);
      }
      return seen == slots;
    });
    if (!all) throw refused{"writes of a burst", FI_ETIMEDOUT};
    net.serve();
    self.side.send_value(1);
  }
  self.report.fact("pairs", pairs);
  self.report.fact("overtaken", overtaken);
  net.serve();
}

constexpr std::size_t rounds = 400;
constexpr std::array<std::size_t, 5> lengths{24, 512, 4096, 65536, 262144};

std::uint8_t fill_of(std::size_t round) { return static_cast<std::uint8_t>(1 + round % 251); }

void last_byte_initiator(const role& self) {
  endpoint_pair net(self.about, {}, self.side, true);
  net.warm_up();
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t length = lengths[round % lengths.size()];
    std::memset(net.page(), fill_of(round), length);
    net.came.clear();
    require(net.insist([&] { return net.write({.size = length, .context = 1}); }), "fi_writemsg");
    if (!net.until([&] { return self.side.ready() && net.ended(1) > 0; }, milliseconds(4000)))
      throw refused{"the target's answer", FI_ETIMEDOUT};
    if (net.failure() != 0) throw refused{"a write", net.failure()};
    self.side.wait_for_value();
  }
  self.side.send_value(0);
}

/// Target: polls, then looks at the last byte, as a waiting program does. A write is torn if another byte is missing.
void last_byte_target(const role& self) {
  endpoint_pair net(self.about, {}, self.side, false);
  std::size_t torn = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::size_t length = lengths[round % lengths.size()];
    const std::byte fill{fill_of(round)};
    const volatile std::byte* last = net.page() + length - 1;
    if (!net.until([&] { return *last == fill; }, milliseconds(3000))) throw refused{"a write", FI_ETIMEDOUT};
    std::atomic_thread_fence(std::memory_order_acquire);
    torn += !std::all_of(net.page(), net.page() + length, [&](std::byte each) { return each == fill; });
    self.side.send_value(1);
  }
  self.report.fact("writes", rounds);
  self.report.fact("torn", torn);
  net.serve();
}

constexpr std::size_t messages = 512, message_room = 4096, ahead = 64;
const wishes with_messages{.page = 2 * message_room, .receives = ahead, .receive_bytes = message_room};

void send_after_send_initiator(const role& self) {
  endpoint_pair net(self.about, with_messages, self.side, true);
  net.warm_up();
  for (std::size_t first = 0; first < messages; first += ahead) {
    net.came.clear();
    for (std::size_t i = 0; i < ahead; ++i) {
      // Sizes alternate: large messages may take another path than small ones. Each has a source of its own.
      const std::size_t size = i % 3 == 0 ? 3072 : 8, from = i * 8;
      const std::uint64_t number = first + i;
      std::memcpy(net.page() + from, &number, sizeof number);
      require(net.insist([&] { return net.send({.from = from, .size = size, .context = 1}); }), "fi_sendmsg");
    }
    if (!net.until([&] { return net.ended(1) >= ahead || net.failure() != 0; })) throw refused{"a burst", FI_ETIMEDOUT};
    if (!net.until([&] { return self.side.ready(); }, milliseconds(4000)))
      throw refused{"the target's answer", FI_ETIMEDOUT};
    self.side.wait_for_value();
  }
  self.side.send_value(0);
}

void send_after_send_target(const role& self) {
  endpoint_pair net(self.about, with_messages, self.side, false);
  std::uint64_t expected = 0;
  std::size_t overtaken = 0;
  while (expected < messages) {
    net.came.clear();
    std::size_t seen = 0;
    net.until([&] {
      for (const std::vector<std::size_t> got = net.received(); seen < got.size(); ++seen, ++expected) {
        std::uint64_t number = 0;
        std::memcpy(&number, net.receive_memory(got[seen]), sizeof number);
        overtaken += number != expected;
      }
      return seen >= ahead;
    });
    if (seen < ahead) throw refused{"messages of a burst", FI_ETIMEDOUT};
    for (const std::size_t each : net.received()) require(net.insist([&] { return net.receive(each); }), "fi_recv");
    self.side.send_value(1);
  }
  self.report.fact("pairs", expected);
  self.report.fact("overtaken", overtaken);
  net.serve();
}

}  // namespace

const behaviour send_after_write{"send_after_write", "does a message overtake a write?", send_after_write_initiator,
                                 send_after_write_target};
const behaviour write_after_write{"write_after_write", "does a write overtake a write?", write_after_write_initiator,
                                  write_after_write_target};
const behaviour last_byte{"last_byte", "is a write's last byte the last that becomes visible?", last_byte_initiator,
                          last_byte_target};
const behaviour send_after_send{"send_after_send", "does a message overtake a message?", send_after_send_initiator,
                                send_after_send_target};

}  // namespace weft::probe
