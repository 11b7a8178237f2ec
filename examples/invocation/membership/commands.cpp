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
  app.add_option("--manager", c.managers, "Address of a manager, host:service; one of several is enough (repeatable)");
  app.add_option("--membership", c.membership,
                 "Find managers at this etcd, and hear there of their end: etcd://host:port[,host:port][/prefix]")
      ->type_name("STORE");
  app.add_option("--node", c.options.node, "Local address that workers connect to")->capture_default_str();
  add_fabric(app, c.options.fabrics);
  milliseconds_option lasts(app, "--for-ms", c.lasts, "How long it calls");
  milliseconds_option pause(app, "--pause-ms", c.pause, "Between two calls");
  milliseconds_option deadline(app, "--deadline-ms", c.deadline, "Time limit of each invocation", 1);
  c.options.manager_every = usual_manager_every;
  milliseconds_option every(app, "--manager-every-ms", c.options.manager_every,
                            "How often it asks whether its manager is there", 1);
  milliseconds_option silence(app, "--manager-silence-ms", c.options.manager_silence,
                              "A manager that says nothing for so long is lost", 2);
  milliseconds_option recovery(app, "--recovery-ms", c.recovery, "Until another manager must have taken over", 1);
  milliseconds_option late_bills(app, "--accounts-ms", c.accounts,
                                 "At the end, wait so long for the bill of a manager that is gone");
  app.add_flag("--until-taken-over", c.until_taken_over, "Call for --for-ms after the first take-over, not from now");
  app.add_option("--until", c.until, "End once this file is there, before the time is over")->type_name("FILE");
  app.add_option("--say-every", c.say_every, "Print how many calls are done, each time so many more are; 0: never")
      ->capture_default_str();
  bool warm = false;
  app.add_flag("--warm", warm, "This client and its workers sleep while they wait; without it they poll");
  if (const auto stop = parse(app, argc, argv)) return *stop;
  if (warm) c.options.polling.mode = c.request.polling.mode = polling_mode::warm;
  lasts.store(), pause.store(), deadline.store(), recovery.store(), every.store(), silence.store(), late_bills.store();
  const auto no = [&](const std::string& sentence) {
    complain(program("invocation-follower", fabric), sentence);
    return stop_with{2};
  };
  if (c.managers.empty() && c.membership.empty())
    return no("it knows no manager: give --manager host:service, or --membership etcd://host:port");
  if (c.options.manager_silence < 2 * c.options.manager_every)
    return no("--manager-silence-ms must be at least twice --manager-every-ms: a manager needs time for an answer");
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
            << ", \"inherited\": " << report.inherited << ", \"inherited_calls\": " << report.inherited_calls
            << ", \"doubted\": " << report.doubted << ", \"billed\": " << report.billed << ", \"manager\": \""
            << report.manager << "\", \"exact\": " << (report.exact ? "true" : "false") << "}" << std::endl;
}

}  // namespace weft::invocation
