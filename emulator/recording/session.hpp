// SPDX-License-Identifier: Apache-2.0
//
// The one record of this process: what is written while it records, and what is next while it replays. Hot path: no;
// a program that nobody records does not load this library. Threads: the caller holds `lock`.
#pragma once

#include "trace.hpp"

#include <sys/types.h>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace weft::recording {

enum class mode { off, recording, replaying };

class session {
 public:
  /// From WEFT_TRACE_RECORD or WEFT_TRACE_REPLAY, which `weft emulate` and `weft trace` set. Ends the process with a
  /// sentence where the file cannot be written, or is no record.
  static session& get();
  /// Whether the process has entered libfabric: before that it has no record, and most programs of a script never do.
  static bool begun();

  /// `off` in a child that was forked from a recorded process: its events are not the record's.
  mode how() const;
  std::mutex lock;
  std::condition_variable moved;  ///< While replaying: the next event is another one.

  // ---- recording
  /// Writes the part of a line that is known before the answer, and returns the line's number.
  std::size_t begin_line(std::uint64_t at_ns, unsigned thread, const std::string& asked);
  void end_line(const std::string& answered);

  // ---- replaying
  /// Null at the end of the record.
  const event* next() const;
  void take();
  /// Whether the calling thread may be the one that made `e` in the record. A thread is known from its first call on.
  bool may_be(const event& e) const;
  /// Whether there are several threads, and nobody knows which of them made `e`.
  bool not_known(const event& e) const;
  /// As `may_be`, and from now on it is.
  void is(const event& e);
  /// For a call without an event for so long that none will come: the program waits for something that is not recorded.
  bool out_of_patience() const;
  /// Ends the process: `asked` differs from the record.
  [[noreturn]] void differs(const std::string& asked) const;

  /// The thread's number, counted from 1 in the order of first calls.
  static unsigned thread();
  static bool known_thread();
  /// Since the first event, by the machine's clock.
  std::uint64_t now_ns() const;
  /// The program's clock: by the machine while recording, by the record while replaying.
  std::uint64_t program_ns();
  std::atomic<std::uint64_t> last_seen_ns{0};  ///< The last time that the program read.

  std::size_t data_limit = 4096;                     ///< Of the bytes that one event keeps.
  std::size_t memory_limit = std::size_t{4} << 20U;  ///< Of registered memory whose changes are recorded.
  std::string path;

 private:
  session();
  void open_to_write(const std::string& wanted);
  void choose_to_read(const std::string& wanted);
  void write_out(const std::string& text);
  void finish();
  friend void finish_session();

  mode mode_ = mode::off;
  pid_t process_ = 0;
  int file_ = -1;
  std::size_t lines_ = 0;
  record replayed_;
  std::size_t position_ = 0;
  std::map<unsigned, unsigned> threads_;  ///< Of the record, to those of this process.
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point matched_;
};

/// Above 0 while the calling thread is inside the library that is recorded: what happens there is not the program's.
extern thread_local int inside_library;
struct inside {
  inside() { ++inside_library; }
  ~inside() { --inside_library; }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;
};
/// Whether this code belongs to libfabric or to one of its providers.
bool is_of_library(const void* code);

}  // namespace weft::recording
