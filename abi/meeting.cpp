// SPDX-License-Identifier: Apache-2.0
//
// weft.h: peers meet, are explained, and part.
#include "calls.hpp"

namespace weft::abi {
namespace {

/// Calls body(transport, peer).
template <class Body>
int with_peer(weft_transport net, const char* name, weft_peer handle, Body&& body) noexcept {
  return call(net, name, [&](open_transport& t) {
    const peer* const p = t.peers.find(handle);
    return p == nullptr ? no_peer(t, name, handle) : body(t, peer(*p));
  });
}

/// Null, or what is wrong with private data.
const char* wrong_private(const void* data, std::size_t size) noexcept {
  if (data == nullptr && size != 0) return "the private data is NULL, and its size is not 0";
  return size > WEFT_PRIVATE_BYTES ? "private data has at most WEFT_PRIVATE_BYTES (64) bytes" : nullptr;
}
const_bytes private_bytes(const void* data, std::size_t size) noexcept {
  return {static_cast<const std::byte*>(data), size};
}

template <class Connect>
int connected_by(weft_transport net, const char* name, const char* where, const void* data, std::size_t size,
                 weft_peer* made, Connect&& connect) noexcept {
  return call(net, name, [&](open_transport& t) {
    if (made == nullptr) return wrong(t, name, "the place for the peer is NULL");
    *made = nullptr;
    if (where == nullptr) return wrong(t, name, "the address is NULL: pass \"host:port\"");
    if (const char* const no = wrong_private(data, size)) return wrong(t, name, no);
    result<peer> to = connect(t);
    if (!to) return t.answer(to.error());
    *made = t.handle_of(*to);
    return int{WEFT_OK};
  });
}

std::string_view name_of(fabric_verdict::kind is) noexcept {
  switch (is) {
    case fabric_verdict::kind::taken:
      return "taken";
    case fabric_verdict::kind::next:
      return "next";
    case fabric_verdict::kind::unusable:
      return "unusable";
    case fabric_verdict::kind::not_legal:
      return "not legal";
    case fabric_verdict::kind::left_out:
      return "left out";
  }
  return "";
}

}  // namespace
}  // namespace weft::abi

using namespace weft::abi;

extern "C" {

int weft_connect(weft_transport net, const char* where, const void* private_data, size_t private_size, uint64_t timeout,
                 weft_peer* peer) {
  return connected_by(net, "weft_connect", where, private_data, private_size, peer, [&](open_transport& t) {
    auto on = t.keep_events();
    return private_data == nullptr
               ? t.net.connect(where, time_of(timeout), on)
               : t.net.connect(where, private_bytes(private_data, private_size), time_of(timeout), on);
  });
}

int weft_start_connect(weft_transport net, const char* where, const void* private_data, size_t private_size,
                       weft_peer* peer) {
  return connected_by(net, "weft_start_connect", where, private_data, private_size, peer, [&](open_transport& t) {
    return private_data == nullptr ? t.net.start_connect(where)
                                   : t.net.start_connect(where, private_bytes(private_data, private_size));
  });
}

int weft_accept_one(weft_transport net, uint64_t timeout, weft_peer* peer) {
  return call(net, "weft_accept_one", [&](open_transport& t) {
    if (peer == nullptr) return wrong(t, "weft_accept_one", "the place for the peer is NULL");
    *peer = nullptr;
    while (weft_peer const asked = t.events.take_out([](const weft_event& e) { return e.kind == WEFT_REQUESTED; })) {
      const weft::peer* const p = t.peers.find(asked);
      if (p == nullptr) continue;
      const weft::status accepted = t.net.accept(*p);
      if (accepted.code == errc::peer_lost || accepted.code == errc::closed) continue;  // this caller gave up
      *peer = asked;
      return t.answer(accepted);
    }
    auto on = t.keep_events();
    auto met = t.net.accept_one(time_of(timeout), on);
    if (!met) return t.answer(met.error());
    *peer = t.handle_of(*met);
    return int{WEFT_OK};
  });
}

int weft_accept(weft_transport net, weft_peer peer, const void* private_data, size_t private_size) {
  return with_peer(net, "weft_accept", peer, [&](open_transport& t, weft::peer p) {
    if (const char* const no = wrong_private(private_data, private_size)) return wrong(t, "weft_accept", no);
    return t.answer(private_data == nullptr ? t.net.accept(p)
                                            : t.net.accept(p, private_bytes(private_data, private_size)));
  });
}

int weft_reject(weft_transport net, weft_peer peer, const char* reason) {
  return with_peer(net, "weft_reject", peer, [&](open_transport& t, weft::peer p) {
    const int answered = t.answer(t.net.reject(p, reason == nullptr ? "" : reason));
    if (answered == WEFT_OK) t.forget(peer);
    return answered;
  });
}

int weft_close_peer(weft_transport net, weft_peer peer, uint64_t timeout) {
  return with_peer(net, "weft_close_peer", peer, [&](open_transport& t, weft::peer p) {
    auto on = t.keep_events();
    const weft::status closed = t.net.close(p, time_of(timeout), on);
    t.forget(peer);
    return t.answer(closed);
  });
}

int weft_is_alive(weft_transport net, weft_peer peer) {
  return with_peer(net, "weft_is_alive", peer, [&](open_transport& t, weft::peer p) {
    return p.alive()
               ? int{WEFT_OK}
               : wrong(t, "weft_is_alive", "the connection does not stand, or stands no more", weft::errc::peer_lost);
  });
}

int weft_fabric_of(weft_transport net, weft_peer peer, const char** name) {
  return with_peer(net, "weft_fabric_of", peer, [&](open_transport& t, weft::peer p) {
    if (name == nullptr) return wrong(t, "weft_fabric_of", "the place for the name is NULL");
    *name = t.net.fabric_of(p).data();  // a literal, which ends with a zero
    return int{WEFT_OK};
  });
}

int weft_explain(weft_transport net, weft_peer peer, const char** text) {
  return with_peer(net, "weft_explain", peer, [&](open_transport& t, weft::peer p) {
    if (text == nullptr) return wrong(t, "weft_explain", "the place for the text is NULL");
    std::string all;
    for (const weft::fabric_verdict& each : t.net.explain(p))
      all += std::string(each.fabric) + ": " + std::string(name_of(each.is)) + ": " + each.reason + "\n";
    t.explained = std::move(all);
    *text = t.explained.c_str();
    return int{WEFT_OK};
  });
}

int weft_largest_message(weft_transport net, weft_peer peer, uint64_t* size) {
  return with_peer(net, "weft_largest_message", peer, [&](open_transport& t, weft::peer p) {
    if (size == nullptr) return wrong(t, "weft_largest_message", "the place for the size is NULL");
    *size = t.net.largest_message(p);
    return int{WEFT_OK};
  });
}

}  // extern "C"
