// A run that is still growing.
//
// Iterations are added one by one. Their slots are kept as they come, *row* by row, and each is compared with what the
// columns lead to expect. A column's stride is known from the second time it is present on; when a value breaks it, the
// column becomes irregular, which is a mark: its values are in the rows. So an iteration costs one copy and a
// comparison for each regular column, whatever becomes of the columns.
//
// While a run has one path and only regular columns, it can be *locked*: events are then compared one by one, as they
// come, with the next one expected (step()), and an iteration that fits costs no bookkeeping but one addition per
// column. If they come as words, that is done for one iteration, and those behind it are compared with it, many at
// once (WordPattern). Nothing is stored then, so a regular run costs the same memory however long it is; the rows are
// made up if it goes on in another way.
//
// Any other run can be *followed*: its paths are a tree of exits, and as long as events go along it (follow()) their
// slots are stored where the row will be, and a path that ends needs no look at its events.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "trace/event_words.h"
#include "trace/format.h"
#include "trace/run.h"
#include "trace/run_body.h"
#include "trace/shapes.h"
#include "trace/word_pattern.h"

namespace loopfold::trace {

class LiveRun {
 public:
  static constexpr std::size_t kNone = ~std::size_t{0};
  /// Slots that the rows of a run may have in all; iterations of a run of several paths. Then it ends and the loop goes
  /// on in another.
  static constexpr std::size_t kMaxValues = kMaxRunValues;
  static constexpr std::uint64_t kMaxMixed = std::uint64_t{1} << 20;

  explicit LiveRun(const Shapes& shapes) : shapes_(shapes) {}

  /// Begins a run of the loop with this header.
  void clear(std::uint64_t header);
  /// The number of the path, or kNone.
  std::size_t find(std::span<const ExitId> exits) const;
  /// Adds an iteration, with find(exits). False if the run has become too large for it: it stays as it was and takes no
  /// more.
  bool extend(std::size_t path, std::span<const ExitId> exits, const std::uint64_t* slots);
  /// Adds the iteration that leaves the loop, unless it would make a regular column irregular. The run takes no more.
  bool finish(std::span<const ExitId> exits, const std::uint64_t* slots);

  std::uint64_t iterations() const { return iterations_; }
  std::size_t paths() const { return body_->paths(); }
  std::size_t bytes() const { return sequence_.size() + 8 * (used_ + 2 * columns_); }
  /// How many exits from the first one on are at positions of the body.
  std::size_t covered(std::span<const ExitId> exits) { return body_->covered(exits, shapes_); }

  /// The run as it is, without place and time and without the values of irregular columns: these are in the rows. Valid
  /// until the next change.
  const Run& view();
  /// The slots of all iterations, one after the other; empty if all columns are regular and they were not needed.
  std::span<const std::uint64_t> rows() const { return {rows_.data(), stored_ ? used_ : 0}; }

  // ---- locked ----
  /// Locks the run at the beginning of an iteration if it can be.
  bool lock();
  /// Is this the next event? Then it is taken in.
  bool step(ExitId exit, const std::uint64_t* slots, std::size_t count) {
    if (exit != lock_exits_[lock_event_] || count != lock_counts_[lock_event_]) return false;
    const std::uint64_t* const expected = expected_.data() + lock_slot_;
    std::uint64_t different = 0;
    for (std::size_t i = 0; i < count; ++i) different |= slots[i] ^ expected[i];
    if (different != 0) return false;
    lock_slot_ += static_cast<std::uint32_t>(count);
    if (++lock_event_ == lock_length_) advance();
    return true;
  }
  /// The same for events that come as words, up to the first that is not taken in, and for `most` at the most.
  void step(EventWords& in, std::uint64_t most);
  struct Partial {
    std::span<const ExitId> exits;
    const std::uint64_t* slots = nullptr;
  };
  /// Unlocks the run and gives back the events of the unfinished iteration, valid until the next change.
  Partial unlock();

  // ---- followed ----
  /// Makes ready to follow the run from the beginning of an iteration on; its rows must be stored.
  void begin_following();
  /// Does this event go on along a path, or begin an iteration behind the end of one? Then it is taken in. Every path
  /// ends with a direct exit, so an event that begins some path ends the iteration before.
  bool follow(ExitId exit, const std::uint64_t* slots, std::size_t count) {
    std::uint32_t next = child_of(nodes_.data(), node_, exit);
    if (next == 0) {
      const std::uint32_t path = nodes_[node_].path;
      if (path == kNoPath) return false;
      next = child_of(nodes_.data(), 0, exit);
      if (next == 0 || count != nodes_[next].count || !end_path(path)) return false;
    } else if (count != nodes_[next].count) {
      return false;
    }
    std::uint64_t* const to = rows_.data() + filled_;
    for (std::size_t i = 0; i < count; ++i) to[i] = slots[i];
    filled_ += count;
    node_ = next;
    return true;
  }
  /// The same for events that come as words, up to the first that is not taken in, and for `most` at the most.
  void follow(EventWords& in, std::uint64_t most);
  /// Follows the run no more and gives back the events of the unfinished iteration, valid until the next change.
  Partial stop_following();

 private:
  enum class State : std::uint8_t { kUnseen, kOnce, kRegular, kIrregular };
  struct RegularSlot {
    std::size_t slot = 0;  // in the path
    std::uint64_t start = 0;
    std::uint64_t stride = 0;
  };
  /// Where events can be on a path, in the tree of all paths. The root, of number 0, is before the first event.
  struct Node {
    ExitId exit = 0;
    std::uint32_t count = 0;  // of slots
    std::uint32_t child = 0;
    std::uint32_t sibling = 0;
    std::uint32_t parent = 0;
    std::uint32_t path = kNoPath;  // that ends here
  };
  static constexpr std::uint32_t kNoPath = 0xffffffff;
  static constexpr std::uint64_t kUnplanned = 2;  // iterations of a path without a list
  /// Where an event with this exit leads to from a node, or 0.
  static std::uint32_t child_of(const Node* nodes, std::uint32_t node, ExitId exit) {
    std::uint32_t next = nodes[node].child;
    while (next != 0 && nodes[next].exit != exit) next = nodes[next].sibling;
    return next;
  }
  /// The slots of a path that are in regular columns, as of `version`.
  struct PathPlan {
    std::uint64_t version = 0;
    bool settled = false;  // no column is unseen or seen once only
    std::size_t count = 0;
    std::vector<RegularSlot> regular;  // the first `count`
  };

  std::size_t add_path(std::span<const ExitId> exits);
  /// Compares the slots of an iteration with what the columns lead to expect, and teaches the columns if they differ.
  void take(std::size_t path, const std::uint64_t* slots) {
    const PathPlan& planned = plans_[path];
    if (planned.version != version_ && uses_[path] >= kUnplanned) plan(path);
    std::uint64_t different = planned.version == version_ && planned.settled ? 0 : 1;
    if (different == 0) {
      const std::uint64_t iteration = iterations_;
      const RegularSlot* const end = planned.regular.data() + planned.count;
      for (const RegularSlot* place = planned.regular.data(); place != end; ++place)
        different |= slots[place->slot] ^ (place->start + place->stride * iteration);
    }
    if (different != 0) take_slowly(path, slots);
  }
  void take_slowly(std::size_t path, const std::uint64_t* slots);
  bool second_value(std::uint32_t column, std::uint64_t value);
  bool end_path(std::size_t path);
  /// Makes sure that any known path's slots fit behind the rows.
  void begin_row() {
    constexpr std::size_t kMost = kMaxRunColumns + EventWords::kSpare;
    filled_ = used_;
    if (used_ + kMost > rows_.size()) [[unlikely]]
      rows_.resize(2 * (used_ + kMost));
  }
  bool store_rows();
  void add_row(const std::uint64_t* slots, std::size_t count);
  std::size_t count_breaks(std::size_t path, const std::uint64_t* slots) const;
  void plan(std::size_t path);
  void count_iteration(std::size_t path);
  std::uint64_t expected(std::uint32_t column) const { return starts_[column] + strides_[column] * iterations_; }
  void advance() {
    lock_event_ = lock_slot_ = 0;
    ++iterations_;
    for (std::size_t i = 0; i < columns_; ++i) expected_[i] += strides_[i];
  }
  bool step_whole(EventWords& in);
  void step_words(EventWords& in, std::uint64_t most);

  const Shapes& shapes_;
  /// The bodies that loops had the last time, by header; several may have to share one.
  static constexpr std::size_t kBodies = 8;
  std::array<RunBody, kBodies> bodies_;
  RunBody* body_ = &bodies_[0];
  std::uint64_t iterations_ = 0;
  std::size_t last_path_ = 0;
  bool mixed_ = false;                  // an iteration other than the last takes another path than the first
  std::vector<std::uint8_t> sequence_;  // if mixed
  std::array<std::uint64_t, kMaxRunPaths> uses_{};
  std::array<PathPlan, kMaxRunPaths> plans_;
  std::uint64_t version_ = 1;  // changes when a column changes its state

  // By column.
  std::size_t columns_ = 0;
  std::array<std::uint64_t, kMaxRunColumns> starts_{};
  std::array<std::uint64_t, kMaxRunColumns> strides_{};  // 0 unless regular
  std::array<std::uint64_t, kMaxRunColumns> seen_{};     // the iteration in which a column of state kOnce was seen
  std::array<State, kMaxRunColumns> states_{};

  bool stored_ = true;               // the rows hold all iterations
  std::vector<std::uint64_t> rows_;  // the first used_ slots
  std::size_t used_ = 0;

  std::array<std::uint64_t, kMaxRunColumns> expected_{};  // the slots of the next iteration, if locked
  const ExitId* lock_exits_ = nullptr;
  std::array<std::uint32_t, kMaxPathEvents> lock_counts_{};
  std::uint32_t lock_length_ = 0;
  std::uint32_t lock_event_ = 0;
  std::uint32_t lock_slot_ = 0;
  WordPattern pattern_;  // made when it is first needed

  std::vector<Node> nodes_;  // of the first tree_paths_ paths
  std::size_t tree_paths_ = 0;
  std::uint32_t node_ = 0;
  std::size_t filled_ = 0;  // used_ and the slots of the unfinished iteration
  std::array<ExitId, kMaxPathEvents> followed_{};

  std::vector<RunPath> view_paths_;
  std::vector<RunColumn> view_columns_;
  Run view_;
};

}  // namespace loopfold::trace
