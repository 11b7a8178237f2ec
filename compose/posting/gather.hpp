// SPDX-License-Identifier: Apache-2.0
//
// Transfers from or into several pieces of memory. One library call where the row takes that many pieces, else several
// calls that end as one operation (posting/parts.hpp). Messages have boundaries and cannot be split: where the row
// cannot gather a message, a short one is packed, a long one refused. Forced by iov_limit and rma_iov_limit
// (fi_getinfo(3)), max_sge (ibv_query_device(3)). The path of one call is inlined and reads the list once; all else is
// out of line. Hot path: yes; transfers of one piece do not come here. Threads: the owner's.
#pragma once

#include "call_pieces.hpp"
#include "initiator.hpp"

#include <cstdint>
#include <type_traits>

namespace weft::detail {

template <class Engine>
class gather {
 public:
  using record = typename Engine::record;
  using slot = typename Engine::slot;
  using initiator_type = initiator<Engine>;
  using parts_of = parts<Engine>;
  /// Pieces of one call, as the port takes them.
  using call_pieces = typename detail::pieces_of<typename Engine::port_type>::type;

  explicit gather(Engine& e) noexcept : e_(e), initiator_(e) {}

  [[gnu::always_inline]] status send(peer to, gather_list from, void* context, bool signalled) noexcept {
    if constexpr (parts_of::send_pieces > 1 && !Engine::framed) {
      record* r = initiator_.addressed(to, "send");
      if (r == nullptr) [[unlikely]]
        return initiator_.dead(to, "send");
      if (call_pieces v; v.template take<parts_of::send_pieces>(from)) [[likely]] {
        if (!initiator_type::is_taken(*r, v.bytes)) [[unlikely]]
          return rare_posts<Engine>::too_long(e_, v.bytes, *r);
        const auto tag = Engine::tag_of(wire::message_kind::user, *r);
        return Engine::counted(
            *r, initiator_.template post<post_mode::signalled, Engine::slot_per_message>(
                    r, operation::send, context, signalled,
                    [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) __attribute__((always_inline)) {
                      return e_.port->template send_gather<M>(r->link, v, Engine::immediate_of(tag), c);
                    }));
      }
    }
    return gather(e_).send_otherwise(to, from, context, signalled);
  }

  [[gnu::always_inline]] status put(peer to, gather_list from, const remote_place& at, void* context,
                                    bool signalled) noexcept {
    if constexpr (parts_of::write_pieces > 1) {
      record* r = initiator_.addressed(to, "put");
      if (r == nullptr) [[unlikely]]
        return initiator_.dead(to, "put");
      if (call_pieces v; one_call(from, v)) [[likely]] {
        if (const status s = initiator_type::check(v.bytes, at, rights::remote_write, "put"); !s) [[unlikely]]
          return s;
        return initiator_.post_write(
            r, operation::put, context,
            signalled, [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) __attribute__((always_inline)) {
              return e_.port->template write_gather<M>(r->link, v, {at.address, at.key}, c);
            });
      }
    }
    return put_cold(e_, to, from.data(), from.size(), at, context, signalled);
  }

  [[gnu::always_inline]] status put_notify(peer to, gather_list from, const remote_place& at, std::uint32_t immediate,
                                           void* context, bool signalled) noexcept {
    if constexpr (parts_of::write_pieces > 1 && initiator_type::notify_answer::rides_on_write) {
      record* r = initiator_.addressed(to, "put_notify");
      if (r == nullptr) [[unlikely]]
        return initiator_.dead(to, "put_notify");
      if (call_pieces v; one_call(from, v)) [[likely]] {
        if (const status s = initiator_type::check(v.bytes, at, rights::remote_write, "put_notify"); !s) [[unlikely]]
          return s;
        const std::uint64_t word = initiator_type::immediate_word(*r, immediate);
        return initiator_.post_write(
            r, operation::put_notify, context,
            signalled, [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) __attribute__((always_inline)) {
              return e_.port->template write_gather_immediate<M>(r->link, v, {at.address, at.key}, word, c);
            });
      }
    }
    return put_notify_cold(e_, to, from.data(), from.size(), at, immediate, context, signalled);
  }

  [[gnu::always_inline]] status get(peer from, gather_list into, const remote_place& at, void* context) noexcept {
    if constexpr (parts_of::write_pieces > 1) {
      record* r = initiator_.addressed(from, "get");
      if (r == nullptr) [[unlikely]]
        return initiator_.dead(from, "get");
      if (call_pieces v; one_call(into, v)) [[likely]] {
        if (const status s = initiator_type::check(v.bytes, at, rights::remote_read, "get"); !s) [[unlikely]]
          return s;
        slot* o = initiator_.claim(r, operation::get, context);
        if (o == nullptr) [[unlikely]]
          return again(waits_for::operation_slot, "get");
        return initiator_.posted(*o, e_.port->read_scatter(r->link, v, {at.address, at.key}, o));
      }
    }
    return get_cold(e_, from, into.data(), into.size(), at, context);
  }

  /// Whether one call can carry the list without changes. Then `v` holds the pieces of that call.
  [[gnu::always_inline]] bool one_call(gather_list from, call_pieces& v) const noexcept {
    return v.template take<parts_of::write_pieces>(from) && !parts_of::too_large(e_, v.bytes);
  }

  static constexpr const char* too_many = "a gather list of more than weft::gather_limit pieces";
  static constexpr const char* too_long_to_pack =
      "send: more pieces than a message of this fabric gathers (gather_limit in its row), and more bytes than are "
      "packed; gather them yourself, or "
      "put them";

  /// Pieces that have bytes. False: too many.
  static bool keep(gather_list from, piece_list& kept) noexcept {
    for (const local_memory& each : from) {
      if (each.size == 0) continue;
      if (kept.count() == gather_limit) return false;
      kept.add(each);
    }
    return true;
  }

 private:
  status checked_pieces(peer to, gather_list pieces, const remote_place& at, rights asked, const char* operation,
                        piece_list& kept, record*& r) noexcept {
    r = initiator_.addressed(to, operation);
    if (r == nullptr) [[unlikely]]
      return initiator_.dead(to, operation);
    if (!keep(pieces, kept)) [[unlikely]]
      return error(errc::invalid, too_many);
    return initiator_type::check(total_of(kept.list()), at, asked, operation);
  }

  // Cold, with scalar arguments: passing the list as a struct would cost the path of one call.
  [[gnu::cold, gnu::noinline]] static status put_cold(Engine& e, peer to, const local_memory* from, std::size_t pieces,
                                                      const remote_place& at, void* context, bool signalled) noexcept {
    return gather(e).put_otherwise(to, {from, pieces}, at, context, signalled);
  }
  [[gnu::cold, gnu::noinline]] static status put_notify_cold(Engine& e, peer to, const local_memory* from,
                                                             std::size_t pieces, const remote_place& at,
                                                             std::uint32_t immediate, void* context,
                                                             bool signalled) noexcept {
    return gather(e).put_notify_otherwise(to, {from, pieces}, at, immediate, context, signalled);
  }
  [[gnu::cold, gnu::noinline]] static status get_cold(Engine& e, peer from, const local_memory* into,
                                                      std::size_t pieces, const remote_place& at,
                                                      void* context) noexcept {
    return gather(e).get_otherwise(from, {into, pieces}, at, context);
  }

  // Lists that one call cannot carry as they are. First the pieces without bytes are dropped. Then one piece is an
  // ordinary post, and several pieces are one call or several.
  [[gnu::noinline]] status send_otherwise(peer to, gather_list from, void* context, bool signalled) noexcept {
    record* r = initiator_.addressed(to, "send");
    if (r == nullptr) return initiator_.dead(to, "send");
    const std::uint64_t total = total_of(from);
    if (!initiator_type::is_taken(*r, total)) return rare_posts<Engine>::too_long(e_, total, *r);
    piece_list pieces;
    if (!keep(from, pieces)) return error(errc::invalid, too_many);
    if (pieces.count() <= 1) return initiator_.send(to, pieces.front(), context, signalled);
    if (pieces.count() > parts_of::send_pieces)
      return Engine::counted(*r, packed(*r, pieces, static_cast<std::size_t>(total), context, signalled));
    if constexpr (parts_of::send_pieces > 1) {
      const auto tag = Engine::tag_of(wire::message_kind::user, *r);
      if constexpr (Engine::framed) return Engine::counted(*r, with_header(*r, tag, pieces, context, signalled));
      else
        return Engine::counted(*r, initiator_.template post<post_mode::signalled, Engine::slot_per_message>(
                                       r, operation::send, context, signalled,
                                       [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) {
                                         return e_.port->template send_gather<M>(r->link, pieces.list(),
                                                                                 Engine::immediate_of(tag), c);
                                       }));
    }
    return {};
  }

  [[gnu::noinline]] status put_otherwise(peer to, gather_list from, remote_place at, void* context,
                                         bool signalled) noexcept {
    piece_list pieces;
    record* r = nullptr;
    if (const status s = checked_pieces(to, from, at, rights::remote_write, "put", pieces, r); !s) return s;
    if (pieces.count() <= 1) return initiator_.put(to, pieces.front(), at, context, signalled);
    if constexpr (parts_of::write_pieces > 1)
      if (call_pieces v; one_call(pieces.list(), v))
        return initiator_.post_write(r, operation::put, context, signalled,
                                     [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) {
                                       return e_.port->template write_gather<M>(r->link, v, {at.address, at.key}, c);
                                     });
    return initiator_.in_parts(*r, operation::put, pieces.list(), at, 0, context, signalled);
  }

  [[gnu::noinline]] status put_notify_otherwise(peer to, gather_list from, remote_place at, std::uint32_t immediate,
                                                void* context, bool signalled) noexcept {
    piece_list pieces;
    record* r = nullptr;
    if (const status s = checked_pieces(to, from, at, rights::remote_write, "put_notify", pieces, r); !s) return s;
    if (pieces.count() <= 1) return initiator_.put_notify(to, pieces.front(), at, immediate, context, signalled);
    if constexpr (parts_of::write_pieces > 1 && initiator_type::notify_answer::rides_on_write)
      if (call_pieces v; one_call(pieces.list(), v)) {
        const std::uint64_t word = initiator_type::immediate_word(*r, immediate);
        return initiator_.post_write(
            r, operation::put_notify, context, signalled,
            [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) {
              return e_.port->template write_gather_immediate<M>(r->link, v, {at.address, at.key}, word, c);
            });
      }
    return initiator_.in_parts(*r, operation::put_notify, pieces.list(), at, immediate, context, signalled);
  }

  [[gnu::noinline]] status get_otherwise(peer from, gather_list into, remote_place at, void* context) noexcept {
    piece_list pieces;
    record* r = nullptr;
    if (const status s = checked_pieces(from, into, at, rights::remote_read, "get", pieces, r); !s) return s;
    if (pieces.count() <= 1) return initiator_.get(from, pieces.front(), at, context);
    if constexpr (parts_of::write_pieces > 1)
      if (call_pieces v; one_call(pieces.list(), v)) {
        slot* o = initiator_.claim(r, operation::get, context);
        if (o == nullptr) return again(waits_for::operation_slot, "get");
        return initiator_.posted(*o, e_.port->read_scatter(r->link, v, {at.address, at.key}, o));
      }
    return initiator_.in_parts(*r, operation::get, pieces.list(), at, 0, context, true);
  }

  /// Messages that cannot be gathered: copied into a control buffer, after the header where messages have one.
  status packed(record& r, const piece_list& pieces, std::size_t total, void* context, bool signalled) noexcept {
    if (total + Engine::front > Engine::control_buffers::each) return error(errc::unsupported, too_long_to_pack);
    slot* o = with_buffer(r, context, signalled);
    if (o == nullptr) return again(waits_for::operation_slot, "send");
    const local_memory whole = e_.controls.memory(o->buffer);
    const auto tag = Engine::tag_of(wire::message_kind::user, r);
    Engine::put_front({whole.data, whole.size}, tag);
    std::byte* to = whole.data + Engine::front;
    for (const local_memory& each : pieces.list()) {
      std::memcpy(to, each.data, each.size);
      to += each.size;
    }
    return initiator_.posted(
        *o, e_.port->template send<post_mode::signalled>(r.link, {whole.data, Engine::front + total, whole.descriptor},
                                                         Engine::immediate_of(tag), o));
  }

  status with_header(record& r, wire::message_tag tag, const piece_list& pieces, void* context,
                     bool signalled) noexcept {
    slot* o = with_buffer(r, context, signalled);
    if (o == nullptr) return again(waits_for::operation_slot, "send");
    const local_memory head = e_.controls.memory(o->buffer);
    Engine::put_front({head.data, wire::header_bytes}, tag);
    piece_list all;
    all.add({head.data, wire::header_bytes, head.descriptor});
    for (const local_memory& each : pieces.list()) all.add(each);
    return initiator_.posted(*o, e_.port->template send_gather<post_mode::signalled>(r.link, all.list(), 0, o));
  }

  slot* with_buffer(record& r, void* context, bool signalled) noexcept {
    slot* o = initiator_.claim(&r, operation::send, context);
    if (o == nullptr) return nullptr;
    if (!signalled) o->use = slot_use::silent;
    o->buffer = e_.controls.take();
    o->stage = stage::buffered;
    if (o->buffer != no_index) return o;
    e_.release(*o);
    return nullptr;
  }

  Engine& e_;
  initiator_type initiator_;
};

}  // namespace weft::detail
