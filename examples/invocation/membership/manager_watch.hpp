// SPDX-License-Identifier: Apache-2.0
//
// Whether a client's manager is still there. The client asks it now and then, because fabrics such as tcp_rxm do not
// tell the end of a process. Silence alone would have to allow for workers, which may compute for long; a manager never
// does. Silence counts only while the client itself polls. Other witnesses shorten the limit, but never stand alone:
// etcd, and a library that takes no question any more. Hot path: no. Threads: the client's.
#pragma once

#include <weft/core/time.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace weft::invocation {

/// Of clients that have another manager to go to.
inline constexpr duration usual_manager_every = std::chrono::milliseconds(250);

class manager_watch {
 public:
  enum class finding : std::uint8_t { calm, ask, silent };

  manager_watch() = default;
  /// `every`: between two questions; zero: the client never asks. `limit`: of silence; at least two questions fit.
  manager_watch(duration every, duration limit, instant now) noexcept
      : every_(every), limit_(std::max(limit, doubted_limit())), looked_(now), ask_at_(now + every) {}

  bool on() const noexcept { return every_ > duration(); }
  /// What to do now. Call it after a round of progress, so that what the manager said has been read.
  finding look(instant now) noexcept {
    if (!on()) return finding::calm;
    // An absence of this client is no silence of its manager: of a long one as much counts as of a usual round.
    silence_ += std::min<duration>(now - looked_, every_);
    looked_ = now;
    if (silence_ > limit()) return finding::silent;
    if (now < ask_at_) return finding::calm;
    ask_at_ = now + every_;
    return finding::ask;
  }
  /// A message of the manager came.
  void heard() noexcept {
    silence_ = {};
    doubted_ = false;
  }
  /// Another witness says that the manager is gone. It is lost unless it answers one of the next two questions.
  void doubt() noexcept { doubted_ = true; }
  /// Of silence, as things are.
  duration limit() const noexcept { return doubted_ ? doubted_limit() : limit_; }

 private:
  duration doubted_limit() const noexcept { return 2 * every_; }

  duration every_{};
  duration limit_{};
  duration silence_{};
  instant looked_{};
  instant ask_at_{};
  bool doubted_ = false;
};

}  // namespace weft::invocation
