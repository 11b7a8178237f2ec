// SPDX-License-Identifier: Apache-2.0
//
// The page of connection states, made from compose/connecting/transitions.hpp: connection_states --check FILE compares
// it with the committed page, --write FILE replaces the page. Hot path: no. Threads: one.
#include <weft/compose/connecting/transitions.hpp>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace weft::detail;  // NOLINT(google-build-using-namespace): what is printed

constexpr std::size_t columns = 120;
constexpr std::string_view head = R"(<!-- SPDX-License-Identifier: Apache-2.0 -->
# The states of a connection

<!-- Made by build/*/tests/unit/connection_states --write; do not edit. -->

One table in `compose/connecting/transitions.hpp` answers every pair of a state and an event. The answer is an action,
the next state and the reason. The same table serves all fabrics. A test compares this page with it.

## Diagram

![From free to established: by dialling and greeting, or by arrived and requested](../reference/generated/states.svg)

The picture is drawn from these lines. Each state also goes back to `free` by `owner_releases`. Events that leave the
state as it is are in the list below.

```mermaid
stateDiagram-v2
)";
constexpr std::string_view before_list = R"(```

## Every pair

"Others" are the states that no line above names for the event. `impossible` marks a pair that only an error of weft
leads to. Without an arrow the state stays.
)";
constexpr std::string_view before_links = R"(
## The link of a connection

A link that ended stays `ended` until this side hangs up: messages from before the end may be unread.

| state | made | stands | ends | hung_up |
|---|---|---|---|---|
)";
constexpr std::string_view link_names[] = {"none", "opening", "up", "ended"};

std::string quoted(std::string_view name) { return "`" + std::string(name) + "`"; }

/// The events that lead from one state to another, for each pair of states.
std::string diagram() {
  std::ostringstream out;
  out << "  [*] --> free\n";
  for (std::size_t from = 0; from < peer_states; ++from) {
    std::map<peer_state, std::string> to;
    for (std::size_t e = 0; e < peer_events; ++e) {
      const auto event = static_cast<peer_event>(e);
      const peer_state next = transition_of(static_cast<peer_state>(from), event).next;
      if (static_cast<std::size_t>(next) == from || event == peer_event::owner_releases) continue;
      to[next] += (to[next].empty() ? "" : ", ") + std::string(name_of(event));
    }
    for (const auto& [next, events] : to)
      out << "  " << state_names[from] << " --> " << name_of(next) << ": " << events << "\n";
  }
  return out.str();
}

/// A list item of at most `columns` columns a line.
std::string item(const std::string& text) {
  std::istringstream words(text);
  std::string all = "-";
  std::size_t used = 1;
  for (std::string word; words >> word; used += word.size() + 1) {
    if (used + 1 + word.size() > columns) {
      all += "\n ";
      used = 1;
    }
    all += " " + word;
  }
  return all + "\n";
}

std::string pairs() {
  std::ostringstream out;
  peer_event last = peer_event::peer_dies;
  for (const connection_table::rule& r : connection_table::rules) {
    if (r.on != last) out << "\n### " << name_of(last = r.on) << "\n\n";
    std::string text;
    if (r.states == connection_table::others) text = "others";
    for (std::size_t s = 0; s < peer_states; ++s)
      if ((r.states >> s & 1U) != 0) text += (text.empty() ? "" : ", ") + quoted(state_names[s]);
    text += ": " + quoted(name_of(r.does));
    if (r.next != connection_table::same) text += " → " + quoted(name_of(static_cast<peer_state>(r.next)));
    out << item(text + ". " + std::string(r.why));
  }
  return out.str();
}

std::string link_rows() {
  std::ostringstream out;
  for (std::size_t s = 0; s < link_states; ++s) {
    out << "| " << link_names[s] << " |";
    for (const link_state next : link_table[s]) out << " " << link_names[static_cast<std::size_t>(next)] << " |";
    out << "\n";
  }
  return out.str();
}

std::string page() {
  std::ostringstream out;
  out << head << diagram() << before_list << pairs() << before_links << link_rows();
  return out.str();
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> given(arguments + 1, arguments + count);
  if (given.size() != 2 || (given[0] != "--check" && given[0] != "--write")) {
    (void)std::fprintf(stderr, "usage: connection_states --check|--write FILE\n");
    return 2;
  }
  if (given[0] == "--write") {
    std::ofstream out(given[1]);
    out << page();
    return out.flush() ? 0 : 1;
  }
  std::ifstream in(given[1]);
  std::ostringstream committed;
  committed << in.rdbuf();
  if (committed.str() == page()) return 0;
  (void)std::fprintf(stderr, "%s differs from compose/connecting/transitions.hpp; run: %s --write %s\n",
                     given[1].c_str(), arguments[0], given[1].c_str());
  return 1;
}
