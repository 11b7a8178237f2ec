// SPDX-License-Identifier: Apache-2.0
//
// backends/streams/receiving.hpp: the bytes of a peer after its hello. A link with a region, two receives, messages on
// their way and a read that waits. No byte lands outside of its place, and no end comes twice.
#include "../../backends/streams/receiving.hpp"
#include "../target.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

namespace weft::fuzz::stream_frames {

namespace streams = backends::streams;

constexpr std::uint64_t key = 0x1122334455667788;
constexpr std::uint32_t window = 16, posted = 4, reads = 1;

/// Bytes with others before and behind them, which must not change.
struct guarded {
  static constexpr std::size_t size = 64;
  std::array<std::byte, 3 * size> all{};
  guarded() { all.fill(std::byte{0x5a}); }
  std::byte* place() noexcept { return all.data() + size; }
  bool is_whole() const noexcept {
    const auto same = [](std::byte each) { return each == std::byte{0x5a}; };
    return std::all_of(all.begin(), all.begin() + size, same) && std::all_of(all.end() - size, all.end(), same);
  }
};

/// What this side waits for.
void post(streams::connection& link, streams::pending_completions& ends, guarded& destination) {
  static int contexts[posted + reads];
  for (std::uint32_t i = 0; i < posted; ++i) {
    require(ends.reserve(), "there is a place");
    link.awaited[link.posted++] = {&contexts[i], true};
  }
  require(ends.reserve(), "there is a place");
  streams::posted_read& r = link.reads[link.reads_posted++];
  r.into.each[0] = {destination.place(), 16};
  r.into.count = 1;
  r.size = 16;
  r.context = &contexts[posted];
}

void check(const_bytes input) {
  int two[2];
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, two) == 0, "the sockets open");
  const streams::owned_socket ours(two[0]);
  {
    const streams::owned_socket theirs(two[1]);
    (void)!::send(theirs.get(), input.data(), input.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  guarded region, destination, receives[2];
  streams::regions own;
  own.add(key, {region.place(), guarded::size}, rights::remote_write | rights::remote_read);
  streams::pending_completions ends(16);
  streams::connection link(2);
  link.phase = streams::link_phase::established;
  link.socket_number = ours.get();
  link.make_room(window, window);
  for (guarded& each : receives) link.receives.post({each.place(), guarded::size, &each});
  post(link, ends, destination);

  streams::receiver::step last{};
  std::uint32_t messages = 0;
  do {
    streams::receiver in(link, ends, own);
    while ((last = in.take_next()) == streams::receiver::step::taken)
      messages += std::uint32_t{in.has_entry && in.came.kind == completion_kind::received};
    if (last == streams::receiver::step::nothing && link.in.at == streams::incoming::stage::no_receive) break;
  } while (last != streams::receiver::step::finished);  // the other end is closed

  std::uint32_t ended = 0;
  for (; !ends.empty(); ++ended) require(ends.pop().context != nullptr, "an end has its context");
  require(ended <= posted + reads, "an operation ends once");
  require(link.acked <= posted && link.reads_done <= reads, "nothing ends that was not posted");
  require(messages <= 2, "a message needs a receive");
  require(region.is_whole() && destination.is_whole() && receives[0].is_whole() && receives[1].is_whole(),
          "no byte lands outside of its place");
  require(link.out.answers_last - link.out.answers_first <= window, "the answers to reads have a bound");
}

}  // namespace weft::fuzz::stream_frames
WEFT_FUZZ_TARGET(stream_frames)
