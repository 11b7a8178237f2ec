// SPDX-License-Identifier: Apache-2.0
//
// A run whose history carries all that the checker judges: deadlines, bytes, guard bytes, keys, a lost peer. The test
// then falsifies one record of the real history for each property, and the checker names that property and no other.
// Hot path: no. Threads: one per side.
#pragma once

#include "../../history/checker.hpp"
#include "numbered_messages.hpp"
#include "two_sides.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace weft::conformance {

struct full_history {
  static constexpr std::uint32_t notices = 20, messages = 10;
  static constexpr std::size_t each = 64, guard = 256, size = notices * each;
  static constexpr duration timeout = 10s;
};

/// Side 0: a region with guard bytes on both sides, five more regions for their keys. Closes the connection.
template <class F>
void record_target(test_side& side) {
  using full = full_history;
  auto net = opened<F>(side, listening());
  observer seen;
  std::vector<std::byte> memory(full::guard + full::size + full::guard);
  const auto inner = bytes(memory).subspan(full::guard, full::size);
  const auto page = net.register_region(inner, rights::remote_write).value();
  std::vector<owned_region> more;
  const auto record_key = [&](const region& r) {
    const auto parsed = net.parse_region(net.export_region(r, owner_polls)).value();
    side.book.key_issued(net.now(), parsed.record().key);
  };
  record_key(page);
  for (int i = 0; i < 5; ++i) {
    more.push_back(net.allocate(64, rights::remote_write).value());
    record_key(more.back());
  }
  seen.on_notified = [&](const notified& n) {
    ASSERT_LT(n.immediate, full::notices);
    side.book.notified(1, net.now(), n.immediate, inner.subspan(n.immediate * full::each, full::each));
  };
  seen.on_received = [&](const received& m) { side.book.received(1, net.now(), number_of(m.message), m.message); };
  const peer other = meet_as_listener(side, net, seen);
  side.send_value(1, const_bytes(net.export_region(page, owner_polls)));
  await(side, net, seen, "all notices and messages",
        [&] { return seen.notices == full::notices && seen.messages == full::messages; });
  serve(side, net, seen, 1);
  (void)side.wait_for_value(1);
  EXPECT_TRUE(net.close(other, patience, seen));
  const std::vector<std::byte> untouched(full::guard);
  side.book.guard(net.now(), 1, untouched, const_bytes(memory).first(full::guard));
  side.book.guard(net.now(), 1, untouched, const_bytes(memory).last(full::guard));
  side.book.finished(net.now());
}

/// Side 1: notices, messages, a wait without an event. Then its peer closes.
template <class F>
void record_initiator(test_side& side) {
  using full = full_history;
  initiator_side<F> guest(side, full::size + full::messages * full::each);
  auto& net = guest.net;
  observer& seen = guest.seen;
  std::vector<std::uint64_t> ids(full::notices + full::messages);
  seen.on_completed = [&](const completed& c) {
    side.book.ended(*static_cast<std::uint64_t*>(c.context), net.now(), errc::ok);
  };
  for (std::uint32_t i = 0; i < ids.size(); ++i) {
    const local_memory from = guest.memory.slice(i * full::each, full::each);
    const bool notifies = i < full::notices;
    const std::uint32_t number = notifies ? i : i - full::notices;
    write_message({from.data, from.size}, number);
    ids[i] = side.book.posted(notifies ? history::work::put_notify : history::work::send, 0, net.now(),
                              latest_end(net, full::timeout), number, const_bytes(from.data, from.size));
    push(side, net, seen, "post", [&] {
      if (!notifies) return net.send(guest.other, from, &ids[i]);
      return net.put_notify(guest.other, from, guest.there.at(i * full::each), i, &ids[i]);
    });
  }
  await(side, net, seen, "all completions", [&] { return seen.completions == ids.size(); });
  const std::uint64_t wait = side.book.posted(history::work::wait, 0, net.now(), net.now() + 50ms);
  EXPECT_EQ(net.until([] { return false; }, 50ms, seen).code, errc::deadline);
  side.book.ended(wait, net.now(), errc::deadline);
  side.ready(0);
  await(side, net, seen, "the goodbye", [&] { return seen.losses == 1; });
  side.book.finished(net.now());
}

/// Falsifies the history once for each property. Each time the checker names that property alone.
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
    judge(property::success_after_peer_lost, [&](history_of& h) {
      const history::record lost = *std::find_if(
          h.begin(), h.end(), [](const history::record& r) { return r.what == event::peer_lost && r.process == 1; });
      h.insert(h.begin(), lost);
    });
  }

 private:
  using history_of = std::vector<history::record>;
  using place = history_of::iterator;

  static place the(history_of& h, history::event what) {
    const place found = std::find_if(h.begin(), h.end(), [what](const history::record& r) { return r.what == what; });
    if (found == h.end()) throw stopped("the history has no record of the kind " + std::string(name_of(what)));
    return found;
  }
  static place the_post(history_of& h, history::work kind) {
    const place found = std::find_if(h.begin(), h.end(), [kind](const history::record& r) {
      return r.what == history::event::posted && r.kind == kind && r.deadline != 0;
    });
    if (found == h.end()) throw stopped("the history has no deadline of a " + std::string(name_of(kind)));
    return found;
  }
  static place the_end_of(history_of& h, history::work kind) {
    const history::record posted = *the_post(h, kind);
    const place found = std::find_if(h.begin(), h.end(), [&](const history::record& r) {
      return r.what == history::event::ended && r.process == posted.process && r.id == posted.id;
    });
    if (found == h.end()) throw stopped("the history has no end of a " + std::string(name_of(kind)));
    return found;
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

}  // namespace weft::conformance
