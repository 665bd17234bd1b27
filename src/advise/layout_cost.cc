#include "advise/layout_cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "advise/suggest.h"

namespace loopfold::advise {

namespace {

constexpr double kFork = 5000;  // instructions
constexpr double kWays = 8;     // of a set of a cache
constexpr std::uint32_t kNoObject = ~0U;

/// Lines that so many steps cross.
double lines_along(const std::optional<double>& stride, double trips) {
  if (!stride) return trips;
  const double bytes = std::abs(*stride);
  if (bytes == 0) return 1;
  if (bytes >= kCacheLine) return trips;
  return std::max(1.0, trips * bytes / kCacheLine);
}

}  // namespace

Machine Machine::beyond_caches() {
  Machine machine;
  machine.caches = {{0, kLineCost}};
  return machine;
}

Machine Machine::common(double cores) {
  constexpr double kSecondCache = 1024 * 1024;
  constexpr double kFarCost = 40;
  Machine machine;
  machine.cores = cores;
  machine.caches = {{static_cast<double>(kFirstCache), kLineCost}, {kSecondCache, kFarCost}};
  return machine;
}

OrderCost::OrderCost(const NestPlan& nest, const Order& order, std::uint32_t tile, const std::vector<Array>& arrays,
                     const Machine& machine)
    : arrays_(arrays), machine_(machine) {
  for (std::uint32_t g = 0; g < nest.facts.size(); ++g) {
    Group& group = groups_.emplace_back();
    group.ops = nest.facts[g].ops;
    group.innermost = nest.facts[g].innermost;
    add_levels(nest, order, g, tile, group);
    add_accesses(nest, g, group);
    add_registers(nest, g, group);
    double inner = 1;
    for (const double trips : nest.facts[g].trips) inner *= std::max(trips, 1.0);
    double count = 0;
    for (const Access& access : group.accesses) count = std::max(count, access.count);
    group.executions = std::max(1.0, count / inner);
    const double larger = std::pow(machine.scale, static_cast<double>(nest.facts[g].trips.size()));
    group.ops *= larger;
    for (Access& access : group.accesses) access.count *= larger;
  }
}

/// The loops of the group, outermost first: those of each band in turn; of a tiled band first the tiles.
void OrderCost::add_levels(const NestPlan& nest, const Order& order, std::uint32_t number, std::uint32_t tile,
                           Group& group) {
  const std::vector<std::optional<std::size_t>> own = stands_for(order.rows[number]);
  for (const OrderBand& band : order.bands) {
    if (std::find(band.groups.begin(), band.groups.end(), number) == band.groups.end()) continue;
    std::vector<Level> loops;
    std::vector<Carries> alone;
    for (std::uint32_t k = 0; k < band.depth; ++k) {
      const std::size_t row = band.first + k;
      if (!own[row]) continue;
      Level level;
      level.row = row;
      level.trips = std::max(1.0, machine_.scale * nest.facts[number].trips[*own[row]]);
      level.carries = band.carries[k];
      level.direction = direction_of(order.rows[number], row);
      loops.push_back(std::move(level));
      alone.push_back(band.alone.empty() ? band.carries[k] : band.alone[k]);
    }
    const bool tiled = band.permutable && loops.size() >= 2;
    can_tile_ = can_tile_ || tiled;
    if (tiled && tile > 0) {
      for (std::size_t k = 0; k < loops.size(); ++k) {
        Level level = loops[k];
        if (level.trips <= tile) continue;
        level.tiles = true;
        level.trips = std::ceil(level.trips / tile);
        for (std::int64_t& step : level.direction) step *= tile;
        if (alone[k] == Carries::kNothing) level.carries = Carries::kNothing;
        group.levels.push_back(std::move(level));
        loops[k].trips = tile;
      }
    }
    group.levels.insert(group.levels.end(), loops.begin(), loops.end());
  }
}

void OrderCost::add_accesses(const NestPlan& nest, std::uint32_t number, Group& group) const {
  for (const AccessFacts& facts : nest.facts[number].accesses) {
    const profile::Access& its = *facts.access;
    Access access;
    access.object = its.object;
    access.size = its.size;
    access.count = static_cast<double>(facts.count);
    access.store = its.kind == profile::Access::Kind::kStore;
    for (const Level& level : group.levels) {
      Move move;
      move.known = !level.direction.empty();
      std::int64_t blocks = 0;
      for (std::size_t k = 0; k < level.direction.size(); ++k) {
        if (level.direction[k] == 0) continue;
        const std::size_t at = nest.program.prefix + k;
        const bool known = at < its.coefficients.size() && its.coefficients[at] && at < its.block_coefficients.size() &&
                           its.block_coefficients[at];
        move.known = move.known && known;
        if (!known) continue;
        move.bytes += level.direction[k] * *its.coefficients[at];
        blocks += level.direction[k] * *its.block_coefficients[at];
      }
      move.between_blocks = blocks != 0;
      if (move.known && arrays_[access.object].problem.empty())
        move.steps = subscript_steps(arrays_[access.object], move.bytes, blocks);
      access.moves.push_back(std::move(move));
    }
    group.accesses.push_back(std::move(access));
  }
}

/// Of no object: what a loop hands on in registers, as an array over the other loops, in rows as they were written.
void OrderCost::add_registers(const NestPlan& nest, std::uint32_t number, Group& group) {
  constexpr std::uint64_t kRegister = 8;
  std::set<std::size_t> carried;  // coordinates
  const std::vector<structure::ContextId>& loops = nest.program.groups[number].loops;
  for (const poly::ProgramDependence& dependence : nest.program.dependences) {
    if (dependence.from != number || dependence.to != number || dependence.flow == nullptr) continue;
    if (dependence.flow->kind != poly::KeptFlow::Kind::kRegister) continue;
    const auto loop = std::find(loops.begin(), loops.end(), dependence.loop);
    if (loop != loops.end()) carried.insert(static_cast<std::size_t>(loop - loops.begin()));
  }
  for (const std::size_t coordinate : carried) {
    std::vector<double> strides(loops.size());
    double stride = static_cast<double>(kRegister);
    for (std::size_t c = loops.size(); c-- > 0;) {
      if (c == coordinate) continue;
      strides[c] = stride;
      stride *= std::max(1.0, nest.facts[number].trips[c]);
    }
    Access access;
    access.object = kNoObject;
    access.size = kRegister;
    access.store = true;
    for (const Level& level : group.levels) {
      Move& move = access.moves.emplace_back();
      move.known = !level.direction.empty();
      for (std::size_t c = 0; c < level.direction.size(); ++c)
        move.bytes += static_cast<std::int64_t>(static_cast<double>(level.direction[c]) * strides[c]);
    }
    group.accesses.push_back(std::move(access));
  }
}

OrderCost::Strides OrderCost::strides(const Access& access, const Layout* layout) const {
  Strides result;
  std::vector<double> by_dimension;
  if (layout != nullptr) by_dimension = strides_of(*layout, arrays_[access.object], access.size);
  for (const Move& move : access.moves) {
    std::optional<double>& stride = result.emplace_back();
    if (!move.known) continue;
    if (layout == nullptr) {
      if (!move.between_blocks) stride = static_cast<double>(move.bytes);
    } else if (!move.steps.empty()) {
      stride = 0;
      for (std::size_t k = 0; k < move.steps.size(); ++k)
        *stride += static_cast<double>(move.steps[k]) * by_dimension[k];
    }
  }
  return result;
}

/// Different lines that one execution of the loops from `level` on touches.
double OrderCost::lines_in(const Group& group, const Strides& strides, std::size_t level) const {
  double lines = 1;
  for (std::size_t k = level; k < group.levels.size(); ++k) lines *= lines_along(strides[k], group.levels[k].trips);
  return lines;
}

/// How much more of a cache the lines take than they are: all lines with the same place in it share a few ways.
double OrderCost::useless(const Group& group, const Strides& strides, std::size_t level, const Cache& cache) const {
  const double sets = std::max(1.0, cache.bytes / kCacheLine / kWays);
  double covered = 1;
  for (std::size_t k = level; k < group.levels.size(); ++k) {
    if (!strides[k] || *strides[k] == 0) continue;
    const double bytes = std::abs(*strides[k]);
    if (bytes < kCacheLine) {
      covered *= lines_along(strides[k], group.levels[k].trips);
      continue;
    }
    const auto period = static_cast<std::int64_t>(sets * kCacheLine);
    const auto places = static_cast<double>(period / std::gcd(static_cast<std::int64_t>(bytes), period));
    covered *= std::min(places, group.levels[k].trips);
  }
  covered = std::min(covered, sets);
  return lines_in(group, strides, level) <= kWays * covered ? 1 : sets / covered;
}

/// Lines that a cache fetches.
double OrderCost::fetched(const Group& group, const std::vector<Strides>& all, const Cache& cache) const {
  const std::size_t depth = group.levels.size();
  std::size_t fits = depth;
  while (fits > 0) {
    double bytes = 0;
    for (const Strides& strides : all)
      bytes += kCacheLine * lines_in(group, strides, fits - 1) * useless(group, strides, fits - 1, cache);
    if (bytes > cache.bytes) break;
    --fits;
  }
  const std::size_t level = fits == 0 ? 0 : fits - 1;
  double executions = group.executions;
  for (std::size_t k = 0; k < level; ++k) executions *= group.levels[k].trips;
  double lines = 0;
  for (const Strides& strides : all) lines += executions * lines_in(group, strides, level);
  return lines;
}

LayoutCost OrderCost::with_threads(const Group& group, const std::vector<Strides>& all,
                                   const std::vector<const Access*>& of, double instructions, double lines) const {
  LayoutCost best;
  best.instructions = instructions;
  best.lines = lines;
  double executions = group.executions;
  for (std::size_t k = 0; k < group.levels.size(); ++k) {
    const Level& level = group.levels[k];
    if (machine_.cores > 1 && level.carries != Carries::kFlow && level.trips > 1) {
      const double rounds = std::ceil(level.trips / machine_.cores);
      const double speed = level.trips / rounds;
      LayoutCost cost{
          instructions / speed, lines / speed, executions * kFork, 0, k, level.carries == Carries::kReduction};
      if (level.carries == Carries::kReduction)
        for (std::size_t a = 0; a < all.size(); ++a)
          if (of[a]->store && all[a][k] == 0) {
            const double copied = lines_in(group, all[a], k);
            const double elements = copied * kCacheLine / static_cast<double>(std::max<std::uint64_t>(of[a]->size, 1));
            cost.threads += executions * machine_.cores * (2 * kLineCost * copied + elements);
          }
      if (cost.total() < best.total()) best = cost;
    }
    executions *= level.trips;
  }
  return best;
}

LayoutCost OrderCost::cost(const Group& group, const std::map<std::uint32_t, const Layout*>& layouts) const {
  std::vector<Strides> all;
  std::vector<const Access*> of;
  std::set<std::pair<std::uint32_t, Strides>> seen;
  bool near = true;
  double largest = 1;
  for (const Access& access : group.accesses) {
    const auto found = layouts.find(access.object);
    Strides its = strides(access, found == layouts.end() ? nullptr : found->second);
    if (!its.empty()) {
      const std::optional<double>& last = its.back();
      near = near && last && (*last == 0 || std::abs(*last) == static_cast<double>(access.size));
      largest = std::max(largest, static_cast<double>(access.size));
    }
    // A load and a store of one element are of one line, and so are neighbours in a stencil, mostly.
    const bool is_new = seen.insert({access.object, its}).second;
    if (!is_new && access.store)
      for (std::size_t a = 0; a < all.size(); ++a)
        if (of[a]->object == access.object && all[a] == its) of[a] = &access;
    if (!is_new) continue;
    all.push_back(std::move(its));
    of.push_back(&access);
  }
  const bool vector = near && group.innermost && !group.levels.empty() && !group.accesses.empty() &&
                      group.levels.back().carries == Carries::kNothing;
  const double lanes = vector ? std::max(1.0, kVectorBytes / largest) : 1;
  const double instructions =
      group.ops / std::min(lanes, std::max(1.0, group.levels.empty() ? 1 : group.levels.back().trips));
  double lines = 0;
  for (const Cache& cache : machine_.caches) lines += cache.cost * fetched(group, all, cache);
  return with_threads(group, all, of, instructions, lines);
}

LayoutCost OrderCost::cost(const std::map<std::uint32_t, const Layout*>& layouts) const {
  LayoutCost sum;
  double most = 0;
  for (const Group& group : groups_) {
    const LayoutCost one = cost(group, layouts);
    if (group.ops > most) {
      most = group.ops;
      sum.parallel = one.parallel;
      sum.reduction = one.reduction;
    }
    sum.instructions += one.instructions;
    sum.lines += one.lines;
    sum.threads += one.threads;
  }
  return sum;
}

std::uint32_t OrderCost::heaviest() const {
  const auto most =
      std::max_element(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) { return a.ops < b.ops; });
  return static_cast<std::uint32_t>(most - groups_.begin());
}

std::vector<std::pair<std::size_t, bool>> OrderCost::loops_of(std::uint32_t group) const {
  std::vector<std::pair<std::size_t, bool>> rows;
  for (const Level& level : groups_[group].levels) rows.emplace_back(level.row, level.tiles);
  return rows;
}

double OrderCost::lines_touched(std::uint32_t object, const Layout* layout) const {
  double sum = 0;
  for (const Group& group : groups_)
    for (const Access& access : group.accesses) {
      if (access.object != object) continue;
      const Strides its = strides(access, layout);
      const double each = its.empty() || !its.back() ? 1.0 : std::min(1.0, std::abs(*its.back()) / kCacheLine);
      sum += access.count * each;
    }
  return sum;
}

double OrderCost::bytes_used(std::uint32_t object) const {
  double sum = 0;
  for (const Group& group : groups_)
    for (const Access& access : group.accesses)
      if (access.object == object) sum += access.count * static_cast<double>(access.size);
  return sum;
}

double copy_cost(const Array& array, double scale) {
  double elements = static_cast<double>(array.blocks);
  for (const ArrayDimension& dimension : array.dimensions) elements *= static_cast<double>(dimension.extent);
  elements *= std::pow(scale, static_cast<double>(dimensions_of(array)));
  constexpr double kTwice = 2;       // in, and out
  constexpr double kPerElement = 3;  // instructions
  const double lines = elements * static_cast<double>(array.element) / kCacheLine;
  return kTwice * (kPerElement * elements + kLineCost * 2 * lines);
}

}  // namespace loopfold::advise
