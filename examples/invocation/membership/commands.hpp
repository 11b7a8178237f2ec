// SPDX-License-Identifier: Apache-2.0
//
// The command line of the client that follows its managers, and its report. Hot path: no.
#pragma once

#include "../commands.hpp"

#include <map>
#include <variant>

namespace weft::invocation {

struct follower_command {
  std::vector<std::string> managers;
  std::string membership;  ///< etcd://host:port/prefix of the managers; empty: the client does not ask etcd.
  client_options options;
  duration lasts = 2s;      ///< From the first call on.
  duration pause = 1ms;     ///< Between two calls.
  duration deadline = 5s;   ///< Of a call.
  duration recovery = 20s;  ///< Until a manager must have taken over.
  bool until_taken_over = false;
  duration accounts{};          ///< At the end, how long it waits for the bill of a manager that is gone.
  std::string until;            ///< File that ends it earlier.
  std::uint64_t say_every = 0;  ///< Calls done, between two lines that tell their number; 0: no such lines.
  allocation_request request;
};
std::variant<follower_command, stop_with> parse_follower(std::string_view fabric, int argc, char** argv);

struct follower_report {
  std::uint64_t asked = 0, done = 0, wrong = 0;
  std::uint64_t done_after_takeover = 0;        ///< Of those done.
  std::map<std::string, std::uint64_t> failed;  ///< By name_of() the trouble.
  std::uint64_t takeovers = 0, unbilled = 0;
  std::uint64_t inherited = 0, inherited_calls = 0;  ///< Bills of managers that are gone, from later ones.
  std::uint64_t doubted = 0;                         ///< Times when etcd no longer listed its manager.
  duration longest_takeover{};
  duration longest_gap{};    ///< Between the ends of two calls that succeeded, one after the other.
  std::string manager;       ///< The last one.
  std::uint64_t billed = 0;  ///< Calls of the last bill.
  bool exact = false;        ///< The last bill.
};
void print(const follower_report& report);

}  // namespace weft::invocation
