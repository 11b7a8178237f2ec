// SPDX-License-Identifier: Apache-2.0
//
// PMIx, as mpirun, prterun and srun --mpi=pmix speak it: rank, size, and the place of rank 0's store.
// PMIx's own fence has no dependable limit and names no missing rank (PMIx_Fence: PMIX_TIMEOUT is optional for hosts).
// So one value travels by PMIx, and the store does the rest. libpmix is loaded when a launcher speaks PMIx: the same
// binary starts where no libpmix is installed.
// Hot path: no. Threads: one owner; libpmix calls back from its own thread.
#pragma once

#include "../backend.hpp"

#include <dlfcn.h>
#include <pmix.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace weft::jobs {

inline constexpr bool has_pmix = true;

class pmix_session {
 public:
  static constexpr int oldest = 3;  ///< Major version: before, PMIx_Get_nb lacked what is used here.

  /// Loads libpmix and meets the launcher's server. Errors: unsupported (no libpmix, or one that is too old),
  /// unreachable.
  static result<std::unique_ptr<pmix_session>> open() {
    std::unique_ptr<pmix_session> made(new pmix_session);
    if (auto done = made->load(); !done) return std::move(done).error();
    if (const int why = made->init_(&made->self_, nullptr, 0); why != PMIX_SUCCESS)
      return made->failed(errc::unreachable, "the launcher's PMIx server does not answer", why);
    made->is_open_ = true;
    auto size = made->number_of_job(PMIX_JOB_SIZE);
    if (!size) return std::move(size).error();
    made->size_ = *size;
    if (made->size_ == 0 || made->size_ > most_ranks || made->rank() >= made->size_)
      return made->failed(
          errc::broken,
          "rank " + std::to_string(made->rank()) + " of " + std::to_string(made->size_) + " is no place in a job",
          PMIX_SUCCESS);
    const auto here = made->number_of_job(PMIX_LOCAL_SIZE);
    made->all_here_ = here && *here == made->size_;
    return made;
  }
  pmix_session(const pmix_session&) = delete;
  pmix_session& operator=(const pmix_session&) = delete;
  /// The launcher calls a rank that ends without this a failed one.
  ~pmix_session() {
    if (is_open_) finalize_(nullptr, 0);
  }

  std::uint32_t rank() const noexcept { return self_.rank; }
  std::uint32_t size() const noexcept { return size_; }
  bool all_on_this_host() const noexcept { return all_here_; }
  std::string job() const { return std::string(self_.nspace, ::strnlen(self_.nspace, sizeof self_.nspace)); }
  const std::string& version() const noexcept { return version_; }

  /// Gives a text to every rank. Errors: native.
  result<void> give(const std::string& text) {
    pmix_value_t value{};
    value.type = PMIX_STRING;
    value.data.string = const_cast<char*>(text.c_str());  // NOLINT: PMIx_Put copies it
    int why = put_(PMIX_GLOBAL, key, &value);
    if (why == PMIX_SUCCESS) why = commit_();
    if (why != PMIX_SUCCESS) return failed(errc::native, "PMIx does not take a value", why);
    return {};
  }
  /// Rank 0's text, once it is there. Asks again while PMIx says that there is none: a server answers at once for a
  /// rank that has started and not put its value yet. Errors: deadline, native.
  result<std::string> fetch(duration limit) {
    const instant end = std::chrono::steady_clock::now() + limit;
    for (;;) {
      auto got = fetch_once(end - std::chrono::steady_clock::now());
      if (got || got.why().native() != PMIX_ERR_NOT_FOUND) return got;
      if (std::chrono::steady_clock::now() + pause >= end)
        return {error(errc::deadline, "join"), "rank 0 gave no address by PMIx in " + in_words(limit)};
      std::this_thread::sleep_for(pause);
    }
  }

 private:
  static constexpr char key[] = "weft.store";
  static constexpr duration pause = std::chrono::milliseconds(10);
  struct answer {
    std::mutex mutex;
    std::condition_variable came;
    bool is_there = false;
    int why = PMIX_SUCCESS;
    std::string text;
  };
  pmix_session() = default;

  result<std::string> fetch_once(duration limit) {
    pmix_proc_t first = self_;
    first.rank = 0;
    const auto shared = std::make_shared<answer>();
    auto* held = new std::shared_ptr<answer>(shared);  // NOLINT: the callback may come after the limit, and owns it
    const int why = get_nb_(&first, key, nullptr, 0, &pmix_session::take, held);
    if (why != PMIX_SUCCESS) {
      delete held;  // NOLINT: no callback comes
      return failed(errc::native, "PMIx does not ask for a value", why);
    }
    std::unique_lock lock(shared->mutex);
    if (!shared->came.wait_for(lock, limit, [&] { return shared->is_there; }))
      return {error(errc::deadline, "join"), "rank 0 gave no address by PMIx in " + in_words(limit)};
    if (shared->why != PMIX_SUCCESS) return failed(errc::native, "rank 0 gave no address by PMIx", shared->why);
    return shared->text;
  }

  static void take(pmix_status_t why, pmix_value_t* value, void* held) {
    const std::unique_ptr<std::shared_ptr<answer>> owner(static_cast<std::shared_ptr<answer>*>(held));
    answer& into = **owner;
    const std::lock_guard lock(into.mutex);
    into.is_there = true;
    into.why = why;
    if (why != PMIX_SUCCESS) return into.came.notify_all();
    if (value == nullptr || value->type != PMIX_STRING || value->data.string == nullptr) into.why = PMIX_ERR_BAD_PARAM;
    else into.text.assign(value->data.string, ::strnlen(value->data.string, longest_value));
    into.came.notify_all();
  }

  failure failed(errc code, const std::string& sentence, int why) const {
    const char* text = why == PMIX_SUCCESS || error_string_ == nullptr ? nullptr : error_string_(why);
    return {{code, origin::system, why, "PMIx"},
            sentence + (text == nullptr ? "" : " (" + std::string(text) + ")") + ": PMIx " + version_};
  }
  result<std::uint32_t> number_of_job(const char* name) {
    pmix_proc_t all = self_;
    all.rank = PMIX_RANK_WILDCARD;
    pmix_value_t* value = nullptr;
    const int why = get_(&all, name, nullptr, 0, &value);
    if (why != PMIX_SUCCESS || value == nullptr) return failed(errc::broken, std::string("PMIx has no ") + name, why);
    const auto found = value->data.uint32;
    const bool good = value->type == PMIX_UINT32;
    ::free(value);  // NOLINT: PMIx allocates it by malloc
    if (!good) return failed(errc::broken, std::string(name) + " of PMIx is no number", PMIX_SUCCESS);
    return found;
  }

  template <class Function>
  bool find(Function& into, const char* name) {
    into = reinterpret_cast<Function>(::dlsym(library_, name));
    return into != nullptr;
  }
  result<void> load() {
    library_ = ::dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);  // never closed: its thread may still run
    if (library_ == nullptr)
      return {error(errc::unsupported, "join"),
              "the launcher speaks PMIx, and libpmix.so.2 cannot be loaded (Debian: libpmix2): " +
                  std::string(::dlerror())};  // NOLINT(concurrency-mt-unsafe): glibc's is per thread
    decltype(&::PMIx_Get_version) get_version = nullptr;
    if (find(get_version, "PMIx_Get_version")) version_ = number_in(get_version());
    if (std::atoi(version_.c_str()) < oldest)  // NOLINT: the text begins with a digit or is empty
      return {error(errc::unsupported, "join"), "libpmix is too old: version " +
                                                    (version_.empty() ? "unknown" : version_) + ", and weft needs " +
                                                    std::to_string(oldest) + ".0 or later"};
    if (find(init_, "PMIx_Init") && find(finalize_, "PMIx_Finalize") && find(put_, "PMIx_Put") &&
        find(commit_, "PMIx_Commit") && find(get_, "PMIx_Get") && find(get_nb_, "PMIx_Get_nb") &&
        find(error_string_, "PMIx_Error_string"))
      return {};
    return {error(errc::unsupported, "join"), "libpmix " + version_ + " lacks a call that weft needs"};
  }
  /// "4.2.2" of "OpenPMIx 4.2.2, repo rev: …".
  static std::string number_in(const char* text) {
    const std::string all = text == nullptr ? "" : text;
    const std::size_t begin = std::min(all.find_first_of("0123456789"), all.size());
    return all.substr(begin, all.find_first_not_of("0123456789.", begin) - begin);
  }

  void* library_ = nullptr;
  decltype(&::PMIx_Init) init_ = nullptr;
  decltype(&::PMIx_Finalize) finalize_ = nullptr;
  decltype(&::PMIx_Put) put_ = nullptr;
  decltype(&::PMIx_Commit) commit_ = nullptr;
  decltype(&::PMIx_Get) get_ = nullptr;
  decltype(&::PMIx_Get_nb) get_nb_ = nullptr;
  decltype(&::PMIx_Error_string) error_string_ = nullptr;
  pmix_proc_t self_{};
  std::string version_{};
  std::uint32_t size_ = 0;
  bool all_here_ = false;
  bool is_open_ = false;
};

}  // namespace weft::jobs
