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
    std::uint16_t lane = 0;

    std::uint64_t counter_in(std::uint64_t iteration) const { return cell.counter + step * (iteration - first); }
    Segment part(std::uint64_t begin, std::uint64_t end) const {
      Segment some = *this;
      some.cell.counter = counter_in(begin);
      some.first = begin;
      some.n = end - begin;
      return some;
    }
  };
  struct Row {
    static constexpr std::size_t kMost = 8;
    std::array<Segment, kMost> segments{};
    std::size_t count = 0;
    bool add(const Segment& segment) {
      if (count == kMost) return false;
      segments[count++] = segment;
      return true;
    }
    /// Those of another row, which is a lane of this one. `before` is the lane before it: where both have one cell,
    /// that is one chunk.
    bool add_lane(const Row& row, const Row* before, std::uint16_t lane) {
      for (std::size_t i = 0; i < row.count; ++i)
        if (!add_rest(row.segments[i], before, lane)) return false;
      return true;
    }
    bool add_rest(Segment segment, const Row* before, std::uint16_t lane) {
      for (std::size_t i = 0; before != nullptr && i < before->count; ++i) {
        const Segment& other = before->segments[i];
        if (is_same(segment, other)) return true;
        const std::uint64_t first = std::max(segment.first, other.first);
        const std::uint64_t end = std::min(segment.first + segment.n, other.first + other.n);
        if (first >= end || !are_in_line(segment, other)) continue;
        if (first > segment.first && !add_rest(segment.part(segment.first, first), before, lane)) return false;
        return end >= segment.first + segment.n || add_rest(segment.part(end, segment.first + segment.n), before, lane);
      }
      if (count == kMost) return false;
      segments[count] = segment;
      segments[count++].lane = lane;
      return true;
    }
    static bool is_same(const Segment& a, const Segment& b) {
      return a.cell == b.cell && a.step == b.step && a.first == b.first && a.n == b.n && a.stride == b.stride &&
             a.rise == b.rise;
    }
    /// Whether both have the same cell in all iterations that both have.
    static bool are_in_line(const Segment& a, const Segment& b) {
      return a.cell.producer == b.cell.producer && a.cell.entry == b.cell.entry && a.rise.levels == 0 &&
             b.rise.levels == 0 && a.stride == 1 && b.stride == 1 && (a.step == b.step || a.n == 1 || b.n == 1) &&
             (a.n == 1 ? b.counter_in(a.first) == a.cell.counter : a.counter_in(b.first) == b.cell.counter);
    }
    /// Whether no two of a lane are of one producer.
    bool has_other_producers() const {
      for (std::size_t i = 1; i < count; ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (segments[i].lane == segments[j].lane && segments[i].cell.producer == segments[j].cell.producer)
            return false;
      return true;
    }
    /// Whether no load gets the same in two lanes: that would be one chunk.
    bool are_lanes_apart() const {
      for (std::size_t i = 1; i < count; ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (segments[i].lane != segments[j].lane && !are_apart(segments[i], segments[j])) return false;
      return true;
    }
    /// False if it is not known.
    static bool are_apart(const Segment& a, const Segment& b) {
      if (a.cell.producer != b.cell.producer || a.first >= b.first + b.n || b.first >= a.first + a.n) return true;
      if (a.rise.levels != 0 || b.rise.levels != 0 || a.stride != 1 || b.stride != 1 || a.step != b.step) return false;
      return a.cell.entry != b.cell.entry || a.cell.counter - a.step * a.first != b.cell.counter - b.step * b.first;
    }
  };
  /// What a load has got so far.
  struct Met {
    /// From whom, and in which lanes, in rounds that were followed: so there are streams for them.
    std::vector<std::uint64_t> producers;
    /// Where chunks of it began, in a stretch.
    static constexpr std::size_t kMostLanes = 4;
    std::array<std::uint16_t, kMostLanes> lanes{};
    std::size_t lane_count = 1;

    static std::uint64_t in_lane(DefinitionId producer, std::uint16_t lane) {
      return std::uint64_t{lane} << 32 | producer;
    }
    bool has(DefinitionId producer, std::uint16_t lane) const {
      return std::find(producers.begin(), producers.end(), in_lane(producer, lane)) != producers.end();
    }
    void add(DefinitionId producer, std::uint16_t lane) {
      if (producer != 0 && !has(producer, lane)) producers.push_back(in_lane(producer, lane));
    }
    /// Whether it is new, and there is room.
    bool add_lane(std::uint16_t lane) {
      const auto end = lanes.begin() + static_cast<std::ptrdiff_t>(lane_count);
      const auto place = std::lower_bound(lanes.begin(), end, lane);
      if ((place != end && *place == lane) || lane_count == kMostLanes) return false;
      std::copy_backward(place, end, end + 1);
      *place = lane;
      ++lane_count;
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
    bool empty = false;    // a load of what nothing wrote
    bool copy = false;     // a spill, or a reload
    bool spilled = false;  // a load of what was spilled, a reload or not
    Cell cell;             // what a load of a part got, or that, in the round that was recorded
    /// Of a load: who wrote what it gets. The store is one of the accesses.
    enum class From : std::uint8_t {
      kOutside,  // nothing of this entry of the loop around
      kHere,     // a store of the same round
      kBefore,   // one of the round before
    };
    From from = From::kOutside;
    std::size_t store = 0;
    bool of_iteration = false;  // it gets what the same iteration of its stretch has spilled: that store
    Met* met = nullptr;         // of a load
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

  std::unordered_map<std::uint64_t, Met> met;  // by site and operand
  Met* met_by(SiteId site, const MemoryAccess& load) { return &met[std::uint64_t{site} << 32 | load.operand]; }

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

  /// What exposed registers had when the round began, and where it finds what the one before it has spilled.
  struct Slot {
    std::uint64_t address = 0;
    std::uint32_t size = 0;
    bool known = false;
    Cell cell;
    Provenance value;
  };
  bool has_snapshot = false;
  bool must_compare = false;       // what there was when it began
  std::vector<Cell> cells_before;  // in the order of exposed_list
  std::vector<std::uint8_t> where_before;
  std::vector<Provenance> kept_before;
  std::vector<Slot> slots_before;
};

}  // namespace loopfold::ddg
