#include "ddg/origin_records.h"

#include <algorithm>
#include <utility>

namespace loopfold::ddg {

OriginRecords::Lane& OriginRecords::lane_of(const Reader& reader, std::uint16_t lane) {
  if (reader.site >= slots_of_.size()) slots_of_.resize(reader.site + std::size_t{1});
  std::vector<std::uint32_t>& slots = slots_of_[reader.site];
  if (reader.dense >= slots.size()) slots.resize(reader.dense + std::size_t{1});
  if (slots[reader.dense] == 0) {
    slots_.emplace_back();
    slots[reader.dense] = static_cast<std::uint32_t>(slots_.size());
  }
  std::vector<Lane>& lanes = slots_[slots[reader.dense] - 1].lanes;
  for (Lane& known : lanes)
    if (known.lane == lane) return known;
  ++lanes_;
  lanes.emplace_back().lane = lane;
  return lanes.back();
}

OriginRecords::Record& OriginRecords::record_of(const Reader& reader, Lane& lane, Key key, const Value& value) {
  if (!lane.records.empty() && records_[lane.records[lane.last]].key == key) return records_[lane.records[lane.last]];
  if (lane.index) {
    if (const auto found = lane.index->find(key); found != lane.index->end()) {
      lane.last = found->second;
      return records_[lane.records[lane.last]];
    }
  } else {
    for (std::uint32_t i = 0; i < lane.records.size(); ++i) {
      if (records_[lane.records[i]].key != key) continue;
      lane.last = i;
      return records_[lane.records[i]];
    }
  }
  if (lane.records.size() >= kMaxRecords && key != Key{}) return record_of(reader, lane, Key{}, value);
  Record record;
  record.key = key;
  record.site = reader.site;
  record.instruction = reader.instruction;
  record.operand = reader.operand;
  record.lane = lane.lane;
  record.turns.resize(streams_.dimensions(reader.site));
  if (key.from == 0) {
    record.carried.resize(1);
  } else {
    record.load = value.load != nullptr;
    record.shared = shared(reader.site, streams_.site_of(key.from));
    record.carried.resize(record.shared + std::size_t{1});
    record.least.resize(record.shared);
    record.greatest.resize(record.shared);
    if (record.load) {
      record.rewritten.resize(record.carried.size());
      record.reread.resize(record.carried.size());
    }
  }
  lane.last = static_cast<std::uint32_t>(lane.records.size());
  lane.records.push_back(static_cast<std::uint32_t>(records_.size()));
  if (lane.index) lane.index->emplace(key, lane.last);
  records_.push_back(std::move(record));
  if (!lane.index && lane.records.size() > kFewRecords) {
    lane.index = std::make_unique<std::map<Key, std::uint32_t>>();
    for (std::uint32_t i = 0; i < lane.records.size(); ++i) lane.index->emplace(records_[lane.records[i]].key, i);
  }
  return records_.back();
}

std::uint16_t OriginRecords::shared(SiteId a, SiteId b) {
  SharedEntry& entry = shared_[(a * 31 + b) % kSharedEntries];
  if (entry.a != a || entry.b != b)
    entry = {a, b, shared_dimensions(tree_, streams_.context_of(a), streams_.context_of(b))};
  return entry.shared;
}

OriginRecords::Distance OriginRecords::distance(const Reader& reader, const Cell& cell) {
  const std::uint16_t common = shared(reader.site, streams_.site_of(cell.producer));
  vector_.resize(entries_.depth(cell.entry));
  entries_.vector(cell.entry, cell.counter, vector_.data());
  std::uint16_t level = 0;
  while (level < common && reader.point[level] == vector_[level]) ++level;
  return {common, level};
}

bool OriginRecords::is_instance(const Reader& reader, const Cell& cell) const {
  return cell.entry == reader.entry && cell.counter == reader.counter && streams_.site_of(cell.producer) == reader.site;
}

void OriginRecords::use(const Reader& reader, std::uint16_t lane, const Cell& writer, const Value& value) {
  Lane& at = lane_of(reader, lane);
  const bool by_origin = !value.none && value.origin == writer;
  bool is_record = value.none || (by_origin ? value.load != nullptr : !is_instance(reader, value.origin));
  if (by_origin && value.origin.entry == reader.entry && value.origin.counter == reader.counter) is_record = false;
  if (is_record) {
    const Key key{writer.producer, value.none ? 0 : value.origin.producer, is_instance(reader, writer)};
    Record& record = record_of(reader, at, key, value);
    if (count(reader, value, by_origin, record) && at.met) count_turns(reader, at, value, record);
  }
  at.met = true;
  at.none = value.none;
  at.origin = value.none ? Cell{} : value.origin;
  at.entry = reader.entry;
  at.counter = reader.counter;
}

/// False: it is no record after all, since no shared coordinate differs.
bool OriginRecords::count(const Reader& reader, const Value& value, bool by_origin, Record& record) {
  if (record.key.from == 0) {
    ++record.carried[0];
    ++record.instances;
    return true;
  }
  const std::uint16_t level = distance(reader, value.origin).level;
  if (by_origin && level == record.shared) return false;
  if (level < record.shared) {
    const std::int64_t far = reader.point[level] - vector_[level];
    const bool first = record.carried[level] == 0;
    record.least[level] = first ? far : std::min(record.least[level], far);
    record.greatest[level] = first ? far : std::max(record.greatest[level], far);
  }
  ++record.carried[level];
  ++record.instances;
  if (value.load != nullptr) count_load(reader, *value.load, level, record);
  return true;
}

void OriginRecords::count_load(const Reader& reader, const Provenance& load, std::uint16_t level, Record& record) {
  if (is_rewritten(memory_, load)) {
    ++record.rewritten[level];
    return;
  }
  if (level == record.shared) return;
  bool carried = false;
  const auto look_at = [&](const Cell& cell) {
    if (carried || cell.producer == 0) return;
    const Distance found = distance(reader, cell);
    carried = found.level == level && level < found.shared;
  };
  if (!load.mixed)
    look_at(load.writers);
  else
    memory_.read(load.address, load.size, [&](std::uint64_t, std::uint64_t, const Cell& cell) { look_at(cell); });
  if (carried) ++record.reread[level];
}

/// Another origin than the last time? In every loop whose entry both times are in, and both origins are not.
void OriginRecords::count_turns(const Reader& reader, const Lane& lane, const Value& value, Record& record) {
  if (lane.none == value.none && (value.none || lane.origin == value.origin)) return;
  const std::size_t dimensions = record.turns.size();
  if (lane.entry != reader.entry) {
    vector_.resize(entries_.depth(lane.entry));
    entries_.vector(lane.entry, lane.counter, vector_.data());
  }
  std::size_t last = 0;
  if (lane.entry == reader.entry)
    last = dimensions - 1;
  else
    while (last + 1 < dimensions && vector_[last] == reader.point[last]) ++last;
  const Distance everywhere{0, 0};
  const Distance before = lane.none ? everywhere : distance(reader, lane.origin);
  const Distance now = value.none ? everywhere : distance(reader, value.origin);
  const auto older = [](const Distance& far, std::size_t loop) { return far.level < loop || far.shared <= loop; };
  for (std::size_t loop = 0; loop <= last; ++loop)
    if (older(before, loop) && older(now, loop)) ++record.turns[loop];
}

void OriginRecords::mark(Entries& entries) const {
  for (const Slot& slot : slots_) {
    for (const Lane& lane : slot.lanes) {
      if (!lane.met) continue;
      entries.mark(lane.entry);
      if (!lane.none) entries.mark(lane.origin.entry);
    }
  }
}

namespace {

template <class T, class Unite>
void unite(std::vector<T>& into, const std::vector<T>& from, Unite unite) {
  if (into.size() < from.size()) into.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) into[i] = unite(into[i], from[i]);
}

void add(std::vector<std::uint64_t>& into, const std::vector<std::uint64_t>& from) {
  unite(into, from, [](std::uint64_t a, std::uint64_t b) { return a + b; });
}

}  // namespace

void OriginRecords::finish(Graph& graph) const {
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
    const auto [at, added] =
        found.try_emplace({origin.to, origin.to_instruction, origin.operand, origin.lane, origin.by,
                           origin.by_instruction, origin.from, origin.from_instruction, origin.local},
                          origin);
    Origin& into = at->second;
    into.least.resize(record.least.size());
    into.greatest.resize(record.greatest.size());
    for (std::size_t level = 0; level < record.least.size(); ++level) {
      if (record.carried[level] == 0) continue;
      const bool first = into.carried.empty() || into.carried[level] == 0;
      into.least[level] = first ? record.least[level] : std::min(into.least[level], record.least[level]);
      into.greatest[level] = first ? record.greatest[level] : std::max(into.greatest[level], record.greatest[level]);
    }
    add(into.carried, record.carried);
    add(into.rewritten, record.rewritten);
    add(into.reread, record.reread);
    add(into.turns, record.turns);
  }
  for (auto& [key, origin] : found) graph.origins.push_back(std::move(origin));
}

std::uint64_t OriginRecords::bytes() const {
  constexpr std::uint64_t kCounters = 160;  // of a record, about
  std::uint64_t slots = 0;
  for (const std::vector<std::uint32_t>& operands : slots_of_) slots += sizeof(operands) + operands.size() * 4;
  return slots + slots_.size() * sizeof(Slot) + lanes_ * sizeof(Lane) + records_.size() * (sizeof(Record) + kCounters) +
         sizeof(*this);
}

}  // namespace loopfold::ddg
