// SPDX-License-Identifier: Apache-2.0
//
// The links of a port, and the events of the connection manager. A connection request is accepted at once, unless the
// handler returns no_tag.
// A link ends by an event (disconnected, refused, device removed) or by an error completion (retries exhausted, access
// refused, receives flushed). Its queue pair enters the error state at once. The end is reported when the completion
// queue was empty, after everything that had arrived.
// Hot path: no. Threads: one owner.
#pragma once

#include "cm_event.hpp"
#include "completion_queue.hpp"
#include "connection_factory.hpp"
#include "posting.hpp"

#include <fcntl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace weft::backends::verbs {

template <class Shape>
class connections {
 public:
  connections(const device& on, completion_queue& queue, posting<Shape::facts.extended_posting>& posts,
              const port_options& options)
      : on_(on), queue_(queue), posts_(posts), factory_(on, queue.get(), pool_, options), most_links_(options.links) {}

  result<void> open(const port_options& options) {
    channel_.reset(rdma_create_event_channel());
    if (!channel_) return refused(errno, "rdma_create_event_channel", factory_.who());
    const int flags = ::fcntl(channel_->fd, F_GETFL);
    if (flags < 0 || ::fcntl(channel_->fd, F_SETFL, flags | O_NONBLOCK) != 0)
      return refused(errno, "fcntl", factory_.who());
    if constexpr (Shape::shared_receives)
      if (auto pool = pool_.open(on_, options.receives, factory_.who()); !pool) return std::move(pool).error();
    if (!options.listens) return {};
    auto listens = factory_.listener(channel_.get(), options);
    if (!listens) return std::move(listens).error();
    listener_ = std::move(listens).value();
    return {};
  }

  /// Sets the object that reports the links' completions. Called once, before there are links.
  void report_to(void* completions) noexcept { completions_ = completions; }
  shared_receive_queue& pool() noexcept { return pool_; }
  int events() const noexcept { return channel_->fd; }
  address_bytes address() const {
    if (!listener_) return {};
    socket_address own(rdma_get_local_addr(listener_.get()));
    own.set_port(ntohs(rdma_get_src_port(listener_.get())));
    return own.bytes_of();
  }
  /// A link was established or ended, and that is unreported: do not sleep.
  bool has_unreported_changes() const noexcept { return ending_ + unreported_ > 0; }
  bool has_unreported_end() const noexcept {
    return std::any_of(links_.begin(), links_.end(), [](const auto& each) { return each->sends.has_unreported_end(); });
  }

  result<connection*> dial(const address_bytes& to, std::uint32_t tag) {
    auto there = socket_address::parse(to);
    if (!there)
      return failure{error(errc::invalid, "dial"),
                     factory_.who() + ": the address to dial (" + std::to_string(to.size()) +
                         " bytes) is no IPv4 (16 bytes) or IPv6 (28 bytes) socket address"};
    const std::string dialling = factory_.who() + ": dialling " + there->printable();
    if (links_.size() >= most_links_)
      return failure{error(errc::invalid, "dial"),
                     dialling + ": more than port_options::links (" + std::to_string(most_links_) + ") at once"};
    auto made = factory_.towards(*there, channel_.get(), dialling);
    if (!made) return std::move(made).error();
    made.value()->tag = tag;
    return keep(std::move(made).value());
  }

  /// Ends a link: the card does not touch its memory after this call. Its send and receive entries stay, because
  /// completions in the queue point at them. With a pool, the queue pair stays too, in the error state. Cards drop the
  /// completions of a closed one, which would lose the pool's receives, and reuse its number.
  void hang_up(connection* gone) {
    const auto held =
        std::find_if(links_.begin(), links_.end(), [gone](const auto& each) { return each.get() == gone; });
    if (held == links_.end()) return;
    posts_.leave(*gone);
    if (gone->phase == link_phase::ending) --ending_;
    if (gone->was_established && !gone->reported) --unreported_;
    stop_awaiting(*gone);
    if (gone->arrived && !gone->answered) (void)rdma_reject(gone->id.get(), nullptr, 0);
    else if (gone->phase == link_phase::opening || gone->phase == link_phase::established) disconnect(*gone);
    gone->phase = link_phase::lost;
    gone->sends.shut();
    if (!Shape::shared_receives || !gone->answered) {
      gone->pair = nullptr;
      gone->id.reset();
      gone->region.reset();
    }
    retired_.push_back(std::move(*held));
    *held = std::move(links_.back());
    links_.pop_back();
  }
  /// The completion queue was empty: no completion points at links that were hung up.
  void settle() noexcept {
    if (!retired_.empty()) [[unlikely]]
      retired_.clear();
  }

  template <class On>
  void poll_links(On& on) {
    rdma_cm_event* event = nullptr;
    for (int i = 0; i < 16 && rdma_get_cm_event(channel_.get(), &event) == 0; ++i) {
      const cm_event seen(*event);
      (void)rdma_ack_cm_event(event);  // Acknowledged first: an id with an unacknowledged event could not be closed.
      if (seen.what == RDMA_CM_EVENT_CONNECT_REQUEST) on_request(seen, on);
      else on_event(seen);
    }
    while (unreported_ > 0 && report_one_established(on)) {
    }
    while (ending_ > 0 && report_one_end(on)) {
    }
  }

  /// A message arrived: the peer sees the link as established, although the manager's event is not here yet. The reply
  /// may be sent at once.
  [[gnu::cold, gnu::noinline]] void message_arrived(connection& link) noexcept {
    if (link.phase == link_phase::opening && link.answered) establish(link);
  }

  /// A pooled receive must find its link while accepted links wait for a first message.
  bool awaits_message() const noexcept { return awaiting_message_ > 0; }
  connection* of_number(std::uint32_t number) const noexcept {
    const auto found =
        std::find_if(links_.begin(), links_.end(), [number](const auto& each) { return each->pair->qp_num == number; });
    return found == links_.end() ? nullptr : found->get();
  }

  /// An operation or a receive of this link failed: no later one succeeds.
  [[gnu::cold, gnu::noinline]] void fail(connection& link) noexcept {
    if (link.phase == link_phase::opening || link.phase == link_phase::established) end(link);
  }
  /// The completion queue itself failed.
  [[gnu::cold, gnu::noinline]] void fail_all() noexcept {
    for (const auto& each : links_) fail(*each);
  }

 private:
  connection* keep(std::unique_ptr<connection> made) {
    made->completions = completions_;
    links_.push_back(std::move(made));
    return links_.back().get();
  }
  bool holds(const connection* link) const noexcept {
    return std::any_of(links_.begin(), links_.end(), [link](const auto& each) { return each.get() == link; });
  }

  template <class On>
  void on_request(const cm_event& seen, On& on) {
    owned<rdma_cm_id> id(seen.id);
    id->context = nullptr;
    std::unique_ptr<connection> made;
    if (seen.peer && id->verbs == on_.context && links_.size() <= most_links_) {
      if (auto link = factory_.link(std::move(id), factory_.who())) made = std::move(link).value();
      else return;  // Closing the id refuses the request.
    }
    if (!made) {
      (void)rdma_reject(id.get(), nullptr, 0);
      return;
    }
    made->arrived = true;
    made->tag = no_tag;
    made->introduce(*seen.peer);
    connection* arrived = keep(std::move(made));
    const std::uint32_t tag = on(link_change::arrived, no_tag, arrived);
    if (!holds(arrived)) return;  // The handler hung up.
    arrived->tag = tag;
    if (tag == no_tag || links_.size() > most_links_) return hang_up(arrived);
    if (factory_.accept(*arrived, seen.reads) != 0) return end(*arrived);
    arrived->answered = true;
    ++awaiting_message_;
  }

  void on_event(const cm_event& seen) {
    auto* link = static_cast<connection*>(seen.id->context);
    if (link == nullptr || !holds(link) ||
        (link->phase != link_phase::opening && link->phase != link_phase::established))
      return;
    switch (seen.what) {
      case RDMA_CM_EVENT_ADDR_RESOLVED:
        if (factory_.route(seen.id) != 0) end(*link);
        return;
      case RDMA_CM_EVENT_ROUTE_RESOLVED:
        if (factory_.connect(*link) != 0) end(*link);
        return;
      case RDMA_CM_EVENT_ESTABLISHED:
        return established(*link, seen);
      case RDMA_CM_EVENT_ADDR_CHANGE:
      case RDMA_CM_EVENT_TIMEWAIT_EXIT:
      case RDMA_CM_EVENT_CONNECT_RESPONSE:
        return;
      default:  // Unreachable, refused, disconnected, or device removed.
        return end(*link);
    }
  }

  void established(connection& link, const cm_event& seen) {
    if (link.was_established) return;
    if (!link.arrived) {
      if (!seen.peer) return end(link);  // The answer came from a different kind of program.
      link.introduce(*seen.peer);
      link.answered = true;
    }
    establish(link);
  }

  /// Stops waiting for the first message of an accepted link.
  void stop_awaiting(const connection& link) noexcept {
    if (link.arrived && link.answered && link.phase == link_phase::opening) --awaiting_message_;
  }

  void establish(connection& link) noexcept {
    stop_awaiting(link);
    link.was_established = true;
    link.phase = link_phase::established;
    ++unreported_;
    if constexpr (Shape::shared_receives) factory_.shorten_waits(link);
    link.sends.admit();
    posts_.offer(link);  // Receives may have been consumed and posted again before.
  }

  static void disconnect(connection& link) noexcept {
    if (link.answered) (void)rdma_disconnect(link.id.get());  // First the error state, which flushes the posted work.
  }

  void end(connection& link) noexcept {
    stop_awaiting(link);
    link.phase = link_phase::ending;
    link.ended_at = queue_.times_empty();
    link.sends.shut();
    ++ending_;
    disconnect(link);
  }

  template <class On>
  bool report_one_established(On& on) {
    const auto which = std::find_if(links_.begin(), links_.end(),
                                    [](const auto& each) { return each->was_established && !each->reported; });
    if (which == links_.end()) return false;
    connection& link = **which;
    link.reported = true;
    --unreported_;
    on(link_change::established, link.tag, &link);
    return true;
  }

  /// Reports one ended link. False: no ended link has all completions reported.
  template <class On>
  bool report_one_end(On& on) {
    const auto over = std::find_if(links_.begin(), links_.end(), [this](const auto& each) {
      return each->phase == link_phase::ending && each->ended_at != queue_.times_empty();
    });
    if (over == links_.end()) return false;
    connection& link = **over;
    link.phase = link_phase::lost;
    --ending_;
    on(link.was_established ? link_change::lost : link_change::refused, link.tag, &link);
    return true;
  }

  const device& on_;
  completion_queue& queue_;
  posting<Shape::facts.extended_posting>& posts_;
  shared_receive_queue pool_;  ///< Shape::shared_receives
  connection_factory<Shape> factory_;
  void* completions_ = nullptr;
  std::size_t most_links_;
  std::size_t ending_ = 0;            ///< Links with an unreported end.
  std::size_t awaiting_message_ = 0;  ///< Accepted links that are not established yet.
  std::size_t unreported_ = 0;        ///< Established links that are not reported.
  owned<rdma_event_channel> channel_;
  owned<rdma_cm_id> listener_;
  std::vector<std::unique_ptr<connection>> links_;  // Last: closed first.
  std::vector<std::unique_ptr<connection>> retired_;
};

}  // namespace weft::backends::verbs
