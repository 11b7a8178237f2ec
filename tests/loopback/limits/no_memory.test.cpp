// SPDX-License-Identifier: Apache-2.0
//
// No memory while a transport opens: each allocation in turn fails, alone or with all that follow. The outcome is
// errc::no_memory or a transport, never the end of the process, and nothing leaks. Hot path: no. Threads: one.
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>
#if defined(WEFT_WITH_MAPPED)
#include <weft/generated/mapped.hpp>
#endif

#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>

namespace {
constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();
std::uint64_t made = 0;
std::int64_t living = 0;
std::uint64_t first_refused = never;
std::uint64_t last_refused = never;

void* give(std::size_t size, std::size_t alignment) noexcept {
  const std::uint64_t number = made++;
  if (number >= first_refused && number <= last_refused) return nullptr;
  ++living;
  return alignment == 0 ? std::malloc(size == 0 ? 1 : size)
                        : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void take(void* at) noexcept {
  if (at != nullptr) --living;
  std::free(at);
}
}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* at = give(size, 0); at != nullptr) return at;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t a) {
  if (void* at = give(size, static_cast<std::size_t>(a)); at != nullptr) return at;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return give(size, 0); }
[[gnu::noinline]] void operator delete(void* at) noexcept { take(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t) noexcept { take(at); }
[[gnu::noinline]] void operator delete(void* at, std::align_val_t) noexcept { take(at); }
[[gnu::noinline]] void operator delete(void* at, std::size_t, std::align_val_t) noexcept { take(at); }

namespace weft {
namespace {

struct attempt {
  errc code = errc::ok;
  std::uint64_t allocations = 0;
  std::int64_t leaked = 0;
};

/// Opens a transport while the allocations from `first` to `last` fail.
template <class Fabric>
attempt open_without(std::uint64_t first, std::uint64_t last) {
  const transport_options small{.node = "127.0.0.1", .listens = true, .receives = 2, .operations = 4, .peers = 2};
  const std::int64_t before = living;
  attempt done;
  made = 0;
  first_refused = first;
  last_refused = last;
  {
    const auto net = open<Fabric>(small);
    first_refused = last_refused = never;
    done.allocations = made;
    if (!net) done.code = net.why().code;
  }
  done.leaked = living - before;
  return done;
}

template <class Fabric>
class no_memory : public testing::Test {};
#if defined(WEFT_WITH_MAPPED)
using opened_fabrics = testing::Types<fabrics::loopback, fabrics::mapped>;
#else
using opened_fabrics = testing::Types<fabrics::loopback>;
#endif
TYPED_TEST_SUITE(no_memory, opened_fabrics);

TYPED_TEST(no_memory, at_any_allocation_of_an_open_is_a_status) {
  const std::uint64_t all = (open_without<TypeParam>(never, never), open_without<TypeParam>(never, never)).allocations;
  ASSERT_GT(all, 10U);
  constexpr bool simulated = std::same_as<TypeParam, fabrics::loopback>;  // a world keeps the ports that it had
  std::uint64_t refused = 0;
  for (const bool and_all_that_follow : {false, true})
    for (std::uint64_t n = 0; n < all; ++n) {
      const attempt done = open_without<TypeParam>(n, and_all_that_follow ? never - 1 : n);
      EXPECT_TRUE(done.code == errc::ok || done.code == errc::no_memory) << n << ": " << static_cast<int>(done.code);
      if (!simulated) {
        EXPECT_EQ(done.leaked, 0) << n;
      }
      refused += std::uint64_t{done.code == errc::no_memory};
    }
  EXPECT_GT(refused, all) << "of " << 2 * all;
}

}  // namespace
}  // namespace weft
