// SPDX-License-Identifier: Apache-2.0
//
// A transport's operations as senders of std::execution (P2300): `senders(d).put(peer, from, at)` describes a put, and
// start() of the connected operation posts it. The wait is a part of the operation state, so nothing is allocated.
// Values are those of Asio's operations; an error is a weft::status; a stop request ends the wait with set_stopped().
// Ends come from dispatcher::deliver(), never from start(). Hot path: yes. Threads: start(), stop requests and ends are
// the owner's of the transport.
#pragma once

#include "execution.hpp"
#include "requests.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace weft::event_loops {

namespace detail {

template <class Value>
struct sends {
  using signatures = execution::completion_signatures<execution::set_value_t(Value), execution::set_error_t(status),
                                                      execution::set_stopped_t()>;
  template <class Receiver>
  static constexpr bool fits = execution::takes_ends<Receiver, status, Value>;
};
template <>
struct sends<no_value_t> {
  using signatures = execution::completion_signatures<execution::set_value_t(), execution::set_error_t(status),
                                                      execution::set_stopped_t()>;
  template <class Receiver>
  static constexpr bool fits = execution::takes_ends<Receiver, status>;
};

/// An operation under way. It stays where it is, from start() until it calls its receiver.
template <class F, class Request, class Receiver>
class sender_operation : pending {
  struct give_up {
    sender_operation* self;
    void operator()() const noexcept { self->of_->cancel(*self); }
  };
  using token = execution::stop_token_of_t<Receiver>;
  using callback = typename execution::callback_for<token, give_up>::type;

 public:
  using operation_state_concept = execution::operation_state_t;

  sender_operation(dispatcher<F>& of, Request wanted, Receiver receiver)
      : of_(&of), request_(std::move(wanted)), receiver_(std::move(receiver)) {
    ended = [](pending& p) noexcept { static_cast<sender_operation&>(p).finish(); };
  }
  void start() noexcept {
    request_.begin(*of_, *this);
    stops_.emplace(execution::stop_token_of(receiver_), give_up{this});
  }

 private:
  void finish() noexcept {
    stops_.reset();
    const outcome how = got;
    if (how.cancelled) return std::move(receiver_).set_stopped();
    if (!how.why) return std::move(receiver_).set_error(how.why);
    if constexpr (std::is_same_v<typename Request::value, no_value_t>) std::move(receiver_).set_value();
    else std::move(receiver_).set_value(request_.take(how));
  }

  dispatcher<F>* of_;
  Request request_;
  Receiver receiver_;
  std::optional<callback> stops_;
};

}  // namespace detail

/// The description of an operation. It may be connected several times; each start() is an operation of its own.
template <class F, class Request>
class [[nodiscard]] operation_sender {
  using sends = detail::sends<typename Request::value>;

 public:
  using sender_concept = execution::sender_t;
  using completion_signatures = typename sends::signatures;

  operation_sender(dispatcher<F>& of, Request request) : of_(&of), request_(std::move(request)) {}

  /// Requires: the dispatcher outlives the operation. A receiver has set_value(value), set_error(weft::status) and
  /// set_stopped(), all noexcept.
  template <class Receiver>
  requires(sends::template fits<Receiver>) auto connect(Receiver receiver) const {
    return detail::sender_operation<F, Request, Receiver>(*of_, request_, std::move(receiver));
  }
  template <class Env>
  static consteval completion_signatures get_completion_signatures(Env&& /*any*/) noexcept {
    return {};
  }

 private:
  dispatcher<F>* of_;
  Request request_;
};

/// Makes senders over one transport: `senders net(d); … net.put_notify(peer, from, at, 7)`.
/// Progress: the loop of an asio_transport (its waits() is the dispatcher), or dispatcher::until().
template <complete_fabric F>
class senders {
 public:
  explicit senders(dispatcher<F>& of) noexcept : of_(&of), requests_(of.net()) {}

  auto send(peer to, local_memory from) const { return sender(requests_.send(to, from)); }
  template <class Place>
  auto put(peer to, local_memory from, const Place& at) const {
    return sender(requests_.put(to, from, at));
  }
  template <class Place>
  auto put_notify(peer to, local_memory from, const Place& at, std::uint32_t immediate) const {
    return sender(requests_.put_notify(to, from, at, immediate));
  }
  template <class Place>
  auto get(peer to, local_memory into, const Place& at) const {
    return sender(requests_.get(to, into, at));
  }
  /// Sends std::uint64_t, the word before.
  template <class Place>
  auto fetch_add(peer to, const Place& at, std::uint64_t operand) const {
    return sender(requests_.fetch_add(to, at, operand));
  }
  /// Sends arrived; notified; peer; peer; remote_region.
  auto receive(peer from, bytes into) const { return sender(message_request<F>{from, into}); }
  auto notice(notice_match wants = {}) const { return sender(notice_request<F>{wants}); }
  auto connect(std::string_view where) const { return sender(connect_request<F>{std::string(where)}); }
  auto accept() const { return sender(accept_request<F>{}); }
  auto receive_region(peer from) const { return sender(region_request<F>{from}); }
  /// A request of the program's own, such as request_maker::posted().
  template <class Request>
  auto sender(Request request) const {
    return operation_sender<F, Request>(*of_, std::move(request));
  }

 private:
  dispatcher<F>* of_;
  request_maker<F> requests_;
};

}  // namespace weft::event_loops
