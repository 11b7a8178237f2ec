// SPDX-License-Identifier: Apache-2.0
//
// Completions as words of a record: "of" names the line that posted the operation, then come the fields that the
// queue's format has, and the data that arrived. Hot path: no. Threads: the caller holds the session's lock.
#pragma once

#include "posting.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace weft::recording {

/// One completion, whatever the format.
struct completion {
  void* context = nullptr;
  std::uint64_t flags = 0;
  std::uint64_t length = 0;
  void* buffer = nullptr;
  std::uint64_t data = 0;
  std::uint64_t tag = 0;
  fi_addr_t source = FI_ADDR_NOTAVAIL;
  bool has_length = true;  ///< The format tells flags and length.
};

/// The fields of a word such as "of:17;flags:0x802".
class fields {
 public:
  fields(const call& by, std::string_view word);
  std::uint64_t number(std::string_view name) const;
  /// "-" where it is missing.
  std::string word(std::string_view name) const;
  std::string bytes(std::string_view name) const;

 private:
  const call& by_;
  std::map<std::string, std::string, std::less<>> all_;
};

std::string context_word(void* context, const posted& post);
/// The context in this process of what the word says.
void* context_of(const fields& from);
/// While recording: the word of a completion. The post ends with it.
std::string word_of_completion(const completion& of, const object& queue, std::size_t data_limit);
/// While replaying: the completion of a word. The data go where the program wanted them.
completion completion_of_word(const call& by, std::string_view word);

}  // namespace weft::recording
