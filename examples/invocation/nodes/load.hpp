// SPDX-License-Identifier: Apache-2.0
//
// The load of a cluster's demo: a client that keeps several executors busy, a thread and a transport for each. Every
// result is checked, every call ends once, and a client whose executor is lost asks for another and goes on.
// Hot path: no; it counts, and does not measure. Threads: a busy_client belongs to one.
#pragma once

#include "../client.hpp"
#include "../measured_run.hpp"
#include "commands.hpp"

#include <array>
#include <atomic>
#include <thread>

namespace weft::invocation::nodes {

/// What one thread saw.
struct load_report {
  std::uint64_t asked = 0;
  std::uint64_t done = 0;
  std::uint64_t wrong = 0;
  std::array<std::uint64_t, 9> failed{};  ///< By trouble.
  std::uint64_t unended = 0;              ///< Posted, and neither a result nor an error: must be 0.
  std::uint64_t done_after_loss = 0;
  std::uint64_t allocations = 0;
  std::uint64_t losses = 0;
  std::uint64_t bills = 0;
  std::uint64_t exact_bills = 0;
  std::uint64_t billed_calls = 0;
  std::string why{};  ///< Why it gave up; empty: it did not.

  std::uint64_t failures() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t each : failed) all += each;
    return all;
  }
  void add(const load_report& other) {
    asked += other.asked, done += other.done, wrong += other.wrong, unended += other.unended;
    for (std::size_t i = 0; i < failed.size(); ++i) failed[i] += other.failed[i];
    done_after_loss += other.done_after_loss, allocations += other.allocations, losses += other.losses;
    bills += other.bills, exact_bills += other.exact_bills, billed_calls += other.billed_calls;
    if (why.empty()) why = other.why;
  }
};

/// What the threads of a load share.
struct load_progress {
  std::atomic<std::uint64_t> ended{0};
  std::atomic<std::uint32_t> ready{0};  ///< Threads that have an executor, or gave up.
  std::atomic<bool> go{false};
  std::atomic<bool> resumed{true};
};

template <complete_fabric F>
class busy_client {
 public:
  busy_client(const load_options& o, std::uint64_t calls, load_progress& progress)
      : o_(o), calls_(calls), progress_(progress), pattern_(o.size, false) {}

  const load_report& report() const noexcept { return report_; }

  void run() {
    report_.asked = calls_;
    end_ = std::chrono::steady_clock::now() + o_.limit;
    const bool there = allocate();
    ++progress_.ready;
    while (there && !progress_.go.load() && std::chrono::steady_clock::now() < end_) wait_a_moment();
    while (there && ended_ < calls_ && std::chrono::steady_clock::now() < end_) {
      if (!client_->allocated() && client_->outstanding() == 0 && !again()) break;
      const bool slow = !progress_.resumed && ended_ >= calls_ / 3;
      if (client_->allocated() && (!slow || begun_ < calls_ - calls_ / 3)) post();
      if (slow) wait_a_moment();
      else if (client_->progress(on_end()) == 0) client_->rest();
    }
    report_.unended = begun_ - ended_;
    if (ended_ < calls_ && report_.why.empty()) report_.why = "the time of the load was over";
    if (client_ && client_->allocated() && client_->outstanding() == 0) release();
  }

 private:
  struct flight {
    std::uint64_t number = 0;
    std::uint16_t worker = 0;
    bool used = false;
  };

  auto on_end() {
    return [this](const finished& f) {
      auto& call = *static_cast<flight*>(f.context);
      call.used = false;
      ++ended_;
      ++progress_.ended;
      if (f.why != trouble::none) return void(++report_.failed.at(static_cast<std::size_t>(f.why)));
      if (!pattern_.right(call.number, f.output)) return void(++report_.wrong);
      ++report_.done;
      report_.done_after_loss += std::uint64_t{report_.losses > 0};
    };
  }
  void wait_a_moment() {
    if (client_->progress(on_end()) == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

  void post() {
    for (flight& each : flights_) {
      if (each.used || begun_ >= calls_) continue;
      each.number = begun_;
      each.used = client_->submit(each.worker, function_, pattern_.input(begun_), &each, o_.deadline) == trouble::none;
      if (each.used) ++begun_;
    }
  }

  /// Asks until there is an executor. False: there is none in time.
  bool allocate() {
    const instant limit = std::min(end_, instant(std::chrono::steady_clock::now() + o_.retry_limit));
    std::string why = "the time was over";
    while (std::chrono::steady_clock::now() < limit) {
      if (!client_) {
        auto made = client<F>::connect(o_.manager, o_.client);
        if (made) client_ = std::move(made).value();
        else why = made.error().sentence;
      }
      if (client_) {
        const auto got = client_->allocate(o_.request);
        const auto function = got ? client_->find("echo") : std::nullopt;
        if (function) {
          function_ = *function;
          ++report_.allocations;
          flights_.assign(std::size_t{o_.request.workers} * std::min<std::uint32_t>(o_.depth, o_.request.slots), {});
          for (std::size_t i = 0; i < flights_.size(); ++i)
            flights_[i].worker = static_cast<std::uint16_t>(i % o_.request.workers);
          return true;
        }
        why = got ? "there is no function echo" : got.error().sentence;
        if (!got && got.why().code == errc::peer_lost) client_.reset();  // perhaps the manager: connect again
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    report_.why = "no executor: " + why;
    return false;
  }
  bool again() {
    ++report_.losses;
    if (const auto& cost = client_->last_bill()) note(*cost);
    return allocate();
  }
  void release() {
    const auto cost = client_->release();
    if (cost) return note(*cost);
    if (report_.why.empty()) report_.why = "no bill: " + cost.error().sentence;
  }
  void note(const bill& cost) {
    ++report_.bills;
    report_.exact_bills += std::uint64_t{cost.exact};
    report_.billed_calls += cost.invocations;
  }

  const load_options& o_;
  std::uint64_t calls_;
  load_progress& progress_;
  run_pattern pattern_;
  load_report report_;
  std::unique_ptr<client<F>> client_;
  std::vector<flight> flights_;
  std::uint32_t function_ = 0;
  std::uint64_t begun_ = 0;
  std::uint64_t ended_ = 0;
  instant end_{};
};

}  // namespace weft::invocation::nodes
