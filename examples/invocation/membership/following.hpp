// SPDX-License-Identifier: Apache-2.0
//
// A client that goes on when its manager ends. It asks the next manager on the ring for new workers, because the
// executors of a manager end with it. It asks its manager often whether it is there (manager_watch.hpp). Calls in
// flight end in a typed error, and are not repeated: only the caller knows whether that is right. The next manager
// bills what the dead one cannot, where nodes keep the accounts (nodes/inherited.hpp). Other allocations are counted as
// unbilled. Hot path: invoke() is the client's own. Threads: one owner.
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
  /// Managers that another source has named, such as etcd: they are asked after those of the ring.
  void learn(const std::vector<std::string>& more) {
    for (const std::string& each : more)
      if (std::ranges::find(known_, each) == known_.end()) known_.push_back(each);
  }
  const std::vector<takeover>& takeovers() const noexcept { return takeovers_; }
  /// Bills of allocations whose manager is gone, which a later manager has sent.
  std::vector<bill> inherited() const {
    std::vector<bill> all = inherited_;
    if (const auto& last = client_->inherited_bill()) all.push_back(*last);
    return all;
  }
  /// Allocations that no manager has billed.
  std::uint64_t unbilled() const { return missing_ - inherited().size(); }

  /// Call it when allocated() of the client is false: gets workers again, from the same manager if only the executor
  /// ended. Errors: of the last try, when the limit is over.
  result<void> recover(duration limit) {
    const instant begin = clock::now();
    const instant end = begin + limit;
    const bool billed = client_->last_bill().has_value();  // its executor ended before its manager
    result<void> done;
    do {
      if (!client_->manager_lost()) {
        done = client_->allocate(request_, std::max(duration(1ms), end - clock::now()));
        if (done) return served();
      }
      if (!client_->manager_lost()) continue;  // it refused, for example because it is busy
      const std::string from = client_->manager_address();
      learn(client_->managers());  // what it told last, for the time when it cannot tell any more
      o_.flags = serve_here | lost_manager;
      const token lost = served_;
      const std::optional<bill> last = client_->inherited_bill();
      done = meet(heirs(from), end);
      if (!done) continue;
      if (last) inherited_.push_back(*last);
      if (!billed) {
        client_->claim(lost);
        ++missing_;
      }
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
    if (o_.manager_every <= duration()) o_.manager_every = usual_manager_every;
  }
  result<void> served() {
    served_ = client_->allocation_secret();
    return {};
  }
  static bool wait_a_little(instant end) {
    std::this_thread::sleep_for(20ms);
    return clock::now() < end;
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
      auto made = client<F>::connect(each, o_, std::min(left, one_try()));
      if (!made) {
        done = std::move(made).error();
        continue;
      }
      done = (*made)->allocate(request_, left);
      if (!done && client_ != nullptr) continue;  // the old one still says whom to ask
      client_ = std::move(made).value();
      if (done) return served();
    }
    return done;
  }
  /// To connect: another manager may answer, and a live one would not be silent for so long.
  duration one_try() const { return std::max(o_.manager_silence / 2, o_.manager_every); }

  std::vector<std::string> known_;
  client_options o_;
  allocation_request request_;
  std::unique_ptr<client<F>> client_;
  std::vector<takeover> takeovers_;
  token served_{};               ///< The secret of the last allocation that a manager gave.
  std::uint64_t missing_ = 0;    ///< Bills that died with their managers.
  std::vector<bill> inherited_;  ///< Those of earlier managers.
};

}  // namespace weft::invocation
