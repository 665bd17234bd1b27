// Trails: parts that run one after the other in one iteration of one entry of a loop, and what is known of the next one
// from those before it.
//
// What a part reads from registers was mostly written a few instructions before it, by a part that ran in the same
// iteration. Whoever knows which parts these were knows the writer too, without looking: the instruction is the same
// each time, and the instance is that of the iteration. So it is with what is behind copies, and with what the
// registers hold in the end. A *trail* is such a sequence of parts, from where registers are looked up to where they
// are written back; all trails are a tree, and its nodes are made as they are met. A node has the code of its last
// part, with all that does not depend on what was before the trail worked out, and what the whole trail leaves in
// registers.
//
// While a trail is followed, the shadow of the thread's registers is as it was when the trail began (Builder::end_trail
// brings it up to date). Exactly what part by part gives.
//
// Nodes are made for what ran twice, up to a number of them and a share of the memory; what has no node begins a trail
// of its own, or is followed without one.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ddg/formula.h"
#include "ddg/journal.h"
#include "ddg/origin_records.h"
#include "ddg/origin_tracker.h"
#include "ddg/part_code.h"
#include "ddg/streams.h"
#include "structure/loop_tree.h"
#include "trace/decode.h"

namespace loopfold::ddg {

struct TrailNode {
  // Which part, and where: as Builder::LastSite.
  std::uint32_t part = 0;
  structure::ContextId context = structure::kNoContext;
  structure::FunctionId function = structure::kNoFunction;
  structure::NodeId node = structure::kNoNode;
  SiteId site = 0;
  DefinitionId first_definition = 0;
  OriginRecords::Uses* uses = nullptr;
  Journal* journal = nullptr;

  /// Of the part; its reads are those of what was there when the trail began. Instructions, as sources and writers, are
  /// definitions.
  PartCode code;
  /// A read of what one instruction of the trail wrote.
  struct Made {
    std::uint32_t in_row = 0;
    DefinitionId writer = 0;
  };
  std::vector<Made> made;
  /// A read of which some is, or of what several wrote.
  struct Mixed {
    const RegisterRead* read = nullptr;  // of the part
    std::uint32_t first = 0;             // in mixed_granules
  };
  struct MixedGranule {
    Granule granule = 0;
    std::uint8_t lane = 0;
    DefinitionId writer = 0;  // 0: what was there
  };
  std::vector<Mixed> mixed;
  std::vector<MixedGranule> mixed_granules;
  std::vector<Formula> values;  // of the part's integer results
  /// A read of what was there when the trail began: as RegisterRead.
  struct Found {
    std::uint32_t in_row = 0;
    Granule granule = 0;  // the first one
    bool consecutive = false;
    std::uint32_t count = 0;
    GranuleSet::Some behind;
    const RegisterRead* read = nullptr;  // of this node's code
  };
  std::vector<Found> found;
  /// An access, and what comes before it: as MemoryAccess. One more says what comes behind the last.
  struct Access {
    Formula address;
    const MemoryAccess* access = nullptr;  // of this node's code; null: none
    std::uint32_t size = 0;
    std::uint32_t in_row = 0;
    DefinitionId definition = 0;            // of its instruction
    const OriginCode::Use* uses = nullptr;  // of registers, by instructions up to this one: the end of these
    std::uint32_t pointers = 0;             // values of the stack pointer, likewise
    std::uint16_t instruction = 0;          // of the part
    bool store = false;
    bool guarded = false;
    bool spills = false;          // it is a spill if it is in the youngest frame
    OriginTracker::OneLoad load;  // if it is one
  };
  std::vector<Access> accesses;
  std::size_t loads = 0;  // of the trail so far
  /// Uses, behind copies, of what an instruction of the trail made: nothing about them can change.
  std::vector<OriginRecords::MadeUse> made_uses;

  /// What the trail leaves behind: its code is that of no part, but for what origins need.
  struct Out {
    Granule granule = 0;
    std::uint16_t count = 1;
    DefinitionId writer = 0;
  };
  std::vector<Out> outs;
  PartCode end;
  bool last = false;         // no trail goes on behind it
  bool needs_place = false;  // it accesses memory or moves the stack pointer

  TrailNode* parent = nullptr;
  TrailNode* next = nullptr;  // that was taken last
  std::vector<std::unique_ptr<TrailNode>> children;
  std::uint32_t depth = 1;
  bool missed = false;  // something ran behind it that has no node

  bool is(std::uint32_t other_part, structure::ContextId other_context, structure::FunctionId other_function,
          structure::NodeId other_node) const {
    return part == other_part && node == other_node && context == other_context && function == other_function;
  }
  std::uint64_t bytes() const;

  // What is known when it has run.
  std::vector<DefinitionId> writers;        // by granule; 0: none of the trail
  std::unique_ptr<OriginCompiler> origins;  // null if origins are not asked for
};

/// What a node is made of. `code` is that of the part, `parent` is null for the first of a trail. The rest of who it is
/// is up to the caller. Null if the part cannot follow this trail.
std::unique_ptr<TrailNode> make_trail(TrailNode* parent, const PartCode& code, const trace::Block& block, SiteId site,
                                      DefinitionId first_definition, const std::vector<trace::InstructionFacts>& facts,
                                      const Granules& granules, bool origins);

}  // namespace loopfold::ddg
