// SPDX-License-Identifier: Apache-2.0
//
// The transport under attack, and what its application must be able to rely on. Each event is checked when it arrives:
// an operation ends once, nothing of a peer follows its end, and requests without an answer are counted.
// Hot path: no. Threads: one.
#pragma once

#include "messages.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <string>
#include <vector>

namespace weft::fuzz {

/// Limits of the victim. Small, so that short inputs reach them.
inline transport_options small_limits(const std::string& node) {
  transport_options o;
  o.node = node;
  o.service = "7471";
  o.sleeps = true;
  o.max_message_bytes = 1024;
  o.receives = 8;
  o.operations = 16;
  o.peers = 6;
  o.pending = 2;
  o.operation_timeout = 500ms;
  o.silence_limit = 400ms;
  return o;
}

template <class F>
class victim {
 public:
  static constexpr std::size_t region_bytes = 4096, honest_messages = 64, honest_bytes = 16;

  explicit victim(loopback::world& w)
      : net([&w] {
          const loopback::guest there(w, "victim");
          transport_options o = small_limits("victim");
          give_secret<F>(o);
          return open<F>(o).value();
        }()) {
    open_region = net.allocate(region_bytes, rights::all).value();
    readable = net.allocate(region_bytes, rights::remote_read).value();
    own = net.allocate(region_bytes, rights::none).value();
    std::memset(readable.data(), 0x5c, region_bytes);
  }

  targets known() const {
    const auto record = [this](const region& r) {
      return wire::parse_region(net_().export_region(r, owner_polls)).value();
    };
    return {record(open_region), record(readable)};
  }

  void poll() { net.progress(ear{*this}); }

  // ---- calls of the application
  template <class Post>
  void post(peer to, Post&& call) {
    if (used >= operations.size()) return;
    operation_note& o = operations[used];
    o.to = to;
    const status s = call(&o);
    require(!s || to.alive(), "a post to a peer that is gone is refused");
    if (!s) return;
    o.posted = true;
    ++used;
  }
  void close(peer p) {
    if (p == honest) return;
    for (operation_note& o : operations)
      if (o.to == p) o.excused = true;
    (void)net.close(p, 2ms, ear{*this});
    forget(p);
    closed.push_back(p);
    std::erase(peers, p);
  }
  void answer(bool accepts) {
    if (requests.empty()) return;
    const peer p = requests.front();
    requests.pop_front();
    if (accepts && net.accept(p)) peers.push_back(p);
    else if (!accepts) (void)net.reject(p, "no");
    if (!accepts) closed.push_back(p);
  }

  bool all_ended() const {
    for (std::size_t i = 0; i < used; ++i)
      if (!operations[i].ended && !operations[i].excused) return false;
    return true;
  }
  bool has_all(std::size_t posted) const {
    for (std::size_t i = 0; i < posted; ++i)
      if (!heard[i]) return false;
    return true;
  }
  void judge() const {
    require(all_ended(), "each operation ends before its deadline");
    for (std::size_t i = 0; i < region_bytes; ++i)
      require(readable.data()[i] == std::byte{0x5c}, "memory that grants no writes does not change");
    require(!honest || honest.alive(), "an honest peer stays connected");
  }

  struct operation_note {
    peer to;
    bool posted = false, ended = false;
    bool excused = false;  ///< The application closed the peer.
  };
  owned_region open_region, readable, own;
  transport<F> net;
  peer honest;
  std::vector<peer> peers;    ///< Accepted or connected, and not over.
  std::deque<peer> requests;  ///< Without an answer.
  std::vector<peer> dialled;  ///< By this side, without an end.
  std::vector<peer> over;     ///< Reported as lost.
  std::vector<peer> closed;   ///< Closed or rejected by this side.
  std::array<operation_note, 128> operations;
  std::size_t used = 0;
  std::array<bool, honest_messages> heard{};
  std::uint32_t leaves = 0;  ///< Messages that the handler does not take yet.
  bool accepts_at_once = true;
  bool strangers_may_ask = true;

 private:
  transport<F>& net_() const noexcept { return const_cast<transport<F>&>(net); }
  static bool is_in(const std::vector<peer>& all, peer p) { return std::find(all.begin(), all.end(), p) != all.end(); }
  void forget(peer p) {
    std::erase(requests, p);
    std::erase(dialled, p);
  }
  void not_over(peer p) const {
    if (!p) return;
    require(!is_in(over, p), "nothing of a peer follows its end");
    require(!is_in(closed, p), "nothing of a peer follows its close");
  }
  void ended(void* context, peer of) {
    not_over(of);
    if (context == nullptr) return;
    auto& o = *static_cast<operation_note*>(context);
    require(&o >= operations.data() && &o < operations.data() + operations.size(),
            "an end has the context of its post");
    require(o.to == of, "an end names the peer of its post");
    require(!o.ended, "an operation ends once");
    o.ended = true;
  }
  bool take(const received& m) {
    not_over(m.peer);
    require(m.peer.alive() || !F::facts.order_send_after_send, "a message comes from a peer that is there");
    require(m.message.size() <= 1024, "a message has at most max_message_bytes");
    if (leaves > 0) {
      --leaves;
      return false;
    }
    std::byte sum{};
    for (const std::byte b : m.message) sum ^= b;  // each byte can be read
    if (m.peer == honest) {
      require(m.message.size() == honest_bytes, "a message of an honest peer has its size");
      std::uint64_t number = 0, again = 0;
      std::memcpy(&number, m.message.data(), 8);
      std::memcpy(&again, m.message.data() + 8, 8);
      require(number < honest_messages && again == ~number, "a message of an honest peer has its bytes");
      require(!std::exchange(heard[number], true), "a message of an honest peer arrives once");
    }
    return true;
  }
  void asked(const requested& r) {
    not_over(r.peer);
    require(r.private_data.size() <= wire::largest_private_data, "private data has at most 64 bytes");
    if (!honest) {  // the first one is the honest peer
      require(bool(net.accept(r.peer)), "a request can be accepted");
      honest = r.peer;
      return;
    }
    require(strangers_may_ask, "who does not know the secret asks for nothing");
    requests.push_back(r.peer);
    require(requests.size() <= net_options_pending, "no more requests wait than transport_options::pending");
    if (accepts_at_once) answer(true);
  }
  void gone(const lost& l) {
    not_over(l.peer);
    forget(l.peer);
    std::erase(peers, l.peer);
    over.push_back(l.peer);
    for (const operation_note& o : operations)
      if (o.posted && o.to == l.peer) require(o.ended, "outstanding operations fail before their peer is lost");
    (void)net.reason();
  }
  static constexpr std::size_t net_options_pending = 2;

  struct ear {
    victim& v;
    void operator()(const completed& c) const { v.ended(c.context, c.peer); }
    void operator()(const failed& f) const { v.ended(f.context, f.peer); }
    bool operator()(const received& m) const { return v.take(m); }
    void operator()(const notified& n) const { v.not_over(n.peer); }
    void operator()(const requested& r) const { v.asked(r); }
    void operator()(const connected& c) const {
      v.not_over(c.peer);
      require(!is_guarded<F>, "who does not know the secret is no listener");
      require(is_in(v.dialled, c.peer), "this side dialled a peer that is connected");
      std::erase(v.dialled, c.peer);
      v.peers.push_back(c.peer);
    }
    void operator()(const lost& l) const { v.gone(l); }
  };
};

}  // namespace weft::fuzz
