#include "poly/loop_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "trace/system_calls.h"

namespace loopfold::poly {

namespace {

profile::Blocking::Kind kind_of(Blocking::Kind kind) {
  switch (kind) {
    case Blocking::Kind::kMemory:
      return profile::Blocking::Kind::kMemory;
    case Blocking::Kind::kEnvironment:
      return profile::Blocking::Kind::kEnvironment;
    case Blocking::Kind::kExit:
      return profile::Blocking::Kind::kControl;
    default:
      return profile::Blocking::Kind::kRegister;
  }
}

bool is_distance_known(const Blocking& blocking) { return blocking.least != 0 || blocking.greatest != 0; }

/// "1 iteration before", "1 to 8 iterations before", "in an earlier iteration".
std::string earlier(const Blocking& blocking) {
  if (!is_distance_known(blocking)) return "in an earlier iteration";
  if (blocking.least != blocking.greatest)
    return fmt::format("{} to {} iterations before", blocking.least, blocking.greatest);
  return fmt::format("{} iteration{} before", blocking.least, blocking.least == 1 ? "" : "s");
}

bool is_of_structures(std::string_view type) {
  return type.starts_with("struct ") || type.starts_with("union ") || type.starts_with("class ");
}

}  // namespace

const char* operator_name(trace::Associative operation) {
  using trace::Associative;
  switch (operation) {
    case Associative::kMultiply:
      return "*";
    case Associative::kMin:
      return "min";
    case Associative::kMax:
      return "max";
    case Associative::kAnd:
      return "&";
    case Associative::kOr:
      return "|";
    case Associative::kXor:
      return "^";
    default:
      return "+";
  }
}

std::string times_text(std::uint64_t count) {
  if (count == 1) return "(once)";
  std::string digits = std::to_string(count);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return fmt::format("({} times)", digits);
}

LoopWords::Place LoopWords::place(const CodePoint& at) const {
  if (at.statement >= graph_.statements.size()) return {std::nullopt, "something"};
  const ddg::Statement& statement = graph_.statements[at.statement];
  const std::uint64_t address =
      at.instruction < statement.instructions.size() ? statement.instructions[at.instruction].address : 0;
  if (std::optional<profile::Source> source = names_.source(address)) return {source, names_.line(address)};
  const std::uint32_t node = context_.nodes[statement.context];
  if (std::optional<Place> call = place_of_call(node)) return *call;
  const CodeAddress code = names_.code(address);
  if (!code.module.empty()) return {std::nullopt, fmt::format("{}+{:#x}", code.module, code.address)};
  return {std::nullopt, profile_.tree[node].function.empty() ? "code in no file" : profile_.tree[node].function};
}

/// The nearest call on the way to a node that has a line.
std::optional<LoopWords::Place> LoopWords::place_of_call(std::uint32_t node) const {
  for (std::optional<std::uint32_t> at = node; at; at = profile_.tree[*at].parent) {
    const profile::TreeNode& call = profile_.tree[*at];
    if (!call.call_site) continue;
    return Place{call.call_site, fmt::format("{} called at {}:{}", call.function.empty() ? "code" : call.function,
                                             base_name(call.call_site->file), call.call_site->line)};
  }
  return std::nullopt;
}

/// "write(2)", if it is one.
std::string LoopWords::system_call(const CodePoint& at) const {
  if (at.statement >= graph_.statements.size()) return "";
  const ddg::Statement& statement = graph_.statements[at.statement];
  if (statement.kind != ddg::Statement::Kind::kSystemCall) return "";
  return fmt::format("{}(2)", trace::system_call_name(statement.detail));
}

std::string LoopWords::text(const Blocking& from) const {
  const Place producer = place(from.from);
  const Place consumer = place(from.to);
  switch (from.kind) {
    case Blocking::Kind::kExit:
      return fmt::format("{}: data decide whether the loop goes on", producer.text);
    case Blocking::Kind::kTurn:
      return fmt::format("{} hands on values from before the loop in turns", consumer.text);
    case Blocking::Kind::kEnvironment: {
      const std::string call = system_call(from.to);
      return fmt::format("{}: {} must keep its order", consumer.text, call.empty() ? "input or output" : call);
    }
    case Blocking::Kind::kMemory: {
      const std::string object = from.object == ddg::kUnknownObject || from.object >= graph_.objects.size()
                                     ? ""
                                     : ": " + graph_.objects[from.object].name;
      return fmt::format("{} reads what {} wrote {}{}", consumer.text, producer == consumer ? "it" : producer.text,
                         earlier(from), object);
    }
    case Blocking::Kind::kRegister:
      break;
  }
  return fmt::format("{} uses what {} computed {}", consumer.text, producer == consumer ? "it" : producer.text,
                     earlier(from));
}

profile::Blocking LoopWords::blocking(const Blocking& from) const {
  profile::Blocking to;
  to.kind = kind_of(from.kind);
  to.source_from = place(from.from).source;
  if (from.to.statement != ddg::kNoStatement) to.source_to = place(from.to).source;
  if (to.kind == profile::Blocking::Kind::kMemory || to.kind == profile::Blocking::Kind::kEnvironment)
    if (from.object < graph_.objects.size()) to.object = from.object;
  to.count = from.count;
  if (is_distance_known(from)) {
    to.least = from.least;
    to.greatest = from.greatest;
    if (from.least == from.greatest) to.distance = from.least;
  }
  to.text = text(from);
  return to;
}

profile::Reduction LoopWords::reduction(const Reduction& from) const {
  profile::Reduction to;
  to.operation = operator_name(from.operation);
  if (from.in_memory && from.object != ddg::kUnknownObject && from.object < graph_.objects.size())
    to.variable = graph_.objects[from.object].name;
  to.reassociates =
      from.floating && from.operation != trace::Associative::kMin && from.operation != trace::Associative::kMax;
  to.array = from.array;
  to.partly = from.partly || (from.in_memory && from.object < graph_.objects.size() &&
                              is_of_structures(graph_.objects[from.object].type));
  to.source = place(from.at).source;
  return to;
}

profile::Touched LoopWords::reload(const CodePoint& load) const {
  const auto before = [](const ddg::Access& access, const CodePoint& at) {
    return std::tie(access.statement, access.instruction) < std::tie(at.statement, at.instruction);
  };
  profile::Touched to{place(load).source, std::nullopt};
  const auto found = std::lower_bound(graph_.accesses.begin(), graph_.accesses.end(), load, before);
  if (found != graph_.accesses.end() && CodePoint{found->statement, found->instruction} == load)
    to.object = found->object;
  return to;
}

profile::Assumption LoopWords::assumption(const CodePoint& branch) const { return {place(branch).source}; }

profile::Doubt LoopWords::doubt(const Doubt& from) const {
  profile::Doubt to{from.why, std::nullopt, from.count};
  if (from.at.statement != ddg::kNoStatement) to.source = place(from.at).source;
  return to;
}

}  // namespace loopfold::poly
