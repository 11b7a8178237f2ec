// SPDX-License-Identifier: Apache-2.0
//
// invocation-executor.<fabric>: started by a manager, as an executor, or as the warm parent of executors (warm/).
#include "../executor.hpp"
#include "../commands.hpp"
#include "programs.hpp"

#include <weft/compose/selected.hpp>

#include <sys/prctl.h>
#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace weft::invocation {
namespace {

/// Runs as an executor of a fabric. `words`: its arguments. `warm_parent`: this process is a copy of that one, so it
/// has its user and dies with the manager; 0: it was executed.
template <class Fabric>
int run(const std::string& self, const std::vector<std::string>& words, pid_t warm_parent,
        std::optional<opened_ahead<Fabric>> ahead) {
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  const auto parsed = parse_executor(selected_name, static_cast<int>(argv.size()), argv.data());
  if (const auto* stop = std::get_if<stop_with>(&parsed)) return stop->code;
  const auto& command = std::get<executor_command>(parsed);

  if (warm_parent == 0 && !command.order.confined.user.empty()) {
    if (const auto done = become(command.order.confined.user); !done) {
      complain(self, done.error().sentence);
      return 2;
    }
  }
  // Dies with its manager, even if the manager is killed; the manager may have died before this line. A change of
  // user takes this setting back, so it comes after that.
  if (const auto tied = warm::die_with(command.parent); !tied) {
    complain(self, tied.error().sentence);
    return 1;
  }
  if (command.ignores_signals)  // here: constructors of libraries may have set handlers
    for (const int s : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) (void)::signal(s, SIG_IGN);
  (void)::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);  // filters of system calls require it
  executor_order order = command.order;
  order.confined.reaches_neighbours = Fabric::facts.same_host;
  order.confined.warm_parent = warm_parent;
  auto journal = journal_memory::inherit(command.journal, command.order.workers);
  if (!journal) {
    complain(self, journal.error().sentence);
    return 2;
  }
  function_library library(built_in_functions(), command.trusted);
  executor<Fabric> all(std::move(order), *journal, library);
  if (const auto ended = all.run(std::move(ahead)); !ended) {
    complain(self, ended.error().sentence);
    return 1;
  }
  return 0;
}

}  // namespace

int run_executor(int argc, char** argv) try {
  using fabric = selected;
  const std::string self = "invocation-executor." + std::string(selected_name);
  std::vector<std::string> words(argv, argv + argc);
  pid_t warm_parent = 0;
  std::optional<opened_ahead<fabric>> ahead;
  if (is_warm_parent(words)) {
    const auto parsed = parse_warm_parent(selected_name, argc, argv);
    if (const auto* stop = std::get_if<stop_with>(&parsed)) return stop->code;
    const auto& command = std::get<warm::parent_command>(parsed);
    auto order = warm::serve(command, [&] { ahead = opened_ahead<fabric>::open(command.node, command.fabrics); });
    if (const int* code = std::get_if<int>(&order)) return *code;
    words = std::move(std::get<warm::copied_order>(order).words);
    warm_parent = std::get<warm::copied_order>(order).warm_parent;
  }
  return run<fabric>(self, words, warm_parent, std::move(ahead));
} catch (const std::exception& e) {
  return ended_by(e, "invocation-executor", selected_name);
}

}  // namespace weft::invocation
