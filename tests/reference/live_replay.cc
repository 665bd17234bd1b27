#include "live_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace loopfold::reference {

namespace {

constexpr std::uint32_t kAnything = kNothing - 1;  // in memory: no value of the program

bool less(const Time& a, const Time& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [](const TimeEntry& x, const TimeEntry& y) { return x.value < y.value; });
}

/// A copy of a cell. The numbers say which; those of the cell itself are empty.
struct Place {
  std::uint32_t cell = 0;
  char kind = ' ';  // ' ' the cell itself, 'p' private, 'e' expanded, 'v' of one value
  std::vector<std::int64_t> copy;
  auto operator<=>(const Place&) const = default;
};

class Replayer {
 public:
  Replayer(const LiveTrace& trace, const std::vector<Time>& times, std::uint32_t nest,
           const std::map<std::string, LiveVariable>& variables)
      : trace_(trace), times_(times), treatment_(trace.cells.size()), named_(trace.cells.size()) {
    for (const LiveStep& step : trace.steps) in_nest_.push_back(counter_of(step, nest).has_value());
    std::map<std::uint32_t, const LiveVariable*> assigned;  // by line
    for (const auto& [name, variable] : variables)
      for (const std::uint32_t line : variable.lines) assigned[line] = &variable;
    for (const LiveAccess& access : trace.accesses) {
      const auto found = assigned.find(access.line);
      if (!access.write || access.cell == kNothing || found == assigned.end() || !in_nest_[access.step]) continue;
      if (trace.cells[access.cell].is_register && !found->second->scalar) continue;
      named_[access.cell] = true;
      if (found->second->treatment.kind != Treatment::Kind::kNone) treatment_[access.cell] = &found->second->treatment;
    }
  }

  LiveAnswer run() {
    std::vector<std::uint32_t> order(times_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return less(times_[a], times_[b]); });
    for (const std::uint32_t step : order) {
      enter(step);
      for (const std::uint32_t access : trace_.steps[step].accesses) {
        if (treatment_[cell(access)] != nullptr && treatment_[cell(access)]->kind == Treatment::Kind::kReduction)
          continue;
        trace_.accesses[access].write ? write(access) : read(access);
      }
    }
    return answer_;
  }

 private:
  std::uint32_t cell(std::uint32_t access) const { return trace_.accesses[access].cell; }
  std::uint32_t step_of(std::uint32_t access) const { return trace_.accesses[access].step; }

  /// The outermost entry of the time that is parallel.
  std::optional<std::size_t> parallel_entry(std::uint32_t step) const {
    const Time& time = times_[step];
    for (std::size_t k = 0; k < time.size(); ++k)
      if (time[k].parallel) return k;
    return std::nullopt;
  }
  std::vector<std::int64_t> numbers(std::uint32_t step, std::size_t count) const {
    std::vector<std::int64_t> made;
    for (std::size_t k = 0; k < count; ++k) made.push_back(times_[step][k].value);
    return made;
  }

  /// At the end of an entry of a parallel loop, what its last iteration left is put where it belongs. What that has not
  /// set is anything, if another one has, or if nothing was copied in.
  void leave() {
    for (std::uint32_t of = 0; of < treatment_.size() && !last_.empty(); ++of) {
      const Treatment* const treatment = treatment_[of];
      if (treatment == nullptr || treatment->kind != Treatment::Kind::kPrivate || !treatment->last) continue;
      const auto left = memory_.find({of, 'p', last_});
      if (left != memory_.end())
        memory_[{of, ' ', {}}] = left->second;
      else if (!treatment->first || set_.contains(of))
        memory_[{of, ' ', {}}] = kAnything;
    }
    last_.clear();
    set_.clear();
    touched_.clear();
  }

  void enter(std::uint32_t step) {
    const std::optional<std::size_t> entry = parallel_entry(step);
    std::vector<std::int64_t> now;
    if (entry) now = numbers(step, *entry);
    if (now != entered_) leave();
    entered_ = std::move(now);
    if (entry) last_ = std::max(last_, numbers(step, *entry + 1));
  }

  /// Where the value of a definition goes.
  Place place_of_definition(std::uint32_t access) const {
    const std::uint32_t of = cell(access);
    const std::uint32_t step = step_of(access);
    if (!in_nest_[step]) return {of, ' ', {}};
    const Treatment* const treatment = treatment_[of];
    if (treatment == nullptr) {
      if (trace_.cells[of].is_register && !named_[of]) return {of, 'v', {access}};
      return {of, ' ', {}};
    }
    if (treatment->kind == Treatment::Kind::kExpanded) {
      Place place{of, 'e', {}};
      for (const std::uint32_t line : treatment->along)
        place.copy.push_back(counter_of(trace_.steps[step], line).value_or(-1));
      return place;
    }
    const std::optional<std::size_t> entry = parallel_entry(step);
    if (!entry) return {of, ' ', {}};
    return {of, 'p', numbers(step, *entry + 1)};
  }

  /// Where a use looks for the value of a definition (or for what was there before).
  Place place_of_use(std::uint32_t access) const {
    const std::uint32_t of = cell(access);
    const std::uint32_t source = trace_.accesses[access].source;
    const Treatment* const treatment = treatment_[of];
    const bool is_private = treatment != nullptr && treatment->kind == Treatment::Kind::kPrivate;
    if (is_private && in_nest_[step_of(access)]) {
      const std::optional<std::size_t> entry = parallel_entry(step_of(access));
      if (entry) return {of, 'p', numbers(step_of(access), *entry + 1)};
    }
    if (is_private || source == kNothing) return {of, ' ', {}};
    return place_of_definition(source);
  }

  void write(std::uint32_t access) {
    const Place place = place_of_definition(access);
    memory_[place] = access;
    touch(place, access);
    if (place.kind == 'p') set_.insert(place.cell);
  }

  void read(std::uint32_t access) {
    const Place place = place_of_use(access);
    const std::uint32_t source = trace_.accesses[access].source;
    touch(place, access);
    ++answer_.reads;
    auto found = memory_.find(place);
    if (found == memory_.end() && place.kind == 'p' && treatment_[place.cell]->first)
      found = memory_.find({place.cell, ' ', {}});
    const std::uint32_t got = found == memory_.end() ? kNothing : found->second;
    const bool uninitialised = found == memory_.end() && place.kind == 'p' && !treatment_[place.cell]->first;
    if (got == source && !uninitialised) return;
    const bool is_early = source != kNothing && !done(source, access);
    ++(is_early ? answer_.flow : answer_.overlaps);
    note(fmt::format("{} reads what {} has written instead of {}", text(access), text(got), text(source)));
  }

  /// In the new order, another access has been before.
  bool done(std::uint32_t access, std::uint32_t before) const {
    const Time& a = times_[step_of(access)];
    const Time& b = times_[step_of(before)];
    return less(a, b) || (!less(b, a) && access < before);
  }

  /// Two iterations of the entry of the parallel loop that is going on.
  void touch(const Place& place, std::uint32_t access) {
    const std::optional<std::size_t> entry = parallel_entry(step_of(access));
    if (!entry) return;
    const std::int64_t iteration = times_[step_of(access)][*entry].value;
    const bool writes = trace_.accesses[access].write;
    const auto [known, added] = touched_.try_emplace(place, Touched{iteration, false, false, access});
    Touched& touched = known->second;
    if (iteration != touched.iteration) touched.several = true;
    touched.written = touched.written || writes;
    if (!touched.several || !touched.written) return;
    ++answer_.collisions;
    note(fmt::format("{} and {} are in two iterations of a parallel loop", text(touched.first), text(access)));
  }

  std::string text(std::uint32_t access) const {
    if (access == kNothing) return "nobody";
    if (access == kAnything) return "a copy that was not set";
    const LiveStep& step = trace_.steps[step_of(access)];
    std::string counters;
    for (const TimeEntry& entry : step.time)
      if (entry.loop != kNothing) counters += fmt::format("{}{}", counters.empty() ? "" : ",", entry.value);
    return fmt::format("line {} at [{}]{}", trace_.accesses[access].line, counters,
                       trace_.cells[cell(access)].is_register ? " (register)" : "");
  }

  void note(std::string text) {
    if (answer_.example.empty()) answer_.example = std::move(text);
  }

  struct Touched {
    std::int64_t iteration = 0;
    bool several = false;
    bool written = false;
    std::uint32_t first = 0;
  };

  const LiveTrace& trace_;
  const std::vector<Time>& times_;
  std::vector<bool> in_nest_;                // by step
  std::vector<const Treatment*> treatment_;  // by cell
  std::vector<bool> named_;                  // by cell
  std::map<Place, std::uint32_t> memory_;    // the access that wrote it last
  std::map<Place, Touched> touched_;         // in the entry of the parallel loop that is going on
  std::vector<std::int64_t> last_;           // the last iteration of that, as times begin in it
  std::set<std::uint32_t> set_;              // cells of which one of its iterations has set a private copy
  std::vector<std::int64_t> entered_;
  LiveAnswer answer_;
};

}  // namespace

LiveAnswer replay(const LiveTrace& trace, const std::vector<Time>& times, std::uint32_t nest,
                  const std::map<std::string, LiveVariable>& variables) {
  return Replayer(trace, times, nest, variables).run();
}

}  // namespace loopfold::reference
