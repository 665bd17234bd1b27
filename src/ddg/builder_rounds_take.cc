// Rounds: taking many of them at once (builder_rounds.cc says when that may be).
//
// All but the last of the rounds are taken. That one is followed as any other: it leaves everything as it must be
// behind it, but tells the streams nothing, which have got that with the others. It stands for all of them in what is
// only counted about origins (OriginRecords::set_weight()). For those that are taken,
// - instances, values, places and what registers give are one segment each for a part, and ranks for a stretch
// (ranks.h);
// - what loads find is looked at load by load, before anything is stored: cell by cell for a part, row by row for a
//   stretch, if the row has few writers or was read before (row_memo.h);
// - then their stores are done, round by round, and registers that they pass on become what the last of them leaves.
//
// No stream of a load is made here: where one finds a producer that it did not have in a round that was followed, the
// rounds that are taken end before it.
// Cost: some hundreds of instructions per round and access of a stretch, a few thousand for all rounds together.
#include <algorithm>
#include <stdexcept>

#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

constexpr std::uint32_t kFewRanks = 8;  // stretches that are not compared with each other, since rounds are taken

}  // namespace

/// Values of so many rounds, and addresses. False: they are not even.
bool Builder::follow_numbers(const structure::Round& round, std::uint64_t first, std::uint64_t n) {
  for (std::size_t i = 0; i < round_.count; ++i) {
    RecordedRound::Step& step = round_.steps[i];
    const std::span<RecordedRound::Access> accesses{round_.accesses.data() + step.first_access, step.accesses};
    // In the first iteration of a stretch, and in its last.
    for (const bool last : {false, true}) {
      if (last && step.plan == nullptr) continue;
      const std::uint64_t k = last ? step.ranks.n - 1 : 0;
      const trace::RunExpander& ahead = expand_rounds(round, step, first, n, k);
      for (const RecordedRound::Access& at : accesses) {
        const Progression address = progression_of(*at.block, at.access->address, ahead, at.slot, n);
        if (!address.even || address.step != at.growth ||
            address.start != at.address + at.growth * first + at.inner * k)
          return false;
      }
      std::vector<Progression>& values = last ? step.last_values : step.values;
      values.clear();
      const auto add = [&](const PartCode& code, const trace::Block& block, std::size_t slot) {
        for (const IntegerValue& value : code.values)
          values.push_back(sign_extended(progression_of(block, value.value, ahead, slot, n), value.width, n));
      };
      if (step.plan == nullptr)
        add(*step.code, *step.block, step.first - round.items()[step.item].first);
      else
        for (const PathPart& part : step.plan->parts) add(*part.code, *part.block, part.slot);
      if (!std::all_of(values.begin(), values.end(), [](const Progression& value) { return value.even; })) return false;
    }
    if (step.plan == nullptr) continue;
    const std::uint64_t more = step.ranks.n - 1;
    for (std::size_t v = 0; v < step.values.size(); ++v) {
      const std::uint64_t grown = static_cast<std::uint64_t>(step.ranks.values[v].step) * more;
      if (step.last_values[v].step != step.values[v].step || step.last_values[v].start != step.values[v].start + grown)
        return false;
    }
  }
  return true;
}

/// A row, in one lane: who wrote it, if that is a few producers.
bool Builder::find_row(const StretchAccess& at, RecordedRound::Row& into) {
  into.count = 0;
  const RowMemo::Row row{at.address.start, at.address.step, stretch_.n, at.access->size};
  const bool keep = RowMemo::is_worth_it(row);
  if (keep) {
    if (const RowMemo::Writers* const known = row_memo_.find(row, memory_); known != nullptr) {
      for (std::size_t i = 0; i < known->count; ++i)
        into.add({known->all[i].first, known->all[i].counter_step, i,
                  (stretch_.n - i + known->count - 1) / known->count, known->count, known->rise});
      return true;
    }
  }
  if (!scan_row(at, into)) return false;
  if (!keep || into.count > RowMemo::kMostWriters) return true;
  RowMemo::Writers writers;
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < into.count; ++i) {
    const RecordedRound::Segment& segment = into.segments[i];
    writers.all[writers.count++] = {segment.cell, segment.step};
    all += segment.n;
  }
  // Those that a memo may have: all of the row is one segment, or of some that take turns.
  const bool plain = into.count == 0 || (all == stretch_.n && into.segments[0].stride == into.count);
  if (plain) {
    if (into.count == 1) writers.rise = into.segments[0].rise;
    row_memo_.remember(row, writers, memory_);
  }
  return true;
}

/// Cell by cell, as far as they are not as expected.
bool Builder::scan_row(const StretchAccess& at, RecordedRound::Row& into) {
  const std::uint64_t n = stretch_.n;
  const std::uint32_t size = at.access->size;
  for (std::uint64_t k = 0; k < n;) {
    if (const std::uint64_t empty = pass_empty(at, k); empty > 0) {
      k += empty;
      continue;
    }
    const Cell* const cell = memory_.cell_of(at.address.at(k), size);
    if (cell == nullptr || cell->producer == kLostProducer) return false;
    RecordedRound::Segment segment{*cell, 0, k, 1};
    if (k + 1 < n) {
      const Cell* const next = memory_.cell_of(at.address.at(k + 1), size);
      if (next == nullptr) return false;
      segment.step = next->counter - cell->counter;
      if (next->producer == cell->producer && next->entry == cell->entry) {
        segment.n = memory_.matching(at.address.at(k), size, at.address.step, n - k, *cell, segment.step);
      } else if (begins_column(at, k)) {
        if (column_.size() != 1) return false;
        segment.rise = column_[0].rise;
        segment.n = length_of_column(at, column_[0], size, n - k);
      } else if (k == 0 && take_turns_throughout(at)) {
        if (turns_.size() > RecordedRound::Row::kMost) return false;
        for (const DependencePiece& piece : turns_)
          into.add({{piece.producer, piece.entry, piece.counter}, piece.step, piece.first, piece.n, piece.stride});
        return true;
      } else {
        segment.step = 0;
      }
    }
    if (!into.add(segment)) return false;
    k += segment.n;
  }
  return true;
}

/// Whether there is a stream of what a load gets from this producer. If not, and the round is `followed` then, there
/// will be one.
bool Builder::is_known(const RecordedRound::Access& at, DefinitionId producer, std::uint16_t lane,
                       bool followed) const {
  if (producer == kLostProducer || origins_.has_spilled(producer) != at.spilled) return false;
  const bool known = at.met->has(producer, lane);
  if (!known && followed) at.met->add(producer, lane);
  return known;
}

/// Of rounds from this one on, how many of the first have a load of a part find what it may.
std::uint64_t Builder::look_at_cells(RecordedRound::Access& at, std::uint64_t first, std::uint64_t n) {
  std::vector<DependencePiece>& pieces = round_.got_by(at).pieces;
  pieces.clear();
  Streams::Reader reader = reader_of(at.site, *at.access);
  reader.object = at.place.object;
  EntryId good = kNoEntry;  // the last entry that is not of the loop
  for (std::uint64_t k = 0; k < n; ++k) {
    const Cell* const cell = memory_.only_cell(at.address + at.growth * (first + k), at.access->size);
    if (cell == nullptr || (cell->producer == 0) != at.empty || (at.spilled && !(*cell == at.cell))) return k;
    if (at.empty) continue;
    if (!pieces.empty() && pieces.back().takes(*cell)) continue;
    if (!is_known(at, cell->producer, 0, k == 0)) return k;
    if (cell->entry != good && is_of_loop(at.site, *cell)) return k;
    good = cell->entry;
    pieces.emplace_back().begin(nullptr, reader, *cell, k);
  }
  return n;
}

/// A row, chunk by chunk: these begin in some of the lanes where they did before.
bool Builder::find_chunks(StretchAccess& row, const RecordedRound::Access& at, RecordedRound::Row& into) {
  const RecordedRound::Met& met = *at.met;
  const std::uint64_t address = row.address.start;
  MemoryAccess lane = *at.access;
  into.count = 0;
  lane_row_.count = 0;
  for (std::size_t l = 0; l < met.lane_count; ++l) {
    std::swap(lane_row_, row_before_);
    const std::uint32_t end = l + 1 < met.lane_count ? met.lanes[l + 1] : at.access->size;
    lane.size = end - met.lanes[l];
    row.access = &lane;
    row.address.start = address + met.lanes[l];
    const bool found =
        find_row(row, lane_row_) && into.add_lane(lane_row_, l == 0 ? nullptr : &row_before_, met.lanes[l]);
    row.access = at.access;
    row.address.start = address;
    if (!found) return false;
  }
  return into.are_lanes_apart();
}

/// Notes where chunks of a row begin. False: that was known.
bool Builder::learn_lanes(const StretchAccess& row, RecordedRound::Met& met) {
  bool more = false;
  for (std::uint64_t k = 0; k < 2; ++k) {
    const std::size_t chunks = read_chunks(row.address.at(k), row.access->size);
    for (std::size_t i = 0; i < chunks; ++i) more = met.add_lane(static_cast<std::uint16_t>(chunks_[i].offset)) || more;
  }
  return more;
}

/// The same for one of a stretch.
std::uint64_t Builder::look_at_rows(RecordedRound::Access& at, std::uint64_t first, std::uint64_t n) {
  std::vector<RecordedRound::Row>& rows = round_.got_by(at).rows;
  StretchAccess row;
  row.access = at.access;
  row.address.step = at.inner;
  row.reader = reader_of(at.site, *at.access);
  row.reader.object = at.place.object;
  row.place = at.place;
  stretch_.n = at.n;
  const auto find = [&](RecordedRound::Row& found) {
    return at.met->lane_count == 1 ? find_row(row, found) : find_chunks(row, at, found);
  };
  for (std::uint64_t k = 0; k < n; ++k) {
    row.address.start = at.address + at.growth * (first + k);
    if (k == rows.size()) rows.emplace_back();
    RecordedRound::Row& found = rows[k];
    if (!find(found) && !(learn_lanes(row, *at.met) && find(found))) return k;
    if ((found.count == 0) != at.empty) return k;
    if (at.spilled && (found.count != 1 || !(found.segments[0].cell == at.cell))) return k;
    for (std::size_t i = 0; i < found.count; ++i) {
      const RecordedRound::Segment& segment = found.segments[i];
      if (!is_known(at, segment.cell.producer, segment.lane, k == 0)) return k;
      if (segment.rise.levels == 0) {
        if (is_of_loop(at.site, segment.cell)) return k;
        continue;
      }
      DependencePiece piece;
      piece.begin(nullptr, row.reader, segment.cell, 0);
      piece.rise = segment.rise;
      piece.n = segment.n;
      if (may_be_of_loop(row, piece)) return k;
    }
    if (at.growth == 0) return n;
  }
  return n;
}

/// In how many of the first of so many rounds loads find what they may: as in the round that was recorded, something in
/// all of their bytes or nothing, from outside of this entry of the loop around.
std::uint64_t Builder::look_at_loads(std::uint64_t first, std::uint64_t n) {
  for (RecordedRound::Access& at : round_.accesses) {
    if (at.access->store || n == 0) continue;
    const bool of_part = round_.steps[at.step].plan == nullptr;
    if (at.from == RecordedRound::Access::From::kOutside) {
      n = of_part ? look_at_cells(at, first, n) : look_at_rows(at, first, n);
      continue;
    }
    // What the rounds themselves store.
    const RecordedRound::Access& store = round_.accesses[at.store];
    if (at.empty || !is_known(at, definition_of(store), 0, true)) return 0;
    if (!of_part) continue;
    const std::uint64_t back = at.from == RecordedRound::Access::From::kBefore ? 1 : 0;
    std::vector<DependencePiece>& pieces = round_.got_by(at).pieces;
    pieces.clear();
    DependencePiece& piece = pieces.emplace_back();
    piece.begin(nullptr, reader_of(at.site, *at.access),
                {definition_of(store), round_.entry, round_.steps[store.step].counter + first - back}, 0);
    piece.step = 1;
    piece.n = n;
  }
  return n;
}

/// Whether it is known which entries of inner loops are meant by registers that move on.
bool Builder::may_be_moved(const ThreadState& thread) const {
  const auto is_known = [&](const Cell& cell) {
    if (cell.entry == round_.entry) return true;
    return std::any_of(
        round_.steps.begin(), round_.steps.begin() + static_cast<std::ptrdiff_t>(round_.count),
        [&](const RecordedRound::Step& step) { return step.plan != nullptr && step.plan->last_entry == cell.entry; });
  };
  const auto is_copy_known = [&](const RecordedRound::Access& at) {
    if (!at.spilled || at.from != RecordedRound::Access::From::kBefore) return true;
    const Spill* const spill = origins_.spilled_at(at.address, at.access->size);
    return spill != nullptr && is_known(spill->cell) && spill->value.all_of([&](const Provenance& value) {
      return value.none || is_known(value.origin) || is_outside_round(value.origin);
    });
  };
  if (!std::all_of(round_.accesses.begin(), round_.accesses.end(), is_copy_known)) return false;
  return std::all_of(round_.exposed_list.begin(), round_.exposed_list.end(), [&](Granule granule) {
    if (round_.moved.has(granule) && !is_known(thread.registers[granule])) return false;
    return !round_.origin_moved.has(granule) || is_known(thread.origins.kept[granule].origin);
  });
}

/// Whether the recorded stretch waits for these rounds, and goes to its streams as they do.
bool Builder::is_waiting(const RecordedRound::Step& step, std::uint64_t first) const {
  const StretchPlan::Repeats& repeats = step.plan->repeats;
  const Ranks& waiting = repeats.waiting;
  if (!repeats.for_rounds || first != 1 || waiting.serial != step.inner_serial) return false;
  const bool moves = waiting.stretches > 1;  // to the recorded one
  const std::vector<Ranks::Value>& values = step.ranks.values;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (static_cast<std::uint64_t>(values[i].label) + step.values[i].step != step.values[i].start) return false;
    if (moves && waiting.values[i].growth != static_cast<std::int64_t>(step.values[i].step)) return false;
  }
  for (std::size_t i = 0; moves && i < waiting.accesses.size(); ++i) {
    const Streams::PlaceStep& growth = waiting.accesses[i].growth;
    const std::uint64_t expected = round_.accesses[step.first_access + i].growth;
    if (growth.block != 0 || growth.offset != static_cast<std::int64_t>(expected)) return false;
  }
  return true;
}

/// A stretch in so many rounds, but for what it loads, behind those that wait, if some do.
void Builder::fold_inner(RecordedRound::Step& step, std::uint64_t first, std::uint64_t n, std::uint64_t serials) {
  Ranks& ranks = ranks_;
  const Ranks& waiting = step.plan->repeats.waiting;
  const auto moved = static_cast<std::int64_t>(first);
  const bool begins = waiting.stretches == 0;
  ranks = begins ? step.ranks : waiting;
  ranks.stretches = n + waiting.stretches;
  ranks.stride = 1;
  ranks.serial = step.inner_serial + serials * (first + n - 1);
  if (begins) {
    ranks.time = instructions_ + 1;
    for (Ranks::Flow& flow : ranks.flows) flow.counter += ranks.growth_along(flow.level, moved);
    ranks.point[round_.around] += moved;
  }
  for (std::size_t i = 0; i < ranks.values.size(); ++i) {
    if (begins) ranks.values[i].label = static_cast<std::int64_t>(step.values[i].start);
    ranks.values[i].growth = static_cast<std::int64_t>(step.values[i].step);
  }
  for (std::size_t i = 0; i < ranks.accesses.size(); ++i) {
    const auto growth = static_cast<std::int64_t>(round_.accesses[step.first_access + i].growth);
    if (begins) ranks.accesses[i].place.offset += growth * moved;
    ranks.accesses[i].growth = {0, growth};
  }
  feed_.ranks(ranks);
}

/// What one of its loads gets, lane by lane.
void Builder::fold_rows(const RecordedRound::Step& step, const RecordedRound::Access& at, std::uint64_t first,
                        std::uint64_t n) {
  for (std::size_t l = 0; l < at.met->lane_count; ++l) fold_lane(step, at, at.met->lanes[l], first, n);
}

/// Runs that move on evenly go together.
void Builder::fold_lane(const RecordedRound::Step& step, const RecordedRound::Access& at, std::uint16_t lane,
                        std::uint64_t first, std::uint64_t n) {
  LoadRanks& into = load_ranks_;
  into.reader = reader_of(at.site, *at.access);
  into.reader.lane = lane;
  into.reloads = at.copy;
  into.reader.object = at.place.object;
  into.time = instructions_ + 1;
  into.point.assign(step.ranks.point.begin(), step.ranks.point.end());
  into.point[round_.around] += static_cast<std::int64_t>(first);
  into.groups.clear();
  into.producers.clear();
  round_groups_.clear();
  const auto add_group = [&](const RecordedRound::Segment& segment, std::size_t number, std::uint64_t k) {
    LoadRanks::Group& group = into.groups.emplace_back();
    group.from = segment.cell.producer;
    group.levels = static_cast<std::uint16_t>(segment.rise.levels);
    for (std::size_t l = 0; l < segment.rise.levels; ++l)
      group.outer[l] = static_cast<std::int64_t>(segment.rise.steps[l]);
    group.number = number;
    group.first = segment.first;
    group.n = segment.n;
    group.stride = static_cast<std::int64_t>(segment.stride);
    group.step = static_cast<std::int64_t>(segment.step);
    group.entry = k;
    add_producer(group, segment.cell, into);
  };
  const std::vector<RecordedRound::Row>& rows = round_.got_by(at).rows;
  if (at.growth == 0 && rows[0].has_other_producers()) {
    for (std::size_t i = 0; i < rows[0].count; ++i) {
      if (rows[0].segments[i].lane != lane) continue;
      add_group(rows[0].segments[i], i, 0);
      into.groups.back().entries = n;
    }
    return feed_.load_ranks(into);
  }
  const auto goes_on = [&](const RecordedRound::Group& last, const RecordedRound::Segment& segment, std::uint64_t k) {
    LoadRanks::Group& group = into.groups[last.number];
    const std::uint64_t along = k - last.round;
    if (along == 0 || last.cell.entry != segment.cell.entry || group.first != segment.first || group.n != segment.n ||
        group.stride != static_cast<std::int64_t>(segment.stride) ||
        group.step != static_cast<std::int64_t>(segment.step) || !(last.rise == segment.rise))
      return false;
    const auto growth = static_cast<std::int64_t>(segment.cell.counter - last.cell.counter);
    if (group.entries > 1 && (group.along != along || group.growth != growth)) return false;
    group.along = along;
    group.growth = growth;
    return true;
  };
  for (std::uint64_t k = 0; k < n; ++k) {
    const RecordedRound::Row& row = rows[at.growth == 0 ? 0 : k];
    for (std::size_t i = 0; i < row.count; ++i) {
      const RecordedRound::Segment& segment = row.segments[i];
      if (segment.lane != lane) continue;
      auto last = std::find_if(round_groups_.begin(), round_groups_.end(), [&](const RecordedRound::Group& known) {
        return known.cell.producer == segment.cell.producer;
      });
      const bool is_new = last == round_groups_.end();
      if (is_new) last = round_groups_.emplace(last);
      if (!is_new && goes_on(*last, segment, k)) {
        ++into.groups[last->number].entries;
      } else {
        last->number = into.groups.size();
        last->rise = segment.rise;
        add_group(segment, i, k);
      }
      last->round = k;
      last->cell = segment.cell;
    }
  }
  feed_.load_ranks(into);
}

/// The same where it gets what a round has stored, this one or the one before.
void Builder::fold_stored(const RecordedRound::Access& at, std::uint64_t first, std::uint64_t n) {
  load_ranks_.reloads = at.copy;
  const std::size_t around = round_.around;
  const RecordedRound::Access& store = round_.accesses[at.store];
  const RecordedRound::Step& from = round_.steps[store.step];
  const RecordedRound::Step& step = round_.steps[at.step];
  LoadRanks& into = load_ranks_;
  into.reader = reader_of(at.site, *at.access);
  into.reader.object = at.place.object;
  into.time = instructions_ + 1;
  into.point.assign(step.ranks.point.begin(), step.ranks.point.end());
  into.point[around] += static_cast<std::int64_t>(first);
  into.groups.clear();
  into.producers.assign(point_.begin(), point_.begin() + static_cast<std::ptrdiff_t>(around));
  const std::uint64_t back = at.from == RecordedRound::Access::From::kBefore ? 1 : 0;
  into.producers.push_back(static_cast<std::int64_t>(from.counter + first - back));
  LoadRanks::Group& group = into.groups.emplace_back();
  group.from = definition_of(store);
  group.equal = static_cast<std::uint16_t>(around);
  group.n = at.n;
  group.entries = n;
  if (from.plan == nullptr) {
    group.growth = 1;
  } else {
    into.producers.push_back(static_cast<std::int64_t>(from.inner_counter));
    group.step = 1;
    group.moves = true;
  }
  feed_.load_ranks(into);
}

/// The vector of a producer that is outside of the entry of the loop around, which control is in.
void Builder::add_producer(LoadRanks::Group& group, const Cell& cell, LoadRanks& into) {
  std::size_t equal = round_.around;
  const std::int64_t* const vector = vector_near(cell, equal);
  const std::size_t depth = entries_.depth(cell.entry);
  group.producer = into.producers.size();
  into.producers.insert(into.producers.end(), vector, vector + depth);
  group.equal = static_cast<std::uint16_t>(std::min(equal, depth - 1 - group.levels));
  near_[equal] = point_[equal];
}

void Builder::store_rounds(std::uint64_t first, std::uint64_t n) {
  for (std::uint64_t k = 0; k < n; ++k) {
    for (const RecordedRound::Access& at : round_.accesses) {
      if (!at.access->store) continue;
      const RecordedRound::Step& step = round_.steps[at.step];
      const std::uint64_t address = at.address + at.growth * (first + k);
      const DefinitionId definition = definition_of(at);
      if (step.plan == nullptr)
        memory_.write(address, at.access->size, {definition, round_.entry, step.counter + first + k});
      else if (at.inner == 0)
        memory_.write(address, at.access->size, {definition, step.entries[k], step.inner_counter + at.n - 1});
      else
        memory_.write_row(address, at.access->size, at.inner, at.n, {definition, step.entries[k], step.inner_counter});
    }
  }
}

/// An instance of the round before becomes that of so many rounds later.
void Builder::move_in_rounds(Cell& cell, std::uint64_t n) const {
  if (cell.entry == round_.entry) {
    cell.counter += n;
    return;
  }
  for (std::size_t i = 0; i < round_.count; ++i) {
    const RecordedRound::Step& step = round_.steps[i];
    if (step.plan == nullptr || step.plan->last_entry != cell.entry) continue;
    cell.entry = step.entries[n - 1];
    return;
  }
}

/// Registers that the next round looks at become what they are so many rounds later.
void Builder::move_round_registers(ThreadState& thread, std::uint64_t n) {
  for (const Granule granule : round_.exposed_list) {
    if (round_.moved.has(granule)) move_in_rounds(thread.registers[granule], n);
    if (round_.origin_moved.has(granule)) move_in_rounds(thread.origins.kept[granule].origin, n);
  }
  thread.origins.joined.clear();
}

/// What the round before has spilled for the next one becomes what it is so many rounds later.
void Builder::move_round_spills(std::uint64_t n) {
  moved_spills_.clear();
  for (const RecordedRound::Access& at : round_.accesses) {
    if (!at.spilled || at.from != RecordedRound::Access::From::kBefore) continue;
    if (std::find(moved_spills_.begin(), moved_spills_.end(), at.address) != moved_spills_.end()) continue;
    moved_spills_.push_back(at.address);
    origins_.move_spill(at.address, at.access->size, [&](Cell& cell) { move_in_rounds(cell, n); });
  }
}

std::uint64_t Builder::take_rounds(const Where& where, const structure::Round& round, std::uint64_t first,
                                   std::uint64_t most, std::uint64_t serials) {
  end_trail();
  ThreadState& thread = this->thread(where.thread);
  StackState& stack = this->stack(where.stack);
  const std::size_t around = round_.around;
  if (slice_ != 1 || most == 0 || stack.levels.size() <= around || stack.levels[around].entry != round_.entry ||
      !may_be_moved(thread) || !follow_numbers(round, first, most + 1))
    return 0;
  stack.levels.resize(around + 1);
  levels_ = &stack.levels;
  point_.resize(std::max(point_.size(), around + 3));
  for (std::size_t k = 0; k <= around; ++k) point_[k] = static_cast<std::int64_t>(where.dimensions[k].counter);
  near_ = point_;
  innermost_ = around;
  // The one behind them must be like them, too. Its streams get it with the others.
  const std::uint64_t alike = look_at_loads(first, most + 1);
  if (alike < 2) return 0;
  const std::uint64_t n = alike - 1;
  for (const RecordedRound::Access& at : round_.accesses) {
    const std::uint64_t moved = at.growth * (first + alike - 1);
    if (!is_within(where, at.lowest + moved, at.highest + moved)) return 0;
  }

  for (std::size_t i = 0; i < round_.count; ++i) {
    RecordedRound::Step& step = round_.steps[i];
    if (step.plan == nullptr) {
      give_ranks_of(step.site);
      take_earlier_rows(step, first);
      continue;
    }
    give_ranks_before(*step.plan);
    StretchPlan::Repeats& repeats = step.plan->repeats;
    if (repeats.waiting.stretches != 0 && !is_waiting(step, first)) give_ranks(*step.plan);
    repeats.before.n = 0;
    repeats.skip = kFewRanks;
    repeats.rounds_in = round_.entry;
    for (const PathPart& part : step.plan->parts) settle(part.site);
    step.entries.clear();
  }
  feed_.set_time(instructions_ + 1);
  for (std::uint64_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < round_.count; ++i)
      if (RecordedRound::Step& step = round_.steps[i]; step.plan != nullptr)
        step.entries.push_back(
            entries_.add(round_.entry, step.counter + first + k, static_cast<std::uint16_t>(around + 2), slice_));
  for (std::size_t i = 0; i < round_.count; ++i) {
    RecordedRound::Step& step = round_.steps[i];
    if (step.plan == nullptr) {
      fold_part(step, first, alike);
      continue;
    }
    fold_inner(step, first, alike, serials);
    StretchPlan::Repeats& repeats = step.plan->repeats;
    if (repeats.waiting.stretches != 0) {
      std::erase(waiting_ranks_, step.plan);
      repeats.waiting.stretches = 0;
      repeats.for_rounds = false;
      feed_.set_time(instructions_ + 1);
    }
    for (std::size_t a = step.first_access; a < step.first_access + step.accesses; ++a)
      if (const RecordedRound::Access& at = round_.accesses[a]; !at.access->store && !at.empty)
        at.from == RecordedRound::Access::From::kOutside ? fold_rows(step, at, first, alike)
                                                         : fold_stored(at, first, alike);
  }
  store_rounds(first, n);
  move_round_registers(thread, n);
  move_round_spills(n);
  events_ += n * round_.events;
  instructions_ += n * round_.instructions;
  stack.parts += n * round_.parts;
  point_.resize(around + 2);
  near_ = point_;
  round_.silent = true;
  rounds_taken_ += n;
  return n;
}

/// The round that comes next counts as much in what is counted about origins.
void Builder::begin_silent_round(std::uint64_t weight) {
  origins_.records().begin_weight(weight, round_.entry, static_cast<std::uint16_t>(round_.around));
  round_.watching = true;
  round_.seen = 0;
}

void Builder::end_silent_round() {
  if (round_.seen != round_.expected) throw std::logic_error("a round is not what it was predicted to be");
  origins_.records().end_weight();
  round_.watching = round_.silent = false;
}

}  // namespace loopfold::ddg
