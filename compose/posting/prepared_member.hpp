// SPDX-License-Identifier: Apache-2.0
//
// The member that a batch keeps back until the next one comes (posting/batch.hpp). Ports that take prepared writes get
// it in the library's own words at once, since a later copy costs as much as a post. Hot path: yes. Threads: values.
#pragma once

#include "../../core/memory.hpp"
#include "../events.hpp"
#include "../region.hpp"

#include <cstdint>

namespace weft::detail {
inline constexpr operation no_member = static_cast<operation>(0xff);

/// The member kept back, as it was given.
struct member_as_given {
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

/// The same in the library's words. Its bounds and rights were checked when it was kept.
template <class Kept>
struct member_as_posted {
  operation what = no_member;
  Kept kept;  ///< Valid only while `what` names a member.
  // NOLINTNEXTLINE(modernize-use-equals-default,hicpp-use-equals-default): by default all of it would be cleared first
  member_as_posted() noexcept {}
  member_as_posted(const member_as_posted& other) noexcept : what(other.what) {
    if (what != no_member) kept = other.kept;
  }
  // NOLINTNEXTLINE(bugprone-unhandled-self-assignment,cert-oop54-cpp): of itself, each part is what it was
  member_as_posted& operator=(const member_as_posted& other) noexcept {
    what = other.what;
    if (what != no_member) kept = other.kept;
    return *this;
  }
  ~member_as_posted() = default;
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
  using type = member_as_given;
};
template <posts_prepared_writes Engine>
struct prepared_member<Engine> {
  using type = member_as_posted<typename Engine::port_type::prepared_write>;
};
}  // namespace weft::detail
