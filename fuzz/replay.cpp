// SPDX-License-Identifier: Apache-2.0
//
// Runs fuzz targets without libFuzzer, so that every sanitized build can run them:
//   fuzz-replay --target NAME [--runs N] [--seed N] FILE_OR_FOLDER...
// Each file runs once. Then --runs mutations of the files run, drawn from the seed. The input that runs is kept in
// fuzz-replay.NAME.input, which the sentence of a crash names.
#include "target.hpp"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(WEFT_ADDRESS_SANITIZER)
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

namespace {

using bytes_of_input = std::vector<std::uint8_t>;

bytes_of_input running;
std::string kept;

/// Keeps the input of a crash. Only system calls, because a signal may run it.
void keep_input() {
  const int file = ::open(kept.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  (void)!::write(file, running.data(), running.size());
  (void)::close(file);
  const std::string_view said = "weft fuzz: the input is in ";
  (void)!::write(STDERR_FILENO, said.data(), said.size());
  (void)!::write(STDERR_FILENO, kept.data(), kept.size());
  (void)!::write(STDERR_FILENO, "\n", 1);
}
extern "C" void on_abort(int) {
  keep_input();
  std::_Exit(1);
}

bytes_of_input read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<bytes_of_input> corpus(const std::vector<std::string>& places) {
  std::vector<std::filesystem::path> files;
  for (const std::string& place : places)
    if (std::filesystem::is_directory(place))
      for (const auto& each : std::filesystem::directory_iterator(place)) files.push_back(each.path());
    else if (std::filesystem::exists(place)) files.emplace_back(place);
  std::sort(files.begin(), files.end());
  std::vector<bytes_of_input> all;
  for (const auto& each : files) all.push_back(read(each));
  return all;
}

void run(const weft::fuzz::listed& target, const bytes_of_input& input) {
  running = input;
  // A copy without spare room, so that AddressSanitizer sees each byte past its end.
  const auto exact = std::make_unique<std::byte[]>(input.size());
  if (!input.empty()) std::memcpy(exact.get(), input.data(), input.size());
  target.check({exact.get(), input.size()});
}

constexpr std::size_t room = 8192;

void mutate_once(const weft::fuzz::listed& target, bytes_of_input& input, unsigned seed) {
  std::size_t size = input.size();
  input.resize(room);
  size = target.mutate != nullptr ? target.mutate(input.data(), size, room, seed)
                                  : LLVMFuzzerMutate(input.data(), size, room);
  input.resize(size);
}

std::minstd_rand& chance() {
  static std::minstd_rand draw(1);
  return draw;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most) {
  std::minstd_rand& draw = chance();
  const auto any = [&] { return static_cast<std::uint8_t>(draw() >> 8); };
  const std::size_t at = size == 0 ? 0 : draw() % size;
  switch (draw() % 6) {
    case 0:
      if (size < most) {
        std::memmove(data + at + 1, data + at, size - at);
        data[at] = any();
        return size + 1;
      }
      return size;
    case 1:
      if (size == 0) return 0;
      std::memmove(data + at, data + at + 1, size - at - 1);
      return size - 1;
    case 2:
      return size == 0 ? 0 : draw() % size;
    case 3:
      for (std::size_t more = std::min<std::size_t>(draw() % 64, most - size); more > 0; --more) data[size++] = any();
      return size;
    case 4:
      if (size > 0) data[at] = static_cast<std::uint8_t>(draw() % 4 == 0 ? 0xff : draw() % 4);
      return size;
    default:
      if (size > 0) data[at] ^= static_cast<std::uint8_t>(1U << draw() % 8);
      return size;
  }
}

int main(int argc, char** argv) {
  std::string name;
  std::uint64_t runs = 0;
  unsigned seed = 1;
  std::vector<std::string> places;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const bool has_value = word.starts_with("--") && i + 1 < argc;
    if (word == "--target" && has_value) name = argv[++i];
    else if (word == "--runs" && has_value) runs = std::stoull(argv[++i]);
    else if (word == "--seed" && has_value) seed = static_cast<unsigned>(std::stoul(argv[++i]));
    else places.emplace_back(word);
  }
  const weft::fuzz::listed* target = weft::fuzz::listed::first;
  while (target != nullptr && name != target->name) target = target->next;
  if (target == nullptr) {
    std::fprintf(stderr, "fuzz-replay: there is no target \"%s\"; there are", name.c_str());
    for (const auto* each = weft::fuzz::listed::first; each != nullptr; each = each->next)
      std::fprintf(stderr, " %s", each->name);
    std::fprintf(stderr, "\n");
    return 2;
  }
  kept = "fuzz-replay." + name + ".input";
  (void)std::signal(SIGABRT, on_abort);
#if defined(__SANITIZE_ADDRESS__) || defined(WEFT_ADDRESS_SANITIZER)
  __sanitizer_set_death_callback(keep_input);
#endif
  std::vector<bytes_of_input> all = corpus(places);
  for (const bytes_of_input& each : all) run(*target, each);
  const std::size_t files = all.size();
  if (all.empty()) all.emplace_back();
  chance().seed(seed);
  for (std::uint64_t i = 0; i < runs; ++i) {
    bytes_of_input input = all[chance()() % all.size()];
    for (unsigned rounds = 1 + static_cast<unsigned>(chance()() % 4); rounds > 0; --rounds)
      mutate_once(*target, input, static_cast<unsigned>(chance()()));
    run(*target, input);
  }
  std::printf("%s: %zu files and %llu mutations\n", name.c_str(), files, static_cast<unsigned long long>(runs));
  return 0;
}
