// For tests: code that is written where a test wants it in the source, and stories of how it runs.
//
// A real compiler makes the line table: a function of instructions of four bytes that do nothing, each with a line of
// its own choice. A story (structure/testing.h) then jumps between them as no compiler would have to, so that loops and
// copies of loops come out exactly as a test needs them. Each instruction is a piece of code by itself.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "poly/control_testing.h"
#include "poly/testing.h"
#include "poly/verdicts.h"
#include "structure/loop_names.h"
#include "structure/testing.h"
#include "symbols/compile_for_test.h"
#include "symbols/symbolizer.h"

namespace loopfold::poly::testing {

class PlacedCode {
 public:
  /// The names of instructions, in their order, and their lines; 0: the place is not known; a name that
  /// ends with + has another column. `called` is a function of
  /// its own.
  explicit PlacedCode(const std::vector<std::pair<std::string, int>>& instructions, const std::string& flags = "") {
    std::string text = "void called(void) {\n#line 900\n" + instruction(900) + "}\nvoid f(void) {\n";
    for (const auto& [name, line] : instructions)
      text += "#line " + std::to_string(line == 0 ? 998 : line) + "\n" + (name.ends_with("+") ? "    " : "") +
              instruction(line);
    directory_.write("code.c", text + "}\nint main(void) { f(); called(); return 0; }\n");
    directory_.run("gcc -g -O1 -fno-inline -fcf-protection=none -fomit-frame-pointer -no-pie " + flags +
                   " -o code code.c");
    std::map<std::string, std::uint64_t> functions = directory_.functions("code");
    addresses_["called"] = functions["called"];
    for (std::size_t i = 0; i < instructions.size(); ++i)
      addresses_[instructions[i].first] = functions["f"] + structure::testing::kBytes * i;
    symbolizer = std::make_unique<symbols::Symbolizer>(std::vector<trace::Module>{directory_.module("code", 0)});
    for (const auto& [name, line] : instructions) {
      const symbols::Location& location = symbolizer->locate(at(name));
      EXPECT_EQ(location.column == 0 ? 0 : location.line, line) << name;
    }
  }

  std::uint64_t at(const std::string& name) const { return addresses_.at(name); }

  /// Runs them one after the other, but for the last, where it stops: each is jumped to, "called" is called, and
  /// returns.
  structure::testing::Story run(const std::vector<std::string>& names) const {
    structure::testing::Script script;
    for (const auto& [name, address] : addresses_) script.set_size(address, 1);
    script.start(at(names.front()));
    for (std::size_t i = 1; i < names.size(); ++i) {
      if (names[i - 1] == "called") {
        script.ret();
        EXPECT_EQ(script.pc(), at(names[i])) << "calls return to what is behind them";
      } else if (names[i] == "called") {
        script.call(at("called"));
      } else {
        script.jump(at(names[i]));
      }
    }
    return script.finish();
  }

  std::unique_ptr<symbols::Symbolizer> symbolizer;

 private:
  static std::string instruction(int line) {
    const std::string four_bytes = "nopl 1(%rax)";
    return "asm volatile(\"" + std::string(line == 0 ? ".loc 1 998 0\\n\\t" : "") + four_bytes + "\");\n";
  }

  symbols::TemporaryDirectory directory_;
  std::map<std::string, std::uint64_t> addresses_;
};

/// A run of placed code. Its instructions compute with what lies here and there in memory, but for those whose names
/// begin with "if", which branch, "call", which call, "load" and "store", which load and store the block of the heap,
/// and "put", which store something else.
class Playing {
 public:
  Playing(const std::vector<std::pair<std::string, int>>& lines, const std::vector<std::string>& names)
      : lines_(lines), code_(lines), scene_(code_.run(names)), graph_(scene_.made.graph) {
    for (const auto& [name, line] : lines)
      if (name.starts_with("if") || name.starts_with("call")) other_.insert(code_.at(name));
    graph_.objects = objects();
    for (const Step& step : scene_.made.steps) ++graph_.statements[step.statement].count;
    for (structure::ContextId id = 0; id < scene_.tree.contexts().size(); ++id) scene_.tree[id].instructions = 0;
    for (ddg::Statement& statement : graph_.statements) {
      scene_.tree[statement.context].instructions += statement.count;
      statement.block = statement.id;
      statement.instructions[0].address = scene_.address(statement.id);
      const bool is_data = !other_.contains(scene_.address(statement.id));
      const std::string name = name_of(statement.id);
      if (name.starts_with("load") || name.starts_with("store") || name.starts_with("put")) {
        facts_.push_back({name.starts_with("load") ? loads() : stores()});
        access(statement.id, name.starts_with("put") ? 1 : 2, !name.starts_with("load"));
        continue;
      }
      facts_.push_back({is_data ? computes() : branches()});
      for (const ddg::ObjectId object : {1, 2})
        if (is_data) access(statement.id, object);
    }
    graph_.facts = std::make_shared<std::vector<std::vector<trace::InstructionFacts>>>(facts_);
  }

  /// Something in memory goes from an instruction to another one; they are in no loop together. Of "called", the first
  /// context and the last one.
  Playing& flow(const std::string& from, const std::string& to,
                ddg::Dependence::Kind kind = ddg::Dependence::Kind::kMemory) {
    const bool in_memory = kind == ddg::Dependence::Kind::kMemory;
    ddg::Dependence d;
    d.from = statements_of(from).front();
    d.to = statements_of(to).back();
    d.kind = kind;
    d.object = in_memory ? 2 : ddg::kUnknownObject;
    d.operand = in_memory ? ddg::kFirstMemoryOperand : 0;
    d.carried = {0, 1};
    d.map.points = 1;
    graph_.dependences.push_back(d);
    return *this;
  }

  /// What a load got is used in the next iteration of the loop that both are in.
  Playing& reuse(const std::string& load, const std::string& use) {
    ddg::Origin origin;
    origin.from = origin.by = statements_of(load).front();
    origin.to = statements_of(use).front();
    origin.load = true;
    origin.carried = {0, graph_.statements[origin.to].count - 1, 0};
    origin.rewritten = origin.reread = {0, 0, 0};
    origin.least = origin.greatest = {0, 1};
    origin.turns = {0, 0};
    graph_.origins.push_back(origin);
    return *this;
  }

  /// A side of a branch leads to an instruction, whether it ever went there or not.
  Playing& leads(const std::string& branch, const std::string& to) {
    for (const ddg::StatementId id : statements_of(branch)) {
      facts_[id][0].length = structure::testing::kBytes;
      facts_[id][0].jump =
          static_cast<std::int32_t>(code_.at(to) - code_.at(branch) - std::uint64_t{structure::testing::kBytes});
    }
    graph_.facts = std::make_shared<std::vector<std::vector<trace::InstructionFacts>>>(facts_);
    return *this;
  }

  /// The verdict of the loop that the instruction is in.
  LoopVerdict judged(const std::string& name) {
    VerdictOptions options;
    options.symbolizer = code_.symbolizer.get();
    const structure::ContextId loop = graph_.statements[statements_of(name).front()].context;
    EXPECT_EQ(scene_.tree[loop].kind, structure::Context::Kind::kLoop);
    return judge(graph_, scene_.structure, scene_.tree, std::vector<SourceLoop>{{{loop}}}, options).front();
  }

 private:
  static trace::InstructionFacts computes() {
    trace::InstructionFacts facts;
    facts.kinds = trace::kInteger | trace::kArithmetic;
    facts.form = 7;
    facts.reads.push_back({.file = trace::RegisterFile::kGeneral, .index = 1, .width = 8});
    facts.writes.push_back({.file = trace::RegisterFile::kGeneral, .index = 0, .width = 8});
    return facts;
  }

  static trace::InstructionFacts loads() {
    trace::InstructionFacts facts;
    facts.kinds = trace::kInteger | trace::kLoad;
    facts.transfer = trace::Transfer::kCopy;
    facts.form = 8;
    facts.reads.push_back({.file = trace::RegisterFile::kGeneral, .index = 3, .width = 8, .address = true});
    facts.writes.push_back({.file = trace::RegisterFile::kGeneral, .index = 0, .width = 8});
    return facts;
  }

  static trace::InstructionFacts stores() {
    trace::InstructionFacts facts;
    facts.kinds = trace::kInteger | trace::kStore;
    facts.form = 9;
    facts.reads.push_back({.file = trace::RegisterFile::kGeneral, .index = 0, .width = 8});
    return facts;
  }

  static trace::InstructionFacts branches() {
    trace::InstructionFacts facts;
    facts.kinds = trace::kBranch | trace::kConditional;
    facts.flags_read = trace::kZeroFlag;
    return facts;
  }

  std::vector<ddg::StatementId> statements_of(const std::string& name) const {
    std::vector<ddg::StatementId> found;
    for (const ddg::Statement& statement : graph_.statements)
      if (scene_.address(statement.id) == code_.at(name)) found.push_back(statement.id);
    EXPECT_FALSE(found.empty()) << name;
    return found;
  }

  std::string name_of(ddg::StatementId statement) const {
    for (const auto& [name, line] : lines_)
      if (code_.at(name) == scene_.address(statement)) return name;
    return {};
  }

  void access(ddg::StatementId statement, ddg::ObjectId object, bool store = false) {
    ddg::Access access;
    access.store = store;
    access.statement = statement;
    access.object = object;
    access.size = 8;
    graph_.accesses.push_back(access);
  }

  std::vector<std::pair<std::string, int>> lines_;
  PlacedCode code_;
  Scene scene_;
  ddg::Graph& graph_;
  std::set<std::uint64_t> other_;
  std::vector<std::vector<trace::InstructionFacts>> facts_;
};

}  // namespace loopfold::poly::testing
