// SPDX-License-Identifier: Apache-2.0
//
// Strangers on addressed fabrics: a process that never said hello sends messages in the name of an established peer. It
// forges every kind of message. Where messages carry a proof, it even knows the number of the connection. The
// connection stays, the handler gets nothing, and each forgery is counted. Hot path: no. Threads: one per side.
#pragma once

#include "wrong_posts.hpp"

#include "../../../wire/fused.hpp"
#include "../../../wire/group.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weft::conformance {

template <class Environment>
class strangers : public suite<Environment> {};
TYPED_TEST_SUITE_P(strangers);

/// A process that knows the victim's address, and says no hello.
template <class F>
struct stranger {
  using engine_type = weft::detail::engine<F>;
  using waiting = weft::detail::blocking_calls<engine_type>;

  test_side& side;
  std::unique_ptr<engine_type> net;
  observer seen;
  typename engine_type::record* victim = nullptr;
  std::uint64_t forged = 0;

  explicit stranger(test_side& s) : side(s) {
    transport_options o;
    o.node = home();
    o.sleeps = s.simulated();
    o.silence_limit = 1h;
    net = weft::detail::opening<engine_type>::open(o).value();
    const auto where = weft::detail::host_and_service::parse(side.wait_for_text(0)).value();
    side.at("find the victim");
    const auto address = [&] {
      if constexpr (answer<F, bootstrap_family>::side_channel)
        return engine_type::oob_exchange::fetch(where.host, where.service, patience).value();
      else return net->port->resolve(where.host, where.service).value();
    }();
    // The record looks established: it has a link, and says nothing by itself.
    victim = weft::detail::handshake<engine_type>(*net).begin(weft::detail::peer_event::owner_connects);
    weft::detail::links<engine_type>(*net).attach(*victim, net->port->dial(address, victim->number).value());
    (void)weft::detail::advance(*net, *victim, weft::detail::peer_event::link_stands);
    (void)weft::detail::advance(*net, *victim, weft::detail::peer_event::accept);
    if constexpr (requires { victim->watch; }) victim->watch = net->watch_over(net->own_process());
  }
  /// A goodbye of its own would be one forgery more.
  ~stranger() { weft::detail::teardown<engine_type>(*net).forget(*victim); }
  stranger(const stranger&) = delete;
  stranger& operator=(const stranger&) = delete;

  template <class Done>
  void await(std::string_view what, Done&& done) {
    side.at(what);
    if (const status s = waiting(*net).until(done, patience, seen); !s)
      throw stopped("waited for " + std::string(what) + ": " + describe(s));
  }
  void forge(wire::message_kind kind, wire::connection_word as, const_bytes message) {
    victim->theirs = as;
    status s;
    await("room for a forged message", [&] { return !(s = net->tell(*victim, kind, message)).is_again(); });
    EXPECT_TRUE(s) << describe(s);
    ++forged;
    side.moves();
  }
};

/// Every kind but hello, with bytes that an established peer might send.
inline std::vector<std::pair<wire::message_kind, std::vector<std::byte>>> forgeries(wire::connection_word as) {
  using enum wire::message_kind;
  std::vector<std::pair<wire::message_kind, std::vector<std::byte>>> all;
  const auto add = [&](wire::message_kind kind, std::size_t size, auto&& fill) {
    std::vector<std::byte> message(size);
    fill(bytes(message));
    all.emplace_back(kind, std::move(message));
  };
  const auto zeros = [](bytes) {};
  add(user, 8, zeros);
  add(reject, 64, zeros);
  all.back().second.resize(
      wire::encode(wire::refusal_notice{static_cast<std::uint8_t>(errc::rejected), as.value, {}}, all.back().second));
  add(accept, wire::largest_handshake, zeros);
  wire::introduction i;
  i.nonce = as.value;
  i.connection = {1};
  all.back().second.resize(wire::encode(i, all.back().second));
  add(heartbeat, 0, zeros);
  add(goodbye, 4, zeros);
  add(goodbye, 0, zeros);
  add(notify, 4, zeros);
  add(atomic_request, wire::atomic_request_bytes, [](bytes into) {
    wire::encode(wire::atomic_request{1, 0, 1, 1, 0, atomic_operation::add, number_type::uint64}, into);
  });
  add(atomic_reply, wire::atomic_reply_bytes, [](bytes into) { wire::encode(wire::atomic_reply{1, 5, 0}, into); });
  add(ring_credit, 4, zeros);
  add(fused, wire::fused_head_bytes + 8, zeros);
  add(fused_reply, wire::fused_reply_bytes, [](bytes into) { wire::encode(wire::fused_reply{1, 0}, into); });
  add(flush, wire::token_bytes, [](bytes into) { wire::encode_token(1, into); });
  add(flushed, wire::token_bytes, [](bytes into) { wire::encode_token(1, into); });
  add(region, 37, zeros);
  add(group, wire::group_member_bytes(wire::group_kind::message, 8), [](bytes into) {
    const std::byte payload[8]{};
    wire::encode({wire::group_kind::message, 0, 0, 0, payload}, into.data());
  });
  return all;
}

/// Side 0. Side 1 is its honest peer, side 2 the stranger.
template <class F>
void serve_beside_a_stranger(test_side& side) {
  auto net = opened<F>(side, listening());
  observer seen;
  const peer honest = meet_as_listener(side, net, seen);
  seen.on_received = [&](const received& m) {
    EXPECT_EQ(m.peer, honest);
    EXPECT_EQ(m.message.size(), 3U) << "a forged message was delivered";
  };
  side.send_value(2, net.listen_address());
  side.send_value(2, std::uint64_t{weft::detail::peer_access::number(honest)});
  serve(side, net, seen, 2);
  const std::uint64_t forged = side.wait_for_number(2);
  await(side, net, seen, "every forged message", [&] { return net.stale() + net.garbled() >= forged; });
  EXPECT_EQ(net.stale(), forged) << "each forgery is counted once";
  EXPECT_EQ(net.garbled(), 0U);
  EXPECT_EQ(seen.events(), 0U) << "the handler heard of a forgery";
  EXPECT_TRUE(honest.alive()) << "a stranger ended the connection";
  side.ready(1);
  await(side, net, seen, "the honest message", [&] { return seen.messages == 1; });
  side.ready(2);
  (void)net.close(honest, patience, seen);
}

TYPED_TEST_P(strangers, neither_end_nor_speak_for_an_established_connection) {
  using fabric = typename TestFixture::tested_fabric;
  using engine_type = weft::detail::engine<fabric>;
  if constexpr (engine_type::connected) {
    GTEST_SKIP() << "row " << fabric::name << ", endpoint_type: connected: the link says who sent a message";
  } else {
    TestFixture::play(
        {}, serve_beside_a_stranger<fabric>,
        [](test_side& side) {
          auto net = opened<fabric>(side);
          observer seen;
          const peer p = meet_as_caller(side, net, seen);
          seen.on_received = [](const received&) {};
          serve(side, net, seen, 0);
          const auto from = net.allocate(8, rights::none).value();
          push(side, net, seen, "send", [&] { return net.send(p, from.first(3), &net); });
          await(side, net, seen, "the peer's goodbye", [&] { return !p.alive(); });
        },
        [](test_side& side) {
          stranger<fabric> guest(side);
          const auto number = static_cast<std::uint32_t>(side.wait_for_number(0));
          if constexpr (engine_type::proves_sender)
            for (const std::uint32_t proof : {0U, 1U, ~0U, number}) {
              const auto as = wire::connection_word::of({number}, proof);
              for (const auto& [kind, message] : forgeries(as)) guest.forge(kind, as, message);
            }
          // Without the number: the first records, and generations as a counter gives them.
          for (std::uint32_t index = 0; index < 2; ++index)
            for (std::uint32_t generation = 1; generation <= 16; ++generation)
              for (const std::uint32_t index_bits : {6U, wire::connection_number::most_index_bits})
                guest.forge(wire::message_kind::goodbye,
                            wire::connection_word::of(wire::connection_number::of(index, generation, index_bits), 0),
                            {});
          side.send_value(0, guest.forged);
          guest.await("the counts", [&] { return side.has_value(0); });
        });
  }
}

REGISTER_TYPED_TEST_SUITE_P(strangers, neither_end_nor_speak_for_an_established_connection);

}  // namespace weft::conformance
