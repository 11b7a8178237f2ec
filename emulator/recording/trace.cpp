// SPDX-License-Identifier: Apache-2.0
#include "trace.hpp"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace weft::recording {
namespace {

constexpr std::size_t longest_line = std::size_t{64} << 20U;

bool plain(char c) { return c > ' ' && c < 127 && c != '%' && c != '=' && c != ',' && c != ';' && c != ':'; }

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// "12.000000345" in nanoseconds.
bool time_of(std::string_view word, std::uint64_t& ns) {
  const auto dot = word.find('.');
  std::uint64_t seconds = 0;
  std::uint64_t rest = 0;
  const bool good = dot != std::string_view::npos && word.size() - dot == 10 && dot > 0 && dot < 10 &&
                    number_of(word.substr(0, dot), seconds) && number_of(word.substr(dot + 1), rest);
  ns = seconds * 1'000'000'000 + rest;
  return good;
}

/// Takes the next word of a line.
std::string_view next(std::string_view& rest) {
  const auto space = rest.find(' ');
  const std::string_view word = rest.substr(0, space);
  rest = space == std::string_view::npos ? std::string_view{} : rest.substr(space + 1);
  return word;
}

class reader {
 public:
  explicit reader(std::string path) : path_(std::move(path)), file_(path_, std::ios::binary) {}

  record all() {
    if (!file_) stop(path_ + " cannot be read; --replay names a file that --record wrote");
    std::string line;
    if (!take(line) || line != first_line)
      bad("this is no record of weft: its first line is not \"" + std::string(first_line) + '"');
    if (!take(line) || !line.starts_with("program=")) bad("the second line of a record begins with \"program=\"");
    record made;
    made.program = line.substr(8, line.find(' ') - 8);
    while (take(line)) {
      if (made.whole) bad("a line follows the end of the record");
      one(line, made);
    }
    return made;
  }

 private:
  /// False at the end of the file. A line without an end is left to `one`: its program was killed while it wrote.
  bool take(std::string& line) {
    line.clear();
    for (int c = file_.get(); c != std::char_traits<char>::eof(); c = file_.get()) {
      if (c == '\n') return ++number_, true;
      line.push_back(static_cast<char>(c));
      if (line.size() > longest_line) bad("a line has more than 64 MiB");
    }
    cut_ = true;
    return !line.empty() && ++number_ > 2;  // the first two lines are written whole
  }

  void one(std::string_view rest, record& into) {
    const std::string_view whole = rest;
    event e;
    std::uint64_t line = 0;
    std::uint64_t thread = 0;
    const bool counted = number_of(next(rest), line);
    const bool timed = time_of(next(rest), e.at_ns);
    const std::string_view by = next(rest);
    if (cut_ && rest.empty()) return;  // not even the call is whole
    if (!counted || line != number_) bad("the line does not begin with its number: lines were removed or added");
    if (!timed) bad("the second word is not a time such as 0.000012345");
    if (!into.events.empty() && e.at_ns < into.events.back().at_ns) e.at_ns = into.events.back().at_ns;
    e.line = number_;
    if (by == "end" && rest.empty()) {
      into.whole = true;
      return;
    }
    if (!by.starts_with('t') || !number_of(by.substr(1), thread) || thread == 0 || thread > 1'000'000)
      bad("the third word is neither a thread such as t1 nor \"end\"");
    e.thread = static_cast<unsigned>(thread);
    e.saw_ns = e.at_ns;
    const auto equals = whole.find(" = ");
    if (equals == std::string_view::npos) {
      if (!cut_) bad("the event has no answer (\" = \")");
      e.call = next(rest);
      e.request = rest.empty() ? "" : " " + std::string(rest);
      into.events.push_back(std::move(e));
      return;
    }
    std::string_view asked = whole.substr(0, equals);
    for (int i = 0; i < 3; ++i) next(asked);
    e.call = next(asked);
    e.request = asked.empty() ? "" : " " + std::string(asked);
    if (e.call.find('.') == std::string::npos) bad("\"" + e.call + "\" is no call such as ep1.send");
    e.finished = !cut_;
    if (e.finished) answer(whole.substr(equals + 3), e);
    into.events.push_back(std::move(e));
  }

  void answer(std::string_view rest, event& e) const {
    const std::string_view number = next(rest);
    const auto [end, fault] = std::from_chars(number.data(), number.data() + number.size(), e.answer);
    if (fault != std::errc{} || end != number.data() + number.size()) bad("the answer is not a number");
    while (!rest.empty()) {
      const std::string_view pair = next(rest);
      const auto equals = pair.find('=');
      if (equals == std::string_view::npos) bad("\"" + std::string(pair.substr(0, 40)) + "\" is not name=value");
      e.results.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
    }
    if (const std::string* saw = e.find("saw"); saw != nullptr && !time_of(*saw, e.saw_ns))
      bad("saw is not a time such as 0.000012345");
  }

  [[noreturn]] void bad(const std::string& why) const {
    stop(path_ + ":" + std::to_string(number_ == 0 ? 1 : number_) + ": " + why);
  }

  std::string path_;
  std::ifstream file_;
  std::size_t number_ = 0;
  bool cut_ = false;
};

}  // namespace

const std::string* event::find(std::string_view name) const {
  for (const auto& [each, value] : results)
    if (each == name) return &value;
  return nullptr;
}

std::string word_of(std::string_view text) {
  std::string word;
  for (const char c : text)
    if (plain(c)) word.push_back(c);
    else word += '%' + hex_of(&c, 1);
  return word;
}

std::string text_of(std::string_view word, bool& bad) {
  std::string text;
  std::string byte;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      text.push_back(word[i]);
      continue;
    }
    bad = bad || word.size() - i < 3 || !bytes_of(word.substr(i + 1, 2), byte);
    if (bad) return text;
    text += byte;
    i += 2;
  }
  return text;
}

std::string hex_of(const void* bytes, std::size_t size) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string hex;
  hex.reserve(2 * size);
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<const unsigned char*>(bytes)[i];
    hex.push_back(digits[byte >> 4U]);
    hex.push_back(digits[byte & 15U]);
  }
  return hex;
}

bool bytes_of(std::string_view hex, std::string& into) {
  into.clear();
  if (hex.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const int high = digit(hex[i]);
    const int low = digit(hex[i + 1]);
    if (high < 0 || low < 0) return false;
    into.push_back(static_cast<char>(high * 16 + low));
  }
  return true;
}

std::string seconds_of(std::uint64_t ns) {
  std::array<char, 32> text{};
  (void)std::snprintf(text.data(), text.size(), "%llu.%09llu", static_cast<unsigned long long>(ns / 1'000'000'000),
                      static_cast<unsigned long long>(ns % 1'000'000'000));
  return text.data();
}

bool number_of(std::string_view word, std::uint64_t& into) {
  const int base = word.starts_with("0x") ? 16 : 10;
  if (base == 16) word.remove_prefix(2);
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), into, base);
  return fault == std::errc{} && end == word.data() + word.size();
}

void stop(const std::string& sentence) {
  std::fflush(nullptr);  // what the program had printed until here belongs to its outcome
  std::fprintf(stderr, "weft replay: %s\n", sentence.c_str());
  std::_Exit(2);
}

record read_record(const std::string& path) { return reader(path).all(); }

}  // namespace weft::recording
