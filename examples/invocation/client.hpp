// SPDX-License-Identifier: Apache-2.0
//
// The client: asks a manager for workers, accepts them on its own transport, and invokes functions on them. submit()
// writes header and input into a free slot of a worker with one unsignalled put_notify: the reply proves its delivery.
// Inputs are staged per slot. A slot is free only after its reply, or after the worker's promise not to execute the
// call, so no source is overwritten while the library may read it. Hot path: submit(), progress(): no allocation.
// Threads: one owner. A handler must not call functions that take a timeout.
#pragma once

#include "client_link.hpp"
#include "library.hpp"
#include "membership/manager_watch.hpp"
#include "membership/sharing.hpp"
#include "outbox.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

namespace weft::invocation {

struct client_options {
  std::string node = "127.0.0.1";
  std::string fabrics;  ///< Of a program of several: those that it may use; empty: all.
  std::string service;  ///< The service that workers connect to; empty: any free one.
  duration function_limit =
      10s;                      ///< No function runs longer: its executor is killed. A silent peer is not lost earlier.
  invocation::polling polling;  ///< How this client waits for replies.
  std::uint16_t most_workers = 16;
  token identity{};                 ///< By this, managers share clients; all zero: a new one.
  std::uint16_t flags = 0;          ///< serve_here, lost_manager.
  std::uint32_t operations = 1024;  ///< Most calls and messages in flight.
  duration silence = 2s;            ///< Of a worker, beyond function_limit: then it is lost.
  /// How often the client asks whether its manager is there; zero: never. Then over fabrics that do not tell the end of
  /// a process (tcp_rxm) a dead manager is noticed as late as a silent worker.
  duration manager_every{};
  duration manager_silence = 2s;  ///< With manager_every: a manager that says nothing for so long is lost.
};

/// A call of the vector form: one per worker.
struct call_of {
  const_bytes input;
  bytes output;
};

template <complete_fabric F>
class client {
 public:
  /// Opens a transport and connects to a manager. Errors: a sentence.
  static result<std::unique_ptr<client>> connect(const std::string& manager, const client_options& o = {},
                                                 duration timeout = 5s) {
    transport_options t;
    t.node = o.node;
    t.fabrics = o.fabrics;
    t.service = o.service;
    t.listens = true;
    t.sleeps = o.polling.sleeps();
    t.peers = std::min(2U * o.most_workers + 4U, most_peers);
    t.operations = o.operations;
    t.operation_timeout = o.function_limit + 10s;
    t.silence_limit = o.function_limit + o.silence;
    auto net = weft::open<F>(t);
    if (!net) return std::move(net).error();
    auto letters = outbox<F>::open(*net, 2U * o.most_workers + 16U + most_questions(o));
    if (!letters) return std::move(letters).error();
    std::unique_ptr<client> c(new client(o, std::move(net).value(), std::move(letters).value()));
    const instant begin = c->net_.now();
    if (same_token(c->o_.identity, {})) c->o_.identity = random_token();
    auto ignore = nobody_waits();
    const auto meet = [&](const std::string& where, std::uint16_t flags, duration limit) {
      c->manager_address_ = where;
      return c->net_.connect(where, encode(greeting{role::client, flags, c->o_.identity}), limit, c->router(ignore));
    };
    auto link = meet(manager, o.flags, timeout);
    if (const auto other = link ? std::nullopt : redirected_to(link.error().sentence)) {
      link = meet(*other, o.flags | serve_here, timeout / 2);
      if (!link) link = meet(manager, o.flags | serve_here, timeout / 2);  // that one is gone, and nobody has noticed
    }
    if (!link) return std::move(link).error();
    c->manager_ = *link;
    c->times_.connect = c->net_.now() - begin;
    c->watch_ = manager_watch(c->o_.manager_every, c->o_.manager_silence, c->net_.now());
    return c;
  }
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  // ---- allocation
  /// Asks for workers; returns when all are ready. An earlier, lost allocation is dropped first. Errors: rejected (with
  /// the reason of the manager or a worker), peer_lost (the executor died), deadline.
  result<void> allocate(const allocation_request& request, duration timeout = 15s);
  /// Releases the workers; returns their cost. Errors: deadline, peer_lost.
  result<bill> release(duration timeout = 15s);

  /// Whether all workers of an allocation are there.
  bool allocated() const noexcept {
    return state_ == allocation_state::serving &&
           std::ranges::none_of(links_, [](const worker_link& w) { return w.lost; });
  }
  /// The fabric that reaches the workers.
  std::string_view fabric_of_workers() const noexcept { return net_.fabric_of(links_.front().link); }
  std::uint16_t workers() const noexcept { return static_cast<std::uint16_t>(links_.size()); }
  std::uint64_t executor_number() const noexcept { return executor_; }
  /// Why the last allocation was lost, and its cost until then; set by executor_lost. The next allocation has none yet.
  const std::string& loss() const noexcept { return sentence_; }
  const std::optional<bill>& last_bill() const noexcept { return bill_; }
  const cold_times& times() const noexcept { return times_; }
  /// host:service of the manager that serves this client, and of all that share clients (membership/), as last told.
  const std::string& manager_address() const noexcept { return manager_address_; }
  const std::vector<std::string>& managers() const noexcept { return managers_; }
  const token& identity() const noexcept { return o_.identity; }
  bool manager_lost() const noexcept { return manager_lost_; }
  /// What proves that the last allocation was this client's.
  const token& allocation_secret() const noexcept { return secret_; }
  /// Asks this manager for the bill of an allocation of a manager that is gone. It comes once its node has brought the
  /// account, or never.
  void claim(const token& secret) {
    claimed_ = secret;
    (void)letters_.post(net_, manager_, claim_message{secret});
  }
  /// That bill, as far as it has come.
  const std::optional<bill>& inherited_bill() const noexcept { return inherited_; }
  /// Waits for it. Errors: deadline, peer_lost.
  result<void> wait_for_inherited_bill(duration timeout);
  /// Another witness, such as etcd, says that the manager is gone: then less silence is enough (manager_watch).
  void doubt_manager() noexcept { watch_.doubt(); }
  /// The index of a function of the present allocation.
  std::optional<std::uint32_t> find(std::string_view function) const noexcept { return functions_.find(function); }
  std::string names() const { return functions_.names(); }

  // ---- invocation
  /// Posts a call to a worker. progress() reports its result exactly once. trouble::busy: no slot or queue room;
  /// others: not posted.
  trouble submit(std::uint16_t worker, std::uint32_t function, const_bytes input, void* context,
                 duration deadline) noexcept {
    return submit_until(worker, function, input, context, net_.now() + deadline);
  }
  /// The same for callers that know the time: on the fastest fabrics reading the clock takes as long as sending a call.
  trouble submit_until(std::uint16_t worker, std::uint32_t function, const_bytes input, void* context,
                       instant due) noexcept;
  /// Makes progress. Calls `on(const finished&)` for each call that ended. Returns the number of queue entries.
  template <class On>
  int progress(On&& on);
  /// The same for callers without calls in flight: results are dropped.
  int progress() {
    auto ignore = nobody_waits();
    return progress(ignore);
  }
  /// After a progress() without events: spins, yields or sleeps, as the options say.
  void rest() noexcept { idle_.rest(net_, 10ms); }
  std::uint32_t outstanding() const noexcept { return outstanding_; }
  bool has_room(std::uint16_t worker) const noexcept {
    return worker < links_.size() && links_[worker].usable() && links_[worker].free != 0;
  }

  /// Calls a function and waits. `on` gets the results of earlier calls; without `on` there must be none in flight
  /// (trouble::busy).
  outcome invoke(std::uint32_t function, const_bytes input, bytes output, duration deadline);
  outcome invoke(std::string_view function, const_bytes input, bytes output, duration deadline) {
    const auto index = functions_.find(function);
    return invoke(index ? *index : no_function, input, output, deadline);
  }
  /// Call i goes to worker i, all at once; returns when all ended. Requires: calls.size() == outcomes.size() <=
  /// workers().
  void invoke_each(std::uint32_t function, std::span<const call_of> calls, std::span<outcome> outcomes,
                   duration deadline);

  transport<F>& net() noexcept { return net_; }

 private:
  enum class allocation_state : std::uint8_t { none, asked, serving, releasing, refused, lost };
  static constexpr std::uint32_t no_function = ~std::uint32_t{0};
  static constexpr std::size_t most_memory = std::size_t{1} << 30;  ///< For the slots of one allocation.
  static constexpr std::uint32_t polls_per_clock = 64;
  static constexpr duration cancel_again = 100ms;

  struct waiting_call {
    outcome* into;
    bytes output;
    bool over = false;
  };

  client(const client_options& o, transport<F> net, outbox<F> letters)
      : o_(o), letters_(std::move(letters)), net_(std::move(net)), idle_(o.polling) {}

  /// Unanswered ones, before the silence limit ends.
  static std::uint32_t most_questions(const client_options& o) noexcept {
    if (o.manager_every <= duration()) return 0;
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(o.manager_silence / o.manager_every + 2, 4, 64));
  }
  static constexpr auto nobody_waits() noexcept {
    return [](const finished&) {};
  }

  template <class On>
  struct events {
    client& c;
    On& on;
    void operator()(const notified& e) const { c.replied(reply_word::of(e.immediate), on); }
    void operator()(const completed& e) const noexcept { c.letters_.ended(e.context); }
    void operator()(const failed& e) const {
      if (e.what != operation::send) return;
      c.letters_.ended(e.context);
      if (e.peer == c.manager_) c.manager_refused(e.why, on);
    }
    // The manager may send before connect() has returned its handle. It is the only peer then.
    void operator()(const received& e) const {
      !c.manager_ || e.peer == c.manager_ ? c.from_manager(e.message, on) : c.from_worker(e.peer, e.message, on);
    }
    void operator()(const requested& e) const { c.asked(e); }
    void operator()(const lost& e) const { c.gone(e.peer, on); }
    void operator()(const connected&) const noexcept {}
  };
  template <class On>
  events<On> router(On& on) noexcept {
    return {*this, on};
  }

  void asked(const requested& e);
  template <class On>
  void from_manager(const_bytes message, On& on);
  template <class On>
  void from_worker(peer from, const_bytes message, On& on);
  void greet(worker_link& w);
  void meet_ready(worker_link& w, const ready_message& m);
  template <class On>
  void gone(peer who, On& on);
  template <class On>
  void manager_gone(std::string why, On& on);
  template <class On>
  void manager_refused(status why, On& on);
  template <class On>
  void watch_manager(instant now, On& on);
  template <class On>
  void lose(trouble why, On& on);
  template <class On>
  void lose(std::uint16_t worker, trouble why, On& on);
  template <class On>
  void replied(reply_word word, On& on);
  template <class On>
  void end_call(std::uint16_t worker, std::uint8_t slot, finished& how, On& on);
  template <class On>
  void look(On& on);
  void drop_allocation();
  result<void> prepare(const allocation_request& request);
  template <class Done>
  status wait_for(Done&& done, instant end);
  std::size_t input_stride() const noexcept { return slot_stride(sizeof(call_header), request_.input_bytes); }
  std::size_t output_stride() const noexcept { return slot_stride(sizeof(reply_header), request_.output_bytes); }

  client_options o_;
  // Before the transport, so that the memory outlives posts that are still under way.
  outbox<F> letters_;
  owned_region staging_;
  owned_region output_;
  owned_region object_;
  transport<F> net_;
  idler idle_;
  peer manager_;
  std::string manager_address_;
  std::vector<std::string> managers_;
  bool manager_lost_ = false;
  manager_watch watch_;
  allocation_state state_ = allocation_state::none;
  allocation_request request_;
  token secret_{};
  std::uint64_t allocation_ = 0;
  std::uint64_t executor_ = 0;
  bool answered_ = false;
  std::uint16_t connected_ = 0;
  std::uint16_t ready_ = 0;
  std::vector<worker_link> links_;
  function_table functions_;
  std::string sentence_;
  std::optional<bill> bill_;
  token claimed_{};
  std::optional<bill> inherited_;
  cold_times times_;
  std::uint64_t next_id_ = 1;
  std::uint16_t next_worker_ = 0;
  std::uint32_t outstanding_ = 0;
  std::uint32_t cancelling_ = 0;
  std::uint32_t polls_ = 0;
  bool quiet_ = false;  ///< No event since quiet_since_.
  instant quiet_since_{};
};

}  // namespace weft::invocation

#include "client_allocation.hpp"  // IWYU pragma: export
#include "client_calls.hpp"       // IWYU pragma: export
