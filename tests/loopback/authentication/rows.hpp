// SPDX-License-Identifier: Apache-2.0
//
// Rows whose peers prove a shared secret: over connections, at addresses, and where messages prove their sender.
#pragma once

#include <weft/compose/authentication.hpp>
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#include <string_view>

namespace weft::test {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;

struct addressed_row : fabrics::loopback {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = fabrics::loopback::facts;
    f.endpoint_type = endpoint_type::addressed;
    return f;
  }();
  using policies =
      detail::replaced<fabrics::loopback::policies,
                       policy_set<answers::endpoint::addressed, answers::liveness::heartbeat,
                                  answers::receive_pool::shared, answers::flush::message_behind_writes>>::type;
};
struct wide_row : addressed_row {
  static constexpr fabric_facts facts = [] {
    fabric_facts f = addressed_row::facts;
    f.send_immediate_bytes = f.write_immediate_bytes = 8;
    return f;
  }();
};

/// The row with authentication::shared_secret; the facts stay its own.
template <class Row>
using proving = with<Row, answers::authentication::shared_secret>;
/// The same without; `with` writes the words that both sides share.
template <class Row>
using plain = with<Row, answers::authentication::none>;
using connected_fabric = proving<fabrics::loopback>;
using addressed_fabric = proving<addressed_row>;
using wide_fabric = proving<wide_row>;
static_assert(detail::engine<wide_fabric>::proves_sender && !detail::engine<addressed_fabric>::proves_sender);
static_assert(detail::engine<connected_fabric>::links_have_receives &&
              !detail::engine<addressed_fabric>::links_have_receives);

constexpr std::string_view right_secret = "5EC2E7-of-both-sides";
constexpr std::string_view wrong_secret = "5EC2E7-of-stranger-s";

}  // namespace weft::test
