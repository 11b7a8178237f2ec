// SPDX-License-Identifier: Apache-2.0
//
// examples/invocation/journal.hpp: the journal that an executor writes and the manager reads. The executor runs foreign
// code, so each word may be anything, and the file any file.
#include "../target.hpp"

#include <invocation/journal.hpp>

namespace weft::fuzz::invocation_journal {

using namespace weft::invocation;

void check(const_bytes input) {
  choices from(input);
  const auto workers = static_cast<std::uint16_t>(from.number<std::uint16_t>() % (most_workers + 1));
  const auto offered = static_cast<std::uint16_t>(from.below(2) == 0 ? workers : from.below(most_workers + 1));
  auto made = journal_memory::make(offered);
  require(bool(made), "a journal is made");
  const int file = ::dup(made->file());
  const bool enough = offered >= workers;
  auto read = journal_memory::inherit(file, workers);
  require(bool(read) == enough, "a file is a journal if it has room for all workers");
  if (!read) return;
  require(read->workers().size() == workers, "there is a journal for each worker");
  const const_bytes text = from.take(from.left());
  if (workers > 0 && !text.empty())
    std::memcpy(static_cast<void*>(made->workers().data()), text.data(),
                std::min(text.size(), workers * sizeof(worker_journal)));
  for (const worker_journal& each : read->workers()) {
    const amounts acknowledged{each.acknowledged[0].load(), each.acknowledged[1].load()};
    const amounts posted{each.posted[0].load(), each.posted[1].load()};
    require(agrees(acknowledged, acknowledged, each), "the acknowledged amounts agree with themselves");
    require(agrees(acknowledged, each) && agrees(posted, each), "a dead worker's words are one of two amounts");
    amounts other = acknowledged;
    ++other.hot;
    require(!agrees(other, other, each), "another amount does not agree");
  }
}

}  // namespace weft::fuzz::invocation_journal
WEFT_FUZZ_TARGET(invocation_journal)
