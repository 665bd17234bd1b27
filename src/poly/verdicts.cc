#include "poly/verdicts.h"

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "poly/ahead.h"
#include "poly/control.h"
#include "poly/flow_index.h"
#include "poly/last_end.h"
#include "poly/loop_values.h"
#include "poly/reductions.h"
#include "poly/repeats.h"
#include "poly/taken_out.h"
#include "poly/unrolled.h"
#include "poly/whole_loop.h"
#include "structure/loop_names.h"
#include "support/parallel.h"

namespace loopfold::poly {

namespace {

constexpr std::uint32_t kOutside = FlowEdge::kOutside;
using Kind = ddg::Dependence::Kind;
constexpr std::size_t kFewStatements = 2000;  // their loops are judged before a thread has started

class Judge {
 public:
  Judge(const FlowIndex& index, const structure::Structure& structure, const Control& control,
        const ReductionFinder& reductions, const VerdictOptions& options, structure::LoopNames* names,
        const LoopValues& values, const WholeLoop* whole, LoopVerdict& verdict)
      : index_(index),
        structure_(structure),
        reductions_(reductions),
        graph_(index.graph()),
        control_(control),
        options_(options),
        names_(names),
        values_(values),
        whole_(whole),
        flow_(values.flow()),
        verdict_(verdict) {}

  void run() {
    find_doubts();
    doubt_recursion();
    doubt_cuts();
    look_at_edges();
    look_at_exits();
    find_assumptions();
    explain_by_reductions();
    doubt_copies();
    doubt_pieces();
    conclude();
  }

  std::span<const KeptEdge> kept() const { return kept_; }

 private:
  bool is_pure(ddg::StatementId statement) const {
    const structure::ContextId context = graph_.statements[statement].context;
    return context < options_.pure.size() && options_.pure[context];
  }

  void doubt(std::string why, CodePoint at, std::uint64_t count) {
    for (Doubt& known : verdict_.doubts) {
      if (known.why != why) continue;
      known.count += count;
      return;
    }
    verdict_.doubts.push_back({std::move(why), at, count});
  }

  /// What is not known about the loop, whatever is known.
  void find_doubts() {
    std::uint64_t ran = 0;
    std::uint64_t known = 0;
    for (const structure::ContextId loop : flow_.loops) {
      ran += index_.instructions_in(loop);
      known += index_.statement_instructions_in(loop);
    }
    if (known < ran) doubt("code that is not followed (--max-statements)", {}, ran - known);
    for (const structure::ContextId loop : flow_.loops)
      if (!control_.knows_exit_deciders(loop)) doubt("code that is not followed (--max-statements)", {}, 1);
    for (const ddg::StatementId id : values_.statements()) {
      const ddg::Statement& statement = graph_.statements[id];
      if (!statement.followed || !control_.knows_deciders(id))
        doubt("code that is not followed (--max-statements)", {id, 0}, statement.count);
      if (statement.kind == ddg::Statement::Kind::kHidden)
        doubt("code of libraries that was not recorded", {id, 0}, statement.count);
      for (std::uint16_t i = 0; i < statement.instructions.size(); ++i)
        if ((statement.instructions[i].kinds & trace::kUnknown) != 0)
          doubt("an instruction that cannot be decoded", {id, i}, statement.count);
      constexpr std::uint32_t kVector = 16;
      for (const std::uint32_t number : index_.accesses_of(id))
        vectorised_ = vectorised_ || graph_.accesses[number].size >= kVector;
      for (const std::uint32_t number : index_.origins_to(id)) {
        const ddg::Origin& o = graph_.origins[number];
        if (o.by == ddg::kNoStatement)
          doubt("values whose origins are not known", {id, o.to_instruction}, o.carried.front());
      }
      for (const std::uint32_t number : index_.dependences_to(id)) {
        const ddg::Dependence& d = graph_.dependences[number];
        if (d.from == ddg::kNoStatement)
          doubt("values whose producers are not known (memory limit)", {id, d.to_instruction}, d.map.points);
        const std::uint64_t late = flow_.level < d.late.size() ? d.late[flow_.level] : 0;
        if (late == 0) continue;
        doubt("values that another thread or handler produced meanwhile", {id, d.to_instruction}, late);
        undecided_ = true;
      }
    }
  }

  /// A loop that calls its own function again is cut into pieces by the recursion: what its iterations hand on is not
  /// seen as carried.
  void doubt_recursion() {
    for (const structure::ContextId loop : flow_.loops) {
      const structure::Context& context = index_.tree()[loop];
      const structure::ComponentId component = structure_.recursion.component_of(context.function);
      if (component == structure::kNoComponent) continue;
      const structure::LoopForest& forest = structure_.forests[context.function];
      for (const structure::CallSite& call : structure_.flow.calls()) {
        if (call.caller != context.function || structure_.recursion.component_of(call.callee) != component) continue;
        if (!forest.contains(context.loop, call.node)) continue;
        doubt("it calls its own function again, which cuts its iterations apart", {}, context.entries);
        return;
      }
    }
  }

  /// A loop with several ways in has no first instruction that all agree on: an iteration of the binary may begin in
  /// the middle of one of the source. Compilers make such loops of proper ones by following jumps to where they will
  /// lead. If a loop around it has the same source, the two are no nest, but the source's loops were mixed with each
  /// other: search_sorted in kernels/verdicts/control.c becomes a loop whose ways back are those of the inner loop and
  /// of the outer one. Two loops of the source with one header are no nest either (structure/loop_names.h). Whatever
  /// such a loop carries, nothing tells which loop of the source does.
  void doubt_cuts() {
    for (const structure::ContextId loop : flow_.loops) {
      const structure::Context& context = index_.tree()[loop];
      if (is_cut(context.function, context.loop))
        doubt("a loop with several ways in: its iterations may be no iterations of the source", {}, context.entries);
      else if (is_part_of_itself(loop))
        doubt("loops inside each other that count on where the other has got to", {}, context.entries);
      else if (names_ != nullptr && names_->is_two_loops(context.function, context.loop))
        doubt("a loop whose ways back are those of two loops of the source", {}, context.entries);
      else
        continue;
      undecided_ = true;
    }
  }

  bool is_cut(structure::FunctionId function, structure::LoopId loop) const {
    const std::span<const structure::Loop> loops = structure_.forests[function].loops();
    if (loops[loop].irreducible) return true;
    for (structure::LoopId inner = loop + 1; inner < loops.size(); ++inner)
      if (loops[inner].parent == loop && loops[inner].irreducible && are_one(function, loop, inner)) return true;
    return false;
  }

  /// A compiler makes a loop of the iterations for which a condition holds, inside that of all of them, with one
  /// counter that the outer one goes on with.
  bool is_part_of_itself(structure::ContextId loop) const {
    if (names_ == nullptr) return false;
    if (counts_on(index_.tree()[loop].parent, loop)) return true;
    std::set<structure::ContextId> inner;
    for (const ddg::StatementId id : index_.statements_in(loop))
      if (index_.tree()[graph_.statements[id].context].parent == loop) inner.insert(graph_.statements[id].context);
    return std::any_of(inner.begin(), inner.end(), [&](structure::ContextId id) { return counts_on(loop, id); });
  }

  /// Whether the outer loop steps and tests what the inner one has stepped and tested.
  bool counts_on(structure::ContextId outer, structure::ContextId inner) const {
    using structure::Context;
    const Context& around = index_.tree()[outer];
    const Context& within = index_.tree()[inner];
    if (around.kind != Context::Kind::kLoop || within.kind != Context::Kind::kLoop) return false;
    if (around.function != within.function) return false;
    const std::optional<symbols::LoopSource> source = names_->of(around.function, around.loop).source;
    const std::optional<symbols::LoopSource>& other = names_->of(within.function, within.loop).source;
    if (!source || !other || source->scope != other->scope) return false;
    for (const ddg::StatementId id : index_.statements_in(outer)) {
      if (graph_.statements[id].context != outer) continue;
      for (const std::uint32_t number : index_.dependences_to(id)) {
        const ddg::Dependence& d = graph_.dependences[number];
        if (d.kind != Kind::kRegister || d.from == ddg::kNoStatement || graph_.statements[d.from].context != inner)
          continue;
        const std::optional<std::uint8_t> counter = stepped({id, d.to_instruction});
        if (counter && counter == stepped({d.from, d.from_instruction}) && is_tested(outer, *counter) &&
            is_tested(inner, *counter))
          return true;
      }
    }
    return false;
  }

  /// The register that an instruction adds a number to.
  std::optional<std::uint8_t> stepped(CodePoint at) const {
    const trace::InstructionFacts* const facts = index_.facts(at);
    if (facts == nullptr || facts->reads.size() != 1 || facts->writes.size() != 1) return std::nullopt;
    const bool adds =
        facts->associative == trace::Associative::kAdd || facts->associative == trace::Associative::kSubtract;
    const trace::RegisterUse& to = facts->writes[0];
    if (!adds || (facts->kinds & (trace::kLoad | trace::kStore)) != 0) return std::nullopt;
    if (to.file != trace::RegisterFile::kGeneral || facts->reads[0].file != to.file) return std::nullopt;
    return facts->reads[0].index == to.index ? std::optional(to.index) : std::nullopt;
  }

  /// Whether a branch out of the loop, or round it, looks at a register.
  bool is_tested(structure::ContextId loop, std::uint8_t reg) const {
    const std::span<const ddg::StatementId> exits = control_.exit_deciders(loop);
    return std::any_of(exits.begin(), exits.end(), [&](ddg::StatementId id) {
      const ddg::Statement& statement = graph_.statements[id];
      if (statement.instructions.empty()) return false;
      const auto last = static_cast<std::uint16_t>(statement.instructions.size() - 1);
      const trace::InstructionFacts* const branch = index_.facts({id, last});
      if (branch == nullptr || branch->condition_from < 0) return false;
      const std::vector<trace::RegisterUse>& reads =
          (*graph_.facts)[statement.block][static_cast<std::size_t>(branch->condition_from)].reads;
      return std::any_of(reads.begin(), reads.end(), [&](const trace::RegisterUse& use) {
        return use.file == trace::RegisterFile::kGeneral && use.index == reg;
      });
    });
  }

  bool are_one(structure::FunctionId function, structure::LoopId a, structure::LoopId b) const {
    if (names_ == nullptr) return false;
    const std::optional<symbols::LoopSource> source = names_->of(function, a).source;
    const std::optional<symbols::LoopSource>& other = names_->of(function, b).source;
    return source && other && source->scope == other->scope && symbols::is_same_source_loop(*source, *other);
  }

  structure::ContextId copy_of(std::uint32_t node) const {
    const structure::ContextId context = graph_.statements[flow_.nodes[node].at.statement].context;
    for (const structure::ContextId loop : flow_.loops)
      if (index_.inside(context, loop)) return loop;
    return structure::kNoContext;
  }

  /// Iterations of the source that are copies in the binary: several in one body, or several loops. What goes between
  /// the loops alone may be carried by a loop around them that was unrolled.
  void doubt_copies() {
    std::vector<std::uint32_t> between;
    for (const std::uint32_t number : carried_) {
      const FlowEdge& edge = flow_.edges[number];
      if (copy_of(edge.from) != copy_of(edge.to)) between.push_back(number);
    }
    if (flow_.loops.size() > 1 && between.size() == carried_.size() && !between.empty()) {
      for (const std::uint32_t number : between)
        doubt("values that go from one copy of the loop to another", flow_.nodes[flow_.edges[number].from].at,
              flow_.edges[number].carried);
      carried_.clear();
    }
    if (options_.symbolizer == nullptr || !carried_.empty()) return;
    const std::vector<std::uint32_t> groups = repeats(flow_, graph_, *options_.symbolizer);
    const Unrolled unrolled(index_, structure_, values_, groups, chains_);
    if (!unrolled.is_unrolled()) return;
    if (copies_depend(flow_, groups, chains_) || unrolled.copies_mix())
      doubt("copies of one instruction in the body that depend on each other", {}, 1);
    for (const CodePoint at : unrolled.handed_to_copies())
      doubt("values from before the loop that are handed on to an iteration in the middle of the body", at, 1);
  }

  /// Iterations of the source, or parts of them, that stand beside the loop.
  void doubt_pieces() {
    for (const Doubt& d : doubts_of_last_end(index_, structure_, values_, chains_)) doubt(d.why, d.at, d.count);
    if (names_ == nullptr) return;
    for (const Doubt& d : doubts_of_pieces(index_, structure_, values_, chains_, options_, *names_))
      doubt(d.why, d.at, d.count);
  }

  void look_at_edges() {
    for (std::uint32_t number = 0; number < flow_.edges.size(); ++number) {
      const FlowEdge& edge = flow_.edges[number];
      const EdgeFacts& facts = values_.facts(number);
      const CodePoint to = flow_.nodes[edge.to].at;
      if (whole_ != nullptr && !whole_->asks_for(to, edge.operand, edge.lane)) continue;
      if (facts.turns > 0 && !starts_behind(edge, facts.turns)) turns_.push_back(number);
      if (facts.window > 0 && !moves_on(edge))
        doubt("values from before the loop, one after the other, as of a window over an array", to, facts.window);
      if (edge.carried == 0 || edge.from == kOutside) continue;
      const FlowNode& from = flow_.nodes[edge.from];
      if (is_pure(from.at.statement) && is_pure(to.statement)) continue;
      // A copy may hold a value of any earlier iteration: it must be the same one, counted from this.
      const bool same_distance = edge.greatest <= 1 || edge.least == edge.greatest;
      if (values_.is_computable(edge.from) && (!edge.behind_copies || same_distance)) continue;
      if (edge.from == edge.to && edge.kind == Kind::kRegister && values_.counts_repetitions(edge.from)) continue;
      if (is_end_of_inner_loop(edge)) continue;
      if (facts.load && values_.can_be_repeated(edge.from) && facts.rewritten == 0 && facts.reread == 0) {
        reload_.insert(from.at);
        continue;
      }
      if (!graph_.statements[from.at.statement].followed) continue;  // in doubt already
      if (values_.is_unvalued(edge.from)) {
        doubt("an index in a vector register, whose values are not recorded", from.at, edge.carried);
        continue;
      }
      carried_.push_back(number);
    }
  }

  /// A compiler makes the next end of an inner loop of where its pointer has got to: the two are the same. The end lies
  /// on a line, and does nothing but end that loop, so that every iteration can compute it.
  bool is_end_of_inner_loop(const FlowEdge& edge) const {
    const FlowNode& to = flow_.nodes[edge.to];
    if (edge.kind != Kind::kRegister || edge.greatest != 1 || to.facts == nullptr) return false;
    if (!to.index || !flow_.nodes[edge.from].index || index_.dimensions(to.at.statement) <= flow_.level + 1)
      return false;
    const bool compares = to.facts->flags_written != 0 && to.facts->writes.empty() &&
                          (to.facts->kinds & (trace::kStore | trace::kLoad)) == 0;
    return compares && values_.is_line(edge.from) &&
           std::all_of(flow_.out[edge.to].begin(), flow_.out[edge.to].end(),
                       [&](std::uint32_t number) { return ends_a_loop(flow_.nodes[flow_.edges[number].to]); });
  }

  /// A branch that decides whether the loop around it goes on.
  bool ends_a_loop(const FlowNode& branch) const {
    if (branch.facts == nullptr || (branch.facts->kinds & trace::kBranch) == 0) return false;
    const structure::ContextId loop = graph_.statements[branch.at.statement].context;
    const std::span<const ddg::StatementId> exits = control_.exit_deciders(loop);
    return std::find(exits.begin(), exits.end(), branch.at.statement) != exits.end();
  }

  /// A copy that keeps an induction variable as it was some iterations ago (`before = p; p += 8`) has values from
  /// before the loop in so many first iterations: which one is a matter of counting.
  bool starts_behind(const FlowEdge& first, std::uint64_t turns) const {
    if (first.from != kOutside) return false;
    std::uint64_t entries = 0;
    for (const structure::ContextId loop : flow_.loops) entries += index_.tree()[loop].entries;
    bool any = false;
    for (const std::uint32_t number : flow_.in[first.to]) {
      const FlowEdge& edge = flow_.edges[number];
      if (edge.operand != first.operand || edge.lane != first.lane || edge.from == kOutside) continue;
      if (edge.carried == 0 || edge.inside > 0 || !values_.is_computable(edge.from)) return false;
      if (edge.least != edge.greatest || edge.least < 2) return false;
      if (turns > static_cast<std::uint64_t>(edge.least - 1) * entries) return false;
      any = true;
    }
    return any;
  }

  /// Whether a window that begins with elements from before the loop goes on with such as the loop loads. Where it does
  /// not, it may be a number of values that are handed round, and the loop ended before the first one came again.
  bool moves_on(const FlowEdge& first) const {
    return std::any_of(flow_.in[first.to].begin(), flow_.in[first.to].end(), [&](std::uint32_t number) {
      const FlowEdge& edge = flow_.edges[number];
      return edge.operand == first.operand && edge.lane == first.lane && edge.carried > 0 && edge.from != kOutside &&
             values_.facts(number).even;
    });
  }

  /// A compiler may compute the next iteration's address ahead; so may the source.
  bool is_address_of_index(const FlowEdge& edge) const {
    return edge.address && edge.kind == Kind::kRegister && flow_.nodes[edge.from].index;
  }

  /// It computes with several elements at once, as a vectorised loop does.
  bool is_packed(std::uint32_t node) const {
    const trace::InstructionFacts* facts = flow_.nodes[node].facts;
    return vectorised_ && facts != nullptr && (facts->kinds & (trace::kIntegerVector | trace::kFloatVector)) != 0 &&
           facts->lanes > 1 && (facts->kinds & trace::kArithmetic) != 0;
  }

  /// Data decide whether there is a next iteration.
  void look_at_exits() {
    for (const structure::ContextId loop : flow_.loops) {
      for (const ddg::StatementId id : control_.exit_deciders(loop)) {
        const std::uint32_t branch = values_.branch_node(id);
        if (!graph_.statements[id].followed || values_.ends_alike(id)) continue;
        if (!values_.decides_by_data(id) && !values_.is_led_by_data(id)) {
          if (whole_ == nullptr && !values_.counts_iterations(id))
            doubt("an end of the loop that only its iterations find", flow_.nodes[branch].at,
                  graph_.statements[id].count);
          continue;
        }
        Blocking blocking;
        blocking.kind = Blocking::Kind::kExit;
        blocking.from = blocking.to = flow_.nodes[branch].at;
        blocking.count = graph_.statements[id].count;
        verdict_.blocking.push_back(blocking);
      }
    }
  }

  void find_assumptions() {
    for (const ddg::StatementId id : control_.one_way()) {
      if (values_.node({id, 0}) == kOutside) continue;
      const std::uint32_t branch = values_.branch_node(id);
      if (!flow_.nodes[branch].index) verdict_.assumes.push_back(flow_.nodes[branch].at);
    }
  }

  void explain_by_reductions() {
    std::set<std::uint32_t> explained;
    chains_.assign(flow_.edges.size(), false);
    for (FoundReduction& found : reductions_.find(flow_, carried_)) {
      for (const std::uint32_t edge : found.chain) chains_[edge] = true;
      explained.insert(found.edges.begin(), found.edges.end());
      if (found.what.operation != trace::Associative::kNone)
        for (const std::uint32_t edge : found.edges)
          kept_.push_back({edge, KeptEdge::Why::kReduction, found.what.operation});
      found.what.partly = found.what.in_memory && uses_other_parts(found.what.object);
      if (found.what.operation != trace::Associative::kNone) verdict_.reductions.push_back(found.what);
      // Each element begins with what was in it: which one it is changes, and the elements are told apart.
      if (found.what.array)
        for (const std::uint32_t edge : found.chain) std::erase(turns_, edge);
    }
    std::erase_if(carried_, [&](std::uint32_t edge) { return explained.contains(edge); });
    explain_by_compiler();
    std::erase_if(carried_, [&](std::uint32_t number) {
      const FlowEdge& edge = flow_.edges[number];
      if (is_address_of_index(edge)) {
        doubt("an address that was computed an iteration before", flow_.nodes[edge.from].at, edge.carried);
        return true;
      }
      if (!is_packed(edge.from)) return false;
      doubt("values of vector registers: several iterations of the source may be in one", flow_.nodes[edge.from].at,
            edge.carried);
      return true;
    });
  }

  /// Whether some load from an object is of other cells than those that the loop stores to. In a frame, places that do
  /// not change are other variables.
  bool uses_other_parts(ddg::ObjectId object) const {
    std::vector<const ddg::Access*> loads;
    std::vector<const ddg::Access*> stores;
    for (const ddg::StatementId id : values_.statements())
      for (const std::uint32_t number : index_.accesses_of(id)) {
        const ddg::Access& access = graph_.accesses[number];
        if (access.object == object) (access.store ? stores : loads).push_back(&access);
      }
    const ddg::Object& of = graph_.objects[object];
    const auto is_whole = [&](const ddg::Access* access) { return access->size == of.size; };
    if (of.kind == ddg::Object::Kind::kGlobal && std::all_of(loads.begin(), loads.end(), is_whole) &&
        std::all_of(stores.begin(), stores.end(), is_whole))
      return false;  // a scalar, wherever a condition decides whether it is stored
    const bool frame = of.kind == ddg::Object::Kind::kStack;
    return std::any_of(loads.begin(), loads.end(), [&](const ddg::Access* load) {
      if (frame && load->same_block && load->same_offset) return false;
      return std::none_of(stores.begin(), stores.end(), [&](const ddg::Access* store) {
        return store->size == load->size && store->address.pieces == load->address.pieces;
      });
    });
  }

  /// What was computed an iteration ahead by the compiler, or may have been (ahead.h).
  void explain_by_compiler() {
    const Ahead ahead(index_, control_, values_, [&](CodePoint at) { return frames_of(at); });
    std::erase_if(carried_, [&](std::uint32_t number) {
      const FlowEdge& edge = flow_.edges[number];
      const CodePoint from = flow_.nodes[edge.from].at;
      if (const std::optional<CodePoint> load = ahead.element_before(edge)) {
        reload_.insert(*load);
        return true;
      }
      if (ahead.is_kept_constant(edge)) return true;
      if (ahead.is_computed_ahead(edge))
        doubt("a value that was computed an iteration before, and need not have been", from, edge.carried);
      else if (ahead.mirrors_counter(edge))
        doubt("a copy of the loop's counter in memory, stored by code without a line", from, edge.carried);
      else
        return false;
      return true;
    });
    std::erase_if(turns_, [&](std::uint32_t number) {
      const FlowEdge& edge = flow_.edges[number];
      if (!edge.address || !ahead.leads_to_element_before(edge)) return false;
      doubt("an address that was computed an iteration before", flow_.nodes[edge.to].at, values_.facts(number).turns);
      return true;
    });
  }

  std::vector<symbols::Frame> frames_of(CodePoint at) const {
    if (options_.symbolizer == nullptr || index_.facts(at) == nullptr) return {};
    return options_.symbolizer->locate(graph_.statements[at.statement].instructions[at.instruction].address).frames;
  }

  static Blocking::Kind kind_of(const FlowEdge& edge) {
    switch (edge.kind) {
      case Kind::kRegister:
        return Blocking::Kind::kRegister;
      case Kind::kMemory:
        return Blocking::Kind::kMemory;
      case Kind::kEnvironment:
        return Blocking::Kind::kEnvironment;
    }
    return Blocking::Kind::kRegister;
  }

  /// One entry per pair of instructions.
  void add_blocking(const FlowEdge& edge, Blocking::Kind kind, std::uint64_t count) {
    const CodePoint to = flow_.nodes[edge.to].at;
    const CodePoint from = edge.from == kOutside ? to : flow_.nodes[edge.from].at;
    Blocking& blocking = merged_[{kind, from, to, edge.object}];
    const bool first = blocking.count == 0;
    blocking.kind = kind;
    blocking.from = from;
    blocking.to = to;
    blocking.object = edge.object;
    blocking.count = std::max(blocking.count, count);
    blocking.least = first ? edge.least : std::min(blocking.least, edge.least);
    blocking.greatest = first ? edge.greatest : std::max(blocking.greatest, edge.greatest);
  }

  void conclude() {
    for (const std::uint32_t edge : carried_) {
      add_blocking(flow_.edges[edge], kind_of(flow_.edges[edge]), flow_.edges[edge].carried);
      kept_.push_back({edge, KeptEdge::Why::kBlocking, {}});
    }
    for (const std::uint32_t edge : turns_) {
      add_blocking(flow_.edges[edge], Blocking::Kind::kTurn, values_.facts(edge).turns);
      kept_.push_back({edge, KeptEdge::Why::kTurn, {}});
    }
    for (const auto& [key, blocking] : merged_) verdict_.blocking.push_back(blocking);
    std::stable_sort(verdict_.blocking.begin(), verdict_.blocking.end(),
                     [](const Blocking& a, const Blocking& b) { return a.count > b.count; });
    if (whole_ != nullptr) reload_.insert(whole_->reload.begin(), whole_->reload.end());
    verdict_.reload.assign(reload_.begin(), reload_.end());
    if (undecided_)
      verdict_.parallel = Parallel::kUnknown;
    else if (!verdict_.blocking.empty())
      verdict_.parallel = Parallel::kNo;
    else if (!verdict_.doubts.empty())
      verdict_.parallel = Parallel::kUnknown;
    else
      verdict_.parallel = verdict_.reductions.empty() ? Parallel::kYes : Parallel::kReduction;
  }

  const FlowIndex& index_;
  const structure::Structure& structure_;
  const ReductionFinder& reductions_;
  const ddg::Graph& graph_;
  const Control& control_;
  const VerdictOptions& options_;
  structure::LoopNames* names_;  // none without a symbolizer
  const LoopValues& values_;
  const WholeLoop* whole_;  // of a level of a loop that is split, if known
  const LoopFlow& flow_;
  LoopVerdict& verdict_;
  bool undecided_ = false;  // whatever it carries
  bool vectorised_ = false;
  std::vector<bool> chains_;  // by edge: of a reduction
  std::vector<std::uint32_t> carried_;
  std::vector<std::uint32_t> turns_;
  std::vector<KeptEdge> kept_;
  std::set<CodePoint> reload_;
  std::map<std::tuple<Blocking::Kind, CodePoint, CodePoint, ddg::ObjectId>, Blocking> merged_;
};

/// What each of several threads that judge loops has for itself.
struct Bench {
  Bench(const ddg::Graph& graph, const structure::Structure& structure, symbols::Symbolizer* symbolizer)
      : scratch(graph.statements.size(), kOutside) {
    if (symbolizer != nullptr) names.emplace(structure, *symbolizer);
  }
  std::vector<std::uint32_t> scratch;
  std::optional<structure::LoopNames> names;
};

/// Threads that have something to tell do so by number, from 0 on.
class Turns {
 public:
  template <class Tell>
  void take(std::size_t number, const Tell& tell) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return next_ == number; });
    tell();
    ++next_;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<LoopVerdict> judge(const ddg::Graph& graph, const structure::Structure& structure,
                               const structure::LoopTree& tree, std::span<const SourceLoop> loops,
                               const VerdictOptions& options) {
  const FlowIndex index(graph, tree);
  const Control control(graph, structure, tree);
  const ReductionFinder reductions(graph, control);
  const unsigned jobs = graph.statements.size() < kFewStatements ? 1 : options.jobs;
  std::vector<LoopVerdict> verdicts(loops.size());
  Turns turns;
  const auto bench = [&] { return Bench(graph, structure, options.symbolizer); };
  for_each_with(jobs, loops.size(), bench, [&](Bench& own, std::size_t i) {
    verdicts[i].loop = loops[i];
    const WholeLoop* const whole = options.whole ? options.whole(loops[i]) : nullptr;
    const LoopValues values(index, control, loops[i], own.scratch, whole);
    Judge judge(index, structure, control, reductions, options, own.names ? &*own.names : nullptr, values, whole,
                verdicts[i]);
    judge.run();
    if (!options.on_loop) return;
    turns.take(i, [&] { options.on_loop({verdicts[i], values, control, judge.kept()}); });
  });
  return verdicts;
}

}  // namespace loopfold::poly
