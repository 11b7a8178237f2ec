// SPDX-License-Identifier: Apache-2.0
//
// Many messages in one posted buffer: messages of 256 bytes fill nine tenths of it. Messages keep their boundaries from
// 0 bytes to the largest. A buffer is posted again only after handlers took all its messages. Hot path: no. Threads:
// one per side.
#pragma once

#include "../../compose/with.hpp"
#include "held_messages.hpp"

namespace weft::conformance {

template <class F>
inline constexpr bool has_large_buffers = can_answer<F, answers::receive_buffers::multi_receive>;

/// The fabric with large buffers; the fabric itself where its row has none.
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

template <class Environment>
class multi_receive : public suite<Environment> {};
TYPED_TEST_SUITE_P(multi_receive);

template <class F>
std::uint64_t posted_for_messages(const transport<F>& net) {
  if constexpr (requires { net.receive_bytes_posted(); }) return net.receive_bytes_posted();
  else return 0;
}

TYPED_TEST_P(multi_receive, messages_of_256_bytes_fill_nine_tenths_of_a_buffer) {
  using fabric = buffered<typename TestFixture::tested_fabric>;
  if (!has_large_buffers<typename TestFixture::tested_fabric>)
    GTEST_SKIP() << "the row has no such buffers; requesting them does not compile";
  static constexpr std::uint32_t each = 256, count = 3 * 1024 + 16;
  TestFixture::play(
      {.once = true},
      [](test_side& side) {
        auto net = opened<fabric>(side, listening());
        observer seen;
        std::uint64_t at_first = 0, before = 0, bytes = 0, of_spent = 0, spent = 0;
        std::uint32_t expected = 0;
        seen.on_received = [&](const received& m) {
          if (const std::uint64_t now = posted_for_messages(net);
              now != before) {  // the previous message was the last of its buffer
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
        EXPECT_GE(spent, 2 * 256 * 1024U) << "no buffer was posted again";
        EXPECT_GE(of_spent * 10, spent * 9) << of_spent << " bytes of messages in buffers of " << spent;
        side.ready(1);
        serve(side, net, seen, 1);
      },
      [](test_side& side) {
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
        (void)serve_for_value(side, net, seen, 0);
        side.ready(0);
      });
}

TYPED_TEST_P(multi_receive, a_buffer_is_kept_until_handlers_took_all_its_messages) {
  using fabric = buffered<typename TestFixture::tested_fabric>;
  if (!has_large_buffers<typename TestFixture::tested_fabric>)
    GTEST_SKIP() << "the row has no such buffers; requesting them does not compile";
  // Two buffers are half a mebibyte, about 800 messages. The library has no buffer left then. shm of libfabric 1.17
  // also uses up its 1,024 entries for messages and cannot take a large buffer (compose/engine/receives.hpp). 500
  // messages are far more than single receives would hold.
  static constexpr held_back what{.count = 2700, .largest = 1024, .held_surely = 500, .receives = 32};
  TestFixture::play(
      {.once = true}, [](test_side& side) { hold_and_take<fabric>(side, what); },
      [](test_side& side) { send_more_than_is_held<fabric>(side, what); });
}

REGISTER_TYPED_TEST_SUITE_P(multi_receive, messages_of_256_bytes_fill_nine_tenths_of_a_buffer,
                            a_buffer_is_kept_until_handlers_took_all_its_messages);

}  // namespace weft::conformance
