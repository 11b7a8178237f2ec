// SPDX-License-Identifier: Apache-2.0
//
// Reads "cell = value" lines. Unknown cells are errors: a profile of another version would be emulated wrongly and
// silently.
#include "cells.hpp"

#include <rdma/fabric.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
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
