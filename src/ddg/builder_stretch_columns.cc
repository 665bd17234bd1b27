// Loads that go down a column of what was written row by row.
//
// Each row of a matrix is written in an entry of the inner loop of its own, so the cells of a column have another entry
// each; but the vectors of their producers grow evenly, as the counters around these entries do (Rise). A piece may go
// on over such cells: it is still one segment of a stream, in which several coordinates of the producer grow. A vector
// that is loaded may have several pieces, one for each lane.
//
// Only in rows that are looked at before the stretch runs, and as long as no other stack has run: an entry has the
// slice that it was made in, which then is the same for all. A few nanoseconds per cell, for its entry is looked at
// too; rows that were looked at before, and have not changed, are known (row_memo.h).
#include <algorithm>
#include <array>

#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

constexpr std::uint64_t kShortestColumn = 4;

/// Whether neighbours may have one cell in some iteration, and so be one chunk.
bool may_meet(const DependencePiece& a, const DependencePiece& b) {
  if (a.producer != b.producer) return false;
  return a.step != b.step || a.rise.levels != b.rise.levels || a.rise.first != b.rise.first ||
         a.rise.steps != b.rise.steps || a.rise.around != b.rise.around || a.counter == b.counter;
}

}  // namespace

/// Begins such pieces at iteration k, if there are any. How many iterations they have.
std::uint64_t Builder::take_column(StretchAccess& at, std::uint64_t k) {
  if (slice_ > 1 || stretch_.n - k < kShortestColumn || !begins_column(at, k)) return 0;
  std::uint64_t n = stretch_.n - k;
  for (DependencePiece& piece : column_) {
    const std::uint32_t end = &piece == &column_.back() ? at.access->size : (&piece + 1)->lane;
    n = length_of_column(at, piece, end - piece.lane, n);
    if (n < kShortestColumn) return 0;
  }
  for (const DependencePiece& piece : at.pieces) {
    end_piece(at, piece);
    note_end(at, piece);
  }
  at.reader.object = at.place.object;
  for (DependencePiece& piece : column_) {
    at.reader.lane = piece.lane;
    piece.to = feed_.prepare(at.reader, piece.producer);
    piece.object = at.reader.object;
    piece.n = n;
    piece.last_entry = last_of_column(at, piece);
    note_beginning(at, piece);
  }
  at.pieces = column_;
  return n;
}

/// Into column_: what iterations k and the next get, if these are the same lanes, without gaps, of producers whose
/// entries change.
bool Builder::begins_column(const StretchAccess& at, std::uint64_t k) {
  const Cell* const one = memory_.only_cell(at.address.at(k), 1);
  const Cell* const other = memory_.only_cell(at.address.at(k + 1), 1);
  if (one == nullptr || other == nullptr || one->producer != other->producer || one->entry == other->entry ||
      one->producer == 0 || one->producer == kLostProducer)
    return false;
  const std::uint32_t size = at.access->size;
  column_.clear();
  std::uint64_t end = 0;
  for (std::size_t i = 0, count = read_chunks(at.address.at(k), size); i < count; ++i) {
    const OriginTracker::Chunk& chunk = chunks_[i];
    if (chunk.offset != end || chunk.cell.producer == kLostProducer || chunk.cell.entry == stretch_.entry) return false;
    end += chunk.size;
    DependencePiece& piece = column_.emplace_back();
    piece.begin(nullptr, at.reader, chunk.cell, k);
    piece.lane = static_cast<std::uint16_t>(chunk.offset);
  }
  if (end != size || read_chunks(at.address.at(k + 1), size) != column_.size()) return false;
  for (std::size_t i = 0; i < column_.size(); ++i) {
    DependencePiece& piece = column_[i];
    const Cell& cell = chunks_[i].cell;
    if (chunks_[i].offset != piece.lane || cell.producer != piece.producer || cell.entry == piece.entry) return false;
    piece.step = cell.counter - piece.counter;
    piece.rise = entries_.rise(piece.entry, cell.entry);
    if (!piece.rises() || (i > 0 && may_meet(column_[i - 1], piece))) return false;
  }
  const OriginTracker::Chunk& last = chunks_[column_.size() - 1];
  return last.offset + last.size == size;
}

/// Of the first iterations of a lane, `most` at most, so many go on.
std::uint64_t Builder::length_of_column(const StretchAccess& at, const DependencePiece& piece, std::uint64_t size,
                                        std::uint64_t most) const {
  std::uint64_t n = 2;
  for (; n < most; ++n) {
    const Cell* const cell = memory_.only_cell(at.address.at(piece.first + n) + piece.lane, size);
    if (cell == nullptr || cell->producer != piece.producer || cell->counter != piece.counter + piece.step * n ||
        !entries_.is_in(piece.rise, cell->entry, n))
      break;
  }
  return n;
}

EntryId Builder::last_of_column(const StretchAccess& at, const DependencePiece& piece) const {
  return memory_.only_cell(at.address.at(piece.first + piece.n - 1) + piece.lane, 1)->entry;
}

/// Whether one of its producers may be of the entry of the loop that runs.
bool Builder::may_be_of_loop(const StretchAccess& at, const DependencePiece& piece) {
  const std::size_t dimensions = levels_->size();
  const std::size_t depth = entries_.depth(piece.entry);
  if (depth < dimensions) return false;
  if (origins_.records().shared(at.reader.site, streams_.site_of(piece.producer)) < dimensions) return false;
  const std::int64_t* const vector = vector_of({piece.producer, piece.entry, piece.counter});
  const std::size_t same = std::min(depth - 1 - piece.rise.levels, dimensions - 1);  // coordinates that all have
  if (!std::equal(vector, vector + same, point_.begin())) return false;
  if (same == dimensions - 1) return true;
  const auto step = static_cast<std::int64_t>(piece.rise.steps[piece.rise.levels - 1]);
  const std::int64_t ahead = point_[same] - vector[same];
  if (step == 0) return ahead == 0;
  return ahead % step == 0 && ahead / step >= 0 && static_cast<std::uint64_t>(ahead / step) < piece.n;
}

void Builder::depend_column(const DependencePiece& piece, const Streams::Reader& reader) {
  const Cell cell{piece.producer, piece.entry, piece.counter};
  set_iteration(piece.first);
  std::size_t equal = innermost_;
  const std::int64_t* const producer = vector_near(cell, equal);
  const std::size_t same = entries_.depth(cell.entry) - std::size_t{1} - piece.rise.levels;
  std::array<std::int64_t, Rise::kMost> outer;
  for (std::size_t i = 0; i < piece.rise.levels; ++i) outer[i] = static_cast<std::int64_t>(piece.rise.steps[i]);
  feed_.dependence_run(piece.to, reader, piece.producer,
                       {point_.data(),
                        producer,
                        std::min(equal, same),
                        static_cast<std::int64_t>(piece.step),
                        piece.n,
                        piece.reloads,
                        static_cast<std::int64_t>(piece.stride),
                        {},
                        {outer.data(), piece.rise.levels}});
  near_[equal] = point_[equal];
}

}  // namespace loopfold::ddg
