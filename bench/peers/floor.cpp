// SPDX-License-Identifier: Apache-2.0
//
// The floors: what two processes of this machine can do over a socket and in shared memory, without weft and without a
// library. Hot path: ladder.hpp, floor_ends.hpp. Threads: one per process.
#include "floor_ends.hpp"

#include <CLI/CLI.hpp>

#include <sys/mman.h>
#include <new>

namespace {
using namespace weft::bench;

template <class End>
json climbed(End& end, const ladder& plan, bool first, bool rates) {
  json found = json::array();
  run_class(end, plan, first, false, rates, found);
  run_class(end, plan, first, true, false, found);
  return found;
}

int side(const channel& to, bool first, const std::string& as, stream_shape stream, const ladder& plan, bool rates,
         both_ways& shared) {
  pin_to(first ? 1 : 0);
  json found;
  if (as == "socket") {
    socket_end end(to, first, stream);
    found = climbed(end, plan, first, rates);
    to.part(first, [] {});
  } else if (as == "put") {
    put_end<> end(shared, first);
    found = climbed(end, plan, first, rates);
  } else {
    ring_end end(shared, first);
    found = climbed(end, plan, first, rates);
  }
  return !first || write_json({{"contender", as}, {"readings", found}}, "-") ? 0 : 1;
}
}  // namespace

int main(int argc, char** argv) {
  CLI::App app("What this machine can do between two processes, by hand, as JSON");
  std::string as = "socket";
  ladder plan{{8, 1024, 4096, 16384, 65536, largest_floor}, 2000, {fruitless::yield, 2000}};
  stream_shape stream;
  bool rates = true;
  unsigned limit = 60;
  app.add_option("--as", as, "socket; put: shared memory, a copy and a flag; ring: shared memory, copied in and out")
      ->check(CLI::IsMember({"socket", "put", "ring"}));
  app.add_option("--sizes", plan.sizes, "Bytes, multiples of 8")
      ->delimiter(',')
      ->check(CLI::Range(std::size_t{8}, largest_floor));
  app.add_option("--count", plan.count, "Round trips of a small transfer")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--piece", stream.piece, "socket: bytes of one send(); 0: all of a transfer")->capture_default_str();
  app.add_option("--kernel-buffers", stream.kernel_buffers, "socket: bytes of SO_SNDBUF and SO_RCVBUF; 0: the kernel's")
      ->capture_default_str();
  app.add_flag("!--no-rate", rates, "Leave rates and the call alone out");
  app.add_option("--limit", limit, "Seconds after which the run is ended")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  void* const memory = ::mmap(nullptr, sizeof(both_ways), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  auto& shared = *new (memory) both_ways;
  return two_processes(
      limit, [&](const channel& to) { return side(to, true, as, stream, plan, rates, shared); },
      [&](const channel& to) { return side(to, false, as, stream, plan, rates, shared); });
}
