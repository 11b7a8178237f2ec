// SPDX-License-Identifier: Apache-2.0
#include "managers.hpp"

#include <weft/job/membership.hpp>

#include <string>

namespace weft::invocation {

struct managers::state {
  membership members;
  std::string own;
  manager_ring ring;
  std::string lines;
  instant next{};

  void look() {
    std::vector<std::string> all{own};  // also while the own lease is being renewed
    for (const auto& [name, each] : members.members())
      if (name != own && all.size() < most) all.push_back(name);
    lines.clear();
    for (const std::string& each : all) lines += each + "\n";
    ring = manager_ring(std::move(all));
  }
  static constexpr std::size_t most = 32;  // their addresses fit in one message
};

managers::managers(std::unique_ptr<state> s) : s_(std::move(s)) {}
managers::~managers() { (void)s_->members.leave(std::chrono::seconds(1)); }

result<std::unique_ptr<managers>> managers::join(const std::string& store, const std::string& own) {
  membership_options o;
  o.store = store;
  auto members = membership::join(o, own, "invocation manager");
  if (!members) return {members.why(), "--membership: " + members.error().sentence};
  auto made = std::make_unique<state>(state{std::move(members).value(), own, {}, {}, {}});
  made->look();
  return std::unique_ptr<managers>(new managers(std::move(made)));
}

bool managers::tend() {
  const instant now = std::chrono::steady_clock::now();
  if (now < s_->next) return false;
  s_->next = now + std::chrono::milliseconds(10);
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

}  // namespace weft::invocation
