/* SPDX-License-Identifier: Apache-2.0 */
#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t second = 1000000000;

static void need(int status, weft_transport net) {
  if (status >= 0) return;
  fprintf(stderr, "%s: %s\n", weft_status_name(status), weft_last_sentence(net));
  exit(1);
}

int main(int argc, char** argv) {
  weft_options options = WEFT_OPTIONS;
  options.node = "127.0.0.1";
  weft_transport net;
  need(weft_open(&options, &net), NULL);
  weft_region text;
  need(weft_allocate(net, 64, 0, &text), net);
  void* memory;
  need(weft_memory(net, text, &memory, NULL), net);
  strcpy(memory, "hello, world");
  weft_peer peer;
  need(weft_connect(net, argc > 1 ? argv[1] : "127.0.0.1:7471", NULL, 0, 10 * second, &peer), net);
  weft_remote page;
  need(weft_receive_region(net, peer, 10 * second, &page), net);
  need(weft_put_notify(net, (weft_slice){text, 0, 13}, (weft_place){page, 0}, 7, 1, 0), net);
  weft_event event;
  need(weft_wait(net, &event, 1, 20 * second), net);
  if (event.kind != WEFT_COMPLETED) return fprintf(stderr, "%s\n", event.text), 1;
  need(weft_close(net), NULL);
  return 0;
}
