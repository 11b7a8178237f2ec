# SPDX-License-Identifier: Apache-2.0
# Generated from providers.yaml by templates/profile.j2: do not edit. After a change there: ./weft generate
# What the emulator presents as tcp. Of several parts the last whose release is not newer than the running library holds.
fabric = tcp
until = 

since = 1.15
provider = tcp
fabric_name = 
endpoint_type = connected
address_resolution = socket
connects_lazily = false
forgets_peers = true
virtual_addressing = false
virtual_addressing_optional = false
virtual_addressing_costs_order = false
key_owner = application
key_bytes = 8
local_registration = false
region_endpoint_binding = false
write_immediate_bytes = 8
write_immediate_consumes_receive = false
send_immediate_bytes = 8
remote_counter_counts_writes = false
order_send_after_write = true
order_write_after_write = true
order_send_after_send = true
delivery_complete = true
refused_write = silent
selective_completion = true
atomics = none
atomic_operations = none
atomics_cost_order = false
data_progress = polling
completion_wait = descriptor
reports_killed_peer = true
same_host = false
context_bytes = 0
inject_bytes = 128
gather_limit = 4
rma_gather_limit = 4
queue_depth = 256
largest_message = unlimited
largest_write = unlimited
fused_bytes = 740
multi_receive = false
shared_receives = true
extended_posting = false
