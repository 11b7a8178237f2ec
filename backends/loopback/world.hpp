// SPDX-License-Identifier: Apache-2.0
//
// A whole system in one thread and in virtual time: nodes that run blocking-style code in fibers, the fabric between
// them, and faults, all from one seed. A port belongs to the world and the node in which it was opened; one that is
// opened outside of any world gets a private one without faults, so that plain programs with two ports in one thread
// work too. Hot path: no. Threads: one per world; a world never leaves its thread.
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

/// The simulation in which a port that is opened now will live.
inline simulation*& current_simulation() noexcept {
  thread_local simulation* current =
      nullptr;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): set by the world that runs
  return current;
}

/// Effects: a node's process is killed: its fibers never run again, its ports fall silent, peers learn of it where the
/// row tells.
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

/// Effects: the calling node does nothing for this long, in virtual time.
inline void sleep_for(duration span) { here().time.pass(span.count()); }

/// A simulated system. Spawn nodes, run, look at the trace.
class world {
 public:
  explicit world(std::uint64_t seed, const faults& trouble = {}) : sim_(seed, trouble) { prepare(sim_); }

  /// Effects: `body` runs on the node of this name as soon as the world runs. Several may share a node; a node that
  /// crashed is restarted by spawning on it anew. Exceptions that leave the body leave run().
  void spawn(std::string_view node, std::function<void()> body) {
    sim_.time.add(sim_.node_named(node), false, std::move(body));
  }
  /// As spawn, but the run does not wait for its end.
  void serve(std::string_view node, std::function<void()> body) {
    sim_.time.add(sim_.node_named(node), true, std::move(body));
  }
  /// Effects: `action` happens after this much virtual time (counted from now).
  void after(duration span, std::function<void()> action) {
    sim_.time.post_action(sim_.now() + span.count(), std::move(action));
  }

  /// Effects: runs until each spawned body ended, all sleep for ever, or this much virtual time went by. May be called
  /// again.
  run_outcome run(duration limit);

  void crash(std::string_view node) { kill_node(sim_, sim_.node_named(node)); }
  void pause(std::string_view node, duration span) {
    const std::uint32_t index = sim_.node_named(node);
    sim_.note(happening::paused, index, static_cast<std::uint64_t>(span.count()));
    sim_.nodes[index].paused_until = std::max(sim_.nodes[index].paused_until, sim_.now() + span.count());
  }
  /// Effects: nothing passes between the two nodes, in either direction, until heal.
  void cut(std::string_view one, std::string_view other);
  void heal(std::string_view one, std::string_view other);

  instant now() const noexcept { return instant(duration(sim_.now())); }
  const trace& log() const noexcept { return sim_.time.log; }
  void keep_trace() { sim_.time.log.keep(); }
  simulation& inside() noexcept { return sim_; }

 private:
  bool finished() const noexcept;
  std::string who_waits() const;

  simulation sim_;
};

/// While it lives, the calling thread acts as a node of the world without a fiber: ports opened now belong there, and
/// polling them makes time pass.
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
