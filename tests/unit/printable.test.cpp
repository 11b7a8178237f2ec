// SPDX-License-Identifier: Apache-2.0
//
// Text of peers before it becomes part of a sentence (core/printable.hpp).
#include <weft/compose/connecting/compatibility.hpp>
#include <weft/core/printable.hpp>

#include <gtest/gtest.h>

#include <string>

namespace weft {
namespace {

TEST(printable, plain_text_and_well_formed_utf8_stay) {
  for (const char* text : {"", "worker 7 is busy: try again", "für später", "日本語", "🙂 ok", "a\\b'\"~"})
    EXPECT_EQ(printable(text), text);
}

TEST(printable, control_characters_and_escape_sequences_do_not_pass) {
  EXPECT_EQ(printable("\x1b[2J\x1b]0;title\x07"), "?[2J?]0;title?");
  EXPECT_EQ(printable("a\r\nb\tc\bd\x7f"), "a??b?c?d?");
  EXPECT_EQ(printable(std::string("a\0b", 3)), "a?b");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "?31m")
      << "C1 control characters begin sequences too";
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "txt.exe"),
            "?txt.exe")
      << "right-to-left override";
  EXPECT_EQ(printable("a\xe2\x80\xa8"
                      "b"),
            "a?b")
      << "line separator";
}

TEST(printable, bytes_that_are_no_utf8_are_replaced_one_by_one) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "?31m");
  EXPECT_EQ(printable("\xc3"), "?");
  EXPECT_EQ(printable("\xc3("), "?(");
  EXPECT_EQ(printable("\xc0\x9b"), "??") << "an overlong form";
  EXPECT_EQ(printable("\xe0\x82\x9b"), "???") << "an overlong form";
  EXPECT_EQ(printable("\xed\xa0\x80"), "???") << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????") << "beyond the last character";
  EXPECT_EQ(printable("\xff\xfe"), "??");
}

TEST(printable, no_byte_below_a_space_passes_in_any_text) {
  std::uint32_t draw = 1;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    for (int k = 0; k < 8; ++k) text += static_cast<char>((draw = draw * 1664525 + 1013904223) >> 24);
    for (const char c : printable(text))
      ASSERT_TRUE(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) << "text " << i;
    EXPECT_EQ(printable(printable(text)), printable(text));
  }
}

TEST(printable, words_of_a_foreign_build_are_printable) {
  wire::introduction theirs;
  const std::string fabric = "\x1b[31mtcp", shared = "notify=\x1b[0m";
  theirs.fabric = std::as_bytes(std::span(fabric));
  const detail::build_words ours{"tcp", "notify=immediate", 5};
  const std::string wrong = detail::incompatibility(ours, theirs, wire::parse_verdict::good, detail::asking::they);
  EXPECT_NE(wrong.find("?[31mtcp"), std::string::npos) << wrong;
  const std::string same = "tcp";
  theirs.fabric = std::as_bytes(std::span(same));
  theirs.shared = std::as_bytes(std::span(shared));
  const std::string other = detail::incompatibility(ours, theirs, wire::parse_verdict::good, detail::asking::they);
  EXPECT_NE(other.find("notify=?[0m"), std::string::npos) << other;
}

}  // namespace
}  // namespace weft
