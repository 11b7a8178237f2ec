// SPDX-License-Identifier: Apache-2.0
//
// weft's contenders of bench/transfers. Each contender has the same two calls: write a list of pages, and wait for a
// list. It keeps its connection and its memory over all turns. Hot path: the loops. Threads: one owner.
#pragma once

#include "../../core/describe.hpp"
#include "../../transfers/engine.hpp"
#include "../transport/weft_end.hpp"
#include "list_plan.hpp"

#include <optional>
#include <vector>

namespace weft::bench {

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
      for (std::uint32_t batch = 0;
           batch < posts_at_once && sent < plan_.pages && sent - (seen_.ended - before) < plan_.in_flight; ++batch) {
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

}  // namespace weft::bench
