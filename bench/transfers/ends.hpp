// SPDX-License-Identifier: Apache-2.0
//
// The contenders of bench/transfers, each with the same two calls: write a list of pages, and wait for a list. Each
// keeps its connection and its memory over all turns. Hot path: the loops. Threads: one owner.
#pragma once

#include "../../core/describe.hpp"
#include "../../transfers/engine.hpp"
#include "../raw_pingpong/raw_end.hpp"
#include "../transport/weft_end.hpp"

#include <algorithm>

namespace weft::bench {

/// A list of `pages` pages of `size` bytes. `in_flight` of them are under way at once.
struct list_plan {
  std::size_t size = 0;
  std::uint32_t pages = 0;
  std::uint32_t in_flight = 0;
};

/// Page i goes to the place of page order(i): each page has one place, and neighbours go apart.
constexpr std::uint32_t place_of(const list_plan& p, std::uint32_t i) noexcept {
  const std::uint32_t half = (p.pages + 1) / 2;
  return i < half ? 2 * i : 2 * (i - half) + 1;
}

struct events {
  std::uint64_t ended = 0, notices = 0;
  void operator()(const completed&) { ++ended; }
  void operator()(const failed& e) { throw std::runtime_error("a put failed: " + describe(e.why)); }
  void operator()(const notified&) { ++notices; }
  void operator()(const lost&) { throw std::runtime_error("the other process is gone"); }
  void operator()(auto&&) {}
};

/// The transfer engine: a prepared list with one notice.
template <class F>
class engine_end {
 public:
  engine_end(weft_pair<F>& pair, const list_plan& p, patience waiting)
      : pair_(pair),
        engine_(sure(transfers::make_engine(pair.net, {.lists = 2, .peers = 1, .in_flight_per_peer = p.in_flight}))),
        spin_(waiting) {
    std::vector<transfers::transfer> all;
    for (std::uint32_t i = 0; i < p.pages; ++i)
      all.push_back({pair.source.slice(i * p.size, p.size), pair.there.at(place_of(p, i) * p.size)});
    list_.emplace(sure(engine_.prepare_put(pair.other, all)));
  }
  void write() {
    const transfers::started_list one = engine_.post(*list_, transfers::notice{1});
    if (!one) throw std::runtime_error("the list was refused: " + describe(engine_.refused()));
    while (!has_ended(engine_.state(one.handle).state)) spin_.polled(engine_.progress(seen_) > 0);
    if (engine_.state(one.handle).state != transfers::list_state::done) throw std::runtime_error("the list failed");
    if (!engine_.release(one.handle)) throw std::runtime_error("the list stayed");
  }
  void await() {
    for (++awaited_; seen_.notices < awaited_;) spin_.polled(pair_.net.progress(seen_) > 0);
  }
  void look() { pair_.net.progress(seen_); }
  bytes source() { return pair_.source.memory(); }
  const_bytes landing() const { return pair_.landing.memory(); }

 private:
  weft_pair<F>& pair_;
  transfers::engine<F> engine_;
  spinner spin_;
  std::optional<transfers::prepared_list> list_;
  events seen_;
  std::uint64_t awaited_ = 0;
};

/// The way of examples/paged_writer: a put_notify for each page, and the target counts.
template <class F>
class page_end {
 public:
  page_end(weft_pair<F>& pair, const list_plan& p, patience waiting) : pair_(pair), plan_(p), spin_(waiting) {}
  void write() {
    const std::uint64_t before = seen_.ended;
    for (std::uint32_t sent = 0; seen_.ended - before < plan_.pages;) {
      for (int batch = 0; batch < 16 && sent < plan_.pages && sent - (seen_.ended - before) < plan_.in_flight;
           ++batch) {
        const status s = pair_.net.put_notify(pair_.other, pair_.source.slice(sent * plan_.size, plan_.size),
                                              pair_.there.at(place_of(plan_, sent) * plan_.size), 1, this);
        if (s.is_again()) break;
        if (!s) throw std::runtime_error("a page was refused: " + describe(s));
        ++sent;
      }
      spin_.polled(pair_.net.progress(seen_) > 0);
    }
  }
  void await() {
    for (awaited_ += plan_.pages; seen_.notices < awaited_;) spin_.polled(pair_.net.progress(seen_) > 0);
  }
  void look() { pair_.net.progress(seen_); }
  bytes source() { return pair_.source.memory(); }
  const_bytes landing() const { return pair_.landing.memory(); }

 private:
  weft_pair<F>& pair_;
  list_plan plan_;
  spinner spin_;
  events seen_;
  std::uint64_t awaited_ = 0;
};

/// libfabric by hand: the floor. For a row that keeps its writes in order, the last write carries the notice, and it
/// alone confirms its delivery. A page that the target refuses is lost in silence, where the row says so; weft's puts
/// end in an error. Requires: `largest` bytes, at least those of a list.
template <class F>
class hand_end : public raw_end<F> {
  using base = raw_end<F>;

 public:
  hand_end(const channel& to, bool first, std::size_t largest) : base(to, first, largest) {}
  void plan(const list_plan& p, patience waiting) {
    plan_ = p;
    spin_ = spinner(waiting);
  }
  void write() {
    const std::uint64_t before = this->ended();
    for (std::uint32_t sent = 0; this->ended() - before < plan_.pages;) {
      for (int batch = 0; batch < 16 && sent < plan_.pages && sent - (this->ended() - before) < plan_.in_flight;
           ++batch)
        if (!post_page(sent)) break;
        else ++sent;
      (void)polled();
    }
  }
  void await() {
    for (++awaited_; arrived_ < awaited_;) (void)polled();
  }
  void look() { arrived_ += static_cast<std::uint64_t>(this->poll()); }
  bytes source() { return {this->outgoing(), this->size_}; }
  const_bytes landing() const { return {this->incoming(), this->size_}; }

 private:
  bool post_page(std::uint32_t i) {
    const bool last = i + 1 == plan_.pages;
    const iovec piece{this->outgoing() + i * plan_.size, plan_.size};
    const fi_rma_iov target{this->address_ + place_of(plan_, i) * plan_.size, plan_.size, this->key_};
    const fi_msg_rma message{&piece, &this->descriptor_, 1, this->peer_, &target, 1, &contexts_[i % contexts_.size()],
                             1};
    const ssize_t r =
        fi_writemsg(this->ep_, &message, FI_COMPLETION | (last ? FI_REMOTE_CQ_DATA | FI_DELIVERY_COMPLETE : 0));
    if (r != 0 && r != -FI_EAGAIN) base::refuse("writing a page", static_cast<int>(r));
    return r == 0;
  }
  int polled() {
    const std::uint64_t before = this->ended();
    const int came = this->poll();
    arrived_ += static_cast<std::uint64_t>(came);
    spin_.polled(came > 0 || this->ended() != before);
    return came;
  }

  list_plan plan_;
  spinner spin_{{}};
  std::array<fi_context2, 256> contexts_{};
  std::uint64_t arrived_ = 0, awaited_ = 0;
};

}  // namespace weft::bench
