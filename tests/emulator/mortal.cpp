// SPDX-License-Identifier: Apache-2.0
//
// mortal: the survivor. It prints its address, answers each message, and counts the messages until its peer is lost.
// Exit 0: the loss was reported once, after each of its operations had ended once, and no message arrived twice. mortal
// WHERE: the peer, which posts until it is killed.
#include "../../compose/selected.hpp"
#include "../../compose/transport.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

using namespace weft;

constexpr std::size_t most = 1'000'000;

/// How often each number arrived.
class tally {
 public:
  void add(std::uint32_t number) {
    if (number >= most || ++times_[number] > 1) ++twice_;
    ++all_;
  }
  unsigned twice() const { return twice_; }
  unsigned all() const { return all_; }

 private:
  std::vector<std::uint8_t> times_ = std::vector<std::uint8_t>(most);
  unsigned twice_ = 0;
  unsigned all_ = 0;
};

int survive() {
  auto net = open<selected>({.node = "127.0.0.1", .listens = true, .silence_limit = 1500ms}).value();
  auto page = net.allocate(4096, rights::remote_write).value();
  std::printf("%s\n", net.listen_address().c_str());
  std::fflush(stdout);
  const peer other = net.accept_one(20s).value();
  while (net.send_region(other, page, owner_polls).is_again()) net.progress([](auto&&) {});
  tally messages;
  tally notices;
  unsigned owed = 0;
  unsigned posted = 0;
  unsigned ended = 0;
  unsigned losses = 0;
  bool in_turn = true;  // no operation ends after the loss
  const auto end = [&] {
    ++ended;
    in_turn = in_turn && losses == 0;
  };
  const auto on = overloaded{[&](const received& r) {
                               std::uint32_t number = most;
                               if (r.message.size() == sizeof number)
                                 std::memcpy(&number, r.message.data(), sizeof number);
                               messages.add(number);
                               ++owed;
                             },
                             [&](const notified& n) { notices.add(n.immediate); },
                             [&](const completed&) { end(); },
                             [&](const failed&) { end(); },
                             [&](const lost&) { ++losses; },
                             [](auto&&) {}};
  const auto answered = [&] {
    while (owed > 0 && net.send(other, page.first(4), &owed)) {
      --owed;
      ++posted;
    }
    return losses > 0;
  };
  const bool told = bool(net.until(answered, 30s, on));
  (void)net.until([] { return false; }, 200ms, on);  // any message from now on is one too many
  std::printf("losses %u, messages %u, notices %u, twice %u, posted %u, ended %u%s\n", losses, messages.all(),
              notices.all(), messages.twice() + notices.twice(), posted, ended, in_turn ? "" : ", after the loss");
  const bool once = messages.twice() + notices.twice() == 0 && ended == posted;
  return told && losses == 1 && once && in_turn && messages.all() > 0 && notices.all() > 0 ? 0 : 1;
}

int post_until_killed(const char* where) {
  auto net = open<selected>({.node = "127.0.0.1", .silence_limit = 20s}).value();
  auto memory = net.allocate(4096, rights::none).value();
  const auto on = [](auto&&) {};
  const peer other = net.connect(where, 20s).value();
  const auto there = net.receive_region(other, 20s).value();
  const instant limit = net.now() + 20s;
  for (std::uint32_t number = 0; net.now() < limit; ++number) {
    const local_memory word = memory.slice(4 * std::size_t{number % 1024}, 4);
    std::memcpy(memory.data() + 4 * std::size_t{number % 1024}, &number, sizeof number);
    const auto post = [&] {
      return number % 2 == 0 ? net.send(other, word, &net) : net.put_notify(other, word, there.at(0), number, &net);
    };
    while (post().is_again() && net.now() < limit) net.progress(on);
    net.progress(on);
  }
  std::fprintf(stderr, "mortal: not killed within 20 s\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) { return argc > 1 ? post_until_killed(argv[1]) : survive(); }
