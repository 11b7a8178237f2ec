// SPDX-License-Identifier: Apache-2.0
//
// What a program may begin and await, as values: each request knows how it begins at a dispatcher, and what it
// delivers. Asio's initiations and senders hold one. Hot path: yes, inlined. Threads: the transport's owner.
#pragma once

#include "dispatcher.hpp"

#include <string>
#include <type_traits>
#include <utility>

namespace weft::event_loops {

/// A message that was copied into the awaiting buffer.
struct arrived {
  weft::peer from{};
  std::size_t bytes = 0;
};

/// A request without a value: its end is all.
struct no_value_t {};

/// Any posting call of the transport: `post(context)`.
template <class F, class Post, class Value = no_value_t>
struct post_request {
  using value = Value;
  Post post;
  void begin(dispatcher<F>& d, pending& p) noexcept {
    p.request = this;
    p.post = [](void* self, void* context) noexcept { return static_cast<post_request*>(self)->post(context); };
    d.begin_post(p);
  }
  value take(const outcome& how) const noexcept {
    if constexpr (std::is_same_v<Value, std::uint64_t>) return how.number;
    else return {};
  }
};

template <class F>
struct message_request {
  using value = arrived;
  weft::peer from;
  bytes into;
  void begin(dispatcher<F>& d, pending& p) const noexcept {
    p.from = from, p.into = into;
    d.begin_message(p);
  }
  static value take(const outcome& how) noexcept { return {how.peer, static_cast<std::size_t>(how.number)}; }
};

template <class F>
struct notice_request {
  using value = notified;
  notice_match wants;
  void begin(dispatcher<F>& d, pending& p) const noexcept {
    p.wants = wants;
    d.begin_notice(p);
  }
  static value take(const outcome& how) noexcept { return {how.peer, static_cast<std::uint32_t>(how.number)}; }
};

template <class F>
struct connect_request {
  using value = weft::peer;
  std::string where;
  void begin(dispatcher<F>& d, pending& p) const { d.begin_connect(p, where); }
  static value take(const outcome& how) noexcept { return how.peer; }
};

template <class F>
struct accept_request {
  using value = weft::peer;
  static void begin(dispatcher<F>& d, pending& p) noexcept { d.begin_accept(p); }
  static value take(const outcome& how) noexcept { return how.peer; }
};

template <class F>
struct region_request {
  using value = remote_region;
  weft::peer from;
  dispatcher<F>* of = nullptr;
  remote_region found{};
  void begin(dispatcher<F>& d, pending& p) noexcept {
    of = &d;
    p.from = from, p.request = this;
    p.post = [](void* self, void* /*context*/) noexcept {
      auto& r = *static_cast<region_request*>(self);
      return r.of->ask_for_region(r.from, r.found);
    };
    d.begin_watch(p);
  }
  value take(const outcome& /*how*/) const noexcept { return found; }
};

/// The posting calls of a transport, as requests.
template <class F>
class request_maker {
 public:
  explicit request_maker(transport<F>& net) noexcept : net_(&net) {}

  auto send(peer to, local_memory from) const noexcept {
    return posted([net = net_, to, from](void* c) noexcept {
      return lost(to) ? error(errc::peer_lost, "send") : net->send(to, from, c);
    });
  }
  template <class Place>
  auto put(peer to, local_memory from, const Place& at) const noexcept {
    return posted([net = net_, to, from, at](void* c) noexcept {
      return lost(to) ? error(errc::peer_lost, "put") : net->put(to, from, at, c);
    });
  }
  template <class Place>
  auto put_notify(peer to, local_memory from, const Place& at, std::uint32_t immediate) const noexcept {
    return posted([net = net_, to, from, at, immediate](void* c) noexcept {
      return lost(to) ? error(errc::peer_lost, "put_notify") : net->put_notify(to, from, at, immediate, c);
    });
  }
  template <class Place>
  auto get(peer to, local_memory into, const Place& at) const noexcept {
    return posted([net = net_, to, into, at](void* c) noexcept {
      return lost(to) ? error(errc::peer_lost, "get") : net->get(to, into, at, c);
    });
  }
  template <class Place>
  auto fetch_add(peer to, const Place& at, std::uint64_t operand) const noexcept {
    return posted<std::uint64_t>([net = net_, to, at, operand](void* c) noexcept {
      return lost(to) ? error(errc::peer_lost, "fetch_add") : net->fetch_add(to, at, operand, c);
    });
  }
  template <class Value = no_value_t, class Post>
  static auto posted(Post post) noexcept {
    return post_request<F, Post, Value>{std::move(post)};
  }

 private:
  /// A post is repeated while the transport answers `again`, and the peer may end meanwhile: a trusted caller must not
  /// post to it.
  static bool lost(peer p) noexcept { return answer<F, checks_family>::trusts_caller && !p.alive(); }

  transport<F>* net_;
};

}  // namespace weft::event_loops
