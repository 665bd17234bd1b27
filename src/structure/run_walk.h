// Feeds the runs of a trace to a client, with as little expanding as possible.
//
// A literal is its events, one by one. The iterations of a run all start at one place, the run's header. If the stack
// pointers in it do not change from iteration to iteration, and after an iteration the client is where it was before
// (same frames, same loops, but for counters), then every further iteration along the same path does the same, and the
// client is told only how often: repeat(n) of a path whose iteration it has recorded. Everything else is expanded, side
// events that matter for control (signals, recording on and off) in their places.
//
// The client is that of Activations, and also has
//   set_thread(ThreadId)           the thread whose events come next
//   run_part(S&, const Part&)      instructions ran at the place that control came to
//   mark(S&)                       end_path() compares with this state; frames are compared by Activations
//   begin_path(S&)                 what happens from here on belongs to one iteration of a run
//   PathEnd end_path(S&, slot)     the iteration ended: what became of the client's state?
//   repeat(S&, slot, n)            the iteration that ended with this slot happens n times more
//   stop_watching()                the comparisons are over
// A client with `static constexpr bool kValues = true` is given every event of every run, with the values of all slots:
//   event(S&, ExitId, const uint64_t* slots)   the block runs; its parts come next
//   side(S*, const SideEvent&)                 before the walk follows it; null if the thread has no stack
// If it also has `static constexpr bool kStretches = true` (and kWeaves, for weave()), it may take iterations along one
// path at once. Control has then just come to the place where the first of them starts:
//   Known known_path(S&, const RunPath&)       does it know the path, from here?
//   void learn_path(S&, const RunPath&, PathEnd)   an iteration along it ended so; begin_path() was called before it
//   uint64_t stretch(S&, const RunExpander& ahead, uint64_t n, bool ends)   of the n next iterations, along the path
//                                              that was asked for last: so many were done. `ends`: the last of them
//                                              runs the same code and leaves the loop; it is followed once more, for
//                                              control only
//   uint64_t weave(S&, const Run&, uint64_t first, uint64_t n, RunExpander&, bool& learn)   of the n next iterations,
//                                              along whatever paths: so many were done, and taken from the expander. If
//                                              none was, `learn` says that the path of the next one is to be learned
//   begin_pass(), pass_part(S&, const Part&), end_pass()   of that one: the part is done, and is only to be counted
// And with `static constexpr bool kRounds = true` also rounds (rounds.h):
//   begin_round(S&)                            a round begins; an item of it, with its first number; it is of no use
//   round_item(const Run&, std::size_t first)  after all; it has ended: how many more, as it predicts them, could be
//   spoil_round()                              done without being looked at one by one
//   uint64_t end_round(S&, const Round&)
//   uint64_t take_rounds(S&, Round&, uint64_t first, uint64_t most)   from this one on, counted from the one that
//   ended:
//                                              so many of them were done, and so was the one behind them, but for
//   begin_silent_round(uint64_t)               what it leaves and counts: it is followed, and counts as so many
//   end_silent_round()
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "structure/activations.h"
#include "structure/code_map.h"
#include "structure/rounds.h"
#include "trace/reader.h"
#include "trace/run_ahead.h"

namespace loopfold::structure {

/// How an iteration of a run left the client, compared with mark().
enum class PathEnd : std::uint8_t {
  kChanged,     // it is elsewhere, or what is known of other paths does not hold any more
  kSame,        // as it was but for counters, but iterations along this path depend on those between them
  kRepeatable,  // as it was but for counters, and in any order with the other paths that are repeatable
};

/// Whether a client of the walk, or an observer behind it, asks for the values of events.
template <class T>
constexpr bool wants_values() {
  if constexpr (requires { T::kValues; }) return T::kValues;
  return false;
}

/// Whether a path can be taken many times at once.
enum class Known : std::uint8_t { kNo, kPossible, kImpossible };

/// Whether it takes iterations of a run at once, values and all.
template <class T>
constexpr bool wants_stretches() {
  if constexpr (requires { T::kStretches; }) return T::kStretches;
  return false;
}

/// Whether it also takes them where they take several paths.
template <class T>
constexpr bool wants_weaving() {
  if constexpr (requires { T::kWeaves; }) return T::kWeaves;
  return false;
}

/// Whether it also takes rounds.
template <class T>
constexpr bool wants_rounds() {
  if constexpr (requires { T::kRounds; }) return T::kRounds;
  return false;
}

template <class Client>
class RunWalk {
 public:
  using Tracker = Activations<Client>;
  static constexpr bool kRounds = wants_rounds<Client>();
  static constexpr bool kValues = wants_values<Client>();
  static constexpr bool kStretches = wants_stretches<Client>();
  static constexpr bool kWeaves = wants_weaving<Client>();

  RunWalk(const CodeMap& code, std::vector<std::uint8_t>& starts, Client& client, bool expand_all = false)
      : code_(code), starts_(starts), client_(client), expand_all_(expand_all) {}

  /// Reads to the end, or until another thread sets `stop`. What is damaged ends it, and is said in `damage`.
  /// `ahead`: the trace is decoded by another thread.
  void walk(const trace::Reader& reader, std::string& damage, const std::function<void(double)>& progress = {},
            const std::atomic<bool>* stop = nullptr, bool ahead = false) {
    trace::CursorOptions options;
    options.control_only = !kValues;
    trace::RunCursor cursor = reader.runs(options);
    if (!ahead) return walk_items(cursor, reader, damage, progress, stop);
    trace::RunAhead from(std::move(cursor));
    walk_items(from, reader, damage, progress, stop);
  }

  template <class Cursor>
  void walk_items(Cursor& cursor, const trace::Reader& reader, std::string& damage,
                  const std::function<void(double)>& progress, const std::atomic<bool>* stop) {
    std::size_t group = 0;
    for (;;) {
      const Result<trace::RunCursor::Item> item = cursor.next();
      if (!item) {
        damage = item.error().message;
        break;
      }
      if (*item == trace::RunCursor::Item::kEnd) break;
      if (stop != nullptr && stop->load(std::memory_order_relaxed)) return;
      if (progress && cursor.group() != group) {
        group = cursor.group();
        progress(static_cast<double>(group) / static_cast<double>(reader.groups().size()));
      }
      if (*item == trace::RunCursor::Item::kSide)
        side(cursor.side());
      else
        run(cursor.run());
    }
    finish();
  }

  void side(const trace::SideEvent& event) {
    if constexpr (kRounds) leave_rounds();
    if constexpr (kValues) client_.side(tracker(event.thread).current(), event);
    if (const auto* recording = std::get_if<trace::Recording>(&event.data)) {
      if (recording->on) finish();
      recording_ = recording->on;
    } else if (const auto* signal = std::get_if<trace::Signal>(&event.data)) {
      if (signal->enter)
        tracker(event.thread).signal_enter();
      else
        tracker(event.thread).signal_return();
    } else if (std::holds_alternative<trace::Allocation>(event.data) ||
               std::holds_alternative<trace::Hidden>(event.data)) {
      tracker(event.thread).hidden_code();
    } else if (std::holds_alternative<trace::ThreadEnd>(event.data)) {
      tracker(event.thread).finish(recording_);
    }
  }

  void run(const trace::Run& run) {
    if constexpr (kRounds) {
      if (watch_.phase != Watch::Phase::kNone && follow_round(run)) return;
      run_item(run);
      if (!run.literal()) think_of_rounds(run);
    } else {
      run_item(run);
    }
  }

  void finish() {
    if constexpr (kRounds) leave_rounds();
    for (std::unique_ptr<Tracker>& tracker : trackers_)
      if (tracker) tracker->finish(false);
  }

  bool starts_changed() const {
    return std::any_of(trackers_.begin(), trackers_.end(),
                       [](const std::unique_ptr<Tracker>& tracker) { return tracker && tracker->starts_changed(); });
  }

 private:
  void run_item(const trace::Run& run) {
    client_.set_thread(run.thread);
    Tracker& tracker = this->tracker(run.thread);
    if (run.literal() && run.sides.empty()) {
      events(tracker, run.paths[0].exits, run.slots.data(), false);
      return;
    }
    if constexpr (kStretches) {
      if (run.iterations >= (kWeaves ? kShortestWeave : kShortestStretch) && run.sides.empty())
        return stretch(tracker, run);
    }
    if (kValues || expand_all_ || !steady(run) || !find_hidden(run)) return expand(tracker, run);
    repeat(tracker, run);
  }

  // ---- Rounds ---------------------------------------------------------------------------------------------------

  /// What is being waited for.
  struct Watch {
    enum class Phase : std::uint8_t {
      kNone,
      kCollecting,  // the items of the first round
      kWatching,    // a round runs, and its numbers are taken
      kPuttingOff,  // items that are as predicted
    };
    Phase phase = Phase::kNone;
    Rounds::Known* known = nullptr;
    std::size_t item = 0;       // the next one
    std::uint64_t watched = 0;  // rounds, since the last that were done at once
    bool spoiled = false;       // a path was learned
    bool guessed = false;       // numbers are thought to grow as in the last entry of the loop
    std::uint64_t most = 0;     // rounds that may be put off
    std::uint64_t off = 0;      // so many are
  };

  /// Behind a run that was done in the usual way.
  void think_of_rounds(const trace::Run& run) {
    if (watch_.phase != Watch::Phase::kNone || !Round::may_end(run)) return;
    Rounds::Known& known = rounds_.of(run);
    if (known.skip != 0) {
      --known.skip;
      return;
    }
    if (++known.met < kWorthRounds) return;
    watch_ = {};
    watch_.known = &known;
    if (known.round && known.round->items().back().iterations == run.iterations) return begin_round();
    known.round = std::make_unique<Round>();
    watch_.phase = Watch::Phase::kCollecting;
  }

  void begin_round() {
    Tracker& tracker = this->tracker(watch_.known->round->thread());
    watch_.phase = Watch::Phase::kWatching;
    watch_.item = 0;
    watch_.spoiled = false;
    tracker.mark();
    client_.begin_round(*tracker.current());
  }

  void stop_watching_rounds(bool failed) {
    if (watch_.phase == Watch::Phase::kWatching) client_.spoil_round();
    if (failed) watch_.known->fail();
    watch_.phase = Watch::Phase::kNone;
  }

  /// True: nothing is left to be done with the item.
  bool follow_round(const trace::Run& run) {
    Rounds::Known& known = *watch_.known;
    switch (watch_.phase) {
      case Watch::Phase::kPuttingOff:
        if (known.round->is_predicted(watch_.item, run, watch_.off + 1)) {
          if (++watch_.item < known.round->items().size()) return true;
          watch_.item = 0;
          if (++watch_.off == watch_.most) catch_up(true);
          return true;
        }
        catch_up(false);
        return false;
      case Watch::Phase::kWatching:
        if (!known.round->is_item(watch_.item, run)) {
          stop_watching_rounds(true);
          if (known.failures > kMostOtherRounds) known.round.reset();
          return false;
        }
        known.round->take(watch_.item, run);
        client_.round_item(run, known.round->items()[watch_.item].first);
        run_item(run);
        if (++watch_.item == known.round->items().size()) end_round();
        return true;
      case Watch::Phase::kCollecting:
        if (!Round::may_hold(run) || known.round->items().size() == Round::kMostItems) {
          known.round.reset();
          stop_watching_rounds(true);
          return false;
        }
        known.round->add(run);
        run_item(run);
        if (!run.literal() && run.paths[0].exits[0] == known.exit) {
          known.round->go_on();
          watch_.watched = 1;
          begin_round();
        }
        return true;
      case Watch::Phase::kNone:
        break;
    }
    return false;
  }

  void end_round() {
    Round& round = *watch_.known->round;
    Tracker& tracker = this->tracker(round.thread());
    watch_.most = 0;
    watch_.guessed = watch_.watched++ == 0;
    if (!watch_.guessed) round.find_growth();
    if (!round.knows_growth() || watch_.spoiled || !tracker.unchanged())
      client_.spoil_round();
    else
      watch_.most = client_.end_round(*tracker.current(), round);
    if (watch_.most >= kFewestRounds) {
      watch_.phase = Watch::Phase::kPuttingOff;
      watch_.item = 0;
      watch_.off = 0;
      return;
    }
    if (watch_.watched > kMostWatched) return stop_watching_rounds(true);
    round.go_on();
    begin_round();
  }

  /// Does what was put off. `goes_on`: more like it may come.
  void catch_up(bool goes_on) {
    Rounds::Known& known = *watch_.known;
    Round& round = *known.round;
    const std::size_t items = watch_.item;
    const std::uint64_t rounds = watch_.off;
    watch_.phase = Watch::Phase::kNone;
    Tracker& tracker = this->tracker(round.thread());
    std::uint64_t taken = 0;
    std::uint64_t in_vain = 0;
    for (std::uint64_t done = 0; done < rounds; ++done) {
      if (in_vain < kMostInVain && rounds - done >= kFewestRounds) {
        client_.set_thread(round.thread());
        const std::uint64_t some = client_.take_rounds(*tracker.current(), round, done + 1, rounds - done - 1);
        if (some == 0) ++in_vain;
        taken += some;
        done += some;
        if (some > 0) {
          client_.begin_silent_round(some + 1);
          follow_predicted(round, done + 1);
          client_.end_silent_round();
          continue;
        }
      }
      follow_predicted(round, done + 1);
    }
    for (std::size_t i = 0; i < items; ++i) run_item(round.predicted(i, rounds + 1));
    if (taken > 0)
      known.succeed();
    else if (rounds == 0 && watch_.guessed)
      round.forget_growth();
    else
      known.fail();
    if (!goes_on || taken == 0) return;
    round.move(rounds);
    round.go_on();
    watch_.watched = 1;
    begin_round();
  }

  void follow_predicted(Round& round, std::uint64_t number) {
    for (std::size_t i = 0; i < round.items().size(); ++i) run_item(round.predicted(i, number));
  }

  void leave_rounds() {
    if (watch_.phase == Watch::Phase::kPuttingOff) return catch_up(false);
    if (watch_.phase == Watch::Phase::kCollecting) watch_.known->round.reset();
    if (watch_.phase != Watch::Phase::kNone) stop_watching_rounds(false);
  }

  Tracker& tracker(trace::ThreadId thread) {
    if (thread >= trackers_.size()) trackers_.resize(thread + 1);
    if (!trackers_[thread]) trackers_[thread] = std::make_unique<Tracker>(code_, starts_, client_);
    return *trackers_[thread];
  }

  /// One event. `arrived`: control has already come to its first place.
  [[gnu::always_inline]] void event(Tracker& tracker, trace::ExitId id, const ExitCode& exit,
                                    const std::uint64_t* slots, bool arrived) {
    const std::span<const Part> parts = code_.parts(exit);
    if (parts.empty()) return;
    if (!arrived) tracker.arrive(parts[0].place);
    if constexpr (kValues) client_.event(*tracker.current(), id, slots);
    const Part* part = parts.data();
    for (const Part* const last = part + parts.size() - 1;;) {
      client_.run_part(*tracker.current(), *part);
      if (part == last) [[likely]]
        break;
      tracker.fall_through((++part)->place);
    }
    tracker.depart(exit, exit.has_stack_pointer ? code_.stack_pointer(id, slots) : 0);
  }

  /// Events in turn. `arrived`: control has already come to the first place of the first one.
  void events(Tracker& tracker, std::span<const trace::ExitId> exits, const std::uint64_t* slots, bool arrived) {
    for (const trace::ExitId id : exits) {
      const ExitCode& exit = code_.exit(id);
      event(tracker, id, exit, slots, arrived);
      arrived = false;
      slots += exit.slots;
    }
  }

  /// Nothing in the run depends on the iteration: stack pointers are constant, and no side event matters.
  bool steady(const trace::Run& run) const {
    if (run.iterations < kFewIterations) return false;
    for (const trace::RunColumn& column : run.columns) {
      if (!column.control) continue;
      if (column.kind != trace::RunColumn::Kind::kRegular || column.stride != 0) return false;
    }
    for (const trace::PlacedSide& placed : run.sides) {
      if (matters(placed.side) || (hides(placed) && placed.side.thread != run.thread)) return false;
    }
    const PlaceId header = first_place(run.paths[0]);
    if (header == kNoPlace) return false;
    return std::all_of(run.paths.begin(), run.paths.end(),
                       [&](const trace::RunPath& path) { return first_place(path) == header; });
  }

  static bool matters(const trace::SideEvent& side) {
    return std::holds_alternative<trace::Signal>(side.data) || std::holds_alternative<trace::Recording>(side.data) ||
           std::holds_alternative<trace::ThreadEnd>(side.data);
  }

  PlaceId first_place(const trace::RunPath& path) const {
    if (path.exits.empty()) return kNoPlace;
    const std::span<const Part> parts = code_.parts(code_.exit(path.exits[0]));
    return parts.empty() ? kNoPlace : parts[0].place;
  }

  void expand(Tracker& tracker, const trace::Run& run) {
    expander_.begin(run);
    std::size_t next_side = 0;
    std::uint64_t ordinal = 0;
    for (std::uint64_t i = 0; i < run.iterations; ++i) {
      const trace::RunPath& path = expander_.next();
      const std::uint64_t* slots = expander_.slots().data();
      for (const trace::ExitId& exit : path.exits) {
        for (; next_side < run.sides.size() && run.sides[next_side].ordinal <= ordinal; ++next_side)
          side(run.sides[next_side].side);
        client_.set_thread(run.thread);
        events(tracker, {&exit, 1}, slots, false);
        slots += code_.exit(exit).slots;
        ++ordinal;
      }
    }
  }

  /// Event by event, but for iterations that the client takes at once. Between two iterations control has just come to
  /// the place where the next one starts, if they take the same path.
  void stretch(Tracker& tracker, const trace::Run& run) {
    expander_.begin(run);
    bool arrived = false;
    std::uint64_t end = 0;    // of those that take the same path
    std::uint64_t mixed = 0;  // end of those that take several paths
    for (std::uint64_t i = 0; i < run.iterations;) {
      if (i >= end) end = i + same_path(run, i);
      const std::uint64_t same = end - i;
      const trace::RunPath& path = run.paths[run.path_of(i)];
      const PlaceId place = first_place(path);
      const bool ends = i + same + 1 == run.iterations && runs_same_code(path, run.paths[run.path_of(i + same)]);
      const std::uint64_t most = same + (ends ? 1 : 0);
      if (place == kNoPlace || i + 1 == run.iterations || (!kWeaves && most < kShortestStretch)) {
        for (; i < end; ++i) {
          by_events(tracker, expander_.next(), arrived);
          arrived = false;
        }
        continue;
      }
      if (!arrived) tracker.arrive(place);
      arrived = true;
      if constexpr (kWeaves) {
        if (most < kShortestStretch) {
          if (i >= mixed) mixed = i + mixed_paths(run, i);
          i += weave(tracker, run, i, mixed - i);
          continue;
        }
      }
      switch (client_.known_path(*tracker.current(), path)) {
        case Known::kNo:
          learn(tracker, path);
          ++i;
          break;
        case Known::kPossible:
          if (const std::uint64_t done = client_.stretch(*tracker.current(), expander_, most, ends); done > 0) {
            i += done;
            expander_.skip(done > same ? same : done);
            if (done > same) pass(tracker, expander_.next());
            break;
          }
          [[fallthrough]];
        case Known::kImpossible:
          by_events(tracker, expander_.next(), true);
          tracker.arrive(place);
          ++i;
          break;
      }
    }
  }

  /// Some of the next iterations, which take several paths, or are few. Control has come to where they start, and
  /// afterwards to where the next one does. How many there were.
  std::uint64_t weave(Tracker& tracker, const trace::Run& run, std::uint64_t first, std::uint64_t most) {
    bool learn_first = false;
    const std::uint64_t done = client_.weave(*tracker.current(), run, first, most, expander_, learn_first);
    if (done > 0) return done;
    const trace::RunPath& path = run.paths[run.path_of(first)];
    if (learn_first) {
      learn(tracker, path);
      return 1;
    }
    by_events(tracker, expander_.next(), true);
    tracker.arrive(first_place(path));
    return 1;
  }

  /// How many iterations, from this one on, come before the next that may be taken at once, or the last of the run.
  static std::uint64_t mixed_paths(const trace::Run& run, std::uint64_t first) {
    const std::uint64_t last = run.iterations - 1;
    if (run.sequence.empty()) return last - first;
    std::uint64_t begin = first;  // of those that take the same path
    for (std::uint64_t i = first + 1; i < last; ++i) {
      if (run.sequence[i] != run.sequence[begin]) begin = i;
      if (i - begin + 1 == kShortestStretch && begin > first) return begin - first;
    }
    return last - first;
  }

  void learn(Tracker& tracker, const trace::RunPath& path) {
    watch_.spoiled = true;
    const PlaceId place = first_place(path);
    tracker.mark();
    client_.mark(*tracker.current());
    client_.begin_path(*tracker.current());
    by_events(tracker, expander_.next(), true);
    tracker.arrive(place);
    const PathEnd end = tracker.unchanged() ? client_.end_path(*tracker.current(), 0) : PathEnd::kChanged;
    client_.stop_watching();
    client_.learn_path(*tracker.current(), path, end);
  }

  /// How many iterations take the same path, from this one on. The last of a run does not count: where control goes
  /// behind it is not known.
  static std::uint64_t same_path(const trace::Run& run, std::uint64_t iteration) {
    if (run.sequence.empty()) return iteration + 1 < run.iterations ? run.iterations - 1 - iteration : 1;
    std::uint64_t end = iteration + 1;
    while (end + 1 < run.iterations && run.sequence[end] == run.sequence[iteration]) ++end;
    return end - iteration;
  }

  /// Whether two paths differ at most in where control goes behind them.
  bool runs_same_code(const trace::RunPath& a, const trace::RunPath& b) const {
    const std::size_t last = a.exits.size() - 1;
    if (b.exits.size() != a.exits.size() || !std::equal(a.exits.begin(), a.exits.end() - 1, b.exits.begin()))
      return false;
    if (!std::equal(a.columns.begin(), a.columns.end(), b.columns.begin(), b.columns.end())) return false;
    const trace::Exit& one = code_.exits()[a.exits[last]];
    const trace::Exit& other = code_.exits()[b.exits[last]];
    return one.block == other.block && one.instructions == other.instructions && one.accesses == other.accesses &&
           one.results == other.results && one.slots == other.slots &&
           code_.exit(one.id).parts == code_.exit(other.id).parts;
  }

  /// An iteration that the client has done, but for where control goes. Control has come to its first place.
  void pass(Tracker& tracker, const trace::RunPath& path) {
    client_.begin_pass();
    const std::uint64_t* slots = expander_.slots().data();
    bool arrived = true;
    for (const trace::ExitId id : path.exits) {
      const ExitCode& exit = code_.exit(id);
      const std::span<const Part> parts = code_.parts(exit);
      if (parts.empty()) continue;
      if (!arrived) tracker.arrive(parts[0].place);
      client_.pass_part(*tracker.current(), parts[0]);
      for (std::size_t i = 1; i < parts.size(); ++i) {
        tracker.fall_through(parts[i].place);
        client_.pass_part(*tracker.current(), parts[i]);
      }
      tracker.depart(exit, exit.has_stack_pointer ? code_.stack_pointer(id, slots) : 0);
      arrived = false;
      slots += exit.slots;
    }
    client_.end_pass();
  }

  void by_events(Tracker& tracker, const trace::RunPath& path, bool arrived) {
    events(tracker, path.exits, expander_.slots().data(), arrived);
  }

  /// The slots of an iteration along `path`; those that no stack pointer needs are 0.
  void fill_slots(const trace::Run& run, const trace::RunPath& path) {
    slots_.resize(path.columns.size());
    for (std::size_t i = 0; i < path.columns.size(); ++i) {
      const trace::RunColumn& column = run.columns[path.columns[i]];
      slots_[i] = column.control ? column.start : 0;
    }
  }

  static bool hides(const trace::PlacedSide& placed) {
    return std::holds_alternative<trace::Allocation>(placed.side.data) ||
           std::holds_alternative<trace::Hidden>(placed.side.data);
  }

  /// Finds out behind which events of each path hidden code runs; false if that depends on the iteration.
  bool find_hidden(const trace::Run& run) {
    static_assert(trace::kMaxPathEvents <= 64);
    hidden_behind_.fill(0);
    hidden_in_last_ = 0;
    if (std::none_of(run.sides.begin(), run.sides.end(), hides)) return true;
    std::array<bool, trace::kMaxRunPaths> met{};
    std::uint64_t begin = 0;  // events before the iteration
    auto side = run.sides.begin();
    for (std::uint64_t i = 0; i < run.iterations; ++i) {
      const std::size_t path = run.path_of(i);
      const std::uint64_t end = begin + run.paths[path].exits.size();
      std::uint64_t hidden = 0;
      for (; side != run.sides.end() && side->ordinal <= end; ++side)
        if (hides(*side) && side->ordinal > begin) hidden |= std::uint64_t{1} << (side->ordinal - begin - 1);
      if (i + 1 == run.iterations) {
        hidden_in_last_ = hidden;
      } else if (!met[path]) {
        met[path] = true;
        hidden_behind_[path] = hidden;
      } else if (hidden_behind_[path] != hidden) {
        return false;
      }
      begin = end;
    }
    return true;
  }

  /// Between two iterations control has just come to the run's header: there the state is compared.
  void repeat(Tracker& tracker, const trace::Run& run) {
    const PlaceId header = first_place(run.paths[0]);
    tracker.arrive(header);
    mark(tracker);
    for (std::uint64_t i = 0; i + 1 < run.iterations; ++i) {
      const std::size_t path = run.path_of(i);
      if (known_[path]) {
        if (run.sequence.empty()) {
          counts_[path] += run.iterations - 1 - i;
          break;
        }
        ++counts_[path];
        continue;
      }
      flush(tracker);
      client_.begin_path(*tracker.current());
      iteration(tracker, run, run.paths[path], hidden_behind_[path]);
      tracker.arrive(header);
      const PathEnd end = tracker.unchanged() ? client_.end_path(*tracker.current(), path) : PathEnd::kChanged;
      if (end == PathEnd::kChanged) mark(tracker);
      known_[path] = end == PathEnd::kRepeatable;
    }
    flush(tracker);
    client_.stop_watching();
    iteration(tracker, run, run.paths[run.path_of(run.iterations - 1)], hidden_in_last_);
  }

  void mark(Tracker& tracker) {
    known_.fill(false);
    tracker.mark();
    client_.mark(*tracker.current());
  }

  void flush(Tracker& tracker) {
    for (std::size_t path = 0; path < known_.size(); ++path) {
      if (counts_[path] == 0) continue;
      client_.repeat(*tracker.current(), path, counts_[path]);
      counts_[path] = 0;
    }
  }

  /// An iteration whose first place control has already come to; `hidden` has a bit for each event behind which hidden
  /// code runs.
  void iteration(Tracker& tracker, const trace::Run& run, const trace::RunPath& path, std::uint64_t hidden) {
    fill_slots(run, path);
    const std::uint64_t* slots = slots_.data();
    if (hidden == 0) return events(tracker, path.exits, slots, true);
    bool first = true;
    for (const trace::ExitId& id : path.exits) {
      events(tracker, {&id, 1}, slots, first);
      if ((hidden & 1) != 0) tracker.hidden_code();
      first = false;
      hidden >>= 1;
      slots += code_.exit(id).slots;
    }
  }

  static constexpr std::uint64_t kFewIterations = 3;
  static constexpr std::uint64_t kShortestStretch = 8;
  static constexpr std::uint64_t kShortestWeave = 3;
  static constexpr std::uint32_t kWorthRounds = 4;      // runs behind which one may begin, before it is looked at
  static constexpr std::uint64_t kFewestRounds = 3;     // that are worth it
  static constexpr std::uint64_t kMostInVain = 4;       // times that none was taken, of those that were put off
  static constexpr std::uint64_t kMostWatched = 4;      // rounds, before it is clear that they cannot be done at once
  static constexpr std::uint32_t kMostOtherRounds = 2;  // failures, before other items are tried

  const CodeMap& code_;
  std::vector<std::uint8_t>& starts_;
  Client& client_;
  bool expand_all_;
  bool recording_ = true;                           // it was not seen to stop
  std::vector<std::unique_ptr<Tracker>> trackers_;  // by thread
  trace::RunExpander expander_;
  Watch watch_;
  Rounds rounds_;
  std::vector<std::uint64_t> slots_;
  std::array<bool, trace::kMaxRunPaths> known_{};
  std::array<std::uint64_t, trace::kMaxRunPaths> counts_{};
  std::array<std::uint64_t, trace::kMaxRunPaths> hidden_behind_{};  // by path: a bit for each of its events
  std::uint64_t hidden_in_last_ = 0;                                // of the last iteration
};

}  // namespace loopfold::structure
