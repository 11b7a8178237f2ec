// SPDX-License-Identifier: Apache-2.0
//
// The reading side of a rail: it owns the memory of the pages and requests rounds. A round is complete by the number of
// notices with its id; then every word is compared. Never by the last page: without an order the last one proves
// nothing about those before it. Hot path: step(). Threads: one per rail. Rails write to different pages of one memory;
// a rail reads only its own.
#pragma once

#include "contents.hpp"
#include "rail.hpp"

#include <weft/compose/notification_counter.hpp>

#include <variant>

namespace weft::paged {

template <complete_fabric F>
class reader : public rail<F> {
  using base = rail<F>;
  using base::check, base::count_, base::deliver, base::give_up, base::moved, base::net_, base::number_, base::over_,
      base::peer_, base::plan_, base::say, base::watch_time;

 public:
  /// `memory`: of all rails; each registers it with its own transport, under a key of its own.
  reader(const plan& p, std::uint32_t number, shard& count, bytes memory)
      : base(p, number, count, need(open<F>({.node = p.node(number), .peers = 2}))),
        arrivals_(buffers),
        memory_(memory) {
    region_ = need(net_.register_region(memory, rights::remote_write));
  }

  void begin(const std::string& where) {
    peer_ = need(net_.start_connect(where));
    moved();
  }
  bool over() const noexcept { return over_; }

  bool step() {
    if (connected_) introduce();
    if (introduced_) deliver();
    const bool found = net_.progress([this](const auto& e) { this->take(e); }) > 0;
    const bool looked = verify();
    watch_time();
    check();
    if (over_) leave();
    return found || looked;
  }

 private:
  static constexpr std::size_t pages_at_once = 4;

  std::string greeting() const { return "hello from rail " + std::to_string(number_); }

  void take(const completed&) {}
  void take(const failed& e) { give_up(std::string(name_of(e.what)) + " failed: " + describe(e.why)); }
  void take(const received& e) {
    const auto m = parse(e.message);
    if (!m) return give_up("the writer sent an unknown message");
    moved();
    std::visit([this](const auto& each) { this->heard(each); }, *m);
  }
  void take(const notified& e) {
    if (!arrivals_.note(e.immediate)) give_up("a notice arrived with an id that no round has");
    moved();
  }
  void take(const lost& e) {
    give_up((connected_ ? "the writer is gone: " : "no writer at this address: ") + describe(e.why) + " " +
            net_.reason());
  }
  void take(const requested& e) { (void)net_.reject(e.peer, "this side reads"); }
  void take(const connected&) {
    connected_ = true;
    moved();
  }

  /// Effects: sends the region's description, then the greeting. The greeting also warms the path before the first
  /// page.
  void introduce() {
    if (introduced_) return;
    introduced_ = true;
    say(letter(net_.export_region(peer_, region_, owner_polls)));
    say(letter(hello{greeting(), false}));
  }

  void heard(const hello& h) {
    const std::string text = greeting();
    if (!h.backwards || h.text != std::string(text.rbegin(), text.rend()))
      return give_up("the writer did not reverse \"" + text + "\"");
    for (std::uint32_t i = 0; i < buffers; ++i) ask();
    finish_if_done();
  }
  void heard(const round_request&) { give_up("the writer requests a round"); }
  void heard(const ending& e) {
    if (e.pages != count_.pages.read())
      return give_up("the writer counts " + std::to_string(e.pages) + " pages, the reader " +
                     std::to_string(count_.pages.read()));
    over_ = true;
  }

  void ask() {
    if (asked_ == plan_.rounds()) return;
    const std::uint64_t round = ++asked_;
    say(letter(round_request{round, plan_.seed, start_of(round), plan_.page_bytes, plan_.pages, number_, plan_.rails,
                             id_of(round)}));
  }
  std::uint64_t start_of(std::uint64_t round) const noexcept { return (round - 1) % buffers * plan_.round_bytes(); }
  static std::uint32_t id_of(std::uint64_t round) noexcept { return static_cast<std::uint32_t>(round); }

  /// Effects: compares some pages of the oldest round, once all of its notices arrived; then requests the round that
  /// takes its buffer.
  bool verify() {
    if (verified_ == asked_) return false;
    const std::uint64_t round = verified_ + 1;
    const std::uint32_t pages = plan_.pages_of(number_);
    if (!arrivals_.reached(id_of(round), pages)) return false;
    for (std::size_t i = 0; i < pages_at_once && next_ < plan_.pages; ++i, next_ += plan_.rails) compare(round, next_);
    if (next_ < plan_.pages) return true;
    next_ = number_;
    ++verified_;
    if (arrivals_.reset(id_of(round)) != pages)
      give_up("round " + std::to_string(round) + " has more notices than pages");
    count_.rounds.add(1);
    ask();
    finish_if_done();
    return true;
  }
  void compare(std::uint64_t round, std::uint32_t page) {
    const std::uint64_t at = start_of(round) + page * plan_.page_bytes;
    if (const auto wrong = contents(plan_.seed, round, page).first_wrong(memory_.subspan(at, plan_.page_bytes)))
      return give_up("round " + std::to_string(round) + ", page " + std::to_string(page) +
                     ": other bytes than were written, at offset " + std::to_string(*wrong));
    count_.pages.add(1);
    count_.bytes.add(plan_.page_bytes);
    moved();
  }
  void finish_if_done() {
    if (verified_ == plan_.rounds()) say(letter(ending{count_.pages.read(), false}));
  }
  void leave() {
    if (const status s = net_.close(peer_, 2s); !s)
      throw broken_off("rail " + std::to_string(number_) + " did not close: " + describe(s));
  }

  bool connected_ = false;
  bool introduced_ = false;
  notification_counter arrivals_;
  bytes memory_;
  owned_region region_;
  std::uint64_t asked_ = 0;
  std::uint64_t verified_ = 0;
  std::uint32_t next_ = number_;  ///< The next page to compare.
};

}  // namespace weft::paged
