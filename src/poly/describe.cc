#include "poly/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "fold/isl_text.h"
#include "poly/functions.h"
#include "poly/gave_up.h"
#include "poly/quality.h"
#include "support/parallel.h"
#include "trace/system_calls.h"

namespace loopfold::poly {

namespace {

std::string name_of(ddg::StatementId statement) { return fmt::format("S{}", statement); }

std::string_view allocator_name(std::uint32_t function) {
  static constexpr std::string_view kNames[] = {"malloc", "calloc", "realloc", "memalign", "free", "new", "delete"};
  return function < std::size(kNames) ? kNames[function] : "allocator";
}

/// "rax", "eax", "ax", "al", "r8", "r8d", ...
std::string register_name(std::uint8_t reg, std::uint8_t width) {
  static constexpr std::string_view kOld[] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"};
  if (reg >= std::size(kOld))
    return fmt::format("r{}{}", reg, width == 8 ? "" : width == 4 ? "d" : width == 2 ? "w" : "b");
  const std::string_view name = kOld[reg];
  if (width == 8) return fmt::format("r{}", name);
  if (width == 4) return fmt::format("e{}", name);
  if (width == 2) return std::string(name);
  return reg < 4 ? fmt::format("{}l", name[0]) : fmt::format("{}l", name);
}

std::string operand_name(std::uint8_t operand) {
  if (operand == ddg::kFlagsOperand) return "flags";
  if (operand == ddg::kEnvironmentOperand) return "environment";
  if (operand >= ddg::kFirstMemoryOperand) return fmt::format("memory {}", operand - ddg::kFirstMemoryOperand);
  return fmt::format("register {}", operand);
}

class Describer {
 public:
  Describer(const ddg::Graph& graph, const Context& context, profile::Profile& profile)
      : graph_(graph), context_(context), names_(context.locate), profile_(profile) {}

  void run() {
    profile_.folded = true;
    profile_.statements = described<profile::Statement>(graph_.statements);
    for (const ddg::Statement& statement : graph_.statements) add_code(statement);
    profile_.accesses = described<profile::Access>(graph_.accesses);
    for (std::optional<profile::Value>& value : described<std::optional<profile::Value>>(graph_.values))
      if (value) profile_.values.push_back(std::move(*value));
    for (profile::Dependence& dependence : described<profile::Dependence>(graph_.dependences))
      add(std::move(dependence));
    profile_.objects = described<profile::Object>(graph_.objects);
  }

 private:
  static constexpr std::size_t kGrain = 1024;

  /// Each by itself, in their order.
  template <class To, class From>
  std::vector<To> described(const std::vector<From>& from) const {
    std::vector<To> to(from.size());
    for_each_number(context_.jobs, from.size(), kGrain, [&](std::size_t i) { to[i] = describe(from[i]); });
    return to;
  }

  const ddg::Statement& statement(ddg::StatementId id) const { return graph_.statements[id]; }
  bool drops(ddg::StatementId id) const { return drops_first(context_.tree, statement(id).context); }
  std::uint64_t address(ddg::StatementId id, std::uint16_t instruction) const {
    const std::vector<ddg::Instruction>& instructions = statement(id).instructions;
    return instruction < instructions.size() ? instructions[instruction].address : 0;
  }

  // ---- statements ----

  /// But for its code.
  profile::Statement describe(const ddg::Statement& from) const {
    using Kind = ddg::Statement::Kind;
    profile::Statement to;
    to.id = from.id;
    to.name = name_of(from.id);
    to.kind = static_cast<profile::Statement::Kind>(from.kind);
    if (from.kind == Kind::kAllocator) to.call = allocator_name(from.detail);
    if (from.kind == Kind::kSystemCall) to.call = trace::system_call_name(from.detail);
    to.node = context_.nodes[from.context];
    to.loops = loops(from.context);
    to.count = from.count;
    to.ops = from.kind == Kind::kCode ? from.instructions.size() * from.count : 0;
    to.domain = fold::domain_text(from.domain, to.name, options(from.id));
    to.exact = from.domain.exact();
    to.pieces = from.domain.pieces.size();
    to.edges = from.local.size();
    add_sources(from, to);
    return to;
  }

  void add_code(const ddg::Statement& from) {
    profile::Statement& to = profile_.statements[from.id];
    if (!from.instructions.empty()) to.code = code(from.instructions, to.node);
  }

  /// The place of these instructions in the table of code. Without symbols, they are in the function of their node.
  std::uint32_t code(const std::vector<ddg::Instruction>& instructions, std::uint32_t node) {
    std::vector<std::uint64_t> addresses;
    for (const ddg::Instruction& instruction : instructions) addresses.push_back(instruction.address);
    const auto [known, is_new] = codes_.try_emplace(std::move(addresses), profile_.code.size());
    if (!is_new) return known->second;
    profile::Code& code = profile_.code.emplace_back();
    const symbols::Location& first = context_.locate(known->first.front());
    code.module = first.module;
    code.function = first.function.empty() && !first.module.empty() ? profile_.tree[node].function : first.function;
    for (const std::uint64_t address : known->first) code.addresses.push_back(names_.code(address).address);
    return known->second;
  }

  /// Its lines in the order of addresses, and how many instructions each has.
  void add_sources(const ddg::Statement& from, profile::Statement& to) const {
    std::vector<std::uint64_t> addresses;
    for (const ddg::Instruction& instruction : from.instructions) addresses.push_back(instruction.address);
    std::sort(addresses.begin(), addresses.end());
    for (const std::uint64_t address : addresses) {
      const std::optional<profile::Source> source = names_.source(address);
      if (!source) continue;
      const auto known = std::find(to.source.begin(), to.source.end(), *source);
      if (known == to.source.end()) {
        to.source.push_back(*source);
        to.source_instructions.push_back(1);
      } else {
        to.source_instructions[static_cast<std::size_t>(known - to.source.begin())]++;
      }
    }
    if (to.source.size() == 1 && to.source_instructions.front() == addresses.size()) to.source_instructions.clear();
  }

  std::vector<std::optional<std::uint32_t>> loops(structure::ContextId context) const {
    const std::vector<std::uint32_t> nodes = nodes_of_coordinates(context_, context);
    std::vector<std::optional<std::uint32_t>> loops(nodes.begin(), nodes.end());
    if (loops.empty()) return loops;
    loops.front() = std::nullopt;
    if (drops_first(context_.tree, context)) loops.erase(loops.begin());
    return loops;
  }

  fold::TextOptions options(ddg::StatementId points_of) const {
    fold::TextOptions options;
    options.drop_first_in = drops(points_of);
    return options;
  }

  // ---- accesses and values ----

  static constexpr std::size_t kBlock = 0;  // outputs of an access
  static constexpr std::size_t kOffset = 1;

  /// Offsets mean something: they do not count from the start of the address space.
  bool has_start(ddg::ObjectId object) const { return graph_.objects[object].kind != ddg::Object::Kind::kUnknown; }

  profile::Access describe(const ddg::Access& from) const {
    const bool drop = drops(from.statement);
    const bool known = has_start(from.object);
    profile::Access to;
    to.statement = from.statement;
    to.kind = from.store ? profile::Access::Kind::kStore : profile::Access::Kind::kLoad;
    to.size = from.size;
    to.object = from.object;
    to.guarded = from.guarded;
    to.count = from.address.points;
    to.exact = from.address.exact();
    to.instruction = from.instruction;
    to.source = names_.source(address(from.statement, from.instruction));
    if (from.address.points != statement(from.statement).count)
      to.domain = fold::domain_text(from.address, name_of(from.statement), options(from.statement));
    if (from.address.pieces.empty()) return to;
    CommonFunction offset = common_function(from.address, kOffset, drop);
    CommonFunction block = common_function(from.address, kBlock, drop);
    const bool says_it_all =
        offset.constant && block.constant && (!to.exact || to.domain || statement(from.statement).domain.exact());
    to.affine = offset.affine() && block.affine();
    to.coefficients = std::move(offset.coefficients);
    to.block_coefficients = std::move(block.coefficients);
    if (known) {
      const Extent offsets = extent_of(from.address, kOffset);
      const Extent blocks = extent_of(from.address, kBlock);
      to.constant = offset.constant;
      to.block_constant = block.constant;
      to.minimum = offsets.minimum;
      to.maximum = offsets.maximum;
      to.block_minimum = blocks.minimum;
      to.block_maximum = blocks.maximum;
    }
    if (!says_it_all && needs_pieces(from.address)) to.pieces = pieces_of(from, drop, known);
    return to;
  }

  static bool needs_pieces(const fold::Folded& folded) {
    const auto has_more = [](const fold::Output& output) { return output.modulus != 0 || output.divisor != 1; };
    return folded.pieces.size() > 1 ||
           std::any_of(folded.pieces.front().outputs.begin(), folded.pieces.front().outputs.end(), has_more);
  }

  /// One per function, which may hold in several polyhedra.
  std::vector<profile::AccessPiece> pieces_of(const ddg::Access& access, bool drop, bool known) const {
    std::vector<profile::AccessPiece> functions;
    std::vector<fold::Folded> domains;
    for (const fold::Piece& piece : access.address.pieces) {
      profile::AccessPiece function = function_of(piece, drop, known);
      const std::size_t at = std::find(functions.begin(), functions.end(), function) - functions.begin();
      if (at == functions.size()) {
        functions.push_back(std::move(function));
        domains.emplace_back();
      }
      domains[at].pieces.push_back(piece);
      domains[at].points += piece.points;
    }
    for (std::size_t i = 0; i < functions.size(); ++i) {
      functions[i].domain = fold::domain_text(domains[i], name_of(access.statement), options(access.statement));
      functions[i].count = domains[i].points;
    }
    return functions;
  }

  /// A piece without its domain.
  static profile::AccessPiece function_of(const fold::Piece& from, bool drop, bool known) {
    profile::AccessPiece to;
    to.exact = from.exact();
    const fold::Output& offset = from.outputs[kOffset];
    const fold::Output& block = from.outputs[kBlock];
    to.coefficients = coefficients_of(offset, drop);
    to.block_coefficients = coefficients_of(block, drop);
    to.divisor = offset.divisor;
    to.block_divisor = block.divisor;
    to.modulus = offset.modulus;
    to.block_modulus = block.modulus;
    if (!known) return to;
    if (offset.affine()) to.constant = offset.value.constant;
    if (block.affine()) to.block_constant = block.value.constant;
    if (offset.modulus != 0) to.base = offset.base;
    if (block.modulus != 0) to.block_base = block.base;
    return to;
  }

  /// A value that never changes says nothing: it is a constant, which may be an address.
  std::optional<profile::Value> describe(const ddg::Value& from) const {
    CommonFunction function = common_function(from.value, 0, drops(from.statement));
    const auto zero = [](const Coefficient& coefficient) { return coefficient == 0; };
    if (function.constant && std::all_of(function.coefficients.begin(), function.coefficients.end(), zero))
      return std::nullopt;
    profile::Value to;
    to.statement = from.statement;
    to.instruction = from.instruction;
    to.source = names_.source(address(from.statement, from.instruction));
    to.reg = register_name(from.reg, from.width);
    to.count = from.value.points;
    to.pieces = from.value.pieces.size();
    to.exact = from.value.exact();
    to.affine = function.affine();
    to.coefficients = std::move(function.coefficients);
    return to;
  }

  // ---- dependences ----

  static profile::Dependence::Kind kind_of(ddg::Dependence::Kind kind) {
    switch (kind) {
      case ddg::Dependence::Kind::kRegister:
        return profile::Dependence::Kind::kRegister;
      case ddg::Dependence::Kind::kMemory:
        return profile::Dependence::Kind::kMemory;
      default:
        return profile::Dependence::Kind::kEnvironment;
    }
  }

  /// The same flow in all but the way that it goes.
  static bool same_flow(const profile::Dependence& a, const profile::Dependence& b) {
    const auto facts = [](const profile::Dependence& of) {
      return std::tie(of.from, of.to, of.kind, of.count, of.map, of.affine, of.exact, of.source_from, of.source_to,
                      of.object, of.more_objects, of.distance, of.distance_minimum, of.distance_maximum, of.carried,
                      of.pieces);
    };
    return facts(a) == facts(b);
  }

  void add(profile::Dependence&& dependence) {
    std::vector<std::size_t>& candidates = flows_[{dependence.from, dependence.to}];
    for (const std::size_t i : candidates) {
      profile::Dependence& known = profile_.dependences[i];
      if (!same_flow(known, dependence)) continue;
      known.uses.push_back(std::move(dependence.uses.front()));
      return;
    }
    candidates.push_back(profile_.dependences.size());
    profile_.dependences.push_back(std::move(dependence));
  }

  profile::Dependence describe(const ddg::Dependence& from) const {
    const std::uint64_t consumer = address(from.to, from.to_instruction);
    profile::Dependence to;
    to.to = from.to;
    to.kind = kind_of(from.kind);
    to.count = from.map.points;
    to.pieces = from.map.pieces.size();
    to.exact = from.map.exact();
    const auto affine = [](const fold::Piece& piece) {
      return std::all_of(piece.outputs.begin(), piece.outputs.end(), [](const auto& o) { return o.affine(); });
    };
    to.affine = std::all_of(from.map.pieces.begin(), from.map.pieces.end(), affine);
    to.source_to = names_.source(consumer);
    if (from.kind != ddg::Dependence::Kind::kRegister) to.object = from.object;
    to.more_objects = from.more_objects;
    to.uses = {{from.from_instruction, from.to_instruction, operand_name(from.operand), from.lane, from.address}};
    if (from.from == ddg::kNoStatement) {
      add_unknown_producer(from, to);
      return to;
    }
    const std::uint64_t producer = address(from.from, from.from_instruction);
    to.from = from.from;
    to.source_from = names_.source(producer);
    add_map(from, to);
    return to;
  }

  /// Who the consumers are: those that were kept, or all of the statement.
  void add_unknown_producer(const ddg::Dependence& from, profile::Dependence& to) const {
    const bool kept = !from.map.pieces.empty();
    fold::TextOptions options;
    options.drop_first_in = drops(from.to);
    options.hide_last_in = kept && from.chunks;
    fold::Folded consumers = kept ? from.map : statement(from.to).domain;
    for (fold::Piece& piece : consumers.pieces) piece.outputs.clear();
    const auto dimensions = static_cast<std::uint16_t>(ddg::dimensions_of(context_.tree, statement(from.to).context) +
                                                       (options.hide_last_in ? 1 : 0));
    to.map = fold::dependence_text(consumers, {dimensions, 0, 0}, "unknown", name_of(from.to), options);
    to.affine = false;
  }

  void add_map(const ddg::Dependence& from, profile::Dependence& to) const {
    const structure::ContextId producer = statement(from.from).context;
    const structure::ContextId consumer = statement(from.to).context;
    fold::Shape shape;
    shape.dimensions = static_cast<std::uint16_t>(ddg::dimensions_of(context_.tree, consumer) + (from.chunks ? 1 : 0));
    shape.outputs = ddg::dimensions_of(context_.tree, producer);
    shape.shared = ddg::shared_dimensions(context_.tree, producer, consumer);
    fold::TextOptions options;
    options.drop_first_in = drops(from.to);
    options.drop_first_out = drops(from.from);
    options.hide_last_in = from.chunks;
    options.may_be_equal = from.from != from.to || statement(from.to).kind != ddg::Statement::Kind::kCode ||
                           from.from_instruction < from.to_instruction;
    to.map = fold::dependence_text(from.map, shape, name_of(from.from), name_of(from.to), options);
    add_distance(from, shape.shared, to);
    add_carried(from, shape.shared, to);
  }

  void add_distance(const ddg::Dependence& from, std::size_t shared, profile::Dependence& to) const {
    const std::size_t first = drops(from.to) ? 1 : 0;
    if (shared <= first || from.map.pieces.empty()) return;
    to.distance.emplace();
    for (std::size_t k = first; k < shared; ++k) {
      const Extent distance = distance_of(from.map, k);
      to.distance->push_back(distance.minimum == distance.maximum ? Coefficient(distance.minimum) : std::nullopt);
      to.distance_minimum.push_back(distance.minimum);
      to.distance_maximum.push_back(distance.maximum);
    }
  }

  void add_carried(const ddg::Dependence& from, std::size_t shared, profile::Dependence& to) const {
    const std::vector<std::uint32_t> nodes = nodes_of_coordinates(context_, statement(from.to).context);
    for (std::size_t level = 0; level < from.carried.size(); ++level) {
      if (from.carried[level] == 0) continue;
      const bool by_node = level < shared && level < nodes.size();
      to.carried.push_back({by_node ? std::optional(nodes[level]) : std::nullopt, from.carried[level]});
    }
  }

  // ---- objects ----

  profile::Object describe(const ddg::Object& from) const {
    profile::Object to;
    to.id = from.id;
    to.kind = static_cast<profile::Object::Kind>(from.kind);
    to.name = from.name;
    to.type = from.type;
    to.size = from.size;
    to.blocks = from.blocks;
    const bool has_code = from.kind == ddg::Object::Kind::kHeap || from.kind == ddg::Object::Kind::kStack;
    if (!from.file.empty() && from.line != 0)
      to.source = profile::Source{from.file, from.line};
    else if (has_code && from.site != 0)
      to.source = names_.source(from.site);
    return to;
  }

  const ddg::Graph& graph_;
  const Context& context_;
  PlaceNames names_;
  profile::Profile& profile_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> codes_;  // addresses of the run -> place in Profile::code
  std::map<std::pair<std::optional<std::uint32_t>, std::uint32_t>, std::vector<std::size_t>> flows_;  // by statements
};

}  // namespace

std::vector<std::uint32_t> nodes_of_coordinates(const Context& context, structure::ContextId of) {
  using Kind = structure::Context::Kind;
  std::vector<std::uint32_t> nodes;
  for (; of != structure::LoopTree::root() && of != structure::kNoContext; of = context.tree[of].parent)
    if (context.tree[of].kind != Kind::kCall) nodes.push_back(context.nodes[of]);
  std::reverse(nodes.begin(), nodes.end());
  return nodes;
}

bool drops_first(const structure::LoopTree& tree, structure::ContextId context) {
  while (context != structure::LoopTree::root() && context != structure::kNoContext) {
    if (tree[context].kind == structure::Context::Kind::kStart) return tree[context].entries <= 1;
    context = tree[context].parent;
  }
  return false;
}

void describe(const ddg::Graph& graph, const Context& context, profile::Profile& profile) {
  Describer(graph, context, profile).run();
  add_gave_up(graph, context, profile);
  add_quality(graph, context, profile);
}

}  // namespace loopfold::poly
