// Reads the runs of a chunk; see run_decoder.h.
#include "trace/run_decoder.h"

#include <algorithm>
#include <limits>

#include "trace/format.h"

namespace loopfold::trace {
namespace {

constexpr std::size_t index_of(SlotClass slot_class) { return static_cast<std::size_t>(slot_class); }
constexpr const char* kBadItems = "malformed items";
constexpr const char* kBadDefinitions = "malformed paths or loops";
constexpr const char* kBadSequences = "malformed sequences of paths";
constexpr const char* kBadValues = "malformed values";

}  // namespace

Result<void> ChunkDecoder::begin(const Chunk& chunk) {
  thread_ = chunk.thread;
  known_exits_ = chunk.known_exits;
  control_only_ = chunk.control_only;
  problem_ = nullptr;
  tables_.clear();
  for (SlotRows& rows : rows_) rows.clear();
  next_item_.clear();
  followers_.clear();
  expanded_slots_ = 0;

  ByteReader in(chunk.control);
  first_position_ = position_ = in.varint();
  slice_ = 0;
  slice_left_ = 0;
  events_left_ = chunk.events;
  if (chunk.events > kMaxGroupEvents || !decode_slices(in, chunk.events))
    return loopfold::fail(ErrorKind::kBadInput, "slices and events do not match");
  items_ = ByteReader(in.raw(in.count(1)));
  definitions_ = ByteReader(in.raw(in.count(1)));
  sequences_ = ByteReader(in.raw(in.count(1)));
  readers_[index_of(SlotClass::kControl)] = ValueReader(in, codes_[index_of(SlotClass::kControl)]);
  bool sound = in.ok() && readers_[index_of(SlotClass::kControl)].ok();
  readers_[index_of(SlotClass::kData)] = {};
  if (!chunk.data.empty()) {
    ByteReader data(chunk.data);
    readers_[index_of(SlotClass::kData)] = ValueReader(data, codes_[index_of(SlotClass::kData)]);
    sound &= readers_[index_of(SlotClass::kData)].ok();
  }
  if (!sound) return loopfold::fail(ErrorKind::kBadInput, "the parts of the chunk do not fill it");
  return {};
}

bool ChunkDecoder::decode_slices(ByteReader& in, std::uint64_t events) {
  slices_.resize(in.count(2));
  std::uint64_t slice = 0;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < slices_.size(); ++i) {
    const std::uint64_t step = in.bounded(std::numeric_limits<std::uint64_t>::max() - slice);
    if (step == 0 && i != 0) return false;
    slice += step;
    slices_[i] = {slice, in.bounded(events - total)};
    if (slices_[i].events == 0) return false;
    total += slices_[i].events;
  }
  return in.ok() && total == events && events != 0;
}

bool ChunkDecoder::next(Run& run) {
  if (problem_ != nullptr || events_left_ == 0) return false;
  if (slice_left_ == 0) slice_left_ = slices_[slice_++].events;
  const std::uint8_t flags = items_.byte();
  std::uint32_t item = 0;
  if (!items_.ok()) return fail(kBadItems);
  if (!next_item(flags, item)) return false;
  run.thread = thread_;
  run.slice = slices_[slice_ - 1].slice;
  run.position = position_;
  const bool sound = item % 2 == 0 ? literal(flags, item / 2, run) : loop(flags, tables_.loop(item / 2), run);
  if (!sound) return false;
  position_ += run.events;
  slice_left_ -= run.events;
  events_left_ -= run.events;
  return events_left_ != 0 || consumed() || fail("more runs than events");
}

bool ChunkDecoder::consumed() const {
  return items_.at_end() && definitions_.at_end() && sequences_.at_end() &&
         readers_[index_of(SlotClass::kControl)].at_end() &&
         (control_only_ || readers_[index_of(SlotClass::kData)].at_end());
}

/// Which item comes: a path or a loop of the tables, which it may be the first to enter.
bool ChunkDecoder::next_item(std::uint8_t flags, std::uint32_t& item) {
  if ((flags & kOtherItem) == 0) {
    item = next_item_.guess();
    if (item == ItemPredictor::kNone) return fail(kBadItems);
  } else {
    const std::uint64_t code = definitions_.varint();
    std::uint32_t number = 0;
    if (code == kNewPath) {
      if (!new_path(number)) return fail(kBadDefinitions);
      item = 2 * number;
    } else if (code == kNewLoop) {
      if (!new_loop(number)) return fail(kBadDefinitions);
      item = 2 * number + 1;
    } else {
      const std::uint64_t known = code - kKnownItem;
      if (!definitions_.ok() || known / 2 >= (known % 2 == 0 ? tables_.path_count() : tables_.loop_count()))
        return fail(kBadDefinitions);
      item = static_cast<std::uint32_t>(known);
    }
  }
  next_item_.learn(item);
  return true;
}

bool ChunkDecoder::new_path(std::uint32_t& number) {
  std::array<ExitId, kMaxPathEvents> exits{};
  const std::size_t length = static_cast<std::size_t>(definitions_.bounded(kMaxPathEvents));
  if (length == 0) return false;
  for (std::size_t i = 0; i < length; ++i) {
    const std::uint64_t code = definitions_.varint();
    const std::uint64_t exit = code == 0 ? std::uint64_t{followers_.guess()} : followers_.last() + unzigzag(code - 1);
    if (!definitions_.ok() || exit >= known_exits_) return false;
    exits[i] = static_cast<ExitId>(exit);
    followers_.learn(exits[i]);
  }
  number = tables_.add_path({exits.data(), length}, shapes_);
  return tables_.slots() <= kMaxTableSlots;
}

bool ChunkDecoder::new_loop(std::uint32_t& number) {
  const std::size_t count = static_cast<std::size_t>(definitions_.bounded(kMaxRunPaths));
  if (count == 0) return false;
  numbers_.assign(count, 0);
  body_.clear();
  for (std::uint32_t& path : numbers_) {
    const std::uint64_t code = definitions_.bounded(tables_.path_count());
    if (!definitions_.ok()) return false;
    if (code != 0) {
      path = static_cast<std::uint32_t>(code - 1);
    } else if (!new_path(path)) {
      return false;
    }
    if (!body_.add(tables_.path(path).shape.exits, shapes_)) return false;
  }
  new_paths_.clear();
  for (std::size_t p = 0; p < count; ++p) new_paths_.push_back({body_.exits(p), body_.columns(p), 0, 0});
  new_columns_.clear();
  for (const RunBody::Column& column : body_.columns()) {
    const bool control = body_.is_control(column);
    const bool skipped = control_only_ && !control;
    new_columns_.push_back({skipped ? RunColumn::Kind::kSkipped : RunColumn::Kind::kRegular,
                            control,
                            column.block,
                            column.slot,
                            0,
                            0,
                            {}});
  }
  number = tables_.add_loop(numbers_, new_paths_, new_columns_);
  return tables_.columns() <= kMaxTableColumns;
}

bool ChunkDecoder::literal(std::uint8_t flags, std::uint32_t path, Run& run) {
  const RunPath& shape = tables_.path(path).shape;
  expanded_slots_ += shape.slots;
  if ((flags & ~(kOtherItem | kControlValues | kDataValues)) != 0 || shape.exits.size() > slice_left_ ||
      expanded_slots_ > kMaxChunkSlots)
    return fail(kBadItems);
  if (slots_.size() < shape.slots) slots_.resize(shape.slots);
  if (!literal_values(path, SlotClass::kControl, (flags & kControlValues) != 0)) return false;
  if (!control_only_ && !literal_values(path, SlotClass::kData, (flags & kDataValues) != 0)) return false;
  literal_path_ = shape;
  run.events = shape.exits.size();
  run.instructions = shape.instructions;
  run.iterations = 1;
  run.paths = {&literal_path_, 1};
  run.sequence = {};
  run.columns = {};
  run.slots = {slots_.data(), static_cast<std::size_t>(shape.slots)};
  return true;
}

/// The literal's slots of one class; `coded`: not all of them are as guessed.
bool ChunkDecoder::literal_values(std::uint32_t path, SlotClass slot_class, bool coded) {
  SlotRows& rows = rows_[index_of(slot_class)];
  const std::span<const RunTables::Step> steps = tables_.steps(path, slot_class, shapes_, rows);
  SlotPredictor* const predictors = rows.data();
  std::uint64_t* next = rows.history().reserve(steps.size());
  std::uint64_t* const slots = slots_.data();
  if (coded) {
    if (steps.empty()) return fail(kBadValues);
    ValueReader reader = readers_[index_of(slot_class)];
    if (reader.has_plenty(steps.size())) [[likely]] {
      for (const RunTables::Step& step : steps) {
        slots[step.slot] = *next = reader.slot<false>(predictors[step.predictor], next);
        ++next;
      }
    } else {
      for (const RunTables::Step& step : steps) {
        slots[step.slot] = *next = reader.slot<true>(predictors[step.predictor], next);
        ++next;
      }
    }
    readers_[index_of(slot_class)] = reader;
    if (!reader.ok()) return fail(kBadValues);
  } else {
    for (const RunTables::Step& step : steps) {
      SlotPredictor& predictor = predictors[step.predictor];
      const std::uint64_t value = predictor.even.guess();
      predictor.even.learn(value);
      predictor.wait = static_cast<std::uint8_t>(predictor.wait - (predictor.wait != 0 ? 1 : 0));
      slots[step.slot] = *next++ = value;
    }
  }
  rows.history().advance(steps.size());
  return true;
}

bool ChunkDecoder::loop(std::uint8_t flags, RunTables::Loop& loop, Run& run) {
  if ((flags & ~(kOtherItem | kControlValues | kDataValues | kOtherCount | kSequence)) != 0) return fail(kBadItems);
  run.iterations = loop.iterations.guess() + ((flags & kOtherCount) != 0 ? definitions_.signed_varint() : 0);
  if (!definitions_.ok() || run.iterations < 2 || run.iterations > slice_left_) return fail(kBadDefinitions);
  loop.iterations.learn(run.iterations);
  if (!sequence(flags, loop.paths.size(), run)) return fail(kBadSequences);
  run.events = run.instructions = 0;
  for (std::size_t p = 0; p < loop.shapes.size(); ++p) {
    run.events += uses_[p] * loop.shapes[p].exits.size();
    run.instructions += uses_[p] * loop.shapes[p].instructions;
  }
  if (run.events > slice_left_) return fail(kBadDefinitions);
  run.paths = loop.shapes;
  values_used_ = 0;
  if (!column_values(loop, SlotClass::kControl, (flags & kControlValues) != 0, run)) return fail(kBadValues);
  if (!control_only_ && !column_values(loop, SlotClass::kData, (flags & kDataValues) != 0, run))
    return fail(kBadValues);
  for (RunColumn& column : loop.view) {
    if (column.kind != RunColumn::Kind::kIrregular) continue;
    column.values = {values_.data() + column.start, static_cast<std::size_t>(column.stride)};
    column.start = column.stride = 0;
  }
  run.columns = loop.view;
  run.slots = {};
  return true;
}

/// Reads the paths of the iterations and counts how often each is used.
bool ChunkDecoder::sequence(std::uint8_t flags, std::size_t paths, Run& run) {
  std::fill_n(uses_.begin(), paths, 0);
  const std::size_t iterations = static_cast<std::size_t>(run.iterations);
  run.sequence = {};
  if ((flags & kSequence) == 0) {
    uses_[0] = iterations - 1;
    ++uses_[paths - 1];
    return paths <= 2;
  }
  const unsigned bits = sequence_bits(paths);
  const std::size_t per_byte = 8 / bits;
  const std::span<const std::uint8_t> bytes = sequences_.raw((iterations + per_byte - 1) / per_byte);
  if (!sequences_.ok()) return false;
  if (sequence_.size() < iterations) sequence_.resize(2 * iterations);
  std::uint8_t* to = sequence_.data();
  const unsigned mask = (1u << bits) - 1;
  std::size_t left = iterations;
  for (const std::uint8_t byte : bytes) {
    unsigned codes = byte;
    for (std::size_t count = std::min(left, per_byte); count > 0; --count, --left, codes >>= bits) {
      const unsigned path = codes & mask;
      if (path >= paths) return false;
      *to++ = static_cast<std::uint8_t>(path);
      ++uses_[path];
    }
  }
  run.sequence = {sequence_.data(), iterations};
  return true;
}

/// The loop's columns of one class. Where an irregular column's values begin in values_, and how many they are, is left
/// in `start` and `stride`: values_ may still grow.
bool ChunkDecoder::column_values(RunTables::Loop& loop, SlotClass slot_class, bool coded, const Run& run) {
  ValueReader& reader = readers_[index_of(slot_class)];
  const std::size_t before = values_used_;
  bool any = false;
  related_ = false;
  for (std::size_t i = 0; i < loop.columns.size(); ++i) {
    RunTables::Column& memory = loop.columns[i];
    if (memory.slot_class != slot_class) continue;
    RunColumn& column = loop.view[i];
    const std::uint8_t code = coded ? reader.code() : 0;
    any = true;
    if (code >= kPlain) {
      std::uint64_t count = 0;
      for (std::size_t p = 0; p < loop.paths.size(); ++p) count += (memory.paths >> p & 1) != 0 ? uses_[p] : 0;
      expanded_slots_ += count;
      column.kind = RunColumn::Kind::kIrregular;
      column.start = values_used_;
      column.stride = count;
      if (values_used_ + count > kMaxRunValues || expanded_slots_ > kMaxChunkSlots || count == 0) return false;
      values_used_ += static_cast<std::size_t>(count);
      if (values_.size() < values_used_) values_.resize(2 * values_used_);
      const std::span<std::uint64_t> values(values_.data() + column.start, static_cast<std::size_t>(count));
      if (!irregular_column(code, reader, memory, values)) return false;
      continue;
    }
    column.kind = RunColumn::Kind::kRegular;
    column.values = {};
    column.start = memory.start.guess() + ((code & kOtherStart) != 0 ? reader.difference() : 0);
    column.stride = memory.stride + ((code & kOtherStride) != 0 ? reader.difference() : 0);
    memory.start.learn(column.start);
    memory.stride = column.stride;
  }
  if (!reader.ok() || (coded && !any)) return false;
  if (values_used_ == before) return true;
  if (related_) relate(loop, slot_class, run);
  History& history = rows_[index_of(slot_class)].history();
  for (std::size_t i = 0; i < loop.columns.size(); ++i) {
    const RunColumn& column = loop.view[i];
    if (loop.columns[i].slot_class == slot_class && column.kind == RunColumn::Kind::kIrregular)
      history.push(values_[column.start + column.stride - 1]);
  }
  return true;
}

/// Reads an irregular column: values, or the first value and rests.
bool ChunkDecoder::irregular_column(std::uint8_t code, ValueReader& reader, RunTables::Column& memory,
                                    std::span<std::uint64_t> values) {
  Relation& relation = memory.relation;
  memory.related = code != kPlain;
  related_ |= memory.related;
  if (code > kRestsOther) return false;
  if (code == kFollowsOther || code == kRestsOther) {
    const std::uint64_t number = reader.number();
    if (number >= History::kReach * Relation::kShifts) return false;
    relation.distance = static_cast<std::uint8_t>(1 + number % History::kReach);
    relation.shift = static_cast<std::uint8_t>(number / History::kReach);
  }
  if (code == kPlain || code == kRests || code == kRestsOther) {
    reader.differences(memory.values, values);
  } else {
    if (code != kFollows) relation.delta += reader.difference();
    values[0] = memory.start.guess() + reader.difference();
    memory.start.learn(values[0]);
    std::fill(values.begin() + 1, values.end(), relation.delta);
  }
  return code == kPlain || relation.distance != 0;
}

/// Lists the irregular columns of one class in the order in which each path has them.
void ChunkDecoder::list_places(RunTables::Loop& loop, SlotClass slot_class) {
  places_.clear();
  for (std::size_t p = 0; p < loop.shapes.size(); ++p) {
    places_at_[p] = places_.size();
    for (const std::uint32_t column : loop.shapes[p].columns) {
      if (loop.columns[column].slot_class == slot_class && loop.view[column].kind == RunColumn::Kind::kIrregular)
        places_.push_back(column);
    }
  }
  places_at_[loop.shapes.size()] = places_.size();
}

/// Makes values from rests, iteration by iteration.
void ChunkDecoder::relate(RunTables::Loop& loop, SlotClass slot_class, const Run& run) {
  list_places(loop, slot_class);
  if (fillings_.size() < loop.columns.size()) fillings_.resize(loop.columns.size());
  for (std::size_t i = 0; i < loop.columns.size(); ++i) {
    const RunTables::Column& memory = loop.columns[i];
    if (memory.slot_class != slot_class || loop.view[i].kind != RunColumn::Kind::kIrregular) continue;
    fillings_[i] = {values_.data() + loop.view[i].start, 0, 0, 1, 0};
    if (memory.related)
      fillings_[i] = {fillings_[i].at, 0, ~std::uint64_t{0}, memory.relation.distance, memory.relation.shift};
  }
  if (stream_.size() < History::kReach + values_used_) stream_.resize(History::kReach + 2 * values_used_);
  Filling* const fillings = fillings_.data();
  std::uint64_t* next = stream_.data() + History::kReach;
  for (std::uint64_t i = 0; i < run.iterations; ++i) {
    const std::size_t path = run.path_of(i);
    const std::uint32_t* const end = places_.data() + places_at_[path + 1];
    for (const std::uint32_t* place = places_.data() + places_at_[path]; place != end; ++place) {
      Filling& filling = fillings[*place];
      const std::uint64_t value = *filling.at + (*(next - filling.distance) << filling.shift & filling.mask);
      filling.mask = filling.full_mask;
      *filling.at++ = value;
      *next++ = value;
    }
  }
}

}  // namespace loopfold::trace
