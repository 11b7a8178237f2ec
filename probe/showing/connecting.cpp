// SPDX-License-Identifier: Apache-2.0
//
// Connecting: who answers, the form of addresses, and whether a first post is accepted while the target sleeps.
// Hot path: no. Threads: one owner per process.
#include "../behaviours.hpp"
#include "../endpoint_pair.hpp"

#include <cstring>
#include <string>

namespace weft::probe {

namespace {

/// Whether a request for the peer's host and service gives exactly its name: then the two identify a listener.
bool found_by_service(const demands& about, const endpoint_pair& net) {
  const std::vector<std::byte>& name = net.peer_name();
  if (!socket_addresses(net.info()) || name.size() < 4) return false;
  const unsigned port = std::to_integer<unsigned>(name[2]) << 8 | std::to_integer<unsigned>(name[3]);
  const owned_info hints = hints_of(about, least(about));
  fi_info* found = nullptr;
  if (fi_getinfo(about.api, about.node.c_str(), std::to_string(port).c_str(), 0, hints.get(), &found) != 0)
    return false;
  const owned_info all(found);
  for (const fi_info* each = found; each != nullptr; each = each->next)
    if (each->dest_addrlen == name.size() && std::memcmp(each->dest_addr, name.data(), name.size()) == 0) return true;
  return false;
}

void meeting_initiator(const role& self) {
  endpoint_pair net(self.about, {}, self.side, true);
  self.report.fact("provider", std::string(net.info().fabric_attr->prov_name));
  self.report.fact("fabric", std::string(net.info().fabric_attr->name == nullptr ? "" : net.info().fabric_attr->name));
  self.report.fact("endpoint_type", std::string(net.info().ep_attr->type == FI_EP_MSG ? "connected" : "addressed"));
  self.report.fact("found_by_host_and_service", found_by_service(self.about, net));
  net.warm_up();
  self.report.fact("met", true);
  self.side.send_value(0);
}

void meeting_target(const role& self) {
  endpoint_pair net(self.about, {}, self.side, false);
  net.serve();
}

void first_post_initiator(const role& self) {
  endpoint_pair net(self.about, {}, self.side, true);
  self.side.send_value(1);
  self.side.wait_for_value();  // the target sleeps from now on
  const ssize_t first = net.insist([&] { return net.write({.context = 1}); }, milliseconds(500));
  self.report.fact("taken_while_target_slept", first == 0);
  self.report.fact("said", first == 0 ? std::string("success") : error_name(first));
  self.side.send_value(1);
  if (first != 0) require(net.insist([&] { return net.write({.context = 1}); }), "fi_writemsg");
  self.report.fact("ended_once_target_polled", net.until([&] { return net.ended(1) > 0; }));
  self.side.send_value(0);
}

void first_post_target(const role& self) {
  endpoint_pair net(self.about, {}, self.side, false);
  net.serve();
  self.side.send_value(1);
  self.side.wait_for_value();
  net.serve();
}

// Many times, and by both sides: one provider has a table of 256 peers, and the side that removes second writes before
// its start.
constexpr std::uint64_t partings = 280;

void forgetting_initiator(const role& self) {
  endpoint_pair net(self.about, {}, self.side, true);
  net.warm_up();
  bool taken_out = true, reached = true;
  for (std::uint64_t i = 0; i < partings && taken_out && reached; ++i) {
    taken_out = net.forget_peer();
    self.side.send_value(1);
    net.until([&] { return self.side.ready(); });
    self.side.wait_for_value();
    net.know_peer();
    net.came.clear();
    reached = net.insist([&] { return net.write({.context = 1}); }) == 0 && net.until([&] { return net.ended(1) > 0; });
  }
  self.report.fact("taken_out", taken_out);
  self.report.fact("reached_again", reached);
  self.side.send_value(0);
}

void forgetting_target(const role& self) {
  endpoint_pair net(self.about, {}, self.side, false);
  while (net.serve() != 0) {
    net.forget_peer();
    net.know_peer();
    self.side.send_value(1);
  }
}

}  // namespace

const behaviour meeting{"meeting", "do two processes connect, and by which kind of address?", meeting_initiator,
                        meeting_target};
const behaviour forgetting{"forgetting", "can a peer be removed from the address vector and added again?",
                           forgetting_initiator, forgetting_target};
const behaviour first_post{"first_post", "is the first post accepted while the target sleeps?", first_post_initiator,
                           first_post_target};

}  // namespace weft::probe
