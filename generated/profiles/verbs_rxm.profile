# SPDX-License-Identifier: Apache-2.0
# Generated from providers.yaml by templates/profile.j2: do not edit. After a change there: ./weft generate
# What the emulator presents as verbs_rxm. Of several parts the last whose release is not newer than the running library holds.
fabric = verbs_rxm
until = 

since = 1.15
provider = verbs;ofi_rxm
fabric_name = 
endpoint_type = addressed
address_resolution = socket
connects_lazily = true
forgets_peers = true
virtual_addressing = true
virtual_addressing_optional = false
virtual_addressing_costs_order = false
key_owner = provider
key_bytes = 4
local_registration = true
region_endpoint_binding = false
write_immediate_bytes = 4
write_immediate_consumes_receive = false
send_immediate_bytes = 4
remote_counter_counts_writes = false
order_send_after_write = true
order_write_after_write = true
order_send_after_send = true
delivery_complete = true
refused_write = reported
selective_completion = true
atomics = provider
atomic_operations = add compare_swap swap and or xor min max read: int32 uint32 int64 uint64; add swap min max read: float double
atomics_cost_order = true
data_progress = polling
completion_wait = descriptor
reports_killed_peer = false
same_host = false
context_bytes = 0
inject_bytes = 0
gather_limit = 4
rma_gather_limit = 1
queue_depth = 2048
largest_message = 8388608
largest_write = 8388608
fused_bytes = 0
multi_receive = true
shared_receives = false
extended_posting = false
