// SPDX-License-Identifier: Apache-2.0
//
// Reads "cell = value" lines. Unknown cells are errors: a profile of another version would be emulated wrongly and
// silently.
#include "profile.hpp"

#include <rdma/fabric.h>

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

namespace weft::emulator {

void refuse(const std::string& sentence) {
  std::fprintf(stderr, "weft emulator: %s\n", sentence.c_str());
  std::_Exit(2);  // libfabric is loading this library: exit handlers would wait for its locks
}

namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// One line's value, and its position for sentences.
struct value {
  std::string text;
  std::string place;

  std::uint64_t number() const {
    if (text == "unlimited") return std::numeric_limits<std::uint64_t>::max();
    std::uint64_t n = 0;
    const bool hexadecimal = text.starts_with("0x");
    const char* begin = text.data() + (hexadecimal ? 2 : 0);
    const auto [end, fault] = std::from_chars(begin, text.data() + text.size(), n, hexadecimal ? 16 : 10);
    if (fault != std::errc{} || end != text.data() + text.size()) refuse(place + ": \"" + text + "\" is not a number");
    return n;
  }
  bool flag() const { return one_of("true", "false"); }
  /// True for `yes`, false for `no`; every other word is refused.
  bool one_of(std::string_view yes, std::string_view no) const {
    if (text == yes) return true;
    if (text == no) return false;
    refuse(place + ": \"" + text + "\" is neither \"" + std::string(yes) + "\" nor \"" + std::string(no) + '"');
  }
};

using setter = std::function<void(profile&, const value&)>;

setter text(std::string profile::*cell) {
  return [cell](profile& p, const value& v) { p.*cell = v.text; };
}
setter flag(bool profile::*cell) {
  return [cell](profile& p, const value& v) { p.*cell = v.flag(); };
}
template <class Number>
setter number(Number profile::*cell) {
  return [cell](profile& p, const value& v) { p.*cell = static_cast<Number>(v.number()); };
}
setter word(bool profile::*cell, const char* yes, const char* no) {
  return [cell, yes, no](profile& p, const value& v) { p.*cell = v.one_of(yes, no); };
}
void nothing(profile&, const value&) {}

void set_progress(profile& p, const value& v) {
  if (v.text != "polling" && v.text != "thread" && v.text != "hardware")
    refuse(v.place + ": data_progress is polling, thread or hardware");
  p.polling = v.text == "polling";
}
void set_refusal(profile& p, const value& v) {
  if (v.text != "reported" && v.text != "silent" && v.text != "hidden")
    refuse(v.place + ": refused_write is reported, silent or hidden");
  p.refused_write_reported = v.text == "reported";
  p.refused_write_hidden = v.text == "hidden";
}
void set_wait(profile& p, const value& v) {
  if (v.text != "descriptor" && v.text != "yield" && v.text != "none")
    refuse(v.place + ": completion_wait is descriptor, yield or none");
  p.wait_descriptor = v.text == "descriptor";
  p.wait_yield = v.text == "yield";
}

void set_counted(profile& p, const value& v) {
  std::istringstream words(v.text);
  p.counted.clear();
  for (std::string each; words >> each;) p.counted.insert(each);
}
/// Parts of an address lie within it: what reads and writes addresses relies on that.
void set_address(profile& p, const value& v) {
  std::istringstream parts(v.text);
  std::string check;
  if (!(parts >> p.address_format >> p.address_bytes >> p.address_number_at >> p.address_number_bits >> check))
    refuse(v.place + ": an address is \"format bytes number_at number_bits check_at\"");
  p.address_checked = check != "none";
  p.address_check_at = p.address_checked ? static_cast<std::size_t>(value{check, v.place}.number()) : 0;
  if (p.address_number_bits == 0 || p.address_number_bits > 64 || p.address_bytes > 256 ||
      p.address_number_at > p.address_bytes ||
      p.address_bytes - p.address_number_at < (p.address_number_bits + 7) / 8 ||
      (p.address_checked && (p.address_check_at > p.address_bytes || p.address_bytes - p.address_check_at < 4)))
    refuse(v.place + ": a part of the address lies outside of it");
}

/// "add swap: int32 float; read: int64", or none.
void set_atomics(profile& p, const value& v) {
  p.atomic_operations.clear();
  if (v.text == "none") return;
  std::istringstream groups(v.text);
  for (std::string group; std::getline(groups, group, ';');) {
    const auto colon = group.find(':');
    if (colon == std::string::npos) refuse(v.place + ": \"" + group + "\" is not of the form \"operations: types\"");
    std::istringstream operations(group.substr(0, colon));
    for (std::string operation; operations >> operation;) {
      std::istringstream types(group.substr(colon + 1));
      for (std::string type; types >> type;) p.atomic_operations.emplace(operation, type);
    }
  }
}

const std::map<std::string, setter, std::less<>>& cells() {
  static const std::map<std::string, setter, std::less<>> all{
      {"fabric", text(&profile::fabric)},
      {"provider", text(&profile::provider)},
      {"fabric_name", text(&profile::fabric_name)},
      {"endpoint_type", word(&profile::connected, "connected", "addressed")},
      {"forgets_peers", flag(&profile::forgets_peers)},
      {"virtual_addressing", flag(&profile::virtual_addressing)},
      {"key_owner", word(&profile::provider_keys, "provider", "application")},
      {"key_bytes", number(&profile::key_bytes)},
      {"local_registration", flag(&profile::local_registration)},
      {"region_endpoint_binding", flag(&profile::region_endpoint_binding)},
      {"write_immediate_bytes", number(&profile::write_immediate_bytes)},
      {"write_immediate_consumes_receive", flag(&profile::write_immediate_consumes_receive)},
      {"send_immediate_bytes", number(&profile::send_immediate_bytes)},
      {"remote_counter_counts_writes", flag(&profile::remote_counter_counts_writes)},
      {"order_send_after_write", flag(&profile::order_send_after_write)},
      {"order_write_after_write", flag(&profile::order_write_after_write)},
      {"order_send_after_send", flag(&profile::order_send_after_send)},
      {"delivery_complete", flag(&profile::delivery_complete)},
      {"refused_write", set_refusal},
      {"selective_completion", flag(&profile::selective_completion)},
      {"atomics", word(&profile::atomics, "provider", "none")},
      {"atomic_operations", set_atomics},
      {"atomics_cost_order", flag(&profile::atomics_cost_order)},
      {"data_progress", set_progress},
      {"completion_wait", set_wait},
      {"reports_killed_peer", flag(&profile::reports_killed_peer)},
      {"context_bytes", number(&profile::context_bytes)},
      {"inject_bytes", number(&profile::inject_bytes)},
      {"gather_limit", number(&profile::gather_limit)},
      {"rma_gather_limit", number(&profile::rma_gather_limit)},
      {"queue_depth", number(&profile::queue_depth)},
      {"largest_message", number(&profile::largest_message)},
      {"largest_write", number(&profile::largest_write)},
      {"multi_receive", flag(&profile::multi_receive)},
      // What the provider has of the interface.
      {"tagged", flag(&profile::tagged)},
      {"directed_receive", flag(&profile::directed_receive)},
      {"mem_tag_format", number(&profile::mem_tag_format)},
      {"order_hints_checked", flag(&profile::order_hints_checked)},
      {"address", set_address},
      {"address_text", text(&profile::address_text)},
      {"one_service_per_node", flag(&profile::one_service_per_node)},
      {"short_lookup_refused", flag(&profile::short_lookup_refused)},
      {"counted", set_counted},
      {"cancel_of_unknown", number(&profile::cancel_of_unknown)},
      {"atomic_bytes", number(&profile::atomic_bytes)},
      {"every_atomic", flag(&profile::every_atomic)},
      {"contexts", number(&profile::contexts)},
      {"shared_transmit", flag(&profile::shared_transmit)},
      {"poll_sets", flag(&profile::poll_sets)},
      // Cells that do not affect the calls of an addressed provider.
      {"address_resolution", nothing},
      {"connects_lazily", nothing},
      {"same_host", nothing},
      {"bytes_visible_in_order", nothing},
      {"fused_bytes", nothing},
      {"shared_receives", nothing},
      {"extended_posting", nothing},
      {"split_queues", nothing},
      {"thread_levels", nothing},
      {"full_queue", nothing},
      {"virtual_addressing_optional", nothing},  // no emulated row has virtual addresses without need
      {"virtual_addressing_costs_order", nothing},
  };
  return all;
}

/// "1.18" as libfabric encodes releases.
std::uint32_t release(const value& v) {
  const auto dot = v.text.find('.');
  if (dot == std::string::npos) refuse(v.place + ": \"" + v.text + "\" is not a release such as 1.18");
  return FI_VERSION(static_cast<std::uint32_t>(value{v.text.substr(0, dot), v.place}.number()),
                    static_cast<std::uint32_t>(value{v.text.substr(dot + 1), v.place}.number()));
}

void set_cell(profile& into, std::string_view cell, const value& v) {
  const auto found = cells().find(cell);
  if (found == cells().end()) refuse(v.place + ": the emulator knows no cell \"" + std::string(cell) + '"');
  found->second(into, v);
}

/// Cells that this run changes (WEFT_EMULATOR_CELLS): a device with another setting, or the row `unordered`.
void set_by_hand(profile& into) {
  const char* set = ::secure_getenv("WEFT_EMULATOR_CELLS");
  std::string_view rest = set == nullptr ? "" : set;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest = rest.find(',') == std::string_view::npos ? std::string_view{} : rest.substr(rest.find(',') + 1);
    const auto equals = one.find('=');
    if (equals == std::string_view::npos)
      refuse("WEFT_EMULATOR_CELLS: \"" + std::string(one) + "\" is not of the form cell=value");
    set_cell(into, trimmed(one.substr(0, equals)),
             value{std::string(trimmed(one.substr(equals + 1))), "WEFT_EMULATOR_CELLS"});
  }
}

profile read(const char* path) {
  std::ifstream file(path);
  if (!file)
    refuse(std::string(path) + " cannot be read; WEFT_EMULATOR_PROFILE names a file that ./weft generate made");
  profile result;
  std::string line;
  bool holds = true;  // the part that is being read is not newer than the library
  bool any = false;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string_view all = trimmed(line);
    if (all.empty() || all.front() == '#') continue;
    const std::string place = std::string(path) + ':' + std::to_string(number);
    const auto equals = all.find('=');
    if (equals == std::string_view::npos) refuse(place + ": not of the form \"cell = value\"");
    const std::string_view cell = trimmed(all.substr(0, equals));
    const value v{std::string(trimmed(all.substr(equals + 1))), place};
    if (cell == "since") holds = release(v) <= fi_version();
    any = any || (cell == "since" && holds);
    if (cell == "until" && !v.text.empty() && release(v) <= fi_version())
      refuse(place + ": the row describes releases of libfabric before " + v.text + " and this one is newer");
    if (cell != "since" && cell != "until" && holds) set_cell(result, cell, v);
  }
  if (!any) refuse(std::string(path) + " describes no release of libfabric as old as this one");
  set_by_hand(result);
  if (result.fabric.empty() || result.provider.empty()) refuse(std::string(path) + " names no fabric or no provider");
  return result;
}

/// "name=number,name=number"; a name alone has its usual number.
void read_settings(
    const char* variable,
    const std::map<std::string, std::pair<std::function<void(std::uint64_t)>, std::uint64_t>, std::less<>>& known) {
  const char* set = ::secure_getenv(variable);
  if (set == nullptr) return;
  std::string_view rest = set;
  while (!rest.empty()) {
    const std::string_view one = trimmed(rest.substr(0, rest.find(',')));
    rest = rest.find(',') == std::string_view::npos ? std::string_view{} : rest.substr(rest.find(',') + 1);
    if (one.empty()) continue;
    const auto equals = one.find('=');
    const std::string name(trimmed(one.substr(0, equals)));
    const auto found = known.find(name);
    if (found == known.end()) {
      std::string all;
      for (const auto& each : known) all += (all.empty() ? "" : ", ") + each.first;
      refuse(std::string(variable) + ": \"" + name + "\" is not one of " + all);
    }
    const auto& [apply, usual] = found->second;
    apply(equals == std::string_view::npos ? usual
                                           : value{std::string(trimmed(one.substr(equals + 1))), variable}.number());
  }
}

}  // namespace

const profile* emulated() {
  static const auto& row = *new std::optional<profile>([]() -> std::optional<profile> {  // never destroyed: rules.hpp
    const char* path = ::secure_getenv("WEFT_EMULATOR_PROFILE");
    if (path == nullptr || *path == '\0') return std::nullopt;
    return read(path);
  }());
  return row ? &*row : nullptr;
}

const conduct& conducted() {
  static const conduct chosen = [] {
    conduct c;
    const auto chance = [](unsigned& into) { return [&into](std::uint64_t n) { into = static_cast<unsigned>(n); }; };
    if (const char* seed = ::secure_getenv("WEFT_EMULATOR_SEED")) c.seed = value{seed, "WEFT_EMULATOR_SEED"}.number();
    for (const char* name : {"WEFT_EMULATED_PROCESS", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"})
      if (const char* process = ::secure_getenv(name)) {
        c.process = value{process, name}.number();
        break;
      }
    read_settings("WEFT_EMULATOR_FAULTS", {{"reorder", {chance(c.reorder), 300}},
                                           {"again", {chance(c.again), 20}},
                                           {"early", {chance(c.early), 500}},
                                           {"shuffle", {chance(c.shuffle), 300}},
                                           {"slow", {chance(c.slow), 300}},
                                           {"partial", {chance(c.partial), 500}},
                                           {"failing", {chance(c.failing), 1}},
                                           {"dying", {[&c](std::uint64_t n) { c.dying = n; }, 1000}}});
    read_settings("WEFT_EMULATOR_SHAPE",
                  {{"latency", {[&c](std::uint64_t n) { c.latency_ns = n; }, 1000}},
                   {"bandwidth", {[&c](std::uint64_t n) { c.bytes_per_second = n; }, 1'000'000'000}}});
    return c;
  }();
  return chosen;
}

}  // namespace weft::emulator
