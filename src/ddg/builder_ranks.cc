// When stretches wait for others that repeat them (ranks.h), and when they go to the streams.
//
// A stretch that is the one before, moved on, waits; those that go on in the same way wait with it. They are given out
// when one does not, and before anything else comes to a stream of theirs: rows of a journal, an instance, a stretch
// along another path. Plans whose stretches seldom repeat are left alone for a while.
#include <algorithm>

#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

constexpr std::size_t kMostWaiting = 4;      // plans
constexpr std::uint64_t kWorthWaiting = 3;   // stretches: fewer were in vain
constexpr std::uint32_t kMostFailures = 10;  // that more is skipped for

}  // namespace

/// Whether all of the stretch that runs is even, in a loop in another one, and no other stack ran yet.
bool Builder::may_be_ranks() const {
  return stretch_.uneven_count == 0 && innermost_ != 0 && slice_ <= 1 &&
         std::all_of(stretch_accesses().begin(), stretch_accesses().end(),
                     [](const StretchAccess& at) { return at.fixed; });
}

/// Whether all that registers hold at reads is what they held in the last stretch along the path, moved on: if they
/// came from before that, from the loops around. What the path itself wrote follows from that.
bool Builder::registers_repeat(const StretchPlan& plan) const {
  using From = StretchPlan::ReadGranule::From;
  const Ranks& before = plan.repeats.before;
  if (before.n != stretch_.n || before.point.size() != innermost_ + 1 || !may_be_ranks()) return false;
  const std::size_t around = innermost_ - 1;
  const std::vector<Level>& levels = *levels_;
  const std::int64_t by = point_[around] - before.point[around];
  if (levels[around].entry != plan.repeats.around || by <= 0 ||
      static_cast<std::int64_t>(stretch_.counter) != before.point.back())
    return false;
  const auto moved_on = [&](const Ranks::Flow& flow, const Cell& cell) {
    return cell.producer == flow.from && flow.level <= around && levels[flow.level].entry == cell.entry &&
           static_cast<std::int64_t>(cell.counter) == flow.counter + before.growth_along(flow.level, by);
  };
  auto flow = before.flows.begin();
  const auto is = [&](const Streams::Used& used) { return flow != before.flows.end() && flow->used == &used; };
  for (const StretchPlan::Read& read : plan.reads) {
    if (!read.whole) return false;
    const StretchPlan::ReadGranule& granule = plan.granules[read.first];
    if (granule.from != From::kThisIteration) {
      const Cell* const cells = stretch_.thread->registers.data() + granule.granule;
      if (!are_equal(cells, read.read->count)) return false;
      if (is(read.used[0]) != (cells->producer != 0)) return false;
      if (cells->producer != 0 && !moved_on(*flow++, *cells)) return false;
    }
    if (granule.from == From::kBefore) continue;
    if (!is(read.used[granule.from == From::kThisIteration ? 0 : 1])) return false;
    ++flow;
  }
  return flow == before.flows.end();
}

/// What registers give, if all of it comes from the loops that control is in, and to streams of their own: a stream
/// that gets two segments of a stretch gets them in turns.
bool Builder::describe_flows(const StretchPlan& plan, Ranks& into) const {
  const std::vector<Level>& levels = *levels_;
  into.flows.clear();
  for (const Stretch::Register& flow : stretch_.registers) {
    std::size_t level = innermost_;
    if (flow.cell.entry != stretch_.entry) {
      if (flow.cell.producer == kLostProducer) return false;
      level = entries_.depth(flow.cell.entry) - std::size_t{1};
      if (level >= innermost_ || levels[level].entry != flow.cell.entry) return false;
    }
    // Those of one read follow each other.
    for (auto other = into.flows.rbegin(); other != into.flows.rend() && other->read == flow.read->read; ++other)
      if (other->from == flow.cell.producer && other->lane == flow.lane) return false;
    into.flows.push_back({&flow.read->used[flow.first == 0 ? 0 : 1], plan.parts[flow.read->part].site, flow.read->read,
                          flow.cell.producer, flow.lane, static_cast<std::uint16_t>(level),
                          static_cast<std::int64_t>(flow.cell.counter), flow.step, flow.first, flow.n});
  }
  return true;
}

/// The stretch that runs, as ranks have it. False if it cannot be one of them: something in it is uneven, or comes from
/// elsewhere than the loops that control is in.
bool Builder::describe(const StretchPlan& plan, Ranks& into) const {
  if (!may_be_ranks()) return false;
  into.n = stretch_.n;
  into.time = instructions_ + 1;
  into.serial = stretch_.serial;
  into.point.assign(point_.begin(), point_.begin() + static_cast<std::ptrdiff_t>(innermost_ + 1));
  into.sites.clear();
  for (const PathPart& part : plan.parts) into.sites.push_back(part.site);
  if (!stretch_.registers_repeat && !describe_flows(plan, into)) return false;
  into.values.clear();
  for (const Stretch::Value& value : stretch_.values)
    into.values.push_back({plan.parts[value.part].site, value.value, static_cast<std::int64_t>(value.labels.start),
                           static_cast<std::int64_t>(value.labels.step), 0});
  into.accesses.clear();
  for (const StretchAccess& at : stretch_accesses()) {
    into.accesses.push_back({plan.parts[at.part].site,
                             at.access,
                             at.place,
                             {at.block_step, static_cast<std::int64_t>(at.address.step)},
                             {},
                             at.copies});
  }
  return true;
}

/// Where rounds were taken in the last entry of the loop around, the stretch of the round that is recorded waits for
/// those behind it, and before that the first one of the loop for the one that is recorded.
bool Builder::wait_for_rounds(StretchPlan& plan) {
  StretchPlan::Repeats& repeats = plan.repeats;
  if (repeats.rounds_in == kNoEntry || stretch_.registers_repeat || innermost_ == 0) return false;
  const bool recorded = round_.recording && round_.whole;
  const bool is_first = !round_.recording && repeats.rounds_in != (*levels_)[innermost_ - 1].entry;
  if (!recorded && (!is_first || repeats.waiting.stretches != 0)) return false;
  const bool possible = describe(plan, ranks_);
  const bool goes_on = possible && repeats.for_rounds && repeats.waiting.stretches == 1 &&
                       repeats.waiting.moves_on_to(ranks_, true) && ranks_.stride == 1;
  if (goes_on) {
    repeats.waiting.go_on(ranks_);
  } else if (repeats.waiting.stretches != 0) {
    give_ranks(plan);
    feed_.set_time(instructions_ + 1);
  }
  if (!possible) return false;
  if (recorded) round_.described = ranks_;
  if (goes_on) return true;
  if (waiting_ranks_.size() == kMostWaiting) return false;
  repeats.before.n = 0;
  repeats.for_rounds = true;
  std::swap(repeats.waiting, ranks_);
  repeats.waiting.stretches = 1;
  repeats.waiting.stride = 1;
  waiting_ranks_.push_back(&plan);
  return true;
}

/// True: the stretch that runs waits, and all is done but for what memory gave. Else those that waited are given out.
bool Builder::wait_in_ranks(StretchPlan& plan) {
  if (wait_for_rounds(plan)) return true;
  StretchPlan::Repeats& repeats = plan.repeats;
  if (repeats.skip != 0 && !stretch_.registers_repeat) {
    --repeats.skip;
    if (repeats.waiting.stretches == 0) return false;
    give_ranks(plan);
    feed_.set_time(instructions_ + 1);
    return false;
  }
  const bool possible = describe(plan, ranks_);
  const bool repeated =
      possible && repeats.before.n != 0 && repeats.before.moves_on_to(ranks_, !stretch_.registers_repeat);
  if (stretch_.registers_repeat) move_flows(repeats.before, ranks_);
  const bool goes_on = repeated && repeats.waiting.stretches != 0 && repeats.waiting.same_growth(ranks_);
  if (goes_on) {
    ++repeats.waiting.stretches;
    repeats.waiting.serial = ranks_.serial;
  } else if (repeats.waiting.stretches != 0) {
    give_ranks(plan);
  }
  // Registers that repeat were not looked at: then there is no other way.
  const bool begins = !goes_on && (stretch_.registers_repeat || (repeated && repeats.skip == 0));
  if (begins) {
    if (waiting_ranks_.size() == kMostWaiting) give_ranks(*waiting_ranks_.front());
    repeats.waiting = ranks_;
    repeats.waiting.stretches = 1;
    waiting_ranks_.push_back(&plan);
  }
  feed_.set_time(instructions_ + 1);
  std::swap(repeats.before, ranks_);
  if (!possible) repeats.before.n = 0;
  repeats.around = innermost_ == 0 ? kNoEntry : (*levels_)[innermost_ - 1].entry;
  return goes_on || begins;
}

/// The flows of a stretch become those of the next one.
void Builder::move_flows(Ranks& from, Ranks& to) {
  to.flows.swap(from.flows);
  const std::size_t around = to.point.size() - 2;
  const std::int64_t by = to.point[around] - from.point[around];
  for (Ranks::Flow& flow : to.flows) flow.counter += to.growth_along(flow.level, by);
}

void Builder::give_ranks(StretchPlan& plan) {
  StretchPlan::Repeats& repeats = plan.repeats;
  if (repeats.for_rounds) {
    repeats.for_rounds = false;
    repeats.rounds_in = kNoEntry;
  } else if (repeats.waiting.stretches >= kWorthWaiting) {
    repeats.failures = 0;
  } else {
    repeats.failures = std::min(repeats.failures + 1, kMostFailures);
    repeats.skip = (1u << repeats.failures) - 2;
  }
  std::erase(waiting_ranks_, &plan);
  feed_.ranks(repeats.waiting);
  repeats.waiting.stretches = 0;
}

/// Those that have a site.
void Builder::give_ranks_with(SiteId site) {
  for (std::size_t i = waiting_ranks_.size(); i-- > 0;) {
    const std::vector<SiteId>& sites = waiting_ranks_[i]->repeats.waiting.sites;
    if (std::find(sites.begin(), sites.end(), site) != sites.end()) give_ranks(*waiting_ranks_[i]);
  }
}

/// A stretch along this path begins. Those of the same path may go on waiting, unless accesses of this one go to their
/// streams one by one, before it is known whether it repeats them.
void Builder::give_ranks_before(const StretchPlan& plan) {
  for (std::size_t i = waiting_ranks_.size(); i-- > 0;) {
    StretchPlan& other = *waiting_ranks_[i];
    if (&other == &plan) {
      const auto is_fixed = [](const StretchAccess& at) { return at.fixed; };
      if (!std::all_of(stretch_accesses().begin(), stretch_accesses().end(), is_fixed)) give_ranks(other);
      continue;
    }
    const std::vector<SiteId>& sites = other.repeats.waiting.sites;
    const bool shares = std::any_of(plan.parts.begin(), plan.parts.end(), [&](const PathPart& part) {
      return std::find(sites.begin(), sites.end(), part.site) != sites.end();
    });
    if (shares) give_ranks(other);
  }
}

}  // namespace loopfold::ddg
