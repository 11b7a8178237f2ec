// SPDX-License-Identifier: Apache-2.0
#include "posting.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <unordered_map>
#include <utility>

namespace weft::recording {
namespace {

constexpr std::size_t most_kept =
    65536;  ///< Posts of one context that never completed, before the oldest is forgotten.

struct open_posts {
  std::unordered_map<std::size_t, posted> by_line;
  std::unordered_map<void*, std::deque<std::size_t>> by_context;
  std::unordered_map<void*, std::size_t> silent;  ///< The last by each context: only an error names it.
};
open_posts& all() {
  static auto& the = *new open_posts;
  return the;
}

void forget(std::size_t line, void* context) {
  const auto lines = all().by_context.find(context);
  if (lines != all().by_context.end()) {
    std::erase(lines->second, line);
    if (lines->second.empty()) all().by_context.erase(lines);
  }
  all().by_line.erase(line);
}

bool fits(const posted& post, std::uint64_t flags, const object* queue) {
  if (queue != nullptr && post.queue != nullptr && post.queue != queue) return false;
  const bool receives = (flags & (FI_RECV | FI_REMOTE_WRITE | FI_REMOTE_READ)) != 0;
  return flags == 0 || post.receives == receives;  // not every format of a queue has flags
}

}  // namespace

posted post_of(void* context, std::uint64_t flags, const object* queue) {
  const auto lines = all().by_context.find(context);
  if (lines != all().by_context.end())
    for (const std::size_t line : lines->second)
      if (fits(all().by_line[line], flags, queue)) return post_of_line(line, false);
  const auto silent = all().silent.find(context);
  return silent != all().silent.end() ? post_of_line(silent->second, false) : posted{};
}

void forget_posts_of(const object& endpoint) {
  for (auto each = all().by_line.begin(); each != all().by_line.end();) {
    const auto [line, post] = *each++;
    if (post.endpoint == &endpoint) forget(line, post.context);
  }
}

posted post_of_line(std::size_t line, bool ends) {
  const auto found = all().by_line.find(line);
  if (found == all().by_line.end()) return {};
  const posted post = found->second;
  if (ends) forget(line, post.context);
  return post;
}

std::size_t size_of(const std::vector<iovec>& all) {
  std::size_t sum = 0;
  for (const iovec& each : all) sum += each.iov_len;
  return sum;
}
void gather(const std::vector<iovec>& from, std::size_t size, std::string& into) {
  for (const iovec& each : from) {
    const std::size_t n = std::min(each.iov_len, size - into.size());
    if (n > 0) into.append(static_cast<const char*>(each.iov_base), n);
  }
}
void scatter(const std::vector<iovec>& into, const std::string& bytes) {
  std::size_t done = 0;
  for (const iovec& each : into) {
    const std::size_t n = std::min(each.iov_len, bytes.size() - done);
    if (n > 0) std::memcpy(each.iov_base, bytes.data() + done, n);
    done += n;
  }
}

post_call& post_call::flags(std::uint64_t flags) {
  what_.completes = !endpoint_.selective || (flags & FI_COMPLETION) != 0;
  what_.many = (flags & FI_MULTI_RECV) != 0;
  without_data_ = (flags & (FI_PEEK | FI_DISCARD)) != 0;
  return hex("flags", flags), *this;
}
post_call& post_call::buffer(const void* from, std::size_t size, void* descriptor) {
  buffers_.push_back({const_cast<void*>(from), size});
  word("size", std::to_string(size));
  return word("region", descriptor_name(descriptor)), *this;
}
post_call& post_call::buffers(const iovec* from, std::size_t count, void** descriptors) {
  std::string sizes;
  std::string regions;
  for (std::size_t i = 0; i < count; ++i) {
    buffers_.push_back(from[i]);
    (sizes += i == 0 ? "" : ",") += std::to_string(from[i].iov_len);
    (regions += i == 0 ? "" : ",") += descriptor_name(descriptors == nullptr ? nullptr : descriptors[i]);
  }
  word("size", sizes.empty() ? "-" : sizes);
  return word("region", regions.empty() ? "-" : regions), *this;
}
post_call& post_call::takes(bool receives) {
  what_.receives = receives;
  if (receives && (endpoint_.post_flags & FI_MULTI_RECV) != 0) what_.many = true;
  what_.into = std::exchange(buffers_, {});
  if (without_data_) what_.into.clear();
  return *this;
}
post_call& post_call::result(void* into, std::size_t size) {
  what_.into.push_back({into, size});
  return *this;
}
post_call& post_call::to(fi_addr_t peer) {
  if (peer == FI_ADDR_UNSPEC) word("peer", "-");
  else in("peer", peer);
  return *this;
}
post_call& post_call::remote(std::uint64_t address, std::uint64_t key) {
  word("at", remote_address(address, key));
  return hex("key", key), *this;
}
post_call& post_call::remotes(const fi_rma_iov* all, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    remote(all[i].addr, all[i].key);
    in("length", all[i].len);
  }
  return *this;
}
post_call& post_call::data(std::uint64_t data) { return hex("data", data), *this; }
post_call& post_call::tag(std::uint64_t tag) { return hex("tag", tag), *this; }
post_call& post_call::ignore(std::uint64_t ignore) { return hex("ignore", ignore), *this; }

void post_call::keep() {
  what_.line = line();
  what_.endpoint = &endpoint_;
  what_.queue = what_.receives ? endpoint_.receive_queue : endpoint_.transmit_queue;
  if (!replays_ && !buffers_.empty()) {  // what is sent is for readers: a replay does not compare it
    std::string bytes;
    gather(buffers_, std::min(size_of(buffers_), session_.data_limit), bytes);
    note("sent", hex_of(bytes.data(), bytes.size()));
  }
  if (silent_ || quiet()) return;
  if (!what_.completes && !what_.receives) {
    if (const auto old = all().silent.find(what_.context); old != all().silent.end()) all().by_line.erase(old->second);
    all().silent[what_.context] = what_.line;
  } else {
    auto& lines = all().by_context[what_.context];
    lines.push_back(what_.line);
    if (lines.size() > most_kept) forget(lines.front(), what_.context);
  }
  all().by_line[what_.line] = std::move(what_);
}

}  // namespace weft::recording
