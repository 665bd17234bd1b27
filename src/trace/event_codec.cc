// The events of one thread in one group as bytes: the bulk of every trace.
//
// Three columns, kept apart because each repeats in its own way:
//   runs     (slice, number of events) pairs: a few per chunk.
//   exits    the next exit is guessed from the previous one ("what followed it last time"). Coded as: number of right
//            guesses, then the exit that was not guessed (as a difference to the one before), and so on. A loop body of
//            any shape without data-dependent branches costs two numbers, however often it runs.
//   slots    each slot of each block has a predictor of its own, shared by the block's exits: last + stride. Coded is
//            the difference between value and guess as a zigzag varint, one after the other: one zero byte for whatever
//            advances evenly or stays the same. The stride follows only when a difference was seen twice in a row, so
//            that the step from one row of a matrix to the next is one surprise and not two.
//
// Example: a[i][j] over 3 rows of 4 doubles at 1000, rows 100 apart: 1000 8 8 0, then 68 0 0 0, then 68 0 0 0.
//
// zstd then sees mostly zeros and short periodic patterns. All arithmetic wraps, so any 64-bit values are exact.
// Predictors start afresh in every chunk: a chunk decodes with nothing but the descriptions.
//
// Cost: a few nanoseconds per slot either way, one table lookup per event and none per slot. Predictor memory is
// bounded by the slots in the chunk, since a row is only as long as an event that was seen.
#include "trace/event_codec.h"

#include <algorithm>
#include <limits>

#include "trace/format.h"

namespace loopfold::trace {
namespace {

tl::unexpected<Error> malformed(const char* reason) { return fail(ErrorKind::kBadInput, reason); }

}  // namespace

void SlotPredictors::reset(std::size_t blocks) {
  for (const BlockId block : used_) places_[block] = {};
  used_.clear();
  slots_.clear();
  if (places_.size() < blocks) places_.resize(blocks);
}

/// Moves the block's row to the end of the table, where it can be longer.
void SlotPredictors::grow(const ExitShape& shape) {
  Place& place = places_[shape.block];
  if (place.capacity == 0) used_.push_back(shape.block);
  const std::size_t base = slots_.size();
  slots_.resize(base + shape.slots);
  std::copy_n(slots_.begin() + place.base, place.capacity, slots_.begin() + static_cast<std::ptrdiff_t>(base));
  place = {static_cast<std::uint32_t>(base), shape.slots};
}

void ExitPredictor::reset(std::size_t exits) {
  for (const ExitId exit : used_) successor_[exit] = kUnknown;
  used_.clear();
  if (successor_.size() < exits) successor_.resize(exits, kUnknown);
  previous_ = guess_ = kUnknown;
}

void ExitPredictor::correct(ExitId exit) {
  if (previous_ == kUnknown) return;
  if (successor_[previous_] == kUnknown) used_.push_back(previous_);
  successor_[previous_] = exit;
}

void EventEncoder::encode(std::uint64_t first_position, std::span<const SliceRun> runs, std::span<const ExitId> exits,
                          std::span<const std::uint64_t> slots, const Shapes& shapes, ByteWriter& out) {
  out.varint(first_position);
  out.varint(runs.size());
  std::uint64_t slice = 0;
  for (const SliceRun& run : runs) {
    out.varint(run.slice - slice);
    out.varint(run.events);
    slice = run.slice;
  }
  const std::span<const std::uint8_t> exit_bytes = encode_exits(exits, shapes);
  out.varint(exit_bytes.size());
  out.raw(exit_bytes);
  out.raw(encode_slots(exits, slots, shapes));
}

std::span<const std::uint8_t> EventEncoder::encode_exits(std::span<const ExitId> exits, const Shapes& shapes) {
  const std::size_t worst = 2 * kMaxVarintBytes * (exits.size() + 1);
  if (scratch_.size() < worst) scratch_.resize(worst);
  std::uint8_t* to = scratch_.data();
  next_exit_.reset(shapes.exits().size());
  std::uint64_t right = 0;
  ExitId previous = 0;
  for (const ExitId exit : exits) {
    if (next_exit_.guess() == exit) {
      ++right;
    } else {
      to = put_varint(to, right);
      to = put_varint(to, zigzag(std::uint64_t{exit} - previous));
      right = 0;
    }
    next_exit_.learn(exit);
    previous = exit;
  }
  if (right != 0) to = put_varint(to, right);
  return {scratch_.data(), to};
}

std::span<const std::uint8_t> EventEncoder::encode_slots(std::span<const ExitId> exits,
                                                         std::span<const std::uint64_t> slots, const Shapes& shapes) {
  const std::size_t worst = kMaxVarintBytes * slots.size();
  if (scratch_.size() < worst) scratch_.resize(worst);
  std::uint8_t* to = scratch_.data();
  const std::span<const ExitShape> known = shapes.exits();
  const std::uint64_t* value = slots.data();
  next_slot_.reset(shapes.block_count());
  for (const ExitId exit : exits) {
    const ExitShape shape = known[exit];
    SlotPredictors::Slot* predictor = next_slot_.row(shape);
    for (const std::uint64_t* end = value + shape.slots; value != end; ++value, ++predictor) {
      to = put_varint(to, zigzag(*value - predictor->guess()));
      predictor->learn(*value);
    }
  }
  return {scratch_.data(), to};
}

Result<void> EventDecoder::decode(std::span<const std::uint8_t> payload, std::uint64_t events, const Shapes& shapes,
                                  std::size_t known_exits, EventColumns& to) {
  ByteReader in(payload);
  to.first_position = in.varint();
  if (events > kMaxGroupEvents || !decode_runs(in, events, to.runs)) return malformed("slices and events do not match");
  const std::span<const std::uint8_t> exit_bytes = in.raw(in.count(1));
  if (!in.ok() || !decode_exits(ByteReader(exit_bytes), events, known_exits, to.exits))
    return malformed("malformed exits");
  next_slot_.reset(shapes.block_count());
  if (!decode_slots(in.raw(in.remaining()), to.exits, shapes, to.slots)) return malformed("malformed slots");
  return {};
}

bool EventDecoder::decode_runs(ByteReader& in, std::uint64_t events, std::vector<SliceRun>& runs) {
  runs.resize(in.count(2));
  std::uint64_t slice = 0;
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const std::uint64_t step = in.bounded(std::numeric_limits<std::uint64_t>::max() - slice);
    if (step == 0 && i != 0) return false;
    slice += step;
    runs[i] = {slice, in.bounded(events - total)};
    if (runs[i].events == 0) return false;
    total += runs[i].events;
  }
  return in.ok() && total == events && events != 0;
}

bool EventDecoder::decode_exits(ByteReader in, std::uint64_t events, std::size_t known_exits,
                                std::vector<ExitId>& exits) {
  exits.resize(events);
  next_exit_.reset(known_exits);
  ExitId previous = 0;
  for (std::uint64_t i = 0; i < events;) {
    const std::uint64_t right = in.bounded(events - i);
    if (!in.ok()) return false;
    for (const std::uint64_t end = i + right; i != end; ++i) {
      previous = next_exit_.guess();
      if (previous == ExitPredictor::kUnknown) return false;
      exits[i] = previous;
      next_exit_.learn(previous);
    }
    if (i == events) break;
    const std::uint64_t exit = previous + in.signed_varint();
    if (!in.ok() || exit >= known_exits) return false;
    exits[i++] = previous = static_cast<ExitId>(exit);
    next_exit_.learn(previous);
  }
  return in.ok() && in.at_end();
}

bool EventDecoder::decode_slots(std::span<const std::uint8_t> bytes, std::span<const ExitId> exits,
                                const Shapes& shapes, std::vector<std::uint64_t>& slots) {
  const std::span<const ExitShape> known = shapes.exits();
  std::uint64_t total = 0;
  for (const ExitId exit : exits) total += known[exit].slots;
  if (total > bytes.size() || total > kMaxChunkSlots) return false;
  slots.resize(total);
  std::uint64_t* value = slots.data();
  const std::uint8_t* from = bytes.data();
  const std::uint8_t* const end = from + bytes.size();
  for (const ExitId exit : exits) {
    const ExitShape shape = known[exit];
    SlotPredictors::Slot* predictor = next_slot_.row(shape);
    for (std::uint64_t* stop = value + shape.slots; value != stop; ++value, ++predictor) {
      std::uint64_t code = 0;
      from = get_varint(from, end, code);
      if (from == nullptr) return false;
      *value = predictor->guess() + unzigzag(code);
      predictor->learn(*value);
    }
  }
  return from == end;
}

}  // namespace loopfold::trace
