#include "ddg/weave.h"

#include <algorithm>

namespace loopfold::ddg {

namespace {

/// What was found when the iteration began, if a source is that.
void add_found(const Source& source, const OriginCode& code, GranuleBits& into) {
  if (source.kind == Source::Kind::kLiveIn) into.add(source.index);
  if (source.kind != Source::Kind::kSeveral) return;
  for (std::size_t i = 0; i < source.bytes; ++i) add_found(code.several[source.index + i], code, into);
}

/// Which granules leave their neighbours, and which join them, when these are written.
void note_neighbours(TrailEnd& end) {
  for (const TrailNode::Out& out : end.outs) {
    for (std::size_t i = 0; i <= out.count; ++i) end.end.parted.add(out.granule + i);
    for (std::size_t i = 1; i < out.count; ++i) end.end.joined.add(out.granule + i);
  }
  end.end.parted_words = end.end.parted.words();
  OriginCode& origins = end.end.origins;
  for (const OriginCode::Out& out : origins.outs) {
    origins.parted.add(out.granule);
    origins.parted.add(out.granule + std::size_t{1});
  }
  origins.parted_words = origins.parted.words();
}

}  // namespace

void WeavePlan::find_exposed() {
  exposed = {};
  for (const TrailNode* const node : nodes) {
    const PartCode& code = node->code;
    for (const RegisterRead& read : code.reads)
      for (std::uint32_t i = 0; i < read.count; ++i) exposed.add(code.live_ins[read.first + i].granule);
    for (const TrailNode::MixedGranule& mixed : node->mixed_granules)
      if (mixed.writer == 0) exposed.add(mixed.granule);
    for (const OriginCode::Piece& piece : code.origins.pieces) {
      if (piece.writer == kOutside) exposed.add(piece.granule);
      add_found(piece.source, code.origins, exposed);
    }
    for (const OriginCode::Use& use : code.origins.uses)
      if (use.direct)
        for (std::uint32_t i = 0; i < use.count; ++i) exposed.add(use.granule + i);
  }
  const OriginCode& end = nodes.back()->end.origins;
  for (std::size_t i = 0; i < end.moved_outs; ++i) {
    add_found(end.outs[i].source, end, exposed);
    exposed.add(end.outs[i].granule);
  }
}

void WeavePlan::divide() {
  version = loop->version;
  each = {};
  rest = {};
  const TrailNode& last = *nodes.back();
  for (const TrailNode::Out& out : last.outs) (loop->exposed.has(out.granule) ? each : rest).outs.push_back(out);
  const OriginCode& origins = last.end.origins;
  each.end.origins.several = origins.several;
  rest.end.origins.several = origins.several;
  for (std::size_t i = 0; i < origins.outs.size(); ++i) {
    const bool live = loop->exposed.has(origins.outs[i].granule);
    (live ? each : rest).end.origins.outs.push_back(origins.outs[i]);
  }
  each.end.origins.moved_outs = origins.moved_outs;
  note_neighbours(each);
  note_neighbours(rest);
}

/// What is written as a whole is exposed as a whole, in all paths.
void WeaveLoop::add(WeavePlan& plan) {
  plans.push_back(&plan);
  plan.loop = this;
  exposed.add(plan.exposed);
  for (bool more = true; more;) {
    more = false;
    for (const WeavePlan* const other : plans) {
      const TrailNode& last = *other->nodes.back();
      for (const TrailNode::Out& out : last.outs) more = exposed.complete(out.granule, out.count) || more;
      for (const OriginCode::Out& out : last.end.origins.outs) more = exposed.complete(out.granule, out.run) || more;
    }
  }
  ++version;
}

}  // namespace loopfold::ddg
