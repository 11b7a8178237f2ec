/* SPDX-License-Identifier: Apache-2.0
 *
 * What a transport counts, over tcp. weft_count(): operations in flight, and a caller that got no place. The file that
 * `weft top` reads: it is there where the program or its environment asks, and ends with the transport. */
#include "expect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static weft_transport opened(uint32_t flags) {
  weft_options o = WEFT_OPTIONS;
  o.node = "127.0.0.1";
  o.fabrics = "tcp";
  o.flags = flags;
  o.peers = 1;
  weft_transport net;
  ANSWERS(WEFT_OK, NULL, weft_open(&o, &net));
  return net;
}
static weft_counters counted(weft_transport net) {
  weft_counters all = {.size = sizeof all, .in_flight = 99, .stale = 99, .garbled = 99, .turned_away = 99};
  all.fallbacks = 99;
  OK(net, weft_count(net, &all));
  return all;
}

/* ---- the process that is called: it has a place for one ---- */

static void listener(int to_callers, int from_callers) {
  program = "listener";
  weft_transport net = opened(WEFT_LISTENS);
  const char* address;
  OK(net, weft_listen_address(net, &address));
  EXPECT(write(to_callers, address, strlen(address) + 1) > 0);
  weft_peer caller;
  OK(net, weft_accept_one(net, 20 * second, &caller));
  weft_region page;
  OK(net, weft_allocate(net, 4096, WEFT_REMOTE_WRITE, &page));
  POST(net, weft_send_region(net, caller, page));
  weft_counters all = counted(net);
  EXPECT(all.stale == 0 && all.garbled == 0 && all.turned_away == 0 && all.fallbacks == 0);

  weft_event e;
  int lost = 0;
  for (char asked; read(from_callers, &asked, 1) < 0;) {  // the second caller ended
    EXPECT(errno == EAGAIN);
    const int found = weft_poll(net, &e, 1);
    EXPECT(found >= 0);
    lost += found == 1 && e.kind == WEFT_LOST;
  }
  EXPECT(lost == 0);
  all = counted(net);
  EXPECT(all.size == sizeof all && all.turned_away > 0);
  EXPECT(all.in_flight == 0 && all.stale == 0 && all.garbled == 0 && all.fallbacks == 0);

  // A program of another version may have fewer fields: the others stay.
  weft_counters few = {.size = 2 * sizeof(uint64_t), .in_flight = 99, .stale = 99};
  OK(net, weft_count(net, &few));
  EXPECT(few.size == 2 * sizeof(uint64_t) && few.in_flight == 0 && few.stale == 99);
  OK(net, weft_close(net));
  exit(0);
}

/* ---- the process that calls ---- */

static void call(const char* address, int to_listener) {
  weft_transport first = opened(0), second_caller = opened(0);
  weft_peer to, nobody;
  OK(first, weft_connect(first, address, NULL, 0, 20 * second, &to));
  weft_remote page;
  OK(first, weft_receive_region(first, to, 20 * second, &page));
  EXPECT(weft_connect(second_caller, address, NULL, 0, 3 * second, &nobody) < 0);

  weft_region own;
  OK(first, weft_allocate(first, 4096, 0, &own));
  EXPECT(counted(first).in_flight == 0);
  for (uint64_t i = 1; i <= 2; ++i) {
    OK(first, weft_put(first, (weft_slice){own, 0, 64}, (weft_place){page, 0}, i, 0));
    EXPECT(counted(first).in_flight == i);  // an end comes with a poll
  }
  for (uint64_t left = 2; left-- > 0;) EXPECT(next_event(first, WEFT_COMPLETED).operation == WEFT_OP_PUT);
  const weft_counters all = counted(first);
  EXPECT(all.in_flight == 0 && all.turned_away == 0 && all.stale == 0 && all.garbled == 0 && all.fallbacks == 0);
  EXPECT(write(to_listener, "?", 1) == 1);
  EXPECT(next_event(first, WEFT_LOST).peer == to);
  OK(first, weft_close(first));
  OK(second_caller, weft_close(second_caller));
}

/* ---- the file of the counters ---- */

static int files_in(const char* folder) {
  DIR* const all = opendir(folder);
  if (all == NULL) return 0;
  int count = 0;
  for (const struct dirent* each; (each = readdir(all)) != NULL;) count += each->d_name[0] != '.';
  (void)closedir(all);
  return count;
}
static void shows(const char* folder, const char* environment, uint32_t flags, int wanted) {
  if (environment == NULL) EXPECT(unsetenv("WEFT_COUNTS") == 0);
  else EXPECT(setenv("WEFT_COUNTS", environment, 1) == 0);
  weft_transport net = opened(flags);
  const int found = files_in(folder);
  if (found != wanted)
    FAIL("%d files, not %d, with WEFT_COUNTS=%s and flags %u", found, wanted, environment == NULL ? "" : environment,
         flags);
  OK(net, weft_close(net));
  EXPECT(files_in(folder) == 0);
}
static void exposes(void) {
  char runtime[] = "/tmp/weft-abi-XXXXXX", folder[64];
  EXPECT(mkdtemp(runtime) != NULL && setenv("XDG_RUNTIME_DIR", runtime, 1) == 0);
  (void)snprintf(folder, sizeof folder, "%s/weft", runtime);
  shows(folder, NULL, 0, 0);
  shows(folder, NULL, WEFT_COUNTS, 1);
  shows(folder, "1", 0, 1);
  shows(folder, "0", 0, 0);
  shows(folder, "", 0, 0);
  shows(folder, "0", WEFT_COUNTS, 1);
  EXPECT(chmod(folder, 0777) == 0);
  weft_options o = WEFT_OPTIONS;
  o.fabrics = "tcp";
  o.flags = WEFT_COUNTS;
  weft_transport none;
  EXPECT(weft_open(&o, &none) == WEFT_DENIED && none == NULL);
  EXPECT(strstr(weft_last_sentence(NULL), "a folder that only its user may enter") != NULL);
  EXPECT(rmdir(folder) == 0 && rmdir(runtime) == 0);
}

int main(void) {
  alarm(90);
  program = "caller";
  int addresses[2], questions[2];
  if (pipe(addresses) != 0 || pipe2(questions, O_NONBLOCK) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(90);
    listener(addresses[1], questions[0]);
    return 1;
  }
  close(addresses[1]);
  char address[256] = "";
  for (size_t n = 0; n < sizeof address && (n == 0 || address[n - 1] != 0);) {
    const ssize_t came = read(addresses[0], address + n, sizeof address - n);
    if (came <= 0) return fprintf(stderr, "the listener ended early\n"), 1;
    n += (size_t)came;
  }
  call(address, questions[1]);
  int code = 1;
  (void)waitpid(child, &code, 0);
  exposes();
  return code == 0 ? 0 : 1;
}
