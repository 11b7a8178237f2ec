// SPDX-License-Identifier: Apache-2.0
//
// The client's second style: calls that coroutines await, `const outcome o = co_await calls.invoke(f, input, output,
// 1s);`. A thin layer over submit() and progress(): a call without a free slot waits its turn, and each call ends
// exactly once, by the client's own rules. Hot path: yes, no allocation. Threads: the client's owner.
#pragma once

#include "client.hpp"

#include <weft/coroutines/runner.hpp>

#include <algorithm>
#include <cstring>

namespace weft::invocation {

template <complete_fabric F>
class awaited_calls : public coroutines::runner {
 public:
  /// Requires: the client lives longer, and makes progress only through this object while calls are awaited.
  explicit awaited_calls(client<F>& c, const coroutines::runner_options& o = {}) : runner(o), client_(c) {}
  ~awaited_calls() { stop(); }

  /// One call. Input and output belong to the caller and stay valid until the call ended.
  class [[nodiscard]] call : public coroutines::waiter {
   public:
    call(awaited_calls& of, std::uint32_t function, const_bytes input, bytes output, duration limit) noexcept
        : calls_(of), function_(function), input_(input), output_(output), limit_(limit) {}
    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> h) noexcept {
      resumes = h;
      return calls_.begin(*this);
    }
    outcome await_resume() const noexcept { return ended_ ? answer_ : answer_with(trouble::deadline); }

   private:
    friend awaited_calls;
    awaited_calls& calls_;
    std::uint32_t function_;
    const_bytes input_;
    bytes output_;
    duration limit_;
    bool ended_ = false;
    outcome answer_;
  };
  /// Goes to the next worker with a free slot. Ends by submit(), by its reply, or by `limit`.
  call invoke(std::uint32_t function, const_bytes input, bytes output, duration limit) noexcept {
    return call(*this, function, input, output, limit);
  }

  /// Makes progress. Returns the number of queue entries.
  int progress() {
    const int found = client_.progress([this](const finished& f) { end(f); });
    while (!turn_.empty() && try_to_submit(static_cast<call&>(turn_.front())))
      leave_turn(static_cast<call&>(turn_.front()));
    if (next_due() != coroutines::no_deadline) expire(client_.net().now());
    return found;
  }
  /// Makes progress until no coroutine is left. Errors: deadline.
  status run(duration limit) {
    const instant end = client_.net().now() + limit;
    while (alive() > 0) {
      if (progress() == 0) client_.rest();
      if (client_.net().now() >= end) return error(errc::deadline, "run");
    }
    return {};
  }

 private:
  bool begin(call& c) noexcept {
    if (!turn_.empty() || !try_to_submit(c)) {
      limit(c, client_.net().now() + c.limit_);
      turn_.add(c);
      return true;
    }
    return !c.ended_;
  }
  /// False: no slot is free. True: submitted, or ended.
  bool try_to_submit(call& c) noexcept {
    coroutines::ticket* t = tickets().take(c);
    if (t == nullptr) return false;
    trouble why = trouble::executor_lost;
    for (std::uint16_t tries = 0; tries < client_.workers(); ++tries) {
      next_ = static_cast<std::uint16_t>((next_ + 1) % client_.workers());
      why = client_.submit(next_, c.function_, c.input_, t, c.limit_);
      if (why != trouble::busy && why != trouble::executor_lost) break;
    }
    if (why == trouble::none) return true;
    c.held = nullptr;
    tickets().give(*t);
    if (why == trouble::busy) return false;
    c.answer_ = answer_with(why);
    return c.ended_ = true;
  }
  void leave_turn(call& c) noexcept {
    if (c.ended_) return c.wake({});
    static_cast<coroutines::queue_place&>(c).leave();
    static_cast<coroutines::timed_place&>(c).leave();  // from now on the client ends it, by its own deadline
  }
  void end(const finished& f) noexcept {
    if (!tickets().holds(f.context)) return;
    auto* c = static_cast<call*>(tickets().redeem(f.context));
    if (c == nullptr) return;
    c->ended_ = true;
    c->answer_ = {f.why, f.detail, std::min(f.output.size(), c->output_.size()), f.execution};
    if (f.output.size() > c->output_.size()) c->answer_.why = trouble::too_large;
    else if (!f.output.empty()) std::memcpy(c->output_.data(), f.output.data(), f.output.size());
    c->wake({});
  }

  client<F>& client_;
  coroutines::waiter_list<coroutines::queue_place> turn_;
  std::uint16_t next_ = 0;
};

}  // namespace weft::invocation
