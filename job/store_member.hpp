// SPDX-License-Identifier: Apache-2.0
//
// A rank of a job whose store rank 0 serves: the connection, and on rank 0 the server. PMIx or the variables say where
// the store is. Rank 0 leaves last, because the store ends with it.
// Hot path: no. Threads: one owner.
#pragma once

#include "place.hpp"
#include "store_client.hpp"
#include "store_server.hpp"

#if __has_include(<pmix.h>)
#include "pmix/session.hpp"
#else
#include "without_pmix.hpp"
#endif

#include <fcntl.h>

#include <random>

namespace weft::jobs {

class store_member {
 public:
  /// Joins the job. Rank 0 serves the store first. Errors: those of store_client::join; unreachable, where rank 0
  /// cannot listen.
  static result<store_member> join(const place& at, duration limit) {
    store_member made;
    std::vector<endpoint> stores = at.stores;
    if (at.rank == 0) {
      auto listener = at.listener >= 0 ? adopted(at.listener) : listening(at.stores);
      if (!listener) return std::move(listener).error();
      if (auto done = made.serve(std::move(listener).value(), at.size, at.job); !done) return std::move(done).error();
      stores = {made.own_store()};
    }
    return std::move(made).joined(stores, at.job, at.rank, at.size, limit);
  }
  /// Takes the place from PMIx, and says it in `into`. Errors: also those of pmix_session.
  static result<store_member> join_by_pmix(place& into, duration limit) {
    const instant end = std::chrono::steady_clock::now() + limit;
    auto session = pmix_session::open();
    if (!session) return std::move(session).error();
    store_member made;
    made.pmix_ = std::move(session).value();
    into.rank = made.pmix_->rank();
    into.size = made.pmix_->size();
    into.reason = "PMIX_NAMESPACE and PMIX_RANK are set: PMIx " + made.pmix_->version() + ", " + detail::ordinal(into);
    if (auto found = into.rank == 0 ? made.serve_by_pmix(into) : made.find_by_pmix(into, limit); !found)
      return std::move(found).error();
    return std::move(made).joined(into.stores, into.job, into.rank, into.size, end - std::chrono::steady_clock::now());
  }

  result<void> put(std::string_view key, std::string_view value, duration limit) {
    return client_->put(key, value, limit);
  }
  result<std::string> get(std::uint32_t rank, std::string_view key, duration limit) {
    return client_->get(rank, key, limit);
  }
  result<void> barrier(duration limit) { return client_->barrier(limit); }
  result<void> leave(duration limit) {
    auto done = client_->leave(limit);
    if (done && server_) server_->wait_until_ended(limit);
    return done;
  }
  /// Where the store is, as this rank reaches it.
  const endpoint& store() const noexcept { return client_->store(); }
  std::string host() {
    const std::string own = client_->host();
    if (!server_ || server_->address().host != "0.0.0.0") return own;
    const auto found = addresses_of_this_host();
    return found.empty() ? own : found.front();
  }

 private:
  store_member() = default;

  result<store_member> joined(const std::vector<endpoint>& stores, const std::string& job, std::uint32_t rank,
                              std::uint32_t size, duration limit) && {
    auto client = store_client::join(stores, job, rank, size, limit);
    if (!client) return std::move(client).error();
    client_.emplace(std::move(client).value());
    return std::move(*this);
  }
  result<void> serve(owned_descriptor listener, std::uint32_t size, const std::string& job) {
    auto server = store_server::serve(std::move(listener), size, job);
    if (!server) return std::move(server).error();
    server_ = std::move(server).value();
    return {};
  }
  endpoint own_store() const {
    endpoint at = server_->address();
    if (at.host == "0.0.0.0") at.host = "127.0.0.1";
    return at;
  }

  /// The socket that the launcher opened: no other program can take the port between its choice and its use.
  static result<owned_descriptor> adopted(int listener) {
    owned_descriptor made(::fcntl(listener, F_DUPFD_CLOEXEC, 0));
    if (made && ::fcntl(made.get(), F_SETFL, ::fcntl(made.get(), F_GETFL) | O_NONBLOCK) == 0) return made;
    return failure{{errc::native, origin::system, errno, "fcntl"}, "WEFT_STORE_FD cannot be used"};
  }
  /// Listens at the first free of the places. A host that is no address of this machine, such as a service's, means
  /// every address.
  static result<owned_descriptor> listening(const std::vector<endpoint>& places) {
    std::string reason;
    for (const endpoint& at : places) {
      auto [list, why] = resolve(at);
      reason = why;
      int number = list ? EADDRNOTAVAIL : 0;
      for (const addrinfo* each = list.get(); each != nullptr; each = each->ai_next) {
        auto [socket, wrong] = listening_at(each->ai_addr, each->ai_addrlen);
        if (socket) return std::move(socket);
        number = wrong;
      }
      if (!list || number == EADDRNOTAVAIL) {
        auto [socket, wrong] = listening_everywhere(at.port, false);
        if (socket) return std::move(socket);
        number = wrong;
      }
      reason = std::strerror(number);  // NOLINT(concurrency-mt-unsafe): glibc's is safe per thread
      if (number == EADDRINUSE) reason += ": another program, or another rank 0, listens there";
    }
    return failure{error(errc::unreachable, "join"),
                   "rank 0 cannot serve the store at " + in_words(places.front()) +
                       (places.size() > 1 ? " or the " + std::to_string(places.size() - 1) + " ports after it" : "") +
                       " (" + reason + ")"};
  }

  result<void> serve_by_pmix(place& into) {
    auto [listener, why] = listening_everywhere(0, pmix_->all_on_this_host());
    if (!listener) return failure{{errc::native, origin::system, why, "listen"}, "rank 0 cannot serve the store"};
    std::random_device source;
    into.job = pmix_->job().substr(0, longest_key / 2) + "-" + std::to_string(source()) + std::to_string(source());
    if (auto done = serve(std::move(listener), into.size, into.job); !done) return done;
    std::string text = into.job;
    const std::uint16_t port = server_->address().port;
    auto hosts = pmix_->all_on_this_host() ? std::vector<std::string>{} : addresses_of_this_host();
    hosts.emplace_back("127.0.0.1");
    for (const std::string& host : hosts) text += " " + in_words(endpoint{host, port});
    into.stores = {own_store()};
    return pmix_->give(text);
  }
  /// The text of rank 0: the job's name and the places of the store, with blanks between.
  result<void> find_by_pmix(place& into, duration limit) {
    auto text = pmix_->fetch(limit);
    if (!text) return std::move(text).error();
    const std::string_view all = *text;
    std::size_t begin = std::min(all.find(' '), all.size());
    into.job = std::string(all.substr(0, begin));
    while (begin < all.size() && into.stores.size() < 16) {
      const std::size_t end = std::min(all.find(' ', begin + 1), all.size());
      const auto at = endpoint_of(all.substr(begin + 1, end - begin - 1));
      if (at) into.stores.push_back(*at);
      begin = end;
    }
    if (!into.job.empty() && into.job.size() <= longest_key && !into.stores.empty()) return {};
    return failure{error(errc::broken, "join"), "rank 0 gave no place of a store by PMIx: is it another program?"};
  }

  std::unique_ptr<pmix_session> pmix_;  // ends last
  std::unique_ptr<store_server> server_;
  std::optional<store_client> client_;
};
static_assert(backend<store_member>);

}  // namespace weft::jobs
