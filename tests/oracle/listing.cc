// One entry per stream, in the order of the graph.
#include "listing.h"

#include <fmt/format.h>

#include "observed.h"
#include "piece_text.h"

namespace loopfold::oracle {

namespace {

using Json = nlohmann::ordered_json;

class Lister {
 public:
  Lister(isl::ctx context, Analysed& run, const Description& description)
      : context_(context), run_(run), description_(description), functions_(kernel_functions(run, description)) {}

  Json list() {
    Json all{{"tags", description_.tags}};
    for (const char* const kind : {"domains", "accesses", "values", "dependences"}) all[kind] = Json::array();
    for (const ddg::Statement& statement : run_.graph.statements)
      if (in_kernel(statement, 0)) all["domains"].push_back(domain(statement));
    for (const ddg::Access& access : run_.graph.accesses)
      if (in_kernel(of(access.statement), access.instruction)) all["accesses"].push_back(this->access(access));
    for (const ddg::Value& value : run_.graph.values)
      if (in_kernel(of(value.statement), value.instruction)) all["values"].push_back(this->value(value));
    for (const ddg::Dependence& dependence : run_.graph.dependences)
      if (in_kernel(of(dependence.to), dependence.to_instruction))
        all["dependences"].push_back(this->dependence(dependence));
    return all;
  }

 private:
  const ddg::Statement& of(ddg::StatementId id) const { return run_.graph.statements[id]; }

  bool in_kernel(const ddg::Statement& statement, std::uint16_t instruction) {
    return statement.kind == ddg::Statement::Kind::kCode &&
           functions_.count(run_.code->source(statement.instructions[instruction].address).function) != 0;
  }

  std::size_t dimensions(const ddg::Statement& statement) const {
    return ddg::dimensions_of(run_.tree, statement.context);
  }

  int line(const ddg::Statement& statement, std::uint16_t instruction) {
    return run_.code->line_in(description_.file, statement.instructions[instruction].address);
  }

  Json entry(const ddg::Statement& statement, std::uint16_t instruction) {
    return {{"statement", statement.id},
            {"line", line(statement, instruction)},
            {"function", run_.code->source(statement.instructions[instruction].address).function},
            {"where", run_.symbolizer->describe(statement.instructions[instruction].address)},
            {"depth", dimensions(statement) - 1},
            {"count", statement.count}};
  }

  Json domain(const ddg::Statement& statement) {
    Json json = entry(statement, 0);
    Json lines = Json::array();
    for (std::uint16_t i = 0; i < statement.instructions.size(); i++) lines.push_back(line(statement, i));
    json["lines"] = lines;
    add_stream(json, statement.domain, dimensions(statement));
    json["text"] = domain_text(statement.domain, "S", dimensions(statement));
    return json;
  }

  Json access(const ddg::Access& access) {
    const ddg::Statement& statement = of(access.statement);
    Json json = entry(statement, access.instruction);
    const ddg::Object& object = run_.graph.objects[access.object];
    json["store"] = access.store;
    json["size"] = access.size;
    json["index"] = access.index;
    json["object"] = {{"kind", static_cast<int>(object.kind)}, {"name", object.name}, {"blocks", object.blocks}};
    add_stream(json, access.address, dimensions(statement));
    json["block_coefficients"] = coefficients(access.address, 0);
    json["coefficients"] = coefficients(access.address, 1);
    json["text"] = label_text(access.address, "S", dimensions(statement), 2);
    return json;
  }

  Json value(const ddg::Value& value) {
    const ddg::Statement& statement = of(value.statement);
    Json json = entry(statement, value.instruction);
    json["register"] = value.reg;
    json["index"] = value.index;
    add_stream(json, value.value, dimensions(statement));
    json["text"] = label_text(value.value, "S", dimensions(statement), 1);
    return json;
  }

  Json dependence(const ddg::Dependence& dependence) {
    static const char* const kKinds[] = {"register", "memory", "environment"};
    const ddg::Statement& from = of(dependence.from);
    const ddg::Statement& to = of(dependence.to);
    Json json = entry(to, dependence.to_instruction);
    const std::uint64_t producer = from.instructions[dependence.from_instruction].address;
    const std::size_t dimensions_to = dimensions(to) + (dependence.chunks ? 1 : 0);
    json["kind"] = kKinds[static_cast<int>(dependence.kind)];
    json["operand"] = dependence.operand;
    json["lane"] = dependence.lane;
    json["address"] = dependence.address;
    json["from_line"] = producer == 0 ? 0 : run_.code->line_in(description_.file, producer);
    json["from_where"] = producer == 0 ? "" : run_.symbolizer->describe(producer);
    json["carried"] = dependence.carried;
    add_stream(json, dependence.map, dimensions_to);
    json["text"] = map_text(dependence.map, "P", dimensions(from), "S", dimensions_to);
    return json;
  }

  void add_stream(Json& json, const fold::Folded& folded, std::size_t dimensions) {
    std::uint64_t in_pieces = 0;
    bool exact = folded.exact();
    bool affine = true;
    bool covered = true;
    for (const fold::Piece& piece : folded.pieces) {
      in_pieces += piece.points;
      exact = exact && piece.exact();
      for (const fold::Output& output : piece.outputs) affine = affine && output.affine();
      covered = covered && is_covered(piece, dimensions);
    }
    json["points"] = folded.points;
    json["pieces"] = folded.pieces.size();
    json["piece_points"] = in_pieces;
    json["exact"] = exact;
    json["affine"] = affine;
    json["covered"] = covered;
    json["why"] = folded.why;
  }

  bool is_covered(const fold::Piece& piece, std::size_t dimensions) {
    fold::Folded alone;
    alone.pieces.push_back(piece);
    alone.pieces.back().outputs.clear();
    const isl::set set(context_, domain_text(alone, "S", dimensions));
    const isl::val inside = isl::manage(isl_set_count_val(set.get()));
    const isl::val folded(context_, static_cast<long>(piece.points));
    return piece.exact_domain ? inside.eq(folded) : inside.ge(folded);
  }

  /// Of one output of the first piece, without the stack's number, null where it is TOP or not an integer.
  static Json coefficients(const fold::Folded& folded, std::size_t index) {
    Json json = Json::array();
    if (folded.pieces.empty()) return json;
    const fold::Output& output = folded.pieces.front().outputs[index];
    for (std::size_t k = 1; k < output.value.coefficients.size(); k++) {
      const bool whole = !output.top[k] && output.value.coefficients[k] % output.divisor == 0;
      json.push_back(whole ? Json(output.value.coefficients[k] / output.divisor) : Json());
    }
    return json;
  }

  isl::ctx context_;
  Analysed& run_;
  const Description& description_;
  std::set<std::string> functions_;
};

}  // namespace

Json listing(isl::ctx context, Analysed& run, const Description& description) {
  return Lister(context, run, description).list();
}

}  // namespace loopfold::oracle
