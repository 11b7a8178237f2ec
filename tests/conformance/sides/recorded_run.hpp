// SPDX-License-Identifier: Apache-2.0
//
// Two sides that record all that the checker judges: deadlines, notices, messages, keys, guard bytes, additions to a
// counter, bytes that are read back, a wait, and the loss of a peer. Hot path: no. Threads: one per side.
#pragma once

#include "../numbered_messages.hpp"
#include "../two_sides.hpp"

#include <cstring>
#include <vector>

namespace weft::conformance {

struct full_history {
  static constexpr std::uint32_t notices = 20, messages = 10, additions = 5;
  static constexpr std::size_t each = 64, guard = 256, size = notices * each;
  static constexpr duration timeout = 10s;
};

/// Side 0: a region with guard bytes on both sides, a counter, five more regions for their keys. Closes the connection.
template <class F>
void record_target(test_side& side) {
  using full = full_history;
  auto net = opened<F>(side, listening());
  observer seen;
  std::vector<std::byte> memory(full::guard + full::size + full::guard);
  const auto inner = bytes(memory).subspan(full::guard, full::size);
  const auto page = net.register_region(inner, rights::remote_write | rights::remote_read).value();
  const auto counter = net.allocate(64, rights::remote_atomic).value();
  side.book.counter_start(net.now(), 1, 0);
  std::vector<owned_region> more;
  const auto record_key = [&](const region& r) {
    const auto parsed = net.parse_region(peer(), net.export_region(r, owner_polls)).value();
    side.book.key_issued(net.now(), parsed.record().key);
  };
  record_key(page);
  for (int i = 0; i < 5; ++i) {
    more.push_back(net.allocate(64, rights::remote_write).value());
    record_key(more.back());
  }
  seen.on_notified = [&](const notified& n) {
    ASSERT_LT(n.immediate, full::notices);
    side.book.notified(1, net.now(), n.immediate, inner.subspan(n.immediate * full::each, full::each));
  };
  seen.on_received = [&](const received& m) { side.book.received(1, net.now(), number_of(m.message), m.message); };
  const peer other = meet_as_listener(side, net, seen);
  side.send_value(1, const_bytes(net.export_region(page, owner_polls)));
  side.send_value(1, const_bytes(net.export_region(counter, owner_polls)));
  await(side, net, seen, "all notices and messages",
        [&] { return seen.notices == full::notices && seen.messages == full::messages; });
  side.ready(1);
  serve(side, net, seen, 1);
  (void)side.wait_for_value(1);
  EXPECT_TRUE(net.close(other, patience, seen));
  const std::vector<std::byte> untouched(full::guard);
  side.book.guard(net.now(), 1, untouched, const_bytes(memory).first(full::guard));
  side.book.guard(net.now(), 1, untouched, const_bytes(memory).last(full::guard));
  std::uint64_t counted = 0;
  std::memcpy(&counted, counter.data(), sizeof counted);
  side.book.counter_end(net.now(), 1, counted);
  side.book.finished(net.now());
}

/// Side 1: notices, messages, additions, a read of the notices' bytes, a wait without an event. Then its peer closes.
template <class F>
void record_initiator(test_side& side) {
  using full = full_history;
  constexpr std::size_t written = full::size + full::messages * full::each;
  initiator_side<F> guest(side, written + full::size);
  auto& net = guest.net;
  observer& seen = guest.seen;
  const auto counter = net.parse_region(guest.other, serve_for_value(side, net, seen, 0)).value();
  std::vector<std::uint64_t> ids(full::notices + full::messages);
  seen.on_completed = [&](const completed& c) {
    side.book.ended(*static_cast<std::uint64_t*>(c.context), net.now(), errc::ok,
                    c.what == operation::fetch_add ? std::uint64_t{c.old} : 0);
  };
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    const local_memory from = guest.memory.slice(i * full::each, full::each);
    const bool notifies = i < full::notices;
    const std::uint32_t number = notifies ? i : i - full::notices;
    write_message({from.data, from.size}, number);
    ids[i] = side.book.posted(notifies ? history::work::put_notify : history::work::send, 0, net.now(),
                              latest_end(net, full::timeout), number, const_bytes(from.data, from.size));
    push(side, net, seen, "post", [&] {
      if (!notifies) return net.send(guest.other, from, &ids[i]);
      return net.put_notify(guest.other, from, guest.there.at(i * full::each), i, &ids[i]);
    });
  }
  std::vector<std::uint64_t> added(full::additions);
  for (std::uint64_t& id : added) {
    id = side.book.posted(history::work::fetch_add, 0, net.now(), latest_end(net, full::timeout), 3, 1);
    push(side, net, seen, "fetch_add", [&] { return net.fetch_add(guest.other, counter.at(0), 3, &id); });
  }
  const std::size_t posted = ids.size() + added.size();
  await(side, net, seen, "all completions", [&] { return seen.completions == posted; });
  (void)serve_for_value(side, net, seen, 0);
  const local_memory back = guest.memory.slice(written, full::size);
  std::uint64_t read = side.book.posted(history::work::get, 0, net.now(), latest_end(net, full::timeout));
  push(side, net, seen, "get", [&] { return net.get(guest.other, back, guest.there.at(0), &read); });
  await(side, net, seen, "the read", [&] { return seen.completions == posted + 1; });
  const local_memory sent = guest.memory.first(full::size);
  side.book.acknowledged(read, net.now(), const_bytes(sent.data, sent.size), const_bytes(back.data, back.size));
  const std::uint64_t wait = side.book.posted(history::work::wait, 0, net.now(), net.now() + 50ms);
  EXPECT_EQ(net.until([] { return false; }, 50ms, seen).code, errc::deadline);
  side.book.ended(wait, net.now(), errc::deadline);
  side.ready(0);
  await(side, net, seen, "the goodbye", [&] { return seen.losses == 1; });
  side.book.finished(net.now());
}

}  // namespace weft::conformance
