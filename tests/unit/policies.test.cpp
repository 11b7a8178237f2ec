// SPDX-License-Identifier: Apache-2.0
//
// The constants and the arithmetic of every answer.
#include <weft/policies/policies.hpp>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(region_address, counts_from_the_start_or_from_the_pointer) {
  std::byte some[4]{};
  EXPECT_EQ(region_address::offset::base_of(some), 0U);
  EXPECT_EQ(region_address::virtual_address::base_of(some), reinterpret_cast<std::uintptr_t>(some));
  EXPECT_EQ(region_address::offset::form, wire::address_form::offset);
  EXPECT_EQ(region_address::virtual_address::form, wire::address_form::virtual_address);
}

TEST(notify, states_the_needs_of_the_target) {
  EXPECT_TRUE(notify::immediate::rides_on_write);
  EXPECT_TRUE(notify::immediate_consumes_receive::rides_on_write);
  EXPECT_EQ(notify::immediate::target_keeps, notify_needs::nothing);
  EXPECT_EQ(notify::immediate_consumes_receive::target_keeps, notify_needs::receive_reserve);
  EXPECT_EQ(notify::remote_counter::target_keeps, notify_needs::ring);
  EXPECT_FALSE(notify::message_after_delivery::rides_on_write);
}

/// Records which call an answer makes.
struct initiator_double {
  static constexpr bool fuses = true;
  const char* called = "";
  bool small = false;
  bool fits_notice(int) const noexcept { return small; }
  status write_in_notice(int) noexcept { return call("write_in_notice"); }
  status write_with_immediate(int) noexcept { return call("write_with_immediate"); }
  status write_then_message(int) noexcept { return call("write_then_message"); }
  status write_delivered_then_message(int) noexcept { return call("write_delivered_then_message"); }
  status write_then_ring(int) noexcept { return call("write_then_ring"); }
  status call(const char* what) noexcept {
    called = what;
    return {};
  }
};
template <class Answer>
std::string call_of(bool small = false) {
  initiator_double initiator;
  initiator.small = small;
  EXPECT_TRUE(Answer::post(initiator, 0));
  return initiator.called;
}

TEST(notify, each_answer_makes_the_call_of_its_name) {
  EXPECT_EQ(call_of<notify::immediate>(), "write_with_immediate");
  EXPECT_EQ(call_of<notify::immediate_consumes_receive>(), "write_with_immediate");
  EXPECT_EQ(call_of<notify::remote_counter>(), "write_then_ring");
  EXPECT_EQ(call_of<notify::message_after_ordered_write>(), "write_then_message");
  EXPECT_EQ(call_of<notify::message_after_delivery>(), "write_delivered_then_message");
  EXPECT_EQ(call_of<notify::message_after_ordered_write>(true), "write_in_notice");
  EXPECT_EQ(call_of<notify::message_after_delivery>(true), "write_in_notice");
}

TEST(atomics, each_answer_names_its_executor) {
  EXPECT_EQ(atomics::provider::executor, atomicity::provider);
  EXPECT_EQ(atomics::target::executor, atomicity::target);
  EXPECT_TRUE(atomics::target::executed_by_target);
  EXPECT_FALSE(atomics::provider::executed_by_target);
}

TEST(the_others, each_answer_states_its_properties) {
  EXPECT_EQ(write_fault::reported::signalled_write, post_mode::signalled);
  EXPECT_EQ(write_fault::delivery_confirmed::signalled_write, post_mode::delivered);
  EXPECT_EQ(framing::immediate::bytes_in_front, 0U);
  EXPECT_EQ(framing::header::bytes_in_front, wire::header_bytes);
  EXPECT_EQ(endpoint::connected::type, endpoint_type::connected);
  EXPECT_EQ(endpoint::addressed::type, endpoint_type::addressed);
  EXPECT_TRUE(endpoint::connected::receives_per_link && !endpoint::addressed::receives_per_link);
  EXPECT_TRUE(bootstrap::exchange::side_channel && !bootstrap::socket_address::side_channel);
  EXPECT_TRUE(region_key::application::made_here && !region_key::provider::made_here);
  EXPECT_TRUE(local_descriptor::not_needed::any_memory && !local_descriptor::required::any_memory);
  EXPECT_TRUE(region_binding::endpoint::bind_and_enable && !region_binding::domain::bind_and_enable);
  EXPECT_TRUE(progress::polling::needs_owner && !progress::thread::needs_owner && !progress::hardware::needs_owner);
  EXPECT_TRUE(wait::descriptor::has_descriptor && wait::yield::may_sleep && !wait::spin::may_sleep);
  EXPECT_TRUE(completion::selective::asks_each_time && !completion::every_operation::asks_each_time);
  EXPECT_TRUE(liveness::process::watches_process && liveness::heartbeat::speaks && !liveness::provider::speaks &&
              !liveness::provider::watches_process);
}

}  // namespace
}  // namespace weft
