// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include "nodes/command_line.hpp"

#include <weft/core/printable.hpp>

#include <algorithm>
#include <fstream>
#include <iostream>

namespace weft::invocation {
namespace {

const std::map<std::string, polling_mode> polling_names{
    {"hot", polling_mode::hot}, {"warm", polling_mode::warm}, {"hot-then-warm", polling_mode::hot_then_warm}};

}  // namespace

std::variant<manager_command, stop_with> parse_manager(std::string_view fabric, int argc, char** argv) {
  manager_command c;
  c.spawn.executor = beside(argv[0], program("invocation-executor", fabric));
  CLI::App app("Takes clients over the fabric " + std::string(fabric) +
                   ", starts an executor process for each allocation, and accounts for its time.\n"
                   "Prints the address that clients connect to. SIGINT or SIGTERM ends it, and all executors with it.",
               program("invocation-manager", fabric));
  app.add_option("--node", c.options.node, "Local address to listen at")->capture_default_str();
  add_fabric(app, c.options.fabrics);
  app.add_option("--service", c.options.service, "Port to listen at; without it any free one");
  app.add_option("--announce", c.announce, "File to write the address to, once it listens")->type_name("FILE");
  app.add_option("--membership", c.membership,
                 "Share clients with the other managers at this etcd: etcd://host:port[,host:port][/prefix]")
      ->type_name("STORE");
  app.add_option("--max-workers", c.options.most_workers, "Workers of one allocation, at most")
      ->capture_default_str()
      ->check(CLI::Range(1, 255));
  app.add_option("--max-allocations", c.options.most_allocations, "Allocations at a time, at most")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--max-clients", c.options.most_clients,
                 "Clients at a time, at most; by default 16 more than --max-allocations. When all places are taken, a "
                 "client without an allocation leaves for the next one")
      ->check(CLI::Range(1, 116));
  app.add_option("--max-allocation-bytes", c.options.memory.one,
                 "Bytes of slots and objects of functions of one allocation, at most")
      ->capture_default_str()
      ->type_name("BYTES");
  app.add_option("--max-bytes", c.options.memory.all, "The same of all allocations together")
      ->capture_default_str()
      ->type_name("BYTES");
  milliseconds_option idle(app, "--idle-limit-ms", c.options.idle_limit,
                           "A client that has sent no request by then is closed");
  milliseconds_option limit(app, "--longest-function-ms", c.options.longest_function,
                            "Longest run of a function that a client may request");
  milliseconds_option start(app, "--start-limit-ms", c.options.start_limit,
                            "Until all workers of an executor are there");
  milliseconds_option silence(app, "--silence-ms", c.options.silence,
                              "A client or a worker that says nothing for so long beyond the longest function is lost",
                              100);
  spawn_options executors(app, c.spawn, program("invocation-manager", fabric));
  nodes::fleet_command nodes(app, c.nodes, program("invocation-manager", fabric));
  if (const auto stop = parse(app, argc, argv)) return *stop;
  if (const auto stop = executors.store()) return *stop;
  if (const auto stop = nodes.store(executors.given())) return *stop;
  if (c.nodes.meets_by_job && app.count("--node") == 0) c.options.node.clear();  // manager.cpp asks the job
  c.spawn.node = c.options.node;
  c.spawn.fabrics = c.options.fabrics;
  idle.store(), limit.store(), start.store(), silence.store();
  c.spawn.start_limit = std::chrono::ceil<std::chrono::milliseconds>(c.options.start_limit);
  return c;
}

std::variant<executor_command, stop_with> parse_executor(std::string_view fabric, int argc, const char* const* argv) {
  executor_command c;
  worker_settings& s = c.order.common;
  int mode = 0;
  std::string object;
  std::vector<std::string> trusted;
  CLI::App app("Runs functions for one client over the fabric " + std::string(fabric) +
                   ". A manager starts it; it is of no use alone.",
               program("invocation-executor", fabric));
  app.add_option("--parent", c.parent, "Process number of the manager; the executor dies with it")->required();
  app.add_option("--journal", c.journal, "Inherited descriptor of the journal")
      ->required()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--manager", s.manager, "Address of the manager")->required();
  app.add_option("--client", s.client, "Address of the client")->required();
  app.add_option("--node", s.node, "Local address to use");
  add_fabric(app, s.fabrics);
  app.add_option("--workers", c.order.workers, "Worker threads")->required()->check(CLI::Range(1, 255));
  app.add_option("--slots", s.slots, "Input slots per worker")->required()->check(CLI::Range(2, 64));
  app.add_option("--input-bytes", s.input_bytes, "Payload of an input slot")->required();
  app.add_option("--output-bytes", s.output_bytes, "Payload of an output slot")->required();
  app.add_option("--polling", mode, "0 hot, 1 warm, 2 hot, then warm")->required()->check(CLI::Range(0, 2));
  milliseconds_option hot(app, "--hot-ms", s.polling.hot_for, "Time without work until a hot-then-warm worker sleeps");
  milliseconds_option limit(app, "--function-limit-ms", s.function_limit, "Longest run of a function");
  milliseconds_option start(app, "--start-limit-ms", s.start_limit, "Until manager and client are connected");
  milliseconds_option silence(app, "--silence-ms", s.silence, "Of manager or client, beyond a function's limit", 100);
  app.add_option("--object", object, "SHA-256 of the client's object of functions");
  app.add_option("--object-bytes", s.object_bytes, "Size of that object");
  bool unconfined = false;
  app.add_option("--memory-mib", c.order.confined.memory_mib, "Memory to take after the start; 0: no limit");
  app.add_option("--user", c.order.confined.user, "User to become");
  app.add_flag("--unconfined", unconfined, "Make any system call");
  app.add_flag("--ignore-signals", c.ignores_signals, "Ignore SIGTERM, SIGINT, SIGHUP and SIGUSR1");
  app.add_option("--functions", c.trusted.folder, "Folder of trusted objects");
  app.add_option("--trust", trusted, "SHA-256 of a trusted object (repeatable)");
  if (const auto stop = parse(app, argc, argv)) return *stop;
  hot.store(), limit.store(), start.store(), silence.store();
  s.polling.mode = static_cast<polling_mode>(mode);
  c.order.confined.filter = !unconfined;
  const auto wrong = [&](const std::string& text) {
    complain(program("invocation-executor", fabric), "a SHA-256 has 64 hexadecimal digits, not \"" + text + "\"");
    return stop_with{2};
  };
  for (const std::string& text : trusted) {
    const auto hash = parse_digest(text);
    if (!hash) return wrong(text);
    c.trusted.objects.push_back(*hash);
  }
  if (!object.empty()) {
    const auto hash = parse_digest(object);
    if (!hash) return wrong(object);
    s.object = *hash;
    s.ships = true;
  }
  return c;
}

bool is_warm_parent(const std::vector<std::string>& words) {
  return std::ranges::find(words, "--warm-parent") != words.end();
}

std::variant<warm::parent_command, stop_with> parse_warm_parent(std::string_view fabric, int argc,
                                                                const char* const* argv) {
  warm::parent_command c;
  CLI::App app("Loads what executors need, and makes copies of itself for a manager, which starts it.",
               program("invocation-executor", fabric));
  app.add_option("--warm-parent", c.channel, "Inherited descriptor of the manager's requests")->required();
  app.add_option("--parent", c.manager, "Process number of the manager; it dies with it")->required();
  app.add_option("--user", c.user, "User that its copies become");
  app.add_option("--node", c.node, "Local address to use");
  add_fabric(app, c.fabrics);
  if (const auto stop = parse(app, argc, argv)) return *stop;
  return c;
}

std::variant<client_command, stop_with> parse_client(std::string_view fabric, int argc, char** argv) {
  client_command c;
  c.request.input_bytes = c.request.output_bytes = 0;  // chosen by the input, unless the user gives sizes
  CLI::App app("Invokes functions on an executor over the fabric " + std::string(fabric) + ".",
               program("invocation-client", fabric));
  app.require_subcommand(1);
  app.add_option("--manager", c.manager, "Address of the manager, host:service")->required();
  app.add_option("--node", c.options.node, "Local address that workers connect to")->capture_default_str();
  add_fabric(app, c.options.fabrics);
  app.add_option("--workers", c.request.workers, "Worker threads")->capture_default_str()->check(CLI::Range(1, 255));
  app.add_option("--slots", c.request.slots, "Input slots per worker")->capture_default_str()->check(CLI::Range(2, 64));
  app.add_option("--input-bytes", c.request.input_bytes, "Largest input; by default as large as needed");
  app.add_option("--output-bytes", c.request.output_bytes,
                 "Largest result; by default four times the input, at least 64 KiB");
  app.add_option("--polling", c.request.polling.mode, "How workers wait: hot, warm, hot-then-warm")
      ->transform(CLI::CheckedTransformer(polling_names))
      ->default_str("hot");
  milliseconds_option hot(app, "--hot-ms", c.request.polling.hot_for,
                          "Time without work until a hot-then-warm worker sleeps");
  app.add_option("--own-polling", c.options.polling.mode, "How this client waits")
      ->transform(CLI::CheckedTransformer(polling_names))
      ->default_str("hot");
  milliseconds_option limit(app, "--function-limit-ms", c.options.function_limit,
                            "A function that runs longer ends its executor");
  milliseconds_option connect(app, "--connect-limit-ms", c.connect_limit,
                              "Until the manager answers. A network that loses much needs more");
  milliseconds_option deadline(app, "--deadline-ms", c.deadline, "Time limit of each invocation");
  app.add_option("--object", c.object, "Shared object of functions to send; without it the built-ins")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  app.add_flag("--json", c.json, "One JSON object on standard output");

  auto* invoke = app.add_subcommand("invoke", "Call a function once");
  invoke->add_option("function", c.function, "Name of the function")->required();
  invoke->add_option("--input", c.input, "File with the input; without it the input is empty")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  invoke->add_option("--output", c.output, "File for the result; without it standard output")->type_name("FILE");
  auto* run = app.add_subcommand("run", "Call a function many times, check every result, print the times");
  run->add_option("function", c.function, "echo or checksum")
      ->capture_default_str()
      ->check(CLI::IsMember({"echo", "checksum"}));
  run->add_option("--count", c.count, "Invocations")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  milliseconds_option hold(*run, "--hold-ms", c.hold, "Keep the workers for so long after the last invocation");
  run->add_option("--warm-up", c.warm_up, "Invocations before the measured ones")->capture_default_str();
  run->add_option("--size", c.size, "Bytes of input")->capture_default_str()->check(CLI::Range(8U, 16U << 20));
  run->add_option("--depth", c.depth, "Calls in flight per worker; 1: blocking calls")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  run->add_option("--batch", c.batch,
                  "Calls per measured time (their mean): reading the clock is long compared with a call through memory")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  auto* list = app.add_subcommand("list", "Print the names of the functions");
  if (const auto stop = parse(app, argc, argv)) return *stop;
  hot.store(), limit.store(), connect.store(), deadline.store(), hold.store();
  c.act = invoke->parsed() ? client_command::what::invoke
          : run->parsed()  ? client_command::what::run
                           : client_command::what::list;
  (void)list;
  if (c.batch > 1 && (c.depth > 1 || c.request.workers > 1 || c.batch > c.count)) {
    complain(program("invocation-client", fabric),
             "--batch " + std::to_string(c.batch) +
                 " measures so many calls together, one after the other: it needs --workers 1, --depth 1 and a "
                 "--count of at least as many");
    return stop_with{2};
  }
  c.options.most_workers = std::max<std::uint16_t>(c.options.most_workers, c.request.workers);
  if (c.options.polling.mode == polling_mode::hot_then_warm) c.options.polling.hot_for = 1ms;
  return c;
}

void complain(std::string_view program, std::string_view sentence) {
  std::cerr << program << ": " << printable(sentence) << '\n';
}

int ended_by(const std::exception& e, std::string_view program, std::string_view fabric) noexcept {
  const bool no_memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
  (void)std::fprintf(stderr, "%.*s.%.*s: %s\n", static_cast<int>(program.size()), program.data(),
                     static_cast<int>(fabric.size()), fabric.data(), no_memory ? "memory ran out" : e.what());
  return 1;
}

std::optional<std::vector<std::byte>> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return std::nullopt;
  std::vector<std::byte> all(static_cast<std::size_t>(in.tellg()));
  in.seekg(0);
  if (!in.read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size()))) return std::nullopt;
  return all;
}

bool write_file(const std::string& path, const_bytes contents) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(contents.data()), static_cast<std::streamsize>(contents.size()));
  return static_cast<bool>(out.flush());
}

}  // namespace weft::invocation
