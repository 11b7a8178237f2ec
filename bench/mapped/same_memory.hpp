// SPDX-License-Identifier: Apache-2.0
//
// Finds the peer's memory where this process has mapped it already. A contender by hand must touch the same lines as
// weft: another page may be in another slice of the cache, and be faster or slower by a third. The file's number and
// offset name a place (proc_pid_maps(5)). Hot path: no. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace weft::bench {

class same_memory {
 public:
  /// A place in this process's memory, to be sent to the peer.
  static std::string of(const std::byte* here) {
    const auto wanted = reinterpret_cast<std::uintptr_t>(here);
    const piece found = search([wanted](const piece& p) { return wanted >= p.start && wanted < p.end; });
    return std::to_string(found.file) + " " + std::to_string(found.offset + (wanted - found.start));
  }
  /// Where this process has mapped the peer's place.
  static std::byte* at(const std::string& place) {
    std::uint64_t file = 0, offset = 0;
    std::istringstream(place) >> file >> offset;
    const piece found = search(
        [&](const piece& p) { return p.file == file && offset >= p.offset && offset - p.offset < p.end - p.start; });
    return reinterpret_cast<std::byte*>(
        found.start + (offset - found.offset));  // NOLINT(performance-no-int-to-ptr): the kernel wrote it as text
  }

 private:
  struct piece {
    std::uintptr_t start = 0, end = 0;
    std::uint64_t offset = 0, file = 0;
  };
  template <class Which>
  static piece search(Which&& which) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
      std::istringstream words(line);
      piece p;
      char dash = 0;
      std::string permissions, device;
      words >> std::hex >> p.start >> dash >> p.end >> permissions >> p.offset >> device >> std::dec >> p.file;
      if (words && p.file != 0 && which(p)) return p;
    }
    throw std::runtime_error("bench: this memory is of no file that both processes have mapped");
  }
};

}  // namespace weft::bench
