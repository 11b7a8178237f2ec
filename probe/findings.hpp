// SPDX-License-Identifier: Apache-2.0
//
// The findings of a behaviour, fact by fact. Each fact leaves the process at once, as one line in a pipe (atomic below
// PIPE_BUF). A provider that crashes or hangs later loses only the rest. Hot path: no. Threads: one owner.
#pragma once

#include "refused.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace weft::probe {

/// The writing end: facts of one process.
class findings {
 public:
  explicit findings(int descriptor) : descriptor_(descriptor) {}

  /// Any of: bool, integer, text, list of texts.
  template <class Value>
  void fact(const std::string& name, Value&& value) const {
    line({{"fact", name}, {"value", std::forward<Value>(value)}});
  }
  /// The behaviour ended here, with the reason.
  void refusal(const std::string& side, const refused& why) const;
  /// The side did all of its part. A process that leaves without this line was ended by the library.
  void over(const std::string& side) const { line({{"over", side}}); }

 private:
  void line(const nlohmann::json& content) const;
  int descriptor_;
};

}  // namespace weft::probe
