// SPDX-License-Identifier: Apache-2.0
//
// What a set keeps beside its transports: the state of each fabric, regions, what was chosen for each peer, and the
// directory that callers ask. It keeps its address when the set moves. Hot path: no. Threads: the owner's.
#pragma once

#include "../../core/secret_page.hpp"
#include "../engine/poll_budget.hpp"
#include "choice.hpp"
#include "no_set_tags.hpp"
#include "set_memory.hpp"

#include <unistd.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::detail {

/// What connect() chose for one peer.
struct peer_choice {
  std::uint32_t number = 0;  ///< Of the connection: records are used again.
  std::vector<fabric_verdict> verdicts;
};

template <class... F>
struct set_state {
  using engines_type = set_engines<F...>;
  /// The side channel at host:service. Each backend has one; where a backend simulates its network, its own.
  using oob_exchange = typename engine<std::tuple_element_t<0, std::tuple<F...>>>::oob_exchange;
  static constexpr std::size_t count = sizeof...(F);
  static constexpr std::array<fabric_profile, count> profiles{profile_of<F>...};
  static constexpr std::array<std::size_t, count> order = best_first<F...>();

  explicit set_state(transport_options o) : options(std::move(o)) {}
  ~set_state() {
    if (home) home->engine = nullptr;
    if (descriptor >= 0) ::close(descriptor);
    if (loop >= 0) ::close(loop);
  }
  set_state(const set_state&) = delete;
  set_state& operator=(const set_state&) = delete;

  /// That of the first open fabric.
  instant rough_now() const noexcept {
    instant at = instant::max();
    engines.each_open([&]<std::size_t I>(auto& engine) {
      if (at == instant::max()) at = detail::rough_now(*engine.port);
    });
    return at;
  }

  set_signals signals;
  transport_options options;
  engines_type engines;
  set_memory<engines_type> memory;
  std::array<own_fabric, count> own{};
  std::optional<secret_page> kept_secret;  ///< For fabrics that wait; options.secret is empty after open().
  wire::fabric_directory here;
  [[no_unique_address]] typename tagged_of_fabrics<F...>::shared tagged;
  std::unique_ptr<oob_exchange> side_channel;
  std::string listens_at;
  port_limits limits;
  std::map<const peer_header*, peer_choice> choices;
  std::shared_ptr<region_home> home;
  weft::sleep_counts sleeps{};
  std::uint64_t fallbacks = 0;
  instant sweep_at = instant::min();  ///< When to poll fabrics without peers again.
  int descriptor = -1;                ///< Of all ports; made when it is asked for.
  int loop = -1;                      ///< The same for armed ports (set_sleeping::arm).
  std::size_t loop_armed = 0;         ///< Ports that are armed for it.
};

/// Reads "mapped,tcp". Returns the sentence of what is wrong with it, or nothing.
template <std::size_t N>
std::string leave_out_others(std::string_view asked, std::string_view where,
                             const std::array<fabric_profile, N>& profiles, std::array<own_fabric, N>& own) {
  const auto every = [&] {
    std::string all;
    for (const fabric_profile& p : profiles) all += (all.empty() ? "" : ", ") + std::string(p.name);
    return all;
  };
  for (own_fabric& each : own) each.left_out = true;
  for (std::string_view left = asked; !left.empty();) {
    const std::string_view name = left.substr(0, left.find(','));
    left.remove_prefix(std::min(left.size(), name.size() + 1));
    bool known = false;
    for (std::size_t i = 0; i < N; ++i)
      if (profiles[i].name == name) own[i].left_out = false, known = true;
    if (!known)
      return std::string(where) + " is \"" + std::string(asked) + "\", and this program has no fabric \"" +
             std::string(name) + "\": it has " + every();
  }
  return {};
}

}  // namespace weft::detail
