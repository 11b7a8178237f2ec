// SPDX-License-Identifier: Apache-2.0
//
// Memory that several transports have registered, here or at a peer. Handles are small and point into the rails that
// made them. The rails keep the registrations, because a piece may be posted long after the call. Hot path: slice(),
// at(). Threads: the rails' owner.
#pragma once

#include "../../wire/striped_region.hpp"
#include "../events.hpp"
#include "../region.hpp"

#include <cstddef>
#include <vector>

namespace weft {

/// One memory of this side, registered on each rail.
struct striped_registration {
  bytes memory;
  std::vector<region> rails;
  std::vector<void*> descriptors;  ///< For posting: the descriptor of each rail's registration.
};
/// A peer's memory, as the peer described it: a key for each rail.
struct striped_target {
  std::vector<remote_region> rails;
  std::vector<remote_memory> starts;  ///< For posting: the region's first address and key on each rail.
};

/// A part of a striped region, as source or destination. Transfers refuse a part past the region's end: out_of_range.
struct striped_slice {
  const striped_registration* whole = nullptr;
  std::size_t offset = 0;
  std::size_t size = 0;
};
/// A place in a peer's striped region.
struct striped_place {
  const striped_target* whole = nullptr;
  std::uint64_t offset = 0;
};

/// Memory of this side, registered with every rail; good for the rails' life.
class striped_region {
 public:
  striped_region() = default;
  explicit striped_region(const striped_registration& r) noexcept : whole_(&r) {}
  std::byte* data() const noexcept { return whole_->memory.data(); }
  std::size_t size() const noexcept { return whole_->memory.size(); }
  bytes memory() const noexcept { return whole_->memory; }
  striped_slice slice(std::size_t offset, std::size_t size) const noexcept { return {whole_, offset, size}; }
  striped_slice first(std::size_t size) const noexcept { return slice(0, size); }
  const striped_registration& registrations() const noexcept { return *whole_; }

 private:
  const striped_registration* whole_ = nullptr;
};

/// A peer's striped memory; good for the rails' life.
class remote_striped_region {
 public:
  remote_striped_region() = default;
  explicit remote_striped_region(const striped_target& t) noexcept : whole_(&t) {}
  std::uint64_t size() const noexcept { return whole_->rails.front().size(); }
  rights granted() const noexcept { return whole_->rails.front().granted(); }
  striped_place at(std::uint64_t offset) const noexcept { return {whole_, offset}; }

 private:
  const striped_target* whole_ = nullptr;
};

/// A peer of all rails: one connection on each rail.
struct striped_peer_record {
  std::vector<peer> rails;
  std::uint32_t number = 0;  ///< 0: free.
  bool lost = false;         ///< The connection of one rail is lost; nothing is posted any more.
};
class striped_peer {
 public:
  striped_peer() = default;
  striped_peer(const striped_peer_record& r, std::uint32_t index) noexcept
      : record_(&r), number_(r.number), index_(index) {}
  explicit operator bool() const noexcept { return record_ != nullptr; }
  bool alive() const noexcept { return record_ != nullptr && record_->number == number_ && !record_->lost; }
  bool present() const noexcept { return record_ != nullptr && record_->number == number_; }
  std::uint32_t index() const noexcept { return index_; }
  /// The connection on one rail; events of the peer as a whole name that of rail 0.
  peer on(std::uint32_t rail) const noexcept { return record_->rails[rail]; }

 private:
  const striped_peer_record* record_ = nullptr;
  std::uint32_t number_ = 0;
  std::uint32_t index_ = 0;
};

}  // namespace weft
