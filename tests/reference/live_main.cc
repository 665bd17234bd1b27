// live_ranges TRACE_DIR FILE < questions: is an order of a recorded run right, by brute force?
//
// A question is one line of JSON, and so is its answer:
//
//     {"nest": 12, "steps": [{"what": "interchange", "lines": [12, 13], "number": 0}],
//      "variables": {"t": {"lines": [14], "scalar": true, "kind": "private", "first": false, "last": true},
//                    "row": {"lines": [15, 16], "kind": "expand", "along": [12]}, "a": {"lines": [17]}}}
//     {"right": false, "reads": 120, "flow": 0, "overlaps": 8, "collisions": 0, "example": "..."}
//
// FILE is the name of the source that lines are of; `lines` of a variable are those in which it is assigned to, the
// kind is private, expand or reduction, or left out. Or {"error": "..."}, where the order makes no sense. Exit status:
// 0, 2 usage, 3 the trace cannot be used.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "live_order.h"
#include "live_replay.h"
#include "live_trace.h"

namespace loopfold::reference {

namespace {

using Json = nlohmann::json;

LiveVariable variable_of(const Json& from) {
  LiveVariable variable;
  variable.lines = from.at("lines").get<std::vector<std::uint32_t>>();
  variable.scalar = from.value("scalar", false);
  const std::string kind = from.value("kind", "");
  using Kind = Treatment::Kind;
  variable.treatment.kind = kind == "private"     ? Kind::kPrivate
                            : kind == "expand"    ? Kind::kExpanded
                            : kind == "reduction" ? Kind::kReduction
                                                  : Kind::kNone;
  variable.treatment.first = from.value("first", false);
  variable.treatment.last = from.value("last", false);
  variable.treatment.along = from.value("along", std::vector<std::uint32_t>());
  return variable;
}

Json answer_to(const LiveTrace& trace, const Json& question) {
  std::vector<OrderStep> steps;
  for (const Json& step : question.at("steps"))
    steps.push_back({step.at("what").get<std::string>(), step.at("lines").get<std::vector<std::uint32_t>>(),
                     step.value("number", std::int64_t{0})});
  std::map<std::string, LiveVariable> variables;
  for (const auto& [name, variable] : question.at("variables").items()) variables[name] = variable_of(variable);
  const auto nest = question.at("nest").get<std::uint32_t>();
  const Result<std::vector<Time>> times = reordered(trace, nest, steps);
  if (!times) return {{"error", times.error().message}};
  const LiveAnswer answer = replay(trace, *times, nest, variables);
  return {{"right", answer.right()},     {"reads", answer.reads},           {"flow", answer.flow},
          {"overlaps", answer.overlaps}, {"collisions", answer.collisions}, {"example", answer.example}};
}

int run(const std::string& directory, const std::string& file) {
  const Result<LiveTrace> trace = read_live_trace(directory, file);
  if (!trace) {
    fmt::print(stderr, "live_ranges: {}: {}\n", directory, trace.error().message);
    return 3;
  }
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer_to(*trace, Json::parse(line)).dump() << std::endl;
  return 0;
}

}  // namespace

}  // namespace loopfold::reference

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: live_ranges TRACE_DIR FILE < questions\n");
    return 2;
  }
  return loopfold::reference::run(argv[1], argv[2]);
}
