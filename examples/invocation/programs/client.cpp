// SPDX-License-Identifier: Apache-2.0
//
// invocation-client.<fabric>
#include "../client.hpp"
#include "../commands.hpp"
#include "../measured_run.hpp"
#include "../nodes/meeting.hpp"
#include "programs.hpp"

#include <weft/compose/selected.hpp>

#include <iostream>

namespace weft::invocation {
namespace {

using client_type = client<selected>;
const std::string self = "invocation-client." + std::string(selected_name);

int fail(const std::string& sentence) {
  complain(self, sentence);
  return 1;
}

/// Why the executor was lost. Its connections tell a death first, and the manager a moment later why.
const std::string& loss_of(client_type& c) {
  for (const instant end = c.net().now() + std::chrono::seconds(1); !c.last_bill() && c.net().now() < end;)
    if (c.progress() == 0) c.rest();
  return c.loss();
}

int release(client_type& c, const client_command& command, int code, const run_report* report) {
  const std::string_view by = c.fabric_of_workers();
  const auto cost = c.release();
  if (!cost) return fail(cost.error().sentence);
  if (report != nullptr) print(*report, c.times(), *cost, by, command.json);
  if (!cost->exact) return fail("the manager's words differ from the workers' own totals");
  return code;
}

int invoke_once(client_type& c, const client_command& command, const_bytes input) {
  std::vector<std::byte> output(command.request.output_bytes);
  const outcome o = c.invoke(command.function, input, output, command.deadline);
  if (!o) {
    const std::string loss = o.why == trouble::executor_lost ? loss_of(c) : c.loss();
    complain(self, command.function + " failed: " + name_of(o.why) +
                       (o.detail != 0 ? " (" + std::to_string(o.detail) + ")" : "") +
                       (loss.empty() ? "" : ": " + loss));
    if (c.allocated()) (void)c.release();
    return 1;
  }
  const const_bytes result(output.data(), o.bytes);
  if (command.output.empty())
    std::cout.write(reinterpret_cast<const char*>(result.data()), static_cast<std::streamsize>(result.size()));
  else if (!write_file(command.output, result)) return fail(command.output + " cannot be written");
  return release(c, command, 0, nullptr);
}

int run(client_type& c, const client_command& command) {
  run_report report;
  const bool good = measured_run(c, command, report);
  for (const instant end = c.net().now() + command.hold; c.allocated() && c.net().now() < end;)
    if (c.progress() == 0) c.rest();
  if (!c.allocated()) {
    complain(self, "the executor was lost: " + loss_of(c));
    return 1;
  }
  return release(c, command, good ? 0 : 1, &report);
}

}  // namespace

int run_client(int argc, char** argv) try {
  auto parsed = parse_client(selected_name, argc, argv);
  if (const auto* stop = std::get_if<stop_with>(&parsed)) return stop->code;
  auto& command = std::get<client_command>(parsed);

  std::vector<std::byte> input;
  std::vector<std::byte> object;
  if (!command.input.empty()) {
    auto contents = read_file(command.input);
    if (!contents) return fail(command.input + " cannot be read");
    input = std::move(*contents);
  }
  if (!command.object.empty()) {
    auto contents = read_file(command.object);
    if (!contents) return fail(command.object + " cannot be read");
    object = std::move(*contents);
    command.request.object = object;
  }
  const auto needed =
      static_cast<std::uint32_t>(command.act == client_command::what::run ? command.size : input.size());
  if (command.request.input_bytes == 0) command.request.input_bytes = std::max(needed, 64U);
  if (command.request.output_bytes == 0)
    command.request.output_bytes =
        command.act == client_command::what::run ? std::max(needed, 64U) : std::max(needed * 4, 64U << 10);

  const auto manager = nodes::manager_address(command.manager, nodes::side::client, 30s);
  if (!manager) {
    complain(self, manager.error().sentence);
    return 2;
  }
  auto connected = client_type::connect(*manager, command.options, command.connect_limit);
  if (!connected) return fail(connected.error().sentence);
  client_type& c = **connected;
  if (const auto allocated = c.allocate(command.request); !allocated)
    return fail("no allocation: " + allocated.error().sentence);
  switch (command.act) {
    case client_command::what::invoke:
      return invoke_once(c, command, input);
    case client_command::what::run:
      return run(c, command);
    case client_command::what::list:
      std::cout << c.names();
      return release(c, command, 0, nullptr);
  }
  return 1;
} catch (const std::exception& e) {
  return ended_by(e, "invocation-client", selected_name);
}

}  // namespace weft::invocation
