// Several instances of one site at once: the stream is looked up once, and its folder gets all of them (fold::Rows).
#include <algorithm>

#include "ddg/streams.h"

namespace loopfold::ddg {

void Streams::instances(const Located& at, const Instances& all) {
  Site& site = *at.site;
  site.count += all.n;
  if (site.domain.folder == nullptr) site.domain = new_stream(Stream::Kind::kDomain, at.id, {site.dimensions, 0, 0});
  add_rows(site.domain, all.rows(nullptr));
}

void Streams::values(const Located& at, const IntegerValue& value, const Instances& all, const std::int64_t* labels) {
  const std::size_t dimensions = at.site->dimensions;
  ValueDetails* details = Streams::at(at.site->values, value.dense);
  if (details == nullptr) details = new_value(at.id, value);
  if (details == nullptr) {
    at.site->dropped += all.n - 1;
    return;
  }
  if (dimensions > 1 && details->steady.steady())
    for (std::size_t i = 0; i < all.n && details->steady.steady(); ++i)
      details->steady.add(all.entries[i], all.points[(i + 1) * dimensions - 1], labels[i]);
  add_rows(details->sink, all.rows(labels));
}

void Streams::accesses(const Located& at, const MemoryAccess& access, const Instances& all, ObjectId object,
                       const std::int64_t* places, std::uint64_t copies) {
  AccessDetails* details = Streams::at(at.site->accesses, access.dense).find(key_of(object));
  if (details == nullptr) details = new_access(at.id, access, object);
  if (details == nullptr) {
    at.site->dropped += all.n - 1;
    return;
  }
  // Of the others only the last counts, once neither stays the same.
  std::size_t i = details->same_block || details->same_offset ? 0 : all.n - 1;
  for (; i < all.n; ++i) details->follow(all.entries[i], places[2 * i], places[2 * i + 1]);
  details->copies += copies;
  add_rows(details->sink, all.rows(places));
}

bool Streams::dependences(const Located& at, const Reader& reader, DefinitionId from, const Instances& all,
                          const std::int64_t* producers, std::uint16_t* equal, std::size_t same, std::uint64_t reloads,
                          bool more_objects) {
  DependenceDetails* details = Streams::at(at.site->operands, reader.dense).find(key_of(from, reader.lane));
  const std::size_t dimensions = at.site->dimensions;
  if (details == nullptr) {
    details = first_dependence(reader, from, all.points);
    if (details == nullptr) {  // each is counted as lost, or as dropped
      for (std::size_t i = 1; i < all.n; ++i) first_dependence(reader, from, all.points + i * dimensions);
      return false;
    }
  }
  if (more_objects || reader.object != details->reader.object) details->more_objects = true;
  details->reloads += reloads;
  last_dependence_ = details;
  const std::size_t outputs = details->sink.shape.outputs;
  const std::size_t shared = details->shared;
  bool elsewhere = false;
  if (same >= shared) {
    details->count(shared, all.n);
    elsewhere = shared == 0;
    if (elsewhere) std::fill_n(equal, all.n, std::uint16_t{0});
  } else if (same + 1 == shared && same > 0) {
    // Mostly: of one loop, and it is that loop that carries it, or none.
    const std::int64_t* point = all.points + same;
    const std::int64_t* producer = producers + same;
    std::uint64_t within = 0;
    for (std::size_t i = 0; i < all.n; ++i, point += dimensions, producer += outputs)
      within += *point == *producer ? 1 : 0;
    if (within != 0) details->count(shared, within);
    if (within != all.n) details->count(same, all.n - within);
  } else {
    for (std::size_t i = 0; i < all.n; ++i) {
      const std::int64_t* const point = all.points + i * dimensions;
      const std::int64_t* const producer = producers + i * outputs;
      std::size_t level = std::min<std::size_t>(equal[i], shared);
      while (level < shared && point[level] == producer[level]) ++level;
      details->count(level);
      equal[i] = static_cast<std::uint16_t>(level);
      elsewhere = elsewhere || level == 0;
    }
  }
  add_rows(details->sink, all.rows(producers, same));
  return elsewhere;
}

bool Streams::has_room_for_producers(const Located& at, std::size_t more) const {
  return std::all_of(at.site->operands.begin(), at.site->operands.end(),
                     [&](const StreamLinks<DependenceDetails>& links) { return links.size() + more <= kMaxProducers; });
}

bool Streams::has_room_for_objects(const Located& at, const MemoryAccess& access, std::size_t more) const {
  const std::vector<StreamLinks<AccessDetails>>& known = at.site->accesses;
  return (access.dense < known.size() ? known[access.dense].size() : 0) + more <= kMaxObjects;
}

}  // namespace loopfold::ddg
