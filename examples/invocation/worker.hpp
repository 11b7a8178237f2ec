// SPDX-License-Identifier: Apache-2.0
//
// A worker: one transport, two peers (manager and client), some input slots. It connects to both with the allocation's
// secrets and sends its functions to the client. Then it takes one call after the other: it copies the header once,
// checks it, executes the function, and puts the reply into the client's memory, all inside of the notification's
// handler.
// A call that arrives twice is executed once: each slot expects one sequence number. Output is staged per slot. A slot
// is used again only after the client has its reply, so the source of an unsignalled put is never overwritten while the
// library reads it. Hot path: serve(), called(), execute(). Threads: the owner's; a worker may open in one thread and
// run in another.
#pragma once

#include "accounting.hpp"
#include "confinement/start_gate.hpp"
#include "library.hpp"
#include "outbox.hpp"
#include "work_clock.hpp"

#include <bit>
#include <memory>

namespace weft::invocation {

/// Start parameters of a worker.
struct worker_settings {
  std::string node;       ///< Local address to use.
  std::string fabrics;    ///< Of a program of several: those that it may use; empty: all.
  std::string manager;    ///< host:service
  std::string client;     ///< host:service
  token allocation{};     ///< Proves to the manager that this worker belongs to the allocation.
  token client_secret{};  ///< Proves the same to the client.
  std::uint16_t index = 0;
  std::uint16_t slots = 4;
  std::uint32_t input_bytes = 0;
  std::uint32_t output_bytes = 0;
  invocation::polling polling;
  duration function_limit = 10s;
  duration silence = 2s;  ///< Of manager or client, beyond the function's limit: then it is lost.
  bool ships = false;     ///< Functions come from this object, not from the built-ins.
  digest object{};
  std::uint32_t object_bytes = 0;
  duration start_limit = 10s;
  bool counts_ticks =
      false;  ///< Accounts may use the processor's counter (work_clock): the port's clock is the machine's.
};

/// Since when a worker is inside a function (nanoseconds of its clock; 0: it is not), for the watch over its limit.
using busy_since = std::atomic<std::int64_t>;

template <complete_fabric F>
class worker {
 public:
  /// What a worker's transport is opened with.
  static transport_options options(const worker_settings& s) {
    transport_options o;
    o.node = s.node;
    o.fabrics = s.fabrics;
    o.sleeps = s.polling.sleeps();
    o.peers = 4;
    o.operations = 2 * most_slots + 64;
    o.operation_timeout = s.function_limit + 10s;
    o.silence_limit = s.function_limit + s.silence;
    return o;
  }

  /// `gates`: of the workers that share a process; none where the process is not confined.
  static result<std::unique_ptr<worker>> open(const worker_settings& s, worker_journal& journal,
                                              function_library& library, busy_since& busy,
                                              start_gates* gates = nullptr) {
    auto net = weft::open<F>(options(s));
    if (!net) return std::move(net).error();
    return open_with(std::move(net).value(), s, journal, library, busy, gates);
  }
  /// The same with a transport that was opened earlier, with options(s).
  static result<std::unique_ptr<worker>> open_with(transport<F> net, const worker_settings& s, worker_journal& journal,
                                                   function_library& library, busy_since& busy, start_gates* gates) {
    auto letters = outbox<F>::open(net, 16);
    if (!letters) return std::move(letters).error();
    return std::unique_ptr<worker>(
        new worker(s, std::move(net), std::move(letters).value(), journal, library, busy, gates));
  }

  /// Connects to manager and client, serves until the message to finish, settles the account. Returns when all messages
  /// are sent. Errors: the peer that could not be reached or was lost, in a sentence.
  result<void> run() {
    if (auto met = start(); !met) return met;
    serve();
    return settle();
  }

 private:
  struct input_slot {
    std::uint32_t expected = 0;
    std::uint32_t answered = 0;      ///< The sequence number of the last reply.
    std::uint32_t answer_bytes = 0;  ///< Of the last reply, with its header.
  };

  worker(const worker_settings& s, transport<F> net, outbox<F> letters, worker_journal& journal,
         function_library& library, busy_since& busy, start_gates* gates)
      : s_(s),
        letters_(std::move(letters)),
        net_(std::move(net)),
        ledger_(journal),
        library_(library),
        busy_(busy),
        gates_(gates),
        slots_(s.slots),
        idle_(s.polling),
        clock_(s.counts_ticks) {}

  // ---- events
  struct events {
    worker& w;
    void operator()(const notified& e) const noexcept { w.called(call_word::of(e.immediate)); }
    void operator()(const completed& e) const noexcept {
      if (e.what == operation::send) w.letters_.ended(e.context);
      if (e.what == operation::fetch_add) (void)w.ledger_.acknowledged(e.context);
      if (e.what == operation::get) w.fetched_ = true;
    }
    void operator()(const failed& e) const noexcept {
      if (e.what == operation::send) w.letters_.ended(e.context);
      if (e.what == operation::fetch_add) w.ledger_.lost(e.context);
      if (e.what == operation::get) w.fetch_failed_ = true;
    }
    // A peer may send before connect() has returned its handle. The manager is connected first, so before that it is
    // the only peer.
    void operator()(const received& e) const {
      !w.manager_ || e.peer == w.manager_ ? w.from_manager(e.peer, e.message) : w.from_client(e.peer, e.message);
    }
    void operator()(const lost& e) const {
      w.loss_ = std::string(e.why.operation) + (w.net_.reason().empty() ? "" : ": " + w.net_.reason());
      if (e.peer == w.manager_) w.manager_lost_ = true;
      if (e.peer == w.client_) w.client_lost_ = true;
    }
    void operator()(const requested& e) const { (void)w.net_.reject(e.peer, "a worker accepts no connections"); }
    void operator()(const connected&) const noexcept {}
  };

  void from_manager(peer manager, const_bytes message) {
    if (const auto a = unpack<account_message>(message)) {
      if (auto words = net_.parse_region(manager, a->words)) {
        words_ = *words;
        has_account_ = true;
      }
    } else if (unpack<finish_message>(message)) {
      finish_ = true;
      finish_by_ = net_.now() + s_.function_limit;
    }
  }
  void from_client(peer client, const_bytes message) {
    if (const auto w = unpack<welcome_message>(message)) {
      auto output = net_.parse_region(client, w->output);
      if (!output || output->size() < std::uint64_t{s_.slots} * output_stride() * (s_.index + 1U)) return;
      output_ = *output;
      if (w->ships)
        if (auto object = net_.parse_region(client, w->object)) object_ = *object;
      welcomed_ = true;
    } else if (const auto c = unpack<cancel_message>(message)) {
      cancel(call_word::of(c->word));
    }
  }

  /// A notice: a call if it is the one that its slot expects; otherwise a duplicate or nonsense, without effect.
  /// Executed here, inside of the transport's handler: after it the transport polls other links first.
  void called(call_word c) noexcept {
    if (c.slot >= slots_.size() || c.sequence != slots_[c.slot].expected || !serving_ || client_lost_) return;
    slots_[c.slot].expected = (c.sequence + 1) & call_word::sequence_mask;
    execute(c);
  }
  void cancel(call_word c) {
    if (c.slot >= slots_.size()) return;
    if (c.sequence == slots_[c.slot].expected) slots_[c.slot].expected = (c.sequence + 1) & call_word::sequence_mask;
    if ((late_replies_ & bit_of(c.slot)) != 0) return;  // its reply is not posted yet, and answers this one too
    (void)letters_.post(net_, client_, cancelled_message{c.immediate()});
  }

  // ---- start
  std::size_t input_stride() const noexcept { return slot_stride(sizeof(call_header), s_.input_bytes); }
  std::size_t output_stride() const noexcept { return slot_stride(sizeof(reply_header), s_.output_bytes); }

  result<void> start();
  failure unmet(status s, const std::string& what) const;
  result<peer> meet(const std::string& where, const token& secret, instant end);
  result<void> introduce(instant end);
  result<const function_table*> functions(instant end);
  result<void> keep_object(instant end);
  result<std::vector<std::byte>> fetch(instant end);
  result<void> pass(start_gate start_gates::*which, instant end);

  template <class Done>
  status wait_for(Done&& done, instant end) {
    while (!done()) {
      if (manager_lost_ || client_lost_) return error(errc::peer_lost, "worker");
      const int found = net_.progress(events{*this});
      letters_.pump(net_);
      if (found > 0) continue;
      if (net_.now() >= end) return error(errc::deadline, "worker");
      ::sched_yield();
    }
    return {};
  }
  /// Posts until the queue accepts it. `hopeless`: the loss that makes waiting useless.
  template <class Post>
  status post_until(Post&& post, instant end, const bool& hopeless) {
    for (;;) {
      const status s = post();
      if (!s.is_again()) return s;
      (void)net_.progress(events{*this});
      if (hopeless) return error(errc::peer_lost, "worker");
      if (net_.now() >= end) return error(errc::deadline, "worker");
    }
  }

  // ---- serving
  void serve() {
    idle_since_ = booked_ = clock_.read(net_);
    serving_ = true;
    while (!manager_lost_ && !client_lost_) {
      executed_ = false;
      const int found = net_.progress(events{*this});
      if (late_replies_ != 0) [[unlikely]]
        post_late_replies();
      if (executed_) {
        if (ledger_.due()) flush();
        continue;
      }
      if (finish_ && (late_replies_ == 0 || net_.now() >= finish_by_)) return;
      letters_.pump(net_);
      if (idle_.time_to_poll() || idle_.warm()) look();
      if (found == 0) idle_.rest(net_);
    }
  }

  /// Now and then while idle: adds the polling time to the account, and sleeps when it is time.
  void look() {
    const instant now = clock_.read(net_);
    if (!idle_.warm()) {
      ledger_.note(account::hot, now - booked_);
      if (idle_.look(now - idle_since_)) flush();
    }
    booked_ = now;
    if (ledger_.due()) flush();
  }
  void flush() noexcept { ledger_.flush(net_, manager_, words_, s_.index * account_bytes); }

  /// One call, from its header to its reply.
  void execute(call_word c) noexcept {
    const instant begin = clock_.read(net_);
    const std::byte* in = input_.data() + c.slot * input_stride();
    std::byte* out = staging_.data() + c.slot * output_stride();
    const auto call = copy_header<call_header>(in);
    reply_header reply{call.id, 0, 0, 0,
                       static_cast<std::uint32_t>(judge(call, c.sequence, functions_->size(), s_.input_bytes))};
    instant end = begin;
    if (reply.code == 0) {
      busy_.store(begin.time_since_epoch().count(), std::memory_order_relaxed);
      const std::int64_t returned =
          functions_->at(call.function)(in + sizeof call, call.length, out + sizeof reply, s_.output_bytes);
      busy_.store(0, std::memory_order_relaxed);
      end = clock_.read(net_);
      reply.execution_ns = static_cast<std::uint64_t>((end - begin).count());
      if (returned < 0 || returned > s_.output_bytes) {
        reply.code = static_cast<std::uint32_t>(reply_code::function_failed);
        reply.detail = returned;
      } else {
        reply.length = static_cast<std::uint32_t>(returned);
      }
    }
    put_words(out, reply);
    slots_[c.slot].answered = c.sequence;
    slots_[c.slot].answer_bytes = static_cast<std::uint32_t>(sizeof reply) + reply.length;
    // An error here is reported as the client's loss, or ends at the client by its deadline.
    if (answer_call(c.slot).is_again()) [[unlikely]]
      late_replies_ |= bit_of(c.slot);
    book(begin, end);
  }
  /// After the reply: the waiting client need not wait for the account.
  void book(instant begin, instant end) noexcept {
    if (!idle_.warm()) ledger_.note(account::hot, begin - booked_);
    ledger_.note(account::execution, end - begin);
    ledger_.count();
    booked_ = idle_since_ = end;
    idle_.worked();
    executed_ = true;
  }

  status answer_call(std::uint8_t slot) noexcept {
    const input_slot& of = slots_[slot];
    const reply_word word{static_cast<std::uint8_t>(s_.index), slot, static_cast<std::uint16_t>(of.answered)};
    const std::uint64_t place = (std::uint64_t{s_.index} * s_.slots + slot) * output_stride();
    return net_.put_notify(client_, staging_.slice(slot * output_stride(), of.answer_bytes), output_.at(place),
                           word.immediate());
  }
  /// Replies that the full queue refused.
  void post_late_replies() noexcept {
    for (std::uint64_t left = late_replies_; left != 0; left &= left - 1) {
      const auto slot = static_cast<std::uint8_t>(std::countr_zero(left));
      if (answer_call(slot).is_again()) return;
      late_replies_ &= ~bit_of(slot);
    }
  }
  static constexpr std::uint64_t bit_of(std::uint8_t slot) noexcept { return std::uint64_t{1} << slot; }

  // ---- end
  result<void> settle() {
    if (manager_lost_) return {error(errc::peer_lost, "worker"), "the manager was lost"};
    const instant end = net_.now() + 5s;
    if (!idle_.warm()) ledger_.note(account::hot, clock_.read(net_) - booked_);
    const status s = post_until(
        [&] {
          flush();
          return ledger_.settled() || ledger_.failed() ? status{} : again(waits_for::queue, "settle");
        },
        end, manager_lost_);
    if (!s || ledger_.failed())
      return {s ? error(errc::broken, "settle") : s, "the account could not be settled with the manager"};
    const amounts all = ledger_.earned();
    (void)letters_.post(net_, manager_, totals_message{all.hot, all.execution, ledger_.invocations()});
    while (!letters_.idle() && !manager_lost_ && net_.now() < end) {
      (void)net_.progress(events{*this});
      letters_.pump(net_);
      if (!letters_.idle()) (void)net_.wait(1ms);  // a stopped manager takes no letter
    }
    if (client_lost_ && !finish_) return {error(errc::peer_lost, "worker"), "the client was lost"};
    return {};
  }

  worker_settings s_;
  // Before the transport, so that the memory outlives posts that are still under way.
  outbox<F> letters_;
  owned_region input_;
  owned_region staging_;
  transport<F> net_;
  ledger ledger_;
  function_library& library_;
  busy_since& busy_;
  start_gates* gates_;
  const function_table* functions_ = nullptr;
  peer manager_;
  peer client_;
  remote_region words_;
  remote_region output_;
  remote_region object_;
  std::vector<input_slot> slots_;
  std::uint64_t late_replies_ = 0;  ///< A bit for each slot whose reply the full queue refused.
  idler idle_;
  work_clock<> clock_;  ///< Accounts read this clock; limits of waits use the transport's clock.
  instant idle_since_{};
  instant booked_{};
  bool has_account_ = false;
  bool welcomed_ = false;
  bool finish_ = false;
  instant finish_by_{};  ///< Even if the client's queue does not accept the outstanding replies.
  bool serving_ = false;
  bool executed_ = false;  ///< In this poll.
  bool manager_lost_ = false;
  bool client_lost_ = false;
  std::string loss_;  ///< Of the last lost peer: for the sentence.
  bool fetched_ = false;
  bool fetch_failed_ = false;
};

}  // namespace weft::invocation

#include "worker_start.hpp"  // IWYU pragma: export
