// Several points of a stream at once: those of consecutive iterations of the innermost loop, with labels that grow
// evenly. What is counted beside the points has a closed form: at most one of the iterations of a dependence is carried
// by another level than the others, since two coordinates that grow evenly meet once or always.
#include <algorithm>
#include <array>

#include "ddg/streams.h"

namespace loopfold::ddg {

/// Not all or none, nor in the first of several.
std::uint64_t Streams::later_meetings(std::int64_t difference, std::int64_t slope, std::uint64_t n) {
  if (slope == 1) return difference < 0 && std::uint64_t{0} - static_cast<std::uint64_t>(difference) < n ? 1 : 0;
  if (slope == -1) return difference > 0 && static_cast<std::uint64_t>(difference) < n ? 1 : 0;
  __extension__ using Wide = __int128;
  const Wide wide = -static_cast<Wide>(difference);
  if (wide % slope != 0) return 0;
  const Wide when = wide / slope;
  return when >= 0 && when < static_cast<Wide>(n) ? 1 : 0;
}

void Streams::instance_run(SiteId site, const std::int64_t* point, std::uint64_t n) {
  Site& s = sites_[site];
  s.count += n;
  add_run(s.domain, {point, nullptr, nullptr, n, 1});
}

void Streams::access_run(SiteId site, const MemoryAccess& access, const std::int64_t* point,
                         const Objects::Place& place, PlaceStep step, std::uint64_t n, std::uint64_t copies,
                         std::uint64_t entry) {
  AccessDetails* details = at(sites_[site].accesses, access.dense).find(key_of(place.object));
  if (details == nullptr) details = new_access(site, access, place.object);
  if (details == nullptr) {
    sites_[site].dropped += n - 1;
    return;
  }
  details->follow(entry, place.block, place.offset);
  const auto last = static_cast<std::int64_t>(n - 1);
  if (n > 1) details->follow(entry, place.block + step.block * last, place.offset + step.offset * last);
  details->copies += copies;
  const std::int64_t labels[2] = {place.block, place.offset};
  const std::int64_t steps[2] = {step.block, step.offset};
  add_run(details->sink, {point, labels, steps, n, 1});
}

void Streams::value_run(SiteId site, const IntegerValue& value, const std::int64_t* point, std::int64_t label,
                        std::int64_t step, std::uint64_t n, std::uint64_t entry) {
  ValueDetails* details = at(sites_[site].values, value.dense);
  if (details == nullptr) details = new_value(site, value);
  if (details == nullptr) {
    sites_[site].dropped += n - 1;
    return;
  }
  const std::int64_t counter = point[sites_[site].dimensions - 1];
  const auto follow = [&](std::uint64_t k) {
    const std::uint64_t now = static_cast<std::uint64_t>(label) + static_cast<std::uint64_t>(step) * k;
    details->steady.add(entry, counter + static_cast<std::int64_t>(k), static_cast<std::int64_t>(now));
  };
  follow(0);
  if (n > 1) follow(1);
  if (n > 2) follow(n - 1);
  add_run(details->sink, {point, &label, &step, n, 1});
}

/// Often several lists have the same points.
Streams::Instances Streams::listed(const Site& site, const std::int64_t* point, std::size_t n, std::uint64_t entry) {
  const std::size_t dimensions = site.dimensions;
  const std::size_t inner = dimensions - 1;
  const bool known = list_ends_.size() == dimensions && list_entries_.front() == entry &&
                     std::equal(point, point + dimensions, list_points_.begin());
  if (!known) {
    list_points_.resize(kMostListed * dimensions);
    list_ends_.assign(dimensions, {});
    list_entries_.resize(kMostListed);
    for (std::size_t k = 0; k < inner; ++k) list_ends_[k].include(point[k]);
    list_count_ = 0;
  }
  for (; list_count_ < n; ++list_count_) {
    list_entries_[list_count_] = entry;
    std::int64_t* into = list_points_.data() + list_count_ * dimensions;
    for (std::size_t k = 0; k < inner; ++k) *into++ = point[k];
    *into = point[inner] + static_cast<std::int64_t>(list_count_);
  }
  list_ends_[inner] = {point[inner], point[inner] + static_cast<std::int64_t>(n - 1)};
  const std::uint64_t follows = (~std::uint64_t{0} >> (kMostListed - n)) & ~std::uint64_t{1};
  return {list_points_.data(), list_entries_.data(), n, true, list_ends_.data(), follows};
}

void Streams::value_list(SiteId site, const IntegerValue& value, const std::int64_t* point, const std::int64_t* labels,
                         std::size_t n, std::uint64_t entry) {
  values(locate(site), value, listed(sites_[site], point, n, entry), labels);
}

void Streams::access_list(SiteId site, const MemoryAccess& access, const std::int64_t* point,
                          const Objects::Place& place, const std::int64_t* offsets, std::size_t n, std::uint64_t copies,
                          std::uint64_t entry) {
  std::array<std::int64_t, 2 * kMostListed> places;
  for (std::size_t i = 0; i < n; ++i) {
    places[2 * i] = place.block;
    places[2 * i + 1] = offsets[i];
  }
  accesses(locate(site), access, listed(sites_[site], point, n, entry), place.object, places.data(), copies);
}

Streams::Dependences Streams::dependences(const Reader& reader, DefinitionId from) {
  StreamLinks<DependenceDetails>& known = at(sites_[reader.site].operands, reader.dense);
  if (DependenceDetails* const found = known.find(key_of(from, reader.lane))) return found;
  return !full_ && known.size() < kMaxProducers ? first_dependence(reader, from, nullptr) : nullptr;
}

bool Streams::dependence_run(Dependences to, const Reader& reader, const std::int64_t* point,
                             const std::int64_t* producer, std::size_t equal, std::int64_t step, std::uint64_t n,
                             std::uint64_t reloads, std::int64_t stride) {
  DependenceDetails& details = *to;
  if (reader.object != details.reader.object) details.more_objects = true;
  details.reloads += reloads;
  return dependence_run(details, point, producer, equal, step, n, stride);
}

/// In each level, producers are where the reader is in all iterations, or in one of them, or in none.
void Streams::count_column(DependenceDetails& details, const DependenceRun& run, const std::int64_t* steps) {
  const std::size_t shared = details.shared;
  const std::size_t innermost = details.sink.shape.dimensions - std::size_t{1};
  for (std::size_t level = std::min(run.equal, shared); level < shared; ++level) {
    const std::int64_t difference = run.point[level] - run.producer[level];
    const std::int64_t slope = (level == innermost ? run.stride : 0) - steps[level];
    const std::uint64_t met = meetings(difference, slope, run.n);
    if (met == run.n) continue;
    details.count(level, run.n - met);
    if (met == 0) return;
    const std::int64_t when = slope == 0 ? 0 : -difference / slope;
    std::size_t next = level + 1;
    const auto differs = [&](std::size_t k) {
      return run.point[k] + (k == innermost ? run.stride * when : 0) != run.producer[k] + steps[k] * when;
    };
    while (next < shared && !differs(next)) ++next;
    return details.count(next, 1);
  }
  details.count(shared, run.n);
}

/// A run in which several coordinates of the producer grow.
void Streams::dependence_column(DependenceDetails& details, const Reader& reader, const DependenceRun& run) {
  last_dependence_ = &details;
  if (reader.object != details.reader.object) details.more_objects = true;
  details.reloads += run.reloads;
  const std::size_t outputs = details.sink.shape.outputs;
  std::int64_t* const steps = steps_of(outputs);
  steps[outputs - 1] = run.step;
  for (std::size_t i = 0; i < run.outer.size(); ++i) steps[outputs - 2 - i] = run.outer[i];
  count_column(details, run, steps);
  add_run(details.sink, {run.point, run.producer, steps, run.n, run.stride});
  std::fill(steps, steps + outputs, 0);
}

/// Where there is no stream for them.
void Streams::one_by_one(Reader reader, DefinitionId from, const DependenceRun& run) {
  one_point_.assign(run.point, run.point + sites_[reader.site].dimensions);
  one_producer_.assign(run.producer, run.producer + dimensions_of_definition(from));
  for (std::uint64_t k = 0; k < run.n; ++k) {
    reader.reload = k < run.reloads;
    if (dependence(reader, from, one_point_.data(), one_producer_.data()))
      for (const std::uint16_t coordinate : run.late) late(coordinate);
    one_point_.back() += run.stride;
    one_producer_.back() += run.step;
    for (std::size_t i = 0; i < run.outer.size(); ++i) one_producer_[one_producer_.size() - 2 - i] += run.outer[i];
  }
}

/// False: there is no stream, and all is done.
bool Streams::find_used(Used& used, SiteId site, const RegisterRead& read, DefinitionId from, std::uint16_t lane,
                        const DependenceRun& run) {
  Reader reader = reader_of(site, read);
  reader.lane = lane;
  used = {from, lane, dependences(reader, from)};
  if (used.to != nullptr) return true;
  one_by_one(reader, from, run);
  return false;
}

}  // namespace loopfold::ddg
