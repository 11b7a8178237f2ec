// SPDX-License-Identifier: Apache-2.0
//
// One side of a simulated conversation: a port, its link to the other side, registered memory, and the completions of
// the port. Hot path: no. Threads: one fiber.
#pragma once

#include "../../backends/loopback/port.hpp"
#include "rows.hpp"

#include <array>
#include <vector>

namespace weft::test {

namespace loopback = backends::loopback;
using namespace std::chrono_literals;

/// Memory: [0, 1024) is the region, with 128 guard bytes on each side; then receives and staging.
template <class Row>
struct test_side {
  using shape = shape_of<Row>;
  using port_type = loopback::port<shape>;
  static constexpr std::size_t guard = 128, region_size = 1024, slot = 128, slots = 16, staging_size = 4096;

  std::unique_ptr<port_type> net;
  typename port_type::link link{};
  std::vector<std::byte> memory = std::vector<std::byte>(guard + region_size + guard);
  std::vector<std::byte> receives = std::vector<std::byte>(slot * slots);
  std::vector<std::byte> staging = std::vector<std::byte>(staging_size);
  registration region{}, receives_held{}, staging_held{};
  std::array<std::array<std::byte, 64>, slots> contexts{};  // contexts, which the fabric may overwrite
  bool up = false, lost = false, refused = false, greets = true;
  std::vector<completion_entry> ended, received, landed;
  std::vector<std::vector<std::byte>> messages;

  explicit test_side(port_options options = {}, std::uint64_t wanted_key = 77) {
    options.sleeps = true;
    net = port_type::open(options).value();
    region = net->register_memory(bytes(memory).subspan(guard, region_size), rights::all, wanted_key).value();
    receives_held = net->register_local(receives).value();
    staging_held = net->register_local(staging).value();
    if constexpr (!port_type::link_has_receives) post_receives({});
  }
  void post_receives(typename port_type::link at) {
    for (std::size_t i = 0; i < slots; ++i) post_receive(at, i);
  }
  void post_receive(typename port_type::link at, std::size_t i) {
    (void)net->post_receive(at, {receives.data() + i * slot, slot, receives_held.descriptor}, contexts[i].data());
  }
  std::span<std::byte> home() { return bytes(memory).subspan(guard, region_size); }
  local_memory staged(std::size_t offset, std::size_t size) {
    return {staging.data() + offset, size, staging_held.descriptor};
  }
  remote_memory spot(std::size_t offset) const {
    return {shape::virtual_address ? reinterpret_cast<std::uintptr_t>(region.base) + offset : offset, region.key};
  }

  void turn() {
    net->poll_links([this](link_change change, std::uint32_t, typename port_type::link which) -> std::uint32_t {
      if (change == link_change::arrived) {
        if (!greets) return no_tag;
        link = which;
        post_receives(which);
        return 1;
      }
      up = up || change == link_change::established;
      lost = lost || change == link_change::lost;
      refused = refused || change == link_change::refused;
      return 0;
    });
    net->poll([this](const completion_entry& reported) { take(reported); });
  }
  void take(const completion_entry& reported) {
    if (reported.kind == completion_kind::ended) ended.push_back(reported);
    if (reported.kind == completion_kind::write_with_immediate) landed.push_back(reported);
    if (reported.kind == completion_kind::received) {
      received.push_back(reported);
      const std::size_t i = slot_of(reported.context);
      if (reported.outcome)
        messages.emplace_back(receives.begin() + static_cast<std::ptrdiff_t>(i * slot),
                              receives.begin() + static_cast<std::ptrdiff_t>(i * slot + reported.length));
    }
    if (reported.kind != completion_kind::ended && reported.context != nullptr && reported.outcome)
      post_receive(link, slot_of(reported.context));
  }
  std::size_t slot_of(const void* context) const {
    for (std::size_t i = 0; i < slots; ++i)
      if (context == contexts[i].data()) return i;
    return slots - 1;
  }
  template <class Done>
  bool until(Done&& done, duration limit = 1s) {
    const instant end = net->now() + limit;
    while (!done()) {
      turn();
      if (done()) return true;
      if (net->now() >= end) return false;
      (void)net->wait(std::min(end, net->now() + 50us));  // values in variables of the test wake no other node
    }
    return true;
  }
  /// Effects: for this long, takes completions.
  void idle(duration span) {
    (void)until([] { return false; }, span);
  }
  /// Effects: connects until the link carries messages (receives posted). Returns: false at the limit.
  bool dial(const address_bytes& to, duration limit = 1s) {
    link = net->dial(to, 9).value();
    if (port_type::link_has_receives) post_receives(link);
    return until([this] { return up || refused; }, limit) && up;
  }
  /// Effects: repeats the call while its answer is `again`, for a limited time.
  template <class Call>
  status insist(Call&& call, duration limit = 1s) {
    const instant end = net->now() + limit;
    for (;;) {
      const status said = call();
      if (!said.is_again() || net->now() >= end) return said;
      turn();
    }
  }
  template <post_mode M = post_mode::signalled>
  status say(const_bytes what, std::uint32_t immediate, void* context = nullptr) {
    std::copy(what.begin(), what.end(), staging.begin());
    return insist([&] {
      if constexpr (shape::framed) return net->template send_framed<M>(link, {}, staged(0, what.size()), context);
      else return net->template send<M>(link, staged(0, what.size()), immediate, context);
    });
  }
};

/// A connected server and client: `serve` and `ask` run on their own nodes.
template <class Row, class Serve, class Ask>
loopback::run_outcome converse(loopback::world& w, Serve serve, Ask ask, duration limit = 60s) {
  using side = test_side<Row>;
  address_bytes server_at, client_at;
  w.spawn("server", [&, serve] {
    side me({.node = {}, .service = "7471", .listens = true});
    server_at = me.net->address();
    if constexpr (side::port_type::link_has_receives) {
      if (!me.until([&] { return me.up; }, 10s)) throw std::runtime_error("server: no link");
    } else {
      while (client_at.empty()) loopback::sleep_for(1us);
      if (!me.dial(client_at)) throw std::runtime_error("server: no link");
    }
    serve(me);
  });
  w.spawn("client", [&, ask] {
    side me({}, 78);
    client_at = me.net->address();
    while (server_at.empty()) loopback::sleep_for(1us);
    if (!me.dial(server_at)) throw std::runtime_error("client: no link");
    ask(me);
  });
  return w.run(limit);
}

inline std::vector<std::byte> pattern(std::size_t size, unsigned seed = 1) {
  std::vector<std::byte> all(size);
  for (std::size_t i = 0; i < size; ++i) all[i] = static_cast<std::byte>(seed * 31 + i * 7 + 1);
  return all;
}

}  // namespace weft::test
