// SPDX-License-Identifier: Apache-2.0
//
// Finds the device of an address, and checks that it is what the header was generated for. Each cell that an answer
// relies on is compared (asked, returned, baked); open refuses with the list of differences.
// Nothing adapts at run time. The connection manager finds a device by the address of its interface; without an address
// its first device is used, or the one that options.device_near asks for.
// Hot path: no. Threads: one owner.
#pragma once

#include "address.hpp"
#include "bound_devices.hpp"
#include "extended_posting.hpp"
#include "loaded_library.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace weft::backends::verbs {

/// The opened device: its limits, and the protection domain of all objects of a port.
struct device {
  ibv_context* context = nullptr;  ///< Owned by the connection manager.
  owned<ibv_pd> domain;
  socket_address own;  ///< options.node, resolved; length 0: any.
  std::string name;
  ibv_device_attr attributes{};
  std::uint64_t largest_message = 0;
  std::uint32_t send_depth = 0;  ///< Per link, for callers.
  std::uint32_t queue_size = 0;  ///< Entries of the completion queue: everything that all links can have in flight.
  std::uint32_t inline_bytes = 0;
  bool makes_pairs = false;  ///< The device makes queue pairs of the row's posting kind.
  std::string differences;   ///< Accepted differences from the row.
  std::vector<device_verdict> verdicts;
  /// iWARP: no immediates, no atomics, and the destination of a read must be remotely writable (RFC 5040).
  bool internet_wire = false;
};

/// Entries of each send queue that are reserved for the backend's own credit writes.
inline constexpr std::uint32_t send_reserve = 16;
inline constexpr std::uint32_t least_send_depth = 16;

/// The cells that differ, as text, and whether an answer depends on one of them.
class differences {
 public:
  void at_least(const char* name, std::uint64_t baked, std::uint64_t returned, bool an_answer_rests_on_it = false) {
    if (returned < baked)
      cell(name, "at least " + std::to_string(baked), std::to_string(returned), an_answer_rests_on_it);
  }
  void cell(const char* name, const std::string& baked, const std::string& returned,
            bool an_answer_rests_on_it = true) {
    if (!text_.empty()) text_ += "; ";
    text_ += std::string(name) + ": asked " + baked + ", returned " + returned + ", baked " + baked;
    if (!an_answer_rests_on_it) text_ += " (no answer depends on it)";
    serious_ |= an_answer_rests_on_it;
  }
  const std::string& text() const { return text_; }
  bool refuse(on_difference chosen) const { return !text_.empty() && (serious_ || chosen == on_difference::refuse); }
  bool serious() const { return serious_; }

 private:
  std::string text_;
  bool serious_ = false;
};

/// Refuses unless every cell that an answer relies on has its baked value. options.on_difference decides about the
/// others. Returns the accepted differences.
template <class Shape>
result<std::string> attest(const device& of, const ibv_port_attr& port, const port_options& options) {
  constexpr const fabric_facts& facts = Shape::facts;
  differences found;
  if (of.internet_wire && Shape::write_immediate)
    found.cell("write_immediate_bytes", std::to_string(facts.write_immediate_bytes), "0");
  if (of.internet_wire && !Shape::framed)
    found.cell("send_immediate_bytes", std::to_string(facts.send_immediate_bytes), "0");
  if (Shape::native_atomics && of.attributes.atomic_cap == IBV_ATOMIC_NONE) found.cell("atomics", "provider", "none");
  if (Shape::facts.extended_posting && !of.makes_pairs) found.cell("extended_posting", "true", "false");
  const auto depth = static_cast<std::uint64_t>(std::max(0, of.attributes.max_qp_wr));
  found.at_least("queue_depth", facts.queue_depth, depth);
  const auto pooled = static_cast<std::uint64_t>(of.attributes.max_srq > 0 ? std::max(0, of.attributes.max_srq_wr) : 0);
  found.at_least("receives", options.receives, Shape::shared_receives ? pooled : depth, true);
  if (Shape::shared_receives && of.internet_wire) found.cell("shared_receives", "true", "false");
  found.at_least("gather_limit", facts.gather_limit, static_cast<std::uint64_t>(std::max(0, of.attributes.max_sge)),
                 true);
  found.at_least("inject_bytes", facts.inject_bytes, of.inline_bytes, true);
  found.at_least("largest_message", facts.largest_message, port.max_msg_sz);
  found.at_least("largest_write", facts.largest_write, port.max_msg_sz);
  std::string said = "fabric " + std::string(Shape::name) + ": device " + of.name +
                     " is not what this program was generated for: " + found.text();
  if (found.refuse(options.on_difference)) {
    if (!found.serious()) said += "; on_difference::degrade accepts these differences";
    return failure{error(errc::broken, "open"), said + " [WEFT-O003]"};
  }
  return found.text();
}

/// The address of the device that options.device_near asks for becomes the port's own.
template <class Shape>
result<void> bind_near(device& into, const port_options& options) {
  const std::string who = "fabric " + std::string(Shape::name);
  const bound_devices all;
  if (all.empty())
    return failure{error(errc::unsupported, "rdma_bind_addr"),
                   who + ": device_near is asked for, and no RDMA device has an address (rdma link, ip address)"};
  auto choice = options.device_near.choose(Shape::name, all.offers(), options.device_near.memory);
  if (!choice) return std::move(choice).error();
  into.own = static_cast<const bound_devices::bound_device*>(choice->taken)->at;
  into.verdicts = std::move(choice->verdicts);
  if (options.service.empty()) return {};
  auto port = resolve_address({}, options.service, who);
  if (!port) return std::move(port).error();
  into.own.set_port(port->port());
  return {};
}

/// Finds context and port of the device with this address, or of the first device.
template <class Shape>
result<std::uint8_t> find_device(device& into) {
  const std::string who = "fabric " + std::string(Shape::name);
  if (into.own.length() == 0 || into.own.any()) {
    int count = 0;
    ibv_context** all = rdma_get_devices(&count);
    if (all == nullptr || count == 0)
      return failure{
          error(errc::unsupported, "rdma_get_devices"),
          who + ": no RDMA device on this machine (rdma link lists devices, ibv_devinfo shows details) [WEFT-O001]"};
    into.context = all[0];
    rdma_free_devices(all);
    return std::uint8_t{1};
  }
  rdma_cm_id* made = nullptr;
  if (rdma_create_id(nullptr, &made, nullptr, RDMA_PS_TCP) != 0)
    return refused(errno, "rdma_create_id", who + ": the kernel's connection manager (module rdma_ucm) is missing");
  const owned<rdma_cm_id> id(made);
  socket_address anywhere = into.own;
  anywhere.set_port(0);
  if (rdma_bind_addr(made, anywhere.get()) != 0 || made->verbs == nullptr)
    return refused(errno == 0 ? ENODEV : errno, "rdma_bind_addr",
                   who + ": " + into.own.printable() +
                       " is not the address of an RDMA device of this machine (rdma link lists devices)");
  into.context = made->verbs;
  return made->port_num;
}

/// Finds the inline limit: the largest of a few sizes with which the device makes a queue pair. No attribute reports
/// it.
template <class Shape>
void find_inline_bytes(device& of) {
  const owned<ibv_cq> queue(ibv_create_cq(of.context, 1, nullptr, nullptr, 0));
  if (!queue) return;
  for (const std::uint32_t wanted : {256U, 128U, 64U, 32U, 0U}) {
    ibv_qp_init_attr ask{};
    ask.send_cq = ask.recv_cq = queue.get();
    ask.qp_type = IBV_QPT_RC;
    ask.cap = {1, 1, 1, 1, wanted};
    const owned<ibv_qp> trial(trial_pair<Shape>(of.context, of.domain.get(), ask));
    if (!trial) continue;
    of.makes_pairs = true;
    if (wanted != 0) of.inline_bytes = std::min(ask.cap.max_inline_data, 4096U);
    return;
  }
}

/// Sizes the queues: the completion queue must hold everything that all links can have in flight, or open refuses.
template <class Shape>
result<void> size_queues(device& of, const port_options& options) {
  // Where a notice is a separate message, an operation is two posts.
  const std::uint64_t wanted =
      std::max<std::uint64_t>(least_send_depth, std::uint64_t{options.operations} * (Shape::write_immediate ? 1 : 2));
  const std::uint64_t links = std::max(1U, options.links);
  const auto entries = static_cast<std::uint64_t>(std::max(0, of.attributes.max_cqe));
  const auto works = static_cast<std::uint64_t>(std::max(0, of.attributes.max_qp_wr));
  const std::uint64_t taken = (Shape::shared_receives ? 0 : options.receives) + send_reserve;
  const std::uint64_t pool = Shape::shared_receives ? options.receives : 0;
  const std::uint64_t each = (entries - std::min(entries, pool)) / links;
  const std::uint64_t room = each > taken ? each - taken : 0;
  const std::uint64_t depth = std::min({wanted, room, works > send_reserve ? works - send_reserve : 0});
  if (depth < least_send_depth)
    return failure{error(errc::no_memory, "open"),
                   "fabric " + std::string(Shape::name) + ": device " + of.name + " has completion queues of " +
                       std::to_string(entries) + " entries, too few for " + std::to_string(links) + " links of " +
                       std::to_string(options.receives) + " receives; ask for fewer in port_options"};
  of.send_depth = static_cast<std::uint32_t>(depth);
  of.queue_size = static_cast<std::uint32_t>(links * (depth + taken) + pool);
  return {};
}

/// Opens the device of the row. Refuses a device that differs from the baked values.
template <class Shape>
result<device> open_device(const port_options& options) {
  const std::string who = "fabric " + std::string(Shape::name);
  if (auto no = missing_library(); !no.empty()) return failure{error(errc::unsupported, "dlopen"), who + ": " + no};
  device opened;
  if (!options.node.empty()) {
    if (auto own = resolve_address(options.node, options.service, who)) opened.own = *own;
    else return std::move(own).error();
  } else if (options.device_near.choose != nullptr) {
    if (auto bound = bind_near<Shape>(opened, options); !bound) return std::move(bound).error();
  }
  const auto port = find_device<Shape>(opened);
  if (!port) return port.error();
  opened.name = ibv_get_device_name(opened.context->device);
  if (opened.verdicts.empty())
    opened.verdicts.push_back({Shape::name,
                               opened.name,
                               {},
                               true,
                               options.node.empty() ? "the library has it first, and device_near is none"
                                                    : "it has the address " + options.node});
  opened.internet_wire = opened.context->device->transport_type == IBV_TRANSPORT_IWARP;
  ibv_port_attr seen{};
  if (const int r = ibv_query_device(opened.context, &opened.attributes); r != 0)
    return refused(r, "ibv_query_device", who);
  if (const int r = ibv_query_port(opened.context, *port, &seen); r != 0) return refused(r, "ibv_query_port", who);
  opened.domain.reset(ibv_alloc_pd(opened.context));
  if (!opened.domain) return refused(errno, "ibv_alloc_pd", who);
  opened.largest_message = seen.max_msg_sz;
  find_inline_bytes<Shape>(opened);
  auto accepted = attest<Shape>(opened, seen, options);
  if (!accepted) return std::move(accepted).error();
  opened.differences = std::move(accepted).value();
  if (auto sized = size_queues<Shape>(opened, options); !sized) return std::move(sized).error();
  return opened;
}

}  // namespace weft::backends::verbs
