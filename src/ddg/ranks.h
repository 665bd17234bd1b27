// Stretches that repeat: the same path, with as many iterations, in one entry of the inner loop after the other.
//
// In a nest, an inner loop is entered again and again, and what a stretch gives to its streams is mostly what the one
// before gave, moved on: the loop around it is one iteration further, labels have grown as they did the last time, and
// registers come from where they came from. Such stretches are only compared and counted; together they are *ranks*, a
// rectangle of points, and go to the streams as that (Streams::ranks, fold::Folder::add_ranks). What memory gave is not
// among it, since who wrote what an inner loop reads changes in other ways: those streams get their runs at once.
//
// Ranks are nothing but their stretches, written down together: so they may be put together in any way, as long as the
// streams that they belong to get nothing else in between. Whoever gives something to a stream of a site first gives
// out the ranks that wait for it (Builder::give_ranks).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "ddg/entries.h"
#include "ddg/objects.h"
#include "ddg/part_code.h"
#include "ddg/streams.h"

namespace loopfold::ddg {

/// What one stretch gives, or several that repeat: then of the first of them, and how it moves on from one to the next.
struct Ranks {
  /// A segment of what a read of a register gets. Its producer is in an entry of the loop of coordinate `level` that
  /// control is in, so it has the reader's coordinates up to there, and `counter`. That moves on with the loop around
  /// the innermost one, if it is of that, and stays as it is in others.
  struct Flow {
    Streams::Used* used = nullptr;
    SiteId site = 0;
    const RegisterRead* read = nullptr;
    DefinitionId from = 0;
    std::uint16_t lane = 0;
    std::uint16_t level = 0;
    std::int64_t counter = 0;  // in the first of its iterations
    std::int64_t step = 0;     // from one iteration to the next
    std::uint64_t first = 0;   // iteration
    std::uint64_t n = 0;
  };
  struct Value {
    SiteId site = 0;
    const IntegerValue* value = nullptr;
    std::int64_t label = 0;
    std::int64_t step = 0;
    std::int64_t growth = 0;  // of the label, from one stretch to the next
  };
  struct Access {
    SiteId site = 0;
    const MemoryAccess* access = nullptr;
    Objects::Place place;
    Streams::PlaceStep step;
    Streams::PlaceStep growth;
    std::uint64_t copies = 0;
  };

  std::uint64_t n = 0;              // iterations of each
  std::uint64_t stretches = 0;      // 0: there are none
  std::int64_t stride = 0;          // of the loop around, from one to the next
  std::uint64_t time = 0;           // of the first
  std::uint64_t serial = 0;         // of the entry of the innermost loop: of the last
  std::vector<std::int64_t> point;  // of the first iteration of the first
  std::vector<SiteId> sites;
  std::vector<Flow> flows;
  std::vector<Value> values;
  std::vector<Access> accesses;

  std::size_t bytes() const {
    return sizeof(*this) + point.size() * sizeof(point[0]) + sites.size() * sizeof(SiteId) +
           flows.size() * sizeof(Flow) + values.size() * sizeof(Value) + accesses.size() * sizeof(Access);
  }
  /// Whether `next` is this stretch moved on, by anything; sets how, in `next`. `flows_too`: it is not known yet that
  /// its flows are those of this one.
  bool moves_on_to(Ranks& next, bool flows_too) const;
  /// `next` is the second of them.
  void go_on(const Ranks& next);
  /// What a flow that is of the loop of this coordinate moves on by.
  std::int64_t growth_along(std::size_t level, std::int64_t by) const { return level + 2 == point.size() ? by : 0; }
  /// Whether two stretches moved on in the same way from the one before them.
  bool same_growth(const Ranks& other) const;
};

/// What a load of a stretch gets from memory, in the same stretch of several entries of its loop: runs, and those that
/// move on evenly from one entry to another as one.
struct LoadRanks {
  struct Group {
    DefinitionId from = 0;
    std::uint16_t levels = 0;  // coordinates before the last one that grow too, as in Rise
    std::uint16_t equal = 0;   // coordinates that are known to be the reader's
    std::size_t producer = 0;  // of the first run: where it is in `producers`
    std::uint64_t first = 0;   // iteration of a run
    std::uint64_t n = 0;
    std::int64_t stride = 1;  // iterations
    std::int64_t step = 0;    // of the last coordinate
    std::uint64_t entry = 0;  // the first one, from 0, and how far it is to the next
    std::uint64_t along = 1;
    std::uint64_t entries = 1;
    std::int64_t growth = 0;   // of the last coordinate, from one to the next
    bool moves = false;        // the one before that grows as the reader's does
    std::uint64_t number = 0;  // among the runs of an entry
    std::array<std::int64_t, Rise::kMost> outer{};
  };
  Streams::Reader reader;
  bool reloads = false;  // all of them
  std::uint64_t time = 0;
  std::vector<std::int64_t> point;  // of the first iteration, in the first entry
  std::vector<Group> groups;
  std::vector<std::int64_t> producers;

  std::size_t bytes() const {
    return sizeof(*this) + (point.size() + producers.size()) * sizeof(point[0]) + groups.size() * sizeof(Group);
  }
};

}  // namespace loopfold::ddg
