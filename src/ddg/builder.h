// Pass 2 with everything: an observer of the loop walk that follows values through registers and memory, event by
// event and cell by cell, and feeds the streams (graph.h says what they are).
//
// Per event: the registers that each part reads from outside are looked up in the shadow of the thread's registers,
// loads in shadow memory, byte by byte; then the part's own writes take their place there. Iteration vectors are kept
// by reference (entries.h). This is the slow and plain form: one look at every operand of every instance.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "ddg/analysis.h"
#include "ddg/entries.h"
#include "ddg/graph.h"
#include "ddg/objects.h"
#include "ddg/origin_tracker.h"
#include "ddg/part_code.h"
#include "ddg/shadow_memory.h"
#include "ddg/streams.h"
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

  Builder(const trace::Reader& reader, const structure::Structure& structure, const structure::LoopTree& tree,
          symbols::Symbolizer& symbolizer, const Options& options);

  // ---- Observer of LoopWalk ---------------------------------------------------------------------------------------

  template <class Walk, class S>
  void event(const Walk&, const S&, trace::ExitId exit, const std::uint64_t* slots) {
    exit_ = exit;
    slots_ = slots;
    next_part_ = 0;
    if (++events_ >= next_check_ || streams_.count() >= next_streams_) check_limits();
  }
  template <class Walk, class S>
  void part(const Walk& walk, const S& stack, const structure::Part& part) {
    execute(where(walk.thread(), stack), part);
  }
  template <class Walk, class S>
  void side(const Walk&, const S* stack, const trace::SideEvent& event) {
    if (stack == nullptr || stack->frames.empty())
      follow(nullptr, event);
    else
      follow_at(where(event.thread, *stack), event);
  }

  /// A frame is about to be popped: its cells have no producers any more.
  template <class Walk, class S>
  void leave(const Walk&, const S& stack) {
    if (events_ == resumed_at_) return;
    if (stack.dropped && stack.origin == structure::Origin::kCoroutine) return;
    const auto& frame = stack.frames.back();
    if (frame.stack_pointer != ~std::uint64_t{0}) leave_frame(stack.data.id, frame.stack_pointer);
  }

  template <class Walk, class S>
  void end(const Walk&, const S& stack) {
    stacks_.erase(stack.data.id);
    last_stack_ = ~std::uint64_t{0};
  }

  /// The whole result but for the damage; the builder is of no use afterwards.
  void finish(Graph& graph);

  std::uint64_t instructions() const { return instructions_; }

 private:
  using Registers = std::vector<Cell>;  // by granule
  static constexpr std::uint64_t kNoStack = ~std::uint64_t{0};
  static constexpr std::uint64_t kNotYet = ~std::uint64_t{0};

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

  /// Where a part ran last: it runs there again, mostly.
  struct LastSite {
    structure::ContextId context = structure::kNoContext;
    structure::FunctionId function = structure::kNoFunction;
    structure::NodeId node = structure::kNoNode;
    SiteId site = 0;
    std::uint64_t stack = 0;
    OriginRecords::Uses* uses = nullptr;
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

  ThreadState& thread(trace::ThreadId id);
  StackState& stack(std::uint64_t id);
  const PartCode& code_of(std::uint32_t part, const structure::Part& what);
  std::uint32_t variant_of(const PartCode& code, structure::PlaceId place);
  const LastSite& site_of(const Where& where, std::uint32_t part, const structure::Part& what, const PartCode& code);
  void prefetch(const PartCode& code, SiteId site) const;

  void execute(const Where& where, const structure::Part& part);
  /// Brings the entries of the stack up to date, sets point_, and gives the cell of what happens here.
  Instance enter(const Where& where, StackState& stack, SiteId site);
  void read_registers(const PartCode& code, const Instance& instance, ThreadState& thread, std::uint64_t top);
  void read_granules(std::span<const LiveIn> granules, std::uint64_t top, bool x87, Streams::Reader& reader,
                     const Registers& registers);
  void store(const Where& where, const MemoryAccess& access, std::uint64_t address, const Instance& instance,
             const ThreadState& thread, const StackState& stack);
  void load(const Where& where, const MemoryAccess& access, std::uint64_t address, const Instance& instance,
            const ThreadState& thread, const StackState& stack);
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
  void values(const PartCode& code, const trace::Block& block, std::span<const std::uint64_t> slots, SiteId site);
  void follow_stack_pointer(const Where& where, const PartCode& code, std::uint16_t instruction, ThreadState& thread,
                            StackState& stack);
  static void note_stack_pointer(StackState& stack, std::uint64_t now, bool moved);
  void leave_frame(std::uint64_t stack, std::uint64_t stack_pointer);
  static std::uint64_t end_of_stack(const Where& where, const StackState& stack);
  Objects::Place locate(const Where& where, const ThreadState& thread, const StackState& stack, std::uint64_t address);
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

  void doubt_flow_over_pauses(Graph& graph) const;
  void check_limits();
  void collect();
  std::uint64_t fixed_bytes() const;

  static constexpr std::uint64_t kFewStreams = 256;
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
  std::vector<Granules::Piece> call_registers_;              // that a call may change
  std::vector<Granules::Piece> result_register_;
  std::vector<Granules::Piece> library_results_;

  // Of the event.
  trace::ExitId exit_ = 0;
  const std::uint64_t* slots_ = nullptr;
  std::uint32_t next_part_ = 0;
  std::vector<std::int64_t> point_;
  std::vector<std::int64_t> producer_;
  std::vector<std::uint64_t> results_;          // of the part
  std::size_t next_result_ = 0;                 // that the stack pointer has not followed yet
  std::uint64_t lowest_ = 0;                    // stack pointer, around the instruction
  const std::vector<Level>* levels_ = nullptr;  // of point_
  std::uint64_t slice_ = 0;                     // grows whenever control goes over to another stack
  std::uint64_t slice_stack_ = kNoStack;        // whose slice it is
  std::uint64_t resumed_at_ = kNotYet;          // events there were when recording began again
  bool recording_ = true;
  bool paused_ = false;  // recording was off for a while, at least once
  std::vector<LiveIn> argument_;
  std::vector<OriginTracker::Chunk> chunks_;  // of a load

  std::uint64_t events_ = 0;
  std::uint64_t next_check_ = kCheckEvery;
  std::uint64_t next_streams_ = kFewStreams;
  std::uint64_t instructions_ = 0;
  std::uint64_t unknown_instructions_ = 0;
  std::uint64_t hidden_library_instructions_ = 0;
  std::uint64_t collections_ = 0;
  std::uint64_t most_shadow_ = 0;
};

}  // namespace loopfold::ddg
