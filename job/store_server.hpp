// SPDX-License-Identifier: Apache-2.0
//
// The store of a job: rank 0 serves it from a thread of its own, so that waits of other ranks need no progress of
// rank 0. Ranks of a job must meet before any fabric is open; plain sockets exist everywhere.
// Bytes of strangers are bounded: one message per connection, most_strangers connections without a rank, and
// stranger_limit for their first message. A connection that breaks the protocol is closed.
// Hot path: no. Threads: serve() and stop() by the owner; the table belongs to the server's thread.
#pragma once

#include "message.hpp"
#include "sockets.hpp"
#include "store_table.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace weft::jobs {

class store_server {
 public:
  static constexpr std::size_t most_strangers = 64;
  static constexpr duration stranger_limit = std::chrono::seconds(5);

  /// Serves a job of `size` ranks. Requires: a listening socket that does not block. Errors: native.
  static result<std::unique_ptr<store_server>> serve(owned_descriptor listener, std::uint32_t size, std::string job) {
    owned_descriptor stop(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!stop)
      return failure{{errc::native, origin::system, errno, "eventfd"}, "the job's store has no descriptor to stop by"};
    std::unique_ptr<store_server> made(new store_server(std::move(listener), std::move(stop), size, std::move(job)));
    made->thread_ = std::thread([server = made.get()] { server->run(); });
    return made;
  }
  store_server(const store_server&) = delete;
  store_server& operator=(const store_server&) = delete;
  ~store_server() { stop(); }

  endpoint address() const { return address_of(listener_.get()); }
  /// Waits until every rank has ended. False: the limit is over.
  bool wait_until_ended(duration limit) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, limit, [this] { return all_ended_; });
  }
  /// Ends the thread and closes every connection.
  void stop() {
    if (!thread_.joinable()) return;
    const std::uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    thread_.join();
  }

 private:
  struct question {
    message content;
    std::uint64_t barrier = 0;
    instant end{};
  };
  struct client {
    owned_descriptor socket;
    instant since{};
    std::optional<std::uint32_t> rank{};
    std::string in{};
    std::string out{};
    std::optional<question> waits{};
    bool ends = false;  ///< No more requests: closed as soon as the reply is out.
  };
  static constexpr int tick_ms = 20;  ///< Between two looks at limits, while something waits.

  store_server(owned_descriptor listener, owned_descriptor stop, std::uint32_t size, std::string job)
      : listener_(std::move(listener)), stop_(std::move(stop)), job_(std::move(job)), table_(size) {}

  void run() {
    std::vector<pollfd> watched;
    for (;;) {
      // Without a descriptor for the next caller, its wish would end each poll() at once.
      const short callers = lacks_descriptors_ ? 0 : POLLIN;
      watched.assign({{stop_.get(), POLLIN, 0}, {listener_.get(), callers, 0}});
      bool something_waits = lacks_descriptors_;
      for (const client& each : clients_) {
        const int in = each.waits || each.ends ? POLLRDHUP : POLLIN | POLLRDHUP;
        watched.push_back({each.socket.get(), static_cast<short>(in | (each.out.empty() ? 0 : POLLOUT)), 0});
        something_waits |= each.waits.has_value() || !each.rank;
      }
      if (::poll(watched.data(), watched.size(), something_waits ? tick_ms : 1000) < 0 && errno != EINTR) return;
      if (watched[0].revents != 0) return;
      const instant now = std::chrono::steady_clock::now();
      for (std::size_t i = 0; i < clients_.size(); ++i) advance(clients_[i], watched[i + 2].revents, now);
      if (watched[1].revents != 0 || lacks_descriptors_) accept_all(now);
      for (client& each : clients_) {
        answer_if_due(each, now);
        send_out(each);
      }
      std::erase_if(clients_, [now](const client& each) { return is_over(each, now); });
      report_end();
    }
  }

  void accept_all(instant now) {
    for (int i = 0; i < 256; ++i) {
      owned_descriptor next(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      lacks_descriptors_ = !next && (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM);
      if (!next) return;
      const auto is_stranger = [](const client& each) { return !each.rank; };
      if (static_cast<std::size_t>(std::ranges::count_if(clients_, is_stranger)) >= most_strangers)
        clients_.erase(std::ranges::find_if(clients_, is_stranger));  // the oldest
      client made;
      made.socket = std::move(next);
      made.since = now;
      clients_.push_back(std::move(made));
    }
  }

  void advance(client& one, short events, instant now) {
    if (one.waits || one.ends) {
      if ((events & (POLLRDHUP | POLLHUP | POLLERR)) != 0) lose(one);
      return;
    }
    if (events == 0) return;
    char some[16 * 1024];
    while (one.in.size() < longest_message) {
      const ssize_t got = ::recv(one.socket.get(), some, std::min(sizeof some, longest_message - one.in.size()), 0);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && errno == EAGAIN) break;
      if (got <= 0) return lose(one);
      one.in.append(some, static_cast<std::size_t>(got));
      const parsed first = parse(one.in);
      if (first.is == parsed::state::wrong) return lose(one);
      if (first.is == parsed::state::incomplete) continue;
      if (first.used != one.in.size()) return lose(one);  // a second request before the reply
      one.in.clear();
      return take(one, first.content, now);
    }
  }

  void take(client& one, const message& asked, instant now) {
    if (!one.rank) return meet(one, asked);
    const std::uint32_t rank = *one.rank;
    switch (asked.what) {
      case kind::put:
        if (auto done = table_.put(rank, asked.name, asked.value); !done) return refuse(one, done.error());
        return reply(one, {});
      case kind::get:
        if (asked.rank >= table_.size()) return lose(one);
        one.waits = question{asked, 0, now + std::chrono::milliseconds(asked.number)};
        return;
      case kind::barrier:
        one.waits = question{asked, table_.enter_barrier(rank), now + std::chrono::milliseconds(asked.number)};
        return;
      case kind::goodbye:
        table_.end(rank, presence::left);
        one.ends = true;
        return reply(one, {});
      default:
        return lose(one);
    }
  }

  void meet(client& one, const message& hello) {
    const auto refused = [&](errc code, std::string sentence) {
      one.ends = true;
      refuse(one, {error(code, "join"), std::move(sentence)});
    };
    if (hello.what != kind::hello || hello.value != protocol_name) return lose(one);
    if (hello.name != job_) return refused(errc::incompatible, "another job has its store there");
    if (hello.number != table_.size() || hello.rank >= table_.size())
      return refused(errc::invalid, "rank " + std::to_string(hello.rank) + " was started for a job of " +
                                        std::to_string(hello.number) + " ranks, and rank 0 for one of " +
                                        std::to_string(table_.size()));
    if (auto done = table_.enter(hello.rank); !done) return refused(done.error().why.code, done.error().sentence);
    one.rank = hello.rank;
    reply(one, {});
  }

  /// Replies to a question whose value is there, whose limit is over, or that nobody can fulfil any more.
  void answer_if_due(client& one, instant now) {
    if (!one.waits) return;
    const question& asked = *one.waits;
    const std::string limit = in_words(std::chrono::milliseconds(asked.content.number));
    if (asked.content.what == kind::get) {
      const std::uint32_t from = asked.content.rank;
      if (const std::string* value = table_.find(from, asked.content.name)) return reply(one, *value);
      const std::string who = "rank " + std::to_string(from);
      const presence is = table_.is(from);
      if (is == presence::left || is == presence::gone)
        return refuse(one, {error(errc::peer_lost, "get"), who + " ended before it put this key"});
      if (now >= asked.end)
        refuse(one, {error(errc::deadline, "get"),
                     who + (is == presence::never ? " did not come in " : " put no such key in ") + limit});
      return;
    }
    if (table_.has_passed(asked.barrier)) return reply(one, {});
    if (table_.has_ended_ranks()) {
      auto ended = table_.ranks_that_are(presence::gone);
      const auto left = table_.ranks_that_are(presence::left);
      ended.insert(ended.end(), left.begin(), left.end());
      std::ranges::sort(ended);
      return leave_barrier(one, errc::peer_lost, ranks_in_words(ended) + " ended before the barrier");
    }
    if (now < asked.end) return;
    const auto never = table_.ranks_that_are(presence::never);
    leave_barrier(one, errc::deadline,
                  never.empty() ? ranks_in_words(table_.outside_barrier()) + " did not reach the barrier in " + limit
                                : ranks_in_words(never) + " never came: the barrier waited " + limit);
  }
  void leave_barrier(client& one, errc code, std::string sentence) {
    table_.leave_barrier(*one.rank);
    refuse(one, {error(code, "barrier"), std::move(sentence)});
  }

  void reply(client& one, std::string_view value) {
    one.waits.reset();
    one.out = encode({kind::done, 0, 0, {}, std::string(value)});
  }
  void refuse(client& one, const failure& why) {
    one.waits.reset();
    one.out = encode({kind::refused, 0, static_cast<std::uint32_t>(why.why.code), {}, why.sentence});
  }
  void send_out(client& one) {
    while (!one.out.empty() && one.socket) {
      const ssize_t sent = ::send(one.socket.get(), one.out.data(), one.out.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0 && errno == EAGAIN) return;
      if (sent <= 0) return lose(one);
      one.out.erase(0, static_cast<std::size_t>(sent));
    }
  }
  void lose(client& one) {
    if (one.rank && table_.is(*one.rank) == presence::here) table_.end(*one.rank, presence::gone);
    one.waits.reset();
    one.out.clear();
    one.socket = owned_descriptor();
    one.ends = true;
  }
  static bool is_over(const client& one, instant now) {
    if (one.ends && one.out.empty()) return true;
    return !one.rank && now - one.since >= stranger_limit;
  }
  void report_end() {
    if (table_.ended_ranks() < table_.size()) return;
    const std::lock_guard lock(mutex_);
    all_ended_ = true;
    ended_.notify_all();
  }

  owned_descriptor listener_;
  owned_descriptor stop_;
  std::string job_;
  store_table table_;
  std::vector<client> clients_;
  bool lacks_descriptors_ = false;  ///< Callers wait in the kernel's queue until there is one.
  std::mutex mutex_;
  std::condition_variable ended_;
  bool all_ended_ = false;
  std::thread thread_;
};

}  // namespace weft::jobs
