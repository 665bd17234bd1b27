// Iterations of a loop along one path, as one: what is worked out once for the path, and what is kept while a stretch
// of them runs (builder_stretch.cc).
//
// In a loop, what a register holds at a read is known from the path alone: the last write before it in the iteration;
// if there is none, the last write of the iteration before, if the path writes it at all; else what it held when the
// stretch began. So are the origins behind copies, as long as the path does not pass values round: registers that it
// reads before it writes them are *exposed*, and only these must be compared from one iteration to the next.
//
// Functions that are called in an iteration return in it. Their frames are at the same place in all iterations, and
// what is in them is forgotten when they are left.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ddg/entries.h"
#include "ddg/objects.h"
#include "ddg/part_code.h"
#include "ddg/progression.h"
#include "ddg/ranks.h"
#include "ddg/shadow_memory.h"
#include "ddg/streams.h"
#include "structure/loop_walk.h"

namespace loopfold::ddg {

/// A part that ran in the last iteration.
struct PathPart {
  SiteId site = 0;
  const PartCode* code = nullptr;
  const trace::Block* block = nullptr;
  std::uint32_t slot = 0;   // its block's first slot, among those of the path
  std::uint32_t slots = 0;  // of its block
  std::uint32_t frame = 0;  // of PathStack
  // Which part it is, and where, as trail.h needs it.
  std::uint32_t number = 0;  // of the code map
  structure::ContextId context = structure::kNoContext;
  structure::FunctionId function = structure::kNoFunction;
  structure::NodeId node = structure::kNoNode;
  friend bool operator==(const PathPart&, const PathPart&) = default;
};

/// What an iteration does to the stack. Places are relative to the stack pointer that it begins and ends with.
struct PathStack {
  struct Frame {
    structure::FunctionId function = structure::kNoFunction;
    std::uint64_t pointer = 0;      // at entry
    std::uint64_t activation = 0;   // of the function: among those of the iteration
    std::uint64_t activations = 0;  // that there are in an iteration
    std::uint32_t caller = 0;
  };
  /// Cells that are forgotten when a frame is left.
  struct Clear {
    std::uint32_t part = 0;  // before this one
    std::uint64_t first = 0;
    std::uint64_t size = 0;
  };
  std::vector<Frame> frames;            // the first is that of the loop
  std::vector<std::uint64_t> pointers;  // what the stack pointer becomes, each time
  std::vector<std::uint64_t> lowest;    // by access: the stack pointer around it
  std::vector<Clear> clears;
  std::uint64_t lowest_before = 0;   // of all since a frame was left last: when an iteration begins, and when it ends
  std::uint64_t pointer_before = 0;  // the last one that was noted

  bool moves() const { return frames.size() > 1 || !pointers.empty() || !clears.empty(); }
};

struct StretchPlan {
  struct Read {
    std::uint32_t part = 0;
    const RegisterRead* read = nullptr;
    std::uint32_t first = 0;  // in `granules`
    bool whole = false;       // all of them are neighbours and come from the same
    /// The streams that it used last: in the first iteration, and in others. They are the feed's.
    mutable Streams::Used used[2] = {};
  };
  /// Of a read: where the granule comes from.
  struct ReadGranule {
    enum class From : std::uint8_t { kThisIteration, kLastIteration, kBefore };
    From from = From::kBefore;
    Granule granule = 0;
    std::uint8_t lane = 0;
    DefinitionId definition = 0;  // of the path, unless it is kBefore
    std::uint32_t alike = 1;      // from this one on, of the read: those that come from the same
  };
  struct Exposed {
    Granule granule = 0;
    DefinitionId writer = 0;  // of the path, the last
    bool written = false;     // by the path
    bool loaded = false;      // last by a plain load of the path
    bool made = false;        // what is written last has no other origin
    bool copied = false;      // by the path, before it is used
    /// So many, this one and the next, are consecutive granules of which all this is the same.
    std::uint8_t run = 1;
    GranuleSet::Some behind;  // this one, of these
  };
  /// A use of what registers had when an iteration began, which the path writes, all of them.
  struct FirstUse {
    std::uint32_t part = 0;
    const OriginCode::Use* use = nullptr;
  };
  bool possible = true;  // there is nothing in the path that must be followed event by event
  structure::PathTotals totals;
  std::uint64_t instructions = 0;
  std::uint64_t unknown_instructions = 0;
  std::uint64_t events = 0;
  std::vector<PathPart> parts;
  PathStack stack;  // empty if the stack pointer stays where it is
  std::vector<Read> reads;
  std::vector<ReadGranule> granules;
  std::vector<Exposed> exposed;
  std::vector<FirstUse> first_uses;
  bool mixes_uses = false;  // there are uses of such registers together with others
  /// Accesses of the path: loads whose value is used in another part of the same iteration, behind a copy. Such a use
  /// asks whether what was loaded has been rewritten since.
  std::vector<std::uint32_t> copied_loads;
  /// By access of the path: a load, and all that uses what it got in the same iteration or in the next is known to have
  /// got it from addresses that are not even (OriginRecords::Lane::uneven).
  mutable std::vector<std::uint8_t> shown_uneven;

  /// Stretches that repeat.
  struct Repeats {
    Ranks before;              // the last stretch: none if it has no iterations
    std::uint32_t around = 0;  // entry of the loop around the innermost one, then
    Ranks waiting;
    std::uint32_t skip = 0;  // so many are not looked at, since the last ones did not repeat
    std::uint32_t failures = 0;
    EntryId rounds_in = kNoEntry;  // it was taken in rounds (recorded_round.h) in this entry of the loop around, last
    bool for_rounds = false;       // what waits is that of a recorded round, or of the one before
  };
  Repeats repeats;
  EntryId last_entry = kNoEntry;  // of the loop: of the last stretch
};

StretchPlan plan_stretch(std::span<const PathPart> parts, std::size_t granules, const Streams& streams);

/// Of addresses, one per iteration, at least two: whether iterations up to k, and the last, show that they do not grow
/// in proportion to the iterations; or whether they do.
bool shows_uneven(std::span<const std::uint64_t> addresses, std::uint64_t k);
/// Whether all of them are in line, at least two.
bool are_in_line(std::span<const std::uint64_t> addresses);

/// What a chunk of a load gets in consecutive iterations, or in each of a few that take turns: one producer, whose
/// counter grows evenly.
struct DependencePiece {
  Streams::Dependences to = nullptr;
  std::uint16_t lane = 0;
  ObjectId object = kUnknownObject;
  DefinitionId producer = 0;
  std::uint32_t entry = 0;
  std::uint64_t counter = 0;  // in the first iteration
  std::uint64_t step = 0;
  std::uint64_t next = 0;   // counter, in the iteration after the last
  std::uint64_t first = 0;  // iteration of the stretch
  std::uint64_t n = 0;
  std::uint64_t stride = 1;  // iterations from one to the next
  std::uint64_t reloads = 0;
  Rise rise;                     // if entries change too
  std::uint32_t last_entry = 0;  // then: the last one, if it is known

  void begin(Streams::Dependences stream, const Streams::Reader& reader, const Cell& cell, std::uint64_t iteration) {
    to = stream;
    lane = reader.lane;
    object = reader.object;
    producer = cell.producer;
    entry = cell.entry;
    counter = cell.counter;
    step = 0;
    next = cell.counter;
    first = iteration;
    n = 1;
    stride = 1;
    reloads = 0;
    rise.levels = 0;
  }

  bool rises() const { return rise.levels != 0; }
  /// Whether the cell is what comes next.
  bool would_take(const Cell& cell) const {
    return cell.producer == producer && cell.entry == entry && (cell.counter == next || n == 1) && !rises();
  }
  /// Makes the piece longer if it is.
  bool takes(const Cell& cell) {
    if (!would_take(cell)) return false;
    if (cell.counter != next) {
      step = cell.counter - counter;
      next = cell.counter;
    }
    next += step;
    ++n;
    return true;
  }
};

/// One access of the path during a stretch.
struct StretchAccess {
  std::uint32_t part = 0;
  const MemoryAccess* access = nullptr;
  Progression address;
  std::uint32_t column = 0;   // of addresses that are not even: in Builder::uneven_
  std::uint64_t pointer = 0;  // the stack pointer around it
  bool fixed = false;         // it stays in one block of an object, or in one of each activation
  bool in_one = false;        // it is not even, but stays in one block of an object
  bool gathered = false;      // a load: what it gets goes to the streams in lists, from `first_cell` on
  bool spill = false;
  bool rewritten = false;  // a load: the iteration before stores what it gets, and does not spill it
  bool reloads = false;    // a load: it gets a spilled value back, and in the iterations to come
  /// When memory is looked at: a load before all others, if no store of the stretch touches what it reads, or only
  /// later; a store behind all others, if only such loads touch what it writes; else in the order of the program.
  enum class Turn : std::uint8_t { kBefore, kInOrder, kBehind };
  Turn turn = Turn::kInOrder;
  bool touched = false;        // a store: by a load
  bool began_in_loop = false;  // a load: something that may be of the same entry of the loop wrote what it reads
  std::uint64_t lowest = 0;    // bytes that it touches in the stretch
  std::uint64_t highest = 0;
  Objects::Place place;         // if it is fixed: in the first iteration
  std::int64_t block_step = 0;  // of the place, from one iteration to the next
  Cell cell;                    // of a store; the counter is that of the first iteration
  std::uint64_t copies = 0;
  Streams::Reader reader;  // of a load
  std::vector<DependencePiece> pieces;
  std::uint64_t first_cell = 0;  // iteration
  std::vector<Cell> cells;       // if it is gathered
  /// By lane: the last cell of the piece that ended last.
  struct Ended {
    std::uint16_t lane = 0;
    std::uint64_t iteration = 0;
    Cell cell;
  };
  std::vector<Ended> ended;
};

}  // namespace loopfold::ddg
