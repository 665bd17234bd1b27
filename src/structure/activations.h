// Who is active: the frames of one thread, from exits, stack pointers and the places that control comes to.
//
// An exit says how control left a block, the next place where it went; together they are one of: a local jump, a call,
// a return, a tail call, or something that leaves frames in another way. Frames are matched by stack pointer: a frame's
// is the address of its return address. A return to stack pointer s ends the frame at s - 8 and all that were called
// from it; tail-called functions share their caller's stack pointer, so they end together. longjmp and the unwinder of
// exceptions leave by an indirect jump or a return to a stack pointer that is in the middle of an older frame: the
// frames below it end, and control goes on in that frame by a local jump.
//
// A thread has several *stacks*: its own; one for every signal handler that runs, until it returns or is left by
// longjmp; and one for every coroutine, found when a return or an indirect jump lands on a stack pointer that belongs
// to no frame of the stack in use. If a suspended frame is waiting for that very stack pointer, its stack is resumed;
// if a function starts where control comes to, a coroutine is born.
//
// Code that is not in the trace (allocator, lazy resolver, libraries left out) shows as a call that comes back at once,
// as a return without a return instruction, or as a function that is entered from nowhere; the latter is called from
// the place hidden() of the caller.
//
// This is a template over its *client*, which learns what happens: a pass over hundreds of millions of blocks must not
// make indirect calls. Both passes use it, so both see the same frames. Its decisions depend on the trace, on symbols
// and on nothing that the client does. Cost: a few comparisons per block; returns that match at once are constant time.
//
// A client has types Frame and Stack for what it keeps with each, and
//   begin(S&)             a stack's first frame was pushed
//   call(S&)              a frame was pushed, by a call from the frame below, at that frame's current place
//   bool keeps_tail_caller(S&, PlaceId callee)   push a frame for a tail call, or let the callee take over the frame?
//   tail_call(S&, bool pushed)
//   leave(S&)             the top frame is about to be popped; S::leaving says why
//   jump(S&, PlaceId)     a local jump in the top frame
//   land(S&, PlaceId)     the same, by longjmp or the unwinder: out of frames that were left
//   end(S&)               the stack is gone (its frames were left one by one before)
//   bool was_at(PlaceId)   has control been there before?
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "structure/code_map.h"

namespace loopfold::structure {

/// What a stack's first frame was started by.
enum class Origin : std::uint8_t { kThread, kSignalHandler, kCoroutine };

/// Why a frame ends.
enum class Leaving : std::uint8_t {
  kReturned,  // to its caller; or its handler's end, or the first function's return
  kUnwound,   // longjmp, an exception or the end of the thread (exit, abort, a fault) took it away
  kCut,       // nothing in the program: recording stopped, or a coroutine was never gone on with
};

template <class Client>
class Activations {
 public:
  static constexpr std::uint64_t kUnknown = std::numeric_limits<std::uint64_t>::max();

  struct Frame {
    PlaceId function = kNoPlace;             // where it was entered
    bool tail = false;                       // by a tail call: it shares the stack pointer of the frame below
    std::uint64_t stack_pointer = kUnknown;  // at entry, where the return address is
    std::uint64_t return_address = 0;        // 0: not known
    typename Client::Frame data;
    friend bool operator==(const Frame&, const Frame&) = default;
  };

  struct Stack {
    Origin origin = Origin::kThread;
    std::vector<Frame> frames;
    Stack* interrupted = nullptr;          // of a signal handler
    bool dropped = false;                  // it ends: control is not in its frames, and they are left for that alone
    Leaving leaving = Leaving::kReturned;  // during leave()
    // How control left the last block.
    bool pending = false;
    bool hidden = false;  // code that is not in the trace ran since then
    const ExitCode* exit = nullptr;
    std::uint64_t stack_pointer = 0;
    typename Client::Stack data;
  };

  Activations(const CodeMap& code, std::vector<std::uint8_t>& starts, Client& client)
      : code_(code), starts_(starts), client_(client) {}

  /// Control comes to `place`: what kind of transfer was it? Mostly a jump to where the exit says.
  [[gnu::always_inline]] void arrive(PlaceId place) {
    if (current_ != nullptr && current_->pending && current_->exit->next == place && !starts_[place]) [[likely]] {
      current_->pending = false;
      return client_.jump(*current_, place);
    }
    arrive_otherwise(place);
  }

  [[gnu::noinline]] void arrive_otherwise(PlaceId place) {
    if (current_ == nullptr) {
      found_start(place);
      return begin_stack(Origin::kThread, place, kUnknown);
    }
    Stack& stack = *current_;
    if (!stack.pending) {
      if (!stack.frames.empty()) return client_.jump(stack, place);
      found_start(place);
      return begin_frames(stack, place, kUnknown);
    }
    stack.pending = false;
    using trace::ExitKind;
    switch (stack.exit->kind) {
      case ExitKind::kNext:
        if (!starts_[place] && stack.exit->target == code_.address(place)) return client_.jump(stack, place);
        return jump_or_tail_call(stack, place);
      case ExitKind::kCall:
      case ExitKind::kIndirectCall:
        return arrive_by_call(stack, place);
      case ExitKind::kReturn:
        return arrive_by_return(stack, place);
      case ExitKind::kIndirectJump:
        if (above(stack.stack_pointer, stack.frames.back().stack_pointer)) return unwind(place);
        return jump_or_tail_call(stack, place);
      default:
        return client_.jump(stack, place);
    }
  }

  /// Control leaves a block. `stack_pointer` matters where the exit has one.
  [[gnu::always_inline]] void depart(const ExitCode& exit, std::uint64_t stack_pointer) {
    Stack& stack = *current_;
    stack.pending = true;
    stack.hidden = false;
    stack.exit = &exit;
    stack.stack_pointer = stack_pointer;
  }

  /// Control goes on from one part of a block to the next, at `place`.
  [[gnu::noinline]] void fall_through(PlaceId place) { go_to(*current_, place); }

  /// Instructions that are not in the trace ran here.
  void hidden_code() {
    if (current_ != nullptr) current_->hidden = true;
  }

  void signal_enter() {
    auto stack = std::make_unique<Stack>();
    stack->origin = Origin::kSignalHandler;
    stack->interrupted = current_;
    current_ = stack.get();
    stacks_.push_back(std::move(stack));
  }

  void signal_return() {
    if (current_ == nullptr) return;
    Stack* handler = current_;
    if (handler->origin != Origin::kSignalHandler) return;
    current_ = handler->interrupted;
    drop(handler, Leaving::kReturned);
  }

  /// The thread ended by itself (`ended`), or what comes next has nothing to do with what came before.
  void finish(bool ended) {
    const bool unwound = ended && current_ != nullptr && current_->pending && ends_threads(current_->exit->kind);
    if (!unwound && current_ != nullptr) return_last();
    for (Stack* stack = current_; stack != nullptr && unwound; stack = stack->interrupted)
      drop_frames(*stack, Leaving::kUnwound);
    while (!stacks_.empty()) drop(stacks_.back().get(), Leaving::kCut);
    current_ = nullptr;
  }

  /// From here on, unchanged() tells whether the frames are again what they are now.
  void mark() {
    marked_ = current_;
    marked_depth_ = marked_->frames.size();
    marked_switches_ = switches_;
    marked_frames_.assign(1, marked_->frames.back());
  }
  bool unchanged() const {
    if (switches_ != marked_switches_ || marked_->frames.size() != marked_depth_) return false;
    for (std::size_t i = 0; i < marked_frames_.size(); ++i)
      if (!(marked_->frames[marked_depth_ - 1 - i] == marked_frames_[i])) return false;
    return true;
  }

  Stack* current() { return current_; }
  std::size_t stacks() const { return stacks_.size(); }
  /// A place turned out to be where a function starts after control had come there by a jump.
  bool starts_changed() const { return starts_changed_; }

 private:
  static bool above(std::uint64_t stack_pointer, std::uint64_t entry) {
    return entry != kUnknown && stack_pointer > entry;
  }

  void begin_stack(Origin origin, PlaceId place, std::uint64_t stack_pointer) {
    auto stack = std::make_unique<Stack>();
    stack->origin = origin;
    current_ = stack.get();
    stacks_.push_back(std::move(stack));
    ++switches_;
    begin_frames(*current_, place, stack_pointer);
  }

  void begin_frames(Stack& stack, PlaceId place, std::uint64_t stack_pointer) {
    stack.frames.push_back({place, false, stack_pointer, 0, {}});
    client_.begin(stack);
  }

  void found_start(PlaceId place) {
    if (starts_[place]) return;
    starts_[place] = 1;
    if (client_.was_at(place)) starts_changed_ = true;
  }

  void push(Stack& stack, PlaceId place, std::uint64_t stack_pointer, std::uint64_t return_address) {
    found_start(place);
    stack.frames.push_back({place, false, stack_pointer, return_address, {}});
    client_.call(stack);
  }

  void pop(Stack& stack, Leaving why) {
    stack.leaving = why;
    client_.leave(stack);
    stack.frames.pop_back();
    if (&stack == marked_ && stack.frames.size() + marked_frames_.size() == marked_depth_ && !stack.frames.empty())
      marked_frames_.push_back(stack.frames.back());
  }

  void jump_or_tail_call(Stack& stack, PlaceId place) {
    const Frame& top = stack.frames.back();
    if (top.return_address != 0 && code_.address(place) == top.return_address && returned_unseen(stack, place))
      return return_to(stack, below(stack, stack.frames.size()), place);
    if (stack.hidden && !in_function(top, place) && landed_unseen(stack, below(stack, stack.frames.size()), place))
      return;
    go_to(stack, place);
  }

  /// Hidden code was called and left by an exception or longjmp: control is in the middle of a function that is active,
  /// in one of the first `depth` frames. Known only where symbols tell where functions are.
  bool landed_unseen(Stack& stack, std::size_t depth, PlaceId place) {
    const std::uint64_t function = code_.function_of(place);
    if (starts_[place] || function == 0 || function == code_.address(place)) return false;
    while (depth > 0 && code_.function_of(stack.frames[depth - 1].function) != function) depth = below(stack, depth);
    if (depth == 0) return false;
    landing_ = true;
    return_to(stack, depth, place);
    landing_ = false;
    return true;
  }

  /// How many frames are left when the frame at `depth` returns, and with it the frames that it was tail-called from:
  /// 0 if these include the first of the stack. The same whether or not tail callers have frames of their own.
  static std::size_t below(const Stack& stack, std::size_t depth) {
    while (stack.frames[depth - 1].tail) --depth;
    return depth - 1;
  }

  /// A local jump, or a tail call if a function starts there.
  void go_to(Stack& stack, PlaceId place) {
    Frame& top = stack.frames.back();
    if (!starts_[place] || place == top.function) return client_.jump(stack, place);
    if (client_.keeps_tail_caller(stack, place)) {
      const Frame callee{place, true, top.stack_pointer, top.return_address, {}};
      stack.frames.push_back(callee);
      client_.tail_call(stack, true);
    } else {
      top.function = place;
      client_.tail_call(stack, false);
    }
  }

  /// A jump into hidden code, which then returned for its caller?
  bool returned_unseen(const Stack& stack, PlaceId place) const {
    if (stack.exit->target == code_.address(place)) return false;
    return stack.hidden || stack.exit->kind == trace::ExitKind::kNext || !in_function(stack.frames.back(), place);
  }

  void arrive_by_call(Stack& stack, PlaceId place) {
    const std::uint64_t behind = stack.exit->behind;
    const std::uint64_t address = code_.address(place);
    if (address == behind) return client_.jump(stack, place);
    if (stack.exit->target != address && landed_unseen(stack, stack.frames.size(), place)) return;
    if (stack.exit->target != 0 && stack.exit->target != address) client_.jump(stack, code_.hidden());
    push(stack, place, stack.stack_pointer, behind);
  }

  void arrive_by_return(Stack& stack, PlaceId place) {
    const Frame& top = stack.frames.back();
    const std::size_t depth = below(stack, stack.frames.size());
    if (depth == 0 || (top.stack_pointer + 8 != stack.stack_pointer && !returned_to_hidden(stack, place)))
      return unwind(place);
    return_to(stack, depth, place);
  }

  /// The top frame was called by hidden code, which had a stack pointer of its own, and has returned to it; and that
  /// code returned too, or called a function again?
  bool returned_to_hidden(const Stack& stack, PlaceId place) const {
    const Frame& top = stack.frames.back();
    return stack.hidden && top.return_address != 0 &&
           (may_be_called(stack, place) || code_.address(place) == top.return_address);
  }

  /// A function starts there; or hidden code came there, and it is not known to be in the middle of a function.
  bool may_be_called(const Stack& stack, PlaceId place) const {
    return starts_[place] || (stack.hidden && code_.function_of(place) == 0);
  }

  /// Pops frames until `depth` are left, and goes on in the last of them. If what that one had called is the last
  /// frame, but for tail calls, it returns; else it is left, as are the frames above.
  void return_to(Stack& stack, std::size_t depth, PlaceId place) {
    const bool returns = stack.frames.size() > depth &&
                         stack.frames.back().stack_pointer == stack.frames[depth].stack_pointer &&
                         (!landing_ || code_.address(place) == stack.frames[depth].return_address);
    std::uint64_t expected = 0;
    while (stack.frames.size() > depth) {
      expected = stack.frames.back().return_address;
      pop(stack, returns ? Leaving::kReturned : Leaving::kUnwound);
    }
    if (expected != 0 && code_.address(place) != expected && may_be_called(stack, place)) {
      const std::uint64_t stack_pointer = stack.stack_pointer - 8;
      client_.jump(stack, code_.hidden());
      return push(stack, place, stack_pointer, expected);
    }
    if (landing_ && code_.address(place) != expected) return client_.land(stack, place);
    client_.jump(stack, place);
  }

  bool in_function(const Frame& frame, PlaceId place) const {
    const std::uint64_t a = code_.function_of(frame.function);
    const std::uint64_t b = code_.function_of(place);
    return a == 0 || b == 0 || a == b;
  }

  /// Does a frame of this stack wait for a return to `stack_pointer`, at `place`? How many frames are below its callee?
  std::size_t waiting(const Stack& stack, std::uint64_t stack_pointer, PlaceId place) const {
    std::size_t depth = stack.frames.size();
    while (depth > 0) {
      const Frame& frame = stack.frames[depth - 1];
      if (frame.stack_pointer == kUnknown || frame.stack_pointer + 8 > stack_pointer) return 0;
      depth = below(stack, depth);
      if (frame.stack_pointer + 8 != stack_pointer) continue;
      if (frame.return_address == 0 || frame.return_address == code_.address(place)) return depth;
    }
    return 0;
  }

  /// The frame of this stack that `stack_pointer` lies in: how many frames are left if control goes on in it? 0: none.
  std::size_t enclosing(const Stack& stack, std::uint64_t stack_pointer) const {
    std::size_t depth = stack.frames.size();
    if (depth == 0) return 0;
    if (!is_beneath(stack) && !above(stack_pointer, stack.frames.back().stack_pointer)) return 0;
    while (depth > 0 && above(stack_pointer, stack.frames[depth - 1].stack_pointer)) --depth;
    return depth;
  }

  /// Is it the stack in use, or was it interrupted by a handler whose stack that is?
  bool is_beneath(const Stack& stack) const {
    const Stack* beneath = current_;
    while (beneath != nullptr && beneath != &stack) beneath = beneath->interrupted;
    return beneath != nullptr;
  }

  /// Control came to `place` with a stack pointer that is not what the top frame would return to.
  void unwind(PlaceId place) {
    const std::uint64_t stack_pointer = current_->stack_pointer;
    if (resume_first(place, [&](const Stack& stack) { return waiting(stack, stack_pointer, place); })) return;
    const bool from_base =
        current_->exit->kind == trace::ExitKind::kReturn && below(*current_, current_->frames.size()) == 0;
    if (from_base)
      return current_->origin == Origin::kThread ? replace_base(place, Leaving::kReturned) : go_on_behind_base(place);
    if (starts_[place]) return begin_coroutine(place, stack_pointer);
    const auto around = [&](const Stack& stack) {
      const std::size_t depth = enclosing(stack, stack_pointer);
      return depth != 0 && in_function(stack.frames[depth - 1], place) ? depth : 0;
    };
    landing_ = true;
    if (!resume_first(place, around)) replace_base(place, Leaving::kUnwound);
    landing_ = false;
  }

  /// Goes on at `place` in the first stack of the thread in which `look` finds a depth: the current one, the one that
  /// it interrupted, then the others.
  template <class Look>
  bool resume_first(PlaceId place, Look look) {
    Stack* const second = current_->interrupted;
    std::size_t depth = look(*current_);
    Stack* found = depth != 0 ? current_ : nullptr;
    if (found == nullptr && second != nullptr && (depth = look(*second)) != 0) found = second;
    for (std::size_t i = 0; i < stacks_.size() && found == nullptr; ++i) {
      Stack* const other = stacks_[i].get();
      if (other != current_ && other != second && (depth = look(*other)) != 0) found = other;
    }
    if (found == nullptr) return false;
    resume(*found, depth, place);
    return true;
  }

  void resume(Stack& stack, std::size_t depth, PlaceId place) {
    Stack* const left = current_;
    if (&stack != left) {
      current_ = &stack;
      ++switches_;
      stack.pending = false;
      stack.hidden = left->hidden;
      stack.stack_pointer = left->stack_pointer;
      drop_handlers(left, &stack);
    }
    return_to(stack, depth, place);
  }

  /// Control left `from` for `to`: the handlers between the two will not come back.
  void drop_handlers(Stack* from, Stack* to) {
    Stack* below = from;
    while (below != nullptr && below != to) below = below->interrupted;
    while (below != nullptr && from != to) {
      Stack* const next = from->interrupted;
      drop(from, Leaving::kUnwound);
      from = next;
    }
  }

  /// The first function of a handler or coroutine returned to what ends it (a restorer, the start of a context): as if
  /// it had tail-called that.
  void go_on_behind_base(PlaceId place) {
    found_start(place);
    go_to(*current_, place);
  }

  void begin_coroutine(PlaceId place, std::uint64_t stack_pointer) {
    for (std::size_t i = stacks_.size(); i-- > 0;) {
      Stack* const old = stacks_[i].get();
      if (old != current_ && old->origin == Origin::kCoroutine && old->frames.front().stack_pointer == stack_pointer)
        drop(old, Leaving::kCut);
    }
    begin_stack(Origin::kCoroutine, place, stack_pointer);
  }

  /// Control went back to what had called the first frame of all: that is the first frame now.
  void replace_base(PlaceId place, Leaving why) {
    Stack* const stack = current_;
    const Origin origin = stack->origin;
    Stack* const interrupted = stack->interrupted;
    current_ = nullptr;
    drop(stack, why);
    begin_stack(origin, place, kUnknown);
    current_->interrupted = interrupted;
  }

  /// May a thread end behind such an exit, without another one stopping it?
  static bool ends_threads(trace::ExitKind kind) {
    return kind == trace::ExitKind::kSyscall || kind == trace::ExitKind::kInterrupted;
  }

  /// The last thing that was seen may be a return: that of `main`, for one.
  void return_last() {
    std::vector<Frame>& frames = current_->frames;
    if (!current_->pending || current_->exit->kind != trace::ExitKind::kReturn || frames.empty()) return;
    const std::uint64_t stack_pointer = frames.back().stack_pointer;
    while (!frames.empty() && frames.back().stack_pointer == stack_pointer) pop(*current_, Leaving::kReturned);
  }

  void drop_frames(Stack& stack, Leaving why) {
    while (!stack.frames.empty()) pop(stack, why);
  }

  void drop(Stack* stack, Leaving why) {
    stack->dropped = true;
    drop_frames(*stack, why);
    client_.end(*stack);
    for (std::unique_ptr<Stack>& other : stacks_)
      if (other->interrupted == stack) other->interrupted = stack->interrupted;
    for (std::size_t i = stacks_.size(); i-- > 0;) {
      if (stacks_[i].get() != stack) continue;
      stacks_.erase(stacks_.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    ++switches_;
  }

  const CodeMap& code_;
  std::vector<std::uint8_t>& starts_;
  Client& client_;
  std::vector<std::unique_ptr<Stack>> stacks_;
  Stack* current_ = nullptr;
  std::uint64_t switches_ = 0;  // grows with every change of the stack in use
  // What the frames were when mark() was called: the top one, and of the others those that came to be the top since.
  Stack* marked_ = nullptr;
  std::size_t marked_depth_ = 0;
  std::uint64_t marked_switches_ = 0;
  std::vector<Frame> marked_frames_;
  bool starts_changed_ = false;
  bool landing_ = false;  // control goes on in an older frame, where no call returns to
};

}  // namespace loopfold::structure
