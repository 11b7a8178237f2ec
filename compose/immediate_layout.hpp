// SPDX-License-Identifier: Apache-2.0
//
// Named fields in the immediate of a put_notify, packed at compile time. Forced by cq_data_size (fi_domain(3)): 4 bytes
// on verbs, efa and cxi; rows with 8 bytes give the other 4 to the writer's number. So an immediate has 32 bits for its
// user on every fabric, and a layout is the same everywhere. immediate_layout: all fields fit, or it does not compile.
// spilled_layout: other fields travel in front of the payload. Hot path: a shift and an or per field. Threads: values.
#pragma once

#include "../core/memory.hpp"
#include "events.hpp"

#include <array>
#include <cassert>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace weft {

/// Bits of an immediate that are the user's, on every row.
inline constexpr unsigned immediate_bits = 32;

/// A name as a template argument.
template <std::size_t Size>
struct field_name {
  char letters[Size]{};
  // NOLINTNEXTLINE(google-explicit-constructor): written as a literal
  consteval field_name(const char (&text)[Size]) { std::copy(text, text + Size, letters); }
  constexpr std::string_view view() const noexcept { return {letters, Size - 1}; }
};

/// One field of a layout: `field<"source", 8>`. An unsigned number of 1 to 64 bits.
template <field_name Name, unsigned Bits>
struct field {
  static_assert(Bits >= 1 && Bits <= 64, "weft: a field of an immediate has 1 to 64 bits [WEFT-C026]");
  static constexpr std::string_view name = Name.view();
  static constexpr unsigned bits = Bits;
  static constexpr std::uint64_t largest = ~std::uint64_t{0} >> (64 - Bits);
  using type = std::conditional_t<(Bits <= 32), std::uint32_t, std::uint64_t>;
};

namespace detail {
/// The place of a field: `shift` bits up in the immediate, or `offset` bytes into the header.
struct field_place {
  bool in_header = false;
  unsigned shift = 0;
  unsigned offset = 0;
};

template <class... Fields>
struct field_places {
  static constexpr std::size_t count = sizeof...(Fields);
  static constexpr std::array<unsigned, count> bits{Fields::bits...};
  static constexpr std::array<std::string_view, count> names{Fields::name...};

  /// How many fields, from the first on, share the immediate; none is split.
  static constexpr std::size_t in_word = [] {
    unsigned used = 0;
    std::size_t n = 0;
    while (n < count && used + bits[n] <= immediate_bits) used += bits[n++];
    return n;
  }();
  static constexpr std::array<field_place, count> at = [] {
    std::array<field_place, count> places{};
    unsigned shift = 0;
    unsigned offset = 0;
    for (std::size_t i = in_word; i-- > 0; shift += bits[i]) places[i].shift = shift;
    for (std::size_t i = in_word; i < count; offset += (bits[i++] + 7) / 8) places[i] = {true, 0, offset};
    return places;
  }();
  /// Whole words, so that the payload after the header stays aligned.
  static constexpr std::size_t header_bytes = [] {
    std::size_t sum = 0;
    for (std::size_t i = in_word; i < count; ++i) sum += (bits[i] + 7) / 8;
    return (sum + 7) / 8 * 8;
  }();
  static constexpr bool names_differ = [] {
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (names[i] == names[j]) return false;
    return true;
  }();
  static constexpr std::size_t find(std::string_view name) {
    std::size_t i = 0;
    while (i < count && names[i] != name) ++i;
    return i;
  }
};

template <std::size_t Bytes>
struct spilled_fields {
  std::array<std::byte, Bytes> bytes{};
  friend constexpr bool operator==(const spilled_fields&, const spilled_fields&) = default;
};
template <>
struct spilled_fields<0> {
  friend constexpr bool operator==(const spilled_fields&, const spilled_fields&) = default;
};

/// Whether a number fits `largest`; negative ones never do.
template <class Value>
constexpr bool field_takes(std::uint64_t largest, Value value) noexcept {
  if constexpr (std::is_enum_v<Value>) return field_takes(largest, static_cast<std::underlying_type_t<Value>>(value));
  else if constexpr (std::same_as<Value, bool>) return true;
  else return std::cmp_greater_equal(value, 0) && std::cmp_less_equal(value, largest);
}
template <class Value>
concept field_value = std::integral<Value> || std::is_enum_v<Value>;
}  // namespace detail

/// Fields in the order of their declaration, the first in the highest bits of the immediate. Use it by its names below.
template <class... Fields>
class packed_fields {
  using places = detail::field_places<Fields...>;
  static_assert(sizeof...(Fields) > 0, "weft: a layout has at least one field [WEFT-C026]");
  static_assert(places::names_differ, "weft: two fields of a layout have the same name [WEFT-C026]");
  static_assert(places::in_word > 0,
                "weft: the first field of a layout travels in the immediate: it has at most 32 bits [WEFT-C026]");

 public:
  /// Bytes that travel in front of the payload; 0 where all fields fit into the immediate. A multiple of 8.
  static constexpr std::size_t header_bytes = places::header_bytes;

  constexpr packed_fields() = default;
  /// One value per field. Requires: each fits its field (else use checked()). A larger value is cut off, so that it
  /// does not change its neighbours.
  template <detail::field_value... Values>
  requires(sizeof...(Values) == sizeof...(Fields)) constexpr explicit packed_fields(Values... values) noexcept {
    assert(fits(values...) && "weft: a value is too large for its field [WEFT-C026]");
    std::size_t i = 0;
    (put<Fields>(i++, static_cast<std::uint64_t>(values)), ...);
  }
  /// Whether each value fits its field.
  template <detail::field_value... Values>
  requires(sizeof...(Values) == sizeof...(Fields)) static constexpr bool fits(Values... values) noexcept {
    return (detail::field_takes(Fields::largest, values) && ...);
  }
  /// The same for numbers of unknown size: returns nothing where one does not fit.
  template <detail::field_value... Values>
  requires(sizeof...(Values) ==
           sizeof...(Fields)) static constexpr std::optional<packed_fields> checked(Values... values) noexcept {
    if (!fits(values...)) return std::nullopt;
    return packed_fields(values...);
  }

  /// The fields that an immediate carries.
  static constexpr packed_fields of(std::uint32_t immediate) noexcept requires(header_bytes == 0) {
    packed_fields p;
    p.word_ = immediate & all_bits;
    return p;
  }
  static constexpr packed_fields of(const notified& n) noexcept requires(header_bytes == 0) { return of(n.immediate); }
  /// The fields that travel in the immediate. With them the target finds the place of the write, where the other fields
  /// are.
  static constexpr packed_fields leading(std::uint32_t immediate) noexcept {
    packed_fields p;
    p.word_ = immediate & all_bits;
    return p;
  }
  /// All fields. `there` begins at the place of the write. Nothing when `there` is shorter than the header.
  static constexpr std::optional<packed_fields> of(std::uint32_t immediate, const_bytes there) noexcept
      requires(header_bytes > 0) {
    if (there.size() < header_bytes) return std::nullopt;
    packed_fields p = leading(immediate);
    std::copy(there.begin(), there.begin() + header_bytes, p.spilled_.bytes.begin());
    return p;
  }

  /// The value of a field: `c.get<"id">()`.
  template <field_name Name>
  constexpr auto get() const noexcept {
    constexpr std::size_t i = index<Name>();
    using type = std::conditional_t<(places::bits[i] <= 32), std::uint32_t, std::uint64_t>;
    constexpr std::uint64_t largest = ~std::uint64_t{0} >> (64 - places::bits[i]);
    if constexpr (places::at[i].in_header) {
      std::uint64_t value = 0;
      for (unsigned b = (places::bits[i] + 7) / 8; b-- > 0;)
        value = value << 8 | static_cast<std::uint8_t>(spilled_.bytes[places::at[i].offset + b]);
      return static_cast<type>(value & largest);
    } else {
      return static_cast<type>(word_ >> places::at[i].shift & largest);
    }
  }
  /// Sets one field. Requires: the value fits, as in the constructor.
  template <field_name Name>
  constexpr packed_fields& set(detail::field_value auto value) noexcept {
    constexpr std::size_t i = index<Name>();
    using one = field<Name, places::bits[i]>;
    assert(detail::field_takes(one::largest, value) && "weft: a value is too large for its field [WEFT-C026]");
    put<one>(i, static_cast<std::uint64_t>(value));
    return *this;
  }

  /// The 32 bits that travel as the immediate.
  constexpr std::uint32_t immediate() const noexcept { return word_; }
  /// Converts a layout without a header to the immediate.
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr operator std::uint32_t() const noexcept requires(header_bytes == 0) { return word_; }
  /// Writes the spilled fields. Requires: room for header_bytes.
  constexpr void write_header(bytes into) const noexcept requires(header_bytes > 0) {
    std::copy(spilled_.bytes.begin(), spilled_.bytes.end(), into.begin());
  }
  friend constexpr bool operator==(const packed_fields&, const packed_fields&) = default;

 private:
  static constexpr std::uint32_t all_bits = [] {
    unsigned used = 0;
    for (std::size_t i = 0; i < places::in_word; ++i) used += places::bits[i];
    return ~std::uint32_t{0} >> (immediate_bits - used);
  }();
  template <field_name Name>
  static consteval std::size_t index() {
    static_assert(places::find(Name.view()) < places::count, "weft: this layout has no field of that name [WEFT-C027]");
    // A place that exists: after an unknown name the compiler says nothing else.
    return std::min(places::find(Name.view()), places::count - 1);
  }
  template <class Field>
  constexpr void put(std::size_t i, std::uint64_t value) noexcept {
    const detail::field_place at = places::at[i];
    value &= Field::largest;
    if constexpr (header_bytes > 0) {
      for (unsigned b = 0; at.in_header && b < (Field::bits + 7) / 8; ++b)
        spilled_.bytes[at.offset + b] = static_cast<std::byte>(value >> 8 * b);
      if (at.in_header) return;
    }
    word_ = (word_ & ~static_cast<std::uint32_t>(Field::largest << at.shift)) |
            static_cast<std::uint32_t>(value << at.shift);
  }

  std::uint32_t word_ = 0;
  [[no_unique_address]] detail::spilled_fields<header_bytes> spilled_{};
};

namespace detail {
template <class... Fields>
struct fitting {
  static constexpr bool fits = (0U + ... + Fields::bits) <= immediate_bits;
  static_assert(fits,
                "weft: an immediate_layout has at most 32 bits, which is what every fabric carries: make fields "
                "narrower, or use spilled_layout [WEFT-C028]");
  using type = packed_fields<Fields...>;
};
}  // namespace detail

/// Fields that all fit into the immediate: `using call = immediate_layout<field<"source", 8>, field<"id", 16>,
/// field<"kind", 8>>;` Choose it wherever 32 bits are enough: only the immediate travels. `put_notify(…, call(7,
/// 2, 1), …)`; `call::of(n).get<"id">()`.
template <class... Fields>
using immediate_layout = typename detail::fitting<Fields...>::type;

/// Fields of any width. The first ones, as many as fit, travel in the immediate; the others travel in front of the
/// payload, in header_bytes. The first ones must let the target find the place of the write. Costs bytes, but no
/// further call.
template <class... Fields>
using spilled_layout = packed_fields<Fields...>;

/// A layout that needs room in front of the payload.
template <class L>
concept spilling_layout = requires(const L& l, bytes into) {
  l.write_header(into);
  { l.immediate() } -> std::same_as<std::uint32_t>;
};

/// Writes the spilled fields where a payload begins. Returns false where the payload is too short.
template <spilling_layout L>
constexpr bool place_header(const L& fields, const local_memory& payload) noexcept {
  if (payload.data == nullptr || payload.size < L::header_bytes) return false;
  fields.write_header({payload.data, payload.size});
  return true;
}

}  // namespace weft
