// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include <CLI/CLI.hpp>

namespace weft::paged {
namespace {

struct form {
  command c;
  std::uint64_t report_ms = 1000, patience_s = 30;
  std::vector<std::string> nodes;

  void add_to(CLI::App& app) {
    app.add_option("--rails", c.run.rails, "Endpoints of each side, a transport each; pages take turns")
        ->capture_default_str()
        ->check(CLI::Range(1, 64));
    app.add_option("--nodes", nodes, "Local address of each rail (default: 127.0.0.1, 127.0.0.2, ...)")
        ->delimiter(',')
        ->type_name("NODE,...");
    app.add_flag("--one-thread", c.run.one_thread, "One thread drives all rails, instead of one each");
    app.add_flag("--pin", c.run.pinned, "Each thread stays on a processor");
    app.add_option("--bytes", c.run.total, "Bytes to write and verify, at least: 512MiB, 10GiB")
        ->transform(CLI::AsSizeValue(false))
        ->default_str("256MiB")
        ->check(CLI::PositiveNumber);
    app.add_option("--page", c.run.page_bytes, "Bytes of a page")
        ->transform(CLI::AsSizeValue(false))
        ->default_str("64KiB")
        ->check(CLI::Range(8, 1 << 26));
    app.add_option("--pages", c.run.pages, "Pages of a round; the reader keeps two rounds in memory")
        ->capture_default_str()
        ->check(CLI::Range(1, 1 << 20));
    app.add_option("--batch", c.run.batch, "Pages posted between two polls of the queue")
        ->capture_default_str()
        ->check(CLI::Range(1, 1024));
    app.add_option("--window", c.run.window, "Pages of a rail in flight")
        ->capture_default_str()
        ->check(CLI::Range(1, 4096));
    app.add_option("--operations", c.run.operations,
                   "Operations of a transport; fewer than the window: posts are answered again and wait")
        ->capture_default_str()
        ->check(CLI::Range(16, 65536));
    app.add_flag("--eager", c.run.eager, "Post a page when it is made, not at the next poll");
    app.add_option("--seed", c.run.seed, "Seed of the contents and of their order")->capture_default_str();
    app.add_option("--report-ms", report_ms, "Milliseconds between two lines of progress; 0: none")
        ->capture_default_str()
        ->type_name("MS");
    app.add_option("--patience", patience_s, "Seconds without any movement until a side gives up")
        ->capture_default_str()
        ->check(CLI::Range(1, 3600));
    app.add_option("--spoil", c.run.spoil, "The writer damages a bit of this round: the verification must fail")
        ->type_name("ROUND");
  }
  void settle() {
    c.run.report = std::chrono::milliseconds(report_ms);
    c.run.patience = std::chrono::seconds(patience_s);
    if (!nodes.empty()) c.run.nodes = nodes;
    else
      for (std::uint32_t i = 1; i < c.run.rails; ++i) c.run.nodes.push_back("127.0.0." + std::to_string(i + 1));
  }
  std::string mistake() const {
    if (c.run.page_bytes % 8 != 0)
      return "--page is " + std::to_string(c.run.page_bytes) + "; a page has a multiple of 8 bytes";
    if (c.run.pages < c.run.rails)
      return "--pages is " + std::to_string(c.run.pages) + "; a round has a page for each of the " +
             std::to_string(c.run.rails) + " rails, at least";
    return {};
  }
};

}  // namespace

parsed parse_command(std::string_view fabric, int argc, char** argv) {
  form f;
  const std::string name = "paged-writer." + std::string(fabric);
  CLI::App app(
      "Random page writes over the fabric " + std::string(fabric) +
          ": a server writes pages into a client's memory, the client counts notices and verifies\nevery word. "
          "`both` runs the two as processes; give server and client the same options.",
      name);
  app.require_subcommand(1);
  app.add_subcommand("both", "Both sides, as two processes of this machine")->callback([&] { f.c.as = role::both; });
  CLI::App* server = app.add_subcommand("server", "Listens, then writes the pages that a client requests");
  server->callback([&] { f.c.as = role::server; });
  server->add_option("--announce", f.c.announce, "File that gets the rails' addresses; without it standard output")
      ->type_name("FILE");
  CLI::App* client = app.add_subcommand("client", "Requests pages from a server and verifies them");
  client->callback([&] { f.c.as = role::client; });
  client->add_option("where", f.c.where, "The server's addresses, as it printed them")
      ->required()
      ->type_name("HOST:PORT,...");
  for (CLI::App* each : app.get_subcommands({})) f.add_to(*each);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return {{}, app.exit(e) == 0 ? 0 : 2};
  }
  f.settle();
  if (const std::string wrong = f.mistake(); !wrong.empty()) {
    (void)std::fprintf(stderr, "%s: %s\n", name.c_str(), wrong.c_str());
    return {{}, 2};
  }
  return {f.c, std::nullopt};
}

}  // namespace weft::paged
