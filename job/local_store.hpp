// SPDX-License-Identifier: Apache-2.0
//
// A job of one rank: its values stay in the process. Choose it by starting a program without a launcher.
// Hot path: no. Threads: one owner.
#pragma once

#include "backend.hpp"

#include <map>
#include <string>

namespace weft::jobs {

class local_store {
 public:
  result<void> put(std::string_view key, std::string_view value, duration) {
    if (std::string why = refused_put(key, value); !why.empty()) return {error(errc::invalid, "put"), std::move(why)};
    if (!values_.emplace(key, value).second)
      return {error(errc::invalid, "put"), "rank 0 has put \"" + std::string(key) + "\" before"};
    return {};
  }
  /// Does not wait: nobody else can put the value.
  result<std::string> get(std::uint32_t, std::string_view key, duration) {
    const auto found = values_.find(std::string(key));
    if (found != values_.end()) return found->second;
    return {error(errc::deadline, "get"), "rank 0 is alone, and put no \"" + std::string(key) + "\""};
  }
  result<void> barrier(duration) { return {}; }
  result<void> leave(duration) { return {}; }
  std::string host() { return "127.0.0.1"; }

 private:
  std::map<std::string, std::string> values_;
};
static_assert(backend<local_store>);

}  // namespace weft::jobs
