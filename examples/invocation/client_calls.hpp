// SPDX-License-Identifier: Apache-2.0
//
// The client's calls: how they are posted, and how they end: by a reply, a deadline, or the loss of their worker.
// Hot path: yes. Threads: the client's.
#pragma once

#include "client.hpp"

namespace weft::invocation {

template <complete_fabric F>
trouble client<F>::submit_until(std::uint16_t worker, std::uint32_t function, const_bytes input, void* context,
                                instant due) noexcept {
  if (state_ != allocation_state::serving || worker >= links_.size() || links_[worker].lost) [[unlikely]]
    return manager_lost_ ? trouble::manager_lost : trouble::executor_lost;
  if (function >= functions_.size()) [[unlikely]]
    return trouble::no_such_function;
  if (input.size() > request_.input_bytes) [[unlikely]]
    return trouble::too_large;
  worker_link& w = links_[worker];
  if (w.free == 0) return trouble::busy;
  const std::uint8_t s = w.first_free();
  const call_slot& slot = w.slots[s];
  const std::size_t place = (std::size_t{worker} * request_.slots + s) * input_stride();
  const local_memory from = staging_.slice(place, sizeof(call_header) + input.size());
  put_words(from.data, call_header{next_id_, function, static_cast<std::uint32_t>(input.size()), slot.sequence,
                                   o_.polling.sleeps() ? caller_sleeps : 0});
  if (!input.empty()) std::memcpy(from.data + sizeof(call_header), input.data(), input.size());
  const status posted =
      net_.put_notify(w.link, from, w.input.at(s * input_stride()), call_word{s, slot.sequence}.immediate());
  if (!posted) [[unlikely]] {
    if (posted.is_again()) return trouble::busy;
    return posted.code == errc::peer_lost ? trouble::executor_lost : trouble::refused;
  }
  w.take(s, next_id_++, context, due);
  ++outstanding_;
  return trouble::none;
}

template <complete_fabric F>
template <class On>
int client<F>::progress(On&& on) {
  const int found = net_.progress(router(on));
  letters_.pump(net_);
  if (found > 0) {
    idle_.worked();
    quiet_ = false;
  }
  if (++polls_ >= polls_per_clock || idle_.warm()) [[unlikely]] {
    polls_ = 0;
    look(on);
  }
  return found;
}

template <complete_fabric F>
template <class On>
void client<F>::replied(reply_word word, On& on) {
  if (word.worker >= links_.size() || word.slot >= request_.slots) return;  // of a lost allocation
  worker_link& w = links_[word.worker];
  const call_slot& slot = w.slots[word.slot];
  if (slot.state == call_slot::use::free || word.sequence != static_cast<std::uint16_t>(slot.sequence))
    return;  // reported before
  const std::byte* at = output_.data() + (std::size_t{word.worker} * request_.slots + word.slot) * output_stride();
  const auto reply = copy_header<reply_header>(at);
  if (reply.id != slot.id) return;  // a late one of another call: the deadline ends this call
  if (slot.state == call_slot::use::cancelling) {
    --cancelling_;
    return w.give(word.slot);
  }
  finished how;
  how.detail = reply.detail;
  how.execution = duration(static_cast<std::int64_t>(reply.execution_ns));
  switch (static_cast<reply_code>(reply.code)) {
    case reply_code::ok:
      break;
    case reply_code::no_such_function:
      how.why = trouble::no_such_function;
      break;
    case reply_code::too_large:
      how.why = trouble::too_large;
      break;
    case reply_code::function_failed:
      how.why = trouble::function_failed;
      break;
    default:
      how.why = trouble::refused;
  }
  if (reply.length > request_.output_bytes) how.why = trouble::refused;
  if (how.why == trouble::none) how.output = {at + sizeof reply, reply.length};
  end_call(word.worker, word.slot, how, on);
}

/// Frees the slot before the report, so that the handler may submit again; the output stays until then. The report is
/// built in place: copying words that were just written would stall.
template <complete_fabric F>
template <class On>
void client<F>::end_call(std::uint16_t worker, std::uint8_t slot, finished& how, On& on) {
  worker_link& w = links_[worker];
  how.context = w.slots[slot].context;
  how.id = w.slots[slot].id;
  how.worker = worker;
  --outstanding_;
  if (how.why == trouble::deadline) {
    w.slots[slot].state = call_slot::use::cancelling;
    w.slots[slot].due = instant{};
    ++cancelling_;
  } else {
    w.give(slot);
  }
  on(std::as_const(how));
}

/// Now and then: checks deadlines, the manager, and whether it is time to sleep.
template <complete_fabric F>
template <class On>
void client<F>::look(On& on) {
  const instant now = net_.now();
  if (!std::exchange(quiet_, true)) quiet_since_ = now;
  (void)idle_.look(now - quiet_since_);
  watch_manager(now, on);
  if (outstanding_ + cancelling_ == 0) return;
  for (std::uint16_t i = 0; i < links_.size(); ++i) {
    worker_link& w = links_[i];
    if (w.lost) continue;
    for (std::uint8_t s = 0; s < w.slots.size(); ++s) {
      call_slot& slot = w.slots[s];
      if (slot.state == call_slot::use::free || now < slot.due) continue;
      if (slot.state == call_slot::use::waiting) {
        finished late = ended_with(trouble::deadline);
        end_call(i, s, late, on);
      }
      if (slot.state != call_slot::use::cancelling) continue;
      slot.due = now + cancel_again;
      (void)letters_.post(net_, w.link, cancel_message{call_word{s, slot.sequence}.immediate()});
    }
  }
}

/// Fails every outstanding call of one worker.
template <complete_fabric F>
template <class On>
void client<F>::lose(std::uint16_t worker, trouble why, On& on) {
  worker_link& w = links_[worker];
  if (std::exchange(w.lost, true)) return;
  for (std::uint8_t s = 0; s < w.slots.size(); ++s) {
    if (w.slots[s].state == call_slot::use::waiting) {
      finished over = ended_with(why);
      end_call(worker, s, over, on);
    }
    if (w.slots[s].state == call_slot::use::cancelling) {
      --cancelling_;
      w.give(s);
    }
  }
}

template <complete_fabric F>
outcome client<F>::invoke(std::uint32_t function, const_bytes input, bytes output, duration deadline) {
  outcome answer;
  if (outstanding_ > 0) return answer_with(trouble::busy);
  const instant end = net_.now() + deadline;
  bool over = false;
  auto on = [&](const finished& f) {
    over = true;
    answer = {f.why, f.detail, std::min(f.output.size(), output.size()), f.execution};
    if (f.output.size() > output.size()) answer.why = trouble::too_large;
    else if (!f.output.empty()) std::memcpy(output.data(), f.output.data(), f.output.size());
  };
  for (;;) {
    for (std::uint16_t tries = 0; tries < workers(); ++tries) {
      next_worker_ = static_cast<std::uint16_t>((next_worker_ + 1) % workers());
      answer.why = submit_until(next_worker_, function, input, nullptr, end);
      if (answer.why != trouble::busy && answer.why != trouble::executor_lost) break;
    }
    if (workers() == 0) answer.why = manager_lost_ ? trouble::manager_lost : trouble::executor_lost;
    if (answer.why != trouble::busy) break;
    if (net_.now() >= end) return answer_with(trouble::deadline);  // all slots wait for cancelled calls
    if (progress(on) == 0) rest();
  }
  if (answer.why != trouble::none) return answer;
  while (!over)
    if (progress(on) == 0 && !over) rest();
  return answer;
}

template <complete_fabric F>
void client<F>::invoke_each(std::uint32_t function, std::span<const call_of> calls, std::span<outcome> outcomes,
                            duration deadline) {
  const instant end = net_.now() + deadline;
  std::size_t left = 0;
  auto on = [&](const finished& f) {
    const auto i = static_cast<std::size_t>(static_cast<const outcome*>(f.context) - outcomes.data());
    outcome& o = outcomes[i];
    o = {f.why, f.detail, std::min(f.output.size(), calls[i].output.size()), f.execution};
    if (f.output.size() > calls[i].output.size()) o.why = trouble::too_large;
    else if (!f.output.empty()) std::memcpy(calls[i].output.data(), f.output.data(), f.output.size());
    --left;
  };
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (outstanding_ > left)
      outcomes[i].why = trouble::busy;  // calls of other callers are in flight: their results would be lost
    else
      while ((outcomes[i].why = submit(static_cast<std::uint16_t>(i), function, calls[i].input, &outcomes[i],
                                       deadline)) == trouble::busy &&
             net_.now() < end)
        (void)progress(on);
    left += std::size_t{outcomes[i].why == trouble::none};
  }
  while (left > 0)
    if (progress(on) == 0) rest();
}

}  // namespace weft::invocation
