// SPDX-License-Identifier: Apache-2.0
//
// Several fabrics in one transport: `weft::open<weft::fabric_set<fabrics::mapped, fabrics::tcp>>(options)`. For each
// peer the best fabric that both sides have is taken, and each post to the peer is inlined as on that fabric alone,
// behind one predictable branch. Choose a set where a program's peers are partly on its own host and partly elsewhere,
// or where one binary must run on many machines. One fabric costs less code; where all peers are alike take that.
//
// What the set promises holds on each of its fabrics: orders, sizes and atomics are the weakest ones, known at compile
// time. Peers and regions have the types of one fabric. So programs take a set without a change of their text, if they
// name the peer in export_region() and parse_region(). Peers may also be programs of one fabric; connect() takes
// "fabric@host:service" then. Hot path: as transport.hpp. Threads: one owner
// at a time.
#pragma once

#include "../ordering.hpp"
#include "combined.hpp"
#include "set_transport.hpp"

namespace weft {

/// Two to eight fabrics as one. The first one opened keeps small things, such as the clock.
template <complete_fabric... F>
struct fabric_set {
  static_assert(sizeof...(F) > 0 && sizeof...(F) <= wire::most_fabrics,
                "weft: a set has one to eight fabrics [WEFT-C031]");
  static_assert(detail::names_differ<F...>(),
                "weft: a fabric is twice in this set: each fabric, with its answers, may be there once [WEFT-C031]");
  static_assert(detail::environments_agree<F...>(),
                "weft: two fabrics of this set want different values of one environment variable, and a process has "
                "one: `weft explain FABRIC` lists them under environment [WEFT-C032]");

 private:
  using first = std::tuple_element_t<0, std::tuple<F...>>;
  static constexpr auto name_text = [] {
    constant_text<wire::most_fabrics*(wire::longest_fabric_name + 1)> text;
    std::string_view between;
    ((text.add(between).add(F::name), between = "+"), ...);
    return text;
  }();

 public:
  static constexpr std::string_view name = name_text.view(), library = "several", made_from = first::made_from,
                                    shared = name;
  static constexpr library_version built_with = first::built_with;
  static constexpr std::uint64_t fingerprint = detail::fingerprint_of_set<F...>();
  static constexpr fabric_facts facts = detail::weakest_facts<F...>();
  static constexpr atomic_table atomics_by = first::atomics_by;
  static constexpr std::array<environment_setting, 0> environment{};
  using policies = typename detail::answers_of_set<all_families, F...>::type;
  template <class Shape>
  using port = typename first::template port<Shape>;
};

/// The orders that hold on each fabric of a set.
template <complete_fabric... F>
struct ordering<fabric_set<F...>> {
  static constexpr bool send_after_send = (ordering<F>::send_after_send && ...);
  static constexpr bool send_after_write = (ordering<F>::send_after_write && ...);
  static constexpr bool write_after_write = (ordering<F>::write_after_write && ...);
  static constexpr bool write_after_send = (ordering<F>::write_after_send && ...);
  static constexpr bool read_after_write = (ordering<F>::read_after_write && ...);
  static constexpr bool write_after_read = (ordering<F>::write_after_read && ...);
  /// Atomics of a set are executed by the target, from messages.
  static constexpr bool atomic_after_atomic = send_after_send;
  static constexpr bool atomic_after_write = send_after_send && send_after_write;
  static constexpr bool notice_after_its_bytes = true;
  static constexpr bool notice_after_puts = (ordering<F>::notice_after_puts && ...);
  static constexpr bool notice_after_notice = (ordering<F>::notice_after_notice && ...);
  static constexpr bool end_is_delivery = (ordering<F>::end_is_delivery && ...);
};

/// How each fabric of a set gives a state.
template <complete_fabric... F, write_state State>
struct reached_by<fabric_set<F...>, State> {
  static constexpr bool native = (reached_by<F, State>::native && ...);
  static constexpr bool emulated = !native && ((reached_by<F, State>::native || reached_by<F, State>::emulated) && ...);
};

namespace detail {
template <class>
inline constexpr bool set_has_no_answer = false;
}  // namespace detail
/// A set has no answers of its own.
template <complete_fabric... F, class Answer>
constexpr refused why_not(const fabric_set<F...>* /*fabric*/, Answer /*answer*/, detail::asked /*asked*/) {
  static_assert(detail::set_has_no_answer<Answer>,
                "weft: a set has no answers of its own: give them to its fabrics, as in "
                "fabric_set<with<F, answers::checks::trusted>, ...> [WEFT-C033]");
  return {};
}

}  // namespace weft
