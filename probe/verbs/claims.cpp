// SPDX-License-Identifier: Apache-2.0
//
// Claims of the library about the device that owns the address: ibv_query_device(3), ibv_query_port(3), and the granted
// attributes of a queue pair. The interface itself adds: keys are the device's, addresses are virtual, each buffer
// names a local key. InfiniBand promises orders that iWARP does not. Hot path: no. Threads: one owner.
#include "../behaviours.hpp"
#include "card.hpp"

#include <string>
#include <vector>

namespace weft::probe {

namespace {

using cards::opened_device;
using cards::owner;

void report_identity(const role& self, const opened_device& on) {
  self.report.fact("library_name", "rdma-core");
  for (const char* each : {"library", "library_release", "api"}) self.report.fact(each, cards::running_release());
  self.report.fact("provider", std::string());
  self.report.fact("device", std::string(ibv_get_device_name(on.context->device)) +
                                 (on.internet_wire ? " (iWARP)" : " (InfiniBand's verbs)"));
  self.report.fact("fabric_names", std::vector<std::string>());
  self.report.fact("endpoint_type", "connected");
  self.report.fact("socket_addresses", true);
  self.report.fact("claims_own_host", true);
  self.report.fact("claims_other_hosts", true);
}

void report_interface(const role& self, const opened_device& on) {
  for (const char* yes :
       {"needs_pointers", "needs_provider_keys", "needs_local_registration", "send_after_write", "send_after_send"})
    self.report.fact(yes, true);
  for (const char* no : {"needs_endpoint_binding", "counts_remote_writes"}) self.report.fact(no, false);
  self.report.fact("needs_context_bytes", 0);
  self.report.fact("needs_receives_for_immediates", !on.internet_wire);
  self.report.fact("immediate_bytes", on.internet_wire ? 0 : 4);
  self.report.fact("key_bytes", sizeof(std::uint32_t));
  self.report.fact("write_after_write", !on.internet_wire);  // RFC 5040, 5.5: placement is in any order
  // No flag requests it; on iWARP a read after the write is the way (RFC 5040, 5.5, rule 5).
  self.report.fact("delivery_complete", on.internet_wire);
  self.report.fact("counter", "ENOSYS");
  for (const char* each : {"progress_if_automatic", "progress_if_manual", "progress_if_unsaid"})
    self.report.fact(each, "automatic");
}

void report_device(const role& self, const opened_device& on, std::uint32_t inline_bytes) {
  const bool atomics = on.attributes.atomic_cap != IBV_ATOMIC_NONE;
  self.report.fact("atomics", atomics);
  self.report.fact("atomics_with_send_after_write", atomics);
  self.report.fact("fetch_add", atomics ? "granted" : "none");
  self.report.fact("compare_swap", atomics ? "granted" : "none");
  self.report.fact("inject_bytes", inline_bytes);
  self.report.fact("pieces", on.attributes.max_sge);
  self.report.fact("write_places", on.attributes.max_sge);  // of the source: a write has one target
  self.report.fact("transmit_depth", on.attributes.max_qp_wr);
  self.report.fact("receive_depth", on.attributes.max_qp_wr);
  self.report.fact("largest", on.port_attributes.max_msg_sz);
}

}  // namespace

void claims(const role& self) {
  const opened_device on(self.about);
  const owner<ibv_comp_channel, ibv_destroy_comp_channel> wakes(ibv_create_comp_channel(on.context));
  report_identity(self, on);
  report_interface(self, on);
  report_device(self, on, cards::granted_inline_bytes(on));
  self.report.fact("wait_descriptor", wakes ? "granted" : "refused");
}

}  // namespace weft::probe
