// SPDX-License-Identifier: Apache-2.0
//
// Sizes: the inject limit and whether its buffer is reusable at once, buffers in one transfer, posts that the queue to
// a sleeping peer takes, large transfers. Hot path: no. Threads: one owner per process.
#include "../behaviours.hpp"
#include "../endpoint_pair.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace weft::probe {

namespace {

constexpr std::size_t injections = 12, largest_injection = 32768;
const wishes for_injections{.receives = injections + 4, .receive_bytes = largest_injection};

bool all_are(const std::byte* first, std::size_t size, std::size_t pattern) {
  return std::all_of(first, first + size, [&](std::byte each) { return each == std::byte(pattern); });
}

void inject_initiator(const role& self) {
  endpoint_pair net(self.about, for_injections, self.side, true);
  net.warm_up();
  const std::size_t size = std::min(net.info().tx_attr->inject_size, largest_injection);
  self.report.fact("bytes", size);
  std::byte* buffer = net.page();
  for (std::size_t i = 0; size > 0 && i < injections; ++i) {
    std::memset(buffer, static_cast<int>(i + 1), size);
    require(net.insist([&] { return fi_inject(net.endpoint(), buffer, size, net.peer_address()); }), "fi_inject");
    std::memset(buffer, 0xFF, size);  // ours again, as fi_msg(3) says
  }
  self.side.send_value(size);
  net.until([&] { return self.side.ready(); }, milliseconds(3000));
  self.side.wait_for_value();
  const ssize_t more = fi_inject(net.endpoint(), buffer, size + 1, net.peer_address());
  self.report.fact("one_byte_more", more == 0 ? "taken" : error_name(more));
  self.side.send_value(0);
}

void inject_target(const role& self) {
  endpoint_pair net(self.about, for_injections, self.side, false);
  const std::size_t size = net.serve(), expected = size == 0 ? 0 : injections;
  net.until([&] { return net.received().size() >= expected; });
  const std::vector<std::size_t> got = net.received();
  bool right = got.size() == expected;
  for (std::size_t i = 0; i < got.size(); ++i) {
    bool one_of_them = false;  // whatever the order
    for (std::size_t pattern = 1; pattern <= injections; ++pattern)
      one_of_them = one_of_them || all_are(net.receive_memory(got[i]), size, pattern);
    right = right && one_of_them;
  }
  self.report.fact("arrived", got.size());
  self.report.fact("buffer_free_at_once", right);
  self.side.send_value(1);
  net.serve();
}

constexpr std::size_t most_pieces = 64;

void gather_initiator(const role& self) {
  endpoint_pair net(self.about, {.receive_bytes = most_pieces}, self.side, true);
  net.warm_up();
  const std::size_t pieces = std::min(net.info().tx_attr->iov_limit, most_pieces);
  const std::size_t places = std::min(net.info().tx_attr->rma_iov_limit, most_pieces);
  std::vector<iovec> from;
  std::vector<void*> described(most_pieces, net.descriptor());
  for (std::size_t i = 0; i < pieces; ++i) {
    net.page()[i * 100] = std::byte(i + 1);
    from.push_back({net.page() + i * 100, 1});
  }
  const fi_msg message{from.data(), described.data(), pieces, net.peer_address(), net.context(1), 0};
  require(net.insist([&] { return fi_sendmsg(net.endpoint(), &message, FI_COMPLETION); }), "fi_sendmsg(pieces)");
  if (!net.until([&] { return net.ended(1) > 0; })) throw refused{"a message of several buffers", FI_ETIMEDOUT};
  self.side.send_value(pieces);
  net.until([&] { return self.side.ready(); }, milliseconds(3000));
  self.report.fact("message_pieces", self.side.wait_for_value() != 0 ? pieces : 0);

  std::vector<fi_rma_iov> to;
  for (std::size_t i = 0; i < places; ++i) to.push_back({net.peer.address + 4096 + i * 100, 1, net.peer.key});
  const std::size_t parts =
      std::min(pieces, places);  // the last one takes the rest, so that both sides have the same number of bytes
  for (std::size_t i = parts; i < places; ++i) from[parts - 1].iov_base = net.page() + 8192;
  for (std::size_t i = 0; i < places; ++i) net.page()[8192 + i] = std::byte(parts + i);
  from[parts - 1].iov_len = places - parts + 1;
  const fi_msg_rma write{from.data(), described.data(), parts,          net.peer_address(),
                         to.data(),   places,           net.context(2), 0};
  require(net.insist([&] { return fi_writemsg(net.endpoint(), &write, FI_COMPLETION); }), "fi_writemsg(pieces)");
  if (!net.until([&] { return net.ended(2) > 0; })) throw refused{"a write of several buffers", FI_ETIMEDOUT};
  self.side.send_value(places);
  net.until([&] { return self.side.ready(); }, milliseconds(3000));
  self.report.fact("write_places", self.side.wait_for_value() != 0 ? places : 0);
  self.side.send_value(0);
}

void gather_target(const role& self) {
  endpoint_pair net(self.about, {.receive_bytes = most_pieces}, self.side, false);
  const std::size_t pieces = net.serve();
  bool right = net.until([&] { return !net.received().empty(); });
  for (std::size_t i = 0; right && i < pieces; ++i)
    right = net.receive_memory(net.received()[0])[i] == std::byte(i + 1);
  self.side.send_value(right ? 1 : 0);
  const std::size_t places = net.serve();
  const auto landed = [&] {
    bool all = true;
    for (std::size_t i = 0; i < places; ++i)
      all = all && static_cast<const volatile std::byte*>(net.page())[4096 + i * 100] == std::byte(i + 1);
    return all;
  };
  self.side.send_value(net.until(landed) ? 1 : 0);
  net.serve();
}

constexpr std::size_t most_posts = 4096;

void full_queue_initiator(const role& self) {
  endpoint_pair net(self.about, {.completions = 2 * most_posts}, self.side, true);
  net.warm_up();
  const std::size_t depth = std::min(net.info().tx_attr->size, net.info().rx_attr->size);
  const std::size_t most = std::min(most_posts, 2 * depth + 8);
  self.side.send_value(net.info().rx_attr->size);
  net.until([&] { return self.side.ready(); }, milliseconds(3000));
  self.report.fact("receives_taken", self.side.wait_for_value());  // sleeps from now on
  std::size_t posted = 0;
  ssize_t said = 0;
  while (posted < most && (said = net.write({.to = 8 * posted, .context = 1})) == 0) ++posted;
  self.report.fact("posts_taken", posted);
  self.report.fact("depth", depth);
  self.report.fact("said", said == 0 ? std::string("more is taken") : error_name(said));
  self.side.send_value(1);
  self.report.fact("all_ended", net.until([&] { return net.ended(1) >= posted; }, milliseconds(4000)));
  self.side.send_value(0);
}

void full_queue_target(const role& self) {
  endpoint_pair net(self.about, {.completions = 2 * most_posts}, self.side, false);
  const std::size_t wanted = std::min<std::size_t>(net.serve(), most_posts) - 16;
  std::size_t taken = 0;
  while (taken < wanted && net.receive(0) == 0) ++taken;  // one buffer for all: no peer sends
  net.until([] { return false; }, milliseconds(50));      // earlier work is finished
  self.side.send_value(taken + 16);
  self.side.wait_for_value();
  net.serve();
}

constexpr std::size_t few_entries = 8, more_posts = 96;

/// Posts more than the completion queue was opened for, and reads no entry meanwhile. A read of none makes progress.
void small_queue_initiator(const role& self) {
  endpoint_pair net(self.about, {.receives = 1, .completions = few_entries}, self.side, true);
  net.warm_up();
  const std::size_t depth = std::min(net.info().tx_attr->size, net.info().rx_attr->size);
  const std::size_t wanted = std::min(more_posts, depth / 2);
  const auto progress = [&] {
    fi_cq_data_entry none{};
    (void)fi_cq_read(net.queue(), &none, 0);
  };
  std::size_t taken = 0;
  const auto end = std::chrono::steady_clock::now() + milliseconds(400);
  while (taken < wanted && std::chrono::steady_clock::now() < end) {
    if (net.write({.to = 8 * taken, .context = 1}) == 0) ++taken;
    else progress();
  }
  const auto rest = std::chrono::steady_clock::now() + milliseconds(100);
  while (std::chrono::steady_clock::now() < rest) progress();  // the ends come, and nobody takes them
  self.report.fact("entries", few_entries);
  self.report.fact("wanted", wanted);
  self.report.fact("taken_unread", taken);
  net.until([&] { return net.ended(1) >= taken; }, milliseconds(3000));
  self.report.fact("ended", net.ended(1));
  self.side.send_value(0);
}

void small_queue_target(const role& self) {
  endpoint_pair net(self.about, {.receives = 1}, self.side, false);
  net.serve();
}

constexpr std::size_t largest_tried = std::size_t{4} << 20;
const wishes for_large{.page = 2 * largest_tried, .receives = 2, .receive_bytes = largest_tried};

void largest_initiator(const role& self) {
  endpoint_pair net(self.about, for_large, self.side, true);
  net.warm_up();
  const std::size_t size = std::min<std::size_t>(net.info().ep_attr->max_msg_size, largest_tried);
  for (std::size_t i = 0; i < size; ++i) net.page()[i] = std::byte(i * 7 + i / 4096);
  self.side.send_value(size);
  require(net.insist([&] { return net.send({.size = size, .context = 1}); }), "fi_sendmsg(large)");
  net.until([&] { return self.side.ready(); }, milliseconds(3000));
  self.report.fact("message_bytes", self.side.wait_for_value() != 0 ? size : 0);
  require(net.insist([&] { return net.write({.size = size, .to = largest_tried, .context = 2}); }),
          "fi_writemsg(large)");
  net.until([&] { return self.side.ready(); }, milliseconds(3000));
  self.report.fact("write_bytes", self.side.wait_for_value() != 0 ? size : 0);
  self.side.send_value(0);
}

void largest_target(const role& self) {
  endpoint_pair net(self.about, for_large, self.side, false);
  const std::size_t size = net.serve();
  const auto right = [&](const std::byte* first) {
    for (std::size_t i = 0; i < size; ++i)
      if (first[i] != std::byte(i * 7 + i / 4096)) return false;
    return true;
  };
  const bool came = net.until([&] { return !net.received().empty(); });
  self.side.send_value(came && right(net.receive_memory(net.received()[0])) ? 1 : 0);
  const std::byte* there = net.page() + largest_tried;
  self.side.send_value(net.until([&] { return right(there); }, milliseconds(3000)) ? 1 : 0);
  net.serve();
}

}  // namespace

const behaviour inject{"inject", "how large is the inject limit, and is the buffer reusable at once?", inject_initiator,
                       inject_target};
const behaviour gather{"gather", "how many buffers fit into one transfer?", gather_initiator, gather_target};
const behaviour full_queue{"full_queue", "how many posts does the queue to a sleeping peer take, and what follows?",
                           full_queue_initiator, full_queue_target};
const behaviour small_queue{"small_queue",
                            "what follows when more operations end than the completion queue has room for?",
                            small_queue_initiator, small_queue_target};
const behaviour largest{"largest", "do large transfers arrive?", largest_initiator, largest_target};

}  // namespace weft::probe
