// SPDX-License-Identifier: Apache-2.0
//
// Wrong posts: one table says the answer for each form of a post and each way to be wrong. An error that the initiator
// can know is refused at the call. An error that only the target can know ends in a failure, never in a success. In
// each case no byte changes, and the next good put arrives. Hot path: no. Threads: one per side.
#pragma once

#include "../rails.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::conformance {

template <class Environment>
class wrong_posts : public suite<Environment> {
 public:
  static constexpr bool simulated = Environment::simulated;
};
TYPED_TEST_SUITE_P(wrong_posts);

enum class post_form : std::uint8_t { single, gathered, batched, grouped };
inline constexpr const char* post_form_names[] = {"single", "gathered", "batched", "grouped"};

/// What is wrong. `forged_*`: the place lies about the region, so that the initiator's checks pass.
enum class post_fault : std::uint8_t {
  past_the_end,        ///< More bytes than the region has from there.
  slice_past_the_end,  ///< The slice of this side's region is invalid.
  overflow,            ///< Offset or sum of sizes beyond what a number counts.
  rights,
  stale_handle,  ///< Of a connection whose record serves another connection now.
  null_handle,
  no_bytes,
  unaligned,  ///< Atomics.
  key,
  forged_end,
  forged_start,  ///< The place is before the region.
  forged_overflow,
  forged_rights,
};
inline constexpr std::size_t post_faults = 13;
inline constexpr const char* post_fault_names[] = {
    "past the end", "slice past the end", "overflow",     "rights", "stale handle",
    "null handle",  "no bytes",           "unaligned",    "key",    "forged end",
    "forged start", "forged overflow",    "forged rights"};

/// The answers of the table.
enum class post_answer : std::uint8_t {
  none,       ///< The pair does not exist.
  bounds,     ///< errc::out_of_range at the call.
  denied,     ///< errc::denied at the call.
  too_long,   ///< errc::truncated at the call.
  lost,       ///< errc::peer_lost at the call.
  invalid,    ///< errc::invalid at the call.
  ends_well,  ///< It completes. A notice or message arrives, and no byte changes.
  fails,      ///< The post is taken, and fails. Unsignalled posts may fail in silence. A port may refuse at the call.
};

struct wrong_post_row {
  post_form form;
  operation what;
  std::array<post_answer, post_faults> answers;
};

inline constexpr auto wrong_post_table = [] {
  using enum post_answer;
  using enum post_form;
  using enum operation;
  constexpr std::array bytes{bounds, bounds, bounds, denied, lost,  invalid, ends_well,
                             none,   fails,  fails,  fails,  fails, fails};
  constexpr std::array message{too_long, too_long, too_long, none, lost, invalid, ends_well,
                               none,     none,     none,     none, none, none};
  constexpr std::array word{bounds,  none,  bounds, denied, lost,  invalid, none,
                            invalid, fails, fails,  fails,  fails, fails};
  return std::to_array<wrong_post_row>({
      // clang-format off
      {single,   put,          bytes},
      {single,   put_notify,   bytes},
      {single,   get,          bytes},
      {single,   send,         message},
      {single,   fetch_add,    word},
      {single,   compare_swap, word},
      {single,   store,        word},
      {gathered, put,          bytes},
      {gathered, put_notify,   bytes},
      {gathered, get,          bytes},
      {gathered, send,         message},
      {batched,  put,          bytes},
      {batched,  put_notify,   bytes},
      {batched,  send,         message},
      {batched,  fetch_add,    word},
      {grouped,  put,          bytes},
      {grouped,  put_notify,   bytes},
      {grouped,  send,         message},
      // clang-format on
  });
}();
inline constexpr std::size_t wrong_region_bytes = 1000, wrong_guard = 256, good_bytes = 64;
inline constexpr std::uint32_t good_notice = 7, empty_notice = 8, wrong_notice = 9;

/// A region of 1,000 bytes with guard bytes before and after. Only its first 64 bytes may change. The memory is the
/// transport's and readable, because some fabrics permit atomics only in memory of their own.
struct guarded_region {
  owned_region whole;
  bytes memory;
  owned_region registered;

  template <class F>
  guarded_region(transport<F>& net, rights granted) {
    auto room = net.allocate(2 * wrong_guard + wrong_region_bytes, rights::remote_read);
    if (!room) throw stopped("allocate: " + room.error().sentence);
    whole = std::move(*room);
    memory = whole.memory();
    paint(memory, 5);
    auto made = net.register_region(memory.subspan(wrong_guard, wrong_region_bytes), granted);
    if (!made) throw stopped("register_region: " + made.error().sentence);
    registered = std::move(*made);
  }
  /// Index of the first byte that changed, or the size.
  std::size_t first_changed() const {
    for (std::size_t i = 0; i < memory.size(); ++i)
      if ((i < wrong_guard || i >= wrong_guard + good_bytes) && memory[i] != pattern(5, i)) return i;
    return memory.size();
  }
};

/// The notice is posted behind the write, before its end is known: it arrives also if the target refuses the write.
template <class F>
inline constexpr bool notices_outlive_refusals =
    !answer<F, notify_family>::rides_on_write &&
    !std::same_as<answer<F, notify_family>, answers::notify::message_after_delivery>;

inline transport_options soon_over() { return {.operation_timeout = 1s * slowness()}; }

/// Side 0: three regions of unlike rights. It accepts each connection, because some libraries end one after a refusal.
template <class F>
void serve_wrong_posts(test_side& side) {
  auto net = opened<F>(side, listening(soon_over()));
  observer seen;
  guarded_region all(net, rights::all), readable(net, rights::remote_read), writable(net, rights::remote_write);
  seen.on_requested = [&](const requested& r) { EXPECT_TRUE(net.accept(r.peer)); };
  seen.on_lost = [](const lost&) {};
  seen.on_failed = [](const failed&) {};
  seen.on_notified = [](const notified& n) {
    EXPECT_TRUE(notices_outlive_refusals<F> || n.immediate != wrong_notice) << "the notice of a wrong post";
  };
  seen.on_received = [](const received& m) { EXPECT_EQ(m.message.size(), 0U) << "the message of a wrong post"; };
  side.send_value(1, net.listen_address());
  for (const guarded_region* each : {&all, &readable, &writable})
    side.send_value(1, const_bytes(net.export_region(each->registered, owner_polls)));
  serve(side, net, seen, 1);
  EXPECT_EQ(all.first_changed(), all.memory.size());
  EXPECT_EQ(readable.first_changed(), readable.memory.size());
  EXPECT_EQ(writable.first_changed(), writable.memory.size());
}

/// Side 1.
template <class F>
struct wrong_poster {
  test_side& side;
  transport<F> net;
  observer seen;
  std::string where;
  peer other, gone;
  weft::region memory;
  remote_region all, readable, writable;
  bool member_taken = false;  ///< The last batch or group took its member.

  explicit wrong_poster(test_side& s) : side(s), net(opened<F>(s, soon_over())), where(s.wait_for_text(0)) {
    all = described();
    readable = described();
    writable = described();
    memory = net.allocate(4096, rights::none).value().release();
    paint(memory.memory(), 6);
    seen.on_failed = [](const failed&) {};
    seen.on_lost = [](const lost&) {};
    meet();
    gone = other;
    if (const status closed = net.close(gone, patience, seen); !closed) throw stopped("close: " + describe(closed));
    meet();
  }
  remote_region described() { return net.parse_region(side.wait_for_value(0)).value(); }
  void meet() {
    side.at("connect");
    auto p = net.connect(where, patience, seen);
    if (!p) throw stopped("connect: " + p.error().sentence);
    other = *p;
  }

  /// Repeats a post while the answer is `again`.
  template <class Post>
  status settled(std::string_view what, Post&& post) {
    const instant end = net.now() + patience;
    for (std::uint64_t tries = 1;; ++tries) {
      const status s = post();
      if (!s.is_again()) return s;
      net.progress(seen);
      if (side.simulated() ? tries > 2'000'000 : tries % 64 == 0 && net.now() >= end)
        throw stopped(std::string(what) + " is never accepted: " + describe(s));
    }
  }

  /// One post in its form. Returns its first answer other than `again`.
  status post(post_form form, operation what, peer to, local_memory from, const remote_place& at, void* context) {
    const std::uint32_t immediate = from.size == 0 ? empty_notice : wrong_notice;
    switch (form) {
      case post_form::gathered:
        return gathered(what, to, from, at, immediate, context);
      case post_form::batched:
        return batched(what, to, from, at, immediate, context);
      case post_form::grouped: {
        auto g = net.coalesce(to);
        const status s = settled("a member", [&] { return member(g, what, from, at, immediate); });
        member_taken = static_cast<bool>(s);
        const status closed = settled("close", [&] { return g.close(); });
        return s ? closed : s;
      }
      default:
        return settled("a post", [&] { return single(what, to, from, at, immediate, context); });
    }
  }
  status single(operation what, peer to, local_memory from, const remote_place& at, std::uint32_t immediate,
                void* context) {
    switch (what) {
      case operation::put:
        return net.put(to, from, at, context);
      case operation::put_notify:
        return net.put_notify(to, from, at, immediate, context);
      case operation::get:
        return net.get(to, from, at, context);
      case operation::fetch_add:
        return net.fetch_add(to, at, 1, context);
      case operation::compare_swap:
        return net.compare_swap(to, at, 0, 1, context);
      case operation::store:
        return net.store(to, at, 1, context);
      default:
        return net.send(to, from, context);
    }
  }
  status gathered(operation what, peer to, local_memory from, const remote_place& at, std::uint32_t immediate,
                  void* context) {
    const bool huge = from.size > memory.size();
    const std::size_t half = huge ? 1 : from.size / 2;
    const std::array<local_memory, 2> pieces{
        memory.first(half), huge ? from : local_memory{from.data + half, from.size - half, from.descriptor}};
    return settled("a list", [&] {
      if (what == operation::put) return net.put(to, pieces, at, context);
      if (what == operation::put_notify) return net.put_notify(to, pieces, at, immediate, context);
      return what == operation::get ? net.get(to, pieces, at, context) : net.send(to, pieces, context);
    });
  }
  status batched(operation what, peer to, local_memory from, const remote_place& at, std::uint32_t immediate,
                 void* context) {
    auto b = net.batch(to);
    const status s = settled("a member", [&] {
      return what == operation::fetch_add ? b.fetch_add(at, 1, context) : member(b, what, from, at, immediate);
    });
    member_taken = static_cast<bool>(s);
    const bool reports = s && what != operation::fetch_add;
    const status closed = settled("close", [&] { return reports ? b.close(context) : b.close(); });
    return s ? closed : s;
  }
  template <class Posts>
  static status member(Posts& posts, operation what, local_memory from, const remote_place& at,
                       std::uint32_t immediate) {
    if (what == operation::put) return posts.put(from, at);
    return what == operation::put_notify ? posts.put_notify(from, at, immediate) : posts.send(from);
  }

  /// The wrong post of a pair. Returns its answer.
  status wrong(post_form form, operation what, post_fault fault, void* context) {
    const remote_region& closed = what == operation::get || is_atomic(what) ? writable : readable;
    const std::size_t longest = what == operation::send ? 4097 : wrong_region_bytes + 1;
    peer to = other;
    local_memory from = what == operation::send ? memory.first(1) : memory.slice(1024, 64);
    remote_place at = all.at(512);
    switch (fault) {
      case post_fault::past_the_end:
        from = {memory.data(), longest, memory.first(0).descriptor};
        at = all.at(is_atomic(what) ? wrong_region_bytes - 7 : 0);
        break;
      case post_fault::slice_past_the_end:
        from = memory.slice(4090, 7);
        break;
      case post_fault::overflow:
        from.size = what == operation::send ? ~std::size_t{0} - 3 : 64;
        at = all.at(~std::uint64_t{0} - 31);
        break;
      case post_fault::rights:
        at = closed.at(512);
        break;
      case post_fault::stale_handle:
        to = gone;
        break;
      case post_fault::null_handle:
        to = peer();
        break;
      case post_fault::no_bytes:
        from.size = 0;
        break;
      case post_fault::unaligned:
        at = all.at(513);
        break;
      case post_fault::key:
        at.key ^= F::facts.key_bytes >= 4 ? 0x5a5a5a5U : 0x55U;
        break;
      case post_fault::forged_end:
        at = all.at(wrong_region_bytes - (is_atomic(what) ? 0 : 8));
        at.room = 4096;
        break;
      case post_fault::forged_start:
        at = all.at(0);
        at.address -= 4096;
        at.room = 4096;
        break;
      case post_fault::forged_overflow:
        at.address = ~std::uint64_t{is_atomic(what) ? 7U : 39U};  // both halves of a list are wrong
        at.room = ~std::uint64_t{0};
        break;
      case post_fault::forged_rights:  // fi_mr(3) has no right of its own for atomics: writable memory permits them
        at = what == operation::get ? writable.at(512) : readable.at(512);
        at.granted = rights::all;
        break;
    }
    return post(form, what, to, from, at, context);
  }

  /// A put that must arrive. A connection that a refusal ended is replaced first.
  void good_put() {
    for (int tries = 0; tries < 8; ++tries) {
      net.progress(seen);
      const std::uint64_t well = seen.completions, badly = seen.failures;
      const status s = settled("a good put", [&] {
        return net.put_notify(other, memory.first(good_bytes), all.at(0), good_notice, &memory);
      });
      if (s) {
        await(side, net, seen, "the end of a good put",
              [&] { return seen.completions + seen.failures > well + badly; });
        if (seen.completions > well) return;
      }
      if (other.alive()) (void)net.close(other, 100ms, seen);
      meet();
    }
    throw stopped("no good put after a wrong post");
  }
  void expect_no_change() {
    EXPECT_EQ(first_unlike(memory.memory(), 6), memory.size()) << "a wrong get changed this side";
    paint(memory.memory(), 6);
  }
};

constexpr errc code_of(post_answer a) noexcept {
  switch (a) {
    case post_answer::bounds:
      return errc::out_of_range;
    case post_answer::denied:
      return errc::denied;
    case post_answer::too_long:
      return errc::truncated;
    case post_answer::lost:
      return errc::peer_lost;
    default:
      return errc::invalid;
  }
}

/// The code of the target's own refusal.
constexpr errc refusal_of(post_fault fault) noexcept {
  return fault == post_fault::key || fault == post_fault::forged_rights ? errc::denied : errc::out_of_range;
}

/// One pair of the table.
template <class F>
void expect_answer(wrong_poster<F>& guest, const wrong_post_row& row, post_fault fault, post_answer answer) {
  const std::string name = std::string(post_form_names[static_cast<int>(row.form)]) + " " + name_of(row.what) + ", " +
                           post_fault_names[static_cast<int>(fault)];
  guest.side.at(name);
  const bool reported = row.form != post_form::grouped;  // members of groups have no context
  int context = 0, well = 0, badly = 0;
  guest.member_taken = false;
  guest.seen.on_completed = [&](const completed& e) { well += int{e.context == &context}; };
  guest.seen.on_failed = [&](const failed& e) { badly += int{e.context == &context}; };
  const status s = guest.wrong(row.form, row.what, fault, &context);
  if (answer == post_answer::ends_well || answer == post_answer::fails) {
    const bool well_expected = answer == post_answer::ends_well;
    EXPECT_TRUE(s || !well_expected) << name << ": " << describe(s);
    if (s && reported) await(guest.side, guest.net, guest.seen, name, [&] { return well + badly != 0; });
    EXPECT_EQ(well, int{reported && well_expected}) << name;
    if (s && is_atomic(row.what) && usual_atomicity<F> == atomicity::target) {
      EXPECT_EQ(guest.seen.last_failure.code, refusal_of(fault)) << name;
    }
  } else {
    if (s) throw stopped(name + " was taken");
    EXPECT_EQ(s.code, code_of(answer)) << name;
    EXPECT_FALSE(guest.member_taken) << name << " was refused at close()";
    EXPECT_EQ(well + badly, 0) << name << " was refused, and ended too";
  }
  guest.good_put();
  EXPECT_EQ(well + badly, int{s && reported}) << name << ": the number of ends";
  guest.expect_no_change();
  guest.seen.on_completed = nullptr;
  guest.seen.on_failed = [](const failed&) {};
}

template <class F>
void make_wrong_posts(test_side& side, post_fault first, post_fault last) {
  wrong_poster<F> guest(side);
  for (const wrong_post_row& row : wrong_post_table)
    for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i)
      if (row.answers[i] != post_answer::none) expect_answer(guest, row, static_cast<post_fault>(i), row.answers[i]);
  await(side, guest.net, guest.seen, "nothing in flight", [&] { return guest.net.in_flight() == 0; });
  side.ready(0);
}

TYPED_TEST_P(wrong_posts, what_the_initiator_can_know_is_refused_at_the_call) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play({}, serve_wrong_posts<fabric>, [](test_side& side) {
    make_wrong_posts<fabric>(side, post_fault::past_the_end, post_fault::unaligned);
  });
}
TYPED_TEST_P(wrong_posts, what_only_the_target_can_know_fails_and_changes_no_byte) {
  using fabric = typename TestFixture::tested_fabric;
  if (fabric::facts.refused_write == refusal::hidden)
    GTEST_SKIP() << "row " << fabric::name << ", refused_write: hidden: the library tells success of a refused write";
  // An addressed endpoint serves all its connections, and such a library may stall it at a refused write.
  if (!TestFixture::simulated && fabric::facts.refused_write == refusal::silent &&
      fabric::facts.endpoint_type == endpoint_type::addressed)
    GTEST_SKIP() << "row " << fabric::name << ", refused_write: silent: a refused write may end its endpoint's work";
  TestFixture::play({}, serve_wrong_posts<fabric>, [](test_side& side) {
    make_wrong_posts<fabric>(side, post_fault::key, post_fault::forged_rights);
  });
}

/// Two good members with wrong ones before, between and after them. Both arrive.
template <class F, class Posts>
void post_around_wrong_members(wrong_poster<F>& guest, Posts posts, std::size_t first) {
  const auto wrong = [&] {
    EXPECT_EQ(posts.put_notify(guest.memory.first(8), guest.all.at(wrong_region_bytes - 7), wrong_notice).code,
              errc::out_of_range);
    EXPECT_EQ(posts.put_notify(guest.memory.first(8), guest.readable.at(0), wrong_notice).code, errc::denied);
    EXPECT_EQ(posts.put(guest.memory.first(8), guest.readable.at(0)).code, errc::denied);
  };
  const auto good = [&](std::size_t at) {
    EXPECT_TRUE(guest.settled(
        "a good member", [&] { return posts.put_notify(guest.memory.slice(at, 8), guest.all.at(at), good_notice); }));
  };
  wrong();
  good(first);
  wrong();
  good(first + 8);
  wrong();
  EXPECT_TRUE(guest.settled("close", [&] { return posts.close(); }));
  const auto arrived = [&] {
    return std::equal(guest.memory.data() + first, guest.memory.data() + first + 16, guest.memory.data() + 2048);
  };
  const instant end = guest.net.now() + patience;
  while (!arrived() && guest.net.now() < end) {
    const std::uint64_t ends = guest.seen.ends();
    const status s = guest.settled(
        "get", [&] { return guest.net.get(guest.other, guest.memory.slice(2048, 16), guest.all.at(first), &guest); });
    if (!s) throw stopped("get: " + describe(s));
    await(guest.side, guest.net, guest.seen, "the get's end", [&] { return guest.seen.ends() > ends; });
  }
  EXPECT_TRUE(arrived()) << "the good members";
}
TYPED_TEST_P(wrong_posts, a_refused_member_leaves_the_other_members) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play({}, serve_wrong_posts<fabric>, [](test_side& side) {
    wrong_poster<fabric> guest(side);
    post_around_wrong_members(guest, guest.net.batch(guest.other), 0);
    post_around_wrong_members(guest, guest.net.coalesce(guest.other), 16);
    EXPECT_EQ(guest.seen.failures, 0U);
    side.ready(0);
  });
}

/// Striped transfers: what is wrong, and the answer. The rows of put, put_notify and get are the same.
struct wrong_transfer {
  post_fault fault;
  post_answer answer;
};
inline constexpr wrong_transfer wrong_transfers[] = {
    {post_fault::past_the_end, post_answer::bounds}, {post_fault::slice_past_the_end, post_answer::bounds},
    {post_fault::overflow, post_answer::bounds},     {post_fault::rights, post_answer::denied},
    {post_fault::stale_handle, post_answer::lost},   {post_fault::null_handle, post_answer::invalid},
    {post_fault::no_bytes, post_answer::ends_well},
};
/// A description that lies passes the initiator's checks. Each fault has a connection of its own.
inline constexpr post_fault forged_transfers[] = {post_fault::key, post_fault::forged_end, post_fault::forged_rights};

template <class F>
rails<F> two_rails(test_side& side, bool listens) {
  side.at("open rails");
  rails_options o{.nodes = {home(), home()}, .page_bytes = stripe, .transfers = 8};
  o.each = soon_over();
  o.each.listens = listens;
  o.each.sleeps = side.simulated();
  auto all = rails<F>::open(o);
  if (!all) throw stopped("open rails: " + all.error().sentence);
  return std::move(all).value();
}

/// Side 0 of striped transfers. `meetings`: how often side 1 connects.
template <class F>
void serve_wrong_transfers(test_side& side, int meetings) {
  auto net = two_rails<F>(side, true);
  observer seen;
  seen.on_lost = [](const lost&) {};
  seen.on_failed = [](const failed&) {};
  seen.on_notified = [](const notified& n) {
    EXPECT_TRUE(notices_outlive_refusals<F> || n.immediate != wrong_notice) << "the notice of a wrong transfer";
  };
  struct striped_guard {
    std::vector<std::byte> memory = std::vector<std::byte>(2 * wrong_guard + 4 * stripe);
    striped_region region;
    striped_guard(rails<F>& all, rights granted) {
      paint(memory, 5);
      region = all.register_region(bytes(memory).subspan(wrong_guard, 4 * stripe), granted).value();
    }
  };
  striped_guard all(net, rights::all), readable(net, rights::remote_read), writable(net, rights::remote_write);
  side.send_value(1, net.listen_address());
  for (const striped_guard* each : {&all, &readable, &writable})
    side.send_value(1, const_bytes(net.export_region(each->region, owner_polls)));
  for (int i = 0; i < meetings; ++i) {
    side.at("accept");
    const auto p = net.accept_one(patience, seen);
    if (!p) throw stopped("accept: " + p.error().sentence);
  }
  await(side, net, seen, "progress until side 1 sends a value", [&] { return side.has_value(1); });
  const std::uint64_t good = side.wait_for_number(1);
  for (const striped_guard* each : {&all, &readable, &writable})
    for (std::size_t i = 0; i < each->memory.size(); ++i)
      if (each != &all || i < wrong_guard || i >= wrong_guard + good) {
        ASSERT_EQ(each->memory[i], pattern(5, i)) << "byte " << i << " changed";
      }
}

/// Side 1 of striped transfers.
template <class F>
struct wrong_striper {
  test_side& side;
  rails<F> net;
  observer seen;
  std::string where;
  striped_peer other, gone;
  striped_region memory;
  std::vector<std::vector<std::byte>> descriptions;

  explicit wrong_striper(test_side& s) : side(s), net(two_rails<F>(s, false)), where(s.wait_for_text(0)) {
    for (int i = 0; i < 3; ++i) descriptions.push_back(side.wait_for_value(0));
    memory = net.allocate(4 * stripe, rights::none).value();
    seen.on_failed = [](const failed&) {};
    seen.on_lost = [](const lost&) {};
  }
  void meet() {
    side.at("connect");
    auto p = net.connect(where, patience, seen);
    if (!p) throw stopped("connect: " + p.error().sentence);
    other = *p;
  }
  status transfer(operation what, const striped_peer& to, const striped_slice& from, const striped_place& at,
                  std::uint32_t immediate, void* context) {
    status s;
    await(side, net, seen, "room for a transfer", [&] {
      s = what == operation::put   ? net.put(to, from, at, context)
          : what == operation::get ? net.get(to, from, at, context)
                                   : net.put_notify(to, from, at, immediate, context);
      return !s.is_again();
    });
    return s;
  }
  /// The description of a region, with a lie in each rail's part.
  remote_striped_region forged(post_fault fault, const std::vector<std::byte>& description) {
    auto record = wire::parse_striped(description).value();
    for (auto& each : record.rails) {
      if (fault == post_fault::key) each.key ^= F::facts.key_bytes >= 4 ? 0x5a5a5a5U : 0x55U;
      if (fault == post_fault::forged_end) each.length += 4 * stripe;
      if (fault == post_fault::forged_rights) each.granted = rights::all;
    }
    return net.parse_region(wire::encode(record)).value();
  }
};

inline constexpr operation striped_operations_tested[] = {operation::put, operation::put_notify, operation::get};

template <class F>
void make_wrong_transfers(test_side& side) {
  wrong_striper<F> guest(side);
  guest.meet();
  guest.gone = guest.other;
  (void)guest.net.close(guest.gone, patience, guest.seen);
  guest.meet();
  const auto all = guest.net.parse_region(guest.descriptions[0]).value();
  for (const operation what : striped_operations_tested)
    for (const wrong_transfer& w : wrong_transfers) {
      const std::string name =
          std::string("striped ") + name_of(what) + ", " + post_fault_names[static_cast<int>(w.fault)];
      const auto& closed = guest.descriptions[what == operation::get ? 2 : 1];
      striped_peer to = guest.other;
      striped_slice from = guest.memory.slice(stripe, 64);
      striped_place at = all.at(2 * stripe);
      switch (w.fault) {
        case post_fault::past_the_end:
          from = guest.memory.first(4 * stripe), at = all.at(1);
          break;
        case post_fault::slice_past_the_end:
          from = guest.memory.slice(4 * stripe - 1, 2), at = all.at(0);
          break;
        case post_fault::overflow:
          at = all.at(~std::uint64_t{0} - 31);
          break;
        case post_fault::rights:
          at = guest.net.parse_region(closed).value().at(0);
          break;
        case post_fault::stale_handle:
          to = guest.gone;
          break;
        case post_fault::null_handle:
          to = striped_peer();
          break;
        default:
          from.size = 0;
      }
      int context = 0;
      const std::uint64_t ends = guest.seen.ends();
      const status s =
          guest.transfer(what, to, from, at, w.fault == post_fault::no_bytes ? empty_notice : wrong_notice, &context);
      if (w.answer == post_answer::ends_well) {
        EXPECT_TRUE(s) << name << ": " << describe(s);
        await(side, guest.net, guest.seen, name, [&] { return guest.seen.ends() > ends; });
        EXPECT_EQ(guest.seen.failures, 0U) << name;
      } else {
        EXPECT_EQ(s.code, code_of(w.answer)) << name;
        EXPECT_EQ(guest.net.in_flight(), 0U) << name;
      }
      const std::uint64_t well = guest.seen.completions;
      EXPECT_TRUE(guest.transfer(operation::put_notify, guest.other, guest.memory.first(2 * stripe), all.at(0),
                                 good_notice, &context));
      await(side, guest.net, guest.seen, "the end of a good transfer", [&] { return guest.seen.completions > well; });
    }
  side.send_value(0, std::uint64_t{2 * stripe});
}

template <class F>
void make_forged_transfer(test_side& side, operation what, post_fault fault) {
  wrong_striper<F> guest(side);
  guest.meet();
  const std::size_t which = fault != post_fault::forged_rights ? 0 : what == operation::get ? 2 : 1;
  const auto there = guest.forged(fault, guest.descriptions[which]);
  const std::uint64_t offset = fault == post_fault::forged_end ? 4 * stripe : 0;
  const status s =
      guest.transfer(what, guest.other, guest.memory.first(stripe), there.at(offset), wrong_notice, &guest);
  EXPECT_TRUE(s) << describe(s);
  await(side, guest.net, guest.seen, "the end of a forged transfer", [&] { return guest.seen.ends() != 0; });
  EXPECT_EQ(guest.seen.completions, 0U) << "a forged " << name_of(what) << " was reported as a success";
  side.send_value(0, std::uint64_t{0});
}

TYPED_TEST_P(wrong_posts, striped_transfers_are_refused_at_the_call) {
  using fabric = typename TestFixture::tested_fabric;
  TestFixture::play(
      {}, [](test_side& side) { serve_wrong_transfers<fabric>(side, 2); }, make_wrong_transfers<fabric>);
}
TYPED_TEST_P(wrong_posts, forged_striped_transfers_fail_and_change_no_byte) {
  using fabric = typename TestFixture::tested_fabric;
  for (const operation what : striped_operations_tested)
    for (const post_fault fault : forged_transfers) {
      TestFixture::play(
          {}, [](test_side& side) { serve_wrong_transfers<fabric>(side, 1); },
          [=](test_side& side) { make_forged_transfer<fabric>(side, what, fault); });
      if (testing::Test::HasFailure()) {
        ADD_FAILURE() << name_of(what) << ", " << post_fault_names[static_cast<int>(fault)];
        return;
      }
    }
}

REGISTER_TYPED_TEST_SUITE_P(wrong_posts, a_refused_member_leaves_the_other_members,
                            what_the_initiator_can_know_is_refused_at_the_call,
                            what_only_the_target_can_know_fails_and_changes_no_byte,
                            striped_transfers_are_refused_at_the_call,
                            forged_striped_transfers_fail_and_change_no_byte);

}  // namespace weft::conformance
