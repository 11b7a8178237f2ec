// SPDX-License-Identifier: Apache-2.0
//
// A whole system in one thread and in virtual time, from one seed: nodes that run blocking code in fibers, the fabric
// between them, and faults.
// A port belongs to the world and node in which it was opened. A port opened outside of a world gets a private world
// without faults, so plain programs with two ports in one thread work too.
// Hot path: no. Threads: one per world; a world never leaves its thread.
#pragma once

#include "posting.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace weft::backends::loopback {

/// How a run ended.
struct run_outcome {
  enum class ending : std::uint8_t { finished, deadlock, out_of_time };
  ending how{};
  std::string sentence;  ///< For deadlock and out_of_time: who waits for what.
  instant at{};
  explicit operator bool() const noexcept { return how == ending::finished; }
};

/// The simulation for ports that are opened now.
inline simulation*& current_simulation() noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): set by the world that runs
  thread_local simulation* current = nullptr;
  return current;
}

/// Kills a node's process: its fibers never run again, its ports fall silent, and peers get an event where the row
/// reports it.
void kill_node(simulation& sim, std::uint32_t node);

inline void prepare(simulation& sim) {
  sim.time.on_packet = [&sim](std::uint32_t index) { move_on(sim, index); };
  sim.time.on_feed = [&sim](std::uint32_t port, std::uint64_t which) { feed_again(sim, port, which); };
  sim.crash = [&sim](std::uint32_t node) { kill_node(sim, node); };
}

/// The current simulation, or this thread's private one.
inline simulation& here() {
  if (simulation* current = current_simulation(); current != nullptr) return *current;
  thread_local std::unique_ptr<simulation> quiet;
  if (!quiet) {
    quiet = std::make_unique<simulation>(1, faults{});
    prepare(*quiet);
  }
  return *quiet;
}

/// Stops the calling node for this long, in virtual time.
inline void sleep_for(duration span) { here().time.pass(span.count()); }

/// A simulated system. Spawn nodes, run, read the trace.
class world {
 public:
  explicit world(std::uint64_t seed, const faults& trouble = {}) : sim_(seed, trouble) { prepare(sim_); }

  /// Runs `body` on the named node as soon as the world runs. Several bodies may share a node. Spawning on a crashed
  /// node restarts it. Exceptions that leave the body leave run().
  void spawn(std::string_view node, std::function<void()> body) {
    sim_.time.add(sim_.node_named(node), false, std::move(body));
  }
  /// Like spawn, but the run does not wait for the body's end.
  void serve(std::string_view node, std::function<void()> body) {
    sim_.time.add(sim_.node_named(node), true, std::move(body));
  }
  /// Calls `action` after this much virtual time, counted from now.
  void after(duration span, std::function<void()> action) {
    sim_.time.post_action(sim_.now() + span.count(), std::move(action));
  }

  /// Runs until all spawned bodies ended, all sleep for ever, or `limit` of virtual time passed. May be called again.
  run_outcome run(duration limit);

  void crash(std::string_view node) { kill_node(sim_, sim_.node_named(node)); }
  void pause(std::string_view node, duration span) {
    const std::uint32_t index = sim_.node_named(node);
    sim_.note(trace_event::paused, index, static_cast<std::uint64_t>(span.count()));
    sim_.nodes[index].paused_until = std::max(sim_.nodes[index].paused_until, sim_.now() + span.count());
  }
  /// Stops all packets between the two nodes, in both directions, until heal.
  void cut(std::string_view one, std::string_view other);
  /// Stops packets from one node to the other; those of the opposite direction pass.
  void cut_one_way(std::string_view from, std::string_view to);
  /// Ends every cut between the two nodes.
  void heal(std::string_view one, std::string_view other);
  /// The clock that the node's processes read jumps ahead.
  void jump_clock(std::string_view node, duration ahead) {
    sim_.nodes[sim_.node_named(node)].clock_ahead += ahead.count();
  }

  instant now() const noexcept { return instant(duration(sim_.now())); }
  const trace& log() const noexcept { return sim_.time.log; }
  void keep_trace() { sim_.time.log.keep(); }
  simulation& inside() noexcept { return sim_; }

 private:
  bool finished() const noexcept;
  std::string who_waits() const;

  simulation sim_;
};

/// While it lives, the calling thread is a node of the world without a fiber: its new ports belong there, and polling
/// them lets time pass.
class guest {
 public:
  guest(world& host, std::string_view node)
      : before_(current_simulation()), sim_(host.inside()), node_before_(sim_.guest_node) {
    current_simulation() = &sim_;
    sim_.guest_node = sim_.node_named(node);
  }
  ~guest() {
    sim_.guest_node = node_before_;
    current_simulation() = before_;
  }
  guest(const guest&) = delete;
  guest& operator=(const guest&) = delete;

 private:
  simulation* before_;
  simulation& sim_;
  std::uint32_t node_before_;
};

}  // namespace weft::backends::loopback

#include "world_run.hpp"  // IWYU pragma: export
