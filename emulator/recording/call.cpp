// SPDX-License-Identifier: Apache-2.0
#include "call.hpp"

#include "objects.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>

namespace weft::recording {

call::call(const object* on, std::string_view verb)
    : session_(session::get()),
      hold_(session_.lock),
      replays_(session_.how() == mode::replaying),
      call_((on == nullptr ? std::string("process") : on->name) + '.' + std::string(verb)) {}

call::~call() {
  if (replays_ || quiet() || line_ == 0) return;
  const std::uint64_t took = session_.now_ns() - began_ns_;
  session_.end_line(" = " + std::to_string(answer_) + results_ + " took=" + seconds_of(took));
}

call& call::in(std::string_view name, std::uint64_t number) { return word(name, std::to_string(number)); }
call& call::hex(std::string_view name, std::uint64_t number) {
  std::array<char, 24> text{};
  (void)std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(number));
  return word(name, text.data());
}
call& call::word(std::string_view name, std::string_view word) {
  ((request_ += ' ') += name) += '=';
  request_ += word;
  return *this;
}
call& call::text(std::string_view name, const char* text) { return word(name, text == nullptr ? "-" : word_of(text)); }

void call::begin() {
  began_ns_ = session_.now_ns();
  if (quiet()) return;
  if (!replays_) {
    if (const std::uint64_t saw = session_.last_seen_ns.load(); saw != 0) add("saw", seconds_of(saw));
    line_ = session_.begin_line(began_ns_, session::thread(), asked());
    return;
  }
  // Another thread of the record may be first: wait for it as long as a program could.
  const auto own = [&](const event& e) { return e.finished && e.call == call_ && e.request == request_; };
  const auto of_another = [&](const event& e) { return !session_.may_be(e) || (!own(e) && session_.not_known(e)); };
  while (session_.next() != nullptr && of_another(*session_.next()) && !session_.out_of_patience())
    session_.moved.wait_for(hold_, std::chrono::milliseconds(100));
  const event* next = session_.next();
  if (next == nullptr || !session_.may_be(*next) || !own(*next)) session_.differs(asked());
  accept();
}

void call::accept() {
  event_ = session_.next();
  session_.is(*event_);
  line_ = event_->line;
  answer_ = event_->answer;
  session_.take();
}

void call::add(std::string_view name, const std::string& value) {
  ((results_ += ' ') += name) += '=';
  results_ += value;
}
void call::note(std::string_view name, const std::string& word) {
  if (!replays_) add(name, word);
}

void call::impossible(const std::string& why) const { stop(session_.path + ":" + std::to_string(line_) + ": " + why); }

std::uint64_t call::number_of_result(std::string_view name) const {
  const std::string* word = event_->find(name);
  std::uint64_t number = 0;
  if (word == nullptr || !number_of(*word, number))
    impossible("the answer to \"" + call_ + "\" has no number \"" + std::string(name) + '"');
  return number;
}

void call::out_bytes(std::string_view name, void* into, std::size_t room, std::size_t& size, bool whole) {
  if (!replays_) {
    const std::size_t kept = std::min(size, room);
    add(name, hex_of(into, whole ? kept : std::min(kept, session_.data_limit)));
    return;
  }
  const std::string* word = event_->find(name);
  std::string bytes;
  if (word == nullptr || !bytes_of(*word, bytes))
    impossible("the answer to \"" + call_ + "\" has no bytes \"" + std::string(name) + '"');
  if (bytes.size() > room)
    impossible("the record has " + std::to_string(bytes.size()) + " bytes of " + std::string(name) +
               ", and the program has room for " + std::to_string(room));
  if (!bytes.empty()) std::memcpy(into, bytes.data(), bytes.size());
  size = bytes.size();
}

void call::out_word(std::string_view name, std::string& word) {
  if (!replays_) return add(name, word);
  const std::string* found = event_->find(name);
  if (found == nullptr) impossible("the answer to \"" + call_ + "\" has no \"" + std::string(name) + '"');
  word = *found;
}

}  // namespace weft::recording
