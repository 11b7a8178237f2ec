// SPDX-License-Identifier: Apache-2.0
//
// From the kernel to memory. A payload goes from the socket into its place: a posted receive, a region, or the
// destination of a read. Only what one call read ahead is copied again (incoming::ahead_bytes).
// A frame comes from a peer that may lie. Key, rights and bounds are checked before a byte lands, and counts that no
// honest peer sends end the link.
// Hot path: progress. Threads: the owner's.
#pragma once

#include "regions.hpp"
#include "sending.hpp"

namespace weft::backends::streams {

class receiver {
 public:
  receiver(connection& link, pending_completions& ends, const regions& own) noexcept
      : c_(link), in_(link.in), ends_(ends), own_(own) {}

  enum class step : std::uint8_t {
    nothing,   ///< No more bytes are there now, or a message waits for a receive.
    taken,     ///< A frame ended. `came` has its entry, if it has one.
    finished,  ///< The stream ended, or the peer broke the rules.
  };
  completion_entry came{};
  bool has_entry = false;
  bool read_something = false;

  /// Takes the next frame as far as its bytes are there.
  step take_next() noexcept {
    for (;;) {
      switch (in_.at) {
        case incoming::stage::head:
          if (const step s = in_.end - in_.begin < frame_bytes ? fill_head() : begun(); s != step::taken) return s;
          break;
        case incoming::stage::no_receive:
          if (c_.receives.empty()) return without_receive();
          begin_message();
          break;
        case incoming::stage::body:
          take_ahead();
          if (in_.left == 0) return finish_frame();
          if (const step s = fill_body(); s != step::taken) return s;
          break;
      }
    }
  }

 private:
  step without_receive() const noexcept { return c_.out.broken ? step::finished : step::nothing; }
  // ---- bytes
  /// Whether bytes came. `wanted`: bytes that were asked for; fewer mean that the socket is empty now.
  step after_read(ssize_t got, std::size_t wanted) noexcept {
    if (got > 0) [[likely]] {
      read_something = true;
      drained_ = static_cast<std::size_t>(got) < wanted || ++reads_ == most_reads;
      return step::taken;
    }
    return got < 0 && (errno == EAGAIN || errno == EINTR) ? step::nothing : step::finished;
  }
  step fill_head() noexcept {
    if (drained_) return step::nothing;
    if (in_.begin == in_.end) {
      in_.begin = in_.end = 0;
    } else if (in_.begin != 0) {
      std::memmove(in_.ahead.get(), in_.ahead.get() + in_.begin, in_.end - in_.begin);
      in_.end -= std::exchange(in_.begin, 0);
    }
    const std::size_t wanted = in_.expects_large ? frame_bytes - in_.end : incoming::ahead_bytes - in_.end;
    const ssize_t got = ::recv(c_.socket_number, in_.ahead.get() + in_.end, wanted, MSG_DONTWAIT);
    const step s = after_read(got, wanted);
    if (s == step::taken) in_.end += static_cast<std::size_t>(got);
    return s;
  }
  /// Requires: nothing is read ahead, and bytes of the payload are missing.
  step fill_body() noexcept {
    if (drained_) return step::nothing;
    in_.begin = in_.end = 0;
    if (in_.discards) {
      const ssize_t got = ::recv(c_.socket_number, in_.ahead.get(), incoming::ahead_bytes, MSG_DONTWAIT);
      const step s = after_read(got, incoming::ahead_bytes);
      if (s == step::taken) in_.end = static_cast<std::size_t>(got);
      return s;
    }
    std::array<iovec, most_pieces + 1> into;
    std::uint32_t count = 0;
    for (std::uint32_t i = in_.to_at; i < in_.to.count; ++i) into[count++] = in_.to.each[i];
    into[count++] = {in_.ahead.get(), incoming::ahead_bytes};
    msghdr message{};
    message.msg_iov = into.data();
    message.msg_iovlen = count;
    const ssize_t got = ::recvmsg(c_.socket_number, &message, MSG_DONTWAIT);
    const step s = after_read(got, in_.left + incoming::ahead_bytes);
    if (s != step::taken) return s;
    const std::size_t own = std::min<std::uint64_t>(static_cast<std::size_t>(got), in_.left);
    in_.end = static_cast<std::size_t>(got) - own;
    placed(own);
    return s;
  }
  /// Bytes of the payload that were read ahead.
  void take_ahead() noexcept {
    while (in_.left != 0 && in_.begin != in_.end) {
      const std::size_t there = in_.end - in_.begin;
      if (in_.discards) {
        const std::size_t gone = std::min<std::uint64_t>(there, in_.left);
        in_.begin += gone;
        in_.left -= gone;
        return;
      }
      const iovec& to = in_.to.each[in_.to_at];
      const std::size_t now = std::min(there, to.iov_len);
      if (now != 0) std::memcpy(to.iov_base, in_.ahead.get() + in_.begin, now);
      in_.begin += now;
      placed(now);
    }
  }
  /// `count` bytes are in place.
  void placed(std::size_t count) noexcept {
    in_.left -= count;
    for (;;) {
      if (in_.to_at == in_.to.count) return;
      iovec& to = in_.to.each[in_.to_at];
      if (count < to.iov_len) {
        to = {static_cast<std::byte*>(to.iov_base) + count, to.iov_len - count};
        return;
      }
      count -= to.iov_len;
      ++in_.to_at;
    }
  }

  // ---- frames
  step begun() noexcept { return begin_frame() ? step::taken : step::finished; }
  bool begin_frame() noexcept {
    const auto head = parse(in_.ahead.get() + in_.begin);
    if (!head) [[unlikely]]
      return false;
    in_.begin += frame_bytes;
    in_.now = *head;
    in_.at = incoming::stage::body;
    in_.left = head->size;
    in_.expects_large = head->size > incoming::ahead_bytes;
    in_.discards = false;
    in_.outcome = errc::ok;
    in_.to.count = in_.to_at = 0;
    const bool refuses = head->kind == frame_kind::refusal;
    if (head->acked != c_.acked && !acknowledge(head->acked - std::uint32_t{refuses})) [[unlikely]]
      return false;
    switch (head->kind) {
      case frame_kind::message:
        in_.at = incoming::stage::no_receive;
        return has_window();
      case frame_kind::write:
      case frame_kind::write_immediate:
        begin_write();
        return has_window();
      case frame_kind::read:
        in_.left = 0;
        return queue_answer();
      case frame_kind::read_reply:
        return begin_reply();
      case frame_kind::acknowledgement:
        return true;
      case frame_kind::refusal:
        return take_refusal();
    }
    return false;
  }
  /// False: the peer sent more than it may without an acknowledgement.
  bool has_window() const noexcept { return c_.in.taken - c_.in.announced < c_.in.answers.size(); }

  void begin_message() noexcept {
    const posted_receives::receive& into = c_.receives.take();
    in_.at = incoming::stage::body;
    in_.context = into.context;
    if (in_.now.size > into.size) {
      in_.discards = true;
      in_.outcome = errc::truncated;
    } else {
      lands_at(into.data);
    }
  }
  void begin_write() noexcept {
    const reached_place place = own_.reach(in_.now.key, in_.now.address, in_.now.size, rights::remote_write);
    in_.outcome = place.why;
    if (place.why == errc::ok) [[likely]]
      lands_at(place.at);
    else in_.discards = true;
  }
  void lands_at(std::byte* place) noexcept {
    in_.to.each[0] = {place, in_.now.size};
    in_.to.count = 1;
  }
  bool queue_answer() noexcept {
    outgoing& out = c_.out;
    if (out.answers_last - out.answers_first == out.answers.size()) return false;
    const reached_place place = own_.reach(in_.now.key, in_.now.address, in_.now.size, rights::remote_read);
    const bool ok = place.why == errc::ok;
    out.answers[out.answers_last++] = {place.at, ok ? in_.now.size : 0, ok ? in_.now.key : 0, place.why};
    return true;
  }
  bool begin_reply() noexcept {
    if (c_.reads_posted - c_.reads_done == c_.reads_unsent) return false;  // nobody asked
    const posted_read& r = c_.reads[c_.reads_done];
    const bool ok = in_.now.immediate == 0;
    if (in_.now.size != (ok ? r.size : 0) || !(ok || is_refusal(in_.now.immediate))) return false;
    in_.outcome = static_cast<errc>(in_.now.immediate);
    if (ok) in_.to = r.into;
    return true;
  }

  /// Why a port of this build refuses a place (regions::reach).
  static constexpr bool is_refusal(std::uint64_t why) noexcept {
    return why == static_cast<std::uint64_t>(errc::denied) || why == static_cast<std::uint64_t>(errc::out_of_range);
  }

  step finish_frame() noexcept {
    in_.at = incoming::stage::head;
    has_entry = false;
    switch (in_.now.kind) {
      case frame_kind::message:
        count_taken(errc::ok);
        came = {completion_kind::received, in_.context, in_.now.immediate, in_.now.size,
                in_.outcome == errc::ok ? status{} : error(in_.outcome, "poll")};
        has_entry = true;
        break;
      case frame_kind::write:
      case frame_kind::write_immediate:
        count_taken(in_.outcome);
        has_entry = in_.now.kind == frame_kind::write_immediate && in_.outcome == errc::ok;
        if (has_entry) came = {completion_kind::write_with_immediate, nullptr, in_.now.immediate, 0, {}};
        break;
      case frame_kind::read_reply:
        ends_.push(c_.reads[c_.reads_done++].context, in_.outcome);
        break;
      default:
        break;
    }
    return step::taken;
  }
  void count_taken(errc how) noexcept {
    in_.take(how);
    in_.asked = in_.asked || in_.now.asks;
  }

  // ---- acknowledgements of the peer
  /// False: the peer counts frames that were not sent.
  bool acknowledge(std::uint32_t end) noexcept {
    if (end - c_.acked > c_.posted - c_.unsent - c_.acked) [[unlikely]]
      return false;
    while (c_.acked != end) {
      const awaited_end& e = c_.awaited[c_.acked++];
      if (e.is_reported()) ends_.push(e.context, errc::ok);
    }
    return true;
  }
  [[gnu::cold, gnu::noinline]] bool take_refusal() noexcept {
    if (c_.acked + 1 != in_.now.acked || c_.acked == c_.posted - c_.unsent || !is_refusal(in_.now.immediate))
      return false;
    const awaited_end e = c_.awaited[c_.acked];
    if (e.is_message()) return false;
    ++c_.acked;
    // An unsignalled write has an end only when it is refused, and takes no place for it. Without a place nobody hears.
    if (e.is_reported() || (e.context != nullptr && ends_.reserve()))
      ends_.push(e.context, static_cast<errc>(in_.now.immediate));
    return true;
  }

  connection& c_;
  incoming& in_;
  pending_completions& ends_;
  const regions& own_;
  /// Of one link in one poll: a peer that sends without pause delays no other.
  static constexpr int most_reads = 256;
  int reads_ = 0;
  bool drained_ = false;  ///< Read no more in this poll.
};

}  // namespace weft::backends::streams
