// SPDX-License-Identifier: Apache-2.0
//
// Stream sockets beside hostile callers: forged hellos, silent and slow callers, frames that no port sends, connections
// that come again and again. Each ends without an event, honest peers are served meanwhile, and no descriptor and no
// byte stays. Hot path: no. Threads: one per side.
#include "../../../compose/transport.hpp"
#include "../../../generated/kernel_tcp.hpp"

#include <gtest/gtest.h>

#include <malloc.h>
#include <sys/socket.h>
#include <unistd.h>
#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weft::backends::streams {
namespace {

using namespace std::chrono_literals;
using fabric = fabrics::kernel_tcp;

std::size_t open_descriptors() {
  return static_cast<std::size_t>(
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator{}));
}
std::vector<std::byte> head_of(const frame& f) {
  std::vector<std::byte> made(frame_bytes);
  encode(f, made.data());
  return made;
}
std::vector<std::byte> said(std::uint32_t window) {
  const auto all = hello{window}.bytes();
  return {all.begin(), all.end()};
}

/// A socket that says what no port says.
class caller {
 public:
  explicit caller(const socket_address& to) : socket_(::socket(to.family(), SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    EXPECT_EQ(::connect(socket_.get(), to.get(), to.size), 0);
  }
  bool say(const_bytes text) const {
    return ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  }
  /// Whether the other side closed.
  bool is_cut_off() const {
    std::array<std::byte, 256> any;
    ssize_t got = 0;
    while ((got = ::recv(socket_.get(), any.data(), any.size(), MSG_DONTWAIT)) > 0) {
    }
    return got == 0 || errno != EAGAIN;
  }

 private:
  owned_socket socket_;
};

/// A listener. Its handler counts what it hears of peers that it did not expect.
struct victim {
  transport<fabric> net;
  socket_address where;
  std::size_t events = 0;

  explicit victim(transport_options o = {}) : net(open<fabric>(listening(std::move(o))).value()) {
    const std::string text = net.listen_address();
    const auto colon = text.rfind(':');
    where = resolved(text.substr(0, colon), text.substr(colon + 1), 0, "test").value();
  }
  static transport_options listening(transport_options o) {
    o.node = "127.0.0.1";
    o.listens = true;
    return o;
  }
  void poll() {
    net.progress([this](auto&&) { ++events; });
  }
  template <class Done>
  bool until(Done&& done) {
    for (const auto end = std::chrono::steady_clock::now() + 20s; std::chrono::steady_clock::now() < end;) {
      if (done()) return true;
      poll();
    }
    return false;
  }
  bool cuts_off(const caller& one) {
    return until([&] { return one.is_cut_off(); });
  }
  /// An honest peer meets it, and its message arrives.
  void serves_an_honest_peer() {
    std::thread honest([to = net.listen_address()] {
      auto own = open<fabric>({}).value();
      auto met = own.connect(to, 20s);
      // Where young callers hold all places, the answer says: try later.
      for (const auto end = std::chrono::steady_clock::now() + 20s; !met && std::chrono::steady_clock::now() < end;)
        met = own.connect(to, 20s);
      ASSERT_TRUE(met) << met.error().sentence;
      const auto from = own.allocate(8, rights::none).value();
      EXPECT_TRUE(own.send(*met, from.first(3)));
      EXPECT_TRUE(own.close(*met, 20s));
    });
    std::size_t messages = 0;
    bool left = false;
    const auto on = overloaded{[&](const received& m) { messages += std::size_t{m.message.size() == 3}; },
                               [&](const lost&) { left = true; }, [](auto&&) {}};
    EXPECT_TRUE(net.accept_one(20s, on));
    EXPECT_TRUE(net.until([&] { return left; }, 20s, on));
    honest.join();
    EXPECT_EQ(messages, 1U);
  }
};

TEST(a_forged_hello, meets_nobody) {
  victim v;
  const std::size_t before = open_descriptors();
  std::vector<std::vector<std::byte>> forged;
  for (const std::uint32_t window : {0U, 1U, 8U, 17U, 32768U, ~0U}) forged.push_back(said(window));
  for (const std::size_t at : {0U, 7U, 12U, 15U}) {
    forged.push_back(said(64));
    forged.back()[at] ^= std::byte{1};
  }
  forged.emplace_back(hello::size);
  for (const auto& each : forged) {
    caller one(v.where);
    EXPECT_TRUE(one.say(each));
    EXPECT_TRUE(v.cuts_off(one));
  }
  EXPECT_EQ(v.events, 0U);
  v.serves_an_honest_peer();
  EXPECT_TRUE(v.until([&] { return open_descriptors() <= before; }));
}

/// More callers than there are places. Each says this and no more.
void stay_beside_an_honest_peer(const_bytes text) {
  victim v;
  const std::size_t before = open_descriptors();
  constexpr std::size_t all = 2 * strangers::most + 10;
  std::vector<std::unique_ptr<caller>> callers;
  std::size_t cut_off = 0;
  for (std::size_t i = 0; i < all; ++i) {
    callers.push_back(std::make_unique<caller>(v.where));
    EXPECT_TRUE(callers.back()->say(text));
    v.poll();
  }
  EXPECT_TRUE(v.until([&] {
    cut_off = 0;
    for (const auto& each : callers) cut_off += std::size_t{each->is_cut_off()};
    return cut_off >= all - strangers::most;
  })) << "the oldest leave: "
      << cut_off;
  EXPECT_LE(open_descriptors(), before + all + strangers::most);
  v.serves_an_honest_peer();
  callers.clear();
  EXPECT_TRUE(v.until([&] { return open_descriptors() <= before; })) << open_descriptors() << " after " << before;
  EXPECT_EQ(v.events, 0U);
}
TEST(silent_callers, leave_their_places_to_honest_ones) { stay_beside_an_honest_peer({}); }
TEST(slow_callers, leave_their_places_to_honest_ones) {
  const auto begun = said(64);
  stay_beside_an_honest_peer(const_bytes(begun).first(15));
}

TEST(callers_without_a_hello_of_the_transport, leave_their_places_to_honest_ones) {
  stay_beside_an_honest_peer(said(64));
}

TEST(a_silent_caller, is_dropped_although_there_is_room) {
  victim v;
  const caller silent(v.where);
  EXPECT_TRUE(v.cuts_off(silent));
  const caller slow(v.where);
  const auto begun = said(64);
  EXPECT_TRUE(slow.say(const_bytes(begun).first(1)));
  EXPECT_TRUE(v.cuts_off(slow));
  const caller without_hello_of_the_transport(v.where);
  EXPECT_TRUE(without_hello_of_the_transport.say(begun));
  EXPECT_TRUE(v.cuts_off(without_hello_of_the_transport)) << "transport_options::handshake_limit";
  EXPECT_EQ(v.events, 0U);
}

/// Frames that no port sends on a link that has carried nothing.
std::vector<std::vector<std::byte>> forged_frames() {
  std::vector<std::vector<std::byte>> all;
  const auto with = [&all](std::size_t at, std::byte value) {
    all.push_back(head_of({frame_kind::message, false, 0, 8}));
    all.back()[at] = value;
  };
  with(0, std::byte{0});     // no kind
  with(0, std::byte{8});     // the kind after the last
  with(0, std::byte{0xff});  // another
  with(1, std::byte{2});     // an unknown flag
  with(3, std::byte{0x80});
  for (const std::uint32_t acked : {1U, 0x80000000U, ~0U})  // nothing was sent
    all.push_back(head_of({frame_kind::message, false, acked, 8}));
  all.push_back(head_of({frame_kind::acknowledgement, false, 0, 1}));
  all.push_back(head_of({frame_kind::read_reply, false, 0, 64}));  // nobody asked
  all.push_back(head_of({frame_kind::read_reply, false, 0, 0, 5}));
  for (const std::uint32_t acked : {0U, 1U, ~0U})
    all.push_back(head_of({frame_kind::refusal, false, acked, 0, static_cast<std::uint64_t>(errc::denied)}));
  return all;
}
TEST(a_forged_frame, ends_its_link_alone) {
  victim v({.handshake_limit = 1h});
  const auto frames = forged_frames();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    caller one(v.where);
    EXPECT_TRUE(one.say(said(64)));
    EXPECT_TRUE(one.say(frames[i]));
    EXPECT_TRUE(v.cuts_off(one)) << "frame " << i;
  }
  EXPECT_EQ(v.events, 0U);
  v.serves_an_honest_peer();
}

TEST(a_frame, larger_than_any_memory_lands_nowhere_and_delays_nobody) {
  victim v;
  const auto region = v.net.allocate(64, rights::remote_write).value();
  for (const frame_kind kind : {frame_kind::message, frame_kind::write, frame_kind::write_immediate}) {
    const caller one(v.where);
    EXPECT_TRUE(one.say(said(64)));
    EXPECT_TRUE(one.say(head_of({kind, true, 0, std::uint64_t{1} << 62, 7, ~std::uint64_t{0} - 8, 0x1234})));
    const std::vector<std::byte> some(65536, std::byte{0x77});
    EXPECT_TRUE(one.say(some));
    v.serves_an_honest_peer();
  }
  EXPECT_TRUE(std::all_of(region.data(), region.data() + 64, [](std::byte each) { return each == std::byte{}; }));
  EXPECT_EQ(v.events, 0U);
}

TEST(callers, that_come_again_and_again_leave_nothing) {
  victim v;
  const auto frames = forged_frames();
  const auto come = [&](std::size_t i) {
    caller one(v.where);
    EXPECT_TRUE(one.say(said(64)));
    if (i % 3 == 0) return;  // it leaves before it is heard
    EXPECT_TRUE(one.say(frames[i % frames.size()]));
    EXPECT_TRUE(v.cuts_off(one));
  };
  const auto settled = [&] {
    for (int i = 0; i < 2000; ++i) v.poll();
  };
  for (std::size_t i = 0; i < 100; ++i) come(i);
  settled();
  const std::size_t descriptors = open_descriptors();
  const std::size_t bytes_before = ::mallinfo2().uordblks;
  for (std::size_t i = 0; i < 500; ++i) come(i);
  settled();
  EXPECT_TRUE(v.until([&] { return open_descriptors() <= descriptors; }));
  EXPECT_LT(::mallinfo2().uordblks, bytes_before + 16384) << "500 callers";
  EXPECT_EQ(v.events, 0U);
  v.serves_an_honest_peer();
}

TEST(one_host, takes_its_share_only) {
  victim v({.peers_per_host = 2});
  const auto accepts = [&] { return v.net.accept_one(20s, [](auto&&) {}); };
  std::vector<transport<fabric>> nets;
  for (int i = 0; i < 2; ++i) {
    nets.push_back(open<fabric>({}).value());
    std::thread calls([&] { EXPECT_TRUE(nets.back().connect(v.net.listen_address(), 20s)); });
    EXPECT_TRUE(accepts());
    calls.join();
  }
  std::atomic<bool> over{false};
  std::thread polls([&] {
    while (!over) v.net.progress([](auto&&) {});
  });
  auto third = open<fabric>({}).value();
  const auto met = third.connect(v.net.listen_address(), 20s);
  over = true;
  polls.join();
  ASSERT_FALSE(met);
  EXPECT_NE(met.error().sentence.find("peers_per_host"), std::string::npos) << met.error().sentence;
}

// ---- parts of a link

/// A link whose other end is the test's socket.
struct half_link {
  std::array<int, 2> two{};
  pending_completions ends{64};
  regions own;
  connection link{64};

  explicit half_link(std::uint32_t window = 16) {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, two.data()), 0);
    link.socket_number = two[0];
    link.phase = link_phase::established;
    link.make_room(window, window);
  }
  half_link(const half_link&) = delete;
  half_link& operator=(const half_link&) = delete;
  ~half_link() {
    for (const int each : two) ::close(each);
  }
  std::optional<frame> heard() const {
    std::array<std::byte, frame_bytes> text{};
    if (::recv(two[1], text.data(), text.size(), MSG_DONTWAIT) != static_cast<ssize_t>(text.size())) return {};
    return parse(text.data());
  }
};

TEST(refusals, are_told_in_their_order_and_the_search_for_them_ends) {
  for (const std::uint32_t first : {0U, ~0U - 2U}) {
    half_link h;
    incoming& in = h.link.in;
    in.taken = in.announced = first;
    for (const errc how : {errc::ok, errc::denied, errc::ok, errc::out_of_range, errc::denied, errc::ok}) in.take(how);
    sender(h.link, h.ends).advance();
    for (const auto& [count, why] :
         {std::pair(2U, errc::denied), std::pair(4U, errc::out_of_range), std::pair(5U, errc::denied)}) {
      const auto told = h.heard();
      ASSERT_TRUE(told);
      EXPECT_EQ(told->kind, frame_kind::refusal);
      EXPECT_EQ(told->acked, first + count);
      EXPECT_EQ(told->immediate, static_cast<std::uint64_t>(why));
    }
    EXPECT_FALSE(h.link.has_to_send());
    EXPECT_EQ(h.link.count_to_announce(), first + 6);
    EXPECT_FALSE(h.heard());
  }
}

TEST(refusals, hold_the_count_of_other_frames_back) {
  half_link h;
  h.link.in.take(errc::ok);
  h.link.in.take(errc::denied);
  h.link.in.take(errc::ok);
  EXPECT_EQ(h.link.count_to_announce(), 1U);
  h.link.in.forget_first_refusal();
  EXPECT_EQ(h.link.count_to_announce(), 3U);
}

TEST(a_peer, that_sends_beyond_its_window_is_cut_off) {
  half_link h;
  std::vector<int> contexts(64);
  for (int& each : contexts) h.link.receives.post({nullptr, 0, &each});
  for (int i = 0; i < 17; ++i) {
    const auto message = head_of({frame_kind::message, false, 0, 0});
    ASSERT_EQ(::send(h.two[1], message.data(), message.size(), 0), static_cast<ssize_t>(message.size()));
  }
  receiver in(h.link, h.ends, h.own);
  int taken = 0;
  receiver::step last{};
  while ((last = in.take_next()) == receiver::step::taken) ++taken;
  EXPECT_EQ(taken, 16);
  EXPECT_EQ(last, receiver::step::finished) << "nobody acknowledged the first 16";
}

TEST(a_peer, that_asks_for_more_reads_than_its_window_is_cut_off) {
  half_link h;
  for (int i = 0; i < 17; ++i) {
    const auto read = head_of({frame_kind::read, true, 0, 8, 0, 0, 0x1234});
    ASSERT_EQ(::send(h.two[1], read.data(), read.size(), 0), static_cast<ssize_t>(read.size()));
  }
  receiver in(h.link, h.ends, h.own);
  int taken = 0;
  receiver::step last{};
  while ((last = in.take_next()) == receiver::step::taken) ++taken;
  EXPECT_EQ(taken, 16);
  EXPECT_EQ(last, receiver::step::finished);
}

/// A socket that takes whatever is sent, at once: datagrams to a socket that nobody reads are thrown away.
class abyss {
 public:
  abyss()
      : to_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)), from_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    EXPECT_EQ(::bind(to_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
    EXPECT_EQ(::getsockname(to_.get(), reinterpret_cast<sockaddr*>(&at), &size), 0);
    EXPECT_EQ(::connect(from_.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at), 0);
  }
  int get() const noexcept { return from_.get(); }

 private:
  owned_socket to_, from_;
};

TEST(a_peer, that_takes_bytes_without_pause_gets_its_part_of_a_poll) {
  const abyss endless;
  half_link h(1024);
  h.link.socket_number = endless.get();
  const std::vector<std::byte> region(32768);  // with a header no longer than a datagram
  for (int i = 0; i < 1000; ++i)
    h.link.out.answers[h.link.out.answers_last++] = {region.data(), region.size(), 1, errc::ok};
  sender(h.link, h.ends).advance();
  const std::uint32_t first_part = h.link.out.answers_first;
  EXPECT_GE(first_part, 1U);
  EXPECT_LE(first_part, static_cast<std::uint32_t>(sender::most_calls) / 2 + 1) << "bytes count too";
  EXPECT_TRUE(h.link.needs_attention()) << "the next poll goes on";
  for (int i = 0; i < 1000 && h.link.has_to_send(); ++i) sender(h.link, h.ends).advance();
  EXPECT_FALSE(h.link.has_to_send());
  EXPECT_EQ(h.link.out.answers_first, 1000U);
}

}  // namespace
}  // namespace weft::backends::streams
