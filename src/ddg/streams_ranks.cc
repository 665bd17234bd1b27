// Stretches that repeat (ranks.h): each stream gets the rectangle of points that they are.
//
// What is counted beside the points is the same for all of the stretches: which level carries a dependence, since
// reader and producer move on together; and what is remembered of the last entry of the loop, which is that of the last
// one. Where there is no stream yet, or a number may not fit, they go one by one.
#include <algorithm>

#include "ddg/ranks.h"
#include "ddg/streams.h"

namespace loopfold::ddg {

namespace {

__extension__ using Wide = __int128;

/// Whether the labels of all points fit into 64 bits: then none of them has wrapped around.
bool fits(const Ranks& ranks, const Ranks::Value& value) {
  const auto at = [&](std::uint64_t stretch, std::uint64_t k) {
    return value.label + static_cast<Wide>(value.growth) * static_cast<Wide>(stretch) +
           static_cast<Wide>(value.step) * static_cast<Wide>(k);
  };
  const auto is_number = [](Wide x) { return x == static_cast<std::int64_t>(x); };
  const std::uint64_t last = ranks.stretches - 1;
  return is_number(at(0, 0)) && is_number(at(0, ranks.n - 1)) && is_number(at(last, 0)) &&
         is_number(at(last, ranks.n - 1));
}

std::int64_t grown(std::int64_t number, std::int64_t growth, std::uint64_t times) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(number) + static_cast<std::uint64_t>(growth) * times);
}

}  // namespace

void Streams::ranks(const Ranks& ranks) {
  set_time(ranks.time);
  for (const SiteId site : ranks.sites) {
    sites_[site].count += ranks.n * ranks.stretches;
    add_ranks(sites_[site].domain, {ranks.point.data(), nullptr, nullptr, ranks.n, 1},
              {ranks.stretches, ranks.stride, nullptr});
  }
  for (std::size_t i = 0; i < ranks.flows.size(); ++i) flow_ranks(ranks, i);
  for (std::size_t i = 0; i < ranks.values.size(); ++i) value_ranks(ranks, i);
  for (std::size_t i = 0; i < ranks.accesses.size(); ++i) access_ranks(ranks, i);
}

void Streams::flow_ranks(const Ranks& ranks, std::size_t number) {
  const Ranks::Flow& flow = ranks.flows[number];
  const std::size_t around = ranks.point.size() - 2;
  one_point_ = ranks.point;
  one_point_.back() += static_cast<std::int64_t>(flow.first);
  one_producer_.assign(one_point_.begin(), one_point_.begin() + flow.level);
  one_producer_.push_back(flow.counter);
  const bool moves = flow.level >= around;  // some coordinate of the producer
  Used& used = *flow.used;
  if (used.to == nullptr || used.from != flow.from || used.lane != flow.lane) {
    // Where there is no stream, numbers that are given are copied to where these are now.
    std::vector<std::int64_t> point = one_point_;
    std::vector<std::int64_t> producer = one_producer_;
    for (std::uint64_t i = 0; i < ranks.stretches; ++i) {
      register_run(used, flow.site, *flow.read, flow.from, flow.lane,
                   {point.data(), producer.data(), flow.level, flow.step, flow.n, 0, 1, {}});
      point[around] += ranks.stride;
      if (moves) producer[around] += ranks.stride;
    }
    return;
  }
  DependenceDetails& details = *used.to;
  count_run(details, one_point_.data(), one_producer_.data(), flow.level, flow.step, flow.n, 1, ranks.stretches);
  const std::size_t outputs = details.sink.shape.outputs;
  rank_steps_.assign(outputs, 0);
  if (moves) rank_steps_[around] = ranks.stride;
  std::int64_t* const steps = steps_of(outputs);
  steps[outputs - 1] = flow.step;
  add_ranks(details.sink, {one_point_.data(), one_producer_.data(), steps, flow.n, 1},
            {ranks.stretches, ranks.stride, rank_steps_.data()});
  steps[outputs - 1] = 0;
}

void Streams::value_ranks(const Ranks& ranks, std::size_t number) {
  const Ranks::Value& value = ranks.values[number];
  ValueDetails* const details = at(sites_[value.site].values, value.value->dense);
  const std::uint64_t last = ranks.stretches - 1;
  if (details == nullptr || !fits(ranks, value)) {
    one_point_ = ranks.point;
    for (std::uint64_t i = 0; i < ranks.stretches; ++i, one_point_[one_point_.size() - 2] += ranks.stride)
      value_run(value.site, *value.value, one_point_.data(), grown(value.label, value.growth, i), value.step, ranks.n,
                ranks.serial - last + i);
    return;
  }
  const std::int64_t label = grown(value.label, value.growth, last);
  const auto follow = [&](std::uint64_t k) {
    details->steady.add(ranks.serial, ranks.point.back() + static_cast<std::int64_t>(k), grown(label, value.step, k));
  };
  follow(0);
  if (ranks.n > 1) follow(1);
  if (ranks.n > 2) follow(ranks.n - 1);
  add_ranks(details->sink, {ranks.point.data(), &value.label, &value.step, ranks.n, 1},
            {ranks.stretches, ranks.stride, &value.growth});
}

void Streams::access_ranks(const Ranks& ranks, std::size_t number) {
  const Ranks::Access& access = ranks.accesses[number];
  const std::uint64_t last = ranks.stretches - 1;
  const auto place_in = [&](std::uint64_t stretch) {
    return Objects::Place{access.place.object, grown(access.place.block, access.growth.block, stretch),
                          grown(access.place.offset, access.growth.offset, stretch)};
  };
  AccessDetails* const details =
      at(sites_[access.site].accesses, access.access->dense).find(key_of(access.place.object));
  if (details == nullptr) {
    one_point_ = ranks.point;
    for (std::uint64_t i = 0; i < ranks.stretches; ++i, one_point_[one_point_.size() - 2] += ranks.stride)
      access_run(access.site, *access.access, one_point_.data(), place_in(i), access.step, ranks.n, access.copies,
                 ranks.serial - last + i);
    return;
  }
  const Objects::Place place = place_in(last);
  const std::uint64_t more = ranks.n - 1;
  details->follow(ranks.serial, place.block, place.offset);
  if (more > 0)
    details->follow(ranks.serial, grown(place.block, access.step.block, more),
                    grown(place.offset, access.step.offset, more));
  details->copies += access.copies * ranks.stretches;
  const std::int64_t labels[2] = {access.place.block, access.place.offset};
  const std::int64_t steps[2] = {access.step.block, access.step.offset};
  const std::int64_t growth[2] = {access.growth.block, access.growth.offset};
  add_ranks(details->sink, {ranks.point.data(), labels, steps, ranks.n, 1}, {ranks.stretches, ranks.stride, growth});
}

/// The runs go to their streams together, if all of them have one. Which level carries a run is asked for each of them:
/// it may depend on how far its producer is.
void Streams::load_ranks(const LoadRanks& ranks) {
  set_time(ranks.time);
  const std::size_t around = ranks.point.size() - 2;
  rank_streams_.clear();
  const auto has_stream = [&](const LoadRanks::Group& group) {
    return rank_streams_.emplace_back(dependences(ranks.reader, group.from)) != nullptr;
  };
  std::vector<LoadRanks::Group> single;
  if (!std::all_of(ranks.groups.begin(), ranks.groups.end(), has_stream)) {
    for (const LoadRanks::Group& group : ranks.groups)
      for (std::uint64_t i = 0; i < group.entries; ++i) {
        single.push_back(group);
        single.back().entry += group.along * i;
        single.back().entries = 1;
        single.back().growth = group.growth * static_cast<std::int64_t>(i);
      }
    std::sort(single.begin(), single.end(), [](const LoadRanks::Group& a, const LoadRanks::Group& b) {
      return a.entry != b.entry ? a.entry < b.entry : a.number < b.number;
    });
  }
  for (const LoadRanks::Group& group : single) {
    std::vector<std::int64_t> point = ranks.point;
    point[around] += static_cast<std::int64_t>(group.entry);
    point.back() += static_cast<std::int64_t>(group.first);
    const std::size_t depth = dimensions_of_definition(group.from);
    std::vector<std::int64_t> producer(ranks.producers.begin() + static_cast<std::ptrdiff_t>(group.producer),
                                       ranks.producers.begin() + static_cast<std::ptrdiff_t>(group.producer + depth));
    producer.back() += group.growth;
    if (group.moves) producer[depth - 2] += static_cast<std::int64_t>(group.entry);
    dependence_run(nullptr, ranks.reader, group.from,
                   {point.data(),
                    producer.data(),
                    group.equal,
                    group.step,
                    group.n,
                    ranks.reloads ? group.n : 0,
                    group.stride,
                    {},
                    {group.outer.data(), group.levels}});
  }
  if (!single.empty()) return;
  one_point_ = ranks.point;
  for (std::size_t number = 0; number < ranks.groups.size(); ++number) {
    const LoadRanks::Group& group = ranks.groups[number];
    DependenceDetails& details = *rank_streams_[number];
    if (ranks.reader.object != details.reader.object) details.more_objects = true;
    if (ranks.reloads) details.reloads += group.n * group.entries;
    one_point_[around] = ranks.point[around] + static_cast<std::int64_t>(group.entry);
    one_point_.back() = ranks.point.back() + static_cast<std::int64_t>(group.first);
    const std::size_t outputs = details.sink.shape.outputs;
    const std::int64_t* const first = ranks.producers.data() + group.producer;
    std::int64_t* const steps = steps_of(outputs);
    steps[outputs - 1] = group.step;
    for (std::size_t i = 0; i < group.levels; ++i) steps[outputs - 2 - i] = group.outer[i];
    const auto along = static_cast<std::int64_t>(group.along);
    // Mostly it is decided by a coordinate that none of them changes.
    std::uint64_t times = group.entries;
    const std::size_t fixed = std::min({around, outputs - 1 - group.levels, std::size_t{details.shared}});
    std::size_t level = group.equal;
    while (level < fixed && one_point_[level] == first[level]) ++level;
    if (level < fixed || (level >= details.shared && level <= around)) {
      details.count(std::min<std::size_t>(level, details.shared), group.n * group.entries);
      times = 0;
    } else {
      one_producer_.assign(first, first + outputs);
    }
    for (std::uint64_t i = 0; i < times; ++i) {
      if (group.levels == 0)
        count_run(details, one_point_.data(), one_producer_.data(), group.equal, group.step, group.n, group.stride, 1);
      else
        count_column(
            details,
            {one_point_.data(), one_producer_.data(), group.equal, group.step, group.n, 0, group.stride, {}, {}},
            steps);
      one_point_[around] += along;
      one_producer_.back() += group.growth;
      if (group.moves) one_producer_[outputs - 2] += along;
    }
    one_point_[around] -= along * static_cast<std::int64_t>(times);
    if (group.entries == 1) {
      add_run(details.sink, {one_point_.data(), first, steps, group.n, group.stride});
    } else {
      rank_steps_.assign(outputs, 0);
      rank_steps_.back() = group.growth;
      if (group.moves) rank_steps_[outputs - 2] = along;
      add_ranks(details.sink, {one_point_.data(), first, steps, group.n, group.stride},
                {group.entries, along, rank_steps_.data()});
    }
    std::fill(steps + outputs - 1 - group.levels, steps + outputs, 0);
  }
}

}  // namespace loopfold::ddg
