// SPDX-License-Identifier: Apache-2.0
//
// Parts of mapped memory that the conformance suites do not reach: arenas that outgrow their first mapping, peers that
// send wrong data, files that could shrink, memory that peers cannot count in, and the files of a killed process. Hot
// path: no. Threads: one.
#include "../../../compose/transport.hpp"
#include "../../../generated/mapped.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <concepts>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

namespace weft::backends::mapped {
namespace {

constexpr std::uint64_t page = range_of_pages::page;

// A sender can change its message's size at any time. Of a plain word the compiler may make several reads.
static_assert(std::same_as<decltype(ring_entry::size), std::atomic<std::uint32_t>>);

TEST(pages, released_pages_are_reused_last) {
  range_of_pages all(page, 9 * page);
  EXPECT_EQ(all.take(2 * page), page);
  EXPECT_EQ(all.take(2 * page), 3 * page);
  all.give(page, 2 * page);
  EXPECT_EQ(all.take(2 * page), 5 * page) << "a write to the first piece may be in flight";
  EXPECT_EQ(all.take(3 * page), 0U);
  EXPECT_EQ(all.take(2 * page), 7 * page);
  EXPECT_EQ(all.take(page), page);
  for (const std::uint64_t each : {3U, 7U, 5U}) all.give(each * page, 2 * page);
  all.give(page, page);
  EXPECT_EQ(all.take(8 * page), page) << "adjacent pieces become one again";
}

TEST(bytes_that_are_stored, stores_change_only_the_requested_bytes) {
  std::vector<std::byte> from(208), to(224);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = std::byte(i + 1);
  for (const std::size_t shift : {0U, 1U, 4U})
    for (std::size_t size = 0; size <= 200; ++size) {
      std::fill(to.begin(), to.end(), std::byte{0xee});
      store(to.data() + 8 + shift, const_bytes(from).subspan(shift, size));
      EXPECT_TRUE(std::equal(to.begin() + 8 + static_cast<std::ptrdiff_t>(shift),
                             to.begin() + 8 + static_cast<std::ptrdiff_t>(shift + size),
                             from.begin() + static_cast<std::ptrdiff_t>(shift)))
          << size << " bytes, " << shift << " behind a word";
      EXPECT_EQ(static_cast<std::size_t>(std::count(to.begin(), to.end(), std::byte{0xee})),
                to.size() - size +
                    static_cast<std::size_t>(std::count(from.begin() + static_cast<std::ptrdiff_t>(shift),
                                                        from.begin() + static_cast<std::ptrdiff_t>(shift + size),
                                                        std::byte{0xee})))
          << size << " bytes, " << shift << " behind a word";
    }
}

struct two {
  std::unique_ptr<arena> own = arena::make("test").value();
  peer_memory seen = peer_memory::of(own->memory(), own->size(), "test").value();
};

/// Addresses that this process has in use.
std::uint64_t addresses_in_use() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}
TEST(arenas, arenas_shrink_where_the_process_lacks_address_space) {
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

TEST(neighbours, a_grown_file_is_mapped_again) {
  two t;
  const bytes far = t.own->take(std::size_t{400} << 20);  // its pages are never touched
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
  EXPECT_EQ(behind[8], std::byte{}) << "returned to the system";
}

TEST(neighbours, a_refused_mapping_names_its_reason) {
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
  t.own->erase(key);
  EXPECT_EQ(t.seen.find({0, key}, 8, rights::remote_read), nullptr) << "although it was used last";
  EXPECT_EQ(t.seen.missing({0, key}, 8, rights::remote_read).why, absence::unknown);
  EXPECT_NE(t.own->list(some, rights::remote_read), key) << "the same row, another key";
}

TEST(neighbours, a_table_that_contradicts_its_file_is_refused) {
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
  EXPECT_EQ(t.seen.find({0, key}, 100, rights::remote_read), there) << "the checked value is used, not read again";
}

struct ring_of_two {
  std::uint64_t payload = ring_memory::least_payload;
  file memory = sealed_memory(ring_memory::file_bytes(payload), "test").value();
  mapping here = mapping::of(memory, ring_memory::file_bytes(payload), "test").value();
  ring_memory* ring = reinterpret_cast<ring_memory*>(here.start());
  outgoing_ring out{ring, payload};
  incoming_ring in{ring, payload};
  void send(const_bytes message, std::uint64_t immediate) {
    const local_memory piece{const_cast<std::byte*>(message.data()), message.size(), nullptr};  // NOLINT: only read
    if (message.size() <= ring_entry::room) out.send_short(message, immediate);
    else out.send(gather_list(&piece, 1), immediate);
  }
};

TEST(rings, messages_of_every_size_wrap_around) {
  ring_of_two r;
  std::vector<std::byte> text(r.out.largest());
  for (std::size_t i = 0; i < 3000; ++i) {
    const std::size_t size = i % 7 == 0 ? i * 11 % (text.size() + 1) : i % 100;
    for (std::size_t k = 0; k < size; ++k) text[k] = static_cast<std::byte>(i + k);
    ASSERT_TRUE(r.out.has_room(size)) << i;
    r.send(const_bytes(text).first(size), i);
    ASSERT_TRUE(r.in.has_front());
    const ring_entry* e = &r.in.front();
    EXPECT_EQ(e->immediate, i);
    const auto came = r.in.message(*e, e->size);
    ASSERT_TRUE(came);
    ASSERT_TRUE(std::equal(came->begin(), came->end(), text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size)))
        << i;
    r.in.pop();
    EXPECT_FALSE(r.in.has_front());
  }
}

TEST(rings, a_ring_without_a_reader_fills) {
  ring_of_two r;
  std::uint64_t sent = 0;
  for (; r.out.has_room(0) && sent < 1000; ++sent) r.out.send_notice(sent, {});
  EXPECT_EQ(sent, ring_memory::entries);
  for (std::uint64_t i = 0; i < sent; ++i, r.in.pop()) ASSERT_EQ(r.in.front().immediate, i);
  EXPECT_TRUE(r.out.has_room(0));
}

TEST(rings, an_area_without_a_reader_fills) {
  ring_of_two r;
  std::vector<std::byte> text(r.out.largest());
  std::uint64_t sent = 0;
  for (; r.out.has_room(text.size()) && sent < 100; ++sent) {
    std::fill(text.begin(), text.end(), static_cast<std::byte>(sent));
    r.send(text, sent);
  }
  EXPECT_EQ(sent, r.payload / text.size());
  for (std::uint64_t i = 0; i < sent; ++i, r.in.pop()) {
    const auto came = r.in.message(r.in.front(), r.in.front().size);
    ASSERT_TRUE(came);
    EXPECT_EQ(came->front(), static_cast<std::byte>(i)) << "overwritten";
  }
  EXPECT_TRUE(r.out.has_room(text.size()));
}

TEST(rings, a_notice_gives_the_place_of_its_bytes) {
  ring_of_two r;
  const auto reported = [&r] {
    const ring_entry& e = r.in.front();
    EXPECT_EQ(e.size, ring_entry::notice);
    const written_bytes landed = written_bytes::of(e);
    r.in.pop();
    return landed;
  };
  r.out.send_notice(1, {4096, 4119});
  const written_bytes near = reported();
  EXPECT_EQ(near.first, 4096U);
  EXPECT_EQ(near.last, 4119U);
  r.out.send_notice(2, {});
  EXPECT_EQ(reported().last, 0U) << "none is in the mapping";
}

TEST(connections, a_request_for_invalid_bytes_does_no_harm) {
  two t;
  connection c(1);
  c.own_memory = t.own->start();
  for (const std::uint64_t lie :
       {std::uint64_t{0}, arena::most_bytes, ~std::uint64_t{0}, std::uint64_t{1} << 47, std::uint64_t{1} << 63}) {
    c.fetch_ahead({lie, lie + 7});
    c.arriving.fetch();
  }
  EXPECT_EQ(t.own->start()[t.own->size() - 1], std::byte{});
}

TEST(rings, entries_wrap_although_room_was_granted_between_quarters) {
  ring_of_two r;
  const std::vector<std::byte> text(r.payload / 4);
  for (std::uint64_t i = 0; i < 4 * ring_memory::entries; ++i) {
    const std::size_t size = i % 37 == 5 ? text.size() : 8;
    ASSERT_TRUE(r.out.has_room(size)) << i;
    r.send(const_bytes(text).first(size), i);
    ASSERT_TRUE(r.in.has_front()) << i;
    const ring_entry* e = &r.in.front();
    ASSERT_EQ(e, &r.ring->entry[i % ring_memory::entries]);
    ASSERT_TRUE(r.in.message(*e, e->size));
    r.in.pop();
    ASSERT_GE(r.ring->taken + ring_memory::entries / 4, i + 1) << "room is granted by quarters";
  }
}

TEST(ends, completions_are_in_order_and_bounded) {
  completion_queue ends(4);
  std::array<int, 12> of{};
  for (std::size_t i = 0; i < 3; ++i) ends.push(&of[i], errc::ok);
  EXPECT_EQ(ends.pop().context, &of[0]);
  ends.push(&of[3], errc::denied);
  ASSERT_FALSE(ends.full()) << "the first was reported";
  ends.push(&of[4], errc::ok);
  EXPECT_TRUE(ends.full());
  for (std::size_t i = 1; i < 5; ++i) {
    const pending_completion e = ends.pop();
    EXPECT_EQ(e.context, &of[i]);
    EXPECT_EQ(e.how, i == 3 ? errc::denied : errc::ok);
  }
  EXPECT_TRUE(ends.empty());
}

TEST(neighbours, a_found_place_translates_to_the_owners_address) {
  two t;
  const bytes some = t.own->take(100);
  const std::uint64_t key = t.own->list(some, rights::remote_write);
  std::byte* there = t.seen.find({8, key}, 8, rights::remote_write);
  ASSERT_NE(there, nullptr);
  EXPECT_TRUE(t.seen.knows<rights::remote_write>({8, key}, 8));
  EXPECT_EQ(t.seen.known<rights::remote_write>(8), there);
  EXPECT_EQ(t.own->start() + t.seen.offset_of(there), some.data() + 8);
  EXPECT_FALSE(t.seen.knows<rights::remote_write>({8, key ^ 0x10000}, 8)) << "not the place that was found last";
}

TEST(neighbours, the_cached_region_of_each_right_grants_no_more) {
  two t;
  const std::uint64_t read = t.own->list(t.own->take(100), rights::remote_read);
  const std::uint64_t all = t.own->list(t.own->take(100), rights::all);
  for (const rights each : {rights::remote_write, rights::remote_read, rights::remote_atomic}) {
    EXPECT_NE(t.seen.find({0, all}, 8, each), nullptr);
    EXPECT_EQ(t.seen.find({0, read}, 8, each) != nullptr, each == rights::remote_read);
  }
  EXPECT_FALSE(t.seen.knows<rights::remote_write>({~std::uint64_t{0}, all}, 8)) << "around the end of the memory";
  EXPECT_TRUE(t.seen.knows<rights::remote_write>({92, all}, 8)) << "the other grants no write";
  EXPECT_TRUE(t.seen.knows<rights::remote_read>({92, read}, 8));
  EXPECT_FALSE(t.seen.knows<rights::remote_read>({92, all}, 8));
  EXPECT_FALSE(t.seen.knows<rights::remote_write>({93, all}, 8)) << "beyond its end";
  t.own->erase(all);
  EXPECT_FALSE(t.seen.knows<rights::remote_write>({0, all}, 8)) << "released";
}

TEST(rings, invalid_places_are_refused) {
  ring_of_two r;
  const std::vector<std::byte> text(1000);
  r.send(text, 0);
  for (const payload_place lie :
       {payload_place{r.payload, 0}, payload_place{r.payload - 999, 0}, payload_place{~std::uint64_t{0}, 0}}) {
    std::memcpy(r.ring->entry[0].inside.data(), &lie, sizeof lie);
    EXPECT_FALSE(r.in.message(r.in.front(), r.in.front().size)) << lie.offset;
  }
}

TEST(files, files_that_can_shrink_are_refused) {
  const file open(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(open.get(), 8192), 0);
  EXPECT_FALSE(keeps(open, 8192));
  const file sealed = sealed_memory(8192, "test").value();
  EXPECT_TRUE(keeps(sealed, 8192));
  EXPECT_FALSE(keeps(sealed, 8193));
}

TEST(transports, counters_live_in_the_mapping) {
  auto net = weft::open<fabrics::mapped>({}).value();
  alignas(8) std::array<std::byte, 64> mine{};
  const auto refused = net.register_region(mine, rights::remote_atomic);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.why().code, errc::unsupported);
  EXPECT_NE(refused.error().sentence.find("allocate_words"), std::string::npos) << refused.error().sentence;
  EXPECT_TRUE(net.register_region(mine, rights::none));
  const auto moved = net.register_region(mine, rights::remote_write);
  if (const std::string why = why_no_access(); why.empty()) EXPECT_TRUE(moved);
  else EXPECT_NE(moved.error().sentence.find(why), std::string::npos);
}

std::size_t shared_files() {
  std::error_code none;
  const auto all = std::filesystem::directory_iterator("/dev/shm", none);
  return static_cast<std::size_t>(std::count_if(begin(all), end(all), [](const auto& each) {
    return each.path().filename().string().find("weft") != std::string::npos;
  }));
}

TEST(transports, a_killed_transport_leaves_nothing) {
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
