// SPDX-License-Identifier: Apache-2.0
//
// Sentences of statuses: every code has its own sentence, `again` gives its reason, and the library's number is kept.
#include <weft/core/describe.hpp>

#include <gtest/gtest.h>

#include <set>

namespace weft {
namespace {

constexpr std::size_t codes = static_cast<std::size_t>(errc::native) + 1;

TEST(describe, each_code_has_its_own_name_and_sentence) {
  std::set<std::string> names;
  std::set<std::string> sentences;
  for (std::size_t i = 0; i < codes; ++i) {
    const auto code = static_cast<errc>(i);
    EXPECT_NE(name_of(code), "unknown") << i;
    names.insert(std::string(name_of(code)));
    const std::string said = describe(error(code, "put"));
    EXPECT_EQ(said.rfind("put: " + std::string(name_of(code)) + ": ", 0), 0U) << said;
    EXPECT_EQ(said.find("no code"), std::string::npos) << said;
    sentences.insert(said);
  }
  EXPECT_EQ(names.size(), codes);
  EXPECT_EQ(sentences.size(), codes);
  EXPECT_EQ(name_of(static_cast<errc>(codes)), "unknown");
}

TEST(describe, each_code_but_ok_has_an_id_of_its_own_and_says_it) {
  std::set<std::string_view> ids;
  for (std::size_t i = 1; i < codes; ++i) {
    const auto code = static_cast<errc>(i);
    ids.insert(id_of(code));
    EXPECT_TRUE(describe(error(code, "put")).ends_with(" [" + std::string(id_of(code)) + "]")) << i;
  }
  EXPECT_EQ(ids.size(), codes - 1);
  EXPECT_EQ(id_of(errc::ok), "");
  EXPECT_EQ(id_of(static_cast<errc>(codes)), "");
}

TEST(no_value, has_the_id_of_its_sentence_or_else_of_its_code) {
  const status why = error(errc::unreachable, "connect");
  EXPECT_STREQ(no_value({why, "[::1] is away"}).what(), "weft: [::1] is away [WEFT-R005]");
  EXPECT_STREQ(no_value({why, "nobody there [WEFT-O006] (at [::1])"}).what(),
               "weft: nobody there [WEFT-O006] (at [::1])");
}

TEST(describe, again_says_its_reason) {
  std::set<std::string> sentences;
  for (const auto what :
       {waits_for::queue, waits_for::connection, waits_for::receive_slot, waits_for::operation_slot}) {
    const std::string said = describe(again(what, "send"));
    EXPECT_NE(said.find("make progress"), std::string::npos) << said;
    EXPECT_EQ(said.find("says"), std::string::npos) << "the reason of `again` is no library number: " << said;
    sentences.insert(said);
  }
  EXPECT_EQ(sentences.size(), 4U);
}

TEST(describe, the_librarys_error_number_and_origin_are_kept) {
  EXPECT_EQ(describe({errc::native, origin::libfabric, -22, "fi_write"}),
            "fi_write: native: the library reports an error that has no closer name (libfabric says -22) [WEFT-R015]");
  const std::string system = describe({errc::unreachable, origin::system, 111, "connect"});
  EXPECT_NE(system.find("the system says 111, Connection refused"), std::string::npos) << system;
  EXPECT_EQ(describe(error(errc::deadline, "")).rfind("deadline: ", 0), 0U);
  EXPECT_EQ(describe({errc::ok, origin::weft, 0, nullptr}), "ok: done");
}

TEST(describe, a_write_that_never_ends_names_its_key) {
  for (const char* call : {"put", "put_notify", "get"})
    EXPECT_NE(describe(error(errc::deadline, call)).find("key that is not valid"), std::string::npos) << call;
  for (const char* call : {"send", "until", ""})
    EXPECT_EQ(describe(error(errc::deadline, call)).find("key"), std::string::npos) << call;
}

TEST(describe, a_post_that_was_never_taken_says_why) {
  const status late{errc::deadline, origin::weft, static_cast<std::int32_t>(waits_for::receive_slot), "send"};
  EXPECT_EQ(late.carries(), number_meaning::waits_for);
  EXPECT_EQ(late.native(), 0);
  EXPECT_EQ(
      describe(late),
      "send: deadline: nothing was posted in the time given: the peer has not read enough of what was sent before "
      "[WEFT-R009]");
}

TEST(a_status, says_which_of_its_three_numbers_it_carries) {
  const status full = again(waits_for::receive_slot, "send");
  EXPECT_EQ(full.carries(), number_meaning::waits_for);
  EXPECT_EQ(full.waits_for(), waits_for::receive_slot);
  EXPECT_EQ(full.native(), 0);
  EXPECT_EQ(full.receiver_bytes(), 0);
  const status large{errc::truncated, origin::weft, 4096, "send"};
  EXPECT_EQ(large.carries(), number_meaning::receiver_bytes);
  EXPECT_EQ(large.receiver_bytes(), 4096);
  EXPECT_EQ(large.waits_for(), waits_for::nothing);
  EXPECT_EQ(large.native(), 0);
  EXPECT_NE(describe(large).find("(4096 bytes)"), std::string::npos) << describe(large);
  const status other{errc::truncated, origin::libfabric, -265, "fi_recv"};
  EXPECT_EQ(other.carries(), number_meaning::native);
  EXPECT_EQ(other.native(), -265);
  EXPECT_EQ(other.receiver_bytes(), 0);
  EXPECT_EQ(error(errc::denied, "put").carries(), number_meaning::nothing);
}

TEST(require, throws_the_sentence_of_a_status_that_is_not_ok) {
  EXPECT_NO_THROW(require({}));
  try {
    require(error(errc::out_of_range, "put"));
    FAIL() << "nothing was thrown";
  } catch (const no_value& e) {
    EXPECT_STREQ(e.what(), "weft: put: out_of_range: the transfer leaves the region [WEFT-R003]");
  }
}

}  // namespace
}  // namespace weft
