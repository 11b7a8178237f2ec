// SPDX-License-Identifier: Apache-2.0
//
// A list that is checked once and posted often. Choose it for the same pages again and again: post() then allocates
// nothing and checks no bounds. The transport's own two comparisons for each post remain, unless its caller is trusted
// (answers::checks::trusted). Hot path: reading it. Threads: the engine's owner.
#pragma once

#include "../compose/fabric.hpp"
#include "transfer.hpp"

#include <span>
#include <utility>
#include <vector>

namespace weft::transfers {

template <complete_fabric F>
class engine;

/// Made by engine::prepare_put and engine::prepare_get, for one peer and one direction. It must live until the last
/// list that was posted from it has ended, and may be posted again before that. Movable.
class prepared_list {
 public:
  /// A moved-from list is for nobody: posting it is refused.
  prepared_list(prepared_list&& other) noexcept
      : peer_(std::exchange(other.peer_, {})), what_(other.what_), all_(std::move(other.all_)) {}
  prepared_list& operator=(prepared_list&& other) noexcept {
    prepared_list taken(std::move(other));
    std::swap(peer_, taken.peer_), std::swap(what_, taken.what_), all_.swap(taken.all_);
    return *this;
  }
  prepared_list(const prepared_list&) = delete;
  prepared_list& operator=(const prepared_list&) = delete;

  weft::peer peer() const noexcept { return peer_; }
  /// operation::put or operation::get.
  operation what() const noexcept { return what_; }
  std::span<const transfer> transfers() const noexcept { return all_; }

 private:
  template <complete_fabric F>
  friend class engine;
  prepared_list(weft::peer with, operation what, std::vector<transfer> all) noexcept
      : peer_(with), what_(what), all_(std::move(all)) {}

  weft::peer peer_;
  operation what_;
  std::vector<transfer> all_;
};

}  // namespace weft::transfers
