// SPDX-License-Identifier: Apache-2.0
//
// Falsifies the history of a real run, once for each property that the checker judges. Each time the checker names that
// property and no other. So the records of the run carry all that the checker needs. Hot path: no. Threads: one.
#pragma once

#include "../../history/checker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::test {

/// The records of a run with deadlines, notices, messages, keys, guard bytes, additions to a counter, bytes that were
/// read back, a wait, and the loss of process 0.
class falsified_histories {
 public:
  falsified_histories(const std::vector<history::record>& all, duration slack) : all_(all), slack_(slack) {}

  void judge_all() {
    using history::event;
    using history::property;
    using history::work;
    history_of found = all_;
    EXPECT_TRUE(named(found).empty()) << "the true history";
    judge(property::lost_completion, [&](history_of& h) { h.erase(the_end_of(h, work::send)); });
    judge(property::double_end, [&](history_of& h) { repeat(h, the_end_of(h, work::send)); });
    judge(property::forgotten_deadline, [&](history_of& h) { too_late(h, work::put_notify); });
    judge(property::forgotten_deadline, [&](history_of& h) { too_late(h, work::wait); });
    judge(property::notification_before_bytes, [&](history_of& h) { the(h, event::notified)->sum ^= 1U; });
    judge(property::double_notification, [&](history_of& h) { repeat(h, the(h, event::notified)); });
    judge(property::lost_notification, [&](history_of& h) { h.erase(the(h, event::notified)); });
    judge(property::corrupt_message, [&](history_of& h) { the(h, event::received)->sum ^= 1U; });
    judge(property::double_message, [&](history_of& h) { repeat(h, the(h, event::received)); });
    judge(property::lost_message, [&](history_of& h) { h.erase(the(h, event::received)); });
    judge(property::reused_key, [&](history_of& h) { repeat(h, the(h, event::key_issued)); });
    judge(property::skipped_bound_check, [&](history_of& h) { the(h, event::guard)->sum ^= 1U; });
    judge(property::missing_bytes, [&](history_of& h) { the(h, event::acknowledged)->sum ^= 1U; });
    judge(property::inexact_sum, [&](history_of& h) { ++the(h, event::counter_end)->value; });
    judge(property::inexact_sum, [&](history_of& h) { --the(h, event::counter_end)->value; });
    judge(property::repeated_old_value, [&](history_of& h) {
      const std::uint64_t first = the_end_of(h, work::fetch_add)->value;
      const place second = std::find_if(h.begin(), h.end(), [&](const history::record& r) {
        return r.what == event::ended && r.value != first && is_end_of(h, r, work::fetch_add);
      });
      if (second == h.end()) throw std::runtime_error("the history has one fetch_add alone");
      second->value = first;
    });
    judge(property::success_after_peer_lost, [&](history_of& h) {
      const place lost = std::find_if(
          h.begin(), h.end(), [](const history::record& r) { return r.what == event::peer_lost && r.process == 1; });
      if (lost == h.end()) throw std::runtime_error("process 1 lost no peer in this history");
      const history::record same = *lost;
      h.insert(h.begin(), same);
    });
  }

 private:
  using history_of = std::vector<history::record>;
  using place = history_of::iterator;

  static place the(history_of& h, history::event what) {
    const place found = std::find_if(h.begin(), h.end(), [what](const history::record& r) { return r.what == what; });
    if (found == h.end())
      throw std::runtime_error("the history has no record of the kind " + std::string(name_of(what)));
    return found;
  }
  static place the_post(history_of& h, history::work kind) {
    const place found = std::find_if(h.begin(), h.end(), [kind](const history::record& r) {
      return r.what == history::event::posted && r.kind == kind && r.deadline != 0;
    });
    if (found == h.end()) throw std::runtime_error("the history has no deadline of a " + std::string(name_of(kind)));
    return found;
  }
  static place the_end_of(history_of& h, history::work kind) {
    const history::record posted = *the_post(h, kind);
    const place found = std::find_if(h.begin(), h.end(), [&](const history::record& r) {
      return r.what == history::event::ended && r.process == posted.process && r.id == posted.id;
    });
    if (found == h.end()) throw std::runtime_error("the history has no end of a " + std::string(name_of(kind)));
    return found;
  }
  static bool is_end_of(const history_of& h, const history::record& end, history::work kind) {
    return std::any_of(h.begin(), h.end(), [&](const history::record& r) {
      return r.what == history::event::posted && r.kind == kind && r.process == end.process && r.id == end.id;
    });
  }
  static void repeat(history_of& h, place which) {
    const history::record same = *which;
    h.insert(which, same);
  }
  void too_late(history_of& h, history::work kind) const {
    the_end_of(h, kind)->at = the_post(h, kind)->deadline + slack_.count() + 1;
  }

  std::vector<history::property> named(const history_of& h) const {
    history::checker judge(history::judgement_options{.deadline_slack = slack_});
    judge.add(h);
    std::vector<history::property> all;
    for (const auto& each : judge.judge().violations) all.push_back(each.which);
    return all;
  }
  void judge(history::property should, const std::function<void(history_of&)>& falsify) {
    history_of h = all_;
    falsify(h);
    const auto said = named(h);
    EXPECT_FALSE(said.empty()) << "not named: " << name_of(should);
    for (const history::property each : said) EXPECT_EQ(name_of(each), name_of(should));
  }

  const history_of& all_;
  duration slack_;
};

}  // namespace weft::test
