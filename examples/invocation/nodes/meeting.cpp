// SPDX-License-Identifier: Apache-2.0
#include "meeting.hpp"

#include "../../announcement.hpp"
#include "../library.hpp"

#include <weft/job/etcd/address.hpp>
#include <weft/job/job.hpp>

#include <algorithm>
#include <csignal>
#include <fstream>
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

/// Whether a signal to end waits for this process, which blocks it. A process that blocks none has ended before.
bool asked_to_end() {
  sigset_t waiting;
  if (::sigpending(&waiting) != 0) return false;
  return std::ranges::any_of(ending_signals, [&](int each) { return ::sigismember(&waiting, each) == 1; });
}

/// The first line of a file, once it is whole.
result<std::string> line_of(const std::string& path, duration limit) {
  constexpr std::size_t longest = 4096;
  const instant end = after(std::chrono::steady_clock::now(), limit);
  for (;;) {
    std::ifstream in(path);
    char line[longest];
    if (in && in.getline(line, longest) && !in.eof()) return std::string(line);
    if (in.gcount() == longest - 1)
      return wrong("the first line of " + path + " has more than " + std::to_string(longest - 2) +
                   " bytes: that is no address");
    if (asked_to_end()) return {error(errc::closed, "meet"), "asked to end"};
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
  constexpr std::size_t fewest = 16, most = 65'536;
  std::ifstream in(path, std::ios::binary);
  std::string text(most + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  const bool readable = in.is_open() && !in.bad();
  if (!readable || text.size() < fewest || text.size() > most)
    return wrong("--secret " + path + ": " +
                 (!readable              ? "it cannot be read"
                  : text.size() < fewest ? "it has fewer than 16 bytes"
                                         : "it has more than 65536 bytes") +
                 "; it is a file of 16 to 65536 random bytes, the same for the manager and its nodes");
  const digest hash = sha256({reinterpret_cast<const std::byte*>(text.data()), text.size()});
  token secret;
  std::copy_n(hash.begin(), secret.size(), secret.begin());
  return secret;
}

}  // namespace weft::invocation::nodes
