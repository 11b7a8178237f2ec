// SPDX-License-Identifier: Apache-2.0
#include "exchanges.hpp"

namespace exchanges {
namespace {

/// A window of 64-bit numbers on each rank, in memory of the program: memory that the library allocates is shared
/// within a host, and ranks of one host would not use the fabric.
class window {
 public:
  explicit window(std::size_t count) : memory_(count) {
    MPI_Win_create(memory_.data(), static_cast<MPI_Aint>(count * sizeof(std::int64_t)), sizeof(std::int64_t),
                   MPI_INFO_NULL, MPI_COMM_WORLD, &handle_);
  }
  ~window() { MPI_Win_free(&handle_); }
  window(const window&) = delete;
  window& operator=(const window&) = delete;
  MPI_Win handle() const { return handle_; }
  std::int64_t operator[](std::size_t i) const { return memory_[i]; }

 private:
  std::vector<std::int64_t> memory_;
  MPI_Win handle_{};
};

std::vector<std::int64_t> numbers(std::size_t count, int of_rank) {
  std::vector<std::int64_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = of_rank * 1000000 + static_cast<std::int64_t>(i);
  return all;
}

}  // namespace

void puts_and_gets(const world& of) {
  constexpr std::size_t most = 20000;
  for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{512}, most}) {
    const window shared(most);
    const auto mine = numbers(count, of.rank);
    const int n = static_cast<int>(count);
    MPI_Win_fence(0, shared.handle());
    MPI_Put(mine.data(), n, MPI_INT64_T, of.next(), 0, n, MPI_INT64_T, shared.handle());
    MPI_Win_fence(0, shared.handle());
    const auto wanted = numbers(count, of.previous());
    for (std::size_t i = 0; i < count; ++i) require(shared[i] == wanted[i], "put: a number is wrong after the fence");
    std::vector<std::int64_t> back(count);
    MPI_Win_lock(MPI_LOCK_SHARED, of.next(), 0, shared.handle());
    MPI_Get(back.data(), n, MPI_INT64_T, of.next(), 0, n, MPI_INT64_T, shared.handle());
    MPI_Win_unlock(of.next(), shared.handle());
    require(back == mine, "get: what was put is not what was got");
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

void accumulated(const world& of) {
  constexpr std::size_t count = 50;
  const window shared(count);
  const std::vector<std::int64_t> ones(count, 1);
  MPI_Win_fence(0, shared.handle());
  for (int round = 0; round < 10; ++round)
    for (int to = 0; to < of.size; ++to)
      MPI_Accumulate(ones.data(), static_cast<int>(count), MPI_INT64_T, to, 0, static_cast<int>(count), MPI_INT64_T,
                     MPI_SUM, shared.handle());
  MPI_Win_fence(0, shared.handle());
  for (std::size_t i = 0; i < count; ++i) require(shared[i] == 10 * of.size, "accumulate: a sum is wrong");
}

void swap_in_own_window(const world& of) {
  const window shared(1);
  const std::int64_t known = 0;
  const std::int64_t wanted = of.rank;
  std::int64_t before = -1;
  MPI_Win_lock_all(0, shared.handle());
  MPI_Compare_and_swap(&wanted, &known, &before, MPI_INT64_T, of.rank, 0, shared.handle());
  MPI_Win_unlock_all(shared.handle());
  require(before == 0, "swap: the value before is wrong");
}

/// Two counters of rank 0. The second is changed by compare-and-swap, and not by rank 0: Open MPI 4.1 crashes where a
/// rank swaps in its own window (findings.yaml).
void locked_counters(const world& of) {
  constexpr int rounds = 50;
  const window shared(2);
  MPI_Win_lock_all(0, shared.handle());
  for (int i = 0; i < rounds; ++i) {
    const std::int64_t one = 1;
    std::int64_t before = 0;
    MPI_Fetch_and_op(&one, &before, MPI_INT64_T, 0, 0, MPI_SUM, shared.handle());
    MPI_Win_flush(0, shared.handle());
    require(before >= 0 && before < rounds * of.size, "fetch and add: the value before is out of range");
    for (bool swapped = of.rank == 0; !swapped;) {
      std::int64_t known = 0;
      MPI_Fetch_and_op(nullptr, &known, MPI_INT64_T, 0, 1, MPI_NO_OP, shared.handle());
      MPI_Win_flush(0, shared.handle());
      const std::int64_t wanted = known + 1;
      MPI_Compare_and_swap(&wanted, &known, &before, MPI_INT64_T, 0, 1, shared.handle());
      MPI_Win_flush(0, shared.handle());
      swapped = before == known;
    }
  }
  MPI_Win_unlock_all(shared.handle());
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, of.rank, 0, shared.handle());
  if (of.rank == 0)
    require(shared[0] == rounds * of.size && shared[1] == rounds * (of.size - 1), "counters: a count is lost");
  MPI_Win_unlock(of.rank, shared.handle());
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace exchanges
