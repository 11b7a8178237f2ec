// SPDX-License-Identifier: Apache-2.0
//
// emulator/profile.cpp: the profile of an emulated row. It is accepted, or refused with one sentence. The reader ends
// the process there; here it throws instead, so the reader's source is part of this unit.
#include "../target.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

namespace weft::fuzz::emulator_profile {
struct refused {};
std::string said;
}  // namespace weft::fuzz::emulator_profile

// NOLINTNEXTLINE(cert-dcl58-cpp): the reader names these two with std::
namespace std {
[[noreturn]] void weft_fuzz_exit(int /*code*/) { throw weft::fuzz::emulator_profile::refused{}; }
void weft_fuzz_print(FILE* /*to*/, const char* /*format*/, const char* sentence) {
  weft::fuzz::emulator_profile::said = sentence;
}
}  // namespace std
#define _Exit weft_fuzz_exit
#define fprintf weft_fuzz_print
#include "../../emulator/profile.cpp"
#undef _Exit
#undef fprintf

namespace weft::fuzz::emulator_profile {

void check(const_bytes input) {
  static const int file = ::memfd_create("weft_fuzz", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  require(::ftruncate(file, 0) == 0 && ::pwrite(file, input.data(), input.size(), 0) >= 0, "the file is written");
  said.clear();
  try {
    const emulator::profile read = emulator::read(path.c_str());
    require(!read.fabric.empty() && !read.provider.empty(), "an accepted profile names its fabric and its provider");
    require(said.empty(), "an accepted profile has no refusal");
  } catch (const refused&) {
    require(said.size() > path.size(), "a refusal has a sentence");
    require(said.starts_with(path), "a refusal names the file");
  }
}

}  // namespace weft::fuzz::emulator_profile
WEFT_FUZZ_TARGET(emulator_profile)
