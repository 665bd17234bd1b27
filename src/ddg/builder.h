// Pass 2 with everything: an observer of the loop walk that follows values through registers and memory, event by
// event and cell by cell, and feeds the streams (graph.h says what they are).
//
// Per event: the registers that each part reads from outside are looked up in the shadow of the thread's registers,
// loads in shadow memory, byte by byte; then the part's own writes take their place there. Iteration vectors are kept
// by reference (entries.h). In the plain form, every operand of every instance goes to its stream at once. Else what an
// instance did is written into the journal of its site, and goes to the streams with that of others (journal.h); and
// iterations of a loop that follow one path are done many at a time (builder_stretch.cc). The result is the same;
// Options::by_runs turns both off.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "ddg/analysis.h"
#include "ddg/entries.h"
#include "ddg/feed.h"
#include "ddg/graph.h"
#include "ddg/journal.h"
#include "ddg/objects.h"
#include "ddg/origin_tracker.h"
#include "ddg/part_code.h"
#include "ddg/recorded_round.h"
#include "ddg/row_memo.h"
#include "ddg/shadow_memory.h"
#include "ddg/streams.h"
#include "ddg/stretch.h"
#include "ddg/trail.h"
#include "ddg/weave.h"
#include "structure/loop_walk.h"
#include "structure/structure.h"
#include "trace/decode.h"
#include "trace/reader.h"

namespace loopfold::ddg {

/// What the walk knows about a frame of the stack.
struct FrameView {
  std::uint64_t stack_pointer = 0;  // at entry, where the return address is
  bool known = false;               // the stack pointer is
  structure::FunctionId function = structure::kNoFunction;
  std::uint64_t activation = 0;
};

/// Where control is.
struct Where {
  trace::ThreadId thread = 0;
  std::uint64_t stack = 0;  // number of the stack, unique
  structure::Origin origin = structure::Origin::kThread;
  structure::ContextId context = structure::kNoContext;
  structure::NodeId node = structure::kNoNode;
  structure::FunctionId function = structure::kNoFunction;
  std::span<const structure::Dimension> dimensions;
  // The frames of the stack, the oldest first.
  FrameView oldest;
  FrameView youngest;
  const void* frames = nullptr;
  std::size_t depth = 0;
  FrameView (*frame)(const void* frames, std::size_t index) = nullptr;
};

class Builder {
 public:
  static constexpr bool kEveryPart = true;
  static constexpr bool kValues = true;
  static constexpr bool kStretches = true;
  static constexpr bool kWeaves = true;
  static constexpr bool kRounds = true;

  Builder(const trace::Reader& reader, const structure::Structure& structure, const structure::LoopTree& tree,
          symbols::Symbolizer& symbolizer, const Options& options);

  // ---- Observer of LoopWalk ---------------------------------------------------------------------------------------

  template <class Walk, class S>
  void event(const Walk&, const S&, trace::ExitId exit, const std::uint64_t* slots) {
    exit_ = exit;
    slots_ = slots;
    next_part_ = structure_.code.exit(exit).first_part;
    if (recording_path_) note_path_event();
    if (++events_ >= next_check_) check_limits();
  }
  template <class Walk, class S>
  [[gnu::always_inline]] void part(const Walk& walk, const S& stack, const structure::Part& part) {
    const structure::Dimension& innermost = stack.data.dimensions.back();
    const auto& frame = stack.frames.back().data;
    if (trail_.node != nullptr && trail_.serial == innermost.serial && trail_.counter == innermost.counter &&
        trail_.thread_id == walk.thread() && !recording_path_ && !round_.watching) [[likely]] {
      TrailNode* const next = trail_.node->next;
      if (next != nullptr && next->is(next_part_, stack.data.context, frame.function, frame.current)) [[likely]] {
        ++next_part_;
        trail_.node = next;
        if (!next->needs_place) return go_on_trail(*next, nullptr);
        const Where at = where(walk.thread(), stack);
        return go_on_trail(*next, &at);
      }
    }
    execute_at(walk, stack, part);
  }
  template <class Walk, class S>
  [[gnu::noinline]] void execute_at(const Walk& walk, const S& stack, const structure::Part& part) {
    execute(where(walk.thread(), stack), part);
  }
  template <class Walk, class S>
  void side(const Walk&, const S* stack, const trace::SideEvent& event) {
    path_is_whole_ = false;
    round_.whole = false;
    if (stack == nullptr || stack->frames.empty())
      follow(nullptr, event);
    else
      follow_at(where(event.thread, *stack), event);
  }

  /// A frame is about to be popped: its cells have no producers any more.
  template <class Walk, class S>
  void leave(const Walk&, const S& stack) {
    const FrameView frame = view(stack.frames.back());
    const bool forgets =
        events_ != resumed_at_ && frame.known && !(stack.dropped && stack.origin == structure::Origin::kCoroutine);
    round_.whole = false;
    if (recording_path_) note_path_leave(stack.data.id, stack.frames.size(), forgets);
    if (forgets) leave_frame(stack.data.id, frame.stack_pointer);
  }

  template <class Walk, class S>
  void end(const Walk&, const S& stack) {
    stacks_.erase(stack.data.id);
    last_stack_ = ~std::uint64_t{0};
  }

  /// An iteration begins that may be followed by others like it.
  void begin_path() {
    recording_path_ = true;
    path_is_whole_ = true;
    path_.clear();
    path_events_ = 0;
  }
  /// Whether iterations along this path, from here, can be taken at once.
  template <class Walk, class S>
  structure::Known known_path(const Walk&, const S& stack, std::span<const trace::ExitId> exits) {
    if (!options_.by_runs) return structure::Known::kImpossible;
    return find_path(path_key(where(0, stack)), exits);
  }
  /// An iteration along it ended; if there are totals, all that changed is that the innermost loop counted one.
  template <class Walk, class S>
  void learn_path(const Walk&, const S& stack, std::span<const trace::ExitId> exits,
                  const structure::PathTotals* totals) {
    recording_path_ = false;
    remember_path(path_key(where(0, stack)), exits, totals);
  }
  /// Takes some of the next iterations, along the path that was found last.
  template <class Walk, class S>
  std::uint64_t stretch(const Walk& walk, const S& stack, const trace::RunExpander& ahead, std::uint64_t iterations,
                        const structure::PathTotals*& totals) {
    totals = &found_plan_->totals;
    stretch_.activations.clear();
    for (const PathStack::Frame& frame : found_plan_->stack.frames)
      stretch_.activations.push_back(walk.next_activation(frame.function) + frame.activation);
    return stretch_at(where(walk.thread(), stack), ahead, iterations);
  }

  /// Takes some of the next iterations of a run, along whatever paths. If none: `learn` says that the path of the next
  /// one is to be learned.
  template <class Walk, class S>
  std::uint64_t weave(const Walk& walk, const S& stack, const trace::Run& run, std::uint64_t first,
                      std::uint64_t iterations, trace::RunExpander& expander, structure::Woven& woven, bool& learn) {
    if (!options_.by_runs) return 0;
    return weave_at(where(walk.thread(), stack), run, first, iterations, expander, woven, learn);
  }

  /// Rounds (builder_rounds.cc).
  template <class Walk, class S>
  void begin_round(const Walk& walk, const S& stack) {
    begin_round(where(walk.thread(), stack));
  }
  void round_item(const trace::Run& run, std::size_t first);
  void spoil_round() { round_.watching = round_.recording = false; }
  /// A round ended, in which the loop with this dimension counted one: so many more may be taken.
  template <class Walk, class S>
  std::uint64_t end_round(const Walk& walk, const S& stack, const structure::Round& round, std::size_t dimension) {
    return end_round(where(walk.thread(), stack), round, dimension);
  }
  template <class Walk, class S>
  std::uint64_t take_rounds(const Walk& walk, const S& stack, const structure::Round& round, std::uint64_t first,
                            std::uint64_t most, std::uint64_t serials) {
    return take_rounds(where(walk.thread(), stack), round, first, most, serials);
  }
  void begin_silent_round(std::uint64_t weight);
  void end_silent_round();

  /// The whole result but for the damage; the builder is of no use afterwards.
  void finish(Graph& graph);

  std::uint64_t instructions() const { return instructions_; }

 private:
  using Registers = std::vector<Cell>;  // by granule
  static constexpr std::uint64_t kNoStack = ~std::uint64_t{0};
  static constexpr std::uint64_t kNotYet = ~std::uint64_t{0};
  static constexpr std::uint64_t kRedZone = 128;
  static constexpr std::uint64_t kAboveFirstFrame = 64 * 1024;  // of the first frame: arguments and environment

  /// An instance and its cell.
  struct Instance {
    SiteId site = 0;
    EntryId entry = kNoEntry;
    std::uint64_t counter = 0;
  };
  struct Level {
    std::uint64_t serial = 0;
    EntryId entry = kNoEntry;
    std::uint64_t since = 0;  // slice in which the loop was entered
    std::uint64_t slice = 0;  // of the entry: the last one in which something happened at this level
  };
  struct ThreadState {
    Registers registers;
    RegisterOrigins origins;
    struct Saved {
      Registers registers;
      RegisterOrigins origins;
      std::uint64_t stack_pointer = 0;
    };
    std::vector<Saved> saved;  // by signal handlers
    std::uint64_t stack_pointer = 0;
    std::uint64_t left = kNoStack;  // the stack that the pointer has left while control is on it still
    bool in_system_call = false;
    Instance system_call;
    std::vector<std::int64_t> system_call_point;
    std::vector<Level> system_call_levels;
    std::uint32_t kernel_reads = 0;
    std::int64_t kernel_chunks = 0;  // of the last operand, which all further reads share
  };
  struct StackState {
    std::vector<Level> levels;
    std::uint64_t base = 0;          // the first stack pointer that was seen
    std::uint64_t pointer = 0;       // the last one
    std::uint64_t lowest = kNotYet;  // of all since a frame was left last
    bool lowest_unsure = false;      // it was set to something lower that may be on another stack
    std::uint64_t parts = 0;         // that ran
    std::vector<SiteId> since;       // sites of what happened outside since the last one
    std::uint64_t since_parts = 0;
  };

  /// The instance of a part that runs, with what all of it needs.
  struct Running {
    const Where& where;
    const Instance instance;
    const Streams::Located at;
    const std::uint64_t serial;  // of the entry of the innermost loop
    ThreadState& thread;
    StackState& stack;
    Journal* journal = nullptr;    // that it is written into, if it is
    std::uint64_t* row = nullptr;  // of that
  };

  /// Where a part ran last: it runs there again, mostly.
  struct LastSite {
    structure::ContextId context = structure::kNoContext;
    structure::FunctionId function = structure::kNoFunction;
    structure::NodeId node = structure::kNoNode;
    SiteId site = 0;
    std::uint64_t stack = 0;
    OriginRecords::Uses* uses = nullptr;
    Journal* journal = nullptr;  // of the site, if it has one
  };

  template <class Frame>
  static FrameView view(const Frame& frame) {
    return {frame.stack_pointer, frame.stack_pointer != ~std::uint64_t{0}, frame.data.function, frame.data.activation};
  }
  template <class S>
  static FrameView frame_view(const void* frames, std::size_t index) {
    return view(static_cast<const S*>(frames)->frames[index]);
  }
  template <class S>
  static Where where(trace::ThreadId thread, const S& stack) {
    const auto& frame = stack.frames.back().data;
    return {thread,
            stack.data.id,
            stack.origin,
            stack.data.context,
            frame.current,
            frame.function,
            stack.data.dimensions,
            view(stack.frames.front()),
            view(stack.frames.back()),
            &stack,
            stack.frames.size(),
            &frame_view<S>};
  }

  /// Statements are kept apart by it: signal handlers do not run beside each other.
  static std::uint64_t stack_number(const Where& where) {
    return where.origin == structure::Origin::kSignalHandler ? 0 : where.dimensions.front().counter;
  }

  ThreadState& thread(trace::ThreadId id) {
    return id < threads_.size() && threads_[id] ? *threads_[id] : new_thread(id);
  }
  ThreadState& new_thread(trace::ThreadId id);
  StackState& stack(std::uint64_t id) { return id == last_stack_ ? *last_stack_state_ : other_stack(id); }
  StackState& other_stack(std::uint64_t id);
  const PartCode& code_of(std::uint32_t part, const structure::Part& what) {
    return parts_[part] ? *parts_[part] : new_code(part, what);
  }
  const PartCode& new_code(std::uint32_t part, const structure::Part& what);
  std::uint32_t variant_of(const PartCode& code, structure::PlaceId place);
  const LastSite& site_of(const Where& where, std::uint32_t part, const structure::Part& what, const PartCode& code) {
    const LastSite& last = last_sites_[part];
    const bool same = last.site != 0 && last.context == where.context && last.function == where.function &&
                      last.node == where.node && last.stack == stack_number(where);
    return same ? last : find_site(where, part, what, code);
  }
  const LastSite& find_site(const Where& where, std::uint32_t part, const structure::Part& what, const PartCode& code);
  [[gnu::always_inline]] void prefetch(const PartCode& code, const Streams::Located& at, bool streams) const;

  void execute(const Where& where, const structure::Part& part);
  /// Brings the entries of the stack up to date, sets point_, and gives the cell of what happens here.
  Instance enter(const Where& where, StackState& stack, SiteId site);
  void read_registers(const Running& part, const PartCode& code, std::uint64_t top);
  void read_apart(SiteId site, const PartCode& code, const RegisterRead& read, std::uint64_t top,
                  const Registers& registers);
  static void note_apart(Journal& journal, const PartCode& code, const RegisterRead& read, const Registers& registers);
  static void note_place(std::uint64_t* noted, const Objects::Place& place, bool copy) {
    noted[0] = place.object | Journal::kHappened | (copy ? Journal::kCopy : 0);
    noted[1] = static_cast<std::uint64_t>(place.block);
    noted[2] = static_cast<std::uint64_t>(place.offset);
  }
  void read_granules(std::span<const LiveIn> granules, std::uint64_t top, bool x87, Streams::Reader& reader,
                     const Registers& registers);
  void store(const Running& part, const MemoryAccess& access, std::uint64_t address);
  void load(const Running& part, const MemoryAccess& access, std::uint64_t address, std::size_t access_index);
  void write_registers(const PartCode& code, const Instance& instance, ThreadState& thread, std::uint64_t top);
  void forget_registers(ThreadState& thread);
  OriginTracker::Instance tracked(const Instance& instance, OriginRecords::Uses* uses = nullptr) const {
    return {instance.site,
            instance.entry,
            instance.counter,
            levels_->back().serial,
            point_.data(),
            !streams_.cold(instance.site),
            uses};
  }
  void depend(const Streams::Reader& reader, const Cell& cell);
  void depend(const Running& part, const Streams::Reader& reader, const Cell& cell);
  const std::int64_t* vector_near(const Cell& cell, std::size_t& equal);
  const std::int64_t* vector_of(const Cell& cell);
  /// Coordinates of loops that were entered before another stack produced what is in the cell.
  std::span<const std::uint16_t> late_levels(const Cell& cell) {
    return slice_ <= 1 ? std::span<const std::uint16_t>{} : find_late_levels(cell);
  }
  std::span<const std::uint16_t> find_late_levels(const Cell& cell);
  void values(const Running& part, const PartCode& code, const trace::Block& block,
              std::span<const std::uint64_t> slots);
  void follow_stack_pointer(const Where& where, const PartCode& code, std::uint16_t instruction, ThreadState& thread,
                            StackState& stack);
  static void note_stack_pointer(StackState& stack, std::uint64_t now, bool moved);
  void leave_frame(std::uint64_t stack, std::uint64_t stack_pointer);
  static std::uint64_t end_of_stack(const Where& where, const StackState& stack);
  Objects::Place locate(const Where& where, const ThreadState& thread, const StackState& stack, std::uint64_t address);
  static std::size_t frame_at(const Where& where, std::uint64_t address);
  Objects::Place in_frame(const Where& where, std::uint64_t address);
  bool in_youngest_frame(const Where& where, const ThreadState& thread, const StackState& stack,
                         std::uint64_t address) const;

  void follow_at(const Where& where, const trace::SideEvent& event) { follow(&where, event); }
  void follow(const Where* where, const trace::SideEvent& event);
  void allocation(const Where* where, trace::ThreadId thread, const trace::Allocation& allocation);
  void move_block(const trace::Allocation& allocation);
  void hidden(const Where* where, trace::ThreadId thread, const trace::Hidden& hidden);
  void system_call(const Where* where, trace::ThreadId thread, const trace::SyscallEnter& call);
  void system_call_returns(trace::ThreadId thread);
  void kernel_access(trace::ThreadId thread, const trace::KernelAccess& access);
  void mapping(const trace::Mapping& mapping);
  void signal(trace::ThreadId thread, const trace::Signal& signal);

  /// A statement that is no code: an instance of it here.
  Instance outside(const Where& where, Statement::Kind kind, std::uint32_t detail);
  void read_arguments(const Instance& instance, ThreadState& thread, std::span<const std::uint8_t> registers);
  void forget_call_registers(ThreadState& thread);
  void produce(ThreadState& thread, const Instance& instance, std::span<const Granules::Piece> granules);

  // ---- Several instances of a site at once (builder_journal.cc) ----------------------------------------------------

  /// For the part that runs, if it is to be written down; else null.
  Journal* journal_for(const LastSite& last, const Streams::Located& at, std::uint32_t part, const PartCode& code);
  std::uint64_t* begin_row(Journal& journal, const PartCode& code) {
    std::uint64_t* const row = journal.begin(code);
    return row != nullptr ? row : begin_row_slowly(journal, code);
  }
  std::uint64_t* begin_row_slowly(Journal& journal, const PartCode& code);
  void settle(Journal& journal);
  void settle(SiteId site) {
    if (site < journals_.size() && journals_[site] && !journals_[site]->empty()) settle(*journals_[site]);
  }
  void settle_all();
  void note_since();

  // ---- Parts that follow each other (builder_trail.cc) --------------------------------------------------------------

  /// The trail that is being followed.
  struct Trail {
    TrailNode* node = nullptr;  // the last part; null: none is
    ThreadState* thread = nullptr;
    StackState* stack = nullptr;
    EntryId entry = kNoEntry;
    std::uint64_t counter = 0;
    std::uint64_t serial = 0;
    trace::ThreadId thread_id = 0;
  };
  TrailNode* follow_trail(const Where& where, const Instance& instance, const LastSite* last, std::uint32_t part,
                          const PartCode& code);
  void run_trail(const TrailNode& node, const Where* where);
  bool must_end_behind(const TrailNode& node) const;
  void go_on_trail(const TrailNode& node, const Where* where) {
    run_trail(node, where);
    if (must_end_behind(node)) [[unlikely]]
      end_trail();
  }
  TrailNode* begin_trail(const Where& where, const LastSite& last, std::uint32_t part, const PartCode& code);
  TrailNode* new_trail(TrailNode* parent, const Where& where, const LastSite& last, std::uint32_t part,
                       const PartCode& code);
  void read_in_trail(const TrailNode& node, std::uint64_t* row);
  void read_mixed(const TrailNode& node, std::uint64_t* row);
  void run_accesses(const TrailNode& node, const Where* where, std::uint64_t* row);
  void take_pointers(const PartCode& code, const std::uint64_t* row);
  /// Addresses from there on are on the stack, if they are not behind its end.
  std::uint64_t lowest_on_stack(const Where& where, const ThreadState& thread) const {
    return thread.left != where.stack && lowest_ != 0 ? lowest_ - kRedZone : ~std::uint64_t{0};
  }
  bool load_in_trail(const TrailNode& node, const TrailNode::Access& access, std::uint64_t address, std::uint64_t* row);
  bool load_several(const TrailNode& node, const MemoryAccess& access, std::uint64_t address, std::uint64_t* row);
  /// Registers become what they are behind the trail.
  void end_trail() {
    if (trail_.node != nullptr) write_trail();
  }
  void write_trail();
  void leave_behind(std::span<const TrailNode::Out> outs, const PartCode& end);

  // ---- Many iterations at once (builder_stretch.cc) ---------------------------------------------------------------

  /// Of the stretch that runs.
  struct Stretch {
    /// How origins are followed.
    enum class Origins : std::uint8_t { kEnds, kAll, kNotYet };
    /// A value that is not even, iteration by iteration.
    struct Uneven {
      const PathPart* part = nullptr;
      const trace::Value* value = nullptr;
      std::vector<std::uint64_t> values;
    };
    struct Value {
      std::uint32_t part = 0;
      const IntegerValue* value = nullptr;
      Progression labels;
      std::uint32_t column = 0;  // in `uneven`
    };
    struct Register {
      const StretchPlan::Read* read = nullptr;
      std::uint8_t lane = 0;
      Cell cell;  // in the first of these iterations
      std::int64_t step = 0;
      std::uint64_t first = 0;  // iteration
      std::uint64_t n = 0;
    };
    /// Where control is in a frame that is called in each iteration.
    struct Called {
      const Where* loop = nullptr;
      std::vector<FrameView> frames;  // behind those of the loop
      Where where;
    };
    const Where* where = nullptr;
    ThreadState* thread = nullptr;
    StackState* stack = nullptr;
    std::vector<std::uint64_t> activations;  // by frame of the plan: in the first iteration
    std::vector<Called> called;              // by frame of the plan
    std::vector<PathStack::Clear> clears;    // with addresses
    bool clears_matter = false;              // a load may find what they leave
    std::uint64_t n = 0;                     // iterations
    EntryId entry = kNoEntry;                // of the loop
    std::uint64_t counter = 0;               // of the first iteration
    std::uint64_t serial = 0;
    Origins origins = Origins::kEnds;
    bool slots_change = false;  // what is where values are spilled is another one after the first iteration
    /// Where the stretch spills something in every iteration, and what was there when one began.
    struct Slot {
      std::uint64_t address = 0;
      std::uint32_t size = 0;
      Cell cell;
      Provenance value;
    };
    std::vector<Slot> slots;
    std::vector<Value> values;
    std::vector<Uneven> uneven;
    std::vector<Register> registers;      // none if they repeat
    bool registers_repeat = false;        // they are those of the last stretch along the path, moved on
    std::vector<StretchAccess> accesses;  // the first access_count of them
    std::size_t access_count = 0;
    std::size_t uneven_count = 0;
    std::size_t in_order = 0;  // accesses whose turn is kInOrder
    /// What a store touches in all iterations.
    struct Stored {
      std::uint64_t lowest = 0;
      std::uint64_t highest = 0;
      std::uint64_t reach = 0;   // the greatest of these, up to this store
      std::uint32_t access = 0;  // number
    };
    std::vector<Stored> stored;  // by the lowest byte
  };
  /// Origins of exposed registers when an iteration began.
  struct Snapshot {
    const StretchPlan* plan = nullptr;
    EntryId entry = kNoEntry;
    std::uint64_t counter = 0;
    std::vector<std::uint8_t> where;
    std::vector<Cell> origins;
  };
  void note_path_event() {
    if (path_events_++ == 0) path_slots_ = slots_;
  }
  void note_path_part(const Where& where, PathPart part);
  void begin_path_stack(const Where& where);
  std::uint32_t path_frame(const Where& where);
  void note_path_leave(std::uint64_t stack, std::size_t depth, bool forgets);
  bool finish_path_stack(const structure::PathTotals& totals);
  bool number_activations(const structure::PathTotals& totals);
  bool enter_frames(const StretchPlan& plan);
  const Where& where_of(const StretchAccess& at) const {
    return found_plan_->stack.frames.empty() ? *stretch_.where
                                             : stretch_.called[found_plan_->parts[at.part].frame].where;
  }
  std::int64_t activations_of(const Objects::Place& place) const;
  Objects::Place place_of(const StretchAccess& at, std::uint64_t address, std::uint64_t k);
  bool is_forgotten(std::uint64_t first, std::uint64_t last) const;
  void find_leftovers();
  bool is_stored_before(const StretchAccess& load) const;
  void forget_frames(std::size_t& next, std::size_t part);
  /// Where a path begins: what its statements depend on, beside its exits.
  struct PathKey {
    structure::ContextId context = structure::kNoContext;
    structure::FunctionId function = structure::kNoFunction;
    std::uint64_t stack = 0;
    friend bool operator==(const PathKey&, const PathKey&) = default;
  };
  struct KnownPath {
    PathKey key;
    std::vector<trace::ExitId> exits;
    unsigned failures = 0;  // to learn it
    StretchPlan plan;
    WeavePlan weave;
  };
  static constexpr unsigned kMostFailures = 3;
  static constexpr std::size_t kMostPaths = std::size_t{1} << 17;  // that are remembered
  static PathKey path_key(const Where& where) { return {where.context, where.function, stack_number(where)}; }
  struct PathKeyHash {
    std::size_t operator()(const PathKey& key) const { return path_hash(key, 0); }
  };
  /// Of paths that begin with this exit at this place.
  static std::uint64_t path_hash(const PathKey& key, trace::ExitId exit) {
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15u;
    return ((key.context * kMix ^ exit) * kMix ^ key.function) * kMix ^ key.stack;
  }
  KnownPath* known(const PathKey& key, std::span<const trace::ExitId> exits);
  structure::Known find_path(const PathKey& key, std::span<const trace::ExitId> exits);
  void remember_path(const PathKey& key, std::span<const trace::ExitId> exits, const structure::PathTotals* totals);
  std::uint64_t stretch_at(const Where& where, const trace::RunExpander& ahead, std::uint64_t n);

  // Iterations along several paths (builder_weave.cc).
  bool plan_weave(const structure::PathTotals& totals, WeavePlan& into) const;
  std::uint64_t weave_at(const Where& where, const trace::Run& run, std::uint64_t first, std::uint64_t n,
                         trace::RunExpander& expander, structure::Woven& woven, bool& learn);
  WeavePlan* find_weave(const PathKey& key, std::span<const trace::ExitId> exits, bool& learn);
  bool make_threads(const PathKey& key, WeavePlan& plan);
  TrailNode* node_of(const PathPart& part, TrailNode* before);
  void weave_iteration(const Where& where, const Instance& instance, WeavePlan& plan, const std::uint64_t* slots);
  void begin_woven(const Where& where, std::uint64_t counter, OriginTracker::Loads& loads);
  void end_woven(OriginTracker::Loads& loads);
  void break_woven(const Where& where, const Instance& instance, WeavePlan& plan, const std::uint64_t* slots,
                   std::size_t at);
  void write_rest(const Where& where);

  std::span<StretchAccess> stretch_accesses() { return {stretch_.accesses.data(), stretch_.access_count}; }
  std::span<const StretchAccess> stretch_accesses() const { return {stretch_.accesses.data(), stretch_.access_count}; }
  void list_stores();
  /// Whether one of the stores that may touch these bytes `is` so.
  template <class Is>
  bool any_store(std::uint64_t first, std::uint64_t last, const Is& is) const {
    const std::vector<Stretch::Stored>& stored = stretch_.stored;
    auto at = std::partition_point(stored.begin(), stored.end(),
                                   [&](const Stretch::Stored& store) { return store.lowest <= last; });
    while (at != stored.begin() && (--at)->reach >= first)
      if (at->highest >= first && is(stretch_.accesses[at->access])) return true;
    return false;
  }
  std::uint64_t look_ahead(const StretchPlan& plan, const trace::RunExpander& ahead, std::uint64_t n);
  void list_uneven(const StretchPlan& plan, const trace::RunExpander& ahead, std::uint64_t n);
  bool list_column(const trace::RunExpander& ahead, Stretch::Uneven& uneven, std::uint64_t n);
  bool locate_accesses(const StretchPlan& plan);
  Objects::Extent extent_of(const Where& where, const ThreadState& thread, const StackState& stack,
                            std::uint64_t address);
  bool find_reloads();
  bool add_slot(const StretchAccess& store);
  bool is_used_at_once(const StretchAccess& store) const;
  bool are_loads_steady() const;
  bool finds_no_spill(const StretchAccess& load);
  bool is_steady(const StretchAccess& load) const;
  bool is_slot(std::uint64_t address) const;
  /// What a load at one place gets: what was there before the stretch; what all iterations store there, as a whole; or
  /// some of both.
  enum class Found : std::uint8_t { kBefore, kStored, kBoth };
  Found found_by(const StretchAccess& load) const;
  Stretch::Origins compare_slots(std::uint64_t k);
  void move_slots(std::uint64_t iterations);
  Stretch::Origins origins_of_stretch(const StretchPlan& plan, std::uint64_t k);
  bool keeps_uneven(const StretchPlan& plan, const StretchAccess& at) const;
  bool is_rewritten_at_once(const StretchAccess& load) const;
  const StretchAccess* load_of(const Provenance& provenance) const;
  bool is_of_loop(SiteId reader, const Cell& cell);
  void take_turns(const StretchPlan& plan);
  void load_before(StretchAccess& at);
  bool load_as_before(StretchAccess& at, const RowMemo::Row& row);
  std::optional<RowMemo::Writers> look_at_row(StretchAccess& at);
  bool take_turns_throughout(const StretchAccess& at);
  bool load_in_turns(StretchAccess& at);
  std::size_t find_turns(const StretchAccess& at);
  std::uint64_t pass_empty(const StretchAccess& at, std::uint64_t k) const;
  std::uint64_t pass_cells(StretchAccess& at, std::uint64_t k) const;
  bool take_cell(StretchAccess& at, std::uint64_t k);
  void store_behind(const StretchAccess& at);

  // Accesses that are elsewhere in each iteration (builder_stretch_gather.cc).
  bool is_in_one_block(const StretchAccess& at);
  bool may_gather(const StretchAccess& at) const;
  bool gather(StretchAccess& at);
  void note_lane_of(StretchAccess& at) const;
  std::size_t gathered_chunk(const StretchAccess& at, std::uint64_t k);
  void fold_gathered(StretchAccess& at);
  bool is_shown_uneven(const StretchPlan& plan, const StretchAccess& at) const;
  void note_uneven(const StretchPlan& plan) const;
  void touch_frame(const StretchAccess& at, std::uint64_t address, std::uint64_t k);
  void fold_places(const StretchPlan& plan, const StretchAccess& at);
  std::span<const std::uint64_t> addresses_of(const StretchAccess& at) const {
    return {stretch_.uneven[at.column].values.data(), stretch_.n};
  }
  Stretch::Origins compare_origins(const StretchPlan& plan, std::uint64_t k);
  bool may_be_rewritten(std::uint64_t first, std::uint64_t last) const;
  std::uint64_t address_in(const StretchAccess& at, std::uint64_t k) const {
    return at.address.even ? at.address.at(k) : stretch_.uneven[at.column].values[k];
  }
  void find_range(StretchAccess& at) const;
  void link_registers(const StretchPlan& plan);
  bool link_as_a_whole(const StretchPlan& plan, const StretchPlan::Read& read);
  void link_granules(const StretchPlan& plan, const StretchPlan::Read& read);
  void link_returns(const StretchPlan::Read& read, std::span<const StretchPlan::ReadGranule> granules);
  void run_stretch(const StretchPlan& plan);
  void run_with_origins(const StretchPlan& plan);
  /// How origins are when a stretch begins: as in all of its iterations; but for what the first one uses; or otherwise.
  enum class Start : std::uint8_t { kTypical, kTypicalButUses, kOther };
  Start start_of(const StretchPlan& plan);
  bool is_loaded_as_always(const StretchPlan::Exposed& exposed);
  bool stays_the_same(Granule granule) const;
  bool is_used_once(Granule granule) const;
  /// So many exposed registers, from this one on, are known to be alike in everything.
  std::size_t alike(const StretchPlan::Exposed& exposed) const {
    return stretch_.thread->origins.joined.has(exposed.behind) ? exposed.run : 1;
  }
  void use_what_was_before(const StretchPlan& plan);
  void pass_iterations(const StretchPlan& plan, std::uint64_t first, std::uint64_t end);
  bool last_stands_for(const StretchPlan& plan, std::uint64_t k) const;
  std::span<const OriginRecords::LoadStep> load_steps(const StretchPlan& plan);
  void move_registers(const StretchPlan& plan, std::uint64_t from, std::uint64_t to);
  void part_moved_registers(const StretchPlan& plan);
  void move_load(Provenance& load, std::uint64_t from, std::uint64_t to) const;
  std::uint64_t take_column(StretchAccess& at, std::uint64_t k);
  bool is_torn(const StretchAccess& at, std::uint64_t k) const;
  bool list_rest(StretchAccess& at, std::uint64_t k);
  bool gather_from(StretchAccess& at, std::uint64_t first);
  bool may_be_of_loop(const StretchAccess& at, const DependencePiece& piece);
  bool begins_column(const StretchAccess& at, std::uint64_t k);
  std::uint64_t length_of_column(const StretchAccess& at, const DependencePiece& piece, std::uint64_t size,
                                 std::uint64_t most) const;
  EntryId last_of_column(const StretchAccess& at, const DependencePiece& piece) const;
  void depend_column(const DependencePiece& piece, const Streams::Reader& reader);
  void note_beginning(StretchAccess& at, const DependencePiece& piece);
  bool is_overtaken(const StretchAccess& load, std::uint64_t age) const;
  void pass_iteration(const StretchPlan& plan, std::uint64_t k);
  void follow_iteration(const StretchPlan& plan, std::uint64_t k);
  void follow_access(const StretchPlan& plan, StretchAccess& at, std::uint64_t k);
  std::size_t read_chunks(std::uint64_t address, std::uint32_t size);
  void locate_in(const StretchPlan& plan, StretchAccess& at, std::uint64_t address, std::uint64_t k, bool copy);
  static bool go_on(StretchAccess& at, std::span<const OriginTracker::Chunk> chunks);
  void take_chunks(StretchAccess& at, std::size_t chunks, std::uint64_t k, bool reload);
  void begin_piece(StretchAccess& at, const OriginTracker::Chunk& chunk, std::uint64_t k, bool reload);
  void end_piece(StretchAccess& at, const DependencePiece& piece);
  bool replace_piece(StretchAccess& at, const OriginTracker::Chunk& chunk, std::uint64_t k, bool reload);
  static void note_end(StretchAccess& at, const DependencePiece& piece);
  void note_lanes(const StretchPlan& plan, std::uint64_t first_passed);
  void depend_run(const DependencePiece& piece, const Streams::Reader& reader);
  void set_iteration(std::uint64_t k);
  void fold_stretch(StretchPlan& plan);
  void fold_registers(const StretchPlan& plan);
  void fold_value(const StretchPlan& plan, const Stretch::Value& value);
  void fold_uneven_values(const StretchPlan& plan);

  // Stretches that repeat (builder_ranks.cc).
  bool may_be_ranks() const;
  bool registers_repeat(const StretchPlan& plan) const;
  bool wait_for_rounds(StretchPlan& plan);
  bool wait_in_ranks(StretchPlan& plan);
  bool describe(const StretchPlan& plan, Ranks& into) const;
  bool describe_flows(const StretchPlan& plan, Ranks& into) const;
  static void move_flows(Ranks& from, Ranks& to);
  void give_ranks(StretchPlan& plan);
  void give_ranks_of(SiteId site) {
    if (!waiting_ranks_.empty()) give_ranks_with(site);
  }
  void give_ranks_with(SiteId site);
  void give_ranks_before(const StretchPlan& plan);
  void give_all_ranks() {
    while (!waiting_ranks_.empty()) give_ranks(*waiting_ranks_.back());
  }

  // Rounds (builder_rounds.cc).
  void begin_round(const Where& where);
  void see_round_part(SiteId site, const PartCode& code, const trace::Block& block);
  void note_round_part(SiteId site, const PartCode& code, const trace::Block& block);
  const StretchAccess* spill_of(const StretchAccess& load);
  void note_round_stretch(StretchPlan& plan);
  std::uint64_t end_round(const Where& where, const structure::Round& round, std::size_t dimension);
  bool may_repeat_parts() const;
  void take_snapshot(const ThreadState& thread);
  bool is_outside_round(const Cell& cell) const;
  bool has_moved_on(const Cell& before, const Cell& now) const;
  bool has_moved_on(const Provenance& before, const Provenance& now) const;
  bool state_has_moved_on(const ThreadState& thread);
  template <class Moves>
  bool note_older(const Provenance& value, const Moves& moves);
  bool copies_repeat(const ThreadState& thread);
  bool is_of_round(const Cell& cell) const;
  void expose(Granule granule, const GranuleBits& written);
  void expose(const OriginCode& code, const Source& source, const GranuleBits& written);
  void expose_part(const PartCode& code, const GranuleBits& written);
  void find_exposed_in_round(std::vector<GranuleBits>& written_before);
  bool may_repeat_registers(const ThreadState& thread, const GranuleBits& written);
  bool find_part_reads(const ThreadState& thread, RecordedRound::Step& step, const GranuleBits& before);
  bool may_move_flows(const ThreadState& thread, const RecordedRound::Step& step, const GranuleBits& before) const;
  bool find_round_flows(const ThreadState& thread);
  bool find_round_accesses(const structure::Round& round);
  const trace::RunExpander& expand_rounds(const structure::Round& round, const RecordedRound::Step& step,
                                          std::uint64_t first, std::uint64_t n, std::uint64_t k);
  bool is_within(const Where& where, std::uint64_t lowest, std::uint64_t highest);
  std::uint64_t rounds_within(const Where& where, const RecordedRound::Access& at);
  std::uint64_t rounds_apart(std::uint64_t most);
  bool keeps_loads(std::uint64_t rounds) const;
  std::uint64_t take_rounds(const Where& where, const structure::Round& round, std::uint64_t first, std::uint64_t most,
                            std::uint64_t serials);
  bool follow_numbers(const structure::Round& round, std::uint64_t first, std::uint64_t n);
  std::uint64_t look_at_loads(std::uint64_t first, std::uint64_t n);
  bool is_known(const RecordedRound::Access& at, DefinitionId producer, std::uint16_t lane, bool followed) const;
  std::uint64_t look_at_cells(RecordedRound::Access& at, std::uint64_t first, std::uint64_t n);
  bool find_chunks(StretchAccess& row, const RecordedRound::Access& at, RecordedRound::Row& into);
  bool learn_lanes(const StretchAccess& row, RecordedRound::Met& met);
  std::uint64_t look_at_rows(RecordedRound::Access& at, std::uint64_t first, std::uint64_t n);
  bool find_row(const StretchAccess& at, RecordedRound::Row& into);
  bool scan_row(const StretchAccess& at, RecordedRound::Row& into);
  DefinitionId definition_of(const RecordedRound::Access& at) const {
    return streams_.definition(at.site, at.access->instruction);
  }
  void fold_stored(const RecordedRound::Access& at, std::uint64_t first, std::uint64_t n);
  bool may_be_moved(const ThreadState& thread) const;
  void fold_part(const RecordedRound::Step& step, std::uint64_t first, std::uint64_t n);
  void take_earlier_rows(RecordedRound::Step& step, std::uint64_t first);
  template <class GoesOn, class Single, class Run>
  void fold_operand(const RecordedRound::Step& step, const GoesOn& goes_on, const Single& single, const Run& run);
  void fold_part_value(const RecordedRound::Step& step, std::size_t number, std::uint64_t n);
  void fold_part_read(const RecordedRound::Step& step, const RegisterRead& read, std::uint64_t first, std::uint64_t n);
  void fold_part_access(const RecordedRound::Step& step, const RecordedRound::Access& at, std::uint64_t first,
                        std::uint64_t n);
  bool is_waiting(const RecordedRound::Step& step, std::uint64_t first) const;
  void fold_inner(RecordedRound::Step& step, std::uint64_t first, std::uint64_t n, std::uint64_t serials);
  void fold_rows(const RecordedRound::Step& step, const RecordedRound::Access& at, std::uint64_t first,
                 std::uint64_t n);
  void fold_lane(const RecordedRound::Step& step, const RecordedRound::Access& at, std::uint16_t lane,
                 std::uint64_t first, std::uint64_t n);
  void add_producer(LoadRanks::Group& group, const Cell& cell, LoadRanks& into);
  void store_rounds(std::uint64_t first, std::uint64_t n);
  void move_in_rounds(Cell& cell, std::uint64_t n) const;
  void move_round_spills(std::uint64_t n);
  void move_round_registers(ThreadState& thread, std::uint64_t n);

  void doubt_flow_over_pauses(Graph& graph) const;
  void check_limits();
  void collect();
  std::uint64_t fixed_bytes() const;

  // Limits are looked at every so many events: more where there are many streams, or much room.
  static constexpr std::uint64_t kCheckEvery = 1u << 14;
  static constexpr std::uint64_t kCheckAtLeastEvery = 1u << 18;
  static constexpr std::uint64_t kMostBytesPerEvent = 1u << 14;  // that an event is thought to need

  const trace::Reader& reader_;
  const structure::Structure& structure_;
  Options options_;
  std::shared_ptr<const std::vector<std::vector<trace::InstructionFacts>>> facts_;  // by block
  Granules granules_;
  Streams streams_;
  Objects objects_;
  ShadowMemory memory_;
  Entries entries_;
  OriginTracker origins_;
  Cell environment_;
  std::vector<std::unique_ptr<PartCode>> parts_;  // by part of the code map
  struct Variant {
    const PartCode* code = nullptr;  // the longest part
    PartNumbers numbers;
    std::vector<const PartCode*> rows;  // of different rows
  };
  std::vector<std::vector<Variant>> variants_;                             // by place
  std::vector<std::uint32_t> variant_of_part_;                             // by part of the code map
  std::vector<LastSite> last_sites_;                                       // by part of the code map
  std::vector<std::uint16_t> instructions_of_;                             // by place: most that a part of it has
  std::vector<std::unique_ptr<ThreadState>> threads_;                      // by thread
  std::unordered_map<std::uint64_t, std::unique_ptr<StackState>> stacks_;  // by number
  std::uint64_t last_stack_ = ~std::uint64_t{0};
  StackState* last_stack_state_ = nullptr;
  std::unordered_map<std::uint64_t, std::uint64_t> blocks_;  // live heap blocks: size by address
  std::vector<ObjectId> frames_;                             // by function: 0 if it has none yet
  std::vector<std::uint64_t> frame_sizes_;                   // by function
  std::vector<LiveOut> call_registers_;                      // that a call may change
  std::vector<Granules::Piece> result_register_;
  std::vector<Granules::Piece> library_results_;

  // Of the event.
  trace::ExitId exit_ = 0;
  const std::uint64_t* slots_ = nullptr;
  std::uint32_t next_part_ = 0;  // of the code map
  std::vector<std::int64_t> point_;
  /// point_ as of the last enter(), but for one coordinate that is a producer's: most are in an entry that control is
  /// in, and have only their own last one.
  std::vector<std::int64_t> near_;
  std::size_t innermost_ = 0;  // coordinate of point_
  std::vector<std::int64_t> producer_;
  std::vector<std::uint64_t> results_;          // of the part
  std::size_t next_pointer_ = 0;                // of the part: that the stack pointer has not followed yet
  std::uint64_t lowest_ = 0;                    // stack pointer, around the instruction
  const std::vector<Level>* levels_ = nullptr;  // of point_
  std::uint64_t slice_ = 0;                     // grows whenever control goes over to another stack
  std::uint64_t slice_stack_ = kNoStack;        // whose slice it is
  std::uint64_t resumed_at_ = kNotYet;          // events there were when recording began again
  bool recording_ = true;
  bool paused_ = false;  // recording was off for a while, at least once
  std::vector<LiveIn> argument_;
  std::vector<OriginTracker::Chunk> chunks_;  // of a load

  // Journals.
  std::vector<std::unique_ptr<Journal>> journals_;  // by site
  std::uint64_t journal_bytes_ = 0;
  Sinces sinces_;            // Level::since of levels that rows refer to
  std::uint32_t since_ = 0;  // where those of now are; 0: there was one stack only
  std::vector<std::uint16_t> late_levels_;

  // Trails.
  Trail trail_;
  std::vector<std::vector<std::unique_ptr<TrailNode>>> trails_;  // by site of the first part
  std::size_t trail_count_ = 0;                                  // nodes
  std::uint64_t trail_bytes_ = 0;

  // Of the iteration that may be followed by others like it, and of these.
  bool recording_path_ = false;
  bool path_is_whole_ = false;  // and simple: nothing but parts of one loop happened in it
  std::vector<PathPart> path_;
  std::uint64_t path_events_ = 0;
  std::uint64_t path_serial_ = 0;  // of the innermost loop's entry
  std::uint64_t path_counter_ = 0;
  structure::ContextId path_context_ = structure::kNoContext;
  const std::uint64_t* path_slots_ = nullptr;
  PathStack path_stack_;
  std::uint64_t path_stack_id_ = kNoStack;
  std::uint64_t path_pointer_ = 0;
  std::size_t path_depth_ = 0;              // frames there are, with that of the loop
  std::vector<std::uint32_t> path_called_;  // frames of path_stack_ that are not left yet
  std::unordered_map<std::uint64_t, std::vector<std::unique_ptr<KnownPath>>> known_paths_;  // by path_hash()
  std::size_t known_path_count_ = 0;
  std::unordered_map<PathKey, WeaveLoop, PathKeyHash> weave_loops_;
  std::vector<WeavePlan*> waiting_;     // with the rest of what they leave
  std::vector<StretchPlan> old_plans_;  // that the feed may still refer to
  StretchPlan* found_plan_ = nullptr;
  std::vector<StretchPlan*> waiting_ranks_;  // plans that have some
  Ranks ranks_;                              // of the stretch that runs
  Stretch stretch_;
  RecordedRound round_;
  // What a step of it is in other rounds.
  std::vector<trace::RunColumn> round_columns_;
  std::vector<std::uint32_t> round_slots_;
  trace::RunPath round_path_;
  trace::Run round_run_;
  trace::RunExpander round_expander_;
  std::vector<GranuleBits> written_before_;  // by step
  LoadRanks load_ranks_;
  std::vector<RecordedRound::Group> round_groups_;
  std::vector<std::uint64_t> moved_spills_;
  std::vector<RecordedRound::Slot> slots_found_;
  RecordedRound::Row lane_row_;
  RecordedRound::Row row_before_;
  std::uint64_t* last_row_ = nullptr;  // that a part was written into; null: into none
  RowMemo row_memo_;
  Snapshot snapshot_;
  std::vector<DependencePiece> pieces_;
  std::vector<DependencePiece> turns_;   // of producers
  std::vector<DependencePiece> column_;  // that begins_column() found
  std::vector<OriginRecords::LoadStep> load_steps_;
  std::vector<std::uint64_t> slot_values_;
  std::vector<trace::RunExpander::Ahead> slot_columns_;

  std::uint64_t events_ = 0;
  std::uint64_t next_check_ = kCheckEvery;
  std::uint64_t instructions_ = 0;
  std::uint64_t unknown_instructions_ = 0;
  std::uint64_t hidden_library_instructions_ = 0;
  std::uint64_t collections_ = 0;
  std::uint64_t rounds_taken_ = 0;
  std::uint64_t most_shadow_ = 0;

  Feed feed_;  // ends before all that it uses
};

}  // namespace loopfold::ddg

#include "ddg/builder_places.h"
