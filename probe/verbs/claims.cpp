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

void tell_identity(const role& self, const opened_device& on) {
  self.told.fact("library_name", "rdma-core");
  for (const char* each : {"library", "library_release", "api"}) self.told.fact(each, cards::running_release());
  self.told.fact("provider", std::string());
  self.told.fact("device", std::string(ibv_get_device_name(on.context->device)) +
                               (on.internet_wire ? " (iWARP)" : " (InfiniBand's verbs)"));
  self.told.fact("fabric_names", std::vector<std::string>());
  self.told.fact("endpoint_type", "connected");
  self.told.fact("socket_addresses", true);
  self.told.fact("claims_own_host", true);
  self.told.fact("claims_other_hosts", true);
}

void tell_interface(const role& self, const opened_device& on) {
  for (const char* yes :
       {"needs_pointers", "needs_provider_keys", "needs_local_registration", "send_after_write", "send_after_send"})
    self.told.fact(yes, true);
  for (const char* no : {"needs_endpoint_binding", "counts_remote_writes"}) self.told.fact(no, false);
  self.told.fact("needs_context_bytes", 0);
  self.told.fact("needs_receives_for_immediates", !on.internet_wire);
  self.told.fact("immediate_bytes", on.internet_wire ? 0 : 4);
  self.told.fact("key_bytes", sizeof(std::uint32_t));
  self.told.fact("write_after_write", !on.internet_wire);  // RFC 5040, 5.5: placement is in any order
  // No flag requests it; on iWARP a read after the write is the way (RFC 5040, 5.5, rule 5).
  self.told.fact("delivery_complete", on.internet_wire);
  self.told.fact("counter", "ENOSYS");
  for (const char* each : {"progress_if_automatic", "progress_if_manual", "progress_if_unsaid"})
    self.told.fact(each, "automatic");
}

void tell_device(const role& self, const opened_device& on, std::uint32_t inline_bytes) {
  const bool atomics = on.attributes.atomic_cap != IBV_ATOMIC_NONE;
  self.told.fact("atomics", atomics);
  self.told.fact("atomics_with_send_after_write", atomics);
  self.told.fact("fetch_add", atomics ? "granted" : "none");
  self.told.fact("compare_swap", atomics ? "granted" : "none");
  self.told.fact("inject_bytes", inline_bytes);
  self.told.fact("pieces", on.attributes.max_sge);
  self.told.fact("write_places", on.attributes.max_sge);  // of the source: a write has one target
  self.told.fact("transmit_depth", on.attributes.max_qp_wr);
  self.told.fact("receive_depth", on.attributes.max_qp_wr);
  self.told.fact("largest", on.port_attributes.max_msg_sz);
}

}  // namespace

void claims(const role& self) {
  const opened_device on(self.about);
  const owner<ibv_comp_channel, ibv_destroy_comp_channel> wakes(ibv_create_comp_channel(on.context));
  tell_identity(self, on);
  tell_interface(self, on);
  tell_device(self, on, cards::granted_inline_bytes(on));
  self.told.fact("wait_descriptor", wakes ? "granted" : "refused");
}

}  // namespace weft::probe
