// SPDX-License-Identifier: Apache-2.0
//
// The request that the initiating process sends to the answering one before each run: operation, bytes, window, rounds.
// It goes over the side channel. The answering side confirms it, and until then discards what its polls return. Hot
// path: no. Threads: values.
#pragma once

#include <array>
#include <cstddef>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace weft::bench {

enum class scenario { put_notify, send, put_visible, fetch_add, put_notify_rate, send_rate, put };

inline constexpr std::array<std::string_view, 7> scenario_names{
    "put_notify", "send", "put_visible", "fetch_add", "put_notify_rate", "send_rate", "put"};

constexpr std::string_view name_of(scenario what) noexcept { return scenario_names[static_cast<std::size_t>(what)]; }
constexpr bool is_rate(scenario what) noexcept {
  return what == scenario::put_notify_rate || what == scenario::send_rate;
}
constexpr bool by_message(scenario what) noexcept { return what == scenario::send || what == scenario::send_rate; }

/// Errors: throws, with a sentence that lists the names.
inline scenario scenario_of(std::string_view name) {
  for (std::size_t i = 0; i < scenario_names.size(); ++i)
    if (scenario_names[i] == name) return static_cast<scenario>(i);
  std::string sentence = "no operation \"" + std::string(name) + "\"; there are";
  for (const std::string_view each : scenario_names) sentence += ' ' + std::string(each);
  throw std::runtime_error(sentence);
}

struct request {
  scenario what{};
  std::size_t bytes = 0;
  std::size_t window = 1;
  std::size_t rounds = 0;
  bool checked = false;  ///< Contents are compared; no times.

  std::string text() const {
    std::ostringstream out;
    out << static_cast<int>(what) << ' ' << bytes << ' ' << window << ' ' << rounds << ' ' << checked;
    return out.str();
  }
  static request of(const std::string& text) {
    std::istringstream in(text);
    request r;
    int what = 0;
    in >> what >> r.bytes >> r.window >> r.rounds >> r.checked;
    if (!in) throw std::runtime_error("the asking process sent \"" + text + "\", which is no request");
    r.what = static_cast<scenario>(what);
    return r;
  }
};

}  // namespace weft::bench
