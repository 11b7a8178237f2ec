// SPDX-License-Identifier: Apache-2.0
//
// How a client gets workers and releases them: it asks the manager, accepts workers that show the secret, and exchanges
// regions. The manager, as the executor's parent, or a broken connection reports that they are gone. Hot path: no.
// Threads: the client's.
#pragma once

#include "client.hpp"

#include <weft/core/printable.hpp>

#include <algorithm>

namespace weft::invocation {

template <complete_fabric F>
template <class Done>
status client<F>::wait_for(Done&& done, instant end) {
  while (!done()) {
    if (manager_lost_) return error(errc::peer_lost, "manager");
    if (progress() > 0) continue;
    if (net_.now() >= end) return error(errc::deadline, "client");
    rest();
  }
  return {};
}

template <complete_fabric F>
result<void> client<F>::prepare(const allocation_request& request) {
  if (request.workers == 0 || request.workers > o_.most_workers)
    return {error(errc::invalid, "allocate"), "asked for " + std::to_string(request.workers) +
                                                  " workers; this client was opened for 1 to " +
                                                  std::to_string(o_.most_workers)};
  if (request.slots < 2 || request.slots > most_slots)
    return {error(errc::invalid, "allocate"), "slots must be between 2 and " + std::to_string(most_slots)};
  if (request.object.size() > largest_object)
    return {error(errc::invalid, "allocate"), "an object of functions may have 16 MiB at most"};
  request_ = request;
  const std::size_t slots = std::size_t{request.workers} * request.slots;
  if (slots * (input_stride() + output_stride()) > most_memory)
    return {error(errc::invalid, "allocate"),
            std::to_string(slots) + " slots of " + std::to_string(request.input_bytes) + " and " +
                std::to_string(request.output_bytes) + " bytes need more than 1 GiB; ask for fewer or smaller ones"};
  auto staging = net_.allocate(slots * input_stride(), rights::none);
  if (!staging) return std::move(staging).error();
  staging_ = std::move(*staging);
  auto output = net_.allocate(slots * output_stride(), rights::remote_write);
  if (!output) return std::move(output).error();
  output_ = std::move(*output);
  if (!request.object.empty()) {
    auto object = net_.allocate(request.object.size(), rights::remote_read);
    if (!object) return std::move(object).error();
    object_ = std::move(*object);
    std::ranges::copy(request.object, object_.data());
  }
  links_.assign(request.workers, {});
  for (worker_link& w : links_) {
    w.slots.assign(request.slots, {});
    w.free = request.slots == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << request.slots) - 1;
  }
  return {};
}

template <complete_fabric F>
result<void> client<F>::allocate(const allocation_request& request, duration timeout) {
  if (manager_lost_) return {error(errc::peer_lost, "allocate"), "the manager is gone; connect to a manager again"};
  if (allocated()) return {error(errc::invalid, "allocate"), "an allocation exists already; release it first"};
  if (outstanding_ > 0)
    return {error(errc::invalid, "allocate"),
            std::to_string(outstanding_) + " calls are outstanding; wait for their results first"};
  if (state_ == allocation_state::serving) (void)letters_.post(net_, manager_, release_message{allocation_});
  drop_allocation();
  bill_.reset();
  if (auto good = prepare(request); !good) return good;
  const instant begin = net_.now();
  const instant end = begin + timeout;
  secret_ = random_token();
  state_ = allocation_state::asked;
  const std::string where = net_.listen_address();
  allocate_message ask;
  ask.workers = request.workers;
  ask.slots = request.slots;
  ask.input_bytes = request.input_bytes;
  ask.output_bytes = request.output_bytes;
  ask.polling = request.polling.mode;
  ask.hot_ms = static_cast<std::uint32_t>(request.polling.hot_for / 1ms);
  ask.function_limit_ns = static_cast<std::uint64_t>(o_.function_limit.count());
  ask.source = request.object.empty() ? function_source::built_in : function_source::object;
  if (!request.object.empty()) ask.object = sha256(request.object);
  ask.object_bytes = static_cast<std::uint32_t>(request.object.size());
  ask.secret = secret_;
  ask.where = where;
  if (const status s = letters_.post(net_, manager_, ask); !s) return {s, "the request could not be sent"};

  const auto ended = [&] { return state_ == allocation_state::refused || state_ == allocation_state::lost; };
  instant reached[3] = {begin, begin, begin};
  const auto mark = [&](std::size_t step, bool now) {
    if (now && reached[step] == begin) reached[step] = net_.now();
    return now;
  };
  status s = wait_for([&] { return ended() || mark(0, answered_); }, end);
  if (s && !ended()) s = wait_for([&] { return ended() || mark(1, connected_ == request.workers); }, end);
  if (s && !ended()) s = wait_for([&] { return ended() || mark(2, ready_ == request.workers); }, end);
  if (!s || ended()) {
    const bool refused = state_ == allocation_state::refused;
    const std::string why =
        !s ? (manager_lost_ ? "the manager was lost" : "the workers were not ready in time") : sentence_;
    if (answered_ && state_ != allocation_state::lost)
      (void)letters_.post(net_, manager_, release_message{allocation_});
    state_ = allocation_state::lost;
    return {!s ? s : error(refused ? errc::rejected : errc::peer_lost, "allocate"), why};
  }
  times_.submit = reached[0] - begin;
  times_.spawn_connect = reached[1] - reached[0];
  times_.initialize = reached[2] - reached[1];
  state_ = allocation_state::serving;
  return {};
}

template <complete_fabric F>
result<bill> client<F>::release(duration timeout) {
  if (state_ != allocation_state::serving) {
    if (state_ == allocation_state::lost)
      return {error(errc::peer_lost, "release"), "the executor was lost: " + sentence_};
    return {error(errc::invalid, "release"), "there is no allocation"};
  }
  if (outstanding_ > 0)
    return {error(errc::invalid, "release"),
            std::to_string(outstanding_) + " calls are outstanding; wait for their results first"};
  state_ = allocation_state::releasing;
  bill_.reset();
  if (const status s = letters_.post(net_, manager_, release_message{allocation_}); !s)
    return {s, "the release could not be sent"};
  const status s = wait_for([&] { return bill_.has_value(); }, net_.now() + timeout);
  if (!s) {
    state_ = allocation_state::lost;
    sentence_ = manager_lost_ ? "the manager was lost" : "the manager did not write the bill in time";
    return {s, sentence_};
  }
  drop_allocation();
  return *bill_;
}

template <complete_fabric F>
result<void> client<F>::wait_for_inherited_bill(duration timeout) {
  const status s = wait_for([&] { return inherited_.has_value(); }, net_.now() + timeout);
  if (!s) return {s, "no node has brought the account of the allocation whose manager is gone"};
  return {};
}

/// Drops workers and memory. Staged inputs of a lost allocation stay until the transport closes: a fabric that
/// retransmits may still read them.
template <complete_fabric F>
void client<F>::drop_allocation() {
  if (state_ == allocation_state::none) return;
  auto ignore = nobody_waits();
  const bool orderly = state_ == allocation_state::releasing;
  for (const worker_link& w : links_)
    if (w.link.alive()) (void)net_.close(w.link, 100ms, router(ignore));
  if (!orderly) (void)staging_.release();
  staging_ = {};
  output_ = {};
  object_ = {};
  links_.clear();
  functions_ = {};
  state_ = allocation_state::none;
  answered_ = false;
  allocation_ = executor_ = 0;
  connected_ = ready_ = 0;
  outstanding_ = cancelling_ = 0;
  sentence_.clear();
}

template <complete_fabric F>
void client<F>::asked(const requested& e) {
  const auto g = e.has_private_data ? parse_greeting(e.private_data) : std::nullopt;
  if (!g || g->who != role::worker || state_ != allocation_state::asked || !same_token(g->secret, secret_))
    return (void)net_.reject(e.peer, "wrong token");
  if (g->worker >= links_.size() || links_[g->worker].link)
    return (void)net_.reject(e.peer, "this worker is here already");
  worker_link& w = links_[g->worker];
  w.link = e.peer;
  (void)net_.accept(e.peer);
  ++connected_;
  greet(w);
}

template <complete_fabric F>
void client<F>::greet(worker_link& w) {
  welcome_message welcome;
  welcome.output = net_.export_region(w.link, output_, owner_polls);
  if (object_.size() > 0) {
    welcome.ships = true;
    welcome.object = net_.export_region(w.link, object_, owner_polls);
  }
  (void)letters_.post(net_, w.link, welcome);
}

template <complete_fabric F>
void client<F>::meet_ready(worker_link& w, const ready_message& m) {
  if (w.ready) return;
  auto input = net_.parse_region(w.link, m.input);
  if (!input || input->size() < input_stride() * request_.slots) return;
  function_table table;
  std::string_view rest = m.names;
  while (!rest.empty()) {
    const auto line = rest.find('\n');
    // The functions themselves are the worker's; here only names and positions matter.
    if (line == std::string_view::npos || !table.add(rest.substr(0, line), [](auto...) { return std::int64_t{0}; }))
      return;
    rest.remove_prefix(line + 1);
  }
  if (table.names() != m.names) return;  // not sorted: positions would differ
  functions_ = std::move(table);
  w.input = *input;
  w.ready = true;
  ++ready_;
}

template <complete_fabric F>
template <class On>
void client<F>::from_worker(peer from, const_bytes message, On& on) {
  for (std::uint16_t i = 0; i < links_.size(); ++i) {
    worker_link& w = links_[i];
    if (w.link != from) continue;
    if (const auto m = unpack<ready_message>(message)) return meet_ready(w, *m);
    if (const auto m = unpack<unable_message>(message)) {
      if (state_ != allocation_state::asked) return;
      sentence_ = printable(m->sentence);
      state_ = allocation_state::refused;
      return;
    }
    if (const auto m = unpack<cancelled_message>(message)) {
      const call_word c = call_word::of(m->word);
      if (c.slot >= w.slots.size() || w.slots[c.slot].state != call_slot::use::cancelling ||
          w.slots[c.slot].sequence != c.sequence)
        return;
      --cancelling_;
      return w.give(c.slot);
    }
    (void)on;
    return;
  }
}

template <complete_fabric F>
template <class On>
void client<F>::from_manager(const_bytes message, On& on) {
  if (manager_lost_) return;  // silent for too long, and its client has gone on without it
  watch_.heard();
  if (const auto m = unpack<allocated_message>(message)) {
    if (state_ != allocation_state::asked) return;
    allocation_ = m->allocation;
    executor_ = m->process;
    answered_ = true;
  } else if (const auto no = unpack<refused_message>(message)) {
    if (state_ != allocation_state::asked) return;
    sentence_ = printable(no->sentence);
    state_ = allocation_state::refused;
  } else if (const auto over = unpack<released_message>(message)) {
    if (over->bill.allocation == allocation_) bill_ = bill::of(over->bill);
  } else if (const auto all = unpack<managers_message>(message)) {
    managers_ = addresses_in(all->addresses);
  } else if (const auto late = unpack<inherited_message>(message)) {
    if (same_token(late->secret, claimed_)) inherited_ = bill::of(late->bill);
  } else if (const auto dead = unpack<executor_lost_message>(message)) {
    if (dead->bill.allocation != allocation_ || state_ == allocation_state::none) return;
    bill_ = bill::of(dead->bill);
    if (state_ != allocation_state::refused) sentence_ = printable(dead->sentence);
    if (state_ == allocation_state::releasing) return;
    lose(trouble::executor_lost, on);
  }
}

template <complete_fabric F>
template <class On>
void client<F>::gone(peer who, On& on) {
  if (who == manager_) return manager_gone("the manager was lost", on);
  for (std::uint16_t i = 0; i < links_.size(); ++i)
    if (links_[i].link == who) {
      if (state_ != allocation_state::serving && state_ != allocation_state::lost) return;
      if (sentence_.empty()) sentence_ = "the connection to worker " + std::to_string(i) + " was lost";
      return lose(i, trouble::executor_lost, on);
    }
}

template <complete_fabric F>
template <class On>
void client<F>::manager_gone(std::string why, On& on) {
  if (std::exchange(manager_lost_, true)) return;
  sentence_ = std::move(why);
  lose(trouble::manager_lost, on);
}

/// The library took or delivered no message to the manager. Where the transport tells no end of a process, this is the
/// first sign of it.
template <complete_fabric F>
template <class On>
void client<F>::manager_refused(status why, On& on) {
  const bool gone = why.code == errc::peer_lost || why.code == errc::unreachable;
  if (watch_.on() && gone) manager_gone("the manager was lost: it cannot be reached any more", on);
}

template <complete_fabric F>
template <class On>
void client<F>::watch_manager(instant now, On& on) {
  if (!watch_.on() || manager_lost_) return;
  switch (watch_.look(now)) {
    case manager_watch::finding::calm:
      return;
    case manager_watch::finding::ask:
      // Over tcp_rxm the link to a killed process is never again ready for a message.
      if (letters_.waits(manager_)) watch_.doubt();
      else (void)letters_.post(net_, manager_, alive_message{});
      return manager_refused(letters_.refusal(manager_), on);
    case manager_watch::finding::silent:
      return manager_gone("the manager said nothing for " + std::to_string(watch_.limit() / 1ms) + " ms", on);
  }
}

/// The whole allocation is lost.
template <complete_fabric F>
template <class On>
void client<F>::lose(trouble why, On& on) {
  if (state_ == allocation_state::asked || state_ == allocation_state::serving) state_ = allocation_state::lost;
  for (std::uint16_t i = 0; i < links_.size(); ++i) lose(i, why, on);
}

}  // namespace weft::invocation
