// SPDX-License-Identifier: Apache-2.0
//
// invocation-follower.<fabric>: a client that goes on when its manager ends, and reports how long nobody served it.
#include "commands.hpp"
#include "directory.hpp"
#include "following.hpp"

#include <weft/compose/selected.hpp>

#include <unistd.h>
#include <cstring>
#include <iostream>
#include <thread>
#include <utility>

int main(int argc, char** argv) try {
  using namespace weft::invocation;
  using clock = std::chrono::steady_clock;
  const std::string self = "invocation-follower." + std::string(weft::selected_name);
  const auto fail = [&](const std::string& sentence) {
    complain(self, sentence);
    return 1;
  };
  auto parsed = parse_follower(weft::selected_name, argc, argv);
  if (const auto* stop = std::get_if<stop_with>(&parsed)) return stop->code;
  const auto& command = std::get<follower_command>(parsed);

  std::vector<std::string> known = command.managers;
  std::unique_ptr<manager_directory> directory;
  if (!command.membership.empty()) {
    auto opened = manager_directory::open(command.membership);
    if (!opened) {
      complain(self, "--membership: " + opened.error().sentence);
      return 2;
    }
    directory = std::move(opened).value();
    for (const std::string& each : directory->for_clients()) known.push_back(each);
    if (known.empty()) return fail("no manager is a member at " + command.membership);
  }
  auto request = command.request;
  request.input_bytes = request.output_bytes = 64;
  auto opened = following_client<weft::selected>::open(std::move(known), command.options, request, command.recovery);
  if (!opened) return fail("no allocation: " + opened.error().sentence);
  auto& follows = **opened;
  std::cerr << "served by " << follows.now().manager_address() << std::endl;

  follower_report report;
  std::uint64_t number = 0;
  weft::instant last = clock::now();
  weft::instant end = last + (command.until_taken_over ? command.recovery : command.lasts);
  const auto told_to_end = [&] { return !command.until.empty() && ::access(command.until.c_str(), F_OK) == 0; };
  bool works = false;  // with this manager
  bool listed = true;
  const auto hear_of_managers = [&] {
    if (directory == nullptr || !directory->tend()) return;
    follows.learn(directory->for_clients());
    const bool was = std::exchange(listed, directory->lists(follows.now().manager_address()));
    if (listed || !was) return;
    ++report.doubted;
    follows.now().doubt_manager();
  };
  while (clock::now() < end && !told_to_end()) {
    std::array<std::byte, 64> in{}, out{};
    std::memcpy(in.data(), &++number, sizeof number);
    hear_of_managers();
    ++report.asked;
    const outcome o = follows.now().invoke("echo", in, out, command.deadline);
    if (o) {
      const weft::instant now = clock::now();
      report.longest_gap = std::max(report.longest_gap, weft::duration(now - last));
      last = now;
      const bool right = o.bytes == in.size() && in == out;
      ++(right ? report.done : report.wrong);
      report.done_after_takeover += std::uint64_t{right && !follows.takeovers().empty()};
      if (command.say_every > 0 && right && report.done % command.say_every == 0)
        std::cerr << "done " << report.done << std::endl;
      if (!std::exchange(works, true)) std::cerr << "works with " << follows.now().manager_address() << std::endl;
    } else {
      ++report.failed[name_of(o.why)];
    }
    if (!follows.now().allocated()) {
      const std::size_t before = follows.takeovers().size();
      std::cerr << "lost: " << follows.now().loss() << std::endl;
      if (const auto again = follows.recover(command.recovery); !again)
        return fail("no manager took over within " + std::to_string(command.recovery / 1ms) +
                    " ms: " + again.error().sentence);
      if (follows.takeovers().size() > before) {
        const auto& taken = follows.takeovers().back();
        works = false;
        listed = true;
        const cold_times& t = follows.now().times();
        std::cerr << "taken over by " << taken.to << " within " << taken.took / 1ms << " ms: connected in "
                  << t.connect / 1ms << ", answered in " << t.submit / 1ms << ", workers connected in "
                  << t.spawn_connect / 1ms << " and ready in " << t.initialize / 1ms << std::endl;
        if (command.until_taken_over && before == 0) end = clock::now() + command.lasts;
      }
      continue;
    }
    if (command.pause > weft::duration()) std::this_thread::sleep_for(command.pause);
  }
  for (const auto& each : follows.takeovers()) report.longest_takeover = std::max(report.longest_takeover, each.took);
  report.takeovers = follows.takeovers().size();
  if (follows.unbilled() > 0 && command.accounts > weft::duration())
    (void)follows.now().wait_for_inherited_bill(command.accounts);  // the report says what is missing
  for (const bill& each : follows.inherited()) {
    ++report.inherited;
    report.inherited_calls += each.invocations;
  }
  report.unbilled = follows.unbilled();
  report.manager = follows.now().manager_address();
  const auto cost = follows.now().release();
  if (!cost) return fail(cost.error().sentence);
  report.exact = cost->exact;
  report.billed = cost->invocations;
  print(report);
  return report.wrong == 0 && report.exact ? 0 : 1;
} catch (const std::exception& e) {
  return weft::invocation::ended_by(e, "invocation-follower", weft::selected_name);
}
