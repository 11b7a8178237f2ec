// SPDX-License-Identifier: Apache-2.0
//
// Drives a network plugin of NCCL (libnccl-net.so) as NCCL does, without NCCL and without a card: it connects to itself
// and sends messages of many sizes in memory of the host. It checks every byte. docs/reference/clients.md says how to
// build it with the headers of aws-ofi-nccl, and what was run.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nccl-headers/net.h"

enum { most = 1 << 20, seconds = 30 };

static void log_nothing(ncclDebugLogLevel level, unsigned long flags, const char* file, int line, const char* format,
                        ...) {
  (void)level, (void)flags, (void)file, (void)line, (void)format;
}

static void require(ncclResult_t said, const char* call) {
  if (said == ncclSuccess) return;
  printf("%s gave %d\n", call, (int)said);
  exit(1);
}

/// One message to itself. Returns whether it arrived whole before `end`.
static int exchange(const ncclNet_v6_t* net, void* to, void* from, int size, time_t end) {
  char* sent = malloc((size_t)size);
  void* into = calloc(1, (size_t)size);
  void *sends = NULL, *receives = NULL, *sent_key = NULL, *into_key = NULL;
  int tag = 7, out = 0, in = 0, came = 0;
  memset(sent, size % 251 + 1, (size_t)size);
  require(net->regMr(to, sent, size, NCCL_PTR_HOST, &sent_key), "regMr");
  require(net->regMr(from, into, size, NCCL_PTR_HOST, &into_key), "regMr");
  while ((!out || !in) && time(NULL) < end) {
    if (receives == NULL) require(net->irecv(from, 1, &into, &size, &tag, &into_key, &receives), "irecv");
    if (sends == NULL) require(net->isend(to, sent, size, tag, sent_key, &sends), "isend");
    if (sends != NULL && !out) require(net->test(sends, &out, NULL), "test");
    if (receives != NULL && !in) require(net->test(receives, &in, &came), "test");
  }
  const int right = in && came == size && memcmp(sent, into, (size_t)size) == 0;
  require(net->deregMr(to, sent_key), "deregMr");
  require(net->deregMr(from, into_key), "deregMr");
  free(sent);
  free(into);
  return right;
}

int main(int count, char** arguments) {
  void* plugin = dlopen(count == 2 ? arguments[1] : "libnccl-net.so", RTLD_NOW);
  const ncclNet_v6_t* net = plugin == NULL ? NULL : dlsym(plugin, "ncclNetPlugin_v6");
  if (net == NULL) return printf("no plugin of version 6: %s\n", dlerror()), 1;
  char handle[NCCL_NET_HANDLE_MAXSIZE] = {0};
  void *listener = NULL, *to = NULL, *from = NULL;
  const time_t end = time(NULL) + seconds;
  require(net->init(log_nothing), "init");
  require(net->listen(0, handle, &listener), "listen");
  while ((to == NULL || from == NULL) && time(NULL) < end) {
    if (to == NULL) require(net->connect(0, handle, &to), "connect");
    if (from == NULL) require(net->accept(listener, &from), "accept");
  }
  int wrong = to == NULL || from == NULL;
  for (int size = 1; size <= most && wrong == 0; size *= 4) wrong += !exchange(net, to, from, size, end);
  printf("%s: %d wrong\n", net->name, wrong);
  return wrong != 0;
}
