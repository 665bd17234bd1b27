// Which sites have journals, and when what is in them goes to the streams.
#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

constexpr std::uint64_t kWorthIt = 16;        // instances before a site gets a journal
constexpr std::uint64_t kShareOfMemory = 32;  // journals need at most one part in so many
constexpr std::size_t kManySinces = std::size_t{1} << 16;

}  // namespace

Journal* Builder::journal_for(const LastSite& last, const Streams::Located& at, std::uint32_t part,
                              const PartCode& code) {
  Journal* journal = last.journal;
  if (journal == nullptr) [[unlikely]] {
    // Another part of the same site may have made it.
    if (at.id < journals_.size()) journal = journals_[at.id].get();
    if (journal == nullptr) {
      const bool worth_it = options_.by_runs && !Streams::cold(at) && Streams::begun(at) >= kWorthIt;
      if (!worth_it || !code.row.possible || journal_bytes_ > options_.max_memory / kShareOfMemory) return nullptr;
      if (at.id >= journals_.size()) journals_.resize(at.id + std::size_t{1});
      journals_[at.id] = std::make_unique<Journal>(at.id);
      journal = journals_[at.id].get();
      journal_bytes_ += journal->growth();
    }
    last_sites_[part].journal = journal;
  }
  if (code.row.possible) return journal;
  settle(*journal);
  return nullptr;
}

[[gnu::noinline]] std::uint64_t* Builder::begin_row_slowly(Journal& journal, const PartCode& code) {
  settle(journal);
  const std::size_t room = journal.make_room(code);
  journal_bytes_ += journal.growth();
  if (journal.wants_batch()) journal.take(feed_.batch(room, journal_bytes_));
  return journal.begin(code);
}

/// A read whose granules have different cells. The first of them is in the row.
void Builder::note_apart(Journal& journal, const PartCode& code, const RegisterRead& read, const Registers& registers) {
  const Cell* before = nullptr;
  for (std::uint32_t i = 0; i < read.count; ++i) {
    const LiveIn& in = code.live_ins[read.first + i];
    const Cell& cell = registers[in.granule];
    const bool goes_on = before != nullptr && *before == cell;
    before = &cell;
    if (i > 0 && !goes_on && cell.producer != 0) journal.add_extra(false, read.number, in.lane, cell);
  }
}

/// When the levels have changed: rows to come refer to them, if there is more than one stack.
void Builder::note_since() {
  since_ = 0;
  if (slice_ <= 1) return;
  since_ = static_cast<std::uint32_t>(sinces_.size());
  for (const Level& level : *levels_) sinces_.push_back(level.since);
}

void Builder::settle(Journal& journal) {
  if (journal.empty()) return;
  give_ranks_of(journal.site());
  feed_.settle(journal);
  journal_bytes_ += journal.growth();
}

void Builder::settle_all() {
  for (const std::unique_ptr<Journal>& journal : journals_)
    if (journal && !journal->empty()) settle(*journal);
  if (sinces_.size() > kManySinces) {
    feed_.drain();
    sinces_.truncate(1);
  }
  // With more than one stack, the next part notes its levels again; those that were the last may be gone.
  if (slice_ > 1) levels_ = nullptr;
  since_ = 0;
}

}  // namespace loopfold::ddg
