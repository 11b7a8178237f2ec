// SPDX-License-Identifier: Apache-2.0
//
// One operation on its way from the thread that wants it to the thread that owns the transport: the arguments of the
// post, by value. Hot path: yes. Threads: any; a value.
#pragma once

#include "../compose/events.hpp"
#include "../compose/region.hpp"
#include "../core/error.hpp"
#include "../core/memory.hpp"

#include <cstdint>
#include <type_traits>

namespace weft {

/// A send, put, put_notify or get. Without a context only its failure is reported, as with the transport's own calls.
/// `local` is the source of all but a get.
struct submission {
  operation what = operation::send;
  std::uint32_t immediate = 0;
  weft::peer peer{};
  local_memory local{};
  remote_place place{};
  void* context = nullptr;

  /// Posts it. The owner's thread calls this. Errors: those of the transport's call.
  template <class Transport>
  status post(Transport& net) const noexcept {
    const bool signalled = context != nullptr;
    switch (what) {
      case operation::send:
        return signalled ? net.send(peer, local, context) : net.send(peer, local);
      case operation::put:
        return signalled ? net.put(peer, local, place, context) : net.put(peer, local, place);
      case operation::put_notify:
        return signalled ? net.put_notify(peer, local, place, immediate, context)
                         : net.put_notify(peer, local, place, immediate);
      case operation::get:
        return net.get(peer, local, place, context);
      default:
        return error(errc::unsupported, "submission");
    }
  }
};
// The queue copies bytes between threads.
static_assert(std::is_trivially_copyable_v<submission> && std::is_trivially_destructible_v<submission>);

}  // namespace weft
