// SPDX-License-Identifier: Apache-2.0
//
// libfabric as its examples use it, to have beside what a tuned program gets: messages by fi_sendmsg with a completion each that is waited for, one queue for
// sends and one for receives, one entry a read, any thread may call, and the settings that the library comes with.
// Also here: a tuned program that sends messages, whatever the row's writes could carry.
// Hot path: post, poll. Threads: one owner.
#pragma once

#include "../raw_pingpong/raw_end.hpp"
#include "ladder.hpp"

namespace weft::bench {

/// The fabric, but notices are messages.
template <class F>
struct by_messages {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = F::facts;
    f.write_immediate_bytes = 0;
    return f;
  }();
  static constexpr auto& environment = F::environment;
};
/// As `by_messages`, and nothing is set that the library does not set itself.
template <class F>
struct by_default {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = by_messages<F>::facts;
    f.selective_completion = false;
    return f;
  }();
  static constexpr std::array<environment_setting, 0> environment{};
};
/// The fabric with pointers as remote addresses, where a provider takes either.
template <class F>
struct by_pointers {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = F::facts;
    f.virtual_addressing = true;
    return f;
  }();
  static constexpr auto& environment = F::environment;
};

struct plain_use {
  static constexpr bool two_queues = true;
  static constexpr auto threading = FI_THREAD_SAFE;
  static constexpr std::size_t receives = window;
};
struct message_use : tuned_use {
  static constexpr std::size_t receives = window;
};

template <class F>
class plain_end : public raw_end<by_default<F>, false, plain_use> {
  using base = raw_end<by_default<F>, false, plain_use>;

 public:
  using base::base;

  /// In a window completions are taken along by poll(); otherwise each is waited for at once.
  void windowed(bool on) noexcept { windowed_ = on; }

  template <ending>
  bool post(std::size_t size, std::uint32_t) {
    const iovec piece{this->outgoing(), size};
    const fi_msg message{&piece, &this->descriptor_, 1, this->peer_, &this->context_, 0};
    const ssize_t r = fi_sendmsg(this->ep_, &message, FI_COMPLETION);
    if (r == -FI_EAGAIN) return false;
    if (r != 0) base::refuse("fi_sendmsg", static_cast<int>(r));
    ++outstanding_;
    while (!windowed_ && outstanding_ > 0) reap();
    return true;
  }
  int poll() {
    if (outstanding_ > 0) reap();
    fi_cq_data_entry entry;
    const ssize_t count = fi_cq_read(this->cq_, &entry, 1);
    if (count == -FI_EAGAIN) return 0;
    if (count < 0) this->failed();
    this->receive_again(entry.op_context);
    return 1;
  }

 private:
  void reap() {
    fi_cq_data_entry entry;
    const ssize_t count = fi_cq_read(this->sent_, &entry, 1);
    if (count == 1) --outstanding_;
    else if (count != -FI_EAGAIN) base::refuse("a send's completion", static_cast<int>(count));
  }

  std::size_t outstanding_ = 0;
  bool windowed_ = false;
};

}  // namespace weft::bench
