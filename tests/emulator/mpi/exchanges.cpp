// SPDX-License-Identifier: Apache-2.0
//
// mpi-exchanges LARGEST [NAME...]: an MPI program that checks each byte of what its ranks exchange (default: all but
// own_swap). LARGEST: bytes of the largest message. Exit 0: every exchange was right. Exit 1: a sentence says which was
// wrong.
#include "exchanges.hpp"

#include <cstdio>
#include <cstdlib>
#include <set>
#include <utility>

namespace {

using exchange = std::pair<std::string, void (*)(const exchanges::world&)>;
const std::vector<exchange> all{
    {"ring", exchanges::ring_of_all_sizes},        {"tags", exchanges::tags_and_any_source},
    {"waiting", exchanges::messages_that_wait},    {"claims", exchanges::probes_and_claims},
    {"synchronous", exchanges::synchronous_sends}, {"cancel", exchanges::cancelled_receives},
    {"order", exchanges::order_of_messages},       {"collectives", exchanges::collectives},
    {"communicators", exchanges::communicators},   {"puts", exchanges::puts_and_gets},
    {"accumulated", exchanges::accumulated},       {"counters", exchanges::locked_counters},
    {"own_swap", exchanges::swap_in_own_window}};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  exchanges::world of;
  MPI_Comm_rank(MPI_COMM_WORLD, &of.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &of.size);
  of.largest = argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 0;
  const std::set<std::string> wanted(argv + (argc > 2 ? 2 : argc), argv + argc);
  if (of.largest == 0) {
    std::fprintf(stderr, "usage: mpi-exchanges LARGEST [NAME...]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  for (const auto& [name, run] : all) {
    if (wanted.empty() ? name == "own_swap" : !wanted.contains(name)) continue;
    try {
      run(of);
    } catch (const exchanges::wrong& w) {
      std::fprintf(stderr, "mpi-exchanges: rank %d: %s: %s\n", of.rank, name.c_str(), w.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (of.rank == 0) std::printf("%s: right\n", name.c_str()), std::fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}
