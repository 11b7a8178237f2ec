// SPDX-License-Identifier: Apache-2.0
//
// Mapped memory beside a peer that lies, is slow, or leaves: forged places and sizes of lent messages, forged counts of
// room, files that could kill their reader, sources that change after a hang-up. Hot path: no. Threads: two while a
// close waits for a slow receiver.
#include "two_that_met.hpp"

#include <sys/mman.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <thread>
#include <vector>

namespace weft::backends::mapped {
namespace {

constexpr auto nothing_heard = [](const auto&) {};

/// The receiving end of a link, with a ring and an arena that a test fills as a peer would.
struct victim {
  std::unique_ptr<arena> theirs = arena::make("test").value();
  connections all{*theirs, port_options{}, "test"};
  posts own{all, 16};
  connection link{4};
  std::uint64_t payload = ring_memory::least_payload;
  file memory = sealed_memory(ring_memory::file_bytes(payload), "test").value();
  mapping here = mapping::of(memory, ring_memory::file_bytes(payload), "test").value();
  ring_memory* ring = reinterpret_cast<ring_memory*>(here.start());
  outgoing_ring attacker{ring, payload};
  std::array<std::byte, 256> room{};
  std::vector<completion_entry> reported;

  explicit victim(std::size_t receive_bytes) {
    link.in = incoming_ring(ring, payload);
    link.there = peer_memory::of(theirs->memory(), theirs->size(), "test").value();
    link.through = &own;
    link.phase = link_phase::established;
    room.fill(std::byte{0x5a});
    link.receives.post({room.data(), receive_bytes, nullptr});
    link.receives.post({room.data() + 128, receive_bytes, nullptr});
  }
  void poll() {
    while (link.in.has_front() && !link.receives.empty())
      (void)report_from(link, 16, [this](const completion_entry& e, void*) { reported.push_back(e); });
  }
  bool is_untouched(std::size_t from = 0, std::size_t size = 256) const {
    return std::all_of(room.begin() + static_cast<std::ptrdiff_t>(from),
                       room.begin() + static_cast<std::ptrdiff_t>(from + size),
                       [](std::byte each) { return each == std::byte{0x5a}; });
  }
};

TEST(a_lent_message, of_a_forged_place_ends_the_link) {
  const std::uint64_t end = arena::most_bytes;
  for (const std::uint64_t offset : {end - 63, end, end + 1, ~std::uint64_t{0}, ~std::uint64_t{0} - 63}) {
    victim v(64);
    (void)v.attacker.lend(offset, 64, 7);
    v.attacker.send_short({}, 8);  // behind the gap
    v.poll();
    ASSERT_EQ(v.reported.size(), 1U) << offset;
    EXPECT_EQ(v.reported[0].outcome.code, errc::broken) << offset;
    EXPECT_EQ(v.link.phase, link_phase::ending) << offset;
    EXPECT_TRUE(v.is_untouched()) << offset;
  }
}

TEST(a_lent_message, of_a_forged_size_writes_no_byte) {
  for (const std::size_t size : {std::size_t{65}, std::size_t{1} << 20, (std::size_t{1} << 30) - 1}) {
    victim v(64);
    (void)v.attacker.lend(0, size, 7);
    v.poll();
    ASSERT_EQ(v.reported.size(), 1U) << size;
    EXPECT_NE(v.reported[0].outcome.code, errc::ok) << size;
    EXPECT_TRUE(v.is_untouched()) << size;
  }
}

TEST(a_lent_message, of_a_sender_that_hung_up_is_void) {
  victim v(64);
  (void)v.attacker.lend(0, 64, 7);
  v.attacker.send_short({}, 8);
  v.attacker.revoke();
  v.poll();
  ASSERT_EQ(v.reported.size(), 1U);
  EXPECT_EQ(v.reported[0].outcome.code, errc::broken) << "the bytes may have changed";
  EXPECT_EQ(v.link.phase, link_phase::ending);
}

TEST(a_receive, shorter_than_an_entry_gets_its_message_and_no_more) {
  for (const std::size_t size : {0U, 1U, 8U}) {
    victim v(8);
    const std::vector<std::byte> text(size, std::byte{0x11});
    std::fill(v.ring->entry[0].inside.begin(), v.ring->entry[0].inside.end(), std::byte{0xee});
    v.attacker.send_short(text, 3);
    v.poll();
    ASSERT_EQ(v.reported.size(), 1U);
    EXPECT_EQ(v.reported[0].length, size);
    EXPECT_TRUE(std::equal(text.begin(), text.end(), v.room.begin() + 128));
    EXPECT_TRUE(v.is_untouched(128 + size, 128 - size)) << size << " bytes";
  }
}

TEST(an_area, gets_no_message_beyond_its_end_whatever_its_owner_counts_as_freed) {
  victim v(64);
  const std::uint64_t size = v.payload + 64;
  for (const std::uint64_t freed : {v.payload + size, ~std::uint64_t{0}, std::uint64_t{0}}) {
    v.ring->freed = freed;
    EXPECT_FALSE(v.attacker.has_room(size)) << freed;
  }
  v.ring->freed = 0;
  EXPECT_TRUE(v.attacker.has_room(v.attacker.largest()));
}

packet hello_with(std::uint64_t arena_bytes) {
  packet came;
  came.what = packet::kind::hello;
  came.hello.entries = ring_memory::entries;
  came.hello.payload = ring_memory::least_payload;
  came.hello.arena = arena_bytes;
  came.arena = sealed_memory(arena_bytes, "test").value();
  came.ring = sealed_memory(ring_memory::file_bytes(ring_memory::least_payload), "test").value();
  return came;
}
TEST(an_arena, that_no_port_makes_is_refused) {
  connection link(1);
  EXPECT_TRUE(link.map_peer(hello_with(arena::most_bytes), "test"));
  connection other(1);
  EXPECT_FALSE(other.map_peer(hello_with(2 * arena::most_bytes), "test")) << "its growth would overflow";
}

TEST(files, of_huge_pages_are_refused) {
  const file huge(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
  if (!huge) GTEST_SKIP() << "this kernel has no huge pages (CONFIG_HUGETLBFS)";
  ASSERT_EQ(::ftruncate(huge.get(), off_t{1} << 30), 0);
  ASSERT_EQ(::fcntl(huge.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_FALSE(keeps(huge, 4096)) << "where none is left, an access ends the process (SIGBUS)";
}

TEST(a_region, that_was_released_while_lent_is_given_back_with_a_later_one) {
  shared_regions all(arena::make("test").value(), "test");
  auto lent = all.register_fresh(8192, rights::none).value();
  auto later = all.register_fresh(8192, rights::none).value();
  std::byte* const place = lent.base;
  *place = std::byte{9};
  bool is_read = true;
  const auto are_lent = [&](const_bytes some) { return is_read && some.data() == place; };
  all.deregister(lent, are_lent);
  EXPECT_EQ(all.kept(), 1U);
  EXPECT_EQ(*place, std::byte{9}) << "a receiver still copies it";
  is_read = false;
  all.deregister(later, are_lent);
  EXPECT_EQ(all.kept(), 0U);
  EXPECT_EQ(*place, std::byte{}) << "the system has the page back";
}

TEST(a_close, waits_until_lent_messages_were_copied) {
  two_that_met t;
  auto source = t.from.allocate(longest, rights::none).value();
  paint(source, 8192, 1);
  ASSERT_TRUE(t.from.send(t.there, source.first(8192)));  // no operation waits for its end
  std::atomic<bool> is_copied{false};
  std::thread slow([&] {
    std::this_thread::sleep_for(50ms);
    while (t.ended_peers == 0) {
      t.poll_receiver();
      is_copied = is_copied || !t.came.empty();
    }
  });
  EXPECT_TRUE(t.from.close(t.there, 5s, nothing_heard));
  EXPECT_TRUE(is_copied);
  paint(source, 8192, 2);
  source.reset();
  slow.join();
  ASSERT_EQ(t.came.size(), 1U);
  EXPECT_EQ(t.came[0], painted(8192, 1));
}

TEST(a_close, that_gave_up_lets_no_changed_message_arrive) {
  two_that_met t;
  auto source = t.from.allocate(longest, rights::none).value();
  paint(source, 8192, 1);
  ASSERT_TRUE(t.from.send(t.there, source.first(8192)));
  ASSERT_TRUE(t.from.send(t.there, source.first(8)));
  EXPECT_EQ(t.from.close(t.there, 5ms, nothing_heard).code, errc::deadline);
  paint(source, 8192, 2);
  t.until([&] { return t.ended_peers == 1; });
  EXPECT_TRUE(t.came.empty()) << "a message arrived whose source had changed, or one behind a gap";
}

TEST(a_peer, that_wakes_without_pause_gets_its_part_of_a_poll) {
  const auto listening = arena::make("test").value(), dialling = arena::make("test").value();
  connections here(*listening, port_options{}, "test"), there(*dialling, port_options{}, "test");
  ASSERT_TRUE(here.open(true));
  ASSERT_TRUE(there.open(false));
  ASSERT_TRUE(there.dial(here.address(), 1));
  auto on = [](link_change, std::uint32_t, connection*) { return std::uint32_t{1}; };
  for (int i = 0; i < 100; ++i)
    for (connections* each : {&here, &there}) {
      each->poll();
      each->report(on);
    }
  ASSERT_EQ(here.all().size(), 1U);
  ASSERT_EQ(here.all()[0]->phase, link_phase::established);
  for (int i = 0; i < 150; ++i) wake(there.all()[0]->socket);
  const auto waits = [&] {
    char any = 0;
    return ::recv(here.all()[0]->socket.get(), &any, sizeof any, MSG_PEEK | MSG_DONTWAIT) == 1;
  };
  here.poll();
  EXPECT_TRUE(waits()) << "one poll took all";
  for (int i = 0; i < 20; ++i) here.poll();
  EXPECT_FALSE(waits());
  EXPECT_EQ(here.all()[0]->phase, link_phase::established);
}

TEST(a_slow_receiver, delays_messages_to_nobody_else) {
  two_that_met slow;
  auto other = open<fabric>({.node = "127.0.0.1", .listens = true, .max_message_bytes = longest}).value();
  const std::string where = other.listen_address();
  std::thread accepts([&] { (void)other.accept_one(5s); });
  const peer fast = slow.from.connect(where, 5s).value();
  accepts.join();
  const auto source = slow.from.allocate(longest, rights::none).value();
  paint(source, longest, 1);
  std::size_t sent = 0;
  while (sent <= posts::most_lent && slow.from.send(slow.there, source.first(8192))) ++sent;
  ASSERT_GE(sent, posts::most_lent) << "all places of lent messages are taken";
  std::size_t came = 0;
  int posted = 0;
  slow.completed_ends = 0;
  for (const auto end = std::chrono::steady_clock::now() + 5s;
       (came < 20 || slow.completed_ends < 20) && std::chrono::steady_clock::now() < end;) {
    if (posted < 20 && slow.from.send(fast, source.first(8192), &slow)) ++posted;
    slow.poll_sender();
    other.progress(
        overloaded{[&](const received& m) { came += std::size_t{m.message.size() == 8192}; }, [](auto&&) {}});
  }
  EXPECT_EQ(came, 20U);
  EXPECT_EQ(slow.completed_ends, 20);
}

}  // namespace
}  // namespace weft::backends::mapped
