// SPDX-License-Identifier: Apache-2.0
//
// Unsignalled posts without end, in bounded memory. The bound is the library's queue. Where a row needs a slot for each
// post (contexts that the library overwrites, tracked writes), the transport's operations are the bound. A full one is
// answered `again`. Transfers beyond 4 GiB run on request (WEFT_LARGE_TRANSFERS), from a few megabytes that are mapped
// many times. Hot path: no. Threads: one per side.
#pragma once

#include "two_sides.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace weft::conformance {

template <class Environment>
class unsignalled : public suite<Environment> {};
TYPED_TEST_SUITE_P(unsignalled);

/// WEFT_FLOOD asks for another number.
template <class Environment>
std::uint64_t floods() {
  if (const char* asked = std::getenv("WEFT_FLOOD"); asked != nullptr) return std::strtoull(asked, nullptr, 10);
  if constexpr (Environment::simulated) return 5'000;  // simulated time is expensive, and every row runs this
  else return 100'000;
}

TYPED_TEST_P(unsignalled, a_slow_receiver_gets_every_unsignalled_post_in_bounded_memory) {
  using fabric = typename TestFixture::tested_fabric;
  static const transport_options few{
      .receives = 8, .operations = 32, .silence_limit = 30s};  // a flood delays heartbeats where both share a socket
  TestFixture::play(
      {.once = true},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write, few);
        std::uint64_t sum = 0;
        host.seen.on_received = [&](const received& m) {
          std::uint64_t number = 0;
          ASSERT_EQ(m.message.size(), sizeof number);
          std::memcpy(&number, m.message.data(), sizeof number);
          sum += number;
          if (host.seen.messages % 4096 == 0) side.rest(50us);  // slow
        };
        serve(side, host.net, host.seen, 1, patience * 4);
        const std::uint64_t messages = side.wait_for_number(1);
        await(
            side, host.net, host.seen, "all messages", [&] { return host.seen.messages >= messages; }, patience * 2);
        EXPECT_EQ(sum, messages * (messages - 1) / 2);
        side.ready(1);
        serve(side, host.net, host.seen, 1);
        EXPECT_EQ(host.seen.messages, messages);
        EXPECT_EQ(host.net.stale() + host.net.garbled(), 0U);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, 65536, few);
        const std::uint64_t count = floods<TypeParam>();
        std::uint32_t most = 0;
        std::uint64_t number = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
          if (i % 2 == 0) {
            push(side, guest.net, guest.seen, "put",
                 [&] { return guest.net.put(guest.other, guest.memory.first(32), guest.there.at(i % 4064)); });
          } else {  // a separate source for as long as any queue may be: 8 bytes may be read late
            const local_memory from = guest.memory.slice(64 + number % 4096 * 8, 8);
            std::memcpy(from.data, &number, sizeof number);
            push(side, guest.net, guest.seen, "send", [&] { return guest.net.send(guest.other, from); });
            ++number;
          }
          if (i % 1024 == 0) most = std::max(most, guest.net.in_flight());
          if (i % 64 == 0) guest.net.progress(guest.seen);
        }
        EXPECT_LE(most, few.operations);
        side.send_value(0, number);
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        EXPECT_EQ(guest.seen.ends(), 0U);
        await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
        side.ready(0);
      });
}

/// More posts than any queue holds, and no poll before a post is answered `again`.
TYPED_TEST_P(unsignalled, posts_beyond_the_queue_without_polls_arrive_once_each) {
  using fabric = typename TestFixture::tested_fabric;
  static constexpr std::uint32_t count = TypeParam::simulated ? 1024 : 4096;
  static constexpr std::size_t length = 1400;  // more than any row injects
  TestFixture::play(
      {.once = true},
      [](test_side& side) {
        target_side<fabric> host(side, 4096, rights::remote_write);
        std::vector<std::uint32_t> notices(count), messages(count);
        host.seen.on_notified = [&](const notified& n) { ++notices.at(n.immediate); };
        host.seen.on_received = [&](const received& m) {
          std::uint32_t which = 0;
          ASSERT_EQ(m.message.size(), length);
          std::memcpy(&which, m.message.data(), sizeof which);
          ++messages.at(which);
        };
        await(
            side, host.net, host.seen, "all posts",
            [&] { return host.seen.notices >= count && host.seen.messages >= count; }, patience * 2);
        side.ready(1);
        serve(side, host.net, host.seen, 1);
        const std::vector<std::uint32_t> once(count, 1);
        EXPECT_EQ(notices, once);
        EXPECT_EQ(messages, once);
      },
      [](test_side& side) {
        initiator_side<fabric> guest(side, count * length);
        for (std::uint32_t i = 0; i < count; ++i)
          push(side, guest.net, guest.seen, "put_notify",
               [&] { return guest.net.put_notify(guest.other, guest.memory.first(8), guest.there.at(8), i); });
        for (std::uint32_t i = 0; i < count; ++i) {
          const local_memory from = guest.memory.slice(i * length, length);
          std::memcpy(from.data, &i, sizeof i);
          push(side, guest.net, guest.seen, "send", [&] { return guest.net.send(guest.other, from); });
        }
        (void)serve_for_value(side, guest.net, guest.seen, 0);
        EXPECT_EQ(guest.seen.failures, 0U);
        side.ready(0);
      });
}

/// More bytes than 32 bits count, in little memory: one tile mapped many times, then a separate tail, which arrives
/// only with the last bytes.
class tiled_memory {
 public:
  static constexpr std::size_t tile = 16U << 20, tiles = 257, tail = 1U << 20, size = tile * tiles + tail;

  tiled_memory() {
    const int file = memfd_create("weft", 0);
    if (file < 0 || ftruncate(file, static_cast<off_t>(tile + tail)) != 0) throw stopped("memfd_create");
    base_ = static_cast<std::byte*>(mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    constexpr int both = PROT_READ | PROT_WRITE, fixed = MAP_SHARED | MAP_FIXED;
    for (std::size_t i = 0; i < tiles; ++i)
      if (mmap(base_ + i * tile, tile, both, fixed, file, 0) == MAP_FAILED) throw stopped("mmap");
    if (mmap(base_ + tile * tiles, tail, both, fixed, file, tile) == MAP_FAILED) throw stopped("mmap");
    close(file);
  }
  tiled_memory(const tiled_memory&) = delete;
  tiled_memory& operator=(const tiled_memory&) = delete;
  ~tiled_memory() { munmap(base_, size); }
  bytes all() const noexcept { return {base_, size}; }
  bytes first() const noexcept { return {base_, tile}; }
  bytes last() const noexcept { return {base_ + tile * tiles, tail}; }

 private:
  std::byte* base_ = nullptr;
};

TYPED_TEST_P(unsignalled, more_than_four_gigabytes_go_by_one_put_and_return_by_one_get) {
  using fabric = typename TestFixture::tested_fabric;
  if (std::getenv("WEFT_LARGE_TRANSFERS") == nullptr)
    GTEST_SKIP() << "here: WEFT_LARGE_TRANSFERS asks for it: it takes seconds";
  static const transport_options patient{.operation_timeout = 60s};
  TestFixture::play(
      {.once = true},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening(patient));
        observer seen;
        const tiled_memory memory;
        auto region = net.register_region(memory.all(), rights::remote_write | rights::remote_read);
        if (!region) throw stopped("register: " + region.error().sentence);
        (void)meet_as_listener(side, net, seen);
        seen.on_notified = [&](const notified&) {
          EXPECT_EQ(first_unlike(memory.first(), 1), tiled_memory::tile);
          EXPECT_EQ(first_unlike(memory.last(), 2), tiled_memory::tail) << "beyond 4 GiB";
        };
        side.send_value(1, const_bytes(net.export_region(*region, owner_polls)));
        serve(side, net, seen, 1, patience * 4);
        EXPECT_EQ(seen.notices, 1U);
        net.release_region(*region);
      },
      [](test_side& side) {
        auto net = opened<fabric>(side, patient);
        observer seen;
        const tiled_memory memory;
        auto region = net.register_region(memory.all(), rights::none);
        if (!region) throw stopped("register: " + region.error().sentence);
        const peer other = meet_as_caller(side, net, seen);
        const auto there = net.parse_region(other, serve_for_value(side, net, seen, 0)).value();
        paint(memory.first(), 1);
        paint(memory.last(), 2);
        const local_memory all = region->first(tiled_memory::size);
        push(side, net, seen, "put_notify", [&] { return net.put_notify(other, all, there.at(0), 1, &seen); });
        await(
            side, net, seen, "the put's completion", [&] { return seen.completions == 1; }, 60s);
        paint(memory.first(), 3);
        paint(memory.last(), 4);
        push(side, net, seen, "get", [&] { return net.get(other, all, there.at(0), &seen); });
        await(
            side, net, seen, "the get's completion", [&] { return seen.completions == 2; }, 60s);
        EXPECT_EQ(first_unlike(memory.first(), 1), tiled_memory::tile);
        EXPECT_EQ(first_unlike(memory.last(), 2), tiled_memory::tail) << "beyond 4 GiB";
        side.ready(0);
        net.release_region(*region);
      });
}

REGISTER_TYPED_TEST_SUITE_P(unsignalled, a_slow_receiver_gets_every_unsignalled_post_in_bounded_memory,
                            posts_beyond_the_queue_without_polls_arrive_once_each,
                            more_than_four_gigabytes_go_by_one_put_and_return_by_one_get);

}  // namespace weft::conformance
