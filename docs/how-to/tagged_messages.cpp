// SPDX-License-Identifier: Apache-2.0
//
// The program of tagged_messages.md: a worker asks two servers, and takes each answer by its tag. It runs in one
// process, over the in-process fabric. Hot path: no. Threads: one.
#include <weft/backends/loopback/port.hpp>
#include <weft/compose/tagged/tagged.hpp>
#include <weft/compose/transport.hpp>
#include <weft/generated/loopback.hpp>

#include <array>
#include <cstdint>
#include <cstdio>

using namespace weft;
using namespace std::chrono_literals;
using row = fabrics::loopback;

using fabric = with<row, answers::tagged::matched_over_messages<32>>;

namespace {

const auto ignore = [](auto&&) {};

status reply(transport<fabric>& net, peer to, const region& memory, std::uint64_t request) {
  return net.send_tagged(to, memory.first(8), request);  // `again`: make progress, then once more
}

struct answer_to_a_request {
  tagged_receive receive;
  std::array<std::byte, 64> bytes;
};

status expect(transport<fabric>& net, answer_to_a_request& a, std::uint64_t request) {
  return net.receive_tagged(a.receive, {.tag = request}, {a.bytes.data(), a.bytes.size()});
}

int take_answers(transport<fabric>& net, int count) {
  int taken = 0;
  const auto on = overloaded{[&](const completed& c) {
                               if (c.what != operation::receive_tagged) return;
                               const auto& r = *static_cast<const tagged_receive*>(c.context);
                               std::printf("tag %llu, %zu bytes\n", static_cast<unsigned long long>(r.tag()), r.size());
                               ++taken;
                             },
                             [](const failed& f) { std::printf("failed: %s\n", name_of(f.what)); }, [](auto&&) {}};
  (void)net.until([&] { return taken == count; }, 10s, on);
  return taken;
}

result<tagged_message> next_of_kind(transport<fabric>& net, peer from, std::uint64_t kind, local_memory into) {
  constexpr std::uint64_t number = 0xffff'ffff;  // the lower half says which one: any
  return net.receive_tagged({.tag = kind << 32, .ignore = number, .from = from}, into, 10s, ignore);
}

void serve() {
  auto net = open<fabric>({.node = "server", .service = "7471"}).value();
  const peer worker = net.accept_one(10s, ignore).value();
  const auto memory = net.allocate(8, rights::none).value();
  for (const std::uint64_t tag : {std::uint64_t{2}, std::uint64_t{7} << 32 | 5, std::uint64_t{1}})
    if (!net.retry([&] { return reply(net, worker, memory, tag); }, 10s, ignore)) return;
  (void)net.until([&] { return !worker.alive(); }, 10s, ignore);
}

bool work() {
  backends::loopback::sleep_for(1ms);
  auto net = open<fabric>({}).value();
  const peer server = net.connect("server:7471", 10s, ignore).value();
  answer_to_a_request first, second;
  if (!expect(net, first, 1) || !expect(net, second, 2) || take_answers(net, 2) != 2) return false;
  std::array<std::byte, 8> event;
  const auto taken = next_of_kind(net, server, 7, {event.data(), event.size()});
  return taken && taken->tag == (std::uint64_t{7} << 32 | 5);
}

}  // namespace

int main() {
  backends::loopback::world network(1);
  bool good = false;
  network.spawn("server", serve);
  network.spawn("worker", [&] { good = work(); });
  return network.run(60s) && good ? 0 : 1;
}
