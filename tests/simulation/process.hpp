// SPDX-License-Identifier: Apache-2.0
//
// The state that the nodes of one run share, and what survives a killed process: memory, histories, connections. Both
// sides are in one program, so an initiator's end is checked against the target's memory at once.
// Hot path: no. Threads: one.
#pragma once

#include "outcome.hpp"

#include "../../backends/loopback/port.hpp"
#include "../../compose/region.hpp"
#include "../../history/checker.hpp"
#include "../../history/recorder.hpp"

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <set>

namespace weft::simulation {

inline constexpr std::size_t guard_bytes = 64;
inline constexpr std::size_t words = 8;  ///< Four counters, then four words of compare_swap.
inline constexpr std::size_t readable_at = words * sizeof(std::uint64_t);
inline constexpr std::size_t readable_bytes = 1024;
inline constexpr std::size_t slots_at = readable_at + readable_bytes;
inline constexpr std::uint32_t writes_per_step = 4;
inline constexpr std::size_t slots = most_steps * writes_per_step + 16;  ///< The last are for the probes at the end.
inline constexpr std::size_t area_bytes = slots_at + slots * most_bytes;
inline constexpr std::size_t further_bytes = 128;

/// Byte `i` of the pattern of operation `number` of a process.
constexpr std::byte pattern(std::uint64_t process, std::uint64_t number, std::uint64_t i) noexcept {
  const std::uint64_t mixed =
      (process * 0x9e3779b97f4a7c15U) ^ (number * 0xbf58476d1ce4e5b9U) ^ (i * 0x94d049bb133111ebU);
  return static_cast<std::byte>((mixed ^ mixed >> 31) >> 16);
}
inline void paint(bytes into, std::uint64_t process, std::uint64_t number) noexcept {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = pattern(process, number, i);
}
constexpr std::size_t slot_at(std::uint32_t number) noexcept { return slots_at + number * most_bytes; }

/// Memory with guard bytes before and after.
class guarded {
 public:
  explicit guarded(std::size_t size) : all_(size + 2 * guard_bytes, std::byte{0x5e}) {
    std::fill(inside().begin(), inside().end(), std::byte{0});
  }
  bytes inside() noexcept { return bytes(all_).subspan(guard_bytes, all_.size() - 2 * guard_bytes); }
  const_bytes before() const noexcept { return const_bytes(all_).first(guard_bytes); }
  const_bytes after() const noexcept { return const_bytes(all_).last(guard_bytes); }

 private:
  std::vector<std::byte> all_;
};

/// A further region, which its owner deregisters during the run.
struct further_region {
  guarded memory{further_bytes};
  region_bytes description{};
  bool registered = false;
};

/// One process: an incarnation of a node. It outlives its node's fiber.
struct process_state {
  process_state(std::uint16_t number_of_process, std::uint16_t node_of_process)
      : number(number_of_process), node(node_of_process), book(number_of_process, 512) {}
  std::uint16_t number;
  std::uint16_t node;
  guarded area{area_bytes};
  guarded read_only{further_bytes};
  guarded sources{area_bytes};
  region_bytes area_description{};
  region_bytes read_only_description{};
  std::deque<further_region> further;
  history::recorder book;
  std::optional<history::record> attempt;  ///< A post whose call has not returned.
  bool killed = false;
  bool finished = false;
};

/// Both sides' knowledge of one connection.
struct shared_connection {
  bool broken = false;             ///< A side lost it otherwise than by an orderly close.
  std::array<bool, 2> left{};      ///< The dialler, the acceptor: closed it.
  std::array<bool, 2> in_order{};  ///< That close ended in time.
  std::array<bool, 2> told{};      ///< Got `lost`.
  std::array<std::uint16_t, 2> process{};
  bool established = false;
};

/// One posted operation.
struct posted_operation {
  std::uint64_t id = 0;
  history::work kind{};
  std::uint16_t process = 0;
  std::uint16_t to = 0;
  std::uint32_t number = 0;
  std::uint32_t size = 0;
  std::uint64_t connection = 0;
  std::uint64_t order = 0;  ///< Of the post, over the whole run.
  std::uint64_t value = 0;
  bool dialled = false;  ///< By this side.
  bool quiet = false;
  bool forged = false;
  bool ended = false;
  bool success = false;
};

/// The state of one run.
struct run_state {
  run_state(const plan& p, const run_settings& s) : planned(p), settings(s) {}

  const plan& planned;
  const run_settings& settings;
  outcome result;
  loopback::world* world = nullptr;
  std::deque<process_state> processes;
  std::vector<std::size_t> next_step = std::vector<std::size_t>(16);
  std::vector<std::uint16_t> incarnations = std::vector<std::uint16_t>(16);
  std::vector<process_state*> living = std::vector<process_state*>(16);
  std::vector<std::uint16_t> members;  ///< Nodes that take part.
  std::map<std::uint16_t, std::string> addresses;
  std::map<std::uint64_t, shared_connection> connections;
  std::deque<posted_operation> operations;
  std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint32_t> sizes;  ///< Of notices, by writer and number.
  std::set<std::uint16_t> done;
  std::array<std::set<std::uint16_t>, 3> passed;  ///< Barriers at the end.
  std::int64_t quiet_at = 0;                      ///< End of the last disturbance.
  duration lost_time{};                           ///< Pauses and jumps of clocks, added.
  std::uint64_t order = 0;
  bool calm = false;

  static std::string node_name(std::uint16_t node) { return "node" + std::to_string(node); }
  process_state* process(std::uint16_t number) {
    for (process_state& each : processes)
      if (each.number == number) return &each;
    return nullptr;
  }
  void found(std::string name, std::string sentence) { result.add(std::move(name), std::move(sentence)); }
  /// Every node ended its steps and no disturbance is left: the faults stop.
  void try_to_calm() {
    if (calm || done.size() < members.size() || world->now().time_since_epoch().count() < quiet_at) return;
    for (const std::uint16_t each : members)
      if (living[each] == nullptr) return;
    const loopback::planted_bug bug = settings.bug;
    world->inside().wrong = loopback::faults{};
    world->inside().wrong.bug = bug;
    calm = true;
  }
};

}  // namespace weft::simulation
