// SPDX-License-Identifier: Apache-2.0
//
// The regions of one transport: its arena, and the caller's memory that peers may access.
// Memory outside of the mapping can be registered only where the kernel copies for peers, and has no atomics.
// A region without rights has a key too: messages may name it, as requests for atomics that the target executes do.
// Hot path: no. Threads: the owner's.
#pragma once

#include "../../core/memory.hpp"
#include "arena.hpp"
#include "ordinary_memory.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft::backends::mapped {

class shared_regions {
 public:
  shared_regions(std::unique_ptr<arena> own, std::string who)
      : own_(std::move(own)), who_(std::move(who)), forbidden_(why_no_access()) {
    kept_.reserve(most_kept);
  }

  arena& own() const noexcept { return *own_; }

  /// Registers memory of the caller: in the arena, or anywhere where the kernel lets peers access it.
  result<registration> register_memory(bytes where, rights granted) {
    if (granted != rights::none && !own_->holds(where)) {
      if (grants(granted, rights::remote_atomic))
        return {error(errc::unsupported, "register"), who_ +
                                                          ": remote atomics work only in memory of the mapping; take "
                                                          "it from the transport: allocate() or allocate_words()"};
      if (!forbidden_.empty())
        return {error(errc::denied, "register"),
                who_ + ": this memory is not in the mapping, and the kernel does not let peers access it (" +
                    forbidden_ + "); take it from the transport: allocate()"};
    }
    return listed(where, granted, nullptr);
  }
  /// Allocates zeroed memory in the mapping, aligned to a page. The port owns it until it is deregistered.
  result<registration> register_fresh(std::size_t size, rights granted) {
    const bytes made = own_->take(size);
    if (made.empty())
      return {error(errc::no_memory, "register"), who_ + ": no room for " + std::to_string(size) + " bytes in the " +
                                                      std::to_string(own_->size() >> 30) +
                                                      " GiB that a transport can share"};
    auto held = listed(made, granted, made.data());
    if (!held) own_->give(made);
    return held;
  }
  /// Bytes that a receiver may still copy are kept. The system gets them back with a later region.
  template <class AreLent>
  void deregister(registration& gone, const AreLent& are_lent) {
    if (gone.key != 0) own_->erase(gone.key);
    std::erase_if(kept_, [&](const bytes& each) { return given(each, are_lent); });
    if (const bytes its{gone.base, gone.size}; gone.native != nullptr && !given(its, are_lent)) kept_.push_back(its);
    gone = {};
  }
  /// Regions with lent bytes: each has a lent message at least.
  static constexpr std::size_t most_kept = 64;
  std::size_t kept() const noexcept { return kept_.size(); }

 private:
  template <class AreLent>
  bool given(bytes gone, const AreLent& are_lent) {
    if (are_lent(const_bytes(gone))) return false;
    own_->give(gone);
    return true;
  }
  result<registration> listed(bytes where, rights granted, void* native) {
    const std::uint64_t key = own_->list(where, granted);
    if (key == 0)
      return {error(errc::no_memory, "register"),
              who_ + ": a transport can register at most " + std::to_string(arena_head::rows) + " regions at once"};
    return registration{native, nullptr, key, where.data(), where.size()};
  }

  std::unique_ptr<arena> own_;
  std::string who_;
  std::string forbidden_;
  std::vector<bytes> kept_;  ///< Released, and lent. There is room: a destructor may release a region.
};

}  // namespace weft::backends::mapped
