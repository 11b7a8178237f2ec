// SPDX-License-Identifier: Apache-2.0
//
// weft.h: tagged messages, by the set's one place of matching (compose/sets/tagged.hpp).
#include "posts.hpp"

namespace weft::abi {
namespace {

int no_tagged_receive(open_transport& t, weft_tagged handle) noexcept {
  constexpr const char* name = "weft_cancel_tagged";
  if (handle == nullptr) return wrong(t, name, "the receive is NULL");
  const errc code = handle_number::existed(handle_kind::tagged, number_of(handle)) ? errc::closed : errc::invalid;
  return wrong(t, name,
               code == errc::invalid ? "this is no receive: pass what weft_receive_tagged() gave"
                                     : "this receive has ended, or belongs to another transport",
               code);
}

/// A slice that leaves its region has no memory.
bool leaves(const local_memory& here) noexcept { return here.data == nullptr; }
int out_of_range(open_transport& t, const char* name) noexcept {
  return wrong(t, name, "the slice leaves the region", errc::out_of_range);
}

/// The answer to a send. A peer without tags gets a sentence of its own.
int sent(open_transport& t, const char* name, const status& s) noexcept {
  if (s.code == errc::unsupported) [[unlikely]]
    return wrong(t, name, "the peer's program matches no tags: it is of one fabric, and did not ask for them", s.code);
  return t.answer(s);
}

int receive(open_transport& t, weft_peer from, std::uint64_t tag, std::uint64_t ignore, const weft_slice& into,
            std::uint64_t context, weft_tagged* posted) {
  constexpr const char* name = "weft_receive_tagged";
  tag_match what{.tag = tag, .ignore = ignore};
  if (from != nullptr) {
    const peer* const p = t.peers.find(from);
    if (p == nullptr) return no_peer(t, name, from);
    what.from = *p;
  }
  owned_region* const r = t.regions.find(into.region);
  if (r == nullptr) return no_region(t, name, into.region);
  const local_memory here = r->slice(into.offset, into.size);
  if (leaves(here)) return out_of_range(t, name);
  receive_record& record = t.receives.take(context);
  const weft_tagged handle = record.handle;
  const status s = t.net.receive_tagged(record, what, here);
  if (!s) t.receives.give(record);
  else if (posted != nullptr) *posted = handle;
  return t.answer(s);
}

}  // namespace
}  // namespace weft::abi

using namespace weft::abi;
using weft::local_memory;

extern "C" {

int weft_send_tagged(weft_transport net, weft_peer to, weft_slice from, uint64_t tag, uint64_t context,
                     uint32_t flags) {
  return message(
      net, "weft_send_tagged", to, from,
      flags, [&](open_transport & t, const weft::peer& other, local_memory here) __attribute__((always_inline)) {
        if (leaves(here)) [[unlikely]]
          return out_of_range(t, "weft_send_tagged");
        return sent(t, "weft_send_tagged",
                    (flags & WEFT_QUIET) != 0 ? t.net.send_tagged(other, here, tag)
                                              : t.net.send_tagged(other, here, tag, context_of(context)));
      });
}

int weft_send_tagged_copy(weft_transport net, weft_peer to, const void* bytes, uint64_t size, uint64_t tag,
                          uint64_t context, uint32_t flags) {
  constexpr const char* name = "weft_send_tagged_copy";
  return copied_message(
      net, name, to, bytes, size, flags, context,
      [](open_transport& t, const weft::peer& other) { return t.net.largest_tagged_message(other); },
      [&](open_transport& t, const weft::peer& other, local_memory here, void* copy) {
        return sent(t, name, t.net.send_tagged(other, here, tag, copy));
      });
}

int weft_receive_tagged(weft_transport net, weft_peer from, uint64_t tag, uint64_t ignore, weft_slice into,
                        uint64_t context, weft_tagged* receive) {
  return call(net, "weft_receive_tagged", [&](open_transport& t) {
    if (receive != nullptr) *receive = nullptr;
    return weft::abi::receive(t, from, tag, ignore, into, context, receive);
  });
}

int weft_cancel_tagged(weft_transport net, weft_tagged receive) {
  return call(net, "weft_cancel_tagged", [&](open_transport& t) {
    receive_record* const found = t.receives.find(receive);
    if (found == nullptr || !t.net.cancel_tagged(*found)) return no_tagged_receive(t, receive);
    return int{WEFT_OK};
  });
}

int weft_largest_tagged_message(weft_transport net, weft_peer peer, uint64_t* size) {
  return call(net, "weft_largest_tagged_message", [&](open_transport& t) {
    if (size == nullptr) return wrong(t, "weft_largest_tagged_message", "the place for the size is NULL");
    const weft::peer* const p = t.peers.find(peer);
    if (p == nullptr) return no_peer(t, "weft_largest_tagged_message", peer);
    *size = t.net.largest_tagged_message(*p);
    return int{WEFT_OK};
  });
}

}  // extern "C"
