// SPDX-License-Identifier: Apache-2.0
//
// Addresses and paths: under which formats two processes meet, and whether the library maps shared memory for a peer of
// the same node. Hot path: no. Threads: one owner per process.
#include "../behaviours.hpp"
#include "../endpoint_pair.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace weft::probe {

namespace {

/// Where the two processes meet: the requested address, and where addresses are of sockets also that of IPv6.
std::vector<demands> places(const demands& about) {
  std::vector<demands> all{about};
  const owned_info info = reply_to(about, least(about));
  if (!info || !socket_addresses(*info)) return all;
  all.push_back(about);
  all.back().node = about.node.find(':') == std::string::npos ? "::1" : "127.0.0.1";
  return all;
}

/// Whether this host has the loopback address of IPv6.
bool has_ipv6() {
  const int made = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (made < 0) return false;
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  any.sin6_addr = in6addr_loopback;
  const bool bound = bind(made, reinterpret_cast<const sockaddr*>(&any), sizeof any) == 0;
  close(made);
  return bound;
}

/// The format of the addresses under which the side met its peer; FI_FORMAT_UNSPEC where it did not.
std::uint32_t met_at(const demands& about, const role& self, bool initiates) {
  try {
    endpoint_pair net(about, {}, self.side, initiates);
    if (initiates) net.warm_up();
    if (initiates) self.side.send_value(0);
    else net.serve();
    return net.info().addr_format;
  } catch (const refused&) {
    return FI_FORMAT_UNSPEC;  // no such address here, or none of this provider: both sides are refused alike
  }
}

void formats_initiator(const role& self) {
  std::vector<std::size_t> met;
  const std::vector<demands> all = places(self.about);
  for (const demands& each : all)
    if (const std::uint32_t format = met_at(each, self, true); format != FI_FORMAT_UNSPEC) met.push_back(format);
  self.report.fact("has_ipv6", all.size() > 1 && has_ipv6());
  self.report.fact("met", met);
}

void formats_target(const role& self) {
  for (const demands& each : places(self.about)) (void)met_at(each, self, false);
}

/// Files of shared memory that this process has mapped for writing.
std::set<std::string> shared_files() {
  std::set<std::string> found;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    const auto path = line.find_first_of("/[", line.find(' '));
    const bool shared = line.find("rw-s ") != std::string::npos;
    if (!shared || path == std::string::npos) continue;
    const std::string name = line.substr(path);
    if (name.starts_with("/dev/shm/") || name.starts_with("/memfd:") || name.starts_with("/SYSV")) found.insert(name);
  }
  return found;
}

void own_node_initiator(const role& self) {
  const std::set<std::string> before = shared_files();
  endpoint_pair net(self.about, {}, self.side, true);
  net.warm_up();
  require(net.insist([&] { return net.send({.context = 1}); }), "fi_sendmsg");
  self.report.fact("exchanged", net.until([&] { return net.ended(1) > 0; }));
  std::size_t added = 0;
  for (const std::string& each : shared_files()) added += before.contains(each) ? 0U : 1U;
  self.report.fact("files_of_shared_memory", added);
  self.side.send_value(0);
}

void own_node_target(const role& self) {
  endpoint_pair net(self.about, {}, self.side, false);
  net.serve();
}

}  // namespace

const behaviour formats{"formats", "under which formats of addresses do two processes meet?", formats_initiator,
                        formats_target};
const behaviour own_node{"own_node", "does the library map shared memory for a peer of the same node?",
                         own_node_initiator, own_node_target};

}  // namespace weft::probe
