// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace weft::simulation {
namespace {

bool number(std::string_view text, std::uint64_t& into) {
  if (text.empty()) return false;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9' || value > (~std::uint64_t{0} - 9) / 10) return false;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  into = value;
  return true;
}

bool range(std::string_view text, command& into) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return false;
  return number(text.substr(0, dots), into.first) && number(text.substr(dots + 2), into.last) &&
         into.first <= into.last;
}

bool numbers(std::string_view text, std::optional<std::vector<std::uint32_t>>& into) {
  into.emplace();
  if (text == "none") return true;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(one.size() == text.size() ? one.size() : one.size() + 1);
    std::uint64_t value = 0;
    if (!number(one, value)) return false;
    into->push_back(static_cast<std::uint32_t>(value));
  }
  return true;
}

bool real(const char* text, double factor, double& into) {
  char* end = nullptr;
  into = std::strtod(text, &end) * factor;
  return end != text && *end == '\0' && into > 0;
}

/// Options with a value. Returns whether the value is right.
bool take(std::string_view name, const char* value, command& c) {
  if (name == "--seed") {
    c.last = 0;
    const bool good = number(value, c.first);
    c.last = c.first;
    return good;
  }
  if (name == "--seeds") return range(value, c);
  if (name == "--seconds") return real(value, 1, c.seconds);
  if (name == "--hours") return real(value, 3600, c.seconds);
  if (name == "--steps") return numbers(value, c.kept.steps);
  if (name == "--disturbances") return numbers(value, c.kept.disturbances);
  if (name == "--trace") return !(c.trace = value).empty();
  if (name == "--expect") return !(c.expected = value).empty();
  if (name == "--system") {
    c.system = value;
    return c.system == "transport" || c.system == "invocation" || c.system == "paged_writer";
  }
  if (name == "--faults") {
    const auto asked = fault_set::parse(value);
    if (asked) c.kept.faults = *asked;
    return asked.has_value();
  }
  if (name != "--bug") return false;
  for (const auto& [called, bug] : planted_bugs()) {
    if (called != value) continue;
    c.settings.bug = bug;
    return true;
  }
  return false;
}

}  // namespace

const std::vector<std::pair<std::string, loopback::planted_bug>>& planted_bugs() {
  using bug = loopback::planted_bug;
  static const std::vector<std::pair<std::string, bug>> all{
      {"lost_completion", bug::lost_completion},
      {"notification_before_bytes", bug::notification_before_bytes},
      {"double_notification", bug::double_notification},
      {"forgotten_deadline", bug::forgotten_deadline},
      {"reused_key", bug::reused_key},
      {"skipped_bound_check", bug::skipped_bound_check},
      {"lost_message", bug::lost_message},
      {"double_message", bug::double_message},
      {"corrupt_message", bug::corrupt_message},
      {"lost_notification", bug::lost_notification},
      {"narrow_immediate", bug::narrow_immediate},
      {"lost_bytes", bug::lost_bytes},
      {"late_bytes", bug::late_bytes},
      {"misplaced_bytes", bug::misplaced_bytes},
      {"stale_region", bug::stale_region},
      {"skipped_rights_check", bug::skipped_rights_check},
      {"lost_addition", bug::lost_addition},
      {"double_addition", bug::double_addition},
      {"wrong_read", bug::wrong_read},
      {"lost_receive", bug::lost_receive},
      {"lost_refusal", bug::lost_refusal},
  };
  return all;
}

bool parse(int argc, char** argv, command& into) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--shrink") {
      into.shrinks = true;
    } else if (name == "--hashes") {
      into.hashes = true;
    } else if (i + 1 == argc || !take(name, argv[i + 1], into)) {
      (void)std::fprintf(stderr, "%s: \"%s%s%s\" is no right option\n%s", argv[0], argv[i], i + 1 < argc ? " " : "",
                         i + 1 < argc ? argv[i + 1] : "", usage);
      return false;
    } else {
      ++i;
    }
  }
  return true;
}

}  // namespace weft::simulation
