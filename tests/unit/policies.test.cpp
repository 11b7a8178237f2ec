// SPDX-License-Identifier: Apache-2.0
//
// The constants and the arithmetic of every answer.
#include <weft/policies/policies.hpp>

#include <gtest/gtest.h>

namespace weft {
namespace {

TEST(region_address, counts_from_the_start_or_from_the_pointer) {
  std::byte some[4]{};
  EXPECT_EQ(answers::region_address::offset::base_of(some), 0U);
  EXPECT_EQ(answers::region_address::virtual_address::base_of(some), reinterpret_cast<std::uintptr_t>(some));
  EXPECT_EQ(answers::region_address::offset::form, wire::address_form::offset);
  EXPECT_EQ(answers::region_address::virtual_address::form, wire::address_form::virtual_address);
}

TEST(notify, states_the_needs_of_the_target) {
  EXPECT_TRUE(answers::notify::immediate::rides_on_write);
  EXPECT_TRUE(answers::notify::immediate_consumes_receive::rides_on_write);
  EXPECT_EQ(answers::notify::immediate::target_keeps, notify_needs::nothing);
  EXPECT_EQ(answers::notify::immediate_consumes_receive::target_keeps, notify_needs::receive_reserve);
  EXPECT_EQ(answers::notify::remote_counter::target_keeps, notify_needs::ring);
  EXPECT_FALSE(answers::notify::message_after_delivery::rides_on_write);
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
  EXPECT_EQ(call_of<answers::notify::immediate>(), "write_with_immediate");
  EXPECT_EQ(call_of<answers::notify::immediate_consumes_receive>(), "write_with_immediate");
  EXPECT_EQ(call_of<answers::notify::remote_counter>(), "write_then_ring");
  EXPECT_EQ(call_of<answers::notify::message_after_ordered_write>(), "write_then_message");
  EXPECT_EQ(call_of<answers::notify::message_after_delivery>(), "write_delivered_then_message");
  EXPECT_EQ(call_of<answers::notify::message_after_ordered_write>(true), "write_in_notice");
  EXPECT_EQ(call_of<answers::notify::message_after_delivery>(true), "write_in_notice");
}

TEST(atomics, each_answer_names_its_executor) {
  EXPECT_EQ(answers::atomics::provider::executor, atomicity::provider);
  EXPECT_EQ(answers::atomics::target::executor, atomicity::target);
  EXPECT_TRUE(answers::atomics::target::executed_by_target);
  EXPECT_FALSE(answers::atomics::provider::executed_by_target);
}

TEST(the_others, each_answer_states_its_properties) {
  EXPECT_EQ(answers::write_fault::reported::signalled_write, post_mode::signalled);
  EXPECT_EQ(answers::write_fault::delivery_confirmed::signalled_write, post_mode::delivered);
  EXPECT_EQ(answers::write_fault::undetected::signalled_write, post_mode::signalled);
  EXPECT_EQ(answers::framing::immediate::bytes_in_front, 0U);
  EXPECT_EQ(answers::framing::header::bytes_in_front, wire::header_bytes);
  EXPECT_EQ(answers::endpoint::connected::type, endpoint_type::connected);
  EXPECT_EQ(answers::endpoint::addressed::type, endpoint_type::addressed);
  EXPECT_TRUE(answers::endpoint::connected::receives_per_link && !answers::endpoint::addressed::receives_per_link);
  EXPECT_TRUE(answers::bootstrap::exchange::side_channel && !answers::bootstrap::socket_address::side_channel);
  EXPECT_TRUE(answers::region_key::application::made_here && !answers::region_key::provider::made_here);
  EXPECT_TRUE(answers::local_descriptor::not_needed::any_memory && !answers::local_descriptor::required::any_memory);
  EXPECT_TRUE(answers::region_binding::endpoint::bind_and_enable && !answers::region_binding::domain::bind_and_enable);
  EXPECT_TRUE(answers::progress::polling::needs_owner && !answers::progress::thread::needs_owner &&
              !answers::progress::hardware::needs_owner);
  EXPECT_TRUE(answers::wait::descriptor::has_descriptor && answers::wait::yield::may_sleep &&
              !answers::wait::spin::may_sleep);
  EXPECT_TRUE(answers::completion::selective::asks_each_time && !answers::completion::every_operation::asks_each_time);
  EXPECT_TRUE(answers::liveness::process::watches_process && answers::liveness::heartbeat::speaks &&
              !answers::liveness::provider::speaks && !answers::liveness::provider::watches_process);
  EXPECT_TRUE(answers::flush::message_behind_writes::by_message && answers::flush::tracked_writes::tracks);
  EXPECT_FALSE(answers::flush::refused::by_message || answers::flush::refused::tracks);
  EXPECT_TRUE(answers::queues::two::apart && !answers::queues::one::apart);
  EXPECT_TRUE(answers::receive_buffers::multi_receive::many_in_one && !answers::receive_buffers::slots::many_in_one);
  EXPECT_TRUE(answers::receive_pool::shared::one_for_all && !answers::receive_pool::per_link::one_for_all);
  EXPECT_TRUE(answers::authentication::shared_secret::asks_secret && !answers::authentication::none::asks_secret);
  EXPECT_TRUE(answers::tagged::matched_over_messages<>::matches && !answers::tagged::none::matches);
  EXPECT_EQ(answers::tagged::matched_over_messages<8>::window, 8U);
  EXPECT_TRUE(answers::coalesce::up_to<>::gathers && !answers::coalesce::none::gathers);
  EXPECT_EQ(answers::threading::one_owner::asks, thread_level::one_owner);
  EXPECT_EQ(answers::threading::one_owner_per_queue::asks, thread_level::one_owner_per_queue);
  EXPECT_EQ(answers::threading::library_locks::asks, thread_level::any);
  EXPECT_EQ(answers::inject::never::bytes, 0U);
  EXPECT_EQ(answers::inject::up_to<24>::bytes, 24U);
}

}  // namespace
}  // namespace weft
