// SPDX-License-Identifier: Apache-2.0
//
// weft::job: who am I, how many are we, and where do the others listen? The same program runs under `weft run`,
// mpirun, srun, torchrun's variables, in pods, and alone. Launchers place processes; weft only asks them.
// A job moves addresses and small values. Everything else belongs to a transport, which knows nothing of jobs.
// Hot path: no. Threads: one owner at a time.
#pragma once

#include "brought_backend.hpp"
#include "folder_store.hpp"
#include "local_store.hpp"
#include "store_member.hpp"

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace weft {

struct job_options {
  /// WEFT_TIMEOUT, in seconds, stands before it.
  duration timeout = std::chrono::seconds(30);        ///< Of joining, and of each call that names no limit.
  duration leave_timeout = std::chrono::seconds(10);  ///< How long the end of a job waits for the other ranks.
  std::uint32_t least_size = 1;  ///< join_job() refuses a smaller job, and so a start without a launcher.
};

/// This process in its job. Make it by join_job().
/// A value is put once and stays; a get waits for it. Errors of every call: deadline, whose sentence names the ranks
/// that did not come; peer_lost, where a rank or the store ended; invalid.
class job {
 public:
  std::uint32_t rank() const noexcept { return place_.rank; }
  std::uint32_t size() const noexcept { return place_.size; }
  /// Which launcher was found, and by which variables. One line for people.
  const std::string& reason() const noexcept { return place_.reason; }
  /// The address of this machine by which the other ranks reach it: for transport_options::node. On rank 0 under PMIx
  /// it is the first address of the machine. WEFT_HOST stands before it.
  std::string host() {
    const char* set = jobs::variable_of_process("WEFT_HOST");
    if (set != nullptr && *set != '\0') return set;
    return std::visit([](auto& each) { return each.host(); }, backend_);
  }

  /// Gives a value of at most 64 KiB to every rank. Errors: also no_memory: one rank puts at most 1 MiB.
  result<void> put(std::string_view key, std::string_view value) {
    return noted(std::visit([&](auto& each) { return each.put(key, value, options_.timeout); }, backend_));
  }
  /// The value that `rank` put, once it is there. duration::max(): no limit.
  result<std::string> get(std::uint32_t rank, std::string_view key, duration limit) {
    if (rank >= size())
      return {error(errc::invalid, "get"),
              "rank " + std::to_string(rank) + " is not in a job of " + std::to_string(size()) + " ranks"};
    return noted(std::visit([&](auto& each) { return each.get(rank, key, jobs::bounded(limit)); }, backend_));
  }
  result<std::string> get(std::uint32_t rank, std::string_view key) { return get(rank, key, options_.timeout); }
  /// Returns when every rank has called it as often as this one. duration::max(): no limit.
  result<void> barrier(duration limit) {
    return noted(std::visit([&](auto& each) { return each.barrier(jobs::bounded(limit)); }, backend_));
  }
  result<void> barrier() { return barrier(options_.timeout); }
  /// Ends the rank's part in order. Rank 0 waits for the others, because the store ends with it. No call follows.
  /// The destructor does the same, except after a call that failed: then it waits for nobody.
  result<void> leave() {
    if (std::exchange(has_left_, true)) return {};
    return std::visit([&](auto& each) { return each.leave(options_.leave_timeout); }, backend_);
  }

  job(job&& other) noexcept
      : options_(other.options_),
        place_(std::move(other.place_)),
        backend_(std::move(other.backend_)),
        has_left_(std::exchange(other.has_left_, true)),
        has_failed_(other.has_failed_) {}
  job& operator=(job&&) = delete;
  ~job() {
    if (!has_left_ && !has_failed_) (void)leave();
  }

 private:
  using backends = std::variant<jobs::local_store, jobs::store_member, jobs::folder_store, jobs::brought_backend>;
  friend result<job> join_job(job_options options, const jobs::environment& variables);

  template <jobs::backend Backend>
  job(job_options options, jobs::place at, Backend backend)
      : options_(options), place_(std::move(at)), backend_(std::move(backend)) {}
  template <class Result>
  Result noted(Result&& of_call) {
    has_failed_ |= !of_call;
    return std::forward<Result>(of_call);
  }

  job_options options_;
  jobs::place place_;
  backends backend_;
  bool has_left_ = false;
  bool has_failed_ = false;
};

/// Finds the launcher and meets the other ranks' store. Errors: invalid (a variable, or a job that is too small),
/// unreachable, deadline, unsupported (PMIx). A program that cannot join prints the sentence and ends with 2.
inline result<job> join_job(job_options options = {}, const jobs::environment& variables = &jobs::variable_of_process) {
  auto found = jobs::find_place(variables, jobs::has_pmix);
  if (!found) return std::move(found).error();
  jobs::place at = std::move(found).value();
  if (const char* seconds = variables("WEFT_TIMEOUT"); seconds != nullptr) {
    const auto number = jobs::number_of(seconds, 86400);
    if (!number || *number == 0)
      return failure{error(errc::invalid, "join"),
                     "WEFT_TIMEOUT is \"" + printable(seconds) + "\": it is a number of seconds from 1 to 86400"};
    options.timeout = std::chrono::seconds(*number);
  }
  options.timeout = jobs::bounded(options.timeout);
  options.leave_timeout = jobs::bounded(options.leave_timeout);
  std::optional<result<jobs::store_member>> member;
  if (at.by == jobs::way::pmix) member = jobs::store_member::join_by_pmix(at, options.timeout);
  if (member && !*member) return std::move(*member).error();
  if (at.size < options.least_size)
    return failure{error(errc::invalid, "join"), "this program needs " + std::to_string(options.least_size) +
                                                     " ranks, and the job has " + std::to_string(at.size) + " (" +
                                                     at.reason + "): start it by weft run -n " +
                                                     std::to_string(options.least_size) + ", mpirun or srun"};
  if (at.by == jobs::way::alone) return job(options, std::move(at), jobs::local_store());
  if (at.by == jobs::way::folder) {
    auto folder = jobs::folder_store::join(at.folder, at.job, at.rank, at.size, options.timeout);
    if (!folder) return std::move(folder).error();
    at.reason += ", store in " + at.folder;
    return job(options, std::move(at), std::move(folder).value());
  }
  if (at.by == jobs::way::etcd) {
    auto etcd = jobs::brought_backend::join(at, options.timeout);
    if (!etcd) return std::move(etcd).error();
    at.reason += ", store at " + in_words(at.etcd);
    return job(options, std::move(at), std::move(etcd).value());
  }
  if (!member) member = jobs::store_member::join(at, options.timeout);
  if (!*member) return std::move(*member).error();
  at.reason += ", store at " + in_words((*member)->store());
  return job(options, std::move(at), std::move(*member).value());
}

}  // namespace weft
