// SPDX-License-Identifier: Apache-2.0
//
// transfer-engine.<fabric>: lists of pages between a server and a client. `demo` runs both as processes; `rank` finds
// the other side through weft::job.
#include "sides.hpp"

#include <weft/compose/selected.hpp>
#include <weft/job/job.hpp>

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include <csignal>
#include <functional>

namespace {
using namespace weft::pages;
using fabric = weft::selected;

int guarded(const char* who, const std::function<void()>& side) {
  try {
    side();
    (void)std::fflush(stdout);
    return 0;
  } catch (const std::exception& e) {
    (void)std::fprintf(stderr, "transfer-engine.%s: %s: %s\n", std::string(fabric::name).c_str(), who, e.what());
    return 1;
  }
}

int be_client(const plan& p, const std::string& where) {
  return guarded("client", [&] {
    client<fabric> me(p, where);
    me.fetch();
    me.put();
    me.overtake();
    me.leave();
  });
}

/// One of two ranks, under any launcher: rank 0 serves and gives its address to the other. Alone it is a wrong use.
int rank(const plan& p) {
  auto joined = weft::join_job({.least_size = 2});
  const std::string wrong = !joined ? joined.error().sentence
                            : joined.value().size() != 2
                                ? "this program has two ranks, and the job has " + std::to_string(joined.value().size())
                                : std::string();
  if (!wrong.empty()) {
    (void)std::fprintf(stderr, "transfer-engine.%s: rank: %s\n", std::string(fabric::name).c_str(), wrong.c_str());
    return 2;
  }
  weft::job& job = joined.value();
  if (job.rank() == 0)
    return guarded("server",
                   [&] { serve<fabric>(p, [&](const std::string& where) { job.put("pages", where).value(); }); });
  std::string where;
  const int found = guarded("client", [&] { where = need(job.get(0, "pages")); });
  return found != 0 ? found : be_client(p, where);
}

/// The server as a child, made before the network library is touched; its address comes through a pipe.
int demo(const plan& p) {
  int ends[2];
  if (::pipe(ends) != 0) return std::perror("transfer-engine: no pipe for the server's address"), 1;
  const pid_t child = ::fork();
  if (child < 0) return std::perror("transfer-engine: no process for the server"), 1;
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::close(ends[0]);
    ::_exit(guarded("server", [&] {
      serve<fabric>(p, [&](const std::string& where) {
        if (::write(ends[1], where.data(), where.size()) < 0) throw std::runtime_error("the client is gone");
        ::close(ends[1]);
      });
    }));
  }
  ::close(ends[1]);
  std::string where;
  char some[512];
  for (ssize_t got = 0; (got = ::read(ends[0], some, sizeof some)) > 0;)
    where.append(some, static_cast<std::size_t>(got));
  ::close(ends[0]);
  const int here = where.empty() ? 1 : be_client(p, where);
  if (here != 0) (void)::kill(child, SIGTERM);  // it would wait for its client
  int how = 0;
  ::waitpid(child, &how, 0);
  return here != 0 ? here : WIFEXITED(how) ? WEXITSTATUS(how) : 1;
}
}  // namespace

int main(int argc, char** argv) {
  plan p;
  std::string where;
  CLI::App app("Lists of pages between a server and a client; give both the same options");
  app.require_subcommand(1);
  CLI::App* both = app.add_subcommand("demo", "Both sides, as two processes of this machine");
  CLI::App* server = app.add_subcommand("server", "Keeps pages, and prints where it listens");
  CLI::App* ranked = app.add_subcommand("rank", "One of two ranks of a job; rank 0 keeps the pages");
  CLI::App* one = app.add_subcommand("client", "Fetches lists of pages, and puts lists of pages");
  one->add_option("where", where, "The server's address, as it printed it")->required()->type_name("HOST:PORT");
  for (CLI::App* each : {both, server, one, ranked}) {
    each->add_option("--page", p.page_bytes, "Bytes of a page")->check(CLI::Range(1, 1 << 26))->capture_default_str();
    each->add_option("--pages", p.pages, "Pages of the server; 7919 must not divide them")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    each->add_option("--list", p.list, "Pages of a list")->check(CLI::Range(4, 1 << 20))->capture_default_str();
    each->add_option("--rounds", p.rounds, "How often a prepared list is posted")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (p.list > p.pages || p.pages % 7919 == 0) {
    (void)std::fprintf(stderr,
                       "transfer-engine: --list is %u and --pages %u; a list has at most all pages, and 7919 "
                       "does not divide their number\n",
                       p.list, p.pages);
    return 2;
  }
  if (both->parsed()) return demo(p);
  if (ranked->parsed()) return rank(p);
  if (one->parsed()) return be_client(p, where);
  return guarded("server", [&] {
    serve<fabric>(p, [](const std::string& at) {
      std::printf("%s\n", at.c_str());
      (void)std::fflush(stdout);
    });
  });
}
