// SPDX-License-Identifier: Apache-2.0
//
// The JSON of etcd's gateway (etcd v3, api_grpc_gateway): keys and values are base64, numbers of 64 bits are texts, and
// a field that is zero is absent. Another program may answer at the port, so every field is checked.
// Hot path: no. Threads: values.
#pragma once

#include "../sockets.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weft::jobs::etcd {

using json = nlohmann::json;

/// RFC 4648, with padding.
inline std::string base64(std::string_view bytes) {
  constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string made;
  made.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 3; ++j)
      three = three << 8U | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) made += i + j <= bytes.size() ? digits[three >> (18 - 6 * j) & 63U] : '=';
  }
  return made;
}
inline std::optional<std::string> from_base64(std::string_view text) {
  const auto value = [](char c) -> std::optional<std::uint32_t> {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    if (c == '+') return 62;
    if (c == '/') return 63;
    return {};
  };
  if (text.size() % 4 != 0) return {};
  std::string made;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const std::size_t digits = last && text[i + 3] == '=' ? (text[i + 2] == '=' ? 2 : 3) : 4;
    std::uint32_t three = 0;
    for (std::size_t j = 0; j < 4; ++j) {
      const auto digit = j < digits ? value(text[i + j]) : std::optional<std::uint32_t>(0);
      if (!digit) return {};
      three = three << 6U | *digit;
    }
    for (std::size_t j = 0; j + 1 < digits; ++j) made += static_cast<char>(three >> (16 - 8 * j) & 255U);
  }
  return made;
}

/// A field, or null where there is none.
inline const json& field(const json& of, const char* name) {
  static const json none;
  if (!of.is_object()) return none;
  const auto found = of.find(name);
  return found == of.end() ? none : *found;
}
/// A number, or its text; 0 where it is neither.
inline std::uint64_t number(const json& of) {
  if (of.is_number_unsigned()) return of.get<std::uint64_t>();
  if (!of.is_string()) return 0;
  const auto& text = of.get_ref<const std::string&>();
  std::uint64_t value = 0;
  const auto [end, why] = std::from_chars(text.data(), text.data() + text.size(), value);
  return why == std::errc() && end == text.data() + text.size() ? value : 0;
}
/// What a key or a value holds; empty where there is none.
inline std::string bytes(const json& of) {
  if (!of.is_string()) return {};
  return from_base64(of.get_ref<const std::string&>()).value_or("");
}

/// A key that etcd holds, or held.
struct entry {
  std::string key{}, value{};
  std::uint64_t created = 0;  ///< The revision in which it came.
  std::uint64_t lease = 0;    ///< It goes with this lease.
};
struct change {
  entry of{};
  bool removed = false;
  std::uint64_t revision = 0;
};

inline entry entry_of(const json& kv) {
  return {bytes(field(kv, "key")), bytes(field(kv, "value")), number(field(kv, "create_revision")),
          number(field(kv, "lease"))};
}
/// The entries of a reply to a range.
inline std::vector<entry> entries_of(const json& reply) {
  std::vector<entry> found;
  if (const json& all = field(reply, "kvs"); all.is_array())
    for (const json& each : all) found.push_back(entry_of(each));
  return found;
}
inline std::uint64_t revision_of(const json& reply) { return number(field(field(reply, "header"), "revision")); }

/// One line of a watch.
struct watched {
  bool good = false;  ///< Else the watch is over: etcd gave up, or this is no etcd.
  std::vector<change> changes{};
};
inline watched watched_of(std::string_view line) {
  const json whole = json::parse(line, nullptr, false);
  const json& result = field(whole, "result");
  watched made{result.is_object() && field(result, "canceled") != json(true), {}};
  if (const json& all = field(result, "events"); all.is_array())
    for (const json& each : all) {
      const json& kv = field(each, "kv");
      made.changes.push_back({entry_of(kv), field(each, "type") == json("DELETE"), number(field(kv, "mod_revision"))});
    }
  return made;
}

/// The end of the range of all keys with a prefix: the prefix with its last byte one higher. Requires: that byte is not
/// 0xff.
inline std::string after_all_with(std::string prefix) {
  prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}
inline json range_of(const std::string& key) { return json::object({{"key", base64(key)}}); }
inline json all_with(const std::string& prefix) {
  return json::object({{"key", base64(prefix)}, {"range_end", base64(after_all_with(prefix))}});
}
inline json put_of(const std::string& key, std::string_view value, std::uint64_t lease) {
  return json::object({{"key", base64(key)}, {"value", base64(value)}, {"lease", std::to_string(lease)}});
}
/// Puts a key that does not exist, does `also` with it, or else reads the key.
inline json create(const std::string& key, std::string_view value, std::uint64_t lease, const json& also = {}) {
  json made;
  made["compare"] = json::array(
      {json::object({{"key", base64(key)}, {"target", "CREATE"}, {"result", "EQUAL"}, {"create_revision", "0"}})});
  made["success"] = json::array({json::object({{"request_put", put_of(key, value, lease)}})});
  made["failure"] = json::array({json::object({{"request_range", range_of(key)}})});
  if (!also.is_null()) made["success"].push_back(also);
  return made;
}
inline bool succeeded(const json& reply) { return field(reply, "succeeded") == json(true); }
/// What the failed side of create() read.
inline std::optional<entry> held_instead(const json& reply) {
  const json& all = field(reply, "responses");
  if (!all.is_array() || all.empty()) return {};
  auto found = entries_of(field(all[0], "response_range"));
  if (found.empty()) return {};
  return std::move(found.front());
}

}  // namespace weft::jobs::etcd
