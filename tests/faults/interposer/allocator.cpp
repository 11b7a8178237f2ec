// SPDX-License-Identifier: Apache-2.0
//
// The allocator of the C library. operator new of libstdc++ calls it, so its failure is a std::bad_alloc.
#include "decision.hpp"

#include <cerrno>
#include <cstring>

extern "C" {
void* __libc_malloc(std::size_t);                 // NOLINT(bugprone-reserved-identifier): glibc's names
void* __libc_calloc(std::size_t, std::size_t);    // NOLINT(bugprone-reserved-identifier)
void* __libc_realloc(void*, std::size_t);         // NOLINT(bugprone-reserved-identifier)
void* __libc_memalign(std::size_t, std::size_t);  // NOLINT(bugprone-reserved-identifier)
void __libc_free(void*);                          // NOLINT(bugprone-reserved-identifier)
}

namespace faults {
namespace {

template <text Name, class Allocate>
void* allocate(std::size_t bytes, const void* caller, Allocate&& real) noexcept {
  point& p = point_of<Name>;
  if (const int wrong = decide(p, caller)) {
    errno = wrong;
    return nullptr;
  }
  void* const block = real();
  keep(block, bytes, p, caller);
  return block;
}

}  // namespace
}  // namespace faults

#define WEFT_INTERPOSED extern "C" __attribute__((visibility("default")))
WEFT_INTERPOSED void* faulty_malloc(std::size_t bytes) __asm__("malloc");
WEFT_INTERPOSED void* faulty_calloc(std::size_t count, std::size_t bytes) __asm__("calloc");
WEFT_INTERPOSED void* faulty_realloc(void* block, std::size_t bytes) __asm__("realloc");
WEFT_INTERPOSED void* faulty_aligned_alloc(std::size_t alignment, std::size_t bytes) __asm__("aligned_alloc");
WEFT_INTERPOSED int faulty_posix_memalign(void** block, std::size_t alignment,
                                          std::size_t bytes) __asm__("posix_memalign");
WEFT_INTERPOSED void faulty_free(void* block) __asm__("free");

void* faulty_malloc(std::size_t bytes) {
  return faults::allocate<"malloc">(bytes, WEFT_CALLER, [&] { return __libc_malloc(bytes); });
}
void* faulty_calloc(std::size_t count, std::size_t bytes) {
  return faults::allocate<"calloc">(count * bytes, WEFT_CALLER, [&] { return __libc_calloc(count, bytes); });
}
void* faulty_realloc(void* block, std::size_t bytes) {
  return faults::allocate<"realloc">(bytes, WEFT_CALLER, [&] {
    faults::drop(block);
    return __libc_realloc(block, bytes);
  });
}
void* faulty_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return faults::allocate<"aligned_alloc">(bytes, WEFT_CALLER, [&] { return __libc_memalign(alignment, bytes); });
}
int faulty_posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  const int before = errno;
  void* const made =
      faults::allocate<"posix_memalign">(bytes, WEFT_CALLER, [&] { return __libc_memalign(alignment, bytes); });
  errno = before;
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}
void faulty_free(void* block) {
  faults::drop(block);
  __libc_free(block);
}
