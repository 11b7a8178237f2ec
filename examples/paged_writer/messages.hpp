// SPDX-License-Identifier: Apache-2.0
//
// Messages between the two sides of a rail, in addition to the pages: a text to be reversed (hello), a round to write,
// and the end. Little-endian, a kind first; other bytes are refused. Hot path: no. Threads: values.
#pragma once

#include <weft/wire/reader.hpp>
#include <weft/wire/region_bytes.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace weft::paged {

enum class kind : std::uint8_t { hello = 'h', reversed = 'r', round = 'w', end = 'e', ended = 'E' };

inline constexpr std::size_t longest_text = 256;
inline constexpr std::size_t longest_message = longest_text + 8;

/// The reader's first message; the writer answers with the reversed text.
struct hello {
  std::string text;
  bool backwards = false;
};
/// Requests the pages of one rail in one round. Every page is a put_notify with `id`.
struct round_request {
  std::uint64_t round = 0;  ///< From 1.
  std::uint64_t seed = 0;
  std::uint64_t start = 0;  ///< Where the round's buffer begins in the region.
  std::uint64_t page_bytes = 0;
  std::uint32_t pages = 0;  ///< Of the whole round.
  std::uint32_t rail = 0;
  std::uint32_t rails = 1;
  std::uint32_t id = 0;
};
/// The reader has all pages, and the writer sends their number.
struct ending {
  std::uint64_t pages = 0;
  bool answer = false;
};
using message = std::variant<hello, round_request, ending>;

/// A message in bytes.
class letter {
 public:
  /// The description of the reader's region, as it is (is_region).
  explicit letter(const std::array<std::byte, wire::region_record_bytes>& description) : size_(description.size()) {
    static_assert(wire::region_record_bytes <= longest_message);
    std::copy(description.begin(), description.end(), bytes_.begin());
  }
  explicit letter(const hello& h) {
    wire::writer w = begin(h.backwards ? kind::reversed : kind::hello);
    w.counted(std::as_bytes(std::span(h.text)));
    size_ += w.size();
  }
  explicit letter(const round_request& r) {
    wire::writer w = begin(kind::round);
    w.number(r.round), w.number(r.seed), w.number(r.start), w.number(r.page_bytes);
    w.number(r.pages), w.number(r.rail), w.number(r.rails), w.number(r.id);
    size_ += w.size();
  }
  explicit letter(const ending& e) {
    wire::writer w = begin(e.answer ? kind::ended : kind::end);
    w.number(e.pages);
    size_ += w.size();
  }
  const_bytes view() const noexcept { return const_bytes(bytes_).first(size_); }

 private:
  wire::writer begin(kind k) {
    bytes_[0] = static_cast<std::byte>(k);
    size_ = 1;
    return wire::writer(bytes(bytes_).subspan(1));
  }
  std::array<std::byte, longest_message> bytes_{};
  std::size_t size_ = 0;
};

/// The description of a region begins with its layout's number, which no message kind has.
inline bool is_region(const_bytes from) noexcept { return !from.empty() && from.front() < std::byte{32}; }

/// Nothing, where the bytes are no message, or request an impossible round.
inline std::optional<message> parse(const_bytes from) {
  wire::reader in(from);
  const auto k = static_cast<kind>(in.number<std::uint8_t>());
  if (k == kind::hello || k == kind::reversed) {
    const const_bytes text = in.counted(longest_text);
    if (!in.done()) return std::nullopt;
    return hello{{reinterpret_cast<const char*>(text.data()), text.size()}, k == kind::reversed};
  }
  if (k == kind::end || k == kind::ended) {
    const ending e{in.number<std::uint64_t>(), k == kind::ended};
    return in.done() ? std::optional<message>(e) : std::nullopt;
  }
  round_request r;
  r.round = in.number<std::uint64_t>(), r.seed = in.number<std::uint64_t>();
  r.start = in.number<std::uint64_t>(), r.page_bytes = in.number<std::uint64_t>();
  r.pages = in.number<std::uint32_t>(), r.rail = in.number<std::uint32_t>();
  r.rails = in.number<std::uint32_t>(), r.id = in.number<std::uint32_t>();
  const bool possible = r.page_bytes >= 8 && r.page_bytes % 8 == 0 && r.page_bytes <= std::uint64_t{1} << 28 &&
                        r.pages > 0 && r.pages <= 1U << 20 && r.rails > 0 && r.rail < r.rails && r.rails <= r.pages &&
                        r.round > 0;
  return k == kind::round && in.done() && possible ? std::optional<message>(r) : std::nullopt;
}

}  // namespace weft::paged
