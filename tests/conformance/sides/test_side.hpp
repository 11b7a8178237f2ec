// SPDX-License-Identifier: Apache-2.0
//
// One side of a conformance test: a number, a way to send values to other sides outside of the fabric, and a history of
// its events. A test body does not know where it runs: in a process of its own (live.hpp) or in a fiber of a simulated
// world (simulated.hpp). Hot path: no. Threads: one per side.
#pragma once

#include "../../../core/describe.hpp"
#include "../../../core/time.hpp"
#include "../../../history/recorder.hpp"
#include "stored_call.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace weft::conformance {

using namespace std::chrono_literals;

/// WEFT_TEST_SLOWNESS: how many times longer than usual a test may take, for emulated processors.
inline int slowness() {
  const char* said = std::getenv("WEFT_TEST_SLOWNESS");
  return said == nullptr ? 1 : std::clamp(std::atoi(said), 1, 100);
}

/// Rounds of connecting and closing: WEFT_ROUNDS, or the test's own number.
inline std::size_t rounds_asked(std::size_t otherwise) {
  const char* said = std::getenv("WEFT_ROUNDS");
  return said == nullptr ? otherwise : std::clamp<std::size_t>(std::strtoull(said, nullptr, 10), 8, 1'000'000);
}

/// How long a single wait of a test may go without any event. No measurement depends on it.
inline const duration patience = 20s * slowness();

/// Thrown by a side that cannot continue; reported as its failure.
struct stopped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One side of a test.
class test_side {
 public:
  explicit test_side(int number, std::uint64_t seed)
      : book(static_cast<std::uint16_t>(number)),
        draw(seed * 8 + static_cast<std::uint64_t>(number)),
        number_(number) {}
  virtual ~test_side() = default;
  test_side(const test_side&) = delete;
  test_side& operator=(const test_side&) = delete;

  int number() const noexcept { return number_; }

  /// Effects: side `to` gets these bytes, whole and in order, outside of the fabric.
  virtual void send_value(int to, const_bytes message) = 0;
  /// Returns: whether wait_for_value(from) returns at once (or fails at once, because that side has ended).
  virtual bool has_value(int from) = 0;
  /// Returns: the next bytes from side `from`. Throws: stopped, when that side ended or was silent for the test's
  /// patience.
  virtual std::vector<std::byte> wait_for_value(int from) = 0;
  /// Effects: kills side `which` at once, as by kill -9.
  virtual void kill(int which) = 0;
  /// Effects: stops side `which` for `span`, as by SIGSTOP. A live side stays stopped until resume().
  virtual void stop(int which, duration span) = 0;
  /// Requires: the span of stop() is over.
  virtual void resume(int which) = 0;
  /// Effects: this side does nothing for a while.
  virtual void rest(duration span) = 0;
  /// Whether time is virtual here. Then polls are expensive, so sides sleep where possible.
  virtual bool simulated() const noexcept = 0;
  /// Effects: records where this side is, for the report if it must be killed.
  virtual void at(std::string_view step) = 0;
  /// Effects: records that this side made progress. A side without progress is killed after circumstances::limit.
  virtual void moves() {}
  /// Effects: records a figure of this side in the test's result, by its name.
  virtual void note(std::string_view name, std::int64_t value) = 0;

  void send_value(int to, std::string_view text) { send_value(to, std::as_bytes(std::span(text.data(), text.size()))); }
  void send_value(int to, std::uint64_t number) { send_value(to, std::as_bytes(std::span(&number, 1))); }
  void ready(int to) { send_value(to, std::string_view("ready")); }
  std::string wait_for_text(int from) {
    const auto raw = wait_for_value(from);
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
  std::uint64_t wait_for_number(int from) {
    const auto raw = wait_for_value(from);
    std::uint64_t number = 0;
    if (raw.size() != sizeof number)
      throw stopped("side " + std::to_string(from) + " sent " + std::to_string(raw.size()) +
                    " bytes where a number was due");
    std::memcpy(&number, raw.data(), sizeof number);
    return number;
  }
  /// Both sides wait for each other.
  void barrier(int other) {
    ready(other);
    (void)wait_for_value(other);
  }
  std::uint64_t below(std::uint64_t bound) { return draw() % bound; }

  history::recorder book;
  std::mt19937_64 draw;  ///< From the test's seed and the side's number.

 private:
  int number_;
};

/// The body of one side.
using body = stored_call<void(test_side&)>;

/// Special conditions of a test.
struct circumstances {
  bool first_is_killed = false;  ///< Another side will kill side 0: its death is no failure.
  duration limit = 90s;          ///< After this time without progress every side is killed and its position reported.
  bool once = false;             ///< Simulated: one run without faults is enough (long tests).
  stored_call<void(const std::vector<history::record>&)> judged{};  ///< Gets the records of a run without a failure.
};

}  // namespace weft::conformance
