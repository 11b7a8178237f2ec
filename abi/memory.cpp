// SPDX-License-Identifier: Apache-2.0
//
// weft.h: regions of this side, their descriptions, and regions of peers.
#include "calls.hpp"

namespace weft::abi {
namespace {

constexpr std::uint32_t all_rights = WEFT_REMOTE_WRITE | WEFT_REMOTE_READ | WEFT_REMOTE_ATOMIC;
static_assert(static_cast<int>(rights::remote_write) == WEFT_REMOTE_WRITE &&
              static_cast<int>(rights::remote_read) == WEFT_REMOTE_READ &&
              static_cast<int>(rights::remote_atomic) == WEFT_REMOTE_ATOMIC);

/// Registers by make(transport): result<owned_region>.
template <class Make>
int registered(weft_transport net, const char* name, std::uint64_t size, std::uint32_t granted, weft_region* region,
               Make&& make) noexcept {
  return call(net, name, [&](open_transport& t) {
    if (region == nullptr) return wrong(t, name, "the place for the region is NULL");
    *region = nullptr;
    if ((granted & ~all_rights) != 0) return wrong(t, name, "the rights have a bit that this version does not know");
    if (size == 0) return wrong(t, name, "the size is 0");
    if (size > std::numeric_limits<std::size_t>::max() / 2) return wrong(t, name, "the size is larger than memory");
    result<owned_region> made = make(t, static_cast<rights>(granted));
    if (!made) return t.answer(made.error());
    *region = t.regions.add(std::move(made).value());
    return int{WEFT_OK};
  });
}

/// Calls body(transport, region).
template <class Body>
int with_region(weft_transport net, const char* name, weft_region handle, Body&& body) noexcept {
  return call(net, name, [&](open_transport& t) {
    owned_region* const r = t.regions.find(handle);
    return r == nullptr ? no_region(t, name, handle) : body(t, *r);
  });
}

int described(open_transport& t, weft_peer handle, const region& r, std::array<std::byte, WEFT_DESCRIPTION_BYTES>& into,
              std::size_t* size) {
  const auto put = [&](const auto& made) {
    static_assert(sizeof made <= WEFT_DESCRIPTION_BYTES);
    std::copy(made.begin(), made.end(), into.begin());
    *size = made.size();
    return int{WEFT_OK};
  };
  if (handle == nullptr) return put(t.net.export_region(r, owner_polls));
  const peer* const p = t.peers.find(handle);
  return p == nullptr ? no_peer(t, "weft_describe", handle) : put(t.net.export_region(*p, r, owner_polls));
}

int noted(open_transport& t, const result<remote_region>& parsed, const peer& owner, weft_peer handle,
          weft_remote* remote) {
  if (!parsed) return t.answer(parsed.error());
  *remote = t.remotes.add({*parsed, owner, handle});
  return WEFT_OK;
}

}  // namespace
}  // namespace weft::abi

using namespace weft::abi;

extern "C" {

int weft_register(weft_transport net, void* memory, uint64_t size, uint32_t rights, weft_region* region) {
  return registered(net, "weft_register", size, rights, region,
                    [&](open_transport& t, weft::rights granted) -> weft::result<weft::owned_region> {
                      if (memory == nullptr)
                        return {weft::error(weft::errc::invalid, "weft_register"), "weft_register: the memory is NULL"};
                      return t.net.register_region({static_cast<std::byte*>(memory), size}, granted);
                    });
}

int weft_allocate(weft_transport net, uint64_t size, uint32_t rights, weft_region* region) {
  return registered(net, "weft_allocate", size, rights, region,
                    [&](open_transport& t, weft::rights granted) { return t.net.allocate(size, granted); });
}

int weft_memory(weft_transport net, weft_region region, void** memory, uint64_t* size) {
  return with_region(net, "weft_memory", region, [&](open_transport& t, weft::owned_region& r) {
    if (memory == nullptr) return wrong(t, "weft_memory", "the place for the memory is NULL");
    *memory = r.data();
    if (size != nullptr) *size = r.size();
    return int{WEFT_OK};
  });
}

int weft_release(weft_transport net, weft_region region) {
  return with_region(net, "weft_release", region, [&](open_transport& t, weft::owned_region& /*r*/) {
    t.regions.remove(region);
    return int{WEFT_OK};
  });
}

int weft_describe(weft_transport net, weft_peer peer, weft_region region, void* bytes, size_t room, size_t* size) {
  return with_region(net, "weft_describe", region, [&](open_transport& t, weft::owned_region& r) {
    if (size == nullptr || (bytes == nullptr && room != 0))
      return wrong(t, "weft_describe", "the place for the bytes or for their number is NULL");
    std::array<std::byte, WEFT_DESCRIPTION_BYTES> made{};
    if (const int no = described(t, peer, r, made, size); no != WEFT_OK) return no;
    if (room < *size)
      return wrong(t, "weft_describe", "the room is too small: WEFT_DESCRIPTION_BYTES suffice", weft::errc::truncated);
    std::memcpy(bytes, made.data(), *size);
    return int{WEFT_OK};
  });
}

int weft_parse(weft_transport net, weft_peer peer, const void* bytes, size_t size, weft_remote* remote) {
  return call(net, "weft_parse", [&](open_transport& t) {
    if (remote == nullptr || (bytes == nullptr && size != 0))
      return wrong(t, "weft_parse", "the bytes or the place for the remote region are NULL");
    *remote = nullptr;
    const weft::peer* const p = t.peers.find(peer);
    if (p == nullptr) return no_peer(t, "weft_parse", peer);
    return noted(t, t.net.parse_region(*p, {static_cast<const std::byte*>(bytes), size}), *p, peer, remote);
  });
}

int weft_send_region(weft_transport net, weft_peer peer, weft_region region) {
  return with_region(net, "weft_send_region", region, [&](open_transport& t, weft::owned_region& r) {
    const weft::peer* const p = t.peers.find(peer);
    if (p == nullptr) return no_peer(t, "weft_send_region", peer);
    return t.answer(t.net.send_region(*p, r, weft::owner_polls));
  });
}

int weft_receive_region(weft_transport net, weft_peer peer, uint64_t timeout, weft_remote* remote) {
  return call(net, "weft_receive_region", [&](open_transport& t) {
    if (remote == nullptr) return wrong(t, "weft_receive_region", "the place for the remote region is NULL");
    *remote = nullptr;
    const weft::peer* const found = t.peers.find(peer);
    if (found == nullptr) return no_peer(t, "weft_receive_region", peer);
    const weft::peer p = *found;  // events of the wait may move the table
    auto on = t.keep_events();
    return noted(t, t.net.receive_region(p, time_of(timeout), on), p, peer, remote);
  });
}

int weft_remote_size(weft_transport net, weft_remote remote, uint64_t* size, uint32_t* rights) {
  return call(net, "weft_remote_size", [&](open_transport& t) {
    const described_region* const r = t.remotes.find(remote);
    if (r == nullptr) return no_remote(t, "weft_remote_size", remote);
    if (size != nullptr) *size = r->region.size();
    if (rights != nullptr) *rights = static_cast<std::uint32_t>(r->region.granted());
    return int{WEFT_OK};
  });
}

int weft_forget(weft_transport net, weft_remote remote) {
  return call(net, "weft_forget", [&](open_transport& t) {
    if (t.remotes.find(remote) == nullptr) return no_remote(t, "weft_forget", remote);
    t.remotes.remove(remote);
    return int{WEFT_OK};
  });
}

}  // extern "C"
