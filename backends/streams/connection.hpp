// SPDX-License-Identifier: Apache-2.0
//
// One link: its socket, what waits to be sent, what is being received, and which operations wait for the peer.
// The peer acknowledges messages and writes in order, by a count that rides on every frame. So a reply that is due
// anyway carries it for free, and an end costs no system call.
// Hot path: all except the set-up. Threads: the owner's.
#pragma once

#include "address.hpp"
#include "frame.hpp"
#include "pending_completions.hpp"
#include "strangers.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

namespace weft::backends::streams {

enum class link_phase : std::uint8_t {
  connecting,      ///< The kernel connects.
  hello_sent,      ///< Our hello is sent; the peer's has not arrived.
  hello_received,  ///< A peer connected and said hello; not reported to the transport.
  established,
  ending,  ///< Ended, and not reported yet.
  gone,    ///< Reported as ended, or hung up.
};

inline constexpr std::size_t most_pieces = 4;       ///< Pieces of one post.
inline constexpr std::size_t most_injected = 4096;  ///< Bytes of an inject, which a link can keep.

/// Local pieces as the kernel takes them.
struct piece_list {
  std::array<iovec, most_pieces> each;  // Not initialised: a post fills what it uses.
  std::uint32_t count;
};

/// A post that waits for its turn.
struct queued_post {
  frame head;
  piece_list pieces;
  void* context;
  bool ends_when_sent;
};
/// A message or write that the peer has not acknowledged.
struct awaited_end {
  static constexpr std::uint8_t reported = 1;  ///< The acknowledgement ends the operation.
  /// No honest peer refuses a message, and its context may be another operation's by now.
  static constexpr std::uint8_t message = 2;
  void* context;
  std::uint8_t flags;  // one byte, so that a post stores both at once

  bool is_reported() const noexcept { return (flags & reported) != 0; }
  bool is_message() const noexcept { return (flags & message) != 0; }
};
struct posted_read {
  piece_list into;
  std::uint64_t size;
  void* context;
};
/// A read of the peer that was not answered yet.
struct read_answer {
  const std::byte* from;
  std::uint64_t size, key;
  errc how;
};

/// An array with a power of two places, used in turn by counts that run modulo 2^32. The places are not initialised:
/// untouched memory costs nothing.
template <class T>
class turn_list {
 public:
  void make(std::uint32_t places) {
    places_ = std::make_unique_for_overwrite<T[]>(places);
    mask_ = places - 1;
  }
  T& operator[](std::uint32_t turn) noexcept { return places_[turn & mask_]; }
  std::uint32_t size() const noexcept { return mask_ + 1; }

 private:
  std::unique_ptr<T[]> places_;
  std::uint32_t mask_ = 0;
};

/// Posted receives. The last posted one is taken first: its memory is warmest, and no order among receives is promised.
class posted_receives {
 public:
  struct receive {
    std::byte* data;
    std::size_t size;
    void* context;
  };
  explicit posted_receives(std::uint32_t most)
      : places_(std::make_unique_for_overwrite<receive[]>(most)), most_(most) {}
  bool empty() const noexcept { return count_ == 0; }
  bool full() const noexcept { return count_ == most_; }
  /// Requires: !full().
  void post(const receive& r) noexcept { places_[count_++] = r; }
  /// Requires: !empty().
  const receive& take() noexcept { return places_[--count_]; }
  /// Posts the receive that was taken last again. False: `context` is another receive's.
  bool post_again(const void* context) noexcept {
    if (count_ == most_ || places_[count_].context != context) return false;
    ++count_;
    return true;
  }

 private:
  std::unique_ptr<receive[]> places_;
  std::uint32_t count_ = 0, most_;
};

/// What is being sent, and what waits behind it.
struct outgoing {
  // ---- the frame that the kernel has taken a part of
  std::array<std::byte, frame_bytes> head;
  std::array<iovec, 1 + most_pieces> rest;
  std::uint32_t rest_at = 0, rest_count = 0;
  bool rest_is_post = false;  ///< A post whose bytes the peer will acknowledge.
  bool rest_ends = false;     ///< `rest_context` ends with the last byte.
  void* rest_context = nullptr;
  std::uint64_t rest_key = 0;                  ///< Of the region that an answer is read from; 0: none.
  std::array<std::byte, most_injected> spill;  ///< The rest of an inject.
  std::unique_ptr<std::byte[]> kept;           ///< The rest of an answer whose region was released meanwhile.

  // ---- waiting posts and answers
  turn_list<queued_post> posts;
  std::uint32_t posts_first = 0, posts_last = 0;
  turn_list<read_answer> answers;
  std::uint32_t answers_first = 0, answers_last = 0;
  bool broken = false;  ///< The kernel refuses to send. What arrived before can still be read.

  bool is_partial() const noexcept { return rest_at != rest_count; }
  /// Nothing waits to be sent: a post goes to the kernel at once.
  [[gnu::always_inline]] bool idle() const noexcept {
    return rest_at == rest_count && posts_first == posts_last && answers_first == answers_last && !broken;
  }
};

/// The frame that is being received.
struct incoming {
  enum class stage : std::uint8_t {
    head,
    no_receive,  ///< A message waits until a receive is posted.
    body,
  };
  /// Bytes that one call reads ahead, beyond the frame's own: the following small frames. A byte of a payload that
  /// comes this way is copied once more.
  static constexpr std::size_t ahead_bytes = 4096 + 8 * frame_bytes;

  std::unique_ptr<std::byte[]> ahead;
  std::size_t begin = 0, end = 0;  ///< The bytes in `ahead`.
  stage at = stage::head;
  bool expects_large = false;  ///< The last payload did not fit `ahead`, so the next may not either.
  frame now;
  piece_list to;
  std::uint32_t to_at = 0;
  std::uint64_t left = 0;  ///< Bytes of the payload that have not come.
  bool discards = false;   ///< The payload has no place.
  errc outcome = errc::ok;
  void* context = nullptr;  ///< Of the receive.

  // ---- acknowledgements
  std::uint32_t taken = 0;      ///< Messages and writes that were taken.
  std::uint32_t announced = 0;  ///< As the peer knows it.
  bool asked = false;           ///< The peer waits for an acknowledgement.
  bool refuses = false;         ///< The peer does not know of a refused frame. `refused_at`: the first one.
  std::uint32_t refused_at = 0;
  turn_list<errc> answers;  ///< Of the frames after `announced`.

  /// Takes the end of the next message or write.
  void take(errc how) noexcept {
    if (how != errc::ok && !std::exchange(refuses, true)) refused_at = taken;
    answers[taken++] = how;
  }
  /// The first refusal is on its way. The search for the next one ends with the last frame that was taken.
  void forget_first_refusal() noexcept {
    do ++refused_at;
    while (refused_at != taken && answers[refused_at] == errc::ok);
    refuses = refused_at != taken;
  }
};

struct connection {
  explicit connection(std::uint32_t most_receives) : receives(most_receives) {}

  // ---- hot
  int socket_number = -1;
  link_phase phase = link_phase::connecting;
  bool attended = false;     ///< In the port's list of links that each poll attends to.
  bool has_more = false;     ///< The last poll left frames behind, as it had reported enough.
  std::uint32_t polled = 0;  ///< Number of the poll that read the socket last.
  std::uint32_t heard = 0;   ///< Number of the poll in which bytes came last.
  void* owner = nullptr;     ///< The transport's object for the link.
  std::uint32_t posted = 0;  ///< Messages and writes.
  std::uint32_t acked = 0;   ///< Of them, acknowledged by the peer.
  std::uint32_t unsent = 0;  ///< Of them, not wholly given to the kernel.
  turn_list<awaited_end> awaited;
  turn_list<posted_read> reads;
  std::uint32_t reads_posted = 0, reads_done = 0, reads_unsent = 0;
  outgoing out;
  incoming in;
  posted_receives receives;

  // ---- set-up
  owned_socket socket;
  std::uint32_t tag = no_tag;
  bool was_established = false;  ///< Reported to the transport as established.
  std::uint32_t events = 0;      ///< What the epoll set waits for; 0: the link is not in it.
  std::uint64_t host = 0;
  heard_hello said;

  bool is_up() const noexcept { return phase == link_phase::established; }
  /// The count for the next frame: what was taken, up to the first refusal that the peer does not know.
  [[gnu::always_inline]] std::uint32_t count_to_announce() const noexcept {
    return in.refuses ? in.refused_at : in.taken;
  }
  /// Something waits to be sent.
  bool has_to_send() const noexcept {
    return out.is_partial() || out.posts_first != out.posts_last || out.answers_first != out.answers_last || in.refuses;
  }
  /// The peer waits for the count, or will wait soon.
  bool count_is_due() const noexcept { return in.taken != in.announced && (in.asked || count_is_overdue()); }
  bool count_is_overdue() const noexcept { return in.taken - in.announced >= in.answers.size() / 2; }
  /// A message that had no receive has one now, or frames were left behind.
  bool has_arrivals() const noexcept { return has_more || (in.at == incoming::stage::no_receive && !receives.empty()); }
  bool needs_attention() const noexcept {
    return is_up() && !out.broken &&
           (has_to_send() || count_is_due() || has_more || in.at == incoming::stage::no_receive);
  }

  /// Memory for a link that both sides want. `mine`: this side's window.
  void make_room(std::uint32_t mine, std::uint32_t theirs) {
    in.ahead = std::make_unique_for_overwrite<std::byte[]>(incoming::ahead_bytes);
    in.answers.make(theirs);
    out.answers.make(theirs);
    out.posts.make(mine);
    awaited.make(mine);
    reads.make(mine);
  }
};

}  // namespace weft::backends::streams
