// SPDX-License-Identifier: Apache-2.0
//
// Claims of the library about the provider, without a peer: replies of fi_getinfo, objects that open, atomics that it
// lists. Hot path: no. Threads: one owner.
#include "asking.hpp"
#include "behaviours.hpp"
#include "endpoint_pair.hpp"

#include <rdma/fi_atomic.h>
#include <rdma/fi_endpoint.h>

#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weft::probe {

namespace {

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

void report_identity(const role& self, const question& base, const fi_info& info) {
  const std::uint32_t running = fi_version();
  self.report.fact("library", std::to_string(FI_MAJOR(running)) + "." + std::to_string(FI_MINOR(running)));
  self.report.fact("library_release", text_or_empty(fi_tostr("", FI_TYPE_VERSION)));
  self.report.fact("api", std::to_string(FI_MAJOR(self.about.api)) + "." + std::to_string(FI_MINOR(self.about.api)));
  self.report.fact("provider", text_or_empty(info.fabric_attr->prov_name));
  self.report.fact("device", text_or_empty(info.domain_attr->name));
  std::set<std::string> fabrics;
  const owned_info all = replies_to(self.about, base);
  for (const fi_info* each = all.get(); each != nullptr; each = each->next)
    if (wanted(self.about, *each)) fabrics.insert(text_or_empty(each->fabric_attr->name));
  self.report.fact("fabric_names", std::vector<std::string>(fabrics.begin(), fabrics.end()));
  self.report.fact("endpoint_type", info.ep_attr->type == FI_EP_MSG ? "connected" : "addressed");
  self.report.fact("socket_addresses", socket_addresses(info));
  self.report.fact("claims_own_host", (info.domain_attr->caps & FI_LOCAL_COMM) != 0);
  self.report.fact("claims_other_hosts", (info.domain_attr->caps & FI_REMOTE_COMM) != 0);
}

void report_needs(const role& self, const question& base) {
  self.report.fact("needs_pointers", (base.region_mode & FI_MR_VIRT_ADDR) != 0);
  self.report.fact("needs_provider_keys", (base.region_mode & FI_MR_PROV_KEY) != 0);
  self.report.fact("needs_local_registration", (base.region_mode & FI_MR_LOCAL) != 0);
  self.report.fact("needs_endpoint_binding", (base.region_mode & FI_MR_ENDPOINT) != 0);
  self.report.fact("needs_context_bytes", (base.mode & FI_CONTEXT2) != 0 ? 64 : (base.mode & FI_CONTEXT) != 0 ? 32 : 0);
  self.report.fact("needs_receives_for_immediates", (base.mode & FI_RX_CQ_DATA) != 0);
  question every = base;
  every.region_mode = every_region_mode;
  const owned_info offered = reply_to(self.about, every);
  self.report.fact("returns_pointers_if_offered", offered && (offered->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0);
  self.report.fact("returns_provider_keys_if_offered",
                   offered && (offered->domain_attr->mr_mode & FI_MR_PROV_KEY) != 0);
}

void report_sizes(const role& self, const fi_info& info) {
  self.report.fact("immediate_bytes", info.domain_attr->cq_data_size);
  self.report.fact("key_bytes", info.domain_attr->mr_key_size);
  self.report.fact("inject_bytes", info.tx_attr->inject_size);
  self.report.fact("pieces", info.tx_attr->iov_limit);
  self.report.fact("write_places", info.tx_attr->rma_iov_limit);
  self.report.fact("transmit_depth", info.tx_attr->size);
  self.report.fact("receive_depth", info.rx_attr->size);
  self.report.fact("largest", info.ep_attr->max_msg_size);
}

/// Whether the same provider answers a request with an addition.
template <class Change>
bool granted(const role& self, question base, Change change) {
  change(base);
  return reply_to(self.about, base) != nullptr;
}

/// Formats by their numbers in rdma/fabric.h, each asked for without an address.
void report_formats(const role& self, const question& base) {
  constexpr std::uint32_t formats = 32;
  demands anywhere = self.about;
  anywhere.node.clear();
  std::vector<std::size_t> answered;
  for (std::uint32_t format = FI_SOCKADDR_IN; format < formats; ++format) {
    question asked = base;
    asked.address_format = format;
    const owned_info reply = reply_to(anywhere, asked);
    if (reply && reply->addr_format == format) answered.push_back(format);
  }
  self.report.fact("address_formats", answered);
}

void report_capabilities(const role& self, const question& base) {
  const auto ordered = [](std::uint64_t order) { return [order](question& q) { q.order = order; }; };
  self.report.fact("send_after_write", granted(self, base, ordered(FI_ORDER_SAW)));
  self.report.fact("write_after_write", granted(self, base, ordered(FI_ORDER_WAW)));
  self.report.fact("send_after_send", granted(self, base, ordered(FI_ORDER_SAS)));
  self.report.fact("all_orders", granted(self, base, ordered(every_order)));
  self.report.fact("delivery_complete", granted(self, base, [](question& q) { q.op_flags = FI_DELIVERY_COMPLETE; }));
  self.report.fact("counts_remote_writes", granted(self, base, [](question& q) { q.caps |= FI_RMA_EVENT; }));
  self.report.fact("multi_receive", granted(self, base, [](question& q) { q.caps |= FI_MULTI_RECV; }));
  self.report.fact("atomics", granted(self, base, [](question& q) { q.caps |= FI_ATOMIC; }));
  self.report.fact("atomics_with_send_after_write", granted(self, base, [](question& q) {
                     q.caps |= FI_ATOMIC;
                     q.order = FI_ORDER_SAW;
                   }));
  demands with_pointers = self.about;
  with_pointers.pointers = true;
  question ordered_writes = base;
  ordered_writes.region_mode = every_region_mode;
  ordered_writes.order = FI_ORDER_SAW | FI_ORDER_WAW;
  self.report.fact("pointers_with_orders", reply_to(with_pointers, ordered_writes) != nullptr);
  for (const auto& [progress, name] :
       {std::pair{FI_PROGRESS_AUTO, "progress_if_automatic"}, std::pair{FI_PROGRESS_MANUAL, "progress_if_manual"},
        std::pair{FI_PROGRESS_UNSPEC, "progress_if_unsaid"}}) {
    question asked = base;
    asked.progress = progress;
    const owned_info reply = reply_to(self.about, asked);
    self.report.fact(name, !reply                                                  ? "refused"
                           : reply->domain_attr->data_progress == FI_PROGRESS_AUTO ? "automatic"
                                                                                   : "manual");
  }
}

/// Opens a queue with this wait object; returns the library's answer.
std::string opening_queue(fid_domain* domain, fi_wait_obj wait) {
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_DATA;
  attributes.wait_obj = wait;
  attributes.size = 64;
  fid_cq* queue = nullptr;
  const int returned = fi_cq_open(domain, &attributes, &queue, nullptr);
  const owner<fid_cq> opened(queue);
  return returned == 0 ? "granted" : error_name(returned);
}

void report_objects(const role& self, const question& base, const owned_info& info) {
  question asked = base;
  asked.caps |= FI_ATOMIC;
  owned_info with_atomics = reply_to(self.about, asked);
  fi_info& used = with_atomics ? *with_atomics : *info;
  fid_fabric* fabric = nullptr;
  require(fi_fabric(used.fabric_attr, &fabric, nullptr), "fi_fabric");
  const owner<fid_fabric> fabric_owner(fabric);
  fid_domain* domain = nullptr;
  require(fi_domain(fabric, &used, &domain, nullptr), "fi_domain");
  const owner<fid_domain> domain_owner(domain);
  self.report.fact("wait_descriptor", opening_queue(domain, FI_WAIT_FD));
  self.report.fact("wait_yield", opening_queue(domain, FI_WAIT_YIELD));
  self.report.fact("wait_unspecified", opening_queue(domain, FI_WAIT_UNSPEC));
  fi_cntr_attr counting{};
  counting.events = FI_CNTR_EVENTS_COMP;
  fid_cntr* counter = nullptr;
  const int counted = fi_cntr_open(domain, &counting, &counter, nullptr);
  const owner<fid_cntr> counter_owner(counter);
  self.report.fact("counter", counted == 0 ? "granted" : error_name(counted));
  fid_ep* pool = nullptr;  // addressed endpoints have one set of receives anyway
  const bool pooled = self.about.connected && fi_srx_context(domain, used.rx_attr, &pool, nullptr) == 0;
  const owner<fid_ep> pool_owner(pool);
  self.report.fact("shared_receives", pooled);
  const auto listed = [domain](fi_op operation, std::uint64_t flags) {
    fi_atomic_attr attributes{};
    const int returned = fi_query_atomic(domain, FI_UINT64, operation, &attributes, flags);
    return returned != 0                                  ? error_name(returned)
           : attributes.count > 0 && attributes.size == 8 ? "granted"
                                                          : "not of 8 bytes";
  };
  constexpr std::pair<fi_op, const char*> operations[] = {
      {FI_SUM, "add"},         {FI_CSWAP, "compare_swap"}, {FI_ATOMIC_WRITE, "swap"}, {FI_BAND, "and"},
      {FI_BOR, "or"},          {FI_BXOR, "xor"},           {FI_MIN, "min"},           {FI_MAX, "max"},
      {FI_ATOMIC_READ, "read"}};
  constexpr std::pair<fi_datatype, const char*> types[] = {{FI_INT32, "int32"}, {FI_UINT32, "uint32"},
                                                           {FI_INT64, "int64"}, {FI_UINT64, "uint64"},
                                                           {FI_FLOAT, "float"}, {FI_DOUBLE, "double"}};
  std::vector<std::string> all;
  for (const auto& [operation, name] : operations)
    for (const auto& [type, of] : types) {
      if (operation == FI_CSWAP && (type == FI_FLOAT || type == FI_DOUBLE))
        continue;  // by value here, by bits there: no promise needs it
      fi_atomic_attr attributes{};
      const std::uint64_t flags = operation == FI_CSWAP ? FI_COMPARE_ATOMIC : FI_FETCH_ATOMIC;
      if (fi_query_atomic(domain, type, operation, &attributes, flags) == 0 && attributes.count > 0)
        all.push_back(std::string(name) + " " + of);
    }
  self.report.fact("atomic_operations", all);
  self.report.fact("fetch_add", listed(FI_SUM, FI_FETCH_ATOMIC));
  self.report.fact("compare_swap", listed(FI_CSWAP, FI_COMPARE_ATOMIC));
}

}  // namespace

void claims(const role& self) {
  const question base = least(self.about);
  const owned_info info = reply_to(self.about, base);
  if (!info) throw refused{"fi_getinfo", FI_ENODATA};
  report_identity(self, base, *info);
  report_needs(self, base);
  report_sizes(self, *info);
  report_formats(self, base);
  report_capabilities(self, base);
  report_objects(self, base, info);
}

}  // namespace weft::probe
