// For tests: random programs, and their execution by a Script.
//
// A program has a few functions of a few pieces of code each. Pieces end in jumps, branches, calls, tail calls,
// returns, jumps through tables, calls of malloc; some are only fallen into, and some branches lead into the code of
// other functions. Branches follow a pattern (so that loops repeat and become runs) or chance. Now and then, at random,
// there is a longjmp or an exception to an activation that is still there, a signal, a change of coroutine or thread, a
// call from hidden code.
//
// The execution ends after a number of steps, wherever it is. What cannot be told from a trace without symbols (a
// longjmp out of a signal handler, where a coroutine begins) is done only if there are symbols.
#pragma once

#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

#include "structure/testing.h"

namespace loopfold::structure::testing {

struct ProgramOptions {
  std::size_t functions = 4;  // at most
  std::size_t pieces = 6;     // of a function, at most
  std::size_t steps = 300;
  std::size_t depth = 8;  // of calls
  trace::ThreadId threads = 1;
  std::uint64_t rare = 60;  // one in so many steps is something rare
  bool symbols = false;
};

class RandomProgram {
 public:
  RandomProgram(std::uint64_t seed, const ProgramOptions& options) : random_(seed), options_(options) { make_code(); }

  Story run() {
    std::vector<trace::ThreadId> threads;
    for (trace::ThreadId thread = 0; thread < options_.threads; ++thread) {
      script_.set_thread(thread);
      script_.start(any_function());
      threads.push_back(thread);
    }
    coroutines_.resize(threads.size());
    for (std::size_t i = 0; i < options_.steps && !threads.empty(); ++i) {
      const std::size_t which = pick(20) == 0 && !script_.in_block() ? pick(threads.size()) : last_;
      last_ = which % threads.size();
      script_.set_thread(thread_ = threads[last_]);
      if (script_.running())
        step();
      else
        threads.erase(threads.begin() + static_cast<std::ptrdiff_t>(last_));
    }
    return script_.finish(options_.symbols);
  }

 private:
  enum class Ending {
    kJump,
    kBranch,
    kFall,
    kCall,
    kIndirectCall,
    kTable,
    kTailCall,
    kReturn,
    kMalloc,
    kCallNext,
    kSystem
  };
  struct Piece {
    std::uint64_t address = 0;
    Ending ending = Ending::kReturn;
    std::vector<std::uint64_t> targets;
    std::uint64_t period = 0;  // of a pattern; 0: by chance
    std::uint64_t count = 0;
  };
  struct Code {
    std::uint64_t entry = 0;
    std::vector<Piece> pieces;
  };

  static constexpr std::uint64_t kHandler = 0x90000, kRestorer = 0x90800, kLongjmp = 0x91000, kSwap = 0x92000;
  static constexpr std::uint64_t kFinish = 0x93000, kUnder = 0x94000, kLibrary = 0x95000;

  std::uint64_t pick(std::uint64_t below) { return random_() % below; }
  std::uint64_t any_function() { return functions_[pick(functions_.size())].entry; }
  std::uint64_t any_piece(const Code& code) { return code.pieces[pick(code.pieces.size())].address; }

  // ---- Code -------------------------------------------------------------------------------------------------------

  void make_code() {
    functions_.resize(1 + pick(options_.functions));
    for (std::size_t f = 0; f < functions_.size(); ++f) {
      Code& code = functions_[f];
      std::uint64_t address = code.entry = 0x10000 + 0x1000 * f;
      code.pieces.resize(1 + pick(options_.pieces));
      for (Piece& piece : code.pieces) {
        const auto size = static_cast<std::uint32_t>(2 + pick(4));
        piece.address = address;
        script_.set_size(address, size);
        address += kBytes * size;
      }
      script_.add_symbol(code.entry, address);
    }
    for (Code& code : functions_) {
      for (std::size_t i = 0; i < code.pieces.size(); ++i) make_ending(code, i);
    }
    for (const std::uint64_t special : {kHandler, kLongjmp, kSwap}) script_.add_symbol(special, special + 0x100);
    script_.add_symbol(kUnder - 0x100, kLibrary);
  }

  void make_ending(const Code& code, std::size_t i) {
    Piece& piece = const_cast<Code&>(code).pieces[i];
    constexpr Ending kAny[] = {
        Ending::kJump,         Ending::kBranch, Ending::kBranch, Ending::kBranch,   Ending::kBranch, Ending::kFall,
        Ending::kFall,         Ending::kCall,   Ending::kCall,   Ending::kCall,     Ending::kTable,  Ending::kTailCall,
        Ending::kIndirectCall, Ending::kReturn, Ending::kMalloc, Ending::kCallNext, Ending::kSystem};
    constexpr Ending kLast[] = {Ending::kReturn, Ending::kReturn, Ending::kJump, Ending::kTailCall, Ending::kTable};
    const bool last = i + 1 == code.pieces.size();
    piece.ending = last ? kLast[pick(std::size(kLast))] : kAny[pick(std::size(kAny))];
    piece.period = pick(3) == 0 ? 0 : 2 + pick(12);
    const bool calls = piece.ending == Ending::kCall || piece.ending == Ending::kIndirectCall;
    for (int target = 0; target < 3; ++target) {
      const bool elsewhere = !options_.symbols && pick(30) == 0;
      const Code& where = elsewhere ? functions_[pick(functions_.size())] : code;
      piece.targets.push_back(calls || piece.ending == Ending::kTailCall ? any_function() : any_piece(where));
    }
  }

  const Code* code_at(std::uint64_t address) const {
    for (const Code& code : functions_)
      for (const Piece& piece : code.pieces)
        if (piece.address == address) return &code;
    return nullptr;
  }
  Piece* piece_at(std::uint64_t address) {
    for (Code& code : functions_)
      for (Piece& piece : code.pieces)
        if (piece.address == address) return &piece;
    return nullptr;
  }

  // ---- Execution --------------------------------------------------------------------------------------------------

  bool often(Piece& piece) { return piece.period == 0 ? pick(2) == 0 : ++piece.count % piece.period != 0; }

  void step() {
    const std::uint64_t pc = script_.pc();
    if (pc == kRestorer) return script_.signal_return();
    if (pc == kLongjmp) return longjmp_out_of_handler();
    if (pc == kSwap) return swap();
    if (pc == kFinish) return script_.call(kSwap);
    if (pick(options_.rare) == 0 && rare_step()) return;
    if (pc == kHandler) return pick(2) == 0 ? script_.call(any_function()) : script_.ret_behind(kRestorer);
    if (pc >= kUnder && pc < kLibrary) return run_under(pc);
    if (Piece* const piece = piece_at(pc)) return run_piece(*piece);
    if (pc < kHandler + 0x100) return leave_handler_function();
    script_.jump(kFinish);  // behind the call in it
  }

  /// Code that had called the thread's first function.
  void run_under(std::uint64_t pc) {
    if (pc % 0x100 == 0) return script_.call(any_function());
    return pick(2) == 0 ? script_.jump(pc / 0x100 * 0x100) : return_from(0);
  }

  void leave_handler_function() {
    if (options_.symbols && pick(3) == 0 && script_.interrupted_return_addresses().size() > 1)
      return script_.call(kLongjmp);
    script_.ret_behind(kRestorer);
  }

  void run_piece(Piece& piece) {
    switch (piece.ending) {
      case Ending::kJump:
        return script_.jump(piece.targets[0]);
      case Ending::kBranch:
        return often(piece) ? script_.jump(piece.targets[0]) : script_.fall();
      case Ending::kFall:
        return script_.fall();
      case Ending::kCall:
      case Ending::kIndirectCall:
        if (script_.depth() >= options_.depth || !often(piece)) return script_.branch_early(script_.behind());
        if (piece.ending == Ending::kCall) return script_.call(piece.targets[0]);
        return script_.call_indirect(piece.targets[pick(3)]);
      case Ending::kTable:
        return script_.jump_indirect(piece.targets[piece.period == 0 ? pick(3) : ++piece.count / piece.period % 3]);
      case Ending::kTailCall:
        if (!often(piece)) return return_from(0);
        return piece.period % 2 == 0 ? script_.jump(piece.targets[0]) : script_.tail_call_indirect(piece.targets[0]);
      case Ending::kMalloc:
        if (piece.period == 2 && script_.depth() > 1 && !script_.called_back()) return script_.jump_to_malloc();
        return script_.call_malloc();
      case Ending::kCallNext:
        return script_.call_next();
      case Ending::kSystem:
        return script_.exit(trace::ExitKind::kSyscall, script_.behind());
      case Ending::kReturn:
        return return_from(piece.period == 3 ? 16 : 0);
    }
  }

  void return_from(std::uint64_t bytes) {
    if (script_.depth() > 1) {
      if (!script_.called_back()) return script_.ret(bytes);
      return pick(2) == 0 ? script_.ret_through_hidden() : script_.ret_to_next_callback(any_function());
    }
    if (script_.origin() == Origin::kSignalHandler) return script_.ret_behind(kRestorer);
    if (script_.origin() == Origin::kCoroutine) return script_.ret_behind(kFinish);
    script_.ret_under(kUnder + 0x100 * pick(3));
  }

  // ---- What happens rarely ----------------------------------------------------------------------------------------

  bool rare_step() {
    switch (pick(6)) {
      case 0:
      case 1:
        return unwind();
      case 2:
        if (script_.origin() == Origin::kSignalHandler && pick(3) != 0) return false;
        script_.signal_enter(pick(3) == 0 ? any_function() : kHandler);
        return true;
      case 3:
        if (script_.depth() >= options_.depth || piece_at(script_.behind()) == nullptr) return false;
        script_.call_back_through(kLibrary, any_function());
        return true;
      case 4:
        if (!options_.symbols || script_.origin() == Origin::kSignalHandler || piece_at(script_.behind()) == nullptr)
          return false;
        script_.call(kSwap);
        return true;
      default:
        if (script_.in_block() || pick(4) != 0) return false;
        pick(2) == 0 ? script_.end_thread() : restart();
        return true;
    }
  }

  void restart() {
    script_.set_recording(false);
    script_.set_recording(true);
    for (std::vector<std::uint32_t>& waiting : coroutines_) waiting.clear();
    script_.start(any_function());
  }

  /// Where a longjmp to the activation at `depth` may go.
  std::uint64_t landing(const std::vector<std::uint64_t>& return_addresses, std::size_t depth) {
    const std::uint64_t back = return_addresses[depth];
    const Code* const code = code_at(back);
    if (code == nullptr || code->pieces.size() == 1) return back;
    return code->pieces[1 + pick(code->pieces.size() - 1)].address;
  }

  bool unwind() {
    if (script_.depth() < 2) return false;
    const std::size_t depth = 1 + pick(script_.depth() - 1);
    const std::uint64_t to = landing(script_.return_addresses(), depth);
    script_.unwind(depth, to, pick(2) == 0 ? trace::ExitKind::kIndirectJump : trace::ExitKind::kReturn);
    return true;
  }

  void longjmp_out_of_handler() {
    const std::vector<std::uint64_t> addresses = script_.interrupted_return_addresses();
    const std::size_t depth = 1 + pick(addresses.size() - 1);
    script_.leave_handler(depth, landing(addresses, depth));
  }

  /// In the function that changes coroutines.
  void swap() {
    std::vector<std::uint32_t>& waiting = coroutines_[thread_];
    const std::uint32_t from = script_.current_stack();
    if (waiting.size() < 3 && pick(2) == 0) {
      waiting.push_back(from);
      script_.start_coroutine(any_function(), 0x100000000 + 0x100000 * next_coroutine_++);
    } else if (!waiting.empty()) {
      const std::size_t which = pick(waiting.size());
      const std::uint32_t to = waiting[which];
      waiting[which] = from;
      script_.switch_to(to);
    } else {
      script_.ret();
    }
  }

  std::mt19937_64 random_;
  ProgramOptions options_;
  Script script_;
  std::vector<Code> functions_;
  std::size_t last_ = 0;
  trace::ThreadId thread_ = 0;
  std::uint64_t next_coroutine_ = 0;
  std::vector<std::vector<std::uint32_t>> coroutines_;  // by thread: stacks that wait
};

}  // namespace loopfold::structure::testing
