// SPDX-License-Identifier: Apache-2.0
//
// Replaces getrandom(2) where it is loaded first (LD_PRELOAD): each random word begins with three known bytes, so
// outputs.py can search outputs for tokens, keys and proofs. A process that drew one leaves a file in WEFT_PLANTED.
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {
std::atomic<std::uint32_t> drawn = 0;

void leave_a_mark() {
  const char* const folder = std::getenv("WEFT_PLANTED");
  if (folder == nullptr) return;
  const int file = ::open((std::string(folder) + "/" + std::to_string(::getpid())).c_str(), O_CREAT | O_WRONLY, 0600);
  if (file >= 0) (void)::close(file);
}
}  // namespace

extern "C" ssize_t getrandom(void* into, std::size_t size, unsigned /*flags*/) {
  if (drawn.load() == 0) leave_a_mark();
  auto* at = static_cast<std::byte*>(into);
  for (std::size_t done = 0; done < size; done += sizeof(std::uint64_t)) {
    const std::uint64_t process = static_cast<std::uint64_t>(::getpid()) & 0xff;
    const std::uint64_t word = std::uint64_t{0x5ec2e7} << 40 | process << 32 | ++drawn;
    std::memcpy(at + done, &word, size - done < sizeof word ? size - done : sizeof word);
  }
  return static_cast<ssize_t>(size);
}
