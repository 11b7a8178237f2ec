/* SPDX-License-Identifier: Apache-2.0
 *
 * Wrong uses of weft.h: wrong_uses FABRIC. Each gets a status and a sentence; none ends the process, and the transport
 * works on. The other side is a thread of this process. */
#include "expect.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int uses = 0;
/** The call answers so, and its sentence has these words. */
static void wrong(weft_transport net, int answered, int wanted, const char* words) {
  ++uses;
  const char* const said = weft_last_sentence(net);
  if (answered != wanted)
    FAIL("use %d answered %s, not %s: %s", uses, weft_status_name(answered < 0 ? answered : 0),
         weft_status_name(wanted), said);
  if (strstr(said, words) == NULL) FAIL("use %d: the sentence has no \"%s\": %s", uses, words, said);
}

/* ---- the other side: grants a region, then takes messages until it is lost ---- */

static weft_transport listener;
static void* listens(void* unused) {
  (void)unused;
  weft_peer peer;
  OK(listener, weft_accept_one(listener, 20 * second, &peer));
  weft_region page;
  OK(listener, weft_allocate(listener, 4096, WEFT_REMOTE_WRITE, &page));
  POST(listener, weft_send_region(listener, peer, page));
  while (one_event(listener).kind != WEFT_LOST) continue;
  return NULL;
}

static void of_open(void) {
  weft_transport net;
  weft_options o = WEFT_OPTIONS;
  wrong(NULL, weft_open(&o, NULL), WEFT_INVALID, "the place for the transport is NULL");
  o.size = 3;
  wrong(NULL, weft_open(&o, &net), WEFT_INVALID, "sizeof(weft_options)");
  EXPECT(net == NULL);
  struct {
    weft_options known;
    uint64_t later;
  } newer = {WEFT_OPTIONS, 1};
  newer.known.size = sizeof newer;
  wrong(NULL, weft_open(&newer.known, &net), WEFT_INVALID, "a field that this version does not know");
  o = (weft_options)WEFT_OPTIONS;
  o.flags = 1U << 31;
  wrong(NULL, weft_open(&o, &net), WEFT_INVALID, "options.flags");
  o = (weft_options)WEFT_OPTIONS;
  o.operations = UINT32_MAX;
  wrong(NULL, weft_open(&o, &net), WEFT_INVALID, "options.operations is 4294967295");
  o = (weft_options)WEFT_OPTIONS;
  o.fabrics = "carrier_pigeon";
  wrong(NULL, weft_open(&o, &net), WEFT_INVALID, "has no fabric \"carrier_pigeon\"");
  o = (weft_options)WEFT_OPTIONS;
  o.service = "seven";
  wrong(NULL, weft_open(&o, &net), WEFT_UNREACHABLE, "seven");
}

static void of_transports(void) {
  weft_event e;
  wrong(NULL, weft_poll(NULL, &e, 1), WEFT_INVALID, "the transport is NULL");
  int object = 0;
  wrong(NULL, weft_poll((weft_transport)(void*)&object, &e, 1), WEFT_INVALID, "this is no transport");
  wrong(NULL, weft_close((weft_transport)(uintptr_t)0xffffffffffffffff), WEFT_INVALID, "this is no transport");
  EXPECT(strcmp(weft_status_name(5), "no status of weft") == 0 && *weft_status_text(-1000) != 0);
}

static void of_memory(weft_transport net, weft_transport other) {
  static char memory[64];
  weft_region region;
  wrong(net, weft_register(net, NULL, 64, 0, &region), WEFT_INVALID, "the memory is NULL");
  wrong(net, weft_register(net, memory, 0, 0, &region), WEFT_INVALID, "the size is 0");
  wrong(net, weft_register(net, memory, 64, 8, &region), WEFT_INVALID, "the rights");
  wrong(net, weft_register(net, memory, 64, 0, NULL), WEFT_INVALID, "the place for the region is NULL");
  wrong(net, weft_allocate(net, UINT64_MAX, 0, &region), WEFT_INVALID, "larger than memory");
  OK(net, weft_register(net, memory, 64, 0, &region));
  void* at;
  wrong(other, weft_memory(other, region, &at, NULL), WEFT_CLOSED, "belongs to another transport");
  OK(net, weft_release(net, region));
  wrong(net, weft_release(net, region), WEFT_CLOSED, "this region was released");
  wrong(net, weft_memory(net, (weft_region)(void*)memory, &at, NULL), WEFT_INVALID, "this is no region");
}

static void of_meeting(weft_transport net) {
  weft_peer peer;
  wrong(net, weft_connect(net, NULL, NULL, 0, second, &peer), WEFT_INVALID, "the address is NULL");
  wrong(net, weft_connect(net, "nonsense", NULL, 0, second, &peer), WEFT_INVALID, "nonsense");
  wrong(net, weft_connect(net, "127.0.0.1:1", NULL, 0, second, &peer), WEFT_UNREACHABLE, "127.0.0.1:1");
  wrong(net, weft_connect(net, "127.0.0.1:1", NULL, 65, second, &peer), WEFT_INVALID, "the private data is NULL");
  wrong(net, weft_accept_one(net, second, &peer), WEFT_INVALID, "does not listen");
  wrong(net, weft_accept(net, NULL, NULL, 0), WEFT_INVALID, "the peer is NULL");
  int descriptor;
  wrong(net, weft_wait_descriptor(net, &descriptor), WEFT_INVALID, "WEFT_SLEEPS");
  weft_event e;
  wrong(net, weft_poll(net, NULL, 1), WEFT_INVALID, "the place for events is NULL");
  wrong(net, weft_wait(net, &e, 0, 1), WEFT_INVALID, "the capacity is 0");
  weft_counters counters = {0};
  wrong(net, weft_count(net, &counters), WEFT_INVALID, "sizeof(weft_counters)");
}

static void of_lists(weft_transport net, weft_transport other, weft_peer to, weft_remote there) {
  weft_region own;
  OK(net, weft_allocate(net, 4096, 0, &own));
  weft_transfer all[2] = {{{own, 0, 16}, {there, 0}}, {{own, 16, 16}, {there, 16}}};
  weft_prepared prepared;
  weft_list_limits limits = WEFT_LIST_LIMITS;
  limits.peers = 1U << 19;
  wrong(net, weft_limit_lists(net, &limits), WEFT_INVALID, "above 1048576");
  limits.peers = 0;
  wrong(net, weft_release_prepared(net, NULL), WEFT_INVALID, "the prepared list is NULL");
  wrong(net, weft_prepare_list(net, to, WEFT_OP_PUT, all, 2, NULL), WEFT_INVALID, "the place for the prepared list");
  wrong(net, weft_prepare_list(net, to, WEFT_OP_SEND, all, 2, &prepared), WEFT_INVALID, "WEFT_OP_PUT or WEFT_OP_GET");
  wrong(net, weft_prepare_list(net, to, WEFT_OP_PUT, all, 0, &prepared), WEFT_INVALID, "the list is empty");
  wrong(net, weft_prepare_list(net, to, WEFT_OP_PUT, all, UINT64_MAX, &prepared), WEFT_INVALID, "too long");
  wrong(net, weft_prepare_list(net, to, WEFT_OP_GET, all, 2, &prepared), WEFT_DENIED, "transfer 0 needs");
  all[1].here.region = NULL;
  wrong(net, weft_prepare_list(net, to, WEFT_OP_PUT, all, 2, &prepared), WEFT_INVALID,
        "transfer 1: weft_prepare_list: the region is NULL");
  all[1].here = (weft_slice){own, 4090, 16};
  wrong(net, weft_prepare_list(net, to, WEFT_OP_PUT, all, 2, &prepared), WEFT_OUT_OF_RANGE, "transfer 1 has a slice");
  all[1].here.offset = 16;
  wrong(net, weft_limit_lists(net, &limits), WEFT_INVALID, "has lists already");
  limits.size = 3;
  wrong(net, weft_limit_lists(net, &limits), WEFT_INVALID, "sizeof(weft_list_limits)");
  OK(net, weft_prepare_list(net, to, WEFT_OP_PUT, all, 2, &prepared));
  weft_list list;
  weft_list_options o = WEFT_LIST_OPTIONS;
  wrong(net, weft_post_list(net, prepared, &o, NULL), WEFT_INVALID, "the place for the list is NULL");
  wrong(net, weft_post_list(net, (weft_prepared)(void*)own, &o, &list), WEFT_INVALID, "this is no prepared list");
  wrong(other, weft_post_list(other, prepared, &o, &list), WEFT_CLOSED, "belongs to another transport");
  o.flags = 2;
  wrong(net, weft_post_list(net, prepared, &o, &list), WEFT_INVALID, "options.flags");
  o = (weft_list_options)WEFT_LIST_OPTIONS;
  o.priority = 3;
  wrong(net, weft_post_list(net, prepared, &o, &list), WEFT_INVALID, "options.priority");
  weft_list_progress now = {0};
  wrong(net, weft_list_state(net, NULL, &now), WEFT_INVALID, "sizeof(*progress)");
  now.size = sizeof now;
  wrong(net, weft_list_state(net, NULL, &now), WEFT_INVALID, "the list is NULL");
  wrong(net, weft_cancel_list(net, (weft_list)(void*)own), WEFT_INVALID, "this is no list");
  OK(net, weft_post_list(net, prepared, NULL, &list));
  EXPECT(next_event(net, WEFT_LIST_ENDED).status == WEFT_OK);
  wrong(net, weft_cancel_list(net, list), WEFT_CLOSED, "this list has ended");
  OK(net, weft_release(net, own));
  wrong(net, weft_post_list(net, prepared, NULL, &list), WEFT_CLOSED, "a region of this list was released");
  OK(net, weft_release_prepared(net, prepared));
  wrong(net, weft_release_prepared(net, prepared), WEFT_CLOSED, "this prepared list was released");
}

static void of_tagged(weft_transport net, weft_transport other, weft_peer to) {
  weft_region own;
  OK(net, weft_allocate(net, 4096, 0, &own));
  const weft_slice all = {own, 0, 16};
  weft_tagged receive;
  wrong(net, weft_send_tagged(net, NULL, all, 1, 1, 0), WEFT_INVALID, "the peer is NULL");
  wrong(net, weft_send_tagged(net, to, (weft_slice){NULL, 0, 1}, 1, 1, 0), WEFT_INVALID, "the region is NULL");
  wrong(net, weft_send_tagged(net, to, all, 1, 1, 2), WEFT_INVALID, "the flags");
  wrong(net, weft_send_tagged(net, to, (weft_slice){own, 4090, 16}, 1, 1, 0), WEFT_OUT_OF_RANGE, "leaves the region");
  wrong(net, weft_send_tagged_copy(net, to, NULL, 3, 1, 1, 0), WEFT_INVALID, "the bytes are NULL");
  wrong(net, weft_send_tagged_copy(net, to, &all, 4081, 1, 1, 0), WEFT_TRUNCATED, "truncated");
  wrong(net, weft_receive_tagged(net, (weft_peer)(void*)own, 1, 0, all, 1, NULL), WEFT_INVALID, "this is no peer");
  wrong(net, weft_receive_tagged(net, to, 1, 0, (weft_slice){NULL, 0, 1}, 1, NULL), WEFT_INVALID, "the region is NULL");
  wrong(net, weft_receive_tagged(net, to, 1, 0, (weft_slice){own, 4095, 2}, 1, &receive), WEFT_OUT_OF_RANGE,
        "the slice leaves the region");
  EXPECT(receive == NULL);
  wrong(net, weft_cancel_tagged(net, NULL), WEFT_INVALID, "the receive is NULL");
  wrong(net, weft_cancel_tagged(net, (weft_tagged)(void*)own), WEFT_INVALID, "this is no receive");
  wrong(net, weft_largest_tagged_message(net, to, NULL), WEFT_INVALID, "the place for the size is NULL");
  OK(net, weft_receive_tagged(net, to, 1, 0, all, 1, &receive));
  wrong(other, weft_cancel_tagged(other, receive), WEFT_CLOSED, "belongs to another transport");
  OK(net, weft_cancel_tagged(net, receive));
  wrong(net, weft_cancel_tagged(net, receive), WEFT_CLOSED, "this receive has ended");
  EXPECT(next_event(net, WEFT_FAILED).status == WEFT_CLOSED);
  OK(net, weft_release(net, own));
}

static void of_posts(weft_transport net, weft_peer to, weft_remote there) {
  weft_region own;
  OK(net, weft_allocate(net, 4096, 0, &own));
  const weft_slice all = {own, 0, 16}, none = {NULL, 0, 16};
  const weft_place place = {there, 0};
  wrong(net, weft_put(net, none, place, 1, 0), WEFT_INVALID, "the region is NULL");
  wrong(net, weft_put(net, all, (weft_place){NULL, 0}, 1, 0), WEFT_INVALID, "the remote region is NULL");
  wrong(net, weft_put(net, all, (weft_place){(weft_remote)(void*)to, 0}, 1, 0), WEFT_INVALID,
        "this is no remote region");
  wrong(net, weft_send(net, (weft_peer)(void*)own, all, 1, 0), WEFT_INVALID, "this is no peer");
  wrong(net, weft_put(net, all, place, 1, 6), WEFT_INVALID, "the flags");
  wrong(net, weft_get(net, all, place, 1, WEFT_QUIET), WEFT_INVALID, "the flags");
  wrong(net, weft_get(net, all, place, 1, 0), WEFT_DENIED, "denied");
  wrong(net, weft_fetch_add(net, place, 1, 1), WEFT_DENIED, "denied");
  wrong(net, weft_atomic(net, (weft_atomic_kind)77, WEFT_UINT64, place, 1, 0, 1, 0), WEFT_INVALID, "weft_atomic_kind");
  wrong(net, weft_atomic(net, WEFT_LOAD, (weft_number)9, place, 1, 0, 1, 0), WEFT_INVALID, "weft_number");
  wrong(net, weft_put(net, (weft_slice){own, 4090, 7}, place, 1, 0), WEFT_OUT_OF_RANGE, "out_of_range");
  wrong(net, weft_put(net, all, (weft_place){there, 4081}, 1, 0), WEFT_OUT_OF_RANGE, "out_of_range");
  wrong(net, weft_send_copy(net, to, NULL, 3, 1, 0), WEFT_INVALID, "the bytes are NULL");
  wrong(net, weft_send_copy(net, to, &all, 1U << 30, 1, 0), WEFT_TRUNCATED, "truncated");
  weft_remote parsed;
  wrong(net, weft_parse(net, to, "garbage", 7, &parsed), WEFT_INVALID, "description");
  OK(net, weft_forget(net, there));
  wrong(net, weft_put(net, all, place, 1, 0), WEFT_CLOSED, "was forgotten");
  // After all that the transport works.
  POST(net, weft_send(net, to, all, 5, 0));
  EXPECT(next_event(net, WEFT_COMPLETED).context == 5);
}

/** A child of fork() has no transport. Its answers do not touch the parent's. */
static void of_fork(weft_transport net) {
  const pid_t child = fork();
  if (child == 0) {
    weft_event e;
    wrong(NULL, weft_poll(net, &e, 1), WEFT_CLOSED, "a child of fork()");
    wrong(NULL, weft_close(net), WEFT_CLOSED, "a child of fork()");
    _exit(0);
  }
  int code = 1;
  EXPECT(waitpid(child, &code, 0) == child && code == 0);
  ++uses;
}

int main(int argc, char** argv) {
  if (argc != 2) return fprintf(stderr, "usage: wrong_uses FABRIC\n"), 2;
  program = argv[1];
  alarm(90);
  of_open();
  of_transports();
  weft_options o = WEFT_OPTIONS;
  o.node = "127.0.0.1";
  o.fabrics = argv[1];
  weft_transport net;
  ANSWERS(WEFT_OK, NULL, weft_open(&o, &net));
  o.flags = WEFT_LISTENS;
  ANSWERS(WEFT_OK, NULL, weft_open(&o, &listener));
  EXPECT(*weft_last_sentence(net) == 0);
  const char* address;
  OK(listener, weft_listen_address(listener, &address));
  of_memory(net, listener);
  of_meeting(net);

  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, listens, NULL) == 0);
  weft_peer to;
  OK(net, weft_connect(net, address, NULL, 0, 20 * second, &to));
  weft_remote there;
  OK(net, weft_receive_region(net, to, 20 * second, &there));
  of_lists(net, listener, to, there);
  of_tagged(net, listener, to);
  of_posts(net, to, there);
  of_fork(net);
  OK(net, weft_close_peer(net, to, 20 * second));
  wrong(net, weft_close_peer(net, to, second), WEFT_PEER_LOST, "this peer is gone");
  EXPECT(pthread_join(thread, NULL) == 0);
  OK(net, weft_close(net));
  wrong(NULL, weft_close(net), WEFT_CLOSED, "was closed");
  OK(listener, weft_close(listener));
  printf("%d wrong uses, each with a status and a sentence\n", uses);
  return uses >= 20 ? 0 : 1;
}
