// SPDX-License-Identifier: Apache-2.0
//
// invocation-executor.<fabric>: started by a manager.
#include "executor.hpp"
#include "commands.hpp"

#include <weft/compose/selected.hpp>

#include <sys/prctl.h>
#include <csignal>
#include <utility>

int main(int argc, char** argv) try {
  using namespace weft::invocation;
  using fabric = weft::selected;
  const std::string self = "invocation-executor." + std::string(weft::selected_name);
  const auto parsed = parse_executor(weft::selected_name, argc, argv);
  if (const auto* stop = std::get_if<stop_with>(&parsed)) return stop->code;
  const auto& command = std::get<executor_command>(parsed);

  if (!command.order.confined.user.empty()) {
    if (const auto done = become(command.order.confined.user); !done) {
      complain(self, done.error().sentence);
      return 2;
    }
  }
  // Dies with its manager, even if the manager is killed; the manager may have died before this line. A change of
  // user takes this setting back, so it comes after that.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != command.parent) {
    complain(self,
             "the manager, process " + std::to_string(command.parent) + ", is gone, or did not start this executor");
    return 1;
  }
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // filters of system calls require it
  executor_order order = command.order;
  order.confined.reaches_neighbours = fabric::facts.same_host;
  auto journal = journal_memory::inherit(command.journal, command.order.workers);
  if (!journal) {
    complain(self, journal.error().sentence);
    return 2;
  }
  function_library library(built_in_functions(), command.trusted);
  executor<fabric> all(std::move(order), *journal, library);
  if (const auto ended = all.run(); !ended) {
    complain(self, ended.error().sentence);
    return 1;
  }
  return 0;
} catch (const std::exception& e) {
  return weft::invocation::ended_by(e, "invocation-executor", weft::selected_name);
}
