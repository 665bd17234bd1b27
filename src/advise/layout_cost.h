// What a nest costs in an order of its loops, with its arrays stored in a certain way: one figure for orders and
// layouts, so that they can be chosen together (papers/003, section 5).
//
// Instructions. Those of the run; fewer where the innermost loop can be done in vectors: it carries nothing, and every
// access stays or moves on by its own size along it. (A reduction would need leave to reassociate.)
//
// Cache lines. Each level of loops touches so many different lines in one execution: for each access the product, over
// the loops inside, of their trips, or of the lines that so many steps cross where a step is less than a line. A cache
// keeps what one iteration of a loop touches if that is less than its size; then each line is fetched once per
// execution of that loop. So: find the outermost loop whose iterations fit; lines fetched = executions of it times
// lines it touches. Lines that fall into the same few sets count for as much of the cache as they make useless.
//
// Threads. The loop that gains most runs on the machine's cores, if it carries nothing; starting costs kFork each time.
// One that carries a reduction does so at the price of a copy of what is reduced for every core.
//
// Registers. A value that a loop hands on in a register stays there while that loop is innermost. In another order each
// iteration of the loops inside has one of its own: an array more, over all loops but that one, is loaded and stored.
//
// Copies. An array that other code uses too is copied in and out.
//
// A model, not a measurement: it ranks. Trips are averages of the run, times `scale` for a larger problem. Costs are in
// instructions. Cost to compute: accesses times levels, for each layout.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "advise/layouts.h"
#include "advise/plan.h"
#include "profile/profile.h"

namespace loopfold::advise {

struct Cache {
  double bytes = 0;
  double cost = 0;  // of a line that is not there
};

struct Machine {
  double cores = 1;
  std::vector<Cache> caches;
  double scale = 1;  // trips of every loop

  /// Data much larger than any cache: nothing is kept from one iteration to the next but what that one touches, too.
  static Machine beyond_caches();
  static Machine common(double cores);
};

struct LayoutCost {
  double instructions = 0;              // of all cores, divided among them
  double lines = 0;                     // weighted, divided among the cores
  double threads = 0;                   // starting them, and copies for reductions
  double copies = 0;                    // of arrays, in and out
  std::optional<std::size_t> parallel;  // level of the heaviest group that runs on all cores
  bool reduction = false;               // it carries one
  double total() const { return instructions + lines + threads + copies; }
};

/// A nest in one order; tiled, if `tile` is not 0, where bands allow it.
class OrderCost {
 public:
  OrderCost(const NestPlan& nest, const Order& order, std::uint32_t tile, const std::vector<Array>& arrays,
            const Machine& machine);

  /// Layouts by object; those that have none are as they are. Without copies.
  LayoutCost cost(const std::map<std::uint32_t, const Layout*>& layouts) const;
  /// Lines of one array that iterations of innermost loops touch anew, whatever caches keep.
  double lines_touched(std::uint32_t object, const Layout* layout) const;
  /// Bytes loaded from and stored to it.
  double bytes_used(std::uint32_t object) const;
  /// The group with most operations, and its loops, outermost first: rows of the order, and whether it is one of tiles.
  std::uint32_t heaviest() const;
  std::vector<std::pair<std::size_t, bool>> loops_of(std::uint32_t group) const;
  /// Some band has two loops or more to tile.
  bool can_tile() const { return can_tile_; }

 private:
  struct Level {
    std::size_t row = 0;
    bool tiles = false;
    double trips = 1;
    Carries carries = Carries::kFlow;
    Direction direction;
  };
  struct Move {
    std::int64_t bytes = 0;           // as it is
    std::vector<std::int64_t> steps;  // of each subscript; empty: not known
    bool known = false;
    bool between_blocks = false;
  };
  struct Access {
    std::uint32_t object = 0;
    std::uint64_t size = 0;
    double count = 0;
    bool store = false;
    std::vector<Move> moves;  // by level
  };
  struct Group {
    double ops = 0;
    double executions = 1;  // of its outermost loop
    bool innermost = false;
    std::vector<Level> levels;
    std::vector<Access> accesses;
  };
  /// An access under a layout: bytes by level; none: not known.
  using Strides = std::vector<std::optional<double>>;

  void add_levels(const NestPlan& nest, const Order& order, std::uint32_t number, std::uint32_t tile, Group& group);
  void add_accesses(const NestPlan& nest, std::uint32_t number, Group& group) const;
  static void add_registers(const NestPlan& nest, std::uint32_t number, Group& group);
  Strides strides(const Access& access, const Layout* layout) const;
  LayoutCost cost(const Group& group, const std::map<std::uint32_t, const Layout*>& layouts) const;
  double lines_in(const Group& group, const Strides& strides, std::size_t level) const;
  double fetched(const Group& group, const std::vector<Strides>& all, const Cache& cache) const;
  double useless(const Group& group, const Strides& strides, std::size_t level, const Cache& cache) const;
  LayoutCost with_threads(const Group& group, const std::vector<Strides>& all, const std::vector<const Access*>& of,
                          double instructions, double lines) const;

  const std::vector<Array>& arrays_;
  const Machine& machine_;
  bool can_tile_ = false;
  std::vector<Group> groups_;
};

/// Of copying an array to another place and back.
double copy_cost(const Array& array, double scale);

}  // namespace loopfold::advise
