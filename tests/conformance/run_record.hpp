// SPDX-License-Identifier: Apache-2.0
//
// What a run says of itself in its result file (--gtest_output=xml:...): the library and its release. A file of an earlier run goes first, so
// that a run which dies leaves none: `weft conformance` then says that it did not run, instead of believing the old one.
// Hot path: no. Threads: the test program's.
#pragma once

#include "stage.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace weft::conformance {

class run_record final : public testing::Environment {
 public:
  void SetUp() override {
    const std::string output = GTEST_FLAG_GET(output);
    std::error_code ignored;
    if (output.starts_with("xml:")) std::filesystem::remove(output.substr(4), ignored);
    std::string library(tested::library);
    if (const library_version release = tested::built_with; release != library_version{})
      library += " " + std::to_string(release.major) + "." + std::to_string(release.minor);
    testing::Test::RecordProperty("library", library);
  }
};

inline testing::Environment* const run_recorded = testing::AddGlobalTestEnvironment(new run_record);

}  // namespace weft::conformance
