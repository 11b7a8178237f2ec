// SPDX-License-Identifier: Apache-2.0
//
// Lies of fi_getinfo: what a provider says that it has. The request loses what the provider would refuse, the reply
// gains it, and an object is opened by what the provider would have said itself. Hot path: no. Threads: one owner.
#include "lies.hpp"

#include <algorithm>

namespace weft::liar {

namespace {

/// Capabilities that a lie adds.
std::uint64_t added_caps() {
  return tells("claims_atomics") ? FI_ATOMIC : tells("claims_multi_receive") ? FI_MULTI_RECV : 0;
}

bool grants_order(const fi_info& hints) {
  return tells("grants_order_with_atomics") && (hints.caps & FI_ATOMIC) != 0 && hints.tx_attr != nullptr &&
         (hints.tx_attr->msg_order & FI_ORDER_SAW) != 0;
}

}  // namespace

void falsify_request(fi_info& hints) {
  hints.caps &= ~added_caps();
  if (grants_order(hints)) hints.tx_attr->msg_order = hints.rx_attr->msg_order = 0;
}

void falsify_replies(const fi_info* hints, fi_info* replies) {
  for (fi_info* each = replies; each != nullptr; each = each->next) {
    if (hints != nullptr) each->caps |= hints->caps & added_caps();
    if (hints != nullptr && grants_order(*hints))
      each->tx_attr->msg_order = each->rx_attr->msg_order = hints->tx_attr->msg_order;
    if (tells("claims_more_pieces")) each->tx_attr->iov_limit = 32;
    if (tells("claims_more_places")) each->tx_attr->rma_iov_limit = 32;
    if (tells("claims_larger_inject")) each->tx_attr->inject_size = 8192;
    if (tells("claims_narrow_keys")) each->domain_attr->mr_key_size = 4;
    if (tells("claims_manual_progress")) each->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    if (tells("claims_smaller_messages")) each->ep_attr->max_msg_size = 65536;
  }
}

void make_true(fi_info& info) {
  info.caps &= ~added_caps();
  if (tells("grants_order_with_atomics") && (info.caps & FI_ATOMIC) != 0)
    info.tx_attr->msg_order = info.rx_attr->msg_order = 0;
  if (tells("claims_more_pieces")) info.tx_attr->iov_limit = 4;
  if (tells("claims_more_places")) info.tx_attr->rma_iov_limit = 4;
  if (tells("claims_larger_inject")) info.tx_attr->inject_size = 64;
}

}  // namespace weft::liar
