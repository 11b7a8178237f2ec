// SPDX-License-Identifier: Apache-2.0
//
// The file of --announce (examples/announcement.hpp).
#include <announcement.hpp>

#include <gtest/gtest.h>

#include <unistd.h>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace weft::examples {
namespace {

namespace files = std::filesystem;

class announcing : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = testing::TempDir() + "weft-announce-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
  }
  void TearDown() override { files::remove_all(folder); }
  static std::string text_of(const files::path& file) {
    std::ostringstream all;
    all << std::ifstream(file).rdbuf();
    return all.str();
  }
  files::path folder;
};

TEST_F(announcing, writes_a_new_file_and_replaces_an_old_one) {
  const files::path file = folder / "address";
  EXPECT_EQ(announce(file, "one\n"), "");
  EXPECT_EQ(text_of(file), "one\n");
  EXPECT_EQ(announce(file, "two\n"), "");
  EXPECT_EQ(text_of(file), "two\n");
  EXPECT_EQ(std::distance(files::directory_iterator(folder), {}), 1) << "a draft is left";
}

TEST_F(announcing, follows_no_link) {
  const files::path victim = folder / "victim", link = folder / "address";
  std::ofstream(victim) << "precious";
  files::create_symlink(victim, link);
  EXPECT_NE(announce(link, "one\n").find("no regular file"), std::string::npos);
  EXPECT_EQ(text_of(victim), "precious");
}

TEST_F(announcing, follows_no_link_in_place_of_its_draft) {
  const files::path victim = folder / "victim", file = folder / "address";
  std::ofstream(victim) << "precious";
  files::create_symlink(victim, file.string() + "." + std::to_string(::getpid()) + ".part");
  EXPECT_NE(announce(file, "one\n"), "");
  EXPECT_EQ(text_of(victim), "precious");
  EXPECT_FALSE(files::exists(file));
}

TEST_F(announcing, names_the_reason_of_a_failure) {
  EXPECT_NE(announce(folder / "missing" / "address", "one\n").find("No such file"), std::string::npos);
  EXPECT_NE(announce(folder, "one\n").find("no regular file"), std::string::npos);
}

}  // namespace
}  // namespace weft::examples
