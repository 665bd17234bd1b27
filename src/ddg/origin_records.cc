#include "ddg/origin_records.h"

#include <algorithm>
#include <utility>

namespace loopfold::ddg {

OriginRecords::Uses& OriginRecords::uses(SiteId site, std::size_t operands) {
  if (site >= uses_.size()) uses_.resize(site + std::size_t{1});
  if (!uses_[site]) {
    uses_[site] = std::make_unique<Uses>();
    uses_[site]->in_loop_ = streams_.dimensions(site) > 1;
  }
  std::vector<Operand>& known = uses_[site]->operands_;
  if (known.size() < operands) {
    operands_ += operands - known.size();
    known.resize(operands);
  }
  return *uses_[site];
}

OriginRecords::Lane& OriginRecords::other_lane(Operand& operand, std::uint16_t lane) {
  if (!operand.first.met) {
    operand.first.lane = lane;
    return operand.first;
  }
  std::vector<Lane>& others = details_of(operand.first).others;
  for (Lane& known : others)
    if (known.lane == lane) return known;
  ++lanes_;
  others.emplace_back().lane = lane;
  return others.back();
}

[[gnu::noinline]] OriginRecords::Record& OriginRecords::find_record(const Reader& reader, Lane& lane, Key key,
                                                                    bool load) {
  LaneDetails& list = details_of(lane);
  if (list.index) {
    if (const auto found = list.index->find(key); found != list.index->end()) return *(lane.last = found->second);
  } else {
    for (Record* const record : list.records)
      if (record->key == key) return *(lane.last = record);
  }
  if (list.records.size() >= kMaxRecords && key != Key{}) return record_of(reader, lane, Key{}, load);
  Record& record = records_.emplace_back();
  record.key = key;
  record.site = reader.site;
  record.instruction = reader.instruction;
  record.operand = reader.operand;
  record.lane = lane.lane;
  record.dense = reader.dense;
  record.dimensions = streams_.dimensions(reader.site);
  if (key.from != 0) {
    record.load = load;
    record.shared = shared(reader.site, streams_.site_of(key.from));
  }
  record.levels.resize(record.dimensions + std::size_t{1});
  lane.last = &record;
  list.records.push_back(&record);
  if (list.index) list.index->emplace(key, &record);
  if (!list.index && list.records.size() > kFewRecords) {
    list.index = std::make_unique<std::map<Key, Record*>>();
    for (Record* const known : list.records) list.index->emplace(known->key, known);
  }
  return record;
}

std::uint16_t OriginRecords::shared(SiteId a, SiteId b) {
  SharedEntry& entry = shared_[(a * 31 + b) % kSharedEntries];
  if (entry.a != a || entry.b != b)
    entry = {a, b, shared_dimensions(tree_, streams_.context_of(a), streams_.context_of(b))};
  return entry.shared;
}

/// Of a lane that has been even so far.
[[gnu::noinline]] void OriginRecords::note_even_address(Lane& lane, const Reader& reader, const Provenance& load) {
  EvenAddresses& even = details_of(lane).even;
  if (!steps_.empty() && times_ > 1) note_first_address(lane, reader, load);
  if (!lane.uneven) lane.uneven = !even.add(reader.serial, reader.counter, load.address);
}

/// That of the first of the iterations that the reader's stands for. What was loaded outside of the loop is where it
/// was.
void OriginRecords::note_first_address(Lane& lane, const Reader& reader, const Provenance& load) {
  std::uint64_t step = 0;
  if (load.origin.entry == reader.entry)
    for (const LoadStep& known : steps_)
      if (known.load == load.origin.producer) step = known.step;
  const std::uint64_t before = times_ - 1;
  lane.uneven = !lane.details->even.add(reader.serial, reader.counter - before, load.address - step * before);
}

[[gnu::noinline]] void OriginRecords::look_up(SiteId reader, DefinitionId definition, Writer& into) {
  const SiteId site = streams_.site_of(definition);
  into = {definition, reader, shared(reader, site), streams_.dimensions(site)};
}

/// Whether it is this level of the reader that carries what wrote a cell that a load got.
[[gnu::always_inline]] inline bool OriginRecords::is_carried(const Reader& reader, const Cell& cell,
                                                             std::uint16_t level, const Record& record) {
  if (cell.producer == 0) return false;
  const Writer& by = writer(reader.site, cell.producer);
  if (level >= by.shared) return false;
  // Another entry of the reader's innermost loop is carried further outside. Entries of long ago are not looked at.
  if (level + 1 == record.dimensions && by.dimensions == record.dimensions && cell.entry != reader.entry &&
      entries_.in_one_slice())
    return false;
  return distance(reader, cell, by.shared).level == level;
}

[[gnu::noinline]] bool OriginRecords::is_any_carried(const Reader& reader, const Provenance& load, std::uint16_t level,
                                                     const Record& record) {
  bool carried = false;
  memory_.read(load.address, load.size, [&](std::uint64_t, std::uint64_t, const Cell& cell) {
    carried = carried || is_carried(reader, cell, level, record);
  });
  return carried;
}

[[gnu::always_inline]] inline OriginRecords::Loads OriginRecords::count_load(const Reader& reader,
                                                                             const Provenance& load,
                                                                             std::uint16_t level, Record& record) {
  if (was_rewritten(load)) {
    record.levels[level].rewritten += counted_;
    return Loads::kRewritten;
  }
  if (level == record.shared) return Loads::kNone;
  const bool carried =
      load.mixed ? is_any_carried(reader, load, level, record) : is_carried(reader, load.writers, level, record);
  if (carried) record.levels[level].reread += counted_;
  return carried ? Loads::kReread : Loads::kNone;
}

/// Whether a use that was counted will count the same for any other instance of the reader in this entry of its
/// innermost loop, as long as it gets the same origin, and what that loaded is not rewritten: nothing that was asked
/// depends on the last coordinate.
bool OriginRecords::counts_again(const Value& value, const Distance& far, const Record& record) {
  const std::uint16_t innermost = static_cast<std::uint16_t>(record.dimensions - 1);
  const bool outside = far.level < innermost || (far.level == record.shared && record.shared < record.dimensions);
  return outside && !value.none && !value.unknown && record.key.from != 0 &&
         (value.load == nullptr || !value.load->mixed);
}

/// As use() of what a copy or a load got in another iteration of the reader's innermost loop. Else false, and nothing
/// has been counted.
[[gnu::always_inline]] inline bool OriginRecords::count_of_loop(const Reader& reader, const Cell& writer,
                                                                const Cell& origin, const Provenance* load,
                                                                Lane& lane) {
  if (origin.entry != reader.entry || origin.counter == reader.counter) return false;
  const bool by_origin = writer == origin;
  if (by_origin && load == nullptr) return false;
  const bool local = !by_origin && is_instance(reader, writer);
  Record& record = record_of(reader, lane, {writer.producer, origin.producer, local}, load != nullptr);
  if (record.shared != record.dimensions) [[unlikely]]
    return false;
  const auto level = static_cast<std::uint16_t>(record.shared - 1);
  Record::AtLevel& counts = record.levels[level];
  counts.include(static_cast<std::int64_t>(reader.counter - origin.counter));
  counts.carried += counted_;
  record.instances += counted_;
  note(lane, reader, origin, false);
  if (load == nullptr) {
    lane.uneven = true;
  } else {
    count_load(reader, *load, level, record);
    note_address(lane, reader, *load);
  }
  return true;
}

/// As use(), if it is the same as the last time. Else false, and nothing has changed.
[[gnu::always_inline]] inline bool OriginRecords::count_again(const Reader& reader, const Cell& writer,
                                                              const Cell& origin, const Provenance* load, Lane& lane) {
  if (lane.again == Again::kNo || lane.entry != reader.entry || !(lane.origin == origin)) return false;
  Record& record = *lane.last;
  const bool by_origin = origin == writer;
  if (record.key.by != writer.producer || by_origin != has(lane.again, Again::kByOrigin) ||
      record.key.local != (!by_origin && is_instance(reader, writer)))
    return false;
  if (load != nullptr && was_rewritten(*load)) return false;
  Record::AtLevel& counts = record.levels[lane.level];
  counts.carried += counted_;
  record.instances += counted_;
  if (has(lane.again, Again::kReread)) counts.reread += counted_;
  lane.counter = reader.counter;
  if (load != nullptr) note_address(lane, reader, *load);
  return true;
}

/// False: it is no record after all, since no shared coordinate differs. `far`: how far away the origin is.
[[gnu::always_inline]] inline bool OriginRecords::count(const Reader& reader, const Value& value, bool by_origin,
                                                        Record& record, Distance& far, Again& again) {
  if (record.key.from == 0) {
    if (!value.none) far = distance(reader, value.origin, record);
    record.levels[0].carried += counted_;
    record.instances += counted_;
    return true;
  }
  const auto [level, coordinate] = parting(reader, value.origin, record.shared);
  far = {record.shared, level};
  if (by_origin && level == record.shared) return false;
  Record::AtLevel& counts = record.levels[level];
  if (level < record.shared) counts.include(reader.point[level] - coordinate);
  counts.carried += counted_;
  record.instances += counted_;
  const Loads loads = value.load != nullptr ? count_load(reader, *value.load, level, record) : Loads::kNone;
  if (loads != Loads::kRewritten && counts_again(value, far, record))
    again = static_cast<Again>(static_cast<unsigned>(Again::kYes) |
                               (by_origin ? static_cast<unsigned>(Again::kByOrigin) : 0) |
                               (loads == Loads::kReread ? static_cast<unsigned>(Again::kReread) : 0));
  return true;
}

/// Another origin than the last time? In every loop whose entry both times are in, and both origins are not. `far`: how
/// far away the origin of this time is.
[[gnu::always_inline]] inline void OriginRecords::count_turns(const Reader& reader, const Lane& lane,
                                                              const Value& value, const Distance& far, Record& record) {
  std::size_t loop = far.newer();
  if (loop == record.dimensions) return;
  if (is_weighted_first(reader, lane)) [[unlikely]]
    note_first_use(reader, lane, value, far.newer(), record);
  if (lane.none == value.none && (value.none || lane.origin == value.origin)) return;
  const auto innermost = static_cast<std::uint16_t>(record.dimensions - 1);
  const std::size_t last = entries_.parting(lane.entry, lane.counter, reader.entry, reader.point, innermost).level;
  if (loop > last) return;
  if (!lane.none) loop = std::max<std::size_t>(loop, distance(reader, lane.origin, record).newer());
  const bool same_iteration = reader.entry != weighted_ && lane.entry == reader.entry;
  for (; loop <= last; ++loop) record.levels[loop].turns += same_iteration ? weight_ : 1;
}

[[gnu::noinline]] void OriginRecords::note_first_use(const Reader& reader, const Lane& lane, const Value& value,
                                                     std::uint16_t newer, Record& record) {
  if (newer > weighted_level_) return;  // it comes from one of the iterations
  first_uses_.push_back({reader, value, lane.lane, newer, &record});
  first_points_.insert(first_points_.end(), reader.point, reader.point + record.dimensions);
}

/// The next one was alike: its first use comes behind what was the last one in this.
void OriginRecords::end_weight() {
  const std::int64_t* point = first_points_.data();
  for (FirstUse& first : first_uses_) {
    first.reader.point = std::exchange(point, point + first.record->dimensions);
    const Lane& last = lane_of(first.reader, first.lane);
    if (last.none == first.value.none && (last.none || last.origin == first.value.origin)) continue;
    std::size_t loop = first.newer;
    if (!last.none) loop = std::max<std::size_t>(loop, distance(first.reader, last.origin, *first.record).newer());
    for (; loop <= weighted_level_; ++loop) first.record->levels[loop].turns += weight_ - 1;
  }
  weight_ = 1;
  counted_ = times_;
  weighted_ = kNoEntry;
}

/// As use() of what is of the reader's iteration, in the same entry.
inline void OriginRecords::use_of_now(const Reader& reader, std::uint16_t lane, const Cell& writer, const Cell& origin,
                                      const Provenance* load, Lane& at) {
  if (writer == origin || streams_.site_of(origin.producer) == reader.site) {
    note(at, reader, origin, false);
  } else {
    const bool local = is_instance(reader, writer);
    Record& record = record_of(reader, at, {writer.producer, origin.producer, local}, load != nullptr);
    if (record.shared != record.dimensions) [[unlikely]]
      return use_otherwise(reader, lane, writer, {origin, false, load});
    Record::AtLevel& counts = record.levels[record.shared];
    counts.carried += counted_;
    record.instances += counted_;
    if (load != nullptr && was_rewritten(*load)) counts.rewritten += counted_;
    note(at, reader, origin, false);
  }
  if (load != nullptr)
    note_address(at, reader, *load);
  else
    at.uneven = true;
}

void OriginRecords::use_none(const Reader& reader, std::uint16_t lane, const Cell& writer) {
  Lane& at = lane_of(reader, lane);
  // That it had none the last time either is why nothing takes turns.
  if (!at.met || !at.none) return use_otherwise(reader, lane, writer, {{}, true, nullptr});
  Record& record = record_of(reader, at, {writer.producer, 0, is_instance(reader, writer)}, false);
  record.levels[0].carried += counted_;
  record.instances += counted_;
  if (is_weighted_first(reader, at)) [[unlikely]]
    note_first_use(reader, at, {{}, true, nullptr}, 0, record);
  note(at, reader, {}, true);
  at.uneven = true;
}

void OriginRecords::use(const Reader& reader, std::uint16_t lane, const Cell& writer, const Value& value) {
  if (value.none) {
    if (!value.unknown) return use_none(reader, lane, writer);
  } else if (is_now(reader, value.origin)) {
    return use_of_now(reader, lane, writer, value.origin, value.load, lane_of(reader, lane));
  }
  use_otherwise(reader, lane, writer, value);
}

[[gnu::noinline, gnu::flatten]] void OriginRecords::use_otherwise(const Reader& reader, std::uint16_t lane,
                                                                  const Cell& writer, const Value& value) {
  Lane& at = lane_of(reader, lane);
  if (!value.none && (count_of_loop(reader, writer, value.origin, value.load, at) ||
                      count_again(reader, writer, value.origin, value.load, at)))
    return;
  const bool by_origin = !value.none && value.origin == writer;
  bool is_record = value.none || (by_origin ? value.load != nullptr : !is_instance(reader, value.origin));
  if (by_origin && is_now(reader, value.origin)) is_record = false;
  Again again = Again::kNo;
  Distance far;
  if (is_record) {
    const Key key = value.unknown ? Key{}
                                  : Key{writer.producer, value.none ? 0 : value.origin.producer,
                                        !by_origin && is_instance(reader, writer)};
    Record& record = record_of(reader, at, key, value.load != nullptr);
    if (count(reader, value, by_origin, record, far, again) && at.met) count_turns(reader, at, value, far, record);
  }
  note(at, reader, value.none ? Cell{} : value.origin, value.none);
  at.again = again;
  at.level = far.level;
  if (value.none || value.load == nullptr)
    at.uneven = true;
  else
    note_address(at, reader, *value.load);
}

void OriginRecords::use_kept(const Reader& reader, std::uint16_t lane, const Cell& writer, const Provenance& kept) {
  Lane& at = lane_of(reader, lane);
  const Provenance* const load = kept.load ? &kept : nullptr;
  if (kept.origin.entry == reader.entry) {
    if (kept.origin.counter == reader.counter) return use_of_now(reader, lane, writer, kept.origin, load, at);
    if (count_of_loop(reader, writer, kept.origin, load, at)) return;
  } else if (count_again(reader, writer, kept.origin, load, at)) {
    return;
  }
  use_otherwise(reader, lane, writer, {kept.origin, false, load});
}

void OriginRecords::mark(Entries& entries) {
  looked_ = {};
  const auto look_at = [&](const Lane& lane) {
    if (!lane.met) return;
    entries.mark(lane.entry);
    if (!lane.none) entries.mark(lane.origin.entry);
  };
  for (const std::unique_ptr<Uses>& uses : uses_) {
    if (!uses) continue;
    for (const Operand& operand : uses->operands_) operand.for_each(look_at);
  }
}

namespace {

/// Adds the first `count` of one counter of each level.
template <class Levels, class Level>
void add(std::vector<std::uint64_t>& into, const Levels& levels, std::uint64_t Level::*counter, std::size_t count) {
  if (into.size() < count) into.resize(count);
  for (std::size_t i = 0; i < count; ++i) into[i] += levels[i].*counter;
}

}  // namespace

/// Lanes that have records, over all stacks: were they even on all of them?
std::map<OriginRecords::LaneKey, bool> OriginRecords::even_lanes() const {
  std::map<LaneKey, bool> even;
  for (const Record& record : records_)
    if (record.instances > 0) even[{streams_.statement_of(record.site), record.dense, record.lane}] = true;
  for (SiteId site = 0; site < uses_.size(); ++site) {
    if (!uses_[site]) continue;
    const StatementId statement = streams_.statement_of(site);
    const std::vector<Operand>& operands = uses_[site]->operands_;
    for (std::uint32_t dense = 0; dense < operands.size(); ++dense) {
      const auto look_at = [&](const Lane& lane) {
        if (!lane.uneven) return;
        if (const auto found = even.find({statement, dense, lane.lane}); found != even.end()) found->second = false;
      };
      operands[dense].for_each(look_at);
    }
  }
  return even;
}

void OriginRecords::finish(Graph& graph) const {
  const std::map<LaneKey, bool> even = even_lanes();
  using GraphKey = std::tuple<StatementId, std::uint16_t, std::uint8_t, std::uint16_t, StatementId, std::uint16_t,
                              StatementId, std::uint16_t, bool>;
  std::map<GraphKey, Origin> found;
  for (const Record& record : records_) {
    if (record.instances == 0) continue;
    Origin origin;
    const auto place = [&](DefinitionId definition, StatementId& statement, std::uint16_t& instruction) {
      if (definition == 0) return;
      statement = streams_.statement_of(streams_.site_of(definition));
      instruction = streams_.instruction_of(definition);
    };
    place(record.key.from, origin.from, origin.from_instruction);
    place(record.key.by, origin.by, origin.by_instruction);
    origin.to = streams_.statement_of(record.site);
    origin.to_instruction = record.instruction;
    origin.operand = record.operand;
    origin.lane = record.lane;
    origin.load = record.load;
    origin.local = record.key.local;
    origin.even = even.at({origin.to, record.dense, record.lane});
    const auto [at, added] =
        found.try_emplace({origin.to, origin.to_instruction, origin.operand, origin.lane, origin.by,
                           origin.by_instruction, origin.from, origin.from_instruction, origin.local},
                          origin);
    Origin& into = at->second;
    into.least.resize(record.shared);
    into.greatest.resize(record.shared);
    for (std::size_t level = 0; level < record.shared; ++level) {
      const Record::AtLevel& counts = record.levels[level];
      if (counts.carried == 0) continue;
      const bool first = into.carried.empty() || into.carried[level] == 0;
      into.least[level] = first ? counts.least : std::min(into.least[level], counts.least);
      into.greatest[level] = first ? counts.greatest : std::max(into.greatest[level], counts.greatest);
    }
    const std::size_t carried = record.shared + std::size_t{1};
    add(into.carried, record.levels, &Record::AtLevel::carried, carried);
    add(into.rewritten, record.levels, &Record::AtLevel::rewritten, record.load ? carried : 0);
    add(into.reread, record.levels, &Record::AtLevel::reread, record.load ? carried : 0);
    add(into.turns, record.levels, &Record::AtLevel::turns, record.dimensions);
  }
  for (auto& [key, origin] : found) graph.origins.push_back(std::move(origin));
}

std::uint64_t OriginRecords::bytes() const {
  constexpr std::uint64_t kCounters = 240;  // of a record, about
  return uses_.size() * (sizeof(Uses) + sizeof(uses_[0])) + operands_ * sizeof(Operand) + lanes_ * sizeof(Lane) +
         records_.size() * (sizeof(Record) + sizeof(LaneDetails) + kCounters) + sizeof(*this);
}

}  // namespace loopfold::ddg
