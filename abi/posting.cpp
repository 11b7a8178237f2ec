// SPDX-License-Identifier: Apache-2.0
//
// weft.h: send, put, put_notify, get, atomics. Each finds its objects by their handles, then makes the set's call.
#include "posts.hpp"

namespace weft::abi {
namespace {

/// Calls body(transport, described region) for a place of a peer.
template <class Body>
[[gnu::always_inline]] inline int there(weft_transport net, const char* name, const weft_place& at, std::uint32_t flags,
                                        std::uint32_t known, Body&& body) noexcept {
  return call(net, name, [&](open_transport& t) {
    if ((flags & ~known) != 0) [[unlikely]]
      return unknown_flags(t, name);
    const described_region* const r = t.remotes.find(at.remote);
    if (r == nullptr) [[unlikely]]
      return no_remote(t, name, at.remote);
    return body(t, *r);
  });
}

/// Calls body(net, peer, local memory, place) for a transfer between two regions.
template <class Body>
[[gnu::always_inline]] inline int transfer(weft_transport net, const char* name, const weft_slice& here,
                                           const weft_place& at, std::uint32_t flags, std::uint32_t known,
                                           Body&& body) noexcept {
  return there(
      net, name, at, flags, known, [&](open_transport & t, const described_region& r) __attribute__((always_inline)) {
        owned_region* const own = t.regions.find(here.region);
        if (own == nullptr) [[unlikely]]
          return no_region(t, name, here.region);
        return t.answer(body(t.net, r.owner, own->slice(here.offset, here.size), r.region.at(at.offset)));
      });
}

// One width of word serves all types of that width, except where the order of numbers matters.
template <class Sum, class Order, class Bits>
status atomic_on(transport<library_set>& net, weft_atomic_kind what, const peer& to, const remote_place& at,
                 std::uint64_t operand, std::uint64_t expected, void* context) {
  constexpr bool whole = atomic_integer<Order>;
  const auto bits = from_bits<Bits>(operand);
  switch (what) {
    case WEFT_FETCH_ADD:
      return net.template fetch_add<Sum>(to, at, from_bits<Sum>(operand), context);
    case WEFT_SWAP:
      return net.template swap<Bits>(to, at, bits, context);
    case WEFT_LOAD:
      return net.template load<Bits>(to, at, context);
    case WEFT_FETCH_MIN:
      return net.template fetch_min<Order>(to, at, from_bits<Order>(operand), context);
    case WEFT_FETCH_MAX:
      return net.template fetch_max<Order>(to, at, from_bits<Order>(operand), context);
    default:
      break;
  }
  if (!whole) return error(errc::unsupported, "weft_atomic");
  switch (what) {
    case WEFT_COMPARE_SWAP:
      return net.template compare_swap<Bits>(to, at, from_bits<Bits>(expected), bits, context);
    case WEFT_FETCH_AND:
      return net.template fetch_and<Bits>(to, at, bits, context);
    case WEFT_FETCH_OR:
      return net.template fetch_or<Bits>(to, at, bits, context);
    case WEFT_FETCH_XOR:
      return net.template fetch_xor<Bits>(to, at, bits, context);
    default:
      return error(errc::invalid, "weft_atomic");
  }
}

int atomic(open_transport& t, weft_atomic_kind what, weft_number type, const described_region& r, std::uint64_t offset,
           std::uint64_t operand, std::uint64_t expected, std::uint64_t context) {
  using i32 = std::int32_t;
  using u32 = std::uint32_t;
  using i64 = std::int64_t;
  using u64 = std::uint64_t;
  const remote_place at = r.region.at(offset);
  void* const given = context_of(context);
  const auto as = [&]<class Sum, class Order, class Bits>(std::type_identity<Sum>, std::type_identity<Order>,
                                                          std::type_identity<Bits>) {
    const status s = atomic_on<Sum, Order, Bits>(t.net, what, r.owner, at, operand, expected, given);
    if (s.code == errc::unsupported)
      return wrong(t, "weft_atomic", "words of float and double have ADD, SWAP, MIN, MAX and LOAD", errc::unsupported);
    return t.answer(s);
  };
  const auto of = []<class T>() { return std::type_identity<T>(); };
  switch (type) {
    case WEFT_INT32:
      return as(of.operator()<u32>(), of.operator()<i32>(), of.operator()<u32>());
    case WEFT_UINT32:
      return as(of.operator()<u32>(), of.operator()<u32>(), of.operator()<u32>());
    case WEFT_INT64:
      return as(of.operator()<u64>(), of.operator()<i64>(), of.operator()<u64>());
    case WEFT_UINT64:
      return as(of.operator()<u64>(), of.operator()<u64>(), of.operator()<u64>());
    case WEFT_FLOAT32:
      return as(of.operator()<float>(), of.operator()<float>(), of.operator()<u32>());
    case WEFT_FLOAT64:
      return as(of.operator()<double>(), of.operator()<double>(), of.operator()<u64>());
  }
  return wrong(t, "weft_atomic", "the type is none of weft_number");
}

}  // namespace
}  // namespace weft::abi

using namespace weft::abi;
using weft::local_memory;
using weft::remote_place;
using library_transport = weft::transport<library_set>;

extern "C" {

int weft_send(weft_transport net, weft_peer to, weft_slice from, uint64_t context, uint32_t flags) {
  return message(
      net, "weft_send", to, from,
      flags, [&](open_transport & t, const weft::peer& other, local_memory here) __attribute__((always_inline)) {
        return t.answer((flags & WEFT_QUIET) != 0 ? t.net.send(other, here)
                                                  : t.net.send(other, here, context_of(context)));
      });
}

int weft_send_copy(weft_transport net, weft_peer to, const void* bytes, uint64_t size, uint64_t context,
                   uint32_t flags) {
  return copied_message(
      net, "weft_send_copy", to, bytes, size, flags, context,
      [](open_transport& t, const weft::peer& other) { return t.net.largest_message(other); },
      [](open_transport& t, const weft::peer& other, local_memory here, void* copy) {
        return t.answer(t.net.send(other, here, copy));
      });
}

int weft_put(weft_transport net, weft_slice from, weft_place at, uint64_t context, uint32_t flags) {
  return transfer(
      net, "weft_put", from, at, flags, WEFT_QUIET,
      [&](library_transport & p, const weft::peer& to, local_memory here, const remote_place& place)
          __attribute__((always_inline)) {
            return (flags & WEFT_QUIET) != 0 ? p.put(to, here, place) : p.put(to, here, place, context_of(context));
          });
}

int weft_put_notify(weft_transport net, weft_slice from, weft_place at, uint32_t immediate, uint64_t context,
                    uint32_t flags) {
  return transfer(
      net, "weft_put_notify", from, at, flags, WEFT_QUIET,
      [&](library_transport & p, const weft::peer& to, local_memory here, const remote_place& place)
          __attribute__((always_inline)) {
            return (flags & WEFT_QUIET) != 0 ? p.put_notify(to, here, place, immediate)
                                             : p.put_notify(to, here, place, immediate, context_of(context));
          });
}

int weft_get(weft_transport net, weft_slice into, weft_place at, uint64_t context, uint32_t flags) {
  return transfer(
      net, "weft_get", into, at, flags, 0,
      [&](library_transport & p, const weft::peer& from, local_memory here, const remote_place& place)
          __attribute__((always_inline)) { return p.get(from, here, place, context_of(context)); });
}

int weft_flush(weft_transport net, weft_peer to, uint64_t context) {
  return call(net, "weft_flush", [&](open_transport& t) {
    const weft::peer* const p = t.peers.find(to);
    return p == nullptr ? no_peer(t, "weft_flush", to) : t.answer(t.net.flush(*p, context_of(context)));
  });
}

int weft_atomic(weft_transport net, weft_atomic_kind what, weft_number type, weft_place at, uint64_t operand,
                uint64_t expected, uint64_t context, uint32_t flags) {
  return there(net, "weft_atomic", at, flags, 0, [&](open_transport& t, const described_region& r) {
    return what < WEFT_FETCH_ADD || what > WEFT_LOAD
               ? wrong(t, "weft_atomic", "the operation is none of weft_atomic_kind")
               : atomic(t, what, type, r, at.offset, operand, expected, context);
  });
}

int weft_fetch_add(weft_transport net, weft_place at, uint64_t operand, uint64_t context) {
  return there(net, "weft_fetch_add", at, 0, 0, [&](open_transport& t, const described_region& r) {
    return t.answer(t.net.fetch_add(r.owner, r.region.at(at.offset), operand, context_of(context)));
  });
}

int weft_compare_swap(weft_transport net, weft_place at, uint64_t expected, uint64_t desired, uint64_t context) {
  return there(net, "weft_compare_swap", at, 0, 0, [&](open_transport& t, const described_region& r) {
    return t.answer(t.net.compare_swap(r.owner, r.region.at(at.offset), expected, desired, context_of(context)));
  });
}

}  // extern "C"
