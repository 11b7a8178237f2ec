// SPDX-License-Identifier: Apache-2.0
//
// A rank's connection to the store of its job. The store may start later than the rank, so joining tries again until
// the limit is over. Replies are checked like bytes of strangers: another program may answer at the port.
// Hot path: no. Threads: one owner.
#pragma once

#include "../core/printable.hpp"
#include "message.hpp"
#include "sockets.hpp"

#include <thread>

namespace weft::jobs {

class store_client {
 public:
  /// Says hello at the first of `stores` that belongs to the job. Errors: unreachable, incompatible (other programs or
  /// other jobs answer), invalid (the rank is taken, or the sizes differ).
  static result<store_client> join(const std::vector<endpoint>& stores, const std::string& job, std::uint32_t rank,
                                   std::uint32_t size, duration limit) {
    const instant end = std::chrono::steady_clock::now() + limit;
    failure last{error(errc::unreachable, "join"), "no place of a store is known"};
    for (;;) {
      for (const endpoint& at : stores) {
        auto [socket, reason] = connected_to(at, std::min(end, std::chrono::steady_clock::now() + one_try));
        if (!socket) {
          if (last.why.code == errc::unreachable)
            last = {error(errc::unreachable, "join"), "no store answers at " + in_words(at) + " (" + reason + ")"};
          continue;
        }
        store_client made(std::move(socket), at);
        const duration left = end - std::chrono::steady_clock::now();
        const auto hello = made.ask({kind::hello, rank, size, job, std::string(protocol_name)},
                                    stores.size() == 1 ? left : std::min(left, one_hello));
        if (hello) return made;
        if (hello.why().code == errc::invalid) return hello.error();
        // What another program says is a better reason than a later silence.
        if (last.why.code != errc::incompatible || hello.why().code == errc::incompatible) last = hello.error();
      }
      if (std::chrono::steady_clock::now() + pause >= end) break;
      std::this_thread::sleep_for(pause);
    }
    last.sentence =
        "rank " + std::to_string(rank) + " waited " + in_words(limit) + " for the store of rank 0: " + last.sentence;
    return last;
  }

  result<void> put(std::string_view key, std::string_view value, duration limit) {
    if (std::string why = refused_put(key, value); !why.empty()) return {error(errc::invalid, "put"), std::move(why)};
    return without_value(ask({kind::put, 0, 0, std::string(key), std::string(value)}, limit));
  }
  result<std::string> get(std::uint32_t rank, std::string_view key, duration limit) {
    if (std::string why = refused_put(key, {}); !why.empty()) return {error(errc::invalid, "get"), std::move(why)};
    auto reply = ask({kind::get, rank, milliseconds(limit), std::string(key), {}}, limit + grace);
    if (!reply) return {reply.error().why, "\"" + printable(key) + "\": " + reply.error().sentence};
    return std::move(reply->value);
  }
  result<void> barrier(duration limit) {
    return without_value(ask({kind::barrier, 0, milliseconds(limit), {}, {}}, limit + grace));
  }
  result<void> leave(duration limit) { return without_value(ask({kind::goodbye, 0, 0, {}, {}}, limit)); }
  const endpoint& store() const noexcept { return at_; }
  /// The own address of the connection: others on the way to the store reach it.
  std::string host() { return address_of(socket_.get()).host; }

 private:
  static constexpr duration pause = std::chrono::milliseconds(20);  ///< Between two tries.
  static constexpr duration one_try = std::chrono::seconds(2);      ///< To connect: the next address may answer.
  static constexpr duration one_hello = std::chrono::seconds(5);    ///< The store may be at the next place.
  static constexpr duration grace = std::chrono::seconds(1);        ///< The store ends waits first, with names.

  store_client(owned_descriptor socket, endpoint at) : socket_(std::move(socket)), at_(std::move(at)) {}

  static std::uint32_t milliseconds(duration limit) {
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
    return static_cast<std::uint32_t>(std::clamp<long long>(ms, 0, 0xffffffff));
  }
  static result<void> without_value(result<message> reply) {
    if (!reply) return std::move(reply).error();
    return {};
  }
  result<message> broken(errc code, const std::string& sentence) {
    socket_ = owned_descriptor();  // a late reply must not answer the next request
    return {error(code, "ask"), "the store at " + in_words(at_) + " " + sentence};
  }

  result<message> ask(const message& question, duration limit) {
    if (!socket_) return broken(errc::closed, "is no longer connected");
    const instant end = std::chrono::steady_clock::now() + limit;
    std::string bytes = encode(question);
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) bytes.erase(0, static_cast<std::size_t>(sent));
      else if (sent < 0 && errno == EINTR) continue;
      else if (sent < 0 && errno == EAGAIN) {
        if (wait_for(socket_.get(), POLLOUT, end) != 0) return broken(errc::deadline, "does not take requests");
      } else return ended();
    }
    char some[16 * 1024];
    for (;;) {
      const parsed reply = parse(bytes);
      if (reply.is == parsed::state::wrong || (reply.is == parsed::state::whole && reply.used != bytes.size()))
        return not_a_store();
      if (reply.is == parsed::state::whole) return judged(reply.content);
      if (const int why = wait_for(socket_.get(), POLLIN, end); why != 0)
        return broken(errc::deadline, "does not answer");
      const ssize_t got = ::recv(socket_.get(), some, std::min(sizeof some, longest_message - bytes.size()), 0);
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got <= 0) return question.what == kind::hello ? not_a_store() : ended();
      bytes.append(some, static_cast<std::size_t>(got));
    }
  }
  result<message> judged(const message& reply) {
    if (reply.what == kind::done) return reply;
    if (reply.what != kind::refused || reply.number == 0 || reply.number > static_cast<std::uint32_t>(errc::native))
      return not_a_store();
    return {error(static_cast<errc>(reply.number), "ask"), printable(reply.value)};
  }
  result<message> ended() { return broken(errc::peer_lost, "ended: rank 0, which serves it, is gone"); }
  result<message> not_a_store() {
    return broken(errc::incompatible, "is another program, or does not keep to weft's protocol");
  }

  owned_descriptor socket_;
  endpoint at_;
};
static_assert(backend<store_client>);

}  // namespace weft::jobs
