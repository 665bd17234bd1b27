// The published algorithm on random nests: every variant keeps the contract of fold.h at every point.
#include <gtest/gtest.h>

#include <array>
#include <random>

#include "fold/stream_for_tests.h"

namespace loopfold::fold {
namespace {

using namespace fold::point_lists;

/// Random nests of affine bounds, perhaps with holes, and labels of many kinds: the contract holds at every point.
class RandomNest {
 public:
  explicit RandomNest(std::uint64_t seed) : random_(seed) {}

  Stream make() {
    Stream stream;
    stream.shape.dimensions = static_cast<std::uint16_t>(1 + pick(4));
    stream.shape.outputs = static_cast<std::uint16_t>(pick(3));
    stream.shape.shared = static_cast<std::uint16_t>(pick(1 + std::min(stream.shape.dimensions, stream.shape.outputs)));
    d_ = stream.shape.dimensions;
    size_ = d_ <= 2 ? 9 : d_ == 3 ? 5 : 4;
    holes_ = pick(3) == 0 ? 2 + pick(12) : 0;
    bounds_.assign(d_, {});
    for (std::size_t k = 0; k < d_; ++k) {
      bounds_[k].lower = affine(k, pick(3) == 0 ? 2 : 0);
      bounds_[k].upper = affine(k, pick(2) == 0 ? 2 : 0);
      bounds_[k].upper.constant += size_ - 1 - (pick(4) == 0 ? size_ - 1 : 0);
    }
    kinds_.clear();
    functions_.clear();
    for (std::size_t o = 0; o < stream.shape.outputs; ++o) {
      kinds_.push_back(pick(6));
      functions_.push_back(affine(d_, 9));
      masks_.push_back(pick(std::size_t{1} << d_));
    }
    Vector point;
    walk(stream, point);
    return stream;
  }

 private:
  std::size_t pick(std::size_t below) { return random_() % below; }

  Affine affine(std::size_t coefficients, std::int64_t reach) {
    Affine function;
    for (std::size_t k = 0; k < coefficients; ++k)
      function.coefficients.push_back(reach == 0 ? 0 : static_cast<std::int64_t>(pick(2 * reach - 1)) - (reach - 1));
    function.constant = static_cast<std::int64_t>(pick(2));
    return function;
  }

  static std::int64_t value(const Affine& function, const Vector& point) {
    std::int64_t sum = function.constant;
    for (std::size_t k = 0; k < function.coefficients.size(); ++k) sum += function.coefficients[k] * point[k];
    return sum;
  }

  /// Something that depends on the coordinates in `mask` only.
  std::int64_t noise(std::size_t mask, const Vector& point, std::uint64_t range) const {
    std::uint64_t hash = 12345;
    for (std::size_t k = 0; k < d_; ++k)
      if ((mask >> k & 1) != 0)
        hash = (hash ^ static_cast<std::uint64_t>(point[k])) * 0x9e3779b97f4a7c15 + (hash >> 31);
    return static_cast<std::int64_t>((hash >> 33) % range);
  }

  std::int64_t label(std::size_t o, const Vector& point) {
    const std::int64_t regular = value(functions_[o], point);
    switch (kinds_[o]) {
      case 0:
        return regular;
      case 1:  // irregular along some dimensions
        return regular + noise(masks_[o], point, 1000);
      case 2:  // the same, but often regular by chance
        return regular + noise(masks_[o], point, 2);
      case 3:  // a few exceptions
        return regular + (pick(20) == 0 ? 1 : 0);
      case 4:  // two parts
        return point[0] < 2 ? regular : 3 * regular;
      default:
        return static_cast<std::int64_t>(pick(2));
    }
  }

  void walk(Stream& stream, Vector& point) {
    const std::size_t k = point.size();
    if (k == d_) {
      if (holes_ != 0 && pick(holes_) == 0) return;
      Vector labels;
      for (std::size_t o = 0; o < stream.shape.outputs; ++o) labels.push_back(label(o, point));
      stream.add(point, labels);
      return;
    }
    const std::int64_t low = std::clamp<std::int64_t>(value(bounds_[k].lower, point), -4, 12);
    const std::int64_t high = std::clamp<std::int64_t>(value(bounds_[k].upper, point), -4, 12);
    for (std::int64_t x = low; x <= high; ++x) {
      point.push_back(x);
      walk(stream, point);
      point.pop_back();
    }
  }

  std::mt19937_64 random_;
  std::size_t d_ = 0;
  std::int64_t size_ = 0;
  std::size_t holes_ = 0;
  std::vector<Range> bounds_;
  std::vector<std::size_t> kinds_;
  std::vector<Affine> functions_;
  std::vector<std::size_t> masks_;
};

TEST(Published, random_nests_keep_the_contract) {
  for (std::uint64_t i = 0; i < 3000 * soak(); ++i) {
    const std::uint64_t seed = first_seed() + i;
    const Stream stream = RandomNest(seed).make();
    for (const Variant variant : kVariants) {
      const Folded folded = fold(stream, variant);
      check(stream, folded);
      EXPECT_TRUE(variant != Variant::kF || folded.exact());
      EXPECT_TRUE(variant != Variant::kFW || !folded.gave_up);
      EXPECT_TRUE(variant != Variant::kFGG || folded.gave_up || folded.exact());
      EXPECT_TRUE(!folded.gave_up || folded.pieces.size() == 1u);
      ASSERT_FALSE(HasFailure()) << "seed " << seed << " variant " << variant_name(variant);
    }
  }
}

/// Nothing wraps: coordinates near the ends of 64 bits, labels that differ by nearly 2^64.
TEST(Published, random_nests_of_large_numbers_keep_the_contract) {
  for (std::uint64_t i = 0; i < 1000 * soak(); ++i) {
    const std::uint64_t seed = first_seed() + i;
    Stream stream = RandomNest(seed).make();
    std::mt19937_64 random(seed);
    for (std::size_t k = 0; k < stream.shape.dimensions; ++k) {
      const std::int64_t offset = std::array{std::int64_t{0}, kMost - 12, kLeast + 4, kMost / 2}[random() % 4];
      for (Vector& point : stream.points) point[k] += offset;
    }
    for (std::size_t o = 0; o < stream.shape.outputs; ++o) {
      const std::int64_t factor = std::int64_t{1} << (50 + random() % 14);
      for (Vector& labels : stream.labels)
        labels[o] = static_cast<std::int64_t>(std::clamp<Wide>(static_cast<Wide>(factor) * labels[o], kLeast, kMost));
    }
    for (const Variant variant : kVariants) {
      check(stream, fold(stream, variant));
      ASSERT_FALSE(HasFailure()) << "seed " << seed << " variant " << variant_name(variant);
    }
  }
}

}  // namespace
}  // namespace loopfold::fold
