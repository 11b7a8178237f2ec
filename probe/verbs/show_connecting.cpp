// SPDX-License-Identifier: Apache-2.0
//
// Connecting, memory, sizes: behaviours of a device without failures.
// Hot path: no. Threads: one owner per process.
#include "../behaviours.hpp"
#include "card.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace weft::probe {

namespace {

using cards::card;
using cards::transfer;

constexpr std::byte mark{0x77};

/// A target that only waits for the end.
void only_serves(const role& self) {
  card net(self.about, {}, self.side, false);
  while (net.serve() != 0) {
  }
}

void meeting_initiator(const role& self) {
  card net(self.about, {}, self.side, true);
  self.told.fact("provider", std::string());
  self.told.fact("endpoint_type", "connected");
  self.told.fact("found_by_host_and_service", true);  // the address and a port were enough
  net.warm_up();
  self.told.fact("met", true);
  self.side.tell(0);
}

void first_post_initiator(const role& self) {
  card net(self.about, {}, self.side, true);
  self.side.tell(1);
  self.side.hear();  // the target sleeps from now on
  const int first = net.post({.context = 1});
  self.told.fact("taken_while_target_slept", first == 0);
  self.told.fact("said", first == 0 ? std::string("success") : error_name(first));
  self.side.tell(1);
  self.told.fact("ended_once_target_polled", net.until([&] { return net.ended(1) > 0; }));
  self.side.tell(0);
}

void first_post_target(const role& self) {
  card net(self.about, {}, self.side, false);
  net.serve();
  self.side.tell(1);
  self.side.hear();
  net.serve();
}

/// One write. Returns whether the target saw it at a place of its page.
bool lands(card& net, const role& self, std::size_t to, std::uint32_t context) {
  std::memset(net.page(), 0x77, 8);
  if (net.post({.to = to, .context = context}) == 0) net.until([&] { return net.ended(context) > 0 || net.ends > 0; });
  self.side.tell(1);
  return self.side.hear() != 0;
}

void addressing_initiator(const role& self) {
  card net(self.about, {}, self.side, true);
  net.warm_up();
  self.told.fact("returned_pointers", true);
  self.told.fact("returned_form_landed", lands(net, self, 4096, 1));
  net.peer.address = 0;
  self.told.fact("other_form_landed", lands(net, self, 8192, 2));
  self.side.tell(0);
}

void addressing_target(const role& self) {
  card net(self.about, {}, self.side, false);
  for (const auto& [landing, most] : {std::pair{4096, milliseconds(2000)}, std::pair{8192, milliseconds(300)}}) {
    net.serve();
    const volatile std::byte* watched = net.page() + landing;
    self.side.tell(net.until([&] { return *watched == mark; }, most) ? 1 : 0);
  }
  net.serve();
}

void keys_initiator(const role& self) {
  card net(self.about, {}, self.side, true);
  self.told.fact("requested_key_used", false);  // ibv_reg_mr(3) takes no key
  net.warm_up();
  self.told.fact("made_by_device_landed", lands(net, self, 0, 1));
  self.side.tell(0);
}

void keys_target(const role& self) {
  card net(self.about, {}, self.side, false);
  net.serve();
  const volatile std::byte* watched = net.page();
  self.side.tell(net.until([&] { return *watched == mark; }) ? 1 : 0);
  net.serve();
}

constexpr std::uint32_t injections = 8;
const cards::wishes for_injections{.receives = injections, .receive_bytes = cards::most_inline};

bool all_are(const std::byte* first, std::size_t size, std::size_t each) {
  return std::all_of(first, first + size, [&](std::byte at) { return at == std::byte(each); });
}

/// Inline messages whose buffer is overwritten as soon as the call returns.
void inject_initiator(const role& self) {
  const std::uint32_t size = cards::granted_inline_bytes(cards::opened_device(self.about));
  cards::wishes wish = for_injections;
  wish.inline_bytes = size;
  card net(self.about, wish, self.side, true);
  net.warm_up();
  for (std::uint32_t i = 1; size > 0 && i <= injections; ++i) {
    std::memset(net.page(), static_cast<int>(i), size);
    net.must({.what = IBV_WR_SEND, .size = size, .flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE, .context = 1},
             "ibv_post_send(inline)");
    std::memset(net.page(), 0xFF, size);
  }
  self.told.fact("bytes", size);
  self.side.tell(size);
  net.until([&] { return self.side.ready(); });
  self.side.hear();
  const int more = net.post({.what = IBV_WR_SEND, .size = net.granted().max_inline_data + 1, .flags = IBV_SEND_INLINE});
  self.told.fact("one_byte_more", more == 0 ? "taken" : error_name(more));
  self.side.tell(0);
}

void inject_target(const role& self) {
  card net(self.about, for_injections, self.side, false);
  const std::size_t size = net.serve();
  net.until([&] { return net.received().size() >= injections; });
  const std::vector<std::size_t> got = net.received();
  bool right = size == 0 || got.size() == injections;
  for (std::size_t i = 0; i < got.size(); ++i) right = right && all_are(net.receive_memory(got[i]), size, i + 1);
  self.told.fact("buffer_free_at_once", right);
  self.side.tell(1);
  net.serve();
}

constexpr std::uint32_t most_pieces = 64;

/// A message of as many buffers as the device reports, each of one byte.
void gather_initiator(const role& self) {
  const cards::opened_device on(self.about);
  const auto pieces = std::min<std::uint32_t>(static_cast<std::uint32_t>(on.attributes.max_sge), most_pieces);
  card net(self.about, {.receive_bytes = most_pieces, .pieces = pieces}, self.side, true);
  net.warm_up();
  std::vector<ibv_sge> from;
  for (std::uint32_t i = 0; i < pieces; ++i) {
    net.page()[i * 100] = std::byte(i + 1);
    from.push_back({reinterpret_cast<std::uintptr_t>(net.page() + i * 100), 1, net.local_key()});
  }
  for (const ibv_wr_opcode what : {IBV_WR_SEND, IBV_WR_RDMA_WRITE}) {
    ibv_send_wr work{};
    work.wr_id = what == IBV_WR_SEND ? 1 : 2;
    work.sg_list = from.data();
    work.num_sge = static_cast<int>(pieces);
    work.opcode = what;
    work.send_flags = IBV_SEND_SIGNALED;
    work.wr.rdma = {net.peer.address + 4096, net.peer.key};
    ibv_send_wr* stuck = nullptr;
    if (const int r = ibv_post_send(net.pair(), &work, &stuck); r != 0) throw refused{"ibv_post_send(pieces)", r};
    if (!net.until([&] { return net.ended(static_cast<std::uint32_t>(work.wr_id)) > 0; }))
      throw refused{"pieces", ETIMEDOUT};
    self.side.tell(pieces);
    const bool right = self.side.hear() != 0;
    self.told.fact(what == IBV_WR_SEND ? "message_pieces" : "write_places", right ? pieces : 0);
  }
  self.side.tell(0);
}

void gather_target(const role& self) {
  card net(self.about, {.receive_bytes = most_pieces}, self.side, false);
  const auto right = [](const volatile std::byte* at, std::size_t pieces) {
    for (std::size_t i = 0; i < pieces; ++i)
      if (at[i] != std::byte(i + 1)) return false;
    return true;
  };
  const std::size_t pieces = net.serve();
  self.side.tell(
      net.until([&] { return !net.received().empty(); }) && right(net.receive_memory(net.received()[0]), pieces) ? 1
                                                                                                                 : 0);
  net.serve();
  self.side.tell(net.until([&] { return right(net.page() + 4096, pieces); }) ? 1 : 0);
  net.serve();
}

constexpr std::uint32_t deep = 4096;

/// Posts without a poll: a queue pair of this depth was granted, and accepts as many posts.
void full_queue_initiator(const role& self) {
  card net(self.about, {.depth = deep}, self.side, true);
  net.warm_up();
  self.side.tell(1);
  self.told.fact("receives_taken", self.side.hear());
  std::size_t posted = 0;
  int said = 0;
  while (posted < deep && (said = net.post({.to = 8 * (posted % 1024), .context = 1})) == 0) ++posted;
  self.told.fact("posts_taken", posted);
  self.told.fact("said", said == 0 ? std::string("more is taken") : error_name(said));
  self.told.fact("all_ended", net.until([&] { return net.ended(1) >= posted; }));
  self.side.tell(0);
}

void full_queue_target(const role& self) {
  card net(self.about, {.more_receives = deep - 16}, self.side, false);
  net.serve();
  std::size_t taken = 16;
  while (taken < deep && net.receive(0) == 0) ++taken;  // one buffer for all: no peer sends
  self.side.tell(taken);
  net.serve();
}

constexpr std::uint32_t largest_tried = std::uint32_t{4} << 20;
const cards::wishes for_large{.page = 2 * std::size_t{largest_tried}, .receives = 2, .receive_bytes = largest_tried};

void largest_initiator(const role& self) {
  const cards::opened_device on(self.about);
  const std::uint32_t size = std::min(on.port_attributes.max_msg_sz, largest_tried);
  card net(self.about, for_large, self.side, true);
  net.warm_up();
  for (std::size_t i = 0; i < size; ++i) net.page()[i] = std::byte(i * 7 + i / 4096);
  self.side.tell(size);
  net.must({.what = IBV_WR_SEND, .size = size, .context = 1}, "ibv_post_send(large message)");
  net.until([&] { return self.side.ready(); });
  self.told.fact("message_bytes", self.side.hear() != 0 ? size : 0);
  net.must({.size = size, .to = largest_tried, .context = 2}, "ibv_post_send(large write)");
  net.until([&] { return self.side.ready(); });
  self.told.fact("write_bytes", self.side.hear() != 0 ? size : 0);
  self.side.tell(0);
}

void largest_target(const role& self) {
  card net(self.about, for_large, self.side, false);
  const std::size_t size = net.serve();
  const auto right = [&](const std::byte* first) {
    for (std::size_t i = size; i-- > 0;)
      if (first[i] != std::byte(i * 7 + i / 4096)) return false;
    return true;
  };
  const bool came = net.until([&] { return !net.received().empty(); });
  self.side.tell(came && right(net.receive_memory(net.received()[0])) ? 1 : 0);
  self.side.tell(net.until([&] { return right(net.page() + largest_tried); }) ? 1 : 0);
  net.serve();
}

}  // namespace

const behaviour meeting{"meeting", "do two processes connect, by host and service?", meeting_initiator, only_serves};
const behaviour first_post{"first_post", "is the first post accepted while the target sleeps?", first_post_initiator,
                           first_post_target};
const behaviour addressing{"addressing", "is a remote address an offset or a virtual address?", addressing_initiator,
                           addressing_target};
const behaviour keys{"keys", "who makes the keys?", keys_initiator, keys_target};
const behaviour inject{"inject", "how many bytes are posted inline?", inject_initiator, inject_target};
const behaviour gather{"gather", "how many buffers fit into one transfer?", gather_initiator, gather_target};
const behaviour full_queue{"full_queue", "how many posts does a queue take, and what follows?", full_queue_initiator,
                           full_queue_target};
const behaviour largest{"largest", "do large transfers arrive?", largest_initiator, largest_target};

}  // namespace weft::probe
