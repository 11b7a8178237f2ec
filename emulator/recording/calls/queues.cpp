// SPDX-License-Identifier: Apache-2.0
//
// Completion queues, counters and poll sets (fi_cq(3), fi_cntr(3), fi_poll(3)).
#include "entries.hpp"
#include "polling.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>

namespace weft::recording {
namespace {

bool without_news(std::int64_t answer) { return answer == -FI_EAGAIN || answer == 0; }

// ---- completions
std::size_t size_of_entry(fi_cq_format format) {
  switch (format) {
    case FI_CQ_FORMAT_MSG:
      return sizeof(fi_cq_msg_entry);
    case FI_CQ_FORMAT_DATA:
      return sizeof(fi_cq_data_entry);
    case FI_CQ_FORMAT_TAGGED:
      return sizeof(fi_cq_tagged_entry);
    default:
      return sizeof(fi_cq_entry);
  }
}

/// The formats are prefixes of the longest one.
completion read_entry(const std::byte* at, fi_cq_format format) {
  fi_cq_tagged_entry entry{};
  std::memcpy(&entry, at, size_of_entry(format));
  completion of;
  of.context = entry.op_context;
  of.flags = entry.flags;
  of.length = entry.len;
  of.buffer = format >= FI_CQ_FORMAT_DATA ? entry.buf : nullptr;
  of.data = entry.data;
  of.tag = entry.tag;
  of.has_length = format >= FI_CQ_FORMAT_MSG;
  return of;
}
void write_entry(std::byte* at, fi_cq_format format, const completion& of) {
  const fi_cq_tagged_entry entry{of.context, of.flags, of.length, of.buffer, of.data, of.tag};
  std::memcpy(at, &entry, size_of_entry(format));
}

ssize_t take(poll_call& c, object& queue, void* into, std::size_t room, fi_addr_t* sources,
             std::optional<std::int64_t> news) {
  if (!news) return -FI_EAGAIN;
  const std::size_t step = size_of_entry(queue.format);
  if (*news > static_cast<std::int64_t>(room))
    c.impossible("the answer has more completions than the program has room");
  for (std::int64_t i = 0; i < *news && !c.quiet(); ++i) {
    std::byte* at = static_cast<std::byte*>(into) + static_cast<std::size_t>(i) * step;
    std::string word;
    if (!c.replays()) {
      completion of = read_entry(at, queue.format);
      if (sources != nullptr) of.source = sources[i];
      word = word_of_completion(of, queue, session::get().data_limit);
    }
    c.out_word("entry" + std::to_string(i), word);
    if (!c.replays()) continue;
    const completion of = completion_of_word(c, word);
    write_entry(at, queue.format, of);
    if (sources != nullptr) sources[i] = of.source;
  }
  return *news;
}

ssize_t read(fid_cq* q, void* into, std::size_t room) {
  poll_call c(of(q), "read");
  c.in("room", room);
  return take(c, of(q), into, room, nullptr, c.news([&] { return fi_cq_read(real(q), into, room); }, without_news));
}
ssize_t read_from(fid_cq* q, void* into, std::size_t room, fi_addr_t* sources) {
  poll_call c(of(q), "readfrom");
  c.in("room", room);
  return take(c, of(q), into, room, sources,
              c.news([&] { return fi_cq_readfrom(real(q), into, room, sources); }, without_news));
}
ssize_t wait_read(fid_cq* q, void* into, std::size_t room, const void* condition, int timeout) {
  poll_call c(of(q), "sread", timeout);
  c.in("room", room);
  return take(c, of(q), into, room, nullptr,
              c.news([&] { return fi_cq_sread(real(q), into, room, condition, timeout); }, without_news));
}
ssize_t wait_read_from(fid_cq* q, void* into, std::size_t room, fi_addr_t* sources, const void* condition,
                       int timeout) {
  poll_call c(of(q), "sreadfrom", timeout);
  c.in("room", room);
  return take(c, of(q), into, room, sources,
              c.news([&] { return fi_cq_sreadfrom(real(q), into, room, sources, condition, timeout); }, without_news));
}

ssize_t read_error(fid_cq* q, fi_cq_err_entry* into, std::uint64_t flags) {
  poll_call c(of(q), "readerr");
  c.hex("flags", flags);
  const std::size_t room = into->err_data_size;
  void* const place = into->err_data;
  const auto news = c.news([&] { return fi_cq_readerr(real(q), into, flags); }, without_news);
  if (!news) return -FI_EAGAIN;
  if (*news <= 0 || c.quiet()) return *news;
  std::string word;
  if (!c.replays()) {
    completion of{into->op_context, into->flags, into->len, into->buf, into->data, into->tag};
    word = word_of_completion(of, recording::of(q), session::get().data_limit);
  }
  c.out_word("entry0", word);
  if (c.replays()) {
    const completion of = completion_of_word(c, word);
    into->op_context = of.context;
    into->flags = of.flags;
    into->len = of.length;
    into->buf = of.buffer;
    into->data = of.data;
    into->tag = of.tag;
  }
  c.out("beyond", into->olen);
  c.out("err", into->err);
  c.out("prov_errno", into->prov_errno);
  static std::array<std::byte, 256> about{};  // what the library owns until the next error
  void* const kept = place != nullptr && room > 0 ? place : about.data();
  std::size_t size = into->err_data_size;
  if (c.replays()) into->err_data = kept;
  c.out_bytes("err_data", into->err_data, c.replays() ? (kept == place ? room : about.size()) : size, size, true);
  into->err_data_size = size;
  return *news;
}

int signal(fid_cq* q) {
  call c(&of(q), "signal");
  return static_cast<int>(c.answer([&] { return fi_cq_signal(real(q)); }));
}

const char* error_text(fid_cq* q, int code, const void* about, char* into, std::size_t size) {
  call c(&of(q), "strerror");
  c.in("code", static_cast<std::uint64_t>(static_cast<unsigned>(code)));
  std::string text;
  (void)c.answer([&] {
    const char* said = fi_cq_strerror(real(q), code, about, into, size);
    text = said == nullptr ? "" : word_of(said);
    return 0;
  });
  return kept_text(c, text, into, size);
}

// ---- counters
std::uint64_t read_counter(fid_cntr* by) {
  poll_call c(of(by), "read");
  object& o = of(by);
  const auto news = c.news([&] { return fi_cntr_read(real(by)); },
                           [&](std::int64_t n) { return static_cast<std::uint64_t>(n) == o.value; });
  if (news) o.value = static_cast<std::uint64_t>(*news);
  return o.value;
}
std::uint64_t read_errors(fid_cntr* by) {
  poll_call c(of(by), "readerr");
  object& o = of(by);
  const auto news = c.news([&] { return fi_cntr_readerr(real(by)); },
                           [&](std::int64_t n) { return static_cast<std::uint64_t>(n) == o.errors; });
  if (news) o.errors = static_cast<std::uint64_t>(*news);
  return o.errors;
}
int wait(fid_cntr* by, std::uint64_t threshold, int timeout) {
  poll_call c(of(by), "wait", timeout == 0 ? 1 : timeout);
  c.in("threshold", threshold);
  const auto news = c.news([&] { return fi_cntr_wait(real(by), threshold, timeout); },
                           [](std::int64_t n) { return n == -FI_ETIMEDOUT; });
  return static_cast<int>(news.value_or(-FI_ETIMEDOUT));
}
template <int (*Change)(fid_cntr*, std::uint64_t)>
int change(const char* verb, fid_cntr* by, std::uint64_t value) {
  call c(&of(by), verb);
  c.in("value", value);
  return static_cast<int>(c.answer([&] { return Change(real(by), value); }));
}
int add(fid_cntr* by, std::uint64_t value) { return change<fi_cntr_add>("add", by, value); }
int set(fid_cntr* by, std::uint64_t value) { return change<fi_cntr_set>("set", by, value); }
int add_errors(fid_cntr* by, std::uint64_t value) { return change<fi_cntr_adderr>("adderr", by, value); }
int set_errors(fid_cntr* by, std::uint64_t value) { return change<fi_cntr_seterr>("seterr", by, value); }

// ---- poll sets
int poll(fid_poll* by, void** contexts, int count) {
  poll_call c(of(by), "poll");
  c.in("room", static_cast<std::uint64_t>(std::max(count, 0)));
  const auto news = c.news([&] { return fi_poll(real(by), contexts, count); }, [](std::int64_t n) { return n == 0; });
  if (!news) return 0;
  if (*news > count) c.impossible("the answer has more objects than the program has room for");
  for (std::int64_t i = 0; i < *news; ++i) {
    std::string word = c.replays() ? "" : context_word(contexts[i], {});
    c.out_word("object" + std::to_string(i), word);
    if (c.replays()) contexts[i] = context_of(fields(c, "of:" + word));
  }
  return static_cast<int>(*news);
}
int poll_add(fid_poll* by, fid* member, std::uint64_t flags) {
  call c(&of(by), "add");
  c.word("member", name_of(member)).hex("flags", flags);
  return static_cast<int>(c.answer([&] { return fi_poll_add(real(by), real_of(member), flags); }));
}
int poll_delete(fid_poll* by, fid* member, std::uint64_t flags) {
  call c(&of(by), "del");
  c.word("member", name_of(member)).hex("flags", flags);
  return static_cast<int>(c.answer([&] { return fi_poll_del(real(by), real_of(member), flags); }));
}

}  // namespace

const char* kept_text(call& c, std::string& word, char* into, std::size_t size) {
  c.out_word("text", word);
  bool bad = false;
  const std::string text = text_of(word, bad);
  if (bad) c.impossible("\"" + word.substr(0, 40) + "\" is no text");
  if (into != nullptr && size > 0) {
    const std::size_t n = std::min(size - 1, text.size());
    std::memcpy(into, text.data(), n);
    into[n] = '\0';
  }
  static auto& all = *new std::set<std::string>;
  return all.insert(text).first->c_str();
}

fi_ops_cq queue_calls{sizeof(fi_ops_cq), read, read_from, read_error, wait_read, wait_read_from, signal, error_text};
fi_ops_cntr counter_calls{sizeof(fi_ops_cntr), read_counter, read_errors, add, set, wait, add_errors, set_errors};
fi_ops_poll poll_calls{sizeof(fi_ops_poll), poll, poll_add, poll_delete};

}  // namespace weft::recording
