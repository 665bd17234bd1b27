// Descriptions and side events as bytes, and the rules that they obey.
//
// Both payloads are lists of tagged records. Ids do not stand in them: the n-th block of the file is block n. The rules
// (Shapes, check_side) are the same on both sides: the writer refuses what the reader would, so that a recorder bug
// shows when it happens and not when the trace is analysed. Error messages here are bare reasons; whoever knows the
// file and the offset adds them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/result.h"
#include "trace/bytes.h"
#include "trace/run.h"
#include "trace/shapes.h"
#include "trace/types.h"

namespace loopfold::trace {

/// The static part of a trace.
struct Descriptions {
  std::vector<Module> modules;
  std::vector<Block> blocks;
  std::vector<Exit> exits;
  std::vector<CallStack> stacks;
};

void encode_module(const Module& module, ByteWriter& out);
void encode_block(const Block& block, ByteWriter& out);
void encode_exit(const Exit& exit, ByteWriter& out);
void encode_stack(const CallStack& stack, ByteWriter& out);

/// Appends the `items` descriptions in `payload` to `to` and `shapes`. On an error some may have been appended.
Result<void> decode_descriptions(std::span<const std::uint8_t> payload, std::uint64_t items, Descriptions& to,
                                 Shapes& shapes);

/// The part of a side event that is coded as a difference to the previous one in the chunk.
struct SideContext {
  std::uint64_t ordinal = 0;
  std::uint64_t slice = 0;
  std::uint64_t position = 0;
};

/// Checks what does not depend on other events: enumerators and call stack ids.
Result<void> check_side(const SideEvent& side, std::size_t stacks);
/// In a chunk, a side event's ordinal is the number of events of all threads in the group that stand before it.
void encode_side(const PlacedSide& placed, SideContext& context, ByteWriter& out);

/// Replaces `to` by the `items` side events in `payload`, in order. Ordinals and slices never decrease in it.
Result<void> decode_sides(std::span<const std::uint8_t> payload, std::uint64_t items, std::size_t stacks,
                          std::vector<PlacedSide>& to);

}  // namespace loopfold::trace
