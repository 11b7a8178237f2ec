// SPDX-License-Identifier: Apache-2.0
//
// Who may send: messages and immediates each use up a receive of the peer. A card that finds none makes the sender
// repeat (InfiniBand: receiver not ready) or ends the connection (iWARP), so neither happens here: each side counts the
// receives it has posted on a link and writes the count into a word of the other side, which sends no more than that.
// Counts are modulo 2^32 and only grow. The first count, and where the word is, travel as private data of the
// connection manager. A pool of receives (receive_pool::shared) cannot promise a link what others may take, so whoever
// has one says so there, and is sent to without credit: a card that finds the pool empty has the sender's card repeat,
// as often as it takes (nothing is lost; who never posts again is lost by silence). iWARP has no such answer, and no
// pool here. Hot path: send_credit, receive_offer. Threads: one owner; the word is written by the card.
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

/// Memory of one link that both cards use. Each word on a line of its own.
struct credit_words {
  alignas(64) std::uint32_t granted = 0;  ///< Written by the peer's card: receives that it has posted so far.
  alignas(64) std::uint32_t offered = 0;  ///< Read by our card: receives that we have posted so far.
  alignas(64) std::uint32_t fetched =
      0;  ///< Where our card puts what it reads from the peer only to see that it could.
};

/// The sender's half.
class send_credit {
 public:
  bool none(credit_words& words) const noexcept {
    return std::atomic_ref(words.granted).load(std::memory_order_acquire) == spent_;
  }
  void spend() noexcept { ++spent_; }
  void give_back() noexcept { --spent_; }
  /// No credit is kept: as much as the counts can tell apart is granted.
  void grant_all(credit_words& words) const noexcept {
    std::atomic_ref(words.granted).store(spent_ - 1, std::memory_order_relaxed);
  }

 private:
  std::uint32_t spent_ = 0;
};

/// The receiver's half: tells of every few receives, not of each.
class receive_offer {
 public:
  explicit receive_offer(std::uint32_t receives = 1) noexcept : step_(std::max(1U, receives / 4)), left_(step_ - 1) {}

  void posted() noexcept { --left_; }
  bool due() const noexcept { return static_cast<std::int32_t>(left_) < 0; }
  std::uint32_t count() const noexcept { return told_ + (step_ - 1 - left_); }
  void told() noexcept {
    told_ = count();
    left_ = step_ - 1;
  }

 private:
  std::uint32_t told_ = 0;  ///< So many were told of.
  std::uint32_t step_;
  std::uint32_t left_;  ///< That may be posted before it is due: counted down to below 0, so that a receive counts and
                        ///< asks at once.
};

/// What each side tells the other with its request or answer.
struct credit_introduction {
  std::uint64_t address = 0;   ///< Of the word that the reader may write.
  std::uint32_t key = 0;       ///< Of that word.
  std::uint32_t receives = 0;  ///< Posted already.
  std::uint32_t tag = no_tag;  ///< The sender's for the link, where it has a pool of receives: no credit is kept.

  bool has_pool() const noexcept { return tag != no_tag; }

  static constexpr std::uint32_t form = 0x32'66'65'77;  ///< "wef2": another form is another number.
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
  /// Nothing where it is not ours. Connection managers pad private data, so what follows is ignored.
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
