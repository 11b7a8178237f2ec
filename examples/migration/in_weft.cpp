// SPDX-License-Identifier: Apache-2.0
//
// After: the task of in_libfabric.cpp, in_verbs.cpp and in_ucx.cpp. The initiator writes a text and the number 7 into a
// page of the target. Sides: `target HOST`, which prints where it listens, and `initiator HOST:PORT`.
#include <weft/weft.hpp>

#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

using namespace weft;

static void target(const char* host) {
  auto net = open<selected>({.node = host, .listens = true}).value();
  auto page = net.allocate(4096, rights::remote_write).value();
  std::printf("target: at %s\n", net.listen_address().c_str());
  auto initiator = net.accept_one(30s).value();
  std::optional<std::uint32_t> number;
  std::optional<status> left;
  const auto on = overloaded{[&](notified n) { number = n.immediate; }, [&](lost l) { left = l.why; }, [](auto&&) {}};
  require(net.retry([&] { return net.send_region(initiator, page, owner_polls); }, 10s, on));
  require(net.until([&] { return number || left; }, 20s, on));
  if (!number) require(*left);
  std::printf("target: %s (%u)\n", reinterpret_cast<const char*>(page.data()), *number);
  require(net.until([&] { return left.has_value(); }, 20s, on));
  if (left->code != errc::closed) require(*left);
  std::printf("target: the initiator left in order\n");
}

static void initiator(const char* address) {
  auto net = open<selected>({}).value();
  auto text = net.allocate(64, rights::none).value();
  std::strcpy(reinterpret_cast<char*>(text.data()), "hello, world");
  auto target = net.connect(address, 10s).value();
  auto page = net.receive_region(target, 10s).value();
  std::optional<status> end;
  const auto on = overloaded{[&](completed) { end = status(); }, [&](failed f) { end = f.why; },
                             [&](lost l) { end = end.value_or(l.why); }, [](auto&&) {}};
  require(net.retry([&] { return net.put_notify(target, text.first(13), page.at(0), 7, &end); }, 10s, on));
  require(net.until([&] { return end.has_value(); }, 20s, on));
  require(*end);
  std::printf("initiator: written\n");
  require(net.close(target, 1s, on));
}

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string_view side = argc == 3 ? argv[1] : "";
  if (side == "target") target(argv[2]);
  else if (side == "initiator") initiator(argv[2]);
  else return std::fprintf(stderr, "usage: %s target HOST | initiator HOST:PORT\n", argv[0]), 2;
} catch (const std::exception& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
