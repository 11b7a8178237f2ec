// SPDX-License-Identifier: Apache-2.0
//
// libfabric as its own benchmarks use it, for comparison with a tuned program. It makes the calls of fi_rdm_pingpong,
// and of fi_msg_pingpong where endpoints are connected (libfabric 1.17, fabtests/benchmarks/benchmark_shared.c,
// common/shared.c). Messages below the library's inject limit go by fi_inject, which has no completion; others by
// fi_send, whose completion is awaited at once. One queue for sends and one for receives, one entry a read, with its
// context only. One receive, posted again after use. FI_MSG is the only capability, with FI_THREAD_DOMAIN and the
// library's default settings. Also here: a tuned program that sends messages even if the row's writes could carry the
// bytes. Hot path: post, poll. Threads: one owner.
#pragma once

#include "../raw_pingpong/raw_end.hpp"
#include "ladder.hpp"

namespace weft::bench {

/// The fabric, with messages as notices.
template <class F>
struct by_messages {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = F::facts;
    f.write_immediate_bytes = 0;
    return f;
  }();
  static constexpr auto& environment = F::environment;
};
/// As `by_messages`, with the library's default settings.
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
  static constexpr bool remote_memory = false;
  static constexpr auto format = FI_CQ_FORMAT_CONTEXT;
  static constexpr std::size_t receives = 1;
};
struct message_use : tuned_use {
  static constexpr std::size_t receives = window;
};

template <class F>
class plain_end : public raw_end<by_default<F>, false, plain_use> {
  using base = raw_end<by_default<F>, false, plain_use>;

 public:
  using base::base;

  /// In a window poll() takes completions too, and there is a receive for each message. Otherwise each completion is
  /// awaited at once.
  void windowed(bool on) {
    windowed_ = on;
    if (on) this->post_receives(window);
  }

  template <ending>
  bool post(std::size_t size, std::uint32_t) {
    const bool injected = size < this->inject_;  // fabtests' own bound: it does not inject an exact fit
    const ssize_t r = injected
                          ? fi_inject(this->ep_, this->outgoing(), size, this->peer_)
                          : fi_send(this->ep_, this->outgoing(), size, this->descriptor_, this->peer_, &this->context_);
    if (r == -FI_EAGAIN) {
      reap();
      return false;
    }
    if (r != 0) base::refuse("sending", static_cast<int>(r));
    outstanding_ += injected ? 0 : 1;
    while (!windowed_ && outstanding_ > 0) reap();
    return true;
  }
  int poll() {
    if (outstanding_ > 0) reap();
    fi_cq_entry entry;
    const ssize_t count = fi_cq_read(this->cq_, &entry, 1);
    if (count == -FI_EAGAIN) return 0;
    if (count < 0) this->failed();
    this->receive_again(entry.op_context);
    return 1;
  }

 private:
  void reap() {
    fi_cq_entry entry;
    const ssize_t count = fi_cq_read(this->sent_, &entry, 1);
    if (count == 1) --outstanding_;
    else if (count != -FI_EAGAIN) base::refuse("a send's completion", static_cast<int>(count));
  }

  std::size_t outstanding_ = 0;
  bool windowed_ = false;
};

}  // namespace weft::bench
