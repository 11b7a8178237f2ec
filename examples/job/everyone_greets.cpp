// SPDX-License-Identifier: Apache-2.0
#include <weft/job/job.hpp>
#include <weft/weft.hpp>

#include <cstdio>
#include <optional>
using namespace weft;

int main() try {
  auto job = join_job({.least_size = 2}).value();
  auto net = open<selected>({.node = job.host(), .listens = job.rank() == 0, .peers = job.size()}).value();
  std::uint32_t heard = 0;
  std::optional<status> end;
  const auto on = overloaded{[&](received) { ++heard; }, [&](requested r) { require(net.accept(r.peer)); },
                             [&](completed) { end = status(); }, [&](failed f) { end = f.why; }, [](auto&&) {}};
  if (job.rank() == 0) {
    job.put("address", net.listen_address()).value();
    require(net.until([&] { return heard == job.size() - 1; }, 30s, on));
    std::printf("%s: heard %u ranks\n", job.reason().c_str(), heard);
  } else {
    auto peer = net.connect(job.get(0, "address").value(), 30s, on).value();
    auto text = net.allocate(64, rights::none).value();
    require(net.retry([&] { return net.send(peer, text.first(5), &end); }, 30s, on));
    require(net.until([&] { return end.has_value(); }, 30s, on));
    require(*end);
  }
  job.barrier().value();
} catch (const std::exception& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 2;
}
