// SPDX-License-Identifier: Apache-2.0
//
// What a peer costs in memory. First the table of peers at a thousand, a hundred thousand and a million addresses
// (simulated: records without a network). Then real peers over this machine's loopback, with receives per link and with
// one pool where the fabric has both. "asked" is what the program requested from the allocator, "resident" what the
// system gave. Both are per peer, less the transport without peers. Hot path: no. Threads: one per process.
#include "../../compose/selected.hpp"
#include "../../compose/transport.hpp"
#include "../../compose/with.hpp"

#include <CLI/CLI.hpp>

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace {

using namespace weft;

struct measured {
  std::size_t asked = 0;
  std::size_t resident = 0;
};
measured now() {
  const struct mallinfo2 held = mallinfo2();
  std::size_t pages = 0, whole = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r"); file != nullptr) {
    if (std::fscanf(file, "%zu %zu", &whole, &pages) != 2) pages = 0;
    (void)std::fclose(file);
  }
  return {held.uordblks + held.hblkhd, pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE))};
}

void print(const char* what, std::uint32_t peers, const measured& before, const measured& after) {
  const auto each = [peers](std::size_t a, std::size_t b) { return b > a ? static_cast<double>(b - a) / peers : 0.0; };
  std::printf("%-34s %9u %14.1f %14.1f\n", what, peers, each(before.asked, after.asked),
              each(before.resident, after.resident));
  (void)std::fflush(stdout);
}

/// Used records of the fabric's own kind.
void tables() {
  using record = detail::engine<selected>::record;
  for (const std::uint32_t count : {1'000U, 100'000U, 1'000'000U}) {
    const measured before = now();
    detail::peer_table<record> table(count);
    for (std::uint32_t i = 0; i < count; ++i) table.take()->state = detail::peer_state::established;
    print("table of peers", count, before, now());
  }
  std::printf("one record: %zu bytes; the library's link in it: %zu bytes\n", sizeof(record),
              sizeof(detail::engine<selected>::link));
}

/// Runs in a separate process: connects that many peers, and stays until the parent ends it.
template <class F>
void dial(int from, std::uint32_t peers) {
  char where[256] = "";
  if (::read(from, where, sizeof where - 1) <= 0) return;
  auto net = open<F>({.node = "127.0.0.1",
                      .max_message_bytes = wire::largest_handshake,
                      .receives = 2,
                      .peers = peers,
                      .silence_limit = 60s});
  if (!net) return;
  std::uint32_t started = 0, standing = 0;
  const auto on = overloaded{[&](const connected&) { ++standing; }, [](auto&&) {}};
  while (standing < peers) {
    if (started < peers && started - standing < 8 && net->start_connect(where)) ++started;
    net->progress(on);
  }
  char nothing = 0;
  (void)net->until([&] { return ::recv(from, &nothing, 1, MSG_DONTWAIT) == 0; }, 120s, on);
}

/// A listener with that many peers. Each has room for 100 messages of 4 KiB; a pool has 100 for all.
template <class F>
int listen(const char* what, std::uint32_t peers) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
  if (fork() == 0) {
    ::close(pair[0]);
    dial<F>(pair[1], peers);
    std::_Exit(0);
  }
  ::close(pair[1]);
  const transport_options options{.node = "127.0.0.1",
                                  .listens = true,
                                  .max_message_bytes = 4096,
                                  .receives = 100,
                                  .peers = peers,
                                  .silence_limit = 60s};
  auto net = open<F>(options);
  if (!net) {
    std::printf("%-34s %s\n", what, net.error().sentence.c_str());
    return 1;
  }
  const measured before = now();
  std::uint32_t standing = 0;
  const auto on = overloaded{
      [&](const requested& r) { standing += std::uint32_t{static_cast<bool>(net->accept(r.peer))}; }, [](auto&&) {}};
  const std::string where = net->listen_address();
  if (::write(pair[0], where.data(), where.size()) < 0) return 1;
  const status all = net->until([&] { return standing == peers; }, 100s, on);
  if (all) print(what, peers, before, now());
  else std::printf("%-34s only %u of %u peers came\n", what, standing, peers);
  std::_Exit(all ? 0 : 1);  // without closing in order: neither side is used again
}

/// Runs each kind in a separate process, so that none reuses memory that another one freed.
template <class F>
int in_own_process(const char* what, std::uint32_t peers) {
  (void)std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) std::_Exit(listen<F>(what, peers));
  int ended = 0;
  return child > 0 && waitpid(child, &ended, 0) == child && WIFEXITED(ended) ? WEXITSTATUS(ended) : 1;
}

/// Two descriptors for each connection, and some; a failure is reported.
std::uint32_t as_many_as_fit(std::uint32_t peers) {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return peers;
  files.rlim_cur = files.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &files);
  const auto fit = static_cast<std::uint32_t>(std::min<rlim_t>(peers, (files.rlim_cur - 64) / 2));
  if (fit < peers)
    std::printf("%u peers instead of %u: this process may open %llu files\n", fit, peers,
                static_cast<unsigned long long>(files.rlim_cur));
  return fit;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app{
      "What a peer costs in memory, in bytes: records alone, then real peers with receives per link and with one "
      "pool."};
  std::uint32_t peers = 1000;
  app.add_option("--peers", peers, "real peers")->check(CLI::Range(1U, 60000U))->capture_default_str();
  CLI11_PARSE(app, count, words);
  std::printf("fabric %s\n%-34s %9s %14s %14s\n", std::string(selected::name).c_str(), "", "peers", "asked/peer",
              "resident/peer");
  tables();
  peers = as_many_as_fit(peers);
  if constexpr (selected::facts.endpoint_type == endpoint_type::addressed) {
    return in_own_process<selected>("peers, one pool", peers);
  } else {
    int ended = in_own_process<selected>("peers, 100 receives each", peers);
    if constexpr (can_answer<selected, answers::receive_pool::shared>)
      ended |= in_own_process<with<selected, answers::receive_pool::shared>>("peers, one pool of 100", peers);
    return ended;
  }
}
