// What the structs of profile.h are called in JSON, said once for both directions.
//
//     template <typename Visitor, Is<Thing> T>
//     void visit(Visitor& fields, T& thing) { fields.need("id", thing.id); fields.may("kind", thing.kind); }
//
// `need`: a name of the contract, always there. `may`: left out where it has its default, which is that of the type if
// none is given; a default may depend on members that were visited before. `always`: written always, though a reader
// does without it. `percent` and `number`: always there, like `need`, from 0 to 100 and from 0 on; a double that is
// neither is a share, from 0 to 1. An enum has names, indexed by its value: `names_of(Enum)`.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "profile/profile.h"

namespace loopfold::profile {

std::span<const std::string_view> names_of(TreeNode::Kind);
std::span<const std::string_view> names_of(Statement::Kind);
std::span<const std::string_view> names_of(Access::Kind);
std::span<const std::string_view> names_of(Dependence::Kind);
std::span<const std::string_view> names_of(Object::Kind);
std::span<const std::string_view> names_of(Blocking::Kind);
std::span<const std::string_view> names_of(Loop::Parallel);
std::span<const std::string_view> names_of(Loop::Reuse);
std::span<const std::string_view> names_of(Transformed::Status);
std::span<const std::string_view> names_of(Transformed::Fusion);
std::span<const std::string_view> names_of(Suggestion::Legal);

template <typename Thing, typename Wanted>
concept Is = std::is_same_v<std::remove_const_t<Thing>, Wanted>;

// ---- defaults that follow from other members ----

/// The value of a function that is the same everywhere; null if it is not.
inline Coefficient value_everywhere(const std::vector<Coefficient>& coefficients, Coefficient constant) {
  const auto zero = [](const Coefficient& coefficient) { return coefficient == 0; };
  return std::all_of(coefficients.begin(), coefficients.end(), zero) ? constant : std::nullopt;
}

/// So many zeros.
inline std::vector<Coefficient> zeros(std::size_t count) { return std::vector<Coefficient>(count, 0); }

/// The bounds of a distance that is the same everywhere; none if it is not.
inline std::vector<std::int64_t> distance_everywhere(const std::optional<std::vector<Coefficient>>& distance) {
  std::vector<std::int64_t> bounds;
  if (!distance) return bounds;
  for (const Coefficient& part : *distance) {
    if (!part) return {};
    bounds.push_back(*part);
  }
  return bounds;
}

// ---- parts of others ----

template <typename Visitor, Is<Source> Thing>
void visit(Visitor& fields, Thing& source) {
  fields.need("file", source.file);
  fields.need("line", source.line);
}

template <typename Visitor, Is<Counts> Thing>
void visit(Visitor& fields, Thing& counts) {
  fields.need("min", counts.min);
  fields.need("max", counts.max);
  fields.need("total", counts.total);
}

template <typename Visitor, Is<Carried> Thing>
void visit(Visitor& fields, Thing& carried) {
  fields.need("node", carried.node);
  fields.need("count", carried.count);
}

template <typename Visitor, Is<Use> Thing>
void visit(Visitor& fields, Thing& use) {
  fields.may("from", use.from);
  fields.may("to", use.to);
  fields.may("operand", use.operand, Use{}.operand);
  fields.may("lane", use.lane);
  fields.may("address", use.address);
}

template <typename Visitor, Is<AccessPiece> Thing>
void visit(Visitor& fields, Thing& piece) {
  fields.need("domain", piece.domain);
  fields.need("count", piece.count);
  fields.may("exact", piece.exact, true);
  fields.need("coefficients", piece.coefficients);
  fields.need("constant", piece.constant);
  fields.may("divisor", piece.divisor, std::int64_t{1});
  fields.may("modulus", piece.modulus);
  fields.may("base", piece.base);
  fields.may("block_coefficients", piece.block_coefficients, zeros(piece.coefficients.size()));
  fields.may("block_constant", piece.block_constant, Coefficient(0));
  fields.may("block_divisor", piece.block_divisor, std::int64_t{1});
  fields.may("block_modulus", piece.block_modulus);
  fields.may("block_base", piece.block_base);
}

// ---- sections ----

template <typename Visitor, Is<Program> Thing>
void visit(Visitor& fields, Thing& program) {
  fields.need("argv", program.argv);
  fields.need("exit_status", program.exit_status);
  fields.need("partial", program.partial);
  fields.need("instructions", program.instructions);
  fields.need("threads", program.threads);
}

template <typename Visitor, Is<Quality> Thing>
void visit(Visitor& fields, Thing& quality) {
  fields.need("kind", quality.kind);
  fields.need("text", quality.text);
  fields.need("share", quality.share);
}

template <typename Visitor, Is<GaveUp> Thing>
void visit(Visitor& fields, Thing& gave_up) {
  fields.need("what", gave_up.what);
  fields.need("why", gave_up.why);
  fields.need("share", gave_up.share);
}

template <typename Visitor, Is<TreeNode> Thing>
void visit(Visitor& fields, Thing& node) {
  fields.need("id", node.id);
  fields.need("parent", node.parent);
  fields.need("kind", node.kind);
  fields.need("function", node.function);
  fields.may("module", node.module);
  fields.need("source", node.source);
  fields.may("call_site", node.call_site);
  fields.may("inlined", node.inlined);
  fields.may("origin", node.origin);
  fields.may("address", node.address);
  fields.may("depth_binary", node.depth_binary);
  fields.may("depth_source", node.depth_source);
  fields.may("irreducible", node.irreducible);
  fields.may("excluded", node.excluded);
  fields.may("hidden", node.hidden);
  fields.may("period", node.period);
  fields.may("block", node.block);
  fields.may("index", node.index);
  fields.need("ops", node.ops);
  fields.need("self_ops", node.self_ops);
  fields.need("mem_ops", node.mem_ops);
  fields.may("self_mem_ops", node.self_mem_ops);
  fields.need("fp_ops", node.fp_ops);
  fields.may("self_fp_ops", node.self_fp_ops);
  fields.need("entries", node.entries);
  fields.need("iterations", node.iterations);
  fields.may("iterations_per_entry", node.iterations_per_entry);
  if (node.kind == TreeNode::Kind::kLoop)
    fields.always("trip", node.trip);
  else
    fields.may("trip", node.trip);
}

template <typename Visitor, Is<Code> Thing>
void visit(Visitor& fields, Thing& code) {
  fields.may("module", code.module);
  fields.may("function", code.function);
  fields.need("addresses", code.addresses);
}

template <typename Visitor, Is<Statement> Thing>
void visit(Visitor& fields, Thing& statement) {
  fields.need("id", statement.id);
  fields.need("name", statement.name);
  fields.need("node", statement.node);
  fields.need("source", statement.source);
  fields.need("domain", statement.domain);
  fields.need("exact", statement.exact);
  fields.need("count", statement.count);
  fields.may("kind", statement.kind);
  fields.may("call", statement.call);
  fields.always("loops", statement.loops);
  fields.may("code", statement.code);
  fields.may("ops", statement.ops);
  fields.may("pieces", statement.pieces, std::uint64_t{1});
  fields.may("edges", statement.edges);
  fields.may("source_instructions", statement.source_instructions);
}

template <typename Visitor, Is<Access> Thing>
void visit(Visitor& fields, Thing& access) {
  fields.need("statement", access.statement);
  fields.need("kind", access.kind);
  fields.need("size", access.size);
  fields.need("object", access.object);
  fields.need("coefficients", access.coefficients);
  fields.need("constant", access.constant);
  fields.need("block_coefficients", access.block_coefficients);
  fields.may("block_constant", access.block_constant, Coefficient(0));
  fields.need("affine", access.affine);
  fields.need("exact", access.exact);
  fields.may("guarded", access.guarded);
  fields.may("count", access.count, std::uint64_t{1});
  fields.may("instruction", access.instruction);
  fields.may("source", access.source);
  fields.may("domain", access.domain);
  fields.may("minimum", access.minimum, value_everywhere(access.coefficients, access.constant));
  fields.may("maximum", access.maximum, value_everywhere(access.coefficients, access.constant));
  fields.may("block_minimum", access.block_minimum, value_everywhere(access.block_coefficients, access.block_constant));
  fields.may("block_maximum", access.block_maximum, value_everywhere(access.block_coefficients, access.block_constant));
  fields.may("pieces", access.pieces);
}

template <typename Visitor, Is<Value> Thing>
void visit(Visitor& fields, Thing& value) {
  fields.need("statement", value.statement);
  fields.may("instruction", value.instruction);
  fields.may("source", value.source);
  fields.need("register", value.reg);
  fields.need("count", value.count);
  fields.need("coefficients", value.coefficients);
  fields.may("affine", value.affine, true);
  fields.may("exact", value.exact, true);
  fields.may("pieces", value.pieces, std::uint64_t{1});
}

template <typename Visitor, Is<Dependence> Thing>
void visit(Visitor& fields, Thing& dependence) {
  fields.need("from", dependence.from);
  fields.need("to", dependence.to);
  fields.need("kind", dependence.kind);
  fields.need("count", dependence.count);
  fields.need("map", dependence.map);
  fields.need("affine", dependence.affine);
  fields.may("exact", dependence.exact, true);
  fields.need("source_from", dependence.source_from);
  fields.need("source_to", dependence.source_to);
  fields.need("object", dependence.object);
  fields.may("more_objects", dependence.more_objects);
  fields.need("distance", dependence.distance);
  fields.may("distance_minimum", dependence.distance_minimum, distance_everywhere(dependence.distance));
  fields.may("distance_maximum", dependence.distance_maximum, distance_everywhere(dependence.distance));
  fields.may("carried", dependence.carried, std::vector<Carried>{{std::nullopt, dependence.count}});
  fields.may("uses", dependence.uses, std::vector<Use>{Use{}});
  fields.may("pieces", dependence.pieces, std::uint64_t{1});
}

template <typename Visitor, Is<Object> Thing>
void visit(Visitor& fields, Thing& object) {
  fields.need("id", object.id);
  fields.need("kind", object.kind);
  fields.need("name", object.name);
  fields.may("type", object.type);
  fields.need("size", object.size);
  fields.need("blocks", object.blocks);
  fields.need("source", object.source);
}

// ---- regions ----

template <typename Visitor, Is<Trip> Thing>
void visit(Visitor& fields, Thing& trip) {
  fields.need("min", trip.min);
  fields.need("max", trip.max);
  fields.number("mean", trip.mean);
}

template <typename Visitor, Is<Reduction> Thing>
void visit(Visitor& fields, Thing& reduction) {
  fields.need("operator", reduction.operation);
  fields.need("variable", reduction.variable);
  fields.need("reassociates", reduction.reassociates);
  fields.need("array", reduction.array);
  fields.may("partly", reduction.partly);
  fields.need("source", reduction.source);
}

template <typename Visitor, Is<Touched> Thing>
void visit(Visitor& fields, Thing& touched) {
  fields.need("source", touched.source);
  fields.need("object", touched.object);
  fields.may("variable", touched.variable);
  fields.may("clause", touched.clause);
  fields.may("bytes", touched.bytes);
}

template <typename Visitor, Is<Assumption> Thing>
void visit(Visitor& fields, Thing& assumption) {
  fields.need("source", assumption.source);
}

template <typename Visitor, Is<Blocking> Thing>
void visit(Visitor& fields, Thing& blocking) {
  fields.need("source_from", blocking.source_from);
  fields.need("source_to", blocking.source_to);
  fields.need("object", blocking.object);
  fields.need("distance", blocking.distance);
  fields.need("count", blocking.count);
  fields.need("kind", blocking.kind);
  fields.need("direction", blocking.direction);
  fields.may("least", blocking.least, blocking.distance);
  fields.may("greatest", blocking.greatest, blocking.distance);
  fields.need("text", blocking.text);
}

template <typename Visitor, Is<Doubt> Thing>
void visit(Visitor& fields, Thing& doubt) {
  fields.need("why", doubt.why);
  fields.need("source", doubt.source);
  fields.need("count", doubt.count);
}

template <typename Visitor, Is<Loop> Thing>
void visit(Visitor& fields, Thing& loop) {
  fields.need("node", loop.node);
  fields.need("nodes", loop.nodes);
  fields.need("source", loop.source);
  fields.need("function", loop.function);
  fields.need("depth", loop.depth);
  fields.percent("ops_percent", loop.ops_percent);
  fields.need("trip", loop.trip);
  fields.need("parallel", loop.parallel);
  fields.need("reuse", loop.reuse);
  fields.may("reuse_why", loop.reuse_why);
  fields.need("reductions", loop.reductions);
  fields.need("private", loop.privates);
  fields.need("expand", loop.expand);
  fields.need("reload", loop.reload);
  fields.need("assumes", loop.assumes);
  fields.need("blocking", loop.blocking);
  fields.need("unknown", loop.unknown);
  fields.percent("stride01_percent", loop.stride01_percent);
  fields.may("hidden", loop.hidden);
  fields.may("period", loop.period);
  fields.may("block", loop.block);
  fields.may("blocks", loop.blocks);
}

template <typename Visitor, Is<BandMember::Term> Thing>
void visit(Visitor& fields, Thing& term) {
  fields.need("node", term.node);
  fields.may("factor", term.factor, std::int64_t{1});
}

template <typename Visitor, Is<BandMember> Thing>
void visit(Visitor& fields, Thing& member) {
  fields.need("terms", member.terms);
  fields.need("parallel", member.parallel);
}

template <typename Visitor, Is<Band> Thing>
void visit(Visitor& fields, Thing& band) {
  fields.need("first", band.first);
  fields.need("statements", band.statements);
  fields.need("members", band.members);
}

template <typename Visitor, Is<Transformed> Thing>
void visit(Visitor& fields, Thing& transformed) {
  fields.need("status", transformed.status);
  fields.may("why", transformed.why);
  fields.percent("parallel_ops_percent", transformed.parallel_ops_percent);
  fields.percent("simd_ops_percent", transformed.simd_ops_percent);
  fields.percent("reuse_percent", transformed.reuse_percent);
  fields.percent("potential_reuse_percent", transformed.potential_reuse_percent);
  fields.need("tile_depth", transformed.tile_depth);
  fields.percent("tilable_ops_percent", transformed.tilable_ops_percent);
  fields.need("skew", transformed.skew);
  fields.need("interchange", transformed.interchange);
  fields.need("fusion", transformed.fusion);
  fields.need("components_before", transformed.components_before);
  fields.need("components_after", transformed.components_after);
  fields.need("schedule", transformed.schedule);
  fields.need("bands", transformed.bands);
  fields.need("steps", transformed.steps);
  fields.need("ast_before", transformed.ast_before);
  fields.need("ast", transformed.ast);
}

template <typename Visitor, Is<Requirement> Thing>
void visit(Visitor& fields, Thing& requirement) {
  fields.need("kind", requirement.kind);
  fields.need("variable", requirement.variable);
  fields.need("loop", requirement.loop);
  fields.need("clause", requirement.clause);
  fields.need("bytes", requirement.bytes);
}

template <typename Visitor, Is<Suggestion> Thing>
void visit(Visitor& fields, Thing& suggestion) {
  fields.need("rule", suggestion.rule);
  fields.need("title", suggestion.title);
  fields.need("where", suggestion.where);
  fields.need("legal", suggestion.legal);
  fields.need("requires", suggestion.requirements);
  fields.number("gain", suggestion.gain);
  fields.need("estimate", suggestion.estimate);
  fields.need("evidence", suggestion.evidence);
  fields.may("loops", suggestion.loops);
}

template <typename Visitor, Is<Region> Thing>
void visit(Visitor& fields, Thing& region) {
  fields.need("id", region.id);
  fields.need("node", region.node);
  fields.need("source", region.source);
  fields.need("function", region.function);
  fields.percent("ops_percent", region.ops_percent);
  fields.percent("mem_percent", region.mem_percent);
  fields.percent("fp_percent", region.fp_percent);
  fields.percent("affine_percent", region.affine_percent);
  fields.need("vertices", region.vertices);
  fields.need("edges", region.edges);
  fields.need("interprocedural", region.interprocedural);
  fields.need("depth_binary", region.depth_binary);
  fields.need("depth_source", region.depth_source);
  fields.need("static_obstacles", region.static_obstacles);
  fields.need("loops", region.loops);
  fields.may("transformed", region.transformed);
  fields.always("suggestions", region.suggestions);
}

}  // namespace loopfold::profile
