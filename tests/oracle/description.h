// What the comments of a kernel say about it: sizes, statements, domains, order, accesses (docs/kernels.md).
//
//     // static: sizes N = 9, M = 11
//     // static: S[i, j] : 0 <= i < N and 0 <= j < M
//     // static:   order [0, i, j]
//     // static:   reads A[i, j], b[j + 1]
//     // static:   writes A[i, j]
//     ...
//           A[i][j] += b[j + 1];  // S:
//
// Everything after a colon, and everything in brackets, is isl's language; the names of sizes stand for their values.
// The tag `// S:` at the end of a line says that this line is statement S. A kernel without static truth has a line
// `// irregular: sizes N = 9` and tags only.
//
// Strict: what is not understood is an error, so that a description that is read says what it seems to say.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/result.h"

namespace loopfold::oracle {

/// `A[i, j + 1]`, where `condition` holds (empty: everywhere).
struct ElementText {
  std::string element;
  std::string condition;
};

struct StaticStatement {
  std::string name;
  std::vector<std::string> counters;
  std::string domain;  // a condition; empty: true
  std::vector<std::string> order;
  std::vector<ElementText> reads;
  std::vector<ElementText> writes;
  int line = 0;

  /// `S[i, j]`.
  std::string tuple() const;
};

struct Description {
  std::string file;  // base name
  bool irregular = false;
  std::vector<std::pair<std::string, long>> sizes;  // in the order of the program's arguments
  std::vector<StaticStatement> statements;
  std::map<std::string, int> tags;  // the line of each tag

  const StaticStatement* at_line(int line) const;
};

/// `sizes`, where given, replace those of the file, in their order.
Result<Description> read_description(const std::string& path, const std::vector<long>& sizes);

}  // namespace loopfold::oracle
