// SPDX-License-Identifier: Apache-2.0
#include "entries.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace weft::recording {
namespace {

std::string hexadecimal(std::uint64_t n) {
  char text[24];  // NOLINT(modernize-avoid-c-arrays,cppcoreguidelines-avoid-c-arrays)
  (void)std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(n));
  return text;
}

bool ends(const posted& post, std::uint64_t flags) { return !post.many || (flags & FI_MULTI_RECV) != 0; }

/// Where the data of a completion are: a part of the post's buffers.
std::vector<iovec> place_of(const posted& post, const completion& of) {
  if (post.many && !post.into.empty() && of.buffer != nullptr) {
    auto* const begin = static_cast<std::byte*>(post.into.front().iov_base);
    auto* const at = static_cast<std::byte*>(of.buffer);
    const std::size_t room = post.into.front().iov_len;
    if (at < begin || at > begin + room) return {};
    return {{at, room - static_cast<std::size_t>(at - begin)}};
  }
  return post.into;
}

}  // namespace

fields::fields(const call& by, std::string_view word) : by_(by) {
  while (!word.empty()) {
    const std::string_view one = word.substr(0, word.find(';'));
    word = word.find(';') == std::string_view::npos ? std::string_view{} : word.substr(word.find(';') + 1);
    const auto colon = one.find(':');
    if (colon == std::string_view::npos) by.impossible("\"" + std::string(one.substr(0, 40)) + "\" is not name:value");
    all_.emplace(one.substr(0, colon), one.substr(colon + 1));
  }
}
std::uint64_t fields::number(std::string_view name) const {
  std::uint64_t n = 0;
  const auto found = all_.find(name);
  if (found != all_.end() && !number_of(found->second, n))
    by_.impossible("\"" + found->second.substr(0, 40) + "\" is not a number (" + std::string(name) + ')');
  return n;
}
std::string fields::word(std::string_view name) const {
  const auto found = all_.find(name);
  return found == all_.end() ? "-" : found->second;
}
std::string fields::bytes(std::string_view name) const {
  std::string bytes;
  const auto found = all_.find(name);
  if (found != all_.end() && !bytes_of(found->second, bytes))
    by_.impossible("\"" + found->second.substr(0, 40) + "\" are no bytes (" + std::string(name) + ')');
  return bytes;
}

std::string context_word(void* context, const posted& post) {
  if (post.line != 0) return std::to_string(post.line);
  if (context == nullptr) return "-";
  const std::string owner = owner_of_context(context);
  return owner.empty() ? hexadecimal(reinterpret_cast<std::uintptr_t>(context)) : owner;
}

void* context_of(const fields& from) {
  const std::string word = from.word("of");
  if (word == "-") return nullptr;
  std::uint64_t n = 0;
  if (number_of(word, n)) return word.starts_with("0x") ? reinterpret_cast<void*>(n) : post_of_line(n, false).context;
  const object* owner = named(word);
  return owner == nullptr ? nullptr : owner->face.any.context;
}

std::string word_of_completion(const completion& of, const object& queue, std::size_t data_limit) {
  posted post = post_of(of.context, of.flags, &queue);
  if (post.line != 0 && ends(post, of.flags)) (void)post_of_line(post.line, true);
  std::string word = "of:" + context_word(of.context, post);
  if (of.flags != 0) word += ";flags:" + hexadecimal(of.flags);
  if (of.length != 0) word += ";length:" + std::to_string(of.length);
  if (of.data != 0) word += ";data:" + hexadecimal(of.data);
  if (of.tag != 0) word += ";tag:" + hexadecimal(of.tag);
  if (of.source != FI_ADDR_NOTAVAIL) word += ";from:" + std::to_string(of.source);
  const std::vector<iovec> place = place_of(post, of);
  if (of.buffer != nullptr && !post.into.empty()) {
    const auto offset = static_cast<std::byte*>(of.buffer) - static_cast<std::byte*>(post.into.front().iov_base);
    if (offset >= 0 && static_cast<std::size_t>(offset) <= post.into.front().iov_len)
      word += ";offset:" + std::to_string(offset);
  }
  if (post.line == 0 || place.empty() || (of.flags & FI_REMOTE_WRITE) != 0) return word;
  std::size_t size = size_of(place);
  if (post.receives && of.has_length) size = std::min<std::size_t>(size, of.length);
  std::string bytes;
  gather(place, std::min(size, data_limit), bytes);
  if (size > data_limit) word += ";cut:" + std::to_string(size);
  return word + ";bytes:" + hex_of(bytes.data(), bytes.size());
}

completion completion_of_word(const call& by, std::string_view word) {
  const fields from(by, word);
  completion of;
  of.context = context_of(from);
  of.flags = from.number("flags");
  of.length = from.number("length");
  of.data = from.number("data");
  of.tag = from.number("tag");
  if (from.word("from") != "-") of.source = from.number("from");
  std::uint64_t line = 0;
  const std::string whose = from.word("of");
  if (whose.starts_with("0x") || !number_of(whose, line)) return of;
  posted post = post_of_line(line, false);
  if (post.line == 0) by.impossible("a completion is of line " + whose + ", which posted nothing that is open");
  if (ends(post, of.flags)) (void)post_of_line(line, true);
  if (from.word("offset") != "-" && !post.into.empty()) {
    const std::uint64_t offset = from.number("offset");
    if (offset > post.into.front().iov_len) by.impossible("a completion is outside of the buffer of line " + whose);
    of.buffer = static_cast<std::byte*>(post.into.front().iov_base) + offset;
  }
  const std::string bytes = from.bytes("bytes");
  const std::vector<iovec> place = place_of(post, of);
  if (bytes.size() > size_of(place)) by.impossible("a completion has more bytes than the buffers of line " + whose);
  scatter(place, bytes);
  if (from.word("cut") != "-") {
    static bool said = false;
    if (!std::exchange(said, true))
      (void)std::fprintf(stderr,
                         "weft replay: line %zu: the record keeps %zu of %s bytes; the rest of the buffer stays as "
                         "it was (record with --data)\n",
                         by.line(), bytes.size(), from.word("cut").c_str());
  }
  return of;
}

}  // namespace weft::recording
