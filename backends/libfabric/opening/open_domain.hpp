// SPDX-License-Identifier: Apache-2.0
//
// Finds and opens the row's provider: fi_getinfo, attestation of its reply, fabric and domain.
// Of several replies weft takes the first with the row's provider name: the order of replies changes between releases.
// Where options.device_near says so, it takes the first one of the nearest device.
// An empty reply becomes a sentence with the names of the matrix, because -61 alone does not say what was missing.
// Units that link weft::<fabric>_compiled never include this (core/error.hpp).
// Hot path: no. Threads: one owner.
#pragma once

#include "../../devices/choice.hpp"
#include "../../devices/libfabric/offers.hpp"
#include "../../loaded/libfabric.hpp"
#include "../address.hpp"
#include "../attest.hpp"
#include "../conflict.hpp"
#include "../domain.hpp"

#include <rdma/fi_domain.h>

#include <cstddef>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::backends::libfabric {

/// The reply that was taken, and why, if a near device was asked for.
struct chosen_info {
  owned_info info;
  std::vector<device_verdict> devices;
};

/// FI_PROVIDER hides providers from this process (fabric(7)), so a sentence about a missing one names the variable.
inline std::string limited_by_environment() {
  const char* const providers = ::secure_getenv("FI_PROVIDER");
  if (providers == nullptr || *providers == 0) return "fi_info -l lists what it has";
  return "FI_PROVIDER is set to \"" + std::string(providers) + "\" and limits libfabric to that: unset it";
}

/// Why nothing was found: the provider is missing, or it cannot grant some demands.
template <class Shape>
failure nothing_found(int returned, const port_options& options) {
  const library_version running = running_with();
  const std::string who = "fabric " + std::string(Shape::name) + ": libfabric " + printed(running);
  if (running < built_with)
    return {failed(returned, "fi_getinfo"), who + " is older than the release this program was compiled with (" +
                                                printed(built_with) + "): load that one or later [WEFT-O002]"};
  owned_info hints(fi_allocinfo());
  if (hints) hints->fabric_attr->prov_name = strdup(std::string(Shape::facts.provider).c_str());
  fi_info* any = nullptr;
  const bool present = hints && fi_getinfo(asked_version, nullptr, nullptr, 0, hints.get(), &any) == 0;
  fi_freeinfo(any);
  if (!present)
    return {failed(returned, "fi_getinfo"), who + " has no provider \"" + std::string(Shape::facts.provider) +
                                                "\" here, or no device for it (" + limited_by_environment() +
                                                ") [WEFT-O001]"};
  if (auto no = options.node.empty() ? std::string() : unresolved(options.node); !no.empty())
    return {failed(returned, "fi_getinfo"), "fabric " + std::string(Shape::name) + ": " + no};
  return {failed(returned, "fi_getinfo"), who + " found nothing: its provider \"" + std::string(Shape::facts.provider) +
                                              "\" " + conflicts_of<Shape>(options)};
}

/// Whether the row describes a reply.
template <class Shape>
bool is_of_row(const fi_info& reply) {
  return is_provider(text_or_none(reply.fabric_attr->prov_name), Shape::facts.provider) &&
         reply.ep_attr->type == request<Shape>::endpoint;
}

/// The row's next reply; null behind the last.
template <class Shape>
const fi_info* of_row_from(const fi_info* reply) {
  while (reply != nullptr && !is_of_row<Shape>(*reply)) reply = reply->next;
  return reply;
}
/// The row's first reply. Without one the first of all, which attest() then judges.
template <class Shape>
const fi_info& first_reply(const fi_info& all) {
  const fi_info* const first = of_row_from<Shape>(&all);
  return first == nullptr ? all : *first;
}
template <class Shape>
device_offers offers_from(const fi_info& first) {
  return {&first,
          [](const void* one) -> const void* { return of_row_from<Shape>(static_cast<const fi_info*>(one)->next); },
          [](const void* one) { return devices::device_of(*static_cast<const fi_info*>(one)); }};
}

/// Asks the library. The replies, or null and what it returned.
template <class Shape>
std::pair<owned_info, int> replies_to(const question& asked) {
  fi_info* found = nullptr;
  const std::uint64_t source = asked.node != nullptr || asked.service != nullptr ? FI_SOURCE : 0;
  const int returned = fi_getinfo(asked_version, asked.node, asked.service, source, asked.hints.get(), &found);
  return {owned_info(found), returned};
}

/// Takes the row's first reply, or that of the device that is asked for.
template <class Shape>
result<chosen_info> find_info(const port_options& options) {
  const question asked = question_of<Shape>(options);
  if (!asked.hints)
    return failure{error(errc::no_memory, "fi_allocinfo"), "fabric " + std::string(Shape::name) + ": out of memory"};
  const auto [all, returned] = replies_to<Shape>(asked);
  if (returned != 0) return nothing_found<Shape>(returned, options);
  const fi_info* taken = &first_reply<Shape>(*all);
  std::vector<device_verdict> said;
  if (const auto choose = options.device_near.choose; choose != nullptr) {
    auto choice = choose(Shape::name, offers_from<Shape>(*taken), options.device_near.memory);
    if (!choice) return std::move(choice).error();
    taken = static_cast<const fi_info*>(choice->taken);
    said = std::move(choice->verdicts);
  }
  owned_info copy(fi_dupinfo(taken));
  if (!copy)
    return failure{error(errc::no_memory, "fi_dupinfo"), "fabric " + std::string(Shape::name) + ": out of memory"};
  return chosen_info{std::move(copy), std::move(said)};
}

/// What is said where no near device was asked for: asks the library once more. Empty if it has nothing now.
template <class Shape>
std::vector<device_verdict> devices_in_order(const port_options& options) {
  const question asked = question_of<Shape>(options);
  if (!asked.hints) return {};
  const auto [all, returned] = replies_to<Shape>(asked);
  if (returned != 0) return {};
  return devices::in_order(Shape::name, offers_from<Shape>(first_reply<Shape>(*all)));
}

/// Opens fabric and domain. Refuses a library that differs from the baked values.
template <class Shape>
result<domain> open_domain(const port_options& options) {
  set_environment<Shape>();
  if (auto no = missing_library(); !no.empty())
    return failure{error(errc::unsupported, "dlopen"), "fabric " + std::string(Shape::name) + ": " + no};
  result<chosen_info> found = find_info<Shape>(options);
  if (!found) return std::move(found).error();
  auto differences = attest<Shape>(*found->info, options);
  if (!differences) return std::move(differences).error();
  const std::string who = "fabric " + std::string(Shape::name);
  domain opened{std::move(found->info), {}, {}, std::move(differences).value(), std::move(found->devices)};
  if (const int r = fi_fabric(opened.info->fabric_attr, opened.fabric.slot(), nullptr); r != 0)
    return refused(r, "fi_fabric", who);
  if (const int r = fi_domain(opened.fabric.get(), opened.info.get(), opened.object.slot(), nullptr); r != 0)
    return refused(r, "fi_domain", who);
  if constexpr (Shape::native_atomics)
    if (auto works = attest_atomics<Shape>(opened.object.get()); !works) return std::move(works).error();
  // The short calls (fi_send, fi_write) take their flags from here: no completion. Calls that want a completion pass
  // their own flags.
  opened.info->tx_attr->op_flags = 0;
  return opened;
}

}  // namespace weft::backends::libfabric
