// SPDX-License-Identifier: Apache-2.0
//
// Strangers at the store of a job, and strangers that pretend to be it. The job goes on, or ends with one sentence.
#include "ranks.hpp"

#include <filesystem>
#include <random>
#include <thread>

namespace {

using namespace weft;
using namespace weft::job_tests;
using testing::HasSubstr;

jobs::owned_descriptor connected(const std::string& store) {
  return jobs::connected_to(*jobs::endpoint_of(store), std::chrono::steady_clock::now() + 20s).value;
}
void send(const jobs::owned_descriptor& to, const std::string& bytes) {
  (void)!::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}
/// Whether the other side closes the connection; at most 20 s.
bool is_closed(const jobs::owned_descriptor& by) {
  char some[4096];
  for (;;) {
    if (jobs::wait_for(by.get(), POLLIN, std::chrono::steady_clock::now() + 20s) != 0) return false;
    const ssize_t got = ::recv(by.get(), some, sizeof some, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN)) return true;
  }
}

TEST(hostile_clients, lose_their_connection_and_the_job_goes_on) {
  const meeting_place place;
  auto zero = place.join(0, 2);
  ASSERT_TRUE(zero) << sentence(zero);
  const std::string hello = encode(jobs::message{jobs::kind::hello, 1, 2, "test", std::string(jobs::protocol_name)});
  const std::string put = encode(jobs::message{jobs::kind::put, 0, 0, "key", "value"});
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(4, '\xff'), std::string(200'000, '\0'), put, hello + put,
        encode(jobs::message{jobs::kind::hello, 1, 2, "test", "weft job 0"}),
        encode(jobs::message{jobs::kind::hello, 7, 2, "test", std::string(jobs::protocol_name)}),
        encode(jobs::message{jobs::kind::hello, 1, 2, "tes", std::string(jobs::protocol_name)})}) {
    const auto stranger = connected(place.store());
    ASSERT_TRUE(stranger);
    send(stranger, bytes);
    EXPECT_TRUE(is_closed(stranger)) << bytes.substr(0, 20);
  }
  auto one = place.join(1, 2);
  ASSERT_TRUE(one) << sentence(one);
  const std::jthread other([&] { EXPECT_TRUE(one->barrier()); });
  EXPECT_TRUE(zero->barrier());
}

TEST(hostile_clients, that_say_nothing_leave_places_for_ranks) {
  const meeting_place place;
  auto zero = place.join(0, 2);
  ASSERT_TRUE(zero);
  std::vector<jobs::owned_descriptor> silent;
  for (int i = 0; i < 300; ++i) silent.push_back(connected(place.store()));
  auto one = place.join(1, 2);
  EXPECT_TRUE(one) << sentence(one);
  const auto open = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  EXPECT_LT(open, 300 + 64 + 50) << "the store keeps 64 of its 300 ends";
  EXPECT_TRUE(is_closed(silent.front())) << "the oldest stranger is dropped";
}

TEST(hostile_clients, with_random_bytes_change_nothing) {
  const meeting_place place;
  auto zero = place.join(0, 2);
  ASSERT_TRUE(zero);
  std::minstd_rand random(7);
  const std::string good = encode(jobs::message{jobs::kind::hello, 0, 2, "test", std::string(jobs::protocol_name)});
  for (int i = 0; i < 300; ++i) {
    std::string bytes = good;
    for (int k = 0; k < 3; ++k) bytes[random() % bytes.size()] = static_cast<char>(random());
    send(connected(place.store()), bytes.substr(0, 1 + random() % bytes.size()));
  }
  EXPECT_TRUE(zero->put("key", "value"));
  auto one = place.join(1, 2);
  ASSERT_TRUE(one) << sentence(one);
  EXPECT_EQ(one->get(0, "key").value(), "value");
}

/// What a rank says where `reply` stands in place of a store's.
std::string said(const std::string& reply) {
  auto listener = jobs::listening_everywhere(0, true);
  const auto at = jobs::address_of(listener.value.get());
  const std::jthread impostor([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (jobs::wait_for(listener.value.get(), POLLIN, std::chrono::steady_clock::now() + 5ms) != 0) continue;
      const jobs::owned_descriptor rank(::accept4(listener.value.get(), nullptr, nullptr, SOCK_CLOEXEC));
      char question[64];
      (void)!::recv(rank.get(), question, 35, MSG_WAITALL);
      send(rank, reply);
    }
  });
  return sentence(jobs::store_client::join({at}, "test", 1, 2, 1s));
}

TEST(hostile_stores, get_one_sentence) {
  using jobs::kind;
  using jobs::message;
  for (const std::string& reply :
       {std::string("HTTP/1.1 400 Bad Request\r\n\r\n"), std::string(100'000, '\xff'), std::string(),
        encode(message{kind::hello, 0, 0, "", ""}), encode(message{kind::refused, 0, 0, "", "fine"}),
        encode(message{kind::refused, 0, 200, "", "a code that is none"}),
        encode(message{kind::done, 0, 0, "", ""}) + "x"})
    EXPECT_THAT(said(reply), HasSubstr("is another program, or does not keep to weft's protocol"))
        << reply.substr(0, 20);
  EXPECT_THAT(said(encode(message{kind::refused, 0, static_cast<std::uint32_t>(errc::invalid), "", "\x1b[2Jgone"})),
              HasSubstr("?[2Jgone"));
}

}  // namespace
