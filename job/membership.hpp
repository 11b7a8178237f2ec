// SPDX-License-Identifier: Apache-2.0
//
// Who is there now: members that come and go while a program runs, as keys of etcd that live as long as their members.
// Choose it for services that share work. A job's ranks are fixed; they need weft::job.
// A member keeps its lease by calling poll(). No thread does it: a thread would keep a program that hangs a member for
// ever. A call without news takes microseconds, so a loop may make it between two rounds of a transport.
// Hot path: no. Threads: one owner.
#pragma once

#include "etcd/gateway.hpp"

#include <map>
#include <optional>

namespace weft {

struct member {
  std::string name{};
  std::string value{};      ///< What it said at its joining: an address, for instance.
  std::uint64_t since = 0;  ///< etcd's revision of its joining: the first member has the smallest.
  friend bool operator==(const member&, const member&) = default;
};
struct member_joined {
  member who;
};
struct member_left {
  member who;
};

struct membership_options {
  std::string store{};  ///< etcd://host:port[,host:port][/prefix]
  /// A member that polls no longer is gone after so long. etcd may grant more: at least 1.5 times its
  /// --election-timeout, in whole seconds, so 2 s by default. It looks for ended leases every 0.5 s.
  duration ttl = std::chrono::seconds(2);
  duration timeout = std::chrono::seconds(10);  ///< Of joining.
};

class membership {
 public:
  /// Joins under a name that no other member has. A name that a dead member had is free when its lease ends, so this
  /// waits for it. Errors: invalid (the store's form, the name, or another member has it), unreachable, incompatible,
  /// unsupported (no libcurl).
  static result<membership> join(const membership_options& o, std::string name, std::string value) {
    if (name.empty() || name.size() > jobs::longest_key || value.size() > jobs::longest_value)
      return failure{error(errc::invalid, "membership"),
                     "a member has a name of 1 to 96 bytes, and a value of at most " +
                         std::to_string(jobs::longest_value) + " bytes"};
    return opened(o, {std::move(name), std::move(value), 0});
  }
  /// Sees the members and is none. Errors: those of join().
  static result<membership> observe(const membership_options& o) { return opened(o, {}); }

  /// Sorted by name, this one included. While etcd does not answer it is the last known list.
  const std::map<std::string, member>& members() const noexcept { return members_; }
  /// Of etcd, of the last change seen.
  std::uint64_t revision() const noexcept { return revision_; }
  /// False: the lease ended, because poll() was not called or etcd did not answer. poll() joins again.
  bool is_member() const noexcept { return is_member_ && clock::now() < renewed_ + ttl_; }
  /// Why etcd did not answer last; empty: it did.
  const std::string& trouble() const noexcept { return trouble_; }
  /// What etcd granted.
  duration ttl() const noexcept { return ttl_; }

  /// Keeps the lease, and calls `on(member_joined)` and `on(member_left)` for each change. Returns at the first news,
  /// else after `at_most`; zero: at once. Call it at least four times within ttl().
  template <class On>
  void poll(duration at_most, On&& on) {
    const instant end = clock::now() + jobs::bounded(at_most);
    for (;;) {
      const instant now = clock::now();
      const bool news = advance(now, on);
      if (news || now >= end) return net_.drive(duration());
      net_.drive(std::min(end - now, duration(look)));
    }
  }
  /// Leaves in order: the others see it at once. Errors: those of jobs::etcd::gateway::ask().
  result<void> leave(duration limit = std::chrono::seconds(2)) {
    question_.reset();
    watch_.reset();
    is_member_ = false;
    const std::uint64_t lease = std::exchange(lease_, 0);
    if (std::exchange(self_, {}).name.empty() || lease == 0) return {};
    auto done = net_.ask("lease/revoke", {{"ID", std::to_string(lease)}}, clock::now() + jobs::bounded(limit));
    if (!done) return std::move(done).error();
    return {};
  }
  /// Takes away a member that is known to be dead, so that others need not wait for its lease. It is not taken away if
  /// it joined again. Errors: those of jobs::etcd::gateway::ask().
  result<void> expel(const member& dead, duration limit = std::chrono::seconds(2)) {
    using jobs::etcd::json;
    const std::string key = base_ + dead.name;
    json question;
    question["compare"] = json::array({json::object({{"key", jobs::etcd::base64(key)},
                                                     {"target", "CREATE"},
                                                     {"result", "EQUAL"},
                                                     {"create_revision", std::to_string(dead.since)}})});
    question["success"] = json::array({json::object({{"request_delete_range", jobs::etcd::range_of(key)}})});
    auto done = net_.ask("kv/txn", question, clock::now() + jobs::bounded(limit));
    if (!done) return std::move(done).error();
    return {};
  }

 private:
  using clock = std::chrono::steady_clock;
  using exchange = std::unique_ptr<jobs::etcd::exchange>;
  enum class asked : std::uint8_t { lease, key, renewal, presence };
  static constexpr duration look = std::chrono::milliseconds(50);    ///< How often timers are looked at.
  static constexpr duration pause = std::chrono::milliseconds(100);  ///< After a failure.

  membership(jobs::etcd::gateway net, membership_options o, member self)
      : net_(std::move(net)),
        o_(std::move(o)),
        self_(std::move(self)),
        base_(net_.prefix() + "/members/"),
        ttl_(o_.ttl) {}

  static result<membership> opened(const membership_options& o, member self) {
    const auto at = jobs::etcd_address_of(o.store);
    if (!at)
      return failure{error(errc::invalid, "membership"),
                     "\"" + printable(o.store) + "\" is no place of members: it must be " + jobs::etcd_form};
    auto net = jobs::etcd::gateway::open(*at);
    if (!net) return std::move(net).error();
    membership made(std::move(net).value(), o, std::move(self));
    const instant end = clock::now() + jobs::bounded(o.timeout);
    while ((!made.self_.name.empty() && !made.is_member_) || !made.listed_) {
      if (clock::now() >= end) return made.late(o.timeout);
      made.poll(look, [](const auto&) {});
    }
    return made;
  }
  failure late(duration limit) const {
    if (!taken_.empty())
      return {error(errc::invalid, "membership"), "another member has the name \"" + printable(self_.name) + "\" at " +
                                                      jobs::in_words(net_.host()) + ", since revision " + taken_};
    return {error(errc::unreachable, "membership"),
            (trouble_.empty() ? "etcd at " + jobs::in_words(net_.host()) + " does not answer" : trouble_) +
                ": weft asked for " + jobs::in_words(limit)};
  }

  /// One round. True: something changed.
  template <class On>
  bool advance(instant now, On&& on) {
    keep(now);
    return see(now, on);
  }

  // ---- the own lease and key
  void keep(instant now) {
    if (question_ && question_->is_over()) {
      auto reply = net_.judged(*question_);
      question_.reset();
      if (reply) answered(*reply, now);
      else failed(reply.error(), now);
    }
    if (question_ || now < next_) return;
    asked_at_ = now;
    const duration limit = std::max(duration(ttl_ / 2), look);
    if (self_.name.empty()) {  // a watch alone never tells that etcd's machine is gone
      if (!watch_ || lists_) return;
      what_ = asked::presence;
      question_ = net_.start("kv/range", jobs::etcd::range_of(base_), limit);
    } else if (lease_ == 0) {
      what_ = asked::lease;
      const auto seconds = std::max<long long>(1, std::chrono::ceil<std::chrono::seconds>(o_.ttl).count());
      question_ = net_.start("lease/grant", {{"TTL", seconds}}, limit);
    } else if (!is_member_) {
      what_ = asked::key;
      question_ = net_.start("kv/txn", jobs::etcd::create(base_ + self_.name, self_.value, lease_), limit);
    } else {
      what_ = asked::renewal;
      question_ = net_.start("lease/keepalive", {{"ID", std::to_string(lease_)}}, limit);
    }
  }
  void answered(const jobs::etcd::json& reply, instant now) {
    using jobs::etcd::field;
    using jobs::etcd::number;
    trouble_.clear();
    next_ = what_ == asked::presence ? now + ttl_ : now;
    if (what_ == asked::presence) return;
    if (what_ == asked::lease) {
      lease_ = number(field(reply, "ID"));
      renew(number(field(reply, "TTL")));
      if (lease_ == 0) next_ = now + pause;
    } else if (what_ == asked::key) {
      const auto other = jobs::etcd::held_instead(reply);
      is_member_ = jobs::etcd::succeeded(reply) || (other && other->lease == lease_);
      taken_ = !is_member_ && other ? std::to_string(other->created) : "";
      next_ = is_member_ ? now + ttl_ / 4 : now + pause;
    } else if (const std::uint64_t left = number(field(field(reply, "result"), "TTL")); left > 0) {
      renew(left);
      next_ = now + ttl_ / 4;
    } else {
      lease_ = 0;  // it ended: joins again
      is_member_ = false;
    }
  }
  /// The lease runs from the question on, because nobody knows when etcd took it.
  void renew(std::uint64_t seconds) {
    renewed_ = asked_at_;
    if (seconds > 0) ttl_ = std::chrono::seconds(std::min<std::uint64_t>(seconds, 86'400));
  }
  void failed(const failure& why, instant now) {
    trouble_ = why.sentence;
    // A lease that etcd does not know can hold no key.
    if (why.why.code == errc::native && what_ == asked::key) lease_ = 0;
    next_ = now + pause;
    net_.next_host();
    watch_.reset();  // its connection may be to a machine that is gone
  }

  // ---- the members
  template <class On>
  bool see(instant now, On&& on) {
    bool news = false;
    if (!watch_) {
      const bool joins = !self_.name.empty() && !listed_ && !is_member_;  // the first list has this one
      if (joins || now < see_again_) return false;
      watch_ = net_.start("kv/range", jobs::etcd::all_with(base_), std::max(duration(ttl_ / 2), look));
      lists_ = true;
      return false;
    }
    if (lists_) {
      if (!watch_->is_over()) return false;
      auto reply = net_.judged(*watch_);
      watch_.reset();
      see_again_ = now + pause;
      if (!reply) {
        trouble_ = reply.error().sentence;
        net_.next_host();
        return false;
      }
      if (self_.name.empty()) trouble_.clear();  // of a member its lease tells
      news = take_list(*reply, on);
      watch_ = net_.start_watch(jobs::etcd::all_with(base_), revision_ + 1);
      lists_ = false;
      return news;
    }
    std::string line;
    while (watch_ && watch_->take_line(line)) {
      const jobs::etcd::watched seen = jobs::etcd::watched_of(line);
      for (const jobs::etcd::change& each : seen.changes) news |= take(each, on);
      if (!seen.good) watch_.reset();
    }
    if (watch_ && watch_->is_over()) watch_.reset();
    if (!watch_) see_again_ = now + pause;
    return news;
  }
  template <class On>
  bool take_list(const jobs::etcd::json& reply, On&& on) {
    std::map<std::string, member> there;
    for (const jobs::etcd::entry& each : jobs::etcd::entries_of(reply))
      if (each.key.starts_with(base_)) {
        const std::string name = each.key.substr(base_.size());
        there[name] = {name, each.value, each.created};
      }
    if (!there.contains(self_.name)) is_member_ = false;
    bool news = !std::exchange(listed_, true);
    for (const auto& [name, of] : std::exchange(members_, there))
      if (const auto now = there.find(name); now == there.end() || now->second != of) on(member_left{of}), news = true;
      else there.erase(now);
    for (const auto& [name, of] : there) on(member_joined{of}), news = true;
    revision_ = jobs::etcd::revision_of(reply);
    return news;
  }
  template <class On>
  bool take(const jobs::etcd::change& each, On&& on) {
    if (!each.of.key.starts_with(base_) || each.revision < revision_) return false;
    revision_ = each.revision;
    const std::string name = each.of.key.substr(base_.size());
    const auto had = members_.find(name);
    const bool known = had != members_.end();
    if (known) {
      const member gone = had->second;
      members_.erase(had);
      on(member_left{gone});
    }
    if (each.removed && name == self_.name) is_member_ = false;  // expelled, or its lease ended: joins again
    if (each.removed) return known;
    const member came{name, each.of.value, each.of.created};
    members_[name] = came;
    on(member_joined{came});
    return true;
  }

  jobs::etcd::gateway net_;  // before the exchanges, which use it
  membership_options o_;
  member self_;
  std::string base_;
  duration ttl_;
  exchange question_, watch_;
  asked what_ = asked::lease;
  instant asked_at_{}, renewed_{}, next_{}, see_again_{};
  std::uint64_t lease_ = 0, revision_ = 0;
  bool is_member_ = false, listed_ = false, lists_ = false;
  std::string trouble_, taken_;
  std::map<std::string, member> members_;
};

}  // namespace weft
