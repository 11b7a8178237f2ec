// SPDX-License-Identifier: Apache-2.0
//
// From a post to the kernel. A post on a quiet link is one system call: header and payload go together. What the kernel
// does not take (send(2), EAGAIN) waits, and later polls continue it in order.
// Hot path: post_frame. Threads: the owner's.
#pragma once

#include "../../core/if_memory.hpp"
#include "../../core/port.hpp"
#include "connection.hpp"

#include <utility>

namespace weft::backends::streams {

inline constexpr int sending_flags = MSG_NOSIGNAL | MSG_DONTWAIT;

/// Bytes that the kernel took; 0: none now. Negative: the link is broken.
[[gnu::always_inline]] inline ssize_t taken_or_broken(ssize_t sent) noexcept {
  if (sent >= 0) [[likely]]
    return sent;
  return errno == EAGAIN || errno == EINTR || errno == ENOBUFS ? 0 : -1;
}
/// Bytes of one call. The target copies a piece while the next one is sent. Shorter pieces cost more than they gain:
/// both sides want the socket's lock for each (docs/decisions/0020).
inline constexpr std::size_t largest_call = 262144;

inline ssize_t send_pieces(int socket, iovec* pieces, std::size_t count) noexcept {
  msghdr message{};
  message.msg_iov = pieces;
  message.msg_iovlen = count;
  return taken_or_broken(::sendmsg(socket, &message, sending_flags));
}

/// Header and short payload, copied together: one buffer costs the kernel less than two.
inline constexpr std::size_t short_payload = 256;
inline ssize_t send_short(int socket, const frame& head, const iovec* pieces, std::uint32_t count) noexcept {
  std::array<std::byte, frame_bytes + short_payload> whole;
  encode(head, whole.data());
  std::size_t end = frame_bytes;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (pieces[i].iov_len == 0) continue;
    std::memcpy(whole.data() + end, pieces[i].iov_base, pieces[i].iov_len);
    end += pieces[i].iov_len;
  }
  return taken_or_broken(::send(socket, whole.data(), end, sending_flags));
}

/// Makes `head` and the pieces the frame that is being sent. The kernel took `sent` bytes of it.
inline void keep_rest(outgoing& out, const frame& head, const iovec* pieces, std::uint32_t count,
                      std::size_t sent) noexcept {
  encode(head, out.head.data());
  out.rest[0] = {out.head.data(), frame_bytes};
  for (std::uint32_t i = 0; i < count; ++i) out.rest[i + 1] = pieces[i];
  out.rest_at = 0;
  out.rest_count = count + 1;
  out.rest_is_post = out.rest_ends = false;
  out.rest_key = 0;
  for (; out.rest_at != out.rest_count; ++out.rest_at) {
    iovec& first = out.rest[out.rest_at];
    if (sent < first.iov_len) {
      first = {static_cast<std::byte*>(first.iov_base) + sent, first.iov_len - sent};
      return;
    }
    sent -= first.iov_len;
  }
}
/// The same with a source that the caller may reuse: what the kernel did not take is copied.
inline void keep_copy_of_rest(outgoing& out, const frame& head, const_bytes payload, std::size_t sent) noexcept {
  const std::size_t before = sent > frame_bytes ? sent - frame_bytes : 0;
  std::copy(payload.begin() + static_cast<std::ptrdiff_t>(before), payload.end(),
            out.spill.begin() + static_cast<std::ptrdiff_t>(before));
  const iovec copied{out.spill.data(), payload.size()};
  keep_rest(out, head, &copied, 1, sent);
}

/// Sends what waits, until the kernel takes no more. Nothing here calls the transport.
class sender {
 public:
  /// Calls of one link in one poll: a peer that takes bytes without pause delays no other. A call counts once more for
  /// each 32 KiB that the kernel took.
  static constexpr int most_calls = 256;
  static constexpr ssize_t counted_bytes = 32768;
  /// Before a link is hung up nothing comes later, so more is sent.
  static constexpr int last_calls = 16 * most_calls;

  sender(connection& link, pending_completions& ends, int most = most_calls) noexcept
      : c_(link), ends_(ends), calls_left_(most) {}

  /// Continues the frame that was begun, then sends answers, refusals and posts in turn. A later poll sends what is
  /// left then.
  [[gnu::noinline]] void advance() noexcept {
    do {
      if (!rest_is_sent()) return;
    } while (begin_answer() || begin_refusal() || begin_post());
  }
  /// Tells the peer the count of taken frames in a frame of its own. Requires: nothing waits to be sent.
  [[gnu::noinline]] void announce_count() noexcept {
    begin({frame_kind::acknowledgement, false, c_.count_to_announce()}, nullptr, 0);
    advance();
  }

 private:
  /// False: the kernel takes no more now.
  bool rest_is_sent() noexcept {
    outgoing& out = c_.out;
    while (out.is_partial()) {
      if (calls_left_ <= 0) return false;
      std::array<iovec, 1 + most_pieces> now;
      const ssize_t sent = send_pieces(c_.socket_number, now.data(), first_bytes(now));
      calls_left_ -= 1 + static_cast<int>(std::max<ssize_t>(sent, 0) / counted_bytes);
      if (sent <= 0) {
        out.broken = out.broken || sent < 0;
        return false;
      }
      drop(static_cast<std::size_t>(sent));
      if (!out.is_partial()) ended();
    }
    return true;
  }
  /// The first bytes that are left, for one call. Returns the number of their pieces.
  std::uint32_t first_bytes(std::array<iovec, 1 + most_pieces>& into) const noexcept {
    const outgoing& out = c_.out;
    std::uint32_t count = 0;
    std::size_t room = largest_call;
    for (std::uint32_t i = out.rest_at; i != out.rest_count && room != 0; ++i) {
      into[count] = {out.rest[i].iov_base, std::min(out.rest[i].iov_len, room)};
      room -= into[count++].iov_len;
    }
    return count;
  }
  void drop(std::size_t sent) noexcept {
    outgoing& out = c_.out;
    while (out.rest_at != out.rest_count && sent >= out.rest[out.rest_at].iov_len)
      sent -= out.rest[out.rest_at++].iov_len;
    if (sent == 0) return;
    iovec& first = out.rest[out.rest_at];
    first = {static_cast<std::byte*>(first.iov_base) + sent, first.iov_len - sent};
  }
  void ended() noexcept {
    outgoing& out = c_.out;
    c_.unsent -= std::uint32_t{out.rest_is_post};
    if (out.rest_ends) ends_.push(out.rest_context, errc::ok);
    out.kept = nullptr;
  }
  void begin(const frame& head, const iovec* pieces, std::uint32_t count) noexcept {
    keep_rest(c_.out, head, pieces, count, 0);
    c_.in.announced = head.acked;
    if (head.acked == c_.in.taken) c_.in.asked = false;
  }
  bool begin_answer() noexcept {
    outgoing& out = c_.out;
    // Answers and posts take turns, so neither waits for ever.
    if (out.answers_first == out.answers_last || (answered_ && out.posts_first != out.posts_last)) return false;
    const read_answer& a = out.answers[out.answers_first++];
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): only read
    const iovec from{const_cast<std::byte*>(a.from), a.size};
    begin({frame_kind::read_reply, false, c_.count_to_announce(), a.size, static_cast<std::uint64_t>(a.how)}, &from, 1);
    out.rest_key = a.key;
    return answered_ = true;
  }
  bool begin_refusal() noexcept {
    incoming& in = c_.in;
    if (!in.refuses) return false;
    const std::uint32_t at = in.refused_at;
    const errc why = in.answers[at];
    in.forget_first_refusal();
    begin({frame_kind::refusal, false, at + 1, 0, static_cast<std::uint64_t>(why)}, nullptr, 0);
    return true;
  }
  bool begin_post() noexcept {
    outgoing& out = c_.out;
    answered_ = false;
    if (out.posts_first == out.posts_last) return out.answers_first != out.answers_last;
    queued_post& p = out.posts[out.posts_first++];
    p.head.acked = c_.count_to_announce();
    begin(p.head, p.pieces.each.data(), p.pieces.count);
    out.rest_is_post = p.head.kind != frame_kind::read;
    out.rest_ends = p.ends_when_sent;
    out.rest_context = p.context;
    if (!out.rest_is_post) --c_.reads_unsent;
    return true;
  }

  connection& c_;
  pending_completions& ends_;
  int calls_left_;
  bool answered_ = false;  ///< The last frame was an answer.
};

/// A region is released. What has begun in it ends in an error at the peer. An answer that was sent in part is copied
/// first.
[[gnu::cold, gnu::noinline]] inline void forget_region(connection& c, std::uint64_t key) noexcept {
  const bool writes = c.in.now.kind == frame_kind::write || c.in.now.kind == frame_kind::write_immediate;
  if (c.in.at == incoming::stage::body && writes && c.in.now.key == key && c.in.outcome == errc::ok) {
    c.in.discards = true;
    c.in.outcome = errc::denied;
  }
  outgoing& out = c.out;
  for (std::uint32_t i = out.answers_first; i != out.answers_last; ++i)
    if (out.answers[i].key == key) out.answers[i] = {nullptr, 0, 0, errc::denied};
  if (!out.is_partial() || out.rest_key != key || key == 0) return;
  iovec& rest = out.rest[1];
  if (!if_memory([&] { out.kept = std::make_unique_for_overwrite<std::byte[]>(rest.iov_len); })) {
    out.broken = true;
    return;
  }
  std::memcpy(out.kept.get(), rest.iov_base, rest.iov_len);
  rest.iov_base = out.kept.get();
}

/// A link is hung up, in any phase. Its operations end nowhere, so their places serve other links again.
[[gnu::cold, gnu::noinline]] inline void give_places_back(connection& c, pending_completions& ends) noexcept {
  outgoing& out = c.out;
  std::uint32_t places = c.reads_posted - std::exchange(c.reads_done, c.reads_posted);
  for (; c.acked != c.posted; ++c.acked) places += std::uint32_t{c.awaited[c.acked].is_reported()};
  // A message that ends when it is sent has its place here, and is not reported above.
  places += std::uint32_t{out.is_partial() && std::exchange(out.rest_ends, false)};
  for (; out.posts_first != out.posts_last; ++out.posts_first)
    places += std::uint32_t{out.posts[out.posts_first].ends_when_sent};
  ends.release(places);
}

/// Why a link takes no post.
[[gnu::cold, gnu::noinline]] inline status not_up(const connection& c, const char* operation) noexcept {
  return c.phase < link_phase::established ? again(waits_for::connection, operation)
                                           : error(errc::peer_lost, operation);
}

}  // namespace weft::backends::streams
