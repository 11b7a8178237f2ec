// SPDX-License-Identifier: Apache-2.0
//
// The posting calls of the port: each is a frame (frame.hpp). A message ends when the kernel has its bytes; a write and
// a read end when the peer says so.
// Hot path: all of it. Threads: one owner.
#pragma once

#include "../../core/port.hpp"
#include "sending.hpp"

#include <vector>

namespace weft::backends::streams {

/// A connection. Null: no link.
struct link_handle {
  connection* held = nullptr;
  friend bool operator==(const link_handle&, const link_handle&) = default;
};

template <class Shape>
class post_calls {
  using link = link_handle;

 public:
  template <post_mode M>
  [[gnu::always_inline]] status send(link to, local_memory from, std::uint64_t immediate, void* context) noexcept {
    return post_one<M, true>(*to.held, {frame_kind::message, false, 0, from.size, immediate}, from, context, "send");
  }
  [[gnu::always_inline]] status inject(link to, const_bytes from, std::uint64_t immediate) noexcept {
    return post_copied(*to.held, {frame_kind::message, false, 0, from.size(), immediate}, from, "inject");
  }
  template <post_mode M>
  status send_gather(link to, gather_list from, std::uint64_t immediate, void* context) noexcept {
    return post_list<M, true>(*to.held, {frame_kind::message, false, 0, 0, immediate}, from, context, "send");
  }

  template <post_mode M>
  [[gnu::always_inline]] status write(link to, local_memory from, remote_memory at, void* context) noexcept {
    return post_one<M, false>(*to.held, {frame_kind::write, is_reported(M), 0, from.size, 0, at.address, at.key}, from,
                              context, "write");
  }
  template <post_mode M>
  [[gnu::always_inline]] status write_immediate(link to, local_memory from, remote_memory at, std::uint64_t immediate,
                                                void* context) noexcept {
    return post_one<M, false>(
        *to.held, {frame_kind::write_immediate, is_reported(M), 0, from.size, immediate, at.address, at.key}, from,
        context, "write_immediate");
  }
  [[gnu::always_inline]] status inject_write_immediate(link to, const_bytes from, remote_memory at,
                                                       std::uint64_t immediate) noexcept {
    return post_copied(*to.held, {frame_kind::write_immediate, false, 0, from.size(), immediate, at.address, at.key},
                       from, "inject_write_immediate");
  }
  template <post_mode M>
  status write_gather(link to, gather_list from, remote_memory at, void* context) noexcept {
    return post_list<M, false>(*to.held, {frame_kind::write, is_reported(M), 0, 0, 0, at.address, at.key}, from,
                               context, "write");
  }
  template <post_mode M>
  status write_gather_immediate(link to, gather_list from, remote_memory at, std::uint64_t immediate,
                                void* context) noexcept {
    return post_list<M, false>(*to.held,
                               {frame_kind::write_immediate, is_reported(M), 0, 0, immediate, at.address, at.key}, from,
                               context, "write_immediate");
  }
  status read(link from, local_memory into, remote_memory at, void* context) noexcept {
    return read_scatter(from, {&into, 1}, at, context);
  }
  status read_scatter(link from, gather_list into, remote_memory at, void* context) noexcept {
    connection& c = *from.held;
    if (!c.is_up() || c.out.broken) [[unlikely]]
      return not_up(c, "read");
    if (c.reads_posted - c.reads_done == c.reads.size() || (!c.out.idle() && is_full(c))) [[unlikely]]
      return again(waits_for::queue, "read");
    posted_read r;
    if (!listed(into, r.into)) [[unlikely]]
      return error(errc::invalid, "read");
    if (!ends_.reserve()) [[unlikely]]
      return again(waits_for::queue, "read");
    r.size = total_of(into);
    r.context = context;
    const frame head{frame_kind::read, true, c.count_to_announce(), r.size, 0, at.address, at.key};
    c.reads[c.reads_posted++] = r;
    if (!c.out.idle()) {
      ++c.reads_unsent;
      queue(c, head, {{}, 0}, nullptr, false);
    } else {
      const ssize_t sent = send_short(c.socket_number, head, nullptr, 0);
      announced(c, head.acked);
      if (sent != static_cast<ssize_t>(frame_bytes)) [[unlikely]]
        keep(c, head, nullptr, 0, sent, nullptr, false);
    }
    return {};
  }

 protected:
  explicit post_calls(std::uint32_t most_ends) : ends_(most_ends) {}

  /// Puts the link on the list that each poll attends to. There is room for each link.
  void attend(connection& c) noexcept {
    if (std::exchange(c.attended, true)) return;
    attended_.push_back(&c);
  }

  pending_completions ends_;
  std::vector<connection*> attended_;

 private:
  /// A post of one piece.
  template <post_mode M, bool IsMessage>
  [[gnu::always_inline]] status post_one(connection& c, frame head, const local_memory& from, void* context,
                                         const char* operation) noexcept {
    const iovec piece{from.data, from.size};
    return post_frame<M, IsMessage>(c, head, &piece, 1, context, operation);
  }
  template <post_mode M, bool IsMessage>
  [[gnu::noinline]] status post_list(connection& c, frame head, gather_list from, void* context,
                                     const char* operation) noexcept {
    piece_list pieces;
    if (!listed(from, pieces)) return error(errc::invalid, operation);
    head.size = total_of(from);
    return post_frame<M, IsMessage>(c, head, pieces.each.data(), pieces.count, context, operation);
  }
  template <post_mode M, bool IsMessage>
  [[gnu::always_inline]] status post_frame(connection& c, frame head, const iovec* pieces, std::uint32_t count,
                                           void* context, const char* operation) noexcept {
    if (!c.is_up() || c.out.broken) [[unlikely]]
      return not_up(c, operation);
    if (c.posted - c.acked == c.awaited.size()) [[unlikely]]
      return again(waits_for::queue, operation);
    const bool idle = c.out.idle();
    if (!idle && is_full(c)) [[unlikely]]
      return again(waits_for::queue, operation);
    if constexpr (is_reported(M))
      if (!ends_.reserve()) [[unlikely]]
        return again(waits_for::queue, operation);
    constexpr bool ends_here = IsMessage && M == post_mode::signalled;  // when the kernel has the bytes
    constexpr bool ends_there = is_reported(M) && !ends_here;
    head.asks = ends_there || c.posted - c.acked == c.awaited.size() - 1;
    constexpr auto flags =
        static_cast<std::uint8_t>((ends_there ? awaited_end::reported : 0) | (IsMessage ? awaited_end::message : 0));
    c.awaited[c.posted++] = {context, flags};
    if (!idle) [[unlikely]] {
      ++c.unsent;
      piece_list waiting;
      std::copy(pieces, pieces + count, waiting.each.begin());
      waiting.count = count;
      queue(c, head, waiting, context, ends_here);
      return {};
    }
    head.acked = c.count_to_announce();
    if (head.size > largest_call - frame_bytes) {
      send_large(c, head, pieces, count, context, ends_here);
      return {};
    }
    const ssize_t sent = head.size <= short_payload ? send_short(c.socket_number, head, pieces, count)
                                                    : send_long(c.socket_number, head, pieces, count);
    announced(c, head.acked);
    if (static_cast<std::uint64_t>(sent) == frame_bytes + head.size) [[likely]] {
      if constexpr (ends_here) ends_.push(context, errc::ok);
    } else {
      ++c.unsent;
      keep(c, head, pieces, count, sent, context, ends_here);
    }
    return {};
  }

  /// A post whose source is free on return, without an end.
  [[gnu::always_inline]] status post_copied(connection& c, frame head, const_bytes from,
                                            const char* operation) noexcept {
    if (!c.is_up() || c.out.broken) [[unlikely]]
      return not_up(c, operation);
    if (!c.out.idle() || c.posted - c.acked == c.awaited.size()) [[unlikely]]
      return again(waits_for::queue, operation);
    if (from.size() > most_injected) [[unlikely]]
      return error(errc::invalid, operation);
    head.acked = c.count_to_announce();
    head.asks = c.posted - c.acked == c.awaited.size() - 1;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): only read
    const iovec piece{const_cast<std::byte*>(from.data()), from.size()};
    const ssize_t sent = from.size() <= short_payload ? send_short(c.socket_number, head, &piece, 1)
                                                      : send_long(c.socket_number, head, &piece, 1);
    if (sent <= 0) [[unlikely]]
      return nothing_sent(c, sent, operation);
    announced(c, head.acked);
    c.awaited[c.posted++] = {nullptr, head.kind == frame_kind::message ? awaited_end::message : std::uint8_t{0}};
    if (static_cast<std::uint64_t>(sent) != frame_bytes + head.size) [[unlikely]] {
      keep_copy_of_rest(c.out, head, from, static_cast<std::size_t>(sent));
      c.out.rest_is_post = true;
      ++c.unsent;
      attend(c);
    }
    return {};
  }

  [[gnu::always_inline]] static ssize_t send_long(int socket, const frame& head, const iovec* pieces,
                                                  std::uint32_t count) noexcept {
    std::array<std::byte, frame_bytes> bytes;
    std::array<iovec, 1 + most_pieces> whole;
    encode(head, bytes.data());
    whole[0] = {bytes.data(), bytes.size()};
    std::copy(pieces, pieces + count, whole.begin() + 1);
    return send_pieces(socket, whole.data(), count + 1);
  }
  /// The peer will know this count: the frame with it is sent, now or later.
  [[gnu::always_inline]] static void announced(connection& c, std::uint32_t count) noexcept {
    c.in.announced = count;
    if (count == c.in.taken) [[likely]]
      c.in.asked = false;
  }
  [[gnu::cold, gnu::noinline]] void keep(connection& c, const frame& head, const iovec* pieces, std::uint32_t count,
                                         ssize_t sent, void* context, bool ends) noexcept {
    c.out.broken = sent < 0;
    keep_rest(c.out, head, pieces, count, sent < 0 ? 0 : static_cast<std::size_t>(sent));
    c.out.rest_is_post = head.kind != frame_kind::read;
    c.out.rest_ends = ends;
    c.out.rest_context = context;
    attend(c);
  }
  /// A frame of several calls.
  [[gnu::noinline]] void send_large(connection& c, const frame& head, const iovec* pieces, std::uint32_t count,
                                    void* context, bool ends) noexcept {
    ++c.unsent;
    announced(c, head.acked);
    keep(c, head, pieces, count, 0, context, ends);
    sender(c, ends_).advance();
  }
  void queue(connection& c, const frame& head, const piece_list& pieces, void* context, bool ends) noexcept {
    c.out.posts[c.out.posts_last++] = {head, pieces, context, ends};
    attend(c);
  }
  [[gnu::cold, gnu::noinline]] status nothing_sent(connection& c, ssize_t sent, const char* operation) noexcept {
    if (sent == 0) return again(waits_for::queue, operation);
    c.out.broken = true;
    attend(c);
    return error(errc::peer_lost, operation);
  }
  static bool is_full(const connection& c) noexcept {
    return c.out.posts_last - c.out.posts_first == c.out.posts.size() || c.out.broken;
  }
  static bool listed(gather_list from, piece_list& into) noexcept {
    if (from.size() > most_pieces) return false;
    into.count = 0;
    for (const local_memory& each : from) into.each[into.count++] = {each.data, each.size};
    return true;
  }
};

}  // namespace weft::backends::streams
