// SPDX-License-Identifier: Apache-2.0
//
// A handle of a peer. The transport has a record for each connection. The handle holds the record's address and the
// connection's number, because records are used again. Hot path: alive(), one comparison. Threads: the owner's.
#pragma once

#include "../core/error.hpp"
#include "../wire/hello.hpp"
#include "../wire/region_bytes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace weft {

class peer;

namespace detail {

/// Data that few peers need, or all peers only while they connect. It is allocated when needed, so that an idle peer
/// costs 64 bytes.
struct peer_words {
  std::array<std::byte, wire::largest_private_data>
      private_data{};  ///< This side's, until it was sent and no repeated hello can need it again.
  std::uint8_t private_size = 0;
  errc refusal = errc::rejected;
  std::uint16_t their_wire_version = wire::version;  ///< Of a peer that is refused.
  std::string reason;                                ///< Sentence of a refusal, of either side.
  void* user_data = nullptr;                         ///< peer::set_user_data().
  /// Region descriptions that receive_region() has not taken yet.
  std::vector<std::array<std::byte, wire::region_record_bytes>> regions;
};

/// Owns the words of one peer. std::unique_ptr is not constexpr in C++20, and `nobody` below needs a constant
/// initializer.
class peer_words_owner {
 public:
  constexpr peer_words_owner() noexcept = default;
  constexpr ~peer_words_owner() { delete words_; }
  peer_words_owner(const peer_words_owner&) = delete;
  peer_words_owner& operator=(const peer_words_owner&) = delete;
  void reset(peer_words* other = nullptr) noexcept { delete std::exchange(words_, other); }
  peer_words* get() const noexcept { return words_; }
  peer_words* operator->() const noexcept { return words_; }
  explicit operator bool() const noexcept { return words_ != nullptr; }
  friend bool operator==(const peer_words_owner& w, std::nullptr_t) noexcept { return w.words_ == nullptr; }

 private:
  peer_words* words_ = nullptr;
};

/// The first part of every peer record, and all that a handle reads. `live` changes when the peer is lost or closed, so
/// that a stale handle is recognised. Its high half is this side's proof of the connection, so that one comparison
/// checks both (wire/message_tag.hpp).
struct peer_header {
  static constexpr std::uint32_t dead = ~std::uint32_t{0};  ///< No connection has this number.
  static constexpr std::uint8_t no_member = 0xff;           ///< No fabric of a set has this number.
  constexpr peer_header() noexcept = default;
  struct of_no_fabric {};
  explicit constexpr peer_header(of_no_fabric /*nobody*/) noexcept : member(no_member) {}

  peer_words_owner words;
  std::uint64_t live = ~std::uint64_t{0};  ///< Low half: the number while the connection is established, else `dead`.
  std::uint32_t number = 0;                ///< This side's number for the connection.
  std::uint8_t member = 0;                 ///< Of a fabric_set: which of its fabrics reaches the peer.

  constexpr std::uint32_t live_number() const noexcept { return static_cast<std::uint32_t>(live); }
  constexpr bool is_live() const noexcept { return live_number() == number; }
  /// Only advance() calls this (connecting/transitions.hpp).
  constexpr void set_live(bool is) noexcept { live = live >> 32 << 32 | (is ? number : dead); }
  /// A new connection begins. The proof is the high half of `random`.
  constexpr void renew(wire::connection_number n, std::uint64_t random) noexcept {
    number = n.value;
    live = random | dead;
  }
  /// What the peer's messages carry.
  constexpr wire::connection_word word() const noexcept {
    return wire::connection_word::of({number}, static_cast<std::uint32_t>(live >> 32));
  }

  /// The words, made when there are none yet. Null: no memory.
  peer_words* made_words() noexcept {
    if (!words) words.reset(new (std::nothrow) peer_words);
    return words.get();
  }
  std::string reason() const { return words ? words->reason : std::string(); }
};

/// Sentinel for null handles, so that alive() needs no test for null: alive under a number that no handle has.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): nobody writes to this header
inline constinit peer_header nobody{peer_header::of_no_fabric{}};

/// The transport's access to a handle.
struct peer_access {
  static constexpr peer make(peer_header* record, std::uint32_t number) noexcept;
  /// Null for nobody.
  static constexpr peer_header* record(const peer& p) noexcept;
  /// Requires: alive.
  static constexpr peer_header* living(const peer& p) noexcept;
  static constexpr std::uint32_t number(const peer& p) noexcept;
  /// Which fabric of a set reaches the peer; no_member for nobody.
  static constexpr std::uint8_t member(const peer& p) noexcept;
};

}  // namespace detail

/// A handle of a peer: cheap to copy, safe to keep. Operations on a lost or closed peer return `peer_lost`.
class peer {
 public:
  constexpr peer() = default;
  /// False for "nobody": a default handle, or the sender of a notice on a fabric that does not name the writer.
  constexpr explicit operator bool() const noexcept { return record_ != &detail::nobody; }
  /// True while the connection is established.
  constexpr bool alive() const noexcept { return record_->live_number() == number_; }
  friend constexpr bool operator==(const peer&, const peer&) = default;

  /// The pointer of set_user_data(). Null when none was set, and after the peer's end. Valid in the handler of `lost`.
  void* user_data() const noexcept {
    return *this && record_->number == number_ && record_->words ? record_->words->user_data : nullptr;
  }
  /// Keeps a pointer with the peer until its end; every handle of the peer returns it. The first call for a peer
  /// allocates some 250 bytes. A pointer that is set after the peer's end is forgotten. Errors: peer_lost (nobody's
  /// handle, or the record serves another peer), no_memory.
  status set_user_data(void* pointer) const noexcept {
    if (!*this || record_->number != number_) return error(errc::peer_lost, "set_user_data");
    detail::peer_words* const words = record_->made_words();
    if (words == nullptr) return error(errc::no_memory, "set_user_data");
    words->user_data = pointer;
    return {};
  }

 private:
  friend struct detail::peer_access;
  constexpr peer(detail::peer_header* record, std::uint32_t number) noexcept : record_(record), number_(number) {}

  detail::peer_header* record_ = &detail::nobody;
  std::uint32_t number_ = 0;
};

constexpr peer detail::peer_access::make(peer_header* record, std::uint32_t number) noexcept {
  return {record, number};
}
constexpr detail::peer_header* detail::peer_access::record(const peer& p) noexcept { return p ? p.record_ : nullptr; }
constexpr detail::peer_header* detail::peer_access::living(const peer& p) noexcept { return p.record_; }
constexpr std::uint32_t detail::peer_access::number(const peer& p) noexcept { return p.number_; }
constexpr std::uint8_t detail::peer_access::member(const peer& p) noexcept { return p.record_->member; }

}  // namespace weft

/// @cond
// Handles as keys of unordered containers. Equal handles have equal hashes, also after the peer's end.
template <>
struct std::hash<weft::peer> {
  std::size_t operator()(const weft::peer& p) const noexcept {
    const auto place = reinterpret_cast<std::uintptr_t>(weft::detail::peer_access::record(p));
    return (place >> 6 ^ weft::detail::peer_access::number(p)) * std::size_t{0x9e3779b9};
  }
};
/// @endcond
