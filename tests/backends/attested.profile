# SPDX-License-Identifier: Apache-2.0
# The emulated provider of libfabric_attestation.test.cpp: it needs nothing and offers much.
fabric = attested
since = 1.15
provider = attested
endpoint_type = addressed
key_owner = application
key_bytes = 8
write_immediate_bytes = 8
send_immediate_bytes = 8
remote_counter_counts_writes = true
order_send_after_write = true
order_write_after_write = true
order_send_after_send = true
delivery_complete = true
atomics = provider
atomic_operations = add compare_swap swap: uint64
data_progress = polling
completion_wait = none
multi_receive = true
inject_bytes = 256
gather_limit = 4
rma_gather_limit = 4
queue_depth = 512
largest_message = 1048576
largest_write = 1048576
