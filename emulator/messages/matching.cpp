// SPDX-License-Identifier: Apache-2.0
#include "matching.hpp"

#include "rules.hpp"
#include "serving.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::emulator {
namespace {

bool tagged(const packet& message) { return message.head.kind == packet_kind::tagged; }

bool takes(const posted_receive& receive, const packet& message) {
  if (receive.tagged != tagged(message)) return false;
  if (receive.from != 0 && receive.from != message.head.source) return false;
  return !receive.tagged || (receive.tag | receive.ignore) == (message.head.tag | receive.ignore);
}

fi_addr_t place_of(const endpoint& of, std::uint64_t number) {
  if (of.table == nullptr) return FI_ADDR_NOTAVAIL;
  const auto& numbers = of.table->numbers;
  auto found = std::find(numbers.begin(), numbers.end(), number);
  // a context of a scalable endpoint: its address is that of the endpoint
  if (found == numbers.end()) found = std::find(numbers.begin(), numbers.end(), number & ~std::uint64_t{0xff});
  return found == numbers.end() ? FI_ADDR_NOTAVAIL : static_cast<fi_addr_t>(found - numbers.begin());
}

/// What completion entries say of a message.
entry described(const endpoint& of, const packet& message, void* context) {
  entry made;
  made.context = context;
  made.flags = FI_RECV | (tagged(message) ? FI_TAGGED : FI_MSG) |
               ((message.head.marks & mark::data) != 0 ? std::uint64_t{FI_REMOTE_CQ_DATA} : 0);
  made.length = message.payload.size();
  made.data = message.head.data;
  made.tag = message.head.tag;
  made.source = place_of(of, message.head.source);
  return made;
}

void report(endpoint& of, const entry& made) {
  if (of.receive != nullptr) of.receive->entries.push_back(made);
}
void report_error(endpoint& of, const entry& of_message, int code, std::size_t missing = 0) {
  if (of.receive == nullptr) return;
  fi_cq_err_entry error{};
  error.op_context = of_message.context;
  error.flags = of_message.flags;
  error.len = of_message.length;
  error.buf = of_message.buffer;
  error.data = of_message.data;
  error.tag = of_message.tag;
  error.olen = missing;
  error.err = code;
  error.prov_errno = code;
  of.receive->errors.push_back(error);
}

/// The sender may still wait for this message's end.
void settle_sender(endpoint& of, const packet& message, int code) {
  if ((message.head.marks & mark::delivered) != 0 || message.unreported) answer(of, message, code);
}

void scatter(const packet& message, const std::vector<iovec>& into, std::size_t size) {
  std::size_t copied = 0;
  for (const iovec& each : into) {
    const std::size_t n = std::min(each.iov_len, size - copied);
    if (n > 0) std::memcpy(each.iov_base, message.payload.data() + copied, n);
    copied += n;
  }
}

/// Copies a message into its receive and reports both ends. Returns whether the receive is spent.
bool deliver(endpoint& of, posted_receive& into, const packet& message) {
  entry made = described(of, message, into.context);
  const std::size_t size = message.payload.size();
  const std::size_t room = into.size - into.used;
  const bool fits = size <= room;
  bool spent = true;
  if (into.multi) {
    const iovec rest{static_cast<std::byte*>(into.into.front().iov_base) + into.used, room};
    made.buffer = rest.iov_base;
    if (fits) scatter(message, {rest}, size);
    if (fits) into.used += size;
    spent = !fits || into.size - into.used < of.least_multi;
    if (spent) made.flags |= FI_MULTI_RECV;
  } else {
    made.buffer = into.into.empty() ? nullptr : into.into.front().iov_base;
    scatter(message, into.into, std::min(size, room));
  }
  if (spent) (void)verify_context(into.context, into.noise);
  count(of.counted.receives, fits ? 0 : FI_ETRUNC);
  if (!fits) {
    made.length = into.multi ? 0 : room;
    report_error(of, made, FI_ETRUNC, size - room);
  } else if (into.completes || (into.multi && spent)) {
    report(of, made);
  }
  settle_sender(of, message, fits || (message.head.marks & mark::delivered) == 0 ? 0 : FI_ETRUNC);
  return spent;
}

auto& queue_of(endpoint& of, bool for_tagged) { return for_tagged ? of.tagged_receives : of.receives; }

auto find_unexpected(endpoint& of, const posted_receive& sought) {
  return std::find_if(of.unexpected.begin(), of.unexpected.end(), [&](const unexpected_message& each) {
    return each.claimed_by == nullptr && takes(sought, each.message);
  });
}

}  // namespace

void admit(endpoint& of, packet&& arrived) {
  auto& queue = queue_of(of, tagged(arrived));
  const auto found =
      std::find_if(queue.begin(), queue.end(), [&](const posted_receive& each) { return takes(each, arrived); });
  if (found == queue.end()) of.unexpected.push_back({std::move(arrived), nullptr, 0});
  else if (deliver(of, *found, arrived)) queue.erase(found);
}

void post_receive(endpoint& of, posted_receive&& made) {
  for (auto found = find_unexpected(of, made); found != of.unexpected.end(); found = find_unexpected(of, made)) {
    const packet message = std::move(found->message);
    of.unexpected.erase(found);
    if (deliver(of, made, message)) return;
  }
  queue_of(of, made.tagged).push_back(std::move(made));
}

void peek(endpoint& of, const posted_receive& sought, std::uint64_t flags) {
  const auto found = find_unexpected(of, sought);
  const std::uint64_t noise = verify_context(sought.context, sought.noise);
  if (found == of.unexpected.end()) {
    entry nothing;
    nothing.context = sought.context;
    nothing.flags = FI_RECV | FI_TAGGED;
    nothing.tag = sought.tag;
    return report_error(of, nothing, FI_ENOMSG);
  }
  report(of, described(of, found->message, sought.context));
  if ((flags & FI_CLAIM) != 0) {
    found->claimed_by = sought.context;
    found->noise = noise;
  } else if ((flags & FI_DISCARD) != 0) {
    settle_sender(of, found->message, 0);
    of.unexpected.erase(found);
  }
}

int receive_claimed(endpoint& of, posted_receive&& made, std::uint64_t flags) {
  const auto found = std::find_if(of.unexpected.begin(), of.unexpected.end(),
                                  [&](const unexpected_message& each) { return each.claimed_by == made.context; });
  if (found == of.unexpected.end()) {
    broken("claimed_message", "a receive with FI_CLAIM has a context that claimed no message (FI_PEEK with FI_CLAIM)");
    return FI_EINVAL;
  }
  made.noise = verify_context(made.context, found->noise);
  const packet message = std::move(found->message);
  of.unexpected.erase(found);
  if ((flags & FI_DISCARD) == 0) {
    (void)deliver(of, made, message);
    return 0;
  }
  entry dropped = described(of, message, made.context);
  dropped.length = 0;
  if (made.completes) report(of, dropped);
  count(of.counted.receives, 0);
  settle_sender(of, message, 0);
  return 0;
}

bool cancel_receive(endpoint& of, void* context) {
  for (auto* queue : {&of.receives, &of.tagged_receives}) {
    const auto found =
        std::find_if(queue->begin(), queue->end(), [context](const posted_receive& r) { return r.context == context; });
    if (found == queue->end()) continue;
    entry cancelled;
    cancelled.context = context;
    cancelled.tag = found->tag;
    cancelled.flags =
        FI_RECV | (found->tagged ? FI_TAGGED : FI_MSG) | (found->multi ? std::uint64_t{FI_MULTI_RECV} : 0);
    (void)verify_context(context, found->noise);
    count(of.counted.receives, FI_ECANCELED);
    report_error(of, cancelled, FI_ECANCELED);
    queue->erase(found);
    return true;
  }
  return false;
}

}  // namespace weft::emulator
