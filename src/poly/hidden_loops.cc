#include "poly/hidden_loops.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "poly/sample_tree.h"
#include "reconstruct/reconstruct.h"
#include "structure/loop_walk.h"

namespace loopfold::poly {

namespace {

using structure::ContextId;

constexpr std::size_t kFewPieces = 3;            // streams with no more are well described
constexpr std::size_t kMostCandidates = 96;      // streams that are looked at
constexpr double kLeastShare = 0.02;             // of the instructions, that a loop has with all inside it
constexpr std::uint64_t kMostSamples = 1 << 20;  // of a stream
constexpr std::uint64_t kFewSamples = 32;        // say nothing
constexpr std::uint64_t kMostEntries = 8;        // of a loop, that are looked at
constexpr std::size_t kMostHidden = 3;           // levels of a loop
constexpr std::uint64_t kMostShare = 20;         // of the instructions, one in so many is looked at
constexpr std::uint64_t kAlways = 4'000'000;     // so many may always be
constexpr std::uint64_t kLeastGain = 100;        // one instruction in so many must become simple
constexpr std::uint64_t kLeastPart = 4;          // of a loop's instructions, one in so many must show the blocks

/// A modulus that is no multiple of the step: b[k % m * n + k / m] is b[k * n mod (n * m - 1)], but nobody means that.
bool has_odd_modulus(const fold::Output& output) {
  return output.modulus != 0 && std::any_of(output.value.coefficients.begin(), output.value.coefficients.end(),
                                            [&](std::int64_t step) { return step != 0 && output.modulus % step != 0; });
}

bool is_well_described(const fold::Folded& folded) {
  if (!folded.exact() || folded.pieces.size() > kFewPieces) return false;
  return std::none_of(folded.pieces.begin(), folded.pieces.end(), [](const fold::Piece& piece) {
    return std::any_of(piece.outputs.begin(), piece.outputs.end(), has_odd_modulus);
  });
}

/// By context: instructions, with all inside.
std::vector<std::uint64_t> inclusive_instructions(const structure::LoopTree& tree) {
  const std::span<const structure::Context> contexts = tree.contexts();
  std::vector<std::uint64_t> inclusive(contexts.size());
  for (std::size_t id = contexts.size(); id-- > 0;) {
    inclusive[id] += contexts[id].instructions;
    if (id != 0) inclusive[contexts[id].parent] += inclusive[id];
  }
  return inclusive;
}

class Candidates {
 public:
  Candidates(const ddg::Graph& graph, const structure::LoopTree& tree)
      : graph_(graph), tree_(tree), inclusive_(inclusive_instructions(tree)) {}

  std::vector<HiddenCandidate> run() {
    for (const ddg::Statement& statement : graph_.statements)
      if (!is_well_described(statement.domain)) add(statement, nullptr);
    for (const ddg::Access& access : graph_.accesses)
      if (!is_well_described(access.address)) add(graph_.statements[access.statement], &access);
    std::stable_sort(found_.begin(), found_.end(),
                     [](const HiddenCandidate& a, const HiddenCandidate& b) { return a.weight > b.weight; });
    if (found_.size() > kMostCandidates) found_.resize(kMostCandidates);
    return std::move(found_);
  }

 private:
  void add(const ddg::Statement& statement, const ddg::Access* access) {
    if (statement.kind != ddg::Statement::Kind::kCode || !statement.followed) return;
    for (ContextId at = statement.context; at != structure::LoopTree::root(); at = tree_[at].parent) {
      if (tree_[at].kind != structure::Context::Kind::kLoop || tree_[at].trips.max < kFewSamples) continue;
      if (static_cast<double>(inclusive_[at]) < kLeastShare * static_cast<double>(inclusive_.front())) continue;
      HiddenCandidate candidate;
      candidate.loop = at;
      candidate.statement = statement.id;
      candidate.weight = access != nullptr ? access->address.points : statement.count;
      if (access != nullptr) {
        candidate.is_access = true;
        candidate.instruction = access->instruction;
        candidate.index = access->index;
      }
      if (found_.empty() || !(found_.back() == candidate)) found_.push_back(candidate);
    }
  }

  const ddg::Graph& graph_;
  const structure::LoopTree& tree_;
  std::vector<std::uint64_t> inclusive_;  // by context
  std::vector<HiddenCandidate> found_;
};

// ---- What a stream looks like along a loop ----------------------------------------------------------------------

constexpr std::uint64_t kMostTries = 1000;

reconstruct::Options search_options() {
  reconstruct::Options options;
  options.max_levels = kMostHidden + 1;
  options.max_tries = kMostTries;
  return options;
}

/// The iterations at which a stream had an instance, with its labels, and the blocks of iterations behind them.
class Sequence {
 public:
  /// `tree`: of search_options().
  explicit Sequence(SampleTree& tree) : tree_(&tree) {}
  bool done() const { return done_; }

  /// The first instance of an iteration: `counter` of the entry `serial` of the loop.
  void add(std::uint64_t serial, std::uint64_t counter, std::uint64_t address) {
    if (serial != serial_) {
      finish_entry();
      if (done_) return;
      serial_ = serial;
      first_ = counter;
      begun_ = true;
    } else if (counter == last_) {
      return;
    }
    last_ = counter;
    const std::uint64_t sample = address << kCounterBits | (counter & kCounterMask);
    if (samples_ == 0) base_ = sample;
    waiting_.push_back(sample - base_);
    if (++samples_ % SampleTree::kBatch == 0) take_waiting();
    if (samples_ >= kMostSamples) finish_entry();
  }

  /// No more will come. Sizes of blocks, the greatest first.
  const std::vector<std::uint64_t>& finish() {
    finish_entry();
    return blocks_;
  }

 private:
  static constexpr unsigned kCounterBits = 32;
  static constexpr std::uint64_t kCounterMask = 0xffffffff;

  void take_waiting() {
    irregular_ = path_.add(*tree_, waiting_, false).irregular;
    done_ = done_ || irregular_;
    waiting_.clear();
  }

  /// The longest entry counts.
  void finish_entry() {
    if (begun_ && samples_ >= kFewSamples && samples_ > longest_ && !irregular_) {
      const SampleTree::Node& end = path_.add(*tree_, waiting_, true);
      if (!end.irregular) {
        longest_ = samples_;
        blocks_ = blocks_of(end.pieces);
      }
    }
    if (begun_ && ++entries_ >= kMostEntries) done_ = true;
    if (samples_ >= kMostSamples) done_ = true;
    path_.restart();
    waiting_.clear();
    samples_ = 0;
    begun_ = irregular_ = false;
  }

  /// Of the longest piece, if it is nearly the whole. The counter's part of a coefficient is its low half. What did
  /// not happen twice is no block.
  std::vector<std::uint64_t> blocks_of(const std::vector<reconstruct::Piece>& pieces) const {
    const auto longest = std::max_element(
        pieces.begin(), pieces.end(),
        [](const reconstruct::Piece& a, const reconstruct::Piece& b) { return a.nest.count < b.nest.count; });
    if (longest == pieces.end() || longest->nest.count * 4 < samples_ * 3 || longest->nest.levels() < 2) return {};
    std::vector<std::uint64_t> blocks;
    for (std::size_t level = 0; level + 1 < longest->nest.levels(); ++level) {
      const auto step = static_cast<std::int32_t>(static_cast<std::uint64_t>(longest->nest.coefficients[level]));
      if (step < 2) return {};
      if (2 * static_cast<std::uint64_t>(step) <= last_ - first_ + 1)
        blocks.push_back(static_cast<std::uint64_t>(step));
    }
    return blocks;
  }

  SampleTree* tree_;
  SampleTree::Path path_;               // of the entry
  std::vector<std::uint64_t> waiting_;  // samples that are not in it yet, counted from base_
  std::uint64_t base_ = 0;              // the first one
  std::uint64_t serial_ = 0;
  std::uint64_t first_ = 0;  // counter
  std::uint64_t last_ = 0;
  std::uint64_t samples_ = 0;
  std::uint64_t entries_ = 0;
  std::uint64_t longest_ = 0;
  std::vector<std::uint64_t> blocks_;
  bool begun_ = false;      // an entry
  bool irregular_ = false;  // it was when it was looked at last
  bool done_ = false;
};

// ---- The probe --------------------------------------------------------------------------------------------------

/// An observer of the walk that follows candidates and passes over the rest.
class Probe {
 public:
  static constexpr bool kEveryPart = true;
  static constexpr bool kValues = true;
  static constexpr bool kStretches = true;

  Probe(const structure::Structure& structure, const structure::LoopTree& tree, const ddg::Graph& graph,
        const std::vector<HiddenCandidate>& candidates, std::uint64_t budget)
      : structure_(structure), budget_(budget), by_context_(tree.contexts().size()) {
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const ddg::Statement& statement = graph.statements[candidates[i].statement];
      watches_.emplace_back(samples_);
      watches_[i].candidate = candidates[i];
      watches_[i].place = statement.place;
      watches_[i].level = ddg::dimensions_of(tree, candidates[i].loop) - std::size_t{1};
      watches_[i].inner = candidates[i].loop != statement.context;
      by_context_[statement.context].push_back(i);
    }
    open_ = candidates.size();
  }

  const std::atomic<bool>& stop() const { return stop_; }
  /// Sizes of blocks that a candidate shows, the greatest first. No more will come.
  std::vector<std::uint64_t> blocks_of(std::size_t candidate) { return watches_[candidate].finish(); }

  template <class Walk, class S>
  void event(const Walk&, const S&, trace::ExitId exit, const std::uint64_t* slots) {
    exit_ = exit;
    slots_ = slots;
  }
  template <class Walk, class S>
  void part(const Walk&, const S& stack, const structure::Part& part) {
    spend(part.instructions);
    if (watched(stack.data.context)) look(stack.data.context, stack.data.dimensions, part);
  }
  template <class Walk, class S>
  void side(const Walk&, const S*, const trace::SideEvent&) {}

  void begin_path() {}
  template <class Walk, class S>
  structure::Known known_path(const Walk&, const S& stack, std::span<const trace::ExitId> exits) {
    if (watched(stack.data.context)) return structure::Known::kImpossible;
    const auto found = paths_.find(key_of(stack, exits));
    if (found == paths_.end()) return structure::Known::kNo;
    found_ = &found->second;
    // What is called in the loop may be watched.
    const bool passes = std::none_of(found_->notes.begin(), found_->notes.end(),
                                     [&](const structure::PathTotals::Note& note) { return watched(note.context); });
    return passes && !found_->notes.empty() ? structure::Known::kPossible : structure::Known::kImpossible;
  }
  template <class Walk, class S>
  void learn_path(const Walk&, const S& stack, std::span<const trace::ExitId> exits,
                  const structure::PathTotals* totals) {
    if (paths_.size() >= kMostPaths) paths_.clear();
    paths_[key_of(stack, exits)] = totals != nullptr ? *totals : structure::PathTotals{};
  }
  template <class Walk, class S>
  std::uint64_t stretch(const Walk&, const S&, const trace::RunExpander&, std::uint64_t iterations,
                        const structure::PathTotals*& totals) {
    spend(1);
    totals = found_;
    return iterations;
  }

 private:
  using PathKey = std::tuple<ContextId, structure::FunctionId, std::vector<trace::ExitId>>;
  static constexpr std::size_t kMostPaths = 1 << 16;

  /// Where a statement runs several times in an iteration of the loop, the first and the last time must show the same:
  /// a search that begins at the root of a tree each time goes other ways from there.
  struct Watch {
    explicit Watch(SampleTree& tree) : first(tree), last(tree) {}
    HiddenCandidate candidate;
    structure::PlaceId place = structure::kNoPlace;
    std::size_t level = 0;  // of the loop's counter
    bool inner = false;     // the statement is in a loop inside this one
    Sequence first;
    Sequence last;
    structure::Dimension now;   // the iteration that runs
    std::uint64_t address = 0;  // of its last instance
    bool any = false;

    void add(const structure::Dimension& loop, std::uint64_t at) {
      if (any && (now.serial != loop.serial || now.counter != loop.counter)) end_iteration();
      now = loop;
      address = at;
      any = inner;
      first.add(loop.serial, loop.counter, at);
    }
    void end_iteration() { last.add(now.serial, now.counter, address); }
    bool done() const { return first.done() || last.done(); }
    std::vector<std::uint64_t> finish() {
      if (any) end_iteration();
      const std::vector<std::uint64_t>& blocks = first.finish();
      return inner && last.finish() != blocks ? std::vector<std::uint64_t>{} : blocks;
    }
  };

  template <class S>
  static PathKey key_of(const S& stack, std::span<const trace::ExitId> exits) {
    return {stack.data.context, stack.frames.back().data.function, {exits.begin(), exits.end()}};
  }

  bool watched(ContextId context) const { return context < by_context_.size() && !by_context_[context].empty(); }

  void spend(std::uint64_t instructions) {
    if (instructions > budget_) stop_ = true;
    budget_ -= std::min(budget_, instructions);
  }

  void look(ContextId context, std::span<const structure::Dimension> dimensions, const structure::Part& part) {
    std::vector<std::size_t>& here = by_context_[context];
    bool ended = false;
    for (const std::size_t i : here) {
      Watch& watch = watches_[i];
      if (watch.place != part.place || watch.level >= dimensions.size()) continue;
      std::uint64_t address = 0;
      if (watch.candidate.is_access && !find_address(watch.candidate, part, address)) continue;
      watch.add(dimensions[watch.level], address);
      ended = ended || watch.done();
    }
    if (ended) forget_ended(here);
  }

  void forget_ended(std::vector<std::size_t>& here) {
    open_ -= std::erase_if(here, [&](std::size_t i) { return watches_[i].done(); });
    if (open_ == 0) stop_ = true;
  }

  /// False if the instruction made no such access.
  bool find_address(const HiddenCandidate& candidate, const structure::Part& part, std::uint64_t& address) const {
    const trace::Exit& exit = structure_.code.exits()[exit_];
    const trace::Block& block = structure_.code.blocks()[exit.block];
    const std::size_t instruction = std::size_t{part.first_instruction} + candidate.instruction;
    std::size_t index = 0;
    for (std::size_t a = 0; a < exit.accesses; ++a) {
      const trace::Access& access = block.accesses[a];
      if (access.instruction != instruction || index++ != candidate.index) continue;
      address = trace::evaluate(block, access.address, {slots_, structure_.code.exit(exit_).slots});
      return !access.guarded || address != 0;
    }
    return false;
  }

  const structure::Structure& structure_;
  std::uint64_t budget_;
  SampleTree samples_{search_options()};
  std::vector<Watch> watches_;
  std::vector<std::vector<std::size_t>> by_context_;  // watches
  std::size_t open_ = 0;
  std::atomic<bool> stop_ = false;
  std::map<PathKey, structure::PathTotals> paths_;  // nothing if they are to be followed
  const structure::PathTotals* found_ = nullptr;
  trace::ExitId exit_ = 0;
  const std::uint64_t* slots_ = nullptr;
};

/// Streams of a loop that show blocks.
struct Shown {
  std::vector<std::vector<std::uint64_t>> blocks;  // by stream
  std::vector<ddg::StatementId> statements;        // by stream

  /// Of statements with a stream that shows none but these.
  std::uint64_t instructions(const std::vector<std::uint64_t>& common, const ddg::Graph& graph) const {
    std::set<ddg::StatementId> agree;
    for (std::size_t i = 0; i < blocks.size(); ++i)
      if (std::all_of(blocks[i].begin(), blocks[i].end(), [&](std::uint64_t block) {
            return std::find(common.begin(), common.end(), block) != common.end();
          }))
        agree.insert(statements[i]);
    std::uint64_t sum = 0;
    for (const ddg::StatementId id : agree)
      sum += graph.statements[id].count * graph.statements[id].instructions.size();
    return sum;
  }
};

/// Sizes of blocks as periods of the levels inside each other.
std::vector<std::uint64_t> periods_of(const std::vector<std::uint64_t>& blocks) {
  std::vector<std::uint64_t> periods;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    periods.push_back(i + 1 < blocks.size() ? blocks[i] / blocks[i + 1] : blocks[i]);
  return periods;
}

}  // namespace

std::vector<HiddenCandidate> hidden_candidates(const ddg::Graph& graph, const structure::LoopTree& tree) {
  return Candidates(graph, tree).run();
}

std::vector<std::uint64_t> common_blocks(const std::vector<std::vector<std::uint64_t>>& found) {
  std::vector<std::uint64_t> common;
  for (const std::vector<std::uint64_t>& blocks : found) {
    for (const std::uint64_t block : blocks) {
      const auto fits = [&](std::uint64_t other) {
        return other != block && (other % block == 0 || block % other == 0);
      };
      if (block >= 2 && common.size() < kMostHidden && std::all_of(common.begin(), common.end(), fits))
        common.push_back(block);
    }
  }
  std::sort(common.begin(), common.end(), std::greater<>());
  return common;
}

structure::Splits find_hidden_loops(const trace::Reader& reader, const structure::Structure& structure,
                                    const structure::LoopTree& tree, const ddg::Graph& graph,
                                    const std::vector<HiddenCandidate>& candidates) {
  structure::Splits splits(tree);
  if (candidates.empty() || tree.full()) return splits;
  Probe probe(structure, tree, graph, candidates, kAlways + graph.costs.instructions / kMostShare);
  structure::LoopTree again;
  structure::LoopWalk<Probe> walk(structure, again, probe);
  std::string damage;
  walk.walk(reader, damage, {}, &probe.stop());
  std::map<ContextId, Shown> found;  // by loop
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::vector<std::uint64_t> blocks = probe.blocks_of(i);
    if (blocks.empty()) continue;
    Shown& shown = found[candidates[i].loop];
    shown.blocks.push_back(std::move(blocks));
    shown.statements.push_back(candidates[i].statement);
  }
  const std::vector<std::uint64_t> inclusive = inclusive_instructions(tree);
  for (const auto& [loop, shown] : found) {
    std::vector<std::uint64_t> common = common_blocks(shown.blocks);
    if (shown.instructions(common, graph) < inclusive[loop] / kLeastPart) continue;
    std::erase_if(common, [&](std::uint64_t block) { return 2 * block >= tree[loop].trips.max; });
    splits.add(loop, periods_of(common));
  }
  return splits;
}

Quality quality_of(const ddg::Graph& graph) {
  std::vector<bool> exact(graph.statements.size());
  std::vector<bool> simple(graph.statements.size());
  for (const ddg::Statement& statement : graph.statements) {
    exact[statement.id] = statement.followed && statement.domain.exact();
    simple[statement.id] = statement.followed && is_well_described(statement.domain);
  }
  for (const ddg::Access& access : graph.accesses) {
    if (!access.address.exact()) exact[access.statement] = false;
    if (!is_well_described(access.address)) simple[access.statement] = false;
  }
  for (const ddg::Dependence& dependence : graph.dependences)
    if (!dependence.map.exact() || dependence.from == ddg::kNoStatement) exact[dependence.to] = false;
  Quality quality;
  for (const ddg::Statement& statement : graph.statements) {
    if (statement.kind != ddg::Statement::Kind::kCode) continue;
    const std::uint64_t instructions = statement.count * statement.instructions.size();
    if (exact[statement.id]) quality.exact += instructions;
    if (simple[statement.id]) quality.simple += instructions;
  }
  return quality;
}

bool is_worth_it(const Quality& before, const Quality& after, std::uint64_t instructions) {
  const auto gain = [](std::uint64_t from, std::uint64_t to) { return to > from ? to - from : 0; };
  const std::uint64_t least = std::max<std::uint64_t>(instructions / kLeastGain, 1);
  if (after.simple < before.simple) return false;
  if (gain(before.exact, after.exact) >= least) return true;
  return gain(before.simple, after.simple) >= least && after.exact + gain(before.simple, after.simple) > before.exact;
}

}  // namespace loopfold::poly
