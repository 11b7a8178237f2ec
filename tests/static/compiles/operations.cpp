// SPDX-License-Identifier: Apache-2.0
//
// The code of the pages in docs/how-to/. Each block there is text of this file or of another compiled one
// (snippets.py compares them). Hot path: no. Threads: none.
#include "../../../compose/coalescing.hpp"
#include "../../../compose/immediate_layout.hpp"
#include "../../../compose/notification_counter.hpp"
#include "../../../compose/ordering.hpp"
#include "../../../compose/rails/rails.hpp"
#include "../../../compose/selected.hpp"
#include "../../../compose/with.hpp"
#include "../../../core/poll_spacing.hpp"
#include "../../../coroutines/scheduler.hpp"

#include <atomic>

using namespace std::chrono_literals;
using namespace weft;
using fabric = weft::selected;
using net_type = transport<fabric>;

status in_a_batch(net_type& net, peer there, const region& pages, const remote_region& target, void* request) {
  auto b = net.batch(there);
  for (std::uint32_t page = 0; page < 15; ++page)
    if (status s = b.put(pages.slice(page * 4096, 4096), target.at(page * 4096)); !s) return s;
  if (status s = b.put_notify(pages.slice(15 * 4096, 4096), target.at(15 * 4096), 15); !s) return s;
  return b.close(request);
}

status in_a_group(net_type& net, peer there, std::span<const local_memory> reports) {
  auto g = net.coalesce(there);
  for (const local_memory& each : reports)
    if (status s = g.send(each); !s) return s;
  return g.close();
}
using gathering =
    weft::with<fabric,
               answers::coalesce::up_to<64, answers::coalesce::bytes_for(64, 16)>>;  // its peers may be plain ones

status from_pieces(net_type& net, peer there, local_memory head, local_memory body, const remote_place& at,
                   void* request) {
  const local_memory both[] = {head, body};
  return net.put(there, both, at, request);
}

status until_it_is_seen(net_type& net, peer there, local_memory from, const remote_place& at, void* request) {
  if (status s = net.put(there, from, at); !s) return s;  // posted: reports failures only
  if (status s = net.put(there, from, at, completes_when<states::delivered>(request)); !s)
    return s;                        // the target has it
  return net.flush(there, request);  // all before it are visible
}

bool is_set_in_time(net_type& net, std::uint64_t& word, std::uint64_t wanted, duration at_most) {
  const instant end = net.now() + at_most;
  poll_spacing polls;
  for (const std::atomic_ref seen(word); seen.load(std::memory_order_acquire) != wanted; polls.before_poll())
    if (net.now() > end) return false;
  return true;
}

result<owned_words<atomicity::target>> counters(net_type& net) {
  return net.allocate_words<atomicity::target>(64, rights::remote_atomic);
}
status count(net_type& net, peer there, const remote_words<atomicity::target>& theirs, void* request) {
  if (status s = net.fetch_add(there, theirs.at(0), 1, request); !s) return s;  // completed::old is the value before
  return net.add<double>(there, theirs.at(8), 0.5, request);
}

result<owned_region> of_a_device(net_type& net, int dmabuf, std::byte* pointer,
                                 std::size_t size) {  // opened with {.device_memory = true}
  return net.register_region(dmabuf_memory{.descriptor = dmabuf, .address = pointer, .size = size},
                             rights::remote_write);
}

using call = immediate_layout<field<"id", 8>, field<"sequence", 16>>;
status tell(net_type& net, peer there, local_memory from, const remote_place& at) {
  return net.put_notify(there, from, at, call(7, 1), nullptr);
}
status wait_for_all(net_type& net, notification_counter& arrivals) {
  return arrivals.wait(net, 7, 64, 2s, counting<call, "id">(arrivals));
}

static_assert(ordering<fabric>::notice_after_its_bytes);
using in_order = ordered<fabric, order::write_after_write>;  // does not compile where the row has no such order

result<rails<fabric>> four() {
  return rails<fabric>::open({.nodes = {"127.0.0.1", "127.0.0.2", "127.0.0.3", "127.0.0.4"}, .page_bytes = 65536});
}
status over_all(rails<fabric>& all, striped_peer there, const striped_region& mine, const remote_striped_region& theirs,
                void* request) {
  return all.put_notify(there, mine.first(mine.size()), theirs.at(0), 1, request);
}

coroutines::task<> one_call(coroutines::scheduler<fabric>& net, coroutines::remote<fabric> there, local_memory from,
                            remote_place at) {
  if (status s = co_await there.put_notify(from, at, 5); !s) co_return s;
  const coroutines::notice answer = co_await net.next_notice(2s);
  co_return answer.why;
}
