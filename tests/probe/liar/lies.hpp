// SPDX-License-Identifier: Apache-2.0
//
// A provider that lies: what every file of the liar shares. LD_PRELOAD puts it before libfabric, and WEFT_LIE names the
// one lie of a run. It wraps the tables of calls that a real provider returns, so all else is the provider's own.
// Hot path: no. Threads: one owner, as in weft-probe.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace weft::liar {

/// Whether this run tells this lie.
bool tells(std::string_view lie);

/// True for each n-th call of one place, counted from 1.
class every {
 public:
  explicit every(std::size_t n) : n_(n) {}
  bool now() { return ++calls_ % n_ == 0; }

 private:
  std::size_t n_, calls_ = 0;
};

/// The provider's own calls, as they were before an object was wrapped. One provider per process.
struct originals {
  fi_ops_fabric fabric;
  fi_ops_domain domain;
  fi_ops_mr memory;
  fi_ops_av addresses;
  fi_ops_msg messages;
  fi_ops_rma writes;
  fi_ops_atomic atomics;
  fi_ops endpoint;
  fi_ops_cq queue;
  fi_ops queue_base;
  fi_ops_eq events;
  fi_ops_cntr counter;
};
originals& real();

/// Puts a copy of a table with changed members in the place of the provider's. Objects of one kind share the copy.
template <class Table, class Change>
void wrap(Table*& in_object, Table& original, Change change) {
  static Table ours;
  if (in_object == nullptr || in_object == &ours) return;
  original = ours = *in_object;
  change(ours);
  in_object = &ours;
}

void wrap_endpoint(fid_ep* endpoint);  ///< Its posts; again once it is enabled, as a provider may change its tables.
void wrap_queue(fid_cq* queue);
void wrap_events(fid_eq* events);
void wrap_memory(fid_domain* domain);
void wrap_addresses(fid_av* addresses);
void wrap_counter(fid_cntr* counter);

/// Posts what was held back, if it was held for 2 ms: the target has polled meanwhile.
void release_held();
/// Posts since the last poll.
std::size_t& unpolled();
/// Whether a completion queue of 8 entries was opened.
bool& small_queue();
/// Whether a pool of receives was opened.
bool& pooled();

/// Changes a request before the provider sees it, and its replies before the caller does.
void falsify_request(fi_info& hints);
void falsify_replies(const fi_info* hints, fi_info* replies);
/// Makes an info as the provider itself would have returned it.
void make_true(fi_info& info);

}  // namespace weft::liar
