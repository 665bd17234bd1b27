// Several points of one label at once.
//
// What the points have to do with each other is found once for all labels of a stream (Moves). The claims of a label
// share nothing: each is followed through all points by itself, and what it says in the end is what it would say had
// the points come one by one, since a claim that is refuted stays so. A prefix goes from one end of a row to the next
// without asking; as most rows are longer than what comes at once, that is a loop of a few instructions.
#include <array>
#include <bit>

#include "fold/adaptive_fit.h"

namespace loopfold::fold::adaptive {

namespace {

std::uint64_t first_bits(std::size_t n) { return n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1; }

}  // namespace

template <std::size_t kDimensions>
bool Moves::set_for(std::uint64_t follows) {
  const std::size_t all = kDimensions != 0 ? kDimensions : dimensions;
  const std::size_t inner = all - 1;
  std::array<std::uint64_t, kMostDimensions> changes{};  // by dimension: points before which it is the first to change
  const std::int64_t* from = before;
  const std::int64_t* point = points;
  bool large = false;
  for (std::size_t i = 0; i < n; ++i, from = point, point += all) {
    if (i != 0 && (follows >> i & 1) != 0) {
      hashes[i] = inner + hash_of(inner, 1);
      first[i] = static_cast<std::uint8_t>(inner);
      changes[inner] |= std::uint64_t{1} << i;
      continue;
    }
    std::size_t number = 0;
    while (number < inner && point[number] == from[number]) ++number;
    std::uint64_t hash = number;
    const auto add = [&](std::size_t k) __attribute__((always_inline)) {
      std::int64_t step = 0;
      large |= __builtin_sub_overflow(point[k], from[k], &step);
      hash += hash_of(k, step);
    };
    if (kDimensions != 0 && kDimensions <= 3)
      for_all(all, add);
    else  // what does not change adds nothing
      for (std::size_t k = number; k < all; ++k) add(k);
    hashes[i] = hash;
    first[i] = static_cast<std::uint8_t>(number);
    changes[number] |= std::uint64_t{1} << i;
  }
  std::uint64_t so_far = 0;
  for (std::size_t k = 0; k < all; ++k) {
    outside[k] = so_far;
    so_far |= changes[k];
  }
  return !large;
}

bool Moves::set(const std::int64_t* all, const std::int64_t* last, std::size_t in, std::size_t count,
                std::uint64_t follows) {
  points = all;
  before = last;
  dimensions = in;
  n = count;
  switch (in) {
    case 1:
      return set_for<1>(follows);
    case 2:
      return set_for<2>(follows);
    case 3:
      return set_for<3>(follows);
    case 4:
      return set_for<4>(follows);
    case 5:
      return set_for<5>(follows);
    case 6:
      return set_for<6>(follows);
    case 7:
      return set_for<7>(follows);
    default:
      return set_for<0>(follows);
  }
}

void LabelFit::add_rows(const Moves& moves, const std::int64_t* labels, std::size_t stride) {
  if (!claims_) return;
  std::array<std::int64_t, Moves::kMost> differences;
  bool large = false;
  std::int64_t before = label_;
  const std::int64_t* label = labels;
  for (std::size_t i = 0; i < moves.n; ++i, label += stride) {
    large |= __builtin_sub_overflow(*label, before, &differences[i]);
    before = *label;
  }
  if (large) return refute();
  if (first_ < dimensions_) learn_rows(moves, differences.data());
  if (claims_ && prefixes_ != 0) follow_rows(moves, labels, stride, differences.data());
  label_ = before;
}

/// As explained(), for one of several moves.
inline bool LabelFit::explains(const Moves& moves, std::size_t i, std::int64_t difference) const {
  const std::size_t first = moves.first[i];
  const std::int64_t* const point = moves.points + i * moves.dimensions;
  const std::int64_t* const from = i == 0 ? moves.before : point - moves.dimensions;
  const std::int64_t* const numerators = ready_.data();
  Wide sum = 0;
  for (std::size_t k = first; k < dimensions_; ++k) {
    const std::int64_t step = point[k] - from[k];
    if (step == 0) continue;
    if (known_until_[k] <= first) return false;
    sum += static_cast<Wide>(numerators[k]) * step;
  }
  return sum == static_cast<Wide>(divisor_) * difference;
}

/// Suffixes.
void LabelFit::learn_rows(const Moves& moves, const std::int64_t* differences) {
  std::array<std::int64_t, kMostDimensions> steps;
  for (std::uint64_t rest = first_bits(moves.n) & ~moves.outside[first_]; rest != 0;) {
    const auto i = static_cast<std::size_t>(std::countr_zero(rest));
    rest &= rest - 1;
    if (explains(moves, i, differences[i])) continue;
    const Move move = moves.at(i, steps.data());
    learn(move.first, move, differences[i]);
    if (!claims_ || first_ == dimensions_) return;
    rest &= ~moves.outside[first_];
  }
}

/// Prefixes.
void LabelFit::follow_rows(const Moves& moves, const std::int64_t* labels, std::size_t stride,
                           const std::int64_t* differences) {
  std::array<std::uint64_t, Moves::kMost> here;
  for (std::size_t i = 0; i < moves.n; ++i) here[i] = moves.hashes[i] + hash_of(dimensions_, differences[i]);
  for (std::uint32_t rest = prefixes_; rest != 0; rest &= rest - 1) {
    const auto q = static_cast<std::size_t>(std::countr_zero(rest));
    std::uint64_t starts = moves.outside[q] & first_bits(moves.n);
    for (std::size_t i = 0;;) {
      const std::size_t end = starts != 0 ? static_cast<std::size_t>(std::countr_zero(starts)) : moves.n;
      auto hash = static_cast<std::uint64_t>(hashes()[q]);
      for (; i < end; ++i) hash = mixed(hash, here[i]);
      hashes()[q] = static_cast<std::int64_t>(hash);
      if (i == moves.n) break;
      std::array<std::int64_t, kMostDimensions> steps;
      label_ = labels[i * stride];
      if (!start_row(q, moves.at(i, steps.data()))) {
        prefixes_ &= ~(std::uint32_t{1} << q);
        break;
      }
      ++i;
      starts &= starts - 1;
    }
  }
  refute_if_done();
}

}  // namespace loopfold::fold::adaptive
