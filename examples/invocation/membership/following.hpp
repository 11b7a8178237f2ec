// SPDX-License-Identifier: Apache-2.0
//
// A client that goes on when its manager ends. It asks the next manager on the ring for new workers, because the
// executors of a manager end with it. Calls in flight end in a typed error, and are not repeated: only the caller knows
// whether that is right. What the dead manager had accounted is lost, and is counted as unbilled.
// Hot path: invoke() is the client's own. Threads: one owner.
#pragma once

#include "../client.hpp"
#include "ring.hpp"

#include <algorithm>
#include <thread>

namespace weft::invocation {

template <complete_fabric F>
class following_client {
 public:
  struct takeover {
    std::string from, to;
    duration took{};  ///< From the loss, as this client saw it, until the new workers were ready.
  };

  /// Connects to the first of `managers` that answers, and allocates. Errors: those of client.
  static result<std::unique_ptr<following_client>> open(std::vector<std::string> managers, client_options o,
                                                        allocation_request request, duration limit) {
    std::unique_ptr<following_client> made(new following_client(std::move(managers), std::move(o), request));
    const instant end = clock::now() + limit;
    result<void> met = made->meet(made->known_, end);
    if (!met) return std::move(met).error();
    return made;
  }

  client<F>& now() noexcept { return *client_; }
  const std::vector<takeover>& takeovers() const noexcept { return takeovers_; }
  /// Allocations whose manager ended before it wrote their bill.
  std::uint64_t unbilled() const noexcept { return unbilled_; }

  /// Call it when allocated() of the client is false: gets workers again, from the same manager if only the executor
  /// ended. Errors: of the last try, when the limit is over.
  result<void> recover(duration limit) {
    const instant begin = clock::now();
    const instant end = begin + limit;
    result<void> done;
    do {
      if (!client_->manager_lost()) {
        done = client_->allocate(request_, std::max(duration(1ms), end - clock::now()));
        if (done) return done;
      }
      if (!client_->manager_lost()) continue;  // it refused, for example because it is busy
      const std::string from = client_->manager_address();
      remember();
      o_.flags = serve_here | lost_manager;
      done = meet(heirs(from), end);
      if (!done) continue;
      ++unbilled_;
      takeovers_.push_back({from, client_->manager_address(), clock::now() - begin});
      return done;
    } while (wait_a_little(end));
    return done;
  }

 private:
  using clock = std::chrono::steady_clock;

  following_client(std::vector<std::string> managers, client_options o, allocation_request request)
      : known_(std::move(managers)), o_(std::move(o)), request_(request) {
    if (same_token(o_.identity, {})) o_.identity = random_token();
  }
  static bool wait_a_little(instant end) {
    std::this_thread::sleep_for(20ms);
    return clock::now() < end;
  }
  /// What the manager told last, for the time when it cannot tell any more.
  void remember() {
    for (const std::string& each : client_->managers())
      if (std::ranges::find(known_, each) == known_.end()) known_.push_back(each);
  }
  /// In the order of the ring, so that the clients of a dead manager spread over the others.
  std::vector<std::string> heirs(const std::string& dead) const {
    auto all = client_->managers();
    std::erase(all, dead);
    auto found = manager_ring(std::move(all)).in_order(o_.identity, known_.size());
    for (const std::string& each : known_)
      if (each != dead && std::ranges::find(found, each) == found.end()) found.push_back(each);
    found.push_back(dead);  // it may have been started again
    return found;
  }
  result<void> meet(const std::vector<std::string>& where, instant end) {
    result<void> done = {error(errc::invalid, "follow"), "no manager is known"};
    for (const std::string& each : where) {
      const duration left = std::max(duration(1ms), end - clock::now());
      auto made = client<F>::connect(each, o_, std::min(left, duration(one_try)));
      if (!made) {
        done = std::move(made).error();
        continue;
      }
      done = (*made)->allocate(request_, left);
      if (!done && client_ != nullptr) continue;  // the old one still says whom to ask
      client_ = std::move(made).value();
      if (done) return done;
    }
    return done;
  }
  static constexpr duration one_try = 1s;  ///< To connect: another manager may answer.

  std::vector<std::string> known_;
  client_options o_;
  allocation_request request_;
  std::unique_ptr<client<F>> client_;
  std::vector<takeover> takeovers_;
  std::uint64_t unbilled_ = 0;
};

}  // namespace weft::invocation
