// SPDX-License-Identifier: Apache-2.0
//
// The two sides of a combination's program, and what each does in a run:
// - round trips (put_notify, send);
// - operations whose completion the initiator awaits while the target only makes progress (a put until it is visible, a
//   fetch_add);
// - windows of unsignalled posts, answered by one notice or message, or ended by a notice (put). The text is the same
//   for every combination; only the fabric's type differs. Hot path: the loops between two readings of the clock.
//   Threads: one per process.
#pragma once

#include "../transport/weft_end.hpp"
#include "request.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace weft::bench {

/// What both sides of a program have; `first` initiates.
template <class F>
class sides {
 public:
  static constexpr bool can_say_visible =
      reached_by<F, states::visible>::native || reached_by<F, states::visible>::emulated;

  sides(const channel& to, bool first, std::size_t largest, std::size_t largest_message, patience waiting)
      : to_(to), waiting_(waiting), pair_(to, first, largest, false, largest_message), puts_(pair_), messages_(pair_) {}

  /// Why this operation cannot be measured at this size; empty where it can.
  std::string obstacle(scenario what, std::size_t bytes) const {
    if (what == scenario::put_visible && !can_say_visible) return "this combination cannot say when a write is visible";
    if (by_message(what) && bytes > pair_.net.largest_message(pair_.other)) return "its largest message is shorter";
    return {};
  }

  /// The initiating side. One sample per awaited operation, or per window: the mean of its operations.
  void ask(const request& r, samples& into) {
    to_.send_text(r.text());
    to_.receive_text([this] { poll_once(); });
    switch (r.what) {
      case scenario::put_notify:
        return bounce(puts_, r, &into);
      case scenario::send:
        return bounce(messages_, r, &into);
      case scenario::put_visible:
        return put_until_visible(r, into);
      case scenario::fetch_add:
        return add(r, into);
      case scenario::put_notify_rate:
        return r.checked ? bounce(puts_, r, &into) : fill_windows(puts_, r, into);
      case scenario::send_rate:
        return r.checked ? bounce(messages_, r, &into) : fill_windows(messages_, r, into);
      case scenario::put:
        return r.checked ? bounce(puts_, r, &into) : put_plainly(r, into);
    }
  }
  /// The answering side, until the other side disconnects.
  void answer() {
    for (;;) {
      const std::string text_of_request = to_.receive_text([this] { poll_once(); });
      if (text_of_request == "done") break;
      const request r = request::of(text_of_request);
      to_.send_text("ready");
      serve(r);
    }
    to_.send_text("done");
    to_.send_text("go");
  }
  void part() {
    to_.part(true, [this] { poll_once(); });
  }

 private:
  using put_end = weft_end<F, carrier::put_notify>;
  using message_end = weft_end<F, carrier::send>;

  void poll_once() {
    pair_.net.progress([](auto&&) {});
  }
  auto nobody_else() {
    return [] {};
  }

  void serve(const request& r) {
    switch (r.what) {
      case scenario::put_notify:
        return bounce(puts_, r, nullptr);
      case scenario::send:
        return bounce(messages_, r, nullptr);
      case scenario::put_visible:
        serve_until_the_end();
        if (r.checked) compare(r.bytes);
        return;
      case scenario::fetch_add:
        return serve_until_the_end();
      case scenario::put_notify_rate:
        return r.checked ? bounce(puts_, r, nullptr) : empty_windows(puts_, r);
      case scenario::send_rate:
        return r.checked ? bounce(messages_, r, nullptr) : empty_windows(messages_, r);
      case scenario::put:
        return r.checked ? bounce(puts_, r, nullptr)
                         : empty_windows(puts_, {.what = r.what, .bytes = r.bytes, .window = 1, .rounds = r.rounds});
    }
  }

  template <class End>
  void bounce(End& end, const request& r, samples* into) {
    const auto meanwhile = nobody_else();
    pingpong<ending::unsignalled, End, decltype(meanwhile)> p(end, {r.bytes, r.rounds, waiting_}, meanwhile);
    if (into == nullptr) r.checked ? p.answer_checked(r.rounds) : p.answer();
    else r.checked ? p.ask_checked(r.rounds) : p.ask(*into);
  }

  // ---- the initiator awaits each completion; the target makes progress until a notice ends the run
  void put_until_visible(const request& r, samples& into) {
    if constexpr (can_say_visible) {
      if (r.checked) fill(r.bytes);
      awaited(r, into, [&](bool* ended) {
        return pair_.net.put(pair_.other, pair_.source.first(r.bytes), pair_.there.at(0),
                             completes_when<states::visible>(ended));
      });
      if (!r.checked) return report_end();
      report_end();
      if (const std::string found = to_.receive_text([this] { poll_once(); }); found != "same")
        throw std::runtime_error("put until visible: " + found);
    }
  }
  void add(const request& r, samples& into) {
    awaited(r, into,
            [&](bool* ended) { return pair_.net.fetch_add(pair_.other, pair_.there.at(counter_at()), 1, ended); });
    report_end();
  }
  template <class Post>
  void awaited(const request& r, samples& into, Post post) {
    spinner spin(waiting_);
    std::uint64_t before = now_ns();
    for (std::size_t i = 0; i < r.rounds; ++i) {
      bool ended = false;
      posted([&] { return post(&ended); });
      while (!ended) spin.polled(end_of(r, ended) > 0);
      const std::uint64_t now = now_ns();
      into.add(now - before);
      before = now;
    }
  }
  int end_of(const request& r, bool& ended) {
    return pair_.net.progress(overloaded{
        [&](const completed& c) {
          if (c.context != &ended) return;
          ended = true;
          if (r.what == scenario::fetch_add && c.old != added_++)
            throw std::runtime_error("fetch_add: the sum is wrong");
        },
        [](const failed& f) { throw std::runtime_error(std::string("weft: ") + name_of(f.what) + " failed"); },
        [](const lost& l) { throw std::runtime_error(std::string("weft: the peer is lost: ") + l.why.operation); },
        [](auto&&) {}});
  }
  void report_end() {
    posted(
        [&] { return pair_.net.put_notify(pair_.other, pair_.source.first(1), pair_.there.at(counter_at() + 56), 0); });
  }
  template <class Post>
  void posted(Post post) {
    for (status s = post(); !s; s = post()) {
      if (!s.is_again()) throw std::runtime_error("weft, posting: error " + std::to_string(static_cast<int>(s.code)));
      poll_once();
    }
  }
  void serve_until_the_end() {
    spinner spin(waiting_);
    while (puts_.poll() == 0) spin.polled(false);
  }

  // ---- windows: `window` posts, then one answer
  template <class End>
  void fill_windows(End& end, const request& r, samples& into) {
    spinner spin(waiting_);
    std::uint64_t before = now_ns();
    for (std::size_t i = 0; i < r.rounds; ++i) {
      int answers = 0;
      for (std::size_t k = 0; k < r.window; ++k)
        while (!end.template post<ending::unsignalled>(r.bytes, 0)) answers += end.poll();
      while (answers == 0) {
        answers += end.poll();
        spin.polled(answers > 0);
      }
      const std::uint64_t now = now_ns();
      into.add((now - before) / r.window);
      before = now;
    }
  }
  /// Puts without a completion, then a notice that the other side answers; time per put.
  void put_plainly(const request& r, samples& into) {
    constexpr std::size_t puts = 16;
    spinner spin(waiting_);
    std::uint64_t before = now_ns();
    for (std::size_t i = 0; i < r.rounds; ++i) {
      int answers = 0;
      for (std::size_t k = 0; k < puts; ++k)
        posted([&] { return pair_.net.put(pair_.other, pair_.source.first(r.bytes), pair_.there.at(0)); });
      while (!puts_.template post<ending::unsignalled>(1, 0)) answers += puts_.poll();
      while (answers == 0) {
        answers += puts_.poll();
        spin.polled(answers > 0);
      }
      const std::uint64_t now = now_ns();
      into.add((now - before) / puts);
      before = now;
    }
  }
  template <class End>
  void empty_windows(End& end, const request& r) {
    spinner spin(waiting_);
    for (std::size_t i = 0; i < r.rounds; ++i) {
      for (std::size_t arrived = 0; arrived < r.window;) {
        const auto came = static_cast<std::size_t>(end.poll());
        spin.polled(came > 0);
        arrived += came;
        if (arrived > r.window) throw std::runtime_error("a window brought more than was posted");
      }
      while (!end.template post<ending::unsignalled>(1, 0)) end.poll();
    }
  }

  static std::byte pattern(std::size_t at) noexcept { return static_cast<std::byte>(at * 7 + (at >> 8) + 3); }
  void fill(std::size_t bytes) noexcept {
    for (std::size_t b = 0; b < bytes; ++b) pair_.source.data()[b] = pattern(b);
  }
  void compare(std::size_t bytes) {
    for (std::size_t b = 0; b < bytes; ++b)
      if (pair_.landing.data()[b] != pattern(b))
        return to_.send_text("byte " + std::to_string(b) + " is not the one that was written");
    to_.send_text("same");
  }
  std::size_t counter_at() const noexcept { return pair_.landing.size() - 64; }

  const channel& to_;
  patience waiting_;
  weft_pair<F> pair_;
  put_end puts_;
  message_end messages_;
  std::uint64_t added_ = 0;
};

}  // namespace weft::bench
