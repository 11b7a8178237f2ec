// SPDX-License-Identifier: Apache-2.0
//
// Many peers of one listener in virtual time: all meet, then all are idle. The peers are connections of one caller, so
// that a world holds two transports and no more. Hot path: no. Threads: one.
#pragma once

#include <weft/compose/sets/members.hpp>
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#include <cstdint>
#include <stdexcept>
#include <utility>

namespace weft::test {

namespace loopback = backends::loopback;
using namespace std::chrono_literals;

struct connected_peers : fabrics::loopback {};
/// Addressed peers with heartbeats: a hello alone makes a connection, and nobody else says that a peer is gone.
struct addressed_peers : fabrics::loopback {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = fabrics::loopback::facts;
    f.endpoint_type = endpoint_type::addressed;
    return f;
  }();
  using policies =
      policy_set<answers::endpoint::addressed, answers::bootstrap::socket_address, answers::framing::immediate,
                 answers::region_address::offset, answers::region_key::application,
                 answers::local_descriptor::not_needed, answers::region_binding::domain, answers::notify::immediate,
                 answers::write_fault::reported, answers::atomics::provider, answers::progress::polling,
                 answers::wait::yield, answers::threading::one_owner, answers::completion::selective,
                 answers::liveness::heartbeat, answers::receive_buffers::slots, answers::receive_pool::shared,
                 answers::flush::message_behind_writes, answers::coalesce::none, answers::queues::one,
                 answers::inject::as_the_row_permits, answers::checks::verified, answers::authentication::none,
                 answers::tagged::none>;
};

/// What happened. Counts are of the listener.
struct meeting_result {
  std::uint32_t met = 0;         ///< Peers of the listener that stand at the end.
  std::uint32_t lost = 0;        ///< Of both sides.
  std::uint64_t compared = 0;    ///< Records that searches for callers compared.
  std::uint64_t in_meeting = 0;  ///< Records that timers and sleeps looked at, until all had met.
  std::uint64_t in_sleeps = 0;   ///< The same in 1,000 questions how long a sleep may last.
  std::uint64_t in_idle = 0;     ///< The same while all were idle.
  std::uint64_t idle_polls = 0;
  duration meeting{};  ///< Of virtual time.
};

struct meeting_plan {
  std::uint32_t peers = 100;
  std::uint32_t at_once = 64;  ///< Connections that begin before the first of them stands.
  duration silence = 60s;      ///< transport_options::silence_limit of both sides.
  duration idle = 1s;
  duration poll{};    ///< Virtual time of a poll; 0: the world's.
  bool parts = true;  ///< Each side says goodbye to each peer at the end.
};

template <class F>
class meeting {
 public:
  /// `met()` is called while peers meet, after each thousand of them, and when all have met and both sides stand.
  template <class Met>
  static meeting_result play(const meeting_plan& plan, Met&& met) {
    meeting all(plan);
    loopback::world world(7);
    all.world_ = &world;
    if (plan.poll != duration(0)) world.inside().cost.poll_least = world.inside().cost.poll_most = plan.poll;
    world.spawn("listener", [&] { all.listen(met); });
    world.spawn("caller", [&] { all.call(); });
    const auto ended = world.run(3600s);
    if (!ended) throw std::runtime_error(ended.sentence.substr(0, 300));
    return all.seen_;
  }

 private:
  explicit meeting(const meeting_plan& plan) : plan_(plan) {}

  transport_options options(bool listens) const {
    transport_options o;
    o.node = listens ? "listener" : "caller";
    if (listens) o.service = "7471";
    o.listens = listens;
    o.sleeps = true;
    o.receives = F::facts.endpoint_type == endpoint_type::connected ? 2 : 512;
    o.max_message_bytes = wire::largest_handshake;
    o.peers = o.pending = plan_.peers;
    o.handshake_limit = 60s;
    o.silence_limit = plan_.silence;
    return o;
  }

  template <class Met>
  void listen(Met&& met) {
    auto net = open<F>(options(true)).value();
    auto& engine = detail::transport_parts::engine_of(net);
    auto& records = engine.peers;
    const auto on = overloaded{[&](const requested& r) {
                                 seen_.met += std::uint32_t{bool{net.accept(r.peer)}};
                                 if (seen_.met % 1000 == 0) met();
                               },
                               [&](const lost&) { seen_.lost += std::uint32_t{!over_}; }, [](auto&&) {}};
    const instant began = world_->now();
    while (standing_ < plan_.peers) net.progress(on);
    seen_.meeting = world_->now() - began;
    seen_.in_meeting = records.visited;
    if constexpr (F::facts.endpoint_type == endpoint_type::addressed) seen_.compared = records.callers.compared;
    for (int i = 0; i < 200; ++i) {
      net.progress(on);
      loopback::sleep_for(100us);
    }
    met();
    const std::uint64_t before = records.visited;
    for (int i = 0; i < 1000; ++i) (void)detail::rare_calls<detail::engine<F>>::until_due(engine);
    seen_.in_sleeps = records.visited - before;
    for (const instant end = world_->now() + plan_.idle; world_->now() < end; ++seen_.idle_polls) {
      net.progress(on);
      (void)net.wait(1ms);
    }
    seen_.in_idle = records.visited - before - seen_.in_sleeps;
    over_ = true;
    if (!plan_.parts) leave(std::move(net));
  }

  void call() {
    loopback::sleep_for(1ms);
    auto net = open<F>(options(false)).value();
    const auto on = overloaded{[&](const connected&) { ++standing_; },
                               [&](const lost&) { seen_.lost += std::uint32_t{!over_}; }, [](auto&&) {}};
    for (std::uint32_t started = 0; standing_ < plan_.peers;) {
      for (; started < plan_.peers && started - standing_ < plan_.at_once; ++started)
        if (!net.start_connect("listener:7471")) break;
      net.progress(on);
    }
    while (!over_) {
      net.progress(on);
      (void)net.wait(1ms);
    }
    if (!plan_.parts) leave(std::move(net));
  }

  /// Its process ends without goodbyes.
  static void leave(transport<F> net) { (void)new transport<F>(std::move(net)); }

  meeting_plan plan_;
  meeting_result seen_;
  loopback::world* world_ = nullptr;
  std::uint32_t standing_ = 0;
  bool over_ = false;
};

}  // namespace weft::test
