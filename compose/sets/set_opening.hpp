// SPDX-License-Identifier: Apache-2.0
//
// Opens the fabrics of a set. A listener opens each of them, because its directory names their addresses. Another
// program opens the best one that is here; the others wait until a peer or the program needs them. Fabric fact: opening
// a fabric may load a library, and loading libfabric takes 0.3 s on Debian. A fabric whose library or device is not on
// this machine is left out, with the reason; the set opens while one fabric does. A library that differs from its row
// is remembered: a connection that would have used that fabric is refused (sets/choice.hpp). Hot path: no. Threads: the
// owner's.
#pragma once

#include "../../backends/process/host.hpp"
#include "../connecting/host_and_service.hpp"
#include "built_for_set.hpp"
#include "set_state.hpp"

#include <sys/epoll.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>

namespace weft::detail {

template <class... F>
class set_opening {
  using state = set_state<F...>;
  using members = set_members<F...>;

 public:
  set_opening(state& s, members& all) noexcept : s_(s), all_(all) {}

  /// Errors: invalid (an option), no fabric that can be opened, a port in use.
  result<void> open() {
    carry_built_for_set<F...>();
    if (!s_.options.service.empty()) s_.options.listens = true;
    if (auto no = host_and_service::not_a_port(s_.options.service); !no.empty())
      return failure{error(errc::invalid, "open"), std::move(no)};
    if (auto no = leave_out(); !no.empty()) return failure{error(errc::invalid, "open"), std::move(no)};
    // Libraries read their variables once, when the first fabric opens.
    (set_environment<F>(), ...);
    for (own_fabric& each : s_.own) each.waits = !each.left_out;
    const bool rest = s_.options.listens || !keep_secret();
    for (const std::size_t i : state::order)
      if (rest || s_.engines.first_open() == state::count) open_late(i);
    s_.options.secret = {};  // each transport keeps its own, out of core files
    if (s_.engines.first_open() == state::count) return none_opened();
    s_.here.host = backends::process::number_of_this_host();
    s_.here.user = static_cast<std::uint32_t>(::geteuid());
    s_.limits = least_limits();
    return s_.options.listens ? be_found() : result<void>{};
  }
  /// Opens one fabric that waits; `own` says what came of it.
  void open_late(std::size_t member) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { ((I == member ? open_one<I>() : void()), ...); }
    (std::make_index_sequence<sizeof...(F)>());
    if (std::none_of(s_.own.begin(), s_.own.end(), [](const own_fabric& each) { return each.waits; }))
      s_.kept_secret.reset();
    s_.limits = least_limits();
  }

 private:
  std::string leave_out() {
    if (!s_.options.fabrics.empty())
      return leave_out_others(s_.options.fabrics, "transport_options::fabrics", state::profiles, s_.own);
    const char* const asked = ::secure_getenv("WEFT_FABRICS");
    if (asked == nullptr || *asked == 0) return {};
    return leave_out_others(asked, "WEFT_FABRICS", state::profiles, s_.own);
  }
  template <class G>
  static void set_environment() {
    for (const environment_setting& each : G::environment) (void)::setenv(each.name, each.value, 0);
  }

  /// Keeps the secret for fabrics that wait. False: this process has no page for it, so none may wait.
  bool keep_secret() {
    if (!(answer<F, authentication_family>::asks_secret || ...)) return true;
    s_.kept_secret.emplace(s_.options.secret);
    return s_.kept_secret->holds() || s_.options.secret.size() == 0;
  }
  template <std::size_t I>
  void open_one() {
    using fabric = typename members::template fabric_at<I>;
    own_fabric& mine = s_.own[I];
    if (!std::exchange(mine.waits, false)) return;
    transport_options o = s_.options;
    o.service.clear();
    o.fabrics.clear();
    if (s_.kept_secret && s_.kept_secret->holds()) o.secret = s_.kept_secret->get();
    if (!answer<fabric, authentication_family>::asks_secret) o.secret = {};
    auto net = transport<fabric>::open(o);
    if (!net) {
      mine.differs = net.why().code == errc::incompatible || net.why().code == errc::broken;
      mine.why = net.error().sentence;
      return;
    }
    auto& engine = transport_parts::engine_of(*net);
    for (std::uint32_t i = 0; i < engine.peers.capacity(); ++i)
      engine.peers.at(i).member = static_cast<std::uint8_t>(I);
    s_.tagged.join(engine);
    engine.in_set = &s_.signals;
    s_.engines.template enter<I>(engine);
    all_.template enter<I>(std::move(*net));
    mine.open = true;
    if (s_.descriptor >= 0) {
      epoll_event wanted{};
      wanted.events = EPOLLIN;
      (void)::epoll_ctl(s_.descriptor, EPOLL_CTL_ADD, engine.port->descriptor(), &wanted);
    }
  }

  failure none_opened() const {
    std::string all;
    status why = error(errc::unsupported, "open");
    for (std::size_t i = 0; i < state::count; ++i) {
      all += "; " + std::string(state::profiles[i].name) + ": " +
             (s_.own[i].left_out ? "the choice of fabrics leaves it out" : s_.own[i].why);
    }
    return {why, "no fabric of this set can be opened here" + all};
  }

  port_limits least_limits() const {
    port_limits least;
    bool first = true;
    s_.engines.each_open([&]<std::size_t I>(auto& engine) {
      const port_limits& one = engine.port->limits();
      if (std::exchange(first, false)) {
        least = one;
        return;
      }
      least.inject_bytes = std::min(least.inject_bytes, one.inject_bytes);
      least.queue_depth = std::min(least.queue_depth, one.queue_depth);
      least.largest_message = std::min(least.largest_message, one.largest_message);
      least.largest_write = std::min(least.largest_write, one.largest_write);
      least.library += ", " + one.library;
      if (!one.differences.empty()) least.differences += (least.differences.empty() ? "" : "; ") + one.differences;
    });
    for (std::size_t i = 0; i < state::count; ++i)
      if (s_.own[i].waits) lessen(least, facts[i]);
    return least;
  }
  /// The row's sizes bound what the device of a fabric that waits will say.
  static void lessen(port_limits& least, const fabric_facts& row) {
    least.inject_bytes = std::min<std::size_t>(least.inject_bytes, row.inject_bytes);
    least.queue_depth = std::min<std::size_t>(least.queue_depth, row.queue_depth);
    least.largest_message = std::min<std::uint64_t>(least.largest_message, row.largest_message);
    least.largest_write = std::min<std::uint64_t>(least.largest_write, row.largest_write);
  }
  static constexpr std::array<fabric_facts, sizeof...(F)> facts{F::facts...};

  result<void> be_found() {
    all_.each([&](auto& net, auto index) {
      s_.here.fabrics.push_back(
          {std::string(state::profiles[index()].name), state::profiles[index()].fingerprint, net.listen_address()});
    });
    const std::vector<std::byte> bytes_of = wire::encode(s_.here);
    if (bytes_of.empty())
      return failure{error(errc::invalid, "open"), "the addresses of this set's fabrics are too long for a directory"};
    const std::string node = s_.options.node.empty() ? "127.0.0.1" : s_.options.node;
    auto served = state::oob_exchange::serve(node, s_.options.service, bytes_of);
    if (!served) {
      failure why = std::move(served).error();
      if (why.why.native() == EADDRINUSE)
        why.sentence = "port " + s_.options.service + " of " + node +
                       " is in use: end the other program, or choose another service (" + why.sentence +
                       ") [WEFT-O005]";
      return why;
    }
    s_.side_channel = std::move(served).value();
    s_.listens_at = (node.find(':') != std::string::npos ? "[" + node + "]" : node) + ":" + s_.side_channel->service();
    return {};
  }

  state& s_;
  members& all_;
};

}  // namespace weft::detail
