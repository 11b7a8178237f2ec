// SPDX-License-Identifier: Apache-2.0
#include "functions.hpp"

#include <zlib.h>
#include <algorithm>
#include <chrono>
#include <cstring>

namespace weft::invocation {
namespace {

std::int64_t echo(const std::byte* in, std::uint32_t in_bytes, std::byte* out, std::uint32_t out_capacity) {
  if (in_bytes > out_capacity) return output_too_small;
  if (in_bytes != 0) std::memcpy(out, in, in_bytes);  // An empty input may have no address.
  return in_bytes;
}

/// 64-bit FNV-1a of the input.
std::int64_t checksum(const std::byte* in, std::uint32_t in_bytes, std::byte* out, std::uint32_t out_capacity) {
  std::uint64_t sum = 0xcbf29ce484222325U;
  for (std::uint32_t i = 0; i < in_bytes; ++i) sum = (sum ^ std::to_integer<std::uint64_t>(in[i])) * 0x100000001b3U;
  if (out_capacity < sizeof sum) return output_too_small;
  std::memcpy(out, &sum, sizeof sum);
  return sizeof sum;
}

/// Busy for the microseconds in the 32-bit input.
std::int64_t spin(const std::byte* in, std::uint32_t in_bytes, std::byte*, std::uint32_t) {
  std::uint32_t microseconds = 0;
  if (in_bytes != sizeof microseconds) return input_malformed;
  std::memcpy(&microseconds, in, sizeof microseconds);
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < end) {
  }
  return 0;
}

std::int64_t compress_zlib(const std::byte* in, std::uint32_t in_bytes, std::byte* out, std::uint32_t out_capacity) {
  uLongf size = out_capacity;
  const int code =
      ::compress2(reinterpret_cast<Bytef*>(out), &size, reinterpret_cast<const Bytef*>(in), in_bytes, Z_BEST_SPEED);
  return code == Z_OK ? static_cast<std::int64_t>(size) : output_too_small;
}

std::int64_t decompress_zlib(const std::byte* in, std::uint32_t in_bytes, std::byte* out, std::uint32_t out_capacity) {
  uLongf size = out_capacity;
  const int code = ::uncompress(reinterpret_cast<Bytef*>(out), &size, reinterpret_cast<const Bytef*>(in), in_bytes);
  if (code == Z_OK) return static_cast<std::int64_t>(size);
  return code == Z_BUF_ERROR ? output_too_small : input_malformed;
}

}  // namespace

bool function_table::add(std::string_view name, function_call call) {
  if (!good_name(name) || call == nullptr || entries_.size() >= most_functions || find(name)) return false;
  const auto place = std::ranges::lower_bound(entries_, name, {}, &entry::name);
  entries_.insert(place, {std::string(name), call});
  return true;
}

std::optional<std::uint32_t> function_table::find(std::string_view name) const noexcept {
  const auto place = std::ranges::lower_bound(entries_, name, {}, &entry::name);
  if (place == entries_.end() || place->name != name) return std::nullopt;
  return static_cast<std::uint32_t>(place - entries_.begin());
}

std::string function_table::names() const {
  std::string all;
  for (const entry& e : entries_) all += e.name + "\n";
  return all;
}

function_table built_in_functions() {
  function_table table;
  (void)table.add("echo", &echo);
  (void)table.add("checksum", &checksum);
  (void)table.add("spin", &spin);
  (void)table.add("compress", &compress_zlib);
  (void)table.add("decompress", &decompress_zlib);
  return table;
}

}  // namespace weft::invocation
