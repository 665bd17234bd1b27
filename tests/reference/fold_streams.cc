#include "reference/fold_streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <set>

namespace loopfold::fold::reference {

namespace {

using Point = std::vector<std::int64_t>;
using Labels = std::function<std::int64_t(const Point&)>;
using Guard = std::function<bool(const Point&)>;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// An arbitrary function of a point.
std::uint64_t scramble(std::uint64_t seed, const Point& point) {
  for (const std::int64_t x : point) seed = mix(seed ^ static_cast<std::uint64_t>(x));
  return mix(seed);
}

/// constant + sum of coefficients, wrapping as a machine would.
std::int64_t wrapping(const Affine& function, const Point& point) {
  auto sum = static_cast<std::uint64_t>(function.constant);
  for (std::size_t k = 0; k < function.coefficients.size(); ++k)
    sum += static_cast<std::uint64_t>(function.coefficients[k]) * static_cast<std::uint64_t>(point[k]);
  return static_cast<std::int64_t>(sum);
}

std::int64_t plus(std::int64_t a, std::uint64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + b);
}

/// The coordinates of the dimensions in `subset`, bit 0 being the innermost.
Point chosen(const Point& point, std::int64_t subset) {
  Point some;
  for (std::size_t k = 0; k < point.size(); ++k)
    if ((subset >> (point.size() - 1 - k) & 1) != 0) some.push_back(point[k]);
  return some;
}

std::int64_t modulo(std::int64_t value, std::int64_t modulus) { return (value % modulus + modulus) % modulus; }

/// A nest of loops: the range of each counter, from the counters outside of it.
struct Nest {
  std::vector<Affine> lower;
  std::vector<Affine> upper;
  std::vector<std::int64_t> step;
  std::uint64_t trips = 0;  // not 0: the trip count of the innermost loop is data: this seed
};

class Builder {
 public:
  explicit Builder(std::uint64_t seed, std::size_t most) : random_(seed), most_(most) {}

  Stream any() {
    dimensions_ = static_cast<std::size_t>(random_.in(1, 20)) == 1 ? 0 : static_cast<std::size_t>(random_.in(1, 5));
    const auto least = static_cast<std::size_t>(random_.in(0, static_cast<std::int64_t>(most_ / 2)));
    for (int attempt = 0; attempt < (dimensions_ == 0 ? 1 : 8); ++attempt) {
      stream_ = {};
      any_points();
      if (stream_.points.size() >= least) break;
    }
    if (dimensions_ > 0 && random_.chance(35))
      label_producers();
    else
      label_values();
    if (dimensions_ > 0 && random_.chance(4)) disturb();
    return std::move(stream_);
  }

 private:
  void any_points() {
    const std::int64_t choice = dimensions_ == 0 ? 9 : random_.in(0, 9);
    if (choice == 0) return scatter(random_.in(2, 9));
    if (choice == 1) return scatter(random_.chance(30) ? kHuge : random_.in(2, 200));
    const Nest nest = any_nest();
    run(nest, any_guard());
  }

  Affine any_affine(std::size_t arity, int percent, std::int64_t largest) {
    Affine function{0, Point(arity)};
    for (std::int64_t& c : function.coefficients)
      if (random_.chance(percent)) c = random_.in(-largest, largest);
    return function;
  }

  Nest any_nest() {
    Nest nest;
    std::int64_t extent = 1;
    const bool narrow = random_.chance(25);
    while (dimensions_ > 0 && (!narrow || extent < 2) && std::pow(extent + 1, dimensions_) < static_cast<double>(most_))
      ++extent;
    const bool band = random_.chance(12);  // the diagonals that a guard i == j leaves, and narrow bands
    const int slope = static_cast<int>(random_.in(0, 60));
    for (std::size_t k = 0; k < dimensions_; ++k) {
      nest.lower.push_back(any_affine(k, random_.chance(30) ? slope : 0, 2));
      if (random_.chance(15)) nest.lower.back().constant = random_.in(-3, 9);
      nest.upper.push_back(any_affine(k, slope, random_.chance(70) ? 1 : 3));
      nest.upper.back().constant = random_.in(random_.chance(10) ? -2 : 0, random_.chance(15) ? 1 : extent * 2);
      if (band && random_.chance(50)) {
        nest.lower.back() = any_affine(k, 60, 1);
        nest.upper.back() = nest.lower.back();
        if (k > 0 && random_.chance(50)) nest.upper.back().coefficients[0] += 1;
      }
      nest.step.push_back(random_.chance(8) ? random_.in(2, 5) : 1);
    }
    if (random_.chance(15)) nest.trips = random_.next() | 1;
    stream_.what += fmt::format("nest of {}{}", dimensions_, nest.trips != 0 ? ", trips from data" : "");
    return nest;
  }

  Guard any_guard() {
    const Affine function = any_affine(dimensions_, 50, 2);
    const std::uint64_t salt = random_.next();
    const std::int64_t number = random_.in(2, 6);
    const std::int64_t rest = random_.in(0, number - 1);
    const std::int64_t limit = random_.in(-6, 12);
    switch (dimensions_ == 0 ? 11 : random_.in(0, 11)) {
      case 0:
        stream_.what += ", guard modulo";
        return [=](const Point& p) { return modulo(wrapping(function, p), number) == rest; };
      case 1:
        stream_.what += ", guard modulo not";
        return [=](const Point& p) { return modulo(wrapping(function, p), number) != rest; };
      case 2:
        stream_.what += ", guard random";
        return [=](const Point& p) { return scramble(salt, p) % 6 < static_cast<std::uint64_t>(number); };
      case 3:
        stream_.what += ", guard rare exception";
        return [=](const Point& p) { return scramble(salt, p) % 40 != 0; };
      case 4:
        stream_.what += ", guard threshold";
        return [=](const Point& p) { return wrapping(function, p) <= limit; };
      case 5:
        stream_.what += ", guard both ends";
        return [=](const Point& p) { return wrapping(function, p) <= rest || wrapping(function, p) > limit; };
      case 7:
        stream_.what += ", guard band";
        return [=](const Point& p) { return wrapping(function, p) >= 0 && wrapping(function, p) <= rest / 2; };
      case 6:
        stream_.what += ", guard rows";
        return [=](const Point& p) { return scramble(salt, Point(p.begin(), p.end() - 1)) % 3 != 0; };
      default:
        return [](const Point&) { return true; };
    }
  }

  void run(const Nest& nest, const Guard& guard) {
    Point point(dimensions_);
    std::size_t steps = 20 * most_;
    loop(nest, guard, point, 0, steps);
  }

  void loop(const Nest& nest, const Guard& guard, Point& point, std::size_t k, std::size_t& steps) {
    if (k == dimensions_) {
      if (guard(point)) stream_.points.push_back({point, {}});
      return;
    }
    std::int64_t upper = wrapping(nest.upper[k], point);
    const std::int64_t lower = wrapping(nest.lower[k], point);
    if (nest.trips != 0 && k + 1 == dimensions_)
      upper = lower - 1 +
              static_cast<std::int64_t>(
                  scramble(nest.trips, Point(point.begin(), point.begin() + static_cast<int>(k))) % 9);
    for (point[k] = lower; point[k] <= upper && stream_.points.size() < most_ && steps > 0; point[k] += nest.step[k]) {
      --steps;
      loop(nest, guard, point, k + 1, steps);
    }
    point[k] = 0;
  }

  /// Points without a program.
  void scatter(std::int64_t size) {
    stream_.what += fmt::format("scattered in {} dimensions of {}", dimensions_, size);
    std::set<Point> points;
    const std::int64_t low = size == kHuge ? -kHuge : 0;
    for (std::int64_t i = random_.in(0, static_cast<std::int64_t>(std::min<std::size_t>(most_, 300))); i > 0; --i) {
      Point point(dimensions_);
      for (std::int64_t& x : point) x = random_.in(low, size - 1);
      points.insert(point);
    }
    for (const Point& point : points) stream_.points.push_back({point, {}});
  }

  Labels any_labels() {
    Affine f = any_affine(dimensions_, 60, random_.chance(50) ? 8 : 1000);
    Affine g = any_affine(dimensions_, 60, 8);
    f.constant = random_.in(-1000, 1000);
    const std::uint64_t salt = random_.next();
    const std::int64_t number = random_.in(2, random_.chance(70) ? 9 : 200);
    const std::int64_t limit = random_.in(-10, 20);
    const std::size_t cut = static_cast<std::size_t>(random_.in(0, static_cast<std::int64_t>(dimensions_)));
    const std::int64_t subset = random_.in(0, 31);
    switch (random_.in(0, 19)) {
      case 13:
      case 14:
        stream_.what += fmt::format(", a table along dimensions {:b}", subset);
        return [=](const Point& p) { return plus(wrapping(f, p), scramble(salt, chosen(p, subset)) % 5); };
      case 15:
        stream_.what += ", tables in some rows, others in others";
        return [=](const Point& p) {
          const std::int64_t which = wrapping(g, p) <= limit ? subset : subset >> 1;
          return plus(wrapping(f, p), scramble(salt, chosen(p, which)) % 3);
        };
      case 16:
        stream_.what += ", a table along the innermost dimension, rows that differ late";
        return [=](const Point& p) {
          const bool late = !p.empty() && p.back() >= number % 5;
          return plus(wrapping(f, p), scramble(salt, chosen(p, 1)) % 9 + (late ? scramble(~salt, p) % 2 : 0));
        };
      case 0:
        stream_.what += ", piecewise";
        return [=](const Point& p) { return wrapping(wrapping(g, p) <= limit ? f : g, p); };
      case 1:
        stream_.what += fmt::format(", modulo {}", number);
        return [=](const Point& p) { return f.constant + modulo(wrapping(g, p), number); };
      case 2:
        stream_.what += fmt::format(", 8 times modulo {}", number);
        return [=](const Point& p) { return f.constant + 8 * modulo(wrapping(g, p), number); };
      case 3:
        stream_.what += ", noise";
        return [=](const Point& p) {
          const std::uint64_t noise = scramble(salt, p);
          return plus(wrapping(f, p), noise % 23 == 0 ? noise % 7 : 0);
        };
      case 4:
      case 5:
        stream_.what += fmt::format(", {} rows of their own", cut);
        return [=](const Point& p) {
          const Point row(p.begin(), p.begin() + static_cast<int>(cut));
          return plus(wrapping(f, p), scramble(salt, row) % 4000);
        };
      case 6:
        stream_.what += ", a table along the inner dimensions";
        return [=](const Point& p) {
          const Point row(p.begin() + static_cast<int>(cut), p.end());
          return plus(wrapping(f, p), scramble(salt, row) % 50);
        };
      case 7:
        stream_.what += ", arbitrary";
        return [=](const Point& p) { return static_cast<std::int64_t>(scramble(salt, p) % 1000); };
      case 8:
        stream_.what += ", few values";
        return [=](const Point& p) { return static_cast<std::int64_t>(scramble(salt, p) % 3); };
      case 9:
        stream_.what += ", arbitrary 64 bits";
        return [=](const Point& p) { return static_cast<std::int64_t>(scramble(salt, p)); };
      case 10:
        stream_.what += ", huge affine";
        for (std::int64_t& c : f.coefficients) c *= random_.in(1, kHuge / 2000);
        f.constant = random_.chance(50) ? kHuge - random_.in(0, 50) : -kHuge - 1 + random_.in(0, 50);
        return [=](const Point& p) { return wrapping(f, p); };
      case 11:
        stream_.what += ", divided";
        return [=](const Point& p) { return wrapping(f, p) / number; };
      case 12:
        stream_.what += ", constant";
        return [=](const Point&) { return f.constant; };
      default:
        stream_.what += ", affine";
        return [=](const Point& p) { return wrapping(f, p); };
    }
  }

  void label_values() {
    stream_.shape.dimensions = static_cast<std::uint16_t>(dimensions_);
    stream_.shape.outputs = static_cast<std::uint16_t>(random_.in(0, 2));
    for (std::size_t o = 0; o < stream_.shape.outputs; ++o) append(any_labels());
  }

  /// Dependences: the producer's vector, by a distance that is constant, differs now and then, or is of any kind.
  void label_producers() {
    const auto shared = static_cast<std::size_t>(random_.in(0, static_cast<std::int64_t>(dimensions_)));
    stream_.shape.dimensions = static_cast<std::uint16_t>(dimensions_);
    stream_.shape.shared = static_cast<std::uint16_t>(shared);
    stream_.shape.outputs = static_cast<std::uint16_t>(shared + static_cast<std::size_t>(random_.in(0, 2)));
    for (std::size_t o = 0; o < stream_.shape.outputs; ++o) {
      const auto distance = static_cast<std::uint64_t>(random_.in(0, 2));
      const std::uint64_t salt = random_.next();
      const std::uint64_t spread = random_.chance(60) ? 1 : 3;
      if (o >= shared || random_.chance(15)) {
        append(any_labels());
        continue;
      }
      stream_.what += fmt::format(", distance {}{}", distance, spread > 1 ? " and more" : "");
      append([=](const Point& p) { return plus(p[o], -(distance + scramble(salt, p) % spread)); });
    }
  }

  void append(const Labels& labels) {
    for (Labelled& labelled : stream_.points) labelled.labels.push_back(labels(labelled.point));
  }

  /// Points out of order: repeated, moved back, or all reversed.
  void disturb() {
    if (stream_.points.size() < 2) return;
    stream_.what += ", out of order";
    const auto last = static_cast<std::int64_t>(stream_.points.size()) - 1;
    const auto from = static_cast<std::size_t>(random_.in(0, last));
    const auto to = static_cast<std::size_t>(random_.in(0, last));
    if (random_.chance(30)) {
      stream_.points.insert(stream_.points.begin() + static_cast<int>(to), Labelled(stream_.points[from]));
    } else if (random_.chance(60)) {
      std::swap(stream_.points[from], stream_.points[to]);
    } else {
      std::reverse(stream_.points.begin(), stream_.points.end());
    }
  }

  Random random_;
  std::size_t most_;
  std::size_t dimensions_ = 0;
  Stream stream_;
};

}  // namespace

std::uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15;
  return mix(state_);
}

std::int64_t Random::in(std::int64_t low, std::int64_t high) {
  const std::uint64_t size = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + (size == 0 ? next() : next() % size));
}

std::uint64_t first_seed() { return from_environment("LOOPFOLD_SEED", 1); }

std::uint64_t streams(std::uint64_t otherwise) {
  return from_environment("LOOPFOLD_STREAMS", otherwise) * from_environment("LOOPFOLD_SOAK", 1);
}

Stream random_stream(std::uint64_t seed, std::size_t most) { return Builder(seed, most).any(); }

Stream tiny_stream(std::uint64_t seed) {
  Random random(seed);
  Stream stream;
  stream.what = "tiny";
  stream.shape = {static_cast<std::uint16_t>(random.in(1, 2)), static_cast<std::uint16_t>(random.in(0, 1)), 0};
  const std::int64_t most = random.in(1, 8);
  std::set<Point> points;
  for (std::int64_t i = 0; i < most; ++i) {
    Point point(stream.shape.dimensions);
    for (std::int64_t& x : point) x = random.in(0, 3);
    points.insert(point);
  }
  for (const Point& point : points) {
    Labelled labelled{point, {}};
    if (stream.shape.outputs > 0) labelled.labels.push_back(random.in(0, 2));
    stream.points.push_back(labelled);
  }
  return stream;
}

}  // namespace loopfold::fold::reference
