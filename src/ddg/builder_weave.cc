// Iterations of a loop along several paths, one after the other.
//
// Where data decide between the ways through a loop's body, no path is taken often enough in a row to be a stretch
// (builder_stretch.cc). But a run says which path each iteration takes, and all of these are known: which parts they
// have, in which contexts, and that each leaves the walk where it found it, but for the loop's counter. So iterations
// are *woven*: parts are run from the nodes of their trail (trail.h), which is the whole path, with the slots of the
// run, and the walk hears only how many iterations there were along each path.
//
// Exactly what part by part gives: the same rows go into the same journals, in the same order, and memory and origins
// are followed as always. Left to that form: paths with calls, or with parts that have no journal or no node.
// Cost: that of running the parts (builder_trail.cc); nothing per event, and some tens of instructions per iteration.
#include <algorithm>
#include <utility>

#include "ddg/builder.h"

namespace loopfold::ddg {

namespace {

constexpr std::size_t kMostWoven = std::size_t{1} << 14;  // paths that are known: no more are learned to be woven

}  // namespace

/// What can be said when a path has been learned. Journals of its sites may come later.
bool Builder::plan_weave(const structure::PathTotals& totals, WeavePlan& into) const {
  const bool possible = std::all_of(path_.begin(), path_.end(), [&](const PathPart& part) {
    const auto same = [&](const PathPart& other) { return other.site == part.site; };
    return part.code->row.possible && !streams_.cold(part.site) && std::count_if(path_.begin(), path_.end(), same) == 1;
  });
  if (!possible) return false;
  into.state = WeavePlan::State::kNotYet;
  into.parts = path_;
  into.totals = totals;
  return true;
}

/// The plan of a path, if it is ready. Else null, and whether the path is to be learned.
WeavePlan* Builder::find_weave(const PathKey& key, std::span<const trace::ExitId> exits, bool& learn) {
  KnownPath* const path = known(key, exits);
  if (path == nullptr || (path->failures > 0 && path->failures < kMostFailures)) {
    learn = path != nullptr || known_path_count_ < kMostWoven;
    return nullptr;
  }
  WeavePlan& plan = path->weave;
  if (plan.state == WeavePlan::State::kNotYet && make_threads(key, plan)) plan.state = WeavePlan::State::kReady;
  return plan.state == WeavePlan::State::kReady ? &plan : nullptr;
}

/// Finds or makes the nodes of all parts. False: some have no journal yet, or there will be none.
bool Builder::make_threads(const PathKey& key, WeavePlan& plan) {
  const auto has_journal = [&](const PathPart& part) { return part.site < journals_.size() && journals_[part.site]; };
  if (!std::all_of(plan.parts.begin(), plan.parts.end(), has_journal)) return false;
  plan.nodes.clear();
  plan.alone.clear();
  TrailNode* before = nullptr;
  for (const PathPart& part : plan.parts) {
    before = node_of(part, before);
    TrailNode* const alone = plan.nodes.empty() ? before : node_of(part, nullptr);
    if (before == nullptr || alone == nullptr) {
      plan.state = WeavePlan::State::kImpossible;
      return false;
    }
    plan.nodes.push_back(before);
    plan.alone.push_back(alone);
  }
  plan.find_exposed();
  weave_loops_[key].add(plan);
  return true;
}

/// The node of a part behind another one, or of one that begins a trail.
TrailNode* Builder::node_of(const PathPart& part, TrailNode* before) {
  Where where;
  where.context = part.context;
  where.function = part.function;
  where.node = part.node;
  LastSite last;
  last.site = part.site;
  if (options_.origins) last.uses = &origins_.records().uses(part.site, part.code->operands);
  if (before == nullptr) return begin_trail(where, last, part.number, *part.code);
  for (const std::unique_ptr<TrailNode>& child : before->children)
    if (child->is(part.number, part.context, part.function, part.node)) return child.get();
  return new_trail(before, where, last, part.number, *part.code);
}

std::uint64_t Builder::weave_at(const Where& where, const trace::Run& run, std::uint64_t first, std::uint64_t n,
                                trace::RunExpander& expander, structure::Woven& woven, bool& learn) {
  round_.whole = false;
  const PathKey key = path_key(where);
  std::array<WeavePlan*, trace::kMaxRunPaths> plans{};
  Instance instance;
  std::uint64_t done = 0;
  for (; done < n; ++done) {
    const std::size_t path = run.path_of(first + done);
    WeavePlan*& plan = plans[path];
    if (plan == nullptr) {
      // A new plan may expose more: then what waits must not wait any longer.
      write_rest(where);
      bool unknown = false;
      plan = find_weave(key, run.paths[path].exits, unknown);
      if (plan == nullptr) {
        learn = unknown && done == 0;
        return done;
      }
      woven[path].totals = &plan->totals;
    }
    if (events_ + plan->events >= next_check_) break;
    if (plan->version != plan->loop->version) plan->divide();
    if (done == 0) {
      end_trail();
      instance = enter(where, stack(where.stack), plan->parts[0].site);
    } else {
      ++instance.counter;
      point_[innermost_] = static_cast<std::int64_t>(instance.counter);
    }
    expander.next();
    weave_iteration(where, instance, *plan, expander.slots().data());
    events_ += plan->events;
    ++woven[path].iterations;
  }
  write_rest(where);
  return done;
}

void Builder::weave_iteration(const Where& where, const Instance& instance, WeavePlan& plan,
                              const std::uint64_t* slots) {
  begin_woven(where, instance.counter, plan.loading);
  const std::size_t last = plan.nodes.size() - 1;
  for (std::size_t i = 0;; ++i) {
    const TrailNode& node = *plan.nodes[i];
    slots_ = slots + plan.parts[i].slot;
    run_trail(node, node.needs_place ? &where : nullptr);
    if (i == last) break;
    if (must_end_behind(node)) [[unlikely]]
      return break_woven(where, instance, plan, slots, i);
  }
  leave_behind(plan.each.outs, plan.each.end);
  end_woven(plan.loading);
  std::swap(plan.loaded, plan.loading);
  if (!plan.waits) waiting_.push_back(&plan);
  plan.waits = true;
  plan.counter = instance.counter;
}

/// The trail of an iteration along this path, in the entry that control is in; its loads are kept elsewhere.
void Builder::begin_woven(const Where& where, std::uint64_t counter, OriginTracker::Loads& loads) {
  ThreadState& thread = this->thread(where.thread);
  const Level& level = levels_->back();
  trail_ = {nullptr, &thread, &stack(where.stack), level.entry, counter, level.serial, where.thread};
  if (!options_.origins) return;
  origins_.exchange_loads(loads);
  origins_.begin_trail(level.entry, counter, level.serial, point_.data(), thread.registers, thread.origins);
}

void Builder::end_woven(OriginTracker::Loads& loads) {
  if (options_.origins) origins_.exchange_loads(loads);
}

/// The trail of an iteration must end behind part `at`, before the path does. What is behind it goes part by part.
void Builder::break_woven(const Where& where, const Instance& instance, WeavePlan& plan, const std::uint64_t* slots,
                          std::size_t at) {
  end_woven(plan.loading);
  write_rest(where);
  begin_woven(where, instance.counter, plan.loading);
  trail_.node = plan.nodes[at];
  write_trail();
  end_woven(plan.loading);
  for (std::size_t i = at + 1; i < plan.alone.size(); ++i) {
    begin_woven(where, instance.counter, plan.loading);
    trail_.node = plan.alone[i];
    slots_ = slots + plan.parts[i].slot;
    run_trail(*trail_.node, trail_.node->needs_place ? &where : nullptr);
    write_trail();
    end_woven(plan.loading);
  }
}

/// What iterations leave that was not needed by others: of each path, that of the last one, in their order.
void Builder::write_rest(const Where& where) {
  if (waiting_.empty()) return;
  std::sort(waiting_.begin(), waiting_.end(),
            [](const WeavePlan* a, const WeavePlan* b) { return a->counter < b->counter; });
  for (WeavePlan* const plan : waiting_) {
    plan->waits = false;
    begin_woven(where, plan->counter, plan->loaded);
    leave_behind(plan->rest.outs, plan->rest.end);
    end_woven(plan->loaded);
  }
  waiting_.clear();
}

}  // namespace loopfold::ddg
