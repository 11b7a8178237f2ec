// SPDX-License-Identifier: Apache-2.0
//
// Counters of a transport and of its peers: what each call and each event adds. The peer does not count, and meets this
// side nevertheless.
#include <weft/compose/counting/counted.hpp>
#include <weft/compose/tagged/tagged.hpp>
#include <weft/core/describe.hpp>
#include <weft/generated/loopback.hpp>

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>

namespace weft {
namespace {

using namespace std::chrono_literals;
namespace loopback = backends::loopback;
using selected = with<fabrics::loopback, answers::tagged::matched_over_messages<6>>;
using net_type = transport<counted<selected>>;

static_assert(counted<selected>::fingerprint == selected::fingerprint, "a peer need not count");

/// Runs `body` on a transport with counters; its peer has a region of 256 bytes and answers nothing.
void beside_a_plain_peer(const std::function<void(net_type&, peer, const remote_region&)>& body) {
  loopback::world w(3);
  bool over = false;
  w.spawn("listener", [&] {
    auto net = open<selected>({.node = "listener", .service = "7471"}).value();
    const auto page = net.allocate(256, rights::all).value();
    const auto on = overloaded{[&](const requested& r) { (void)net.accept(r.peer); }, [](auto&&) {}};
    const peer p = net.accept_one(5s, [](auto&&) {}).value();
    EXPECT_TRUE(net.retry([&] { return net.send_region(p, page, owner_polls); }, 1s, on));
    std::byte number{};
    EXPECT_TRUE(net.receive_tagged({.tag = 9}, {&number, 1}, 5s, on));
    // The caller may have left by now. What arrives is judged there.
    (void)net.send_tagged(p, page.first(3), 10);
    (void)net.send(p, page.first(5));
    (void)net.send(p, page.first(6));
    EXPECT_TRUE(net.until([&] { return over; }, 5s, on));
  });
  w.spawn("counted", [&] {
    loopback::sleep_for(100us);
    auto net = open<counted<selected>>({.service = "7471", .peers = 1}).value();
    const peer p = net.connect("listener:7471", 5s, [](auto&&) {}).value();
    const remote_region there = net.receive_region(p, 5s, [](auto&&) {}).value();
    body(net, p, there);
    over = true;
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

/// Until all has arrived the library reads the page, which ends with the body.
void all_arrives(net_type& net, peer p) {
  EXPECT_TRUE(net.flush(p, 1s, [](auto&&) {}));
}

TEST(counters, count_each_call_and_each_event_of_a_peer) {
  beside_a_plain_peer([](net_type& net, peer p, const remote_region& there) {
    const auto page = net.allocate(256, rights::none).value();
    std::uint64_t ends = 0, messages = 0, offered = 0;
    const auto on =
        overloaded{[&](const completed&) { ++ends; },
                   [&](const received&) { return ++offered > 1 ? (++messages, true) : false; }, [](auto&&) {}};
    int context = 0;
    const std::array<local_memory, 2> pieces{page.slice(0, 8), page.slice(16, 4)};
    EXPECT_TRUE(net.put(p, page.first(100), there.at(0), &context));
    EXPECT_TRUE(net.put(p, gather_list(pieces), there.at(0), &context));
    EXPECT_TRUE(net.put_notify(p, page.first(7), there.at(0), 1, &context));
    EXPECT_TRUE(net.get(p, page.first(50), there.at(0), &context));
    EXPECT_TRUE(net.fetch_add<std::uint32_t>(p, there.at(0), 1, &context));
    EXPECT_TRUE(net.send(p, page.first(9), &context));
    EXPECT_TRUE(net.flush(p, 1s, on));
    EXPECT_TRUE(net.until([&] { return ends >= 6; }, 1s, on));
    EXPECT_EQ(net.put(p, page.first(100), there.at(200), &context).code, errc::out_of_range);
    {
      auto b = net.batch(p);
      EXPECT_TRUE(b.put(page.first(10), there.at(0)));
      EXPECT_TRUE(b.put(page.first(10), there.at(0)));
      EXPECT_TRUE(b.close(&context));
      auto g = net.coalesce(p);
      EXPECT_TRUE(g.send(page.first(4)));
      EXPECT_TRUE(g.close());
    }
    EXPECT_TRUE(net.send_tagged(p, page.first(1), 9));
    const auto tagged = net.receive_tagged({.tag = 10}, page.first(8), 1s, on);
    EXPECT_TRUE(tagged && tagged->size == 3);
    EXPECT_TRUE(net.until([&] { return messages == 2 && ends >= 7; }, 1s, on));

    const peer_counters seen = net.counters(p);
    const auto expect = [&seen](traffic kind, std::uint64_t posted, std::uint64_t bytes, std::uint64_t completed) {
      const operation_counters& o = seen.of(kind);
      EXPECT_EQ(o.posted, posted) << static_cast<int>(kind);
      EXPECT_EQ(o.bytes, bytes) << static_cast<int>(kind);
      EXPECT_EQ(o.completed, completed) << static_cast<int>(kind);
      EXPECT_EQ(o.failed, 0U) << static_cast<int>(kind);
    };
    expect(traffic::put, 4, 100 + 12 + 20, 3);  // one end of two members of the batch
    expect(traffic::put_notify, 1, 7, 1);
    expect(traffic::get, 1, 50, 1);
    expect(traffic::atomic, 1, 4, 1);
    expect(traffic::send, 3, 9 + 4 + 1, 1);
    expect(traffic::flush, 1, 0, 1);
    EXPECT_EQ(seen.refused, 1U);
    EXPECT_EQ(seen.messages, 3U) << "a message that the handler left must count once, when it is taken";
    EXPECT_EQ(seen.message_bytes, 3U + 5 + 6);
    const transport_counters whole = net.counters();
    EXPECT_EQ(whole.traffic.messages, 3U);
    EXPECT_EQ(whole.traffic.of(traffic::put).bytes, 132U);
    EXPECT_EQ(whole.peers_met, 1U);
    EXPECT_EQ(whole.peers_lost, 0U);
  });
}

TEST(counters, keep_those_of_a_closed_peer_in_the_sum) {
  beside_a_plain_peer([](net_type& net, peer p, const remote_region& there) {
    const auto page = net.allocate(64, rights::none).value();
    EXPECT_TRUE(net.put(p, page.first(64), there.at(0)));
    EXPECT_TRUE(net.send_tagged(p, page.first(1), 9));
    std::uint64_t polls = net.counters().polls;
    for (int i = 0; i < 10; ++i) net.progress([](auto&&) {});
    EXPECT_EQ(net.counters().polls, polls + 10);
    EXPECT_TRUE(net.close(p, 1s, [](auto&&) {}));
    EXPECT_EQ(net.put(p, page.first(64), there.at(0)).code, errc::peer_lost);
    EXPECT_EQ(net.counters().traffic.of(traffic::put).posted, 1U);
    EXPECT_EQ(net.counters().traffic.refused, 1U);

    const peer next = net.connect("listener:7471", 5s, [](auto&&) {}).value();  // takes the same record
    EXPECT_TRUE(net.put_notify(next, page.first(8), there.at(0), 1));
    EXPECT_EQ(net.counters(next).of(traffic::put).posted, 0U);
    EXPECT_EQ(net.counters(next).of(traffic::put_notify).posted, 1U);
    EXPECT_EQ(net.counters(p).of(traffic::put).posted, 0U) << "a stale handle reads the counters of another peer";
    EXPECT_EQ(net.put(p, page.first(64), there.at(0)).code, errc::peer_lost);
    EXPECT_EQ(net.counters(next).refused, 0U) << "a stale handle counts for another peer";
    const transport_counters whole = net.counters();
    EXPECT_EQ(whole.traffic.of(traffic::put).posted, 1U);
    EXPECT_EQ(whole.traffic.of(traffic::put_notify).posted, 1U);
    EXPECT_EQ(whole.traffic.refused, 2U);
    EXPECT_EQ(whole.peers_met, 2U);
    all_arrives(net, next);
  });
}

TEST(traced_events, are_spans_of_operations_and_points_and_the_oldest_make_room) {
  beside_a_plain_peer([](net_type& net, peer p, const remote_region& there) {
    const auto page = net.allocate(64, rights::none).value();
    const std::string path = testing::TempDir() + "weft-trace-" + std::to_string(::getpid()) + ".json";
    EXPECT_EQ(net.write_trace(path).code, errc::invalid);
    std::uint64_t ends = 0;
    const auto on = overloaded{[&](const completed&) { ++ends; }, [](auto&&) {}};
    std::array<int, 3> contexts{};
    EXPECT_TRUE(net.record_events(6));
    for (int& context : contexts) {
      EXPECT_TRUE(net.fetch_add(p, there.at(0), 1, &context));
      const std::uint64_t wanted = ends + 1;
      EXPECT_TRUE(net.until([&] { return ends == wanted; }, 1s, on));
    }
    EXPECT_TRUE(net.put(p, page.first(64), there.at(0)));
    EXPECT_EQ(net.put(p, page.first(64), there.at(250), contexts.data()).code, errc::out_of_range);
    EXPECT_TRUE(net.send_tagged(p, page.first(1), 9));
    ASSERT_TRUE(net.write_trace(path));
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto times = [&text](const std::string& part) {
      std::size_t count = 0;
      for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
      return count;
    };
    EXPECT_EQ(times("\"overwritten\": 3"), 1U) << text;
    EXPECT_EQ(times("\"ph\": \"b\", \"cat\": \"weft\", \"name\": \"atomic\""), 1U) << text;
    EXPECT_EQ(times("\"ph\": \"e\", \"cat\": \"weft\", \"name\": \"atomic\""), 2U) << text;
    EXPECT_EQ(times("\"ph\": \"i\", \"cat\": \"weft\", \"name\": \"put\""), 2U) << text;
    EXPECT_EQ(times("\"bytes\": 64, \"code\": 0}"), 1U) << text;
    std::error_code ignored;
    std::filesystem::remove(path, ignored);
    EXPECT_EQ(net.write_trace("/dev/null/trace").native(), ENOTDIR);
    all_arrives(net, p);
  });
}

/// A folder of its own for the files, instead of the user's.
class runtime_folder {
 public:
  runtime_folder() : path_(std::filesystem::temp_directory_path() / ("weft-counters-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
    (void)::setenv("XDG_RUNTIME_DIR", path_.c_str(), 1);
  }
  ~runtime_folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

TEST(exposed_counters, are_a_private_file_that_ends_with_the_transport) {
  const runtime_folder folder;
  std::string path;
  beside_a_plain_peer([&](net_type& net, peer p, const remote_region& there) {
    const auto page = net.allocate(64, rights::none).value();
    EXPECT_TRUE(net.put(p, page.first(64), there.at(0)));
    auto exposed = net.expose_counters();
    ASSERT_TRUE(exposed) << exposed.error().sentence;
    path = *exposed;
    EXPECT_EQ(*net.expose_counters(), path);
    EXPECT_TRUE(net.put(p, page.first(64), there.at(0)));
    EXPECT_TRUE(net.send_tagged(p, page.first(1), 9));
    struct stat is {};
    ASSERT_EQ(::stat(path.c_str(), &is), 0);
    EXPECT_EQ(is.st_mode & 0777U, 0600U);
    std::ifstream file(path, std::ios::binary);
    detail::counter_page_start start;
    detail::counter_place first;
    file.read(reinterpret_cast<char*>(&start), sizeof start);
    file.read(reinterpret_cast<char*>(&first), sizeof first);
    EXPECT_EQ(std::string_view(start.head.magic, 8), "weftcnt\n");
    EXPECT_EQ(start.head.fabric, std::string("loopback"));
    EXPECT_EQ(first.address, std::string("listener:7471"));
    EXPECT_EQ(first.traffic.of(traffic::put).posted, 2U) << "one put before the file, one after it";
    all_arrives(net, p);
    auto moved = std::move(net);
    EXPECT_TRUE(std::filesystem::exists(path));
    net = std::move(moved);
  });
  EXPECT_FALSE(path.empty());
  EXPECT_FALSE(std::filesystem::exists(path)) << "the file outlived its transport";
}

TEST(exposed_counters, say_where_start_connect_dialled) {
  const runtime_folder folder;
  loopback::world w(3);
  bool over = false;
  w.spawn("listener", [&] {
    auto net = open<selected>({.node = "listener", .service = "7471"}).value();
    EXPECT_TRUE(net.accept_one(5s, [](auto&&) {}));
    EXPECT_TRUE(net.until([&] { return over; }, 5s, [](auto&&) {}));
  });
  w.spawn("counted", [&] {
    loopback::sleep_for(100us);
    auto net = open<counted<selected>>({.service = "7471", .peers = 1}).value();
    const peer p = net.start_connect("listener:7471").value();
    EXPECT_TRUE(net.until([&] { return p.alive(); }, 5s, [](auto&&) {}));
    std::ifstream file(net.expose_counters().value(), std::ios::binary);
    detail::counter_place first;
    file.seekg(sizeof(detail::counter_page_start)).read(reinterpret_cast<char*>(&first), sizeof first);
    EXPECT_EQ(first.address, std::string("listener:7471"));
    over = true;
  });
  const auto run = w.run(120s);
  EXPECT_TRUE(run) << run.sentence;
}

/// Not a test of its own: top_test.py starts it, and reads from outside. It ends when its input ends.
TEST(exposed_counters, DISABLED_are_read_from_outside) {
  beside_a_plain_peer([](net_type& net, peer p, const remote_region& there) {
    const auto page = net.allocate(64, rights::none).value();
    std::printf("exposed %s\n", net.expose_counters().value().c_str());
    (void)std::fflush(stdout);
    require(net.record_events(100'000));
    while (std::getchar() == 'p') {
      EXPECT_TRUE(net.put(p, page.first(40), there.at(0)));
      std::printf("put\n");
      (void)std::fflush(stdout);
    }
    EXPECT_TRUE(net.send_tagged(p, page.first(1), 9));
    require(net.write_trace("weft.json"));
    all_arrives(net, p);
  });
}

TEST(exposed_counters, need_a_folder_that_nobody_else_may_enter) {
  const runtime_folder folder;
  std::filesystem::create_directory(folder.path() / "weft");
  std::filesystem::permissions(folder.path() / "weft", std::filesystem::perms::all);
  beside_a_plain_peer([&](net_type& net, peer p, const remote_region&) {
    const auto page = net.allocate(64, rights::none).value();
    EXPECT_TRUE(net.send_tagged(p, page.first(1), 9));
    const auto exposed = net.expose_counters();
    ASSERT_FALSE(exposed);
    EXPECT_EQ(exposed.why().code, errc::denied);
    EXPECT_NE(exposed.error().sentence.find("mode 0700"), std::string::npos) << exposed.error().sentence;
    all_arrives(net, p);
  });
}

}  // namespace
}  // namespace weft
