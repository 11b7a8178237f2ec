// SPDX-License-Identifier: Apache-2.0
//
// Questions to etcd's gateway, each with a limit. A host that does not answer gives way to the next one until the limit
// is over: etcd may start later, and a member of its cluster may be gone.
// Requests may arrive twice so. Callers ask only what does the same twice: reads, and transactions that they recognize.
// Hot path: no. Threads: one owner.
#pragma once

#include "json.hpp"

#include "../../core/printable.hpp"
#include "../backend.hpp"
#include "address.hpp"
#include "exchange.hpp"

namespace weft::jobs::etcd {

class gateway {
 public:
  /// Errors: unsupported (no libcurl). Requires: `at` has a host.
  static result<gateway> open(etcd_address at) {
    auto many = exchanges::open();
    if (!many) return std::move(many).error();
    return gateway(std::move(at), std::move(many).value());
  }

  /// The reply of a call, such as "kv/range". Errors: unreachable, incompatible (no etcd of version 3.4 or later
  /// answers), native (etcd refuses, with its reason).
  result<json> ask(const char* call, const json& question, instant end) {
    const instant begin = std::chrono::steady_clock::now();
    const std::string text = question.dump();
    failure last;
    for (;;) {
      const duration left = end - std::chrono::steady_clock::now();
      auto one = post(
          call, text,
          std::max(duration(std::chrono::milliseconds(1)), at_.hosts.size() == 1 ? left : std::min(left, one_try)));
      while (!one->is_over()) exchanges_->drive(std::chrono::seconds(1));
      auto reply = judged(*one);
      if (reply || reply.why().code == errc::native) return reply;
      last = std::move(reply).error();
      next_host();
      if (std::chrono::steady_clock::now() + pause >= end) break;
      exchanges_->drive(pause);
    }
    return {last.why, last.sentence + ": weft asked for " + in_words(end - begin)};
  }
  /// Calls `on(change)` for each change of `keys` (of range_of() or all_with()) since a revision, until it returns true
  /// or the limit is over. Returns early when the connection ends: then read the keys again.
  template <class On>
  void watch(json keys, std::uint64_t from, instant end, On&& on) {
    const auto one = start_watch(std::move(keys), from);
    std::string line;
    while (std::chrono::steady_clock::now() < end) {
      while (one->take_line(line)) {
        const watched news = watched_of(line);
        if (!news.good) return exchanges_->drive(pause);
        for (const change& each : news.changes)
          if (on(each)) return;
      }
      if (one->is_over()) return exchanges_->drive(pause);
      exchanges_->drive(end - std::chrono::steady_clock::now());
    }
  }

  // ---- without waiting
  std::unique_ptr<exchange> start(const char* call, const json& question, duration limit) {
    return post(call, question.dump(), limit);
  }
  std::unique_ptr<exchange> start_watch(json keys, std::uint64_t from) {
    keys["start_revision"] = std::to_string(from);
    return post("watch", json{{"create_request", std::move(keys)}}.dump(), duration());
  }
  void drive(duration at_most) { exchanges_->drive(at_most); }
  /// The reply of an exchange that is over. Errors: those of ask().
  result<json> judged(const exchange& of) {
    if (!of.reason().empty())
      return {error(errc::unreachable, "etcd"), "no etcd answers at " + in_words(host()) + " (" + of.reason() + ")"};
    json reply = json::parse(of.reply(), nullptr, false);
    const json& wrong = field(reply, "error");
    const json& text = wrong.is_object() ? field(wrong, "message") : wrong;
    if (reply.is_object() && text.is_string()) {
      const std::string said = printable(text.get_ref<const std::string&>());
      const bool later = of.code() == 503 || said.find("leader") != std::string::npos;  // it chooses one, or starts
      return {error(later ? errc::unreachable : errc::native, "etcd"),
              "etcd at " + in_words(host()) + " refuses: " + said};
    }
    if (of.code() != 200 || !reply.is_object())
      return {error(errc::incompatible, "etcd"), "what answers at " + in_words(host()) +
                                                     " is no etcd, or one before 3.4 (HTTP " +
                                                     std::to_string(of.code()) + ")"};
    own_address_ = of.own_address();
    return reply;
  }
  void next_host() noexcept { host_ = (host_ + 1) % at_.hosts.size(); }
  const endpoint& host() const noexcept { return at_.hosts[host_]; }
  const std::string& prefix() const noexcept { return at_.prefix; }
  /// By which this machine reached etcd.
  const std::string& own_address() const noexcept { return own_address_; }

 private:
  static constexpr duration pause = std::chrono::milliseconds(20);  ///< Between two tries.
  static constexpr duration one_try = std::chrono::seconds(2);      ///< Where another host may answer.

  gateway(etcd_address at, std::unique_ptr<exchanges> many) : at_(std::move(at)), exchanges_(std::move(many)) {}

  std::unique_ptr<exchange> post(const char* call, std::string text, duration limit) {
    return exchanges_->post("http://" + in_words(host()) + "/v3/" + call, std::move(text), limit);
  }

  etcd_address at_;
  std::size_t host_ = 0;
  std::string own_address_;
  std::unique_ptr<exchanges> exchanges_;
};

}  // namespace weft::jobs::etcd
