// SPDX-License-Identifier: Apache-2.0
//
// weft.h: lists of transfers, by an engine over the set (transfers/engine.hpp).
#include "calls.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <string>

namespace weft::abi {
namespace {

/// Throws std::bad_alloc. False: there is no memory, and *why says so.
bool make_lists(open_transport& t, const transfers::engine_options& o, failure* why) {
  auto made = transfers::engine<library_set>::make(t.net, o);
  if (!made) return *why = made.error(), false;
  t.lists = std::make_unique<list_tables>(std::move(made).value());
  return true;
}

int no_prepared(open_transport& t, const char* name, weft_prepared handle) noexcept {
  if (handle == nullptr) return wrong(t, name, "the prepared list is NULL");
  const errc code = decltype(list_tables::prepared)::why(handle, errc::closed);
  return wrong(t, name,
               code == errc::invalid ? "this is no prepared list: pass what weft_prepare_list() gave"
                                     : "this prepared list was released, or belongs to another transport",
               code);
}
int no_list(open_transport& t, const char* name, weft_list handle) noexcept {
  if (handle == nullptr) return wrong(t, name, "the list is NULL");
  const errc code = decltype(list_tables::posted)::why(handle, errc::closed);
  return wrong(t, name,
               code == errc::invalid ? "this is no list: pass what weft_post_list() gave"
                                     : "this list has ended, or belongs to another transport",
               code);
}

/// The answer of the last call, with the transfer that it is about.
int in_transfer(open_transport& t, std::uint64_t index, int answered) {
  const std::string sentence = "transfer " + std::to_string(index) + ": " + t.last_sentence();
  return t.answer(error(static_cast<errc>(-answered), "weft_prepare_list"), sentence);
}

template <class Handle>
void keep_each_once(std::vector<Handle>& all) {
  std::sort(all.begin(), all.end(), std::less<>());
  all.erase(std::unique(all.begin(), all.end()), all.end());
}

int prepare(open_transport& t, weft_peer peer_handle, operation what, const weft_transfer* all, std::uint64_t count,
            weft_prepared* prepared) {
  constexpr const char* name = "weft_prepare_list";
  const peer* const to = t.peers.find(peer_handle);
  if (to == nullptr) return no_peer(t, name, peer_handle);
  std::vector<transfers::transfer> found;
  found.reserve(count);
  std::vector<weft_region> regions;
  std::vector<weft_remote> remotes;
  owned_region* own = nullptr;
  const described_region* their = nullptr;
  for (std::uint64_t i = 0; i < count; ++i) {
    const weft_transfer& each = all[i];
    if (i == 0 || each.here.region != regions.back()) {
      own = t.regions.find(each.here.region);
      if (own == nullptr) return in_transfer(t, i, no_region(t, name, each.here.region));
      regions.push_back(each.here.region);
    }
    if (i == 0 || each.there.remote != remotes.back()) {
      their = t.remotes.find(each.there.remote);
      if (their == nullptr) return in_transfer(t, i, no_remote(t, name, each.there.remote));
      if (their->owner != *to)
        return in_transfer(t, i, wrong(t, name, "this remote region belongs to another peer than the list's"));
      remotes.push_back(each.there.remote);
    }
    found.push_back({own->slice(each.here.offset, each.here.size), their->region.at(each.there.offset)});
  }
  keep_each_once(regions);
  keep_each_once(remotes);
  auto& engine = t.lists->engine;
  auto made = what == operation::put ? engine.prepare_put(*to, found) : engine.prepare_get(*to, found);
  if (!made) return t.answer(made.error());
  *prepared = t.lists->prepared.add(std::make_shared<const prepared_transfers>(
      prepared_transfers{std::move(made).value(), peer_handle, std::move(regions), std::move(remotes)}));
  return WEFT_OK;
}

/// The engine's ended_function.
void on_end(void* context, transfers::list_handle which, const transfers::list_status& how) {
  const auto& run = *static_cast<const posted_list*>(context);
  open_transport& t = *run.of;
  t.emit_end_of_list(run, how);
  (void)t.lists->engine.release(which);
  t.lists->posted.remove(run.handle);
}

/// Null, or what is wrong with the options of a list.
const char* wrong_in(const weft_list_options& o, operation what) noexcept {
  if ((o.flags & ~std::uint32_t{WEFT_NOTIFIES}) != 0) return "options.flags has a bit that this version does not know";
  if (o.priority > WEFT_BACKGROUND) return "options.priority is none of weft_priority";
  if (o.reserved != 0) return "options.reserved must be 0";
  if (what == operation::get && (o.flags & WEFT_NOTIFIES) != 0)
    return "a list of gets carries no notice; the peer sees nothing of it";
  return nullptr;
}

int post(open_transport& t, weft_prepared prepared, const weft_list_options& o, weft_list* list) {
  constexpr const char* name = "weft_post_list";
  const auto* const held = t.lists ? t.lists->prepared.find(prepared) : nullptr;
  if (held == nullptr) return no_prepared(t, name, prepared);
  const std::shared_ptr<const prepared_transfers> what = *held;
  if (const char* const no = wrong_in(o, what->list.what())) return wrong(t, name, no);
  for (weft_region const each : what->regions)
    if (t.regions.find(each) == nullptr) return wrong(t, name, "a region of this list was released", errc::closed);
  for (weft_remote const each : what->remotes)
    if (t.remotes.find(each) == nullptr)
      return wrong(t, name, "a remote region of this list was forgotten, or its peer is gone", errc::closed);
  list_tables& lists = *t.lists;
  *list = lists.posted.add(std::make_unique<posted_list>(posted_list{&t, what, o.context}));
  posted_list& run = **lists.posted.find(*list);
  run.handle = *list;
  using transfers::priority;
  const transfers::list_options as{.priority = o.priority == WEFT_URGENT   ? priority::urgent
                                               : o.priority == WEFT_NORMAL ? priority::normal
                                                                           : priority::background,
                                   .timeout = o.timeout == 0 ? transfers::list_options().timeout : time_of(o.timeout),
                                   .ended = on_end,
                                   .context = &run};
  const transfers::started_list started = (o.flags & WEFT_NOTIFIES) != 0
                                              ? lists.engine.post(what->list, transfers::notice{o.immediate}, as)
                                              : lists.engine.post(what->list, as);
  if (!started) {
    lists.posted.remove(std::exchange(*list, nullptr));
    return t.answer(started.why, describe(lists.engine.refused()));
  }
  // It may have ended already: the peer can be gone.
  if (auto* const still = lists.posted.find(*list)) (*still)->in_engine = started.handle;
  return WEFT_OK;
}

}  // namespace
}  // namespace weft::abi

using namespace weft::abi;

extern "C" {

int weft_limit_lists(weft_transport net, const weft_list_limits* limits) {
  return call(net, "weft_limit_lists", [&](open_transport& t) {
    constexpr const char* name = "weft_limit_lists";
    weft_list_limits l = WEFT_LIST_LIMITS;
    if (limits == nullptr) return wrong(t, name, "the limits are NULL");
    if (!takes_options(limits, l)) return wrong(t, name, "limits.size must be sizeof(weft_list_limits)");
    if (t.lists) return wrong(t, name, "this transport has lists already: limit them before the first one");
    constexpr std::uint32_t most = 1U << 20;
    if (l.lists > most || l.peers > most || l.in_flight_per_peer > most || l.posts_at_once > most ||
        std::uint64_t{l.peers == 0 ? 32 : l.peers} * (l.in_flight_per_peer == 0 ? 64 : l.in_flight_per_peer) > most)
      return wrong(t, name, "a limit, or peers times in_flight_per_peer, is above 1048576");
    weft::transfers::engine_options o;
    for (const auto& [given, into] :
         {std::pair{l.lists, &o.lists}, std::pair{l.peers, &o.peers},
          std::pair{l.in_flight_per_peer, &o.in_flight_per_peer}, std::pair{l.posts_at_once, &o.posts_at_once}})
      if (given != 0) *into = given;
    weft::failure why;
    return make_lists(t, o, &why) ? int{WEFT_OK} : t.answer(why);
  });
}

int weft_prepare_list(weft_transport net, weft_peer peer, weft_operation what, const weft_transfer* all, uint64_t count,
                      weft_prepared* prepared) {
  return call(net, "weft_prepare_list", [&](open_transport& t) {
    constexpr const char* name = "weft_prepare_list";
    if (prepared == nullptr) return wrong(t, name, "the place for the prepared list is NULL");
    *prepared = nullptr;
    if (what != WEFT_OP_PUT && what != WEFT_OP_GET) return wrong(t, name, "a list has WEFT_OP_PUT or WEFT_OP_GET");
    if (all == nullptr || count == 0) return wrong(t, name, "the list is empty; a list has at least one transfer");
    if (count > std::numeric_limits<std::uint32_t>::max() - 1) return wrong(t, name, "the list is too long");
    weft::failure why;
    if (!t.lists && !make_lists(t, {}, &why)) return t.answer(why);
    const auto direction = what == WEFT_OP_PUT ? weft::operation::put : weft::operation::get;
    return prepare(t, peer, direction, all, count, prepared);
  });
}

int weft_release_prepared(weft_transport net, weft_prepared prepared) {
  return call(net, "weft_release_prepared", [&](open_transport& t) {
    if (!t.lists || t.lists->prepared.find(prepared) == nullptr)
      return no_prepared(t, "weft_release_prepared", prepared);
    t.lists->prepared.remove(prepared);
    return int{WEFT_OK};
  });
}

int weft_post_list(weft_transport net, weft_prepared prepared, const weft_list_options* options, weft_list* list) {
  return call(net, "weft_post_list", [&](open_transport& t) {
    if (list == nullptr) return wrong(t, "weft_post_list", "the place for the list is NULL");
    *list = nullptr;
    weft_list_options o = WEFT_LIST_OPTIONS;
    if (options != nullptr && !takes_options(options, o))
      return wrong(t, "weft_post_list", "options.size must be sizeof(weft_list_options)");
    return post(t, prepared, o, list);
  });
}

int weft_list_state(weft_transport net, weft_list list, weft_list_progress* progress) {
  return call(net, "weft_list_state", [&](open_transport& t) {
    constexpr const char* name = "weft_list_state";
    if (progress == nullptr) return wrong(t, name, "the place for the progress is NULL");
    if (progress->size < sizeof(progress->size)) return wrong(t, name, "progress.size must be sizeof(*progress)");
    const auto* const found = t.lists ? t.lists->posted.find(list) : nullptr;
    if (found == nullptr) return no_list(t, name, list);
    const weft::transfers::list_status s = t.lists->engine.state((*found)->in_engine);
    const weft_list_progress now{progress->size, s.bytes_done,        s.done,
                                 s.transfers,    code_of(s.why.code), s.failed_transfer};
    std::memcpy(progress, &now, std::min<std::uint64_t>(progress->size, sizeof now));
    return int{WEFT_OK};
  });
}

int weft_cancel_list(weft_transport net, weft_list list) {
  return call(net, "weft_cancel_list", [&](open_transport& t) {
    const auto* const found = t.lists ? t.lists->posted.find(list) : nullptr;
    return found == nullptr ? no_list(t, "weft_cancel_list", list)
                            : t.answer(t.lists->engine.cancel((*found)->in_engine));
  });
}

}  // extern "C"
