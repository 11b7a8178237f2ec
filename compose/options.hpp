// SPDX-License-Identifier: Apache-2.0
//
// What a transport is opened with. Defaults suit a handful of peers and messages up to 4 KiB.
// Hot path: no.
#pragma once

#include "../core/port.hpp"
#include "../core/secret.hpp"
#include "../core/time.hpp"

#include <cstdint>
#include <string>

namespace weft {

using namespace std::chrono_literals;

/// Where options leave `silence_limit` at 0, heartbeat rows use this limit.
inline constexpr duration usual_silence_limit = 2s;

/// What connect() of a fabric_set does where the best fabric of a pair cannot be used.
enum class fallback : std::uint8_t {
  refused,  ///< connect() fails, and the sentence names the fabric and the reason.
  allowed,  ///< The next best fabric is taken. Standard error says so once, and transport::fallbacks() counts.
};

struct transport_options {
  std::string node{};     ///< Local address ("127.0.0.1", "::1"); empty: the library's choice.
  std::string service{};  ///< Where others find this transport ("7471"); empty with `listens`: any free one.
  bool listens = false;   ///< Others may connect. A service implies it.
  bool sleeps = false;    ///< wait() may sleep. Costs latency where the row's wait is `descriptor`.
  std::uint32_t max_message_bytes = 4096;  ///< Largest message that peers may send to this transport.
  std::uint32_t receives =
      32;  ///< Receive slots: per peer on connected fabrics, in all on addressed ones and with receive_pool::shared.
           ///< With receive_buffers::multi_receive: the same number of bytes, in at least two large buffers.
  std::uint32_t operations = 256;  ///< Most operations in flight; one more returns `again`.
  std::uint32_t peers = 32;        ///< Most peers at one time.
  /// Most callers whose handshake is not over, and requests without an answer; at most `peers` count. A further caller
  /// takes the place of the one that is silent for longest, and is refused where none is silent.
  std::uint32_t pending = 128;
  /// Most peers that one remote host opens; 0: no limit. The host is the IPv4 address, or the first 64 bits of the IPv6
  /// address. Held on rows whose addresses are such addresses.
  std::uint32_t peers_per_host = 0;
  duration handshake_limit = 2s;     ///< A caller that has not said hello by then is dropped.
  duration operation_timeout = 10s;  ///< An operation that has not ended by then fails with `deadline`.
  duration silence_limit{};  ///< A peer that is silent for longer is lost, also if its process is stopped. 0: 2 s on
                             ///< heartbeat rows, no limit on other rows (policies/liveness.hpp).
  duration coalesce_time = 20us;  ///< coalesce::up_to: gathered posts leave after this time, also under steady load.
  bool device_memory = false;     ///< register_region() accepts memory of devices (core/device_memory.hpp).
  weft::on_difference on_difference =
      weft::on_difference::refuse;  ///< Where the library differs from the row: refuse, or warn.
  /// Of a fabric with several devices: near_this_thread() or near_memory(bytes) of compose/connecting/near_device.hpp;
  /// {}: the library's first. A node that names an address of one device stands before it. transport::explain() says
  /// why.
  weft::device_near device_near{};
  /// With authentication::shared_secret: what peers prove before they meet; 16 to 64 bytes. Else empty.
  weft::secret secret{};
  /// Of a fabric_set: the names of the fabrics that may be used ("mapped,tcp"); empty: WEFT_FABRICS, else all of the
  /// set.
  std::string fabrics{};
  weft::fallback fallback = weft::fallback::refused;  ///< Of a fabric_set.
};

}  // namespace weft
