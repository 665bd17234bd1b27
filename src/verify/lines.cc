#include "verify/lines.h"

namespace loopfold::verify {

void Line::restart(std::uint64_t serial, std::span<const std::uint64_t> counters, std::int64_t value) {
  if (steps_.size() == 1 && finished_.size() < kMostEntries) finished_.push_back(current());
  serial_ = serial;
  last_ = counters[0];
  iterations_ = 1;
  start_ = value;
  steps_.assign(counters.size(), {});
  for (std::size_t i = 0; i < counters.size(); ++i) steps_[i].start = counters[i];
}

void Line::add(std::uint64_t serial, std::span<const std::uint64_t> counters, std::int64_t value) {
  if (serial_ != serial || steps_.size() != counters.size()) return restart(serial, counters, value);
  if (counters[0] != last_) {
    if (counters[0] != last_ + 1) gapless_ = false;
    last_ = counters[0];
    if (++iterations_ >= 3) told_ = true;
  }
  if (value != start_) same_ = false;
  if (even_) even_ = fits(counters, value);
}

bool Line::fits(std::span<const std::uint64_t> counters, std::int64_t value) {
  auto expected = static_cast<std::uint64_t>(start_);
  Step* unknown = nullptr;
  std::uint64_t moved = 0;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    Step& step = steps_[i];
    const std::uint64_t by = counters[i] - step.start;
    if (by == 0) continue;
    if (step.known) {
      expected += by * static_cast<std::uint64_t>(step.step);
      continue;
    }
    if (unknown != nullptr) return false;
    unknown = &step;
    moved = by;
  }
  const auto rest = static_cast<std::int64_t>(static_cast<std::uint64_t>(value) - expected);
  if (unknown == nullptr) return rest == 0;
  if (static_cast<std::int64_t>(moved) == 0 || rest % static_cast<std::int64_t>(moved) != 0) return false;
  unknown->step = rest / static_cast<std::int64_t>(moved);
  unknown->known = true;
  return true;
}

Line::Entry Line::current() const {
  const auto offset = static_cast<std::uint64_t>(start_) -
                      static_cast<std::uint64_t>(steps_[0].step) * steps_[0].start;
  return {serial_, steps_[0].step, static_cast<std::int64_t>(offset), steps_[0].start, last_, iterations_};
}

std::vector<Line::Entry> Line::entries() const {
  if (steps_.size() != 1) return {};
  std::vector<Entry> all = finished_;
  if (all.size() < kMostEntries) all.push_back(current());
  return all;
}

}  // namespace loopfold::verify
