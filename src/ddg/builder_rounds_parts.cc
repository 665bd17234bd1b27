// Rounds: their parts, each a segment of so many instances for every stream.
//
// Where the round that was recorded comes right before those that are taken, its row of the journal, and that of the
// round before, still wait there. They go to the streams with the others: what goes on evenly from them is the same
// segment, and all else comes before it, one by one.
#include <algorithm>

#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

/// Whether a row tells all of its accesses: they happened, and are copies and where they are as those of the last row;
/// and whether all that it read has a writer who is known.
bool is_plain(const PartCode& code, const std::uint64_t* row, const std::uint64_t* last) {
  const auto is_known = [](const std::uint64_t* cell) { return Journal::cell(cell).producer != kLostProducer; };
  for (const RegisterRead& read : code.reads)
    if (!is_known(row + read.in_row)) return false;
  for (const MemoryAccess& access : code.accesses) {
    const std::uint64_t* const noted = row + access.in_row;
    if (noted[0] != last[access.in_row] || noted[1] != last[access.in_row + 1] || (noted[0] & Journal::kHappened) == 0)
      return false;
    if (!access.store && !is_known(noted + Journal::kPlace)) return false;
  }
  return true;
}

}  // namespace

/// Takes rows of the part out of its journal, if they are those of the recorded round and maybe the one before. What is
/// left goes to its streams.
void Builder::take_earlier_rows(RecordedRound::Step& step, std::uint64_t first) {
  Journal& journal = *journals_[step.site];
  const PartCode& code = *step.code;
  const std::size_t rows = first == 1 ? std::min(journal.last_rows(code), RecordedRound::kMostEarlier) : 0;
  step.earlier = 0;
  if (rows == 0) return settle(step.site);
  const std::uint64_t* const last = journal.last_row(code, 0);
  const auto is_of_round = [&](const std::uint64_t* row, std::uint64_t back) {
    return row[0] == last[0] && static_cast<EntryId>(row[0]) == round_.entry && row[2] == step.serial &&
           row[1] + back == step.counter && is_plain(code, row, last);
  };
  while (step.earlier < rows && is_of_round(journal.last_row(code, step.earlier), step.earlier)) ++step.earlier;
  if (step.earlier != 0) {
    const std::uint64_t* const begin = journal.last_row(code, step.earlier - 1);
    step.earlier_rows.assign(begin, last + code.row.words);
  }
  for (std::size_t i = 0; i < step.earlier; ++i) journal.take_back(code);
  settle(step.site);
}

/// Gives each earlier row that does not go on in the rounds to single(row, its number), and then all others with them:
/// run(how many of these rows there are). `goes_on`: whether a row is so many iterations before them.
template <class GoesOn, class Single, class Run>
void Builder::fold_operand(const RecordedRound::Step& step, const GoesOn& goes_on, const Single& single,
                           const Run& run) {
  const std::size_t words = step.code->row.words;
  const auto row = [&](std::size_t number) { return step.earlier_rows.data() + number * words; };
  std::size_t joined = 0;
  while (joined < step.earlier && goes_on(row(step.earlier - 1 - joined), joined + 1)) ++joined;
  for (std::size_t i = 0; i < step.earlier - joined; ++i) {
    set_iteration(i);
    feed_.set_time(row(i)[3]);
    single(row(i), i);
  }
  set_iteration(step.earlier - joined);
  feed_.set_time(joined != 0 ? row(step.earlier - joined)[3] : instructions_ + 1);
  run(joined);
}

/// A part in so many rounds.
void Builder::fold_part(const RecordedRound::Step& step, std::uint64_t first, std::uint64_t n) {
  const PartCode& code = *step.code;
  stretch_.n = n + step.earlier;
  stretch_.entry = round_.entry;
  stretch_.counter = step.counter + first - step.earlier;
  set_iteration(0);
  feed_.set_time(step.earlier != 0 ? step.earlier_rows[3] : instructions_ + 1);
  feed_.instance_run(step.site, point_.data(), stretch_.n);
  for (std::size_t i = 0; i < code.values.size(); ++i) fold_part_value(step, i, n);
  for (const RegisterRead& read : code.reads) fold_part_read(step, read, first, n);
  for (std::size_t a = step.first_access; a < step.first_access + step.accesses; ++a)
    fold_part_access(step, round_.accesses[a], first, n);
  feed_.set_time(instructions_ + 1);
  set_iteration(0);
}

void Builder::fold_part_value(const RecordedRound::Step& step, std::size_t number, std::uint64_t n) {
  const IntegerValue& value = step.code->values[number];
  const auto start = static_cast<std::int64_t>(step.values[number].start);
  const auto grows = static_cast<std::int64_t>(step.values[number].step);
  const auto label_of = [&](const std::uint64_t* row) {
    return sign_extended(row[Journal::kHeader + number], value.width);
  };
  std::int64_t from = start;
  const auto goes_on = [&](const std::uint64_t* row, std::uint64_t) {
    std::int64_t before = 0;
    if (__builtin_sub_overflow(from, grows, &before) || label_of(row) != before) return false;
    from = before;
    return true;
  };
  const auto give = [&](std::int64_t label, std::int64_t by, std::uint64_t count) {
    feed_.value_run(step.site, value, point_.data(), label, by, count, step.serial);
  };
  fold_operand(
      step, goes_on, [&](const std::uint64_t* row, std::size_t) { give(label_of(row), 0, 1); },
      [&](std::uint64_t joined) { give(from, grows, n + joined); });
}

void Builder::fold_part_read(const RecordedRound::Step& step, const RegisterRead& read, std::uint64_t first,
                             std::uint64_t n) {
  using Moves = RecordedRound::Moves;
  const Cell cell = Journal::cell(&round_.rows[step.row + read.in_row]);
  const Moves moves = step.moves[read.number];
  // What its producer's counter of the loop around is in the first of the rounds, if it is in that.
  const bool around = cell.entry == round_.entry;
  const std::uint64_t rounds = moves == Moves::kBefore ? first - 1 : first;
  const std::uint64_t counter = (around ? cell.counter : entries_.parent_counter(cell.entry)) + rounds;
  Streams::Reader reader = reader_of(step.site, read);
  reader.lane = step.code->live_ins[read.first].lane;

  const auto goes_on = [&](const std::uint64_t* row, std::uint64_t before) {
    const Cell at = Journal::cell(row + read.in_row);
    if (at.producer != cell.producer) return false;
    if (moves == Moves::kNot || cell.producer == 0) return at == cell || cell.producer == 0;
    if (around) return at.entry == round_.entry && at.counter == counter - before;
    return at.counter == cell.counter && entries_.depth(at.entry) == entries_.depth(cell.entry) &&
           entries_.parent(at.entry) == round_.entry && entries_.parent_counter(at.entry) == counter - before;
  };
  const auto single = [&](const std::uint64_t* row, std::size_t number) {
    const Cell at = Journal::cell(row + read.in_row);
    if (at.producer == 0) return;
    DependencePiece piece;
    piece.begin(feed_.prepare(reader, at.producer), reader, at, number);
    depend_run(piece, reader);
  };
  const auto run = [&](std::uint64_t joined) {
    if (cell.producer == 0) return;
    std::size_t equal = round_.around;
    const std::int64_t* producer = near_.data();
    std::int64_t grows = 0;
    static constexpr std::int64_t kOne[1] = {1};
    std::span<const std::int64_t> outer;
    if (moves != Moves::kNot && around) {
      near_[equal] = static_cast<std::int64_t>(counter - joined);
      grows = 1;
    } else if (moves != Moves::kNot) {
      producer_.resize(std::max(producer_.size(), equal + 2));
      std::copy_n(point_.begin(), equal, producer_.begin());
      producer_[equal] = static_cast<std::int64_t>(counter - joined);
      producer_[equal + 1] = static_cast<std::int64_t>(cell.counter);
      producer = producer_.data();
      outer = kOne;
    } else {
      producer = vector_near(cell, equal);
    }
    feed_.dependence_run(feed_.prepare(reader, cell.producer), reader, cell.producer,
                         {point_.data(), producer, equal, grows, n + joined, 0, 1, {}, outer});
    near_[equal] = point_[equal];
  };
  fold_operand(step, goes_on, single, run);
}

/// What it accesses, and what a load gets: the rounds that are taken have that in pieces.
void Builder::fold_part_access(const RecordedRound::Step& step, const RecordedRound::Access& at, std::uint64_t first,
                               std::uint64_t n) {
  const MemoryAccess& access = *at.access;
  const auto growth = static_cast<std::int64_t>(at.growth);
  const auto offset_of = [&](const std::uint64_t* row) { return static_cast<std::int64_t>(row[access.in_row + 2]); };
  const std::int64_t start = at.place.offset + growth * static_cast<std::int64_t>(first);
  const auto give = [&](std::int64_t offset, std::int64_t by, std::uint64_t count) {
    feed_.access_run(step.site, access, point_.data(), {at.place.object, at.place.block, offset}, {0, by}, count,
                     at.copy ? count : 0, step.serial);
  };
  const auto goes_on = [&](const std::uint64_t* row, std::uint64_t before) {
    return offset_of(row) == start - growth * static_cast<std::int64_t>(before);
  };
  fold_operand(
      step, goes_on, [&](const std::uint64_t* row, std::size_t) { give(offset_of(row), 0, 1); },
      [&](std::uint64_t joined) { give(start - growth * static_cast<std::int64_t>(joined), growth, n + joined); });
  if (access.store) return;

  Streams::Reader reader = reader_of(step.site, access);
  reader.object = at.place.object;
  const auto give_piece = [&](DependencePiece& piece) {
    piece.to = feed_.prepare(reader, piece.producer);
    piece.reloads = at.copy ? piece.n : 0;
    depend_run(piece, reader);
  };
  const auto single = [&](const std::uint64_t* row, std::size_t number) {
    const Cell cell = Journal::cell(row + access.in_row + Journal::kPlace);
    if (cell.producer == 0) return;
    DependencePiece piece;
    piece.begin(nullptr, reader, cell, number);
    give_piece(piece);
  };
  const auto run = [&](std::uint64_t) {
    if (at.empty) return;
    for (DependencePiece& piece : round_.got_by(at).pieces) {
      if (piece.first >= n) break;
      piece.n = std::min(piece.n, n - piece.first);
      piece.first += step.earlier;
      give_piece(piece);
    }
  };
  fold_operand(
      step, [](const std::uint64_t*, std::uint64_t) { return false; }, single, run);
}

}  // namespace loopfold::ddg
