// SPDX-License-Identifier: Apache-2.0
//
// Parses "host:service": "node7:7471", "127.0.0.1:7471", "[::1]:7471". Hot path: no.
#pragma once

#include "../../core/error.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace weft::detail {

struct host_and_service {
  std::string host;
  std::string service;

  static result<host_and_service> parse(std::string_view where) {
    const auto wrong = [&] {
      std::string said(1, '"');  // not "\"" + std::string: g++ 12 warns of its own library there (GCC bug 105651)
      said.append(where).append("\" is not host:service; for example node7:7471, 127.0.0.1:7471 or [::1]:7471");
      return failure{error(errc::invalid, "address"), std::move(said)};
    };
    std::string_view host;
    std::string_view rest;
    if (where.starts_with('[')) {
      const auto close = where.find(']');
      if (close == std::string_view::npos) return wrong();
      host = where.substr(1, close - 1);
      rest = where.substr(close + 1);
    } else {
      const auto colon = where.find(':');
      if (colon == std::string_view::npos || where.find(':', colon + 1) != std::string_view::npos) return wrong();
      host = where.substr(0, colon);
      rest = where.substr(colon);
    }
    if (host.empty() || rest.size() < 2 || rest.front() != ':') return wrong();
    const std::string_view service = rest.substr(1);
    if (auto no = not_a_port(service); !no.empty()) return failure{error(errc::invalid, "address"), std::move(no)};
    return host_and_service{std::string(host), std::string(service)};
  }

  /// The error sentence for a number that is no port. Empty for a valid port, and for the name of a service.
  static std::string not_a_port(std::string_view service) {
    std::uint64_t port = 0;
    for (const char c : service) {
      if (c < '0' || c > '9') return {};
      port = std::min<std::uint64_t>(port * 10 + static_cast<std::uint64_t>(c - '0'), 100'000);
    }
    if (port <= 65535) return {};
    return "service " + std::string(service) + " is no port: ports are numbers up to 65535";
  }
};

}  // namespace weft::detail
