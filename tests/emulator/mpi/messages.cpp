// SPDX-License-Identifier: Apache-2.0
#include "exchanges.hpp"

#include <array>
#include <utility>

namespace exchanges {
namespace {

constexpr int usual_tag = 17;

int as_int(std::size_t n) { return static_cast<int>(n); }

void same(const std::vector<std::uint8_t>& got, const std::vector<std::uint8_t>& wanted, const std::string& what) {
  require(got == wanted, what + ": " + std::to_string(wanted.size()) + " bytes are not those that were sent");
}

int received(const MPI_Status& status) {
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  return count;
}

}  // namespace

void ring_of_all_sizes(const world& of) {
  for (const std::size_t size : sizes(of.largest)) {
    const auto sent = pattern(size, static_cast<std::uint64_t>(of.rank) + size);
    std::vector<std::uint8_t> got(size);
    MPI_Status status{};
    MPI_Sendrecv(sent.data(), as_int(size), MPI_BYTE, of.next(), usual_tag, got.data(), as_int(size), MPI_BYTE,
                 of.previous(), usual_tag, MPI_COMM_WORLD, &status);
    require(received(status) == as_int(size), "ring: a message of " + std::to_string(size) + " bytes has another size");
    same(got, pattern(size, static_cast<std::uint64_t>(of.previous()) + size), "ring");
  }
}

void tags_and_any_source(const world& of) {
  constexpr int messages = 20;
  std::vector<MPI_Request> requests;
  std::vector<std::vector<std::uint8_t>> sent;
  for (int to = 0; to < of.size; ++to)
    for (int tag = 0; tag < messages; ++tag) {
      if (to == of.rank) continue;
      sent.push_back(pattern(static_cast<std::size_t>(100 + tag), static_cast<std::uint64_t>(of.rank * 1000 + tag)));
      MPI_Request& made = requests.emplace_back();
      MPI_Isend(sent.back().data(), as_int(sent.back().size()), MPI_BYTE, to, tag, MPI_COMM_WORLD, &made);
    }
  for (int tag = messages - 1; tag >= 0; --tag)  // against the order in which they were sent
    for (int from = 1; from < of.size; ++from) {
      std::vector<std::uint8_t> got(200);
      MPI_Status status{};
      MPI_Recv(got.data(), as_int(got.size()), MPI_BYTE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &status);
      require(status.MPI_TAG == tag, "tags: a message has another tag than its receive");
      got.resize(static_cast<std::size_t>(received(status)));
      same(got,
           pattern(static_cast<std::size_t>(100 + tag), static_cast<std::uint64_t>(status.MPI_SOURCE * 1000 + tag)),
           "tags");
    }
  MPI_Waitall(as_int(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

void messages_that_wait(const world& of) {
  constexpr std::size_t size = 3000;
  constexpr int messages = 100;
  const auto sent = pattern(size, static_cast<std::uint64_t>(of.rank));
  std::vector<MPI_Request> requests(messages);
  for (int i = 0; i < messages; ++i)
    MPI_Isend(sent.data(), as_int(size), MPI_BYTE, of.next(), i, MPI_COMM_WORLD,
              &requests[static_cast<std::size_t>(i)]);
  MPI_Barrier(MPI_COMM_WORLD);  // now most of them wait at their receiver
  for (int i = 0; i < messages; ++i) {
    std::vector<std::uint8_t> got(size);
    MPI_Recv(got.data(), as_int(size), MPI_BYTE, of.previous(), MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    same(got, pattern(size, static_cast<std::uint64_t>(of.previous())), "messages that wait");
  }
  MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
}

void probes_and_claims(const world& of) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{33}, std::size_t{5000}}) {
    const auto sent = pattern(size, static_cast<std::uint64_t>(of.rank) + 7);
    MPI_Request request{};
    MPI_Isend(sent.data(), as_int(size), MPI_BYTE, of.next(), usual_tag, MPI_COMM_WORLD, &request);
    MPI_Status status{};
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    require(received(status) == as_int(size) && status.MPI_SOURCE == of.previous(),
            "probe: another message is described");
    MPI_Message claimed{};
    int found = 0;
    while (found == 0) MPI_Improbe(of.previous(), usual_tag, MPI_COMM_WORLD, &found, &claimed, &status);
    require(received(status) == as_int(size), "claim: another message is described");
    std::vector<std::uint8_t> got(size);
    MPI_Mrecv(got.data(), as_int(size), MPI_BYTE, &claimed, &status);
    same(got, pattern(size, static_cast<std::uint64_t>(of.previous()) + 7), "claim");
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found, &status);
    require(found == 0, "probe: a message that was received is found again");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

void synchronous_sends(const world& of) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{65}, std::size_t{9000}}) {
    const auto sent = pattern(size, static_cast<std::uint64_t>(of.rank) + 3);
    MPI_Request request{};
    MPI_Issend(sent.data(), as_int(size), MPI_BYTE, of.next(), usual_tag, MPI_COMM_WORLD, &request);
    int done = 0;
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    std::vector<std::uint8_t> got(size);
    MPI_Recv(got.data(), as_int(size), MPI_BYTE, MPI_ANY_SOURCE, usual_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    same(got, pattern(size, static_cast<std::uint64_t>(of.previous()) + 3), "synchronous send");
    if (done == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
}

void cancelled_receives(const world& of) {
  std::array<std::uint8_t, 8> never{};
  for (int i = 0; i < 10; ++i) {
    MPI_Request request{};
    MPI_Irecv(never.data(), as_int(never.size()), MPI_BYTE, of.previous(), 999, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Status status{};
    MPI_Wait(&request, &status);
    int cancelled = 0;
    MPI_Test_cancelled(&status, &cancelled);
    require(cancelled == 1, "cancel: a receive that nobody answers was not cancelled");
  }
}

void order_of_messages(const world& of) {
  constexpr int messages = 500;
  std::vector<int> sent(messages);
  std::vector<MPI_Request> requests(messages);
  for (int i = 0; i < messages; ++i) {
    sent[static_cast<std::size_t>(i)] = i;
    MPI_Isend(&sent[static_cast<std::size_t>(i)], 1, MPI_INT, of.next(), usual_tag, MPI_COMM_WORLD,
              &requests[static_cast<std::size_t>(i)]);
  }
  for (int i = 0; i < messages; ++i) {
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, of.previous(), usual_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    require(got == i, "order: message " + std::to_string(got) + " came where " + std::to_string(i) + " was due");
  }
  MPI_Waitall(messages, requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace exchanges
