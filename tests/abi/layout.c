/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of WEFT_ABI 0: programs that were compiled before must find each field and number where it was. It
 * compiles, or the compiler names what moved. A later version may add fields at the end of weft_options and
 * weft_counters only, and numbers at the end of an enumeration. */
#include <weft/weft.h>

#define AT(type, field, offset) _Static_assert(offsetof(type, field) == (offset), #type "." #field " moved")
#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), #type " has another size")
#define IS(name, number) _Static_assert((name) == (number), #name " has another number")

IS(WEFT_ABI, 0);
SIZE(weft_transport, 8);
SIZE(weft_status, 4);
SIZE(weft_atomic_kind, 4);
SIZE(weft_number, 4);

SIZE(weft_slice, 24);
AT(weft_slice, region, 0);
AT(weft_slice, offset, 8);
AT(weft_slice, size, 16);
SIZE(weft_place, 16);
AT(weft_place, remote, 0);
AT(weft_place, offset, 8);

SIZE(weft_options, 88);
AT(weft_options, size, 0);
AT(weft_options, node, 8);
AT(weft_options, service, 16);
AT(weft_options, fabrics, 24);
AT(weft_options, flags, 32);
AT(weft_options, max_message_bytes, 36);
AT(weft_options, receives, 40);
AT(weft_options, operations, 44);
AT(weft_options, peers, 48);
AT(weft_options, pending, 52);
AT(weft_options, peers_per_host, 56);
AT(weft_options, reserved, 60);
AT(weft_options, handshake_limit, 64);
AT(weft_options, operation_timeout, 72);
AT(weft_options, silence_limit, 80);

SIZE(weft_counters, 48);
AT(weft_counters, in_flight, 8);
AT(weft_counters, stale, 16);
AT(weft_counters, garbled, 24);
AT(weft_counters, turned_away, 32);
AT(weft_counters, fallbacks, 40);

SIZE(weft_event, 64);
AT(weft_event, kind, 0);
AT(weft_event, status, 4);
AT(weft_event, context, 8);
AT(weft_event, peer, 16);
AT(weft_event, operation, 24);
AT(weft_event, immediate, 28);
AT(weft_event, old, 32);
AT(weft_event, data, 40);
AT(weft_event, size, 48);
AT(weft_event, text, 56);

IS(WEFT_OK, 0);
IS(WEFT_AGAIN, -1);
IS(WEFT_TRUNCATED, -2);
IS(WEFT_OUT_OF_RANGE, -3);
IS(WEFT_DENIED, -4);
IS(WEFT_UNREACHABLE, -5);
IS(WEFT_REJECTED, -6);
IS(WEFT_INCOMPATIBLE, -7);
IS(WEFT_PEER_LOST, -8);
IS(WEFT_DEADLINE, -9);
IS(WEFT_CLOSED, -10);
IS(WEFT_INVALID, -11);
IS(WEFT_NO_MEMORY, -12);
IS(WEFT_UNSUPPORTED, -13);
IS(WEFT_BROKEN, -14);
IS(WEFT_NATIVE, -15);

IS(WEFT_LISTENS, 1);
IS(WEFT_SLEEPS, 2);
IS(WEFT_FALLBACK_ALLOWED, 4);
IS(WEFT_DEGRADE_ALLOWED, 8);
IS(WEFT_WARN, 16);
IS(WEFT_COUNTS, 32);
IS(WEFT_QUIET, 1);
IS(WEFT_REMOTE_WRITE, 1);
IS(WEFT_REMOTE_READ, 2);
IS(WEFT_REMOTE_ATOMIC, 4);
IS(WEFT_PRIVATE_BYTES, 64);
IS(WEFT_DESCRIPTION_BYTES, 256);

IS(WEFT_COMPLETED, 1);
IS(WEFT_FAILED, 2);
IS(WEFT_RECEIVED, 3);
IS(WEFT_NOTIFIED, 4);
IS(WEFT_REQUESTED, 5);
IS(WEFT_CONNECTED, 6);
IS(WEFT_LOST, 7);
IS(WEFT_LIST_ENDED, 8);

IS(WEFT_OP_SEND, 1);
IS(WEFT_OP_PUT, 2);
IS(WEFT_OP_PUT_NOTIFY, 3);
IS(WEFT_OP_GET, 4);
IS(WEFT_OP_FLUSH, 5);
IS(WEFT_OP_ATOMIC, 6);
IS(WEFT_OP_RECEIVE_TAGGED, 7);

IS(WEFT_FETCH_ADD, 1);
IS(WEFT_COMPARE_SWAP, 2);
IS(WEFT_SWAP, 3);
IS(WEFT_FETCH_AND, 4);
IS(WEFT_FETCH_OR, 5);
IS(WEFT_FETCH_XOR, 6);
IS(WEFT_FETCH_MIN, 7);
IS(WEFT_FETCH_MAX, 8);
IS(WEFT_LOAD, 9);
IS(WEFT_INT32, 1);
IS(WEFT_UINT32, 2);
IS(WEFT_INT64, 3);
IS(WEFT_UINT64, 4);
IS(WEFT_FLOAT32, 5);
IS(WEFT_FLOAT64, 6);

SIZE(weft_transfer, 40);
AT(weft_transfer, there, 24);
SIZE(weft_list_limits, 24);
AT(weft_list_limits, lists, 8);
AT(weft_list_limits, peers, 12);
AT(weft_list_limits, in_flight_per_peer, 16);
AT(weft_list_limits, posts_at_once, 20);
SIZE(weft_list_options, 40);
AT(weft_list_options, context, 8);
AT(weft_list_options, timeout, 16);
AT(weft_list_options, priority, 24);
AT(weft_list_options, flags, 28);
AT(weft_list_options, immediate, 32);
SIZE(weft_list_progress, 32);
AT(weft_list_progress, bytes_done, 8);
AT(weft_list_progress, done, 16);
AT(weft_list_progress, transfers, 20);
AT(weft_list_progress, status, 24);
AT(weft_list_progress, failed_transfer, 28);
IS(WEFT_NORMAL, 0);
IS(WEFT_URGENT, 1);
IS(WEFT_BACKGROUND, 2);
IS(WEFT_NOTIFIES, 1);

typedef int weft_layout_is_kept; /* C wants a declaration beside assertions */
