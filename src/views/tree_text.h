// The loop tree as text: `loopfold tree`.
//
// One row per node: its share of the instructions with and without what is below it, how often it was called or
// entered, and what it is, indented. Calls that do nothing but call one other function stand in one row (main → run →
// kernel). What is left out is counted where it would stand. Rows fit into a width: names give way first, then what is
// nice to know. Names are made inert, so that no symbol can drive the terminal.
//
// Linear in the number of nodes and in the text. No recursion: depth is limited by memory only. Past a number of levels
// the indentation stops to grow and the level is written as a number.
#pragma once

#include <string>

#include "profile/profile.h"
#include "views/selection.h"
#include "views/text.h"

namespace loopfold::views {

struct TreeTextOptions {
  Filter filter;
  std::size_t width = 120;  // of a row, in columns
  bool color = false;
  Charset charset = Charset::kUnicode;
  bool legend = true;        // what the columns mean, and the next command to run
  std::string next_command;  // empty: none
};

std::string tree_text(const profile::Profile& profile, const TreeTextOptions& options);

}  // namespace loopfold::views
