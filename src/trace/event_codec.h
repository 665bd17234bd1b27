// The events of one thread in one group as bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "support/result.h"
#include "trace/bytes.h"
#include "trace/codec.h"
#include "trace/types.h"

namespace loopfold::trace {

/// `events` consecutive events of a thread, all in one slice.
struct SliceRun {
  std::uint64_t slice = 0;
  std::uint64_t events = 0;
  friend bool operator==(const SliceRun&, const SliceRun&) = default;
};

/// What a chunk of events holds, one flat array per column. Slots of consecutive events follow one another.
struct EventColumns {
  std::uint64_t first_position = 0;  // of the first event among the thread's events
  std::vector<SliceRun> runs;
  std::vector<ExitId> exits;
  std::vector<std::uint64_t> slots;
};

/// Guesses the next value of every slot of every block: last + stride, where the stride is the last difference that was
/// seen twice running. Rows are handed out when a block is first met, so that a reset costs what was used.
class SlotPredictors {
 public:
  struct Slot {
    std::uint64_t last = 0;
    std::uint64_t stride = 0;
    std::uint64_t difference = 0;

    std::uint64_t guess() const { return last + stride; }
    void learn(std::uint64_t value) {
      const std::uint64_t step = value - last;
      stride = step == difference ? step : stride;
      difference = step;
      last = value;
    }
  };

  /// Forgets everything; blocks below `blocks` can be asked for.
  void reset(std::size_t blocks);
  /// The predictors of the block's first `slots` slots; valid until the next call.
  Slot* row(const ExitShape& shape) {
    const Place& place = places_[shape.block];
    if (place.capacity < shape.slots) [[unlikely]]
      grow(shape);
    return slots_.data() + place.base;
  }

 private:
  struct Place {
    std::uint32_t base = 0;
    std::uint32_t capacity = 0;
  };
  void grow(const ExitShape& shape);

  std::vector<Place> places_;  // by block
  std::vector<Slot> slots_;
  std::vector<BlockId> used_;
};

/// Guesses that an exit is followed by what followed it last time.
class ExitPredictor {
 public:
  static constexpr ExitId kUnknown = 0xffffffff;

  void reset(std::size_t exits);
  ExitId guess() const { return guess_; }
  /// The exit that came; the guess is then for the one after it.
  void learn(ExitId exit) {
    if (guess_ != exit) correct(exit);
    previous_ = exit;
    guess_ = successor_[exit];
  }

 private:
  void correct(ExitId exit);

  std::vector<ExitId> successor_;
  std::vector<ExitId> used_;
  ExitId previous_ = kUnknown;
  ExitId guess_ = kUnknown;
};

class EventEncoder {
 public:
  /// Appends the payload to `out`. The caller has checked ids and slot counts against `shapes`.
  void encode(std::uint64_t first_position, std::span<const SliceRun> runs, std::span<const ExitId> exits,
              std::span<const std::uint64_t> slots, const Shapes& shapes, ByteWriter& out);

 private:
  std::span<const std::uint8_t> encode_exits(std::span<const ExitId> exits, const Shapes& shapes);
  std::span<const std::uint8_t> encode_slots(std::span<const ExitId> exits, std::span<const std::uint64_t> slots,
                                             const Shapes& shapes);
  ExitPredictor next_exit_;
  SlotPredictors next_slot_;
  std::vector<std::uint8_t> scratch_;
};

class EventDecoder {
 public:
  /// Replaces `to` by the `events` events in `payload`, or says why it cannot be what an encoder wrote. Only the first
  /// `known_exits` exits may occur. Exact, with memory in proportion to the payload and `events`.
  Result<void> decode(std::span<const std::uint8_t> payload, std::uint64_t events, const Shapes& shapes,
                      std::size_t known_exits, EventColumns& to);

 private:
  bool decode_runs(ByteReader& in, std::uint64_t events, std::vector<SliceRun>& runs);
  bool decode_exits(ByteReader in, std::uint64_t events, std::size_t known_exits, std::vector<ExitId>& exits);
  bool decode_slots(std::span<const std::uint8_t> bytes, std::span<const ExitId> exits, const Shapes& shapes,
                    std::vector<std::uint64_t>& slots);
  ExitPredictor next_exit_;
  SlotPredictors next_slot_;
};

}  // namespace loopfold::trace
