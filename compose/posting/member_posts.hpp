// SPDX-License-Identifier: Apache-2.0
//
// Posts the member that a batch kept back (posting/kept_back_batch.hpp): with the hint that more follows, where the
// port takes it, or alone. The batch has made the checks. Hot path: members other than prepared writes. Threads: the
// owner's.
#pragma once

#include "initiator.hpp"
#include "prepared_member.hpp"

#include <type_traits>

namespace weft::detail {

template <class Engine>
class member_posts {
 public:
  using record = typename Engine::record;
  using initiator_type = initiator<Engine>;
  using member = typename detail::prepared_member<Engine>::type;

  static constexpr bool hints = takes_more_hints<typename Engine::port_type>;

  /// Requires: the member fits one call.
  [[gnu::always_inline]] static status hinted(Engine& e, peer to, record& r, const member& m) noexcept {
    initiator_type l(e);
    auto& port = *e.port;
    const local_memory from = m.from();
    const remote_memory at{m.at().address, m.at().key};
    if (m.what == operation::put && from.size != 0)
      return l.post_write(
          &r, operation::put, nullptr,
          false, [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) __attribute__((always_inline)) {
            if constexpr (hints) return port.template write<M, true>(r.link, from, at, c);
            else return port.template write<M>(r.link, from, at, c);
          });
    if constexpr (!Engine::framed)
      if (m.what == operation::send) {
        const auto immediate = Engine::user_immediate(r);
        return Engine::counted(
            r,
            l.template post<post_mode::signalled, Engine::slot_per_message>(
                &r, operation::send, nullptr,
                false, [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) __attribute__((always_inline)) {
                  if constexpr (hints) return port.template send<M, true>(r.link, from, immediate, c);
                  else return port.template send<M>(r.link, from, immediate, c);
                }));
      }
    if constexpr (initiator_type::notify_answer::rides_on_write)
      if (m.what == operation::put_notify && from.size != 0) {
        const std::uint64_t word = initiator_type::immediate_word(r, m.immediate());
        return l.post_write(
            &r, operation::put_notify, nullptr,
            false, [&]<post_mode M>(std::integral_constant<post_mode, M>, void* c) __attribute__((always_inline)) {
              if constexpr (hints) return port.template write_immediate<M, true>(r.link, from, at, word, c);
              else return port.template write_immediate<M>(r.link, from, at, word, c);
            });
      }
    return alone(e, to, m, nullptr, false);
  }

  /// Without the hint; in several calls where one cannot carry the member.
  [[gnu::noinline]] static status alone(Engine& e, peer to, const member& m, void* context, bool signalled) noexcept {
    initiator_type l(e);
    switch (m.what) {
      case operation::send:
        return sent(e, to, m.from(), context, signalled);
      case operation::put:
        return l.put(to, m.from(), m.at(), context, signalled);
      default:
        return l.put_notify(to, m.from(), m.at(), m.immediate(), context, signalled);
    }
  }

 private:
  template <class Port = typename Engine::port_type>
  static status sent(Engine& e, peer to, local_memory from, void* context, bool signalled) noexcept {
    return initiator_type(e).send(to, from, context, signalled);
  }
  /// The end of a batch's last member is the end of all. Here it may come while a receiver still reads the source of an
  /// earlier message, so the others are copied at the post: gather lists are.
  template <lends_sources Port = typename Engine::port_type>
  static status sent(Engine& e, peer to, local_memory from, void* context, bool signalled) noexcept {
    record* const r = signalled ? nullptr : initiator_type::addressed(to, "send");
    if (r == nullptr) return initiator_type(e).send(to, from, context, signalled);
    return Engine::counted(*r, e.port->template send_gather<post_mode::unsignalled>(
                                   r->link, gather_list(&from, 1), Engine::user_immediate(*r), nullptr));
  }
};

}  // namespace weft::detail
