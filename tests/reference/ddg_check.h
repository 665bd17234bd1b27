// Compares a folded dependence graph with the reference, stream by stream.
//
// Statements are matched by what they are (kind, context, node, place, detail) and must have the same numbers, since
// these are given in the order of first execution. Then the two sets of streams must have the same keys, every folded
// stream must be right for the points of the reference (ddg_fold_check.h), and all that is counted must be equal; so
// must be the origins behind copies.
// Objects are not in the reference, which has addresses only; they must be consistent with them: see check_objects().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ddg/graph.h"
#include "ddg_reference.h"
#include "symbols/symbolizer.h"

namespace loopfold::reference {

struct Comparison {
  std::vector<std::string> problems;  // the first ones, a line or two each
  std::uint64_t differences = 0;      // all of them
  std::uint64_t streams = 0;          // compared
  std::uint64_t exact = 0;            // of these
  std::uint64_t points = 0;           // of all streams
  std::uint64_t origins = 0;          // compared
  std::uint64_t labelled = 0;         // accesses whose object, block and offset were compared with the address
};

/// Without `copies`, what is behind them is left out: spills, reloads, origins.
Comparison compare(const ddg::Graph& graph, const Graph& expected, symbols::Symbolizer& symbolizer, bool copies = true);

/// The origins of the reference, some lines each, for a person.
std::vector<std::string> describe_origins(const Graph& expected, symbols::Symbolizer& symbolizer);

/// One access of the run as the graph describes it, and its address as the trace has it.
struct LabelledAddress {
  ddg::ObjectId object = 0;
  std::int64_t block = 0;
  std::int64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t heap_block = 0;  // see Access
  std::uint64_t moves = 0;
};

/// Objects must tell addresses apart:
/// - An offset in the unknown object is the address.
/// - A block of an object does not move: offset and address differ by the same throughout, as long as neither realloc
/// nor
///   mremap has moved anything.
/// - A heap block is one block of one object, as long as it is not reallocated, unless it is used as a stack.
/// - No frame is larger than a gigabyte.
/// - An address that belongs to a global belongs to that global at the same offset whenever it is in no heap block.
/// One line, or nothing if all is well.
std::string check_objects(const std::vector<LabelledAddress>& accesses, const std::vector<ddg::Object>& objects);

}  // namespace loopfold::reference
