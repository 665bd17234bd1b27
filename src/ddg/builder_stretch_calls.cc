// Calls during a stretch of iterations.
//
// What an iteration calls returns in it, and enters no loop: its statements have the iteration vector of the loop. When
// a path is learned, it is noted where the stack pointer goes, which frames there are, and which cells are forgotten
// when they are left, all relative to the stack pointer that the iteration begins with. A stretch is possible where
// stack pointers are what they were then, in every iteration. Then everything on the stack is at the same place each
// time, and only the numbers of the activations grow.
//
// What is forgotten behind a call is forgotten in the order of the program, if a load may ask; else once, since what
// the next iteration finds there it has stored itself.
#include <algorithm>

#include "ddg/builder.h"

namespace loopfold::ddg {

void Builder::begin_path_stack(const Where& where) {
  const StackState& state = stack(where.stack);
  path_stack_ = {};
  path_called_.clear();
  path_depth_ = where.depth;
  path_stack_id_ = where.stack;
  path_pointer_ = thread(where.thread).stack_pointer;
  path_stack_.lowest_before = state.lowest - path_pointer_;
  path_stack_.pointer_before = state.pointer - path_pointer_;
  path_stack_.frames.push_back({where.youngest.function, 0, where.youngest.activation, 0, 0});
}

/// The frame that control is in: a new one if there are more than before.
std::uint32_t Builder::path_frame(const Where& where) {
  for (std::size_t index = path_depth_ + path_called_.size(); index < where.depth; ++index) {
    const FrameView frame = where.frame(where.frames, index);
    const std::uint32_t caller = path_called_.empty() ? 0 : path_called_.back();
    path_is_whole_ = path_is_whole_ && frame.known;
    path_called_.push_back(static_cast<std::uint32_t>(path_stack_.frames.size()));
    path_stack_.frames.push_back({frame.function, frame.stack_pointer - path_pointer_, frame.activation, 0, caller});
  }
  const std::uint32_t frame = path_called_.empty() ? 0 : path_called_.back();
  const PathStack::Frame& youngest = path_stack_.frames[frame];
  if (where.stack != path_stack_id_ || where.depth != path_depth_ + path_called_.size() ||
      where.youngest.function != youngest.function || where.youngest.activation != youngest.activation)
    path_is_whole_ = false;
  return frame;
}

/// The youngest of `depth` frames is about to be left, and what is in it to be forgotten, if that is known.
void Builder::note_path_leave(std::uint64_t stack, std::size_t depth, bool forgets) {
  if (!forgets || path_called_.empty() || stack != path_stack_id_ || depth != path_depth_ + path_called_.size())
    path_is_whole_ = false;
  else
    path_called_.pop_back();
}

/// Whether each iteration finds the stack as it leaves it.
bool Builder::finish_path_stack(const structure::PathTotals& totals) {
  if (!path_stack_.moves()) {
    path_stack_ = {};
    return true;
  }
  const StackState& state = stack(path_stack_id_);
  const bool same = !state.lowest_unsure && state.lowest - path_pointer_ == path_stack_.lowest_before &&
                    state.pointer - path_pointer_ == path_stack_.pointer_before;
  const bool back = path_stack_.pointers.empty() || path_stack_.pointers.back() == 0;
  const bool inside = path_stack_.clears.empty() || path_stack_.clears.back().part < path_.size();
  return path_pointer_ != 0 && state.base != 0 && same && back && inside && path_called_.empty() &&
         number_activations(totals);
}

/// Among those of the iteration. False if there are others.
bool Builder::number_activations(const structure::PathTotals& totals) {
  const std::span<PathStack::Frame> called = std::span(path_stack_.frames).subspan(1);
  if (called.size() != totals.activations.size()) return false;
  std::vector<std::uint64_t> first(called.size());
  for (std::size_t i = 0; i < called.size(); ++i) {
    const auto& calls = totals.activations;
    first[i] = called[i].activation;
    for (const PathStack::Frame& other : called)
      if (other.function == called[i].function) first[i] = std::min(first[i], other.activation);
    called[i].activations = static_cast<std::uint64_t>(std::count(calls.begin(), calls.end(), called[i].function));
  }
  for (std::size_t i = 0; i < called.size(); ++i) called[i].activation -= first[i];
  return std::all_of(called.begin(), called.end(),
                     [](const PathStack::Frame& frame) { return frame.activation < frame.activations; });
}

/// Frames of the first iteration, and what is forgotten in each. False if the stack is not as the path had it.
bool Builder::enter_frames(const StretchPlan& plan) {
  stretch_.clears.clear();
  if (plan.stack.frames.empty()) return true;
  const Where& where = *stretch_.where;
  const StackState& state = *stretch_.stack;
  const std::uint64_t pointer = stretch_.thread->stack_pointer;
  if (pointer == 0 || stretch_.thread->left == where.stack || state.lowest_unsure || state.base == 0 ||
      state.lowest - pointer != plan.stack.lowest_before || state.pointer - pointer != plan.stack.pointer_before)
    return false;
  stretch_.called.resize(plan.stack.frames.size());
  for (std::size_t i = 0; i < plan.stack.frames.size(); ++i) {
    const PathStack::Frame& frame = plan.stack.frames[i];
    Stretch::Called& called = stretch_.called[i];
    called.loop = &where;
    called.where = where;
    called.frames.clear();
    if (i == 0) continue;
    const std::vector<FrameView>& outer = stretch_.called[frame.caller].frames;
    called.frames.assign(outer.begin(), outer.end());
    called.frames.push_back({pointer + frame.pointer, true, frame.function, stretch_.activations[i]});
    called.where.youngest = called.frames.back();
    called.where.frames = &called;
    called.where.depth = where.depth + called.frames.size();
    called.where.frame = [](const void* frames, std::size_t index) {
      const auto& in = *static_cast<const Stretch::Called*>(frames);
      return index < in.loop->depth ? in.loop->frame(in.loop->frames, index) : in.frames[index - in.loop->depth];
    };
  }
  for (const PathStack::Clear& clear : plan.stack.clears)
    stretch_.clears.push_back({clear.part, clear.first + pointer, clear.size});
  return true;
}

/// How many activations of the function an iteration has, if the place is in the frame of one of the first: the block
/// is another one each time.
std::int64_t Builder::activations_of(const Objects::Place& place) const {
  const std::span<const PathStack::Frame> frames = found_plan_->stack.frames;
  for (std::size_t i = 1; i < frames.size(); ++i)
    if (frames_[frames[i].function] == place.object &&
        place.block == static_cast<std::int64_t>(stretch_.activations[i]) && place.object != 0)
      return static_cast<std::int64_t>(frames[i].activations);
  return 0;
}

/// What an access touches in an iteration.
Objects::Place Builder::place_of(const StretchAccess& at, std::uint64_t address, std::uint64_t k) {
  lowest_ = at.pointer;
  Objects::Place place = locate(where_of(at), *stretch_.thread, *stretch_.stack, address);
  const std::int64_t step = k > 0 ? activations_of(place) : 0;
  if (step == 0) return place;
  place.block += step * static_cast<std::int64_t>(k);
  objects_.frame_block(place.object, place.block);
  return place;
}

/// Whether some of these bytes are forgotten in each iteration.
bool Builder::is_forgotten(std::uint64_t first, std::uint64_t last) const {
  return std::any_of(stretch_.clears.begin(), stretch_.clears.end(), [&](const PathStack::Clear& clear) {
    return clear.first <= last && clear.first + clear.size > first;
  });
}

/// Whether some load may find what is left in a frame that was left.
void Builder::find_leftovers() {
  const auto matters = [&](const StretchAccess& at) {
    return !at.access->store && is_forgotten(at.lowest, at.highest) && !is_stored_before(at);
  };
  stretch_.clears_matter =
      !stretch_.clears.empty() && std::any_of(stretch_accesses().begin(), stretch_accesses().end(), matters);
}

/// Whether all that a load gets was stored in the same iteration, at the same place in each: by one store as a whole,
/// and not forgotten in between.
bool Builder::is_stored_before(const StretchAccess& load) const {
  if (load.address.step != 0 || !is_steady(load)) return false;
  const auto covers = [&](const StretchAccess& store) {
    return store.address.even && store.address.step == 0 && store.lowest <= load.lowest &&
           store.highest >= load.highest;
  };
  const auto is_between = [&](const StretchAccess& store, const PathStack::Clear& clear) {
    return clear.part > store.part && clear.part <= load.part && clear.first <= load.highest &&
           clear.first + clear.size > load.lowest;
  };
  const StretchAccess* last = nullptr;  // of those before the load
  any_store(load.lowest, load.highest, [&](const StretchAccess& store) {
    if (&store < &load && (last == nullptr || last < &store) && covers(store)) last = &store;
    return false;
  });
  return last != nullptr && std::none_of(stretch_.clears.begin(), stretch_.clears.end(),
                                         [&](const PathStack::Clear& clear) { return is_between(*last, clear); });
}

/// Those of the frames that are left before a part; `next` counts them.
void Builder::forget_frames(std::size_t& next, std::size_t part) {
  for (; next < stretch_.clears.size() && stretch_.clears[next].part <= part; ++next)
    memory_.clear(stretch_.clears[next].first, stretch_.clears[next].size);
}

}  // namespace loopfold::ddg
