// SPDX-License-Identifier: Apache-2.0
//
// The warm parent's side of a start: a process that has loaded the executor's libraries, and opened nothing. Each
// executor is a copy of it, so a cold start does not pay again for what libraries do before main and at their first
// call.
// A copy becomes a child of the manager, not of the warm parent: the process between them ends at once, and the manager
// is a subreaper in that moment (prctl(2), PR_SET_CHILD_SUBREAPER). So the manager waits for executors, kills them, and
// takes them with it when it dies, as if it had started each itself. The end of the warm parent harms no executor.
// Hot path: no. Threads: one; a process of several threads cannot be copied (fork(2)), and is refused.
#pragma once

#include <weft/core/error.hpp>

#include <sys/types.h>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weft::invocation::warm {

/// The command of a warm parent, and what all executors of a manager have in common.
struct parent_command {
  int channel = -1;     ///< Inherited, to the manager.
  pid_t manager = 0;    ///< The warm parent and all copies die with it.
  std::string user;     ///< Of the copies; empty: the manager's.
  std::string node;     ///< Local address of their transports.
  std::string fabrics;  ///< Of a program of several: those that they may use.
};

/// Names of processes (proc_pid_comm(5)), so that people and tools tell them from executors.
inline constexpr const char* parent_name = "invocation-warm";
inline constexpr const char* waiting_name = "invocation-pool";

/// What is sent to a copy before its order: it belongs to a pool, so it prepares itself now.
inline constexpr std::string_view prepare_request = "prepare";
/// The warm parent's first packet.
inline constexpr std::string_view parent_ready = "ready";
/// Exit code of a warm parent that cannot make copies, and never will.
inline constexpr int exit_not_to_copy = 5;
/// The place of the journal's descriptor in an executor, copied or executed.
inline constexpr int journal_place = 3;

/// Arguments of an executor, in one packet. Each has its length before it, so no byte of one can begin another.
std::string packed(const std::vector<std::string>& words);
/// Nothing: these are not the bytes of packed().
std::optional<std::vector<std::string>> unpacked(std::string_view packet);

/// What a copy is to do.
struct copied_order {
  std::vector<std::string> words;  ///< Arguments of an executor.
  pid_t warm_parent = 0;
};

/// Makes copies until the manager closes the channel. Returns an exit code in the warm parent, and in a copy that was
/// ended or could not begin. Returns the order in a copy: it has its user, dies with the manager, and has only the
/// descriptors of an executor that was executed.
/// `prepare`: runs in a copy of a pool, before it has an order.
/// The warm parent and copies without an order are closed to debuggers and to memory access of processes without
/// privileges (PR_SET_DUMPABLE): they are not confined yet.
std::variant<int, copied_order> serve(const parent_command& c, const std::function<void()>& prepare);

/// Ties this process to its manager: it dies with it. Errors: peer_lost (another process is the parent).
result<void> die_with(pid_t manager);

}  // namespace weft::invocation::warm
