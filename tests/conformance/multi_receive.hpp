// SPDX-License-Identifier: Apache-2.0
//
// Many messages in one posted buffer: nine tenths of it are used by messages of 256 bytes, messages keep their
// boundaries from nothing to the largest, and a buffer is not posted again while a handler still has to look at one of
// its messages. Hot path: no. Threads: one per side.
#pragma once

#include "../../compose/with.hpp"
#include "held_messages.hpp"

namespace weft::conformance {

template <class F>
inline constexpr bool has_large_buffers = can_answer<F, answers::receive_buffers::multi_receive>;

/// The fabric with large buffers; where its row has none, as it is.
template <class F>
struct buffered_of {
  using type = F;
};
template <class F>
requires(has_large_buffers<F>) struct buffered_of<F> {
  using type = with<F, answers::receive_buffers::multi_receive>;
};
template <class F>
using buffered = typename buffered_of<F>::type;

template <class Stage>
class multi_receive : public suite<Stage> {};
TYPED_TEST_SUITE_P(multi_receive);

template <class F>
std::uint64_t posted_for_messages(const transport<F>& net) {
  if constexpr (requires { net.receive_bytes_posted(); }) return net.receive_bytes_posted();
  else return 0;
}

TYPED_TEST_P(multi_receive, nine_tenths_of_a_buffer_hold_messages_of_256_bytes) {
  using fabric = buffered<typename TestFixture::tested_fabric>;
  if (!has_large_buffers<typename TestFixture::tested_fabric>)
    GTEST_SKIP() << "the row has no such buffers, and asking for them does not compile";
  static constexpr std::uint32_t each = 256, count = 3 * 1024 + 16;
  TestFixture::play(
      {.once = true},
      [](party& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        std::uint64_t at_first = 0, before = 0, bytes = 0, of_spent = 0, spent = 0;
        std::uint32_t expected = 0;
        seen.on_received = [&](const received& m) {
          if (const std::uint64_t now = posted_for_messages(net);
              now != before) {  // the message before this was the last of a buffer
            of_spent = bytes;
            spent = now - at_first;
            before = now;
          }
          bytes += m.message.size();
          EXPECT_EQ(m.message.size(), each);
          EXPECT_TRUE(is_message(m.message, number_of(m.message)));
          EXPECT_TRUE(number_of(m.message) == expected || !fabric::facts.order_send_after_send);
          ++expected;
        };
        (void)meet_as_listener(side, net, seen);
        at_first = before = posted_for_messages(net);
        await(
            side, net, seen, "the stream", [&] { return seen.messages == count; }, patience * 2);
        EXPECT_GE(spent, 2 * 256 * 1024U) << "no buffer was ever posted again";
        EXPECT_GE(of_spent * 10, spent * 9) << of_spent << " bytes of messages in buffers of " << spent;
        side.ready(1);
        serve(side, net, seen, 1);
      },
      [](party& side) {
        auto net = opened<fabric>(side);
        observer seen;
        auto memory = net.allocate(64 * each, rights::none).value();
        const peer p = meet_as_caller(side, net, seen);
        for (std::uint32_t i = 0; i < count; ++i) {
          await(side, net, seen, "room", [&] { return seen.completions + 64 > i; });
          const local_memory from = memory.slice(std::size_t{i % 64} * each, each);
          write_message({from.data, from.size}, i);
          push(side, net, seen, "send", [&] { return net.send(p, from, &seen); });
        }
        await(
            side, net, seen, "ends", [&] { return seen.completions == count; }, patience * 2);
        (void)serve_and_ask(side, net, seen, 0);
        side.ready(0);
      });
}

TYPED_TEST_P(multi_receive, messages_that_no_handler_took_yet_keep_their_buffer) {
  using fabric = buffered<typename TestFixture::tested_fabric>;
  if (!has_large_buffers<typename TestFixture::tested_fabric>)
    GTEST_SKIP() << "the row has no such buffers, and asking for them does not compile";
  // Two buffers are half a mebibyte, some 800 messages. The library is left without any, and shm of libfabric 1.17 also
  // without an entry of the 1,024 that it keeps messages in, so that it cannot take a large buffer
  // (compose/engine/receives.hpp). 500 are far beyond what slots would hold.
  static constexpr held_back what{.count = 2700, .largest = 1024, .held_surely = 500, .receives = 32};
  TestFixture::play(
      {.once = true}, [](party& side) { hold_and_take<fabric>(side, what); },
      [](party& side) { send_more_than_is_held<fabric>(side, what); });
}

REGISTER_TYPED_TEST_SUITE_P(multi_receive, nine_tenths_of_a_buffer_hold_messages_of_256_bytes,
                            messages_that_no_handler_took_yet_keep_their_buffer);

}  // namespace weft::conformance
