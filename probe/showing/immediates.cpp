// SPDX-License-Identifier: Apache-2.0
//
// Immediates and counters: what a target gets in addition to the bytes. A receive is "consumed" when fewer messages
// than receives can arrive afterwards. Hot path: no. Threads: one owner per process.
#include "../behaviours.hpp"
#include "../endpoint_pair.hpp"

#include <cstring>
#include <string>

namespace weft::probe {

namespace {

constexpr std::uint64_t all_ones = ~std::uint64_t{0};
constexpr std::size_t receives = 8, writes = 4, counted_writes = 100;

/// Low bytes that arrived unchanged.
unsigned bytes_kept(std::uint64_t data) {
  unsigned count = 0;
  for (; count < 8 && (data & 0xFF) == 0xFF; data >>= 8) ++count;
  return count;
}

std::string flags_of(std::uint64_t flags) {
  std::string text;
  const auto add = [&](std::uint64_t bit, const char* name) {
    if ((flags & bit) != 0) text += std::string(text.empty() ? "" : " ") + name;
  };
  add(FI_REMOTE_WRITE, "FI_REMOTE_WRITE");
  add(FI_REMOTE_CQ_DATA, "FI_REMOTE_CQ_DATA");
  add(FI_RMA, "FI_RMA");
  add(FI_MSG, "FI_MSG");
  add(FI_RECV, "FI_RECV");
  return text;
}

void write_immediate_initiator(const role& self) {
  endpoint_pair net(self.about, {.receives = receives}, self.side, true);
  net.warm_up();
  if (net.info().domain_attr->cq_data_size == 0) {
    self.report.fact("bytes", 0);
    self.side.send_value(0);
    return;
  }
  for (std::size_t i = 0; i < writes; ++i) {
    const transfer what{
        .to = 4096, .flags = FI_COMPLETION | FI_REMOTE_CQ_DATA, .context = i, .data = i == 0 ? all_ones : i};
    require(net.insist([&] { return net.write(what); }), "fi_writemsg(FI_REMOTE_CQ_DATA)");
  }
  net.until([&] { return net.ended(writes - 1) > 0; });
  self.side.send_value(1);
  self.side.wait_for_value();
  for (std::size_t i = 0; i < receives; ++i) {
    if (net.insist([&] { return net.send({.context = 100 + i}); }, milliseconds(500)) != 0) break;
    net.poll();
  }
  self.side.send_value(0);
  net.until([&] { return self.side.ready(); }, milliseconds(4000));  // some providers need progress of this side
}

void write_immediate_target(const role& self) {
  endpoint_pair net(self.about, {.receives = receives}, self.side, false);
  if (net.serve() == 0) return;
  net.until([&] { return net.landed().size() >= writes; }, milliseconds(1200));
  const std::vector<entry> landed = net.landed();
  self.report.fact("bytes", landed.empty() ? 0 : bytes_kept(landed[0].data));
  self.report.fact("events", landed.size());
  if (!landed.empty()) {
    bool right = true;
    for (std::size_t i = 1; i < landed.size(); ++i) right = right && landed[i].data == i;
    self.report.fact("values_right", right);
    const entry& first = landed[0];
    const bool of_receive =
        net.index_of(first.context) >= endpoint_pair::first_receive && net.index_of(first.context) != ~std::size_t{0};
    self.report.fact("event_context", std::string(first.context == nullptr ? "null"
                                                  : of_receive             ? "a receive's"
                                                                           : "other"));
    self.report.fact("event_length", first.length);
    self.report.fact("event_flags", flags_of(first.flags));
  }
  self.side.send_value(1);
  net.serve();
  net.until([&] { return net.received().size() >= receives; }, milliseconds(1200));
  self.report.fact("receives_used_up", receives - std::min(receives, net.received().size()));
  self.side.send_value(0);
}

void send_immediate_initiator(const role& self) {
  endpoint_pair net(self.about, {}, self.side, true);
  net.warm_up();
  if (net.info().domain_attr->cq_data_size == 0) {
    self.report.fact("bytes", 0);
    self.side.send_value(0);
    return;
  }
  require(net.insist(
              [&] { return net.send({.flags = FI_COMPLETION | FI_REMOTE_CQ_DATA, .context = 1, .data = all_ones}); }),
          "fi_sendmsg(FI_REMOTE_CQ_DATA)");
  net.until([&] { return net.ended(1) > 0; });
  self.side.send_value(1);
  self.side.wait_for_value();
}

void send_immediate_target(const role& self) {
  endpoint_pair net(self.about, {}, self.side, false);
  if (net.serve() == 0) return;
  net.until([&] { return !net.received().empty(); }, milliseconds(1000));
  for (const entry& each : net.came)
    if ((each.flags & FI_RECV) != 0)
      self.report.fact("bytes", (each.flags & FI_REMOTE_CQ_DATA) != 0 ? bytes_kept(each.data) : 0);
  self.side.send_value(0);
}

/// Posts writes and waits for their completions. Returns the target's counter afterwards.
std::uint64_t counted(endpoint_pair& net, const role& self, std::uint64_t flags, std::size_t context) {
  for (std::size_t i = 0; i < counted_writes; ++i)
    require(net.insist(
                [&] { return net.write({.to = 4096, .flags = FI_COMPLETION | flags, .context = context, .data = 7}); }),
            "fi_writemsg");
  net.until([&] { return net.ended(context) >= counted_writes; });
  self.side.send_value(1);
  net.until([&] { return self.side.ready(); }, milliseconds(4000));
  return self.side.wait_for_value();
}

void counter_initiator(const role& self) {
  endpoint_pair net(self.about, {.counter = true, .receives = 16}, self.side, true);
  net.warm_up();
  self.side.send_value(1);
  const std::uint64_t before = self.side.wait_for_value();
  const std::uint64_t plain = counted(net, self, 0, 1);
  self.report.fact("writes", counted_writes);
  self.report.fact("plain_writes_counted", plain - before);
  if (net.info().domain_attr->cq_data_size > 0)
    self.report.fact("immediate_writes_counted", counted(net, self, FI_REMOTE_CQ_DATA, 2) - plain);
  self.side.send_value(0);
}

void counter_target(const role& self) {
  endpoint_pair net(self.about, {.counter = true, .receives = 16}, self.side, false);
  net.serve();
  std::uint64_t before = net.counted_writes();
  self.side.send_value(before);
  while (net.serve() != 0) {
    net.until([&] { return net.counted_writes() >= before + counted_writes; }, milliseconds(1200));
    self.side.send_value(before = net.counted_writes());
  }
}

}  // namespace

const behaviour write_immediate{"write_immediate", "what reaches the target with a write's immediate?",
                                write_immediate_initiator, write_immediate_target};
const behaviour send_immediate{"send_immediate", "how much of a message's immediate arrives?", send_immediate_initiator,
                               send_immediate_target};
const behaviour counter{"counter", "which writes does the target's counter count?", counter_initiator, counter_target};

}  // namespace weft::probe
