#include "advise/nest_facts.h"

#include <algorithm>
#include <map>

namespace loopfold::advise {

namespace {

using structure::ContextId;

/// A variable in a frame that stays where it is in the whole nest.
bool is_scalar_in_frame(const AccessFacts& access, const profile::Profile& profile) {
  const bool stays = std::all_of(access.steps.begin(), access.steps.end(), [](const auto& step) { return step == 0; });
  return stays && profile.objects[access.access->object].kind == profile::Object::Kind::kStack;
}

void add_accesses(const poly::Program& program, const profile::Profile& profile, std::vector<GroupFacts>& facts) {
  std::map<std::uint32_t, std::uint32_t> group_of;
  for (std::uint32_t i = 0; i < program.groups.size(); ++i)
    for (const ddg::StatementId id : program.groups[i].statements) group_of[id] = i;
  for (const profile::Access& access : profile.accesses) {
    const auto found = group_of.find(access.statement);
    if (found == group_of.end()) continue;
    AccessFacts made;
    made.access = &access;
    made.count = access.count;
    for (std::size_t k = 0; k < program.groups[found->second].loops.size(); ++k) {
      const std::size_t at = program.prefix + k;
      const bool known = at < access.coefficients.size() && at < access.block_coefficients.size() &&
                         access.block_coefficients[at] == 0;
      made.steps.push_back(known ? access.coefficients[at] : std::nullopt);
    }
    if (!is_scalar_in_frame(made, profile)) facts[found->second].accesses.push_back(std::move(made));
  }
}

/// From the bounds of the statements' domains.
void add_bounds(const ddg::Graph& graph, const poly::Program& program, std::size_t shift,
                std::vector<GroupFacts>& facts) {
  for (std::size_t g = 0; g < facts.size(); ++g)
    for (const ddg::StatementId id : program.groups[g].statements)
      for (const fold::Piece& piece : graph.statements[id].domain.pieces)
        for (std::size_t c = 0; c < program.groups[g].loops.size(); ++c) {
          const fold::Affine& upper = piece.ranges[shift + c].upper;
          for (std::size_t o = 0; o < c; ++o)
            if (upper.coefficients[shift + o] != 0) facts[g].natural.insert({c, o, -upper.coefficients[shift + o]});
        }
}

/// From integer results of all statements in the loops of a group.
void add_values(const poly::Context& context, const poly::Program& program, const profile::Profile& profile,
                std::vector<GroupFacts>& facts) {
  for (const profile::Value& value : profile.values) {
    const profile::Statement& statement = profile.statements[value.statement];
    for (std::size_t g = 0; g < facts.size(); ++g) {
      const std::vector<ContextId>& loops = program.groups[g].loops;
      std::size_t shared = 0;
      while (shared < loops.size() && program.prefix + shared < statement.loops.size() &&
             statement.loops[program.prefix + shared] == context.nodes[loops[shared]])
        ++shared;
      for (std::size_t c = 1; c < shared; ++c) {
        const profile::Coefficient& own = value.coefficients[program.prefix + c];
        if (!own || *own == 0) continue;
        for (std::size_t o = 0; o < c; ++o) {
          const profile::Coefficient& other = value.coefficients[program.prefix + o];
          if (other && *other != 0 && *other % *own == 0) facts[g].natural.insert({c, o, *other / *own});
        }
      }
    }
  }
}

}  // namespace

bool is_skewed(const Row& row, std::size_t own, const GroupFacts& facts) {
  for (std::size_t c = 0; c < row.coefficients.size(); ++c) {
    if (c == own || row.coefficients[c] == 0) continue;
    if (row.coefficients[c] % row.coefficients[own] != 0) return true;
    if (!facts.natural.contains({own, c, row.coefficients[c] / row.coefficients[own]})) return true;
  }
  return false;
}

namespace {

/// Takes multiples of a reduced row off another one until it has 0 where that one begins. False if numbers grow too
/// large.
bool reduce(std::vector<std::int64_t>& row, const std::vector<std::int64_t>& by) {
  const auto begin =
      static_cast<std::size_t>(std::find_if(by.begin(), by.end(), [](auto c) { return c != 0; }) - by.begin());
  const std::int64_t a = by[begin];
  const std::int64_t b = row[begin];
  if (b == 0) return true;
  for (std::size_t k = 0; k < row.size(); ++k) {
    std::int64_t x = 0;
    std::int64_t y = 0;
    if (__builtin_mul_overflow(row[k], a, &x) || __builtin_mul_overflow(by[k], b, &y) ||
        __builtin_sub_overflow(x, y, &row[k]))
      return false;
  }
  return true;
}

/// Rows that do not follow from those before them, by number.
std::vector<std::size_t> independent(const std::vector<Row>& rows) {
  std::vector<std::size_t> found;
  std::vector<std::vector<std::int64_t>> reduced;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<std::int64_t> left = rows[i].coefficients;
    const bool small = std::all_of(reduced.begin(), reduced.end(), [&](const auto& by) { return reduce(left, by); });
    if (small && std::all_of(left.begin(), left.end(), [](std::int64_t c) { return c == 0; })) continue;
    found.push_back(i);
    if (small) reduced.push_back(std::move(left));
  }
  return found;
}

/// Gives the rows from `next` on a coordinate each, inner ones first, such that all get one; false if that cannot be.
bool assign(const std::vector<Row>& rows, const std::vector<std::size_t>& numbers, std::size_t next,
            std::set<std::size_t>& used, std::vector<std::optional<std::size_t>>& result) {
  if (next == numbers.size()) return true;
  const Row& row = rows[numbers[next]];
  for (std::size_t c = row.coefficients.size(); c-- > 0;) {
    if (row.coefficients[c] == 0 || !used.insert(c).second) continue;
    result[numbers[next]] = c;
    if (assign(rows, numbers, next + 1, used, result)) return true;
    used.erase(c);
  }
  result[numbers[next]].reset();
  return false;
}

}  // namespace

std::vector<std::optional<std::size_t>> stands_for(const std::vector<Row>& rows) {
  std::vector<std::optional<std::size_t>> result(rows.size());
  std::set<std::size_t> used;
  assign(rows, independent(rows), 0, used, result);
  return result;
}

profile::Coefficient AccessFacts::step(const Direction& direction) const {
  if (direction.empty()) return std::nullopt;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < direction.size(); ++i) {
    if (direction[i] == 0) continue;
    if (!steps[i]) return std::nullopt;
    std::int64_t product = 0;
    if (__builtin_mul_overflow(*steps[i], direction[i], &product) || __builtin_add_overflow(sum, product, &sum))
      return std::nullopt;
  }
  return sum;
}

bool AccessFacts::near(const Direction& direction) const {
  const profile::Coefficient bytes = step(direction);
  const auto size = static_cast<std::int64_t>(access->size);
  return bytes && (*bytes == 0 || *bytes == size || *bytes == -size);
}

std::vector<GroupFacts> nest_facts(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                                   const poly::Program& program, const profile::Profile& profile) {
  std::vector<GroupFacts> facts(program.groups.size());
  for (std::size_t i = 0; i < facts.size(); ++i)
    for (const ddg::StatementId id : program.groups[i].statements)
      facts[i].ops += static_cast<double>(graph.statements[id].instructions.size() * graph.statements[id].count);
  std::map<ContextId, double> own;  // by loop: instructions directly in it
  for (ContextId id = 1; id < context.tree.contexts().size(); ++id) {
    const ContextId loop = flow.loop_around(id);
    if (loop != structure::kNoContext) own[loop] += static_cast<double>(context.tree[id].instructions);
  }
  std::vector<double> all(facts.size());
  for (const auto& [loop, ops] : own) {
    double direct = 0;
    double inside = 0;
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const std::vector<ContextId>& loops = program.groups[i].loops;
      if (loops.back() == loop) direct += facts[i].ops;
      if (std::find(loops.begin(), loops.end(), loop) != loops.end()) inside += facts[i].ops;
    }
    for (std::size_t i = 0; i < facts.size(); ++i) {
      const std::vector<ContextId>& loops = program.groups[i].loops;
      if (direct > 0 ? loops.back() == loop : std::find(loops.begin(), loops.end(), loop) != loops.end())
        all[i] += inside == 0 ? 0 : ops * facts[i].ops / (direct > 0 ? direct : inside);
    }
  }
  for (std::size_t i = 0; i < facts.size(); ++i) facts[i].ops = all[i];
  add_accesses(program, profile, facts);
  const bool dropped = poly::drops_first(context.tree, program.roots.front());
  add_bounds(graph, program, program.prefix + (dropped ? 1 : 0), facts);
  add_values(context, program, profile, facts);
  for (std::size_t i = 0; i < facts.size(); ++i) {
    for (const ContextId loop : program.groups[i].loops) {
      const profile::TreeNode& node = profile.tree[context.nodes[loop]];
      facts[i].trips.push_back(static_cast<double>(node.trip.total) /
                               static_cast<double>(std::max<std::uint64_t>(node.entries, 1)));
    }
    const auto& body = program.body(program.groups[i].loops.back());
    facts[i].innermost = std::all_of(body.begin(), body.end(), [](const poly::Program::Child& child) {
      return child.loop == structure::kNoContext;
    });
  }
  return facts;
}

double near_share(const std::vector<GroupFacts>& facts, const std::vector<std::uint32_t>& groups,
                  const std::vector<Direction>& directions) {
  std::uint64_t all = 0;
  std::uint64_t near = 0;
  for (std::size_t i = 0; i < groups.size(); ++i)
    for (const AccessFacts& access : facts[groups[i]].accesses) {
      all += access.count;
      if (access.near(directions[i])) near += access.count;
    }
  return all == 0 ? 1.0 : static_cast<double>(near) / static_cast<double>(all);
}

namespace {

/// Solves rows * x = (0, ..., 1 at `wanted`, ..., 0) in whole numbers, by elimination with exact fractions kept as
/// whole numbers: rows are few, and their numbers small.
Direction solve(std::vector<std::vector<std::int64_t>> rows, std::size_t wanted) {
  const std::size_t n = rows.size();
  for (std::size_t i = 0; i < n; ++i) rows[i].push_back(i == wanted ? 1 : 0);
  for (std::size_t c = 0; c < n; ++c) {
    std::size_t pivot = c;
    while (pivot < n && rows[pivot][c] == 0) ++pivot;
    if (pivot == n) return {};
    std::swap(rows[c], rows[pivot]);
    for (std::size_t r = 0; r < n; ++r) {
      if (r == c || rows[r][c] == 0) continue;
      const std::int64_t a = rows[c][c];
      const std::int64_t b = rows[r][c];
      for (std::size_t k = 0; k <= n; ++k) {
        std::int64_t x = 0;
        std::int64_t y = 0;
        if (__builtin_mul_overflow(rows[r][k], a, &x) || __builtin_mul_overflow(rows[c][k], b, &y) ||
            __builtin_sub_overflow(x, y, &rows[r][k]))
          return {};
      }
    }
  }
  Direction direction;
  for (std::size_t c = 0; c < n; ++c) {
    if (rows[c][n] % rows[c][c] != 0) return {};
    direction.push_back(rows[c][n] / rows[c][c]);
  }
  return direction;
}

}  // namespace

Direction direction_of(const std::vector<Row>& rows, std::size_t row) {
  const std::vector<std::optional<std::size_t>> own = stands_for(rows);
  std::vector<std::vector<std::int64_t>> system;
  std::size_t wanted = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!own[i]) continue;
    if (i == row) wanted = system.size();
    system.push_back(rows[i].coefficients);
  }
  if (system.empty() || !own[row] || system.size() != rows[row].coefficients.size()) return {};
  return solve(std::move(system), wanted);
}

std::optional<std::size_t> single_coordinate(const Row& row) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < row.coefficients.size(); ++i) {
    if (row.coefficients[i] == 0) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

}  // namespace loopfold::advise
