// Live ranges of random programs under random orders, against running them.
//
// A program has one to three units in a nest of up to three loops of two to four iterations, and accesses of random
// affine cells of one small array. The reference knows nothing of isl or of ranges: it runs all accesses in the order
// as written and remembers which definition each use got and what was left behind; then it runs them in the new order
// and compares. Where loops are parallel it looks at all pairs of accesses, and runs iterations in random orders. What
// a repair promises is run too, with the copies that it asks for: no use may get anything but its own definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "advise/liveness/hand_made.h"
#include "structure/testing.h"

namespace loopfold::advise::liveness {
namespace {

using poly::Isl;
using structure::testing::seed;
using structure::testing::soak;
using testing::HandMade;

using Vector = std::vector<std::int64_t>;
constexpr const char* kNames[] = {"i", "j", "k"};

struct Linear {
  Vector coefficients;
  std::int64_t constant = 0;
  std::int64_t modulus = 0;

  std::int64_t at(const Vector& point) const {
    std::int64_t value = constant;
    for (std::size_t k = 0; k < coefficients.size(); ++k) value += coefficients[k] * point[k];
    return modulus == 0 ? value : ((value % modulus) + modulus) % modulus;
  }
  std::string text() const {
    std::string all = std::to_string(constant);
    for (std::size_t k = 0; k < coefficients.size(); ++k) all += " + " + std::to_string(coefficients[k]) + kNames[k];
    return modulus == 0 ? all : "(" + all + ") mod " + std::to_string(modulus);
  }
};

struct RandomAccess {
  bool write = false;
  Linear cell;
};

struct Unit {
  std::size_t depth = 1;
  Vector places;  // static, by level
  std::vector<RandomAccess> accesses;
  std::vector<Vector> points;
  std::vector<Linear> order;  // the new one
};

/// One access as it happens.
struct Event {
  std::uint32_t unit = 0;
  std::uint32_t access = 0;  // of the storage
  const Vector* point = nullptr;
  bool write = false;
  std::int64_t cell = 0;
  Vector time;  // with unit and position
  std::size_t number = 0;
};

class RandomProgram {
 public:
  explicit RandomProgram(std::uint64_t number) : random_(number) {
    const std::size_t deepest = 1 + pick(3);
    for (std::size_t k = 0; k < deepest; ++k) trips_.push_back(2 + static_cast<std::int64_t>(pick(3)));
    const std::size_t units = 1 + pick(3);
    for (std::size_t u = 0; u < units; ++u) add_unit(u == 0 ? deepest : 1 + pick(deepest));
    is_output_ = pick(2) == 0;
    storage.bytes = 8;
    for (std::uint32_t u = 0; u < units_.size(); ++u) declare(u);
    EXPECT_TRUE(find_ranges(made.isl.get(), made.written, is_output_, storage));
    make_order();
  }

  std::vector<Event> events(bool anew) const {
    std::vector<Event> all;
    std::uint32_t access = 0;
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      for (const RandomAccess& one : units_[u].accesses) {
        for (const Vector& point : units_[u].points) {
          Event event{u, access, &point, one.write, one.cell.at(point), {}, 0};
          const std::vector<Linear> rows = anew ? units_[u].order : written_rows(u);
          for (const Linear& row : rows) event.time.push_back(row.at(point));
          event.time.push_back(u);
          event.time.push_back(access);
          all.push_back(std::move(event));
        }
        ++access;
      }
    }
    for (std::size_t i = 0; i < all.size(); ++i) all[i].number = i;
    return all;
  }

  /// Which definition each use gets, by number, and what is left in the cells; `copy` tells the copies apart.
  struct Outcome {
    std::map<std::size_t, std::int64_t> sources;
    std::map<std::int64_t, std::int64_t> left;
    friend bool operator==(const Outcome&, const Outcome&) = default;
  };
  Outcome run(std::vector<Event> all) const {
    std::stable_sort(all.begin(), all.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
    Outcome outcome;
    for (const Event& event : all) {
      const auto held = outcome.left.find(event.cell);
      if (event.write)
        outcome.left[event.cell] = static_cast<std::int64_t>(event.number);
      else
        outcome.sources[event.number] = held == outcome.left.end() ? -1 : held->second;
    }
    if (!is_output_) outcome.left.clear();
    return outcome;
  }

  bool races(const Event& a, const Event& b) const {
    if (a.cell != b.cell || (!a.write && !b.write)) return false;
    for (std::size_t row = 0; row < order.parallel[0].size(); ++row) {
      if (a.time[row] == b.time[row]) continue;
      return order.parallel[a.unit][row] && order.parallel[b.unit][row];
    }
    return false;
  }

  /// The truth: every interleaving gives what the program gave as written.
  bool is_right() const {
    const std::vector<Event> all = events(true);
    for (const Event& a : all)
      for (const Event& b : all)
        if (races(a, b)) return false;
    return run(events(true)) == run(events(false));
  }

  /// The same with copies: each definition in its own one, each use in that of its definition.
  bool is_right_with(const Repair& repair) {
    std::vector<Event> all = events(true);
    const Outcome expected = run(events(false));
    if (repair.kind == Repair::Kind::kExpand) return is_right_expanded(repair, all, expected);
    for (int round = 0; round < 4; ++round)
      if (!is_right_private(repair, all, expected)) return false;
    return true;
  }

  std::vector<LoopCounter> loops() const {
    std::vector<LoopCounter> all;
    for (std::uint32_t k = 0; k < trips_.size(); ++k) {
      LoopCounter& loop = all.emplace_back();
      loop.trips = static_cast<std::uint64_t>(trips_[k]);
      for (const Unit& unit : units_)
        loop.coordinate.push_back(k < unit.depth ? std::optional<std::uint32_t>(k) : std::nullopt);
    }
    return all;
  }

  /// The order as written, with sums.
  Times written() const {
    Times times = made.written;
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      std::vector<TimeSum>& sums = times.sums.emplace_back();
      for (const Linear& row : written_rows(u)) sums.push_back({row.coefficients, row.constant, 1});
    }
    return times;
  }

  /// No two instances of a unit at the same time: what find_conflicts() asks of an order.
  bool is_injective() const {
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      const Isl<isl_map> times(isl_map_intersect_domain(order.of[u].copy(), made.domains[u].copy()));
      if (isl_map_is_injective(times.get()) != isl_bool_true) return false;
    }
    return true;
  }

  std::string text() const {
    std::string all;
    for (const Unit& unit : units_) {
      all += "unit";
      for (const RandomAccess& access : unit.accesses) all += (access.write ? " W " : " R ") + access.cell.text();
      all += " at";
      for (const Linear& row : unit.order) all += " [" + row.text() + "]";
      all += "\n";
    }
    return all;
  }

  HandMade made;
  Storage storage;
  Times order;

 private:
  std::size_t pick(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_); }

  void add_unit(std::size_t depth) {
    Unit& unit = units_.emplace_back();
    unit.depth = depth;
    for (std::size_t k = 0; k < trips_.size(); ++k)
      unit.places.push_back(k + 1 < depth ? 1 : k + 1 == depth ? static_cast<std::int64_t>(2 * pick(2)) : 0);
    if (depth == trips_.size()) unit.places[depth - 1] = static_cast<std::int64_t>(pick(3));
    for (std::size_t n = 1 + pick(3); n > 0; --n) {
      RandomAccess& access = unit.accesses.emplace_back();
      access.write = pick(2) == 0;
      for (std::size_t k = 0; k < depth; ++k)
        access.cell.coefficients.push_back(pick(3) == 0 ? static_cast<std::int64_t>(pick(3)) - 1 : pick(3) == 0);
      access.cell.constant = static_cast<std::int64_t>(pick(3));
      if (pick(4) == 0) access.cell.modulus = 2;
    }
    Vector point(depth);
    add_points(unit, point, 0);
    if (pick(3) == 0) leave_out_points(unit);
  }
  /// As where data decides: the domain is in pieces.
  void leave_out_points(Unit& unit) {
    std::vector<Vector> left;
    for (const Vector& point : unit.points)
      if (pick(3) != 0) left.push_back(point);
    if (!left.empty()) unit.points = std::move(left);
  }
  void add_points(Unit& unit, Vector& point, std::size_t k) {
    if (k == unit.depth) {
      unit.points.push_back(point);
      return;
    }
    for (point[k] = 0; point[k] < trips_[k]; ++point[k]) add_points(unit, point, k + 1);
  }

  /// Counter and place of each level in turn.
  std::vector<Linear> written_rows(std::uint32_t u) const {
    std::vector<Linear> rows;
    for (std::size_t k = 0; k < trips_.size(); ++k) {
      Linear counter{Vector(units_[u].depth), 0, 0};
      if (k < units_[u].depth) counter.coefficients[k] = 1;
      rows.push_back(counter);
      rows.push_back({Vector(units_[u].depth), units_[u].places[k], 0});
    }
    return rows;
  }

  std::string tuple(std::uint32_t u) const {
    std::string all = "S" + std::to_string(u) + "[";
    for (std::size_t k = 0; k < units_[u].depth; ++k) all += (k > 0 ? ", " : "") + std::string(kNames[k]);
    return all + "]";
  }
  std::string time_text(std::uint32_t u, const std::vector<Linear>& rows) const {
    std::string all = "{ " + tuple(u) + " -> [";
    for (std::size_t k = 0; k < rows.size(); ++k) all += (k > 0 ? ", " : "") + rows[k].text();
    return all + "] }";
  }

  std::string domain_text(std::uint32_t u) const {
    std::string domain = "{ " + tuple(u) + " : 0 = 0";
    std::size_t all = 1;
    for (std::size_t k = 0; k < units_[u].depth; ++k) {
      domain += " and 0 <= " + std::string(kNames[k]) + " < " + std::to_string(trips_[k]);
      all *= static_cast<std::size_t>(trips_[k]);
    }
    if (units_[u].points.size() == all) return domain + " }";
    std::string points = "{ ";
    for (const Vector& point : units_[u].points) {
      points += points.size() > 2 ? "; S" : "S";
      points += std::to_string(u);
      for (std::size_t k = 0; k < point.size(); ++k) points += (k > 0 ? ", " : "[") + std::to_string(point[k]);
      points += "]";
    }
    return points + " }";
  }

  void declare(std::uint32_t u) {
    made.unit(domain_text(u), time_text(u, written_rows(u)));
    for (const RandomAccess& access : units_[u].accesses)
      made.access(storage, u, access.write, "{ " + tuple(u) + " -> [" + access.cell.text() + "] }");
  }

  /// Loops change places, are reversed, skewed or moved against each other, or stay; some are parallel.
  void make_order() {
    std::vector<std::string> texts;
    std::vector<std::size_t> permutation(trips_.size());
    for (std::size_t k = 0; k < permutation.size(); ++k) permutation[k] = k;
    if (pick(2) == 0) std::shuffle(permutation.begin(), permutation.end(), random_);
    const bool reversed = pick(6) == 0;
    const bool skewed = pick(5) == 0;
    for (std::uint32_t u = 0; u < units_.size(); ++u) {
      std::vector<Linear> rows = written_rows(u);
      const std::vector<Linear> old = rows;
      for (std::size_t k = 0; k < trips_.size(); ++k) rows[2 * k] = old[2 * permutation[k]];
      if (reversed)
        for (std::int64_t& c : rows[0].coefficients) c = -c;
      if (skewed && units_[u].depth > 1) rows[0].coefficients[1] += 1;
      if (pick(6) == 0) rows[0].constant += static_cast<std::int64_t>(pick(3)) - 1;
      if (pick(6) == 0) rows[1].constant = static_cast<std::int64_t>(pick(3));
      units_[u].order = rows;
      texts.push_back(time_text(u, rows));
    }
    std::vector<std::size_t> parallel;
    if (pick(2) == 0) parallel.push_back(2 * pick(trips_.size()));
    order = made.order(texts, parallel);
    if (pick(2) == 0) return;
    for (const Unit& unit : units_) {
      std::vector<TimeSum>& sums = order.sums.emplace_back();
      for (const Linear& row : unit.order) sums.push_back({row.coefficients, row.constant, 1});
    }
  }

  bool is_right_expanded(const Repair& repair, const std::vector<Event>& all, const Outcome& expected) const {
    const auto copy_of = [&](const Event& event) {
      Vector copy;
      for (const std::uint32_t loop : repair.along) copy.push_back((*event.point)[loop]);
      return copy;
    };
    struct Place {
      Vector copy;
      std::int64_t cell = 0;
      bool original = false;
      auto operator<=>(const Place&) const = default;
    };
    const auto place_of = [&](const Event& event) {
      if (event.write) return Place{copy_of(event), event.cell, false};
      const std::int64_t source = expected.sources.at(event.number);
      if (source < 0) return Place{{}, event.cell, true};
      return Place{copy_of(all[static_cast<std::size_t>(source)]), event.cell, false};
    };
    std::map<Place, std::int64_t> held;
    std::vector<const Event*> sorted;
    for (const Event& event : all) sorted.push_back(&event);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Event* a, const Event* b) { return a->time < b->time; });
    for (const Event* a : sorted)
      for (const Event* b : sorted)
        if (races(*a, *b) && place_of(*a) == place_of(*b)) return false;
    for (const Event* event : sorted) {
      const Place place = place_of(*event);
      if (event->write) {
        held[place] = static_cast<std::int64_t>(event->number);
        continue;
      }
      const auto found = held.find(place);
      if ((found == held.end() ? -1 : found->second) != expected.sources.at(event->number)) return false;
    }
    for (const auto& [cell, source] : expected.left)
      if (held[place_of(all[static_cast<std::size_t>(source)])] != source) return false;
    return true;
  }

  /// Iterations are dealt out to two threads; each runs its own in their order, with a copy of its own.
  bool is_right_private(const Repair& repair, const std::vector<Event>& all, const Outcome& expected) {
    using Memory = std::map<std::int64_t, std::int64_t>;
    std::vector<const Event*> sorted;
    for (const Event& event : all) sorted.push_back(&event);
    std::stable_sort(sorted.begin(), sorted.end(), [](const Event* a, const Event* b) { return a->time < b->time; });
    Memory memory;
    const auto entry_of = [&](const Event* e) { return Vector(e->time.begin(), e->time.begin() + repair.row); };
    for (std::size_t at = 0; at < sorted.size();) {
      std::size_t end = at;
      while (end < sorted.size() && entry_of(sorted[end]) == entry_of(sorted[at])) ++end;
      std::map<std::int64_t, std::size_t> thread_of;
      Memory threads[2] = {repair.first ? memory : Memory{}, repair.first ? memory : Memory{}};
      std::int64_t last = 0;
      for (std::size_t k = at; k < end; ++k) {
        const Event& event = *sorted[k];
        last = event.time[repair.row];
        const auto [thread, is_new] = thread_of.try_emplace(last, pick(2));
        Memory& own = threads[thread->second];
        if (event.write) {
          own[event.cell] = static_cast<std::int64_t>(event.number);
          continue;
        }
        const std::int64_t expect = expected.sources.at(event.number);
        const auto found = own.find(event.cell);
        if (!repair.first && found == own.end()) return false;  // nothing was put there, whatever was before
        if ((found == own.end() ? -1 : found->second) != expect) return false;
      }
      if (repair.last)
        for (const auto& [cell, value] : threads[thread_of[last]]) memory[cell] = value;
      at = end;
    }
    for (const auto& [cell, source] : expected.left)
      if (memory[cell] != source) return false;
    return true;
  }

  std::mt19937_64 random_;
  std::vector<std::int64_t> trips_;
  std::vector<Unit> units_;
  bool is_output_ = false;
};

/// One is found if there are any; and all of them, if what is in the order as written is left out.
void expect_the_same(const RandomProgram& program, const Conflicts& conflicts) {
  Precedence order(program.order);
  SameCells cells(program.storage);
  EXPECT_EQ(find_conflicts(program.storage, order, cells, true).found.empty(), conflicts.found.empty());
  const Times written = program.written();
  const Conflicts others = find_conflicts(program.storage, order, cells, false, &written);
  ASSERT_EQ(others.found.size(), conflicts.found.size());
  for (std::size_t i = 0; i < others.found.size(); ++i)
    EXPECT_TRUE(testing::equal(others.found[i].pairs, conflicts.found[i].pairs));
}

TEST(RandomLiveRanges, AgreeWithRunningTheProgram) {
  const std::size_t programs = 500 * soak();
  std::size_t right = 0;
  std::size_t broken = 0;
  std::map<Repair::Kind, std::size_t> repairs;
  for (std::size_t n = 0, tried = 0; tried < programs; ++n) {
    RandomProgram program(seed(n));
    if (!program.is_injective()) continue;
    ++tried;
    const BrokenFlows flow = broken_flow(program.storage, program.order, false);
    const Conflicts conflicts = find_conflicts(program.storage, program.order);
    ASSERT_TRUE(flow.complete && conflicts.complete);
    expect_the_same(program, conflicts);
    const bool legal = flow.found.empty() && conflicts.found.empty();
    ASSERT_EQ(legal, program.is_right()) << "program " << n << "\n" << program.text();
    right += legal ? 1 : 0;
    if (!flow.found.empty()) {
      ++broken;
      continue;
    }
    const Repair repair =
        find_repair(program.storage, program.order, conflicts, program.loops(), program.made.domains, {});
    ++repairs[repair.kind];
    ASSERT_EQ(repair.kind == Repair::Kind::kNone, legal);
    if (repair.kind != Repair::Kind::kPrivate && repair.kind != Repair::Kind::kExpand) continue;
    ASSERT_TRUE(program.is_right_with(repair))
        << "program " << n << "\n"
        << program.text() << (repair.kind == Repair::Kind::kPrivate ? "private" : "expand");
  }
  EXPECT_GT(right, programs / 20);
  EXPECT_GT(broken, programs / 20);
  EXPECT_GT(repairs[Repair::Kind::kPrivate], 0U);
  EXPECT_GT(repairs[Repair::Kind::kExpand], 0U);
  RecordProperty("right", static_cast<int>(right));
  RecordProperty("broken", static_cast<int>(broken));
}

}  // namespace
}  // namespace loopfold::advise::liveness
