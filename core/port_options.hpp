// SPDX-License-Identifier: Apache-2.0
//
// The values with which a port opens and which it returns: options, limits, addresses, and events of links.
// A device decides some values only at open (fi_getinfo(3), ibv_query_device(3)); port_limits carries them.
// Hot path: no. Threads: values.
#pragma once

#include "devices.hpp"
#include "memory.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft {

/// An address in the library's form: opaque, of any length.
using address_bytes = std::vector<std::byte>;

/// The tag of no link. A handler of poll_links returns it to refuse a link that arrived.
inline constexpr std::uint32_t no_tag = ~std::uint32_t{0};

/// Events of links, which poll_links reports. The transport gave each link its `tag`.
enum class link_change : std::uint8_t {
  arrived,      ///< Connected fabrics: a peer dialled. The handler posts receives on the link, then returns its tag.
  established,  ///< The link carries messages.
  lost,         ///< An established link ended: the peer closed or died, or the library gave up.
  refused,      ///< The link was never established: no listener, or a refusal.
};

/// What open does where the library returns other values than the header was generated for.
/// Under every choice, a difference refuses where an answer of the fabric depends on it.
enum class on_difference : std::uint8_t {
  refuse,   ///< Every difference refuses.
  degrade,  ///< Other differences are accepted. port_limits has the returned values and lists the differences.
  warn,     ///< As degrade, and the differences go to standard error.
};

/// The arguments of a port's open.
struct port_options {
  std::string node{};              ///< Local address ("127.0.0.1", "::1"); empty: the library chooses.
  std::string service{};           ///< Port number to listen at; empty: any. Ignored where addresses are opaque.
  bool listens = false;            ///< Peers will dial this port.
  bool sleeps = false;             ///< wait() will be called: request a wait object where the row has one.
  std::uint32_t operations = 256;  ///< Most operations in flight; sizes the queues.
  /// Most receives posted at once, reserve included: per link (connected) or in all (addressed).
  std::uint32_t receives = 64;
  std::uint32_t links = 64;  ///< Most links; sizes completion queues and address vectors.
  /// Shape::multi_receive: the library releases a buffer with less room than this: the largest message, in bytes.
  std::size_t least_room = 0;
  bool device_memory = false;  ///< Device memory will be registered (register_device).
  weft::on_difference on_difference = weft::on_difference::refuse;
  weft::device_near device_near{};  ///< Where the fabric has several devices.
};

/// Values of the opened device. Each is at least the row's bound. Sizes are in bytes.
struct port_limits {
  std::size_t inject_bytes = 0;
  std::size_t queue_depth = 0;
  std::uint64_t largest_message = 0;
  std::uint64_t largest_write = 0;
  std::string library;      ///< The running library: "libfabric 1.17".
  std::string differences;  ///< Accepted differences from the row (on_difference); "" where there are none.
};

}  // namespace weft
