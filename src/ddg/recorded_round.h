// A round (structure/rounds.h) that was followed, and what those after it will be.
//
// What a round does to registers, memory and streams follows from what it finds in registers and memory and from the
// slots of its items. If it leaves in the registers what it found there, moved on by one iteration of the loop around,
// and if the slots move on evenly, then so does the next round, as far as it does not find something else in memory.
// This is what must be known of one round for that: which parts ran in the loop around, which stretches inside of it,
// and what they accessed (builder_rounds.cc).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ddg/entries.h"
#include "ddg/objects.h"
#include "ddg/part_code.h"
#include "ddg/progression.h"
#include "ddg/ranks.h"
#include "ddg/row_memo.h"
#include "ddg/shadow_memory.h"
#include "ddg/spills.h"
#include "ddg/stretch.h"
#include "ddg/weave.h"

namespace loopfold::ddg {

struct RecordedRound {
  /// What a read of a part gets in other rounds.
  enum class Moves : std::uint8_t {
    kNot,     // what it got in this one
    kHere,    // that, moved on: the round has written it before
    kBefore,  // what this round leaves, moved on
  };
  /// A part that ran in the loop around, or a stretch of the loop inside of it.
  struct Step {
    StretchPlan* plan = nullptr;  // null: a part
    SiteId site = 0;              // of the part
    const PartCode* code = nullptr;
    const trace::Block* block = nullptr;
    std::size_t item = 0;      // of the round
    std::size_t first = 0;     // among its numbers: the slots of the part, or those of the item
    std::size_t row = 0;       // of the part: what was written into the journal, in `rows`
    std::vector<Moves> moves;  // by read of the part
    std::size_t earlier = 0;   // rows before the rounds that are taken, up to the recorded one
    std::vector<std::uint64_t> earlier_rows;
    std::vector<Progression> values;       // by value: in rounds that are taken
    std::vector<Progression> last_values;  // the same in the last iteration of a stretch
    std::size_t first_access = 0;          // in `accesses`
    std::size_t accesses = 0;
    // Of the loop around.
    std::uint64_t counter = 0;
    std::uint64_t serial = 0;
    // Of a stretch.
    Ranks ranks;
    EntryId entry = kNoEntry;  // of its loop
    std::uint64_t inner_counter = 0;
    std::uint64_t inner_serial = 0;
    std::vector<EntryId> entries;  // of its loop, in rounds that are taken
  };
  static constexpr std::size_t kMostEarlier = 2;
  /// What a load of a stretch gets from one producer, in some of its iterations.
  struct Segment {
    Cell cell;  // in the first of them
    std::uint64_t step = 0;
    std::uint64_t first = 0;
    std::uint64_t n = 0;
    std::uint64_t stride = 1;
    Rise rise = {};
  };
  struct Row {
    static constexpr std::size_t kMost = 4;
    std::array<Segment, kMost> segments{};
    std::size_t count = 0;
    bool add(const Segment& segment) {
      if (count == kMost) return false;
      segments[count++] = segment;
      return true;
    }
    /// Whether no two are of one producer.
    bool has_other_producers() const {
      for (std::size_t i = 1; i < count; ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (segments[i].cell.producer == segments[j].cell.producer) return false;
      return true;
    }
  };
  struct Access {
    const MemoryAccess* access = nullptr;
    const trace::Block* block = nullptr;
    std::size_t step = 0;
    std::size_t slot = 0;       // of its part, among those that the step is expanded to
    std::uint64_t address = 0;  // in the round that was recorded, and in a stretch from one iteration to the next
    std::uint64_t inner = 0;
    std::uint64_t n = 1;       // iterations
    std::uint64_t growth = 0;  // of the address, from one round to the next
    std::uint64_t lowest = 0;  // bytes that it touches
    std::uint64_t highest = 0;
    Objects::Place place;
    SiteId site = 0;
    bool empty = false;  // a load of what nothing wrote
    /// Of a load: who wrote what it gets. The store is one of the accesses.
    enum class From : std::uint8_t {
      kOutside,  // nothing of this entry of the loop around
      kHere,     // a store of the same round
      kBefore,   // one of the round before
    };
    From from = From::kOutside;
    std::size_t store = 0;
    /// Of a load: those that it got something from in rounds that were followed, so that there are streams for them.
    std::vector<DefinitionId>* producers = nullptr;
  };
  /// What a load gets in rounds that are taken.
  struct Got {
    std::vector<DependencePiece> pieces;  // one of a part: one iteration is one round
    std::vector<Row> rows;                // one of a stretch, by round; only the first if all are the same
  };

  /// Of a load, while what it gets is put together: the group of a producer, and its last run.
  struct Group {
    std::size_t number = 0;
    std::uint64_t round = 0;
    Cell cell;
    Rise rise;
  };

  bool watching = false;  // it is being recorded, or silent
  bool recording = false;
  bool silent = false;  // the streams have got what it gives
  bool whole = false;   // nothing happened that cannot be taken
  // When it began.
  std::uint64_t events = 0;
  std::uint64_t instructions = 0;
  std::uint64_t parts = 0;
  std::uint64_t seen = 0;      // of a silent one: parts, and iterations of stretches
  std::uint64_t expected = 0;  // the same of the one that was recorded
  // Of the item that runs.
  std::size_t item = 0;
  std::size_t first = 0;
  std::uint64_t iterations = 0;
  const std::uint64_t* slots = nullptr;  // null: it is a run

  /// By site and operand: Access::producers.
  std::unordered_map<std::uint64_t, std::vector<DefinitionId>> producers;
  std::vector<DefinitionId>* producers_of(SiteId site, const MemoryAccess& load) {
    return &producers[std::uint64_t{site} << 32 | load.operand];
  }
  static void add(std::vector<DefinitionId>& known, DefinitionId producer) {
    if (producer != 0 && std::find(known.begin(), known.end(), producer) == known.end()) known.push_back(producer);
  }

  std::size_t count = 0;  // steps: the first of these
  std::vector<Step> steps;
  std::vector<std::uint64_t> rows;
  std::vector<Access> accesses;
  Ranks described;       // the stretch that waits for the rounds behind this one
  std::vector<Got> got;  // by access, and more: their memory is used again
  Got& got_by(const Access& load) {
    const auto number = static_cast<std::size_t>(&load - accesses.data());
    if (got.size() <= number) got.resize(accesses.size());
    return got[number];
  }

  // What was found out when it ended.
  EntryId entry = kNoEntry;            // of the loop around
  std::size_t around = 0;              // its dimension
  std::vector<const void*> looked_at;  // parts and plans that the next and `written_before` are of
  GranuleBits exposed;                 // registers that are read before they are written
  GranuleBits moved;                   // of these, those that have moved on
  GranuleBits origin_moved;            // and those whose origins have
  std::vector<Granule> exposed_list;
  std::vector<Provenance> kept_loads;  // of exposed ones
};

}  // namespace loopfold::ddg
