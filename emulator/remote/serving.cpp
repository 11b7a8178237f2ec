// SPDX-License-Identifier: Apache-2.0
#include "serving.hpp"

#include "executing.hpp"
#include "posting.hpp"
#include "rules.hpp"

#include <cstring>
#include <utility>
#include <vector>

namespace weft::emulator {

void answer(endpoint& from, const packet& to, int code, std::string_view payload) {
  if (to.head.number == 0) return;  // no answer was requested
  packet_header head;
  head.kind = packet_kind::answer;
  head.number = to.head.number;
  head.code = code;
  head.length = to.head.length;
  (void)from.wire.send(to.head.source, head, payload);
}

namespace {

using std::chrono::steady_clock;

struct target {
  std::byte* at = nullptr;
  int code = 0;
};

target find_target(const endpoint& of, const packet& p, std::size_t size, std::uint64_t access) {
  const profile& row = *emulated();
  const auto known = of.domain->regions.find(p.head.key);
  if (known == of.domain->regions.end()) return {nullptr, FI_EKEYREJECTED};
  const region& into = *known->second;
  if (!into.enabled) {
    broken("region_endpoint_binding", "a remote operation named a region that is not bound to an endpoint and enabled");
    return {nullptr, FI_EACCES};
  }
  if ((into.access & access) != access && into.access != 0) return {nullptr, FI_EACCES};
  const std::uint64_t base = reinterpret_cast<std::uintptr_t>(into.base);
  const std::uint64_t first = row.virtual_addressing ? base : 0;
  const std::uint64_t offset = p.head.address - first;
  if (p.head.address >= first && offset <= into.size && size <= into.size - offset) return {into.base + offset, 0};
  if (row.virtual_addressing ? p.head.address <= into.size
                             : (p.head.address >= base && p.head.address <= base + into.size))
    broken("virtual_addressing",
           row.virtual_addressing
               ? "a remote operation named an offset; remote addresses are pointers of the target on this fabric"
               : "a remote operation named a pointer; remote addresses count from the region's start on this fabric");
  return {nullptr, FI_EACCES};
}

/// Whether the notice was reported: where it consumes a receive, one must be there.
bool report_immediate(endpoint& of, const packet& p) {
  entry reported;
  reported.flags = FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA;
  reported.data = p.head.data;
  if (emulated()->write_immediate_consumes_receive) {
    if (of.receives.empty()) return false;
    const posted_receive eaten = of.receives.front();
    of.receives.pop_front();
    verify_context(eaten.context, eaten.noise);
    reported.context = eaten.context;
  }
  if (of.receive != nullptr) of.receive->entries.push_back(reported);
  return true;
}

/// Splits between words of 8 bytes: no cell promises that the bytes of one write become visible together, or in order.
/// An aligned word stays whole, as on every bus of a device.
std::vector<packet::piece> cut(endpoint& of, const std::byte* at, std::size_t size) {
  constexpr std::size_t word = 8;
  std::vector<packet::piece> pieces{{0, size}};
  if (conducted().partial == 0) return pieces;
  while (pieces.size() < 4 && pieces.back().size > word) {
    packet::piece& last = pieces.back();
    std::size_t first = 1 + of.decisions.below(last.size - 1);
    first += (word - (reinterpret_cast<std::uintptr_t>(at) + last.begin + first) % word) % word;
    if (first >= last.size) break;
    const packet::piece rest{last.begin + first, last.size - first};
    last.size = first;
    pieces.push_back(rest);
  }
  return pieces;
}

/// Makes bytes visible, piece by piece in any order. Returns whether all are visible.
bool land_bytes(endpoint& of, packet& p, std::byte* at) {
  if (!p.begun) p.left = p.payload.empty() ? std::vector<packet::piece>{} : cut(of, at, p.payload.size());
  p.begun = true;
  while (!p.left.empty()) {
    std::swap(p.left[of.decisions.below(p.left.size())], p.left.back());
    const packet::piece next = p.left.back();
    p.left.pop_back();
    std::memcpy(at + next.begin, p.payload.data() + next.begin, next.size);
    if (!p.left.empty() && of.decisions.in_a_thousand(conducted().partial)) return false;
  }
  return true;
}

/// True when it took effect (or was refused); false when it has to wait.
bool land(endpoint& of, packet& p) {
  const target into = find_target(of, p, p.payload.size(), FI_REMOTE_WRITE);
  if (into.code == 0 && (p.head.marks & mark::data) != 0) {
    if (emulated()->write_immediate_consumes_receive && of.receives.empty()) {
      if (steady_clock::now() - p.arrived < std::chrono::seconds(3)) return false;
      broken("write_immediate_consumes_receive",
             "a write with an immediate found no posted receive for 3 s; on this fabric each consumes one, and a "
             "reserve must stay posted");
      answer(of, p, FI_ENORX);
      return true;
    }
    if (!land_bytes(of, p, into.at)) return false;
    (void)report_immediate(of, p);
  } else if (into.code == 0 && !land_bytes(of, p, into.at)) {
    return false;
  }
  if (into.code == 0) count(of.counted.remote_writes, 0);
  answer(of, p, into.code);
  return true;
}

bool serve_read(endpoint& of, const packet& p) {
  const target from = find_target(of, p, p.head.length, FI_REMOTE_READ);
  if (from.code != 0) return answer(of, p, from.code), true;
  count(of.counted.remote_reads, 0);
  answer(of, p, 0, {reinterpret_cast<const char*>(from.at), p.head.length});
  return true;
}

bool serve_atomic(endpoint& of, const packet& p) {
  // fi_mr(3): an atomic that changes the word needs FI_REMOTE_WRITE.
  const bool reads = p.head.operation == FI_ATOMIC_READ;
  const target at =
      find_target(of, p, size_of(p.head.datatype) * p.head.length, reads ? FI_REMOTE_READ : FI_REMOTE_WRITE);
  std::string old;
  const int code = at.code != 0 ? at.code : execute_atomic(at.at, p.head, p.payload, old);
  if (code == 0) count((p.head.marks & mark::fetches) != 0 ? of.counted.remote_reads : of.counted.remote_writes, 0);
  answer(of, p, code, code == 0 ? std::string_view(old) : std::string_view{});
  return true;
}

}  // namespace

bool serve_remote(endpoint& of, packet& p) {
  switch (p.head.kind) {
    case packet_kind::write:
      return land(of, p);
    case packet_kind::read:
      return serve_read(of, p);
    default:
      return serve_atomic(of, p);
  }
}

}  // namespace weft::emulator
