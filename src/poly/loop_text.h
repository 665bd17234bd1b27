// Loops written down as text, for tests: instructions as bytes, where each operand comes from, and the flow and the
// dependence graph that this means.
//
//   block [if B] [count N]      a statement: right behind the one before; under branch B; runs N times (10; 4 under
//   one) P: 39 ca ; 0<S',- 1<L f<F   an instruction: operand 0 comes from S of an earlier iteration and from outside, 1
//   from
//                               L of the same iteration, the flags from F. S'3, L=3: three times. m: the memory operand
//   L: 8b 0a ; @a+8+4           it loads 4 bytes from a, at offset 8 + 4 i; s@a+8+4: it stores there; @a?: at any
//                               offset; @a+8+4:8: 8 bytes. An object whose name begins with % is a frame
//   copy C: 89 d1 ; 0<L         a copy that the loop sees through: it is in the graph only, and flow that goes through
//                               it is written where it ends, with a ~ : 0<~C:L' (from L, last written by C, as
//                               long ago), or 0<~=C:L' (by C in the same iteration)
//   inner                       what follows is in a loop in the loop. 0<A": from an earlier iteration of that one, of
//                               the same iteration of the loop. i is its number then
//   before W: 8b 05 ; @g+0      an instruction before the loop. 0<W: what it makes comes from before the loop
//   out A                       what A makes is used behind the loop
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "poly/loop_flow.h"
#include "poly/reductions.h"
#include "poly/testing.h"
#include "trace/decode.h"

namespace loopfold::poly::testing {

class LoopText {
 public:
  explicit LoopText(const std::string& text) {
    graph.objects = objects();
    graph.statements.push_back(statement(0, 0, fold_of({box_piece({{0, 0}})}), {0x10}));
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) read_line(line);
    decode_blocks();
    for (const Pending& pending : pending_) connect(pending);
    finish();
  }

  /// All edges that the loop carries.
  std::vector<std::uint32_t> carried() const {
    std::vector<std::uint32_t> edges;
    for (std::uint32_t e = 0; e < flow.edges.size(); ++e)
      if (flow.edges[e].carried != 0) edges.push_back(e);
    return edges;
  }

  Decisions decisions() const {
    return {[this](ddg::StatementId s) -> std::span<const ddg::StatementId> { return deciders_.at(s); },
            [this](structure::ContextId) -> std::span<const ddg::StatementId> { return exits_; }};
  }

  std::uint32_t node(const std::string& name) const { return nodes_.at(name); }

  ddg::Graph graph;
  LoopFlow flow;

 private:
  static constexpr std::uint64_t kIterations = 10;
  struct Pending {
    std::string name;
    std::string uses;
    bool copy = false;
  };

  void read_line(const std::string& line) {
    std::istringstream in(line);
    std::string word;
    if (!(in >> word) || word[0] == '#') return;
    if (word == "block") {
      read_block(in);
    } else if (word == "out") {
      in >> word;
      outs_.push_back(word);
    } else if (word == "exit") {
      in >> word;
      exit_names_.push_back(word);
    } else if (word == "before") {
      add_block(0, box_piece({{0, 0}}), 1);
      in >> word;
      read_instruction(word.substr(0, word.size() - 1), true, in);
    } else if (word == "inner") {
      inner_ = true;
    } else {
      const bool copy = word == "copy";
      if (copy) in >> word;
      read_instruction(word.substr(0, word.size() - 1), copy, in);
    }
  }

  void read_block(std::istringstream& in) {
    std::string decider;
    std::uint64_t count = kIterations;
    for (std::string word; in >> word;) {
      if (word == "if") {
        in >> decider;
        count = 4;
      }
      if (word == "count") in >> count;
    }
    const auto last = static_cast<std::int64_t>(kIterations) - 1;
    add_block(inner_ ? 2 : 1, inner_ ? box_piece({{0, 0}, {0, last}, {0, last}}) : box_piece({{0, 0}, {0, last}}),
              count);
    decider_names_.back() = decider;
  }

  void add_block(structure::ContextId context, const fold::Piece& domain, std::uint64_t count) {
    const auto id = static_cast<ddg::StatementId>(graph.statements.size());
    ddg::Statement made = statement(id, context, fold_of({domain}), {});
    made.count = count;
    made.block = static_cast<std::uint32_t>(blocks_.size());
    graph.statements.push_back(made);
    blocks_.push_back({});
    decider_names_.push_back("");
  }

  void read_instruction(const std::string& name, bool copy, std::istringstream& in) {
    trace::Block& block = blocks_.back();
    std::string word;
    std::uint8_t length = 0;
    while (in >> word && word != ";") {
      block.bytes.push_back(static_cast<std::uint8_t>(std::stoul(word, nullptr, 16)));
      ++length;
    }
    block.lengths.push_back(length);
    std::string uses;
    std::getline(in, uses);
    const auto id = static_cast<ddg::StatementId>(graph.statements.size() - 1);
    graph.statements[id].instructions.push_back({next_address_, 0});
    next_address_ += length;
    const CodePoint at{id, static_cast<std::uint16_t>(block.lengths.size() - 1)};
    points_[name] = at;
    if (!copy) {
      nodes_[name] = static_cast<std::uint32_t>(flow.nodes.size());
      flow.nodes.push_back({at, nullptr, false, !decider_names_.back().empty(), false, false});
    }
    pending_.push_back({name, uses, copy});
  }

  void decode_blocks() {
    auto facts = std::make_shared<std::vector<std::vector<trace::InstructionFacts>>>();
    for (const trace::Block& block : blocks_) facts->push_back(trace::decode(block));
    graph.facts = facts;
    for (FlowNode& node : flow.nodes)
      node.facts = &(*facts)[graph.statements[node.at.statement].block][node.at.instruction];
    deciders_.resize(graph.statements.size());
    for (std::size_t i = 0; i < decider_names_.size(); ++i)
      if (!decider_names_[i].empty()) deciders_[i + 1] = {points_.at(decider_names_[i]).statement};
  }

  void connect(const Pending& pending) {
    std::istringstream in(pending.uses);
    for (std::string use; in >> use;) {
      const std::size_t at = use.find('@');
      if (at != std::string::npos) {
        add_access(points_.at(pending.name), at != 0 && use[0] == 's', use.substr(at + 1));
      } else {
        add_uses(pending, use);
      }
    }
  }

  void add_access(const CodePoint& at, bool store, const std::string& text) {
    ddg::Access access;
    access.statement = at.statement;
    access.instruction = at.instruction;
    access.store = store;
    access.index = std::any_of(graph.accesses.begin(), graph.accesses.end(),
                               [&](const ddg::Access& other) {
                                 return other.statement == at.statement && other.instruction == at.instruction;
                               })
                       ? 1
                       : 0;
    const std::size_t colon = text.find(':');
    access.size = colon == std::string::npos ? 4 : static_cast<std::uint32_t>(std::stoul(text.substr(colon + 1)));
    const std::size_t end = text.find_first_of("+?");
    access.object = object(text.substr(0, end));
    std::int64_t constant = 0;
    std::int64_t stride = 0;
    if (text[end] == '+') {
      const std::size_t plus = text.find('+', end + 1);
      constant = std::stoll(text.substr(end + 1));
      stride = plus == std::string::npos ? 0 : std::stoll(text.substr(plus + 1));
    }
    fold::Piece piece = graph.statements[at.statement].domain.pieces[0];
    std::vector<std::int64_t> steps(piece.ranges.size());
    piece.outputs = {linear_output(piece, 0, steps)};
    steps.back() = stride;
    piece.outputs.push_back(linear_output(piece, constant, steps));
    if (text[end] == '?') piece.outputs[1].top.back() = true;
    access.address = fold_of({piece});
    graph.accesses.push_back(access);
  }

  ddg::ObjectId object(const std::string& name) {
    const auto found = objects_.find(name);
    if (found != objects_.end()) return found->second;
    ddg::Object made;
    made.id = static_cast<ddg::ObjectId>(graph.objects.size());
    made.kind = name[0] == '%' ? ddg::Object::Kind::kStack : ddg::Object::Kind::kHeap;
    graph.objects.push_back(made);
    return objects_[name] = made.id;
  }

  void add_uses(const Pending& pending, const std::string& use) {
    const std::size_t mark = use.find('<');
    const std::string operand_text = use.substr(0, mark);
    const std::uint8_t operand = operand_text == "m"   ? ddg::kFirstMemoryOperand
                                 : operand_text == "f" ? ddg::kFlagsOperand
                                                       : static_cast<std::uint8_t>(std::stoi(operand_text));
    std::istringstream in(use.substr(mark + 1));
    for (std::string source; std::getline(in, source, ',');) add_use(pending, operand, source);
  }

  /// "-", "A", "A=3", "A'", "A'3", "A\"", "~C:A'", "~=C:A'".
  void add_use(const Pending& pending, std::uint8_t operand, std::string source) {
    const CodePoint to = points_.at(pending.name);
    const std::uint64_t count = graph.statements[to.statement].count;
    std::string by;
    bool by_now = false;
    if (source[0] == '~') {
      by_now = source[1] == '=';
      by = source.substr(by_now ? 2 : 1, source.find(':') - (by_now ? 2 : 1));
      source = source.substr(source.find(':') + 1);
    }
    FlowEdge edge;
    edge.operand = operand;
    edge.behind_copies = !by.empty();
    edge.kind = operand == ddg::kFirstMemoryOperand ? ddg::Dependence::Kind::kMemory : ddg::Dependence::Kind::kRegister;
    const bool outside = source == "-" || is_before(source);
    const std::size_t mark = source.find_first_of("'=\"");
    const bool carried = mark != std::string::npos && source[mark] == '\'';
    const bool by_inner = mark != std::string::npos && source[mark] == '"';
    const bool counted = mark != std::string::npos && mark + 1 < source.size();
    const std::uint64_t times = counted ? std::stoull(source.substr(mark + 1)) : carried ? count - 1 : count;
    const std::string name = source.substr(0, mark);
    edge.before = outside ? 1 : 0;
    edge.carried = carried ? times : 0;
    edge.inside = outside || carried ? 0 : times;
    edge.least = edge.greatest = carried ? 1 : 0;
    if (!pending.copy) {
      const trace::InstructionFacts& facts = *flow.nodes[nodes_.at(pending.name)].facts;
      edge.from = outside ? FlowEdge::kOutside : nodes_.at(name);
      edge.to = nodes_.at(pending.name);
      edge.address = operand < facts.reads.size() && facts.reads[operand].address;
      flow.edges.push_back(edge);
    }
    const CodePoint from = name == "-" ? CodePoint{0, 0} : points_.at(name);
    FlowEdge last = edge;
    if (by_now) {
      last.inside = count;
      last.carried = last.before = 0;
    }
    add_raw(by.empty() ? from : points_.at(by), to, last, by.empty() && outside, by_inner && !by_now);
    if (!by.empty() && !outside) add_origin(from, points_.at(by), to, edge, by_inner);
  }

  bool is_before(const std::string& name) const {
    const auto found = points_.find(name);
    return found != points_.end() && graph.statements[found->second.statement].context == 0;
  }

  /// Instances by level, of coordinates that both share.
  std::vector<std::uint64_t> by_level(const CodePoint& from, const CodePoint& to, std::uint64_t carried,
                                      std::uint64_t inside, bool by_inner) const {
    const auto is_inner = [&](const CodePoint& at) { return graph.statements[at.statement].context == 2; };
    if (!is_inner(from) || !is_inner(to)) return {0, carried, inside};
    return {0, carried, by_inner ? inside : 0, by_inner ? 0 : inside};
  }

  void add_raw(const CodePoint& from, const CodePoint& to, const FlowEdge& edge, bool outside, bool by_inner) {
    const bool local =
        from.statement == to.statement && edge.inside != 0 && edge.operand != ddg::kFirstMemoryOperand && !by_inner;
    if (local) {
      graph.statements[to.statement].local.push_back({from.instruction, to.instruction, edge.operand, 0});
      return;
    }
    ddg::Dependence d;
    d.from = from.statement;
    d.from_instruction = from.instruction;
    d.to = to.statement;
    d.to_instruction = to.instruction;
    d.operand = edge.operand;
    d.kind = edge.kind;
    if (outside) {
      d.carried = {0, edge.before};
    } else {
      d.carried = by_level(from, to, edge.carried + edge.before, edge.inside, by_inner);
    }
    graph.dependences.push_back(d);
  }

  void add_origin(const CodePoint& from, const CodePoint& by, const CodePoint& to, const FlowEdge& edge,
                  bool by_inner) {
    ddg::Origin o;
    o.from = from.statement;
    o.from_instruction = from.instruction;
    o.by = by.statement;
    o.by_instruction = by.instruction;
    o.to = to.statement;
    o.to_instruction = to.instruction;
    o.operand = edge.operand;
    o.carried = by_level(from, to, edge.carried, edge.inside, by_inner);
    graph.origins.push_back(o);
  }

  void finish() {
    for (const std::string& name : outs_) {
      ddg::Dependence d;
      d.from = points_.at(name).statement;
      d.from_instruction = points_.at(name).instruction;
      d.to = 0;
      d.carried = {0, 1};
      graph.dependences.push_back(d);
    }
    for (const std::string& name : exit_names_) exits_.push_back(points_.at(name).statement);
    std::stable_sort(graph.dependences.begin(), graph.dependences.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.to, a.to_instruction, a.operand) < std::tuple(b.to, b.to_instruction, b.operand);
    });
    std::stable_sort(graph.origins.begin(), graph.origins.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.to, a.to_instruction, a.operand) < std::tuple(b.to, b.to_instruction, b.operand);
    });
    std::stable_sort(graph.accesses.begin(), graph.accesses.end(), [](const auto& a, const auto& b) {
      return std::tuple(a.statement, a.instruction, a.index) < std::tuple(b.statement, b.instruction, b.index);
    });
    flow.loops = {1};
    flow.level = 1;
    flow.in.resize(flow.nodes.size());
    flow.out.resize(flow.nodes.size());
    for (std::uint32_t e = 0; e < flow.edges.size(); ++e) {
      flow.in[flow.edges[e].to].push_back(e);
      if (flow.edges[e].from != FlowEdge::kOutside) flow.out[flow.edges[e].from].push_back(e);
    }
  }

  std::uint64_t next_address_ = 0x1000;
  bool inner_ = false;
  std::vector<trace::Block> blocks_;
  std::vector<std::string> decider_names_;
  std::vector<Pending> pending_;
  std::vector<std::string> outs_;
  std::vector<std::string> exit_names_;
  std::map<std::string, CodePoint> points_;
  std::map<std::string, std::uint32_t> nodes_;
  std::map<std::string, ddg::ObjectId> objects_;
  std::vector<std::vector<ddg::StatementId>> deciders_;
  std::vector<ddg::StatementId> exits_;
};

}  // namespace loopfold::poly::testing
