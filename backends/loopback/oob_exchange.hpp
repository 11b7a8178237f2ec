// SPDX-License-Identifier: Apache-2.0
//
// The side channel for opaque addresses in a simulated world. The listener serves its address under a name, and answers
// only while it makes progress, like the real side channel.
// Hot path: no. Threads: one.
#pragma once

#include "setup.hpp"
#include "waiting.hpp"

namespace weft::backends::loopback {

/// The side channel of a simulated world.
class oob_exchange {
 public:
  /// Serves the address at host:service from now on. An empty service gets a number.
  static result<std::unique_ptr<oob_exchange>> serve(std::string_view node, std::string_view service,
                                                     const address_bytes& address) {
    simulation& sim = here();
    auto entry = std::make_shared<oob_exchange_entry>();
    entry->host = node;
    entry->service =
        service.empty() || service == "0" ? std::to_string(61000 + sim.served.size()) : std::string(service);
    entry->address = address;
    entry->node = sim.here();
    if (find(sim, node, entry->service))
      return {error(errc::rejected, "out-of-band exchange"),
              "loopback: an address is served at service " + entry->service + " already; choose another"};
    sim.served.push_back(entry);
    return std::unique_ptr<oob_exchange>(new oob_exchange(std::move(entry)));
  }
  oob_exchange(const oob_exchange&) = delete;
  oob_exchange& operator=(const oob_exchange&) = delete;
  ~oob_exchange() { entry_->open = false; }

  std::string service() const { return entry_->service; }
  /// Answers all requests.
  void progress() noexcept { entry_->answered = entry_->asked; }

  /// Returns the address that is served at host:service. Meanwhile `own` answers. Errors: unreachable when no answer
  /// comes within `limit` of virtual time.
  static result<address_bytes> fetch(std::string_view node, std::string_view service, duration limit,
                                     oob_exchange* own = nullptr) {
    simulation& sim = here();
    const std::int64_t until = sim.now() + limit.count();
    std::shared_ptr<oob_exchange_entry> asked;
    std::uint64_t ticket = 0;
    for (;;) {
      if (!asked || !asked->open) {
        asked = find(sim, node, service);
        if (asked) ticket = ++asked->asked;
      }
      if (asked && asked->open && asked->answered >= ticket && sim.cut_between(asked->node, sim.here()) == nullptr)
        return asked->address;
      if (sim.now() >= until) break;
      if (own != nullptr) own->progress();
      sim.time.pass(std::min<std::int64_t>(200'000, until - sim.now()));
    }
    return {error(errc::unreachable, "out-of-band exchange"), "loopback: no listener serves an address at " +
                                                                  std::string(node) + ":" + std::string(service) +
                                                                  "; is the listener running?"};
  }

 private:
  explicit oob_exchange(std::shared_ptr<oob_exchange_entry> entry) : entry_(std::move(entry)) {}

  static std::shared_ptr<oob_exchange_entry> find(const simulation& sim, std::string_view node,
                                                  std::string_view service) {
    for (const auto& each : sim.served)
      if (each->open && each->service == service &&
          (any_host(node) || any_host(each->host) || node == each->host || node == sim.nodes[each->node].name))
        return each;
    return nullptr;
  }

  std::shared_ptr<oob_exchange_entry> entry_;
};

static_assert(oob_exchange_channel<oob_exchange>);

}  // namespace weft::backends::loopback
