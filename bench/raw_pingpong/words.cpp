// SPDX-License-Identifier: Apache-2.0
#include "words.hpp"
#include "../command_line.hpp"

#include <cstdio>
#include <string>

namespace weft::bench {

int parse_words(run_settings& settings, int argc, char** argv) {
  run_options options;
  const int code = options.parse(argc, argv, "A hand-written ping-pong between two processes on this machine");
  settings = options;
  return code;
}

bool report(const run_settings& settings, std::string_view fabric, std::string_view carrier,
            const samples& round_trips) {
  const json taken = percentiles(round_trips);
  if (settings.json.empty())
    std::printf("%s, %zu bytes, %zu full round trips: %s ns\n", std::string(fabric).c_str(), settings.size,
                settings.count, taken.dump().c_str());
  return write_json({{"fabric", fabric},
                     {"size", settings.size},
                     {"count", settings.count},
                     {"carrier", carrier},
                     {"round_trip_ns", taken}},
                    settings.json);
}

}  // namespace weft::bench
