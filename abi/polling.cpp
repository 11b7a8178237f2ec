// SPDX-License-Identifier: Apache-2.0
//
// weft.h: events, waiting, and foreign event loops.
#include "calls.hpp"

namespace weft::abi {
namespace {

/// Null, or what is wrong with the place for events.
const char* wrong_events(const weft_event* events, std::uint32_t capacity) noexcept {
  if (events == nullptr) return "the place for events is NULL";
  return capacity == 0 || capacity > 1U << 20 ? "the capacity is 0, or more than a million" : nullptr;
}

[[gnu::always_inline]] inline void begin(open_transport& t, weft_event* events, std::uint32_t capacity) noexcept {
  if (t.armed) [[unlikely]]
    t.armed = false, t.net.disarm();
  t.events.begin(events, capacity);
}
[[gnu::always_inline]] inline int finish(open_transport& t, const char* name) noexcept {
  const int found = t.events.finish();
  if (t.lost_an_event && found == 0) [[unlikely]] {
    t.lost_an_event = false;
    return wrong(t, name, "an event was lost, because there was no memory for it", errc::no_memory);
  }
  return found;
}

}  // namespace
}  // namespace weft::abi

using namespace weft::abi;

extern "C" {

int weft_poll(weft_transport net, weft_event* events, uint32_t capacity) {
  return call(
      net, "weft_poll", [&](open_transport & t) __attribute__((always_inline)) {
        if (const char* const no = wrong_events(events, capacity)) [[unlikely]]
          return wrong(t, "weft_poll", no);
        begin(t, events, capacity);
        if (t.events.has_room()) t.progress();
        return finish(t, "weft_poll");
      });
}

int weft_wait(weft_transport net, weft_event* events, uint32_t capacity, uint64_t timeout) {
  return call(net, "weft_wait", [&](open_transport& t) {
    if (const char* const no = wrong_events(events, capacity)) return wrong(t, "weft_wait", no);
    begin(t, events, capacity);
    weft::status waited;
    if (!t.events.has_events())
      waited = t.until([&] { return t.events.has_events() || t.lost_an_event; }, time_of(timeout));
    const int found = finish(t, "weft_wait");
    return found != 0 ? found : t.answer(waited);
  });
}

int weft_wait_descriptor(weft_transport net, int* descriptor) {
  return call(net, "weft_wait_descriptor", [&](open_transport& t) {
    if (descriptor == nullptr) return wrong(t, "weft_wait_descriptor", "the place for the descriptor is NULL");
    *descriptor = -1;
    if (!t.sleeps) return wrong(t, "weft_wait_descriptor", "open the transport with WEFT_SLEEPS");
    *descriptor = t.net.loop_descriptor();
    return *descriptor >= 0
               ? int{WEFT_OK}
               : wrong(t, "weft_wait_descriptor", "the process has no descriptor left", weft::errc::native);
  });
}

int weft_arm(weft_transport net, uint64_t* at_most) {
  return call(net, "weft_arm", [&](open_transport& t) {
    if (at_most == nullptr) return wrong(t, "weft_arm", "the place for the time is NULL");
    *at_most = 0;
    if (!t.sleeps) return wrong(t, "weft_arm", "open the transport with WEFT_SLEEPS");
    if (t.events.waits()) return wrong(t, "weft_arm", "an event is there: poll", weft::errc::again);
    const weft::duration lists_sleep = t.lists ? t.lists->engine.longest_sleep() : weft::duration::max();
    if (lists_sleep == weft::duration(0))
      return wrong(t, "weft_arm", "a list waits to be posted: poll", weft::errc::again);
    const auto due = t.net.arm();
    t.armed = due.has_value();
    if (!due) return wrong(t, "weft_arm", "something is there: poll", weft::errc::again);
    *at_most = static_cast<std::uint64_t>(std::min(*due, lists_sleep).count());
    return int{WEFT_OK};
  });
}

}  // extern "C"
