// SPDX-License-Identifier: Apache-2.0
//
// invocation-load.<fabric>: prints one JSON object. Exit code 0: every call ended, with the right result or a typed
// error.
#include "load.hpp"

#include "../../announcement.hpp"
#include "commands.hpp"

#include <weft/compose/selected.hpp>

#include <unistd.h>
#include <cstdio>
#include <thread>

namespace {

using namespace weft::invocation;

void print(const nodes::load_report& r) {
  const auto number = [](const char* name, std::uint64_t value) {
    std::printf("\"%s\":%llu,", name, static_cast<unsigned long long>(value));
  };
  std::printf("{");
  number("asked", r.asked), number("done", r.done), number("wrong", r.wrong), number("unended", r.unended);
  number("done_after_loss", r.done_after_loss), number("allocations", r.allocations), number("losses", r.losses);
  number("bills", r.bills), number("exact_bills", r.exact_bills), number("billed_calls", r.billed_calls);
  std::printf("\"failed\":{");
  bool first = true;
  for (std::size_t i = 0; i < r.failed.size(); ++i) {
    if (r.failed.at(i) == 0) continue;
    std::printf("%s\"%s\":%llu", first ? "" : ",", name_of(static_cast<trouble>(i)),
                static_cast<unsigned long long>(r.failed.at(i)));
    first = false;
  }
  std::printf("}}\n");
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string self = "invocation-load." + std::string(weft::selected_name);
  auto parsed = nodes::parse_load(weft::selected_name, argc, argv);
  if (const auto* stop = std::get_if<stop_with>(&parsed)) return stop->code;
  const auto& o = std::get<nodes::load_options>(parsed);

  nodes::load_progress progress;
  progress.resumed = o.resume.empty();
  std::vector<std::unique_ptr<nodes::busy_client<weft::selected>>> clients;
  std::vector<std::thread> threads;
  for (std::uint16_t i = 0; i < o.executors; ++i) {
    const std::uint64_t calls = o.calls / o.executors + std::uint64_t{i < o.calls % o.executors};
    clients.push_back(std::make_unique<nodes::busy_client<weft::selected>>(o, calls, progress));
    threads.emplace_back([each = clients.back().get()] { each->run(); });
  }
  const auto end = std::chrono::steady_clock::now() + o.limit;
  const auto nap = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  while (progress.ready < o.executors && std::chrono::steady_clock::now() < end) nap();
  std::printf("ready\n");
  std::fflush(stdout);
  while (!o.go.empty() && ::access(o.go.c_str(), F_OK) != 0 && std::chrono::steady_clock::now() < end) nap();
  progress.go = true;
  std::thread marks([&] {
    while (progress.ended < o.calls / 3 && std::chrono::steady_clock::now() < end && progress.go) nap();
    if (!o.mark.empty()) (void)weft::examples::announce(o.mark, "a third\n");
    while (!progress.resumed && std::chrono::steady_clock::now() < end && progress.go) {
      progress.resumed = ::access(o.resume.c_str(), F_OK) == 0;
      nap();
    }
  });
  for (std::thread& each : threads) each.join();
  progress.go = false;
  marks.join();

  nodes::load_report all;
  for (const auto& each : clients) all.add(each->report());
  print(all);
  if (!all.why.empty()) complain(self, all.why);
  return all.why.empty() && all.wrong == 0 && all.unended == 0 && all.done + all.failures() == all.asked ? 0 : 1;
} catch (const std::exception& e) {
  return ended_by(e, "invocation-load", weft::selected_name);
}
