// Iteration vectors by reference.
//
// A cell of shadow memory cannot hold a whole iteration vector. It holds an *entry*, which stands for one entry of the
// loop (or start of the stack) that the instance was in, and the counter of that loop. An entry knows the entry around
// it and what the counter there was, which cannot change while it lasts. So a vector is a walk from entry to entry,
// outwards.
//
// An entry also knows the *slice* of the run that it was made in, a number that grows with time: an instance is as old
// as its entry. Whoever makes entries makes another one for the same loop where a new slice begins.
//
// Entries that nothing refers to are collected now and then: begin_collection(), mark() for every reference, then
// end_collection(). The numbers of those that stay do not change.
//
// Another thread may read entries that it was told of while new ones are made (stable_array.h), but not while they are
// collected.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ddg/stable_array.h"

namespace loopfold::ddg {

using EntryId = std::uint32_t;
inline constexpr EntryId kNoEntry = 0;

/// How entries follow each other evenly: the counters of the loops around change by the same each time, up to an entry
/// that is around all of them. What goes down a column finds such entries, if each row was written by one.
struct Rise {
  static constexpr std::size_t kMost = 3;
  std::size_t levels = 0;                    // coordinates before an entry's own that change; 0: there is none
  std::array<std::uint64_t, kMost> first{};  // counters around the first entry, the innermost first
  std::array<std::uint64_t, kMost> steps{};
  EntryId around = kNoEntry;

  friend bool operator==(const Rise& a, const Rise& b) {
    return a.levels == b.levels &&
           (a.levels == 0 || (a.around == b.around && a.first == b.first && a.steps == b.steps));
  }
};

class Entries {
 public:
  /// A new entry with `depth` coordinates, the last of which is its own counter.
  EntryId add(EntryId parent, std::uint64_t parent_counter, std::uint16_t depth, std::uint64_t slice = 0) {
    EntryId id = free_;
    if (id != kNoEntry) {
      free_ = entries_[id].parent;
      entries_[id] = {parent_counter, slice, parent, depth, false};
    } else {
      id = static_cast<EntryId>(entries_.size());
      entries_.push_back({parent_counter, slice, parent, depth, false});
    }
    ++live_;
    slices_ = slice > slices_ ? slice : slices_;
    return id;
  }
  /// All are of one slice: no two are of one entry of a loop.
  bool in_one_slice() const { return slices_ <= 1; }

  std::uint16_t depth(EntryId id) const { return entries_[id].depth; }
  EntryId parent(EntryId id) const { return entries_[id].parent; }
  std::uint64_t parent_counter(EntryId id) const { return entries_[id].parent_counter; }
  /// The instance that it is in: of the loop around.
  struct Around {
    EntryId entry = kNoEntry;
    std::uint64_t counter = 0;
  };
  Around around(EntryId id) const {
    const Entry& entry = entries_[id];
    return {entry.parent, entry.parent_counter};
  }
  std::uint64_t slice(EntryId id) const { return entries_[id].slice; }

  /// Writes the `depth` coordinates of the instance (id, counter).
  void vector(EntryId id, std::uint64_t counter, std::int64_t* into) const {
    for (std::size_t k = entries_[id].depth; k-- > 0;) {
      into[k] = static_cast<std::int64_t>(counter);
      counter = entries_[id].parent_counter;
      id = entries_[id].parent;
    }
  }

  /// The same, with the entries that it is in, by coordinate.
  void vector(EntryId id, std::uint64_t counter, std::int64_t* into, EntryId* around) const {
    for (std::size_t k = entries_[id].depth; k-- > 0;) {
      into[k] = static_cast<std::int64_t>(counter);
      around[k] = id;
      counter = entries_[id].parent_counter;
      id = entries_[id].parent;
    }
  }

  /// The same, seen from an instance at `point` that is in the entries entry_at(0), entry_at(1) ... entry_at(levels -
  /// 1) now: where the walk outwards comes to one of these, the rest is known. Most producers are near. Gives a number
  /// of first coordinates that are the point's.
  template <class EntryAt>
  std::size_t vector_near(EntryId id, std::uint64_t counter, const std::int64_t* point, std::size_t levels,
                          EntryAt&& entry_at, std::int64_t* into) const {
    for (std::size_t k = entries_[id].depth; k-- > 0;) {
      into[k] = static_cast<std::int64_t>(counter);
      if (k < levels && entry_at(k) == id) {
        for (std::size_t i = 0; i < k; ++i) into[i] = point[i];
        return k;
      }
      counter = entries_[id].parent_counter;
      id = entries_[id].parent;
    }
    return 0;
  }

  /// Where an instance (id, counter) parts from another one at `point`, which is in `other`: the first of the first
  /// `common` coordinates in which they differ, and what it is of the former; `common` if none does. Both have so many.
  struct Parting {
    std::uint16_t level = 0;
    std::int64_t coordinate = 0;
  };
  Parting parting(EntryId id, std::uint64_t counter, EntryId other, const std::int64_t* point,
                  std::uint16_t common) const {
    if (id == other) {
      const bool differs = entries_[id].depth == common && static_cast<std::int64_t>(counter) != point[common - 1];
      return differs ? Parting{static_cast<std::uint16_t>(common - 1), static_cast<std::int64_t>(counter)}
                     : Parting{common, 0};
    }
    const Entry* entry = &entries_[id];
    for (; entry->depth > common; entry = &entries_[id]) {
      counter = entry->parent_counter;
      id = entry->parent;
    }
    while (entries_[other].depth > common) other = entries_[other].parent;
    Parting found{common, 0};
    for (std::uint16_t k = common; k-- > 0;) {
      if (const auto coordinate = static_cast<std::int64_t>(counter); coordinate != point[k]) found = {k, coordinate};
      if (id == other) break;
      counter = entries_[id].parent_counter;
      id = entries_[id].parent;
      other = entries_[other].parent;
    }
    return found;
  }

  /// How it goes on from one entry to another; without levels if they are the same, or too far apart.
  Rise rise(EntryId from, EntryId to) const {
    Rise found;
    while (from != to) {
      if (found.levels == Rise::kMost || from == kNoEntry || to == kNoEntry) return {};
      found.first[found.levels] = entries_[from].parent_counter;
      found.steps[found.levels++] = entries_[to].parent_counter - entries_[from].parent_counter;
      from = entries_[from].parent;
      to = entries_[to].parent;
    }
    found.around = from;
    return found;
  }
  /// Whether an entry is the one with this number, from 0.
  bool is_in(const Rise& rise, EntryId id, std::uint64_t number) const {
    for (std::size_t k = 0; k < rise.levels; ++k) {
      const Entry& entry = entries_[id];
      if (entry.parent_counter != rise.first[k] + rise.steps[k] * number) return false;
      id = entry.parent;
    }
    return id == rise.around;
  }

  bool wants_collection() const { return live_ > threshold_; }
  void begin_collection() {
    for (std::size_t id = 0; id < entries_.size(); ++id) entries_[id].marked = false;
  }
  void mark(EntryId id) {
    for (; id != kNoEntry && !entries_[id].marked; id = entries_[id].parent) entries_[id].marked = true;
  }
  void end_collection() {
    live_ = 0;
    free_ = kNoEntry;
    for (std::size_t id = entries_.size(); id-- > 1;) {
      if (entries_[id].marked) {
        ++live_;
      } else {
        entries_[id].parent = free_;
        entries_[id].depth = 0;
        free_ = static_cast<EntryId>(id);
      }
    }
    threshold_ = live_ * 2 > kFew ? live_ * 2 : kFew;
  }

  std::uint64_t bytes() const { return entries_.size() * sizeof(Entry); }

 private:
  struct Entry {
    std::uint64_t parent_counter = 0;
    std::uint64_t slice = 0;
    EntryId parent = kNoEntry;  // of a free one: the next free one
    std::uint16_t depth = 0;
    bool marked = false;
  };
  static constexpr std::uint64_t kFew = 1 << 20;

  StableArray<Entry, 13> entries_;  // the first is none
  EntryId free_ = kNoEntry;
  std::uint64_t live_ = 0;
  std::uint64_t slices_ = 0;  // the last one
  std::uint64_t threshold_ = kFew;
};

}  // namespace loopfold::ddg
