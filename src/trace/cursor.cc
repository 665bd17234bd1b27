// Walks a trace event by event: expands the runs of a RunCursor.
//
// An iteration is expanded as a whole; its events are then two pointers that move. Events are handed out in
// *stretches*, so many of one iteration up to its end or the next side event; all decisions are made between stretches.
#include <algorithm>
#include <cstddef>
#include <utility>

#include "trace/reader.h"
#include "trace/reader_state.h"

namespace loopfold::trace {

struct Cursor::State {
  explicit State(RunCursor cursor) : runs(std::move(cursor)) {}

  RunCursor runs;
  RunExpander expander;
  const Run* run = nullptr;  // the one that is being expanded
  std::uint64_t iterations_left = 0;
  std::size_t path_left = 0;  // events of the iteration that are in no stretch yet
  std::uint64_t done = 0;     // events of the run that were delivered or are in the current stretch
  std::size_t side = 0;       // in run->sides

  // The current stretch.
  std::uint64_t stretch_left = 0;
  const ExitId* exit = nullptr;
  const std::uint64_t* slot = nullptr;
  const ExitShape* shapes = nullptr;

  Event event;
  const SideEvent* side_event = nullptr;

  Result<Item> between_stretches();
};

Result<Cursor::Item> Cursor::State::between_stretches() {
  for (;;) {
    if (run == nullptr) {
      const Result<RunCursor::Item> item = runs.next();
      if (!item) return tl::unexpected<Error>(item.error());
      if (*item == RunCursor::Item::kEnd) return Item::kEnd;
      if (*item == RunCursor::Item::kSide) {
        side_event = &runs.side();
        return Item::kSide;
      }
      run = &runs.run();
      expander.begin(*run);
      iterations_left = run->iterations;
      done = 0;
      side = 0;
      event.thread = run->thread;
      event.slice = run->slice;
      event.position = run->position - 1;
    }
    if (side < run->sides.size() && run->sides[side].ordinal == done) {
      side_event = &run->sides[side++].side;
      return Item::kSide;
    }
    if (path_left == 0) {
      if (iterations_left == 0) {
        run = nullptr;
        continue;
      }
      --iterations_left;
      const RunPath& path = expander.next();
      path_left = path.exits.size();
      exit = path.exits.data();
      slot = expander.slots().data();
    }
    stretch_left = path_left;
    if (side < run->sides.size()) stretch_left = std::min(stretch_left, run->sides[side].ordinal - done);
    done += stretch_left;
    path_left -= static_cast<std::size_t>(stretch_left);
    return Item::kEvent;
  }
}

Cursor Reader::cursor(CursorOptions options) const {
  options.control_only = false;
  auto state = std::make_unique<Cursor::State>(runs(options));
  state->shapes = state_->shapes.exits().data();
  return Cursor(std::move(state));
}

Cursor::Cursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Cursor::Cursor(Cursor&&) noexcept = default;
Cursor::~Cursor() = default;

Result<Cursor::Item> Cursor::next() {
  State& s = *state_;
  if (s.stretch_left == 0) [[unlikely]] {
    const Result<Item> item = s.between_stretches();
    if (!item || *item != Item::kEvent) return item;
  }
  --s.stretch_left;
  const ExitId exit = *s.exit++;
  const std::uint32_t slots = s.shapes[exit].slots;
  s.event.exit = exit;
  s.event.slots = {s.slot, slots};
  s.slot += slots;
  ++s.event.position;
  return Item::kEvent;
}

const Event& Cursor::event() const { return state_->event; }
const SideEvent& Cursor::side() const { return *state_->side_event; }

}  // namespace loopfold::trace
