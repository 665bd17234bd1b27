#include "poly/regions.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "poly/loop_words.h"

namespace loopfold::poly {

namespace {

using profile::TreeNode;

constexpr std::uint32_t kNone = 0xffffffff;

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : std::min(100.0, 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::vector<std::uint32_t> nodes_of(const SourceLoop& loop, const Context& context) {
  std::vector<std::uint32_t> nodes;
  for (const structure::ContextId id : loop.loops) nodes.push_back(context.nodes[id]);
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

std::uint64_t ops_of(std::span<const std::uint32_t> nodes, const profile::Profile& profile) {
  std::uint64_t ops = 0;
  for (const std::uint32_t node : nodes) ops += profile.tree[node].ops;
  return ops;
}

/// The worse of two verdicts, in the order of Parallel.
Parallel worse(Parallel a, Parallel b) { return std::max(a, b); }

profile::Loop::Parallel verdict_of(Parallel parallel) {
  switch (parallel) {
    case Parallel::kYes:
      return profile::Loop::Parallel::kYes;
    case Parallel::kReduction:
      return profile::Loop::Parallel::kReduction;
    case Parallel::kNo:
      return profile::Loop::Parallel::kNo;
    default:
      return profile::Loop::Parallel::kUnknown;
  }
}

/// Dependences between the same lines, through the same object, over the same distance are one.
class BlockingList {
 public:
  void add(profile::Blocking blocking) {
    const auto [known, is_new] = places_.try_emplace(key_of(blocking), list_.size());
    if (is_new)
      list_.push_back(std::move(blocking));
    else
      list_[known->second].count += blocking.count;
  }

  /// Most instances first; the count becomes part of the text.
  std::vector<profile::Blocking> take() {
    std::stable_sort(list_.begin(), list_.end(), [](const auto& a, const auto& b) { return a.count > b.count; });
    for (profile::Blocking& blocking : list_) blocking.text += " " + times_text(blocking.count);
    return std::move(list_);
  }

 private:
  using Key = std::tuple<profile::Blocking::Kind, std::optional<std::uint32_t>, std::optional<std::int64_t>,
                         std::optional<std::int64_t>, std::string, std::string, std::string>;

  /// The text names the lines.
  static Key key_of(const profile::Blocking& of) {
    const auto file = [](const std::optional<profile::Source>& source) { return source ? source->file : ""; };
    return {of.kind, of.object, of.least, of.greatest, file(of.source_from), file(of.source_to), of.text};
  }

  std::vector<profile::Blocking> list_;
  std::map<Key, std::size_t> places_;
};

/// Adds what is not there yet.
template <typename T>
void add_new(std::vector<T>& list, T element) {
  if (std::find(list.begin(), list.end(), element) == list.end()) list.push_back(std::move(element));
}

class RegionDescriber {
 public:
  RegionDescriber(const ddg::Graph& graph, std::span<const LoopVerdict> verdicts, const Context& context,
                  double min_percent, profile::Profile& profile)
      : graph_(graph),
        verdicts_(verdicts),
        context_(context),
        min_percent_(min_percent),
        profile_(profile),
        words_(graph, context, profile),
        row_of_(profile.tree.size(), kNone),
        region_of_(profile.tree.size(), kNone) {}

  void run() {
    profile_.judged = true;
    profile_.regions_min_percent = min_percent_;
    find_rows();
    find_regions();
    spread_regions();
    count_strides();
    add_statements();
    for (const Row& row : rows_) add_loop(row);
  }

 private:
  /// A loop of the source.
  struct Row {
    std::vector<std::uint32_t> nodes;   // of the tree, increasing
    std::vector<std::uint32_t> left;    // the same of what is left of it beside the nest
    std::vector<std::size_t> verdicts;  // that are about it
    std::uint32_t outer = kNone;        // row of the loop around it
    std::uint32_t depth = 0;
    std::uint64_t accesses = 0;
    std::uint64_t near = 0;  // of these, those that stay or move on by their size
  };

  void find_rows() {
    std::vector<std::pair<std::vector<std::uint32_t>, std::size_t>> all;
    for (std::size_t i = 0; i < verdicts_.size(); ++i) all.emplace_back(nodes_of(verdicts_[i].loop, context_), i);
    std::sort(all.begin(), all.end());
    for (auto& [nodes, verdict] : all) {
      if (nodes.empty() || is_left(verdict)) continue;
      const auto known = std::find_if(nodes.begin(), nodes.end(), [&](auto node) { return row_of_[node] != kNone; });
      const auto row = known == nodes.end() ? static_cast<std::uint32_t>(rows_.size()) : row_of_[*known];
      if (row == rows_.size()) rows_.emplace_back();
      for (const std::uint32_t node : nodes) {
        if (row_of_[node] != kNone) continue;
        row_of_[node] = row;
        rows_[row].nodes.push_back(node);
      }
      rows_[row].verdicts.push_back(verdict);
    }
    join_left();
    for (Row& row : rows_) std::sort(row.nodes.begin(), row.nodes.end());
    std::sort(rows_.begin(), rows_.end(), [](const Row& a, const Row& b) { return a.nodes < b.nodes; });
    for (std::uint32_t i = 0; i < rows_.size(); ++i)
      for (const std::uint32_t node : rows_[i].nodes) row_of_[node] = i;
    for (Row& row : rows_) {
      row.outer = row_around(row.nodes.front());
      if (row.outer != kNone) row.depth = rows_[row.outer].depth + 1;
    }
  }

  /// What is left of a loop that has a verdict, too.
  bool is_left(std::size_t verdict) const {
    const structure::ContextId from = verdicts_[verdict].loop.left_from;
    if (from == structure::kNoContext) return false;
    return std::any_of(verdicts_.begin(), verdicts_.end(), [&](const LoopVerdict& other) {
      return other.loop.left_from == structure::kNoContext &&
             std::find(other.loop.loops.begin(), other.loop.loops.end(), from) != other.loop.loops.end();
    });
  }

  /// It has no row of its own: what is said of it counts for the loop.
  void join_left() {
    for (std::size_t i = 0; i < verdicts_.size(); ++i) {
      if (!is_left(i)) continue;
      Row& row = rows_[row_of_[context_.nodes[verdicts_[i].loop.left_from]]];
      row.verdicts.push_back(i);
      for (const std::uint32_t node : nodes_of(verdicts_[i].loop, context_)) add_new(row.left, node);
    }
  }

  /// The row of the outermost loop around.
  std::uint32_t outermost_of(std::uint32_t row) const {
    while (rows_[row].outer != kNone) row = rows_[row].outer;
    return row;
  }

  std::uint32_t row_around(std::uint32_t node) const {
    for (std::optional<std::uint32_t> at = profile_.tree[node].parent; at; at = profile_.tree[*at].parent)
      if (row_of_[*at] != kNone) return row_of_[*at];
    return kNone;
  }

  void find_regions() {
    std::vector<std::pair<std::uint64_t, std::uint32_t>> outermost;  // operations, row
    std::vector<std::vector<std::uint32_t>> left(rows_.size());
    for (std::uint32_t i = 0; i < rows_.size(); ++i)
      for (const std::uint32_t node : rows_[i].left) add_new(left[outermost_of(i)], node);
    for (std::uint32_t i = 0; i < rows_.size(); ++i) {
      const std::uint64_t ops = ops_of(rows_[i].nodes, profile_) + ops_of(left[i], profile_);
      if (rows_[i].outer == kNone && percent(ops, profile_.program.instructions) >= min_percent_)
        outermost.emplace_back(ops, i);
    }
    std::sort(outermost.begin(), outermost.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (const auto& [ops, row] : outermost) {
      const auto id = static_cast<std::uint32_t>(profile_.regions.size());
      profile::Region& region = profile_.regions.emplace_back();
      region.id = id;
      region.node = rows_[row].nodes.front();
      region.source = source_of(rows_[row]);
      region.function = profile_.tree[region.node].function;
      region.ops_percent = percent(ops, profile_.program.instructions);
      std::uint64_t mem = 0;
      std::uint64_t fp = 0;
      for (const std::vector<std::uint32_t>* nodes : {&rows_[row].nodes, &left[row]})
        for (const std::uint32_t node : *nodes) {
          mem += profile_.tree[node].mem_ops;
          fp += profile_.tree[node].fp_ops;
          region_of_[node] = id;
        }
      region.mem_percent = percent(mem, ops);
      region.fp_percent = percent(fp, ops);
      ops_.push_back(ops);
    }
  }

  /// What is below a region's loop is in the region: calls, and how deep the loops are nested.
  void spread_regions() {
    std::vector<std::uint32_t> binary(profile_.tree.size());
    std::vector<std::uint32_t> source(profile_.tree.size());
    for (std::uint32_t i = 0; i < profile_.tree.size(); ++i) {
      const TreeNode& node = profile_.tree[i];
      const bool inside = node.parent && region_of_[*node.parent] != kNone;
      if (inside) region_of_[i] = region_of_[*node.parent];
      if (region_of_[i] == kNone) continue;
      profile::Region& region = profile_.regions[region_of_[i]];
      if (inside) {
        binary[i] = binary[*node.parent];
        source[i] = source[*node.parent];
      }
      if (node.kind != TreeNode::Kind::kLoop) {
        region.interprocedural = true;
        continue;
      }
      binary[i] += node.hidden ? 0 : 1;
      source[i] += node.hidden || is_copy_of_parent(node) ? 0 : 1;
      region.depth_binary = std::max(region.depth_binary, binary[i]);
      region.depth_source = std::max(region.depth_source, source[i]);
    }
  }

  /// A loop directly inside another one that is the same loop in the source.
  bool is_copy_of_parent(const TreeNode& node) const {
    const TreeNode& parent = profile_.tree[*node.parent];
    return parent.kind == TreeNode::Kind::kLoop && parent.function == node.function &&
           parent.depth_binary < node.depth_binary && parent.depth_source == node.depth_source;
  }

  void count_strides() {
    for (const profile::Access& access : profile_.accesses) {
      const profile::Statement& statement = profile_.statements[access.statement];
      for (std::size_t k = 0; k < statement.loops.size(); ++k) {
        if (!statement.loops[k] || row_of_[*statement.loops[k]] == kNone) continue;
        Row& row = rows_[row_of_[*statement.loops[k]]];
        row.accesses += access.count;
        if (is_near(access, k)) row.near += access.count;
      }
    }
  }

  static bool is_near(const profile::Access& access, std::size_t coordinate) {
    if (coordinate >= access.coefficients.size() || coordinate >= access.block_coefficients.size()) return false;
    if (access.block_coefficients[coordinate] != 0 || !access.coefficients[coordinate]) return false;
    const std::int64_t step = *access.coefficients[coordinate];
    const auto size = static_cast<std::int64_t>(access.size);
    return step == 0 || step == size || step == -size;
  }

  std::uint32_t region_of_statement(std::uint32_t statement) const {
    return region_of_[profile_.statements[statement].node];
  }

  void add_statements() {
    std::vector<bool> exact(profile_.statements.size());
    for (std::size_t i = 0; i < exact.size(); ++i)
      exact[i] = profile_.statements[i].exact && graph_.statements[i].followed;
    for (const profile::Access& access : profile_.accesses)
      if (!access.exact) exact[access.statement] = false;
    for (const profile::Dependence& dependence : profile_.dependences) {
      if (!dependence.exact || !dependence.from) exact[dependence.to] = false;
      if (!dependence.from) continue;
      const std::uint32_t region = region_of_statement(dependence.to);
      if (region != kNone && region == region_of_statement(*dependence.from)) profile_.regions[region].edges += 1;
    }
    std::vector<std::uint64_t> exact_ops(profile_.regions.size());
    for (std::uint32_t i = 0; i < profile_.statements.size(); ++i) {
      const std::uint32_t region = region_of_statement(i);
      if (region == kNone) continue;
      profile_.regions[region].vertices += 1;
      if (exact[i]) exact_ops[region] += profile_.statements[i].ops;
    }
    for (std::size_t i = 0; i < exact_ops.size(); ++i)
      profile_.regions[i].affine_percent = percent(exact_ops[i], ops_[i]);
  }

  void add_loop(const Row& row) {
    const std::uint32_t region = region_of_[row.nodes.front()];
    if (region == kNone) return;
    profile::Loop& loop = profile_.regions[region].loops.emplace_back();
    loop.node = row.nodes.front();
    loop.nodes = row.nodes;
    loop.nodes.insert(loop.nodes.end(), row.left.begin(), row.left.end());
    loop.source = source_of(row);
    loop.function = profile_.tree[loop.node].function;
    loop.depth = row.depth;
    loop.hidden = profile_.tree[loop.node].hidden;
    loop.period = profile_.tree[loop.node].period;
    loop.block = loop.hidden ? 0 : profile_.tree[loop.node].block;
    loop.ops_percent = percent(ops_of(loop.nodes, profile_), profile_.program.instructions);
    loop.trip = trip_of(row);
    loop.stride01_percent = row.accesses == 0 ? 100.0 : percent(row.near, row.accesses);
    Parallel parallel = Parallel::kYes;
    BlockingList blocking;
    for (const std::size_t verdict : row.verdicts) {
      parallel = worse(parallel, verdicts_[verdict].parallel);
      for (const Blocking& one : verdicts_[verdict].blocking) blocking.add(words_.blocking(one));
      add_reasons(verdicts_[verdict], loop);
    }
    loop.parallel = verdict_of(parallel);
    loop.blocking = blocking.take();
  }

  void add_reasons(const LoopVerdict& verdict, profile::Loop& loop) const {
    for (const Reduction& reduction : verdict.reductions) add_new(loop.reductions, words_.reduction(reduction));
    for (const CodePoint& load : verdict.reload) add_new(loop.reload, words_.reload(load));
    for (const CodePoint& branch : verdict.assumes) add_new(loop.assumes, words_.assumption(branch));
    for (const Doubt& doubt : verdict.doubts) loop.unknown.push_back(words_.doubt(doubt));
  }

  /// Of the copies' lines the first: the head of a loop stands before its body.
  std::optional<profile::Source> source_of(const Row& row) const {
    std::optional<profile::Source> first;
    for (const std::uint32_t node : row.nodes) {
      const std::optional<profile::Source>& source = profile_.tree[node].source;
      if (source && (!first || (source->file == first->file && source->line < first->line))) first = source;
    }
    return first;
  }

  profile::Trip trip_of(const Row& row) const {
    profile::Trip trip;
    std::uint64_t total = 0;
    std::uint64_t entries = 0;
    for (const std::uint32_t id : row.nodes) {
      const TreeNode& node = profile_.tree[id];
      trip.min = id == row.nodes.front() ? node.trip.min : std::min(trip.min, node.trip.min);
      trip.max += node.trip.max;
      total += node.trip.total;
      entries = std::max(entries, node.entries);
    }
    trip.mean = entries == 0 ? 0.0 : static_cast<double>(total) / static_cast<double>(entries);
    return trip;
  }

  const ddg::Graph& graph_;
  std::span<const LoopVerdict> verdicts_;
  const Context& context_;
  double min_percent_;
  profile::Profile& profile_;
  LoopWords words_;
  std::vector<Row> rows_;                 // in the order of the tree
  std::vector<std::uint32_t> row_of_;     // by node
  std::vector<std::uint32_t> region_of_;  // by node
  std::vector<std::uint64_t> ops_;        // by region
};

}  // namespace

std::vector<SourceLoop> loops_in_regions(std::span<const SourceLoop> loops, const Context& context, double min_percent,
                                         const profile::Profile& profile) {
  const std::span<const structure::Context> contexts = context.tree.contexts();
  std::vector<structure::ContextId> outermost(contexts.size(), structure::kNoContext);  // by context: loop around it
  for (structure::ContextId id = 1; id < contexts.size(); ++id) {
    outermost[id] = outermost[contexts[id].parent];
    if (outermost[id] == structure::kNoContext && contexts[id].kind == structure::Context::Kind::kLoop)
      outermost[id] = id;
  }
  std::vector<bool> hot(contexts.size());
  for (const SourceLoop& loop : loops) {
    const std::uint64_t ops = ops_of(nodes_of(loop, context), profile);
    for (const structure::ContextId id : loop.loops)
      hot[id] = percent(ops, profile.program.instructions) >= min_percent && !profile.tree[context.nodes[id]].excluded;
  }
  std::vector<SourceLoop> inside;
  for (const SourceLoop& loop : loops)
    if (!loop.loops.empty() && hot[outermost[loop.loops.front()]]) inside.push_back(loop);
  return inside;
}

/// Whether a number of an object means the same in both.
static bool have_same_objects(const profile::Profile& a, const profile::Profile& b) {
  return std::equal(a.objects.begin(), a.objects.end(), b.objects.begin(), b.objects.end(),
                    [](const profile::Object& one, const profile::Object& other) {
                      return one.kind == other.kind && one.name == other.name && one.size == other.size &&
                             one.blocks == other.blocks;
                    });
}

void judge_as_written(const profile::Profile& unsplit, std::span<const std::uint32_t> unsplit_nodes,
                      std::span<const structure::ContextId> unsplit_contexts, const Context& context,
                      profile::Profile& profile) {
  const bool same_objects = have_same_objects(unsplit, profile);
  std::map<std::uint32_t, const profile::Loop*> rows;  // of the profile without splits, by node
  for (const profile::Region& region : unsplit.regions)
    for (const profile::Loop& loop : region.loops)
      for (const std::uint32_t node : loop.nodes) rows[node] = &loop;
  std::map<std::uint32_t, const profile::Loop*> as_written;  // by node of the profile
  for (structure::ContextId id = 1; id < unsplit_contexts.size(); ++id) {
    if (context.tree[id].hidden != 0 || unsplit_contexts[id] == structure::kNoContext) continue;
    const auto row = rows.find(unsplit_nodes[unsplit_contexts[id]]);
    if (row != rows.end()) as_written[context.nodes[id]] = row->second;
  }
  for (profile::Region& region : profile.regions) {
    for (profile::Loop& loop : region.loops) {
      const auto has_levels = [&](std::uint32_t node) {
        return !profile.tree[node].hidden && profile.tree[node].block != 0;
      };
      const auto split = std::find_if(loop.nodes.begin(), loop.nodes.end(), has_levels);
      if (split == loop.nodes.end()) continue;
      profile::Loop unknown;
      unknown.parallel = profile::Loop::Parallel::kUnknown;
      unknown.unknown.push_back({"it was judged in blocks of iterations only", loop.source, 0});
      const auto found = as_written.find(*split);
      const profile::Loop& flat = found != as_written.end() ? *found->second : unknown;
      loop.block = profile.tree[*split].block;
      loop.blocks = loop.parallel;
      loop.parallel = flat.parallel;
      if (loop.blocks != profile::Loop::Parallel::kReduction) loop.reductions.clear();
      for (const profile::Reduction& reduction : flat.reductions) add_new(loop.reductions, reduction);
      for (profile::Touched touched : flat.reload) {
        if (!same_objects) touched.object.reset();
        add_new(loop.reload, touched);
      }
      for (const profile::Assumption& assumption : flat.assumes) add_new(loop.assumes, assumption);
      loop.blocking = flat.blocking;
      for (profile::Blocking& blocking : loop.blocking)
        if (!same_objects) blocking.object.reset();
      loop.unknown = flat.unknown;
      if (found == as_written.end()) continue;
      loop.trip = flat.trip;
      loop.stride01_percent = flat.stride01_percent;
    }
  }
}

void describe_regions(const ddg::Graph& graph, std::span<const LoopVerdict> verdicts, const Context& context,
                      double min_percent, profile::Profile& profile) {
  RegionDescriber(graph, verdicts, context, min_percent, profile).run();
}

}  // namespace loopfold::poly
