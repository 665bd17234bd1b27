#include "views/diff_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "support/units.h"

namespace loopfold::views {

namespace {

using Nest = std::vector<const LoopPair*>;

/// Pairs whose loops are of one region before and of one region after.
std::vector<Nest> nests_of(const Diff& diff) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Nest> nests;
  for (const LoopPair& pair : diff.loops)
    if (pair.before && pair.after) nests[{pair.before->region->id, pair.after->region->id}].push_back(&pair);
  std::vector<Nest> list;
  for (auto& [regions, pairs] : nests) list.push_back(std::move(pairs));
  return list;
}

std::uint64_t weight(const LoopPair& pair) { return std::max(pair.before->ops, pair.after->ops); }

/// Of the deepest loops, the one in which most is done.
const LoopPair& innermost(const Nest& nest) {
  return **std::max_element(nest.begin(), nest.end(), [](const LoopPair* a, const LoopPair* b) {
    return std::pair(a->before->loop->depth, weight(*a)) < std::pair(b->before->loop->depth, weight(*b));
  });
}

const LoopPair& outermost(const Nest& nest) {
  return **std::min_element(nest.begin(), nest.end(), [](const LoopPair* a, const LoopPair* b) {
    return std::pair(a->before->loop->depth, weight(*b)) < std::pair(b->before->loop->depth, weight(*a));
  });
}

/// "its loops changed places: 24 × 97 trips became 97 × 24", once for the two loops that say so of each other.
void add_places(const Nest& nest, std::vector<std::string>& sentences) {
  for (const LoopPair* pair : nest)
    for (const std::string& change : pair->changes) {
      if (!change.starts_with("changed places")) continue;
      const std::string sentence = "loops changed places" + change.substr(change.rfind(": "));
      if (std::find(sentences.begin(), sentences.end(), sentence) == sentences.end()) sentences.push_back(sentence);
    }
}

void add_verdict(const char* which, const LoopPair& pair, std::vector<std::string>& sentences) {
  if (pair.before->verdict == pair.after->verdict) return;
  const auto word = [](const std::string& verdict) { return verdict == "no" ? "sequential" : verdict; };
  sentences.push_back(
      fmt::format("the {} loop was {}, is {}", which, word(pair.before->verdict), word(pair.after->verdict)));
}

void add_accesses(const LoopPair& inner, std::vector<std::string>& sentences) {
  const double before = inner.before->loop->stride01_percent;
  const double after = inner.after->loop->stride01_percent;
  if (std::llround(before) != std::llround(after))
    sentences.push_back(
        fmt::format("in the innermost loop {:.0f} % of the accesses stayed or went to the next element, now {:.0f} %",
                    before, after));
}

NestStory story_of(const Nest& nest) {
  const LoopPair& outer = outermost(nest);
  const LoopPair& inner = innermost(nest);
  NestStory story{outer.before->function, outer.before->where, outer.after->where, {}, weight(outer)};
  add_places(nest, story.sentences);
  add_accesses(inner, story.sentences);
  if (&outer != &inner) add_verdict("innermost", inner, story.sentences);
  add_verdict(&outer == &inner ? "only" : "outermost", outer, story.sentences);
  const std::string change = change_text(outer.before->ops, outer.after->ops);
  story.sentences.push_back(change == "the same"
                                ? "as many operations as before"
                                : fmt::format("operations {} → {} ({})", short_count(outer.before->ops),
                                              short_count(outer.after->ops), change));
  return story;
}

}  // namespace

std::vector<NestStory> stories_of(const Diff& diff) {
  std::vector<NestStory> stories;
  for (const Nest& nest : nests_of(diff))
    if (std::any_of(nest.begin(), nest.end(), [](const LoopPair* pair) { return !pair->changes.empty(); }))
      stories.push_back(story_of(nest));
  std::stable_sort(stories.begin(), stories.end(),
                   [](const NestStory& a, const NestStory& b) { return a.ops > b.ops; });
  return stories;
}

}  // namespace loopfold::views
