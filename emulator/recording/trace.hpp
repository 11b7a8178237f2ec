// SPDX-License-Identifier: Apache-2.0
//
// The text of a record: one line an event, in the format of docs/reference/traces.md. Reading refuses what is no record
// with a sentence that names file and line. Hot path: no. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::recording {

inline constexpr std::string_view first_line = "weft-trace 1";

/// One call, and what it was answered.
struct event {
  std::size_t line = 0;      ///< Counted from 1, as editors do.
  std::uint64_t at_ns = 0;   ///< Since the first event.
  std::uint64_t saw_ns = 0;  ///< The last time that the program had read from its clock.
  unsigned thread = 0;
  std::string call;     ///< "ep1.send"
  std::string request;  ///< " size=13 to=0"
  std::int64_t answer = 0;
  std::vector<std::pair<std::string, std::string>> results;
  bool finished = false;  ///< It has an answer. Only the last event of a killed program has none.

  /// The text of a result; null where it is missing.
  const std::string* find(std::string_view name) const;
};

struct record {
  std::string program;  ///< Its command line, words separated by "%20".
  std::vector<event> events;
  bool whole = false;  ///< The program ended, and the record with it.
};

/// A text as one word: bytes that separate words are "%" and two digits.
std::string word_of(std::string_view text);
/// Errors: `bad`, where the word is not one that word_of makes.
std::string text_of(std::string_view word, bool& bad);
std::string hex_of(const void* bytes, std::size_t size);
/// False where the word is no list of bytes.
bool bytes_of(std::string_view hex, std::string& into);
/// Seconds with nine digits.
std::string seconds_of(std::uint64_t ns);
/// A decimal number, or 0x and hexadecimal digits. False for anything else.
bool number_of(std::string_view word, std::uint64_t& into);

/// Ends the process with a sentence and exit code 2.
[[noreturn]] void stop(const std::string& sentence);

/// Reads a whole record. Ends the process with a sentence where the file is none.
record read_record(const std::string& path);

}  // namespace weft::recording
