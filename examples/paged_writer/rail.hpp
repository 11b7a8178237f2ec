// SPDX-License-Identifier: Apache-2.0
//
// The common part of both sides' rails: a transport, a peer, messages in registered memory, a time limit without
// progress, and the sentence of the first error. Hot path: moved(). Threads: the thread that drives the rail.
#pragma once

#include "messages.hpp"
#include "plan.hpp"
#include "statistics.hpp"

#include <weft/compose/transport.hpp>
#include <weft/core/describe.hpp>

#include <deque>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::paged {

/// A run that cannot continue; the sentence says why. Thrown in set-up and at the end of a rail, never during a page's
/// transfer.
struct broken_off : std::runtime_error {
  using std::runtime_error::runtime_error;
};
template <class T>
T need(result<T> r) {
  if (!r) throw broken_off(r.error().sentence);
  return std::move(r).value();
}

template <complete_fabric F>
class rail {
 public:
  rail(const plan& p, std::uint32_t number, shard& count, transport<F> net)
      : plan_(p),
        number_(number),
        count_(count),
        letters_(need(net.allocate(letters * longest_message, rights::none))),
        net_(std::move(net)) {}

  std::string listen_address() const { return net_.listen_address(); }
  std::uint32_t number() const noexcept { return number_; }

 protected:
  static constexpr std::size_t letters = 8;

  /// Appends a message; deliver() posts it when the queue has room. At most `letters` are in flight: each side waits
  /// for the other's.
  void say(const letter& text) { outgoing_.push_back(text); }
  /// Effects: posts appended messages. The source memory of a message is used again after `letters` more, when the
  /// other side has answered.
  void deliver() {
    while (!outgoing_.empty()) {
      const const_bytes text = outgoing_.front().view();
      const std::size_t place = next_letter_ % letters * longest_message;
      std::memcpy(letters_.data() + place, text.data(), text.size());
      if (const status s = net_.send(peer_, letters_.slice(place, text.size()), &outgoing_); s.is_again()) return;
      else if (!s) return give_up("a message could not be sent: " + describe(s));
      ++next_letter_;
      outgoing_.pop_front();
      moved();
    }
  }

  /// Records the first error: the rail ends with it.
  void give_up(std::string why) {
    if (wrong_.empty()) wrong_ = "rail " + std::to_string(number_) + ": " + std::move(why);
  }
  void moved() noexcept { last_move_ = net_.now(); }
  /// Reads the clock now and then.
  void watch_time() {
    if (++polls_ % 256 != 0) return;
    if (net_.now() - last_move_ > plan_.patience)
      give_up("no progress for " +
              std::to_string(std::chrono::duration_cast<std::chrono::seconds>(plan_.patience).count()) + " s");
  }
  void check() const {
    if (!wrong_.empty()) throw broken_off(wrong_);
  }

  const plan& plan_;
  std::uint32_t number_;
  shard& count_;
  owned_region letters_;  ///< Before the transport: the memory outlives posts that are still under way.
  transport<F> net_;
  peer peer_;
  std::deque<letter> outgoing_;
  std::string wrong_;
  bool over_ = false;

 private:
  std::size_t next_letter_ = 0;
  std::uint32_t polls_ = 0;
  instant last_move_{};
};

}  // namespace weft::paged
