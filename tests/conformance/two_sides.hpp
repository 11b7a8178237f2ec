// SPDX-License-Identifier: Apache-2.0
//
// What most conformance tests begin with: a transport on each side, connected, a region of side 0 in the hands of side
// 1; and the two loops that every test needs: post until there is room, make progress until something holds. Same text
// on every fabric, live or not. Hot path: no. Threads: one per side.
#pragma once

#include "../../compose/transport.hpp"
#include "observer.hpp"
#include "party.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <span>
#include <string>
#include <utility>

namespace weft::conformance {

/// Whether the fabric can wait until its writes are visible (the family flush).
template <class F>
inline constexpr bool flushes = !std::same_as<answer<F, flush_family>, answers::flush::refused>;

/// A suite over one stage: `Stage::fabric` is what is tested, `play` runs its sides.
template <class Stage>
class suite : public testing::Test {
 public:
  using tested_fabric = typename Stage::fabric;

  static constexpr const fabric_facts& facts = tested_fabric::facts;

  template <class... Bodies>
  static void play(circumstances how, Bodies... bodies) {
    Stage::run(how, std::vector<body>{std::move(bodies)...});
  }
};

/// The address that the sides of a test meet at: this machine's own, or where its device has another, WEFT_TEST_NODE.
inline std::string home() {
  const char* said = std::getenv("WEFT_TEST_NODE");
  return said == nullptr ? "127.0.0.1" : said;
}
inline std::string home_of_the_sixth_family() {
  const char* said = std::getenv("WEFT_TEST_NODE_6");
  return said == nullptr ? "::1" : said;
}

/// A transport at home, or the sentence why not.
template <class F>
transport<F> opened(party& side, transport_options options = {}) {
  side.at("open");
  if (options.node.empty()) options.node = home();
  options.sleeps = options.sleeps || side.simulated();
  if (options.silence_limit == transport_options{}.silence_limit) options.silence_limit *= slowness();
  auto net = open<F>(options);
  if (!net) throw stopped("open: " + net.error().sentence);
  return std::move(net).value();
}

/// Makes progress until `done` holds; what it waited for is in the failure.
template <class F, class Done>
void await(party& side, transport<F>& net, observer& seen, std::string_view what, Done&& done,
           duration limit = patience) {
  side.at(what);
  const status s = net.until(std::forward<Done>(done), limit, seen);
  if (!s) throw stopped("waited for " + std::string(what) + ": " + describe(s));
}

/// Posts until the post is taken. Anything but `again` and success stops the side, and so does a post that is not taken
/// in time; in simulation, where these tries take little time, that is a number of them.
template <class F, class Post>
void push(party& side, transport<F>& net, observer& seen, std::string_view what, Post&& post) {
  instant end{};
  for (std::uint64_t tries = 0;; ++tries) {
    const status s = post();
    if (s) return;
    if (!s.is_again()) throw stopped(std::string(what) + ": " + describe(s));
    ++seen.agains;
    if (tries == 0) side.at(what), end = net.now() + patience;
    if (tries > 0 && tries % 4096 == 0) side.rest(1ms);
    if (side.simulated() ? tries > 2'000'000 : tries % 64 == 63 && net.now() >= end)
      throw stopped(std::string(what) + " is never taken: " + describe(s));
    net.progress(seen);
  }
}

/// Keeps the transport going until another side says something outside of the fabric.
template <class F>
void serve(party& side, transport<F>& net, observer& seen, int until_heard_from, duration limit = patience * 3) {
  await(
      side, net, seen, "serving until side " + std::to_string(until_heard_from) + " speaks",
      [&] { return side.heard(until_heard_from); }, limit);
}
/// serve, and take what was said.
template <class F>
std::vector<std::byte> serve_and_ask(party& side, transport<F>& net, observer& seen, int from) {
  serve(side, net, seen, from);
  return side.ask(from);
}

/// Side 0's beginning: listens, says where, accepts one peer.
template <class F>
peer meet_as_listener(party& side, transport<F>& net, observer& seen, int other = 1) {
  side.tell(other, net.listen_address());
  side.at("accept");
  auto p = net.accept_one(patience, seen);
  if (!p) throw stopped("accept: " + p.error().sentence);
  return *p;
}
/// The other side's: asks where, connects.
template <class F>
peer meet_as_caller(party& side, transport<F>& net, observer& seen, int other = 0) {
  const std::string where = side.ask_text(other);
  side.at("connect");
  auto p = net.connect(where, patience, seen);
  if (!p) throw stopped("connect: " + p.error().sentence);
  return *p;
}

inline transport_options listening(transport_options o = {}) {
  o.listens = true;
  return o;
}

/// Side 0 with a region that side 1 may use.
template <class F>
struct hosting {
  transport<F> net;
  observer seen;
  weft::region region;
  peer other;

  hosting(party& side, std::size_t size, rights granted, transport_options o = {})
      : net(opened<F>(side, listening(o))) {
    auto made = net.allocate(size, granted);
    if (!made) throw stopped("allocate: " + made.error().sentence);
    region = made->release();
    other = meet_as_listener(side, net, seen);
    side.tell(1, const_bytes(net.export_region(region, owner_polls)));
  }
};

/// Side 1 with memory of its own and the region of side 0.
template <class F>
struct visiting {
  transport<F> net;
  observer seen;
  peer other;
  weft::region memory;
  remote_region there;

  visiting(party& side, std::size_t size, transport_options o = {}) : net(opened<F>(side, o)) {
    auto made = net.allocate(size, rights::none);
    if (!made) throw stopped("allocate: " + made.error().sentence);
    memory = made->release();
    other = meet_as_caller(side, net, seen);
    auto parsed = net.parse_region(serve_and_ask(side, net, seen, 0));
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
/// The first byte that is not of the pattern, or the size.
inline std::size_t first_unlike(const_bytes seen, std::uint64_t which) noexcept {
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i] != pattern(which, i)) return i;
  return seen.size();
}

}  // namespace weft::conformance
