// SPDX-License-Identifier: Apache-2.0
//
// The instruction count of operations over rdma-core on a machine without a card. Both ends are in this process, over
// the stub device (tests/stub_device). The device is a separate library, so that only the caller's instructions count
// (bench/instructions/run). Hot path: the measured functions. Threads: one.
#include "../../compose/transport.hpp"
#include "../../tests/stub_device/stub_device.hpp"
#include "../../tests/stub_device/tested_row.hpp"
#include "bare/raw_verbs.hpp"
#include "raw_verbs_linked.hpp"
#include "visits.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {
using namespace weft;
using namespace weft::bench;
using fabric = stub_device::tested_row;
using linked = verbs_linked<stub_device::extended>;
constexpr std::size_t most = 64;
constexpr int posts = 16;

template <class T>
T sure(result<T> r) {
  if (!r) throw std::runtime_error(r.error().sentence);
  return std::move(r).value();
}

/// weft, through its public calls; two transports of one process.
class by_weft {
 public:
  by_weft() {
    peer asked;
    const auto accept = overloaded{[&](const requested& r) {
                                     asked = r.peer;
                                     (void)there_.accept(r.peer);
                                   },
                                   [](auto&&) {}};
    bool stands = false;
    const auto wait = overloaded{[&](const connected&) { stands = true; }, [](auto&&) {}};
    other = sure(net.start_connect(there_.listen_address()));
    for (int i = 0; i < 1000 && !stands; ++i) {
      there_.progress(accept);
      net.progress(wait);
    }
    if (!stands) throw std::runtime_error("the two ends did not meet");
    here_ = asked;
    place_ = sure(net.parse_region(there_.export_region(landing_))).at(0);
  }
  [[gnu::always_inline]] bool send() { return bool(net.send(other, source_.first(size))); }
  [[gnu::always_inline]] bool put() { return bool(net.put(other, source_.first(size), place_)); }
  [[gnu::always_inline]] bool put_notify() { return bool(net.put_notify(other, source_.first(size), place_, 1)); }
  [[gnu::always_inline]] bool put_notify_signalled() {
    return bool(net.put_notify(other, source_.first(size), place_, 1, this));
  }
  [[gnu::always_inline]] bool fetch_add() { return bool(net.fetch_add(other, place_, 1, this)); }
  [[gnu::always_inline]] bool put_signalled() { return bool(net.put(other, source_.first(size), place_, this)); }
  [[gnu::always_inline]] int send_batch() {
    return batch([this](auto& b) { return b.send(source_.first(size)); });
  }
  [[gnu::always_inline]] int put_batch() {
    return batch([this](auto& b) { return b.put(source_.first(size), place_); });
  }
  [[gnu::always_inline]] int put_notify_batch() {
    return batch([this](auto& b) { return b.put_notify(source_.first(size), place_, 1); });
  }
  [[gnu::always_inline]] int fetch_add_batch() {
    return batch([this](auto& b) { return b.fetch_add(place_, 1, this); });
  }
  [[gnu::always_inline]] int poll_once() {
    return net.progress(
        overloaded{[this](const completed&) { ++ended; }, [this](const received&) { ++heard; }, [](auto&&) {}});
  }
  /// The other end sends a message.
  bool say() { return bool(there_.send(here_, landing_.first(size))); }
  void settle() {
    for (int i = 0; i < 8; ++i) {
      there_.progress([](auto&&) {});
      poll_once();
    }
  }
  std::uint64_t ended = 0, heard = 0;

 private:
  template <class Add>
  [[gnu::always_inline]] int batch(Add&& add) {
    auto b = net.batch(other);
    int refused = 0;
    for (int i = 0; i < posts; ++i) refused += !add(b);
    return refused + !b.close();
  }

  transport<fabric> net = sure(open<fabric>({.node = "127.0.0.1", .max_message_bytes = 4096}));
  transport<fabric> there_ = sure(open<fabric>({.node = "127.0.0.1", .listens = true, .max_message_bytes = 4096}));
  owned_region source_ = sure(net.allocate(most, rights::none)), landing_ = sure(there_.allocate(4096, rights::all));
  peer other, here_;
  remote_place place_;
  std::size_t size = most;
};

/// The same by hand.
class by_hand {
 public:
  by_hand() {
    const ibv_qp_cap cap{256, 256, 1, 1, 256};
    const auto [mine, theirs] = stub_device::connected_pair(domain_, queue_, their_queue_, cap);
    end_.connect(mine, ibv_qp_to_qp_ex(mine), there_.own_word());
    there_.connect(theirs, ibv_qp_to_qp_ex(theirs), end_.own_word());
    end_.met(there_);
    there_.met(end_);
    source_ = {memory_.data(), most, region_->lkey};
    place_ = {reinterpret_cast<std::uint64_t>(memory_.data()), region_->rkey, 4096, true, true};
  }
  [[gnu::always_inline]] bool send() { return end_.send(end_.other, source_, size) == 0; }
  [[gnu::always_inline]] bool put() { return end_.put<false>(end_.other, source_, size, place_, nullptr) == 0; }
  [[gnu::always_inline]] bool put_notify() {
    return end_.put_notify<false>(end_.other, source_, size, place_, 1, nullptr) == 0;
  }
  [[gnu::always_inline]] bool put_notify_signalled() {
    return end_.put_notify<true>(end_.other, source_, size, place_, 1, this) == 0;
  }
  [[gnu::always_inline]] bool fetch_add() { return end_.fetch_add(end_.other, place_, 1, this) == 0; }
  [[gnu::always_inline]] bool put_signalled() { return end_.put<true>(end_.other, source_, size, place_, this) == 0; }
  [[gnu::always_inline]] int send_batch() { return batch<IBV_WR_SEND_WITH_IMM>(); }
  [[gnu::always_inline]] int put_batch() { return batch<IBV_WR_RDMA_WRITE>(); }
  [[gnu::always_inline]] int put_notify_batch() { return batch<IBV_WR_RDMA_WRITE_WITH_IMM>(); }
  [[gnu::always_inline]] int fetch_add_batch() {
    int refused = 0;
    for (int i = 0; i < posts; ++i) refused += end_.add_fetch_add(end_.other, place_, 1, this) != 0;
    return refused + (end_.flush() != 0);
  }
  [[gnu::always_inline]] int poll_once() {
    return end_.poll_once(
        queue_, [this](auto, auto*, void*, std::uint64_t) { ++ended; }, [](auto, std::uint32_t) {},
        [this](auto, const std::byte*, std::size_t) { ++heard; });
  }
  bool say() { return there_.send(there_.other, source_, size) == 0; }
  void settle() {
    for (int i = 0; i < 8; ++i) {
      there_.poll_once(
          their_queue_, [](auto, auto*, void*, std::uint64_t) {}, [](auto, std::uint32_t) {},
          [](auto, const std::byte*, std::size_t) {});
      poll_once();
    }
  }
  std::uint64_t ended = 0, heard = 0;

 private:
  template <ibv_wr_opcode What>
  [[gnu::always_inline]] int batch() {
    int refused = 0;
    for (int i = 0; i < posts; ++i) refused += end_.add<What>(end_.other, source_, size, place_, 1) != 0;
    return refused + (end_.flush() != 0);
  }

  ibv_pd* domain_ = ibv_alloc_pd(stub_device::context());
  ibv_cq* queue_ = ibv_create_cq(stub_device::context(), 1024, nullptr, nullptr, 0);
  ibv_cq* their_queue_ = ibv_create_cq(stub_device::context(), 1024, nullptr, nullptr, 0);
  std::vector<std::byte> memory_ = std::vector<std::byte>(4096);
  ibv_mr* region_ =
      ibv_reg_mr(domain_, memory_.data(), memory_.size(),
                 static_cast<unsigned>(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC));
  linked end_{domain_}, there_{domain_};
  linked::memory source_;
  linked::place place_;
  std::size_t size = most;
};

/// The same, bare: one peer and no checks.
class bare {
 public:
  bare() {
    const ibv_qp_cap cap{256, 256, 1, 1, 256};
    const auto [mine, theirs] = stub_device::connected_pair(domain_, queue_, their_queue_, cap);
    end_.connect(mine, *region_);
    there_.connect(theirs, *region_);
  }
  [[gnu::always_inline]] bool send() { return end_.send(size); }
  [[gnu::always_inline]] bool put() { return end_.put(size, nullptr); }
  [[gnu::always_inline]] bool put_notify() { return end_.put_notify(size, 1, nullptr); }
  [[gnu::always_inline]] bool put_notify_signalled() { return end_.put_notify(size, 1, this); }
  [[gnu::always_inline]] bool fetch_add() { return end_.fetch_add(1, this); }
  [[gnu::always_inline]] bool put_signalled() { return end_.put(size, this); }
  [[gnu::always_inline]] int send_batch() {
    return batch([this] { end_.add_send(size); });
  }
  [[gnu::always_inline]] int put_batch() {
    return batch([this] { end_.add_put(size); });
  }
  [[gnu::always_inline]] int put_notify_batch() {
    return batch([this] { end_.add_put_notify(size, 1); });
  }
  [[gnu::always_inline]] int fetch_add_batch() {
    return batch([this] { end_.add_fetch_add(1, this); });
  }
  [[gnu::always_inline]] int poll_once() {
    return end_.poll_once(
        queue_, [this](void*) { ++ended; }, [](std::uint32_t) {}, [this](const std::byte*, std::size_t) { ++heard; });
  }
  bool say() { return there_.send(size); }
  void settle() {
    for (int i = 0; i < 8; ++i) {
      there_.poll_once(
          their_queue_, [](void*) {}, [](std::uint32_t) {}, [](const std::byte*, std::size_t) {});
      poll_once();
    }
  }
  std::uint64_t ended = 0, heard = 0;

 private:
  template <class Add>
  [[gnu::always_inline]] int batch(Add&& add) {
    for (int i = 0; i < posts; ++i) add();
    return !end_.flush();
  }

  ibv_pd* domain_ = ibv_alloc_pd(stub_device::context());
  ibv_cq* queue_ = ibv_create_cq(stub_device::context(), 1024, nullptr, nullptr, 0);
  ibv_cq* their_queue_ = ibv_create_cq(stub_device::context(), 1024, nullptr, nullptr, 0);
  std::vector<std::byte> memory_ = std::vector<std::byte>(4096);
  ibv_mr* region_ =
      ibv_reg_mr(domain_, memory_.data(), memory_.size(),
                 static_cast<unsigned>(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC));
  verbs_bare end_{domain_}, there_{domain_};
  std::uint32_t size = most;
};

template <class Contender, bool (Contender::*Operation)()>
[[gnu::noinline]] int measured_post(Contender& c) {
  int refused = 0;
  for (int i = 0; i < posts; ++i) refused += !(c.*Operation)();
  return refused;
}
template <class Contender, int (Contender::*Operations)()>
[[gnu::noinline]] int measured_batch(Contender& c) {
  return (c.*Operations)();
}
template <class Contender>
[[gnu::noinline]] int measured_poll(Contender& c) {
  return c.poll_once();
}

template <class Contender>
int run(const std::string& what, int visits) {
  Contender c;
  tally t;
  const auto post = [&]<bool (Contender::*Operation)()>() {
    for (int v = 0; v < visits; ++v, t.operations += posts) {
      t.refused += static_cast<std::uint64_t>(measured_post<Contender, Operation>(c));
      t.end_visit();
      c.settle();
    }
  };
  const auto batch = [&]<int (Contender::*Operations)()>() {
    for (int v = 0; v < visits; ++v, t.operations += posts) {
      t.refused += static_cast<std::uint64_t>(measured_batch<Contender, Operations>(c));
      t.end_visit();
      c.settle();
    }
  };
  if (what == "inject") post.template operator()<&Contender::send>();
  if (what == "put") post.template operator()<&Contender::put>();
  if (what == "put_notify") post.template operator()<&Contender::put_notify>();
  if (what == "put_notify_signalled") post.template operator()<&Contender::put_notify_signalled>();
  if (what == "fetch_add") post.template operator()<&Contender::fetch_add>();
  if (what == "put_signalled") post.template operator()<&Contender::put_signalled>();
  if (what == "send_batch") batch.template operator()<&Contender::send_batch>();
  if (what == "put_batch") batch.template operator()<&Contender::put_batch>();
  if (what == "put_notify_batch") batch.template operator()<&Contender::put_notify_batch>();
  if (what == "fetch_add_batch") batch.template operator()<&Contender::fetch_add_batch>();
  const auto poll_once = [&](int ends) {  // completions of writes of 64 bytes
    for (int v = 0; v < visits; ++v, t.operations += static_cast<std::uint64_t>(std::max(ends, 1))) {
      for (int i = 0; i < ends; ++i) t.refused += !c.put_signalled();
      const std::uint64_t before = c.ended;
      std::uint64_t empty = 0;
      do empty += measured_poll(c) == 0;
      while (c.ended - before < static_cast<std::uint64_t>(ends));
      t.end_visit(empty);
    }
  };
  if (what == "poll_empty") poll_once(0);
  if (what == "poll_one") poll_once(1);
  if (what == "poll_batch") poll_once(posts);
  for (int v = 0; what == "receive" && v < visits; ++v, ++t.operations) {  // messages
    t.refused += !c.say();
    const std::uint64_t before = c.heard;
    std::uint64_t empty = 0;
    do empty += measured_poll(c) == 0;
    while (c.heard == before);
    t.end_visit(empty);
    c.settle();
  }
  say(what, t);
  return t.refused == 0 ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Operations of one contender over rdma-core, for an instruction count under callgrind");
  std::vector<std::string> asked;
  std::string who = "weft";
  int visits = 20;
  app.add_option("--operation", asked, "Once or more")->required()->allow_extra_args(false);
  app.add_option("--contender", who)->check(CLI::IsMember({"weft", "by_hand", "bare"}));
  app.add_option("--visits", visits, "How often the measured function is entered")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  std::erase_if(asked, [](const std::string& what) {  // part of no comparison here
    return what == "send" || what == "get" || what == "add_u32" || what == "fetch_max_i32";
  });
  if (asked.empty()) return 77;
  int code = 0;
  try {
    for (const std::string& what : asked)
      code = std::max(code, who == "bare"   ? run<bare>(what, visits)
                            : who == "weft" ? run<by_weft>(what, visits)
                                            : run<by_hand>(what, visits));
    return code;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "bench: %s\n", e.what());
    return 1;
  }
}
