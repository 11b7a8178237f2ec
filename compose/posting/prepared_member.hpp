// SPDX-License-Identifier: Apache-2.0
//
// The member that a batch keeps back until the next one comes (posting/batch.hpp). Ports that take prepared writes get
// it in the library's structures at once, since a later copy costs as much as a post. Hot path: yes. Threads: values.
#pragma once

#include "../../core/memory.hpp"
#include "../events.hpp"
#include "../region.hpp"

#include <cstdint>

namespace weft::detail {
inline constexpr operation no_member = static_cast<operation>(0xff);

/// The member kept back, as it was given.
struct plain_member {
  operation what = no_member;
  void keep(operation w, local_memory from, const remote_place& at, std::uint64_t immediate) noexcept {
    what = w;
    from_ = from;
    at_ = at;
    immediate_ = static_cast<std::uint32_t>(immediate);
  }
  void drop() noexcept { what = no_member; }
  local_memory from() const noexcept { return from_; }
  remote_place at() const noexcept { return at_; }
  std::uint32_t immediate() const noexcept { return immediate_; }

 private:
  local_memory from_{};
  remote_place at_{};
  std::uint32_t immediate_ = 0;
};

/// The same in the library's structures. Its bounds and rights were checked when it was kept.
template <class Kept>
struct library_member {
  operation what = no_member;
  Kept kept;  ///< Valid only while `what` names a member.
  // NOLINTNEXTLINE(modernize-use-equals-default,hicpp-use-equals-default): by default all of it would be cleared first
  library_member() noexcept {}
  library_member(const library_member& other) noexcept : what(other.what) {
    if (what != no_member) kept = other.kept;
  }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment,cert-oop54-cpp): of itself, each part is what it was
  library_member& operator=(const library_member& other) noexcept {
    what = other.what;
    if (what != no_member) kept = other.kept;
    return *this;
  }
  ~library_member() = default;
  void keep(operation w, local_memory from, const remote_place& at, std::uint64_t immediate) noexcept {
    what = w;
    kept.keep(from, {at.address, at.key}, immediate);
  }
  void drop() noexcept { what = no_member; }
  local_memory from() const noexcept { return kept.from(); }
  remote_place at() const noexcept {
    return {kept.to().address, kept.to().key, kept.from().size, rights::remote_write};
  }
  std::uint32_t immediate() const noexcept { return static_cast<std::uint32_t>(kept.immediate()); }
};

/// Ports that take prepared writes, on rows where such a member holds no slot.
template <class Engine>
concept posts_prepared_writes = requires {
  typename Engine::port_type::prepared_write;
}
&&Engine::markers && !Engine::tracks_writes && Engine::coalescer_type::posts_at_once;

template <class Engine>
struct prepared_member {
  using type = plain_member;
};
template <posts_prepared_writes Engine>
struct prepared_member<Engine> {
  using type = library_member<typename Engine::port_type::prepared_write>;
};
}  // namespace weft::detail
