// SPDX-License-Identifier: Apache-2.0
//
// Forged requests: a connected peer sends requests, replies and credits that no transport of this build sends. The
// target executes none of them outside of what it granted. It answers with the reason, or counts the message. Then an
// honest peer is served as before. Hot path: no. Threads: one per side.
#pragma once

#include "wrong_posts.hpp"

#include "../../../wire/fused.hpp"
#include "../../../wire/group.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weft::conformance {

template <class Environment>
class forged_requests : public suite<Environment> {};
TYPED_TEST_SUITE_P(forged_requests);

inline constexpr std::size_t forged_words_bytes = 64;

/// A peer without the checks of a transport: it sends any control message.
template <class F>
struct liar {
  using engine_type = weft::detail::engine<F>;
  using waiting = weft::detail::blocking_calls<engine_type>;
  using initiator_type = weft::detail::initiator<engine_type>;

  test_side& side;
  std::unique_ptr<engine_type> net;
  observer seen;
  typename engine_type::record* target = nullptr;
  wire::region_record all, readable, words;
  std::uint64_t garbled = 0, stale = 0;  ///< What the target must count.

  explicit liar(test_side& s) : side(s) {
    transport_options o;
    o.node = home();
    o.sleeps = s.simulated();
    net = weft::detail::opening<engine_type>::open(o).value();
    const std::string where = side.wait_for_text(0);
    all = described();
    readable = described();
    words = described();
    seen.on_failed = [](const failed&) {};
    side.at("connect");
    auto p = weft::detail::connect_calls<engine_type, waiting>(*net).connect(where, {}, false, patience, seen);
    if (!p) throw stopped("connect: " + p.error().sentence);
    target = initiator_type::living(*p);
  }
  ~liar() { weft::detail::orderly_close<engine_type>(*net).close_all(250ms); }
  liar(const liar&) = delete;
  liar& operator=(const liar&) = delete;

  wire::region_record described() { return wire::parse_region(side.wait_for_value(0)).value(); }

  template <class Done>
  void await(std::string_view what, Done&& done) {
    side.at(what);
    if (const status s = waiting(*net).until(done, patience, seen); !s)
      throw stopped("waited for " + std::string(what) + ": " + describe(s));
  }
  void say(wire::message_kind kind, const_bytes message) {
    status s;
    await("room for a forged message", [&] { return !(s = net->tell(*target, kind, message)).is_again(); });
    EXPECT_TRUE(s) << describe(s);
  }
  void say_garbled(wire::message_kind kind, std::size_t size, std::byte fill = std::byte{}) {
    const std::vector<std::byte> message(size, fill);
    say(kind, message);
    ++garbled;
  }

  /// An operation that waits for the target's answer. Its token goes into the request.
  auto& waiting_operation(operation what) {
    auto* o = initiator_type(*net).claim(target, what, &seen);
    if (o == nullptr) throw stopped("no room for an operation");
    o->stage = weft::detail::stage::replying;
    return *o;
  }
  /// The end of the last request: ok, or its error.
  errc ended(std::uint64_t before) {
    await("the target's answer", [&] { return seen.ends() > before; });
    return seen.failures > 0 ? std::exchange(seen.failures, 0) > 0 ? seen.last_failure.code : errc::ok : errc::ok;
  }
  errc asked(wire::atomic_request request) {
    auto& o = waiting_operation(operation::fetch_add);
    o.type = request.type;
    request.token = o.named();
    std::byte message[wire::atomic_request_bytes];
    EXPECT_NE(wire::encode(request, message), 0U);
    const std::uint64_t before = seen.completions;
    seen.failures = 0;
    say(wire::message_kind::atomic_request, message);
    return ended(before);
  }
  errc asked(wire::fused_head head, std::size_t payload) {
    head.token = waiting_operation(operation::put_notify).named();
    std::vector<std::byte> message(wire::fused_head_bytes + payload, std::byte{0x77});
    EXPECT_NE(wire::encode(head, bytes(message).first(wire::fused_head_bytes)), 0U);
    const std::uint64_t before = seen.completions;
    seen.failures = 0;
    say(wire::message_kind::fused, message);
    return ended(before);
  }
  /// A put in a group. The target answers a refused one with a message, which this row may not know.
  void put_in_group(std::uint64_t address, std::uint64_t key, std::size_t payload) {
    const std::vector<std::byte> bytes_of(payload, std::byte{0x77});
    std::vector<std::byte> message(wire::group_member_bytes(wire::group_kind::put, payload));
    wire::encode({wire::group_kind::put, 0, address, key, bytes_of}, message.data());
    const std::uint64_t before = seen.failures + net->garbled;
    say(wire::message_kind::group, message);
    await("the refusal of a put in a group", [&] { return seen.failures + net->garbled > before; });
  }
};

/// A place that a request names, and the answer. Offsets count from the region's base.
struct forged_place {
  const char* what;
  std::uint64_t offset;
  std::uint64_t key_mask;
  std::size_t bytes;
  errc answer;
};
inline std::vector<forged_place> forged_places(std::uint64_t length) {
  const std::uint64_t top = ~std::uint64_t{0};
  return {{"the end", length, 0, 8, errc::out_of_range},
          {"half past the end", length - 4, 0, 8, errc::out_of_range},
          {"before the region", top - 7, 0, 8, errc::out_of_range},
          {"address and length overflow", top - 3, 0, 8, errc::out_of_range},
          {"far past the end", length + (std::uint64_t{1} << 32), 0, 8, errc::out_of_range},
          {"another key", 0, 0x55, 8, errc::denied}};
}

/// Atomics, bytes with notices and puts in groups, each with every wrong place.
template <class F>
void forge_places(liar<F>& guest) {
  using engine_type = typename liar<F>::engine_type;
  const auto fetch_add = [&](const wire::region_record& in, std::uint64_t offset, std::uint64_t key_mask,
                             number_type type) {
    return guest.asked(wire::atomic_request{0, in.base + offset, in.key ^ key_mask, 1, 0, atomic_operation::add, type});
  };
  for (const forged_place& p : forged_places(forged_words_bytes))
    EXPECT_EQ(fetch_add(guest.words, p.offset, p.key_mask, number_type::uint64), p.answer) << "an atomic at " << p.what;
  for (const std::uint64_t offset : {1U, 4U, 7U, 12U})
    EXPECT_EQ(fetch_add(guest.words, offset, 0, number_type::uint64), errc::out_of_range) << "not aligned: " << offset;
  for (const std::uint64_t offset : {2U, 62U})
    EXPECT_EQ(fetch_add(guest.words, offset, 0, number_type::uint32), errc::out_of_range) << "not aligned: " << offset;
  EXPECT_EQ(fetch_add(guest.readable, 0, 0, number_type::uint64), errc::denied) << "a region without the right";
  if constexpr (usual_atomicity<F> != atomicity::target) {
    EXPECT_EQ(fetch_add(guest.all, 0, 0, number_type::uint64), errc::denied) << "words of another executor";
  }
  EXPECT_EQ(fetch_add(guest.words, 8, 0, number_type::uint64), errc::ok) << "the only honest one";

  if constexpr (engine_type::fused_bytes > 0) {
    for (const forged_place& p : forged_places(wrong_region_bytes))
      EXPECT_EQ(guest.asked(wire::fused_head{0, guest.all.base + p.offset, guest.all.key ^ p.key_mask, wrong_notice},
                            p.bytes),
                p.answer)
          << "bytes with a notice at " << p.what;
    EXPECT_EQ(guest.asked(wire::fused_head{0, guest.readable.base, guest.readable.key, wrong_notice}, 8), errc::denied);
  }
  for (const forged_place& p : forged_places(wrong_region_bytes))
    guest.put_in_group(guest.all.base + p.offset, guest.all.key ^ p.key_mask, p.bytes);
  guest.put_in_group(guest.readable.base, guest.readable.key, 8);
}

/// Messages of the wrong size or content, and answers to nothing.
template <class F>
void forge_messages(liar<F>& guest) {
  using enum wire::message_kind;
  using engine_type = typename liar<F>::engine_type;
  for (const std::size_t size : {0U, 1U, 3U, 5U, 7U, 30U}) guest.say_garbled(notify, size);
  for (const std::size_t size : {0U, 8U, 41U, 43U}) guest.say_garbled(atomic_request, size);
  const wire::atomic_request good{1, guest.words.base,      guest.words.key,    1,
                                  0, atomic_operation::add, number_type::uint64};
  const auto changed = [&](std::size_t at, std::byte to) {
    std::vector<std::byte> message(wire::atomic_request_bytes);
    wire::encode(good, message);
    message[at] = to;
    guest.say(atomic_request, message);
    ++guest.garbled;
  };
  changed(40, std::byte{0});  // operation
  changed(40, std::byte{0xff});
  changed(41, std::byte{0});  // type
  changed(41, std::byte{0xff});
  for (const std::size_t size : {0U, 16U, 18U}) guest.say_garbled(atomic_reply, size);
  guest.say_garbled(atomic_reply, wire::atomic_reply_bytes, std::byte{0xff});  // no such code
  const std::uint64_t tokens[] = {0, 1, 0x1'0000'0000U, 0x1'0000'0003U, ~std::uint64_t{0}};
  for (const std::uint64_t token : tokens) {
    std::byte reply[wire::atomic_reply_bytes];
    wire::encode(wire::atomic_reply{token, 5, 0}, reply);
    guest.say(atomic_reply, reply);
    std::byte number[wire::token_bytes];
    wire::encode_token(token, number);
    guest.say(flushed, number);
    guest.stale += 2;
  }
  for (const std::size_t size : {0U, 7U, 9U}) guest.say_garbled(flush, size);
  for (const std::size_t size : {0U, 36U, 38U}) guest.say_garbled(region, size);
  guest.say_garbled(group, 0);
  guest.say_garbled(group, 7);
  guest.say_garbled(group, 16, std::byte{0xff});
  for (const std::size_t size : {0U, 8U, 27U}) guest.say_garbled(fused, size);
  for (const std::size_t size : {0U, 8U, 10U}) guest.say_garbled(fused_reply, size);
  guest.say_garbled(fused_reply, wire::fused_reply_bytes);  // no token, and no refusal
  if constexpr (engine_type::uses_ring) {
    guest.say_garbled(ring_credit, 3);
    guest.say_garbled(ring_credit, 4, std::byte{0x01});  // more entries than were written
  }
}

/// Side 0. Side 1 lies, and side 2 is honest.
template <class F>
void serve_forged_requests(test_side& side) {
  auto net = opened<F>(side, listening());
  observer seen;
  guarded_region all(net, rights::all), readable(net, rights::remote_read);
  const auto words = net.template allocate_words<atomicity::target>(forged_words_bytes, rights::remote_atomic).value();
  seen.on_requested = [&](const requested& r) { EXPECT_TRUE(net.accept(r.peer)); };
  seen.on_notified = [](const notified& n) { EXPECT_EQ(n.immediate, good_notice) << "the notice of a forged request"; };
  for (const int guest : {1, 2}) {
    side.send_value(guest, net.listen_address());
    side.send_value(guest, const_bytes(net.export_region(all.registered, owner_polls)));
    side.send_value(guest, const_bytes(net.export_region(readable.registered, owner_polls)));
    side.send_value(guest, const_bytes(net.export_region(words, owner_polls)));
  }
  serve(side, net, seen, 1);
  const std::uint64_t garbled = side.wait_for_number(1);
  serve(side, net, seen, 1);
  const std::uint64_t stale = side.wait_for_number(1);
  await(side, net, seen, "every forged message", [&] { return net.garbled() + net.stale() >= garbled + stale; });
  EXPECT_EQ(net.garbled(), garbled);
  EXPECT_EQ(net.stale(), stale);
  EXPECT_EQ(seen.losses, 0U) << "a peer was cut off";
  side.ready(1);
  side.ready(2);
  serve(side, net, seen, 2);
  await(side, net, seen, "the honest notice", [&] { return seen.notices == 1; });
  EXPECT_EQ(all.first_changed(), all.memory.size());
  EXPECT_EQ(readable.first_changed(), readable.memory.size());
  for (std::size_t i = 0; i < forged_words_bytes; ++i)
    EXPECT_EQ(words.data()[i], std::byte{i == 8}) << "word byte " << i;
}

TYPED_TEST_P(forged_requests, are_refused_or_counted_and_change_no_byte) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {}, serve_forged_requests<fabric>,
      [](test_side& side) {
        liar<fabric> guest(side);
        forge_places(guest);
        forge_messages(guest);
        side.send_value(0, guest.garbled);
        side.send_value(0, guest.stale);
        guest.await("the counts", [&] { return side.has_value(0); });
      },
      [](test_side& side) {
        auto net = opened<fabric>(side);
        observer seen;
        const std::string where = side.wait_for_text(0);
        const auto there = net.parse_region(side.wait_for_value(0)).value();
        (void)side.wait_for_value(0);
        (void)side.wait_for_value(0);
        const auto from = net.allocate(good_bytes, rights::none).value();
        (void)side.wait_for_value(0);
        const peer p = net.connect(where, patience, seen).value();
        push(side, net, seen, "put_notify",
             [&] { return net.put_notify(p, from.first(good_bytes), there.at(0), good_notice, &net); });
        await(side, net, seen, "its end", [&] { return seen.completions == 1; });
        side.ready(0);
        (void)net.close(p, patience, seen);
      });
}

REGISTER_TYPED_TEST_SUITE_P(forged_requests, are_refused_or_counted_and_change_no_byte);

}  // namespace weft::conformance
