// SPDX-License-Identifier: Apache-2.0
//
// Tokens and forged messages in virtual time: who shows no token, a wrong one or a used one is refused by manager and
// client. The worker obeys its manager alone, and executes each call once. The honest parties notice nothing.
#include "simulated.hpp"

#include <weft/compose/selected.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace weft::test {
namespace {

using fabric = over<selected, loopback::port>;
constexpr auto deaf = [](auto&&) {};

/// Keeps the orders, which hold the tokens. All workers but the first wait until `open`.
struct gate {
  std::vector<executor_order> orders;
  bool open = false;
};
template <complete_fabric F>
class gated_spawner {
 public:
  using child = typename simulated_spawner<F>::child;
  gated_spawner(loopback::world& world, function_library& library, gate& g)
      : world_(&world), library_(&library), gate_(&g) {}

  void tend() noexcept {}
  result<child> start(const executor_order& order) {
    gate_->orders.push_back(order);
    auto what = std::make_shared<simulated_executor>(order);
    const std::uint64_t number = gate_->orders.size();
    const std::string node = "executor" + std::to_string(number);
    for (std::uint16_t i = 0; i < order.workers; ++i)
      world_->serve(node, [what, i, library = library_, g = gate_] {
        while (i > 0 && !g->open) loopback::sleep_for(1ms);
        worker_settings s = what->order.common;
        s.index = i;
        auto made = worker<F>::open(s, what->journals[i], *library, what->busy[i]);
        if (made) (void)(*made)->run();
        made = result<std::unique_ptr<worker<F>>>(std::unique_ptr<worker<F>>());
        ++what->over;
      });
    return child(*world_, node, number, std::move(what));
  }

 private:
  loopback::world* world_;
  function_library* library_;
  gate* gate_;
};
using gated_manager = manager<fabric, gated_spawner<fabric>>;

/// Connects with these private data. Returns the sentence of the refusal, or "accepted".
std::string knock(transport<fabric>& net, const std::string& where, const_bytes shown, bool any = true) {
  auto p = any ? net.connect(where, shown, 5s, deaf) : net.connect(where, 5s, deaf);
  if (!p) return p.error().sentence;
  (void)net.close(*p, 1s, deaf);
  return "accepted";
}
std::string knock(transport<fabric>& net, const std::string& where, role who, std::uint16_t number,
                  const token& secret) {
  return knock(net, where, encode(greeting{who, number, secret}));
}
token flipped(token t) {
  t[15] ^= std::byte{1};
  return t;
}

struct token_world {
  function_library library{simulated_functions()};
  loopback::world world{3};
  gate workers;
  std::string manager_at;
  bool over = false;
  std::uint64_t bills = 0, exact = 0, left = 1;

  /// Serves until `over`, and until no allocation is left.
  void serve() {
    world.spawn("manager", [this] {
      manager_options o;
      o.node = "manager";
      auto made = gated_manager::open(o, gated_spawner<fabric>(world, library, workers));
      ASSERT_TRUE(made);
      manager_at = (*made)->listen_address();
      const instant limit = world.now() + 300s;
      (*made)->serve([&] { return (over && (*made)->allocations() == 0) || world.now() > limit; });
      bills = (*made)->bills();
      exact = (*made)->exact_bills();
      left = (*made)->allocations();
    });
  }
  void run() {
    const auto how = world.run(600s);
    EXPECT_TRUE(how) << how.sentence;
    EXPECT_EQ(left, 0U);
  }
  template <class Done>
  static void wait(Done&& done) {
    for (int i = 0; i < 20'000 && !done(); ++i) loopback::sleep_for(1ms);
    EXPECT_TRUE(done());
  }
};
/// A hot worker polls ten times in a microsecond of virtual time, and no test here is about polling.
allocation_request of_warm_workers() {
  allocation_request request;
  request.polling = {polling_mode::warm};
  return request;
}
#define EXPECT_REFUSED(said, why) EXPECT_NE((said).find(why), std::string::npos) << (said)

TEST(invocation_tokens, missing_wrong_and_used_ones_are_refused) {
  token_world all;
  all.serve();
  std::string client_at;
  int phase = 0;  // 1: asked, with one worker of two. 2: serving. 3: released.
  bool client_ended = false;
  std::uint64_t right = 0;
  all.world.spawn("client", [&] {
    token_world::wait([&] { return !all.manager_at.empty(); });
    client_options o;
    o.node = "client";
    auto made = client<fabric>::connect(all.manager_at, o, 20s);
    ASSERT_TRUE(made);
    auto& c = **made;
    client_at = c.net().listen_address();
    const auto serve_until = [&](auto done) {
      while (!done()) {
        if (c.progress() == 0) loopback::sleep_for(1ms);
      }
    };
    serve_until([&] { return phase == 1; });
    allocation_request request = of_warm_workers();
    request.workers = 2;
    request.slots = 2;
    request.input_bytes = request.output_bytes = 64;
    ASSERT_TRUE(c.allocate(request, 60s));
    phase = 2;
    serve_until([&] { return phase == 3; });
    const auto triples = c.find("triple");
    ASSERT_TRUE(triples);
    for (std::uint64_t i = 1; i <= 4; ++i) {
      std::uint64_t got = 0;
      const outcome how =
          c.invoke(*triples, std::as_bytes(std::span(&i, 1)), std::as_writable_bytes(std::span(&got, 1)), 5s);
      right += std::uint64_t{how && got == 3 * i};
    }
    const auto cost = c.release(15s);
    EXPECT_TRUE(cost && cost->exact);
    phase = 4;
    serve_until([&] { return phase == 5; });
    client_ended = true;
  });
  all.world.spawn("stranger", [&] {
    token_world::wait([&] { return !client_at.empty(); });
    auto net = open<fabric>({.node = "stranger", .sleeps = true}).value();
    const std::string& manager_at = all.manager_at;
    // Before anything was asked for.
    EXPECT_REFUSED(knock(net, manager_at, {}, false), "wants a greeting");
    EXPECT_REFUSED(knock(net, manager_at, std::array<std::byte, greeting_bytes>{}), "wants a greeting");
    EXPECT_REFUSED(knock(net, manager_at, const_bytes(encode(greeting{})).first(greeting_bytes - 1)),
                   "wants a greeting");
    EXPECT_REFUSED(knock(net, manager_at, role::worker, 0, token{}), "wrong token");
    EXPECT_REFUSED(knock(net, client_at, {}, false), "wrong token");
    EXPECT_REFUSED(knock(net, client_at, role::worker, 0, token{}), "wrong token");
    // Worker 0 is there, worker 1 is not.
    phase = 1;
    token_world::wait([&] { return !all.workers.orders.empty(); });
    loopback::sleep_for(50ms);
    const token allocation = all.workers.orders[0].common.allocation;
    const token secret = all.workers.orders[0].common.client_secret;
    EXPECT_REFUSED(knock(net, manager_at, role::worker, 1, flipped(allocation)), "wrong token");
    EXPECT_REFUSED(knock(net, manager_at, role::worker, 1, secret), "wrong token");
    EXPECT_REFUSED(knock(net, manager_at, role::worker, 0, allocation), "here already");
    EXPECT_REFUSED(knock(net, manager_at, role::worker, 2, allocation), "here already");
    EXPECT_REFUSED(knock(net, client_at, {}, false), "wrong token");
    EXPECT_REFUSED(knock(net, client_at, role::worker, 1, flipped(secret)), "wrong token");
    EXPECT_REFUSED(knock(net, client_at, role::worker, 1, allocation), "wrong token");
    EXPECT_REFUSED(knock(net, client_at, role::client, 1, secret), "wrong token");
    EXPECT_REFUSED(knock(net, client_at, role::worker, 0, secret), "here already");
    EXPECT_REFUSED(knock(net, client_at, role::worker, 2, secret), "here already");
    EXPECT_EQ(phase, 1) << "the client has workers that nobody started";
    // All are there: the tokens are used.
    all.workers.open = true;
    token_world::wait([&] { return phase == 2; });
    EXPECT_REFUSED(knock(net, manager_at, role::worker, 1, allocation), "here already");
    EXPECT_REFUSED(knock(net, client_at, role::worker, 1, secret), "wrong token");
    phase = 3;
    token_world::wait([&] { return phase == 4; });
    EXPECT_NE(knock(net, manager_at, role::worker, 0, allocation), "accepted");
    EXPECT_REFUSED(knock(net, client_at, role::worker, 0, secret), "wrong token");
    all.over = true;
    loopback::sleep_for(1s);
    phase = 5;
  });
  all.run();
  EXPECT_TRUE(client_ended);
  EXPECT_EQ(right, 4U);
  EXPECT_EQ(all.bills, 1U);
  EXPECT_EQ(all.exact, 1U);
}

/// A client that asks for two workers, and waits for `limit`. The second worker never comes.
template <class Ended>
void spawn_client_of_two(token_world& all, duration limit, Ended ended) {
  all.world.spawn("client", [&all, limit, ended] {
    token_world::wait([&] { return !all.manager_at.empty(); });
    client_options o;
    o.node = "client";
    auto made = client<fabric>::connect(all.manager_at, o, 20s);
    ASSERT_TRUE(made);
    allocation_request request = of_warm_workers();
    request.workers = 2;
    ended(static_cast<bool>((*made)->allocate(request, limit)));
  });
}

TEST(invocation_tokens, of_an_allocation_that_is_given_up_come_too_late) {
  token_world all;
  all.serve();
  spawn_client_of_two(all, 500ms, [](bool allocated) { EXPECT_FALSE(allocated) << "worker 1 never comes"; });
  all.world.spawn("stranger", [&] {
    token_world::wait([&] { return !all.workers.orders.empty(); });
    auto net = open<fabric>({.node = "stranger", .sleeps = true}).value();
    loopback::sleep_for(1500ms);  // the client is gone, and the manager waits for the workers' accounts
    EXPECT_REFUSED(knock(net, all.manager_at, role::worker, 1, all.workers.orders[0].common.allocation), "too late");
    all.over = true;
    all.workers.open = true;
  });
  all.run();
}

TEST(invocation_tokens, of_an_allocation_whose_client_was_killed_come_too_late) {
  token_world all;
  all.serve();
  spawn_client_of_two(all, 20s, [](bool /*allocated*/) { ADD_FAILURE() << "the client was killed meanwhile"; });
  all.world.spawn("stranger", [&] {
    token_world::wait([&] { return !all.workers.orders.empty(); });
    auto net = open<fabric>({.node = "stranger", .sleeps = true}).value();
    loopback::sleep_for(200ms);
    all.world.crash("client");
    loopback::sleep_for(1s);  // worker 0 has ended by itself; only the manager ends what worker 1 may be
    EXPECT_REFUSED(knock(net, all.manager_at, role::worker, 1, all.workers.orders[0].common.allocation), "too late");
    all.over = true;
    all.workers.open = true;
  });
  all.run();
}

/// A client by hand: it asks for one worker, and accepts it.
struct hostile_client {
  transport<fabric> net = open<fabric>({.node = "client", .listens = true, .sleeps = true}).value();
  outbox<fabric> letters = outbox<fabric>::open(net, 16).value();
  peer manager, worker;
  std::optional<allocated_message> allocated;
  std::optional<bill_fields> bill;
  std::optional<remote_region> input;
  std::uint32_t function = 0;
  std::vector<std::uint32_t> cancelled;
  std::uint64_t replies = 0, losses = 0;

  struct events {
    hostile_client& c;
    void operator()(const requested& e) const {
      c.worker = e.peer;
      EXPECT_TRUE(c.net.accept(e.peer));
    }
    void operator()(const received& e) const {
      e.peer == c.manager ? c.from_manager(e.message) : c.from_worker(e.message);
    }
    void operator()(const notified&) const { ++c.replies; }
    void operator()(const completed& e) const { c.letters.ended(e.context); }
    void operator()(const failed& e) const { c.letters.ended(e.context); }
    void operator()(const lost&) const { ++c.losses; }
    void operator()(const connected&) const {}
  };
  void from_manager(const_bytes message) {
    if (const auto m = unpack<allocated_message>(message)) allocated = m;
    if (const auto m = unpack<released_message>(message)) bill = m->bill;
  }
  void from_worker(const_bytes message) {
    if (const auto m = unpack<cancelled_message>(message)) cancelled.push_back(m->word);
    if (const auto m = unpack<ready_message>(message)) {
      input = net.parse_region(m->input).value();
      function = 0;  // the only one
    }
  }
  template <class Done>
  void await(Done&& done) {
    EXPECT_TRUE(net.until(
        [&] {
          letters.pump(net);
          return done();
        },
        30s, events{*this}));
  }
  void poll_for(duration span) {
    const instant end = net.now() + span;
    await([&] { return net.now() >= end; });
  }
};

TEST(invocation_tokens, a_worker_obeys_its_manager_alone_and_executes_a_call_once) {
  record() = {};
  token_world all;
  all.serve();
  all.world.spawn("client", [&] {
    token_world::wait([&] { return !all.manager_at.empty(); });
    hostile_client c;
    c.manager = c.net.connect(all.manager_at, encode(greeting{}), 20s, hostile_client::events{c}).value();
    allocate_message ask;
    ask.polling = polling_mode::warm;
    ask.slots = 2;
    ask.input_bytes = ask.output_bytes = 64;
    ask.function_limit_ns = 1'000'000'000;
    ask.secret = random_token();
    const std::string where = c.net.listen_address();
    ask.where = where;
    EXPECT_TRUE(c.letters.post(c.net, c.manager, ask));
    c.await([&] { return c.allocated && c.worker; });
    const std::size_t reply_stride = slot_stride(sizeof(reply_header), 64),
                      call_stride = slot_stride(sizeof(call_header), 64);
    const auto output = c.net.allocate(2 * reply_stride, rights::remote_write).value();
    const auto account = c.net.allocate(64, rights::all).value();
    const auto staging = c.net.allocate(2 * call_stride, rights::none).value();
    welcome_message welcome;
    welcome.output = c.net.export_region(output, owner_polls);
    EXPECT_TRUE(c.letters.post(c.net, c.worker, welcome));
    c.await([&] { return c.input.has_value(); });

    // Messages of a manager, from the client.
    EXPECT_TRUE(c.letters.post(c.net, c.worker, account_message{c.net.export_region(account, owner_polls)}));
    EXPECT_TRUE(c.letters.post(c.net, c.worker, finish_message{}));
    c.poll_for(50ms);
    EXPECT_EQ(c.losses, 0U) << "the worker finished for its client";

    const auto call = [&](std::uint8_t slot, std::uint32_t in_word, std::uint32_t in_header, std::uint64_t number) {
      std::byte* const at = staging.data();
      put_words(at, call_header{number, c.function, sizeof number, in_header, 0});
      std::memcpy(at + sizeof(call_header), &number, sizeof number);
      const std::size_t place = slot < 2 ? slot * call_stride : 0;
      EXPECT_TRUE(c.net.retry(
          [&] {
            return c.net.put_notify(c.worker, staging.first(sizeof(call_header) + sizeof number), c.input->at(place),
                                    call_word{slot, in_word}.immediate(), nullptr);
          },
          10s, hostile_client::events{c}));
      c.poll_for(20ms);
    };
    auto& times = record().times;
    call(0, 0, 0, 100);
    EXPECT_EQ(times[100], 1);
    call(0, 0, 0, 100);
    EXPECT_EQ(times[100], 1) << "a repeated call was executed again";
    call(0, 5, 5, 101);
    EXPECT_EQ(times[101], 0) << "a call out of sequence was executed";
    call(2, 0, 0, 102);
    call(255, 0, 0, 103);
    EXPECT_EQ(times[102] + times[103], 0) << "a call of no slot was executed";
    call(0, 1, 0, 104);
    EXPECT_EQ(times[104], 0) << "a call was executed whose bytes belong to another";
    EXPECT_TRUE(c.letters.post(c.net, c.worker, cancel_message{call_word{1, 0}.immediate()}));
    EXPECT_TRUE(c.letters.post(c.net, c.worker, cancel_message{call_word{200, 0}.immediate()}));
    c.poll_for(20ms);
    EXPECT_EQ(c.cancelled, std::vector<std::uint32_t>{(call_word{1, 0}.immediate())});
    call(1, 0, 0, 105);
    EXPECT_EQ(times[105], 0) << "a cancelled call was executed";
    call(1, 1, 1, 106);
    EXPECT_EQ(times[106], 1);
    EXPECT_EQ(c.replies, 3U) << "of 100, 104 and 106";
    EXPECT_TRUE(c.letters.post(c.net, c.manager, release_message{c.allocated->allocation + 1}));
    c.poll_for(50ms);
    EXPECT_FALSE(c.bill) << "the allocation of another number was released";
    EXPECT_TRUE(c.letters.post(c.net, c.manager, release_message{c.allocated->allocation}));
    c.await([&] { return c.bill.has_value(); });
    EXPECT_TRUE(c.bill->exact);
    EXPECT_EQ(c.bill->invocations, 3U);
    EXPECT_EQ(std::count(account.data(), account.data() + account.size(), std::byte{}),
              static_cast<std::ptrdiff_t>(account.size()))
        << "the worker kept its account in the client's words";
    all.over = true;
  });
  all.run();
}

TEST(invocation_tokens, only_the_client_of_an_allocation_releases_it) {
  token_world all;
  all.serve();
  bool stranger_done = false;
  std::uint64_t number = 0;
  all.world.spawn("client", [&] {
    token_world::wait([&] { return !all.manager_at.empty(); });
    client_options o;
    o.node = "client";
    auto made = client<fabric>::connect(all.manager_at, o, 20s);
    ASSERT_TRUE(made);
    auto& c = **made;
    allocation_request request = of_warm_workers();
    request.input_bytes = request.output_bytes = 64;
    ASSERT_TRUE(c.allocate(request, 15s));
    number = 1;
    while (!stranger_done)
      if (c.progress() == 0) loopback::sleep_for(1ms);
    EXPECT_TRUE(c.allocated()) << "a stranger released the allocation";
    const auto cost = c.release(15s);
    EXPECT_TRUE(cost && cost->exact);
    all.over = true;
  });
  all.world.spawn("stranger", [&] {
    token_world::wait([&] { return number != 0; });
    auto net = open<fabric>({.node = "stranger", .sleeps = true}).value();
    auto letters = outbox<fabric>::open(net, 16).value();
    const peer manager = net.connect(all.manager_at, encode(greeting{}), 5s, deaf).value();
    // Requests of a client and of a worker that it is not.
    EXPECT_TRUE(letters.post(net, manager, release_message{number}));
    EXPECT_TRUE(letters.post(net, manager, totals_message{1, 1, 1}));
    const instant end = net.now() + 200ms;
    EXPECT_TRUE(net.until([&] { return net.now() >= end; }, 10s, deaf));
    stranger_done = true;
    (void)net.close(manager, 1s, deaf);
  });
  all.run();
  EXPECT_EQ(all.bills, 1U);
  EXPECT_EQ(all.exact, 1U);
}

}  // namespace
}  // namespace weft::test
