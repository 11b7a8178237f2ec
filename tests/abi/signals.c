/* SPDX-License-Identifier: Apache-2.0
 *
 * weft.h, "Answers": no signal crosses the line. The program's handlers are its own after weft_open() too, whatever the
 * libraries that it loads do: signals FABRIC. Libraries of PSM would take the first six. */
#include "expect.h"

#include <signal.h>

static void handler(int number) { (void)number; }

int main(int argc, char** argv) {
  if (argc != 2) return fprintf(stderr, "usage: signals FABRIC\n"), 2;
  program = argv[1];
  // Where these are set, PSM leaves signals alone. Users do not know them.
  unsetenv("HFI_NO_BACKTRACE");
  unsetenv("IPATH_NO_BACKTRACE");
  static const int all[] = {SIGINT, SIGTERM, SIGILL, SIGABRT, SIGBUS, SIGSEGV, SIGFPE, SIGHUP, SIGUSR1, SIGCHLD};
  enum { count = sizeof all / sizeof *all };
  // Every second one has its default.
  for (int i = 0; i < count; ++i) EXPECT(signal(all[i], i % 2 == 0 ? handler : SIG_DFL) != SIG_ERR);
  weft_options o = WEFT_OPTIONS;
  o.node = "127.0.0.1";
  o.fabrics = argv[1];
  weft_transport net;
  ANSWERS(WEFT_OK, NULL, weft_open(&o, &net));
  for (int i = 0; i < count; ++i) {
    struct sigaction now;
    EXPECT(sigaction(all[i], NULL, &now) == 0);
    if (now.sa_handler != (i % 2 == 0 ? handler : SIG_DFL)) FAIL("weft_open() took the signal %d", all[i]);
  }
  OK(net, weft_close(net));
  return 0;
}
