// SPDX-License-Identifier: Apache-2.0
//
// One pool of receives for all links of a port: a shared receive queue (ibv_create_srq(3)). Queue pairs take receives
// as messages arrive.
// Links complete in any order, so entries are a free list, not a ring. An entry names its link only by the number of
// its queue pair, so connections.hpp keeps a queue pair until its entries were reported.
// No limit event is used: each receive is posted again after its message was taken. A sender that finds the pool empty
// waits on the wire (credit.hpp).
// Hot path: post, end. Threads: one owner.
#pragma once

#include "device.hpp"
#include "errors.hpp"
#include "memory.hpp"
#include "request.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::backends::verbs {

class shared_receive_queue {
 public:
  result<void> open(const device& on, std::uint32_t receives, const std::string& who) {
    ibv_srq_init_attr ask{};
    ask.attr.max_wr = receives;
    ask.attr.max_sge = 1;
    queue_.reset(ibv_create_srq(on.domain.get(), &ask));
    if (!queue_)
      return refused(errno, "ibv_create_srq",
                     who + ": a shared receive queue of " + std::to_string(receives) + " receives");
    places_.resize(receives);
    for (place& each : places_) give_back(each);
    return {};
  }
  /// Null where receives belong to links.
  ibv_srq* get() const noexcept { return queue_.get(); }

  status post(local_memory into, void* context) noexcept {
    if (free_ == nullptr) [[unlikely]]
      return again(waits_for::queue, "ibv_post_srq_recv");
    place& taken = *free_;
    ibv_sge piece{address_of(into.data), static_cast<std::uint32_t>(into.size), local_key(into.descriptor)};
    ibv_recv_wr work{reinterpret_cast<std::uintptr_t>(&taken), nullptr, &piece, 1};
    ibv_recv_wr* stuck = nullptr;
    if (const int r = ibv_post_srq_recv(queue_.get(), &work, &stuck); r != 0) [[unlikely]]
      return not_posted(r, "ibv_post_srq_recv");
    free_ = taken.next;
    taken.context = context;
    taken.posted = true;
    return {};
  }

  /// The result of end() for one receive.
  struct ended_receive {
    void* context = nullptr;
    bool first = false;  ///< False: it had ended before.
  };
  ended_receive end(std::uint64_t id) noexcept {
    place& of = *reinterpret_cast<place*>(id);
    if (!of.posted) [[unlikely]]
      return {};
    give_back(of);
    return {of.context, true};
  }

 private:
  struct place {
    void* context = nullptr;
    place* next = nullptr;
    bool posted = false;
  };
  void give_back(place& of) noexcept {
    of.posted = false;
    of.next = free_;
    free_ = &of;
  }

  std::vector<place> places_;
  place* free_ = nullptr;
  owned<ibv_srq> queue_;
};

}  // namespace weft::backends::verbs
