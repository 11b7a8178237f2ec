// SPDX-License-Identifier: Apache-2.0
//
// One side of a run: opens its rails, drives them, and prints progress and the result.
// Hot path: no. Threads: the caller's makes the others.
#pragma once

#include "driving.hpp"
#include "reader.hpp"
#include "writer.hpp"

#include <sys/mman.h>

#include <chrono>
#include <cstdio>
#include <functional>

namespace weft::paged {

/// Pages that the reader's rails register: zeroed, aligned, released at the end.
class page_memory {
 public:
  explicit page_memory(std::size_t size)
      : size_(size), start_(::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (start_ == MAP_FAILED)
      throw broken_off("no memory for " + std::to_string(size) + " bytes; ask for fewer or smaller pages");
  }
  page_memory(const page_memory&) = delete;
  page_memory& operator=(const page_memory&) = delete;
  ~page_memory() { ::munmap(start_, size_); }
  bytes whole() const noexcept { return {static_cast<std::byte*>(start_), size_}; }

 private:
  std::size_t size_;
  void* start_;
};

using clock = std::chrono::steady_clock;

struct outcome {
  totals done;
  double seconds = 0;
  double gigabytes_per_second() const noexcept {
    return seconds > 0 ? static_cast<double>(done.bytes) / seconds / 1e9 : 0;
  }
};

/// Prints a line of progress now and then, on standard error.
class progress_line {
 public:
  progress_line(const plan& p, const char* verb, const std::vector<shard>& counts)
      : plan_(p), verb_(verb), counts_(counts) {}
  void maybe() {
    const auto now = clock::now();
    if (plan_.report == duration::zero() || now - last_ < plan_.report) return;
    const totals t = sum(counts_);
    const double rate =
        static_cast<double>(t.bytes - before_) / std::chrono::duration<double>(now - last_).count() / 1e9;
    (void)std::fprintf(stderr, "%s %6.2f of %.2f GB, %.3f GB/s (%.2f Gb/s), round %llu\n", verb_,
                       static_cast<double>(t.bytes) / 1e9,
                       static_cast<double>(plan_.rounds() * plan_.round_bytes()) / 1e9, rate, rate * 8,
                       static_cast<unsigned long long>(t.rounds / plan_.rails));
    last_ = now;
    before_ = t.bytes;
  }

 private:
  const plan& plan_;
  const char* verb_;
  const std::vector<shard>& counts_;
  clock::time_point last_ = clock::now();
  std::uint64_t before_ = 0;
};

template <class Rail>
outcome work(const plan& p, const char* verb, const std::vector<shard>& counts,
             const std::vector<std::unique_ptr<Rail>>& rails) {
  std::vector<Rail*> all;
  for (const auto& each : rails) all.push_back(each.get());
  const auto begin = clock::now();
  crew<Rail> threads(p, all);
  progress_line line(p, verb, counts);
  while (threads.working()) {
    ::usleep(2000);
    line.maybe();
  }
  threads.finish();
  return {sum(counts), std::chrono::duration<double>(clock::now() - begin).count()};
}

/// The writing side: `announce` gets the rails' addresses, separated by commas, once it listens.
template <complete_fabric F>
outcome write_pages(const plan& p, const std::function<void(const std::string&)>& announce) {
  std::vector<shard> counts(p.rails);
  std::vector<std::unique_ptr<writer<F>>> rails;
  std::string where;
  for (std::uint32_t i = 0; i < p.rails; ++i) {
    rails.push_back(std::make_unique<writer<F>>(p, i, counts[i]));
    rails.back()->begin();
    where += (i == 0 ? "" : ",") + rails.back()->listen_address();
  }
  announce(where);
  plan quiet = p;
  quiet.report = duration::zero();
  return work(quiet, "written", counts, rails);
}

/// Addresses, separated by commas.
inline std::vector<std::string> split(const std::string& where) {
  std::vector<std::string> all(1);
  for (const char c : where)
    if (c == ',') all.emplace_back();
    else all.back() += c;
  return all;
}

/// The reading side: one rail for each address.
template <complete_fabric F>
outcome read_pages(const plan& p, const std::string& where) {
  const std::vector<std::string> places = split(where);
  if (places.size() != p.rails)
    throw broken_off("the writer has " + std::to_string(places.size()) + " rails and this side " +
                     std::to_string(p.rails) + "; give both the same");
  page_memory memory(p.memory_bytes());
  std::vector<shard> counts(p.rails);
  std::vector<std::unique_ptr<reader<F>>> rails;
  for (std::uint32_t i = 0; i < p.rails; ++i) {
    rails.push_back(std::make_unique<reader<F>>(p, i, counts[i], memory.whole()));
    rails.back()->begin(places[i]);
  }
  return work(p, "verified", counts, rails);
}

}  // namespace weft::paged
