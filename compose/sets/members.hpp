// SPDX-License-Identifier: Apache-2.0
//
// The transports of a set, one for each fabric that could be opened, and the branch that finds the one of a peer. The
// number of a peer's fabric is a byte of the peer's record, so a post costs one comparison for two fabrics. Hot path:
// at(). Threads: the owner's.
#pragma once

#include "../transport.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

namespace weft::detail {

/// The set's access to the engines of its transports.
struct transport_parts {
  template <class F>
  static engine<F>& engine_of(transport<F>& net) noexcept {
    return *net.e_;
  }
  template <class F>
  static const engine<F>& engine_of(const transport<F>& net) noexcept {
    return *net.e_;
  }
  /// Of a set.
  template <class Set>
  static auto& state_of(transport<Set>& net) noexcept {
    return *net.state_;
  }
};

/// The engines of a set. They keep their addresses when the set moves.
template <class... F>
class set_engines {
 public:
  static constexpr std::size_t count = sizeof...(F);
  template <std::size_t I>
  using fabric_at = std::tuple_element_t<I, std::tuple<F...>>;
  template <std::size_t I>
  using engine_at = engine<fabric_at<I>>;
  static constexpr std::array<std::string_view, count> names{F::name...};
  /// Whether slices need the descriptor of their fabric.
  static constexpr bool needs_descriptors = (!answer<F, local_descriptor_family>::any_memory || ...);

  template <std::size_t I>
  void enter(engine_at<I>& engine) noexcept {
    std::get<I>(engines_) = &engine;
  }
  /// Calls body.operator()<I>(engine) for each open fabric.
  template <class Body>
  void each_open(Body&& body) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto one = [&]<std::size_t K>(std::integral_constant<std::size_t, K>) {
        if (auto* const engine = std::get<K>(engines_)) body.template operator()<K>(*engine);
      };
      (one(std::integral_constant<std::size_t, I>{}), ...);
    }
    (std::make_index_sequence<count>());
  }
  bool is_open(std::size_t member) const noexcept {
    bool open = false;
    each_open([&]<std::size_t I>(auto& /*engine*/) { open = open || I == member; });
    return open;
  }
  /// `count` where none is open.
  std::size_t first_open() const noexcept {
    std::size_t first = count;
    each_open([&]<std::size_t I>(auto& /*engine*/) { first = first == count ? I : first; });
    return first;
  }

 private:
  std::tuple<engine<F>*...> engines_{};
};

/// The transports of a set.
template <class... F>
class set_members {
 public:
  using engines = set_engines<F...>;
  static constexpr std::size_t count = sizeof...(F);
  template <std::size_t I>
  using fabric_at = typename engines::template fabric_at<I>;
  template <class G>
  static constexpr bool has = (std::same_as<F, G> || ...);
  template <class G>
  static constexpr std::size_t index_of = [] {
    std::size_t i = 0;
    (void)((std::same_as<F, G> || (++i, false)) || ...);
    return i;
  }();

  template <std::size_t I>
  bool is_open() const noexcept {
    return std::get<I>(nets_).has_value();
  }
  /// Requires: the fabric is open.
  template <std::size_t I>
  [[gnu::always_inline]] transport<fabric_at<I>>& net() noexcept {
    return *std::get<I>(nets_);
  }
  template <std::size_t I>
  void enter(transport<fabric_at<I>> net) noexcept {
    std::get<I>(nets_).emplace(std::move(net));
  }

  /// Calls body(transport, number as a type) for the fabric of this number. Requires: a living peer has the number, so
  /// the fabric is open.
  template <std::size_t I = 0, class Body>
  [[gnu::always_inline]] decltype(auto) at_living(std::size_t member, Body&& body) {
    if constexpr (I + 1 == count) {
      return body(net<I>(), std::integral_constant<std::size_t, I>{});
    } else {
      if (member == I) return body(net<I>(), std::integral_constant<std::size_t, I>{});
      return at_living<I + 1>(member, body);
    }
  }
  /// The same for any peer. For nobody, whose number is none of the set's, the first open fabric answers.
  template <class Body>
  decltype(auto) at(std::size_t member, Body&& body) {
    return at_living(member < count ? member : first_open(), body);
  }
  /// Calls body(transport, number as a type) for each open fabric, in their order.
  template <class Body>
  [[gnu::always_inline]] void each(Body&& body) {
    [&]<std::size_t... I>(std::index_sequence<I...>) __attribute__((always_inline)) {
      ((is_open<I>() ? body(net<I>(), std::integral_constant<std::size_t, I>{}) : void()), ...);
    }
    (std::make_index_sequence<count>());
  }
  template <class Body>
  void each(Body&& body) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((is_open<I>() ? body(*std::get<I>(nets_), std::integral_constant<std::size_t, I>{}) : void()), ...);
    }
    (std::make_index_sequence<count>());
  }

 private:
  std::size_t first_open() const noexcept {
    std::size_t first = count;
    each([&](const auto& /*net*/, auto index) { first = std::min<std::size_t>(first, index()); });
    return first;
  }

  std::tuple<std::optional<transport<F>>...> nets_;
};

}  // namespace weft::detail
