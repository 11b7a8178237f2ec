/* SPDX-License-Identifier: Apache-2.0
 *
 * Tagged messages over two fabrics at once. A listener of both fabrics takes messages of two callers, one by mapped and
 * one by tcp, with receives that name a caller and receives that name none. */
#include "expect.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const uint64_t any_tag = UINT64_MAX;
enum { by_mapped, by_tcp };

static weft_transport opened(const char* fabrics, uint32_t flags) {
  weft_options o = WEFT_OPTIONS;
  o.node = "127.0.0.1";
  o.fabrics = fabrics;
  o.flags = flags;
  weft_transport net;
  ANSWERS(WEFT_OK, NULL, weft_open(&o, &net));
  return net;
}
static void says(weft_transport net, weft_peer to, const char* text, uint64_t tag) {
  POST(net, weft_send_tagged_copy(net, to, text, strlen(text), tag, 0, WEFT_QUIET));
}

/* ---- the process that is called ---- */

static weft_transport net;
static weft_region memory;
static char* bytes;
static weft_peer callers[2];

/** Posts a receive of 8 bytes at 8 * context, and waits for its end. */
static weft_event taken(weft_peer from, uint64_t tag, uint64_t ignore, uint64_t context) {
  OK(net, weft_receive_tagged(net, from, tag, ignore, (weft_slice){memory, 8 * context, 8}, context, NULL));
  const weft_event e = one_event(net);
  EXPECT(e.operation == WEFT_OP_RECEIVE_TAGGED && e.context == context);
  return e;
}
static void hears(weft_event e, int who, const char* text, uint64_t tag) {
  EXPECT(e.kind == WEFT_COMPLETED && e.status == WEFT_OK && e.text == NULL);
  EXPECT(e.peer == callers[who] && e.old == tag && e.size == strlen(text));
  if (memcmp(bytes + 8 * e.context, text, e.size) != 0) FAIL("\"%.8s\" came, not \"%s\"", bytes + 8 * e.context, text);
}

static void listener(int to_callers) {
  program = "listener";
  net = opened("mapped,tcp", WEFT_LISTENS);
  const char* address;
  OK(net, weft_listen_address(net, &address));
  EXPECT(write(to_callers, address, strlen(address) + 1) > 0);
  for (int i = 0; i < 2; ++i) {
    weft_peer peer;
    const char* fabric;
    OK(net, weft_accept_one(net, 20 * second, &peer));
    OK(net, weft_fabric_of(net, peer, &fabric));
    callers[strcmp(fabric, "tcp") == 0 ? by_tcp : by_mapped] = peer;
  }
  EXPECT(callers[by_mapped] != NULL && callers[by_tcp] != NULL);
  OK(net, weft_allocate(net, 4096, 0, &memory));
  void* at;
  OK(net, weft_memory(net, memory, &at, NULL));
  bytes = at;

  hears(taken(NULL, 0, any_tag, 1), by_mapped, "one", 5);
  says(net, callers[by_mapped], "two", 50);
  hears(taken(callers[by_tcp], 0x60, 0xf, 2), by_tcp, "three", 0x6a);
  says(net, callers[by_tcp], "four", 60);
  // Those of tag 7 wait meanwhile: one came by each fabric.
  hears(taken(NULL, 8, 0, 3), by_mapped, "", 8);
  says(net, callers[by_mapped], "", 80);
  hears(taken(NULL, 9, 0, 4), by_tcp, "", 9);
  hears(taken(NULL, 7, 0, 5), by_mapped, "first", 7);
  hears(taken(NULL, 7, 0, 6), by_tcp, "second", 7);

  weft_event e = taken(NULL, 10, 0, 7);
  EXPECT(e.kind == WEFT_FAILED && e.status == WEFT_TRUNCATED && e.size == 20 && e.peer == callers[by_tcp]);
  EXPECT(e.old == 10 && strstr(e.text, "a message of 20 bytes arrived for a receive of 8") != NULL);
  EXPECT(memcmp(bytes + 56, "twenty b", 8) == 0 && bytes[64] == 0);

  weft_tagged wanted, named;
  OK(net, weft_receive_tagged(net, NULL, 11, 0, (weft_slice){memory, 0, 8}, 8, &wanted));
  OK(net, weft_cancel_tagged(net, wanted));
  e = next_event(net, WEFT_FAILED);
  EXPECT(e.context == 8 && e.status == WEFT_CLOSED && e.operation == WEFT_OP_RECEIVE_TAGGED && e.peer == NULL);
  ANSWERS(WEFT_CLOSED, net, weft_cancel_tagged(net, wanted));

  OK(net, weft_receive_tagged(net, NULL, 12, 0, (weft_slice){memory, 0, 8}, 9, &wanted));
  OK(net, weft_receive_tagged(net, callers[by_tcp], 12, 0, (weft_slice){memory, 8, 8}, 10, &named));
  says(net, callers[by_tcp], "leave", 120);
  e = next_event(net, WEFT_FAILED);
  EXPECT(e.context == 10 && e.status == WEFT_CLOSED && e.peer == callers[by_tcp]);
  EXPECT(next_event(net, WEFT_LOST).peer == callers[by_tcp]);
  says(net, callers[by_mapped], "leave", 120);
  EXPECT(next_event(net, WEFT_LOST).peer == callers[by_mapped]);
  weft_counters counters = {.size = sizeof counters};
  OK(net, weft_count(net, &counters));
  EXPECT(counters.garbled == 0);
  OK(net, weft_close(net));  // one receive is still posted
  exit(0);
}

/* ---- the process that calls, with two transports ---- */

/** Waits for one tagged message of the listener. */
static void answered(weft_transport mine, weft_region own, uint64_t tag, const char* text) {
  OK(mine, weft_receive_tagged(mine, NULL, tag, 0, (weft_slice){own, 64, 16}, tag, NULL));
  const weft_event e = next_event(mine, WEFT_COMPLETED);
  void* at;
  OK(mine, weft_memory(mine, own, &at, NULL));
  EXPECT(e.operation == WEFT_OP_RECEIVE_TAGGED && e.context == tag && e.size == strlen(text));
  EXPECT(memcmp((char*)at + 64, text, e.size) == 0);
}

static void call(const char* address) {
  program = "callers";
  weft_transport mine[2] = {opened("mapped", 0), opened("tcp", 0)};
  weft_peer to[2];
  weft_region own[2];
  for (int who = 0; who < 2; ++who) {
    OK(mine[who], weft_connect(mine[who], address, NULL, 0, 20 * second, &to[who]));
    OK(mine[who], weft_allocate(mine[who], 4096, 0, &own[who]));
  }
  uint64_t largest;
  OK(mine[by_tcp], weft_largest_tagged_message(mine[by_tcp], to[by_tcp], &largest));
  EXPECT(largest == 4096 - 16);
  ANSWERS(WEFT_TRUNCATED, mine[by_tcp],
          weft_send_tagged_copy(mine[by_tcp], to[by_tcp], address, largest + 1, 1, 0, WEFT_QUIET));

  void* at;
  OK(mine[by_mapped], weft_memory(mine[by_mapped], own[by_mapped], &at, NULL));
  memcpy(at, "one", 3);
  POST(mine[by_mapped], weft_send_tagged(mine[by_mapped], to[by_mapped], (weft_slice){own[by_mapped], 0, 3}, 5, 1, 0));
  weft_event e = next_event(mine[by_mapped], WEFT_COMPLETED);
  EXPECT(e.operation == WEFT_OP_SEND && e.context == 1 && e.old == 0 && e.size == 0);
  answered(mine[by_mapped], own[by_mapped], 50, "two");
  POST(mine[by_tcp], weft_send_tagged_copy(mine[by_tcp], to[by_tcp], "three", 5, 0x6a, 2, 0));
  e = next_event(mine[by_tcp], WEFT_COMPLETED);
  EXPECT(e.operation == WEFT_OP_SEND && e.context == 2);
  answered(mine[by_tcp], own[by_tcp], 60, "four");
  says(mine[by_mapped], to[by_mapped], "first", 7);
  says(mine[by_mapped], to[by_mapped], "", 8);
  answered(mine[by_mapped], own[by_mapped], 80, "");
  says(mine[by_tcp], to[by_tcp], "second", 7);
  says(mine[by_tcp], to[by_tcp], "", 9);
  says(mine[by_tcp], to[by_tcp], "twenty bytes of text", 10);
  for (int who = 2; who-- > 0;) {
    answered(mine[who], own[who], 120, "leave");
    OK(mine[who], weft_close(mine[who]));
  }
}

int main(void) {
  alarm(90);
  int addresses[2];
  if (pipe(addresses) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(90);
    listener(addresses[1]);
    return 1;
  }
  close(addresses[1]);
  char address[256] = "";
  for (size_t n = 0; n < sizeof address && (n == 0 || address[n - 1] != 0);) {
    const ssize_t came = read(addresses[0], address + n, sizeof address - n);
    if (came <= 0) return fprintf(stderr, "the listener ended early\n"), 1;
    n += (size_t)came;
  }
  call(address);
  int code = 1;
  (void)waitpid(child, &code, 0);
  return code == 0 ? 0 : 1;
}
