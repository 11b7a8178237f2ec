// SPDX-License-Identifier: Apache-2.0
//
// Two transports of one process with one peer each, and memory at both ends. Hot path: poll().
// Threads: one.
#pragma once

#include "../../compose/transport.hpp"
#include "../../core/describe.hpp"
#include "../harness.hpp"
#include "../transport/weft_end.hpp"
#include "../two_processes.hpp"

#include <chrono>
#include <exception>
#include <thread>

namespace weft::bench {

template <class F>
class connected_pair {
 public:
  connected_pair()
      : far_(sure(open<F>({.node = home(), .listens = true}))),
        near_(sure(open<F>({.node = home(), .sleeps = true}))),
        landing_(sure(far_.allocate(4096, rights::all))),
        source_(sure(near_.allocate(4096, rights::none))) {
    // A connect waits for the other side, where addresses come by the side channel.
    std::exception_ptr refusal;
    std::jthread accepting([&] {
      try {
        from_near_ = sure(far_.accept_one(std::chrono::seconds(10)));
      } catch (...) {
        refusal = std::current_exception();
      }
    });
    to_far_ = sure(near_.connect(far_.listen_address(), std::chrono::seconds(10)));
    accepting.join();
    if (refusal) std::rethrow_exception(refusal);
    place_ = sure(near_.parse_region(to_far_, far_.export_region(from_near_, landing_, owner_polls)));
  }

  transport<F>& near() noexcept { return near_; }
  peer to_far() const noexcept { return to_far_; }
  local_memory source() const noexcept { return source_.first(64); }
  remote_place place() const noexcept { return place_.at(0); }
  template <class Handler>
  void poll(Handler& on) {
    (void)near_.progress(on);
    (void)far_.progress([](auto&&) {});
  }
  void poll_far() {
    (void)far_.progress([](auto&&) {});
  }

 private:
  transport<F> far_, near_;
  owned_region landing_, source_;
  peer to_far_, from_near_;
  remote_region place_;
};

}  // namespace weft::bench
