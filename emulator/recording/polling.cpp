// SPDX-License-Identifier: Apache-2.0
#include "polling.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace weft::recording {
namespace {

constexpr std::size_t nearby = 16;  ///< Changes that are closer are one piece.

void add_changes(object& region, std::string& text) {
  if (std::memcmp(region.base, region.shadow.data(), region.size) == 0) return;
  for (std::size_t begin = 0; begin < region.size; ++begin) {
    if (region.base[begin] == region.shadow[begin]) continue;
    std::size_t end = begin + 1;
    for (std::size_t i = end; i < region.size && i < end + nearby; ++i)
      if (region.base[i] != region.shadow[i]) end = i + 1;
    std::memcpy(region.shadow.data() + begin, region.base + begin, end - begin);
    if (!text.empty()) text += ',';
    ((text += region.name) += '+') += std::to_string(begin);
    (text += ':') += hex_of(region.shadow.data() + begin, end - begin);
    begin = end;
  }
}

}  // namespace

std::string poll_call::changes() {
  std::string text;
  for (object* each : watched_regions()) add_changes(*each, text);
  return text;
}

void poll_call::land(std::string_view changes) const {
  while (!changes.empty()) {
    const std::string_view one = changes.substr(0, changes.find(','));
    changes = changes.find(',') == std::string_view::npos ? std::string_view{} : changes.substr(changes.find(',') + 1);
    const auto plus = one.find('+');
    const auto colon = one.find(':');
    std::uint64_t offset = 0;
    std::string bytes;
    if (plus == std::string_view::npos || colon == std::string_view::npos || colon < plus ||
        !number_of(one.substr(plus + 1, colon - plus - 1), offset) || !bytes_of(one.substr(colon + 1), bytes))
      impossible("\"" + std::string(one.substr(0, 40)) + "\" is not a change such as mr1+64:0a0b");
    const object* region = named(one.substr(0, plus));
    if (region == nullptr || region->base == nullptr || offset > region->size || bytes.size() > region->size - offset)
      impossible("bytes landed outside of every open region: " + std::string(one.substr(0, 40)));
    std::memcpy(region->base + offset, bytes.data(), bytes.size());
  }
}

bool poll_call::replayed() {
  for (;;) {
    const event* next = session_.next();
    const bool own =
        next != nullptr && next->finished && session_.may_be(*next) && next->call == call_ && next->request == request_;
    std::uint64_t after = 0;
    if (own) {
      const std::string* word = next->find("after");
      if (word == nullptr || !number_of(*word, after)) {
        accept();
        impossible("the answer to \"" + call_ + "\" does not say after how many polls it came");
      }
    }
    if (own && (on_.empty_polls >= after || timeout_ < 0)) {
      on_.empty_polls = 0;
      accept();
      if (const std::string* landed = event_->find("landed")) land(*landed);
      return true;
    }
    if (session_.out_of_patience()) session_.differs(asked());
    const bool of_another = next != nullptr && !session_.may_be(*next);
    if (own || (timeout_ == 0 && !of_another)) break;
    // Another thread has the next event, and needs the lock, or the program may wait here.
    session_.moved.wait_for(hold_, std::chrono::milliseconds(timeout_ < 0 ? 100 : 1));
    if (timeout_ >= 0) break;
  }
  ++on_.empty_polls;
  return false;
}

}  // namespace weft::recording
