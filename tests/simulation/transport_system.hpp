// SPDX-License-Identifier: Apache-2.0
//
// The system `transport`: several nodes with random traffic, judged by the checker of histories and by what each node
// finds itself.
// Hot path: no. Threads: one.
#pragma once

#include "node.hpp"

#include <algorithm>

namespace weft::simulation {

template <complete_fabric F>
class transport_system {
 public:
  transport_system(const plan& p, const run_settings& s) : run_(p, s) {}

  outcome play() {
    loopback::faults wrong = run_.planned.wrong;
    wrong.bug = run_.settings.bug;
    loopback::world world(run_.planned.seed, wrong);
    if (run_.settings.keep_trace) world.keep_trace();
    slow_polls(world);
    run_.world = &world;
    choose_members();
    for (const disturbance& each : run_.planned.disturbances) schedule(each);
    for (const std::uint16_t each : run_.members) start(each);
    try {
      const auto how = world.run(10min);
      if (!how) run_.found("hung", how.sentence);
      run_.result.lasted = how.at - instant(1s);
    } catch (const std::exception& e) {
      run_.found("exception", e.what());
    }
    judge();
    run_.result.hash = hash(world.log().hash());
    run_.result.events = world.log().count();
    if (run_.settings.keep_trace) run_.result.trace = world.log().text(1'000'000);
    return std::move(run_.result);
  }

 private:
  void choose_members() {
    std::set<std::uint16_t> named;
    for (const step& each : run_.planned.steps) {
      named.insert(each.node);
      named.insert(each.other);
    }
    if (named.size() < 2) named.insert({0, 1});
    run_.members.assign(named.begin(), named.end());
  }

  void start(std::uint16_t which) {
    const auto number = static_cast<std::uint16_t>(which + 1 + 16 * run_.incarnations[which]++);
    process_state& fresh = run_.processes.emplace_back(number, which);
    run_.world->spawn(run_state::node_name(which), [this, &fresh] {
      auto body = std::make_unique<node<F>>(run_, fresh);
      body->live();
    });
    starting_[which] = &fresh;
  }

  void crash(std::uint16_t which, duration back_after) {
    process_state* const dying = starting_[which];
    if (dying == nullptr || dying->killed || dying->finished || run_.calm) return;
    dying->killed = true;
    run_.living[which] = nullptr;
    run_.done.erase(which);
    for (auto& [id, both] : run_.connections)
      if (both.process[0] == dying->number || both.process[1] == dying->number) both.broken = true;
    run_.world->crash(run_state::node_name(which));
    run_.world->after(back_after, [this, which] { start(which); });
  }

  void schedule(const disturbance& d) {
    const auto member = [this](std::uint16_t n) { return std::ranges::find(run_.members, n) != run_.members.end(); };
    if (!member(d.node)) return;
    loopback::world& w = *run_.world;
    const std::string name = run_state::node_name(d.node);
    const std::string other = run_state::node_name(d.other);
    run_.quiet_at = std::max(run_.quiet_at, (w.now() + d.at + d.lasts + 1ms).time_since_epoch().count());
    switch (d.what) {
      case fault::one_way:
        w.after(d.at, [&w, name, other] { w.cut_one_way(name, other); });
        return w.after(d.at + d.lasts, [&w, name, other] { w.heal(name, other); });
      case fault::partition:
        w.after(d.at, [&w, name, other] { w.cut(name, other); });
        return w.after(d.at + d.lasts, [&w, name, other] { w.heal(name, other); });
      case fault::pause:
        run_.lost_time += d.lasts;
        return w.after(d.at, [&w, name, d] { w.pause(name, d.lasts); });
      case fault::slow:
        for (duration at{}; at < d.lasts; at += d.lasts / 20) {
          run_.lost_time += d.lasts / 40;
          w.after(d.at + at, [&w, name, d] { w.pause(name, d.lasts / 40); });
        }
        return;
      case fault::clock:
        run_.lost_time += d.lasts;
        return w.after(d.at, [&w, name, d] { w.jump_clock(name, d.lasts); });
      default:
        return w.after(d.at, [this, d] { crash(d.node, d.lasts); });
    }
  }

  /// Whether a success means that the other side got the delivery: nobody cut the connection off.
  bool certain(const posted_operation& o) {
    const shared_connection& both = run_.connections[o.connection];
    const std::size_t receiver = o.dialled ? 1 : 0;
    return !both.broken && !both.left[receiver] && (!both.left[1 - receiver] || both.in_order[1 - receiver]);
  }

  /// The histories, with what only both sides together know: which quiet operations and deliveries are certain.
  void judge() {
    history::judgement_options options;
    options.deadline_slack += run_.lost_time + (run_.planned.weather.has(fault::stutter) ? 60ms : 0ms);
    history::checker checker(options);
    std::map<std::pair<std::uint16_t, std::uint64_t>, bool> doubtful;
    for (const posted_operation& o : run_.operations) {
      if (o.id == 0) continue;
      process_state* const from = run_.process(o.process);
      if (o.quiet && from->finished) from->book.ended(o.id, instant{}, certain(o) ? errc::ok : errc::peer_lost);
      if (!certain(o)) doubtful[{o.process, o.id}] = true;
    }
    for (process_state& each : run_.processes) {
      if (each.killed && each.attempt) each.book.attempted(*each.attempt);
      std::vector<history::record> all = each.book.records();
      std::set<std::uint64_t> deliveries;
      for (const history::record& r : all)
        if (r.what == history::event::posted && (r.kind == history::work::send || r.kind == history::work::put_notify))
          deliveries.insert(r.id);
      for (history::record& r : all) {
        if (r.what == history::event::ended && r.outcome == errc::ok && deliveries.contains(r.id) &&
            doubtful.contains({each.number, r.id}))
          r.outcome = errc::peer_lost;
        mix(r);
      }
      checker.add(all);
    }
    for (const auto& each : checker.judge().violations)
      run_.found(std::string(history::name_of(each.which)), each.sentence);
    for (const auto& at : run_.world->inside().endpoints)
      if (at->open && !at->crashed) run_.found("leaked_port", "a transport ended, and its port is open");
  }

  void mix(const history::record& r) noexcept {
    if (r.what == history::event::key_issued) return;
    for (const std::uint64_t word :
         {static_cast<std::uint64_t>(r.what), static_cast<std::uint64_t>(r.kind), static_cast<std::uint64_t>(r.outcome),
          std::uint64_t{r.process}, static_cast<std::uint64_t>(r.at), r.id, r.value}) {
      records_ = (records_ ^ word) * 0x9e3779b97f4a7c15U;
      records_ ^= records_ >> 29;
    }
  }
  std::uint64_t hash(std::uint64_t of_the_trace) const noexcept { return of_the_trace ^ records_; }

  run_state run_;
  std::array<process_state*, 16> starting_{};
  std::uint64_t records_ = 0x68697374U;
};

}  // namespace weft::simulation
