// SPDX-License-Identifier: Apache-2.0
//
// The posted receives of a link: their contexts and their link.
// A failed receive must name its link. The number of its queue pair does not: cards reuse it while entries of the old
// one are still in the completion queue.
// Hot path: all but open(). Threads: one owner.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::backends::verbs {

/// One posted receive; its address is the work request's id.
template <class Owner>
struct receive_place {
  void* context = nullptr;
  Owner* owner = nullptr;
  receive_place* next = nullptr;  ///< In the list of free entries.
};

/// The next receive usually takes the entry that was freed last: all of it except the context is still valid.
template <class Owner>
class receive_queue {
 public:
  using place = receive_place<Owner>;

  void open(Owner* owner, std::uint32_t most) {
    places_.assign(most, place{nullptr, owner});
    free_ = nullptr;
    for (place& each : places_) end(each);
  }
  /// Null: every entry is posted.
  [[gnu::always_inline]] place* take(void* context) noexcept {
    place* const taken = free_;
    if (taken == nullptr) [[unlikely]]
      return nullptr;
    free_ = taken->next;
    taken->context = context;
    return taken;
  }
  /// The receive ended, or was not posted.
  [[gnu::always_inline]] void end(place& of) noexcept {
    of.next = free_;
    free_ = &of;
  }

 private:
  std::vector<place> places_;
  place* free_ = nullptr;
};

}  // namespace weft::backends::verbs
