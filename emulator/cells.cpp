// SPDX-License-Identifier: Apache-2.0
#include "cells.hpp"

#include <cstdlib>
#include <sstream>

namespace weft::emulator {
namespace {

setter text(std::string profile::*cell) {
  return [cell](profile& p, const value& v) { p.*cell = v.text; };
}
setter flag(bool profile::*cell) {
  return [cell](profile& p, const value& v) { p.*cell = v.flag(); };
}
template <class Number>
setter number(Number profile::*cell) {
  return [cell](profile& p, const value& v) { p.*cell = static_cast<Number>(v.number()); };
}
setter word(bool profile::*cell, const char* yes, const char* no) {
  return [cell, yes, no](profile& p, const value& v) { p.*cell = v.one_of(yes, no); };
}
void nothing(profile&, const value&) {}

void set_progress(profile& p, const value& v) {
  if (v.text != "polling" && v.text != "thread" && v.text != "hardware")
    refuse(v.place + ": data_progress is polling, thread or hardware");
  p.polling = v.text == "polling";
}
void set_refusal(profile& p, const value& v) {
  if (v.text != "reported" && v.text != "silent" && v.text != "hidden")
    refuse(v.place + ": refused_write is reported, silent or hidden");
  p.refused_write_reported = v.text == "reported";
  p.refused_write_hidden = v.text == "hidden";
}
void set_wait(profile& p, const value& v) {
  if (v.text != "descriptor" && v.text != "yield" && v.text != "none")
    refuse(v.place + ": completion_wait is descriptor, yield or none");
  p.wait_descriptor = v.text == "descriptor";
  p.wait_yield = v.text == "yield";
}

void set_counted(profile& p, const value& v) {
  std::istringstream words(v.text);
  p.counted.clear();
  for (std::string each; words >> each;) p.counted.insert(each);
}
void set_formats(profile& p, const value& v) {
  std::istringstream words(v.text);
  p.address_formats.clear();
  for (std::string each; words >> each;)
    p.address_formats.insert(static_cast<std::uint32_t>(value{each, v.place}.number()));
}
void set_immediate_setting(profile& p, const value& v) {
  const auto equals = v.text.find('=');
  if (v.text.empty()) return;
  if (equals == std::string::npos) refuse(v.place + ": \"" + v.text + "\" is not of the form NAME=VALUE");
  const char* set = ::secure_getenv(v.text.substr(0, equals).c_str());
  p.write_immediate_set = set != nullptr && v.text.substr(equals + 1) == set;
}
void set_full_completion_queue(profile& p, const value& v) {
  if (v.text != "keeps" && v.text != "refuses" && v.text != "loses")
    refuse(v.place + ": full_completion_queue is keeps, refuses or loses");
  p.full_completion_queue_refuses = v.text == "refuses";
  p.full_completion_queue_loses = v.text == "loses";
}
/// Parts of an address lie within it: what reads and writes addresses relies on that.
void set_address(profile& p, const value& v) {
  std::istringstream parts(v.text);
  std::string check;
  if (!(parts >> p.address_format >> p.address_bytes >> p.address_number_at >> p.address_number_bits >> check))
    refuse(v.place + ": an address is \"format bytes number_at number_bits check_at\"");
  p.address_checked = check != "none";
  p.address_check_at = p.address_checked ? static_cast<std::size_t>(value{check, v.place}.number()) : 0;
  if (p.address_number_bits == 0 || p.address_number_bits > 64 || p.address_bytes > 256 ||
      p.address_number_at > p.address_bytes ||
      p.address_bytes - p.address_number_at < (p.address_number_bits + 7) / 8 ||
      (p.address_checked && (p.address_check_at > p.address_bytes || p.address_bytes - p.address_check_at < 4)))
    refuse(v.place + ": a part of the address lies outside of it");
}

/// "add swap: int32 float; read: int64", or none.
void set_atomics(profile& p, const value& v) {
  p.atomic_operations.clear();
  if (v.text == "none") return;
  std::istringstream groups(v.text);
  for (std::string group; std::getline(groups, group, ';');) {
    const auto colon = group.find(':');
    if (colon == std::string::npos) refuse(v.place + ": \"" + group + "\" is not of the form \"operations: types\"");
    std::istringstream operations(group.substr(0, colon));
    for (std::string operation; operations >> operation;) {
      std::istringstream types(group.substr(colon + 1));
      for (std::string type; types >> type;) p.atomic_operations.emplace(operation, type);
    }
  }
}

}  // namespace

const std::map<std::string, setter, std::less<>>& cells() {
  static const std::map<std::string, setter, std::less<>> all{
      {"fabric", text(&profile::fabric)},
      {"provider", text(&profile::provider)},
      {"fabric_name", text(&profile::fabric_name)},
      {"endpoint_type", word(&profile::connected, "connected", "addressed")},
      {"forgets_peers", flag(&profile::forgets_peers)},
      {"address_formats", set_formats},
      {"own_node_path", word(&profile::shared_memory_on_own_node, "shared_memory", "fabric")},
      {"virtual_addressing", flag(&profile::virtual_addressing)},
      {"key_owner", word(&profile::provider_keys, "provider", "application")},
      {"key_bytes", number(&profile::key_bytes)},
      {"local_registration", flag(&profile::local_registration)},
      {"region_endpoint_binding", flag(&profile::region_endpoint_binding)},
      {"write_immediate_bytes", number(&profile::write_immediate_bytes)},
      {"write_immediate_consumes_receive", flag(&profile::write_immediate_consumes_receive)},
      {"write_immediate_setting", set_immediate_setting},
      {"send_immediate_bytes", number(&profile::send_immediate_bytes)},
      {"remote_counter_counts_writes", flag(&profile::remote_counter_counts_writes)},
      {"order_send_after_write", flag(&profile::order_send_after_write)},
      {"order_write_after_write", flag(&profile::order_write_after_write)},
      {"order_send_after_send", flag(&profile::order_send_after_send)},
      {"delivery_complete", flag(&profile::delivery_complete)},
      {"refused_write", set_refusal},
      {"selective_completion", flag(&profile::selective_completion)},
      {"atomics", word(&profile::atomics, "provider", "none")},
      {"atomic_operations", set_atomics},
      {"atomics_cost_order", flag(&profile::atomics_cost_order)},
      {"data_progress", set_progress},
      {"completion_wait", set_wait},
      {"reports_killed_peer", flag(&profile::reports_killed_peer)},
      {"context_bytes", number(&profile::context_bytes)},
      {"inject_bytes", number(&profile::inject_bytes)},
      {"gather_limit", number(&profile::gather_limit)},
      {"rma_gather_limit", number(&profile::rma_gather_limit)},
      {"queue_depth", number(&profile::queue_depth)},
      {"full_completion_queue", set_full_completion_queue},
      {"largest_message", number(&profile::largest_message)},
      {"largest_write", number(&profile::largest_write)},
      {"multi_receive", flag(&profile::multi_receive)},
      // What the provider has of the interface.
      {"tagged", flag(&profile::tagged)},
      {"directed_receive", flag(&profile::directed_receive)},
      {"mem_tag_format", number(&profile::mem_tag_format)},
      {"order_hints_checked", flag(&profile::order_hints_checked)},
      {"address", set_address},
      {"address_text", text(&profile::address_text)},
      {"one_service_per_node", flag(&profile::one_service_per_node)},
      {"short_lookup_refused", flag(&profile::short_lookup_refused)},
      {"counted", set_counted},
      {"cancel_of_unknown", number(&profile::cancel_of_unknown)},
      {"atomic_bytes", number(&profile::atomic_bytes)},
      {"every_atomic", flag(&profile::every_atomic)},
      {"contexts", number(&profile::contexts)},
      {"shared_transmit", flag(&profile::shared_transmit)},
      {"poll_sets", flag(&profile::poll_sets)},
      {"immediate_without_messages", number(&profile::immediate_without_messages)},
      // Cells that do not affect the calls of an addressed provider.
      {"address_resolution", nothing},
      {"connects_lazily", nothing},
      {"same_host", nothing},
      {"bytes_visible_in_order", nothing},
      {"fused_bytes", nothing},
      {"shared_receives", nothing},
      {"extended_posting", nothing},
      {"split_queues", nothing},
      {"thread_levels", nothing},
      {"full_queue", nothing},
      {"virtual_addressing_optional", nothing},  // no emulated row has virtual addresses without need
      {"virtual_addressing_costs_order", nothing},
  };
  return all;
}

}  // namespace weft::emulator
