// SPDX-License-Identifier: Apache-2.0
//
// Batches and groups of a counted transport: those of posting/batch.hpp and posting/group.hpp, whose members count when
// the batch or the group took them. Hot path: all of it. Threads: the owner's.
#pragma once

#include "../posting/batch.hpp"
#include "../posting/group.hpp"
#include "../posting/refused_arguments.hpp"
#include "counting_engine.hpp"

#include <utility>

namespace weft::detail {

/// `Members` is the batch or the group below. A batch also has fetch_add, close(context) and posted(), a group has
/// holds().
template <class Counting, class Members>
class counted_members : public refused_members {
 public:
  counted_members(Counting& counts, peer to, Members members) noexcept
      : counts_(&counts), to_(to), members_(std::move(members)) {}

  using refused_members::put;
  using refused_members::put_notify;
  using refused_members::send;
  [[gnu::always_inline]] status send(local_memory from) noexcept {
    return counts_->posted(to_, traffic::send, from.size, members_.send(from));
  }
  [[gnu::always_inline]] status put(local_memory from, const remote_place& at) noexcept {
    return counts_->posted(to_, traffic::put, from.size, members_.put(from, at));
  }
  [[gnu::always_inline]] status put_notify(local_memory from, const remote_place& at,
                                           std::uint32_t immediate) noexcept {
    return counts_->posted(to_, traffic::put_notify, from.size, members_.put_notify(from, at, immediate));
  }
  template <class Place>
  status fetch_add(const Place& at, std::uint64_t operand, void* context) noexcept {
    return counts_->posted(to_, traffic::atomic, sizeof operand, members_.fetch_add(at, operand, context));
  }
  status close() noexcept { return members_.close(); }
  status close(void* context) noexcept { return members_.close(context); }
  bool is_open() const noexcept { return members_.is_open(); }
  std::uint32_t posted() const noexcept { return members_.posted(); }
  bool holds() const noexcept { return members_.holds(); }

 private:
  Counting* counts_;
  peer to_;
  Members members_;
};

}  // namespace weft::detail
