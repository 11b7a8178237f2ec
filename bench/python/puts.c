/* SPDX-License-Identifier: Apache-2.0
 *
 * The target of bench/python/run, and its writer in C: `puts target`, or `puts write HOST:PORT`. The writer reads lines
 * "SIZE WINDOW COUNT" and answers each with the nanoseconds for COUNT puts, WINDOW of them in flight.
 * bench/python/puts.py is the same writer in Python.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weft/weft.h>

enum { largest = 4 << 20 };
static const uint64_t second = 1000000000;

static void need(int status, weft_transport net) {
  if (status >= 0) return;
  fprintf(stderr, "puts: %s\n", weft_last_sentence(net));
  exit(1);
}

static uint64_t now(void) {
  struct timespec read;
  clock_gettime(CLOCK_MONOTONIC, &read);
  return (uint64_t)read.tv_sec * second + (uint64_t)read.tv_nsec;
}

/* Serves three writers, and ends when all are gone. */
static int serve(weft_transport net) {
  weft_region page;
  need(weft_allocate(net, largest, WEFT_REMOTE_WRITE, &page), net);
  const char* address;
  need(weft_listen_address(net, &address), net);
  puts(address);
  fflush(stdout);
  int gone = 0;
  while (gone < 3) {
    weft_event event;
    const int count = weft_poll(net, &event, 1);
    need(count, net);
    if (count == 0) continue;
    if (event.kind == WEFT_REQUESTED) {
      const weft_peer peer = event.peer;
      need(weft_accept(net, peer, NULL, 0), net);
      need(weft_send_region(net, peer, page), net);
    }
    if (event.kind == WEFT_LOST) ++gone;
  }
  return 0;
}

static int write_puts(weft_transport net, const char* where) {
  weft_peer peer;
  need(weft_connect(net, where, NULL, 0, 20 * second, &peer), net);
  weft_remote page;
  need(weft_receive_region(net, peer, 20 * second, &page), net);
  weft_region source;
  need(weft_allocate(net, largest, 0, &source), net);
  void* memory;
  need(weft_memory(net, source, &memory, NULL), net);
  memset(memory, 7, largest);
  unsigned long size, window, count;
  while (scanf("%lu %lu %lu", &size, &window, &count) == 3) {
    const uint64_t begin = now();
    unsigned long posted = 0, ended = 0;
    while (ended < count) {
      while (posted < count && posted - ended < window) {
        const int status = weft_put(net, (weft_slice){source, 0, size}, (weft_place){page, 0}, posted, 0);
        if (status == WEFT_AGAIN) break;
        need(status, net);
        ++posted;
      }
      weft_event events[64];
      const int taken = weft_wait(net, events, 64, 10 * second);
      need(taken, net);
      for (int at = 0; at < taken; ++at)
        if (events[at].kind == WEFT_COMPLETED) ++ended;
    }
    printf("%lu\n", (unsigned long)(now() - begin));
    fflush(stdout);
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) return fprintf(stderr, "puts: say target, or write HOST:PORT\n"), 2;
  weft_options options = WEFT_OPTIONS;
  options.node = "127.0.0.1";
  options.fabrics = "tcp";
  options.silence_limit = 300 * second; /* a writer is silent while the others have their turns */
  if (argc == 2) options.flags = WEFT_LISTENS;
  weft_transport net;
  need(weft_open(&options, &net), NULL);
  const int code = argc == 2 ? serve(net) : write_puts(net, argv[2]);
  weft_close(net);
  return code;
}
