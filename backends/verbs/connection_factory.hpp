// SPDX-License-Identifier: Apache-2.0
//
// Creates links: an id on this port's device, the credit words, a queue pair with room for all that the port promised,
// and the parameters of a request or answer.
// Queue pairs are created before a request or answer is sent, so receives are posted before a peer can send.
// Hot path: no. Threads: one owner.
#pragma once

#include "connection.hpp"
#include "extended_posting.hpp"
#include "shared_receive_queue.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

namespace weft::backends::verbs {

template <class Shape>
class connection_factory {
 public:
  connection_factory(const device& on, ibv_cq* queue, const shared_receive_queue& pool, const port_options& options)
      : on_(on),
        queue_(queue),
        pool_(pool),
        receives_(options.receives),
        backlog_(static_cast<int>(std::min(options.links, 1024U))) {}

  static std::string who() { return "fabric " + std::string(Shape::name); }

  /// An id that listens; its events arrive at `channel`.
  result<owned<rdma_cm_id>> listener(rdma_event_channel* channel, const port_options& options) const {
    const std::string listening = who() + ": listening at " + options.node + ":" + options.service;
    socket_address at = on_.own;
    if (at.length() == 0) {
      auto any = resolve_address({}, options.service, who());
      if (!any) return std::move(any).error();
      at = *any;
    }
    auto id = fresh_id(channel, listening);
    if (!id) return id;
    if (rdma_bind_addr(id->get(), at.get()) != 0) return refused(errno, "rdma_bind_addr", listening);
    if (rdma_listen(id->get(), backlog_) != 0) return refused(errno, "rdma_listen", listening);
    return id;
  }

  /// A link towards an address, ready for receives. The connection manager has begun to resolve the address.
  result<std::unique_ptr<connection>> towards(socket_address to, rdma_event_channel* channel,
                                              const std::string& dialling) const {
    std::optional<socket_address> from = on_.own;
    if (from->length() == 0 || from->any()) from = source_towards(to);
    if (!from) return unreachable("connect", dialling);
    from->set_port(0);
    auto id = fresh_id(channel, dialling);
    if (!id) return std::move(id).error();
    if (rdma_bind_addr(id->get(), from->get()) != 0) return unreachable("rdma_bind_addr", dialling);
    if (id.value()->verbs != on_.context)
      return failure{error(errc::unreachable, "dial"),
                     dialling + ": device " + on_.name + " does not reach it; name another local address in node"};
    auto made = link(std::move(id).value(), dialling);
    if (made && rdma_resolve_addr(made.value()->id.get(), nullptr, to.get(), resolve_ms) != 0)
      return unreachable("rdma_resolve_addr", dialling);
    return made;
  }

  /// A link over an id that has a device.
  result<std::unique_ptr<connection>> link(owned<rdma_cm_id> id, const std::string& tried) const {
    auto made = std::make_unique<connection>();
    made->words = std::make_unique<credit_words>();
    made->region.reset(ibv_reg_mr(on_.domain.get(), made->words.get(), sizeof(credit_words),
                                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
    if (!made->region) return refused(errno, "ibv_reg_mr", tried + ": the words of credit");
    ibv_qp_init_attr ask{};
    ask.send_cq = ask.recv_cq = queue_;
    ask.qp_type = IBV_QPT_RC;
    ask.srq = pool_.get();
    ask.cap = {on_.send_depth + send_reserve, Shape::shared_receives ? 0 : receives_, Shape::framed ? 2U : 1U, 1,
               on_.inline_bytes};
    if constexpr (Shape::facts.extended_posting) {
      ibv_qp_init_attr_ex wanted = extended<Shape>(ask, on_.domain.get());
      if (rdma_create_qp_ex(id.get(), &wanted) != 0) return refused(errno, "rdma_create_qp_ex", tried);
      made->extended = ibv_qp_to_qp_ex(id->qp);
    } else if (rdma_create_qp(id.get(), on_.domain.get(), &ask) != 0) {
      return refused(errno, "rdma_create_qp", tried);
    }
    made->pair = id->qp;
    made->offer = receive_offer(receives_);
    if constexpr (!Shape::shared_receives) made->receives.open(made.get(), receives_);
    made->sends.open(made.get(), on_.send_depth, send_reserve, std::min(Shape::facts.queue_depth, on_.send_depth) / 4);
    std::uint8_t patience = acknowledged_in;
    (void)rdma_set_option(id.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &patience, sizeof patience);  // A hint.
    id->context = made.get();
    made->id = std::move(id);
    return made;
  }

  /// Resolves the path to a resolved address.
  static int route(rdma_cm_id* id) noexcept { return rdma_resolve_route(id, resolve_ms); }

  /// Requests or accepts a connection; an answer has at most the requested values. `reads`: reads in flight, served and
  /// requested by this side.
  int connect(connection& link) const { return negotiate(link, {most_reads, most_reads}, rdma_connect); }
  int accept(connection& link, std::array<std::uint8_t, 2> reads) const { return negotiate(link, reads, rdma_accept); }

  /// Sets the wait of senders that find the pool empty. A hint: without it the manager's default holds, 0.66 s.
  static void shorten_waits(const connection& link) noexcept {
    ibv_qp_attr wish{};
    wish.min_rnr_timer = not_ready_for;
    (void)ibv_modify_qp(link.pair, &wish, IBV_QP_MIN_RNR_TIMER);
  }

 private:
  static constexpr int resolve_ms = 2000;
  static constexpr std::uint8_t most_reads = 16;  ///< Reads and atomics in flight per direction.
  /// 4 us * 2^18: one second; seven times that without an answer is a loss.
  static constexpr std::uint8_t acknowledged_in = 18;
  /// Not 7: soft-RoCE retries for ever then (Linux 6.1, rxe_comp.c), and never reports a loss.
  static constexpr std::uint8_t repeat_transport = 6;
  /// For ever: credit avoids the case, or a pool is empty; the transport has deadlines.
  static constexpr std::uint8_t repeat_not_ready = 7;
  static constexpr std::uint8_t not_ready_for = 12;  ///< 0.64 ms (InfiniBand's table of RNR NAK timers).

  static failure unreachable(const char* call, const std::string& tried) {
    failure why = refused(errno, call, tried);
    why.why.code = errc::unreachable;
    return why;
  }
  static result<owned<rdma_cm_id>> fresh_id(rdma_event_channel* channel, const std::string& tried) {
    rdma_cm_id* made = nullptr;
    if (rdma_create_id(channel, &made, nullptr, RDMA_PS_TCP) != 0) return refused(errno, "rdma_create_id", tried);
    return owned<rdma_cm_id>(made);
  }

  static std::uint8_t within(int device, std::uint8_t asked) noexcept {
    return static_cast<std::uint8_t>(std::clamp(device, 1, std::clamp<int>(asked, 1, most_reads)));
  }

  int negotiate(connection& link, std::array<std::uint8_t, 2> reads, int (*call)(rdma_cm_id*, rdma_conn_param*)) const {
    const auto words = link.mine(Shape::shared_receives).bytes_of();
    rdma_conn_param p{};
    p.private_data = words.data();
    p.private_data_len = credit_introduction::size;
    p.responder_resources = within(on_.attributes.max_qp_rd_atom, reads[0]);
    p.initiator_depth = within(on_.attributes.max_qp_init_rd_atom, reads[1]);
    p.flow_control = 1;
    p.retry_count = repeat_transport;
    p.rnr_retry_count = repeat_not_ready;
    link.offer.reported();  // Receives posted from here on are reported later.
    return call(link.id.get(), &p);
  }

  const device& on_;
  ibv_cq* queue_;
  const shared_receive_queue& pool_;
  std::uint32_t receives_;
  int backlog_;
};

}  // namespace weft::backends::verbs
