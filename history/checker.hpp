// SPDX-License-Identifier: Apache-2.0
//
// Judges recorded histories of simulated and live runs.
// An operation that failed may or may not have happened. The same holds for an operation whose process was killed
// before it ended. The checker permits both and nothing else.
// Hot path: no. Threads: one.
#pragma once

#include "verdict.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace weft::history {

/// What the checker cannot derive from the records.
struct judgement_options {
  duration deadline_slack{50'000'000};  ///< A completion counts as in time up to this long after its deadline.
};

/// Judges the histories of all processes of one run. Records of one process must be in the order in which it made them.
class checker {
 public:
  explicit checker(judgement_options options = {}) : options_(options) {}

  void add(const std::vector<record>& history) { all_.insert(all_.end(), history.begin(), history.end()); }

  verdict judge() {
    said_ = verdict{};
    said_.checked = all_.size();
    sort_out();
    judge_operations();
    judge_losses();
    judge_keys_and_guards();
    judge_deliveries(work::put_notify, event::notified, property::lost_notification, property::double_notification,
                     property::notification_before_bytes);
    judge_deliveries(work::send, event::received, property::lost_message, property::double_message,
                     property::corrupt_message);
    judge_counters();
    return said_;
  }

 private:
  using operation_name = std::pair<std::uint16_t, std::uint64_t>;
  struct operation {
    record posted;
    const record* ended = nullptr;
  };
  /// Writer, receiver, and the value that names the delivery.
  using delivery_name = std::tuple<std::uint16_t, std::uint16_t, std::uint64_t>;
  struct deliveries {
    std::vector<const record*> reported;
    std::vector<const operation*> sent;
  };

  void say(property which, const record& shown_by, std::string sentence) {
    said_.violations.push_back({which, shown_by, describe(shown_by) + ": " + std::move(sentence)});
  }
  bool finished(std::uint16_t process) const { return finished_.contains(process); }

  void sort_out() {
    operations_.clear();
    finished_.clear();
    last_.clear();
    for (const record& each : all_) {
      last_[each.process] = std::max(last_[each.process], each.at);
      if (each.what == event::finished) finished_.insert(each.process);
      if (each.what == event::posted) operations_[{each.process, each.id}].posted = each;
      if (each.what == event::ended) take_end(each);
    }
  }
  void take_end(const record& end) {
    const auto found = operations_.find({end.process, end.id});
    if (found == operations_.end())
      return say(property::double_end, end,
                 "operation " + std::to_string(end.id) + " ended without having been posted");
    if (found->second.ended != nullptr)
      return say(property::double_end, end, "operation " + std::to_string(end.id) + " ended a second time");
    found->second.ended = &end;
  }

  void judge_operations() {
    for (const auto& [name, each] : operations_) {
      const std::string what = std::string(name_of(each.posted.kind)) + " " + std::to_string(name.second);
      const std::int64_t latest = each.posted.deadline + options_.deadline_slack.count();
      const bool limited = each.posted.deadline != 0;
      if (each.ended != nullptr) {
        if (limited && each.ended->at > latest)
          say(property::forgotten_deadline, *each.ended,
              what + " ended " + std::to_string(each.ended->at - each.posted.deadline) + " ns after its deadline");
      } else if (limited && (each.posted.kind == work::wait ? finished(name.first) || last_[name.first] > latest
                                                            : !finished(name.first) && last_[name.first] > latest)) {
        say(property::forgotten_deadline, each.posted, what + " had a deadline and never ended");
      } else if (finished(name.first)) {
        say(property::lost_completion, each.posted, what + " was posted and never ended");
      }
    }
  }

  void judge_losses() {
    std::map<std::pair<std::uint16_t, std::uint16_t>, std::int64_t> lost;  // In order of the records.
    for (const record& each : all_) {
      if (each.what == event::peer_lost) lost.try_emplace({each.process, each.peer}, each.at);
      if (each.what != event::ended || each.outcome != errc::ok) continue;
      const auto found = operations_.find({each.process, each.id});
      if (found == operations_.end() || found->second.posted.kind == work::wait) continue;
      const std::uint16_t peer = found->second.posted.peer;
      if (lost.contains({each.process, peer}))
        say(property::success_after_peer_lost, each,
            std::string(name_of(found->second.posted.kind)) + " " + std::to_string(each.id) + " succeeded after peer " +
                std::to_string(peer) + " was lost");
    }
  }

  void judge_keys_and_guards() {
    std::set<std::pair<std::uint16_t, std::uint64_t>> keys;
    for (const record& each : all_) {
      if (each.what == event::key_issued && !keys.emplace(each.process, each.value).second)
        say(property::reused_key, each, "key " + std::to_string(each.value) + " was handed out before");
      if (each.what == event::guard && each.value != each.sum)
        say(property::skipped_bound_check, each,
            "bytes around region " + std::to_string(each.subject) + " were written");
      if (each.what == event::acknowledged && each.value != each.sum)
        say(property::missing_bytes, each,
            "operation " + std::to_string(each.id) + " ended well, and its bytes are not there");
    }
  }

  void judge_deliveries(work kind, event reported, property lost, property twice, property spoiled) {
    std::map<delivery_name, deliveries> by_name;
    for (const auto& [name, each] : operations_)
      if (each.posted.kind == kind)
        by_name[{each.posted.process, each.posted.peer, each.posted.value}].sent.push_back(&each);
    for (const record& each : all_)
      if (each.what == reported) by_name[{each.peer, each.process, each.value}].reported.push_back(&each);
    for (const auto& [name, both] : by_name) judge_delivery(name, both, lost, twice, spoiled);
  }

  void judge_delivery(const delivery_name& name, const deliveries& both, property lost, property twice,
                      property spoiled) {
    const auto& [from, to, value] = name;
    const std::string what = std::to_string(value) + " from process " + std::to_string(from);
    std::size_t certain = 0;
    for (const operation* each : both.sent) certain += each->ended != nullptr && each->ended->outcome == errc::ok;
    if (both.reported.size() > both.sent.size())
      say(twice, *both.reported.back(),
          what + " came " + std::to_string(both.reported.size()) + " times, sent " + std::to_string(both.sent.size()) +
              " times");
    if (both.reported.size() < certain && finished(from) && finished(to))
      say(lost, both.sent.back()->posted,
          what + " to process " + std::to_string(to) + " came " + std::to_string(both.reported.size()) +
              " times, sent in success " + std::to_string(certain) + " times");
    for (const record* each : both.reported) {
      const auto same = [each](const operation* o) { return o->posted.summed == 0 || o->posted.sum == each->sum; };
      if (each->summed != 0 && !both.sent.empty() && std::none_of(both.sent.begin(), both.sent.end(), same))
        say(spoiled, *each, what + " was delivered with other bytes than were sent");
    }
  }

  struct counter {
    const record* start = nullptr;
    const record* end = nullptr;
    std::uint64_t least = 0;  ///< Sum of the additions that succeeded.
    std::uint64_t most = 0;   ///< Sum of all additions that may have happened.
    std::map<std::uint64_t, const record*> seen;
  };
  void judge_counters();

  judgement_options options_;
  std::vector<record> all_;
  verdict said_;
  std::map<operation_name, operation> operations_;
  std::set<std::uint16_t> finished_;
  std::map<std::uint16_t, std::int64_t> last_;
};

/// A counter is named by its owner and a number. Sums are modulo 2^64; operands of doubtful additions are assumed to be
/// small.
inline void checker::judge_counters() {
  std::map<std::pair<std::uint16_t, std::uint32_t>, counter> counters;
  for (const record& each : all_) {
    if (each.what == event::counter_start) counters[{each.process, each.subject}].start = &each;
    if (each.what == event::counter_end) counters[{each.process, each.subject}].end = &each;
  }
  for (const auto& [name, each] : operations_) {
    if (each.posted.kind != work::fetch_add) continue;
    counter& held = counters[{each.posted.peer, each.posted.subject}];
    held.most += each.posted.value;
    if (each.ended == nullptr || each.ended->outcome != errc::ok) continue;
    held.least += each.posted.value;
    if (each.posted.value != 0 && !held.seen.emplace(each.ended->value, each.ended).second)
      say(property::repeated_old_value, *each.ended,
          "fetch_add " + std::to_string(name.second) + " saw " + std::to_string(each.ended->value) +
              ", as another did");
  }
  for (const auto& [name, each] : counters) {
    if (each.end == nullptr) continue;
    const std::uint64_t grown = each.end->value - (each.start != nullptr ? each.start->value : 0);
    if (grown < each.least || grown > each.most)
      say(property::inexact_sum, *each.end,
          "counter " + std::to_string(name.second) + " grew by " + std::to_string(grown) + ", its additions make " +
              std::to_string(each.least) + (each.most == each.least ? "" : " to " + std::to_string(each.most)));
  }
}

}  // namespace weft::history
