// SPDX-License-Identifier: Apache-2.0
//
// The table of peers: bytes for each peer (counted in the allocator), the order in which records are reused, and lookup
// by handle.
#include <weft/compose/engine/known_peers.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <new>
#include <set>

namespace {
std::size_t bytes_asked = 0;
std::size_t times_asked = 0;
}  // namespace

void* operator new(std::size_t size) {
  bytes_asked += size;
  ++times_asked;
  if (void* made = std::malloc(size)) return made;
  throw std::bad_alloc();
}
void* operator new[](std::size_t size) { return operator new(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  bytes_asked += size;
  ++times_asked;
  return std::malloc(size);
}
void* operator new[](std::size_t size, const std::nothrow_t& how) noexcept { return operator new(size, how); }
void operator delete(void* gone) noexcept { std::free(gone); }
void operator delete[](void* gone) noexcept { std::free(gone); }
void operator delete(void* gone, std::size_t) noexcept { std::free(gone); }
void operator delete[](void* gone, std::size_t) noexcept { std::free(gone); }

namespace weft {
using namespace detail;  // NOLINT(google-build-using-namespace): under test
namespace {

/// A link of an addressed fabric over libfabric: an index in the address vector, and a tag.
struct place {
  std::uint64_t address = 0;
  std::uint32_t tag = 0;
};
struct nothing {};
using idle_peer = peer_record<place, nothing>;

/// What advance() and teardown::forget() do to a record.
void use(idle_peer& r) { r.state = peer_state::established; }
template <class Table>
void leave(Table& table, idle_peer& r) {
  r.words.reset();
  r.state = peer_state::free;
  table.give(r);
}

TEST(memory_of_peers, an_idle_addressed_peer_takes_64_bytes) {
  EXPECT_LE(sizeof(idle_peer), 64U);
  for (const std::uint32_t count : {1'000U, 100'000U, 1'000'000U}) {
    const std::size_t bytes = bytes_asked, times = times_asked;
    peer_table<idle_peer> table(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      idle_peer* r = table.take();
      ASSERT_NE(r, nullptr);
      use(*r);
    }
    EXPECT_EQ(table.take(), nullptr) << "the table is full";
    EXPECT_LE(bytes_asked - bytes, 64U * count + 64) << count << " peers";
    EXPECT_EQ(times_asked - times, 1U) << "a peer allocated memory";
  }
}

TEST(a_handle_of_a_peer, carries_a_pointer_until_the_peer_ends) {
  peer_table<idle_peer> table(1);
  idle_peer& r = *table.take();
  r.state = peer_state::requested;
  const peer handle = peer_access::make(&r, r.number);
  int mine = 0;
  EXPECT_EQ(handle.user_data(), nullptr);
  EXPECT_EQ(peer().user_data(), nullptr);
  EXPECT_EQ(peer().set_user_data(&mine).code, errc::peer_lost);
  EXPECT_TRUE(handle.set_user_data(&mine));
  EXPECT_EQ(peer_access::make(&r, r.number).user_data(), &mine) << "another handle of the same peer";
  const std::size_t times = times_asked;
  EXPECT_TRUE(handle.set_user_data(nullptr));
  EXPECT_EQ(times_asked, times) << "the second call allocates nothing";
  EXPECT_TRUE(handle.set_user_data(&mine));
  leave(table, r);
  idle_peer& again = *table.take();
  ASSERT_EQ(&again, &r);
  const peer next = peer_access::make(&again, again.number);
  EXPECT_EQ(next.user_data(), nullptr);
  EXPECT_TRUE(next.set_user_data(&r));
  EXPECT_EQ(handle.user_data(), nullptr) << "a stale handle reads the pointer of the next peer";
  EXPECT_EQ(handle.set_user_data(&mine).code, errc::peer_lost);
}

TEST(memory_of_peers, atomic_words_take_memory_only_where_used) {
  peer_table<idle_peer> table(2);
  idle_peer& r = *table.take();
  use(r);
  const std::size_t times = times_asked;
  EXPECT_EQ(r.reason(), "");
  EXPECT_EQ(times_asked, times);
  ASSERT_NE(r.made_words(), nullptr);
  r.words->reason = "no";
  EXPECT_EQ(r.made_words()->reason, "no") << "created once";
  leave(table, r);
  EXPECT_EQ(r.reason(), "");
}

TEST(table_of_peers, a_handle_finds_only_the_present_use_of_its_record) {
  peer_table<idle_peer> table(3);
  std::set<std::uint32_t> numbers;
  for (int round = 0; round < 600; ++round) {  // more rounds than a handle has generations
    idle_peer& r = *table.take();
    use(r);
    const wire::connection_number number{r.number};
    EXPECT_EQ(table.find(number), &r);
    numbers.insert(number.value);
    leave(table, r);
    EXPECT_EQ(table.find(number), nullptr) << "a message of an earlier use would be taken for the next one's";
  }
  EXPECT_EQ(numbers.count(0), 0U);
  EXPECT_EQ(numbers.size(), 600U) << "a record was reused while others were free for longer";
}

TEST(table_of_peers, an_old_handle_does_not_find_the_next_use_of_its_record) {
  peer_table<idle_peer> table(1);
  idle_peer& first = *table.take();
  use(first);
  const wire::connection_number old{first.number};
  leave(table, first);
  idle_peer& next = *table.take();
  use(next);
  EXPECT_EQ(&next, &first);
  EXPECT_EQ(table.find(old), nullptr);
  EXPECT_EQ(table.living(old), nullptr);
  EXPECT_EQ(table.find({next.number}), &next);
}

TEST(table_of_peers, a_message_without_the_proof_finds_no_connection) {
  peer_table<idle_peer> table(5);
  for (std::uint32_t i = 0; i < 5; ++i) table.take(0x9e3779b9'7f4a7c15U * (i + 1))->set_live(true);
  for (idle_peer& r : table) {
    r.state = peer_state::established;
    const wire::connection_word right = r.word();
    EXPECT_EQ(table.find_proven(right), &r);
    EXPECT_EQ(table.living_proven(right, table.capacity()), &r);
    EXPECT_EQ(table.living_proven(right, 0), nullptr) << "earlier messages wait";
    for (int bit = 0; bit < 64; ++bit) {
      const wire::connection_word wrong{right.value ^ std::uint64_t{1} << bit};
      EXPECT_EQ(table.find_proven(wrong), nullptr) << "bit " << bit;
      EXPECT_EQ(table.living_proven(wrong, table.capacity()), nullptr) << "bit " << bit;
    }
    r.set_live(false);  // what advance() does when the connection ends or has not begun
    EXPECT_EQ(table.find_proven(right), &r);
    EXPECT_EQ(table.living_proven(right, table.capacity()), nullptr);
    EXPECT_EQ(table.find_proven({right.number().value}), nullptr);
  }
}

TEST(table_of_peers, a_forged_word_of_dead_records_finds_none) {
  for (const std::uint32_t capacity : {1U, 2U, 7U, 8U, 255U, 256U}) {
    peer_table<idle_peer> table(capacity);
    for (std::uint32_t i = 0; i < capacity; ++i) use(*table.take());
    EXPECT_EQ(table.living({peer_header::dead}), nullptr) << capacity;
    EXPECT_EQ(table.living_proven({peer_header::dead}, capacity), nullptr) << capacity;
    EXPECT_EQ(table.living_proven({~std::uint64_t{0}}, capacity), nullptr) << capacity;
    EXPECT_EQ(table.find({peer_header::dead}), nullptr) << capacity;
  }
}

TEST(table_of_peers, proof_and_number_are_random_and_a_generation_is_counted) {
  peer_table<idle_peer> table(32);
  std::uint64_t random = 1;
  const auto next = [&random] { return random = random * 6364136223846793005U + 1442695040888963407U; };
  std::set<std::uint32_t> numbers, proofs, first_numbers;
  for (int round = 0; round < 255 * 32; ++round) {
    idle_peer& r = *table.take(next());
    use(r);
    EXPECT_LT(r.number, wire::connection_number::end);
    EXPECT_EQ(table.find({r.number}), &r);
    if (round < 32) first_numbers.insert(r.number >> 6);
    numbers.insert(r.number);
    proofs.insert(r.word().proof());
    leave(table, r);
  }
  EXPECT_EQ(numbers.size(), 255U * 32) << "a number came again before 255 uses of its record";
  EXPECT_GT(first_numbers.size(), 30U) << "the first numbers can be guessed";
  EXPECT_GT(proofs.size(), 255U * 32 - 8);
}

TEST(table_of_peers, the_longest_free_record_is_used_next) {
  peer_table<idle_peer> table(3);
  idle_peer* all[3];
  for (auto& r : all) use(*(r = table.take()));
  EXPECT_EQ(table.end() - table.begin(), 3);
  for (const int i : {1, 0, 2}) leave(table, *all[i]);
  for (const int i : {1, 0, 2}) {
    idle_peer* r = table.take();
    EXPECT_EQ(r, all[i]);
    use(*r);
  }
  EXPECT_EQ(table.take(), nullptr);
}

TEST(set_of_numbers, holds_what_a_plain_set_holds) {
  for (const std::uint32_t bound : {1U, 63U, 64U, 65U, 4'096U, 4'097U, 300'000U}) {
    number_set numbers(bound);
    std::set<std::uint32_t> right;
    std::uint64_t random = bound;
    for (int i = 0; i < 3'000; ++i) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      const auto number = static_cast<std::uint32_t>((random >> 33) % bound);
      if ((random >> 20 & 3) != 0) numbers.insert(number), right.insert(number);
      else numbers.erase(number), right.erase(number);
      EXPECT_EQ(numbers.contains(number), right.contains(number));
      const auto from = static_cast<std::uint32_t>((random >> 40) % bound);
      const auto next = right.lower_bound(from);
      ASSERT_EQ(numbers.next(from), next == right.end() ? no_index : *next) << bound << " from " << from;
    }
    std::set<std::uint32_t> seen;
    numbers.each([&](std::uint32_t number) {
      EXPECT_TRUE(seen.empty() || number > *seen.rbegin()) << "not in order";
      seen.insert(number);
      numbers.erase(number);
    });
    EXPECT_EQ(seen, right);
    EXPECT_EQ(numbers.next(0), no_index);
  }
}

TEST(callers, are_found_by_their_word_while_they_stay) {
  constexpr std::uint32_t most = 1'000;
  known_peers<idle_peer, false> table(most);
  std::uint64_t random = 5;
  std::map<std::uint64_t, idle_peer*> right;
  for (int round = 0; round < 20'000; ++round) {
    random = random * 6364136223846793005U + 1442695040888963407U;
    if (right.empty() || (right.size() < most && (random >> 33 & 7) != 0)) {
      ASSERT_TRUE(table.callers.ready());
      idle_peer& r = *table.take(random);
      use(r);
      r.theirs = {random};
      table.callers.insert(table, r);
      right[random] = &r;
    } else {
      auto any = right.lower_bound(random);
      if (any == right.end()) any = right.begin();
      EXPECT_EQ(table.callers.find(table, {any->first}), any->second);
      any->second->state = peer_state::free;
      table.give(*any->second);
      EXPECT_EQ(table.callers.find(table, {any->first}), nullptr);
      right.erase(any);
    }
  }
  EXPECT_GT(right.size(), most - 10) << "the table was not full";
  for (const auto& [word, r] : right) EXPECT_EQ(table.callers.find(table, {word}), r);
}

TEST(memory_of_peers, those_that_need_work_are_noted_in_a_few_bits) {
  constexpr std::uint32_t count = 1'000'000;
  const std::size_t bytes = bytes_asked;
  known_peers<idle_peer, false> table(count);
  EXPECT_LE(bytes_asked - bytes, 64U * count + count / 4 + 1'000);
  ASSERT_TRUE(table.callers.ready());
  EXPECT_LE(bytes_asked - bytes, 64U * count + count * 6);
}

TEST(turns_of_peers, come_to_all_and_the_shortest_heartbeat_is_of_those_that_stay) {
  known_peers<idle_peer, true> table(3);
  idle_peer* all[3];
  for (auto& r : all) use(*(r = table.take()));
  all[0]->heartbeat_every = 500;
  all[1]->heartbeat_every = 100;
  for (idle_peer* r : all) table.wants_heartbeats(*r);
  EXPECT_EQ(table.shortest_heartbeat(), 100U);
  leave(table, *all[1]);
  std::set<idle_peer*> had;
  for (int turn = 0; turn < 9; ++turn) {
    idle_peer& r = table.in_turn();
    had.insert(&r);
    table.was_checked(r);
  }
  EXPECT_EQ(had.size(), 3U);
  EXPECT_EQ(table.shortest_heartbeat(), 500U) << "the peer with the shorter one left two rounds ago";
  all[2]->heartbeat_every = 2;
  table.wants_heartbeats(*all[2]);
  EXPECT_EQ(table.next_unfinished(0), all[2]) << "it wants one at nearly each tick";
  table.was_checked(*all[2]);
  EXPECT_EQ(table.next_unfinished(0), all[2]);
}

TEST(ticks_of_a_record, ages_are_counted_modulo_a_minute) {
  short_tick t;
  t = 70'000;
  EXPECT_EQ(t.until(70'000), 0U);
  EXPECT_EQ(t.until(70'500), 500U);
  t = 0xffff'fff0U;
  EXPECT_EQ(t.until(0x10U), 0x20U);
}

}  // namespace
}  // namespace weft
