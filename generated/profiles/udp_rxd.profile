# SPDX-License-Identifier: Apache-2.0
# Generated from providers.yaml by templates/profile.j2: do not edit. After a change there: ./weft generate
# What the emulator presents as udp_rxd. Of several parts the last whose release is not newer than the running library holds.
fabric = udp_rxd
until = 

since = 1.15
provider = udp;ofi_rxd
fabric_name = 
endpoint_type = addressed
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
remote_counter_counts_writes = true
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
completion_wait = yield
reports_killed_peer = false
same_host = false
context_bytes = 0
inject_bytes = 1256
gather_limit = 4
rma_gather_limit = 4
queue_depth = 1024
largest_message = unlimited
largest_write = unlimited
fused_bytes = 740
multi_receive = true
shared_receives = false
extended_posting = false
