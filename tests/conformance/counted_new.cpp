// SPDX-License-Identifier: Apache-2.0
//
// Counts allocations of C++ code on this thread, by replacing operator new in the test program. weft is C++ and
// allocates in no other way (see allocations.hpp). Network libraries are C and call malloc, which is not counted.
// A source file of its own: where it is inlined, compilers report malloc inside new as a mistake. Hot path: no.
// Threads: any; each counts its own.

#include "allocation_count.hpp"

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace weft::conformance::detail {
inline void* counted(std::size_t size, std::size_t alignment) {
  allocations = allocations + 1;
  allocated = allocated + size;
  void* at = alignment > alignof(std::max_align_t)
                 ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                 : std::malloc(size == 0 ? 1 : size);
  kept = kept + static_cast<std::int64_t>(::malloc_usable_size(at));
  return at;
}
inline void* counted_or_throw(std::size_t size, std::size_t alignment) {
  if (void* at = counted(size, alignment)) return at;
  throw std::bad_alloc();
}
inline void freed(void* at) noexcept {
  kept = kept - static_cast<std::int64_t>(::malloc_usable_size(at));  // 0 for null
  std::free(at);
}
}  // namespace weft::conformance::detail

void* operator new(std::size_t size) { return weft::conformance::detail::counted_or_throw(size, 0); }
void* operator new[](std::size_t size) { return weft::conformance::detail::counted_or_throw(size, 0); }
void* operator new(std::size_t size, std::align_val_t a) {
  return weft::conformance::detail::counted_or_throw(size, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t size, std::align_val_t a) {
  return weft::conformance::detail::counted_or_throw(size, static_cast<std::size_t>(a));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return weft::conformance::detail::counted(size, 0);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return weft::conformance::detail::counted(size, 0);
}
void operator delete(void* at) noexcept { weft::conformance::detail::freed(at); }
void operator delete[](void* at) noexcept { weft::conformance::detail::freed(at); }
void operator delete(void* at, std::size_t) noexcept { weft::conformance::detail::freed(at); }
void operator delete[](void* at, std::size_t) noexcept { weft::conformance::detail::freed(at); }
void operator delete(void* at, std::align_val_t) noexcept { weft::conformance::detail::freed(at); }
void operator delete[](void* at, std::align_val_t) noexcept { weft::conformance::detail::freed(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { weft::conformance::detail::freed(at); }
void operator delete[](void* at, std::size_t, std::align_val_t) noexcept { weft::conformance::detail::freed(at); }
void operator delete(void* at, const std::nothrow_t&) noexcept { weft::conformance::detail::freed(at); }
void operator delete[](void* at, const std::nothrow_t&) noexcept { weft::conformance::detail::freed(at); }
