// Names loops of machine code by the source line that a person would point at.
//
// From what: lines and inlined frames of a few addresses of the loop. The line table has one entry for a loop that all
// compilers agree on: the branch that goes back belongs to the loop's condition, or to the statement itself. Three
// things are in the way.
//
// - The branch may be in an inlined function: `it != v.end()` in a `for` over a vector is a comparison in the library.
//   So first the scope is found that the loop is written in: the innermost function or inlined function that all blocks
//   of the loop are in. What is deeper is looked at from there, by the line of its call. A few stray instructions that
//   come from before an inlined function's call do not count.
// - Whole loops may be library code: std::accumulate, or a chain of Rust iterators. A user wants to see the line that
//   asked for it. If the scope's file belongs to a library, the frames are followed outwards to the first one that does
//   not, within the function that the code is in. The loop's own place is kept beside it: it tells the two loops inside
//   std::sort apart.
// - A loop that tests at its top goes back from the end of its body. GCC at -O0 (`while`: the test is placed last, but
// is
//   entered first) gives this branch the line of the body's last statement or of the increment, clang that of the loop
//   statement. The test's line is known as well, that of the header block's exit. The earlier of the two is taken: a
//   loop's head stands before its body. Where the branch that goes back is a test, it decides alone, so that `do` has
//   the line of its `while`.
//
// Several branches may go back (`continue`); the line that most of them have is taken. Lines 0 (made up by the
// compiler) do not count. Without any the other exits are asked, then the header.
//
// Exactness: with GCC 12, clang 14, gfortran and rustc at all levels, on ordinary loops, the line of the `for`,
// `while`, `do` (Fortran) or of the iterator chain's last call. A `for` head over several lines has the line of its
// condition with GCC, the first with clang. Not good: loops without a condition (`for (;;)`) have the line of some
// exit; of vectorised loops some have a line of the body (clang, gfortran), since no instruction of theirs has the
// head's.
//
// Cost: as many lookups as there are addresses, times the depth of inlining.
#include "symbols/loop_source.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace loopfold::symbols {
namespace {

using Frames = std::vector<Frame>;

/// Index of the frame of `scope`, or the number of frames if it is not among them.
std::size_t index_of(const Frames& frames, std::uint64_t scope) {
  const auto found = std::find_if(frames.begin(), frames.end(), [&](const Frame& f) { return f.scope == scope; });
  return static_cast<std::size_t>(found - frames.begin());
}

/// The innermost scope that all addresses are in. Addresses that nothing is known about do not count.
std::optional<std::uint64_t> common_scope(Symbolizer& symbolizer, std::span<const std::uint64_t> addresses) {
  std::vector<const Frames*> all;
  for (const std::uint64_t address : addresses) {
    const Frames& frames = symbolizer.locate(address).frames;
    if (!frames.empty()) all.push_back(&frames);
  }
  if (all.empty()) return std::nullopt;
  for (const Frame& candidate : *all.front()) {
    const bool is_common = std::all_of(all.begin(), all.end(), [&](const Frames* frames) {
      return index_of(*frames, candidate.scope) < frames->size();
    });
    if (is_common) return candidate.scope;
  }
  return std::nullopt;
}

/// Addresses spread evenly over the blocks of a loop, not many. A block reaches to its branch, if that goes back or
/// out, else to the next block.
std::vector<std::uint64_t> samples_of(const LoopAddresses& loop) {
  constexpr std::uint64_t kSamples = 64;
  std::set<std::uint64_t> ends(loop.instructions.begin(), loop.instructions.end());
  for (const auto* branches : {&loop.latch_branches, &loop.exit_branches}) {
    for (const std::uint64_t branch : *branches) ends.insert(branch + 1);
  }
  std::uint64_t total = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const std::uint64_t start : loop.instructions) {
    const auto end = ends.upper_bound(start);
    if (end == ends.end()) continue;
    ranges.emplace_back(start, *end);
    total += *end - start;
  }
  std::vector<std::uint64_t> samples;
  const std::uint64_t step = total / kSamples + 1;
  for (const auto& [start, end] : ranges) {
    for (std::uint64_t at = start; at < end; at += step) samples.push_back(at);
  }
  return samples;
}

/// Whether the loop is written in `scope`, an inlined function, although some of its instructions are not in it: a few
/// that come from before the call. Compilers leave behind the odd instruction of a value that is made ahead of the
/// loop.
bool is_all_but_strays(Symbolizer& symbolizer, const LoopAddresses& loop, std::uint64_t scope, const Frame& call) {
  const std::vector<std::uint64_t> samples = samples_of(loop);
  std::size_t strays = 0;
  for (const std::uint64_t sample : samples) {
    const Frames& frames = symbolizer.locate(sample).frames;
    if (index_of(frames, scope) < frames.size()) continue;
    const std::size_t outer = index_of(frames, call.scope);
    const bool is_before = outer < frames.size() && frames[outer].file == call.file && frames[outer].line < call.line;
    if (!is_before) return false;
    ++strays;
  }
  return 4 * strays <= samples.size();
}

/// The scope that the loop is written in. A loop with blocks in several functions has none; then its latches decide.
std::optional<std::uint64_t> scope_of(Symbolizer& symbolizer, const LoopAddresses& loop) {
  std::vector<std::uint64_t> all = {loop.header};
  for (const auto* part : {&loop.latch_branches, &loop.instructions, &loop.exit_branches}) {
    all.insert(all.end(), part->begin(), part->end());
  }
  const std::optional<std::uint64_t> of_all = common_scope(symbolizer, all);
  const std::optional<std::uint64_t> of_latches = common_scope(symbolizer, loop.latch_branches);
  if (!of_all || !of_latches || of_all == of_latches) return of_all ? of_all : of_latches;
  const Frames& frames = symbolizer.locate(loop.latch_branches.front()).frames;
  for (std::size_t i = index_of(frames, *of_latches); i + 1 < frames.size() && frames[i].scope != *of_all; ++i) {
    if (is_all_but_strays(symbolizer, loop, frames[i].scope, frames[i + 1])) return frames[i].scope;
  }
  return of_all;
}

/// A frame of an address.
struct Choice {
  const Frames* frames = nullptr;
  std::size_t index = 0;

  const Frame& frame() const { return (*frames)[index]; }
};

/// Of the lines that the addresses have in `scope`, the most frequent one; of several, the first.
std::optional<Choice> most_frequent(Symbolizer& symbolizer, std::span<const std::uint64_t> addresses,
                                    std::uint64_t scope) {
  std::vector<Choice> choices;
  std::map<std::tuple<std::string_view, int>, int> counts;
  for (const std::uint64_t address : addresses) {
    const Frames& frames = symbolizer.locate(address).frames;
    const std::size_t index = index_of(frames, scope);
    if (index == frames.size() || frames[index].line == 0 || frames[index].file.empty()) continue;
    choices.push_back({&frames, index});
    ++counts[{frames[index].file, frames[index].line}];
  }
  const auto count = [&](const Choice& choice) { return counts[{choice.frame().file, choice.frame().line}]; };
  const auto best = std::max_element(choices.begin(), choices.end(),
                                     [&](const Choice& a, const Choice& b) { return count(a) < count(b); });
  return best == choices.end() ? std::nullopt : std::optional(*best);
}

bool is_earlier(const Choice& a, const Choice& b) {
  return a.frame().file == b.frame().file && a.frame().line < b.frame().line;
}

/// Whether some branch that goes back is also a way out.
bool tests_at_latch(const LoopAddresses& loop) {
  return std::any_of(loop.latch_branches.begin(), loop.latch_branches.end(), [&](std::uint64_t latch) {
    return std::find(loop.exit_branches.begin(), loop.exit_branches.end(), latch) != loop.exit_branches.end();
  });
}

/// The branch at the end of the header block, if it may leave the loop.
std::optional<std::uint64_t> exit_of_header(const LoopAddresses& loop) {
  std::uint64_t next_block = std::numeric_limits<std::uint64_t>::max();
  for (const std::uint64_t start : loop.instructions) {
    if (start > loop.header) next_block = std::min(next_block, start);
  }
  std::optional<std::uint64_t> first;
  for (const std::uint64_t exit : loop.exit_branches) {
    if (exit >= loop.header && exit < next_block && (!first || exit < *first)) first = exit;
  }
  return first;
}

/// The address and frame that name the loop.
std::optional<Choice> choose(Symbolizer& symbolizer, const LoopAddresses& loop, std::uint64_t scope) {
  std::optional<Choice> choice = most_frequent(symbolizer, loop.latch_branches, scope);
  if (!tests_at_latch(loop)) {
    const std::optional<std::uint64_t> test = exit_of_header(loop);
    const std::optional<Choice> at_test = test ? most_frequent(symbolizer, std::span(&*test, 1), scope) : std::nullopt;
    if (at_test && (!choice || is_earlier(*at_test, *choice))) choice = at_test;
  }
  if (!choice) choice = most_frequent(symbolizer, loop.exit_branches, scope);
  if (!choice) choice = most_frequent(symbolizer, std::span(&loop.header, 1), scope);
  return choice;
}

/// The frame to show: the innermost one from the loop's own outwards that is no library's, or its own if all are.
const Frame& frame_of_user(const Choice& choice) {
  for (std::size_t i = choice.index; i < choice.frames->size(); ++i) {
    const Frame& frame = (*choice.frames)[i];
    if (frame.line != 0 && !frame.file.empty() && !is_library_file(frame.file)) return frame;
  }
  return choice.frame();
}

}  // namespace

bool is_library_file(std::string_view path) {
  for (const std::string_view prefix : {"/usr/include/", "/usr/lib/", "/usr/local/include/", "/rustc/"}) {
    if (path.starts_with(prefix)) return true;
  }
  return path.find("/rustlib/src/") != std::string_view::npos;
}

std::optional<LoopSource> name_loop(Symbolizer& symbolizer, const LoopAddresses& loop) {
  const std::optional<std::uint64_t> scope = scope_of(symbolizer, loop);
  const std::optional<Choice> choice = scope ? choose(symbolizer, loop, *scope) : std::nullopt;
  if (!choice) return std::nullopt;
  const Frames& frames = *choice->frames;
  const Frame& own = choice->frame();
  const Frame& shown = frame_of_user(*choice);
  LoopSource source;
  source.file = shown.file;
  source.line = shown.line;
  source.column = shown.column;
  source.function = frames.back().function;
  for (std::size_t i = frames.size() - 1; i-- > choice->index;) source.inlined.emplace_back(frames[i].function);
  source.scope = *scope;
  source.function_id = own.function_id;
  source.own_file = own.file;
  source.own_line = own.line;
  source.own_column = own.column;
  return source;
}

bool is_same_source_line(const LoopSource& a, const LoopSource& b) {
  const bool same_function = a.scope == b.scope || (a.function_id == b.function_id && a.function_id != 0);
  return same_function && a.own_line == b.own_line && a.own_file == b.own_file;
}

bool is_same_source_loop(const LoopSource& a, const LoopSource& b) {
  return is_same_source_line(a, b) && a.own_column == b.own_column;
}

}  // namespace loopfold::symbols
