// SPDX-License-Identifier: Apache-2.0
//
// weft-probe: claims of a libfabric provider (`claims`), and its observed behaviour between two processes (`show`).
// Each answer is one line of JSON. It assumes nothing about any provider; `./weft probe` compares its answers with a
// row. Hot path: no. Threads: one.
#include "supervisor.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace {

using weft::probe::behaviour;
using weft::probe::behaviours;
using weft::probe::demands;

const behaviour* find(std::string_view name) {
  for (const behaviour* each : behaviours())
    if (each->name == name) return each;
  return nullptr;
}

void add_options(CLI::App& to, demands& about, std::string& endpoint, std::string& progress, std::string& with,
                 int& deadline) {
  to.add_option("--provider", about.provider, "the library's name for the provider")->required();
  to.add_option("--endpoint", endpoint, "connected or addressed")
      ->check(CLI::IsMember({"connected", "addressed"}))
      ->required();
  to.add_option("--fabric-name", about.fabric_name, "the name of the fabric, where the provider offers several");
  to.add_option("--node", about.node, "a local address for both processes")->capture_default_str();
  to.add_option("--progress", progress, "progress to request")
      ->check(CLI::IsMember({"manual", "automatic"}))
      ->capture_default_str();
  to.add_option("--with", with, "request this too")->check(CLI::IsMember({"atomics", "pointers", "provider_keys"}));
  to.add_option("--deadline", deadline, "milliseconds for one behaviour")
      ->check(CLI::Range(500, 60000))
      ->capture_default_str();
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app(
      "Claims of a libfabric provider, and its observed behaviour between two processes. One line of JSON per answer.",
      "weft-probe");
  app.require_subcommand(1);
  demands about;
  about.node = "127.0.0.1";
  std::string endpoint, progress = "manual", with;
  int deadline = 9000;
  std::vector<std::string> names;
  CLI::App& asking = *app.add_subcommand("claims", "claims of the library");
  CLI::App& showing = *app.add_subcommand("show", "behaviour between two processes");
  CLI::App& listing = *app.add_subcommand("list", "the behaviours, one per line");
  add_options(asking, about, endpoint, progress, with, deadline);
  add_options(showing, about, endpoint, progress, with, deadline);
  showing.add_option("behaviour", names, "which behaviours")->required()->check([](const std::string& name) {
    return find(name) == nullptr ? "there is no behaviour \"" + name + "\"; `weft-probe list` names them"
                                 : std::string();
  });
  CLI11_PARSE(app, count, arguments);
  about.connected = endpoint == "connected";
  about.automatic = progress == "automatic";
  about.atomics = with == "atomics";
  about.pointers = with == "pointers";
  about.provider_keys = with == "provider_keys";
  about.deadline = weft::probe::milliseconds(deadline);
  const auto say = [](const std::string& line) {
    std::puts(line.c_str());
    std::fflush(stdout);
  };
  if (listing.parsed())
    for (const behaviour* each : behaviours()) say(std::string(each->name) + "\t" + std::string(each->question));
  if (asking.parsed()) say(weft::probe::supervise_claims(about));
  for (const std::string& name : names) say(weft::probe::supervise(about, *find(name)));
  return 0;
}
