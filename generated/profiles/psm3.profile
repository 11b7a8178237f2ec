# SPDX-License-Identifier: Apache-2.0
# Generated from providers.yaml by templates/profile.j2: do not edit. After a change there: ./weft generate
# What the emulator presents as psm3. Of several parts the last whose release is not newer than the running library holds.
fabric = psm3
until = 

since = 1.15
provider = psm3
fabric_name = 
endpoint_type = addressed
address_resolution = opaque
connects_lazily = true
forgets_peers = true
virtual_addressing = false
virtual_addressing_optional = true
virtual_addressing_costs_order = true
key_owner = application
key_bytes = 8
local_registration = false
region_endpoint_binding = false
write_immediate_bytes = 4
write_immediate_consumes_receive = false
send_immediate_bytes = 4
remote_counter_counts_writes = true
order_send_after_write = false
order_write_after_write = false
order_send_after_send = true
delivery_complete = true
refused_write = silent
selective_completion = true
atomics = provider
atomic_operations = add compare_swap swap and or xor min max read: int32 uint32 int64 uint64; add swap min max read: float double
atomics_cost_order = false
data_progress = polling
completion_wait = none
reports_killed_peer = false
same_host = false
context_bytes = 32
inject_bytes = 64
gather_limit = 1
rma_gather_limit = 1
queue_depth = 256
largest_message = 4294963200
largest_write = 4294963200
fused_bytes = 0
multi_receive = true
shared_receives = false
extended_posting = false
