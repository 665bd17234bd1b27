// Accesses of a stretch that are elsewhere in each iteration: a[index[i]], chains of a hash table.
//
// Their addresses are a column. If all of them are in one block of an object, places are that block with an offset
// each, and go to the stream of the access in lists. If moreover nothing of the stretch writes what a load reads, its
// cells are *gathered* before all else, in one loop, and go to the streams in lists, producer by producer
// (gatherer.h): what it gets does not depend on what the stretch does. Only cells that are whole are gathered, of
// programs with one stack; else the load is done in the order of the program. Streams get the same points in the same
// order as one by one. A few nanoseconds per iteration, and what rows cost the streams.
#include <algorithm>

#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

constexpr std::uint64_t kMostListed = 4096;
constexpr std::uint64_t kLookedAt = 8;    // iterations
constexpr std::uint64_t kShortPiece = 4;  // iterations
constexpr std::uint64_t kMostBehind = 3;  // iterations that a value is passed on for, before it is the same each time

}  // namespace

/// Of an access that is not even, whose range is known. A frame that is called in each iteration is another block each
/// time.
bool Builder::is_in_one_block(const StretchAccess& at) {
  if (at.block_step != 0) return false;
  lowest_ = at.pointer;
  const Objects::Extent extent =
      extent_of(where_of(at), *stretch_.thread, *stretch_.stack, stretch_.uneven[at.column].values[0]);
  return extent.first <= at.lowest && at.highest - (at.access->size - std::uint64_t{1}) <= extent.last;
}

/// But for stores of the stretch. What was spilled is looked at when it is reloaded.
bool Builder::may_gather(const StretchAccess& at) const {
  if (!at.in_one || at.access->size == 0 || slice_ > 1) return false;
  return !options_.origins || !origins_.may_be_spilled(at.lowest, at.highest);
}

/// False: some of the cells are not whole, or lost.
bool Builder::gather(StretchAccess& at) {
  if (!gather_from(at, 0)) return false;
  note_lane_of(at);
  return true;
}

/// The same from iteration k on.
bool Builder::gather_from(StretchAccess& at, std::uint64_t first) {
  const std::uint32_t size = at.access->size;
  at.first_cell = first;
  at.cells.resize(stretch_.n - first);
  Cell before;
  for (std::uint64_t k = first; k < stretch_.n; ++k) {
    const Cell* const cell = memory_.only_cell(address_in(at, k), size);
    if (cell == nullptr || cell->producer == kLostProducer) return false;
    at.cells[k - first] = *cell;
    // Whether an instance is of the loop is the same for all of one producer in one entry.
    const bool other = cell->producer != 0 && (cell->producer != before.producer || cell->entry != before.entry);
    if (!other) continue;
    before = *cell;
    if (options_.origins && !at.began_in_loop) at.began_in_loop = is_of_loop(at.reader.site, *cell);
  }
  at.gathered = true;
  return true;
}

/// Whether the piece of a row ends at iteration k, and others would soon: a row that was written in vectors, and is
/// read element by element. Pieces are for longer ones.
bool Builder::is_torn(const StretchAccess& at, std::uint64_t k) const {
  if (at.pieces.size() != 1 || at.pieces[0].rises() || stretch_.n - k < kLookedAt || at.pieces[0].n > kShortPiece)
    return false;
  DependencePiece piece = at.pieces[0];
  std::uint64_t ends = 0;
  for (std::uint64_t i = k; i < k + kLookedAt; ++i) {
    const Cell* const cell = memory_.only_cell(at.address.at(i), at.access->size);
    if (cell == nullptr) return false;
    if (cell->producer != 0 && piece.takes(*cell)) {
      if (piece.n > kShortPiece) return false;
      continue;
    }
    if (ends++ == 0 && i > k) return false;
    piece.begin(nullptr, at.reader, *cell, i);
  }
  return ends * kShortPiece >= kLookedAt;
}

/// A row that one producer after the other wrote, a few cells each: what is left of it from iteration k on. False: it
/// cannot be, and nothing is done.
bool Builder::list_rest(StretchAccess& at, std::uint64_t k) {
  if (slice_ > 1 || at.reloads || stretch_.n - k > kMostListed || at.pieces.size() > 1) return false;
  if (!at.pieces.empty() && at.pieces[0].lane != 0) return false;
  // The piece that ends has given nothing yet.
  if (!gather_from(at, at.pieces.empty() ? k : at.pieces[0].first)) return false;
  at.pieces.clear();
  note_lane_of(at);
  return true;
}

/// What the last iteration that got something got, if that is not the last one (note_lanes()).
void Builder::note_lane_of(StretchAccess& at) const {
  std::uint64_t k = at.cells.size() - 1;
  while (k > 0 && at.cells[k].producer == 0) --k;
  if (at.cells[k].producer == 0) return;
  std::erase_if(at.ended, [](const StretchAccess::Ended& ended) { return ended.lane == 0; });
  if (k + 1 < at.cells.size()) at.ended.push_back({0, at.first_cell + k, at.cells[k]});
}

/// As read_chunks().
std::size_t Builder::gathered_chunk(const StretchAccess& at, std::uint64_t k) {
  if (chunks_.empty()) chunks_.resize(1);
  chunks_[0] = {0, at.access->size, at.cells[k]};
  return chunks_[0].cell.producer != 0 ? 1 : 0;
}

void Builder::fold_gathered(StretchAccess& at) {
  at.reader.lane = 0;
  at.reader.object = at.place.object;
  for (std::uint64_t first = at.first_cell; first < stretch_.n; first += Gatherer::kMost) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(Gatherer::kMost, stretch_.n - first));
    const Cell* const some = at.cells.data() + (first - at.first_cell);
    if (std::all_of(some, some + n, [](const Cell& cell) { return cell.producer == 0; })) continue;
    feed_.gathered(at.reader, {stretch_.entry, stretch_.counter + first, stretch_.serial}, some, n);
  }
}

/// Whether all that uses what this load got, in the same iteration or in the next, is known to get it from addresses
/// that are not even: for ever, whatever the addresses of this stretch are. Which uses these are follows from the path,
/// as long as nothing is spilled and reloaded in it.
bool Builder::is_shown_uneven(const StretchPlan& plan, const StretchAccess& at) const {
  const auto access = static_cast<std::size_t>(&at - stretch_.accesses.data());
  return access < plan.shown_uneven.size() && plan.shown_uneven[access] != 0 && !stretch_.slots_change &&
         stretch_.slots.empty();
}

/// Loads whose addresses were seen to be uneven by all uses of what they got. If all iterations were followed, uses of
/// later iterations have seen all addresses but the last few; what is handed on for longer never counts as shown
/// (origins_of_stretch()). Else no iteration used what another one had loaded there, and the first two and the last
/// were followed.
void Builder::note_uneven(const StretchPlan& plan) const {
  if (plan.shown_uneven.empty()) plan.shown_uneven.resize(stretch_.access_count);
  for (std::size_t i = 0; i < stretch_.access_count; ++i) {
    const StretchAccess& at = stretch_.accesses[i];
    if (plan.shown_uneven[i] != 0 || !keeps_uneven(plan, at) || at.copies != 0) continue;
    const std::span<const std::uint64_t> addresses = addresses_of(at);
    const std::size_t last = addresses.size() - 1;
    if (stretch_.origins != Stretch::Origins::kEnds)
      plan.shown_uneven[i] = are_in_line(addresses.first(last - kMostBehind)) ? 0 : 1;
    else
      plan.shown_uneven[i] = addresses[last] - addresses[0] != (addresses[1] - addresses[0]) * last ? 1 : 0;
  }
}

/// Frames are as large as what was touched of them. Nothing else has to be told of a place that is known.
void Builder::touch_frame(const StretchAccess& at, std::uint64_t address, std::uint64_t k) {
  if (at.pointer != 0 && address >= at.pointer - kRedZone) place_of(at, address, k);
}

/// The place is that of the first iteration.
void Builder::fold_places(const StretchPlan& plan, const StretchAccess& at) {
  const std::uint64_t* const addresses = stretch_.uneven[at.column].values.data();
  touch_frame(at, at.lowest, 0);
  std::array<std::int64_t, Gatherer::kMost> offsets;
  for (std::uint64_t first = 0; first < stretch_.n; first += Gatherer::kMost) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(Gatherer::kMost, stretch_.n - first));
    for (std::size_t i = 0; i < n; ++i)
      offsets[i] =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(at.place.offset) + addresses[first + i] - addresses[0]);
    set_iteration(first);
    feed_.access_list(plan.parts[at.part].site, *at.access, point_.data(), at.place, offsets.data(), n,
                      first == 0 ? at.copies : 0, stretch_.serial);
  }
  set_iteration(0);
}

}  // namespace loopfold::ddg
