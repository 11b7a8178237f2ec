// SPDX-License-Identifier: Apache-2.0
//
// A warm parent that never answers: one of its processes stops at a fork, as on a machine without free processor time.
// The first argument says which: "asked" is the warm parent after its fork, "begun" is the process between it and the
// copy, and "forked" is that process after its own fork.
#include <invocation/warm/serving.hpp>

#include <pthread.h>
#include <unistd.h>
#include <cstdlib>
#include <string_view>

namespace {

std::string_view stops;
int generation = 0;

void stop_if(bool here) {
  if (here) (void)::alarm(60);  // a process that nobody ends must not outlive the test for long
  while (here) ::pause();
}
void after_own_fork() { stop_if(generation == 0 ? stops == "asked" : stops == "forked"); }
void after_birth() { stop_if(++generation == 1 && stops == "begun"); }

}  // namespace

int main(int argc, char** argv) {
  namespace warm = weft::invocation::warm;
  if (argc != 6) return 2;  // PLACE --warm-parent CHANNEL --parent PROCESS
  stops = argv[1];
  ::pthread_atfork(nullptr, &after_own_fork, &after_birth);
  warm::parent_command c;
  c.channel = std::atoi(argv[3]);
  c.manager = std::atoi(argv[5]);
  const auto how = warm::serve(c, [] {});
  const int* const code = std::get_if<int>(&how);
  return code != nullptr ? *code : 0;
}
