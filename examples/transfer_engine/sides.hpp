// SPDX-License-Identifier: Apache-2.0
//
// The two sides. The server keeps pages, as a cache of keys and values would, and does nothing but make progress: the
// client reads and writes lists of its pages. A notice says that a whole list is there; then the server compares every
// byte and answers. Hot path: the engine's. Threads: one per side.
#pragma once

#include <weft/core/describe.hpp>
#include <weft/transfers/engine.hpp>
#include <weft/transfers/region_pool.hpp>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::pages {

using namespace std::chrono_literals;

struct plan {
  std::size_t page_bytes = 65536;
  std::uint32_t pages = 1024;  ///< Of the server.
  std::uint32_t list = 256;    ///< Pages of a list.
  std::uint32_t rounds = 8;    ///< A prepared list is posted so often.
};

template <class T>
T need(result<T> r) {
  if (!r) throw std::runtime_error(r.error().sentence);
  return std::move(r).value();
}
inline void need(const status& s, const char* what) {
  if (!s) throw std::runtime_error(std::string(what) + ": " + describe(s));
}

/// Every page and version has other bytes.
inline std::byte content(std::uint32_t page, std::uint32_t version, std::size_t i) noexcept {
  return static_cast<std::byte>((i ^ i >> 8) * 7 + page * 31 + version * 101);
}
inline void write(bytes into, std::uint32_t page, std::uint32_t version) noexcept {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] = content(page, version, i);
}
inline void compare(const_bytes seen, std::uint32_t page, std::uint32_t version) {
  for (std::size_t i = 0; i < seen.size(); ++i)
    if (seen[i] != content(page, version, i))
      throw std::runtime_error("page " + std::to_string(page) + " has other bytes than version " +
                               std::to_string(version) + ", at offset " + std::to_string(i));
}

/// The server's pages that a list takes, here far apart. All lists of the program take the same ones.
inline std::uint32_t page_of(const plan& p, std::uint32_t i) noexcept {
  return static_cast<std::uint32_t>(std::uint64_t{i} * 7919 % p.pages);
}

template <complete_fabric F>
void serve(const plan& p, const std::function<void(const std::string&)>& announce) {
  auto net = need(open<F>({.node = "127.0.0.1", .listens = true}));
  auto pages = need(net.allocate(p.page_bytes * p.pages, rights::remote_read | rights::remote_write));
  const auto page = [&](std::uint32_t n) { return pages.memory().subspan(n * p.page_bytes, p.page_bytes); };
  for (std::uint32_t n = 0; n < p.pages; ++n) write(page(n), n, 0);
  announce(net.listen_address());
  const weft::peer client = need(net.accept_one(30s));
  std::uint32_t lists = 0;
  bool over = false;
  const auto on = overloaded{[&](const notified& n) {
                               for (std::uint32_t i = 0; i < p.list; ++i)
                                 compare(page(page_of(p, i)), page_of(p, i), n.immediate);
                               ++lists;
                               need(net.send(client, pages.first(0)), "answer");
                             },
                             [&](const lost&) { over = true; }, [](const auto&) {}};
  need(net.retry([&] { return net.send_region(client, pages, owner_polls); }, 10s, on), "send_region");
  need(net.until([&] { return over; }, 300s, on), "the client");
  std::printf("server: %u lists of %u pages arrived, every byte is right\n", lists, p.list);
}

template <complete_fabric F>
class client {
 public:
  client(const plan& p, const std::string& where)
      : plan_(p),
        net_(need(open<F>({.node = "127.0.0.1"}))),
        server_(need(net_.connect(where, 10s))),
        there_(need(net_.receive_region(server_, 10s))),
        pool_(
            need(transfers::region_pool::over(need(net_.allocate(p.page_bytes * p.list, rights::none)), p.page_bytes))),
        lists_(need(transfers::make_engine(net_))) {
    for (std::uint32_t i = 0; i < p.list; ++i)
      all_.push_back({pool_.memory(pool_.take()), there_.at(page_of(p, i) * p.page_bytes)});
  }

  void fetch() {
    const auto begin = now();
    finish(lists_.get_list(server_, all_), "get_list");
    say("fetched", 1, begin);
    for (std::uint32_t i = 0; i < plan_.list; ++i) compare(here(i), page_of(plan_, i), 0);
  }
  /// One list is prepared once, and posted for each version of its pages.
  void put() {
    const transfers::prepared_list list = need(lists_.prepare_put(server_, all_));
    const auto begin = now();
    for (std::uint32_t version = 1; version <= plan_.rounds; ++version) {
      for (std::uint32_t i = 0; i < plan_.list; ++i) write(here(i), page_of(plan_, i), version);
      finish(lists_.post(list, transfers::notice{version}), "post");
      need(lists_.until([&] { return answers_ == version; }, 60s, on_), "the server's answer");
    }
    say("put, noticed and compared", plan_.rounds, begin);
  }
  /// A short list overtakes a long one, which is then cancelled.
  void overtake() {
    const auto slow = lists_.get_list(server_, all_, {.priority = transfers::priority::background});
    finish(lists_.get_list(server_, std::span(all_).first(4), {.priority = transfers::priority::urgent}), "urgent");
    const transfers::list_status then = lists_.state(slow.handle);
    need(lists_.cancel(slow.handle), "cancel");
    (void)lists_.wait(slow.handle, 60s, on_);
    const transfers::list_status last = lists_.state(slow.handle);
    std::printf("client: the urgent list ended when %u of %u background pages were there; that list: %s, after %u\n",
                then.done, then.transfers, std::string(name_of(last.state)).c_str(), last.done);
  }
  void leave() { need(net_.close(server_, 5s), "close"); }

 private:
  using clock = std::chrono::steady_clock;
  static clock::time_point now() { return clock::now(); }
  bytes here(std::uint32_t i) noexcept { return {all_[i].here.data, all_[i].here.size}; }

  void finish(const transfers::started_list& one, const char* what) {
    if (!one) throw std::runtime_error(std::string(what) + ": " + describe(lists_.refused()));
    need(lists_.wait(one.handle, 60s, on_), what);
    need(lists_.release(one.handle), what);
  }
  void say(const char* what, std::uint32_t times, clock::time_point begin) const {
    const double bytes = static_cast<double>(plan_.page_bytes) * plan_.list * times;
    const double seconds = std::chrono::duration<double>(now() - begin).count();
    std::printf("client: %u lists of %u pages of %zu bytes %s: %.3f GB/s\n", times, plan_.list, plan_.page_bytes, what,
                bytes / seconds / 1e9);
  }

  struct handler {
    std::uint32_t* answers;
    void operator()(const received&) const { ++*answers; }
    void operator()(const lost& l) const { throw std::runtime_error("the server is gone: " + describe(l.why)); }
    void operator()(const auto&) const {}
  };

  plan plan_;
  std::uint32_t answers_ = 0;
  handler on_{&answers_};
  transport<F> net_;
  weft::peer server_;
  remote_region there_;
  transfers::region_pool pool_;
  transfers::engine<F> lists_;
  std::vector<transfers::transfer> all_;
};

}  // namespace weft::pages
