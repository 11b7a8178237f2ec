// SPDX-License-Identifier: Apache-2.0
//
// Receives that more than one message uses: a buffer that takes many messages, and a pool that serves two connections.
// Immediates of writes must pass a pool too: one provider loses them there. Hot path: no. Threads: one owner per
// process.
#include "../behaviours.hpp"
#include "../endpoint_pair.hpp"

#include <rdma/fi_endpoint.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace weft::probe {

namespace {

constexpr std::size_t numbered = 200;

constexpr std::size_t largest = 1024;  // FI_OPT_MIN_MULTI_RECV: a larger message may be cut at the end of a buffer

std::size_t size_of(std::size_t number) { return 8 + number * 37 % (largest - 16); }

std::byte filling(std::size_t number) { return std::byte(1 + number % 251); }

void fill(std::byte* where, std::size_t number) {
  std::memset(where, std::to_integer<int>(filling(number)), size_of(number));
  const std::uint64_t word = number;
  std::memcpy(where, &word, sizeof word);
}

/// The number of a message whose bytes and length are right; `numbered` for a wrong one.
std::size_t number_in(const void* where, std::size_t length) {
  const auto* bytes = static_cast<const std::byte*>(where);
  std::uint64_t number = 0;
  std::memcpy(&number, bytes, sizeof number);
  const bool right = number < numbered && (length == 0 || length == size_of(number)) &&
                     std::all_of(bytes + sizeof number, bytes + size_of(number),
                                 [&](std::byte each) { return each == filling(number); });
  return right ? number : numbered;
}

/// Counts each message once.
struct tallied {
  std::vector<bool> seen = std::vector<bool>(numbered);
  std::size_t arrived = 0, wrong = 0;
  void count(std::size_t number) {
    if (number >= numbered || seen[number]) ++wrong;
    else ++arrived;
    if (number < numbered) seen[number] = true;
  }
};

/// Initiator: numbered messages; `link` picks the connection of each.
template <class Link>
void send_all(const role& self, endpoint_pair& net, Link link) {
  for (std::size_t i = 0; i < numbered; ++i) {
    fill(net.page() + i * largest, i);
    const transfer what{.from = i * largest, .size = size_of(i), .context = 1};
    require(net.insist([&] { return net.send_over(link(i), what); }), "fi_sendmsg");
  }
  net.until([&] { return net.ended(1) >= numbered || net.failure() != 0; });
  if (net.failure() != 0) throw refused{"a message", net.failure()};
  self.side.send_value(1);
  net.until([&] { return self.side.ready(); }, milliseconds(4000));  // some providers need progress of this side
}

// Some releases ignore FI_OPT_MIN_MULTI_RECV and give a buffer back when 16 KiB of it are left.
constexpr std::size_t buffer_size = 65536, buffers = 3, first_buffer = 100, room = numbered * largest;
const wishes with_buffers{.many = true, .page = room, .receives = 0};

void multi_receive_initiator(const role& self) {
  endpoint_pair net(self.about, {.many = true, .page = room}, self.side, true);
  net.warm_up();
  send_all(self, net, [&](std::size_t) { return net.endpoint(); });
}

void multi_receive_target(const role& self) {
  endpoint_pair net(self.about, with_buffers, self.side, false);
  std::size_t least_room = largest;
  require(fi_setopt(&net.endpoint()->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least_room, sizeof least_room),
          "fi_setopt(FI_OPT_MIN_MULTI_RECV)");
  for (std::size_t i = 0; i < buffers; ++i)
    require(net.receive_many(i * buffer_size, buffer_size, first_buffer + i), "fi_recvmsg(FI_MULTI_RECV)");
  tallied all;
  std::size_t looked_at = 0, returned = 0;
  net.until(
      [&] {
        for (; looked_at < net.came.size(); ++looked_at) {
          const entry& each = net.came[looked_at];
          returned += (each.flags & FI_MULTI_RECV) != 0;
          // The end of a buffer may be an entry of its own, without a message.
          if ((each.flags & FI_RECV) == 0 || each.buffer == nullptr || each.length == 0) continue;
          const auto* at = static_cast<const std::byte*>(each.buffer);
          const bool inside = at >= net.page() && at + each.length <= net.page() + buffers * buffer_size;
          all.count(each.error == 0 && inside ? number_in(at, each.length) : numbered);
        }
        return all.arrived + all.wrong >= numbered && returned > 0;
      },
      milliseconds(1500));
  self.report.fact("messages", numbered);
  self.report.fact("arrived", all.arrived);
  self.report.fact("wrong", all.wrong);
  self.report.fact("buffers_returned", returned);
  net.serve();
  self.side.send_value(1);
}

constexpr std::size_t pool_writes = 40;

void shared_receives_initiator(const role& self) {
  endpoint_pair net(self.about, {.page = room}, self.side, true);
  net.connect_again(true);
  net.warm_up();
  const auto link = [&](std::size_t i) { return i % 2 == 0 ? net.endpoint() : net.second_link(); };
  send_all(self, net, link);
  self.side.wait_for_value();
  const std::size_t through_pool = net.info().domain_attr->cq_data_size == 0 ? 0 : pool_writes;
  for (std::size_t i = 0; i < through_pool; ++i) {
    const transfer what{.flags = FI_COMPLETION | FI_REMOTE_CQ_DATA, .context = 2, .data = i};
    require(net.insist([&] { return net.write_over(link(i), what); }), "fi_writemsg(FI_REMOTE_CQ_DATA)");
  }
  net.until([&] { return net.ended(2) >= through_pool; });
  self.side.send_value(through_pool);
  net.until([&] { return self.side.ready(); }, milliseconds(4000));
}

void shared_receives_target(const role& self) {
  endpoint_pair net(self.about, {.pool = true, .receives = numbered + pool_writes, .receive_bytes = largest}, self.side,
                    false);
  net.connect_again(false);
  tallied all;
  std::size_t looked_at = 0;
  net.until(
      [&] {
        const std::vector<std::size_t> got = net.received();
        for (; looked_at < got.size(); ++looked_at)
          all.count(got[looked_at] < numbered ? number_in(net.receive_memory(got[looked_at]), 0) : numbered);
        return all.arrived + all.wrong >= numbered;
      },
      milliseconds(1500));
  self.report.fact("messages", numbered);
  self.report.fact("arrived", all.arrived);
  self.report.fact("wrong", all.wrong);
  net.serve();
  self.side.send_value(1);
  const std::size_t through_pool = net.serve();
  const auto immediates = [&] {
    return static_cast<std::size_t>(std::count_if(net.came.begin(), net.came.end(), [](const entry& each) {
      return each.error == 0 && (each.flags & FI_REMOTE_CQ_DATA) != 0 && (each.flags & (FI_WRITE | FI_SEND)) == 0;
    }));
  };
  net.until([&] { return immediates() >= through_pool; }, milliseconds(1500));
  self.report.fact("immediates", through_pool);
  self.report.fact("immediates_arrived", immediates());
  self.side.send_value(1);
}

}  // namespace

const behaviour multi_receive{"multi_receive", "does one buffer take many messages, and come back when it is full?",
                              multi_receive_initiator, multi_receive_target};
const behaviour shared_receives{"shared_receives", "do two connections take their messages from one pool?",
                                shared_receives_initiator, shared_receives_target};

}  // namespace weft::probe
