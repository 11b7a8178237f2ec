// SPDX-License-Identifier: Apache-2.0
//
// The writing side of a rail: takes rounds from its reader and writes their pages, in random order, each as a
// put_notify with the round's id. Pages are made in a window of source slots and appended to a queue. The next poll
// posts up to a batch of pages from the queue's front. `again` leaves the rest in place, so back-pressure neither loses
// nor reorders pages. Hot path: step(). Threads: one per rail; only the shard of statistics is shared.
#pragma once

#include "contents.hpp"
#include "rail.hpp"

#include <variant>

namespace weft::paged {

template <complete_fabric F>
class writer : public rail<F> {
  using base = rail<F>;
  using base::check, base::count_, base::deliver, base::give_up, base::moved, base::net_, base::number_, base::over_,
      base::peer_, base::plan_, base::say, base::watch_time;

 public:
  writer(const plan& p, std::uint32_t number, shard& count)
      : base(p, number, count,
             need(open<F>({.node = p.node(number), .listens = true, .operations = p.operations, .peers = 2}))) {}

  void begin() { moved(); }
  bool over() const noexcept { return over_; }

  /// One poll of the queue, and the posts that it allows. Returns whether anything moved.
  bool step() {
    deliver();
    const bool posted = !plan_.eager && post();
    const bool found = net_.progress([this](const auto& e) { this->take(e); }) > 0;
    const bool made = prepare();
    if (plan_.eager) (void)post();
    watch_time();
    check();
    if (ending_ && rounds_.empty() && waiting_.empty() && in_flight_ == 0 && !over_) answer_end();
    return posted || found || made;
  }

 private:
  struct page {
    remote_place at;
    std::uint32_t slot = 0;
    std::uint32_t id = 0;
  };

  void take(const completed& e) {
    if (e.what != operation::put_notify) return;
    free_.push_back(*static_cast<std::uint32_t*>(e.context));
    --in_flight_;
    count_.pages.add(1);
    count_.bytes.add(page_bytes_);
    moved();
  }
  void take(const failed& e) { give_up(std::string(name_of(e.what)) + " failed: " + describe(e.why)); }
  void take(const received& e) {
    if (memory_.size() == 0 && is_region(e.message)) return learn(e.message);
    const auto m = parse(e.message);
    if (!m) return give_up("the reader sent an unknown message");
    moved();
    std::visit([this](const auto& each) { this->heard(each); }, *m);
  }
  void take(const lost& e) {
    if (e.why.code == errc::closed && ending_) over_ = true;
    else give_up("the reader is gone: " + describe(e.why));
  }
  void take(const notified&) { give_up("an unexpected notice arrived"); }
  void take(const requested& e) {
    if (peer_) return (void)net_.reject(e.peer, "this rail has a reader");
    peer_ = e.peer;
    if (const status s = net_.accept(peer_); !s) give_up("the reader could not be accepted: " + describe(s));
    moved();
  }
  void take(const connected&) {}

  /// Without an order of messages the greeting may arrive before the description of the memory: it is answered when
  /// both are there.
  void heard(const hello& h) {
    text_ = {h.text.rbegin(), h.text.rend()};
    greet();
  }
  void learn(const_bytes description) {
    auto parsed = net_.parse_region(peer_, description);
    if (!parsed) return give_up(parsed.error().sentence);
    memory_ = *parsed;
    moved();
    greet();
  }
  void greet() {
    if (!text_.empty() && memory_.size() > 0) say(letter(hello{text_, true}));
  }
  void heard(const round_request& r) {
    if (rounds_.size() == buffers || (page_bytes_ != 0 && r.page_bytes != page_bytes_))
      return give_up("the reader requests an invalid round");
    rounds_.push_back(r);
  }
  void heard(const ending&) { ending_ = true; }

  /// Effects: makes pages in free slots, up to a batch, and appends them. Posts nothing.
  bool prepare() {
    if (rounds_.empty()) return false;
    if (page_bytes_ == 0) make_slots(rounds_.front().page_bytes);
    std::uint32_t made = 0;
    for (; made < plan_.batch && !free_.empty() && !rounds_.empty(); ++made) {
      const round_request& r = rounds_.front();
      if (next_ == 0) {
        page_order(order_, r.seed, r.round, r.rail, r.rails, r.pages);
        count_.rounds.add(1);
      }
      const std::uint32_t number = order_[next_];
      const std::uint32_t slot = free_.back();
      free_.pop_back();
      const bytes source = source_.memory().subspan(slot * page_bytes_, page_bytes_);
      contents(r.seed, r.round, number).write(source);
      if (r.round == plan_.spoil && next_ == 0) source[page_bytes_ / 2] ^= std::byte{1};
      waiting_.push_back({memory_.at(r.start + number * page_bytes_), slot, r.id});
      if (++next_ < order_.size()) continue;
      next_ = 0;
      rounds_.pop_front();
    }
    return made > 0;
  }
  void make_slots(std::uint64_t page_bytes) {
    source_ = need(net_.allocate(page_bytes * plan_.window, rights::none));
    page_bytes_ = page_bytes;
    slots_.resize(plan_.window);
    for (std::uint32_t i = plan_.window; i > 0; --i) {
      slots_[i - 1] = i - 1;
      free_.push_back(i - 1);
    }
  }

  /// Effects: posts from the front of the queue, up to a batch. Returns whether anything was posted.
  bool post() {
    std::uint32_t posted = 0;
    for (; posted < plan_.batch && !waiting_.empty(); ++posted) {
      const page& next = waiting_.front();
      const status s = net_.put_notify(peer_, source_.slice(next.slot * page_bytes_, page_bytes_), next.at, next.id,
                                       &slots_[next.slot]);
      if (s.is_again()) {
        count_.agains.add(1);
        break;
      }
      if (!s) {
        give_up("a page could not be written: " + describe(s));
        break;
      }
      waiting_.pop_front();
      ++in_flight_;
    }
    return posted > 0;
  }

  void answer_end() {
    if (!std::exchange(answered_, true)) say(letter(ending{count_.pages.read(), true}));
  }

  remote_region memory_;
  std::string text_;  ///< The greeting, reversed.
  owned_region source_;
  std::uint64_t page_bytes_ = 0;
  std::deque<round_request> rounds_;
  std::vector<std::uint32_t> order_;  ///< Of the round at the front.
  std::size_t next_ = 0;              ///< Index into this order.
  std::vector<std::uint32_t> slots_;  ///< Contexts of operations: the slot's number.
  std::vector<std::uint32_t> free_;
  std::deque<page> waiting_;
  std::uint64_t in_flight_ = 0;
  bool ending_ = false;
  bool answered_ = false;
};

}  // namespace weft::paged
