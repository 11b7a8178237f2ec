// SPDX-License-Identifier: Apache-2.0
//
// Event queues (fi_eq(3)): connections come and go by them.
#include "entries.hpp"
#include "info_text.hpp"
#include "polling.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>

namespace weft::recording {
namespace {

bool without_news(std::int64_t answer) { return answer == -FI_EAGAIN || answer == 0; }

bool is_connection(std::uint32_t event) { return event == FI_CONNREQ || event == FI_CONNECTED || event == FI_SHUTDOWN; }

/// Connection requests by handle: the library's own while recording, made up while replaying.
std::unordered_map<const fid*, std::size_t>& requests() {
  static auto& the = *new std::unordered_map<const fid*, std::size_t>;
  return the;
}

/// The object of an event: its real handle becomes the program's.
void name_object(call& c, fid*& about) {
  object* own = c.replays() ? nullptr : of_real(about);
  std::string word = own != nullptr ? own->name : "-";
  c.out_word("about", word);
  if (c.replays()) own = named(word);
  about = own == nullptr ? (c.replays() ? nullptr : about) : &own->face.any;
}

void name_request(call& c, fi_eq_cm_entry& entry) {
  std::string text = text_of_info(entry.info);
  if (!c.replays() && entry.info != nullptr && entry.info->handle != nullptr)
    requests()[entry.info->handle] = requests().size() + 1;
  c.out_word("info", text);
  if (!c.replays()) return;
  std::string why;
  entry.info = text == "-" ? nullptr : info_of_text(text, why);
  if (!why.empty()) c.impossible(why);
  if (entry.info == nullptr) return;
  auto* request = new fid{FI_CLASS_CONNREQ, nullptr, nullptr};  // the program gives it back, and nobody frees it
  requests()[request] = requests().size() + 1;
  entry.info->handle = request;
}

ssize_t take(poll_call& c, std::uint32_t* event, void* into, std::size_t room, std::optional<std::int64_t> news) {
  if (!news) return -FI_EAGAIN;
  if (*news <= 0 || c.quiet()) return *news;
  if (*news > static_cast<std::int64_t>(room)) c.impossible("the answer is larger than the program has room for");
  c.out("event", *event);
  const auto size = static_cast<std::size_t>(*news);
  if (is_connection(*event) && size >= sizeof(fi_eq_cm_entry)) {
    auto& entry = *static_cast<fi_eq_cm_entry*>(into);
    if (c.replays()) entry = {};
    name_object(c, entry.fid);
    if (*event == FI_CONNREQ) name_request(c, entry);
    std::size_t data = size - sizeof(fi_eq_cm_entry);
    c.out_bytes("data", static_cast<std::byte*>(into) + sizeof(fi_eq_cm_entry), room - sizeof(fi_eq_cm_entry), data,
                true);
  } else if (size >= sizeof(fi_eq_entry)) {
    auto& entry = *static_cast<fi_eq_entry*>(into);
    if (c.replays()) entry = {};
    name_object(c, entry.fid);
    c.out("value", entry.data);
    if (c.replays() && entry.fid != nullptr) entry.context = entry.fid->context;
  }
  return *news;
}

ssize_t read(fid_eq* q, std::uint32_t* event, void* into, std::size_t room, std::uint64_t flags) {
  poll_call c(of(q), "read");
  c.in("room", room).hex("flags", flags);
  return take(c, event, into, room,
              c.news([&] { return fi_eq_read(real(q), event, into, room, flags); }, without_news));
}
ssize_t wait_read(fid_eq* q, std::uint32_t* event, void* into, std::size_t room, int timeout, std::uint64_t flags) {
  poll_call c(of(q), "sread", timeout);
  c.in("room", room).hex("flags", flags);
  return take(c, event, into, room,
              c.news([&] { return fi_eq_sread(real(q), event, into, room, timeout, flags); }, without_news));
}
ssize_t read_error(fid_eq* q, fi_eq_err_entry* into, std::uint64_t flags) {
  poll_call c(of(q), "readerr");
  c.hex("flags", flags);
  const auto news = c.news([&] { return fi_eq_readerr(real(q), into, flags); }, without_news);
  if (!news) return -FI_EAGAIN;
  if (*news <= 0 || c.quiet()) return *news;
  name_object(c, into->fid);
  c.out("value", into->data);
  c.out("err", into->err);
  c.out("prov_errno", into->prov_errno);
  static std::array<std::byte, 256> about{};  // what the library owns until the next error
  std::size_t size = into->err_data_size;
  if (c.replays() && (into->err_data == nullptr || size == 0)) into->err_data = about.data(), size = about.size();
  c.out_bytes("err_data", into->err_data, size, size, true);
  into->err_data_size = size;
  if (c.replays()) into->context = into->fid == nullptr ? nullptr : into->fid->context;
  return *news;
}
ssize_t write(fid_eq* q, std::uint32_t event, const void* from, std::size_t size, std::uint64_t flags) {
  call c(&of(q), "write");
  c.in("event", event).in("size", size).hex("flags", flags);
  return c.answer([&] { return fi_eq_write(real(q), event, from, size, flags); });
}
const char* error_text(fid_eq* q, int code, const void* about, char* into, std::size_t size) {
  call c(&of(q), "strerror");
  c.in("code", static_cast<std::uint64_t>(static_cast<unsigned>(code)));
  std::string text;
  (void)c.answer([&] {
    const char* said = fi_eq_strerror(real(q), code, about, into, size);
    text = said == nullptr ? "" : word_of(said);
    return 0;
  });
  return kept_text(c, text, into, size);
}

}  // namespace

std::string request_name(fid* handle) {
  if (handle == nullptr) return "-";
  if (const object* own = find(handle)) return own->name;
  const auto found = requests().find(handle);
  return found == requests().end() ? "other" : "request" + std::to_string(found->second);
}

fi_ops_eq event_calls{sizeof(fi_ops_eq), read, read_error, write, wait_read, error_text};

}  // namespace weft::recording
