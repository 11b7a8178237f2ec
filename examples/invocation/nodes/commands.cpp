// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include "command_line.hpp"
#include "meeting.hpp"

#include <weft/job/etcd/address.hpp>

#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <thread>

namespace weft::invocation::nodes {
namespace {

std::string variable(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? "" : value;
}
std::string host_name() {
  if (std::string slurm = variable("SLURMD_NODENAME"); !slurm.empty()) return slurm.substr(0, longest_name);
  char text[longest_name + 1] = "";
  return ::gethostname(text, longest_name) == 0 && text[0] != '\0' ? text : "node";
}
/// Processors that this node's task may use.
std::uint16_t usual_workers() {
  const std::string slurm = variable("SLURM_CPUS_ON_NODE");
  const int said = std::atoi(slurm.c_str());  // NOLINT(cert-err34-c): 0 where it is no number
  const unsigned here = said > 0 ? static_cast<unsigned>(said) : std::thread::hardware_concurrency();
  return static_cast<std::uint16_t>(std::clamp(here, 1U, 4096U));
}

bool is_no_store(const std::string& manager) { return !manager.starts_with(jobs::etcd_scheme); }

}  // namespace

struct fleet_command::parts {
  CLI::App& app;
  int port = -1;
  std::string secret;
  milliseconds_option lease, silence;
  std::vector<CLI::Option*> needs_nodes;
};

fleet_command::fleet_command(CLI::App& app, fleet_options& into, std::string program)
    : into_(into), program_(std::move(program)) {
  parts_.reset(new parts{
      app,
      -1,
      {},
      {app, "--lease-ms", into_.lease,
       "With --nodes: from the start of an allocation to its end. The node ends its executor then", 1},
      {app, "--node-silence-ms", into_.silence, "With --nodes: a node that says nothing for so long is lost", 100},
      {}});
  parts& p = *parts_;
  app.add_option("--nodes", p.port,
                 "Executors run on nodes, and none beside the manager. Their daemons (weft-node) register at this "
                 "port; 0: any free one")
      ->type_name("PORT")
      ->check(CLI::Range(0, 65535));
  p.needs_nodes = {
      p.lease.option, p.silence.option,
      app.add_option("--announce-nodes", into_.announce, "With --nodes: file to write that address to")
          ->type_name("FILE"),
      app.add_option("--secret", p.secret, "With --nodes: file of random bytes; a daemon shows that it has the same")
          ->type_name("FILE")};
  app.add_flag("--job", into_.meets_by_job,
               "This is rank 0 of a weft::job (weft run, mpirun, srun), and tells the other ranks its addresses");
}
fleet_command::~fleet_command() = default;

std::optional<stop_with> fleet_command::store(const std::string& of_executors) {
  const auto no = [&](const std::string& sentence) {
    complain(program_, sentence);
    return stop_with{2};
  };
  const parts& p = *parts_;
  into_.used = p.port >= 0;
  if (!into_.used) {
    for (const CLI::Option* each : p.needs_nodes)
      if (each->count() > 0) return no(each->get_name() + " is for nodes, and there are none: give --nodes PORT too");
    return std::nullopt;
  }
  if (!of_executors.empty())
    return no(of_executors + " is for executors, and with --nodes none runs beside the manager: give it to weft-node");
  if (p.port > 0) into_.service = std::to_string(p.port);
  if (!p.secret.empty()) {
    auto secret = secret_of(p.secret);
    if (!secret) return no(secret.error().sentence);
    into_.secret = *secret;
  }
  p.lease.store(), p.silence.store();
  return std::nullopt;
}

std::variant<daemon_command, stop_with> parse_daemon(std::string_view fabric, int argc, char** argv) {
  daemon_command c;
  const std::string self = program("weft-node", fabric);
  c.spawn.executor = beside(argv[0], program("invocation-executor", fabric));
  c.options.name = host_name();
  c.options.workers = usual_workers();
  std::string secret;
  CLI::App app("The daemon of a node: starts executors over the fabric " + std::string(fabric) +
                   " for a manager (invocation-manager --nodes), one daemon per node.\n"
                   "SIGTERM, SIGINT and SIGUSR1 drain it: running calls end, then it does, with exit code 0.",
               self);
  app.add_option("--manager", c.options.managers,
                 "Where nodes register: host:port; file:PATH, which a manager writes; etcd://host:port[/prefix], the "
                 "--membership of managers with --nodes; or job, of rank 0 of a weft::job. Of several (repeatable) "
                 "the first that answers, those of etcd last")
      ->required();
  app.add_option("--node", c.options.node, "Local address to use; without it the one on the way to the manager");
  add_fabric(app, c.options.fabrics);
  app.add_option("--name", c.options.name, "Name of this node")->capture_default_str();
  app.add_option("--workers", c.options.workers, "Workers at a time, at most")
      ->capture_default_str()
      ->check(CLI::Range(1, 4096));
  app.add_option("--secret", secret, "File of random bytes: the manager's")->type_name("FILE");
  milliseconds_option limit(app, "--manager-limit-ms", c.options.manager_limit,
                            "Without a manager for so long, the daemon ends, with exit code 1", 1);
  milliseconds_option silence(app, "--manager-silence-ms", c.options.silence,
                              "A manager that says nothing for so long is lost", 100);
  milliseconds_option drain(app, "--drain-limit-ms", c.options.drain_limit,
                            "Running calls may take so long once the daemon is asked to end", 1);
  milliseconds_option grace(app, "--grace-ms", c.options.grace,
                            "From the end of a lease, or the loss of the manager, until executors are killed");
  spawn_options executors(app, c.spawn, self);
  if (const auto stop = parse(app, argc, argv)) return *stop;
  if (const auto stop = executors.store()) return *stop;
  const auto no = [&](const std::string& sentence) {
    complain(self, sentence);
    return stop_with{2};
  };
  if (c.options.name.empty() || c.options.name.size() > longest_name)
    return no("--name has " + std::to_string(c.options.name.size()) + " bytes; a node's name has 1 to " +
              std::to_string(longest_name));
  if (!secret.empty()) {
    auto token = secret_of(secret);
    if (!token) return no(token.error().sentence);
    c.options.secret = *token;
  }
  limit.store(), silence.store(), drain.store(), grace.store();
  auto& all = c.options.managers;
  if (const auto stores = std::stable_partition(all.begin(), all.end(), is_no_store); stores != all.end()) {
    c.options.membership = *stores;
    if (all.end() - stores > 1)
      return no("--manager names " + std::to_string(all.end() - stores) + " places in etcd: give one");
    all.erase(stores, all.end());
  }
  for (std::string& each : c.options.managers) {
    auto address = manager_address(each, side::node, c.options.manager_limit);
    if (!address && address.why().code == errc::closed) return stop_with{0};
    if (!address) return no(address.error().sentence);
    each = std::move(address).value();
  }
  if (c.options.node.empty())
    c.options.node = c.options.managers.empty() ? own_address_towards_store(c.options.membership)
                                                : own_address_towards(c.options.managers.front());
  c.spawn.node = c.options.node;
  c.spawn.fabrics = c.options.fabrics;
  return c;
}

std::variant<load_options, stop_with> parse_load(std::string_view fabric, int argc, char** argv) {
  load_options o;
  // Many processes share few processors here, so that all of them sleep while they wait.
  o.request.polling.mode = o.client.polling.mode = polling_mode::warm;
  const std::string self = program("invocation-load", fabric);
  CLI::App app("Keeps executors busy over the fabric " + std::string(fabric) +
                   ", each by a thread of its own, and checks every result. A lost executor is replaced.\n"
                   "Prints \"ready\" once every thread has an executor, and at the end one JSON object.",
               self);
  app.add_option("--manager", o.manager, "Address of the manager: host:service, file:PATH or job")->required();
  app.add_option("--node", o.client.node, "Local address that workers connect to")->capture_default_str();
  add_fabric(app, o.client.fabrics);
  app.add_option("--executors", o.executors, "Executors, a thread each")
      ->capture_default_str()
      ->check(CLI::Range(1, 64));
  app.add_option("--workers", o.request.workers, "Workers of each")->capture_default_str()->check(CLI::Range(1, 255));
  app.add_option("--calls", o.calls, "Calls, of all together")
      ->capture_default_str()
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  app.add_option("--size", o.size, "Bytes of input")->capture_default_str()->check(CLI::Range(8U, 1U << 20));
  app.add_option("--depth", o.depth, "Calls in flight per worker")->capture_default_str()->check(CLI::Range(1, 64));
  milliseconds_option deadline(app, "--deadline-ms", o.deadline, "Time limit of each call", 1);
  milliseconds_option function(app, "--function-limit-ms", o.client.function_limit,
                               "A function that runs longer ends its executor", 1);
  milliseconds_option retry(app, "--retry-limit-ms", o.retry_limit, "Until there is another executor", 1);
  milliseconds_option limit(app, "--limit-ms", o.limit, "Of the whole load", 1);
  app.add_option("--mark", o.mark, "File to write once a third of the calls has ended")->type_name("FILE");
  app.add_option("--resume", o.resume,
                 "After that third calls are slow, and stop at two thirds, until this file is there")
      ->type_name("FILE");
  app.add_option("--go", o.go, "File to wait for before the first call")->type_name("FILE");
  if (const auto stop = parse(app, argc, argv)) return *stop;
  deadline.store(), function.store(), retry.store(), limit.store();
  o.client.most_workers = o.request.workers;
  o.request.slots = static_cast<std::uint16_t>(std::max(o.depth, 2U));
  o.request.input_bytes = o.request.output_bytes = std::max(o.size, 64U);
  auto address = manager_address(o.manager, side::client, o.retry_limit);
  if (!address) {
    complain(self, address.error().sentence);
    return stop_with{2};
  }
  o.manager = std::move(address).value();
  return o;
}

}  // namespace weft::invocation::nodes
