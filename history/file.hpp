// SPDX-License-Identifier: Apache-2.0
//
// A history as a file: 16 bytes of heading, then 56 bytes per record, little-endian. Two live processes write one file
// each, and the checker reads both.
// A killed process leaves a partial record at the end: the whole records count.
// Hot path: no. Threads: any; each call owns its file.
#pragma once

#include "record.hpp"

#include <array>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace weft::history {

inline constexpr std::array<char, 16> file_heading{'w', 'e', 'f', 't', ' ', 'h', 'i',  's',
                                                   't', 'o', 'r', 'y', ' ', '1', '\n', '\0'};
inline constexpr std::size_t record_bytes = 56;
using record_image = std::array<unsigned char, record_bytes>;

inline record_image encode(const record& from) {
  record_image image{};
  std::size_t at = 0;
  const auto put = [&](std::uint64_t value, std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) image[at++] = static_cast<unsigned char>(value >> (8 * i));
  };
  put(static_cast<std::uint8_t>(from.what), 1);
  put(static_cast<std::uint8_t>(from.kind), 1);
  put(static_cast<std::uint8_t>(from.outcome), 1);
  put(from.summed, 1);
  put(from.process, 2);
  put(from.peer, 2);
  put(from.subject, 4);
  put(0, 4);
  put(static_cast<std::uint64_t>(from.at), 8);
  put(static_cast<std::uint64_t>(from.deadline), 8);
  put(from.id, 8);
  put(from.value, 8);
  put(from.sum, 8);
  return image;
}

/// Returns whether the image is a valid record.
inline bool decode(const record_image& image, record& into) {
  std::size_t at = 0;
  const auto get = [&](std::size_t width) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < width; ++i) value |= std::uint64_t{image[at++]} << (8 * i);
    return value;
  };
  const std::uint64_t what = get(1);
  const std::uint64_t kind = get(1);
  const std::uint64_t outcome = get(1);
  if (what >= event_kinds || kind >= work_kinds || outcome > static_cast<std::uint8_t>(errc::native)) return false;
  into.what = static_cast<event>(what);
  into.kind = static_cast<work>(kind);
  into.outcome = static_cast<errc>(outcome);
  into.summed = static_cast<std::uint8_t>(get(1));
  into.process = static_cast<std::uint16_t>(get(2));
  into.peer = static_cast<std::uint16_t>(get(2));
  into.subject = static_cast<std::uint32_t>(get(4));
  if (get(4) != 0 || into.summed > 1) return false;
  into.at = static_cast<std::int64_t>(get(8));
  into.deadline = static_cast<std::int64_t>(get(8));
  into.id = get(8);
  into.value = get(8);
  into.sum = get(8);
  return true;
}

inline result<void> write_file(const std::string& path, const std::vector<record>& all) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wb"), &std::fclose);
  bool fine = file && std::fwrite(file_heading.data(), file_heading.size(), 1, file.get()) == 1;
  for (std::size_t i = 0; fine && i < all.size(); ++i) {
    const record_image image = encode(all[i]);
    fine = std::fwrite(image.data(), image.size(), 1, file.get()) == 1;
  }
  if (fine && std::fflush(file.get()) == 0) return {};
  return {error(errc::broken, "history"),
          path + ": the history cannot be written; check that the folder exists and has room"};
}

inline result<std::vector<record>> read_file(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             [](std::FILE* f) { return f ? std::fclose(f) : 0; });
  std::array<char, 16> heading{};
  if (!file || std::fread(heading.data(), heading.size(), 1, file.get()) != 1 || heading != file_heading)
    return {error(errc::invalid, "history"),
            path + ": not a history of version 1 (its first line would be 'weft history 1')"};
  std::vector<record> all;
  record_image image{};
  while (std::fread(image.data(), image.size(), 1, file.get()) == 1) {
    record next;
    if (!decode(image, next))
      return {error(errc::invalid, "history"),
              path + ": record " + std::to_string(all.size()) + " is invalid: unknown kind, or bytes that should be 0"};
    all.push_back(next);
  }
  return all;
}

}  // namespace weft::history
