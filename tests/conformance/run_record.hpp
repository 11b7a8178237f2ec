// SPDX-License-Identifier: Apache-2.0
//
// Properties of a run in its result file (--gtest_output=xml:...): the library and its release, and the time when the
// program was built. The file of an earlier run is removed first, so a run that dies leaves none. `weft conformance`
// then reports that the suite did not run. Hot path: no. Threads: the test program's.
#pragma once

#include "environment.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace weft::conformance {

class run_record final : public testing::Environment {
 public:
  /// The program's file, seen from tests/conformance/.
  static std::string source() {
    constexpr std::string_view folder = "tests/conformance/", file = __BASE_FILE__;
    const std::size_t at = file.rfind(folder);
    return std::string(at == std::string_view::npos ? file : file.substr(at + folder.size()));
  }

  void SetUp() override {
    const std::string output = GTEST_FLAG_GET(output);
    std::error_code ignored;
    if (output.starts_with("xml:")) std::filesystem::remove(output.substr(4), ignored);
    std::string library(tested::library);
    if (const library_version release = tested::built_with; release != library_version{})
      library += " " + std::to_string(release.major) + "." + std::to_string(release.minor);
    testing::Test::RecordProperty("library", library);
    testing::Test::RecordProperty("source", source());
    struct stat program {};
    if (::stat("/proc/self/exe", &program) == 0)
      testing::Test::RecordProperty("built", std::to_string(program.st_mtime));
  }
};

inline testing::Environment* const run_recorded = testing::AddGlobalTestEnvironment(new run_record);

}  // namespace weft::conformance
