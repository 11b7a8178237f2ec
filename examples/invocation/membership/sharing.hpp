// SPDX-License-Identifier: Apache-2.0
//
// How managers share clients, as a manager and a client see it. A client may come to any manager. One that is not its
// own refuses it with the address of the right one, and the client goes there. So no manager passes on requests.
// Hot path: no. Threads: the manager's, the client's.
#pragma once

#include "../protocol.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::invocation {

/// Where the other managers are. An implementation is in managers.hpp; tests and simulations bring their own.
class sharing {
 public:
  sharing() = default;
  sharing(const sharing&) = delete;
  sharing& operator=(const sharing&) = delete;
  virtual ~sharing() = default;
  /// The address of the manager that serves this client; empty: this one does.
  virtual std::string elsewhere(const token& client) const = 0;
  /// The addresses of all, a line each.
  virtual std::string addresses() const = 0;
};

/// What a client says in greeting::worker.
inline constexpr std::uint16_t serve_here = 1;    ///< It was sent here, or has lost its manager: do not send it away.
inline constexpr std::uint16_t lost_manager = 2;  ///< Its manager is gone, and with it its allocation.

inline constexpr std::string_view redirection = "the manager of this client is at ";

/// The address in the refusal of a manager that is not the client's own.
inline std::optional<std::string> redirected_to(std::string_view sentence) {
  const std::size_t begin = sentence.find(redirection);
  if (begin == std::string_view::npos) return std::nullopt;
  sentence.remove_prefix(begin + redirection.size());
  const std::string_view address = sentence.substr(0, sentence.find(' '));
  if (address.empty() || address.size() > 255) return std::nullopt;
  return std::string(address);
}

/// The lines of a list of addresses.
inline std::vector<std::string> addresses_in(std::string_view lines) {
  std::vector<std::string> all;
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    if (end > 0 && end <= 255) all.emplace_back(lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return all;
}

}  // namespace weft::invocation
