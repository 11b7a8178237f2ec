// SPDX-License-Identifier: Apache-2.0
//
// Histories as files: records are read as they were written; a file that is no history is refused with a sentence.
#include "../../history/file.hpp"
#include "../../history/recorder.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace weft::history {
namespace {

class files : public testing::Test {
 protected:
  std::string path = testing::TempDir() + "weft_history_" + std::to_string(::getpid());
  ~files() override { std::remove(path.c_str()); }

  static std::vector<record> some() {
    recorder reported(7);
    const auto id = reported.posted(work::put_notify, 3, instant(duration(-5)), instant(duration(1'000)),
                                    0xfedcba9876543210, const_bytes{});
    reported.ended(id, instant(duration(9)), errc::native, 4);
    reported.guard(instant(duration(10)), 0xffffffff, const_bytes{}, const_bytes{});
    reported.finished(instant(duration(11)));
    return reported.records();
  }
  void put(const std::string& text) const {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    ASSERT_EQ(std::fwrite(text.data(), 1, text.size(), file), text.size());
    std::fclose(file);
  }
};

TEST_F(files, records_are_read_as_they_were_written) {
  ASSERT_TRUE(write_file(path, some()));
  const auto again = read_file(path);
  ASSERT_TRUE(again);
  EXPECT_EQ(*again, some());
}

TEST_F(files, a_killed_writer_leaves_whole_records) {
  ASSERT_TRUE(write_file(path, some()));
  ASSERT_EQ(::truncate(path.c_str(), 16 + 2 * 56 + 30), 0);
  const auto again = read_file(path);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->size(), 2U);
}

TEST_F(files, other_files_are_refused) {
  EXPECT_FALSE(read_file(path));
  put("hello, this is no history at all");
  const auto read = read_file(path);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().sentence.find("not a history of version 1"), std::string::npos);
}

TEST_F(files, a_bad_record_is_refused_with_its_number) {
  std::string text(file_heading.begin(), file_heading.end());
  text += std::string(56, '\0') + std::string(56, '\xff');
  put(text);
  const auto read = read_file(path);
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().sentence.find("record 1 is invalid"), std::string::npos) << read.error().sentence;
}

TEST_F(files, a_missing_folder_is_an_error) {
  const auto wrote = write_file("/nonexistent/history", some());
  ASSERT_FALSE(wrote);
  EXPECT_NE(wrote.error().sentence.find("/nonexistent/history"), std::string::npos);
}

}  // namespace
}  // namespace weft::history
