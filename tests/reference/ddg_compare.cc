// ddg_compare TRACE_DIR [--fold F|FW|FGG|FGGW|auto] [--reference-only]: is the dependence graph of a trace right?
//
// Builds it twice, with src/ddg and with the reference (ddg_reference.h), and compares them (ddg_check.h). One line if
// they agree, else the differences. Exit status: 0 they agree, 1 they do not, 2 usage, 3 the trace cannot be used.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "ddg/analysis.h"
#include "ddg_check.h"
#include "ddg_reference.h"
#include "structure/function_facts.h"
#include "structure/structure.h"
#include "symbols/symbolizer.h"
#include "trace/reader.h"

namespace loopfold::reference {

namespace {

struct Arguments {
  std::string directory;
  fold::Options fold;
  bool reference_only = false;
};

bool parse(const std::vector<std::string>& words, Arguments& into) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--reference-only")
      into.reference_only = true;
    else if (words[i] == "--fold" && i + 1 < words.size()) {
      if (!fold::parse_variant(words[++i], into.fold.variant)) return false;
    } else if (into.directory.empty() && !words[i].starts_with("-"))
      into.directory = words[i];
    else
      return false;
  }
  return !into.directory.empty();
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int bad_input(const std::string& directory, const std::string& why) {
  fmt::print(stderr, "ddg_compare: error: {}: {}\n", directory, why);
  return 3;
}

int run(const Arguments& arguments) {
  const Result<std::unique_ptr<trace::Reader>> reader = trace::Reader::open(arguments.directory + "/trace.lft");
  if (!reader) return bad_input(arguments.directory, reader.error().message);
  symbols::Symbolizer symbolizer((*reader)->modules());
  const structure::Structure structure = structure::find_structure(**reader, structure::function_facts(symbolizer));
  const auto begin = std::chrono::steady_clock::now();
  const Result<Graph> expected = build(**reader, structure);
  if (!expected) return bad_input(arguments.directory, expected.error().message);
  const double reference_seconds = seconds_since(begin);
  if (arguments.reference_only) {
    std::uint64_t points = 0;
    for (const auto& [key, dependence] : expected->dependences) points += dependence.map.count;
    fmt::print("{} instructions, {} statements, {} accesses, {} values, {} dependences with {} points, {:.2f} s\n",
               expected->instructions, expected->statements.size(), expected->accesses.size(), expected->values.size(),
               expected->dependences.size(), points, reference_seconds);
    return 0;
  }
  structure::LoopTree tree;
  ddg::Options options;
  options.fold = arguments.fold;
  std::uint64_t threads = 0;
  const ddg::Graph graph = ddg::build(**reader, structure, tree, symbolizer, options, threads);
  Comparison comparison = compare(graph, *expected, symbolizer);
  if (tree.contexts().size() != expected->tree.contexts().size())
    comparison.problems.push_back("the loop trees differ in size"), ++comparison.differences;
  for (const std::string& problem : comparison.problems) fmt::print("{}\n", problem);
  fmt::print(
      "{}: {} instructions, {} statements, {} dependences, {} streams ({} exact), {} points, {} labelled "
      "addresses; reference {:.2f} s, all {:.2f} s\n",
      comparison.differences == 0 ? "equal" : fmt::format("{} differences", comparison.differences),
      expected->instructions, expected->statements.size(), expected->dependences.size(), comparison.streams,
      comparison.exact, comparison.points, comparison.labelled, reference_seconds, seconds_since(begin));
  return comparison.differences == 0 ? 0 : 1;
}

}  // namespace

}  // namespace loopfold::reference

int main(int argc, char** argv) {
  loopfold::reference::Arguments arguments;
  if (!loopfold::reference::parse({argv + 1, argv + argc}, arguments)) {
    fmt::print(stderr, "usage: ddg_compare TRACE_DIR [--fold F|FW|FGG|FGGW|auto] [--reference-only]\n");
    return 2;
  }
  return loopfold::reference::run(arguments);
}
