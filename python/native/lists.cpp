// SPDX-License-Identifier: Apache-2.0
//
// Lists of transfers: weft/transfers.py has the classes.
#include "inside.hpp"
#include "numbers.hpp"

namespace py = pybind11;

namespace weft_python {
namespace {

// Transfers between one part of memory here and one remote region.
struct group {
  explicit group(const py::tuple& given)
      : region(region_of(given[0].cast<number>())),
        begin(given[1].cast<number>()),
        size(given[2].cast<number>()),
        remote(remote_of(given[3].cast<number>())),
        here(given[4], "local_offsets"),
        there(given[5], "remote_offsets"),
        lengths(given[6], "lengths") {}

  // Errors: InvalidError: they differ.
  [[nodiscard]] std::size_t count() const {
    const numbers* known = nullptr;
    for (const numbers* each : {&here, &there, &lengths}) {
      if (each->is_one()) continue;
      if (known != nullptr && each->count() != known->count())
        refuse("InvalidError", std::string(known->name()) + " has " + std::to_string(known->count()) + " numbers and " +
                                   each->name() + " has " + std::to_string(each->count()) +
                                   ": each transfer needs one of each");
      if (known == nullptr) known = each;
    }
    return known == nullptr ? 1 : known->count();
  }
  void add_to(std::vector<weft_transfer>& all) const {
    const std::size_t transfers = count();
    all.reserve(all.size() + transfers);
    for (std::size_t at = 0; at < transfers; ++at) {
      if (here[at] > size || lengths[at] > size - here[at])
        refuse("OutOfRangeError", "transfer " + std::to_string(all.size()) + ": " + std::to_string(lengths[at]) +
                                      " bytes at offset " + std::to_string(here[at]) +
                                      " leave the memory here, which has " + std::to_string(size) + " bytes");
      all.push_back({{region, begin + here[at], lengths[at]}, {remote, there[at]}});
    }
  }

  weft_region region;
  number begin, size;  // of the part
  weft_remote remote;
  numbers here, there, lengths;
};

}  // namespace

int transport::limit_lists(std::uint32_t lists, std::uint32_t peers, std::uint32_t in_flight, std::uint32_t at_once) {
  const weft_list_limits limits{sizeof(weft_list_limits), lists, peers, in_flight, at_once};
  return call([&] { return weft_limit_lists(net_, &limits); });
}

py::tuple transport::prepare_list(number peer, bool puts, const py::list& groups) {
  std::vector<weft_transfer> all;
  for (const py::handle each : groups) group(py::reinterpret_borrow<py::tuple>(each)).add_to(all);
  weft_prepared prepared = nullptr;
  const int status = call([&] {
    return weft_prepare_list(net_, peer_of(peer), puts ? WEFT_OP_PUT : WEFT_OP_GET, all.data(), all.size(), &prepared);
  });
  return py::make_tuple(status, number_of(prepared), all.size());
}

// A collection in any thread may end a prepared list, as in release().
void transport::release_prepared(number prepared) {
  prepared_released_.push_back(prepared);
  if (!busy_) let_lists_go();
}

void transport::let_lists_go() {
  while (!prepared_released_.empty()) {
    (void)weft_release_prepared(net_, reinterpret_cast<weft_prepared>(prepared_released_.back()));
    prepared_released_.pop_back();
  }
}

answered transport::post_list(number prepared, std::uint32_t priority, py::handle notify, number timeout,
                              number context) {
  weft_list_options options = WEFT_LIST_OPTIONS;
  options.context = context;
  options.timeout = timeout;
  options.priority = priority;
  options.flags = notify.is_none() ? 0U : std::uint32_t{WEFT_NOTIFIES};
  options.immediate = notify.is_none() ? 0 : notify.cast<std::uint32_t>();
  weft_list list = nullptr;
  const int status =
      call([&] { return weft_post_list(net_, reinterpret_cast<weft_prepared>(prepared), &options, &list); });
  return {status, number_of(list)};
}

py::tuple transport::list_state(number list) {
  weft_list_progress now{};
  now.size = sizeof now;
  const int status = call([&] { return weft_list_state(net_, reinterpret_cast<weft_list>(list), &now); });
  return py::make_tuple(status, now.status, now.failed_transfer, now.transfers, now.done, now.bytes_done);
}

int transport::cancel_list(number list) {
  return call([&] { return weft_cancel_list(net_, reinterpret_cast<weft_list>(list)); });
}

}  // namespace weft_python
