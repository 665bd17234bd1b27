// Sources and places of what a loop reads; see loop_reads.h.
//
// Places: from a read, back over the last writers. A last writer that is a node of the flow ends the way, unless it is
// a copy that the loop sees through; then what it read is next. Each read on the way that got something from an earlier
// iteration, or from before the loop, is a place in which the value came into an iteration.
//
// Addresses are compared as functions: on the part of the iteration space where both can be, taken as a box, their
// difference must be zero. What is not affine, or not comparable as a box, is not the same. Both errors are on the safe
// side. Cost: a binary search per read in the streams of the graph, and a look at the local flow of its statement.
#include "poly/loop_reads.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "support/wide.h"

namespace loopfold::poly {
namespace {

std::uint64_t key_of(const CodePoint& at) { return static_cast<std::uint64_t>(at.statement) << 16 | at.instruction; }

/// The records of one operand in a vector that is sorted by consumer, instruction and operand.
template <typename Record>
std::span<const Record> records_of(const std::vector<Record>& all, const CodePoint& at, std::uint8_t operand) {
  const auto key = [](const Record& r) { return std::tuple(r.to, r.to_instruction, r.operand); };
  const std::tuple wanted(at.statement, at.instruction, operand);
  const auto first = std::lower_bound(all.begin(), all.end(), wanted,
                                      [&](const Record& r, const auto& value) { return key(r) < value; });
  auto last = first;
  while (last != all.end() && key(*last) == wanted) ++last;
  return {first, last};
}

struct Interval {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

/// Bounds of an affine function over a box.
Interval bounds(const fold::Affine& affine, const std::vector<Interval>& box) {
  Wide low = affine.constant;
  Wide high = affine.constant;
  for (std::size_t k = 0; k < affine.coefficients.size() && k < box.size(); ++k) {
    const Wide a = static_cast<Wide>(affine.coefficients[k]) * box[k].low;
    const Wide b = static_cast<Wide>(affine.coefficients[k]) * box[k].high;
    low += std::min(a, b);
    high += std::max(a, b);
  }
  return {saturated(low), saturated(high)};
}

/// A box around a piece.
std::vector<Interval> box_of(const fold::Piece& piece) {
  std::vector<Interval> box;
  for (const fold::Range& range : piece.ranges)
    box.push_back({saturated(rounded_down(bounds(range.lower, box).low, range.divisor)),
                   saturated(rounded_up(bounds(range.upper, box).high, range.divisor))});
  return box;
}

bool is_plain(const fold::Output& output) { return output.affine() && output.modulus == 0 && output.divisor == 1; }

/// Whether two functions are equal wherever both boxes are; only the first `shared` coordinates mean the same.
bool agree(const fold::Output& a, const std::vector<Interval>& box_a, const fold::Output& b,
           const std::vector<Interval>& box_b, std::size_t shared) {
  Wide difference = static_cast<Wide>(a.value.constant) - b.value.constant;
  const auto coefficient = [](const fold::Output& output, std::size_t k) {
    return k < output.value.coefficients.size() ? output.value.coefficients[k] : 0;
  };
  const auto add = [&](Wide factor, std::int64_t low, std::int64_t high) {
    if (factor == 0) return true;
    difference += factor * low;
    return low == high;
  };
  for (std::size_t k = 0; k < shared; ++k) {
    const std::int64_t low = std::max(box_a[k].low, box_b[k].low);
    const std::int64_t high = std::min(box_a[k].high, box_b[k].high);
    if (low > high) return true;
    if (!add(static_cast<Wide>(coefficient(a, k)) - coefficient(b, k), low, high)) return false;
  }
  for (std::size_t k = shared; k < box_a.size(); ++k)
    if (!add(coefficient(a, k), box_a[k].low, box_a[k].high)) return false;
  for (std::size_t k = shared; k < box_b.size(); ++k)
    if (!add(-static_cast<Wide>(coefficient(b, k)), box_b[k].low, box_b[k].high)) return false;
  return difference == 0;
}

}  // namespace

std::vector<std::uint8_t> data_reads(const trace::InstructionFacts& facts) {
  std::vector<std::uint8_t> found;
  for (std::size_t i = 0; i < facts.reads.size(); ++i) {
    const trace::RegisterUse& use = facts.reads[i];
    if (!use.address && !use.merge && !use.step) found.push_back(static_cast<std::uint8_t>(i));
  }
  return found;
}

std::optional<std::uint8_t> copied_operand(const trace::InstructionFacts& facts) {
  if (facts.transfer != trace::Transfer::kCopy || (facts.kinds & (trace::kRepeat | trace::kAtomic)) != 0) return {};
  const std::vector<std::uint8_t> reads = data_reads(facts);
  if ((facts.kinds & trace::kLoad) != 0) return reads.empty() ? std::optional(ddg::kFirstMemoryOperand) : std::nullopt;
  if (reads.size() != 1) return {};
  return reads[0];
}

LoopReads::LoopReads(const LoopFlow& flow, const ddg::Graph& graph) : flow_(flow), graph_(graph) {
  for (std::uint32_t n = 0; n < flow.nodes.size(); ++n) {
    nodes_.emplace(key_of(flow.nodes[n].at), n);
    statements_.insert(flow.nodes[n].at.statement);
  }
}

std::uint32_t LoopReads::node_at(const CodePoint& at) const {
  const auto found = nodes_.find(key_of(at));
  return found == nodes_.end() ? FlowEdge::kOutside : found->second;
}

const trace::InstructionFacts* LoopReads::facts_at(const CodePoint& at) const {
  const ddg::Statement& statement = graph_.statements[at.statement];
  if (statement.kind != ddg::Statement::Kind::kCode || graph_.facts == nullptr) return nullptr;
  const std::size_t index = statement.first_instruction + std::size_t{at.instruction};
  if (statement.block >= graph_.facts->size() || index >= (*graph_.facts)[statement.block].size()) return nullptr;
  return &(*graph_.facts)[statement.block][index];
}

std::span<const ddg::Dependence> LoopReads::dependences(const Read& read) const {
  return records_of(graph_.dependences, read.at, read.operand);
}

std::span<const ddg::Origin> LoopReads::origins(const Read& read) const {
  return records_of(graph_.origins, read.at, read.operand);
}

/// Instances by level, split by what the loop has to do with them. Between two copies of the loop, which share no
/// coordinate of it, they are carried.
LoopReads::Split LoopReads::split(ddg::StatementId from, const std::vector<std::uint64_t>& by_level) const {
  Split split;
  const std::size_t shared = by_level.empty() ? 0 : by_level.size() - 1;
  split.in_loop = shared > flow_.level || statements_.contains(from);
  for (std::size_t level = 0; level < by_level.size(); ++level) {
    const bool beyond = level >= flow_.level && split.in_loop;
    const bool inside = beyond && shared > flow_.level && level > flow_.level;
    (inside ? split.inside : beyond ? split.carried : split.before) += by_level[level];
  }
  return split;
}

bool LoopReads::leaves_loop(ddg::StatementId to, const std::vector<std::uint64_t>& by_level) const {
  return split(to, by_level).before != 0;
}

std::vector<Source> LoopReads::sources(std::uint32_t node, std::uint8_t operand) const {
  std::vector<Source> found;
  for (const std::uint32_t e : flow_.in[node]) {
    const FlowEdge& edge = flow_.edges[e];
    if (edge.operand != operand) continue;
    found.push_back({edge.from, edge.lane, edge.carried, edge.inside, edge.before, edge.least, edge.greatest});
  }
  return found;
}

bool LoopReads::is_tight(std::uint32_t from, std::uint32_t to, std::uint8_t operand) const {
  const CodePoint& at = flow_.nodes[from].at;
  const auto loose = [&](const std::vector<std::uint64_t>& by_level) {
    for (std::size_t level = flow_.level + 1u; level + 1 < by_level.size(); ++level)
      if (by_level[level] != 0) return true;
    const std::vector<fold::Piece>& domain = graph_.statements[at.statement].domain.pieces;
    return !domain.empty() && domain[0].ranges.size() + 1 > by_level.size();
  };
  const Read read{flow_.nodes[to].at, operand};
  for (const ddg::Dependence& d : dependences(read))
    if (d.from == at.statement && d.from_instruction == at.instruction && loose(d.carried)) return false;
  for (const ddg::Origin& o : origins(read))
    if (o.from == at.statement && o.from_instruction == at.instruction && loose(o.carried)) return false;
  return true;
}

const ddg::Access* LoopReads::load(const CodePoint& at, std::uint8_t operand) const {
  const ddg::Access* found = nullptr;
  const auto first = std::lower_bound(graph_.accesses.begin(), graph_.accesses.end(), at,
                                      [](const ddg::Access& access, const CodePoint& wanted) {
                                        return CodePoint{access.statement, access.instruction} < wanted;
                                      });
  for (auto a = first; a != graph_.accesses.end() && a->statement == at.statement && a->instruction == at.instruction;
       ++a) {
    if (a->store || a->index != operand - ddg::kFirstMemoryOperand) continue;
    if (found != nullptr) return nullptr;
    found = &*a;
  }
  return found;
}

const ddg::Access* LoopReads::store(const CodePoint& at) const {
  const ddg::Access* found = nullptr;
  const auto first = std::lower_bound(graph_.accesses.begin(), graph_.accesses.end(), at,
                                      [](const ddg::Access& access, const CodePoint& wanted) {
                                        return CodePoint{access.statement, access.instruction} < wanted;
                                      });
  for (auto a = first; a != graph_.accesses.end() && a->statement == at.statement && a->instruction == at.instruction;
       ++a) {
    if (!a->store) continue;
    if (found != nullptr) return nullptr;
    found = &*a;
  }
  return found;
}

/// Loops around a statement that count, as far as its domain shows.
std::size_t LoopReads::dimensions(ddg::StatementId statement) const {
  const std::vector<fold::Piece>& domain = graph_.statements[statement].domain.pieces;
  return domain.empty() ? ~std::size_t{0} : domain[0].ranges.size();
}

std::optional<CodePoint> LoopReads::whole_store(const Read& read) const {
  const std::span<const ddg::Dependence> writers = dependences(read);
  if (writers.size() != 1 || writers[0].from == ddg::kNoStatement || writers[0].lane != 0) return std::nullopt;
  const ddg::Dependence& d = writers[0];
  if (d.carried.empty() || d.carried.back() < graph_.statements[read.at.statement].count) return std::nullopt;
  if (dimensions(d.from) >= d.carried.size()) return std::nullopt;
  const CodePoint writer{d.from, d.from_instruction};
  const ddg::Access* from = load(read.at, read.operand);
  const ddg::Access* to = store(writer);
  if (from == nullptr || to == nullptr || !same_address(*from, *to)) return std::nullopt;
  return writer;
}

/// Whether nothing that a read gets was written at its own iteration of all loops around it. Then nothing wrote there
/// from the beginning of that iteration up to the read.
bool LoopReads::is_older(const Read& read) const {
  for (const ddg::LocalFlow& local : graph_.statements[read.at.statement].local)
    if (local.to == read.at.instruction && local.operand == read.operand) return false;
  const std::size_t all = dimensions(read.at.statement);
  const std::span<const ddg::Dependence> writers = dependences(read);
  return std::all_of(writers.begin(), writers.end(), [&](const ddg::Dependence& d) {
    return d.from != ddg::kNoStatement && (d.carried.size() <= all || d.carried[all] == 0);
  });
}

/// The read by which a value came into the iteration of the innermost loop, back over copies that are made in it.
std::optional<LoopReads::Read> LoopReads::innermost_entry(Read read) const {
  constexpr int kMostCopies = 16;
  for (int i = 0; i < kMostCopies; ++i) {
    if (facts_at(read.at) == nullptr) return std::nullopt;
    if (is_older(read)) return read;
    const ddg::Statement& statement = graph_.statements[read.at.statement];
    std::optional<CodePoint> writer = read.operand >= ddg::kFirstMemoryOperand ? whole_store(read) : std::nullopt;
    if (read.operand < ddg::kFirstMemoryOperand) {
      for (const ddg::LocalFlow& local : statement.local) {
        if (local.to != read.at.instruction || local.operand != read.operand) continue;
        if (writer || local.lane != 0) return std::nullopt;
        writer = CodePoint{read.at.statement, local.from};
      }
      if (!dependences(read).empty()) return std::nullopt;
    }
    const trace::InstructionFacts* facts = writer ? facts_at(*writer) : nullptr;
    const std::optional<std::uint8_t> operand = facts == nullptr ? std::nullopt : copied_operand(*facts);
    if (!operand || graph_.statements[writer->statement].context != statement.context) return std::nullopt;
    read = {*writer, *operand};
  }
  return std::nullopt;
}

bool LoopReads::came_in_together(std::uint32_t a, std::uint8_t operand_a, std::uint32_t b,
                                 std::uint8_t operand_b) const {
  const CodePoint& at_a = flow_.nodes[a].at;
  const CodePoint& at_b = flow_.nodes[b].at;
  if (graph_.statements[at_a.statement].context != graph_.statements[at_b.statement].context) return false;
  const std::optional<Read> from_a = innermost_entry({at_a, operand_a});
  const std::optional<Read> from_b = innermost_entry({at_b, operand_b});
  if (!from_a || !from_b) return false;
  if (from_a->operand >= ddg::kFirstMemoryOperand && from_b->operand >= ddg::kFirstMemoryOperand) {
    const ddg::Access* load_a = load(from_a->at, from_a->operand);
    const ddg::Access* load_b = load(from_b->at, from_b->operand);
    return load_a != nullptr && load_b != nullptr && same_address(*load_a, *load_b);
  }
  const std::vector<trace::RegisterUse>& reads_a = facts_at(from_a->at)->reads;
  const std::vector<trace::RegisterUse>& reads_b = facts_at(from_b->at)->reads;
  if (from_a->operand >= reads_a.size() || from_b->operand >= reads_b.size()) return false;
  const trace::RegisterUse& use_a = reads_a[from_a->operand];
  const trace::RegisterUse& use_b = reads_b[from_b->operand];
  return use_a.file == use_b.file && use_a.index == use_b.index && use_a.width == use_b.width;
}

bool LoopReads::are_older(std::uint32_t a, std::uint8_t operand_a, std::uint32_t b, std::uint8_t operand_b) const {
  const CodePoint& at_a = flow_.nodes[a].at;
  const CodePoint& at_b = flow_.nodes[b].at;
  if (graph_.statements[at_a.statement].context != graph_.statements[at_b.statement].context) return false;
  return is_older({at_a, operand_a}) && is_older({at_b, operand_b});
}

/// A frame's cell is known by its offset: in one iteration, one instruction's frame is the same.
bool LoopReads::same_address(const ddg::Access& a, const ddg::Access& b) const {
  if (a.object != b.object || a.size != b.size || a.guarded || b.guarded) return false;
  const ddg::StatementId of_a = a.statement;
  const ddg::StatementId of_b = b.statement;
  const bool one_context = graph_.statements[of_a].context == graph_.statements[of_b].context;
  const bool frame = one_context && graph_.objects[a.object].kind == ddg::Object::Kind::kStack;
  for (const fold::Piece& piece_a : a.address.pieces) {
    const std::vector<Interval> box_a = box_of(piece_a);
    for (const fold::Piece& piece_b : b.address.pieces) {
      const std::vector<Interval> box_b = box_of(piece_b);
      const std::size_t most = std::min(box_a.size(), box_b.size());
      const std::size_t shared = one_context ? most : std::min(most, flow_.level + std::size_t{1});
      for (std::size_t o = frame ? 1 : 0; o < 2; ++o) {
        const fold::Output& out_a = piece_a.outputs[o];
        const fold::Output& out_b = piece_b.outputs[o];
        if (!is_plain(out_a) || !is_plain(out_b) || !agree(out_a, box_a, out_b, box_b, shared)) return false;
      }
    }
  }
  return !a.address.pieces.empty() && !b.address.pieces.empty();
}

bool LoopReads::is_constant(const ddg::Access& access, std::size_t from) const {
  if (access.guarded || access.address.pieces.empty()) return false;
  const bool frame = graph_.objects[access.object].kind == ddg::Object::Kind::kStack;
  const std::vector<fold::Piece>& pieces = access.address.pieces;
  for (const fold::Piece& piece : pieces) {
    const std::vector<Interval> box = box_of(piece);
    for (std::size_t o = frame ? 1 : 0; o < 2; ++o) {
      const fold::Output& output = piece.outputs[o];
      if (!is_plain(output)) return false;
      if (pieces.size() > 1 && output.value != pieces[0].outputs[o].value) return false;
      for (std::size_t k = from; k < box.size(); ++k)
        if (output.value.coefficients[k] != 0 && box[k].low != box[k].high) return false;
    }
  }
  return true;
}

Place LoopReads::place_of(const Read& read, const trace::InstructionFacts& facts) const {
  Place place;
  if (read.operand < facts.reads.size()) {
    place.file = facts.reads[read.operand].file;
    place.index = facts.reads[read.operand].index;
    return place;
  }
  place.access = load(read.at, read.operand);
  place.kind = place.access != nullptr && stays(*place.access) ? Place::Kind::kCell : Place::Kind::kCells;
  return place;
}

bool LoopReads::same_place(const Place& a, const Place& b) const {
  if (a.kind != b.kind) return false;
  if (a.kind == Place::Kind::kRegister) return a.file == b.file && a.index == b.index;
  if (a.access == nullptr || b.access == nullptr) return false;
  return a.access == b.access || same_address(*a.access, *b.access);
}

/// Goes on behind a copy of the loop; false if the writer is neither that nor a node.
bool LoopReads::follow(const CodePoint& writer, std::vector<Read>& todo) const {
  const std::uint32_t node = node_at(writer);
  if (node != FlowEdge::kOutside && (!flow_.nodes[node].seen_through || is_origin(node))) return true;
  const trace::InstructionFacts* facts = facts_at(writer);
  if (facts == nullptr) return false;
  const std::optional<std::uint8_t> operand = copied_operand(*facts);
  if (!operand) return false;
  todo.push_back({writer, *operand});
  return true;
}

/// A plain load that is a source of something: not a reload of what the loop spilled.
bool LoopReads::is_origin(std::uint32_t node) const {
  if ((facts(node).kinds & trace::kLoad) == 0) return false;
  const std::vector<std::uint32_t>& out = flow_.out[node];
  return std::any_of(out.begin(), out.end(),
                     [&](std::uint32_t e) { return (flow_.edges[e].carried | flow_.edges[e].inside) != 0; });
}

std::optional<std::vector<const ddg::Dependence*>> LoopReads::outside(std::uint32_t node, std::uint8_t operand) const {
  std::vector<const ddg::Dependence*> found;
  for (const ddg::Dependence& d : dependences({flow_.nodes[node].at, operand})) {
    if (d.from == ddg::kNoStatement) return std::nullopt;
    if (!statements_.contains(d.from)) found.push_back(&d);
  }
  return found;
}

bool LoopReads::writes_otherwise(ddg::ObjectId object, const std::set<std::uint32_t>& known) const {
  return std::any_of(graph_.accesses.begin(), graph_.accesses.end(), [&](const ddg::Access& access) {
    if (!access.store || !statements_.contains(access.statement)) return false;
    if (access.object != object && access.object != ddg::kUnknownObject) return false;
    return !known.contains(node_at({access.statement, access.instruction}));
  });
}

std::optional<std::vector<Place>> LoopReads::entries(std::uint32_t node, std::uint8_t operand) const {
  std::vector<Place> places;
  std::set<Read> seen;
  std::vector<Read> todo = {{flow_.nodes[node].at, operand}};
  while (!todo.empty()) {
    const Read read = todo.back();
    todo.pop_back();
    if (!seen.insert(read).second) continue;
    const trace::InstructionFacts* facts = facts_at(read.at);
    if (facts == nullptr) return std::nullopt;
    const ddg::Statement& statement = graph_.statements[read.at.statement];
    std::uint64_t from_inside = 0;
    for (const ddg::LocalFlow& local : statement.local) {
      if (local.to != read.at.instruction || local.operand != read.operand) continue;
      from_inside = statement.count;
      if (!follow({read.at.statement, local.from}, todo)) return std::nullopt;
    }
    bool crosses = false;
    for (const ddg::Dependence& d : dependences(read)) {
      if (d.from == ddg::kNoStatement) return std::nullopt;
      const Split parts = split(d.from, d.carried);
      crosses = crosses || parts.carried != 0 || parts.before != 0;
      from_inside += parts.inside;
      if (parts.in_loop && !follow({d.from, d.from_instruction}, todo)) return std::nullopt;
    }
    if (!crosses && from_inside >= statement.count) continue;
    const Place place = place_of(read, *facts);
    const auto same = [&](const Place& other) { return same_place(place, other); };
    if (std::none_of(places.begin(), places.end(), same)) places.push_back(place);
  }
  return places;
}

}  // namespace loopfold::poly
