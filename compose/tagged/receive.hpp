// SPDX-License-Identifier: Apache-2.0
//
// What a program says and learns of a tagged receive: the tags and peers that it takes, and the receive itself, an
// object of the program. The object is its own place in the transport's lists, so posting allocates nothing and has no
// limit. Fabric fact: none. Hot path: values. Threads: the owner's.
#pragma once

#include "../../core/error.hpp"
#include "../peer.hpp"

#include <cstddef>
#include <cstdint>

namespace weft {

/// The messages that a receive takes.
struct tag_match {
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;  ///< Bits of the tag that are not compared.
  peer from{};               ///< Nobody (the default): messages of any peer.
};

/// What the blocking receive_tagged() took.
struct tagged_message {
  peer from;
  std::uint64_t tag = 0;
  std::size_t size = 0;  ///< In bytes.
};

namespace detail {

/// A place in a circular list. An object that is in no list is a list of one.
struct tag_link {
  tag_link() noexcept = default;
  tag_link(const tag_link&) = delete;
  tag_link& operator=(const tag_link&) = delete;
  ~tag_link() { leave(); }

  bool alone() const noexcept { return after == this; }
  void leave() noexcept {
    before->after = after;
    after->before = before;
    before = after = this;
  }
  /// Becomes the last of the list. Requires: alone.
  void join(tag_link& list) noexcept {
    before = list.before;
    after = &list;
    before->after = this;
    list.before = this;
  }

  tag_link* before = this;
  tag_link* after = this;
};

enum class receive_stage : std::uint8_t {
  idle,
  posted,
  ending,  ///< Ended; the next progress() reports it.
  ended,
};

/// The part of a receive that matching reads.
struct posted_receive : tag_link {
  std::uint64_t tag = 0;
  std::uint64_t ignore = 0;
  peer_header* wanted = nullptr;  ///< Null: any peer.
  std::uint64_t number = 0;       ///< Counts the receives of a transport in the order of their posts.

  bool takes(const peer_header* sender, std::uint64_t its_tag) const noexcept {
    return (wanted == nullptr || wanted == sender) && ((its_tag ^ tag) & ~ignore) == 0;
  }
};

template <class Traits>
class tag_matcher;

}  // namespace detail

/// One receive of one tagged message: `weft::tagged_receive r; net.receive_tagged(r, {.tag = 7}, memory);`. It is the
/// context of its event, `completed` or `failed` with operation::receive_tagged. Post it again as often as wanted.
/// It may be destroyed at any time: a posted one is withdrawn then, without an event. The memory must outlive the post.
class tagged_receive : private detail::posted_receive {
 public:
  /// Whether it waits for a message.
  bool posted() const noexcept { return stage_ == detail::receive_stage::posted; }
  /// Whether the last post has ended. Its event may still be to come.
  bool ended() const noexcept { return stage_ >= detail::receive_stage::ending; }
  /// How it ended: ok, truncated (the message was longer than the memory; its first bytes are there), peer_lost or
  /// closed (the peer that it names is gone, or the transport), closed after cancel_tagged().
  const status& why() const noexcept { return why_; }
  /// Who sent the message; nobody without one.
  peer from() const noexcept { return from_; }
  /// The message's whole tag.
  std::uint64_t tag() const noexcept { return came_; }
  /// Bytes of the message, also of one that was truncated.
  std::size_t size() const noexcept { return size_; }

 private:
  template <class Traits>
  friend class detail::tag_matcher;

  detail::receive_stage stage_ = detail::receive_stage::idle;
  bool quiet_ = false;  ///< No event: the blocking receive_tagged() waits for it.
  std::byte* into_ = nullptr;
  std::size_t room_ = 0;
  peer from_;
  std::uint64_t came_ = 0;
  std::size_t size_ = 0;
  status why_;
};

}  // namespace weft
