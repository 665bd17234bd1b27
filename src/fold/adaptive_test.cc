#include "fold/adaptive.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <limits>

#include "fold/test_points.h"

namespace loopfold::fold {
namespace {

using test_points::check;
using test_points::fold_all;
using test_points::Labelled;
using test_points::Stream;
using test_points::text;
using test_points::Vector;

std::uint64_t random_number(std::uint64_t seed) {
  seed += 0x9e3779b97f4a7c15;
  seed = (seed ^ seed >> 30) * 0xbf58476d1ce4e5b9;
  seed = (seed ^ seed >> 27) * 0x94d049bb133111eb;
  return seed ^ seed >> 31;
}

using Guard = std::function<bool(const Vector&)>;
using Label = std::function<std::int64_t(const Vector&)>;
using Bound = std::function<std::int64_t(const Vector&)>;

struct Loop {
  Bound lower;
  Bound upper;  // inclusive
};

Loop loop(std::int64_t from, std::int64_t to) {
  return {[=](const Vector&) { return from; }, [=](const Vector&) { return to; }};
}

void run(const std::vector<Loop>& loops, const Guard& guard, const std::vector<Label>& labels, Vector& point,
         Stream& into) {
  if (point.size() == loops.size()) {
    if (!guard(point)) return;
    Labelled p{point, {}};
    for (const Label& label : labels) p.labels.push_back(label(point));
    into.points.push_back(std::move(p));
    return;
  }
  const Loop& here = loops[point.size()];
  const std::int64_t last = here.upper(point);
  for (std::int64_t x = here.lower(point); x <= last; ++x) {
    point.push_back(x);
    run(loops, guard, labels, point, into);
    point.pop_back();
  }
}

Stream nest(
    const std::vector<Loop>& loops, const std::vector<Label>& labels = {},
    const Guard& guard = [](const Vector&) { return true; }) {
  Stream stream;
  stream.shape.dimensions = static_cast<std::uint16_t>(loops.size());
  stream.shape.outputs = static_cast<std::uint16_t>(labels.size());
  Vector point;
  run(loops, guard, labels, point, stream);
  return stream;
}

/// Folds, checks, and expects so many pieces, all exact.
Folded expect_exact(const Stream& stream, std::size_t pieces) {
  const Folded folded = fold_all(stream);
  EXPECT_EQ(check(stream, folded), "") << text(folded);
  EXPECT_TRUE(folded.exact()) << text(folded);
  EXPECT_EQ(folded.pieces.size(), pieces) << text(folded);
  return folded;
}

Folded expect_sound(const Stream& stream) {
  const Folded folded = fold_all(stream);
  EXPECT_EQ(check(stream, folded), "") << text(folded);
  return folded;
}

TEST(Adaptive, NoPointAndOnePoint) {
  EXPECT_TRUE(fold_all(Stream{{2, 1, 0}, {}}).pieces.empty());
  expect_exact(Stream{{2, 1, 1}, {{{3, 4}, {7}}}}, 1);
  const Folded nothing = expect_exact(Stream{{0, 1, 0}, {{{}, {7}}}}, 1);
  EXPECT_EQ(nothing.pieces[0].outputs[0].value.constant, 7);
}

TEST(Adaptive, Rectangles) {
  const Folded folded = expect_exact(nest({loop(0, 15), loop(0, 42)}, {[](const Vector& x) { return 67 + 8 * x[1]; },
                                                                       [](const Vector& x) { return x[0]; }}),
                                     1);
  EXPECT_EQ(text(folded.pieces[0].outputs[0].value), "67 + 8*x1");
  EXPECT_EQ(folded.pieces[0].points, 16u * 43);
  expect_exact(nest({loop(0, 0), loop(0, 4), loop(2, 2), loop(0, 3), loop(0, 5)},
                    {[](const Vector& x) { return 100 * x[1] - 7 * x[3] + x[4]; }}),
               1);
}

TEST(Adaptive, TrianglesOfAnySlope) {
  for (const std::int64_t slope : {-3, -2, -1, 1, 2, 3, 5}) {
    const Bound bound = [slope](const Vector& x) { return slope > 0 ? slope * x[0] : 20 + slope * x[0]; };
    expect_exact(nest({loop(0, 6), {[](const Vector&) { return 0; }, bound}},
                      {[](const Vector& x) { return 3 * x[0] + 8 * x[1]; }}),
                 1);
    expect_exact(nest({loop(0, 6), {bound, [](const Vector&) { return 40; }}}), 1);
  }
  expect_exact(nest({loop(0, 9),
                     {[](const Vector& x) { return x[0]; }, [](const Vector&) { return 9; }},
                     {[](const Vector& x) { return x[1]; }, [](const Vector& x) { return x[0] + 2 * x[1]; }}},
                    {[](const Vector& x) { return x[0] + x[1] + x[2]; }}),
               1);
}

TEST(Adaptive, TrianglesDoneSeveralElementsAtATime) {
  for (const std::int64_t width : {2, 3, 4, 8}) {
    const Bound last = [width](const Vector& x) { return (60 - x[0]) / width; };
    const Loop inner{[](const Vector&) { return 0; }, last};
    const auto label = [](const Vector& x) { return 100 * x[0] - 7 * x[1]; };
    const auto pieces = static_cast<std::size_t>(width);
    const Folded folded = expect_exact(nest({loop(0, 59), inner}, {label}), pieces);
    EXPECT_EQ(folded.pieces[0].ranges[1].divisor, width) << text(folded);
    const Loop middle{[](const Vector&) { return 0; }, [](const Vector& x) { return 59 - x[0]; }};
    expect_exact(nest({loop(0, 59), middle, inner}, {label}), pieces);
    const Bound first = [width](const Vector& x) { return x[0] / width; };
    expect_exact(nest({loop(0, 59), {first, [](const Vector&) { return 30; }}}, {label}), pieces);
    expect_exact(nest({loop(0, 59), {first, [=](const Vector& x) { return first(x) + 3 * x[0]; }}}, {label}), pieces);
  }
}

TEST(Adaptive, Strides) {
  for (const std::int64_t stride : {2, 3, 5, 64, 100})
    expect_exact(nest({loop(0, 3), loop(0, 400)}, {[](const Vector& x) { return 8 * x[1]; }},
                      [=](const Vector& x) { return x[1] % stride == 0; }),
                 1);
  expect_exact(nest({loop(0, 30), loop(0, 9)}, {}, [](const Vector& x) { return x[0] % 3 == 0; }), 1);
  expect_exact(nest({loop(0, 30), loop(0, 9)}, {}, [](const Vector& x) { return x[0] % 3 == 1 && x[1] % 2 == 1; }), 1);
}

TEST(Adaptive, RowsThatTakeTurns) {
  expect_exact(nest({loop(0, 10), loop(0, 12)}, {[](const Vector& x) { return x[0] * 13 + x[1]; }},
                    [](const Vector& x) { return (x[0] + x[1]) % 2 == 0; }),
               2);
  expect_exact(nest({loop(0, 40)}, {}, [](const Vector& x) { return x[0] % 4 != 3; }), 3);
  expect_exact(nest({loop(0, 40)}, {}, [](const Vector& x) { return x[0] % 3 != 1; }), 2);
  expect_exact(nest({loop(0, 5), loop(0, 40)}, {}, [](const Vector& x) { return x[1] % 3 != 2; }), 2);
}

TEST(Adaptive, FirstAndLastIterationsAreDifferent) {
  const Label label = [](const Vector& x) {
    return x[1] == 0 ? 1000 + x[0] : x[1] == 20 ? -5 * x[0] : 3 + x[0] + 8 * x[1];
  };
  expect_exact(nest({loop(0, 10), loop(0, 20)}, {label}), 3);
  expect_exact(nest({loop(0, 10), {[](const Vector&) { return 0; }, [](const Vector& x) { return 5 + x[0]; }}},
                    {[](const Vector& x) { return x[1] == 0 ? -1 : 8 * x[1]; }}),
               2);
}

TEST(Adaptive, ModularLabels) {
  const auto modular = [](const Folded& folded) { return folded.pieces[0].outputs[0].modulus; };
  for (const std::int64_t m : {2, 3, 7, 50})
    for (const std::int64_t factor : {1, 3, 8}) {
      if (m == 3 && factor == 3) continue;
      const Stream stream = nest({loop(0, 200)}, {[=](const Vector& x) { return 5 + (factor * x[0]) % m; }});
      if (factor % m == 0) continue;
      EXPECT_EQ(modular(expect_exact(stream, 1)), m) << m << " " << factor;
    }
  EXPECT_EQ(modular(expect_exact(
                nest({loop(0, 9), loop(0, 99)}, {[](const Vector& x) { return 8 * ((x[0] + x[1]) % 10); }}), 1)),
            80);
  EXPECT_EQ(modular(expect_exact(
                nest({loop(0, 9), loop(0, 99)}, {[](const Vector& x) { return 800 * (x[0] % 2) + 8 * x[1]; }}), 1)),
            1600);
}

TEST(Adaptive, TwoModuliAtOnce) {
  const Folded folded = expect_exact(
      nest({loop(0, 60)}, {[](const Vector& x) { return x[0] % 4; }, [](const Vector& x) { return 8 * (x[0] % 2); },
                           [](const Vector& x) { return 3 + 5 * x[0]; }}),
      1);
  EXPECT_EQ(folded.pieces[0].outputs[0].modulus, 4);
  EXPECT_EQ(folded.pieces[0].outputs[1].modulus, 16);
  EXPECT_EQ(folded.pieces[0].outputs[2].modulus, 0);
}

TEST(Adaptive, FractionsOnALattice) {
  const Guard third = [](const Vector& x) { return x[0] % 3 == 1; };
  const Folded one = expect_exact(nest({loop(0, 40)}, {[](const Vector& x) { return 5 + 2 * (x[0] / 3); }}, third), 1);
  EXPECT_EQ(one.pieces[0].outputs[0].divisor, 3);
  EXPECT_EQ(text(one.pieces[0].outputs[0].value), "13 + 2*x0");
  const Stream two = nest(
      {loop(0, 20), loop(0, 20), loop(0, 5)},
      {[](const Vector& x) { return x[0] / 4 + 5 * (x[1] / 6) - x[2]; }, [](const Vector& x) { return x[0] + x[1]; }},
      [](const Vector& x) { return x[0] % 4 == 0 && x[1] % 6 == 0; });
  const Folded both = expect_exact(two, 1);
  EXPECT_EQ(both.pieces[0].outputs[0].divisor, 12);
  EXPECT_EQ(text(both.pieces[0].outputs[0].value), "0 + 3*x0 + 10*x1 + -12*x2");
  EXPECT_EQ(both.pieces[0].outputs[1].divisor, 1);
}

/// A lattice that is not rectangular: rows start at different remainders.
TEST(Adaptive, FractionsOnASkewedLattice) {
  const Folded folded =
      expect_exact(nest({loop(0, 9), loop(0, 30)}, {[](const Vector& x) { return (x[0] + x[1]) / 3; }},
                        [](const Vector& x) { return (x[0] + x[1]) % 3 == 0 && x[1] >= 3 - x[0] % 3; }),
                   3);
  for (const Piece& piece : folded.pieces) {
    EXPECT_EQ(piece.outputs[0].divisor, 3);
    EXPECT_EQ(text(piece.outputs[0].value), "0 + 1*x0 + 1*x1");
  }
}

TEST(Adaptive, FractionsThatWrapAround) {
  const Folded folded = expect_exact(nest({loop(0, 100)}, {[](const Vector& x) { return 7 + (x[0] / 2) % 5; }},
                                          [](const Vector& x) { return x[0] % 2 == 0; }),
                                     1);
  EXPECT_EQ(folded.pieces[0].outputs[0].divisor, 2);
  EXPECT_EQ(folded.pieces[0].outputs[0].modulus, 5);
}

TEST(Adaptive, FractionsInAnIrregularDomain) {
  const Folded folded = expect_sound(
      nest({loop(0, 60), loop(0, 60)},
           {[](const Vector& x) { return x[0] + x[1] / 5; },
            [](const Vector& x) {
              return x[1] / 5 + static_cast<std::int64_t>(random_number(static_cast<std::uint64_t>(x[0])) % 99);
            }},
           [](const Vector& x) {
             return x[1] % 5 == 0 && random_number(static_cast<std::uint64_t>(x[0] * 100 + x[1])) % 3 == 0;
           }));
  ASSERT_EQ(folded.pieces.size(), 1u);
  EXPECT_TRUE(folded.pieces[0].outputs[0].affine());
  EXPECT_EQ(folded.pieces[0].outputs[0].divisor, 5);
  EXPECT_EQ(text(folded.pieces[0].outputs[0].value), "0 + 5*x0 + 1*x1");
  EXPECT_EQ(folded.pieces[0].outputs[1].top, (std::vector<bool>{true, false}));
  EXPECT_EQ(folded.pieces[0].outputs[1].divisor, 5);
}

/// A nest in steps writes an array, a dense one reads it: the reads that find something, and who wrote it.
TEST(Adaptive, StepsWriteAndADenseNestReads) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::uint64_t state = seed * 1000003;
    const auto pick = [&](std::int64_t from, std::int64_t to) {
      return from + static_cast<std::int64_t>(random_number(state++) % static_cast<std::uint64_t>(to - from + 1));
    };
    const auto depth = static_cast<std::size_t>(pick(1, 3));
    std::vector<Loop> loops;
    std::vector<Label> labels;
    Vector from;
    Vector by;
    for (std::size_t k = 0; k < depth; ++k) {
      const std::int64_t size = pick(8, depth > 2 ? 12 : 25);
      loops.push_back(loop(0, size));
      from.push_back(pick(0, 3));
      by.push_back(pick(1, 5));
      labels.push_back([=](const Vector& x) { return (x[k] - from[k]) / by[k]; });
    }
    Stream stream = nest(loops, labels, [&](const Vector& x) {
      for (std::size_t k = 0; k < depth; ++k)
        if (x[k] < from[k] || (x[k] - from[k]) % by[k] != 0) return false;
      return true;
    });
    if (seed % 2 == 0) stream.shape.shared = stream.shape.outputs;
    const Folded folded = expect_exact(stream, 1);
    for (std::size_t k = 0; k < depth; ++k) {
      const bool varies = folded.pieces[0].ranges[k].stride > 1;
      EXPECT_EQ(folded.pieces[0].outputs[k].divisor, varies ? by[k] : 1) << seed;
    }
    if (HasFailure()) break;
  }
}

/// Vectors are stored, their elements are read one by one: as many blocks as elements take turns. In some streams they
/// stop doing so, or there are elements that are not read, or that another one wrote.
TEST(Adaptive, ElementsOfVectorsTakeTurns) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    std::uint64_t state = seed * 1000003;
    const auto pick = [&](std::int64_t from, std::int64_t to) {
      return from + static_cast<std::int64_t>(random_number(state++) % static_cast<std::uint64_t>(to - from + 1));
    };
    const std::int64_t width = pick(2, 8);
    const std::int64_t shift = pick(0, width - 1);
    const std::int64_t by = pick(-3, 3);
    const std::int64_t row = pick(0, 5);
    const std::int64_t odd_from = seed % 3 == 0 ? pick(0, 90) : 1000;
    const std::int64_t odd_by = pick(1, 3);
    const std::int64_t read = seed % 4 == 0 ? pick(1, width) : width;
    const std::int64_t other = seed % 5 == 0 ? pick(0, 90) : 1000;
    const Stream stream = nest({loop(0, pick(0, 2)), loop(pick(0, 9), pick(30, 90))}, {[&](const Vector& x) {
                                 const std::int64_t label = (x[1] + shift) / width * by + row * x[0];
                                 return label + (x[1] >= odd_from ? odd_by * x[1] : 0) + (x[1] == other ? 1 : 0);
                               }},
                               [&](const Vector& x) { return (x[1] + shift) % width < read; });
    Options options;
    options.max_pieces = 64;
    const Folded folded = fold_all(stream, options);
    ASSERT_EQ(check(stream, folded), "") << "seed " << seed << "\n" << text(folded);
    ASSERT_TRUE(folded.exact()) << "seed " << seed << "\n" << text(folded);
    if (seed % 3 != 0 && seed % 5 != 0) {
      ASSERT_LE(folded.pieces.size(), 3u * static_cast<std::size_t>(width));
    }
  }
}

TEST(Adaptive, RandomLabelsLeaveTheDomainExact) {
  const Folded folded = expect_sound(
      nest({loop(0, 30), loop(0, 30)}, {[](const Vector& x) { return 8 * x[0] + x[1]; },
                                        [](const Vector& x) {
                                          return static_cast<std::int64_t>(
                                              random_number(static_cast<std::uint64_t>(x[0] * 100 + x[1])) % 100);
                                        }}));
  ASSERT_EQ(folded.pieces.size(), 1u);
  EXPECT_TRUE(folded.pieces[0].exact_domain);
  EXPECT_TRUE(folded.pieces[0].outputs[0].affine());
  EXPECT_EQ(folded.pieces[0].outputs[1].top, (std::vector<bool>{true, true}));
}

TEST(Adaptive, RandomGuardLeavesTheLabelAffine) {
  const Folded folded =
      expect_sound(nest({loop(0, 30), {[](const Vector&) { return 0; }, [](const Vector& x) { return x[0]; }}},
                        {[](const Vector& x) { return 100 + 8 * x[0] + 3 * x[1]; }}, [](const Vector& x) {
                          return random_number(static_cast<std::uint64_t>(x[0] * 100 + x[1])) % 3 == 0;
                        }));
  ASSERT_EQ(folded.pieces.size(), 1u);
  EXPECT_FALSE(folded.pieces[0].exact_domain);
  EXPECT_EQ(text(folded.pieces[0].outputs[0].value), "100 + 8*x0 + 3*x1");
  EXPECT_TRUE(folded.pieces[0].outputs[0].affine());
  EXPECT_EQ(folded.pieces[0].ranges[1].upper.coefficients[0], 1);
}

/// Which dimensions a label is affine along shows late: until then, the claims of all of them have learned the same.
TEST(Adaptive, ClaimsThatPartLate) {
  const Guard guard = [](const Vector& x) {
    return random_number(static_cast<std::uint64_t>(((x[0] * 10 + x[1]) * 10 + x[2]) * 10 + x[3])) % 3 != 0;
  };
  for (std::size_t known = 0; known <= 4; ++known) {  // dimensions, from the innermost on
    const auto label = [known](const Vector& x) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < 4; ++k) {
        const auto step = static_cast<std::int64_t>(2 * k + 3);
        const bool late = x[0] > 4;
        const auto chance = static_cast<std::int64_t>(
            random_number(static_cast<std::uint64_t>(100 * k + 7) + static_cast<std::uint64_t>(x[k])) % 50);
        sum += k + known >= 4 || !late ? step * x[k] : chance;
      }
      return sum;
    };
    const Folded folded = expect_sound(nest({loop(0, 8), loop(0, 6), loop(0, 6), loop(0, 6)}, {label}, guard));
    ASSERT_EQ(folded.pieces.size(), 1u);
    const Output& output = folded.pieces[0].outputs[0];
    for (std::size_t k = 0; k < 4; ++k) {
      EXPECT_EQ(output.top[k], k + known < 4) << known << " " << k;
      if (!output.top[k]) {
        EXPECT_EQ(output.value.coefficients[k], static_cast<std::int64_t>(2 * k + 3)) << known << " " << k;
      }
    }
  }
}

/// Ends of labels and of distances, of points, boxes and triangles: against all points.
TEST(Adaptive, EndsOfPieces) {
  const auto triangle = [](std::int64_t to) {
    return Loop{[](const Vector&) { return 0; }, [to](const Vector& x) { return to - x[0]; }};
  };
  const Label first = [](const Vector& x) { return x[0] - 2; };
  const Label second = [](const Vector& x) { return 3 * x[0] - 2 * x[1]; };
  const Label far = [](const Vector& x) { return std::numeric_limits<std::int64_t>::max() - 5 - x[1]; };
  const Label third = [](const Vector& x) { return 5 * x[0] + 4 * x[2] - x[1]; };
  std::vector<Stream> streams;
  streams.push_back(nest({loop(3, 9), loop(-4, 4)}, {first, second}));
  streams.push_back(nest({loop(0, 9), triangle(9)}, {second, first}));
  streams.push_back(nest({loop(0, 9), triangle(9), loop(2, 6)}, {first, second, third}));
  streams.push_back(nest({loop(-3, 9), loop(-4, 4)}, {far, far}));
  streams.push_back(nest({loop(0, 40), loop(0, 40)}, {first, second}, [](const Vector& x) {
    return (x[0] == 3 && x[1] == 7) || (x[0] == 4 && x[1] == 30) || (x[0] == 31 && x[1] == 2);
  }));
  for (Stream& stream : streams) {
    stream.shape.shared = 2;
    const Folded folded = expect_sound(stream);
    ASSERT_TRUE(folded.exact()) << text(folded);
    for (const Piece& piece : folded.pieces) {
      for (std::size_t o = 0; o < stream.shape.outputs; ++o) {
        Ends labels;
        Ends distances;
        for (const Labelled& at : stream.points) {
          if (!contains(piece, at.point)) continue;
          labels.include(at.labels[o]);
          if (o < 2) {
            std::int64_t distance = 0;
            const bool large = __builtin_sub_overflow(at.point[o], at.labels[o], &distance);
            distances.include(large ? std::numeric_limits<std::int64_t>::min() : distance);
          }
        }
        const Output& output = piece.outputs[o];
        EXPECT_EQ(output.minimum, labels.low) << text(folded);
        EXPECT_EQ(output.maximum, labels.high) << text(folded);
        if (o >= 2) continue;
        EXPECT_EQ(output.distance_minimum, distances.low) << text(folded);
        EXPECT_EQ(output.distance_maximum, distances.high) << text(folded);
      }
    }
  }
}

/// Labels that are simple for a long time are no longer looked at, until they are not.
TEST(Adaptive, SimpleLabelsThatChangeLater) {
  const Guard random = [](const Vector& x) {
    return random_number(static_cast<std::uint64_t>(x[0] * 100000 + x[1] * 1000 + x[2])) % 3 == 0;
  };
  Stream stream = nest({loop(0, 0), loop(0, 3), loop(0, 500)},
                       {[](const Vector&) { return 0; }, [](const Vector& x) { return x[1] - 1; },
                        [](const Vector& x) { return 8 * x[1]; }, [](const Vector& x) { return x[2] < 400 ? 5 : x[2]; },
                        [](const Vector& x) { return x[1] == 3 && x[2] > 300 ? x[2] : 7; }},
                       random);
  stream.shape.shared = 3;
  Folded folded = fold_all(stream);
  EXPECT_EQ(check(stream, folded), "") << text(folded);
  ASSERT_EQ(folded.pieces.size(), 1u);
  EXPECT_EQ(text(folded.pieces[0].outputs[0].value), "0");
  EXPECT_EQ(text(folded.pieces[0].outputs[1].value), "-1 + 1*x1");
  EXPECT_EQ(text(folded.pieces[0].outputs[2].value), "0 + 8*x1");
  for (std::size_t o = 0; o < 3; ++o) EXPECT_TRUE(folded.pieces[0].outputs[o].affine());
  for (std::size_t o = 3; o < 5; ++o) EXPECT_FALSE(folded.pieces[0].outputs[o].affine());
  EXPECT_TRUE(folded.pieces[0].outputs[4].top[2]);
  stream = nest({loop(0, 3), loop(0, 3), loop(0, 200)},
                {[](const Vector& x) { return x[0]; }, [](const Vector& x) { return 1 + x[1] + 1000 * x[0]; },
                 [](const Vector& x) { return x[0] == 0 ? x[2] : 9 * x[0] * x[0] + x[2]; }},
                random);
  stream.shape.shared = 3;
  folded = fold_all(stream);
  EXPECT_EQ(check(stream, folded), "") << text(folded);
  EXPECT_EQ(text(folded.pieces[0].outputs[1].value), "1 + 1000*x0 + 1*x1");
  EXPECT_EQ(folded.pieces[0].outputs[2].top, (std::vector<bool>{true, false, false}));
}

TEST(Adaptive, SparseRowsAreAffineInside) {
  std::vector<std::int64_t> start{0};
  for (std::uint64_t i = 0; i < 60; ++i)
    start.push_back(start.back() + 1 + static_cast<std::int64_t>(random_number(i) % 9));
  const auto at = [&](std::int64_t i) { return start[static_cast<std::size_t>(i)]; };
  const Loop row{[](const Vector&) { return 0; }, [&](const Vector& x) { return at(x[0] + 1) - at(x[0]) - 1; }};
  const Folded folded =
      expect_sound(nest({loop(0, 59), row}, {[&](const Vector& x) { return 8 * (at(x[0]) + x[1]); }}));
  ASSERT_EQ(folded.pieces.size(), 1u);
  EXPECT_EQ(folded.pieces[0].outputs[0].top, (std::vector<bool>{true, false}));
  EXPECT_EQ(folded.pieces[0].outputs[0].value.coefficients[1], 8);
}

TEST(Adaptive, GathersDoNotDependOnTheOuterLoop) {
  const Folded folded = expect_sound(
      nest({loop(0, 0), loop(0, 9), loop(0, 50)}, {[](const Vector& x) {
             return 3 * x[1] + static_cast<std::int64_t>(random_number(static_cast<std::uint64_t>(x[2])) % 1000);
           }}));
  ASSERT_EQ(folded.pieces.size(), 1u);
  EXPECT_TRUE(folded.pieces[0].exact_domain);
  EXPECT_EQ(folded.pieces[0].outputs[0].top, (std::vector<bool>{false, false, true}));
  EXPECT_EQ(folded.pieces[0].outputs[0].value.coefficients[1], 3);
}

TEST(Adaptive, LongRowsAreNotCompared) {
  for (const std::int64_t length : {4000, 5000}) {
    const Folded folded =
        fold_all(nest({loop(0, 2), loop(0, length - 1)}, {[](const Vector& x) {
                        return static_cast<std::int64_t>(random_number(static_cast<std::uint64_t>(x[1])) % 1000);
                      }}));
    ASSERT_EQ(folded.pieces.size(), 1u);
    EXPECT_TRUE(folded.pieces[0].exact_domain);
    EXPECT_EQ(folded.pieces[0].outputs[0].top, (std::vector<bool>{length > 4096, true}));
  }
}

TEST(Adaptive, ACoveredDomainHasNoRanges) {
  const auto folded = [](bool covered) {
    const std::unique_ptr<Folder> folder = make_folder({}, {2, 1, 0, covered});
    for (std::int64_t i = 0; i < 40; ++i)
      for (std::int64_t j = 0; j < 40; ++j) {
        const std::int64_t point[] = {i, j};
        const std::int64_t label = 3 * i + j;
        if (random_number(static_cast<std::uint64_t>(40 * i + j)) % 3 == 0) folder->add(point, &label);
      }
    return folder->finish();
  };
  const Folded with = folded(false);
  const Folded without = folded(true);
  ASSERT_EQ(without.pieces.size(), 1u);
  EXPECT_TRUE(without.gave_up);
  EXPECT_EQ(with.pieces[0].ranges.size(), 2u);
  EXPECT_TRUE(without.pieces[0].ranges.empty());
  EXPECT_EQ(with.pieces[0].outputs, without.pieces[0].outputs);
  EXPECT_EQ(with.pieces[0].points, without.pieces[0].points);
}

TEST(Adaptive, WidenedDimensionVouchesForNoOther) {
  Stream stream{{2, 1, 0}, {}};
  const std::vector<Vector> rows{{67, 71, 77}, {68, 99, 12}};
  for (std::size_t j = 0; j < 2; ++j)
    for (std::size_t k = 0; k < 3; ++k)
      stream.points.push_back({{static_cast<std::int64_t>(j), static_cast<std::int64_t>(k)}, {rows[j][k]}});
  Options options;
  options.max_pieces = 1;
  const Folded folded = fold_all(stream, options);
  EXPECT_EQ(check(stream, folded), "") << text(folded);
  EXPECT_EQ(folded.pieces.size(), 1u);
}

TEST(Adaptive, OutOfOrderIsCovered) {
  Stream stream{{2, 1, 0}, {{{0, 0}, {0}}, {{0, 1}, {8}}, {{1, 0}, {100}}, {{0, 5}, {40}}, {{2, 2}, {216}}}};
  const Folded folded = fold_all(stream);
  EXPECT_EQ(check(stream, folded), "") << text(folded);
  EXPECT_TRUE(folded.gave_up);
  EXPECT_EQ(folded.why, "a point is out of order");
  EXPECT_TRUE(folded.pieces[0].outputs[0].affine());
}

TEST(Adaptive, FractionsOutOfOrder) {
  const Stream stream{{2, 1, 0}, {{{0, 0}, {0}}, {{1, 0}, {0}}, {{0, 2}, {-1}}}};
  const Folded folded = fold_all(stream);
  EXPECT_EQ(check(stream, folded), "") << text(folded);
}

TEST(Adaptive, GivenUpFromOutside) {
  const Stream stream = nest({loop(0, 9), loop(0, 9)}, {[](const Vector& x) { return 10 * x[0] + x[1]; }});
  for (std::size_t when = 0; when <= stream.points.size(); when += 10) {
    const auto folder = make_folder({}, stream.shape);
    for (std::size_t i = 0; i < stream.points.size(); ++i) {
      if (i == when) folder->give_up("memory");
      folder->add(stream.points[i].point.data(), stream.points[i].labels.data());
    }
    if (when == stream.points.size()) folder->give_up("memory");
    const Folded folded = folder->finish();
    EXPECT_EQ(check(stream, folded), "") << text(folded);
    EXPECT_EQ(folded.why, "memory");
    EXPECT_TRUE(folded.gave_up);
    EXPECT_TRUE(folded.pieces[0].outputs[0].affine());
  }
}

TEST(Adaptive, HugeNumbers) {
  const std::int64_t high = INT64_MAX;
  const std::int64_t low = INT64_MIN;
  expect_sound(Stream{{1, 1, 0}, {{{low}, {high}}, {{-1}, {low}}, {{0}, {high}}, {{high}, {low}}}});
  Stream stream{{1, 1, 1}, {}};
  for (std::int64_t i = 0; i < 40; ++i) stream.points.push_back({{i}, {i % 2 == 0 ? low + i : high - i * i}});
  const Folded folded = fold_all(stream);
  EXPECT_EQ(folded.points, 40u);
  EXPECT_EQ(folded.pieces[0].outputs[0].distance_minimum, low + 3);
}

TEST(Adaptive, ManyDimensions) {
  std::vector<Loop> loops(20, loop(0, 0));
  loops[3] = loops[19] = loop(0, 5);
  const Folded folded = expect_sound(nest(loops, {[](const Vector& x) { return x[3]; }}));
  EXPECT_TRUE(folded.gave_up);
  loops.resize(16);
  loops[15] = loop(0, 5);
  expect_exact(nest(loops, {[](const Vector& x) { return x[3] + 2 * x[15]; }}), 1);
}

/// All subsets of a grid, with labels that are digits of a number.
TEST(Adaptive, ExhaustiveTinyStreams) {
  for (const auto& [rows, columns, values] : {std::array{3, 3, 1}, {2, 4, 1}, {1, 6, 3}, {2, 3, 3}, {3, 2, 3}}) {
    const int cells = rows * columns;
    int cases = 1;
    for (int i = 0; i < cells; ++i) cases *= values + 1;
    for (int number = 0; number < cases; ++number) {
      Stream stream{{2, 1, 1}, {}};
      int rest = number;
      for (int cell = 0; cell < cells; ++cell, rest /= values + 1)
        if (rest % (values + 1) != 0)
          stream.points.push_back({{cell / columns, cell % columns}, {rest % (values + 1) - 1}});
      for (const std::uint32_t pieces : {1u, 3u, 16u}) {
        Options options;
        options.max_pieces = pieces;
        const Folded folded = fold_all(stream, options);
        ASSERT_EQ(check(stream, folded), "") << rows << "x" << columns << " number " << number << "\n" << text(folded);
        ASSERT_LE(folded.pieces.size(), pieces);
        ASSERT_TRUE(pieces < 16 || folded.exact());
      }
    }
  }
}

/// A random nest: bounds, guards and labels of all kinds.
Stream random_stream(std::uint64_t seed) {
  std::uint64_t state = seed * 1000003;
  const auto pick = [&](std::int64_t from, std::int64_t to) {
    return from + static_cast<std::int64_t>(random_number(state++) % static_cast<std::uint64_t>(to - from + 1));
  };
  const auto depth = static_cast<std::size_t>(pick(1, 4));
  const auto affine = [&](std::int64_t limit, double density) {
    Vector c;
    for (std::size_t k = 0; k < depth; ++k)
      c.push_back(static_cast<double>(pick(0, 99)) < 100 * density ? pick(-limit, limit) : 0);
    return [c](const Vector& x) {
      std::int64_t sum = 0;
      for (std::size_t k = 0; k < x.size(); ++k) sum += c[k] * x[k];
      return sum;
    };
  };
  const auto noise = [](std::uint64_t salt, std::uint64_t range) {
    return [=](const Vector& x) {
      std::uint64_t h = salt;
      for (const std::int64_t v : x) h = random_number(h ^ static_cast<std::uint64_t>(v));
      return static_cast<std::int64_t>(h % range);
    };
  };
  std::vector<Loop> loops;
  for (std::size_t k = 0; k < depth; ++k) {
    const std::int64_t length = pick(0, depth > 2 ? 5 : 12);
    const Bound lower = affine(1, 0.2);
    const Bound slope = affine(2, 0.2);
    const Bound random = noise(state, 5);
    const bool irregular = pick(0, 9) == 0;
    loops.push_back({lower, [=](const Vector& x) { return slope(x) + length + (irregular ? random(x) : 0); }});
  }
  Guard guard = [](const Vector&) { return true; };
  const std::int64_t kind = pick(0, 5);
  const std::int64_t m = pick(2, 5);
  if (kind == 1 || kind == 2) {
    const Label sum = affine(1, 0.6);
    const std::int64_t residue = pick(0, m - 1);
    const bool equal = kind == 1;
    guard = [=](const Vector& x) { return ((sum(x) - residue) % m == 0) == equal; };
  } else if (kind == 3) {
    const Label random = noise(state, 3);
    guard = [=](const Vector& x) { return random(x) != 0; };
  }
  std::vector<Label> labels;
  for (std::int64_t o = pick(0, 3); o > 0; --o) {
    const Label base = affine(9, 0.6);
    const Label other = affine(9, 0.5);
    const Label random = noise(state, 100);
    const std::int64_t modulus = pick(2, 12);
    const std::int64_t cut = pick(0, 6);
    switch (pick(0, 9)) {
      case 0:
        labels.push_back(random);
        break;
      case 1:
        labels.push_back([=](const Vector& x) { return ((base(x) % modulus) + modulus) % modulus; });
        break;
      case 2:
        labels.push_back([=](const Vector& x) { return x.back() < cut ? base(x) : other(x); });
        break;
      case 3:
        labels.push_back([=](const Vector& x) { return base({x.back()}) + random({x[0]}); });
        break;
      case 4:
        labels.push_back([=](const Vector& x) { return 7 * x[0] + random({x.back()}); });
        break;
      case 5:
        labels.push_back([=](const Vector& x) { return base(x) + (random(x) == 0 ? 1 : 0); });
        break;
      case 6:
        labels.push_back([=](const Vector& x) { return std::abs(x.back()) % (1 << (1 + std::abs(x[0]) % 3)); });
        break;
      case 7:
        labels.push_back([=](const Vector& x) { return base(x) / m; });
        break;
      case 8:
        labels.push_back([=](const Vector& x) { return other({x[0]}) + x.back() / m; });
        break;
      default:
        labels.push_back(base);
    }
  }
  Stream stream = nest(loops, labels, guard);
  stream.shape.shared = static_cast<std::uint16_t>(std::min(depth, labels.size()));
  if (stream.points.size() > 400) stream.points.resize(400);
  return stream;
}

TEST(Adaptive, RandomNests) {
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    const Stream stream = random_stream(seed);
    Options options;
    options.max_pieces = std::array{16u, 16u, 4u, 64u}[seed % 4];
    const Folded folded = fold_all(stream, options);
    ASSERT_EQ(check(stream, folded), "") << "seed " << seed << "\n" << text(folded);
    ASSERT_LE(folded.pieces.size(), options.max_pieces);
  }
}

/// Giving up looks at blocks, not at points, and says the same as looking at all points would.
TEST(Adaptive, GivenUpAtAnyMoment) {
  int affine = 0;
  int kept = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const Stream stream = random_stream(seed);
    const std::size_t when = stream.points.empty() ? 0 : random_number(seed) % stream.points.size();
    const auto folder = make_folder({}, stream.shape);
    for (std::size_t i = 0; i < stream.points.size(); ++i) {
      if (i == when) folder->give_up("memory");
      folder->add(stream.points[i].point.data(), stream.points[i].labels.data());
    }
    const Folded folded = folder->finish();
    ASSERT_EQ(check(stream, folded), "") << "seed " << seed << " at " << when << "\n" << text(folded);
    if (stream.points.empty()) continue;
    const auto from_start = make_folder({}, stream.shape);
    from_start->give_up("memory");
    const Folded points = fold_all(stream, *from_start);
    ASSERT_EQ(folded.pieces.size(), 1u);
    EXPECT_EQ(folded.pieces[0].ranges, points.pieces[0].ranges) << "seed " << seed << " at " << when;
    for (std::size_t o = 0; o < stream.shape.outputs; ++o) {
      const Output& a = folded.pieces[0].outputs[o];
      const Output& b = points.pieces[0].outputs[o];
      EXPECT_EQ(a.minimum, b.minimum) << seed;
      EXPECT_EQ(a.maximum, b.maximum) << seed;
      EXPECT_EQ(a.distance_minimum, b.distance_minimum) << seed;
      EXPECT_EQ(a.distance_maximum, b.distance_maximum) << seed;
      affine += b.affine() ? 1 : 0;
      kept += b.affine() && a.affine() ? 1 : 0;
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(kept, affine * 9 / 10);
}

TEST(Adaptive, RangesOfIrregularLabelsAtTheEndsOfNumbers) {
  constexpr std::int64_t kLow = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kHigh = std::numeric_limits<std::int64_t>::max();
  for (const bool covered : {false, true}) {
    const auto folder = make_folder({}, {2, 1, 1, covered});
    for (std::int64_t i = 0; i < 4000; ++i) {
      const std::uint64_t random = random_number(static_cast<std::uint64_t>(i));
      const std::int64_t point[] = {i / 50, 3 * i + static_cast<std::int64_t>(random % 3)};
      const std::int64_t label = i == 3000 ? kLow : i == 3500 ? kHigh : static_cast<std::int64_t>(random % 1000);
      folder->add(point, &label);
    }
    const Folded folded = folder->finish();
    ASSERT_EQ(folded.pieces.size(), 1u);
    const Output& output = folded.pieces[0].outputs[0];
    EXPECT_TRUE(output.top[0] && output.top[1]);
    EXPECT_EQ(output.minimum, kLow);
    EXPECT_EQ(output.maximum, kHigh);
    EXPECT_EQ(output.distance_minimum, 70 - kHigh);
    EXPECT_EQ(output.distance_maximum, kHigh);
  }
}

TEST(Adaptive, MemoryIsBounded) {
  const auto folder = make_folder({}, {3, 2, 0});
  const auto irregular = make_folder({}, {3, 2, 0});
  std::size_t most = 0;
  std::size_t most_irregular = 0;
  for (std::int64_t i = 0; i < 40; ++i)
    for (std::int64_t j = 0; j < 40; ++j)
      for (std::int64_t k = 0; k < 40; ++k) {
        const std::int64_t point[] = {i, j, k};
        const std::int64_t labels[] = {i * 1600 + j * 40 + k, k};
        folder->add(point, labels);
        most = std::max(most, folder->bytes());
        const std::uint64_t random = random_number(static_cast<std::uint64_t>(labels[0]));
        const std::int64_t other[] = {static_cast<std::int64_t>(random % 1000), k};
        if (random % 5 < 3) irregular->add(point, other);
        most_irregular = std::max(most_irregular, irregular->bytes());
      }
  EXPECT_LE(most, 850u);
  EXPECT_LE(folder->bytes(), 720u);
  EXPECT_LE(most_irregular, 20000u);
  RecordProperty("regular_bytes", static_cast<int>(most));
  RecordProperty("irregular_bytes", static_cast<int>(most_irregular));
  const auto one = make_folder({}, {3, 2, 0});
  const std::int64_t zero[] = {0, 0, 0};
  one->add(zero, zero);
  EXPECT_LE(one->bytes(), 120u);
}

}  // namespace
}  // namespace loopfold::fold
