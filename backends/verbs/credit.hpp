// SPDX-License-Identifier: Apache-2.0
//
// Flow control: each message and each immediate consumes a receive of the peer.
// Without a receive, the sender's card retries (InfiniBand: receiver not ready) or the connection ends (iWARP). Credit
// avoids both. Each side counts the receives that it has posted on a link and writes the count into a word of the peer,
// which sends no more than that. Counts are modulo 2^32 and only grow.
// The first count and the word's place travel as private data of the connection manager.
// A shared pool (receive_pool::shared) cannot reserve receives for a link. Its owner says so in the private data, and
// peers send without credit: when the pool is empty, their cards retry until a receive is posted. iWARP has no such
// retry, and no pool here.
// Hot path: send_credit, receive_offer. Threads: one owner; the card writes the word.
#pragma once

#include "../../core/port.hpp"
#include "../../wire/reader.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace weft::backends::verbs {

/// Memory of one link that both cards use. Each word has its own cache line.
struct credit_words {
  alignas(64) std::uint32_t granted = 0;  ///< Written by the peer's card: receives that the peer has posted so far.
  alignas(64) std::uint32_t offered = 0;  ///< Read by this side's card: receives that this side has posted so far.
  /// Destination of the read that confirms a write.
  alignas(64) std::uint32_t fetched = 0;
};

/// The sender's half.
class send_credit {
 public:
  bool none(credit_words& words) const noexcept {
    return std::atomic_ref(words.granted).load(std::memory_order_acquire) == spent_;
  }
  void spend() noexcept { ++spent_; }
  void give_back() noexcept { --spent_; }
  /// Grants the largest number that the counts can express: the peer keeps no credit.
  void grant_all(credit_words& words) const noexcept {
    std::atomic_ref(words.granted).store(spent_ - 1, std::memory_order_relaxed);
  }

 private:
  std::uint32_t spent_ = 0;
};

/// The receiver's half: reports receives in groups, not one by one.
class receive_offer {
 public:
  explicit receive_offer(std::uint32_t receives = 1) noexcept : step_(std::max(1U, receives / 4)), left_(step_ - 1) {}

  void posted() noexcept { --left_; }
  bool due() const noexcept { return static_cast<std::int32_t>(left_) < 0; }
  std::uint32_t count() const noexcept { return reported_ + (step_ - 1 - left_); }
  void reported() noexcept {
    reported_ = count();
    left_ = step_ - 1;
  }

 private:
  std::uint32_t reported_ = 0;  ///< Receives reported so far.
  std::uint32_t step_;
  /// Receives that may be posted before a report is due. It counts down below 0, so one decrement counts and tests.
  std::uint32_t left_;
};

/// The introduction of each side, in its request or answer.
struct credit_introduction {
  std::uint64_t address = 0;   ///< Of the word that the reader may write.
  std::uint32_t key = 0;       ///< Of that word.
  std::uint32_t receives = 0;  ///< Posted already.
  std::uint32_t tag = no_tag;  ///< The sender's tag for the link, where it has a pool and keeps no credit.

  bool has_pool() const noexcept { return tag != no_tag; }

  static constexpr std::uint32_t form = 0x32'66'65'77;  ///< "wef2": each layout has its own number.
  static constexpr std::size_t size = 4 + 8 + 4 + 4 + 4;

  std::array<std::byte, size> bytes_of() const noexcept {
    std::array<std::byte, size> made{};
    wire::writer to(made);
    to.number(form);
    to.number(address);
    to.number(key);
    to.number(receives);
    to.number(tag);
    return made;
  }
  /// Nothing unless it is an introduction. Connection managers pad private data, so further bytes are ignored.
  static std::optional<credit_introduction> parse(const_bytes from) noexcept {
    wire::reader of(from);
    const auto marked = of.number<std::uint32_t>();
    credit_introduction read;
    read.address = of.number<std::uint64_t>();
    read.key = of.number<std::uint32_t>();
    read.receives = of.number<std::uint32_t>();
    read.tag = of.number<std::uint32_t>();
    if (!of.good() || marked != form || read.address % alignof(std::uint32_t) != 0) return std::nullopt;
    return read;
  }
};

}  // namespace weft::backends::verbs
