// SPDX-License-Identifier: Apache-2.0
//
// The beginning of most conformance tests: a transport on each side, connected, and a region of side 0 that side 1 may
// use. Also the two loops of every test: post until there is room, and make progress until a condition holds. Same code
// on every fabric, live or simulated. Hot path: no. Threads: one per side.
#pragma once

#include "../../compose/transport.hpp"
#include "observer.hpp"
#include "sides/test_side.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <span>
#include <string>
#include <utility>

namespace weft::conformance {

/// Whether the fabric can wait until its writes are visible (the family flush).
template <class F>
inline constexpr bool flushes = !std::same_as<answer<F, flush_family>, answers::flush::refused>;

/// A suite over one environment: `Environment::fabric` is the fabric under test, `play` runs its sides.
template <class Environment>
class suite : public testing::Test {
 public:
  using tested_fabric = typename Environment::fabric;

  static constexpr const fabric_facts& facts = tested_fabric::facts;

  static void play(const circumstances& how, body first, body second = {}, body third = {}, body fourth = {}) {
    std::vector<body> bodies;
    for (body* each : {&first, &second, &third, &fourth})
      if (*each) bodies.push_back(std::move(*each));
    Environment::run(how, std::move(bodies));
  }
};

/// The address of the sides of a test: this machine's own, or WEFT_TEST_NODE where the device has another.
inline std::string home() {
  const char* said = std::getenv("WEFT_TEST_NODE");
  return said == nullptr ? "127.0.0.1" : said;
}
inline std::string home_of_the_sixth_family() {
  const char* said = std::getenv("WEFT_TEST_NODE_6");
  return said == nullptr ? "::1" : said;
}

/// The options with a secret that both sides know, where the fabric asks for one.
template <class F>
transport_options knowing(transport_options options) {
  if (answer<F, authentication_family>::asks_secret && options.secret.size() == 0)
    options.secret = secret("known to both sides of a test");
  return options;
}

/// A transport at home(), or the sentence of its failure.
template <class F>
transport<F> opened(test_side& side, transport_options options = {}) {
  side.at("open");
  if (options.node.empty()) options.node = home();
  options.sleeps = options.sleeps || side.simulated();
  if (answer<F, liveness_family>::speaks && options.silence_limit == duration{})
    options.silence_limit = usual_silence_limit * slowness();
  auto net = open<F>(knowing<F>(options));
  if (!net) throw stopped("open: " + net.error().sentence);
  return std::move(net).value();
}

/// Makes progress until `done` holds. The limit begins again with each event, so a busy machine does not end the wait.
/// The failure names what the wait was for.
template <class F, class Done>
void await(test_side& side, transport<F>& net, observer& seen, std::string_view what, Done&& done,
           duration limit = patience) {
  status s;
  std::uint64_t before = 0;
  do {
    side.at(what);
    before = seen.events();
    s = net.until(done, limit, seen);
  } while (s.code == errc::deadline && seen.events() != before);
  if (!s) throw stopped("waited for " + std::string(what) + ": " + describe(s));
}

/// Posts until the post is accepted. Any answer but `again` and success stops the side. A post that is not accepted,
/// without an event for the test's patience, stops the side too. In simulation a number of polls is the limit, because
/// time hardly passes.
template <class F, class Post>
void push(test_side& side, transport<F>& net, observer& seen, std::string_view what, Post&& post) {
  instant end{};
  for (std::uint64_t tries = 0;; ++tries) {
    const status s = post();
    if (s) return side.moves();
    if (!s.is_again()) throw stopped(std::string(what) + ": " + describe(s));
    ++seen.agains;
    if (tries == 0) side.at(what), end = net.now() + patience;
    if (tries > 0 && tries % 4096 == 0) side.rest(1ms);
    if (side.simulated() ? tries > 2'000'000 : tries % 64 == 63 && net.now() >= end)
      throw stopped(std::string(what) + " is never accepted: " + describe(s));
    const std::uint64_t before = seen.events();
    net.progress(seen);
    if (seen.events() != before) end = net.now() + patience;
  }
}

/// Makes progress until another side sends a value outside of the fabric.
template <class F>
void serve(test_side& side, transport<F>& net, observer& seen, int until_heard_from, duration limit = patience * 3) {
  await(
      side, net, seen, "serving until side " + std::to_string(until_heard_from) + " speaks",
      [&] { return side.has_value(until_heard_from); }, limit);
}
/// serve(), then takes that value.
template <class F>
std::vector<std::byte> serve_for_value(test_side& side, transport<F>& net, observer& seen, int from) {
  serve(side, net, seen, from);
  return side.wait_for_value(from);
}

/// Side 0's beginning: listens, sends its address, accepts one peer.
template <class F>
peer meet_as_listener(test_side& side, transport<F>& net, observer& seen, int other = 1) {
  side.send_value(other, net.listen_address());
  side.at("accept");
  auto p = net.accept_one(patience, seen);
  if (!p) throw stopped("accept: " + p.error().sentence);
  return *p;
}
/// The other side's beginning: receives the address, connects.
template <class F>
peer meet_as_caller(test_side& side, transport<F>& net, observer& seen, int other = 0) {
  const std::string where = side.wait_for_text(other);
  side.at("connect");
  auto p = net.connect(where, patience, seen);
  if (!p) throw stopped("connect: " + p.error().sentence);
  return *p;
}

/// When an operation that is posted now has ended at the latest: 10 % after its deadline. The checker adds its slack.
template <class F>
instant latest_end(const transport<F>& net, duration timeout = transport_options{}.operation_timeout) {
  return net.now() + timeout + timeout / 10;
}

inline transport_options listening(transport_options o = {}) {
  o.listens = true;
  return o;
}

/// Side 0 with a region that side 1 may use.
template <class F>
struct target_side {
  transport<F> net;
  observer seen;
  weft::region region;
  peer other;

  target_side(test_side& side, std::size_t size, rights granted, transport_options o = {})
      : net(opened<F>(side, listening(o))) {
    auto made = net.allocate(size, granted);
    if (!made) throw stopped("allocate: " + made.error().sentence);
    region = made->release();
    seen.record_lost = [this, &side](const lost&) { side.book.peer_lost(1, net.now()); };
    other = meet_as_listener(side, net, seen);
    side.send_value(1, const_bytes(net.export_region(region, owner_polls)));
  }
};

/// Side 1 with memory of its own and the region of side 0.
template <class F>
struct initiator_side {
  transport<F> net;
  observer seen;
  peer other;
  weft::region memory;
  remote_region there;

  initiator_side(test_side& side, std::size_t size, transport_options o = {}) : net(opened<F>(side, o)) {
    auto made = net.allocate(size, rights::none);
    if (!made) throw stopped("allocate: " + made.error().sentence);
    memory = made->release();
    seen.record_lost = [this, &side](const lost&) { side.book.peer_lost(0, net.now()); };
    other = meet_as_caller(side, net, seen);
    auto parsed = net.parse_region(other, serve_for_value(side, net, seen, 0));
    if (!parsed) throw stopped("parse_region: " + parsed.error().sentence);
    there = *parsed;
  }
};

/// Byte `i` of pattern `which`: neighbours and patterns differ.
constexpr std::byte pattern(std::uint64_t which, std::uint64_t i) noexcept {
  const std::uint64_t mixed = (which * 0x9e3779b97f4a7c15U) ^ (i * 0xbf58476d1ce4e5b9U);
  return static_cast<std::byte>((mixed ^ mixed >> 29) >> 8);
}
inline void paint(bytes into, std::uint64_t which) noexcept {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = pattern(which, i);
}
/// Index of the first byte that differs from the pattern, or the size.
inline std::size_t first_unlike(const_bytes seen, std::uint64_t which) noexcept {
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i] != pattern(which, i)) return i;
  return seen.size();
}

/// Whether a wrong post on purpose returns an error; with checks::trusted a debug build ends at such a post.
template <class F>
inline constexpr bool refuses_wrong_posts = !answer<F, checks_family>::trusts_caller;

}  // namespace weft::conformance
