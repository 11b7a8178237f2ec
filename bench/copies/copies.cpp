// SPDX-License-Identifier: Apache-2.0
//
// What a copy costs, by the places of source and target in a page: memcpy of one size, from each place to each. A cell
// is the median time divided by that of the fastest cell. Some processors copy slowly to certain places
// (docs/decisions/0023), and the places of receives follow from that. Hot path: the copy. Threads: one.
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <new>
#include <vector>

namespace {
constexpr std::size_t page = 4096;
using memory = std::unique_ptr<std::byte, decltype(&std::free)>;

struct settings {
  std::size_t bytes = 65536;
  std::size_t rounds = 61;
  std::vector<std::size_t> places{0, 8, 16, 24, 32, 40, 64, 128, 512, 2048, 4080};
  std::string json;
};

/// Pages of this process, each written once.
memory pages(std::size_t size) {
  const std::size_t whole = (size + page - 1) / page * page;
  memory made(static_cast<std::byte*>(std::aligned_alloc(page, whole)), &std::free);
  if (!made) throw std::bad_alloc();
  std::memset(made.get(), 1, whole);
  return made;
}

/// The median time of a copy, in nanoseconds. The first copy warms the caches, and does not count.
double median_ns(std::byte* to, const std::byte* from, const settings& s) {
  std::vector<double> times;
  for (std::size_t round = 0; round <= s.rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    std::memcpy(to, from, s.bytes);
    asm volatile("" : : "r"(to) : "memory");  // the compiler may not leave out a copy that nobody reads
    times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count());
  }
  times.erase(times.begin());
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

int understand(settings& s, int argc, char** argv) {
  CLI::App app("Times memcpy between places of a page, as ratios to the fastest");
  app.add_option("--bytes", s.bytes, "Of each copy")->check(CLI::Range(1, 1 << 26))->capture_default_str();
  app.add_option("--rounds", s.rounds, "Copies of each cell")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--places", s.places, "Bytes behind a page, separated by commas")
      ->delimiter(',')
      ->check(CLI::Range(0, 4095))
      ->capture_default_str();
  app.add_option("--json", s.json, "Where the times go too: a file; in nanoseconds, a row for each target");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return -1;
}

void print(const settings& s, const std::vector<std::vector<double>>& ns) {
  double fastest = ns[0][0];
  for (const auto& row : ns) fastest = std::min(fastest, *std::min_element(row.begin(), row.end()));
  std::printf("memcpy of %zu bytes, median of %zu; the fastest cell takes %.0f ns\n", s.bytes, s.rounds, fastest);
  std::printf("rows: the target's bytes behind a page; columns: the source's\n%6s", "");
  for (const std::size_t from : s.places) std::printf("%7zu", from);
  for (std::size_t row = 0; row < s.places.size(); ++row) {
    std::printf("\n%6zu", s.places[row]);
    for (const double each : ns[row]) std::printf("%7.2f", each / fastest);
  }
  std::printf("\n");
}
}  // namespace

int main(int argc, char** argv) {
  settings s;
  if (const int left = understand(s, argc, argv); left >= 0) return left;
  const memory to = pages(s.bytes + page), from = pages(s.bytes + page);
  std::vector<std::vector<double>> ns;
  for (const std::size_t target : s.places) {
    ns.emplace_back();
    for (const std::size_t source : s.places) ns.back().push_back(median_ns(to.get() + target, from.get() + source, s));
  }
  print(s, ns);
  if (s.json.empty()) return 0;
  std::ofstream file(s.json);
  file << nlohmann::json{{"bytes", s.bytes}, {"places", s.places}, {"ns", ns}}.dump(2) << "\n";
  if (file.flush()) return 0;
  std::cerr << "bench-copies: " << s.json << " cannot be written\n";
  return 1;
}
