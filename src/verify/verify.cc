#include "verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "structure/function_facts.h"
#include "structure/loop_names.h"
#include "structure/loop_walk.h"
#include "structure/structure.h"
#include "structure/tree_profile.h"
#include "symbols/symbolizer.h"
#include "verify/claims.h"
#include "verify/hidden.h"
#include "verify/judge.h"
#include "verify/names.h"
#include "verify/order.h"
#include "verify/replay.h"
#include "verify/witness.h"

namespace loopfold::verify {

namespace {

constexpr int kMostReplays = 8;

/// Tells each order of what happens in its region.
class OrderWatch : public Watch {
 public:
  OrderWatch(std::vector<OrderCheck>& orders, const Flow& flow, Needs& needs)
      : needs_(needs), order_of_(flow.nodes.size()) {
    for (OrderCheck& order : orders)
      for (NodeIndex node = 0; node < flow.nodes.size(); ++node)
        if (order.is_in_region(node)) order_of_[node] = &order;
  }
  NeedsId use(const Instance& instance, const Iterations& iterations) override {
    OrderCheck* const order = order_of_[instance.to];
    return order == nullptr ? kNoNeeds : order->add(instance, iterations);
  }
  NeedsId both(NeedsId a, NeedsId b) override { return needs_.both(a, b); }
  bool runs_anyway(NodeIndex node) const override {
    return order_of_[node] != nullptr && order_of_[node]->runs_anyway(node);
  }

 private:
  Needs& needs_;
  std::vector<OrderCheck*> order_of_;  // by node
};

class Verifier {
 public:
  /// `flat`: of a profile with hidden loops, the part of it without.
  Verifier(const trace::Reader& reader, const profile::Profile& profile, const Options& options,
           const FlatProfile* flat = nullptr)
      : reader_(reader), profile_(profile), options_(options), flat_(flat), symbolizer_(reader.modules()) {}

  Result<Report> run() {
    const structure::FunctionFacts facts = structure::function_facts(symbolizer_);
    structure_.emplace(structure::find_structure(reader_, facts));
    if (flat_ != nullptr) {
      const Result<void> split = split_loops();
      if (!split) return tl::unexpected<Error>(split.error());
    }
    for (int replay = 0; replay < kMostReplays; ++replay) {
      this->replay(flow_);
      if (replay == 0) {
        const Result<void> found = find_claims();
        if (!found) return tl::unexpected<Error>(found.error());
      }
      if (!find_decided()) break;
    }
    check_loops();
    check_orders();
    report_.partial = reader_.partial() || !report_.damage.empty();
    return std::move(report_);
  }

 private:
  /// Splits loops as the profile has them.
  Result<void> split_loops() {
    structure::LoopTree unsplit;
    structure::NoObserver nothing;
    structure::LoopWalk<structure::NoObserver> walk(*structure_, unsplit, nothing);
    walk.walk(reader_, report_.damage);
    std::vector<std::uint32_t> nodes;
    structure::LoopNames names(*structure_, symbolizer_);
    const profile::Profile described =
        structure::describe(reader_, *structure_, unsplit, walk.threads(), names, symbolizer_, &nodes);
    if (!is_same_tree(described, flat_->profile)) return other_trace();
    structure_->splits = splits_of(profile_, *flat_, std::move(unsplit), nodes);
    return {};
  }

  static bool is_same_tree(const profile::Profile& a, const profile::Profile& b) {
    const auto same = [](const profile::TreeNode& one, const profile::TreeNode& other) {
      return one.kind == other.kind && one.parent == other.parent && one.function == other.function &&
             one.address == other.address;
    };
    return std::equal(a.tree.begin(), a.tree.end(), b.tree.begin(), b.tree.end(), same);
  }
  static Result<void> other_trace() {
    return fail(ErrorKind::kBadInput, "the profile is not one of this trace; analyse again: loopfold analyze");
  }

  void replay(Flow& flow, Watch* watch = nullptr) {
    tree_ = {};
    Replay replay(reader_, *structure_, code_, flow, watch);
    structure::LoopWalk<Replay> walk(*structure_, tree_, replay);
    std::function<void(double)> progress;
    if (options_.progress)
      progress = [&](double share) { options_.progress(share, report_.instructions + replay.instructions()); };
    report_.damage.clear();
    walk.walk(reader_, report_.damage, progress);
    threads_ = walk.threads();
    ++report_.replays;
    report_.instructions = replay.instructions();
  }

  Result<void> find_claims() {
    structure::LoopNames names(*structure_, symbolizer_);
    const profile::Profile described =
        structure::describe(reader_, *structure_, tree_, threads_, names, symbolizer_, &nodes_);
    if (!is_same_tree(described, profile_)) return other_trace();
    Result<std::vector<LoopClaim>> claims = loop_claims(profile_, tree_, nodes_);
    if (!claims) return tl::unexpected<Error>(claims.error());
    claims_ = std::move(*claims);
    pure_ = pure_calls(profile_, tree_, nodes_);
    return {};
  }

  /// What data decide, as far as it is known by now. Says whether there is something new.
  bool find_decided() {
    bool any = false;
    for (const LoopClaim& claim : claims_) {
      for (const LoopPlace& place : claim.places) {
        const Judge judge(flow_, *structure_, tree_, place, pure_);
        for (const PartIndex part : judge.decided()) {
          const std::uint64_t before = flow_.parts[part].decided;
          flow_.parts[part].decided |= std::uint64_t{1} << place.level;
          any = any || flow_.parts[part].decided != before;
        }
      }
    }
    return any;
  }

  void check_loops() {
    for (const LoopClaim& claim : claims_) {
      switch (claim.loop->parallel) {
        case profile::Loop::Parallel::kYes:
          check_order(claim, Claim::Kind::kParallel);
          break;
        case profile::Loop::Parallel::kReduction:
          check_order(claim, Claim::Kind::kReduction);
          break;
        case profile::Loop::Parallel::kNo:
          check_reasons(claim);
          break;
        case profile::Loop::Parallel::kUnknown:
          break;
      }
    }
  }

  /// Every reason for a no must have happened.
  void check_reasons(const LoopClaim& loop) {
    const Names names(symbolizer_, profile_.tree, nodes_);
    const Witnesses witnesses(flow_, names, symbolizer_, reader_, *structure_, profile_.objects);
    Claim claim = claim_of(loop, Claim::Kind::kBlocking);
    for (const profile::Blocking& blocking : loop.loop->blocking) {
      std::uint64_t found = 0;
      for (const LoopPlace& place : loop.places)
        found += witnesses.count(blocking, Judge(flow_, *structure_, tree_, place, pure_), place.level);
      claim.checked += found;
      if (found > 0) continue;
      Violation violation;
      violation.kind = "witness";
      violation.from = blocking.source_from;
      violation.to = blocking.source_to;
      violation.why = fmt::format("no such instance in the trace: {}", blocking.text);
      claim.violations.push_back(std::move(violation));
    }
    if (loop.loop->blocking.empty()) {
      claim.outcome = Claim::Outcome::kUnknown;
      claim.why = "it names no reason";
    }
    finish(claim);
  }

  // ---- Orders -----------------------------------------------------------------------------------------------------

  /// One more replay, in which every instance is compared with every order that is called legal.
  void check_orders() {
    std::map<std::uint32_t, OrderCheck::Judges> judges;  // by region
    std::vector<std::unique_ptr<Judge>> all;
    StatementNames statements(profile_, symbolizer_, nodes_);
    Needs needs;
    std::vector<OrderCheck> orders;
    std::vector<const profile::Region*> regions;
    for (const profile::Region& region : profile_.regions)
      if (region.transformed && region.transformed->status != profile::Transformed::Status::kGaveUp)
        regions.push_back(&region);
    if (regions.empty()) return;
    for (const LoopClaim& claim : claims_) {
      for (const LoopPlace& place : claim.places) {
        all.push_back(std::make_unique<Judge>(flow_, *structure_, tree_, place, pure_));
        for (const structure::ContextId context : place.contexts) judges[claim.region][context] = all.back().get();
      }
    }
    for (const profile::Region* region : regions) {
      Result<Schedule> schedule = Schedule::parse(region->transformed->schedule);
      if (!schedule) {
        Claim claim = claim_of(*region, Claim::Kind::kSchedule);
        claim.outcome = Claim::Outcome::kUnknown;
        claim.why = schedule.error().message;
        report_.claims.push_back(std::move(claim));
        continue;
      }
      orders.emplace_back(*region, std::move(*schedule), flow_, tree_, judges[region->id], statements, needs);
    }
    OrderWatch watch(orders, flow_, needs);
    Flow again = flow_;
    replay(again, &watch);
    for (const OrderCheck& order : orders) report_order(order);
  }

  Claim claim_of(const profile::Region& region, Claim::Kind kind) const {
    Claim claim;
    claim.kind = kind;
    claim.region = region.id;
    claim.node = region.node;
    claim.source = region.source;
    return claim;
  }

  void report_order(const OrderCheck& order) {
    Claim claim = claim_of(order.region(), Claim::Kind::kSchedule);
    claim.checked = order.checked();
    for (const Misplaced& misplaced : order.misplaced())
      claim.violations.push_back(violation_of(misplaced, "is not before"));
    finish(claim);
    const std::vector<profile::Band>& bands = order.region().transformed->bands;
    for (std::size_t i = 0; i < bands.size(); ++i) {
      Claim band = claim_of(order.region(), Claim::Kind::kBand);
      band.text = fmt::format("dimensions {} to {}", bands[i].first, bands[i].first + bands[i].members.size() - 1);
      band.loops = members_text(bands[i]);
      band.checked = order.band_checked(i);
      for (const Misplaced& misplaced : order.misplaced_in(i))
        band.violations.push_back(violation_of(misplaced, "may not change places with"));
      finish(band);
    }
  }

  /// The lines of the loops that its members stand for, outermost first: 12, 13+2*12.
  std::string members_text(const profile::Band& band) const {
    std::vector<std::string> members;
    for (const profile::BandMember& member : band.members) {
      std::string text;
      for (const profile::BandMember::Term& term : member.terms) {
        const std::optional<profile::Source>& source = profile_.tree[term.node].source;
        if (!text.empty()) text += term.factor < 0 ? "-" : "+";
        if (text.empty() && term.factor < 0) text = "-";
        if (const std::int64_t factor = std::abs(term.factor); factor != 1) text += fmt::format("{}*", factor);
        text += source ? std::to_string(source->line) : fmt::format("node {}", term.node);
      }
      members.push_back(text.empty() ? "order of statements" : std::move(text));
    }
    return fmt::format("{} {}", members.size() == 1 ? "loop" : "loops", fmt::join(members, ", "));
  }

  Violation violation_of(const Misplaced& misplaced, const char* what) {
    const Names names(symbolizer_, profile_.tree, nodes_);
    const Node& from = flow_.nodes[misplaced.from];
    const Node& to = flow_.nodes[misplaced.to];
    Violation violation;
    violation.kind = "order";
    violation.from = names.source(from);
    violation.to = names.source(to);
    violation.from_text = names.text(from);
    violation.to_text = names.text(to);
    violation.producer = misplaced.producer;
    violation.consumer = misplaced.consumer;
    violation.count = misplaced.count;
    violation.why =
        fmt::format("{} at [{}] {} {} at [{}], which needs it", violation.from_text,
                    fmt::join(misplaced.from_time, ", "), what, violation.to_text, fmt::join(misplaced.to_time, ", "));
    return violation;
  }

  Claim claim_of(const LoopClaim& loop, Claim::Kind kind) const {
    Claim claim;
    claim.kind = kind;
    claim.region = loop.region;
    claim.node = loop.loop->node;
    claim.source = loop.loop->source;
    return claim;
  }

  void check_order(const LoopClaim& loop, Claim::Kind kind) {
    Claim claim = claim_of(loop, kind);
    const Operators operators = kind == Claim::Kind::kReduction ? operators_of(*loop.loop) : Operators{};
    for (const LoopPlace& place : loop.places) {
      const Judge judge(flow_, *structure_, tree_, place, pure_);
      claim.checked += judge.instances();
      for (const Carried& carried : judge.violations(operators))
        claim.violations.push_back(violation_of(carried, place));
    }
    finish(claim);
  }

  void finish(Claim& claim) {
    std::stable_sort(claim.violations.begin(), claim.violations.end(),
                     [](const Violation& a, const Violation& b) { return a.count > b.count; });
    if (!claim.violations.empty()) claim.outcome = Claim::Outcome::kViolated;
    report_.claims.push_back(std::move(claim));
  }

  Violation violation_of(const Carried& carried, const LoopPlace& place) {
    const Names names(symbolizer_, profile_.tree, nodes_);
    const Node& from = flow_.nodes[carried.from];
    const Node& to = flow_.nodes[carried.to];
    Violation violation;
    violation.from = names.source(from);
    violation.to = names.source(to);
    violation.from_text = names.text(from);
    violation.to_text = names.text(to);
    violation.count = carried.count;
    if (carried.edge != nullptr && carried.edge->levels.size() > place.level) {
      const std::vector<TouchedObject>& objects = carried.edge->levels[place.level].objects;
      if (!objects.empty())
        violation.object =
            Witnesses(flow_, names, symbolizer_, reader_, *structure_, profile_.objects).object_name(objects.front());
      violation.producer = carried.edge->levels[place.level].producer;
      violation.consumer = carried.edge->levels[place.level].consumer;
    }
    switch (carried.kind) {
      case Carried::Kind::kRegister:
        violation.kind = "register";
        violation.why = fmt::format("{} uses what {} computed", violation.to_text, violation.from_text);
        break;
      case Carried::Kind::kMemory:
        violation.kind = "memory";
        violation.why = fmt::format("{} reads what {} wrote", violation.to_text, violation.from_text);
        break;
      case Carried::Kind::kEnvironment:
        violation.kind = "environment";
        violation.why = fmt::format("{} comes behind {}", violation.to_text, violation.from_text);
        break;
      case Carried::Kind::kControl:
        violation.kind = "control";
        violation.why = fmt::format("{}: data decide whether the loop goes on", violation.from_text);
        break;
      case Carried::Kind::kTurn:
        violation.kind = "register";
        violation.why = fmt::format("{} gets values from before the loop in turns", violation.to_text);
        break;
    }
    return violation;
  }

  const trace::Reader& reader_;
  const profile::Profile& profile_;
  const Options& options_;
  const FlatProfile* flat_;
  symbols::Symbolizer symbolizer_;
  std::optional<structure::Structure> structure_;
  structure::LoopTree tree_;
  std::uint64_t threads_ = 0;
  std::vector<std::uint32_t> nodes_;  // by context
  BlockTable code_;
  Flow flow_;
  std::vector<LoopClaim> claims_;
  std::vector<bool> pure_;
  Report report_;
};

}  // namespace

namespace {

bool is_about_loop(const Claim& claim) {
  return claim.node && claim.kind != Claim::Kind::kSchedule && claim.kind != Claim::Kind::kBand;
}

/// Of a loop with hidden levels: the units that a claim about its outermost level is about.
std::string block_words(const profile::TreeNode& node) {
  return node.hidden || node.block == 0 ? "" : fmt::format("blocks of {} iterations", node.block);
}

}  // namespace

Result<Report> verify(const trace::Reader& reader, const profile::Profile& profile, const Options& options) {
  if (!has_hidden_loops(profile)) return Verifier(reader, profile, options).run();
  const FlatProfile flat = flat_profile(profile);
  Result<Report> as_written = Verifier(reader, flat.profile, options).run();
  if (!as_written) return as_written;
  const profile::Profile levels = level_profile(profile);
  Result<Report> report = Verifier(reader, levels, options, &flat).run();
  if (!report) return report;
  for (Claim& claim : as_written->claims)
    if (claim.node) claim.node = flat.nodes[*claim.node];
  for (Claim& claim : report->claims)
    if (claim.text.empty() && is_about_loop(claim)) claim.text = block_words(profile.tree[*claim.node]);
  report->claims.insert(report->claims.begin(), as_written->claims.begin(), as_written->claims.end());
  report->replays += as_written->replays;
  return report;
}

}  // namespace loopfold::verify
