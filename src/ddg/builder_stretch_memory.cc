// Memory during a stretch of iterations.
//
// A load that never sees a store of the stretch reads its cells in a loop of its own, before all others; a store that
// only such loads touch writes its cells in one, behind all others. The rest is done iteration by iteration, in the
// order of the program, so overlaps need no thought. A load's cells are compared with what the last one lets expect;
// each stretch of them that agrees with one evenly growing producer is one piece, and one segment of a stream.
// Iterations whose origins are followed do here what events do, but for the streams. A few nanoseconds per access and
// iteration.
#include <algorithm>

#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

constexpr std::uint64_t kMostBehind = 3;    // iterations that a value is passed on for, before it is the same each time
constexpr std::size_t kMostTurns = 8;       // producers of a row that take turns
constexpr std::size_t kManyAccesses = 128;  // of a path: more than that are only compared for long stretches

/// Whether what a load reads is stored by this store only later, if at all: in the same iteration behind it, or in one
/// after it. Both move along at the same pace.
bool reads_first(const StretchAccess& load, const StretchAccess& store) {
  if (load.address.step != store.address.step || load.address.step == 0) return false;
  auto step = static_cast<std::int64_t>(load.address.step);
  auto ahead = static_cast<std::int64_t>(load.address.start - store.address.start);
  const std::int64_t loaded = load.access->size;
  const std::int64_t stored = store.access->size;
  constexpr std::int64_t kFar = std::int64_t{1} << 62;
  if (ahead <= -kFar || ahead >= kFar || step <= -kFar) return false;
  if (step < 0) {
    ahead = stored - loaded - ahead;
    step = -step;
  }
  if (ahead - stored < -step) return false;
  const bool meet = ahead < stored && ahead > -loaded;
  return !meet || &load < &store;
}

/// Whether neighbours may have one cell in some iteration, and so be one chunk.
bool may_meet(const DependencePiece& a, const DependencePiece& b) {
  return a.producer == b.producer && a.entry == b.entry && (a.step != b.step || a.next == b.next);
}

}  // namespace

/// Of a load: with the iterations before the stretch whose values the stretch may use.
void Builder::find_range(StretchAccess& at) const {
  if (at.address.even) {
    const std::uint64_t first = at.access->store ? at.address.start : at.address.start - kMostBehind * at.address.step;
    const std::uint64_t last = at.address.at(stretch_.n - 1);
    at.lowest = std::min(first, last);
    at.highest = std::max(first, last);
  } else {
    const std::vector<std::uint64_t>& values = stretch_.uneven[at.column].values;
    const auto [least, greatest] =
        std::minmax_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(stretch_.n));
    at.lowest = *least;
    at.highest = *greatest;
  }
  at.highest += at.access->size - std::uint64_t{1};
}

/// Which accesses need not wait for the others. A value that was loaded before the stretch may be asked about.
void Builder::take_turns(const StretchPlan& plan) {
  using Turn = StretchAccess::Turn;
  const std::span<StretchAccess> all = stretch_accesses();
  stretch_.in_order = 0;
  const bool long_path = all.size() > kManyAccesses && all.size() > stretch_.n;
  const bool many = long_path || stretch_.origins == Stretch::Origins::kAll;
  const bool stores = std::any_of(all.begin(), all.end(), [](const StretchAccess& at) { return at.access->store; });
  const auto touches = [](const StretchAccess& a, const StretchAccess& b) {
    return &a != &b && a.lowest <= b.highest && b.lowest <= a.highest;
  };
  for (StretchAccess& at : all) {
    at.turn = Turn::kInOrder;
    at.began_in_loop = false;
    at.touched = false;
    if (at.access->store || !(at.fixed ? !many : !long_path && may_gather(at))) continue;
    if (is_forgotten(at.lowest, at.highest)) continue;
    const bool free = !any_store(at.lowest, at.highest, [&](const StretchAccess& other) {
      return !at.fixed || !other.fixed || !reads_first(at, other);
    });
    if (free) at.turn = Turn::kBefore;
  }
  for (StretchAccess& at : all) {
    if (many || !at.fixed || !at.access->store || at.spill || is_forgotten(at.lowest, at.highest)) continue;
    const bool free = std::all_of(all.begin(), all.end(), [&](const StretchAccess& other) {
      if (!touches(at, other)) return true;
      at.touched = true;
      return other.turn == Turn::kBefore;
    });
    if (free) at.turn = Turn::kBehind;
  }
  for (const StretchPlan::Exposed& exposed :
       stores ? std::span(plan.exposed) : std::span<const StretchPlan::Exposed>()) {
    const Provenance& kept = stretch_.thread->origins.kept[exposed.granule];
    if (stretch_.thread->origins.where[exposed.granule] != RegisterOrigins::kKept || !kept.load) continue;
    for (StretchAccess& at : all)
      if (at.access->store && at.lowest < kept.address + kept.size && at.highest >= kept.address)
        at.turn = Turn::kInOrder;
  }
  for (const StretchAccess& at : all) stretch_.in_order += at.turn == Turn::kInOrder ? 1 : 0;
}

void Builder::load_before(StretchAccess& at) {
  if (!at.fixed) {
    if (gather(at)) return;
    at.turn = StretchAccess::Turn::kInOrder;
    ++stretch_.in_order;
    return;
  }
  const RowMemo::Row row{at.address.start, at.address.step, stretch_.n, at.access->size};
  const bool keep = RowMemo::is_worth_it(row);
  if (!keep || !load_as_before(at, row)) {
    const std::optional<RowMemo::Writers> writers = look_at_row(at);
    if (keep && writers) row_memo_.remember(row, *writers, memory_);
  }
  for (DependencePiece& piece : at.pieces) piece.reloads = at.reloads ? piece.n : 0;
}

/// If the row was read before, and nothing changed it since.
bool Builder::load_as_before(StretchAccess& at, const RowMemo::Row& row) {
  const RowMemo::Writers* const writers = row_memo_.find(row, memory_);
  if (writers == nullptr) return false;
  at.reader.lane = 0;
  at.reader.object = at.place.object;
  const std::uint64_t turns = writers->count;
  for (std::uint64_t i = 0; i < std::min(turns, stretch_.n); ++i) {
    const RowMemo::Writer& writer = writers->all[i];
    DependencePiece& piece = at.pieces.emplace_back();
    piece.begin(feed_.prepare(at.reader, writer.first.producer), at.reader, writer.first, i);
    piece.step = writer.counter_step;
    piece.n = turns == 1 ? stretch_.n : (stretch_.n - i + turns - 1) / turns;
    piece.next = piece.counter + piece.step * piece.n;
    piece.stride = turns;
    if (writers->rise.levels != 0) piece.rise = writers->rise;
    note_beginning(at, piece);
  }
  return true;
}

/// Who wrote the row, if that is no one, one producer that counts evenly, or a few that take turns.
std::optional<RowMemo::Writers> Builder::look_at_row(StretchAccess& at) {
  RowMemo::Writers writers;
  if (pass_empty(at, 0) == stretch_.n) return writers;
  bool whole = true;
  bool may_list = true;
  const bool turns = load_in_turns(at);
  for (std::uint64_t k = turns ? stretch_.n : 0; k < stretch_.n;) {
    const std::uint64_t passed = at.pieces.empty() ? pass_empty(at, k) : pass_cells(at, k);
    k += passed;
    if (passed > 0) continue;
    if (const std::uint64_t taken = take_column(at, k); taken > 0) {
      k += taken;
      continue;
    }
    if (may_list && !round_.silent && is_torn(at, k)) {
      if (list_rest(at, k)) return std::nullopt;
      may_list = false;
    }
    if (at.pieces.size() == 1 && take_cell(at, k)) {
      ++k;
      continue;
    }
    const std::size_t chunks = read_chunks(at.address.at(k), at.access->size);
    whole = whole && chunks == 1 && chunks_[0].size == at.access->size;
    take_chunks(at, chunks, k, false);
    ++k;
  }
  const bool one = whole && at.pieces.size() == 1 && at.pieces[0].n == stretch_.n;
  if ((!turns && !one) || at.pieces.size() > writers.all.size()) return std::nullopt;
  for (const DependencePiece& piece : at.pieces)
    writers.all[writers.count++] = {{piece.producer, piece.entry, piece.counter}, piece.step};
  if (one) writers.rise = at.pieces[0].rise;
  return writers;
}

/// How many producers take turns, each the only one of what it wrote, into turns_: 0 if it is not so. A loop that
/// stores several vectors in an iteration writes such rows.
std::size_t Builder::find_turns(const StretchAccess& at) {
  const auto cell_in = [&](std::uint64_t k) -> const Cell* {
    const Cell* const cell = memory_.only_cell(at.address.at(k), at.access->size);
    return cell != nullptr && cell->producer != 0 && cell->producer != kLostProducer ? cell : nullptr;
  };
  turns_.clear();
  const std::uint64_t most = std::min<std::uint64_t>(kMostTurns, stretch_.n / 2);
  for (std::uint64_t k = 0; k <= most; ++k) {
    const Cell* const cell = cell_in(k);
    if (cell == nullptr) return 0;
    const auto same = [&](const DependencePiece& piece) { return piece.producer == cell->producer; };
    const auto known = std::find_if(turns_.begin(), turns_.end(), same);
    if (known != turns_.end()) return known == turns_.begin() ? turns_.size() : 0;
    turns_.emplace_back().begin(nullptr, at.reader, *cell, k);
  }
  return 0;
}

/// Whether they do so in all of the row; turns_ are all of its pieces then.
bool Builder::take_turns_throughout(const StretchAccess& at) {
  const std::size_t turns = find_turns(at);
  if (turns < 2 || stretch_.n < 2 * turns) return false;
  for (DependencePiece& piece : turns_) {
    const Cell* const second = memory_.only_cell(at.address.at(piece.first + turns), at.access->size);
    if (second == nullptr) return false;
    piece.stride = turns;
    piece.step = second->counter - piece.counter;
    piece.n = (stretch_.n - piece.first + turns - 1) / turns;
    const std::uint64_t passed = memory_.matching(at.address.at(piece.first), at.access->size, at.address.step * turns,
                                                  piece.n, {piece.producer, piece.entry, piece.counter}, piece.step);
    if (passed != piece.n) return false;
  }
  return true;
}

/// A row whose producers take turns: all of it, or nothing is done.
bool Builder::load_in_turns(StretchAccess& at) {
  if (!take_turns_throughout(at)) return false;
  at.reader.lane = 0;
  at.reader.object = at.place.object;
  for (DependencePiece& piece : turns_) {
    piece.to = feed_.prepare(at.reader, piece.producer);
    piece.object = at.place.object;
    const Cell first{piece.producer, piece.entry, piece.counter};
    if (options_.origins && !at.began_in_loop) at.began_in_loop = is_of_loop(at.reader.site, first);
  }
  at.pieces = turns_;
  return true;
}

/// From iteration k on, how many iterations load what nothing wrote.
std::uint64_t Builder::pass_empty(const StretchAccess& at, std::uint64_t k) const {
  return memory_.matching(at.address.at(k), at.access->size, at.address.step, stretch_.n - k, {}, 0);
}

/// How many go on with all pieces, once their steps are known, which together are all that is loaded.
std::uint64_t Builder::pass_cells(StretchAccess& at, std::uint64_t k) const {
  if (at.pieces[0].lane != 0) return 0;
  std::uint64_t passed = stretch_.n - k;
  for (std::size_t i = 0; i < at.pieces.size() && passed > 0; ++i) {
    const DependencePiece& piece = at.pieces[i];
    const bool last = i + 1 == at.pieces.size();
    if (piece.n < 2 || piece.rises() || (!last && may_meet(piece, at.pieces[i + 1]))) return 0;
    const std::uint32_t end = last ? at.access->size : at.pieces[i + 1].lane;
    passed = memory_.matching(at.address.at(k) + piece.lane, end - piece.lane, at.address.step, passed,
                              {piece.producer, piece.entry, piece.next}, piece.step);
  }
  for (DependencePiece& piece : at.pieces) {
    piece.next += piece.step * passed;
    piece.n += passed;
  }
  return passed;
}

/// The same for a load whose only piece may end here and be followed by another one: producers that take turns. False:
/// it is not so simple.
bool Builder::take_cell(StretchAccess& at, std::uint64_t k) {
  DependencePiece& piece = at.pieces[0];
  const Cell* const cell = memory_.only_cell(at.address.at(k), at.access->size);
  if (piece.lane != 0 || cell == nullptr || cell->producer == 0 || cell->producer == kLostProducer) return false;
  if (piece.takes(*cell)) return true;
  at.reader.lane = 0;
  at.reader.object = at.place.object;
  const Streams::Dependences to = feed_.prepare(at.reader, cell->producer);
  end_piece(at, piece);
  piece.begin(to, at.reader, *cell, k);
  note_beginning(at, piece);
  return true;
}

/// Of a piece whose iterations are known, or the first of them.
void Builder::note_beginning(StretchAccess& at, const DependencePiece& piece) {
  if (!options_.origins || at.began_in_loop) return;
  const Cell first{piece.producer, piece.entry, piece.counter};
  at.began_in_loop = piece.rises() ? may_be_of_loop(at, piece) : is_of_loop(at.reader.site, first);
}

void Builder::store_behind(const StretchAccess& at) {
  memory_.write_row(at.address.start, at.access->size, at.address.step, stretch_.n, at.cell);
}

void Builder::run_stretch(const StretchPlan& plan) {
  if (options_.origins)
    run_with_origins(plan);
  else
    pass_iterations(plan, 0, stretch_.n);
  for (const StretchAccess& at : stretch_accesses())
    if (at.turn == StretchAccess::Turn::kBehind) store_behind(at);
  if (options_.origins) return;
  for (const PathPart& part : plan.parts)
    write_registers(*part.code, {part.site, stretch_.entry, stretch_.counter + stretch_.n - 1}, *stretch_.thread, 0);
}

/// Spills and reloads are what they were in the iteration that was followed last.
void Builder::pass_iterations(const StretchPlan& plan, std::uint64_t first, std::uint64_t end) {
  for (StretchAccess& at : stretch_accesses())
    if (options_.origins && (at.spill || at.reloads)) at.copies += end - first;
  // Where nothing is done in order, there is only what the last iteration forgets.
  if (stretch_.in_order == 0) first = std::max(first, stretch_.n - 1);
  for (std::uint64_t k = first; k < end; ++k) pass_iteration(plan, k);
}

/// Memory only.
void Builder::pass_iteration(const StretchPlan& plan, std::uint64_t k) {
  const bool forgets = stretch_.clears_matter || k + 1 == stretch_.n;
  std::size_t clear = forgets ? 0 : stretch_.clears.size();
  for (StretchAccess& at : stretch_accesses()) {
    if (at.turn != StretchAccess::Turn::kInOrder) continue;
    forget_frames(clear, at.part);
    const std::uint64_t address = address_in(at, k);
    if (at.access->store) {
      Cell cell = at.cell;
      cell.counter += k;
      memory_.write(address, at.access->size, cell);
      if (!at.fixed && !at.in_one) locate_in(plan, at, address, k, false);
      continue;
    }
    const std::size_t chunks = read_chunks(address, at.access->size);
    if (!at.fixed && !at.in_one) locate_in(plan, at, address, k, false);
    if (chunks == 0 && at.pieces.empty()) continue;
    if (chunks == 1 && at.pieces.size() == 1 && at.pieces[0].lane == chunks_[0].offset &&
        at.pieces[0].object == at.place.object && at.pieces[0].takes(chunks_[0].cell)) {
      at.pieces[0].reloads += at.reloads ? 1 : 0;
      continue;
    }
    take_chunks(at, chunks, k, at.reloads);
  }
  forget_frames(clear, plan.parts.size());
}

/// Memory, origins and registers. A store whose turn comes later is done here as well if a load touches it: what was
/// loaded may be asked about behind it.
void Builder::follow_iteration(const StretchPlan& plan, std::uint64_t k) {
  std::size_t next = 0;
  std::size_t clear = 0;
  ThreadState& thread = *stretch_.thread;
  for (std::uint32_t i = 0; i < plan.parts.size(); ++i) {
    const PathPart& part = plan.parts[i];
    forget_frames(clear, i);
    const Instance instance{part.site, stretch_.entry, stretch_.counter + k};
    set_iteration(k);
    origins_.begin(*part.code, tracked(instance), thread.registers, thread.origins);
    for (; next < stretch_.access_count && stretch_.accesses[next].part == i; ++next)
      follow_access(plan, stretch_.accesses[next], k);
    set_iteration(k);
    write_registers(*part.code, instance, thread, 0);
  }
}

void Builder::follow_access(const StretchPlan& plan, StretchAccess& at, std::uint64_t k) {
  const std::uint64_t address = address_in(at, k);
  set_iteration(k);
  if (at.access->store) {
    Cell cell = at.cell;
    cell.counter += k;
    origins_.read_registers(at.access->instruction, at.spill);
    if (at.spill) origins_.spill(*at.access, address, cell);
    if (at.turn == StretchAccess::Turn::kInOrder || at.touched) memory_.write(address, at.access->size, cell);
    at.copies += at.spill ? 1 : 0;
    if (!at.fixed && !at.in_one) locate_in(plan, at, address, k, at.spill);
    return;
  }
  const std::size_t chunks =
      at.gathered && !at.address.even ? gathered_chunk(at, k) : read_chunks(address, at.access->size);
  origins_.read_registers(at.access->instruction, false);
  const bool reload = origins_.load(*at.access, address, {chunks_.data(), chunks});
  at.reloads = reload && !at.rewritten;
  at.copies += reload ? 1 : 0;
  if (!at.fixed && !at.in_one) locate_in(plan, at, address, k, reload);
  if (at.turn == StretchAccess::Turn::kInOrder) take_chunks(at, chunks, k, reload);
}

/// Of an access that may be in another block each time.
void Builder::locate_in(const StretchPlan& plan, StretchAccess& at, std::uint64_t address, std::uint64_t k, bool copy) {
  set_iteration(k);
  at.place = place_of(at, address, k);
  feed_.access(streams_.locate(plan.parts[at.part].site), *at.access, point_.data(), at.place, stretch_.serial, copy);
}

/// The usual case: each chunk makes one piece longer. Else nothing is done.
bool Builder::go_on(StretchAccess& at, std::span<const OriginTracker::Chunk> chunks) {
  if (chunks.size() != at.pieces.size()) return false;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    const DependencePiece& piece = at.pieces[i];
    if (piece.lane != chunks[i].offset || piece.object != at.place.object || !piece.would_take(chunks[i].cell))
      return false;
  }
  for (std::size_t i = 0; i < chunks.size(); ++i) at.pieces[i].takes(chunks[i].cell);
  return true;
}

/// The chunks of a load make its pieces longer, or end them and begin others. Both are in the order of their lanes.
void Builder::take_chunks(StretchAccess& at, std::size_t chunks, std::uint64_t k, bool reload) {
  if (go_on(at, {chunks_.data(), chunks})) {
    for (DependencePiece& piece : at.pieces) piece.reloads += reload ? 1 : 0;
    return;
  }
  if (chunks == 1 && at.pieces.size() == 1 && replace_piece(at, chunks_[0], k, reload)) return;
  pieces_.clear();
  std::size_t next = 0;
  for (DependencePiece& piece : at.pieces) {
    while (next < chunks && chunks_[next].offset < piece.lane) begin_piece(at, chunks_[next++], k, reload);
    const bool goes_on = next < chunks && chunks_[next].offset == piece.lane && piece.object == at.place.object &&
                         piece.takes(chunks_[next].cell);
    if (!goes_on) {
      end_piece(at, piece);
      note_end(at, piece);
      continue;
    }
    piece.reloads += reload ? 1 : 0;
    pieces_.push_back(piece);
    ++next;
  }
  for (; next < chunks; ++next) begin_piece(at, chunks_[next], k, reload);
  at.pieces.assign(pieces_.begin(), pieces_.end());
}

/// The only piece ends, and one of the same stream begins: what is loaded is elsewhere each time. False: it is not so.
bool Builder::replace_piece(StretchAccess& at, const OriginTracker::Chunk& chunk, std::uint64_t k, bool reload) {
  DependencePiece& piece = at.pieces[0];
  if (piece.lane != chunk.offset || piece.object != at.place.object || piece.producer != chunk.cell.producer)
    return false;
  end_piece(at, piece);
  note_end(at, piece);
  piece.begin(piece.to, at.reader, chunk.cell, k);
  piece.reloads = reload ? 1 : 0;
  if (options_.origins && !at.began_in_loop) at.began_in_loop = is_of_loop(at.reader.site, chunk.cell);
  return true;
}

void Builder::note_end(StretchAccess& at, const DependencePiece& piece) {
  const auto same = [&](const StretchAccess::Ended& ended) { return ended.lane == piece.lane; };
  auto found = std::find_if(at.ended.begin(), at.ended.end(), same);
  if (found == at.ended.end()) found = at.ended.insert(found, StretchAccess::Ended{});
  const Cell last{piece.producer, piece.rises() ? piece.last_entry : piece.entry,
                  piece.counter + piece.step * (piece.n - 1)};
  *found = {piece.lane, piece.first + piece.stride * (piece.n - 1), last};
}

/// Its stream is made now, so that streams are made in the order of the run.
void Builder::begin_piece(StretchAccess& at, const OriginTracker::Chunk& chunk, std::uint64_t k, bool reload) {
  at.reader.lane = static_cast<std::uint16_t>(chunk.offset);
  at.reader.object = at.place.object;
  if (chunk.cell.producer == kLostProducer) {
    set_iteration(k);
    return depend(at.reader, chunk.cell);
  }
  pieces_.emplace_back().begin(feed_.prepare(at.reader, chunk.cell.producer), at.reader, chunk.cell, k);
  pieces_.back().reloads = reload ? 1 : 0;
  if (options_.origins && !at.began_in_loop) at.began_in_loop = is_of_loop(at.reader.site, chunk.cell);
}

/// Whether an instance is of the entry of the loop that runs.
bool Builder::is_of_loop(SiteId reader, const Cell& cell) {
  const std::size_t dimensions = levels_->size();
  if (entries_.depth(cell.entry) < dimensions) return false;
  if (origins_.records().shared(reader, streams_.site_of(cell.producer)) < dimensions) return false;
  const std::int64_t* const vector = vector_of(cell);
  return std::equal(vector, vector + (dimensions - 1), point_.begin());
}

void Builder::end_piece(StretchAccess& at, const DependencePiece& piece) {
  if (round_.silent) return;
  at.reader.lane = piece.lane;
  at.reader.object = piece.object;
  if (piece.rises())
    depend_column(piece, at.reader);
  else
    depend_run(piece, at.reader);
}

void Builder::depend_run(const DependencePiece& piece, const Streams::Reader& reader) {
  const Cell cell{piece.producer, piece.entry, piece.counter};
  set_iteration(piece.first);
  // Most are made in the entry of the loop that runs, or in one around it.
  std::size_t equal = innermost_;
  const std::int64_t* producer = near_.data();
  if (cell.entry == stretch_.entry)
    near_[equal] = static_cast<std::int64_t>(cell.counter);
  else
    producer = vector_near(cell, equal);
  feed_.dependence_run(piece.to, reader, piece.producer,
                       {point_.data(), producer, equal, static_cast<std::int64_t>(piece.step), piece.n, piece.reloads,
                        static_cast<std::int64_t>(piece.stride), late_levels(cell)});
  near_[equal] = point_[equal];
}

}  // namespace loopfold::ddg
