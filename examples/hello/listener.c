/* SPDX-License-Identifier: Apache-2.0 */
#include <weft/weft.h>

#include <stdio.h>
#include <stdlib.h>

static const uint64_t second = 1000000000;

static void need(int status, weft_transport net) {
  if (status >= 0) return;
  fprintf(stderr, "%s: %s\n", weft_status_name(status), weft_last_sentence(net));
  exit(1);
}

int main(void) {
  weft_options options = WEFT_OPTIONS;
  options.node = "127.0.0.1";
  options.service = "7471";
  weft_transport net;
  need(weft_open(&options, &net), NULL);
  weft_region page;
  need(weft_allocate(net, 4096, WEFT_REMOTE_WRITE, &page), net);
  void* text;
  need(weft_memory(net, page, &text, NULL), net);
  weft_peer peer;
  need(weft_accept_one(net, 30 * second, &peer), net);
  need(weft_send_region(net, peer, page), net);
  weft_event event = {0};
  while (event.kind != WEFT_NOTIFIED && event.kind != WEFT_LOST) need(weft_wait(net, &event, 1, 30 * second), net);
  if (event.kind == WEFT_LOST) return fprintf(stderr, "%s\n", event.text), 1;
  printf("%s (%u)\n", (const char*)text, event.immediate);
  need(weft_close(net), NULL);
  return 0;
}
