#include "live_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace loopfold::reference {

namespace {

constexpr std::int64_t kFar = std::int64_t{1} << 40;

TimeEntry fixed(std::int64_t value) { return {value, kNothing, false, false}; }

std::int64_t floor_divide(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

class Order {
 public:
  Order(const LiveTrace& trace, std::uint32_t nest) : trace_(trace), nest_(nest) {
    for (const LiveStep& step : trace.steps) times_.push_back(step.time);
  }

  Result<void> apply(const OrderStep& step) {
    if (step.what == "interchange") return interchange(step.lines.at(0), step.lines.at(1));
    if (step.what == "reverse") return reverse(step.lines.at(0));
    if (step.what == "parallel") return parallel(step.lines.at(0));
    if (step.what == "tile") return tile(step.lines, step.number);
    if (step.what == "skew") return skew(step.lines.at(0), step.lines.at(1), step.number);
    if (step.what == "fuse") return fuse(step.lines.at(0), step.lines.at(1));
    if (step.what == "distribute") return distribute(step.lines.at(0), step.lines.at(1));
    return fail(ErrorKind::kBadInput, fmt::format("no such step: {}", step.what));
  }

  std::vector<Time> take() { return std::move(times_); }

 private:
  /// The entry that counts the loop; the outer one of several is that of tiles.
  std::optional<std::size_t> entry_of(const Time& time, std::uint32_t line, bool tiles = false) const {
    for (std::size_t k = 0; k < time.size(); ++k)
      if (time[k].loop == line && (tiles || !time[k].tile)) return k;
    return std::nullopt;
  }
  bool is_in(std::size_t step, std::uint32_t line) const {
    return entry_of(times_[step], nest_, true).has_value() && entry_of(times_[step], line).has_value();
  }
  Result<std::size_t> one_in(const std::vector<std::uint32_t>& lines) const {
    for (std::size_t s = 0; s < times_.size(); ++s)
      if (std::all_of(lines.begin(), lines.end(), [&](std::uint32_t line) { return is_in(s, line); })) return s;
    return fail(ErrorKind::kBadInput, "no step is in all of these loops");
  }
  static void insert(Time& time, std::size_t at, TimeEntry entry) {
    time.insert(time.begin() + static_cast<std::ptrdiff_t>(at), entry);
  }

  /// Whether a step that leaves the way from `first` to `last` of another one does so before it.
  static bool is_before(const Time& time, const Time& other, std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last && k < time.size(); ++k)
      if (time[k].loop == kNothing && other[k].loop == kNothing && time[k].value != other[k].value)
        return time[k].value < other[k].value;
    return true;
  }

  Result<void> interchange(std::uint32_t a, std::uint32_t b) {
    const Result<std::size_t> both = one_in({a, b});
    if (!both) return tl::unexpected<Error>(both.error());
    const Time way = times_[*both];
    if (*entry_of(way, a) > *entry_of(way, b)) std::swap(a, b);
    const std::size_t outer = *entry_of(way, a);
    const std::size_t inner = *entry_of(way, b);
    for (std::size_t s = 0; s < times_.size(); ++s) {
      if (!is_in(s, a)) continue;
      Time& time = times_[s];
      if (entry_of(time, a) != outer) return fail(ErrorKind::kBadInput, "the outer loop is in several places");
      if (is_in(s, b)) {
        std::swap(time[outer], time[*entry_of(time, b)]);
        insert(time, outer, fixed(1));
      } else {
        insert(time, outer, fixed(is_before(time, way, outer + 1, inner) ? 0 : 2));
      }
    }
    return {};
  }

  Result<void> reverse(std::uint32_t line) {
    for (std::size_t s = 0; s < times_.size(); ++s)
      if (is_in(s, line)) times_[s][*entry_of(times_[s], line)].value *= -1;
    return {};
  }

  /// Where it is tiled, the loop over tiles.
  Result<void> parallel(std::uint32_t line) {
    for (std::size_t s = 0; s < times_.size(); ++s)
      if (is_in(s, line)) times_[s][*entry_of(times_[s], line, true)].parallel = true;
    return {};
  }

  Result<void> tile(const std::vector<std::uint32_t>& lines, std::int64_t size) {
    const Result<std::size_t> whole = one_in(lines);
    if (!whole) return tl::unexpected<Error>(whole.error());
    const Time way = times_[*whole];
    const std::size_t first = *entry_of(way, lines.front());
    for (std::size_t s = 0; s < times_.size(); ++s) {
      if (!is_in(s, lines.front())) continue;
      std::vector<TimeEntry> tiles;
      for (const std::uint32_t line : lines) {
        const std::optional<std::size_t> own = entry_of(times_[s], line);
        if (own)
          tiles.push_back({floor_divide(times_[s][*own].value, size), line, true, false});
        else
          tiles.push_back(
              {is_before(times_[s], way, first + 1, *entry_of(way, line)) ? -kFar : kFar, kNothing, true, false});
      }
      times_[s].insert(times_[s].begin() + static_cast<std::ptrdiff_t>(first), tiles.begin(), tiles.end());
    }
    return {};
  }

  Result<void> skew(std::uint32_t a, std::uint32_t b, std::int64_t factor) {
    for (std::size_t s = 0; s < times_.size(); ++s)
      if (is_in(s, a) && is_in(s, b))
        times_[s][*entry_of(times_[s], a)].value += factor * times_[s][*entry_of(times_[s], b)].value;
    return {};
  }

  /// What is in b comes behind what is in a, in each iteration of both.
  Result<void> fuse(std::uint32_t a, std::uint32_t b) {
    const Result<std::size_t> one = one_in({a});
    if (!one) return tl::unexpected<Error>(one.error());
    const std::size_t at = *entry_of(times_[*one], a);
    const std::int64_t place = times_[*one][at - 1].value;
    for (std::size_t s = 0; s < times_.size(); ++s) {
      if (!is_in(s, b)) continue;
      if (entry_of(times_[s], b) != at) return fail(ErrorKind::kBadInput, "the loops are no siblings");
      times_[s][at - 1].value = place;
      times_[s][at].loop = a;
      times_[s][at + 1].value += kFar;
    }
    return {};
  }

  Result<void> distribute(std::uint32_t line, std::uint32_t before) {
    for (std::size_t s = 0; s < times_.size(); ++s) {
      if (!is_in(s, line)) continue;
      const std::size_t at = *entry_of(times_[s], line, true);
      std::uint32_t own = trace_.steps[s].line;
      for (std::size_t k = times_[s].size(); k-- > at + 1;)
        if (times_[s][k].loop != kNothing) own = times_[s][k].loop;
      insert(times_[s], at, fixed(own < before ? 0 : 1));
    }
    return {};
  }

  const LiveTrace& trace_;
  std::uint32_t nest_;
  std::vector<Time> times_;
};

}  // namespace

std::optional<std::int64_t> counter_of(const LiveStep& step, std::uint32_t line) {
  for (const TimeEntry& entry : step.time)
    if (entry.loop == line) return entry.value;
  return std::nullopt;
}

Result<std::vector<Time>> reordered(const LiveTrace& trace, std::uint32_t nest, const std::vector<OrderStep>& steps) {
  Order order(trace, nest);
  for (const OrderStep& step : steps)
    if (Result<void> done = order.apply(step); !done) return tl::unexpected<Error>(done.error());
  return order.take();
}

}  // namespace loopfold::reference
