// SPDX-License-Identifier: Apache-2.0
//
// How a process finds its place in a job: which launcher started it, and where the others meet. Each launcher says so
// in variables of its own; the first that speaks wins, and the reason is kept for people.
// Order: WEFT_RANK, PMIx, a step of Slurm, torchrun's variables, an ordinal of a pod, alone.
// Hot path: no. Threads: values.
#pragma once

#include "backend.hpp"
#include "etcd/address.hpp"
#include "sockets.hpp"

#include <cstdlib>
#include <functional>

namespace weft::jobs {

/// A variable's value, or null. Tests bring their own.
using environment = std::function<const char*(const char*)>;
inline const char* variable_of_process(const char* name) { return ::secure_getenv(name); }

enum class way : std::uint8_t { alone, store, folder, etcd, pmix };

/// What the variables say.
struct place {
  way by = way::alone;
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::string job{};               ///< Refuses ranks of other jobs at the same store.
  std::vector<endpoint> stores{};  ///< Rank 0 serves at the first free one; the others try each.
  int listener = -1;               ///< A listening socket that the launcher left to rank 0, or -1.
  std::string folder{};
  etcd_address etcd{};
  std::string reason{};
};

namespace detail {

inline constexpr std::uint16_t ports_per_job = 16;  ///< Another job of the same host may hold some.

inline constexpr char store_forms[] = "host:port, file:FOLDER or etcd://host:port/prefix";

inline failure refused(std::string sentence) { return {error(errc::invalid, "join"), std::move(sentence)}; }
inline std::string text(const environment& get, const char* name) {
  const char* value = get(name);
  return value == nullptr ? "" : value;
}
inline std::string ordinal(const place& at) {
  return "rank " + std::to_string(at.rank) + " of " + std::to_string(at.size);
}

/// Rank and size from two variables. Errors: invalid.
inline result<place> counted(const environment& get, const char* rank_name, const char* size_name) {
  const std::string rank = text(get, rank_name);
  const std::string size = text(get, size_name);
  const auto ranks = number_of(size, most_ranks);
  if (!ranks || *ranks == 0)
    return refused(std::string(size_name) + " is \"" + size + "\": the size of a job is a number from 1 to " +
                   std::to_string(most_ranks));
  const auto number = number_of(rank, most_ranks);
  if (!number || *number >= *ranks)
    return refused(std::string(rank_name) + " is \"" + rank + "\": a rank of a job of " + size +
                   " is a number from 0 to " + std::to_string(*ranks - 1));
  place made;
  made.by = way::store;
  made.rank = *number;
  made.size = *ranks;
  return made;
}

/// Takes WEFT_STORE, WEFT_JOB and WEFT_STORE_FD. False: there is no WEFT_STORE.
inline result<bool> take_store(const environment& get, place& into) {
  const std::string store = text(get, "WEFT_STORE");
  if (const std::string job = text(get, "WEFT_JOB"); !job.empty()) into.job = job;
  if (into.job.size() > longest_key)
    return refused("WEFT_JOB has " + std::to_string(into.job.size()) + " bytes; it has at most " +
                   std::to_string(longest_key));
  if (store.empty()) return false;
  if (store.starts_with("file:")) {
    into.by = way::folder;
    into.folder = store.substr(5);
    if (into.folder.empty()) return refused("WEFT_STORE is \"file:\": it needs a folder, as in file:/shared/weft");
    return true;
  }
  if (store.starts_with(etcd_scheme)) {
    const auto found = etcd_address_of(store);
    if (!found) return refused("WEFT_STORE is \"" + store + "\": it must be " + etcd_form);
    into.by = way::etcd;
    into.etcd = *found;
    return true;
  }
  const auto at = endpoint_of(store);
  if (!at) return refused("WEFT_STORE is \"" + store + "\": it must be " + store_forms);
  into.stores = {*at};
  const std::string listener = text(get, "WEFT_STORE_FD");
  if (listener.empty() || into.rank != 0) return true;
  const auto number = number_of(listener, 1U << 20U);
  int listens = 0;
  socklen_t size = sizeof listens;
  if (!number || getsockopt(static_cast<int>(*number), SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0)
    return refused("WEFT_STORE_FD is \"" + listener + "\": that is no listening socket");
  into.listener = static_cast<int>(*number);
  return true;
}

inline void take_ports(place& into, const std::string& host, std::uint32_t first) {
  for (std::uint32_t i = 0; i < ports_per_job; ++i)
    into.stores.push_back({host, static_cast<std::uint16_t>(1024 + (first - 1024 + i) % (65536 - 1024))});
}

/// The first host of Slurm's list: "n[01-04,7],m1" begins with n01.
inline std::string first_host(const std::string& list) {
  const std::size_t bracket = list.find_first_of("[,");
  if (bracket == std::string::npos || list[bracket] == ',') return list.substr(0, bracket);
  const std::size_t number = list.find_first_of("-,]", bracket);
  const std::size_t end = list.find(']', bracket);
  if (number == std::string::npos || end == std::string::npos) return {};
  return list.substr(0, bracket) + list.substr(bracket + 1, number - bracket - 1) +
         list.substr(end + 1, list.find(',', end) - end - 1);
}

inline result<place> by_weft(const environment& get) {
  auto made = counted(get, "WEFT_RANK", "WEFT_SIZE");
  if (!made) return made;
  auto stored = take_store(get, *made);
  if (!stored) return std::move(stored).error();
  if (!*stored && made->size > 1)
    return refused("WEFT_RANK and WEFT_SIZE are set, and WEFT_STORE is not: it must be " + std::string(store_forms));
  if (!*stored) made->by = way::alone;
  made->reason = "WEFT_RANK is set: " + ordinal(*made);
  return made;
}

inline result<place> by_slurm(const environment& get) {
  auto made =
      counted(get, "SLURM_PROCID", get("SLURM_STEP_NUM_TASKS") != nullptr ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS");
  if (!made) return made;
  const std::string job = text(get, "SLURM_JOB_ID");
  const std::string step = text(get, "SLURM_STEP_ID");
  made->job = "slurm-" + job + "." + step;
  made->reason = "a step of Slurm: " + ordinal(*made);
  auto stored = take_store(get, *made);
  if (!stored) return std::move(stored).error();
  if (*stored) return made;
  const std::string nodes = text(get, get("SLURM_STEP_NODELIST") != nullptr ? "SLURM_STEP_NODELIST" : "SLURM_NODELIST");
  const std::string host = first_host(nodes);
  const auto number = number_of(job, 0xffffffff);
  if (host.empty() || !number)
    return refused("SLURM_STEP_NODELIST is \"" + nodes + "\" and SLURM_JOB_ID is \"" + job +
                   "\": weft finds no host in them; set WEFT_STORE to host:port");
  take_ports(*made, host, 20000 + (*number * 131 + number_of(step, 0xffffffff).value_or(0) * 17) % 12000);
  return made;
}

/// torchrun's agent, or the program's own collectives, hold MASTER_PORT. The store takes one of the ports after it.
inline result<place> by_torchrun(const environment& get) {
  auto made = counted(get, "RANK", "WORLD_SIZE");
  if (!made) return made;
  const std::string host = text(get, "MASTER_ADDR");
  const std::string port = text(get, "MASTER_PORT");
  made->job =
      "torchrun-" + text(get, "TORCHELASTIC_RUN_ID") + "-" + port + "-" + text(get, "TORCHELASTIC_RESTART_COUNT");
  made->job.resize(std::min(made->job.size(), longest_key));
  made->reason = "torchrun's RANK, WORLD_SIZE and MASTER_ADDR are set: " + ordinal(*made);
  auto stored = take_store(get, *made);
  if (!stored) return std::move(stored).error();
  if (*stored) return made;
  const auto number = number_of(port, 65535);
  if (host.empty() || !number || *number < 1024)
    return refused("MASTER_ADDR is \"" + host + "\" and MASTER_PORT is \"" + port +
                   "\": they must be a host and a port from 1024 to 65535");
  take_ports(*made, host, *number + 1);
  return made;
}

/// The number after the last '-' of a pod's name, as a StatefulSet numbers its pods.
inline std::string ordinal_of_pod(const environment& get) {
  if (const std::string index = text(get, "JOB_COMPLETION_INDEX"); !index.empty()) return index;
  const std::string host = text(get, "HOSTNAME");
  const std::size_t dash = host.rfind('-');
  if (text(get, "KUBERNETES_SERVICE_HOST").empty() || dash == std::string::npos) return {};
  const std::string number = host.substr(dash + 1);
  return number_of(number, most_ranks) ? number : "";
}

inline result<place> by_pod(const environment& get, const std::string& number) {
  const auto with_rank = [&](const char* name) { return std::string_view(name) == "pod" ? number.c_str() : get(name); };
  if (text(get, "WEFT_SIZE").empty() || text(get, "WEFT_STORE").empty())
    return refused("this is pod " + number + " of a set, and WEFT_SIZE or WEFT_STORE is not set: the manifest gives" +
                   " the number of pods, and POD-0.SERVICE:7470");
  auto made = counted(with_rank, "pod", "WEFT_SIZE");
  if (!made) return refused("the ordinal of this pod: " + made.error().sentence);
  auto stored = take_store(get, *made);
  if (!stored) return std::move(stored).error();
  made->reason = "the ordinal of this pod: " + ordinal(*made);
  return made;
}

}  // namespace detail

/// Reads the variables. `has_pmix`: this program can speak to PMIx. Errors: invalid, with the variable and what would
/// be right.
inline result<place> find_place(const environment& get, bool has_pmix) {
  const auto has = [&get](const char* name) { return get(name) != nullptr; };
  if (has("WEFT_RANK")) return detail::by_weft(get);
  const bool in_step = has("SLURM_PROCID") && has("SLURM_STEP_ID");
  if (has("PMIX_NAMESPACE") && has("PMIX_RANK")) {
    if (has_pmix) {
      place made;
      made.by = way::pmix;
      return made;
    }
    if (!in_step)
      return detail::refused("the launcher speaks PMIx, and this program was built without it: install libpmix-dev" +
                             std::string(", and build the program again"));
  }
  if (in_step) return detail::by_slurm(get);
  if (has("RANK") && has("WORLD_SIZE") && has("MASTER_ADDR")) return detail::by_torchrun(get);
  if (const std::string number = detail::ordinal_of_pod(get);
      !number.empty() && (has("WEFT_SIZE") || has("WEFT_STORE")))
    return detail::by_pod(get, number);
  for (const char* name : {"WEFT_SIZE", "WEFT_STORE"})
    if (has(name))
      return detail::refused(std::string(name) + " is set, and WEFT_RANK is not: each process needs its rank");
  place made;
  made.reason = "no launcher: WEFT_RANK, PMIX_RANK, SLURM_STEP_ID, RANK and JOB_COMPLETION_INDEX are not set: alone";
  return made;
}

}  // namespace weft::jobs
