/* SPDX-License-Identifier: Apache-2.0
 *
 * weft for C, and for every language that calls C: `#include <weft/weft.h>`, linked with libweft.so.0. The library
 * holds one set of fabrics (compose/sets/), and takes the best fabric for each peer at run time. It loads libfabric and
 * rdma-core when it opens them, so it starts on machines without them.
 *
 * Answers. Each call returns WEFT_OK, or a negative weft_status. Calls that count return the count instead of WEFT_OK.
 * Nothing else crosses the line: no exception, no signal, no callback. Wrong arguments get WEFT_INVALID, and
 * weft_last_sentence() says what is wrong. Handles are numbers with a generation: a closed handle gets WEFT_CLOSED, a
 * peer that is gone gets WEFT_PEER_LOST, and nothing is read through either.
 *
 * Events. Posts (send, put, get, atomics) never wait. Each ends in one event that carries the post's context.
 * weft_poll() and weft_wait() fill an array of events. Calls with a timeout make progress themselves, and keep events
 * of others for the next weft_poll(). Timeouts are in nanoseconds.
 *
 * Threads. One thread at a time uses a transport and its handles. Different transports may be used at the same time.
 * After fork() the child has no transport: each call there answers WEFT_CLOSED.
 */
#ifndef WEFT_H
#define WEFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEFT_API __attribute__((visibility("default")))
#else
#define WEFT_API
#endif

/** Of the binary interface: the N of libweft.so.N and of the symbol version WEFT_N. */
#define WEFT_ABI 0

/* ---- statuses ---------------------------------------------------------------------------------------------------- */

/** What happened, in the few kinds that a caller can act upon. The numbers never change. */
typedef enum weft_status {
  WEFT_OK = 0,
  WEFT_AGAIN = -1,        /**< Nothing was posted: poll, then try once more. */
  WEFT_TRUNCATED = -2,    /**< A message is larger than the peer takes (weft_largest_message), or room is too small. */
  WEFT_OUT_OF_RANGE = -3, /**< The transfer leaves the region: nothing was posted, or the target refused it. */
  WEFT_DENIED = -4,       /**< The region does not grant this right, or its key is no longer valid. */
  WEFT_UNREACHABLE = -5,  /**< Nobody answers at that address. */
  WEFT_REJECTED = -6,     /**< The other side answered no. */
  WEFT_INCOMPATIBLE = -7, /**< The other side has other fabrics, another wire version or other rules. */
  WEFT_PEER_LOST = -8,    /**< The peer is gone. What was outstanding may or may not have happened. */
  WEFT_DEADLINE = -9,     /**< Not finished in the time given. */
  WEFT_CLOSED = -10,      /**< Closed in order: the transport, peer, region, list; also all transports after fork(). */
  WEFT_INVALID = -11,     /**< The arguments break the contract of the call. */
  WEFT_NO_MEMORY = -12,   /**< No memory, or no free record, is left. */
  WEFT_UNSUPPORTED = -13, /**< The fabrics cannot do it. */
  WEFT_BROKEN = -14,      /**< The library or the peer did what the fabric's facts say it does not. */
  WEFT_NATIVE = -15       /**< An error of the system or of a library that has no closer name. */
} weft_status;

/** The status in words, without the details of one call. Never NULL; valid for ever. Any thread. */
WEFT_API const char* weft_status_text(int status);
/** The name of the status as it is spelled here: "WEFT_AGAIN". Never NULL; valid for ever. Any thread. */
WEFT_API const char* weft_status_name(int status);
/** The version of the library: 10000 * major + 100 * minor + patch. Any thread. */
WEFT_API uint32_t weft_version(void);
/** The same as text: "0.2.0". Any thread. */
WEFT_API const char* weft_version_text(void);
/** Names of the fabrics that this library was built with: "mapped,shm,tcp". Which of them open is known later. */
WEFT_API const char* weft_built_fabrics(void);

/* ---- handles ----------------------------------------------------------------------------------------------------- */

/** A transport: endpoints, memory and peers. NULL is none. Handles are numbers: never read through them. */
typedef struct weft_transport_handle* weft_transport;
/** A peer, from its first event to its end. NULL is nobody. Compare with ==. */
typedef struct weft_peer_handle* weft_peer;
/** Registered memory of this side. */
typedef struct weft_region_handle* weft_region;
/** A region that one peer described. It knows its peer, and ends with it. */
typedef struct weft_remote_handle* weft_remote;

/** A list of transfers that was checked once: weft_prepare_list(). */
typedef struct weft_prepared_handle* weft_prepared;
/** A list under way: weft_post_list(). Its WEFT_LIST_ENDED closes it. */
typedef struct weft_list_handle* weft_list;
/** A tagged receive that has not ended: weft_receive_tagged(). Its event closes it. */
typedef struct weft_tagged_handle* weft_tagged;

/** Part of a region: the source or destination of a transfer. */
typedef struct weft_slice {
  weft_region region;
  uint64_t offset; /**< In bytes. */
  uint64_t size;   /**< In bytes. */
} weft_slice;

/** A place in a peer's region. */
typedef struct weft_place {
  weft_remote remote;
  uint64_t offset; /**< In bytes from the region's begin. */
} weft_place;

/* ---- open and close ---------------------------------------------------------------------------------------------- */

/** Flags of weft_options. */
enum {
  WEFT_LISTENS = 1,          /**< Others may connect. A service implies it. */
  WEFT_SLEEPS = 2,           /**< weft_wait() and event loops may sleep. Costs latency on some fabrics. */
  WEFT_FALLBACK_ALLOWED = 4, /**< Where the best fabric of a pair fails, take the next, and say so on stderr. */
  WEFT_DEGRADE_ALLOWED = 8,  /**< Open a library that differs from its facts where no answer depends on it. */
  WEFT_WARN = 16,            /**< As WEFT_DEGRADE_ALLOWED, and the differences go to stderr. */
  WEFT_COUNTS = 32           /**< `weft top` shows this transport. WEFT_COUNTS=1 in the environment does the same. */
};

/** How a transport is opened. Begin with `weft_options o = WEFT_OPTIONS;`. 0 and NULL mean the default. */
typedef struct weft_options {
  uint64_t size;       /**< sizeof(weft_options). A later library takes the options of an earlier program. */
  const char* node;    /**< Local address ("127.0.0.1", "::1"); NULL: the library's choice. */
  const char* service; /**< Where others find this transport ("7471"); NULL with WEFT_LISTENS: any free one. */
  const char* fabrics; /**< Fabrics that may be used ("mapped,tcp"); NULL: the variable WEFT_FABRICS, else all. */
  uint32_t flags;      /**< WEFT_LISTENS and others. An unknown flag is WEFT_INVALID. */
  uint32_t max_message_bytes; /**< Largest message that peers may send to this transport (4096). */
  uint32_t receives;          /**< Receive slots, for each peer or in all (32). */
  uint32_t operations;        /**< Most operations in flight; one more gets WEFT_AGAIN (256). */
  uint32_t peers;             /**< Most peers at one time (32). */
  uint32_t pending;           /**< Most callers whose handshake is not over (128). */
  uint32_t peers_per_host;    /**< Most peers that one remote host opens (no limit). */
  uint32_t reserved;          /**< 0. */
  uint64_t handshake_limit;   /**< In ns: a caller that has not said hello by then is dropped (2 s). */
  uint64_t operation_timeout; /**< In ns: an operation that has not ended by then fails with WEFT_DEADLINE (10 s). */
  uint64_t silence_limit;     /**< In ns: a peer that is silent for longer is lost (2 s, or none: by fabric). */
} weft_options;
#define WEFT_OPTIONS \
  { sizeof(weft_options), NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** Opens a transport of each fabric that this machine has. `options` may be NULL. Errors: WEFT_INVALID (an option),
 * WEFT_UNSUPPORTED (no fabric opens), WEFT_NATIVE (such as a port in use); weft_last_sentence(NULL) says which. */
WEFT_API int weft_open(const weft_options* options, weft_transport* opened);
/** Says goodbye to each peer, then releases everything: peers, regions, memory of weft_allocate(). Takes at most 250 ms
 * for each fabric. Every handle of the transport is closed then. */
WEFT_API int weft_close(weft_transport net);
/** One sentence about the last error that this transport answered; with NULL, about the last error of a call of this
 * thread that had no transport, such as a weft_open() that failed. Never NULL; "" without an error. Valid until the
 * next call for the transport, or of the thread. */
WEFT_API const char* weft_last_sentence(weft_transport net);
/** Names of the fabrics that serve peers here: "mapped,tcp". A listener has each of them open. Otherwise the best one
 * is open, and the others open when a peer needs them. Valid until weft_close(). */
WEFT_API int weft_open_fabrics(weft_transport net, const char** names);
/** Where others connect to: "host:port", or "" of a transport that does not listen. Valid until weft_close(). */
WEFT_API int weft_listen_address(weft_transport net, const char** address);

/** What a transport has counted. */
typedef struct weft_counters {
  uint64_t size;        /**< sizeof(weft_counters): the caller sets it. */
  uint64_t in_flight;   /**< Operations that have not ended. */
  uint64_t stale;       /**< Messages of connections that no longer exist: dropped. */
  uint64_t garbled;     /**< Messages that no transport of weft sends: dropped. */
  uint64_t turned_away; /**< Callers that got no place. */
  uint64_t fallbacks;   /**< Connections that did not take the best fabric (WEFT_FALLBACK_ALLOWED). */
} weft_counters;
WEFT_API int weft_count(weft_transport net, weft_counters* counters);

/* ---- peers ------------------------------------------------------------------------------------------------------- */

/** Most bytes of private data of a connection. */
#define WEFT_PRIVATE_BYTES 64

/** Connects by the best fabric that both sides have, and returns when the other side has accepted. `where` is
 * "host:port" of a set, or "fabric@host:port" of a program of that fabric alone. Private data reaches the other side
 * with WEFT_REQUESTED; NULL: none. Errors: WEFT_UNREACHABLE, WEFT_REJECTED, WEFT_INCOMPATIBLE, WEFT_DEADLINE. */
WEFT_API int weft_connect(weft_transport net, const char* where, const void* private_data, size_t private_size,
                          uint64_t timeout, weft_peer* peer);
/** Begins to connect and returns. The end is WEFT_CONNECTED or WEFT_LOST. */
WEFT_API int weft_start_connect(weft_transport net, const char* where, const void* private_data, size_t private_size,
                                weft_peer* peer);
/** Waits for a request and accepts it. A request that an earlier call kept comes first. Errors: WEFT_INVALID (the
 * transport does not listen), WEFT_DEADLINE. */
WEFT_API int weft_accept_one(weft_transport net, uint64_t timeout, weft_peer* peer);
/** Answers WEFT_REQUESTED. Private data reaches the other side with WEFT_CONNECTED; NULL: none. */
WEFT_API int weft_accept(weft_transport net, weft_peer peer, const void* private_data, size_t private_size);
/** Answers WEFT_REQUESTED with no. The reason is one sentence, which the other side gets. The peer is closed. */
WEFT_API int weft_reject(weft_transport net, weft_peer peer, const char* reason);
/** Waits for outstanding operations, says goodbye, and releases the peer with its remote regions. No WEFT_LOST follows.
 * A peer that left before is no error. Errors: WEFT_DEADLINE; the peer is closed then too, and operations that had not
 * ended end with WEFT_CLOSED. */
WEFT_API int weft_close_peer(weft_transport net, weft_peer peer, uint64_t timeout);
/** WEFT_OK while the connection is established, else WEFT_PEER_LOST. */
WEFT_API int weft_is_alive(weft_transport net, weft_peer peer);
/** The name of the fabric that reaches the peer. Valid for ever. */
WEFT_API int weft_fabric_of(weft_transport net, weft_peer peer, const char** name);
/** Why this fabric: one line for each fabric of the library, the best first, as "mapped: taken: both processes are on
 * this host". Of a peer that called this side only the fabric is known. Valid until the next weft_explain(). */
WEFT_API int weft_explain(weft_transport net, weft_peer peer, const char** text);
/** The largest message that this peer takes, in bytes. */
WEFT_API int weft_largest_message(weft_transport net, weft_peer peer, uint64_t* size);

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/** What peers may do with a region. Combine with `|`. 0: only this side uses it. */
enum { WEFT_REMOTE_WRITE = 1, WEFT_REMOTE_READ = 2, WEFT_REMOTE_ATOMIC = 4 };

/** Room that a region's description always fits into. */
#define WEFT_DESCRIPTION_BYTES 256

/** Registers memory of the caller, who keeps it until weft_release() or weft_close(). With WEFT_REMOTE_ATOMIC it begins
 * at a multiple of 8. Errors: WEFT_INVALID, WEFT_NO_MEMORY, WEFT_NATIVE (such as a limit of locked memory). */
WEFT_API int weft_register(weft_transport net, void* memory, uint64_t size, uint32_t rights, weft_region* region);
/** Registers fresh, zeroed memory of the transport, aligned to a page. The memory ends with the region. */
WEFT_API int weft_allocate(weft_transport net, uint64_t size, uint32_t rights, weft_region* region);
/** The memory of a region. `size` may be NULL. */
WEFT_API int weft_memory(weft_transport net, weft_region region, void** memory, uint64_t* size);
/** Deregisters now. Afterwards no peer can reach the memory. Call it after the operations that use it ended. */
WEFT_API int weft_release(weft_transport net, weft_region region);
/** Writes the bytes that `peer` needs to use the region; *size is set to their number. With a NULL peer: the bytes for
 * any peer that has the same set. Bytes land only while this side polls, on some fabrics: poll while peers write.
 * Errors: WEFT_TRUNCATED (`room` is less than *size, which is set; WEFT_DESCRIPTION_BYTES suffice). */
WEFT_API int weft_describe(weft_transport net, weft_peer peer, weft_region region, void* bytes, size_t room,
                           size_t* size);
/** Reads what `peer` described. Errors: WEFT_INVALID (no description), WEFT_INCOMPATIBLE (of another fabric or set). */
WEFT_API int weft_parse(weft_transport net, weft_peer peer, const void* bytes, size_t size, weft_remote* remote);
/** Sends the description of a region; the peer takes it with weft_receive_region(). At most 64 may wait at a peer.
 * Errors: WEFT_AGAIN, WEFT_PEER_LOST. */
WEFT_API int weft_send_region(weft_transport net, weft_peer peer, weft_region region);
/** Takes the oldest description that this peer sent, or waits for one. Errors: WEFT_DEADLINE, WEFT_PEER_LOST. */
WEFT_API int weft_receive_region(weft_transport net, weft_peer peer, uint64_t timeout, weft_remote* remote);
/** The size of a peer's region in bytes, and what it grants. Both may be NULL. */
WEFT_API int weft_remote_size(weft_transport net, weft_remote remote, uint64_t* size, uint32_t* rights);
/** Forgets a peer's region on this side. */
WEFT_API int weft_forget(weft_transport net, weft_remote remote);

/* ---- posts ------------------------------------------------------------------------------------------------------- */

/** Flags of posts. */
enum {
  WEFT_QUIET = 1 /**< No WEFT_COMPLETED; failures are still reported, with context 0. The source is free when an answer
                      of the peer shows that the bytes arrived. */
};

/* Errors of every post: WEFT_AGAIN, WEFT_OUT_OF_RANGE, WEFT_DENIED, WEFT_PEER_LOST, WEFT_CLOSED, WEFT_INVALID. Keep the
 * source unchanged until the end. */

/** Sends a message; the peer gets WEFT_RECEIVED. Errors: also WEFT_TRUNCATED. */
WEFT_API int weft_send(weft_transport net, weft_peer to, weft_slice from, uint64_t context, uint32_t flags);
/** The same from any memory, which is copied: it is free when the call returns. Costs that copy. A copy whose send
 * failed is kept while a fabric may still read it: until the peer's end, or on one host until weft_close(). */
WEFT_API int weft_send_copy(weft_transport net, weft_peer to, const void* bytes, uint64_t size, uint64_t context,
                            uint32_t flags);
/** Writes into a peer's region; the peer gets no event. */
WEFT_API int weft_put(weft_transport net, weft_slice from, weft_place at, uint64_t context, uint32_t flags);
/** Writes into a peer's region; the peer gets WEFT_NOTIFIED with `immediate`, after the bytes are visible. */
WEFT_API int weft_put_notify(weft_transport net, weft_slice from, weft_place at, uint32_t immediate, uint64_t context,
                             uint32_t flags);
/** Reads from a peer's region. `flags` is 0: a read always ends with an event. */
WEFT_API int weft_get(weft_transport net, weft_slice into, weft_place at, uint64_t context, uint32_t flags);
/** Ends when each earlier write to this peer is visible there, or has failed. */
WEFT_API int weft_flush(weft_transport net, weft_peer to, uint64_t context);

/** What an atomic does with the word. Each end carries the word before (weft_event.old). */
typedef enum weft_atomic_kind {
  WEFT_FETCH_ADD = 1,    /**< Integers wrap. */
  WEFT_COMPARE_SWAP = 2, /**< Writes `operand` where `expected` is found. Integers only. */
  WEFT_SWAP = 3,
  WEFT_FETCH_AND = 4, /**< Integers only, as OR and XOR. */
  WEFT_FETCH_OR = 5,
  WEFT_FETCH_XOR = 6,
  WEFT_FETCH_MIN = 7,
  WEFT_FETCH_MAX = 8,
  WEFT_LOAD = 9
} weft_atomic_kind;
/** The type of the word. Values travel as the bits of the word, in the low half where it has 4 bytes. */
typedef enum weft_number {
  WEFT_INT32 = 1,
  WEFT_UINT32 = 2,
  WEFT_INT64 = 3,
  WEFT_UINT64 = 4,
  WEFT_FLOAT32 = 5,
  WEFT_FLOAT64 = 6
} weft_number;
/** An atomic on one aligned word of a region with WEFT_REMOTE_ATOMIC. The target executes it while it polls. The owner
 * may use C atomics on the word at the same time. */
WEFT_API int weft_atomic(weft_transport net, weft_atomic_kind what, weft_number type, weft_place at, uint64_t operand,
                         uint64_t expected, uint64_t context, uint32_t flags);
/** Adds to a 64-bit word. */
WEFT_API int weft_fetch_add(weft_transport net, weft_place at, uint64_t operand, uint64_t context);
/** Writes `desired` into a 64-bit word where `expected` is found; it was where the event's `old` equals `expected`. */
WEFT_API int weft_compare_swap(weft_transport net, weft_place at, uint64_t expected, uint64_t desired,
                               uint64_t context);

/* ---- tagged messages --------------------------------------------------------------------------------------------- */

/* A tagged message waits until a receive asks for it: by 64 bits, and by a peer or any. A receive may ignore some bits.
 * Receives and messages of all fabrics meet in one place. A message takes the first posted receive that fits, and
 * a receive takes the first arrived message that fits. Plain messages are apart: they get WEFT_RECEIVED. */

/** Sends a tagged message. WEFT_COMPLETED says that the source is free, not that a receive took the message. Errors:
 * also WEFT_AGAIN (32 messages wait at the peer without a receive), WEFT_TRUNCATED (weft_largest_tagged_message()),
 * WEFT_UNSUPPORTED (the peer's program matches no tags). */
WEFT_API int weft_send_tagged(weft_transport net, weft_peer to, weft_slice from, uint64_t tag, uint64_t context,
                              uint32_t flags);
/** The same from any memory, which is copied: it is free when the call returns. Costs that copy. */
WEFT_API int weft_send_tagged_copy(weft_transport net, weft_peer to, const void* bytes, uint64_t size, uint64_t tag,
                                   uint64_t context, uint32_t flags);
/** Posts a receive of one message whose tag is `tag` in all bits but those of `ignore`. `from` is its sender, or NULL
 * for any peer. The end is an event of WEFT_OP_RECEIVE_TAGGED with `context`: WEFT_COMPLETED (peer: the sender, old:
 * the tag, size: its bytes), or WEFT_FAILED with WEFT_TRUNCATED (the message is longer than `into`, which has its first
 * bytes), WEFT_PEER_LOST or WEFT_CLOSED (`from` is gone, or the receive was cancelled). Keep the region until then.
 * `receive` is for weft_cancel_tagged(), and may be NULL. */
WEFT_API int weft_receive_tagged(weft_transport net, weft_peer from, uint64_t tag, uint64_t ignore, weft_slice into,
                                 uint64_t context, weft_tagged* receive);
/** Withdraws a receive, which then ends with WEFT_CLOSED. Errors: WEFT_CLOSED (it has ended: its event came or comes).
 */
WEFT_API int weft_cancel_tagged(weft_transport net, weft_tagged receive);
/** The longest tagged message that this peer takes, in bytes. */
WEFT_API int weft_largest_tagged_message(weft_transport net, weft_peer peer, uint64_t* size);

/* ---- events ------------------------------------------------------------------------------------------------------ */

typedef enum weft_event_kind {
  WEFT_COMPLETED = 1, /**< An operation ended well: context, peer, operation, old. */
  WEFT_FAILED = 2,    /**< An operation failed: also status and text. Its bytes may or may not have moved. */
  WEFT_RECEIVED = 3,  /**< A message: peer, data, size. */
  WEFT_NOTIFIED = 4,  /**< A weft_put_notify() arrived and its bytes are visible: immediate, peer (or nobody). */
  WEFT_REQUESTED = 5, /**< A peer wants to connect: peer; data is its private data or NULL. Answer weft_accept(). */
  WEFT_CONNECTED = 6, /**< A connection of weft_start_connect() stands: peer; data is private data or NULL. */
  WEFT_LOST = 7,      /**< A peer is gone: peer (for the last time), status, text. Its operations failed before. */
  WEFT_LIST_ENDED = 8 /**< A list ended: context, peer, operation. Its memory is the program's again. `old` is how many
                         transfers ended well, `size` their bytes. Else also status (WEFT_CLOSED: cancelled), text, and
                         `immediate`: the index of the first transfer that failed, or UINT32_MAX. */
} weft_event_kind;

/** Of weft_event.operation. */
typedef enum weft_operation {
  WEFT_OP_NONE = 0,
  WEFT_OP_SEND = 1,
  WEFT_OP_PUT = 2,
  WEFT_OP_PUT_NOTIFY = 3,
  WEFT_OP_GET = 4,
  WEFT_OP_FLUSH = 5,
  WEFT_OP_ATOMIC = 6,
  WEFT_OP_RECEIVE_TAGGED = 7
} weft_operation;

/** One event: 64 bytes in every version of WEFT_ABI 0. `data` and `text` are valid until the next weft_poll(),
 * weft_wait(), or call with a timeout, of the transport. */
typedef struct weft_event {
  uint32_t kind; /**< weft_event_kind */
  int32_t status;
  uint64_t context;
  weft_peer peer;
  uint32_t operation; /**< weft_operation */
  uint32_t immediate;
  uint64_t old; /**< The word before an atomic, as bits. Of WEFT_OP_RECEIVE_TAGGED: the message's tag. */
  const void* data;
  uint64_t size;    /**< Of data, in bytes. Of WEFT_OP_RECEIVE_TAGGED: of the message, also where it was cut. */
  const char* text; /**< One sentence of WEFT_FAILED and WEFT_LOST, else NULL. */
} weft_event;

/** Makes progress and takes up to `capacity` events. Never waits. Returns their number, 0 where there are none. */
WEFT_API int weft_poll(weft_transport net, weft_event* events, uint32_t capacity);
/** The same, and waits until there is one. Sleeps with WEFT_SLEEPS, else polls. Errors: WEFT_DEADLINE. */
WEFT_API int weft_wait(weft_transport net, weft_event* events, uint32_t capacity, uint64_t timeout);

/* A foreign event loop: `weft_poll` until 0; `weft_arm`; watch the descriptor for reading and for at most that time;
 * `weft_poll` again. */
/** The descriptor to watch; it stays the same until weft_close(). Errors: WEFT_INVALID (opened without WEFT_SLEEPS). */
WEFT_API int weft_wait_descriptor(weft_transport net, int* descriptor);
/** Gets ready to sleep: from here on each arrival makes the descriptor readable. *at_most (ns) is how long the loop may
 * sleep before work is due: 20 ms while others may connect, 1 ms where a fabric has no descriptor. Errors: WEFT_AGAIN
 * (something is there: poll, do not sleep). */
WEFT_API int weft_arm(weft_transport net, uint64_t* at_most);

/* ---- lists of transfers ------------------------------------------------------------------------------------------ */

/* Thousands of puts or gets to one peer as one request, with one event and at most one notice. weft_poll() and
 * weft_wait() post what there is room for; other calls with a timeout only take ends. */

/** One element of a list. Its length is here.size; the direction is the list's. */
typedef struct weft_transfer {
  weft_slice here;
  weft_place there;
} weft_transfer;

/** Capacity for lists. 0 is the default. */
typedef struct weft_list_limits {
  uint64_t size;               /**< sizeof(weft_list_limits). */
  uint32_t lists;              /**< Under way at one time; one more gets WEFT_AGAIN (64). */
  uint32_t peers;              /**< To which lists are under way at one time; one more gets WEFT_AGAIN (32). */
  uint32_t in_flight_per_peer; /**< Operations of lists to one peer; the rest waits here (64). */
  uint32_t posts_at_once;      /**< To one peer, between two polls (16). */
} weft_list_limits;
#define WEFT_LIST_LIMITS \
  { sizeof(weft_list_limits), 0, 0, 0, 0 }
/** Takes memory for lists. Call it before the first list, or not at all. Errors: WEFT_INVALID (also: lists were
 * prepared before), WEFT_NO_MEMORY. */
WEFT_API int weft_limit_lists(weft_transport net, const weft_list_limits* limits);

/** Checks and copies a list of puts (WEFT_OP_PUT) or gets (WEFT_OP_GET). A wrong list is refused whole, and
 * weft_last_sentence() says which transfer is wrong. Errors: WEFT_INVALID, WEFT_OUT_OF_RANGE, WEFT_DENIED, WEFT_CLOSED
 * (a region), WEFT_PEER_LOST, WEFT_NO_MEMORY. */
WEFT_API int weft_prepare_list(weft_transport net, weft_peer peer, weft_operation what, const weft_transfer* all,
                               uint64_t count, weft_prepared* prepared);
/** Ends a prepared list. Lists that were posted from it go on. */
WEFT_API int weft_release_prepared(weft_transport net, weft_prepared prepared);

/** Between lists to the same peer: a transfer of a more urgent list is posted first. */
typedef enum weft_priority { WEFT_NORMAL = 0, WEFT_URGENT = 1, WEFT_BACKGROUND = 2 } weft_priority;
/** Flags of weft_list_options. */
enum {
  WEFT_NOTIFIES = 1 /**< Puts only: the peer gets one WEFT_NOTIFIED with `immediate` when all bytes are visible. */
};
typedef struct weft_list_options {
  uint64_t size;     /**< sizeof(weft_list_options). */
  uint64_t context;  /**< Of WEFT_LIST_ENDED. */
  uint64_t timeout;  /**< In ns: a list that has not ended by then fails with WEFT_DEADLINE. 0: 60 s. */
  uint32_t priority; /**< weft_priority */
  uint32_t flags;
  uint32_t immediate;
  uint32_t reserved; /**< 0. */
} weft_list_options;
#define WEFT_LIST_OPTIONS \
  { sizeof(weft_list_options), 0, 0, 0, 0, 0, 0 }

/** Posts a prepared list, also while it is under way already. Checks no transfer again. `options` may be NULL. The end
 * is WEFT_LIST_ENDED; keep memory and regions until then. A list that fails sends no notice. Errors: WEFT_AGAIN (all
 * lists are under way), WEFT_INVALID, WEFT_CLOSED (a region was released), WEFT_PEER_LOST. */
WEFT_API int weft_post_list(weft_transport net, weft_prepared prepared, const weft_list_options* options,
                            weft_list* list);

/** A list at one moment. */
typedef struct weft_list_progress {
  uint64_t size;            /**< sizeof(weft_list_progress): the caller sets it. */
  uint64_t bytes_done;      /**< Of the transfers that ended well. */
  uint32_t done;            /**< Transfers that ended well. */
  uint32_t transfers;       /**< All. */
  int32_t status;           /**< WEFT_OK, or why it stops: nothing more is posted, and what is in flight ends. */
  uint32_t failed_transfer; /**< Index of the first transfer that failed; else UINT32_MAX. */
} weft_list_progress;
WEFT_API int weft_list_state(weft_transport net, weft_list list, weft_list_progress* progress);
/** Posts nothing more of the list. What is in flight ends, then the list ends with WEFT_CLOSED. A list whose notice is
 * posted ends as if not cancelled. */
WEFT_API int weft_cancel_list(weft_transport net, weft_list list);

#ifdef __cplusplus
}
#endif

#endif
