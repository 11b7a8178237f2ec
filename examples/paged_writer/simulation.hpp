// SPDX-License-Identifier: Apache-2.0
//
// Both sides in one thread and virtual time, over a network that delays, repeats, tears and reorders whatever the row's
// facts do not exclude. Each rail is a fiber on its side's node. Same rails as in the live program. Hot path: no.
// Threads: one.
#pragma once

#include "sides.hpp"

#include <weft/backends/loopback/port.hpp>

namespace weft::paged {

namespace simulated = backends::loopback;

/// Every fault below the reliable layer.
inline simulated::faults trouble() {
  simulated::faults f;
  f.delay_most = duration(30'000);
  f.loss = 0.01;
  f.reorder = 0.5;
  f.tear = 0.3;
  f.full_queue = 0.01;
  return f;
}

/// A simulated run: state that its fibers share.
template <complete_fabric F>
class simulation_run {
 public:
  explicit simulation_run(const plan& p, const simulated::faults& wrong = trouble())
      : plan_(p),
        world_(p.seed, wrong),
        written_(p.rails),
        verified_(p.rails),
        where_(p.rails),
        memory_(p.memory_bytes()),
        line_(p, "verified", verified_) {}

  outcome play() {
    const auto begin = clock::now();
    for (std::uint32_t i = 0; i < plan_.rails; ++i) {
      world_.spawn("writer", [this, i] { write(i); });
      world_.spawn("reader", [this, i] { read(i); });
    }
    const auto ended = world_.run(std::chrono::hours(24));
    if (!wrong_.empty() || !ended) throw broken_off(wrong_.empty() ? ended.sentence : wrong_);
    totals done = sum(verified_);
    done.agains = sum(written_).agains;
    return {done, std::chrono::duration<double>(clock::now() - begin).count()};
  }
  simulated::world& world() noexcept { return world_; }

 private:
  void write(std::uint32_t i) {
    writer<F> rail(plan_, i, written_[i]);
    rail.begin();
    where_[i] = rail.listen_address();
    drive_one(rail);
  }
  void read(std::uint32_t i) {
    while (where_[i].empty()) simulated::sleep_for(100us);
    reader<F> rail(plan_, i, verified_[i], memory_.whole());
    rail.begin(where_[i]);
    drive_one(rail);
  }
  /// Records the first error, before the rail closes and other rails fail because of it.
  template <class Rail>
  void drive_one(Rail& rail) {
    try {
      for (; !rail.over() && wrong_.empty(); line_.maybe()) (void)rail.step();
    } catch (const std::bad_alloc&) {
      if (wrong_.empty()) wrong_ = "memory ran out";
    } catch (const std::exception& e) {
      if (wrong_.empty()) wrong_ = e.what();
    }
  }

  const plan& plan_;
  simulated::world world_;
  std::vector<shard> written_, verified_;
  std::vector<std::string> where_;
  page_memory memory_;
  progress_line line_;
  std::string wrong_;
};

}  // namespace weft::paged
