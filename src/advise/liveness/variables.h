// What accesses of a loop fall into, in the terms of the source: variables.
//
// An object of the graph (a global, the blocks of an allocation site) is one variable. A frame holds many: its bytes
// are cut by what the debug information says is where, and what it does not know by what the accesses touch together.
// Accesses that go over the border of two variables make one of them.
//
// A variable that is declared in a block inside the loop's body is another one in each iteration, whatever the compiler
// does with its bytes: `born_inside`. So are the frames of functions that are called inside.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ddg/graph.h"
#include "poly/describe.h"
#include "poly/verdicts.h"
#include "profile/profile.h"
#include "symbols/symbolizer.h"

namespace loopfold::advise::liveness {

struct Variable {
  ddg::ObjectId object = ddg::kUnknownObject;
  std::string name;  // empty if it has none
  std::vector<const ddg::Access*> accesses;
  std::uint64_t bytes = 0;          // of it, or of what is touched of it
  bool named_in_source = false;     // a name that a clause can use, in the function that the loop is in
  std::string clause_name;          // as such (clause_names.h)
  bool born_inside = false;         // in each iteration
  bool scratch = false;             // the compiler's own: the debug information has no variable there
  std::optional<std::uint64_t> at;  // an instruction that stores to it
};

/// Locals of functions, each looked up once.
class Locals {
 public:
  explicit Locals(symbols::Symbolizer* symbolizer) : symbolizer_(symbolizer) {}
  const std::vector<symbols::LocalVariable>& of(std::uint64_t function_address);

  /// What is to be added to an offset of the debug information for one in a frame. Offsets in frames count from the
  /// return address. Where a run is recorded from the first instruction of a function on, they count from the first
  /// place that its stack pointer was seen at: behind a push, or not known, in which case there is none.
  std::optional<std::int64_t> shift(const ddg::Graph& graph, const poly::Context& context, ddg::ObjectId frame);

 private:
  void find_shifts(const ddg::Graph& graph, const poly::Context& context);
  void find_called(const poly::Context& context);

  symbols::Symbolizer* symbolizer_;
  std::map<ddg::ObjectId, std::optional<std::int64_t>> shifts_;  // other than that of the return address
  bool has_shifts_ = false;
  std::set<std::uint64_t> called_;  // addresses of functions
  std::map<std::uint64_t, std::vector<symbols::LocalVariable>> known_;
};

/// DWARF's number of a register; none for what has no variables.
std::optional<std::uint32_t> dwarf_number(const trace::RegisterUse& use);

/// It is in this register when control is at an address.
bool is_in_register(const symbols::LocalVariable& variable, std::uint64_t address, std::uint32_t reg);

/// The start of the function that a loop is in; 0 if it is not known.
std::uint64_t function_of(const poly::Context& context, structure::ContextId loop);

/// Declared in a block that the tests are not in.
bool is_inside_body(const symbols::LocalVariable& variable, std::span<const std::uint64_t> tests);

/// Variables that `accesses` (of statements inside the loop) are in, in the order of objects and offsets. `tests` are
/// the addresses of the branches that decide how often the loop goes round.
std::vector<Variable> find_variables(const ddg::Graph& graph, const poly::Context& context,
                                     const poly::SourceLoop& loop, std::span<const ddg::Access* const> accesses,
                                     std::span<const std::uint64_t> tests, Locals& locals);

}  // namespace loopfold::advise::liveness
