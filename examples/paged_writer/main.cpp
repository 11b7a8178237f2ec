// SPDX-License-Identifier: Apache-2.0
//
// paged-writer.<fabric>: random page writes between two processes, many rails, every word verified. Over the in-process
// fabric, or any row over its port (WEFT_OVER_LOOPBACK), `both` is a simulation in one thread.
#include "processes.hpp"
#include "simulation.hpp"

#include <weft/compose/selected.hpp>

namespace {
using namespace weft::paged;

#if defined(WEFT_OVER_LOOPBACK)
using fabric = weft::over<weft::selected, weft::backends::loopback::port>;
#else
using fabric = weft::selected;
#endif
constexpr bool in_process = std::same_as<fabric::port<weft::shape_of<fabric>>, simulated::port<weft::shape_of<fabric>>>;

}  // namespace

int main(int argc, char** argv) try {
  const parsed said = parse_command(fabric::name, argc, argv);
  if (said.stop) return *said.stop;
  const command& c = said.what;
  if constexpr (in_process) {
    if (c.as != role::both) {
      (void)std::fprintf(stderr, "paged-writer.%s: this fabric lives in one process: only `both` runs on it\n",
                         std::string(fabric::name).c_str());
      return 2;
    }
    return guarded<fabric>("simulation",
                           [&] { print<fabric>("verified", c.run, simulation_run<fabric>(c.run).play()); });
  } else {
    switch (c.as) {
      case role::server:
        return serve<fabric>(c);
      case role::client:
        return read<fabric>(c, c.where);
      default:
        return both<fabric>(c);
    }
  }
} catch (const std::exception& e) {
  return ended_by<fabric>("command line", e);
}
