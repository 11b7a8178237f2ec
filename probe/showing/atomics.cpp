// SPDX-License-Identifier: Apache-2.0
//
// Atomics by value: a provider's list and the behaviour of its atomics may differ (one lists them and refuses each, one
// adds the operand's address). Hot path: no. Threads: one owner per process.
#include "../behaviours.hpp"
#include "../endpoint_pair.hpp"

#include <rdma/fi_atomic.h>

#include <array>
#include <cstring>
#include <string>
#include <vector>

namespace weft::probe {

namespace {

constexpr std::size_t operand_place = 4096;  // of the target's page; results and operands are in the initiator's
constexpr std::size_t result_at = 0, operand_at = 64, compare_at = 128;

struct kind {
  fi_datatype type;
  const char* name;
  std::size_t size;
  bool floating;
};
constexpr std::array kinds{kind{FI_UINT64, "uint64", 8, false}, kind{FI_INT64, "int64", 8, false},
                           kind{FI_UINT32, "uint32", 4, false}, kind{FI_INT32, "int32", 4, false},
                           kind{FI_DOUBLE, "double", 8, true},  kind{FI_FLOAT, "float", 4, true}};

/// An operation that fetches, and numbers that check it: applied once to `from` it gives `after`.
struct change {
  fi_op operation;
  const char* name;
  int from, operand, after;
  bool floating;
};
constexpr std::array changes{change{FI_SUM, "add", 40, 2, 42, true},   change{FI_ATOMIC_WRITE, "swap", 40, 2, 2, true},
                             change{FI_BAND, "and", 12, 10, 8, false}, change{FI_BOR, "or", 12, 3, 15, false},
                             change{FI_BXOR, "xor", 12, 10, 6, false}, change{FI_MIN, "min", 40, 2, 2, true},
                             change{FI_MAX, "max", 40, 50, 50, true},  change{FI_ATOMIC_READ, "read", 40, 2, 40, true}};

void put_number(std::byte* where, const kind& of, int number) {
  const double wide = number;
  const auto narrow = static_cast<float>(number);
  const std::int64_t whole = number;
  if (of.floating) std::memcpy(where, of.size == 8 ? static_cast<const void*>(&wide) : &narrow, of.size);
  else std::memcpy(where, &whole, of.size);
}

bool is_number(const std::byte* where, const kind& of, int number) {
  std::byte expected[8];
  put_number(expected, of, number);
  return std::memcmp(where, expected, of.size) == 0;
}

/// A fetching atomic; 0, or the error. `operation` FI_SUM and the like fetch; FI_CSWAP compares.
int atomic(endpoint_pair& net, const kind& of, fi_op operation, std::size_t context) {
  std::byte* page = net.page();
  void* described = net.descriptor();
  const fi_ioc operand{page + operand_at, 1}, compare{page + compare_at, 1};
  fi_ioc result{page + result_at, 1};
  const fi_rma_ioc target{net.peer.address + operand_place, 1, net.peer.key};
  const fi_msg_atomic message{&operand, &described, 1,         net.peer_address(),   &target,
                              1,        of.type,    operation, net.context(context), 0};
  const ssize_t posted = net.insist([&] {
    return operation == FI_CSWAP ? fi_compare_atomicmsg(net.endpoint(), &message, &compare, &described, 1, &result,
                                                        &described, 1, FI_COMPLETION)
                                 : fi_fetch_atomicmsg(net.endpoint(), &message, &result, &described, 1, FI_COMPLETION);
  });
  if (posted != 0) return static_cast<int>(-posted);
  if (!net.until([&] { return net.ended(context) > 0 || net.failure() != 0; })) return FI_ETIMEDOUT;
  return net.failure();
}

/// Sets the target's number by a request to the target.
void start_from(const role& self, std::size_t which, int number) {
  self.side.send_value(1 + which * 1000 + static_cast<std::size_t>(number));
  self.side.wait_for_value();
}

/// "" where the value is right, else the error.
std::string change_once(const role& self, endpoint_pair& net, std::size_t which, const change& by) {
  const kind& of = kinds[which];
  start_from(self, which, by.from);
  net.came.clear();
  put_number(net.page() + operand_at, of, by.operand);
  if (const int wrong = atomic(net, of, by.operation, 1); wrong != 0) return error_name(wrong);
  if (!is_number(net.page() + result_at, of, by.from)) return "wrong value fetched";
  if (const int wrong = atomic(net, of, by.operation, 2); wrong != 0) return error_name(wrong);
  return is_number(net.page() + result_at, of, by.after) ? "" : "wrong value stored";
}

std::string swap(const role& self, endpoint_pair& net, std::size_t which) {
  const kind& of = kinds[which];
  start_from(self, which, 7);
  net.came.clear();
  put_number(net.page() + operand_at, of, 9);
  put_number(net.page() + compare_at, of, 8);
  if (const int wrong = atomic(net, of, FI_CSWAP, 1); wrong != 0) return error_name(wrong);
  if (!is_number(net.page() + result_at, of, 7)) return "wrong value fetched";
  put_number(net.page() + compare_at, of, 7);
  if (const int wrong = atomic(net, of, FI_CSWAP, 2); wrong != 0) return error_name(wrong);
  if (!is_number(net.page() + result_at, of, 7)) return "swapped although the values differed";
  if (const int wrong = atomic(net, of, FI_CSWAP, 3); wrong != 0) return error_name(wrong);
  return is_number(net.page() + result_at, of, 9) ? "" : "did not swap";
}

void atomics_initiator(const role& self) {
  endpoint_pair net(self.about, {.atomics = true}, self.side, true);
  self.report.fact("granted", true);
  net.warm_up();
  std::vector<std::string> right, wrong;
  for (std::size_t which = 0; which < kinds.size(); ++which) {
    const auto seen = [&](const char* name, const std::string& outcome) {
      const std::string full = std::string(name) + " " + kinds[which].name;
      if (outcome.empty()) right.push_back(full);
      else wrong.push_back(full + ": " + outcome);
      return outcome.empty() ? std::string("right") : outcome;
    };
    for (const change& by : changes) {
      if (kinds[which].floating && !by.floating) continue;
      const std::string outcome = seen(by.name, change_once(self, net, which, by));
      if (which == 0 && by.operation == FI_SUM) self.report.fact("fetch_add", outcome);
    }
    if (kinds[which].floating) continue;  // some providers compare by value, some by bits: no promise needs it
    const std::string outcome = seen("compare_swap", swap(self, net, which));
    if (which == 0) self.report.fact("compare_swap", outcome);
  }
  self.report.fact("operations", changes.size() + 1);
  self.report.fact("right", right);
  self.report.fact("wrong", wrong);
  self.side.send_value(0);
}

/// The first operation to a peer is an atomic, and others follow at once: one provider crashes then.
void first_atomic_initiator(const role& self) {
  endpoint_pair net(self.about, {.atomics = true}, self.side, true);
  put_number(net.page() + operand_at, kinds[0], 2);
  const int wrong = atomic(net, kinds[0], FI_SUM, 1);
  self.report.fact("first", wrong == 0 ? "right" : error_name(wrong));
  for (int i = 0; wrong == 0 && i < 200; ++i) {
    net.came.clear();
    if (const int later = atomic(net, kinds[0], FI_SUM, 2); later != 0) throw refused{"fi_fetch_atomicmsg", later};
  }
  if (wrong == 0)
    self.report.fact("all", is_number(net.page() + result_at, kinds[0], 400) ? "right" : "wrong value fetched");
  self.side.send_value(0);
}

void atomics_target(const role& self) {
  endpoint_pair net(self.about, {.atomics = true}, self.side, false);
  for (std::uint64_t word = net.serve(); word != 0; word = net.serve()) {
    std::memset(net.page() + operand_place, 0, 8);
    put_number(net.page() + operand_place, kinds[(word - 1) / 1000], static_cast<int>((word - 1) % 1000));
    self.side.send_value(1);
  }
}

}  // namespace

const behaviour first_atomic{"first_atomic", "may an atomic be the first operation, and many follow?",
                             first_atomic_initiator, atomics_target};
const behaviour atomics{"atomics", "which atomics are right, by value?", atomics_initiator, atomics_target};

}  // namespace weft::probe
