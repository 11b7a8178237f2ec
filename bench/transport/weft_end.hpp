// SPDX-License-Identifier: Apache-2.0
//
// weft's end of a ping-pong: the transport as a user holds it, through public calls only. Hot path: post, poll.
// Threads: one owner.
#pragma once

#include "../../compose/transport.hpp"
#include "../pingpong.hpp"
#include "../two_processes.hpp"

#include <cstring>
#include <stdexcept>
#include <string>

namespace weft::bench {

/// The value of a set-up call, or an exception with its sentence.
template <class T>
T sure(result<T> r) {
  if (!r) throw std::runtime_error(r.error().sentence);
  return std::move(r).value();
}

/// The fabric cannot be opened here: its library, its device or its provider is missing. The options may be right.
struct absent : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class F>
transport<F> opened(const transport_options& options) {
  result<transport<F>> r = open<F>(options);
  if (!r) throw absent(r.error().sentence);
  return std::move(r).value();
}

/// What carries the bytes.
enum class carrier { put_notify, send };

/// A transport and its one peer, connected over the side channel; several ends may use it one after another.
/// Where a source begins in its region. A provider puts a header before a message, and some processors copy slowly
/// from the start of a page to 1 to 31 bytes behind one (docs/decisions/0023).
inline constexpr std::size_t source_at = 64;

template <class F>
class weft_pair {
 public:
  /// `largest_message`: bytes of a message; 0: `size`, the largest transfer. `silence_limit`: as in transport_options.
  /// Errors: absent, std::runtime_error.
  weft_pair(const channel& to, bool first, std::size_t size, bool sleeps = false, std::size_t largest_message = 0,
            duration silence_limit = transport_options{}.silence_limit)
      : size_(size),
        net(opened<F>({.node = home(),
                       .listens = !first,
                       .sleeps = sleeps,
                       .max_message_bytes = static_cast<std::uint32_t>(
                           std::max<std::size_t>(largest_message == 0 ? size : largest_message, 4096)),
                       .silence_limit = silence_limit})),
        landing(sure(net.allocate((size + 63) / 64 * 64 + 64, rights::all))),
        source(sure(net.allocate(size + 2 * source_at, rights::none))) {
    if (!first) to.send_text(net.listen_address());
    other = first ? sure(net.connect(to.receive_text(), 10s)) : sure(net.accept_one(10s));
    const region_bytes mine = net.export_region(other, landing, owner_polls);
    const std::string theirs = to.swap(first, {reinterpret_cast<const char*>(mine.data()), mine.size()},
                                       [this] { net.progress([](auto&&) {}); });
    there = sure(net.parse_region(other, {reinterpret_cast<const std::byte*>(theirs.data()), theirs.size()}));
  }

 private:
  std::size_t size_;

 public:
  transport<F> net;
  owned_region landing, source;
  weft::peer other;
  remote_region there;
};

template <class F, carrier C>
class weft_end {
 public:
  static constexpr bool tells_immediate = C == carrier::put_notify;

  explicit weft_end(weft_pair<F>& pair) : pair_(pair), place_(pair.there.at(0)) {}

  std::byte* outgoing() noexcept { return pair_.source.data() + source_at; }
  const std::byte* incoming() const noexcept { return C == carrier::put_notify ? pair_.landing.data() : landed_; }
  std::uint64_t ended() const noexcept { return ended_; }
  std::uint32_t immediate() const noexcept { return immediate_; }

  template <ending M>
  bool post(std::size_t size, std::uint32_t immediate) {
    const status s = hand_over<M>(pair_.source.slice(source_at, size), immediate);
    if (s) return true;
    if (!s.is_again())
      throw std::runtime_error(std::string("weft, posting: error ") + std::to_string(static_cast<int>(s.code)));
    return false;
  }

  int poll() {
    int arrived = 0;
    pair_.net.progress(overloaded{
        [&](const completed&) { ++ended_; },
        [&](const notified& n) {
          immediate_ = n.immediate;
          ++arrived;
        },
        [&](const received& r) {
          if constexpr (C == carrier::send) keep(r.message);
          ++arrived;
        },
        [](const failed& f) { throw std::runtime_error(std::string("weft: ") + name_of(f.what) + " failed"); },
        [](const lost& l) { throw std::runtime_error(std::string("weft: the peer is lost: ") + l.why.operation); },
        [](auto&&) {}});
    return arrived;
  }

 private:
  template <ending M>
  status hand_over(local_memory from, std::uint32_t immediate) noexcept {
    if constexpr (C == carrier::send)
      return M == ending::unsignalled ? pair_.net.send(pair_.other, from) : pair_.net.send(pair_.other, from, this);
    else
      return M == ending::unsignalled ? pair_.net.put_notify(pair_.other, from, place_, immediate)
                                      : pair_.net.put_notify(pair_.other, from, place_, immediate, this);
  }
  void keep(const_bytes message) noexcept {
    landed_ = message.data();  // read before the slot comes around again
  }

  weft_pair<F>& pair_;
  remote_place place_;
  const std::byte* landed_ = nullptr;
  std::uint64_t ended_ = 0;
  std::uint32_t immediate_ = 0;
};

}  // namespace weft::bench
