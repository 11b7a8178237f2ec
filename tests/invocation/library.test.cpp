// SPDX-License-Identifier: Apache-2.0
//
// The trust rules of an executor: hashes, the folder, sealed copies, manifests. The first argument is the shared object
// of functions that the example builds.
#include <invocation/library.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace weft::invocation {
namespace {

namespace fs = std::filesystem;
std::string object_path;  // NOLINT: set once by main

std::vector<std::byte> contents_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(in)), {});
  const auto bytes_of = std::as_bytes(std::span(all));
  return {bytes_of.begin(), bytes_of.end()};
}
void put(const fs::path& path, const_bytes contents) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(contents.data()), static_cast<std::streamsize>(contents.size()));
}
std::vector<std::byte> bytes_of_text(std::string_view text) {
  const auto all = std::as_bytes(std::span(text));
  return {all.begin(), all.end()};
}

class invocation_library : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "weft-library-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder = name;
    object = contents_of(object_path);
    ASSERT_FALSE(object.empty()) << object_path;
    hash = sha256(object);
  }
  void TearDown() override { fs::remove_all(folder); }
  function_library trusting(std::vector<digest> hashes) {
    return function_library(built_in_functions(), {folder.string(), std::move(hashes)});
  }
  fs::path kept(const digest& d) const { return folder / (hex(d) + ".so"); }

  fs::path folder;
  std::vector<std::byte> object;
  digest hash{};
};

TEST_F(invocation_library, sha256_matches_the_standard) {
  EXPECT_EQ(hex(sha256(bytes_of_text("abc"))), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_F(invocation_library, digests_are_64_hexadecimal_digits) {
  EXPECT_EQ(parse_digest(hex(hash)), hash);
  for (const std::string& bad :
       {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'g'), "../" + std::string(61, 'a')})
    EXPECT_FALSE(parse_digest(bad)) << bad;
}

TEST_F(invocation_library, tokens_differ) { EXPECT_FALSE(same_token(random_token(), random_token())); }

TEST_F(invocation_library, a_trusted_object_stays_loaded_and_runs) {
  auto library = trusting({hash});
  EXPECT_EQ(library.load(hash).why().code, errc::unreachable) << "not sent yet";
  ASSERT_TRUE(library.keep(hash, object));
  const auto table = library.load(hash);
  ASSERT_TRUE(table) << table.error().sentence;
  EXPECT_EQ((*table)->names(), "negative\nthumbnail\n");
  const auto image = bytes_of_text(std::string("P6\n2 2\n255\n") + "aaabbbcccddd");
  std::vector<std::byte> out(64);
  const std::int64_t size = (*table)->at(1)(image.data(), static_cast<std::uint32_t>(image.size()), out.data(), 64);
  const std::string result(reinterpret_cast<const char*>(out.data()), static_cast<std::size_t>(size));
  EXPECT_EQ(result.substr(0, 11), "P6\n1 1\n255\n");
  EXPECT_EQ(result.size(), 14U);
  EXPECT_EQ(library.load(hash).value(), *table) << "loaded once";
}

TEST_F(invocation_library, a_prepared_object_needs_its_file_no_more) {
  auto library = trusting({hash});
  EXPECT_EQ(library.prepare(hash).why().code, errc::unreachable) << "not sent yet";
  ASSERT_TRUE(library.keep(hash, object));
  ASSERT_TRUE(library.prepare(hash));
  ASSERT_TRUE(library.prepare(hash)) << "the next worker";
  fs::remove(kept(hash));
  const auto table = library.load(hash);
  ASSERT_TRUE(table) << table.error().sentence;
  EXPECT_EQ((*table)->names(), "negative\nthumbnail\n");
}

TEST_F(invocation_library, nothing_is_trusted_without_a_list_or_a_folder) {
  EXPECT_EQ(trusting({}).load(hash).why().code, errc::denied);
  EXPECT_EQ(trusting({}).keep(hash, object).why().code, errc::denied);
  function_library nowhere(built_in_functions(), {"", {hash}});
  EXPECT_EQ(nowhere.keep(hash, object).why().code, errc::denied);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(invocation_library, bytes_that_differ_from_the_digest_are_not_kept) {
  auto library = trusting({hash});
  auto other = object;
  other[other.size() / 2] ^= std::byte{1};
  EXPECT_EQ(library.keep(hash, other).why().code, errc::denied);
  EXPECT_TRUE(fs::is_empty(folder));
}

TEST_F(invocation_library, a_changed_file_does_not_run) {
  ASSERT_TRUE(trusting({hash}).keep(hash, object));
  auto other = object;
  other.back() ^= std::byte{1};
  put(kept(hash), other);
  const auto loaded = trusting({hash}).load(hash);
  EXPECT_EQ(loaded.why().code, errc::invalid);
  EXPECT_NE(loaded.error().sentence.find("do not match its name"), std::string::npos);
}

TEST_F(invocation_library, a_link_in_the_folder_is_not_followed) {
  fs::create_symlink(object_path, kept(hash));
  EXPECT_EQ(trusting({hash}).load(hash).why().code, errc::unreachable);
}

TEST_F(invocation_library, a_folder_with_the_name_of_an_object_is_not_opened) {
  fs::create_directory(kept(hash));
  EXPECT_EQ(trusting({hash}).load(hash).why().code, errc::unreachable);
}

TEST_F(invocation_library, trusted_garbage_is_refused_with_a_sentence) {
  for (const auto& garbage :
       {bytes_of_text("no object at all"), std::vector<std::byte>(object.begin(), object.begin() + 100),
        bytes_of_text("\x7f"
                      "ELF and then nothing")}) {
    const digest d = sha256(garbage);
    auto library = trusting({d});
    ASSERT_TRUE(library.keep(d, garbage));
    const auto loaded = library.load(d);
    EXPECT_EQ(loaded.why().code, errc::invalid);
    EXPECT_NE(loaded.error().sentence.find("cannot be loaded"), std::string::npos);
  }
}

TEST_F(invocation_library, a_good_object_without_a_manifest_is_refused) {
  // Any shared object of the system: the C library has no such symbol.
  const fs::path libc = "/lib/x86_64-linux-gnu/libz.so.1";
  if (!fs::exists(libc)) GTEST_SKIP() << libc << " is not here";
  const auto other = contents_of(libc);
  const digest d = sha256(other);
  auto library = trusting({d});
  ASSERT_TRUE(library.keep(d, other));
  const auto loaded = library.load(d);
  EXPECT_EQ(loaded.why().code, errc::invalid);
  EXPECT_NE(loaded.error().sentence.find("weft_functions"), std::string::npos);
}

TEST_F(invocation_library, a_missing_folder_is_reported) {
  function_library library(built_in_functions(), {(folder / "absent").string(), {hash}});
  const auto kept_there = library.keep(hash, object);
  ASSERT_FALSE(kept_there);
  EXPECT_NE(kept_there.error().sentence.find("cannot be opened"), std::string::npos);
}

}  // namespace
}  // namespace weft::invocation

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) {
    std::fputs("usage: unit.invocation.library OBJECT\n", stderr);
    return 2;
  }
  weft::invocation::object_path = argv[1];
  return RUN_ALL_TESTS();
}
