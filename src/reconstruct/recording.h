// The accesses of a Loopfold recording, one stream per access of an instruction and thread.
//
// Runs of the trace are taken as runs: where a loop's path repeats and an access's address advances evenly (its slots
// do, and its expression is linear), many iterations are one add_run(). Everything else is followed iteration by
// iteration. Exact: each stream has the addresses that `loopfold trace dump --accesses` shows for it, in order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "reconstruct/input.h"
#include "support/result.h"
#include "symbols/symbolizer.h"
#include "trace/reader.h"

namespace loopfold::reconstruct {

/// A line of a source file. FILE may be any end of the path that begins at a directory's name.
struct SourceLine {
  std::string file;
  int line = 0;
};
Result<SourceLine> parse_source_line(const std::string& text);

/// Reconstructs the accesses of the instructions on `at` (with no file: of all). An error if there are none.
Result<ReadTrace> read_recording(const trace::Reader& reader, symbols::Symbolizer& symbolizer, const SourceLine& at,
                                 const ReadOptions& options);

}  // namespace loopfold::reconstruct
