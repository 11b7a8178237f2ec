// SPDX-License-Identifier: Apache-2.0
#include "meeting.hpp"

#include "../../announcement.hpp"
#include "../library.hpp"

#include <weft/job/etcd/address.hpp>
#include <weft/job/job.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

namespace weft::invocation::nodes {
namespace {

failure wrong(std::string sentence) { return {error(errc::invalid, "meet"), std::move(sentence)}; }

/// One job of this process: a rank joins once.
result<job>& the_job() {
  static result<job> joined = join_job({.least_size = 2});
  return joined;
}

constexpr const char* key_of(side whose) { return whose == side::node ? "invocation.nodes" : "invocation.clients"; }

/// The first line of a file, once it is whole.
result<std::string> line_of(const std::string& path, duration limit) {
  const instant end = std::chrono::steady_clock::now() + limit;
  for (;;) {
    std::ifstream in(path);
    std::string line;
    if (in && std::getline(in, line) && !in.eof()) return line;
    if (std::chrono::steady_clock::now() >= end)
      return {error(errc::deadline, "meet"),
              "no manager wrote its address into " + path + " within " + jobs::in_words(limit)};
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

result<void> tell_addresses(const fleet_options& o, const std::string& of_nodes, const std::string& of_clients) {
  if (!o.announce.empty())
    if (std::string no = examples::announce(o.announce, of_nodes + "\n"); !no.empty()) return wrong(std::move(no));
  if (!o.meets_by_job) return {};
  auto& all = the_job();
  if (!all) return all.error();
  if (all->rank() != 0)
    return wrong("--job: the manager is rank 0 of its job, and this is rank " + std::to_string(all->rank()));
  if (auto put = all->put(key_of(side::client), of_clients); !put) return put;
  if (!of_nodes.empty())
    if (auto put = all->put(key_of(side::node), of_nodes); !put) return put;
  return all->leave();
}

result<std::string> manager_address(const std::string& given, side whose, duration limit) {
  if (given == "job") {
    auto& all = the_job();
    if (!all) return all.error();
    if (all->rank() == 0) return wrong("--manager job: rank 0 of a job is its manager; start this program as another");
    auto address = all->get(0, key_of(whose), limit);
    if (address) (void)all->leave();
    return address;
  }
  std::string address = given;
  if (given.starts_with("file:")) {
    auto line = line_of(given.substr(5), limit);
    if (!line) return line;
    address = std::move(line).value();
  }
  if (whose == side::node && !jobs::endpoint_of(address))
    return wrong("--manager is \"" + address + "\": it must be host:port, file:PATH, etcd://host:port or job");
  return address;
}

result<std::string> own_address_in_job() {
  auto& all = the_job();
  if (!all) return all.error();
  return all->host();
}

std::string own_address_towards(const std::string& where) {
  const auto at = jobs::endpoint_of(where);
  if (!at) return "127.0.0.1";
  const auto found = jobs::resolve(*at);
  for (const addrinfo* each = found.value.get(); each != nullptr; each = each->ai_next) {
    const jobs::owned_descriptor socket(::socket(each->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    // of a datagram socket: nothing is sent, the kernel only chooses the way
    if (socket && ::connect(socket.get(), each->ai_addr, each->ai_addrlen) == 0)
      return jobs::address_of(socket.get()).host;
  }
  return "127.0.0.1";
}

std::string own_address_towards_store(const std::string& store) {
  const auto at = jobs::etcd_address_of(store);
  return at && !at->hosts.empty() ? own_address_towards(jobs::in_words(at->hosts.front())) : "127.0.0.1";
}

result<token> secret_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in || text.size() < 16)
    return wrong("--secret " + path + ": " + (in ? "it has fewer than 16 bytes" : "it cannot be read") +
                 "; it is a file of at least 16 random bytes, the same for the manager and its nodes");
  const digest hash = sha256({reinterpret_cast<const std::byte*>(text.data()), text.size()});
  token secret;
  std::copy_n(hash.begin(), secret.size(), secret.begin());
  return secret;
}

}  // namespace weft::invocation::nodes
