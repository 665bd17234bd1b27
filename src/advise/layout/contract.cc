#include "advise/layout/contract.h"

#include <fmt/format.h>
#include <isl/ilp.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "advise/layout/isl_types.h"
#include "poly/budget.h"

namespace loopfold::layout {

namespace {

using poly::Isl;
using UnionMap = Isl<isl_union_map>;
using UnionSet = Isl<isl_union_set>;

constexpr std::uint64_t kSearchOperations = 200'000'000;
constexpr std::chrono::milliseconds kSearchNet{600'000};

/// A map of one statement's instances: an expression of i0, i1, ... for each dimension of the cell's vector.
struct Candidate {
  std::vector<std::string> cell;
  std::int64_t cells = 0;
};

struct Placed {
  std::size_t bank = 0;
  std::vector<std::string> cell;
};

class Search {
 public:
  Search(const ValueProgram& program, const Known& parameters, const UnionMap& order)
      : program_(program), parameters_(parameters), clashes_(both_ways(program.interference(order))) {}

  Result<Contraction> run() {
    const std::size_t count = program_.statements().size();
    for (std::size_t s = 0; s < count; s++) {
      if (Result<void> found = find_candidates(s); !found) return tl::unexpected<Error>(found.error());
    }
    std::vector<std::size_t> by_need(count);
    std::iota(by_need.begin(), by_need.end(), std::size_t{0});
    std::stable_sort(by_need.begin(), by_need.end(),
                     [&](std::size_t a, std::size_t b) { return candidates_[a][0].cells > candidates_[b][0].cells; });
    placed_.resize(count);
    for (const std::size_t s : by_need)
      if (Result<void> done = place(s); !done) return tl::unexpected<Error>(done.error());
    Contraction result;
    result.tried = tried_;
    result.layout = layout(numbered());
    const Result<std::int64_t> cells = program_.cells(result.layout, parameters_);
    const Result<std::int64_t> expanded = program_.cells(program_.total_expansion(), parameters_);
    if (!cells || !expanded) return tl::unexpected<Error>(cells ? expanded.error() : cells.error());
    result.cells = *cells;
    result.expanded = *expanded;
    return result;
  }

 private:
  static UnionMap both_ways(UnionMap pairs) {
    UnionMap back(isl_union_map_reverse(pairs.copy()));
    return UnionMap(isl_union_map_union(pairs.release(), back.release()));
  }

  unsigned depth(std::size_t s) const {
    return static_cast<unsigned>(isl_set_dim(program_.statements()[s].domain.get(), isl_dim_set));
  }

  /// { S[i0, i1] -> [bank, cell] }.
  UnionMap map_of(std::size_t s, std::size_t bank, const std::vector<std::string>& cell) const {
    std::string in;
    for (unsigned d = 0; d < depth(s); d++) in += fmt::format("{}i{}", d == 0 ? "" : ", ", d);
    std::string out = std::to_string(bank);
    for (const std::string& expression : cell) out += ", " + expression;
    const std::string text = fmt::format("{{ {}[{}] -> [{}] }}", program_.statements()[s].name, in, out);
    UnionMap map(isl_union_map_read_from_str(program_.context(), text.c_str()));
    const UnionSet instances(isl_union_set_from_set(program_.statements()[s].domain.copy()));
    return UnionMap(isl_union_map_intersect_domain(map.release(), instances.copy()));
  }

  bool clash(const UnionMap& one, const UnionMap& other) const {
    UnionMap same(isl_union_map_apply_range(one.copy(), isl_union_map_reverse(other.copy())));
    const UnionMap bad(isl_union_map_intersect(same.release(), clashes_.copy()));
    return !bad || isl_union_map_is_empty(bad.get()) != isl_bool_true;
  }

  Result<void> try_map(std::size_t s, std::vector<std::string> cell) {
    const auto tried_already = [&](const Candidate& other) { return other.cell == cell; };
    if (std::any_of(candidates_[s].begin(), candidates_[s].end(), tried_already)) return {};
    tried_++;
    const UnionMap map = map_of(s, 0, cell);
    const Result<std::int64_t> cells = program_.cells(map, parameters_);
    if (!cells) return tl::unexpected<Error>(cells.error());
    if (!clash(map, map)) candidates_[s].push_back({std::move(cell), *cells});
    return {};
  }

  Result<void> find_candidates(std::size_t s) {
    candidates_.emplace_back();
    const unsigned n = depth(s);
    for (unsigned kept = 0; kept < (1u << n); kept++) {
      if (Result<void> done = try_subset(s, kept); !done) return done;
    }
    if (Result<void> done = try_successive(s); !done) return done;
    if (Result<void> done = try_sums(s); !done) return done;
    if (candidates_[s].empty())
      return fail(ErrorKind::kBadInput, fmt::format("{}: no layout was found for its values within the budget",
                                                    program_.statements()[s].name));
    const auto better = [](const Candidate& a, const Candidate& b) {
      return a.cells != b.cells ? a.cells < b.cells : a.cell.size() < b.cell.size();
    };
    std::stable_sort(candidates_[s].begin(), candidates_[s].end(), better);
    return {};
  }

  Result<void> try_subset(std::size_t s, unsigned kept) {
    std::vector<std::string> whole;
    for (unsigned d = 0; d < depth(s); d++)
      if ((kept >> d & 1) != 0) whole.push_back(fmt::format("i{}", d));
    if (Result<void> done = try_map(s, whole); !done) return done;
    for (std::size_t d = 0; d < whole.size(); d++) {
      for (int rows = 2; rows <= kMostRows; rows++) {
        std::vector<std::string> cell = whole;
        cell[d] = fmt::format("{} mod {}", whole[d], rows);
        if (Result<void> done = try_map(s, std::move(cell)); !done) return done;
      }
    }
    return {};
  }

  /// Differences between values of one statement that are alive together.
  Isl<isl_set> distances(std::size_t s) const {
    const Isl<isl_set>& domain = program_.statements()[s].domain;
    Isl<isl_space> space(isl_space_map_from_set(isl_set_get_space(domain.get())));
    Isl<isl_map> pairs(isl_union_map_extract_map(clashes_.get(), space.release()));
    return Isl<isl_set>(isl_map_deltas(pairs.release()));
  }

  /// The greatest value of a dimension over all parameters, if it has one. Distances are symmetric.
  static std::optional<std::int64_t> greatest(const Isl<isl_set>& set, unsigned dimension) {
    const isl_bool empty = isl_set_is_empty(set.get());
    if (empty != isl_bool_false) return empty == isl_bool_true ? std::optional<std::int64_t>(0) : std::nullopt;
    Isl<isl_local_space> space(isl_local_space_from_space(isl_set_get_space(set.get())));
    const Isl<isl_aff> coordinate(isl_aff_var_on_domain(space.release(), isl_dim_set, dimension));
    const Isl<isl_val> value(isl_set_max_val(set.get(), coordinate.get()));
    if (!value || isl_val_is_int(value.get()) != isl_bool_true) return std::nullopt;
    return isl_val_get_num_si(value.get());
  }

  Result<void> try_successive(std::size_t s) {
    const unsigned n = depth(s);
    std::vector<unsigned> dimensions(n);
    std::iota(dimensions.begin(), dimensions.end(), 0u);
    const Isl<isl_set> all = distances(s);
    do {
      Isl<isl_set> rest = all;
      std::vector<std::string> cell;
      for (const unsigned d : dimensions) {
        const std::optional<std::int64_t> most = greatest(rest, d);
        if (!most || *most > kMostCells)
          cell.push_back(fmt::format("i{}", d));
        else if (*most > 0)
          cell.push_back(fmt::format("i{} mod {}", d, *most + 1));
        rest = Isl<isl_set>(isl_set_fix_si(rest.release(), isl_dim_set, d, 0));
      }
      if (Result<void> done = try_map(s, std::move(cell)); !done) return done;
    } while (std::next_permutation(dimensions.begin(), dimensions.end()));
    return {};
  }

  /// (c · i) mod m for the smallest m that keeps apart what must be, found on the distances alone.
  Result<void> try_sums(std::size_t s) {
    const unsigned n = depth(s);
    if (n < 2) return {};
    const Isl<isl_set> all = distances(s);
    unsigned combinations = 1;
    for (unsigned d = 0; d < n; d++) combinations *= 3;
    for (unsigned c = 0; c < combinations; c++) {
      std::vector<int> factors;
      for (unsigned d = 0, rest = c; d < n; d++, rest /= 3) factors.push_back(static_cast<int>(rest % 3) - 1);
      const auto first = std::find_if(factors.begin(), factors.end(), [](int factor) { return factor != 0; });
      if (std::count(factors.begin(), factors.end(), 0) > static_cast<long>(n) - 2 || *first < 0) continue;
      std::string sum;
      for (unsigned d = 0; d < n; d++)
        if (factors[d] != 0) sum += fmt::format("{}i{}", factors[d] < 0 ? " - " : (sum.empty() ? "" : " + "), d);
      for (int m = 2; m <= kMostCells; m++) {
        if (!apart(all, sum, m)) continue;
        if (Result<void> done = try_map(s, {fmt::format("({}) mod {}", sum, m)}); !done) return done;
        break;
      }
    }
    return {};
  }

  static bool apart(const Isl<isl_set>& distances, const std::string& sum, int modulus) {
    std::string names;
    const unsigned n = static_cast<unsigned>(isl_set_dim(distances.get(), isl_dim_set));
    for (unsigned d = 0; d < n; d++) names += fmt::format("{}i{}", d == 0 ? "" : ", ", d);
    const std::string text = fmt::format("{{ [{}] : ({}) mod {} = 0 }}", names, sum, modulus);
    isl_ctx* const context = isl_set_get_ctx(distances.get());
    Isl<isl_set> zero(isl_set_read_from_str(context, text.c_str()));
    Isl<isl_set> plain(isl_set_reset_tuple_id(distances.copy()));
    const Isl<isl_set> together(isl_set_intersect(zero.release(), plain.release()));
    return together && isl_set_is_empty(together.get()) == isl_bool_true;
  }

  // ---- banks ----

  std::int64_t cells_of_bank(std::size_t bank, const UnionMap& more) const {
    UnionMap all = more;
    for (const std::size_t other : banks_[bank])
      all = UnionMap(isl_union_map_union(all.release(), map_of(other, bank, placed_[other].cell).release()));
    return program_.cells(all, parameters_).value_or(std::numeric_limits<std::int64_t>::max());
  }

  bool fits(const UnionMap& map, std::size_t bank) const {
    return std::none_of(banks_[bank].begin(), banks_[bank].end(),
                        [&](std::size_t other) { return clash(map, map_of(other, bank, placed_[other].cell)); });
  }

  /// A bank of its own, with the best candidate, or the place in an earlier bank that adds fewer cells; of those that
  /// add the same, the one that uses fewer.
  Result<void> place(std::size_t s) {
    std::pair<std::int64_t, std::int64_t> best = {candidates_[s][0].cells, 0};
    std::size_t chosen = banks_.size();
    placed_[s].cell = candidates_[s][0].cell;
    for (std::size_t bank = 0; bank < banks_.size(); bank++) {
      const std::size_t length = placed_[banks_[bank][0]].cell.size();
      const UnionMap first = map_of(banks_[bank][0], bank, placed_[banks_[bank][0]].cell);
      const std::int64_t before = cells_of_bank(bank, first);
      for (const Candidate& candidate : candidates_[s]) {
        if (candidate.cell.size() != length) continue;
        const UnionMap map = map_of(s, bank, candidate.cell);
        const std::int64_t added = cells_of_bank(bank, map) - before;
        if (std::pair(added, candidate.cells) >= best || !fits(map, bank)) continue;
        best = {added, candidate.cells};
        chosen = bank;
        placed_[s].cell = candidate.cell;
      }
    }
    if (chosen == banks_.size()) banks_.emplace_back();
    banks_[chosen].push_back(s);
    placed_[s].bank = chosen;
    return {};
  }

  /// The numbers of the banks, in the order of the first statement that uses each.
  std::vector<std::size_t> numbered() const {
    std::vector<std::size_t> numbers(banks_.size(), banks_.size());
    std::size_t next = 0;
    for (const Placed& placed : placed_)
      if (numbers[placed.bank] == banks_.size()) numbers[placed.bank] = next++;
    return numbers;
  }

  UnionMap layout(const std::vector<std::size_t>& numbers) const {
    UnionMap result(isl_union_map_read_from_str(program_.context(), "{ }"));
    for (std::size_t s = 0; s < placed_.size(); s++)
      result = UnionMap(
          isl_union_map_union(result.release(), map_of(s, numbers[placed_[s].bank], placed_[s].cell).release()));
    return result;
  }

  const ValueProgram& program_;
  const Known& parameters_;
  UnionMap clashes_;
  std::vector<std::vector<Candidate>> candidates_;  // by statement, the fewest cells first
  std::vector<Placed> placed_;
  std::vector<std::vector<std::size_t>> banks_;
  std::int64_t tried_ = 0;
};

}  // namespace

Result<Contraction> contract(const ValueProgram& program, const Known& parameters, const UnionMap& order) {
  std::optional<Result<Contraction>> found;
  {
    const poly::IslBudget budget(program.context(), kSearchOperations, kSearchNet);
    found = Search(program, parameters, order).run();
    if (budget.exceeded())
      return fail(ErrorKind::kBadInput, "contraction: isl gave up: the program is too complicated");
  }
  if (!*found) return *found;
  const Proof proof = program.check((*found)->layout, order);
  if (proof.answer != Answer::kYes)
    return fail(proof.answer == Answer::kNo ? ErrorKind::kInternal : ErrorKind::kBadInput,
                fmt::format("contraction: what was found could not be proved: {}", proof.why));
  return *found;
}

}  // namespace loopfold::layout
