// SPDX-License-Identifier: Apache-2.0
//
// Lists of transfers of one transport: the engine, what was prepared, and what is under way. Made by the first call for
// lists. Hot path: no; the engine's own path is transfers/engine.hpp. Threads: the owner's.
#pragma once

#include "../transfers/engine.hpp"
#include "../weft.h"
#include "handles.hpp"
#include "library_set.hpp"

#include <memory>
#include <utility>
#include <vector>

namespace weft::abi {

class open_transport;

/// Lists that were posted share it with its handle, so it outlives weft_release_prepared().
struct prepared_transfers {
  transfers::prepared_list list;
  weft_peer with = nullptr;
  // Each once: a post looks whether they are still registered. The transfers themselves hold addresses.
  std::vector<weft_region> regions;
  std::vector<weft_remote> remotes;
};

/// A list under way. Its address is the context of the engine's ended_function.
struct posted_list {
  open_transport* of = nullptr;
  std::shared_ptr<const prepared_transfers> what;
  std::uint64_t context = 0;
  weft_list handle = nullptr;
  transfers::list_handle in_engine{};
};

struct list_tables {
  explicit list_tables(transfers::engine<library_set> made) : engine(std::move(made)) {}

  transfers::engine<library_set> engine;
  handle_table<handle_kind::prepared, weft_prepared_handle, std::shared_ptr<const prepared_transfers>> prepared;
  handle_table<handle_kind::list, weft_list_handle, std::unique_ptr<posted_list>> posted;
};

}  // namespace weft::abi
