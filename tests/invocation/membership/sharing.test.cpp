// SPDX-License-Identifier: Apache-2.0
//
// What a manager says about the others, as a client reads it. Both texts come from a peer, so anything may stand there.
#include <invocation/membership/sharing.hpp>

#include <gtest/gtest.h>

namespace {

using namespace weft::invocation;

TEST(redirections, are_found_in_the_sentence_of_a_refusal) {
  const std::string refusal = "n1:7480 refused the connection: " + std::string(redirection) + "10.7.0.12:7480";
  EXPECT_EQ(redirected_to(refusal + " [WEFT-O007]"), "10.7.0.12:7480");
  EXPECT_EQ(redirected_to(refusal), "10.7.0.12:7480");
  EXPECT_FALSE(redirected_to("n1:7480 refused the connection: busy, try later [WEFT-O007]"));
  EXPECT_FALSE(redirected_to(std::string(redirection)));
  EXPECT_FALSE(redirected_to(std::string(redirection) + std::string(256, 'a')));
}

TEST(redirections, lists_of_managers_have_a_line_each) {
  EXPECT_EQ(addresses_in("a:1\nb:2\n"), (std::vector<std::string>{"a:1", "b:2"}));
  EXPECT_EQ(addresses_in("a:1"), std::vector<std::string>{"a:1"});
  EXPECT_TRUE(addresses_in("").empty());
  EXPECT_TRUE(addresses_in("\n\n").empty());
  EXPECT_EQ(addresses_in(std::string(256, 'a') + "\nb:2\n"), std::vector<std::string>{"b:2"});
}

}  // namespace
