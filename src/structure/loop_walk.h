// Pass 2: loop events and iteration vectors (POLY-PROF Algorithms 1, 2 and 3), and the loop tree that they unfold.
//
// The state of a stack is a list of *dimensions*, outermost first: the ordinal of the stack among those that started
// the same way (for threads: the number of the thread), then one for every live loop and every live recursive
// component, with its counter; and the context that control is in. Together they are the interprocedural iteration
// vector.
//
// Events, and what differs from the paper as printed:
// - A local jump to a place leaves the loops (of this activation) that do not contain it, innermost first: X. If the
// place
//   is the header of the innermost loop that is left: I. Loops around it that are not live are entered, outermost
//   first: E, with counter 0. In a reducible loop that happens at its header only, as in the paper. A loop that is
//   entered elsewhere (an irreducible one; a loop of a caller that a recursion has left) starts with counter 0 there,
//   and its header is the next iteration; the paper would leave the blocks before the header outside of the loop, where
//   the numeric vectors have no place for them.
// - Loops belong to activations: a callee's blocks do not leave its caller's loops.
// - A call of a function of a recursive component that is not live: E_C. A call of one of its headers while it is live:
//   I_C; all loops and calls since the component's dimension are left, and the counter grows. Any other call: C.
// - A return to a frame: X_R if the call was E_C. If the counter of the innermost live component has changed since the
//   call, what the frame knew of its context is outdated: I_R, which is what the paper does for returns from headers,
//   and what a return from any function must do that called a header in turn. Else R: the caller's context again.
// - The counter of a component only grows, so vectors do. Neither context nor vector grows with the depth of a
// recursion.
//
// Numeric vectors (numbers()) alternate static indices and counters and increase lexicographically over the life of a
// stack; a prefix comes before what it is a prefix of, so a call comes before what it calls.
//
// A loop that is split (splits.h) has several dimensions, one for each level, and several contexts in each other. They
// are entered and left together. The innermost one counts; when it comes to the end of its period, its entry ends, the
// level around it counts on, and a new entry begins: for everything behind the walk, as if it had been left and entered
// again.
//
// Iterations of runs are not expanded: an iteration that leaves everything but counters as it was is recorded (its
// *journal*), and further ones along the same path are the journal times their number. An Observer that wants every
// part has kEveryPart and is told of each, in order. One with kValues is also told of every event, with all its slots,
// before its parts, and of every side event. leave() and end() tell of frames about to be popped and stacks that ended.
// One with kStretches may take iterations of the innermost loop at once, along paths that it has learned: begin_path()
// when an iteration begins that it may learn from, learn_path() when that has ended, known_path() and stretch() when
// iterations are to come; weave() when these take several paths. It is not told of frames that are popped in what it
// has taken.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "structure/activations.h"
#include "structure/loop_tree.h"
#include "structure/run_walk.h"
#include "structure/structure.h"

namespace loopfold::structure {

/// One counter of an iteration vector.
struct Dimension {
  ContextId context = kNoContext;  // of the loop, the component, or the stack's start
  ContextId outer = kNoContext;    // that it was entered from
  LoopId loop = kNoLoop;
  std::uint64_t counter = 0;
  std::uint64_t headers = 0;         // executions of the loop's header in this entry
  std::uint64_t serial = 0;          // of the entry: no two are the same
  std::uint64_t period = kNoPeriod;  // of a hidden level
  std::uint8_t level = 0;            // of a loop that is split
  static constexpr std::uint64_t kNoPeriod = ~std::uint64_t{0};

  /// But for the serial number.
  friend bool operator==(const Dimension& a, const Dimension& b) {
    return a.context == b.context && a.outer == b.outer && a.loop == b.loop && a.counter == b.counter &&
           a.headers == b.headers;
  }
};

/// What one iteration along a path does, but for counting its loop on: what it calls returns in it.
struct PathTotals {
  struct Note {
    ContextId context = kNoContext;
    std::uint64_t instructions = 0;
    std::uint64_t memory = 0;
    std::uint64_t floating = 0;
    std::uint64_t entries = 0;
  };
  std::vector<Note> notes;
  std::vector<FunctionId> activations;  // functions that are called, in their order
};

/// Iterations along one of the paths of a run that were taken.
struct WovenPath {
  std::uint64_t iterations = 0;
  const PathTotals* totals = nullptr;
};
using Woven = std::array<WovenPath, trace::kMaxRunPaths>;  // by path of the run

/// Observes nothing.
struct NoObserver {
  static constexpr bool kEveryPart = false;
};

template <class Observer>
class LoopWalk {
 public:
  struct Frame {
    FunctionId function = kNoFunction;
    NodeId current = 0;
    ContextId caller_context = kNoContext;
    std::uint32_t dimensions = 0;  // there were when its first loop was entered
    bool entered_component = false;
    std::uint64_t stamp = 0;       // counter of the innermost live component when it was called
    std::uint64_t activation = 0;  // ordinal among those of its function (only if events are observed)
    friend bool operator==(const Frame&, const Frame&) = default;
  };
  struct Stack {
    ContextId context = kNoContext;
    std::vector<Dimension> dimensions;
    struct Component {
      ComponentId component = kNoComponent;
      std::uint32_t dimension = 0;
    };
    std::vector<Component> components;  // live ones
    std::uint64_t id = 0;               // of the stack: grows with every new one
  };
  using S = typename Activations<LoopWalk>::Stack;
  static constexpr bool kValues = wants_values<Observer>();
  static constexpr bool kStretches = wants_stretches<Observer>();
  static constexpr bool kWeaves = wants_weaving<Observer>();
  static constexpr bool kRounds = wants_rounds<Observer>();

  LoopWalk(const Structure& structure, LoopTree& tree, Observer& observer)
      : structure_(structure), tree_(tree), observer_(observer) {
    for (FunctionId id = 0; id < structure.forests.size(); ++id) add_function(id);
    add_places();
  }

  /// Walks the whole trace, or as far as it comes before another thread sets `stop`. `ahead`: it is decoded by a thread
  /// of its own.
  void walk(const trace::Reader& reader, std::string& damage, const std::function<void(double)>& progress = {},
            const std::atomic<bool>* stop = nullptr, bool ahead = false) {
    std::vector<std::uint8_t> starts = structure_.flow.starts();
    RunWalk<LoopWalk> runs(structure_.code, starts, *this, Observer::kEveryPart);
    runs.walk(reader, damage, progress, stop, ahead);
  }

  /// The iteration vector with static indices, for the part that is about to run at `stack`'s current place.
  void numbers(const S& stack, std::vector<std::uint64_t>& into) const {
    into.clear();
    const Stack& state = stack.data;
    const Frame& frame = stack.frames.back().data;
    into.push_back(structure_.forests[frame.function].index_of(frame.current));
    std::size_t dimension = state.dimensions.size();
    for (ContextId id = state.context; id != LoopTree::root(); id = tree_[id].parent) {
      const Context& context = tree_[id];
      const bool counts = context.kind != Context::Kind::kCall;
      if (counts) into.push_back(state.dimensions[--dimension].counter);
      if (context.kind != Context::Kind::kLoop) into.push_back(context.minor);
      into.push_back(context.index);
    }
    std::reverse(into.begin(), into.end());
  }

  // ---- Client of Activations ------------------------------------------------------------------------------------

  void begin(S& stack) {
    Frame& frame = stack.frames.back().data;
    Stack& state = stack.data;
    frame = {};
    frame.function = structure_.flow.function_at(stack.frames.back().function);
    state = {};
    state.id = next_stack_++;
    ContextKey start;
    start.kind = Context::Kind::kStart;
    start.origin = stack.origin;
    start.parent = LoopTree::root();
    start.function = frame.function;
    state.context = child(start, static_cast<std::uint32_t>(tree_.contexts().size()), 0);
    push_dimension(state, LoopTree::root(), kNoLoop, 0);
    state.dimensions.back().counter = tree_[state.context].entries++;
    if (thread_ == 0) tree_[state.context].main_thread = true;
    frame.caller_context = LoopTree::root();
    if (structure_.recursion.component_of(frame.function) != kNoComponent)
      enter_component(state, frame, {{}, {}, state.context, frame.function, kNoPlace, kNoFunction, kNoNode, kNoLoop},
                      0);
    frame.dimensions = static_cast<std::uint32_t>(state.dimensions.size());
    arrive_at_entry(stack);
  }

  void call(S& stack) {
    const Frame& caller = stack.frames[stack.frames.size() - 2].data;
    Frame& frame = stack.frames.back().data;
    frame = {};
    frame.function = structure_.flow.function_at(stack.frames.back().function);
    enter(stack.data, caller, frame, structure_.forests[caller.function].index_of(caller.current));
    arrive_at_entry(stack);
  }

  /// A tail call inside a live component needs no frame of its own: else mutual tail recursion would use one per call.
  bool keeps_tail_caller(S& stack, PlaceId callee) {
    const typename Activations<LoopWalk>::Frame& top = stack.frames.back();
    const ComponentId component = structure_.recursion.component_of(structure_.flow.function_at(callee));
    return component == kNoComponent || !top.tail || live(stack.data, component) == nullptr ||
           structure_.recursion.component_of(top.data.function) != component;
  }

  void tail_call(S& stack, bool pushed) {
    if (pushed) return call(stack);
    Frame& frame = stack.frames.back().data;
    const Frame caller = frame;
    leave_loops(stack.data, frame.dimensions, frame.current);
    frame.function = structure_.flow.function_at(stack.frames.back().function);
    frame.current = 0;
    Frame callee = frame;
    enter(stack.data, caller, callee, index_outside_loops(caller));
    frame.dimensions = callee.dimensions;
    arrive_at_entry(stack);
  }

  void leave(S& stack) {
    if constexpr (requires { observer_.leave(*this, stack); })
      if (!passing_) observer_.leave(*this, stack);
    Stack& state = stack.data;
    const Frame frame = stack.frames.back().data;
    leave_loops(state, std::min<std::size_t>(frame.dimensions, state.dimensions.size()), frame.current);
    if (frame.entered_component) {
      const Dimension& dimension = state.dimensions.back();
      finish_entry(dimension.context, dimension.counter + 1, dimension.counter + 1);
      pop_dimension(state);
      state.components.pop_back();
    }
    if (stack.frames.size() == 1) return;
    Frame& caller = stack.frames[stack.frames.size() - 2].data;
    if (!state.components.empty() && stamp(state) != frame.stamp) {
      iterate_component(state);
      caller.dimensions = static_cast<std::uint32_t>(state.dimensions.size());
    } else {
      state.context = frame.caller_context;
    }
  }

  void end(S& stack) {
    if constexpr (requires { observer_.end(*this, stack); }) observer_.end(*this, stack);
  }

  /// Mostly control stays in the innermost loop.
  [[gnu::always_inline]] void jump(S& stack, PlaceId place) {
    Frame& frame = stack.frames.back().data;
    const PlaceInfo& to = places_[place];
    if (to.function == frame.function && to.innermost == innermost(stack.data, frame)) [[likely]] {
      frame.current = to.node;
      if (to.header) iterate(stack.data);
      return;
    }
    jump_otherwise(stack, place);
  }
  [[gnu::noinline]] void jump_otherwise(S& stack, PlaceId place) {
    go(stack, structure_.flow.node_of(stack.frames.back().data.function, place));
  }
  void land(S& stack, PlaceId place) {
    go(stack, structure_.flow.landing_of(stack.frames.back().data.function, place));
  }
  void go(S& stack, NodeId to) {
    Frame& frame = stack.frames.back().data;
    NodeId from = frame.current;
    if (to == kNoNode) to = from;
    if (structure_.flow.gate_of(frame.function, to) != kNoNode) [[unlikely]]
      from = come_through_gates(stack, frame, to, from);
    frame.current = to;
    move(stack, frame, from);
  }
  /// From outside of the loop of a header that has a gate. Where control is then.
  NodeId come_through_gates(S& stack, Frame& frame, NodeId header, NodeId from) {
    const NodeId gate = structure_.flow.gate_of(frame.function, header);
    const LoopForest& forest = structure_.forests[frame.function];
    if (gate == kNoNode || forest.contains(forest.innermost(header), from)) return from;
    from = come_through_gates(stack, frame, gate, from);
    frame.current = gate;
    move(stack, frame, from);
    return gate;
  }

  bool was_at(PlaceId) const { return false; }

  // ---- Client of RunWalk ----------------------------------------------------------------------------------------

  void set_thread(trace::ThreadId thread) {
    thread_ = thread;
    if (thread >= ran_.size()) ran_.resize(thread + 1);
    ran_[thread] = true;
  }
  trace::ThreadId thread() const { return thread_; }
  /// How many threads ran.
  std::uint64_t threads() const { return static_cast<std::uint64_t>(std::count(ran_.begin(), ran_.end(), true)); }

  void event(S& stack, trace::ExitId exit, const std::uint64_t* slots) { observer_.event(*this, stack, exit, slots); }
  void side(S* stack, const trace::SideEvent& event) { observer_.side(*this, stack, event); }

  [[gnu::always_inline]] void run_part(S& stack, const Part& part) {
    if constexpr (Observer::kEveryPart) observer_.part(*this, stack, part);
    pass_part(stack, part);
  }
  /// The observer knows of it.
  void pass_part(S& stack, const Part& part) {
    Context& context = tree_[stack.data.context];
    context.instructions += part.instructions;
    context.memory += part.memory;
    context.floating += part.floating;
    if (journaling_) note_part(stack.data.context, part);
  }

  void begin_pass() { passing_ = true; }
  void end_pass() { passing_ = false; }

  void mark(S& stack) {
    marked_ = stack.data.dimensions;
    marked_context_ = stack.data.context;
    repeatable_lowest_ = marked_.size();
    repeatable_steps_ = 0;
  }

  void begin_path(S& stack) {
    if constexpr (kStretches) observer_.begin_path();
    begin_journal(stack);
  }
  void begin_journal(S& stack) {
    before_ = stack.data.dimensions;
    lowest_ = before_.size();
    journal_.clear();
    called_.clear();
    journaling_ = true;
  }

  /// An iteration that leaves loops and enters them again can be repeated if it finds them as it leaves them: if none
  /// of the others that are repeated counts them on in between.
  PathEnd end_path(S& stack, std::size_t slot) {
    journaling_ = false;
    const std::vector<Dimension>& now = stack.data.dimensions;
    if (stack.data.context != marked_context_ || now.size() != marked_.size()) return PathEnd::kChanged;
    Recorded& recorded = recorded_[slot];
    recorded.steps.clear();
    bool as_found = true;
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (now[i].context != marked_[i].context || now[i].outer != marked_[i].outer) return PathEnd::kChanged;
      const std::uint64_t counted = now[i].counter - before_[i].counter;
      if (i >= lowest_)
        as_found = as_found && now[i] == before_[i];
      else if (counted != 0)
        recorded.steps.push_back({i, counted, now[i].headers - before_[i].headers});
    }
    const std::size_t steps = recorded.steps.empty() ? 0 : recorded.steps.back().dimension + 1;
    if (!as_found || lowest_ < repeatable_steps_ || steps > repeatable_lowest_)
      return repeatable_lowest_ == marked_.size() ? PathEnd::kSame : PathEnd::kChanged;
    repeatable_lowest_ = std::min(repeatable_lowest_, lowest_);
    repeatable_steps_ = std::max(repeatable_steps_, steps);
    recorded.journal.swap(journal_);
    return PathEnd::kRepeatable;
  }

  void repeat(S& stack, std::size_t slot, std::uint64_t times) {
    const Recorded& recorded = recorded_[slot];
    for (const Note& note : recorded.journal) {
      Context& context = tree_[note.context];
      context.instructions += times * note.instructions;
      context.memory += times * note.memory;
      context.floating += times * note.floating;
      context.entries += times * note.entries;
      context.finished += times * note.finished;
      context.iterations.total += times * note.iterations;
      context.trips.total += times * note.trips;
    }
    for (const Step& step : recorded.steps)
      advance(stack.data, step.dimension, times * step.counted, times * step.headers);
  }

  Known known_path(S& stack, const trace::RunPath& path) {
    if constexpr (kStretches)
      return observer_.known_path(*this, stack, path.exits);
    else
      return Known::kImpossible;
  }

  /// Iterations can be taken at once if each is one more of the innermost loop, and nothing else changes.
  void learn_path(S& stack, const trace::RunPath& path, PathEnd end) {
    const std::vector<Step>& steps = recorded_[0].steps;
    const std::size_t innermost = stack.data.dimensions.size() - 1;
    const bool counts = end == PathEnd::kRepeatable && lowest_ > innermost && steps.size() == 1 &&
                        steps[0].dimension == innermost && steps[0].counted == 1 && steps[0].headers == 1;
    if constexpr (kStretches) observer_.learn_path(*this, stack, path.exits, counts ? &totals_of_path() : nullptr);
  }

  /// The number of the next activation of a function.
  std::uint64_t next_activation(FunctionId function) const { return activations_[function]; }

  /// If the last iteration `ends` the loop and was done, control is at its beginning afterwards. What is done at once
  /// is in one entry of a hidden level.
  std::uint64_t stretch(S& stack, const trace::RunExpander& ahead, std::uint64_t iterations, bool ends) {
    if constexpr (kStretches) {
      const PathTotals* totals = nullptr;
      const Dimension& innermost = stack.data.dimensions.back();
      const std::uint64_t most = std::min(iterations, innermost.period - innermost.counter);
      const std::uint64_t done = observer_.stretch(*this, stack, ahead, most, totals);
      const std::uint64_t passed = ends && done == iterations ? done - 1 : done;
      if (passed > 0) count_totals(*totals, passed);
      advance(stack.data, stack.data.dimensions.size() - 1, passed, passed);
      return done;
    } else {
      return 0;
    }
  }

  /// Iterations along several paths, each of which is one more of the innermost loop, and changes nothing else.
  std::uint64_t weave(S& stack, const trace::Run& run, std::uint64_t first, std::uint64_t iterations,
                      trace::RunExpander& expander, bool& learn) {
    if constexpr (kWeaves) {
      const Dimension& innermost = stack.data.dimensions.back();
      const std::uint64_t most = std::min(iterations, innermost.period - innermost.counter);
      woven_.fill({});
      const std::uint64_t done = observer_.weave(*this, stack, run, first, most, expander, woven_, learn);
      for (std::size_t path = 0; path < run.paths.size(); ++path)
        if (woven_[path].iterations > 0) count_totals(*woven_[path].totals, woven_[path].iterations);
      if (done > 0) advance(stack.data, stack.data.dimensions.size() - 1, done, done);
      return done;
    } else {
      return 0;
    }
  }

  void stop_watching() { journaling_ = false; }

  void begin_round(S& stack) {
    mark(stack);
    begin_journal(stack);
    serial_before_ = next_serial_;
    if constexpr (kRounds) observer_.begin_round(*this, stack);
  }
  void round_item(const trace::Run& run, std::size_t first) {
    if constexpr (kRounds) observer_.round_item(run, first);
  }
  void spoil_round() {
    journaling_ = false;
    if constexpr (kRounds) observer_.spoil_round();
  }
  /// Rounds can be done at once if each is one more iteration of one loop, and calls nothing.
  std::uint64_t end_round(S& stack, const Round& round) {
    const bool calls = !called_.empty();
    const PathEnd end = end_path(stack, kOfRound);
    const std::vector<Step>& steps = recorded_[kOfRound].steps;
    const std::vector<Dimension>& dimensions = stack.data.dimensions;
    const bool counts = end == PathEnd::kRepeatable && !calls && steps.size() == 1 && steps[0].counted == 1 &&
                        std::all_of(dimensions.begin(), dimensions.end(), [](const Dimension& dimension) {
                          return dimension.period == Dimension::kNoPeriod;
                        });
    if constexpr (kRounds) {
      round_serials_ = next_serial_ - serial_before_;
      if (counts) return observer_.end_round(*this, stack, round, steps[0].dimension);
      observer_.spoil_round();
    }
    return 0;
  }
  std::uint64_t take_rounds(S& stack, const Round& round, std::uint64_t first, std::uint64_t most) {
    if constexpr (kRounds) {
      const std::uint64_t done = observer_.take_rounds(*this, stack, round, first, most, round_serials_);
      if (done == 0) return 0;
      repeat(stack, kOfRound, done);
      next_serial_ += round_serials_ * done;
      return done;
    } else {
      return 0;
    }
  }
  void begin_silent_round(std::uint64_t weight) {
    if constexpr (kRounds) observer_.begin_silent_round(weight);
  }
  void end_silent_round() {
    if constexpr (kRounds) observer_.end_silent_round();
  }

 private:
  struct NodeInfo {
    LoopId innermost = kNoLoop;
    bool header = false;
  };
  /// The same by place, for the function whose node it is in the first place.
  struct PlaceInfo {
    FunctionId function = kNoFunction;
    NodeId node = kNoNode;
    LoopId innermost = kNoLoop;
    bool header = false;
  };
  /// What one iteration did to one context.
  struct Note {
    ContextId context = kNoContext;
    std::uint64_t instructions = 0;
    std::uint64_t memory = 0;
    std::uint64_t floating = 0;
    std::uint64_t entries = 0;
    std::uint64_t finished = 0;
    std::uint64_t iterations = 0;
    std::uint64_t trips = 0;
  };
  /// What it did to one dimension that stayed live.
  struct Step {
    std::size_t dimension = 0;
    std::uint64_t counted = 0;
    std::uint64_t headers = 0;
  };
  struct Recorded {
    std::vector<Note> journal;
    std::vector<Step> steps;
  };

  void add_function(FunctionId id) {
    const LoopForest& forest = structure_.forests[id];
    const std::size_t count = structure_.flow.functions()[id].places.size();
    std::vector<NodeInfo>& info = info_.emplace_back(count);
    for (NodeId node = 0; node < count; ++node) info[node] = {forest.innermost(node), forest.is_header(node)};
  }

  void add_places() {
    places_.resize(structure_.code.places());
    for (PlaceId place = 0; place < places_.size(); ++place) {
      const auto [function, node] = structure_.flow.owner(place);
      if (function == kNoFunction) continue;
      const NodeInfo& info = info_[function][node];
      places_[place] = {function, node, info.innermost, info.header};
    }
  }

  const PathTotals& totals_of_path() {
    totals_.notes.clear();
    for (const Note& note : recorded_[0].journal)
      totals_.notes.push_back({note.context, note.instructions, note.memory, note.floating, note.entries});
    totals_.activations = called_;
    return totals_;
  }
  void count_totals(const PathTotals& totals, std::uint64_t times) {
    for (const PathTotals::Note& note : totals.notes) {
      Context& context = tree_[note.context];
      context.instructions += times * note.instructions;
      context.memory += times * note.memory;
      context.floating += times * note.floating;
      context.entries += times * note.entries;
      if (journaling_) note_totals(note, times);
    }
    for (const FunctionId function : totals.activations) activations_[function] += times;
    if (journaling_) called_.insert(called_.end(), totals.activations.begin(), totals.activations.end());
  }
  void note_totals(const PathTotals::Note& totals, std::uint64_t times) {
    Note& n = note(totals.context);
    n.instructions += times * totals.instructions;
    n.memory += times * totals.memory;
    n.floating += times * totals.floating;
    n.entries += times * totals.entries;
  }

  Note& note(ContextId context) {
    if (journal_.empty() || journal_.back().context != context) journal_.push_back({context});
    return journal_.back();
  }
  void note_part(ContextId context, const Part& part) {
    Note& n = note(context);
    n.instructions += part.instructions;
    n.memory += part.memory;
    n.floating += part.floating;
  }
  void count_entry(ContextId context) {
    ++tree_[context].entries;
    if (journaling_) ++note(context).entries;
  }
  void finish_entry(ContextId context, std::uint64_t iterations, std::uint64_t trips) {
    Context& c = tree_[context];
    c.iterations.add(iterations, c.finished == 0);
    c.trips.add(trips, c.finished == 0);
    ++c.finished;
    if (!journaling_) return;
    Note& n = note(context);
    ++n.finished;
    n.iterations += iterations;
    n.trips += trips;
  }

  ContextId child(const ContextKey& key, std::uint32_t index, std::uint32_t minor) {
    const ContextId id = tree_.child(key, index, minor);
    if (!structure_.splits.empty() && id >= unsplit_.size()) note_unsplit(id, key);
    return id;
  }

  /// What a new context would have been without splits.
  void note_unsplit(ContextId id, ContextKey key) {
    if (unsplit_.empty()) unsplit_.push_back(LoopTree::root());
    const ContextId parent = unsplit_[key.parent];
    key.parent = parent;
    unsplit_.resize(id + std::size_t{1}, kNoContext);
    if (parent != kNoContext) unsplit_[id] = key.hidden != 0 ? parent : structure_.splits.find(key);
  }

  std::span<const std::uint64_t> periods_of(ContextId loop) const {
    return loop < unsplit_.size() ? structure_.splits.periods(unsplit_[loop]) : std::span<const std::uint64_t>{};
  }

  const typename Stack::Component* live(const Stack& state, ComponentId component) const {
    for (const typename Stack::Component& c : state.components)
      if (c.component == component) return &c;
    return nullptr;
  }
  std::uint64_t stamp(const Stack& state) const {
    return state.components.empty() ? 0 : state.dimensions[state.components.back().dimension].counter;
  }

  /// Algorithm 2, calls: what becomes of the state of `state` when `caller` calls `frame.function`.
  void enter(Stack& state, const Frame& caller, Frame& frame, std::uint32_t index) {
    const PlaceId site = structure_.flow.functions()[caller.function].places[caller.current];
    const ContextKey key{Context::Kind::kCall, {},     state.context, frame.function, site, caller.function,
                         caller.current,       kNoLoop};
    frame.caller_context = state.context;
    frame.stamp = stamp(state);
    const ComponentId component = structure_.recursion.component_of(frame.function);
    if (component == kNoComponent) {
      enter_call(state, key, index);
    } else if (live(state, component) == nullptr) {
      enter_component(state, frame, key, index);
    } else if (structure_.recursion.is_header(frame.function)) {
      iterate_component(state);
    } else {
      enter_call(state, key, index);
    }
    frame.dimensions = static_cast<std::uint32_t>(state.dimensions.size());
  }

  /// The static index of a call that `caller` makes after its loops were left: behind all that was in them.
  std::uint32_t index_outside_loops(const Frame& caller) const {
    if (info_[caller.function][caller.current].innermost == kNoLoop)
      return structure_.forests[caller.function].index_of(caller.current);
    return static_cast<std::uint32_t>(structure_.flow.functions()[caller.function].places.size());
  }

  void enter_call(Stack& state, const ContextKey& key, std::uint32_t index) {
    state.context = child(key, index, key.function);
    count_entry(state.context);
  }

  void enter_component(Stack& state, Frame& frame, ContextKey key, std::uint32_t index) {
    key.kind = Context::Kind::kRecursion;
    const ContextId outer = state.context;
    state.context = child(key, index, frame.function);
    count_entry(state.context);
    state.components.push_back(
        {structure_.recursion.component_of(frame.function), static_cast<std::uint32_t>(state.dimensions.size())});
    push_dimension(state, outer, kNoLoop, 0);
    frame.entered_component = true;
  }

  /// I_C and I_R.
  void iterate_component(Stack& state) {
    const std::size_t dimension = state.components.back().dimension;
    leave_loops(state, dimension + 1, kNoNode);
    ++state.dimensions[dimension].counter;
    state.context = state.dimensions[dimension].context;
  }

  /// Of the context that control is in now, entered from `outer`.
  void push_dimension(Stack& state, ContextId outer, LoopId loop, std::uint64_t headers) {
    state.dimensions.push_back({state.context, outer, loop, 0, headers, ++next_serial_, Dimension::kNoPeriod, 0});
  }

  void pop_dimension(Stack& state) {
    state.context = state.dimensions.back().outer;
    state.dimensions.pop_back();
    lowest_ = std::min(lowest_, state.dimensions.size());
  }

  /// Leaves loops until `count` dimensions are left; control was at `from` of the loops' function.
  void leave_loops(Stack& state, std::size_t count, NodeId from) {
    while (state.dimensions.size() > count) leave_loop(state, from);
  }

  void leave_loop(Stack& state, NodeId from) {
    const Dimension& dimension = state.dimensions.back();
    const Context& context = tree_[dimension.context];
    if (context.kind == Context::Kind::kLoop && context.loop == dimension.loop) {
      const std::vector<NodeId>& tests = structure_.tests[context.function][dimension.loop];
      const bool tested_at_top = dimension.headers > 0 && std::find(tests.begin(), tests.end(), from) != tests.end();
      if (dimension.level != 0) return leave_levels(state, tested_at_top);
      finish_entry(dimension.context, dimension.headers, dimension.headers - (tested_at_top ? 1 : 0));
    }
    pop_dimension(state);
  }

  /// All levels of a loop that is split. An iteration of a level that found only that the loop is over is no trip.
  void leave_levels(Stack& state, bool tested_at_top) {
    std::uint64_t counted = 0;
    std::uint64_t block = 1;  // iterations of the loop in one of the level
    bool only_tested = tested_at_top;
    for (bool more = true; more;) {
      const Dimension dimension = state.dimensions.back();
      finish_entry(dimension.context, dimension.headers, dimension.headers - (only_tested ? 1 : 0));
      only_tested = only_tested && dimension.headers == 1;
      counted += block * dimension.counter;
      more = dimension.level != 0;
      if (more)
        block *= dimension.period;
      else
        count_split(dimension, counted + (dimension.headers - dimension.counter), tested_at_top);
      pop_dimension(state);
    }
  }

  void count_split(const Dimension& outermost, std::uint64_t iterations, bool tested_at_top) {
    const bool first = !tree_.splits().contains(outermost.context);
    SplitCounts& counts = tree_.splits()[outermost.context];
    counts.iterations.add(iterations, first);
    counts.trips.add(iterations - (tested_at_top ? 1 : 0), first);
  }

  void arrive_at_entry(S& stack) {
    Frame& frame = stack.frames.back().data;
    frame.current = 0;
    if constexpr (kValues) {
      activations_.resize(structure_.forests.size());
      frame.activation = activations_[frame.function]++;
      if (journaling_) called_.push_back(frame.function);
    }
    move(stack, frame, kNoNode);
  }

  /// Algorithm 1: control has come to frame.current.
  void move(S& stack, const Frame& frame, NodeId from) {
    Stack& state = stack.data;
    const NodeInfo info = info_[frame.function][frame.current];
    const LoopId now = innermost(state, frame);
    if (now == info.innermost) {
      if (info.header) iterate(state);
      return;
    }
    const LoopForest& forest = structure_.forests[frame.function];
    LoopId live = now;
    while (live != kNoLoop && !forest.encloses(live, info.innermost)) {
      leave_loop(state, from);
      live = innermost(state, frame);
    }
    if (live == info.innermost) {
      if (info.header) iterate(state);
      return;
    }
    enter_loops(state, frame, live, info);
  }

  LoopId innermost(const Stack& state, const Frame& frame) const {
    return state.dimensions.size() > frame.dimensions ? state.dimensions.back().loop : kNoLoop;
  }

  [[gnu::always_inline]] void iterate(Stack& state) {
    Dimension& innermost = state.dimensions.back();
    ++innermost.headers;
    if (++innermost.counter == innermost.period) [[unlikely]]
      begin_again(state, state.dimensions.size() - 1);
  }

  /// Counts a dimension on. Nothing inside it stays as it is if a hidden level begins again.
  void advance(Stack& state, std::size_t at, std::uint64_t counted, std::uint64_t headers) {
    Dimension& dimension = state.dimensions[at];
    dimension.counter += counted;
    dimension.headers += headers;
    if (dimension.counter >= dimension.period) [[unlikely]]
      begin_again(state, at);
  }

  /// The counter of a hidden level has gone past its period, perhaps several times.
  [[gnu::noinline]] void begin_again(Stack& state, std::size_t at) {
    Dimension& dimension = state.dimensions[at];
    const std::uint64_t entries = dimension.counter / dimension.period;
    const std::uint64_t counter = dimension.counter % dimension.period;
    const std::uint64_t whole = (entries - 1) * dimension.period;
    const std::uint64_t first = dimension.headers - whole - counter - 1;
    finish_entry(dimension.context, first, first);
    if (entries > 1) finish_entries(dimension.context, dimension.period, entries - 1);
    tree_[dimension.context].entries += entries;
    if (journaling_) note(dimension.context).entries += entries;
    dimension.counter = counter;
    dimension.headers = counter + 1;
    dimension.serial = ++next_serial_;
    lowest_ = std::min(lowest_, at);
    advance(state, at - 1, entries, entries);
  }

  /// Entries of a hidden level that came to its period.
  void finish_entries(ContextId context, std::uint64_t period, std::uint64_t entries) {
    finish_entry(context, period, period);
    Context& c = tree_[context];
    c.finished += entries - 1;
    c.iterations.total += (entries - 1) * period;
    c.trips.total += (entries - 1) * period;
    if (!journaling_) return;
    Note& n = note(context);
    n.finished += entries - 1;
    n.iterations += (entries - 1) * period;
    n.trips += (entries - 1) * period;
  }

  /// Enters the loops inside `outer` down to the one that control has come to.
  void enter_loops(Stack& state, const Frame& frame, LoopId outer, NodeInfo info) {
    const LoopForest& forest = structure_.forests[frame.function];
    entering_.clear();
    for (LoopId loop = info.innermost; loop != outer; loop = forest.loops()[loop].parent) entering_.push_back(loop);
    while (!entering_.empty()) {
      const LoopId loop = entering_.back();
      entering_.pop_back();
      const ContextId outer_context = state.context;
      const ContextKey key{Context::Kind::kLoop, {},      outer_context, frame.function, kNoPlace,
                           kNoFunction,          kNoNode, loop};
      state.context = child(key, forest.index_of_loop(loop), 0);
      count_entry(state.context);
      const bool at_header = loop == info.innermost && info.header;
      push_dimension(state, outer_context, loop, at_header ? 1 : 0);
      if (!structure_.splits.empty()) enter_levels(state, key, forest.index_of_loop(loop));
    }
  }

  /// The hidden levels of the loop that was just entered.
  void enter_levels(Stack& state, ContextKey key, std::uint32_t index) {
    for (const std::uint64_t period : periods_of(state.context)) {
      const Dimension outer = state.dimensions.back();
      key.parent = state.context;
      ++key.hidden;
      state.context = child(key, index, 0);
      tree_[state.context].period = period;
      count_entry(state.context);
      push_dimension(state, outer.context, outer.loop, outer.headers);
      state.dimensions.back().period = period;
      state.dimensions.back().level = key.hidden;
    }
  }

  const Structure& structure_;
  LoopTree& tree_;
  Observer& observer_;
  std::vector<std::vector<NodeInfo>> info_;  // by function and node
  std::vector<PlaceInfo> places_;
  trace::ThreadId thread_ = 0;
  std::vector<bool> ran_;  // by thread
  std::uint64_t next_stack_ = 0;
  std::uint64_t next_serial_ = 0;
  std::vector<std::uint64_t> activations_;  // by function: how many there were
  std::vector<LoopId> entering_;
  std::vector<ContextId> unsplit_;  // by context: without splits

  bool passing_ = false;  // the observer has taken what control passes through

  // Of the iteration of a run that is being recorded.
  bool journaling_ = false;
  std::vector<Note> journal_;
  std::vector<FunctionId> called_;
  PathTotals totals_;
  std::vector<Dimension> marked_;
  ContextId marked_context_ = kNoContext;
  std::vector<Dimension> before_;
  std::size_t lowest_ = 0;  // dimensions there were at the least since the iteration began
  // Of all paths that are repeatable: the least of their lowest_, and one more than the last dimension that they count.
  std::size_t repeatable_lowest_ = 0;
  std::size_t repeatable_steps_ = 0;
  static constexpr std::size_t kOfRound = trace::kMaxRunPaths;
  std::array<Recorded, trace::kMaxRunPaths + 1> recorded_;  // by path; and that of a round
  std::uint64_t serial_before_ = 0;                         // the round
  std::uint64_t round_serials_ = 0;                         // that a round needs
  Woven woven_;
};

}  // namespace loopfold::structure
