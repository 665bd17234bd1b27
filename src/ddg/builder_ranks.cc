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

/// The stretch that runs, as ranks have it. False if it cannot be one of them: something in it is uneven, or comes from
/// elsewhere than the loops that control is in.
bool Builder::describe(const StretchPlan& plan, Ranks& into) const {
  if (stretch_.uneven_count != 0 || innermost_ == 0 || slice_ > 1) return false;
  const std::vector<Level>& levels = *levels_;
  into.n = stretch_.n;
  into.time = instructions_ + 1;
  into.serial = stretch_.serial;
  into.point.assign(point_.begin(), point_.begin() + static_cast<std::ptrdiff_t>(innermost_ + 1));
  into.sites.clear();
  for (const PathPart& part : plan.parts) into.sites.push_back(part.site);
  into.flows.clear();
  for (const Stretch::Register& flow : stretch_.registers) {
    std::size_t level = innermost_;
    if (flow.cell.entry != stretch_.entry) {
      if (flow.cell.producer == kLostProducer) return false;
      level = entries_.depth(flow.cell.entry) - std::size_t{1};
      if (level >= innermost_ || levels[level].entry != flow.cell.entry) return false;
    }
    into.flows.push_back({&flow.read->used[flow.first == 0 ? 0 : 1], plan.parts[flow.read->part].site, flow.read->read,
                          flow.cell.producer, flow.lane, static_cast<std::uint16_t>(level),
                          static_cast<std::int64_t>(flow.cell.counter), flow.step, flow.first, flow.n});
  }
  into.values.clear();
  for (const Stretch::Value& value : stretch_.values)
    into.values.push_back({plan.parts[value.part].site, value.value, static_cast<std::int64_t>(value.labels.start),
                           static_cast<std::int64_t>(value.labels.step), 0});
  into.accesses.clear();
  for (const StretchAccess& at : stretch_accesses()) {
    if (!at.fixed) return false;
    into.accesses.push_back({plan.parts[at.part].site, at.access, at.place,
                             {at.block_step, static_cast<std::int64_t>(at.address.step)}, {}, at.copies});
  }
  return true;
}

/// True: the stretch that runs waits, and all is done but for what memory gave. Else those that waited are given out.
bool Builder::wait_in_ranks(StretchPlan& plan) {
  StretchPlan::Repeats& repeats = plan.repeats;
  if (repeats.skip != 0) {
    --repeats.skip;
    return false;
  }
  const bool possible = describe(plan, ranks_);
  const bool repeated = possible && repeats.before.n != 0 && repeats.before.moves_on_to(ranks_);
  const bool goes_on = repeated && repeats.waiting.stretches != 0 && repeats.waiting.same_growth(ranks_);
  if (goes_on) {
    ++repeats.waiting.stretches;
    repeats.waiting.serial = ranks_.serial;
  } else if (repeats.waiting.stretches != 0) {
    give_ranks(plan);
  }
  const bool begins = repeated && !goes_on && repeats.skip == 0;
  if (begins) {
    if (waiting_ranks_.size() == kMostWaiting) give_ranks(*waiting_ranks_.front());
    repeats.waiting = ranks_;
    repeats.waiting.stretches = 1;
    waiting_ranks_.push_back(&plan);
  }
  feed_.set_time(instructions_ + 1);
  std::swap(repeats.before, ranks_);
  if (!possible) repeats.before.n = 0;
  return goes_on || begins;
}

void Builder::give_ranks(StretchPlan& plan) {
  StretchPlan::Repeats& repeats = plan.repeats;
  if (repeats.waiting.stretches >= kWorthWaiting) {
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
