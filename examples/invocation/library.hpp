// SPDX-License-Identifier: Apache-2.0
//
// Code that an executor runs: its built-ins, and shared objects that clients send. An object is accepted only if its
// SHA-256 is on the executor's list of trusted hashes. It is kept in one folder, under its hash.
// An object is loaded from a sealed memory file (memfd_create(2), F_SEAL_WRITE): the hashed bytes are the bytes that
// run, even if the folder changes. No client's text ever becomes a path. Hot path: no. Threads: any, one at a time (a
// lock).
#pragma once

#include "functions.hpp"
#include "messages.hpp"

#include <weft/core/error.hpp>

#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace weft::invocation {

inline constexpr std::size_t largest_object = std::size_t{16} << 20;

digest sha256(const_bytes of);
std::string hex(const_bytes of);
/// 64 hexadecimal digits.
std::optional<digest> parse_digest(std::string_view text);
/// 32 hexadecimal digits.
std::optional<token> parse_token(std::string_view text);
/// 128 random bits.
token random_token();

/// Trusted hashes, and the folder of objects. Without a folder no object is accepted.
struct trust {
  std::string folder;
  std::vector<digest> objects;
};

class function_library {
 public:
  explicit function_library(function_table built_ins, trust trusted = {})
      : built_ins_(std::move(built_ins)), trust_(std::move(trusted)) {}
  function_library(const function_library&) = delete;
  function_library& operator=(const function_library&) = delete;

  const function_table& built_ins() const noexcept { return built_ins_; }
  bool trusts(const digest& object) const noexcept;
  /// Whether the folder has a file of this object.
  bool has(const digest& object) const noexcept;
  /// Copies an object of the folder into sealed memory, for load(). A confined process makes no memory files, so it
  /// calls this before. Errors: as load(), but whether it is an object of functions is not known yet.
  result<void> prepare(const digest& object);
  /// The functions of an object that is loaded already, or kept in the folder. The table lives as long as the library.
  /// Errors: denied (not trusted), unreachable (not in the folder), invalid (other bytes than its hash, or no object of
  /// functions).
  result<const function_table*> load(const digest& object);
  /// Stores an object from a client. Errors: denied (not trusted, or bytes that differ from the hash), native (the
  /// folder).
  result<void> keep(const digest& object, const_bytes contents);

 private:
  struct loaded {
    digest object{};
    int memory =
        // stays open: the loader identifies objects by path, and a reused descriptor number would look like this one
        -1;
    void* handle = nullptr;  ///< None before load().
    function_table functions;
  };
  /// Requires: the lock.
  result<loaded*> prepared(const digest& object);
  result<int> sealed_copy(const digest& object) const;
  static result<void> read_manifest(loaded& l);

  function_table built_ins_;
  trust trust_;
  std::mutex lock_;
  std::deque<loaded> loaded_;  // addresses stay
};

}  // namespace weft::invocation
