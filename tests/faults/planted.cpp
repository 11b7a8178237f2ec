// SPDX-License-Identifier: Apache-2.0
//
// A program that allocates three times, and treats a failed allocation as its argument says. scripts/faults must report
// each treatment but `right`.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

constexpr int most = 3;

int treat(std::string_view how, void** blocks, int made) {
  const auto say = [] { (void)std::fprintf(stderr, "planted: no_memory: a block of 64 bytes is not there\n"); };
  if (how == "crash") return std::memset(blocks[made], 1, 64) == nullptr;
  if (how == "abort") std::abort();
  if (how == "hang") {
    for (;;) ::pause();
  }
  if (how == "leave") ::_exit(0);
  if (how == "child" && ::fork() == 0) {
    for (;;) ::pause();
  }
  if (how == "shared") ::close(::shm_open("/weft-planted", O_CREAT | O_RDWR, 0600));
  if (how == "descriptor") (void)::dup(0);
  if (how != "leak")
    for (int i = 0; i < made; ++i) std::free(blocks[i]);
  if (how != "silent" && how != "word") say();
  if (how == "twice") say();
  if (how == "word") (void)std::fprintf(stderr, "std::bad_alloc\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "right";
  void* blocks[most] = {};
  for (int i = 0; i < most; ++i) {
    void* volatile block = std::malloc(64);
    blocks[i] = block;
    if (blocks[i] != nullptr) continue;
    if (i == 1) return treat(how, blocks, i);
    return treat("right", blocks, i);
  }
  for (void* const block : blocks) std::free(block);
  return 0;
}
