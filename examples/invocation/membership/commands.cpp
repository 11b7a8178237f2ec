// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include "../nodes/command_line.hpp"

#include <iostream>

namespace weft::invocation {

std::variant<follower_command, stop_with> parse_follower(std::string_view fabric, int argc, char** argv) {
  follower_command c;
  CLI::App app("Calls echo over the fabric " + std::string(fabric) +
                   ", one call after the other, and goes to the next manager when its own ends.\n"
                   "Prints one JSON object at the end.",
               program("invocation-follower", fabric));
  app.add_option("--manager", c.managers, "Address of a manager, host:service; one of several is enough (repeatable)")
      ->required();
  app.add_option("--node", c.options.node, "Local address that workers connect to")->capture_default_str();
  add_fabric(app, c.options.fabrics);
  milliseconds_option lasts(app, "--for-ms", c.lasts, "How long it calls");
  milliseconds_option pause(app, "--pause-ms", c.pause, "Between two calls");
  milliseconds_option deadline(app, "--deadline-ms", c.deadline, "Time limit of each invocation", 1);
  milliseconds_option recovery(app, "--recovery-ms", c.recovery, "Until another manager must have taken over", 1);
  app.add_flag("--until-taken-over", c.until_taken_over, "Call for --for-ms after the first take-over, not from now");
  app.add_option("--until", c.until, "End once this file is there, before the time is over")->type_name("FILE");
  bool warm = false;
  app.add_flag("--warm", warm, "This client and its workers sleep while they wait; without it they poll");
  if (const auto stop = parse(app, argc, argv)) return *stop;
  if (warm) c.options.polling.mode = c.request.polling.mode = polling_mode::warm;
  lasts.store(), pause.store(), deadline.store(), recovery.store();
  return c;
}

void print(const follower_report& report) {
  const auto ms = [](duration d) { return std::to_string(std::chrono::duration<double, std::milli>(d).count()); };
  std::string failed;
  for (const auto& [why, count] : report.failed)
    failed += (failed.empty() ? "\"" : ", \"") + why + "\": " + std::to_string(count);
  std::cout << "{\"asked\": " << report.asked << ", \"done\": " << report.done
            << ", \"done_after_takeover\": " << report.done_after_takeover << ", \"wrong\": " << report.wrong
            << ", \"failed\": {" << failed << "}, \"takeovers\": " << report.takeovers
            << ", \"longest_takeover_ms\": " << ms(report.longest_takeover)
            << ", \"longest_gap_ms\": " << ms(report.longest_gap) << ", \"unbilled\": " << report.unbilled
            << ", \"billed\": " << report.billed << ", \"manager\": \"" << report.manager
            << "\", \"exact\": " << (report.exact ? "true" : "false") << "}" << std::endl;
}

}  // namespace weft::invocation
