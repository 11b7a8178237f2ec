// SPDX-License-Identifier: Apache-2.0
#include "native.hpp"

#include "chance.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace weft::emulator {
namespace {

std::uint64_t mask_of(std::size_t bits) { return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1; }

std::uint32_t check_of(std::uint64_t number) { return static_cast<std::uint32_t>(chance(number).number()) | 1U; }

/// Reads up to 8 bytes, little-endian, and none after the end of the address.
std::uint64_t word_at(const profile& row, const void* address, std::size_t offset, std::size_t bytes) {
  std::uint64_t word = 0;
  if (offset < row.address_bytes)
    std::memcpy(&word, static_cast<const std::byte*>(address) + offset, std::min(bytes, row.address_bytes - offset));
  return word;
}

/// One piece of the text, such as "x64@8": a kind, its width in bits, and the offset.
std::string piece(const profile& row, const void* address, std::string_view form) {
  const std::size_t at = form.find('@');
  const std::size_t offset = at == std::string_view::npos ? 0 : std::strtoull(form.data() + at + 1, nullptr, 10);
  std::array<char, INET6_ADDRSTRLEN + 8> text{};
  if (form.starts_with("ip6")) {
    if (offset + 16 <= row.address_bytes)
      (void)inet_ntop(AF_INET6, static_cast<const std::byte*>(address) + offset, text.data(), text.size());
    return text.data();
  }
  const std::size_t bits = std::strtoull(form.data() + 1, nullptr, 10);
  const auto word = static_cast<unsigned long long>(word_at(row, address, offset, bits / 8));
  switch (form.front()) {
    case 'd':  // decimal
      (void)std::snprintf(text.data(), text.size(), "%llu", word);
      break;
    case 'p':  // decimal of two digits at least
      (void)std::snprintf(text.data(), text.size(), "%02llu", word);
      break;
    case 'h':  // hexadecimal with all its digits
      (void)std::snprintf(text.data(), text.size(), "%0*llx", static_cast<int>(bits / 4), word);
      break;
    default:
      (void)std::snprintf(text.data(), text.size(), "%llx", word);
  }
  return text.data();
}

}  // namespace

std::uint64_t number_that_fits(const profile& row, std::uint64_t random) {
  const std::uint64_t number = random & mask_of(row.address_number_bits);
  return number == 0 ? 1 : number;
}

std::vector<std::byte> address_of(const profile& row, std::uint64_t number) {
  std::vector<std::byte> address(row.address_bytes);
  const std::uint32_t check = check_of(number);
  if (row.address_checked) std::memcpy(address.data() + row.address_check_at, &check, sizeof check);
  std::memcpy(address.data() + row.address_number_at, &number, (row.address_number_bits + 7) / 8);
  return address;
}

std::uint64_t number_in(const profile& row, const void* address) {
  const std::uint64_t number = word_at(row, address, row.address_number_at, (row.address_number_bits + 7) / 8);
  if (row.address_checked && word_at(row, address, row.address_check_at, sizeof(std::uint32_t)) != check_of(number))
    return 0;
  return number;
}

std::string address_as_text(const profile& row, const void* address) {
  std::string text;
  std::string_view rest = row.address_text;
  while (!rest.empty()) {
    const std::size_t open = rest.find('{');
    const std::size_t close = rest.find('}', open == std::string_view::npos ? 0 : open);
    text += rest.substr(0, open);
    if (open == std::string_view::npos || close == std::string_view::npos) break;
    text += piece(row, address, rest.substr(open + 1, close - open - 1));
    rest = rest.substr(close + 1);
  }
  return text;
}

}  // namespace weft::emulator
