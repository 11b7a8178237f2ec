// SPDX-License-Identifier: Apache-2.0
//
// The order in which messages and receives find each other. A message takes the first posted receive that fits it. A
// receive takes the first arrived message that fits it. Receives that ignore no bit are found by a hash of their tag,
// so that many of them cost no search; receives that ignore bits are searched in their order, as in UCX and MPI
// libraries. Fabric fact: none; the rules are those of fi_tagged(3). Hot path: all of it. Threads: the owner's.
#pragma once

#include "receive.hpp"

#include <array>
#include <cstdint>

namespace weft::detail {

struct in_tag_list : tag_link {};
struct in_order_list : tag_link {};

struct waiting_message;

/// Who keeps the bytes of messages that wait: one of the transports that share a tag_matching.
class message_holder {
 public:
  virtual ~message_holder() = default;
  message_holder(const message_holder&) = delete;
  message_holder& operator=(const message_holder&) = delete;
  /// Fills the receive with a message of this holder, which has left its lists. The next poll reports the end.
  virtual void take(tagged_receive& r, waiting_message& m) noexcept = 0;

 protected:
  message_holder() noexcept = default;
};

/// A message without a receive. It is in the list of its tag's hash, and in the list of all.
struct waiting_message : in_tag_list, in_order_list {
  message_holder* holder = nullptr;
  peer_header* sender = nullptr;
  std::uint64_t tag = 0;
  std::byte* bytes = nullptr;
  std::uint32_t length = 0;
};

class tag_matching {
 public:
  // ---- places in lists; each list holds objects of one type
  static posted_receive& receive_at(tag_link& place) noexcept {
    return static_cast<posted_receive&>(place);  // NOLINT(cppcoreguidelines-pro-type-static-cast-downcast)
  }
  template <class Link>
  static waiting_message& message_at(tag_link& place) noexcept {
    return static_cast<waiting_message&>(static_cast<Link&>(place));
  }

  // ---- receives
  /// Adds a receive behind all others. Requires: in no list.
  void post(posted_receive& r) noexcept {
    r.number = ++posts_;
    r.join(r.ignore == 0 ? exact_[bucket(r.tag)] : masked_);
  }
  /// Takes the first receive that fits the message out of its list; null: none fits.
  [[gnu::always_inline]] posted_receive* receive_for(const peer_header* sender, std::uint64_t tag) noexcept {
    posted_receive* const exact = first_in(exact_[bucket(tag)], sender, tag);
    posted_receive* const masked = first_in(masked_, sender, tag);
    posted_receive* const first =
        exact == nullptr || (masked != nullptr && masked->number < exact->number) ? masked : exact;
    if (first != nullptr) first->leave();
    return first;
  }
  /// Takes out each receive for which `which(receive)` is true and hands it to `take`. Reads all: cold.
  template <class Which, class Take>
  void take_out_receives(Which&& which, Take&& take) {
    const auto from = [&](tag_link& list) {
      for (tag_link* each = list.after; each != &list;) {
        posted_receive& r = receive_at(*each);
        each = each->after;
        if (!which(r)) continue;
        r.leave();
        take(r);
      }
    };
    for (tag_link& list : exact_) from(list);
    from(masked_);
  }

  // ---- messages
  /// Adds a message behind all others. Requires: in no list.
  void keep(waiting_message& m) noexcept {
    m.in_tag_list::join(waiting_[bucket(m.tag)]);
    m.in_order_list::join(order_);
  }
  /// Takes the first message that fits the receive out of the lists; null: none fits.
  waiting_message* message_for(const posted_receive& r) noexcept {
    waiting_message* const first =
        r.ignore == 0 ? first_of<in_tag_list>(waiting_[bucket(r.tag)], r) : first_of<in_order_list>(order_, r);
    if (first != nullptr) take_out(*first);
    return first;
  }
  static void take_out(waiting_message& m) noexcept {
    m.in_tag_list::leave();
    m.in_order_list::leave();
  }

 private:
  static constexpr std::size_t buckets = 64;
  static constexpr std::size_t bucket(std::uint64_t tag) noexcept {
    return (tag * 0x9e3779b97f4a7c15U) >> 58;  // the upper bits of the product depend on all of the tag
  }
  static_assert(buckets == std::size_t{1} << (64 - 58));

  static posted_receive* first_in(tag_link& list, const peer_header* sender, std::uint64_t tag) noexcept {
    for (tag_link* each = list.after; each != &list; each = each->after)
      if (posted_receive& r = receive_at(*each); r.takes(sender, tag)) return &r;
    return nullptr;
  }
  template <class Link>
  static waiting_message* first_of(tag_link& list, const posted_receive& r) noexcept {
    for (tag_link* each = list.after; each != &list; each = each->after)
      if (waiting_message& m = message_at<Link>(*each); r.takes(m.sender, m.tag)) return &m;
    return nullptr;
  }

  std::array<tag_link, buckets> exact_;
  tag_link masked_;
  std::array<tag_link, buckets> waiting_;
  tag_link order_;
  std::uint64_t posts_ = 0;
};

}  // namespace weft::detail
