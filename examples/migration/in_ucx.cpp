// SPDX-License-Identifier: Apache-2.0
//
// Before: the task of in_weft.cpp in UCX (UCP). The initiator writes a text into a page of the target, then a flag with
// the number 7 behind it: UCP has no put with an immediate. Sides: `target HOST`, which prints where it listens, and
// `initiator HOST:PORT`.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <ucp/api/ucp.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr unsigned page_message = 1;

void must(ucs_status_t s, const char* what) {
  if (s != UCS_OK) throw std::runtime_error(std::string(what) + ": " + ucs_status_string(s));
}

/// The header of the message that offers the page; the packed key follows. Both sides have one byte order.
struct page_description {
  std::uint64_t address, bytes;
};
struct page_memory {
  std::array<char, 4088> text{};
  alignas(8) std::uint64_t flag = 0;
};

/// All objects of one side.
struct side {
  ucp_context_h context = nullptr;
  ucp_worker_h worker = nullptr;
  ucp_listener_h listener = nullptr;
  ucp_ep_h endpoint = nullptr;
  ucp_mem_h memory = nullptr;
  ucp_rkey_h page_key = nullptr;
  page_memory page;
  ucp_conn_request_h asked = nullptr;       // at the target
  std::optional<page_description> offered;  // at the initiator
  std::vector<char> packed_key;
  std::optional<ucs_status_t> left;

  side() = default;
  side(const side&) = delete;
  side& operator=(const side&) = delete;
  ~side() {
    if (page_key != nullptr) ucp_rkey_destroy(page_key);
    if (endpoint != nullptr) (void)close(UCP_EP_CLOSE_FLAG_FORCE);
    if (listener != nullptr) ucp_listener_destroy(listener);
    if (memory != nullptr) ucp_mem_unmap(context, memory);
    if (worker != nullptr) ucp_worker_destroy(worker);
    if (context != nullptr) ucp_cleanup(context);
  }

  void open() {
    ucp_params_t wanted{};
    wanted.field_mask = UCP_PARAM_FIELD_FEATURES;
    wanted.features = UCP_FEATURE_RMA | UCP_FEATURE_AM;
    must(ucp_init(&wanted, nullptr, &context), "ucp_init");
    ucp_worker_params_t threads{};
    threads.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
    threads.thread_mode = UCS_THREAD_MODE_SINGLE;
    must(ucp_worker_create(context, &threads, &worker), "ucp_worker_create");
    ucp_mem_map_params_t ours{};
    ours.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
    ours.address = &page;
    ours.length = sizeof page;
    must(ucp_mem_map(context, &ours, &memory), "ucp_mem_map");
  }
  /// Creates the endpoint, by the fields that the caller has set, and asks to be told of the peer's end.
  void connect(ucp_ep_params_t p) {
    p.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    p.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    p.err_handler = {[](void* own, ucp_ep_h, ucs_status_t why) { static_cast<side*>(own)->left = why; }, this};
    must(ucp_ep_create(worker, &p, &endpoint), "ucp_ep_create");
  }

  template <class Done>
  bool until(Done done, std::chrono::seconds at_most) {
    for (const auto end = steady::now() + at_most; steady::now() < end;) {
      if (done()) return true;
      ucp_worker_progress(worker);
    }
    return false;
  }
  /// As until(). Fails where the peer leaves first, or nothing comes in time.
  template <class Done>
  void need(Done done, std::chrono::seconds at_most, const char* what) {
    const bool in_time = until([&] { return done() || left; }, at_most);
    if (done()) return;
    must(in_time ? *left : UCS_ERR_TIMED_OUT, what);
  }
  /// Waits for the end of one operation.
  ucs_status_t end_of(ucs_status_ptr_t operation) {
    if (!UCS_PTR_IS_PTR(operation)) return UCS_PTR_STATUS(operation);
    ucs_status_t s = UCS_INPROGRESS;
    const bool ended = until([&] { return (s = ucp_request_check_status(operation)) != UCS_INPROGRESS; }, 20s);
    if (!ended) ucp_request_cancel(worker, operation);
    ucp_request_free(operation);
    return ended ? s : UCS_ERR_TIMED_OUT;
  }
  ucs_status_t close(std::uint32_t flags) {
    ucp_request_param_t how{};
    how.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    how.flags = flags;
    return end_of(ucp_ep_close_nbx(std::exchange(endpoint, nullptr), &how));
  }
};

/// Keeps the first request, and refuses others.
void connection_asked(ucp_conn_request_h request, void* to) {
  auto& own = *static_cast<side*>(to);
  if (own.asked == nullptr) own.asked = request;
  else ucp_listener_reject(own.listener, request);
}

void target(const char* host) {
  side own;
  own.open();
  sockaddr_in name{};
  name.sin_family = AF_INET;
  if (inet_pton(AF_INET, host, &name.sin_addr) != 1) throw std::runtime_error("the host is no IPv4 address");
  ucp_listener_params_t p{};
  p.field_mask = UCP_LISTENER_PARAM_FIELD_SOCK_ADDR | UCP_LISTENER_PARAM_FIELD_CONN_HANDLER;
  p.sockaddr = {reinterpret_cast<sockaddr*>(&name), sizeof name};
  p.conn_handler = {connection_asked, &own};
  must(ucp_listener_create(own.worker, &p, &own.listener), "ucp_listener_create");
  ucp_listener_attr_t bound{};
  bound.field_mask = UCP_LISTENER_ATTR_FIELD_SOCKADDR;
  must(ucp_listener_query(own.listener, &bound), "ucp_listener_query");
  std::memcpy(&name, &bound.sockaddr, sizeof name);
  std::printf("target: at %s:%u\n", inet_ntoa(name.sin_addr), ntohs(name.sin_port));

  own.need([&] { return own.asked != nullptr; }, 30s, "nobody connected");
  ucp_ep_params_t to{};
  to.field_mask = UCP_EP_PARAM_FIELD_CONN_REQUEST;
  to.conn_request = own.asked;
  own.connect(to);
  void* key = nullptr;
  std::size_t key_bytes = 0;
  must(ucp_rkey_pack(own.context, own.memory, &key, &key_bytes), "ucp_rkey_pack");
  const page_description offered{reinterpret_cast<std::uintptr_t>(&own.page), sizeof own.page};
  ucp_request_param_t eager{};
  eager.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
  eager.flags = UCP_AM_SEND_FLAG_EAGER;
  const ucs_status_t sent =
      own.end_of(ucp_am_send_nbx(own.endpoint, page_message, &offered, sizeof offered, key, key_bytes, &eager));
  ucp_rkey_buffer_release(key);
  must(sent, "ucp_am_send_nbx");

  std::uint64_t number = 0;
  const std::atomic_ref flag(own.page.flag);
  own.need([&] { return (number = flag.load(std::memory_order_acquire)) != 0; }, 20s, "no flag came");
  std::printf("target: %s (%u)\n", own.page.text.data(), static_cast<unsigned>(number));
  // An orderly end and a death look alike: the error handler runs. After the flag it counts as in order.
  if (!own.until([&] { return own.left.has_value(); }, 20s)) must(UCS_ERR_TIMED_OUT, "the initiator did not leave");
  std::printf("target: the initiator left in order\n");
}

/// Keeps the description of the page. The key's bytes are valid only here.
ucs_status_t page_offered(void* to, const void* header, std::size_t header_bytes, void* key, std::size_t key_bytes,
                          const ucp_am_recv_param_t* how) {
  auto& own = *static_cast<side*>(to);
  if (header_bytes != sizeof(page_description) || (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0) return UCS_OK;
  own.offered.emplace();
  std::memcpy(&*own.offered, header, sizeof *own.offered);
  own.packed_key.assign(static_cast<char*>(key), static_cast<char*>(key) + key_bytes);
  return UCS_OK;
}

void initiator(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  sockaddr_in name{};
  name.sin_family = AF_INET;
  if (colon == std::string::npos || inet_pton(AF_INET, address.substr(0, colon).c_str(), &name.sin_addr) != 1)
    throw std::runtime_error("the address \"" + address + "\" is not HOST:PORT");
  name.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(colon + 1))));
  side own;
  own.open();
  ucp_am_handler_param_t p{};
  p.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB | UCP_AM_HANDLER_PARAM_FIELD_ARG;
  p.id = page_message;
  p.cb = page_offered;
  p.arg = &own;
  must(ucp_worker_set_am_recv_handler(own.worker, &p), "ucp_worker_set_am_recv_handler");
  ucp_ep_params_t to{};
  to.field_mask = UCP_EP_PARAM_FIELD_FLAGS | UCP_EP_PARAM_FIELD_SOCK_ADDR;
  to.flags = UCP_EP_PARAMS_FLAGS_CLIENT_SERVER;
  to.sockaddr = {reinterpret_cast<sockaddr*>(&name), sizeof name};
  own.connect(to);
  own.need([&] { return own.offered.has_value(); }, 10s, "no page was offered");
  if (own.offered->bytes != sizeof(page_memory)) throw std::runtime_error("the target offers a page of another size");
  must(ucp_ep_rkey_unpack(own.endpoint, own.packed_key.data(), &own.page_key), "ucp_ep_rkey_unpack");

  std::strcpy(own.page.text.data(), "hello, world");
  own.page.flag = 7;
  ucp_request_param_t how{};
  how.op_attr_mask = UCP_OP_ATTR_FIELD_MEMH;
  how.memh = own.memory;
  const std::uint64_t there = own.offered->address;
  const auto text = ucp_put_nbx(own.endpoint, own.page.text.data(), 13, there, own.page_key, &how);
  if (UCS_PTR_IS_ERR(text)) must(UCS_PTR_STATUS(text), "ucp_put_nbx of the text");  // without text no flag
  must(ucp_worker_fence(own.worker), "ucp_worker_fence");                           // or the flag may overtake it
  const auto flag = ucp_put_nbx(own.endpoint, &own.page.flag, sizeof own.page.flag, there + offsetof(page_memory, flag),
                                own.page_key, &how);
  // The puts end when their sources may change. The flush ends when the target has the bytes.
  const ucp_request_param_t plain{};
  const ucs_status_t flushed = own.end_of(ucp_ep_flush_nbx(own.endpoint, &plain));
  const ucs_status_t text_put = own.end_of(text), flag_put = own.end_of(flag);
  must(text_put, "ucp_put_nbx of the text");
  must(flag_put, "ucp_put_nbx of the flag");
  must(flushed, "ucp_ep_flush_nbx");
  std::printf("initiator: written\n");
  ucp_rkey_destroy(std::exchange(own.page_key, nullptr));
  must(own.close(0), "ucp_ep_close_nbx");
}

}  // namespace

int main(int argc, char** argv) try {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const std::string_view side = argc == 3 ? argv[1] : "";
  if (side == "target") target(argv[2]);
  else if (side == "initiator") initiator(argv[2]);
  else return std::fprintf(stderr, "usage: %s target HOST | initiator HOST:PORT\n", argv[0]), 2;
} catch (const std::exception& e) {
  return std::fprintf(stderr, "%s\n", e.what()), 1;
}
