// SPDX-License-Identifier: Apache-2.0
//
// What of mapped memory the conformance suites do not meet: arenas that outgrow their first mapping, peers that lie, files that could shrink,
// memory that peers cannot count in, and what a killed process leaves.
// Hot path: no. Threads: one.
#include "../../compose/transport.hpp"
#include "../../generated/mapped.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace weft::backends::mapped {
namespace {

constexpr std::uint64_t page = range_of_pages::page;

TEST(pages, come_back_behind_all_others) {
  range_of_pages all(page, 9 * page);
  EXPECT_EQ(all.take(2 * page), page);
  EXPECT_EQ(all.take(2 * page), 3 * page);
  all.give(page, 2 * page);
  EXPECT_EQ(all.take(2 * page), 5 * page) << "a write to the first piece may be under way";
  EXPECT_EQ(all.take(3 * page), 0U);
  EXPECT_EQ(all.take(2 * page), 7 * page);
  EXPECT_EQ(all.take(page), page);
  for (const std::uint64_t each : {3U, 7U, 5U}) all.give(each * page, 2 * page);
  all.give(page, page);
  EXPECT_EQ(all.take(8 * page), page) << "neighbours become one piece again";
}

struct two {
  std::unique_ptr<arena> own = arena::make("test").value();
  neighbour seen = neighbour::of(own->memory(), own->size(), "test").value();
};

/// Addresses that this process has in use.
std::uint64_t addresses_in_use() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}
TEST(arenas, are_smaller_where_a_process_has_no_room_for_the_largest) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit tight{addresses_in_use() + (std::uint64_t{24} << 30), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &tight), 0);
  const auto made = arena::make("test");
  const rlimit tighter{addresses_in_use() + arena::least_bytes / 2, before.rlim_max};
  EXPECT_EQ(::setrlimit(RLIMIT_AS, &tighter), 0);
  const auto refused = arena::make("test");
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  ASSERT_TRUE(made);
  EXPECT_EQ((*made)->size(), std::uint64_t{16} << 30);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().sentence, "test: mmap failed (Cannot allocate memory)");
}

TEST(neighbours, see_what_lies_beyond_their_first_mapping_when_it_has_grown) {
  two t;
  const bytes far = t.own->take(std::size_t{400} << 20);  // nobody touches its pages
  const bytes behind = t.own->take(64);
  const std::uint64_t key = t.own->list(behind, rights::remote_write);
  EXPECT_EQ(t.seen.find({0, key}, 64, rights::remote_write), nullptr);
  EXPECT_EQ(t.seen.missing({0, key}, 64, rights::remote_write).why, absence::unmapped);
  ASSERT_TRUE(t.seen.grow());
  std::byte* there = t.seen.find({8, key}, 56, rights::remote_write);
  ASSERT_NE(there, nullptr);
  *there = std::byte{7};
  EXPECT_EQ(behind[8], std::byte{7});
  t.own->give(far);
  t.own->give(behind);
  EXPECT_EQ(behind[8], std::byte{}) << "given back to the system";
}

TEST(neighbours, are_told_why_not) {
  two t;
  const bytes some = t.own->take(100);
  const std::uint64_t key = t.own->list(some, rights::remote_read);
  EXPECT_NE(t.seen.find({0, key}, 100, rights::remote_read), nullptr);
  EXPECT_EQ(t.seen.missing({0, key ^ 0x10000}, 8, rights::remote_read).why, absence::unknown);
  EXPECT_EQ(t.seen.find({0, 0}, 0, rights::remote_read), nullptr);
  EXPECT_EQ(t.seen.find({0, key}, 8, rights::remote_write), nullptr);
  EXPECT_EQ(t.seen.missing({0, key}, 8, rights::remote_write).why, absence::denied);
  EXPECT_EQ(t.seen.find({93, key}, 8, rights::remote_read), nullptr);
  EXPECT_EQ(t.seen.missing({~std::uint64_t{0}, key}, 8, rights::remote_read).why, absence::outside);
  t.own->strike(key);
  EXPECT_EQ(t.seen.find({0, key}, 8, rights::remote_read), nullptr) << "though it was used last";
  EXPECT_EQ(t.seen.missing({0, key}, 8, rights::remote_read).why, absence::unknown);
  EXPECT_NE(t.own->list(some, rights::remote_read), key) << "the same row, another key";
}

TEST(neighbours, do_not_believe_tables_that_contradict_their_files) {
  two t;
  const bytes some = t.own->take(100);
  const std::uint64_t key = t.own->list(some, rights::remote_read);
  std::atomic<std::uint64_t>& place = t.own->head().table[key % arena_head::rows].place;
  const std::uint64_t right = place.exchange(arena::most_bytes - 8);
  EXPECT_EQ(t.seen.find({0, key}, 100, rights::remote_read), nullptr);
  EXPECT_EQ(t.seen.missing({0, key}, 100, rights::remote_read).why, absence::broken);
  place = right;
  std::byte* const there = t.seen.find({0, key}, 100, rights::remote_read);
  ASSERT_NE(there, nullptr);
  place = arena::most_bytes - 8;
  EXPECT_EQ(t.seen.find({0, key}, 100, rights::remote_read), there) << "what was checked is used, not read again";
}

struct ring_of_two {
  std::uint64_t payload = ring_memory::least_payload;
  file memory = sealed_memory(ring_memory::file_bytes(payload), "test").value();
  mapping here = mapping::of(memory, ring_memory::file_bytes(payload), "test").value();
  ring_memory* ring = reinterpret_cast<ring_memory*>(here.start());
  outgoing_ring out{ring, payload};
  incoming_ring in{ring, payload};
};

TEST(rings, carry_messages_of_every_size_around_their_end) {
  ring_of_two r;
  std::vector<std::byte> text(r.out.largest());
  for (std::size_t i = 0; i < 3000; ++i) {
    const std::size_t size = i % 7 == 0 ? i * 11 % (text.size() + 1) : i % 100;
    for (std::size_t k = 0; k < size; ++k) text[k] = static_cast<std::byte>(i + k);
    ASSERT_TRUE(r.out.has_room(size)) << i;
    r.out.send(const_bytes(text).first(size), i);
    const ring_entry* e = r.in.front();
    ASSERT_NE(e, nullptr);
    EXPECT_EQ(e->immediate, i);
    const auto came = r.in.message(*e, e->size);
    ASSERT_TRUE(came);
    ASSERT_TRUE(std::equal(came->begin(), came->end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size))) << i;
    r.in.pop();
    EXPECT_EQ(r.in.front(), nullptr);
  }
}

TEST(rings, are_full_when_nobody_takes) {
  ring_of_two r;
  std::uint64_t sent = 0;
  for (; r.out.has_room(0) && sent < 1000; ++sent) r.out.send_notice(sent, {});
  EXPECT_EQ(sent, ring_memory::entries);
  for (std::uint64_t i = 0; i < sent; ++i, r.in.pop()) ASSERT_EQ(r.in.front()->immediate, i);
  EXPECT_TRUE(r.out.has_room(0));
}

TEST(rings, tell_where_the_bytes_of_a_notice_lie) {
  ring_of_two r;
  const auto told = [&r] {
    const ring_entry& e = *r.in.front();
    const landed_bytes landed = landed_bytes::of(e, e.size);
    r.in.pop();
    return landed;
  };
  r.out.send_notice(1, {4096, 24});
  const landed_bytes near = told();
  EXPECT_EQ(near.place, 4096U);
  EXPECT_EQ(near.size, 24U);
  r.out.send_notice(2, {4096, std::size_t{1} << 40});
  EXPECT_EQ(told().size, likely_lines::most) << "no more is worth fetching, and the size stays clear of the bit beside it";
  r.out.send_notice(3, {});
  EXPECT_FALSE(told().lies_within(arena::most_bytes)) << "none lie in the mapping";
}

TEST(rings, do_not_believe_bytes_that_lie_nowhere) {
  for (const landed_bytes lie : {landed_bytes{8192, 8}, landed_bytes{8185, 8}, landed_bytes{~std::uint64_t{0}, 8}, landed_bytes{0, 129}})
    EXPECT_FALSE(lie.lies_within(8192)) << lie.place;
  EXPECT_TRUE((landed_bytes{8184, 8}.lies_within(8192)));
}

TEST(neighbours, tell_where_the_owner_has_what_was_found) {
  two t;
  const bytes some = t.own->take(100);
  const std::uint64_t key = t.own->list(some, rights::remote_write);
  std::byte* there = t.seen.find({8, key}, 8, rights::remote_write);
  ASSERT_NE(there, nullptr);
  EXPECT_EQ(t.seen.found({8, key}).here, there);
  EXPECT_EQ(t.own->start() + t.seen.found({8, key}).offset, some.data() + 8);
  EXPECT_EQ(t.seen.found({8, key ^ 0x10000}).here, nullptr) << "not what was found last";
}

TEST(rings, do_not_believe_places_that_are_none) {
  ring_of_two r;
  const std::vector<std::byte> text(1000);
  r.out.send(text, 0);
  for (const payload_place lie : {payload_place{r.payload, 0}, payload_place{r.payload - 999, 0}, payload_place{~std::uint64_t{0}, 0}}) {
    std::memcpy(r.ring->entry[0].inside.data(), &lie, sizeof lie);
    EXPECT_FALSE(r.in.message(*r.in.front(), r.in.front()->size)) << lie.offset;
  }
}

TEST(files, that_could_shrink_are_not_mapped) {
  const file open(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(open.get(), 8192), 0);
  EXPECT_FALSE(keeps(open, 8192));
  const file sealed = sealed_memory(8192, "test").value();
  EXPECT_TRUE(keeps(sealed, 8192));
  EXPECT_FALSE(keeps(sealed, 8193));
}

TEST(transports, count_in_memory_of_the_mapping_alone) {
  auto net = weft::open<fabrics::mapped>({}).value();
  alignas(8) std::array<std::byte, 64> mine{};
  const auto refused = net.register_region(mine, rights::remote_atomic);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.why().code, errc::unsupported);
  EXPECT_NE(refused.error().sentence.find("allocate_words"), std::string::npos) << refused.error().sentence;
  EXPECT_TRUE(net.register_region(mine, rights::none));
  const auto moved = net.register_region(mine, rights::remote_write);
  if (const std::string why = what_forbids_reaching_in(); why.empty()) EXPECT_TRUE(moved);
  else EXPECT_NE(moved.error().sentence.find(why), std::string::npos);
}

std::size_t shared_files() {
  std::error_code none;
  const auto all = std::filesystem::directory_iterator("/dev/shm", none);
  return static_cast<std::size_t>(
      std::count_if(begin(all), end(all), [](const auto& each) { return each.path().filename().string().find("weft") != std::string::npos; }));
}

TEST(transports, leave_nothing_when_they_are_killed) {
  const std::size_t before = shared_files();
  const pid_t child = ::fork();
  if (child == 0) {
    auto net = weft::open<fabrics::mapped>({.node = "127.0.0.1", .listens = true});
    if (net && net->allocate(8192, rights::all)) (void)::raise(SIGKILL);
    ::_exit(1);
  }
  int how = 0;
  ASSERT_EQ(::waitpid(child, &how, 0), child);
  EXPECT_TRUE(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
  EXPECT_EQ(shared_files(), before);
}

}  // namespace
}  // namespace weft::backends::mapped
