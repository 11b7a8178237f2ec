// SPDX-License-Identifier: Apache-2.0
//
// The asynchronous calls of a transport in an Asio loop. asio_transport has them, and what its with() returns has them
// with a deadline and an owner of the memory. Hot path: yes, inlined. Threads: see asio_transport (asio.hpp).
#pragma once

#include "asio_operation.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace weft::event_loops::detail {
inline namespace WEFT_ASIO_OF {

/// `Self` has the loop, the maker of requests and the options.
template <class Self, class F>
class asio_calls {
 public:
  /// void(error_code): the operation ended. The library owns the memory until then.
  template <class Token>
  auto async_send(peer to, local_memory from, Token&& token) {
    return begin(self().requests_.send(to, from), token);
  }
  template <class Place, class Token>
  auto async_put(peer to, local_memory from, const Place& at, Token&& token) {
    return begin(self().requests_.put(to, from, at), token);
  }
  template <class Place, class Token>
  auto async_put_notify(peer to, local_memory from, const Place& at, std::uint32_t immediate, Token&& token) {
    return begin(self().requests_.put_notify(to, from, at, immediate), token);
  }
  template <class Place, class Token>
  auto async_get(peer to, local_memory into, const Place& at, Token&& token) {
    return begin(self().requests_.get(to, into, at), token);
  }
  /// void(error_code, std::uint64_t): the word before.
  template <class Place, class Token>
  auto async_fetch_add(peer to, const Place& at, std::uint64_t operand, Token&& token) {
    return begin(self().requests_.fetch_add(to, at, operand), token);
  }
  /// Any posting call: `net.async_post([&](void* context) { return transport.flush(peer, context); }, token)`.
  template <class Post, class Token>
  auto async_post(Post post, Token&& token) {
    return begin(self().requests_.posted(std::move(post)), token);
  }
  /// void(error_code, arrived): the next message of this peer, or of any (a null peer), copied into `into`. A longer
  /// message is lost: std::errc::message_size, and arrived::bytes is its size.
  template <class Token>
  auto async_receive(peer from, bytes into, Token&& token) {
    return begin(message_request<F>{from, into}, token);
  }
  /// void(error_code, notified): the next notice that `wants` takes.
  template <class Token>
  auto async_notified(notice_match wants, Token&& token) {
    return begin(notice_request<F>{wants}, token);
  }
  template <class Token>
  auto async_notified(Token&& token) {
    return begin(notice_request<F>{{}}, token);
  }
  /// void(error_code, peer). Resolves the address at once, which blocks where it comes by the side channel.
  /// last_refusal() is the sentence of a failure.
  template <class Token>
  auto async_connect(std::string_view where, Token&& token) {
    return begin(connect_request<F>{std::string(where)}, token);
  }
  /// void(error_code, peer): the next caller, accepted.
  template <class Token>
  auto async_accept(Token&& token) {
    return begin(accept_request<F>{}, token);
  }
  /// void(error_code, remote_region): the next region that this peer sends with send_region().
  template <class Token>
  auto async_receive_region(peer from, Token&& token) {
    return begin(region_request<F>{from}, token);
  }

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }
  template <class Request, class Token>
  auto begin(Request request, Token& token) {
    using loop = typename decltype(self().loop_)::element_type;
    return asio::async_initiate<Token, signature_of<typename Request::value>>(
        initiation<loop, Request>{self().loop_, self().options()}, token, std::move(request));
  }
};

}  // namespace WEFT_ASIO_OF
}  // namespace weft::event_loops::detail
