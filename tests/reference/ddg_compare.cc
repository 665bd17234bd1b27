// ddg_compare TRACE_DIR [--fold F|FW|FGG|FGGW|auto] [--spoil N] [--origins|--no-origins|--by-events]: is the dependence
// graph of a trace right?
//
// Builds it twice, with src/ddg and with the reference (ddg_reference.h), and compares them (ddg_check.h). One line if
// they agree, else the differences. With --spoil, graph and reference are made to differ in one of kSpoils ways before,
// to see that a difference is found. With --origins, those of the reference are printed, and nothing is compared; with
// --no-origins, what is behind copies is not. With --by-events there is no reference: the graph is built as always and
// event by event, and the two must be equal in everything. Exit status: 0 they agree, 1 they do not, 2 usage, 3 the
// trace cannot be used.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ddg/analysis.h"
#include "ddg/graph_text.h"
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
  int spoil = -1;
  bool print_origins = false;
  bool compare_origins = true;
  bool by_events = false;
};

bool parse(const std::vector<std::string>& words, Arguments& into) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--origins") {
      into.print_origins = true;
    } else if (words[i] == "--no-origins") {
      into.compare_origins = false;
    } else if (words[i] == "--by-events") {
      into.by_events = true;
    } else if (words[i] == "--spoil" && i + 1 < words.size()) {
      into.spoil = std::atoi(words[++i].c_str());
    } else if (words[i] == "--fold" && i + 1 < words.size()) {
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

/// The last of `items` for which `suits`; nothing is done if there is none.
template <class Item, class Suits, class Change>
void change_last(std::vector<Item>& items, Suits suits, Change change) {
  const auto found = std::find_if(items.rbegin(), items.rend(), suits);
  if (found != items.rend()) change(*found);
}

constexpr int kSpoils = 24;

/// Mistakes about copies, frames and stacks.
void spoil_copies(ddg::Graph& graph, int kind) {
  const auto any = [](const auto&) { return true; };
  const auto made = [](const ddg::Origin& o) { return o.from != ddg::kNoStatement; };
  const auto load = [](const ddg::Origin& o) { return o.load && !o.rewritten.empty() && !o.reread.empty(); };
  switch (kind) {
    case 12:
      return graph.origins.pop_back();
    case 13:
      return change_last(graph.origins, any, [](auto& o) { ++o.carried.back(); });
    case 14:
      return change_last(graph.origins, made, [](auto& o) { o.from_instruction += 1; });
    case 15:
      return change_last(graph.origins, any, [](auto& o) { o.local = !o.local; });
    case 16:
      return change_last(graph.origins, load, [](auto& o) { ++o.rewritten.front(); });
    case 17:
      return change_last(graph.origins, load, [](auto& o) { ++o.reread.front(); });
    case 18:
      return change_last(graph.origins, any, [](auto& o) { o.turns.assign(o.turns.size() + 1, 1); });
    case 19:
      return change_last(graph.values, any, [](auto& v) { v.steady = !v.steady; });
    case 20:
      return change_last(graph.dependences, any, [](auto& d) { d.late.push_back(1); });
    case 21:
      return change_last(graph.accesses, any, [](auto& a) { ++a.copies; });
    case 22:
      return change_last(graph.origins, any, [](auto& o) { o.even = !o.even; });
    default:
      return change_last(
          graph.accesses, [](const auto& a) { return a.address.exact(); },
          [](auto& a) { a.same_offset = !a.same_offset; });
  }
}

/// Mistakes that a dependence graph might have.
void spoil(ddg::Graph& graph, int kind) {
  const auto any = [](const auto&) { return true; };
  const auto last_label = [](fold::Folded& folded) -> fold::Output& { return folded.pieces.back().outputs.back(); };
  const auto labelled = [](const ddg::Dependence& d) { return d.map.exact() && !d.map.pieces.back().outputs.empty(); };
  const auto exact_value = [](const ddg::Value& v) { return v.value.exact(); };
  const auto exact_access = [](const ddg::Access& a) {
    return a.address.exact() && a.object != ddg::kUnknownObject && a.address.points > 1;
  };
  switch (kind % kSpoils) {
    case 0:
      return graph.dependences.pop_back();
    case 1:
      return change_last(graph.dependences, any, [](auto& d) { ++d.carried.back(); });
    case 2:
      return change_last(graph.dependences, labelled, [&](auto& d) { ++last_label(d.map).value.constant; });
    case 3:
      return change_last(graph.dependences, any, [](auto& d) { d.lane += 1; });
    case 4:
      return graph.values.pop_back();
    case 5:
      return change_last(graph.values, exact_value, [&](auto& v) { ++last_label(v.value).value.constant; });
    case 6:
      return graph.accesses.pop_back();
    case 7:
      return change_last(graph.accesses, exact_access, [&](auto& a) { ++last_label(a.address).value.constant; });
    case 8:
      return graph.statements.pop_back();
    case 9:
      return change_last(graph.statements, any, [](auto& s) { ++s.domain.pieces.back().ranges.back().upper.constant; });
    case 10:
      return change_last(
          graph.statements, [](const auto& s) { return !s.local.empty(); }, [](auto& s) { s.local.pop_back(); });
    case 11:
      return change_last(graph.dependences, any, [](auto& d) { d.from_instruction += 1; });
    default:
      return spoil_copies(graph, kind % kSpoils);
  }
}

int bad_input(const std::string& directory, const std::string& why) {
  fmt::print(stderr, "ddg_compare: error: {}: {}\n", directory, why);
  return 3;
}

ddg::Graph build_graph(const trace::Reader& reader, const structure::Structure& structure,
                       symbols::Symbolizer& symbolizer, const ddg::Options& options) {
  structure::LoopTree tree;
  std::uint64_t threads = 0;
  return ddg::build(reader, structure, tree, symbolizer, options, threads);
}

/// Iterations many at a time, against one event after the other.
int compare_forms(const Arguments& arguments, const trace::Reader& reader, const structure::Structure& structure,
                  symbols::Symbolizer& symbolizer) {
  ddg::Options options;
  options.fold = arguments.fold;
  ddg::Graph by_runs = build_graph(reader, structure, symbolizer, options);
  if (arguments.spoil >= 0) spoil(by_runs, arguments.spoil);
  options.by_runs = false;
  const std::vector<std::string> events = ddg::testing::lines_of(build_graph(reader, structure, symbolizer, options));
  const std::string different = ddg::testing::difference(events, ddg::testing::lines_of(by_runs));
  fmt::print("{}{}: {} lines\n", different, different.empty() ? "equal" : "different", events.size());
  return different.empty() ? 0 : 1;
}

int run(const Arguments& arguments) {
  const Result<std::unique_ptr<trace::Reader>> reader = trace::Reader::open(arguments.directory + "/trace.lft");
  if (!reader) return bad_input(arguments.directory, reader.error().message);
  symbols::Symbolizer symbolizer((*reader)->modules());
  const structure::Structure structure = structure::find_structure(**reader, structure::function_facts(symbolizer));
  if (arguments.by_events) return compare_forms(arguments, **reader, structure, symbolizer);
  const auto begin = std::chrono::steady_clock::now();
  const Result<Graph> expected = build(**reader, structure);
  if (!expected) return bad_input(arguments.directory, expected.error().message);
  if (arguments.print_origins) {
    for (const std::string& origin : describe_origins(*expected, symbolizer)) fmt::print("{}\n", origin);
    return 0;
  }
  const double reference_seconds = seconds_since(begin);
  structure::LoopTree tree;
  ddg::Options options;
  options.fold = arguments.fold;
  std::uint64_t threads = 0;
  ddg::Graph graph = ddg::build(**reader, structure, tree, symbolizer, options, threads);
  if (arguments.spoil >= 0) spoil(graph, arguments.spoil);
  Comparison comparison = compare(graph, *expected, symbolizer, arguments.compare_origins);
  if (tree.contexts().size() != expected->tree.contexts().size())
    comparison.problems.push_back("the loop trees differ in size"), ++comparison.differences;
  for (const std::string& problem : comparison.problems) fmt::print("{}\n", problem);
  fmt::print(
      "{}: {} instructions, {} statements, {} dependences, {} origins, {} streams ({} exact), {} points, {} labelled "
      "addresses; reference {:.2f} s, all {:.2f} s\n",
      comparison.differences == 0 ? "equal" : fmt::format("{} differences", comparison.differences),
      expected->instructions, expected->statements.size(), expected->dependences.size(), expected->origins.size(),
      comparison.streams, comparison.exact, comparison.points, comparison.labelled, reference_seconds,
      seconds_since(begin));
  return comparison.differences == 0 ? 0 : 1;
}

}  // namespace

}  // namespace loopfold::reference

int main(int argc, char** argv) {
  loopfold::reference::Arguments arguments;
  if (!loopfold::reference::parse({argv + 1, argv + argc}, arguments)) {
    fmt::print(stderr,
               "usage: ddg_compare TRACE_DIR [--fold F|FW|FGG|FGGW|auto] [--spoil N] "
               "[--origins|--no-origins|--by-events]\n");
    return 2;
  }
  return loopfold::reference::run(arguments);
}
