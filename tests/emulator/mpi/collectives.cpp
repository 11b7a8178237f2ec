// SPDX-License-Identifier: Apache-2.0
#include "exchanges.hpp"

#include <numeric>

namespace exchanges {
namespace {

void reduce(const world& of, std::size_t count) {
  std::vector<std::int64_t> mine(count);
  std::iota(mine.begin(), mine.end(), of.rank);
  std::vector<std::int64_t> sum(count);
  MPI_Allreduce(mine.data(), sum.data(), static_cast<int>(count), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  const std::int64_t ranks = of.size * (of.size - 1) / 2;
  for (std::size_t i = 0; i < count; ++i)
    require(sum[i] == ranks + static_cast<std::int64_t>(i) * of.size, "allreduce: a sum is wrong");
}

void broadcast(const world& of, std::size_t count) {
  for (int root = 0; root < of.size; ++root) {
    const auto wanted = pattern(count, static_cast<std::uint64_t>(root) + count);
    std::vector<std::uint8_t> bytes = of.rank == root ? wanted : std::vector<std::uint8_t>(count);
    MPI_Bcast(bytes.data(), static_cast<int>(count), MPI_BYTE, root, MPI_COMM_WORLD);
    require(bytes == wanted, "broadcast: the bytes are not the root's");
  }
}

void exchange(const world& of, std::size_t count) {
  std::vector<std::uint8_t> sent;
  for (int to = 0; to < of.size; ++to) {
    const auto part = pattern(count, static_cast<std::uint64_t>(of.rank * 100 + to));
    sent.insert(sent.end(), part.begin(), part.end());
  }
  std::vector<std::uint8_t> got(sent.size());
  MPI_Alltoall(sent.data(), static_cast<int>(count), MPI_BYTE, got.data(), static_cast<int>(count), MPI_BYTE,
               MPI_COMM_WORLD);
  std::vector<std::uint8_t> wanted;
  for (int from = 0; from < of.size; ++from) {
    const auto part = pattern(count, static_cast<std::uint64_t>(from * 100 + of.rank));
    wanted.insert(wanted.end(), part.begin(), part.end());
  }
  require(got == wanted, "alltoall: a part is not what its rank sent");
}

void gather(const world& of, std::size_t count) {
  const auto mine = pattern(count, static_cast<std::uint64_t>(of.rank));
  std::vector<std::uint8_t> all(count * static_cast<std::size_t>(of.size));
  MPI_Allgather(mine.data(), static_cast<int>(count), MPI_BYTE, all.data(), static_cast<int>(count), MPI_BYTE,
                MPI_COMM_WORLD);
  for (int from = 0; from < of.size; ++from) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(count) * from;
    require(std::vector<std::uint8_t>(begin, begin + static_cast<std::ptrdiff_t>(count)) ==
                pattern(count, static_cast<std::uint64_t>(from)),
            "allgather: a part is not what its rank sent");
  }
}

}  // namespace

void collectives(const world& of) {
  for (const std::size_t count : {std::size_t{1}, std::size_t{100}, std::size_t{10000}}) {
    MPI_Barrier(MPI_COMM_WORLD);
    reduce(of, count);
    broadcast(of, count);
    exchange(of, count);
    gather(of, count);
  }
}

void communicators(const world& of) {
  for (int round = 0; round < 20; ++round) {
    MPI_Comm half{};
    MPI_Comm_split(MPI_COMM_WORLD, of.rank % 2, of.rank, &half);
    int members = 0;
    const int one = 1;
    MPI_Allreduce(&one, &members, 1, MPI_INT, MPI_SUM, half);
    require(members == (of.size + 1 - of.rank % 2) / 2, "communicators: another number of ranks answered");
    MPI_Comm copy{};
    MPI_Comm_dup(half, &copy);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
  }
}

}  // namespace exchanges
