// SPDX-License-Identifier: Apache-2.0
//
// The last events of a counted transport, for a picture in time: chrome://tracing and ui.perfetto.dev read what write()
// writes. A ring of fixed size, so recording allocates nothing and never ends; the oldest events make room. Off, a post
// tests one pointer. Hot path: add(), while it records. Threads: the owner's.
#pragma once

#include "../../core/time.hpp"
#include "traffic.hpp"

#include <unistd.h>
#include <cerrno>

#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

namespace weft::detail {

enum class traced : std::uint8_t { posted, completed, failed, received, notified, met, lost };

/// One event. `operation`: static text.
struct traced_event {
  instant at{};
  const char* operation = "";
  const void* context = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t connection = 0;
  traced what{};
  errc code = errc::ok;
};

static_assert(sizeof(traced_event) <= 48);

class event_trace {
 public:
  /// Allocates. Requires: at least one event.
  explicit event_trace(std::uint32_t most) : ring_(most) {}

  [[gnu::cold, gnu::noinline]] void add(const traced_event& e) noexcept { ring_[count_++ % ring_.size()] = e; }

  /// Writes the events, oldest first. The form: "Trace Event Format" of Chromium, object format.
  status write(const std::string& path) const noexcept {
    std::FILE* const file = std::fopen(path.c_str(), "we");
    if (file == nullptr) return failed(errno);
    const std::uint64_t first = count_ > ring_.size() ? count_ - ring_.size() : 0;
    bool well = std::fprintf(file, R"({"otherData": {"overwritten": %)" PRIu64 R"(}, "traceEvents": [)", first) > 0;
    for (std::uint64_t i = first; i < count_ && well; ++i)
      well = std::fputs(i == first ? "\n" : ",\n", file) >= 0 && write_one(file, ring_[i % ring_.size()]);
    well = well && std::fputs("\n]}\n", file) >= 0;
    const int why = errno;
    if (std::fclose(file) != 0) return failed(errno);
    return well ? status{} : failed(why);
  }

 private:
  static status failed(int number) noexcept { return {errc::native, origin::system, number, "write_trace"}; }

  /// An operation with a context is a span: it begins at its post and ends at its event, which has the same context.
  /// False: not written.
  static bool write_one(std::FILE* file, const traced_event& e) noexcept {
    const bool begins = e.what == traced::posted && e.code == errc::ok && e.context != nullptr;
    const bool ends = (e.what == traced::completed || e.what == traced::failed) && e.context != nullptr;
    const std::int64_t ns = e.at.time_since_epoch().count();
    const char* const phase = begins ? "b" : ends ? "e" : "i";
    if (std::fprintf(file, R"({"ph": "%s", "cat": "weft", "name": "%s", "ts": %)" PRId64 R"(.%03d, "pid": %d, )", phase,
                     name_of(e), ns / 1000, static_cast<int>(ns % 1000), ::getpid()) < 0)
      return false;
    if ((begins || ends ? std::fprintf(file, R"("id": "%p", )", e.context) : std::fputs(R"("s": "t", )", file)) < 0)
      return false;
    return std::fprintf(file, R"("tid": %)" PRIu32 R"(, "args": {"bytes": %)" PRIu64 R"(, "code": %d}})", e.connection,
                        e.bytes, static_cast<int>(e.code)) > 0;
  }
  /// A span has one name. What refused posts and events without a span are, their names say.
  static const char* name_of(const traced_event& e) noexcept {
    switch (e.what) {
      case traced::received:
        return "received";
      case traced::notified:
        return "notified";
      case traced::met:
        return "met";
      case traced::lost:
        return "lost";
      default:
        return e.operation;
    }
  }

  std::vector<traced_event> ring_;
  std::uint64_t count_ = 0;
};

}  // namespace weft::detail
