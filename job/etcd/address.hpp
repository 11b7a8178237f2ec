// SPDX-License-Identifier: Apache-2.0
//
// Where an etcd is, as users write it: etcd://host:port/prefix. A cluster of etcd has several members, so several
// hosts may stand there, with commas between. Programs without libcurl read it too, to say what is missing.
// Hot path: no. Threads: values.
#pragma once

#include "../sockets.hpp"

#include <algorithm>

namespace weft::jobs {

struct etcd_address {
  std::vector<endpoint> hosts{};  ///< Any of them answers for all.
  std::string prefix = "weft";    ///< Keys of weft begin so.
};
inline constexpr std::string_view etcd_scheme = "etcd://";
inline constexpr char etcd_form[] = "etcd://host:port[,host:port][/prefix]";

inline std::string in_words(const etcd_address& at) {
  std::string text(etcd_scheme);
  for (const endpoint& each : at.hosts) text += (text.size() > etcd_scheme.size() ? "," : "") + in_words(each);
  return text + "/" + at.prefix;
}

/// Reads "etcd://n1:2379,n2:2379/prefix". Nothing: it is none. A prefix has 1 to 64 letters, digits, '-', '_', '.' and
/// '/', and no '/' at an end.
inline std::optional<etcd_address> etcd_address_of(std::string_view text) {
  if (!text.starts_with(etcd_scheme)) return {};
  text.remove_prefix(etcd_scheme.size());
  etcd_address made;
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(slash + 1);
    const auto may_stand = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
             c == '.' || c == '/';
    };
    if (prefix.empty() || prefix.size() > 64 || prefix.front() == '/' || prefix.back() == '/' ||
        !std::ranges::all_of(prefix, may_stand))
      return {};
    made.prefix = prefix;
    text = text.substr(0, slash);
  }
  for (;;) {
    const std::size_t comma = text.find(',');
    const auto host = endpoint_of(text.substr(0, comma));
    if (!host || made.hosts.size() == 16) return {};
    made.hosts.push_back(*host);
    if (comma == std::string_view::npos) return made;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace weft::jobs
