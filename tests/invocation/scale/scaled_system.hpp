// SPDX-License-Identifier: Apache-2.0
//
// Function invocation with thousands of executors, in virtual time: managers, and clients that all come at once.
// Client, manager and worker are the example's; an executor is a fiber. Clients wait in lines: a line plays one client
// after the other, so that a world holds the clients that have a place and those that are refused, and not all that
// ever come. Hot path: no. Threads: one.
#pragma once

#include "../../../backends/loopback/port.hpp"
#include "../../../compose/fabric.hpp"

#include <invocation/client.hpp>
#include <invocation/manager.hpp>

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weft::test {

namespace loopback = backends::loopback;

/// Bytes that the process holds of the allocator now.
inline std::uint64_t allocated_bytes() {
  const auto held = ::mallinfo2();
  return held.uordblks + held.hblkhd;
}
/// Bytes of memory that the process has touched.
inline std::uint64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t whole = 0, resident = 0;
  file >> whole >> resident;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

struct scale_plan {
  std::uint32_t executors = 10;  ///< At a time, of one worker each.
  std::uint32_t clients = 100;   ///< In all. Each connects, allocates one executor, calls, releases, and leaves.
  std::uint32_t calls = 4;       ///< Of each client.
  std::uint32_t managers = 1;    ///< Clients and executors are spread over them evenly.
  std::uint32_t waiting = 25;    ///< Of 100 executors' worth of lines: so many more clients than there are places.
  duration work = 100us;         ///< Of one call.
  duration retry = 20ms;         ///< A refused client asks again after this time.
  duration poll = 10us;          ///< Of virtual time. A longer poll saves events of the run, and no message.
};

struct scale_result {
  bool finished = false;
  std::string why;
  std::uint64_t served = 0, failed = 0, refused = 0, turned_away = 0, lost_executors = 0, calls = 0, exact_bills = 0;
  std::uint64_t packets = 0, packet_bytes = 0, events = 0;
  std::uint64_t manager_packets = 0, manager_bytes = 0;
  std::uint64_t rounds = 0, looks = 0;  ///< Of managers: rounds over their allocations, and allocations looked at.
  std::uint64_t peak_ports = 0, peak_bytes = 0, peak_resident = 0;
  std::int64_t manager_processor_ns = 0;
  duration lasted{};
};

/// Counts of one run that several parts write.
struct scale_counts {
  scale_result* into = nullptr;
  loopback::world* world = nullptr;
  std::uint64_t ports = 0;

  void opened() {
    if (++ports <= into->peak_ports) return;
    into->peak_ports = ports;
    if (ports % 64 == 0 || ports < 64) look();
  }
  void closed() { --ports; }
  void look() {
    into->peak_bytes = std::max(into->peak_bytes, allocated_bytes());
    into->peak_resident = std::max(into->peak_resident, resident_bytes());
  }
};

inline std::int64_t answer_a_call(const std::byte* in, std::uint32_t in_bytes, std::byte* out, std::uint32_t capacity) {
  if (in_bytes > capacity) return invocation::input_malformed;
  loopback::sleep_for(100us);
  std::copy_n(in, in_bytes, out);
  return in_bytes;
}
inline invocation::function_table answering() {
  invocation::function_table table;
  (void)table.add("answer", &answer_a_call);
  return table;
}

/// Executors as fibers. None is killed: the run has no faults.
template <complete_fabric F>
class scaled_spawner {
  struct executor {
    explicit executor(const invocation::executor_order& o) : order(o), journals(o.workers), busy(o.workers) {}
    invocation::executor_order order;
    std::vector<invocation::worker_journal> journals;
    std::vector<invocation::busy_since> busy;
    bool over = false, in_order = false;
  };

 public:
  class child {
   public:
    child(std::shared_ptr<executor> what, std::uint64_t number, scale_counts& counts)
        : what_(std::move(what)), number_(number), counts_(&counts) {}
    std::optional<invocation::executor_end> ended() {
      ++counts_->into->looks;
      if (!what_->over) return std::nullopt;
      return invocation::executor_end{what_->in_order, "the executor ended"};
    }
    void kill() noexcept {}
    std::span<invocation::worker_journal> journals() noexcept { return what_->journals; }
    std::uint64_t number() const noexcept { return number_; }

   private:
    std::shared_ptr<executor> what_;
    std::uint64_t number_;
    scale_counts* counts_;
  };

  scaled_spawner(scale_counts& counts, invocation::function_library& library) : counts_(&counts), library_(&library) {}
  void tend() noexcept { ++counts_->into->rounds; }
  result<child> start(const invocation::executor_order& order) {
    auto what = std::make_shared<executor>(order);
    const std::uint64_t number = ++numbers_;
    counts_->world->serve("executors", [what, counts = counts_, library = library_] {
      auto made = invocation::worker<F>::open(what->order.common, what->journals[0], *library, what->busy[0]);
      counts->opened();
      const auto ended = made ? (*made)->run() : result<void>(made.error());
      what->in_order = static_cast<bool>(ended);
      if (!ended && ++counts->into->lost_executors < 4)
        std::fprintf(stderr, "an executor ended: %s\n", ended.error().sentence.c_str());
      if (made) made.value().reset();
      counts->closed();
      what->over = true;
    });
    return child(what, number, *counts_);
  }

 private:
  scale_counts* counts_;
  invocation::function_library* library_;
  std::uint64_t numbers_ = 0;
};

/// One run.
template <complete_fabric F>
class scaled_system {
 public:
  explicit scaled_system(const scale_plan& p) : plan_(p) {}

  scale_result play() {
    loopback::world world(1);
    world_ = counts_.world = &world;
    counts_.into = &result_;
    world.inside().time.measured = plan_.managers;
    world.inside().cost.poll_least = world.inside().cost.poll_most = plan_.poll;
    addresses_.resize(plan_.managers);
    for (std::uint32_t i = 0; i < plan_.managers; ++i) world.spawn("managers", [this, i] { manage(i); });
    const std::uint32_t lines = plan_.executors + plan_.executors * plan_.waiting / 100;
    lines_left_ = lines;
    for (std::uint32_t i = 0; i < lines; ++i) world.spawn("clients", [this, i] { live_in_line(i); });
    const auto how = world.run(3600s);
    result_.finished = how.how == loopback::run_outcome::ending::finished && result_.served == plan_.clients;
    result_.why = how.sentence.substr(0, 400);
    result_.lasted = how.at - instant(1s);
    const auto& sim = world.inside();
    result_.packets = sim.packets;
    result_.packet_bytes = sim.packet_bytes;
    result_.events = world.log().count();
    for (std::uint32_t i = 0; i < plan_.managers; ++i) {
      result_.manager_packets += sim.endpoints[i]->packets;
      result_.manager_bytes += sim.endpoints[i]->packet_bytes;
      result_.manager_processor_ns += sim.time.tasks[i].processor_ns;
    }
    return result_;
  }

 private:
  using manager_type = invocation::manager<F, scaled_spawner<F>>;

  std::uint32_t part_for_one(std::uint32_t all) const noexcept { return (all + plan_.managers - 1) / plan_.managers; }

  void manage(std::uint32_t number) {
    invocation::manager_options o;
    o.node = "managers";
    o.most_workers = 1;
    o.most_allocations = static_cast<std::uint16_t>(part_for_one(plan_.executors));
    o.most_clients =
        static_cast<std::uint16_t>(part_for_one(plan_.executors + plan_.executors * plan_.waiting / 100) + 1);
    o.most_peers = 24 + 2 * (o.most_clients + o.most_allocations);
    o.start_limit = 60s;
    o.memory.all = std::uint64_t{1} << 40;
    auto made = manager_type::open(o, scaled_spawner<F>(counts_, library_));
    if (!made) {
      result_.why = made.error().sentence;
      return;
    }
    counts_.opened();
    addresses_[number] = made.value()->listen_address();
    made.value()->serve([&] { return lines_left_ == 0 && made.value()->allocations() == 0; });
    result_.exact_bills += made.value()->exact_bills();
    counts_.closed();
  }

  void live_in_line(std::uint32_t line) {
    const std::string& manager = addresses_[line % plan_.managers];
    while (manager.empty()) loopback::sleep_for(1ms);
    while (begun_ < plan_.clients) {
      ++begun_;
      live(manager);
    }
    --lines_left_;
  }

  /// The whole life of a client.
  void live(const std::string& manager) {
    invocation::client_options o;
    o.node = "clients";
    o.most_workers = 1;
    o.operations = 64;
    o.polling = {invocation::polling_mode::warm, 0ms};
    const instant until = world_->now() + 600s;
    auto made = invocation::client<F>::connect(manager, o, 60s);
    while (!made && world_->now() < until) {
      ++result_.turned_away;
      loopback::sleep_for(plan_.retry);
      made = invocation::client<F>::connect(manager, o, 60s);
    }
    if (!made) return fail(made.error().sentence);
    counts_.opened();
    invocation::client<F>& c = **made;
    invocation::allocation_request request;
    request.slots = 2;
    request.input_bytes = request.output_bytes = 64;
    request.polling = o.polling;
    for (;;) {
      auto got = c.allocate(request, 60s);
      if (got) break;
      if (got.why().code != errc::rejected || world_->now() > until) {
        counts_.closed();
        return fail(got.error().sentence);
      }
      ++result_.refused;
      loopback::sleep_for(plan_.retry);
    }
    const std::uint64_t word = 7;
    std::uint64_t back = 0;
    for (std::uint32_t i = 0; i < plan_.calls; ++i) {
      const auto ended =
          c.invoke("answer", std::as_bytes(std::span(&word, 1)), std::as_writable_bytes(std::span(&back, 1)), 10s);
      result_.calls += std::uint64_t{ended && back == word};
    }
    if (c.release(60s)) ++result_.served;
    else fail("release");
    counts_.closed();
  }
  void fail(const std::string& why) {
    if (++result_.failed < 4) std::fprintf(stderr, "a client failed: %s\n", why.c_str());
  }

  scale_plan plan_;
  scale_result result_;
  scale_counts counts_;
  loopback::world* world_ = nullptr;
  invocation::function_library library_{answering()};
  std::vector<std::string> addresses_;
  std::uint32_t begun_ = 0, lines_left_ = 0;
};

}  // namespace weft::test
