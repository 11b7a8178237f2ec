// SPDX-License-Identifier: Apache-2.0
//
// Which receives a link has posted: whose they are, and what their owner gave with them. A failed receive must name its
// link, and the number of its queue pair does not: cards give it to the next one while entries of the last are still in
// the completion queue. Hot path: all but open(). Threads: one owner.
#pragma once

#include <cstdint>
#include <vector>

namespace weft::backends::verbs {

/// One posted receive; its address is the work request's id.
template <class Owner>
struct receive_place {
  void* context = nullptr;
  Owner* owner = nullptr;
  receive_place* next = nullptr;  ///< Among those that are free.
};

/// Mostly the place that was given back last is taken next, by the message's own receive: all but its context is still
/// there.
template <class Owner>
class receive_queue {
 public:
  using place = receive_place<Owner>;

  void open(Owner* owner, std::uint32_t most) {
    places_.assign(most, place{nullptr, owner});
    free_ = nullptr;
    for (place& each : places_) end(each);
  }
  /// Null: as many are posted as there is room for.
  [[gnu::always_inline]] place* take(void* context) noexcept {
    place* const taken = free_;
    if (taken == nullptr) [[unlikely]]
      return nullptr;
    free_ = taken->next;
    taken->context = context;
    return taken;
  }
  /// It ended, or was not posted after all.
  [[gnu::always_inline]] void end(place& of) noexcept {
    of.next = free_;
    free_ = &of;
  }

 private:
  std::vector<place> places_;
  place* free_ = nullptr;
};

}  // namespace weft::backends::verbs
