// SPDX-License-Identifier: Apache-2.0
//
// Which code an executor runs: its built-ins, and shared objects that clients ship. An object is taken only if its
// SHA-256 is on the list that the executor was told to trust, and it is kept in one folder, under its hash. It is
// loaded from a sealed memory file (memfd_create(2), F_SEAL_WRITE): what was hashed is what runs, whoever changes the
// folder meanwhile. No name of a client ever becomes a path. Hot path: no. Threads: any, one at a time (a lock).
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
/// 128 bits that nobody guesses.
token random_token();

/// What is trusted, and where it is kept. An empty folder: nothing is taken.
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
  /// The functions of an object that is loaded already, or kept in the folder. The table lives as long as the library.
  /// Errors: denied (not trusted), unreachable (not in the folder), invalid (not what its name says, or no object of
  /// functions).
  result<const function_table*> load(const digest& object);
  /// Takes an object that was shipped. Errors: denied (not trusted, or other bytes than announced), native (the
  /// folder).
  result<void> keep(const digest& object, const_bytes contents);

 private:
  struct loaded {
    digest object{};
    int memory =
        -1;  // stays open: the loader knows objects by their path, and a number used again would be taken for this one
    void* handle = nullptr;
    function_table functions;
  };
  result<int> sealed_copy(const digest& object) const;
  static result<void> read_manifest(loaded& l);

  function_table built_ins_;
  trust trust_;
  std::mutex lock_;
  std::deque<loaded> loaded_;  // addresses stay
};

}  // namespace weft::invocation
