// SPDX-License-Identifier: Apache-2.0
//
// The plan of one run: steps of each node, weather and disturbances, all drawn from the seed. A selection keeps a part
// of a plan, and the other numbers stay the same. So a shrunk run is the seed and the numbers that are left.
// Hot path: no. Threads: values.
#pragma once

#include "faults_asked.hpp"

#include "../../backends/loopback/chance.hpp"
#include "../../backends/loopback/faults.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace weft::simulation {

namespace loopback = backends::loopback;
using namespace std::chrono_literals;

enum class action : std::uint8_t {
  send,
  quiet_send,
  put,
  put_notify,
  quiet_put_notify,
  get,
  fetch_add,
  compare_swap,
  batch,
  gather_put,
  gather_send,
  flush,
  close,
  regions,      ///< Registers a further region, or deregisters it.
  wrong_post,   ///< Past the end, or without the right: the call must refuse it.
  forged_post,  ///< Passes the call with a forged place: the target must refuse it.
  stale_post,   ///< To a region that may be deregistered.
  rest,         ///< A wait with a deadline.
};
constexpr std::string_view name_of(action a) noexcept {
  constexpr std::string_view names[] = {"send",        "quiet_send", "put",          "put_notify", "quiet_put_notify",
                                        "get",         "fetch_add",  "compare_swap", "batch",      "gather_put",
                                        "gather_send", "flush",      "close",        "regions",    "wrong_post",
                                        "forged_post", "stale_post", "rest"};
  return names[static_cast<std::size_t>(a)];
}

struct step {
  std::uint32_t number = 0;
  std::uint16_t node = 0;
  std::uint16_t other = 0;
  action what{};
  std::uint32_t size = 0;
  duration before{};
  std::uint64_t draw = 0;
};

struct disturbance {
  std::uint32_t number = 0;
  fault what{};
  std::uint16_t node = 0;
  std::uint16_t other = 0;
  duration at{};
  duration lasts{};
};

struct plan {
  std::uint64_t seed = 0;
  std::uint16_t nodes = 0;
  fault_set weather;
  loopback::faults wrong;
  std::vector<step> steps;
  std::vector<disturbance> disturbances;
};

/// The numbers to keep. An absent list keeps all.
struct selection {
  std::optional<std::vector<std::uint32_t>> steps;
  std::optional<std::vector<std::uint32_t>> disturbances;
  fault_set faults = fault_set::all();
};

inline constexpr std::uint32_t most_steps = 64;
inline constexpr std::uint32_t most_bytes = 512;

inline loopback::faults weather_of(loopback::chance& draw, fault_set& on) {
  loopback::faults f;
  const auto strength = [&](fault which, std::uint64_t per_mille) {
    const bool chosen = draw.below(2) == 0;
    const double p = static_cast<double>(draw.below(per_mille) + 1) / 1000.0;
    if (!chosen) on.remove(which);
    return on.has(which) ? p : 0.0;
  };
  f.loss = strength(fault::loss, 300);
  f.reorder = strength(fault::reorder, 1000);
  if (strength(fault::delay, 2) > 0) f.delay_most = 30us;
  f.tear = strength(fault::tear, 500);
  f.full_queue = strength(fault::again, 30);
  f.spurious_wake = strength(fault::wake, 100);
  f.pause = strength(fault::stutter, 1) / 4;
  f.handshake_duplication = strength(fault::handshakes, 500);
  f.no_memory = strength(fault::memory, 100);
  return f;
}

inline step step_of(loopback::chance& draw, std::uint32_t number, std::uint16_t nodes) {
  static constexpr action weighted[] = {
      action::send,  action::send,       action::send,        action::quiet_send,  action::put,
      action::put,   action::put_notify, action::put_notify,  action::put_notify,  action::quiet_put_notify,
      action::get,   action::fetch_add,  action::fetch_add,   action::fetch_add,   action::compare_swap,
      action::batch, action::gather_put, action::gather_send, action::flush,       action::flush,
      action::close, action::regions,    action::wrong_post,  action::forged_post, action::stale_post,
      action::rest,  action::send,       action::put_notify};
  step s;
  s.number = number;
  s.node = static_cast<std::uint16_t>(draw.below(nodes));
  s.other = static_cast<std::uint16_t>((s.node + 1 + draw.below(nodes - 1U)) % nodes);
  s.what = weighted[draw.below(std::size(weighted))];
  s.size = draw.below(3) == 0 ? static_cast<std::uint32_t>(1 + draw.below(64))
                              : static_cast<std::uint32_t>(1 + draw.below(most_bytes));
  s.before = draw.below(3) == 0 ? duration(0) : draw.between(duration(0), 400us);
  s.draw = draw.next();
  return s;
}

inline disturbance disturbance_of(loopback::chance& draw, std::uint32_t number, std::uint16_t nodes) {
  static constexpr fault kinds[] = {fault::one_way, fault::partition, fault::pause,
                                    fault::slow,    fault::clock,     fault::crash};
  disturbance d;
  d.number = number;
  d.what = kinds[draw.below(std::size(kinds))];
  d.node = static_cast<std::uint16_t>(draw.below(nodes));
  d.other = static_cast<std::uint16_t>((d.node + 1 + draw.below(nodes - 1U)) % nodes);
  d.at = draw.between(duration(0), 15ms);
  d.lasts = draw.below(4) == 0 ? draw.between(100ms, 900ms) : draw.between(100us, 30ms);
  return d;
}

/// Draws the whole plan of a seed, then keeps the selection.
inline plan make_plan(std::uint64_t seed, const selection& kept) {
  loopback::chance draw(loopback::chance(seed).next());  // mixed: streams of neighbours would overlap
  plan p;
  p.seed = seed;
  p.nodes = static_cast<std::uint16_t>(2 + draw.below(3));
  p.weather = kept.faults;
  p.wrong = weather_of(draw, p.weather);
  const auto wants = [](const auto& list, std::uint32_t number) {
    return !list || std::ranges::find(*list, number) != list->end();
  };
  const std::uint64_t steps = 8 + draw.below(most_steps - 8);
  for (std::uint32_t i = 0; i < steps; ++i)
    if (const step s = step_of(draw, i, p.nodes); wants(kept.steps, i)) p.steps.push_back(s);
  const std::uint64_t disturbances = draw.below(2) == 0 ? 0 : 1 + draw.below(3);
  for (std::uint32_t i = 0; i < disturbances; ++i)
    if (const disturbance d = disturbance_of(draw, i, p.nodes); kept.faults.has(d.what) && wants(kept.disturbances, i))
      p.disturbances.push_back(d);
  return p;
}

/// "1,4,9", or "none".
inline std::string text_of(const std::vector<std::uint32_t>& numbers) {
  std::string all;
  for (const std::uint32_t each : numbers) all += (all.empty() ? "" : ",") + std::to_string(each);
  return all.empty() ? "none" : all;
}

/// The options that repeat exactly this plan.
inline std::string options_of(const plan& p) {
  std::vector<std::uint32_t> steps;
  std::vector<std::uint32_t> disturbances;
  fault_set on = p.weather;
  for (std::size_t i = 0; i < fault_kinds; ++i)
    if (!is_weather(static_cast<fault>(i))) on.remove(static_cast<fault>(i));
  for (const step& each : p.steps) steps.push_back(each.number);
  for (const disturbance& each : p.disturbances) {
    disturbances.push_back(each.number);
    on.add(each.what);
  }
  return "--seed " + std::to_string(p.seed) + " --faults " + on.text() + " --steps " + text_of(steps) +
         " --disturbances " + text_of(disturbances);
}

}  // namespace weft::simulation
