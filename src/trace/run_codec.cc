// The runs of one thread in one group as bytes; see run_codec.h.
#include "trace/run_codec.h"

#include <algorithm>
#include <cstring>

#include "trace/format.h"

namespace loopfold::trace {
namespace {

/// Of 32-bit ids, two at a time.
std::uint64_t hash_of(std::span<const std::uint32_t> ids) {
  constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15;
  std::uint64_t hash = ids.size() * kFactor;
  std::size_t i = 0;
  for (; i + 2 <= ids.size(); i += 2) {
    std::uint64_t pair = 0;
    std::memcpy(&pair, ids.data() + i, sizeof pair);
    hash = (hash ^ pair) * kFactor;
    hash ^= hash >> 29;
  }
  if (i < ids.size()) hash = (hash ^ ids[i]) * kFactor;
  return hash ^ hash >> 32;
}

bool equal(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b) {
  if (a.size() != b.size()) return false;
  std::uint32_t different = 0;
  for (std::size_t i = 0; i < a.size(); ++i) different |= a[i] ^ b[i];
  return different == 0;
}

constexpr std::size_t index_of(SlotClass slot_class) { return static_cast<std::size_t>(slot_class); }

}  // namespace

void ChunkEncoder::Index::clear() {
  if (used != 0) std::fill(entries.begin(), entries.end(), Entry{});
  used = 0;
}

void ChunkEncoder::Index::add(std::uint64_t hash, std::uint32_t number) {
  const auto insert = [this](const Entry& entry) {
    std::size_t at = entry.hash & (entries.size() - 1);
    while (entries[at].number != IdMap::kNone) at = (at + 1) & (entries.size() - 1);
    entries[at] = entry;
  };
  if (2 * (used + 1) > entries.size()) {
    std::vector<Entry> old(std::max<std::size_t>(256, 2 * entries.size()));
    old.swap(entries);
    for (const Entry& entry : old) {
      if (entry.number != IdMap::kNone) insert(entry);
    }
  }
  insert({hash, number});
  ++used;
}

void ChunkEncoder::clear() {
  tables_.clear();
  for (SlotRows& rows : rows_) rows.clear();
  next_item_.clear();
  followers_.clear();
  expanded_slots_ = 0;
  irregular_.trim();
  path_index_.clear();
  loop_index_.clear();
  items_.clear();
  definitions_.clear();
  sequences_.clear();
  for (ValueWriter& values : values_) values.clear();
}

std::size_t ChunkEncoder::bytes() const {
  return items_.size() + definitions_.size() + sequences_.size() + values_[0].size() + values_[1].size();
}

bool ChunkEncoder::full() const {
  return tables_.slots() > kMaxTableSlots / 4 || tables_.columns() > kMaxTableColumns / 4 ||
         expanded_slots_ > kMaxChunkSlots / 4;
}

std::uint32_t ChunkEncoder::find_path(std::span<const ExitId> exits, std::uint64_t hash) const {
  const std::vector<Index::Entry>& entries = path_index_.entries;
  if (entries.empty()) return IdMap::kNone;
  for (std::size_t at = hash & (entries.size() - 1);; at = (at + 1) & (entries.size() - 1)) {
    const Index::Entry& entry = entries[at];
    if (entry.number == IdMap::kNone) return IdMap::kNone;
    if (entry.hash == hash && equal(tables_.path(entry.number).shape.exits, exits)) return entry.number;
  }
}

/// Adds a path to the tables and the definitions.
std::uint32_t ChunkEncoder::define_path(std::span<const ExitId> exits, std::uint64_t hash) {
  definitions_.varint(exits.size());
  for (const ExitId exit : exits) {
    definitions_.varint(followers_.guess() == exit ? 0 : 1 + zigzag(std::uint64_t{exit} - followers_.last()));
    followers_.learn(exit);
  }
  const std::uint32_t number = tables_.add_path(exits, shapes_);
  path_index_.add(hash, number);
  return number;
}

std::uint32_t ChunkEncoder::find_loop(std::span<const std::uint32_t> paths, std::uint64_t hash) const {
  const std::vector<Index::Entry>& entries = loop_index_.entries;
  if (entries.empty()) return IdMap::kNone;
  for (std::size_t at = hash & (entries.size() - 1);; at = (at + 1) & (entries.size() - 1)) {
    const Index::Entry& entry = entries[at];
    if (entry.number == IdMap::kNone) return IdMap::kNone;
    if (entry.hash == hash && equal(tables_.loop(entry.number).paths, paths)) return entry.number;
  }
}

/// Says which known item comes, unless that is the guess.
std::uint8_t ChunkEncoder::announce(std::uint32_t item) {
  const bool guessed = next_item_.guess() == item;
  if (!guessed) definitions_.varint(kKnownItem + item);
  next_item_.learn(item);
  return guessed ? 0 : kOtherItem;
}

void ChunkEncoder::literal(std::span<const ExitId> exits, std::span<const std::uint64_t> slots) {
  const std::uint64_t hash = hash_of(exits);
  std::uint32_t path = find_path(exits, hash);
  std::uint8_t flags = kOtherItem;
  if (path == IdMap::kNone) [[unlikely]] {
    definitions_.varint(kNewPath);
    path = define_path(exits, hash);
    next_item_.learn(2 * path);
  } else {
    flags = announce(2 * path);
  }
  expanded_slots_ += slots.size();
  if (literal_values(path, SlotClass::kControl, slots.data())) flags |= kControlValues;
  if (literal_values(path, SlotClass::kData, slots.data())) flags |= kDataValues;
  items_.push_back(flags);
}

/// Codes the path's slots of one class; false, and nothing is written, if all are as guessed.
bool ChunkEncoder::literal_values(std::uint32_t path, SlotClass slot_class, const std::uint64_t* slots) {
  SlotRows& rows = rows_[index_of(slot_class)];
  ValueWriter& out = values_[index_of(slot_class)];
  const std::span<const RunTables::Step> steps = tables_.steps(path, slot_class, shapes_, rows);
  if (steps.empty()) return false;
  SlotPredictor* const predictors = rows.data();
  std::uint64_t* next = rows.history().reserve(steps.size());
  ValueWriter::Pen pen = out.take(steps.size());
  bool any = false;
  for (const RunTables::Step& step : steps) {
    *next = slots[step.slot];
    any |= pen.slot(predictors[step.predictor], next++);
  }
  rows.history().advance(steps.size());
  if (any) out.give_back(pen);
  return any;
}

/// The number of the run's loop; says which it is.
std::uint32_t ChunkEncoder::loop_number(const Run& run, std::uint8_t& flags) {
  numbers_.clear();
  bool known = true;
  for (const RunPath& path : run.paths) {
    numbers_.push_back(find_path(path.exits, hash_of(path.exits)));
    known &= numbers_.back() != IdMap::kNone;
  }
  if (known) {
    const std::uint32_t number = find_loop(numbers_, hash_of(numbers_));
    if (number != IdMap::kNone) {
      flags = announce(2 * number + 1);
      return number;
    }
  }
  flags = kOtherItem;
  definitions_.varint(kNewLoop);
  definitions_.varint(run.paths.size());
  for (std::size_t i = 0; i < numbers_.size(); ++i) {
    if (numbers_[i] != IdMap::kNone) {
      definitions_.varint(std::uint64_t{numbers_[i]} + 1);
    } else {
      definitions_.varint(0);
      numbers_[i] = define_path(run.paths[i].exits, hash_of(run.paths[i].exits));
    }
  }
  const std::uint32_t number = tables_.add_loop(numbers_, run.paths, run.columns);
  loop_index_.add(hash_of(numbers_), number);
  next_item_.learn(2 * number + 1);
  return number;
}

void ChunkEncoder::loop(const Run& run, std::span<const std::uint64_t> rows) {
  std::uint8_t flags = 0;
  RunTables::Loop& loop = tables_.loop(loop_number(run, flags));
  if (loop.iterations.guess() != run.iterations) {
    definitions_.signed_varint(run.iterations - loop.iterations.guess());
    flags |= kOtherCount;
  }
  loop.iterations.learn(run.iterations);
  if (!run.sequence.empty()) {
    sequence(run);
    flags |= kSequence;
  }
  if (column_values(loop, SlotClass::kControl, run, rows)) flags |= kControlValues;
  if (column_values(loop, SlotClass::kData, run, rows)) flags |= kDataValues;
  items_.push_back(flags);
}

/// Codes the loop's columns of one class; false, and nothing is written, if all are regular and as guessed.
bool ChunkEncoder::column_values(RunTables::Loop& loop, SlotClass slot_class, const Run& run,
                                 std::span<const std::uint64_t> rows) {
  const std::size_t irregular = rows.empty() ? 0 : irregular_.collect(run, rows, loop, slot_class);
  expanded_slots_ += irregular;
  ValueWriter& out = values_[index_of(slot_class)];
  ValueWriter::Pen pen = out.take(4 * run.columns.size() + irregular);
  bool any = false;
  for (std::size_t i = 0; i < run.columns.size(); ++i) {
    RunTables::Column& memory = loop.columns[i];
    const RunColumn& column = run.columns[i];
    if (memory.slot_class != slot_class) continue;
    if (column.kind == RunColumn::Kind::kIrregular) {
      irregular_column(pen, memory, i);
      continue;
    }
    const std::uint64_t start_difference = column.start - memory.start.guess();
    const std::uint64_t stride_difference = column.stride - memory.stride;
    const std::uint8_t code = static_cast<std::uint8_t>((start_difference != 0 ? kOtherStart : 0) |
                                                        (stride_difference != 0 ? kOtherStride : 0));
    pen.code(code);
    if ((code & kOtherStart) != 0) pen.difference(start_difference);
    if ((code & kOtherStride) != 0) pen.difference(stride_difference);
    any |= code != 0;
    memory.start.learn(column.start);
    memory.stride = column.stride;
  }
  if (!any && irregular == 0) return false;
  out.give_back(pen);
  if (irregular == 0) return true;
  History& history = rows_[index_of(slot_class)].history();
  for (std::size_t i = 0; i < run.columns.size(); ++i) {
    if (loop.columns[i].slot_class == slot_class && run.columns[i].kind == RunColumn::Kind::kIrregular)
      history.push(irregular_.last_value(i));
  }
  return true;
}

void ChunkEncoder::irregular_column(ValueWriter::Pen& pen, RunTables::Column& memory, std::size_t column) {
  const IrregularColumns::Choice choice = irregular_.choose(column, memory);
  const Relation& relation = choice.relation;
  const bool other = relation.distance != memory.relation.distance || relation.shift != memory.relation.shift;
  if (relation.distance == 0) {
    pen.code(kPlain);
    pen.differences(memory.values, choice.values);
    return;
  }
  const bool other_delta = relation.delta != memory.relation.delta;
  if (choice.follows) {
    pen.code(other ? kFollowsOther : other_delta ? kFollowsDelta : kFollows);
  } else {
    pen.code(other ? kRestsOther : kRests);
  }
  if (other) pen.number(relation.distance - 1u + History::kReach * relation.shift);
  if (!choice.follows) {
    pen.differences(memory.values, choice.values);
  } else {
    if (other || other_delta) pen.difference(relation.delta - memory.relation.delta);
    pen.difference(choice.values[0] - memory.start.guess());
    memory.start.learn(choice.values[0]);
  }
  memory.relation = relation;
}

void ChunkEncoder::sequence(const Run& run) {
  const unsigned bits = sequence_bits(run.paths.size());
  const std::size_t per_byte = 8 / bits;
  std::uint8_t* to = sequences_.extend((run.sequence.size() + per_byte - 1) / per_byte);
  for (std::size_t i = 0; i < run.sequence.size(); i += per_byte) {
    unsigned byte = 0;
    const std::size_t end = std::min(per_byte, run.sequence.size() - i);
    for (std::size_t k = 0; k < end; ++k) byte |= static_cast<unsigned>(run.sequence[i + k]) << (k * bits);
    *to++ = static_cast<std::uint8_t>(byte);
  }
}

void ChunkEncoder::finish(std::uint64_t first_position, std::span<const SliceEvents> slices, ByteWriter& control,
                          ByteWriter& data) const {
  control.varint(first_position);
  control.varint(slices.size());
  std::uint64_t slice = 0;
  for (const SliceEvents& part : slices) {
    control.varint(part.slice - slice);
    control.varint(part.events);
    slice = part.slice;
  }
  for (const std::span<const std::uint8_t> stream :
       {std::span<const std::uint8_t>(items_), definitions_.bytes(), sequences_.bytes()}) {
    control.varint(stream.size());
    control.raw(stream);
  }
  values_[index_of(SlotClass::kControl)].finish(control);
  const ValueWriter& others = values_[index_of(SlotClass::kData)];
  if (!others.empty()) others.finish(data);
}

}  // namespace loopfold::trace
