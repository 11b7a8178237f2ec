// SPDX-License-Identifier: Apache-2.0
//
// Messages of weft's own: the handshake, notices, replies, credits. They travel among the user's messages with another
// tag. A short message is injected from the stack. A longer one needs a slot and a control buffer, because the library
// reads the bytes until the send ends. Hot path: on fabrics whose notices or atomics are messages. Threads: the
// owner's.
#pragma once

#include "../../wire/control.hpp"
#include "engine_traits.hpp"

#include <cstring>

namespace weft::detail {

/// The part of an engine that sends control messages. `Engine` derives from this class.
template <class Engine, class Traits>
class control_sender {
 public:
  using record = typename Traits::record;
  using slot = typename Traits::slot;

  /// The tag of a message to this peer. Where messages have no room for the proof, it has 32 bits.
  static constexpr wire::message_tag tag_of(wire::message_kind kind, const record& to) noexcept {
    if constexpr (Traits::proves_sender || Traits::framed) return wire::message_tag::of(kind, to.theirs);
    else return {static_cast<std::uint32_t>(kind) << wire::connection_number::number_bits | to.theirs.number().value};
  }
  /// The part of a tag that travels in the send's immediate.
  static constexpr auto immediate_of(wire::message_tag tag) noexcept {
    return Traits::framed ? 0 : static_cast<typename Traits::tag_word>(tag.word);
  }
  /// The same of a user's message.
  static constexpr auto user_immediate(const record& to) noexcept {
    return immediate_of(tag_of(wire::message_kind::user, to));
  }
  /// Writes the header, on fabrics whose messages have one.
  static void put_front([[maybe_unused]] bytes into, [[maybe_unused]] wire::message_tag tag) noexcept {
    if constexpr (Traits::framed) {
      wire::writer w(into);
      w.number(tag.word);
    }
  }

  /// Kinds that both sides count, where a goodbye may overtake messages.
  static constexpr bool is_counted(wire::message_kind kind) noexcept {
    return Traits::goodbye_overtakes && (kind == wire::message_kind::user || kind == wire::message_kind::notify ||
                                         kind == wire::message_kind::fused || kind == wire::message_kind::group ||
                                         kind == wire::message_kind::region);
  }
  /// Counts a message of such a kind if its post succeeded. Each post of one goes through here once.
  [[gnu::always_inline]] static status counted([[maybe_unused]] record& to, status s) noexcept {
    if constexpr (Traits::goodbye_overtakes)
      if (s) ++to.messages_sent;
    return s;
  }

  /// Says that this side leaves. No message may follow to this peer. The goodbye may overtake messages, and entries in
  /// the peer's ring, so it says their numbers.
  status say_goodbye(record& to) noexcept {
    std::byte body[8];
    std::size_t size = 0;
    const auto say = [&body, &size](std::uint32_t number) { size += wire::encode(number, bytes(body).subspan(size)); };
    if constexpr (Traits::goodbye_overtakes) say(to.messages_sent);
    if constexpr (Traits::uses_ring) say(to.ring_posted);
    return tell(to, wire::message_kind::goodbye, {body, size});
  }

  /// Sends a short message. `again`: nothing was sent. `parent`: the operation that ends with this message.
  status tell(record& to, wire::message_kind kind, const_bytes body, slot* parent = nullptr) noexcept {
    const status sent = send_control(to, kind, body, parent);
    return is_counted(kind) ? counted(to, sent) : sent;
  }

  /// The same for `Size` bytes that `make(bytes)` writes. They are written into the message itself if it is injected.
  template <std::size_t Size, class Make>
  [[gnu::always_inline]] status tell_of(record& to, wire::message_kind kind, Make&& make) noexcept {
    if constexpr (Traits::front + Size <= Traits::message_inject_bytes) {
      const auto tag = tag_of(kind, to);
      std::byte message[Traits::front + Size];
      put_front({message, sizeof message}, tag);
      make(bytes(message + Traits::front, Size));
      const status sent = self().port->inject(to.link, {message, sizeof message}, immediate_of(tag));
      return is_counted(kind) ? counted(to, sent) : sent;
    } else {
      std::byte body[Size];
      make(bytes(body));
      return tell(to, kind, body);
    }
  }

 private:
  static constexpr std::size_t most_on_stack = 64;

  Engine& self() noexcept { return static_cast<Engine&>(*this); }

  [[gnu::always_inline]] status send_control(record& to, wire::message_kind kind, const_bytes body,
                                             slot* parent) noexcept {
    const auto tag = tag_of(kind, to);  // in a hello: 0, or the number that came with the link
    // The link ends right after a goodbye. Only a completion says that the goodbye got out.
    const bool injected = parent == nullptr && !(Traits::connected && kind == wire::message_kind::goodbye);
    if (injected && body.size() + Traits::front <= Traits::message_inject_bytes && body.size() <= most_on_stack) {
      std::byte message[most_on_stack + wire::header_bytes];
      message[0] = std::byte{0};  // an empty message has an address too
      put_front({message, sizeof message}, tag);
      if (!body.empty()) std::memcpy(message + Traits::front, body.data(), body.size());
      return self().port->inject(to.link, {message, Traits::front + body.size()}, immediate_of(tag));
    }
    return send_from_buffer(to, tag, body, parent);
  }

  [[gnu::always_inline]] status send_from_buffer(record& to, wire::message_tag tag, const_bytes body,
                                                 slot* parent) noexcept {
    Engine& e = self();
    const std::uint32_t buffer = e.controls.take();
    if (buffer == no_index) return again(waits_for::operation_slot, "control message");
    slot* s = e.operations.take();
    if (s == nullptr) {
      e.controls.give(buffer);
      return again(waits_for::operation_slot, "control message");
    }
    const local_memory memory = e.controls.memory(buffer);
    put_front({memory.data, memory.size}, tag);
    if (!body.empty()) std::memcpy(memory.data + Traits::front, body.data(), body.size());
    e.claim(*s, slot_use::control, operation::send, &to, nullptr);
    s->buffer = buffer;
    s->parent = parent;
    const status sent = e.port->template send<post_mode::signalled>(
        to.link, {memory.data, Traits::front + body.size(), memory.descriptor}, immediate_of(tag), s);
    if (!sent) e.release(*s);
    return sent;
  }
};

}  // namespace weft::detail
