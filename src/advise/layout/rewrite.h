// A source file with layout directives becomes one with the layouts made.
//
// The directive of a region is replaced by what allocates and fills the new layout, each element of its arrays in the
// region by a macro, and behind the region the results are copied back and memory is freed. Nothing else changes, not
// one byte. The order of work: directives are parsed (directive.h), arrays and sizes are looked up as the compiler sees
// them (source.h), maps are proved one-to-one (phi.h), all uses in the region are found (region.h), code is generated
// (generate.h), and the edits are applied.
//
// Three outcomes: an Error is a file that cannot be understood (no such array, sizes that do not match its
// declaration, syntax); a `no` is one that can, but whose layout is not one-to-one or whose uses cannot be rewritten,
// with every reason and its place; a yes comes with the new text. The file itself is only read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "advise/layout/generate.h"
#include "support/result.h"

namespace loopfold::layout {

struct RewriteOptions {
  Form form = Form::kField;
  std::vector<std::string> compiler;  // options for libclang: -I, -D, -std
};

struct ArraySummary {
  std::string label;
  Transfer transfer = Transfer::kIn;
  std::string domain;  // "double[ni, nj]"
  std::string map;     // as isl prints it
  std::size_t references = 0;
};

struct DirectiveSummary {
  Place place;
  std::vector<ArraySummary> arrays;
  Proof proof;
  std::vector<std::string> assumed;
  std::string memory;  // "1,200 elements for 1,000", if all sizes are known; else empty
};

struct Rewritten {
  Answer answer = Answer::kYes;
  std::vector<std::string> reasons;  // "FILE:LINE:COLUMN: why", of a no or unknown
  std::string text;                  // of a yes
  std::vector<DirectiveSummary> directives;
};

Result<Rewritten> rewrite(const std::string& file, std::string_view text, const RewriteOptions& options);

}  // namespace loopfold::layout
