// SPDX-License-Identifier: Apache-2.0
//
// The packets that travel between ports of a simulated world, and their pool.
// One packet is one operation for its whole life: it leaves, arrives, and returns where its initiator still waits for
// the end.
// Hot path: yes; the pool grows during warm-up only. Threads: one.
#pragma once

#include "../../core/atomic_listing.hpp"
#include "../../core/port.hpp"

#include <array>
#include <cstring>
#include <deque>
#include <vector>

namespace weft::backends::loopback {

enum class packet_kind : std::uint8_t {
  message,
  write,
  read,
  atomic,  // data
  dial,
  accept,
  refuse,
  confirm,
  goodbye,  // connections
  knock,
  knock_answer,  // lazy connections
};
constexpr bool is_data(packet_kind kind) noexcept { return kind <= packet_kind::atomic; }

enum class packet_stage : std::uint8_t { unused, departing, arriving, waiting, returning, stuck };

/// A unique name of a link: no later link has the same.
struct link_name {
  std::uint32_t port = ~std::uint32_t{0};
  std::uint32_t index = ~std::uint32_t{0};
  std::uint32_t generation = 0;
  friend bool operator==(const link_name&, const link_name&) = default;
};

/// The change that an atomic makes, and the place for the old value.
struct word_change {
  atomic_operation what{};
  number_type type{};
  std::uint64_t operand = 0;  ///< On its way back: the old value.
  std::uint64_t expected = 0;
  std::uint64_t* old = nullptr;
};

/// One operation under way.
struct packet {
  packet_kind kind{};
  packet_stage stage = packet_stage::unused;
  post_mode mode{};
  bool immediate_given = false;
  bool injected = false;        ///< The call copied the bytes; success is not reported.
  bool unreported = false;      ///< The end is not reported yet; the operation holds a queue slot.
  bool dead = false;            ///< The initiator is gone; free the packet when it stops travelling.
  bool immediate_lost = false;  ///< Raw fault: the bytes arrive, the notification does not.
  bool torn = false;            ///< Its last half has arrived already.
  link_name from{};
  link_name to{};
  std::uint64_t number = 0;  ///< In order of posting, over the whole world.
  std::uint64_t immediate = 0;
  remote_memory where{};
  word_change change{};
  const std::byte* header = nullptr;
  std::size_t header_size = 0;
  std::byte* local = nullptr;                     ///< Source or destination at the initiator.
  std::size_t size = 0;                           ///< Bytes of `local` and `rest`; the payload is header_size longer.
  std::array<local_memory, gather_limit> rest{};  ///< The pieces after the first.
  std::size_t rest_count = 0;
  void* context = nullptr;
  status outcome{};
  std::vector<std::byte> payload;

  std::size_t total() const noexcept { return header_size + size; }
  /// Visits the initiator's memory piece by piece.
  template <class On>
  void each_piece(On&& on) const {
    std::size_t first = size;
    for (std::size_t i = 0; i < rest_count; ++i) first -= rest[i].size;
    if (first != 0) on(local, first);
    for (std::size_t i = 0; i < rest_count; ++i)
      if (rest[i].size != 0) on(rest[i].data, rest[i].size);
  }
  void load() {
    if (payload.capacity() < total()) {
      std::size_t room = 1024;
      while (room < total()) room *= 2;
      payload.reserve(room);
    }
    payload.resize(total());
    if (header_size != 0) std::memcpy(payload.data(), header, header_size);
    each_piece([to = payload.data() + header_size](std::byte* piece, std::size_t bytes) mutable {
      std::memcpy(to, piece, bytes);
      to += bytes;
    });
  }
};

/// Packets by index. Freed packets are reused, last first, so their buffers have the sizes in use.
class packet_pool {
 public:
  std::uint32_t take() {
    if (free_.empty()) reserve(16);
    const std::uint32_t index = free_.back();
    free_.pop_back();
    std::vector<std::byte> kept = std::move(all_[index].payload);
    all_[index] = packet{};
    all_[index].payload = std::move(kept);
    all_[index].stage = packet_stage::departing;
    all_[index].number = ++count_;
    return index;
  }
  void give_back(std::uint32_t index) {
    all_[index].stage = packet_stage::unused;
    free_.push_back(index);
  }
  packet& operator[](std::uint32_t index) noexcept { return all_[index]; }
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(all_.size()); }
  /// Adds `count` free packets.
  /// Room for the packets of one more port. In a world of many ports they share it.
  void reserve_for_port(std::size_t count) {
    if (all_.size() < shared_from || free_.size() < count) reserve(count);
  }
  void reserve(std::size_t count) {
    const std::size_t before = all_.size();
    for (std::size_t i = 0; i < count; ++i) {
      all_.emplace_back();
      all_.back().payload.reserve(1024);
    }
    free_.reserve(all_.size());
    for (std::size_t i = all_.size(); i > before; --i) free_.push_back(static_cast<std::uint32_t>(i - 1));
  }

 private:
  static constexpr std::size_t shared_from = 16384;  ///< Some 16 MiB.
  std::deque<packet> all_;
  std::vector<std::uint32_t> free_;
  std::uint64_t count_ = 0;
};

}  // namespace weft::backends::loopback
