// SPDX-License-Identifier: Apache-2.0
//
// An endpoint of a plain libfabric program with the library's default settings. It learns a peer's name, sends its own
// name in the first message, and is connected when the peer has answered. Addressed fabrics only: their libraries may
// connect after the first message. Hot path: no. Threads: one owner.
#pragma once

#include "../harness.hpp"
#include "../peers/plain_end.hpp"

namespace weft::bench {

template <class F>
class plain_peer : public raw_end<by_default<F>> {
  using base = raw_end<by_default<F>>;

 public:
  plain_peer() : base(longest_name) {}

  std::string name() const { return base::name_of(&this->ep_->fid); }

  /// Sends this endpoint's name, and returns when the peer has answered.
  void meet(const std::string& there) {
    const fi_addr_t peer = insert(there.data());
    send(peer, name());
    take();
  }
  /// Answers the first peer that sends its name.
  void answer() {
    take();
    const std::string asker(reinterpret_cast<const char*>(this->incoming()), longest_name);
    send(insert(asker.data()), "met");
  }

 private:
  static constexpr std::size_t longest_name = 512;

  fi_addr_t insert(const void* name) {
    fi_addr_t peer = FI_ADDR_UNSPEC;
    if (fi_av_insert(this->av_, name, 1, &peer, 0, nullptr) != 1) base::refuse("fi_av_insert", FI_EADDRNOTAVAIL);
    return peer;
  }
  /// An answer may arrive before the completion of the message that it answers.
  void poll_once() { idle_.polled((arrived_ += this->poll()) > 0); }
  void send(fi_addr_t to, const std::string& text) {
    std::memcpy(this->outgoing(), text.data(), text.size());
    const std::uint64_t wanted = this->ended() + 1;
    ssize_t r = 0;
    while ((r = fi_send(this->ep_, this->outgoing(), text.size(), this->descriptor_, to, &this->context_)) ==
           -FI_EAGAIN)
      poll_once();
    if (r != 0) base::refuse("fi_send", static_cast<int>(r));
    while (this->ended() < wanted) poll_once();
  }
  void take() {
    while (arrived_ == 0) poll_once();
    --arrived_;
  }

  int arrived_ = 0;  ///< Messages not taken yet.
  spinner idle_{{fruitless::yield, 32}};
};

}  // namespace weft::bench
