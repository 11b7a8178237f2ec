// SPDX-License-Identifier: Apache-2.0
//
// Arrived packets take effect here, in an order that the row permits: a packet overtakes another only where no cell
// promises order.
#include "connections.hpp"
#include "matching.hpp"
#include "posting.hpp"
#include "rules.hpp"
#include "serving.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

namespace weft::emulator {
namespace {

using std::chrono::steady_clock;

/// Messages without a receive before their senders have to wait.
constexpr std::size_t most_unexpected = 1024;

bool is_message(const packet_header& p) { return p.kind == packet_kind::message || p.kind == packet_kind::tagged; }
bool is_message(const packet& p) { return is_message(p.head); }

/// Earlier packets of one sender that wait.
struct waiting {
  bool messages = false;
  bool writes = false;
};

/// Whether the row lets `later` take effect before earlier packets of the same sender.
bool may_overtake(const packet& later, const waiting& earlier) {
  const profile& row = *emulated();
  if (is_message(later))
    return !(earlier.messages && row.order_send_after_send) && !(earlier.writes && row.order_send_after_write);
  return later.head.kind != packet_kind::write || !earlier.writes || !row.order_write_after_write;
}

/// True when it took effect or waits for its receive; false when it has to wait here.
bool take_effect(endpoint& of, packet& p) {
  if (!is_message(p)) return serve_remote(of, p);
  admit(of, std::move(p));
  return true;
}

// ---- answers
void settle(endpoint& of, const packet& p) {
  const auto known = of.posted.find(p.head.number);
  if (known == of.posted.end()) return;
  outstanding done = std::move(known->second);
  of.posted.erase(known);
  std::size_t copied = 0;
  for (const iovec& into : done.into) {
    const std::size_t n = std::min(into.iov_len, p.payload.size() - copied);
    if (n > 0) std::memcpy(into.iov_base, p.payload.data() + copied, n);
    copied += n;
  }
  const profile& row = *emulated();
  const bool silent =
      done.kind == packet_kind::write && !row.refused_write_reported && (!done.delivered || row.refused_write_hidden);
  finish(of, done, silent ? 0 : p.head.code, copied);
}

void forget(endpoint& of, std::uint64_t peer) {
  for (auto each = of.posted.begin(); each != of.posted.end();) {
    if (each->second.peer != peer) {
      ++each;
      continue;
    }
    outstanding lost = std::move(each->second);
    each = of.posted.erase(each);
    if (emulated()->reports_killed_peer) finish(of, lost, FI_ECONNABORTED, 0);
  }
}

steady_clock::time_point due(endpoint& of, const packet& p) {
  const conduct& how = conducted();
  auto at = p.arrived + std::chrono::nanoseconds(how.latency_ns);
  if (how.bytes_per_second > 0) {
    const auto busy = std::chrono::nanoseconds(p.payload.size() * 1'000'000'000 / how.bytes_per_second);
    at = std::max(at, of.line_free) + busy;
    of.line_free = at;
  }
  return at;
}

void settle_due(endpoint& of, steady_clock::time_point now) {
  while (!of.answers.empty() && of.answers.front().due <= now) {
    const packet next = std::move(of.answers.front());
    of.answers.pop_front();
    settle(of, next);
  }
}

/// With WEFT_EMULATOR_EXPLAIN: a notice overtook a write, or a message overtook another. No rule is broken by that, but
/// a program that takes the notice for the end of all earlier writes reads old bytes.
void explain_overtaking(const packet_header& notice, const waiting& earlier) {
  static const bool wanted = ::secure_getenv("WEFT_EMULATOR_EXPLAIN") != nullptr;
  if (!wanted) return;
  const bool message = is_message(notice);
  if (!message && (notice.marks & mark::data) == 0) return;
  if (message && earlier.messages)
    broken("order_send_after_send",
           "a message took effect before an earlier one, as this fabric permits: its position says nothing "
           "about its order");
  if (earlier.writes)
    broken(message ? "order_send_after_write" : "order_write_after_write",
           std::string(message ? "a message" : "a write with an immediate") +
               " took effect before an earlier write, as this fabric permits: it says nothing about the "
               "bytes of that write");
}

/// One pass over the waiting packets.
void pass(endpoint& of) {
  const auto now = steady_clock::now();
  std::map<std::uint64_t, waiting> before;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < of.pending.size(); ++i) {
    packet& one = of.pending[i];
    waiting& earlier = before[one.head.source];
    if (may_overtake(one, earlier) && one.due <= now && !of.decisions.in_a_thousand(conducted().reorder)) {
      const packet_header head = one.head;
      if (take_effect(of, one)) {
        explain_overtaking(head, earlier);
        continue;
      }
    }
    (is_message(one) ? earlier.messages : earlier.writes) |= is_message(one) || one.head.kind == packet_kind::write;
    if (kept != i) of.pending[kept] = std::move(one);
    ++kept;
  }
  of.pending.resize(kept);
}

}  // namespace

void progress(endpoint& of) {
  of.last_poll = steady_clock::now();
  std::deque<packet> arrived;
  std::vector<std::uint64_t> gone;
  of.wire.pump(arrived, gone);
  for (packet& each : arrived) {
    if (each.head.kind == packet_kind::answer) {
      each.due = due(of, each);
      of.answers.push_back(std::move(each));
      continue;
    }
    if (each.head.kind >= packet_kind::dial) {
      take_connection_packet(of, each);
      continue;
    }
    each.due = due(of, each);
    // A message is transmitted when it is here. A sender that requested delivery waits for more, and so does a sender
    // without end.
    if (is_message(each) && (each.head.marks & mark::delivered) == 0) {
      each.unreported = of.pending.size() + of.unexpected.size() >= most_unexpected;
      if (!each.unreported) answer(of, each, 0);
    }
    of.pending.push_back(std::move(each));
  }
  settle_due(of, steady_clock::now());
  for (const std::uint64_t peer : gone) {
    settle_due(of, steady_clock::time_point::max());  // answers that the peer sent before it left
    forget(of, peer);
    if (peer == of.peer) report_shutdown(of);
  }
  if (!of.decisions.in_a_thousand(conducted().slow)) pass(of);
}

}  // namespace weft::emulator
