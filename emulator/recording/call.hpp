// SPDX-License-Identifier: Apache-2.0
//
// One call of the program. While recording, the library answers it, and both are written down. While replaying, it is
// compared with the record's next event, which answers it. Results are named once, for both directions. Hot path: no.
// Threads: a call holds the session's lock from its beginning to its end.
#pragma once

#include "session.hpp"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>

namespace weft::recording {

struct object;

class call {
 public:
  /// `on` is null for the calls of the process itself.
  call(const object* on, std::string_view verb);
  ~call();
  call(const call&) = delete;
  call& operator=(const call&) = delete;

  // ---- what is asked
  call& in(std::string_view name, std::uint64_t number);
  call& hex(std::string_view name, std::uint64_t number);
  /// The word has no characters that need escaping.
  call& word(std::string_view name, std::string_view word);
  call& text(std::string_view name, const char* text);

  // ---- what is answered
  /// The answer of `real`, or that of the record. Every result follows it.
  template <class Real>
  std::int64_t answer(Real real) {
    begin();
    if (!replays_) {
      const inside library;
      answer_ = static_cast<std::int64_t>(real());
    }
    return answer_;
  }
  template <class Number>
  void out(std::string_view name, Number& number) {
    if (replays_) number = static_cast<Number>(number_of_result(name));
    else add(name, std::to_string(static_cast<std::uint64_t>(number)));
  }
  /// At most `room` bytes at `into`; `size` are there while recording, and after a replay. Where not `whole`, a record
  /// keeps the first bytes only, as many as its limit.
  void out_bytes(std::string_view name, void* into, std::size_t room, std::size_t& size, bool whole = false);
  void out_word(std::string_view name, std::string& word);
  /// A note for readers, without meaning for a replay.
  void note(std::string_view name, const std::string& word);

  std::int64_t answered() const { return answer_; }
  bool replays() const { return replays_; }
  bool quiet() const { return session_.how() == mode::off; }
  /// The line of this event.
  std::size_t line() const { return line_; }
  /// Ends the process: the record's event cannot be an answer to this call.
  [[noreturn]] void impossible(const std::string& why) const;

 protected:
  std::string asked() const { return call_ + request_; }
  /// Takes the record's next event as this call's.
  void accept();
  void begin();
  void add(std::string_view name, const std::string& value);
  std::uint64_t number_of_result(std::string_view name) const;

  inside own_;  ///< The clock that this code reads is the machine's.
  session& session_;
  std::unique_lock<std::mutex> hold_;
  bool replays_;
  std::string call_;
  std::string request_;
  std::string results_;
  std::uint64_t began_ns_ = 0;
  std::size_t line_ = 0;
  std::int64_t answer_ = 0;
  const event* event_ = nullptr;
};

}  // namespace weft::recording
