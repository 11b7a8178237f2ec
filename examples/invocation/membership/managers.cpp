// SPDX-License-Identifier: Apache-2.0
#include "managers.hpp"
#include "directory.hpp"
#include "member_address.hpp"

#include <weft/job/membership.hpp>

#include <string>

namespace weft::invocation {
namespace {

constexpr std::size_t most = 32;                                   ///< Managers: their addresses fit in one message.
constexpr duration between_looks = std::chrono::milliseconds(10);  ///< At etcd's news.

}  // namespace

struct managers::state {
  membership members;
  std::string own;
  manager_ring ring;
  std::string lines;
  instant next{};

  void look() {
    std::vector<std::string> all{own};  // also while the own lease is being renewed
    for (const auto& [name, each] : members.members())
      if (name != own && is_address(name) && all.size() < most) all.push_back(name);
    lines.clear();
    for (const std::string& each : all) lines += each + "\n";
    ring = manager_ring(std::move(all));
  }
};

managers::managers(std::unique_ptr<state> s) : s_(std::move(s)) {}
managers::~managers() { (void)s_->members.leave(std::chrono::seconds(1)); }

result<std::unique_ptr<managers>> managers::join(const std::string& store, const std::string& own,
                                                 const std::string& of_nodes) {
  membership_options o;
  o.store = store;
  auto members = membership::join(o, own, of_nodes);
  if (!members) return {members.why(), "--membership: " + members.error().sentence};
  auto made = std::make_unique<state>(state{std::move(members).value(), own, {}, {}, {}});
  made->look();
  return std::unique_ptr<managers>(new managers(std::move(made)));
}

bool managers::tend() {
  const instant now = std::chrono::steady_clock::now();
  if (now < s_->next) return false;
  s_->next = now + between_looks;
  bool changed = false;
  s_->members.poll(duration(), [&](const auto&) { changed = true; });
  if (changed) s_->look();
  return changed;
}
std::string managers::elsewhere(const token& client) const {
  std::string owner = s_->ring.owner(client);
  return owner == s_->own ? "" : owner;
}
std::string managers::addresses() const { return s_->lines; }

struct manager_directory::state {
  membership members;
  instant next{};

  std::vector<std::string> all(auto&& address_of) const {
    std::vector<std::string> found;
    for (const auto& [name, each] : members.members())
      if (const std::string& address = address_of(each); is_address(address) && found.size() < most)
        found.push_back(address);
    return found;
  }
};

manager_directory::manager_directory(std::unique_ptr<state> s) : s_(std::move(s)) {}
manager_directory::~manager_directory() = default;

result<std::unique_ptr<manager_directory>> manager_directory::open(const std::string& store) {
  membership_options o;
  o.store = store;
  auto members = membership::observe(o);
  if (!members) return std::move(members).error();
  return std::unique_ptr<manager_directory>(
      new manager_directory(std::make_unique<state>(state{std::move(members).value(), {}})));
}
bool manager_directory::tend() {
  const instant now = std::chrono::steady_clock::now();
  if (now < s_->next) return false;
  s_->next = now + between_looks;
  bool changed = false;
  s_->members.poll(duration(), [&](const auto&) { changed = true; });
  return changed;
}
std::vector<std::string> manager_directory::for_clients() const {
  return s_->all([](const member& each) -> const std::string& { return each.name; });
}
std::vector<std::string> manager_directory::for_nodes() const {
  return s_->all([](const member& each) -> const std::string& { return each.value; });
}
bool manager_directory::lists(const std::string& for_clients) const {
  return !s_->members.trouble().empty() || s_->members.members().contains(for_clients);
}

}  // namespace weft::invocation
