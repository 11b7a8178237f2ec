// SPDX-License-Identifier: Apache-2.0
//
// Made-up rows for the hostile peer. Each differs from the loopback's row in the answers that decide how messages of a
// peer are read: who owns a receive, where the tag is, what orders hold, how a notice arrives.
// The program of one row is compiled with WEFT_FUZZ_ROW. Hot path: no. Threads: constants.
#pragma once

#include "../../compose/coalescing.hpp"
#include "../../compose/transport.hpp"
#include "../../compose/with.hpp"
#include "../../generated/loopback.hpp"

#if defined(WEFT_FUZZ_AUTHENTICATION)  // the row `guarded` needs libcrypto
#include "../../compose/authentication.hpp"
#endif

namespace weft::fuzz {

/// The loopback's row with these facts and answers.
template <class... Answers>
struct made_up : fabrics::loopback {
  using policies = typename weft::detail::replaced<fabrics::loopback::policies, policy_set<Answers...>>::type;
};
/// Each operation is executed by the target.
inline constexpr atomic_table by_target{"tttttt tttt-- tttttt tttt-- tttt-- tttt-- tttttt tttttt tttttt"};

constexpr fabric_facts plain() { return fabrics::loopback::facts; }

/// Connected, receives per link, immediates on writes, atomics of the provider.
struct connected_row : made_up<> {};

/// Connected, the tag in a header, notices as messages that carry small payloads, atomics of the target.
struct framed_row
    : made_up<answers::framing::header, answers::notify::message_after_ordered_write, answers::atomics::target> {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = plain();
    f.send_immediate_bytes = f.write_immediate_bytes = 0;
    f.atomics = atomic_execution::none;
    f.fused_bytes = 256;
    return f;
  }();
  static constexpr atomic_table atomics_by = by_target;
};

/// Addressed, one buffer for many messages, wide immediates that name the peer, heartbeats.
struct addressed_row
    : made_up<answers::endpoint::addressed, answers::receive_pool::shared, answers::receive_buffers::multi_receive,
              answers::atomics::target, answers::liveness::heartbeat> {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = plain();
    f.endpoint_type = endpoint_type::addressed;
    f.send_immediate_bytes = f.write_immediate_bytes = 8;
    f.atomics = atomic_execution::none;
    f.reports_killed_peer = false;
    return f;
  }();
  static constexpr atomic_table atomics_by = by_target;
};

/// Addressed, no order at all: a goodbye may overtake messages. Pointers, keys of the provider, descriptors.
struct unordered_row
    : made_up<answers::endpoint::addressed, answers::receive_pool::shared, answers::notify::message_after_delivery,
              answers::write_fault::delivery_confirmed, answers::flush::tracked_writes, answers::atomics::target,
              answers::liveness::heartbeat, answers::region_address::virtual_address, answers::region_key::provider,
              answers::local_descriptor::required, answers::completion::every_operation> {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = plain();
    f.endpoint_type = endpoint_type::addressed;
    f.connects_lazily = true;
    f.order_send_after_write = f.order_write_after_write = f.order_send_after_send = false;
    f.bytes_visible_in_order = false;
    f.write_immediate_bytes = 0;
    f.virtual_addressing = f.local_registration = true;
    f.key_owner = key_owner::provider;
    f.refused_write = refusal::silent;
    f.selective_completion = f.reports_killed_peer = false;
    f.atomics = atomic_execution::none;
    f.fused_bytes = 740;
    return f;
  }();
  static constexpr atomic_table atomics_by = by_target;
};

/// Connected, one pool of receives for all links; small posts share messages.
struct pooled_row : made_up<answers::receive_pool::shared, answers::coalesce::up_to<8, 1024>> {};

/// Addressed; each notice is an entry in the target's ring, and a counter says when to read the ring.
struct counted_row
    : made_up<answers::endpoint::addressed, answers::receive_pool::shared, answers::notify::remote_counter,
              answers::write_fault::delivery_confirmed, answers::flush::tracked_writes, answers::liveness::heartbeat,
              answers::region_binding::endpoint> {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = plain();
    f.endpoint_type = endpoint_type::addressed;
    f.write_immediate_bytes = 0;
    f.remote_counter_counts_writes = f.region_endpoint_binding = true;
    f.order_send_after_write = f.bytes_visible_in_order = f.reports_killed_peer = false;
    f.refused_write = refusal::silent;
    return f;
  }();
};

/// Connected; the target watches cells that the peer writes.
struct watched_row : made_up<answers::notify::watched_word> {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = plain();
    f.write_immediate_bytes = 0;
    return f;
  }();
};

#if defined(WEFT_FUZZ_AUTHENTICATION)
/// Addressed, and peers prove a secret before the application hears of them.
struct guarded_row : made_up<answers::endpoint::addressed, answers::receive_pool::shared, answers::liveness::heartbeat,
                             answers::flush::message_behind_writes, answers::authentication::shared_secret> {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = plain();
    f.endpoint_type = endpoint_type::addressed;
    f.send_immediate_bytes = f.write_immediate_bytes = 8;
    f.reports_killed_peer = false;
    return f;
  }();
};
#endif

template <class F>
constexpr bool is_guarded = answer<F, authentication_family>::asks_secret;
/// The options of a transport that knows the secret of this row, or another one. Nothing where no peer proves one.
template <class F>
void give_secret(transport_options& o, bool right = true) {
  if constexpr (is_guarded<F>) o.secret = secret(right ? "of-the-honest-peers" : "of-the-hostile-peer");
}

}  // namespace weft::fuzz
