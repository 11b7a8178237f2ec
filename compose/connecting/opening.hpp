// SPDX-License-Identifier: Apache-2.0
//
// Opens a transport: first the port, which attests the row, then all memory of the hot path. Nothing is allocated
// later. Hot path: no. Threads: the owner's.
#pragma once

#include "../engine/receives.hpp"
#include "../memory/registration.hpp"
#include "host_and_service.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

namespace weft::detail {

template <class Engine>
class opening {
 public:
  using port_type = typename Engine::port_type;

  static result<std::unique_ptr<Engine>> open(const transport_options& options) {
#if defined(__cpp_exceptions)
    try {
      return open_all(options);
    } catch (const std::bad_alloc&) {
      return without_memory();
    } catch (const std::length_error&) {  // more than any memory
      return without_memory();
    }
#else
    return open_all(options);
#endif
  }

 private:
#if defined(__cpp_exceptions)
  static failure without_memory() noexcept {
    failure why{error(errc::no_memory, "open"), {}};
    try {
      why.sentence =
          "no memory for the transport; lower peers, operations, receives or max_message_bytes in its options";
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): the code alone says it too
    }
    return why;
  }
#endif

  static result<std::unique_ptr<Engine>> open_all(transport_options options) {
    if (!options.service.empty()) options.listens = true;
    if (answer<typename Engine::fabric, liveness_family>::speaks && options.silence_limit == duration{})
      options.silence_limit = usual_silence_limit;
    if (auto wrong = refuse(options); !wrong.empty()) return {error(errc::invalid, "open"), std::move(wrong)};
    auto port = port_type::open(ask(options));
    if (!port) return at_address(options, std::move(port).error());
    if (auto wrong = too_large(options, (*port)->limits()); !wrong.empty())
      return {error(errc::invalid, "open"), std::move(wrong)};
    options.pending = std::min(options.pending, options.peers);  // more callers would find no record
    if (options.on_difference == on_difference::warn) warn((*port)->limits().differences);
    // Where a full queue loses messages, all slots together are at most 3/4 of its entries.
    if constexpr (Engine::slot_per_message)
      options.operations = std::min(options.operations, Engine::fabric::facts.queue_depth / 2);
    auto e = std::make_unique<Engine>(options, std::move(port).value());
    if (!e->known_secret.holds()) return {error(errc::no_memory, "open"), "no memory for transport_options::secret"};
    e->own_address = e->port->address();
    e->control_messages = std::max(Engine::slot_per_message ? 16U : 64U, options.operations / 2);
    e->operations.keep_back(e->control_messages);
    e->operations.fill(options.operations + e->control_messages, [&](bytes memory) { return e->register_own(memory); });
    e->controls.fill(e->control_messages, [&](bytes memory) { return e->register_own(memory); });
    e->coalescer.open();
    e->tagged.open();
    e->plans.fill(std::clamp(options.operations / 8, 4U, 32U));
    if (!Engine::links_have_receives) receives<Engine>(*e).provide_shared();
    if (Engine::uses_ring) {
      if (auto made = provide_ring(*e); !made) return std::move(made).error();
    }
    if constexpr (Engine::watches_cells) {
      if (auto made = provide_cells(*e); !made) return std::move(made).error();
    }
    if (options.listens) {
      if (auto found = be_found(*e); !found) return at_address(options, std::move(found).error());
    }
    return e;
  }

  static std::string refuse(const transport_options& o) {
    if (auto no = host_and_service::not_a_port(o.service); !no.empty()) return no;
    if (!o.fabrics.empty() && o.fabrics != Engine::fabric::name)
      return "transport_options::fabrics is \"" + o.fabrics + "\", and this program has fabric " +
             std::string(Engine::fabric::name) + " alone: build it for a set of fabrics (weft_add_fabric_set)";
    if (o.max_message_bytes < wire::largest_handshake)
      return "max_message_bytes is " + std::to_string(o.max_message_bytes) + "; the handshake needs at least " +
             std::to_string(wire::largest_handshake);
    if (o.peers == 0 || o.peers >= 1U << wire::connection_number::most_index_bits)
      return "peers is " + std::to_string(o.peers) + "; between 1 and " +
             std::to_string((1U << wire::connection_number::most_index_bits) - 1) + " are possible";
    if (o.receives == 0 || o.operations < 4) return "receives must be at least 1, and operations at least 4";
    if (o.pending == 0 && o.listens)
      return "pending is 0: a transport that listens needs at least 1 place for callers without an answer";
    if (o.handshake_limit < 1ms) return "handshake_limit must be at least 1 ms";
    if (o.device_memory && !registrar<Engine>::takes_device_memory)
      return "device_memory is asked for, and the backend of fabric " + std::string(Engine::fabric::name) +
             " registers memory of the host alone";
    if (o.operation_timeout < 1ms || (o.silence_limit != duration{} && o.silence_limit < 8ms))
      return "operation_timeout must be at least 1 ms, and silence_limit 8 ms or 0";
    return Engine::template authentication<Engine>::refusal(o);
  }

  /// Adds a sentence where another program has the port, or another machine the address. Other failures stay unchanged.
  static failure at_address(const transport_options& o, failure why) {
    if (!o.node.empty() && why.why.native() == EADDRNOTAVAIL)
      why.sentence = o.node + " is no address of this machine: options.node is the address of this side (" +
                     why.sentence + ") [WEFT-O010]";
    if (o.service.empty() || why.why.native() != EADDRINUSE) return why;
    why.sentence = "port " + o.service + (o.node.empty() ? "" : " of " + o.node) +
                   " is in use: end the other program, or choose another service (" + why.sentence + ") [WEFT-O005]";
    return why;
  }
  static std::string too_large(const transport_options& o, const port_limits& device) {
    if (o.max_message_bytes + Engine::front <= device.largest_message) return {};
    return "max_message_bytes is " + std::to_string(o.max_message_bytes) + "; the device's largest message has " +
           std::to_string(device.largest_message) + " bytes";
  }
  static void warn(const std::string& differences) {
    if (differences.empty()) return;
    (void)std::fprintf(stderr, "weft: warning: fabric %s: the library is not what this program was generated for: %s\n",
                       std::string(Engine::fabric::name).c_str(), differences.c_str());
  }

  static port_options ask(const transport_options& o) {
    port_options p;
    p.node = o.node;
    p.service = answer<typename Engine::fabric, bootstrap_family>::side_channel ? std::string() : o.service;
    p.listens = o.listens;
    p.sleeps = o.sleeps;
    p.operations = o.operations;
    p.receives = receives<Engine>::per_block(o);
    p.links = o.peers;
    p.least_room = o.max_message_bytes + Engine::front;
    p.device_memory = o.device_memory;
    p.on_difference = o.on_difference;
    p.device_near = o.device_near;
    return p;
  }

  static result<void> be_found(Engine& e) {
    if (answer<typename Engine::fabric, bootstrap_family>::side_channel) {
      const std::string node = e.options.node.empty() ? std::string("127.0.0.1") : e.options.node;
      auto served = Engine::oob_exchange::serve(node, e.options.service, e.own_address);
      if (!served) return std::move(served).error();
      e.side_channel = std::move(served).value();
      const bool six = node.find(':') != std::string::npos;
      e.listens_at = (six ? "[" + node + "]" : node) + ":" + e.side_channel->service();
    } else {
      e.listens_at = e.port->printable(e.own_address);
    }
    return {};
  }

  static result<void> provide_cells(Engine& e) {
    e.cells.make(e.peers.capacity());
    if (e.cells.incoming().data() == nullptr)
      return {error(errc::no_memory, "open"), "no memory for the rings of as many peers; lower options.peers"};
    auto r = registrar<Engine>(e).with_key(e.cells.incoming(), rights::remote_write);
    if (!r) return std::move(r).error();
    e.cells.registered = *r;
    e.deferred_fused_replies.reserve(2 * wire::ring_cells);
    e.cells.descriptor = e.register_own(e.cells.outgoing());
    return {};
  }

  static result<void> provide_ring(Engine& e) {
    const std::size_t size = std::size_t{e.peers.capacity()} * Engine::ring_entries * sizeof(wire::ring_entry);
    e.ring_memory = std::make_unique<std::byte[]>(size);
    auto r = registrar<Engine>(e).with_key({e.ring_memory.get(), size}, rights::remote_write);
    if (!r) return std::move(r).error();
    e.ring_registration = *r;
    return {};
  }
};

}  // namespace weft::detail
