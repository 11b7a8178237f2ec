# SPDX-License-Identifier: Apache-2.0
# Generated from providers.yaml by templates/profile.j2: do not edit. After a change there: ./weft generate
# What the emulator presents as unordered. Of several parts the last whose release is not newer than the running library holds.
fabric = unordered
until = 

since = 1.15
provider = unordered
fabric_name = 
endpoint_type = addressed
address_resolution = opaque
connects_lazily = true
forgets_peers = false
virtual_addressing = true
virtual_addressing_optional = false
virtual_addressing_costs_order = false
key_owner = provider
key_bytes = 2
local_registration = true
region_endpoint_binding = true
write_immediate_bytes = 0
write_immediate_consumes_receive = false
send_immediate_bytes = 4
remote_counter_counts_writes = false
order_send_after_write = false
order_write_after_write = false
order_send_after_send = false
delivery_complete = true
refused_write = silent
selective_completion = true
atomics = none
atomic_operations = none
atomics_cost_order = false
data_progress = polling
completion_wait = none
reports_killed_peer = false
same_host = false
context_bytes = 64
inject_bytes = 0
gather_limit = 1
rma_gather_limit = 1
queue_depth = 256
largest_message = 8192
largest_write = 1048576
fused_bytes = 0
multi_receive = false
shared_receives = false
extended_posting = false
