// SPDX-License-Identifier: Apache-2.0
//
// The one handler of all conformance tests: counts every event and calls the function of its kind. An unexpected event
// is a failure, so no event is lost silently. One type, so that a transport is compiled once and not once per test. Hot
// path: no. Threads: one.
#pragma once

#include "../../compose/events.hpp"
#include "../../core/describe.hpp"
#include "sides/stored_call.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weft::conformance {

struct observer {
  std::uint64_t completions = 0;
  std::uint64_t failures = 0;
  std::uint64_t messages = 0;
  std::uint64_t notices = 0;
  std::uint64_t requests = 0;
  std::uint64_t connections = 0;
  std::uint64_t losses = 0;
  std::uint64_t agains = 0;  ///< Posts that were answered `again`.
  atomic_value old;          ///< Value of the last atomic.
  status last_failure;
  status last_loss;

  stored_call<void(const completed&)> on_completed;
  stored_call<void(const failed&)> on_failed;      ///< Unset: a failed operation fails the test.
  stored_call<void(const received&)> on_received;  ///< Unset: a message fails the test.
  stored_call<void(const notified&)> on_notified;  ///< Unset: a notice fails the test.
  stored_call<void(const requested&)> on_requested;
  stored_call<void(const connected&)> on_connected;
  stored_call<void(const lost&)> on_lost;      ///< Unset: any end but an orderly one fails the test.
  stored_call<void(const lost&)> record_lost;  ///< Set: writes the loss into the history of the side.

  std::uint64_t ends() const noexcept { return completions + failures; }
  std::uint64_t events() const noexcept { return ends() + messages + notices + requests + connections + losses; }

  void operator()(const completed& e) {
    ++completions;
    old = e.old;
    if (on_completed) on_completed(e);
  }
  void operator()(const failed& e) {
    ++failures;
    last_failure = e.why;
    if (on_failed) on_failed(e);
    else ADD_FAILURE() << "a " << name_of(e.what) << " failed unexpectedly: " << describe(e.why);
  }
  void operator()(const received& e) {
    ++messages;
    if (on_received) on_received(e);
    else ADD_FAILURE() << "a message of " << e.message.size() << " bytes arrived unexpectedly";
  }
  void operator()(const notified& e) {
    ++notices;
    if (on_notified) on_notified(e);
    else ADD_FAILURE() << "a notice arrived unexpectedly: " << e.immediate;
  }
  void operator()(const requested& e) {
    ++requests;
    if (on_requested) on_requested(e);
    else ADD_FAILURE() << "a request arrived unexpectedly";
  }
  void operator()(const connected& e) {
    ++connections;
    if (on_connected) on_connected(e);
  }
  void operator()(const lost& e) {
    ++losses;
    if (record_lost) record_lost(e);
    last_loss = e.why;
    if (on_lost) on_lost(e);
    else if (e.why.code != errc::closed) ADD_FAILURE() << "a peer was lost unexpectedly: " << describe(e.why);
  }
};

}  // namespace weft::conformance
