// SPDX-License-Identifier: Apache-2.0
//
// The secret of an open transport is in no core file: a search of all memory that the kernel would write into one.
#include <weft/compose/authentication.hpp>
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

namespace weft {
namespace {

using secret_fabric = with<fabrics::loopback, answers::authentication::shared_secret>;

/// The secret with each bit flipped: the search itself must not hold the secret.
constexpr auto flipped = [] {
  constexpr std::string_view text = "5EC2E7 is in no core file";
  std::array<std::uint8_t, text.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(~text[i]);
  return all;
}();

struct mapping {
  std::uintptr_t begin = 0, end = 0;
};
/// Writable memory without MADV_DONTDUMP: proc(5), smaps, VmFlags.
std::vector<mapping> memory_of_a_core_file() {
  std::vector<mapping> found;
  mapping now;
  bool writable = false;
  std::ifstream maps("/proc/self/smaps");
  for (std::string line; std::getline(maps, line);) {
    char rights[5] = {};
    std::uintptr_t begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, rights) == 3) {
      now = {begin, end};
      writable = rights[0] == 'r' && rights[1] == 'w';
    } else if (line.starts_with("VmFlags:") && writable && (line + ' ').find(" dd ") == std::string::npos) {
      found.push_back(now);
    }
  }
  return found;
}

/// How often a core file of this process would hold the secret.
std::size_t secrets_in_a_core_file() {
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  EXPECT_GE(memory, 0);
  std::vector<std::uint8_t> piece(1 << 20);
  std::size_t found = 0;
  for (const mapping& each : memory_of_a_core_file())
    for (std::uintptr_t at = each.begin; at < each.end;) {
      const ssize_t got = ::pread(memory, piece.data(), std::min(piece.size(), each.end - at), static_cast<off_t>(at));
      if (got <= 0) break;  // pages of the kernel
      const auto size = static_cast<std::size_t>(got);
      for (std::size_t i = 0; i + flipped.size() <= size; ++i) {
        std::size_t same = 0;
        while (same < flipped.size() && piece[i + same] == static_cast<std::uint8_t>(~flipped[same])) ++same;
        found += std::size_t{same == flipped.size()};
      }
      at += size < piece.size() ? size : size - flipped.size();  // the next piece begins with the end of this one
    }
  (void)::close(memory);
  ::explicit_bzero(piece.data(), piece.size());  // a sanitizer keeps freed memory, and the next search would find it
  return found;
}

secret planted() {
  std::array<std::byte, flipped.size()> text;
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::byte>(~flipped[i]);
  secret made{const_bytes(text)};
  ::explicit_bzero(text.data(), text.size());
  return made;
}

TEST(a_core_file, holds_no_secret_of_an_open_transport) {
  auto net = [] {
    transport_options options;
    options.secret = planted();
    EXPECT_GE(secrets_in_a_core_file(), 1U) << "the search must find the program's own copy";
    return open<secret_fabric>(options);
  }();
  ASSERT_TRUE(net) << net.error().sentence;
  EXPECT_EQ(secrets_in_a_core_file(), 0U);
}

TEST(a_secret_page, holds_the_secret_until_it_ends) {
  const secret_page page(planted());
  ASSERT_TRUE(page.holds());
  ASSERT_EQ(page.get().size(), flipped.size());
  for (std::size_t i = 0; i < flipped.size(); ++i)
    EXPECT_EQ(std::to_integer<std::uint8_t>(page.get().revealed()[i]), static_cast<std::uint8_t>(~flipped[i])) << i;
  EXPECT_FALSE(secret_page(secret()).holds());
}

}  // namespace
}  // namespace weft
