/* SPDX-License-Identifier: Apache-2.0
 *
 * Two processes over one fabric: two_sides FABRIC. Each operation of weft.h, and what the other side sees of it. The
 * second process dies without a goodbye, and the first one learns it. */
#include "expect.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { words_at = 2048, page_bytes = 4096 };
static const uint64_t all_rights = WEFT_REMOTE_WRITE | WEFT_REMOTE_READ | WEFT_REMOTE_ATOMIC;

static weft_transport opened(const char* fabric, uint32_t flags) {
  weft_options o = WEFT_OPTIONS;
  o.node = "127.0.0.1";
  o.fabrics = fabric;
  o.flags = flags;
  weft_transport net;
  ANSWERS(WEFT_OK, NULL, weft_open(&o, &net));
  const char* names;
  OK(net, weft_open_fabrics(net, &names));
  EXPECT(strcmp(names, fabric) == 0);
  return net;
}

static void says(weft_transport net, weft_peer to, const char* text) {
  POST(net, weft_send_copy(net, to, text, strlen(text), 0, WEFT_QUIET));
}
static void hears(weft_transport net, weft_peer from, const char* text) {
  const weft_event e = next_event(net, WEFT_RECEIVED);
  EXPECT(e.peer == from);
  if (e.size != strlen(text) || memcmp(e.data, text, e.size) != 0)
    FAIL("\"%.*s\" came, not \"%s\"", (int)e.size, (const char*)e.data, text);
}
static void ends_well(weft_transport net, weft_peer with, uint64_t context, weft_operation what) {
  const weft_event e = next_event(net, WEFT_COMPLETED);
  EXPECT(e.context == context && e.operation == (uint32_t)what && e.status == WEFT_OK && e.text == NULL);
  EXPECT(e.peer == with);
}
static uint64_t old_of(weft_transport net, uint64_t context) {
  const weft_event e = next_event(net, WEFT_COMPLETED);
  EXPECT(e.context == context && e.operation == WEFT_OP_ATOMIC);
  return e.old;
}

/** Watches the descriptor as an event loop does, until an event comes. */
static weft_event by_descriptor(weft_transport net) {
  int descriptor;
  OK(net, weft_wait_descriptor(net, &descriptor));
  weft_event e;
  for (int turn = 0; turn < 20000; ++turn) {
    if (weft_poll(net, &e, 1) == 1) return e;
    uint64_t at_most;
    const int armed = weft_arm(net, &at_most);
    if (armed == WEFT_AGAIN) continue;
    ANSWERS(WEFT_OK, net, armed);
    struct pollfd watched = {descriptor, POLLIN, 0};
    (void)poll(&watched, 1, (int)(at_most / 1000000 < 1000 ? at_most / 1000000 + 1 : 1000));
  }
  FAIL("no event came to the loop");
}

/** Sleeps until the descriptor says that something came. A loop that slept through an arrival would fail here. */
static weft_event woken(weft_transport net) {
  int descriptor;
  OK(net, weft_wait_descriptor(net, &descriptor));
  weft_event e;
  while (weft_poll(net, &e, 1) == 0) {
    uint64_t at_most;
    if (weft_arm(net, &at_most) == WEFT_AGAIN) continue;
    struct pollfd watched = {descriptor, POLLIN, 0};
    EXPECT(poll(&watched, 1, 20000) == 1);
  }
  return e;
}

/* ---- the process that is called ---- */

static void listener(const char* fabric, int to_caller) {
  program = "listener";
  weft_transport net = opened(fabric, WEFT_LISTENS | WEFT_SLEEPS);
  const char* address;
  OK(net, weft_listen_address(net, &address));
  EXPECT(write(to_caller, address, strlen(address) + 1) > 0);

  weft_event e = by_descriptor(net);
  EXPECT(e.kind == WEFT_REQUESTED && e.size == 4 && memcmp(e.data, "call", 4) == 0);
  const weft_peer caller = e.peer;
  POST(net, weft_accept(net, caller, "come", 4));
  while (weft_is_alive(net, caller) != WEFT_OK) EXPECT(weft_poll(net, &e, 1) == 0);

  _Alignas(8) static unsigned char page[page_bytes];
  weft_region region;
  OK(net, weft_register(net, page, sizeof page, (uint32_t)all_rights, &region));
  POST(net, weft_send_region(net, caller, region));
  // Read-only, and described by hand.
  weft_region other;
  OK(net, weft_allocate(net, page_bytes, WEFT_REMOTE_READ, &other));
  void* memory;
  uint64_t size;
  OK(net, weft_memory(net, other, &memory, &size));
  EXPECT(size == page_bytes);
  strcpy(memory, "only to read");
  unsigned char described[WEFT_DESCRIPTION_BYTES];
  size_t bytes;
  ANSWERS(WEFT_TRUNCATED, net, weft_describe(net, caller, other, described, 3, &bytes));
  OK(net, weft_describe(net, caller, other, described, sizeof described, &bytes));
  POST(net, weft_send_copy(net, caller, described, bytes, 0, WEFT_QUIET));

  e = by_descriptor(net);
  EXPECT(e.kind == WEFT_NOTIFIED && e.immediate == 42);
  EXPECT(strcmp((char*)page, "put and notify") == 0);
  says(net, caller, "notified");
  hears(net, caller, "look");
  EXPECT(strcmp((char*)page + 1024, "put") == 0);
  usleep(50000);  // the caller sleeps by then
  says(net, caller, "seen");

  hears(net, caller, "words");
  uint64_t word;
  memcpy(&word, page + words_at, 8);
  EXPECT(word == 99);
  says(net, caller, "many");
  char text[16];
  for (int i = 0; i < 20; ++i) {
    snprintf(text, sizeof text, "m%02d", i);
    says(net, caller, text);
  }
  hears(net, caller, "last");
  weft_counters counters = {.size = sizeof counters};
  OK(net, weft_count(net, &counters));
  EXPECT(counters.garbled == 0 && counters.turned_away == 0);
  _exit(0);  // no goodbye: a program that dies
}

/* ---- the process that calls ---- */

static void writes_and_reads(weft_transport net, weft_peer to, weft_region own, char* mine, weft_remote page,
                             weft_remote locked) {
  strcpy(mine, "put and notify");
  POST(net, weft_put_notify(net, (weft_slice){own, 0, 15}, (weft_place){page, 0}, 42, 7, 0));
  ends_well(net, to, 7, WEFT_OP_PUT_NOTIFY);
  hears(net, to, "notified");
  strcpy(mine, "put");
  POST(net, weft_put(net, (weft_slice){own, 0, 4}, (weft_place){page, 1024}, UINT64_MAX, 0));
  ends_well(net, to, UINT64_MAX, WEFT_OP_PUT);
  POST(net, weft_flush(net, to, 8));
  ends_well(net, to, 8, WEFT_OP_FLUSH);
  says(net, to, "look");
  const weft_event e = woken(net);
  EXPECT(e.kind == WEFT_RECEIVED && e.size == 4 && memcmp(e.data, "seen", 4) == 0);
  POST(net, weft_get(net, (weft_slice){own, 512, 16}, (weft_place){page, 1020}, 9, 0));
  ends_well(net, to, 9, WEFT_OP_GET);
  EXPECT(strcmp(mine + 516, "put") == 0);
  POST(net, weft_get(net, (weft_slice){own, 512, 13}, (weft_place){locked, 0}, 10, 0));
  ends_well(net, to, 10, WEFT_OP_GET);
  EXPECT(strcmp(mine + 512, "only to read") == 0);

  ANSWERS(WEFT_DENIED, net, weft_put(net, (weft_slice){own, 0, 4}, (weft_place){locked, 0}, 1, 0));
  ANSWERS(WEFT_OUT_OF_RANGE, net, weft_put(net, (weft_slice){own, 0, 4}, (weft_place){page, page_bytes - 3}, 1, 0));
  ANSWERS(WEFT_OUT_OF_RANGE, net, weft_put(net, (weft_slice){own, 0, 4}, (weft_place){page, UINT64_MAX}, 1, 0));
  ANSWERS(WEFT_OUT_OF_RANGE, net,
          weft_get(net, (weft_slice){own, 2 * page_bytes - 96, 97}, (weft_place){page, 0}, 1, 0));
  ANSWERS(WEFT_OUT_OF_RANGE, net, weft_get(net, (weft_slice){own, 8, UINT64_MAX - 4}, (weft_place){page, 0}, 1, 0));
  ANSWERS(WEFT_TRUNCATED, net, weft_send(net, to, (weft_slice){own, 0, page_bytes + 1}, 1, 0));
}

static void atomics(weft_transport net, weft_remote page) {
  const weft_place word = {page, words_at}, number = {page, words_at + 8};
  POST(net, weft_fetch_add(net, word, 5, 1));
  EXPECT(old_of(net, 1) == 0);
  POST(net, weft_fetch_add(net, word, UINT64_MAX, 2));
  EXPECT(old_of(net, 2) == 5);
  POST(net, weft_compare_swap(net, word, 4, 77, 3));
  EXPECT(old_of(net, 3) == 4);
  POST(net, weft_compare_swap(net, word, 4, 88, 4));
  EXPECT(old_of(net, 4) == 77);

  const struct {
    weft_atomic_kind what;
    weft_number type;
    uint64_t operand, old;
  } steps[] = {
      {WEFT_SWAP, WEFT_UINT64, 12, 0},
      {WEFT_FETCH_AND, WEFT_UINT64, 10, 12},
      {WEFT_FETCH_OR, WEFT_UINT64, 3, 8},
      {WEFT_FETCH_XOR, WEFT_INT64, 1, 11},
      {WEFT_FETCH_MIN, WEFT_INT64, (uint64_t)-3, 10},
      {WEFT_FETCH_MAX, WEFT_INT64, 6, (uint64_t)-3},
      {WEFT_FETCH_MIN, WEFT_UINT64, (uint64_t)-3, 6},
      {WEFT_LOAD, WEFT_UINT64, 0, 6},
      {WEFT_SWAP, WEFT_UINT32, 9, 6},
      {WEFT_FETCH_MIN, WEFT_INT32, 0xfffffffe, 9},
      {WEFT_FETCH_MAX, WEFT_UINT32, 7, 0xfffffffe},
      {WEFT_SWAP, WEFT_UINT64, 0, 0xfffffffe},
  };
  for (size_t i = 0; i < sizeof steps / sizeof *steps; ++i) {
    POST(net, weft_atomic(net, steps[i].what, steps[i].type, number, steps[i].operand, 0, i, 0));
    const uint64_t old = old_of(net, i);
    if (old != steps[i].old) FAIL("step %zu: the word was %llu", i, (unsigned long long)old);
  }
  double half = 0.5, sum;
  uint64_t bits;
  memcpy(&bits, &half, 8);
  for (int i = 0; i < 2; ++i) {
    POST(net, weft_atomic(net, WEFT_FETCH_ADD, WEFT_FLOAT64, number, bits, 0, 1, 0));
    const uint64_t old = old_of(net, 1);
    memcpy(&sum, &old, 8);
    EXPECT(sum == half * i);
  }
  ANSWERS(WEFT_UNSUPPORTED, net, weft_atomic(net, WEFT_FETCH_OR, WEFT_FLOAT32, number, 1, 0, 1, 0));
  ANSWERS(WEFT_INVALID, net, weft_fetch_add(net, (weft_place){page, words_at + 4}, 1, 1));
  POST(net, weft_atomic(net, WEFT_SWAP, WEFT_UINT64, word, 99, 0, 5, 0));
  EXPECT(old_of(net, 5) == 77);
}

/** 300 pieces go there in turned order and come back, by a prepared list that is posted twice. */
static void lists(weft_transport net, weft_peer to, weft_region own, char* mine, weft_remote page) {
  enum { pieces = 300, bytes = 3, there = 3072, back = 1024 };
  OK(net, weft_limit_lists(net, &(weft_list_limits){.size = sizeof(weft_list_limits), .in_flight_per_peer = 7}));
  weft_transfer out[pieces], in[pieces];
  for (uint64_t i = 0; i < pieces; ++i) {
    out[i] = (weft_transfer){{own, i * bytes, bytes}, {page, there + (pieces - 1 - i) * bytes}};
    in[i] = (weft_transfer){{own, back + i * bytes, bytes}, {page, there + (pieces - 1 - i) * bytes}};
  }
  for (int i = 0; i < pieces * bytes; ++i) mine[i] = (char)(i * 7 + 1);
  weft_prepared puts, gets;
  OK(net, weft_prepare_list(net, to, WEFT_OP_PUT, out, pieces, &puts));
  OK(net, weft_prepare_list(net, to, WEFT_OP_GET, in, pieces, &gets));
  weft_list_options o = WEFT_LIST_OPTIONS;
  for (o.context = 20; o.context < 22; ++o.context) {
    weft_list list;
    OK(net, weft_post_list(net, puts, &o, &list));
    weft_list_progress now = {.size = sizeof now};
    OK(net, weft_list_state(net, list, &now));
    EXPECT(now.transfers == pieces && now.done < pieces && now.status == WEFT_OK);
    const weft_event e = next_event(net, WEFT_LIST_ENDED);
    EXPECT(e.context == o.context && e.peer == to && e.status == WEFT_OK && e.operation == WEFT_OP_PUT);
    EXPECT(e.old == pieces && e.size == pieces * bytes && e.text == NULL && e.immediate == UINT32_MAX);
    ANSWERS(WEFT_CLOSED, net, weft_list_state(net, list, &now));
  }
  POST(net, weft_flush(net, to, 23));
  ends_well(net, to, 23, WEFT_OP_FLUSH);
  weft_list list;
  OK(net, weft_post_list(net, gets, &o, &list));
  OK(net, weft_release_prepared(net, gets));  // the list goes on
  EXPECT(next_event(net, WEFT_LIST_ENDED).operation == WEFT_OP_GET && memcmp(mine, mine + back, pieces * bytes) == 0);
  OK(net, weft_post_list(net, puts, &o, &list));
  OK(net, weft_cancel_list(net, list));
  const weft_event e = next_event(net, WEFT_LIST_ENDED);
  EXPECT(e.status == WEFT_CLOSED && e.old < pieces && e.text != NULL && e.immediate == UINT32_MAX);
}

static void caller(const char* fabric, const char* address) {
  program = "caller";
  weft_transport net = opened(fabric, WEFT_SLEEPS);
  weft_peer to;
  OK(net, weft_start_connect(net, address, "call", 4, &to));
  weft_event e = next_event(net, WEFT_CONNECTED);
  EXPECT(e.peer == to && e.size == 4 && memcmp(e.data, "come", 4) == 0);
  const char* text;
  OK(net, weft_fabric_of(net, to, &text));
  EXPECT(strcmp(text, fabric) == 0);
  OK(net, weft_explain(net, to, &text));
  char wanted[64];
  snprintf(wanted, sizeof wanted, "%s: taken: ", fabric);
  EXPECT(strstr(text, wanted) != NULL && strstr(text, ": left out: ") != NULL);
  uint64_t largest;
  OK(net, weft_largest_message(net, to, &largest));
  EXPECT(largest >= 1024 && largest <= 4096);

  weft_region own;
  OK(net, weft_allocate(net, 2 * page_bytes, 0, &own));
  void* mine;
  OK(net, weft_memory(net, own, &mine, NULL));
  weft_remote page, locked;
  OK(net, weft_receive_region(net, to, 20 * second, &page));
  e = next_event(net, WEFT_RECEIVED);  // kept while the call above waited, or new
  OK(net, weft_parse(net, to, e.data, e.size, &locked));
  uint64_t size;
  uint32_t rights;
  OK(net, weft_remote_size(net, page, &size, &rights));
  EXPECT(size == page_bytes && rights == all_rights);

  writes_and_reads(net, to, own, mine, page, locked);
  atomics(net, page);
  lists(net, to, own, mine, page);
  says(net, to, "words");
  hears(net, to, "many");
  // Twenty messages, taken three at a time: none is lost, and their order stays.
  char wanted_message[16];
  for (int seen = 0; seen < 20;) {
    weft_event few[3];
    const int found = weft_wait(net, few, 3, 20 * second);
    EXPECT(found > 0);
    for (int i = 0; i < found; ++i, ++seen) {
      snprintf(wanted_message, sizeof wanted_message, "m%02d", seen);
      EXPECT(few[i].kind == WEFT_RECEIVED && few[i].size == 3 && memcmp(few[i].data, wanted_message, 3) == 0);
    }
  }
  ANSWERS(WEFT_DEADLINE, net, weft_wait(net, &e, 1, second / 100));
  memcpy(mine, "last", 4);
  POST(net, weft_send(net, to, (weft_slice){own, 0, 4}, 11, 0));
  ends_well(net, to, 11, WEFT_OP_SEND);

  // The other process dies.
  e = next_event(net, WEFT_LOST);
  EXPECT(e.peer == to && e.status < 0 && e.text != NULL && *e.text != 0);
  ANSWERS(WEFT_PEER_LOST, net, weft_send(net, to, (weft_slice){own, 0, 4}, 1, 0));
  ANSWERS(WEFT_PEER_LOST, net, weft_is_alive(net, to));
  ANSWERS(WEFT_CLOSED, net, weft_put(net, (weft_slice){own, 0, 4}, (weft_place){page, 0}, 1, 0));
  OK(net, weft_close(net));
  ANSWERS(WEFT_CLOSED, NULL, weft_poll(net, &e, 1));
}

int main(int argc, char** argv) {
  if (argc != 2) return fprintf(stderr, "usage: two_sides FABRIC\n"), 2;
  alarm(90);
  int addresses[2];
  if (pipe(addresses) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(90);
    listener(argv[1], addresses[1]);
    return 1;
  }
  close(addresses[1]);
  char address[256] = "";
  for (size_t n = 0; n < sizeof address && (n == 0 || address[n - 1] != 0);) {
    const ssize_t came = read(addresses[0], address + n, sizeof address - n);
    if (came <= 0) return fprintf(stderr, "the listener ended early\n"), 1;
    n += (size_t)came;
  }
  caller(argv[1], address);
  int code = 1;
  (void)waitpid(child, &code, 0);
  return code == 0 ? 0 : 1;
}
