// SPDX-License-Identifier: Apache-2.0
//
// A shared folder as the store of a job: for machines that share files and cannot connect otherwise. Each run has a
// folder of its own below the shared one, named for the job, because files of an earlier run may lie there still.
// Files appear complete: they are written under another name and linked, which file systems do at once.
// Polls directories. A rank that dies is found only by limits: no connection ends.
// Hot path: no. Threads: one owner.
#pragma once

#include "backend.hpp"
#include "sockets.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <thread>

namespace weft::jobs {

class folder_store {
 public:
  /// Joins the job `job` in the folder. Errors: invalid (the rank is taken, the name is none for a folder, or the sizes
  /// differ), deadline (rank 0 did not come), native.
  static result<folder_store> join(const std::string& folder, const std::string& job, std::uint32_t rank,
                                   std::uint32_t size, duration limit) {
    // A step of Slurm is "slurm-42.0". A name that begins with a dot would lead elsewhere, or be hidden.
    const auto may_stand = [](char c) {
      return c == '-' || c == '_' || c == '.' || (c >= '0' && c <= '9') || is_letter(c);
    };
    if (job.empty() || job.size() > 64 || job.front() == '.' || !std::ranges::all_of(job, may_stand))
      return failure{error(errc::invalid, "join"),
                     "WEFT_JOB is \"" + job + "\": a store in a folder needs a new name for each run, of 1 to 64 " +
                         "letters, digits, -, _ and ., and no . in front"};
    folder_store made(folder + "/" + job, rank, size);
    if (::mkdir(made.folder_.c_str(), 0700) != 0 && errno != EEXIST) return made.failed("cannot be made");
    struct stat there {};
    if (::lstat(made.folder_.c_str(), &there) != 0) return made.failed("cannot be seen");
    if (!S_ISDIR(there.st_mode))  // a link may lead to any folder, and others may write into the shared one
      return failure{error(errc::invalid, "join"), "the store's folder " + made.folder_ + " is no folder"};
    if (auto done = made.write("rank-" + std::to_string(rank), std::to_string(size)); !done)
      return done.why().code == errc::invalid
                 ? failure{error(errc::invalid, "join"), "two processes have rank " + std::to_string(rank) +
                                                             " of the job in " + made.folder_ +
                                                             ", or an earlier run had the same WEFT_JOB"}
                 : std::move(done).error();
    auto first = made.wait_for_file("rank-0", limit);
    if (!first)
      return failure{error(errc::deadline, "join"),
                     "rank 0 did not come to " + made.folder_ + " in " + in_words(limit)};
    if (*first != std::to_string(size))
      return failure{error(errc::invalid, "join"), "rank " + std::to_string(rank) + " was started for a job of " +
                                                       std::to_string(size) + " ranks, and rank 0 for one of another"};
    return made;
  }

  result<void> put(std::string_view key, std::string_view value, duration) {
    if (std::string why = refused_put(key, value); !why.empty()) return {error(errc::invalid, "put"), std::move(why)};
    if (bytes_ + key.size() + value.size() > most_bytes_per_rank)
      return {error(errc::no_memory, "put"),
              "the keys and values of one rank have at most " + std::to_string(most_bytes_per_rank) + " bytes in all"};
    auto done = write(name_of(rank_, key), value);
    if (done) bytes_ += key.size() + value.size();
    return done;
  }
  result<std::string> get(std::uint32_t rank, std::string_view key, duration limit) {
    if (std::string why = refused_put(key, {}); !why.empty()) return {error(errc::invalid, "get"), std::move(why)};
    if (auto found = wait_for_file(name_of(rank, key), limit)) return *found;
    const bool came = read("rank-" + std::to_string(rank)).has_value();
    return {error(errc::deadline, "get"),
            "rank " + std::to_string(rank) + (came ? " put no such key in " : " did not come in ") + in_words(limit)};
  }
  result<void> barrier(duration limit) {
    const std::string prefix = "barrier-" + std::to_string(barriers_) + "-";
    if (!read(prefix + std::to_string(rank_)))
      if (auto done = write(prefix + std::to_string(rank_), ""); !done) return done;
    const instant end = std::chrono::steady_clock::now() + limit;
    for (;;) {
      const auto missing = ranks_without(prefix);
      if (missing.empty()) break;
      if (std::chrono::steady_clock::now() >= end) {
        const auto never = ranks_without("rank-");
        return {error(errc::deadline, "barrier"),
                never.empty() ? ranks_in_words(missing) + " did not reach the barrier in " + in_words(limit)
                              : ranks_in_words(never) + " never came: the barrier waited " + in_words(limit)};
      }
      std::this_thread::sleep_for(pause);
    }
    ++barriers_;
    return {};
  }
  /// Rank 0 waits for the others and removes the job's folder. What is not of a job stays: somebody's folder may have
  /// had the name before.
  result<void> leave(duration limit) {
    if (auto done = write("left-" + std::to_string(rank_), ""); !done) return done;
    if (rank_ != 0) return {};
    const instant end = std::chrono::steady_clock::now() + limit;
    while (!ranks_without("left-").empty()) {
      if (std::chrono::steady_clock::now() >= end) return {};  // the folder stays for those that are late
      std::this_thread::sleep_for(pause);
    }
    for (const std::string& name : names())
      if (is_of_a_job(name)) ::unlink((folder_ + "/" + name).c_str());
    ::rmdir(folder_.c_str());
    return {};
  }
  /// The first address of this machine, because a folder says nothing about the way between machines.
  std::string host() {
    const auto found = addresses_of_this_host();
    return found.empty() ? "127.0.0.1" : found.front();
  }

 private:
  static constexpr duration pause = std::chrono::milliseconds(10);

  folder_store(std::string folder, std::uint32_t rank, std::uint32_t size)
      : folder_(std::move(folder)), rank_(rank), size_(size) {}

  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
  static std::string name_of(std::uint32_t rank, std::string_view key) {
    static constexpr char digits[] = "0123456789abcdef";
    std::string name = "value-" + std::to_string(rank) + "-";
    for (const char each : key) {
      name += digits[static_cast<unsigned char>(each) >> 4U];
      name += digits[static_cast<unsigned char>(each) & 0xfU];
    }
    return name;
  }
  /// Whether a rank gives files such a name: a word, then numbers.
  static bool is_of_a_job(std::string_view name) {
    const auto may_stand = [](char c) { return c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    for (const auto& [word, numbers] :
         {std::pair<std::string_view, int>{"rank-", 1}, {"left-", 1}, {"barrier-", 2}, {"value-", 2}, {"draft-", 3}}) {
      if (!name.starts_with(word)) continue;
      name.remove_prefix(word.size());
      return !name.empty() && std::ranges::all_of(name, may_stand) && std::ranges::count(name, '-') == numbers - 1;
    }
    return false;
  }
  failure failed(const std::string& what) const {
    return {{errc::native, origin::system, errno, "folder"},
            "the store's folder " + folder_ + " " + what + ": " +
                std::strerror(errno)};  // NOLINT(concurrency-mt-unsafe): glibc's is safe per thread
  }

  /// Makes a file that did not exist. Errors: invalid, where it did; native.
  result<void> write(const std::string& name, std::string_view bytes) {
    const std::string path = folder_ + "/" + name;
    const std::string draft = folder_ + "/draft-" + std::to_string(rank_) + "-" + std::to_string(::getpid()) + "-" +
                              std::to_string(drafts_++);
    owned_descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return failed("takes no files");
    bool good = true;
    while (good && !bytes.empty()) {  // a disk that gets full takes a part first, and says why at the next call
      const ssize_t wrote = ::write(file.get(), bytes.data(), bytes.size());
      good = wrote > 0 || (wrote < 0 && errno == EINTR);
      if (wrote > 0) bytes.remove_prefix(static_cast<std::size_t>(wrote));
    }
    // A file system of the network may send the bytes, or say that it cannot, at the close.
    good = good && ::close(file.release()) == 0;
    // A link, unlike a rename, refuses a name that exists.
    good = good && ::link(draft.c_str(), path.c_str()) == 0;
    const int why = errno;
    ::unlink(draft.c_str());
    errno = why;
    if (good) return {};
    if (why == EEXIST)
      return {error(errc::invalid, "put"), "rank " + std::to_string(rank_) + " has put " + name + " before"};
    return failed("cannot hold " + name);
  }
  std::optional<std::string> read(const std::string& name) const {
    const owned_descriptor file(::open((folder_ + "/" + name).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file) return {};
    std::string bytes(longest_value + 1, '\0');
    const ssize_t got = ::read(file.get(), bytes.data(), bytes.size());
    if (got < 0 || static_cast<std::size_t>(got) > longest_value) return {};
    bytes.resize(static_cast<std::size_t>(got));
    return bytes;
  }
  std::optional<std::string> wait_for_file(const std::string& name, duration limit) const {
    const instant end = std::chrono::steady_clock::now() + limit;
    for (;;) {
      if (auto found = read(name)) return found;
      if (std::chrono::steady_clock::now() >= end) return {};
      std::this_thread::sleep_for(pause);
    }
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir(folder_.c_str()), &::closedir);
    while (const dirent* each = folder ? ::readdir(folder.get()) : nullptr)  // NOLINT(concurrency-mt-unsafe): own DIR
      if (each->d_name[0] != '.') found.insert(each->d_name);
    return found;
  }
  std::vector<std::uint32_t> ranks_without(const std::string& prefix) const {
    const auto there = names();
    std::vector<std::uint32_t> missing;
    for (std::uint32_t rank = 0; rank < size_; ++rank)
      if (!there.contains(prefix + std::to_string(rank))) missing.push_back(rank);
    return missing;
  }

  std::string folder_;
  std::uint32_t rank_;
  std::uint32_t size_;
  std::uint64_t barriers_ = 0;
  std::uint64_t drafts_ = 0;
  std::size_t bytes_ = 0;
};
static_assert(backend<folder_store>);

}  // namespace weft::jobs
