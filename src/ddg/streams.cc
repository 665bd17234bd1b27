#include "ddg/streams.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace loopfold::ddg {

namespace {

constexpr std::size_t kFewLinks = 8;     // are searched one by one
constexpr std::size_t kMaxObjects = 64;  // of one access
constexpr DefinitionId kLostDefinition = 0xffffffff;
constexpr const char* kColdReason = "there are more statements than --max-statements";
constexpr std::uint64_t kUnknownKey = ~std::uint64_t{0};

/// Takes a point into a box: least coordinates, then greatest.
void extend(std::vector<std::int64_t>& box, const std::int64_t* point, std::size_t dimensions) {
  if (box.empty()) {
    box.assign(point, point + dimensions);
    box.insert(box.end(), point, point + dimensions);
    return;
  }
  for (std::size_t k = 0; k < dimensions; ++k) {
    box[k] = std::min(box[k], point[k]);
    box[dimensions + k] = std::max(box[dimensions + k], point[k]);
  }
}

/// What a stream costs beside its folder.
constexpr std::uint64_t kStreamBytes = 160;

/// Smaller folders would not shrink when they give up.
constexpr std::uint64_t kWorthGivingUp = 2048;

/// The level that carries a dependence: the first shared coordinate that differs.
std::size_t carrying_level(const std::int64_t* point, const std::int64_t* producer, std::size_t shared) {
  std::size_t level = 0;
  while (level < shared && point[level] == producer[level]) ++level;
  return level;
}

}  // namespace

SiteId Streams::site(const SiteKey& key, structure::PlaceId place, std::size_t instructions) {
  if (key.context >= by_context_.size()) by_context_.resize(key.context + 1);
  std::vector<SiteId>& nodes = by_context_[key.context];
  if (key.node >= nodes.size()) nodes.resize(key.node + 1);
  for (SiteId id = nodes[key.node]; id != 0; id = sites_[id].next)
    if (sites_[id].key == key) return id;
  Site site;
  site.key = key;
  site.place = place;
  site.instructions = static_cast<std::uint16_t>(instructions);
  site.dimensions = dimensions_of(tree_, key.context);
  site.first_definition = static_cast<DefinitionId>(site_of_definition_.size());
  site.next = nodes[key.node];
  site.cold = !hot_.empty() && (key.context >= hot_.size() || !hot_[key.context]);
  const auto id = static_cast<SiteId>(sites_.size());
  site_of_definition_.insert(site_of_definition_.end(), instructions, id);
  sites_.push_back(std::move(site));
  nodes[key.node] = id;
  return id;
}

void Streams::set_code(SiteId site, const PartCode* code) {
  Site& s = sites_[site];
  if (s.code == nullptr || s.code->instructions < code->instructions) s.code = code;
}

Streams::StreamId Streams::new_stream(Stream::Kind kind, SiteId site, fold::Shape shape) {
  if (full_ && kind != Stream::Kind::kDomain) {
    ++sites_[site].dropped;
    return kNoStream;
  }
  Stream stream;
  stream.kind = kind;
  stream.site = site;
  stream.shape = shape;
  stream.folder = fold::make_folder(options_, shape);
  streams_.push_back(std::move(stream));
  return static_cast<StreamId>(streams_.size() - 1);
}

void Streams::add(StreamId stream, const std::int64_t* point, const std::int64_t* labels) {
  ++points_;
  const Stream& s = streams_[stream];
  queue_.add(stream, *s.folder, s.shape, point, labels);
}

void Streams::instance(SiteId site, const std::int64_t* point) {
  Site& s = sites_[site];
  ++s.count;
  if (s.cold) return extend(s.box, point, s.dimensions);
  if (s.domain == kNoStream) s.domain = new_stream(Stream::Kind::kDomain, site, {s.dimensions, 0, 0});
  add(s.domain, point, nullptr);
}

Streams::Slot& Streams::slot(std::vector<SlotId>& slots, std::size_t dense) {
  if (dense >= slots.size()) slots.resize(dense + 1);
  if (slots[dense] == 0) {
    slots[dense] = static_cast<SlotId>(slots_.size());
    slots_.emplace_back();
  }
  return slots_[slots[dense]];
}

Streams::Link* Streams::find(Slot& slot, std::uint64_t key) {
  if (slot.links.empty()) return nullptr;
  if (slot.links[slot.last].key == key) return &slot.links[slot.last];
  if (slot.index) {
    const auto found = slot.index->find(key);
    if (found == slot.index->end()) return nullptr;
    slot.last = found->second;
    return &slot.links[slot.last];
  }
  for (std::size_t i = 0; i < slot.links.size(); ++i) {
    if (slot.links[i].key != key) continue;
    slot.last = static_cast<std::uint32_t>(i);
    return &slot.links[i];
  }
  return nullptr;
}

Streams::Link& Streams::insert(Slot& slot, Link link) {
  slot.last = static_cast<std::uint32_t>(slot.links.size());
  slot.links.push_back(link);
  if (slot.index) {
    slot.index->emplace(link.key, slot.last);
  } else if (slot.links.size() > kFewLinks) {
    slot.index = std::make_unique<std::unordered_map<std::uint64_t, std::uint32_t>>();
    for (std::uint32_t i = 0; i < slot.links.size(); ++i) slot.index->emplace(slot.links[i].key, i);
  }
  return slot.links.back();
}

/// The stream of an access in an object, made if it is new; null if there is no room for it.
Streams::Link* Streams::access_link(SiteId site, const MemoryAccess& access, ObjectId object) {
  Slot& slot = this->slot(sites_[site].accesses, access.dense);
  std::uint64_t key = object;
  Link* link = find(slot, key);
  if (link == nullptr && slot.links.size() >= kMaxObjects) {
    key = kUnknownKey;
    object = kUnknownObject;
    link = find(slot, key);
  }
  if (link != nullptr) return link;
  const StreamId stream = new_stream(Stream::Kind::kAccess, site, {sites_[site].dimensions, 2, 0});
  if (stream == kNoStream) return nullptr;
  if (key == kUnknownKey) streams_[stream].folder->give_up("in more than 64 objects");
  AccessDetails details;
  details.site = site;
  details.stream = stream;
  details.instruction = access.instruction;
  details.index = access.index;
  details.store = access.store;
  details.guarded = access.guarded;
  details.size = access.size;
  details.object = object;
  accesses_.push_back(details);
  return &insert(slot, {key, stream, static_cast<std::uint32_t>(accesses_.size() - 1)});
}

void Streams::access(SiteId site, const MemoryAccess& access, const std::int64_t* point, ObjectId object,
                     std::int64_t block, std::int64_t offset, std::uint64_t entry) {
  last_access_ = kNoAccess;
  if (sites_[site].cold) return;
  const Link* link = access_link(site, access, object);
  if (link == nullptr) return;
  last_access_ = link->details;
  accesses_[link->details].follow(entry, block, offset);
  const std::int64_t labels[2] = {block, offset};
  add(link->stream, point, labels);
}

void Streams::count_copy() {
  if (last_access_ != kNoAccess) ++accesses_[last_access_].copies;
}

/// Those of a result, made if it is new; null if there is no room for its stream.
Streams::ValueDetails* Streams::value_details(SiteId site, const IntegerValue& value) {
  Site& s = sites_[site];
  if (s.cold) return nullptr;
  const std::size_t dense = value.dense;
  if (dense >= s.values.size()) s.values.resize(dense + 1);
  if (s.values[dense] == 0) {
    const StreamId stream = new_stream(Stream::Kind::kValue, site, {s.dimensions, 1, 0});
    if (stream == kNoStream) return nullptr;
    values_.push_back({site, stream, value.instruction, value.index, value.reg, value.width, {}});
    s.values[dense] = static_cast<std::uint32_t>(values_.size());
  }
  return &values_[s.values[dense] - 1];
}

void Streams::value(SiteId site, const IntegerValue& value, const std::int64_t* point, std::int64_t label,
                    std::uint64_t entry) {
  ValueDetails* const details = value_details(site, value);
  if (details == nullptr) return;
  const std::uint16_t dimensions = sites_[site].dimensions;
  if (dimensions > 1) details->steady.add(entry, point[dimensions - 1], label);
  add(details->stream, point, &label);
}

Streams::Link* Streams::dependence_link(const Reader& reader, DefinitionId from, std::uint64_t key, fold::Shape shape) {
  const StreamId stream = new_stream(Stream::Kind::kDependence, reader.site, shape);
  if (stream == kNoStream) return nullptr;
  DependenceDetails details;
  details.reader = reader;
  details.from = from;
  details.stream = stream;
  details.shared = shape.shared;
  details.carried.resize(shape.shared + std::size_t{1});
  dependences_.push_back(std::move(details));
  return &insert(slot(sites_[reader.site].operands, reader.dense),
                 {key, stream, static_cast<std::uint32_t>(dependences_.size() - 1)});
}

/// The stream of a producer and an operand, made if it is new; null if there is none, because of too many (`lost`) or
/// no room.
Streams::Link* Streams::find_dependence(const Reader& reader, DefinitionId from, bool& lost) {
  Slot& slot = this->slot(sites_[reader.site].operands, reader.dense);
  const std::uint64_t key = key_of(from, reader.lane);
  if (Link* const link = find(slot, key)) return link;
  lost = slot.links.size() >= kMaxProducers;
  if (lost) return nullptr;
  const Site& consumer = sites_[reader.site];
  const Site& source = sites_[site_of_definition_[from]];
  const auto dimensions = static_cast<std::uint16_t>(consumer.dimensions + (reader.chunks ? 1 : 0));
  const std::uint16_t shared = shared_dimensions(tree_, source.key.context, consumer.key.context);
  return dependence_link(reader, from, key, {dimensions, source.dimensions, shared});
}

bool Streams::dependence(const Reader& reader, DefinitionId from, const std::int64_t* point,
                         const std::int64_t* producer) {
  if (sites_[reader.site].cold) return false;
  bool lost = false;
  const Link* const link = find_dependence(reader, from, lost);
  if (lost) lost_dependence(reader, point);
  if (link == nullptr) return false;
  DependenceDetails& details = dependences_[link->details];
  const std::size_t level = carrying_level(point, producer, details.shared);
  ++details.carried[level];
  if (reader.object != details.reader.object) details.more_objects = true;
  if (reader.reload) ++details.reloads;
  last_dependence_ = link->details;
  add(link->stream, point, producer);
  return level == 0;
}

void Streams::late(std::size_t coordinate, std::uint64_t times) {
  DependenceDetails& details = dependences_[last_dependence_];
  if (details.late.empty()) details.late.resize(sites_[details.reader.site].dimensions);
  details.late[coordinate] += times;
}

void Streams::lost_dependence(const Reader& reader, const std::int64_t* point) {
  if (sites_[reader.site].cold) return;
  Slot& slot = this->slot(sites_[reader.site].operands, reader.dense);
  const std::uint64_t key = key_of(kLostDefinition, reader.lane);
  Link* link = find(slot, key);
  if (link == nullptr) {
    const auto dimensions = static_cast<std::uint16_t>(sites_[reader.site].dimensions + (reader.chunks ? 1 : 0));
    link = dependence_link(reader, kLostDefinition, key, {dimensions, 0, 0});
    if (link == nullptr) return;
  }
  ++dependences_[link->details].carried[0];
  add(link->stream, point, nullptr);
}

std::uint64_t Streams::bytes() {
  queue_.drain();
  std::uint64_t total = 0;
  for (const Stream& stream : streams_) total += kStreamBytes + stream.folder->bytes();
  for (const Site& site : sites_)
    total += sizeof(Site) + 4 * (site.values.size() + site.accesses.size() + site.operands.size());
  return total + slots_.size() * sizeof(Slot) + site_of_definition_.size() * sizeof(SiteId);
}

void Streams::limit(std::uint64_t bytes) {
  std::uint64_t now = this->bytes();
  most_bytes_ = std::max(most_bytes_, now);
  if (now <= bytes / 10 * 9) return;
  std::vector<std::pair<std::uint64_t, StreamId>> worst;
  for (StreamId id = 0; id < streams_.size(); ++id)
    if (!streams_[id].given_up && streams_[id].folder->bytes() > kWorthGivingUp)
      worst.emplace_back(streams_[id].folder->bytes(), id);
  std::sort(worst.begin(), worst.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  const std::uint64_t goal = bytes / 10 * 8;
  for (const auto& [size, id] : worst) {
    if (now <= goal) break;
    Stream& stream = streams_[id];
    stream.folder->give_up("memory limit");
    stream.given_up = true;
    now -= size - std::min(size, static_cast<std::uint64_t>(stream.folder->bytes()));
  }
  full_ = now > bytes / 10 * 9;
}

fold::Folded Streams::folded(StreamId stream) {
  fold::Folded result = streams_[stream].folder->finish();
  streams_[stream].folder.reset();
  return result;
}

/// Of a cold site: what is known is a box.
fold::Folded Streams::domain_of(const Site& site) {
  if (!site.cold) return folded(site.domain);
  fold::Folded result;
  result.points = site.count;
  result.max_intermediate = 1;
  result.gave_up = true;
  result.why = kColdReason;
  fold::Piece piece;
  piece.points = site.count;
  piece.exact_domain = false;
  for (std::size_t k = 0; k < site.dimensions; ++k) {
    const std::vector<std::int64_t> none(k);
    piece.ranges.push_back({{site.box[k], none}, {site.box[site.dimensions + k], none}, 1});
  }
  result.pieces.push_back(std::move(piece));
  return result;
}

/// What is said about code that has no statements.
void Streams::finish_cold(Graph& graph) {
  std::uint64_t sites = 0;
  std::uint64_t instructions = 0;
  for (const Site& site : sites_) {
    if (!site.cold || site.count == 0) continue;
    ++sites;
    if (site.code == nullptr) continue;
    const std::uint64_t ran = site.count * site.code->instructions;
    instructions += ran;
    if (statement_of_[&site - sites_.data()] == kNoStatement) graph.unkept_instructions += ran;
  }
  if (sites == 0) return;
  graph.gave_up.push_back(
      {kNoStatement, "code that ran little: " + std::to_string(sites) + " statements", kColdReason, instructions});
}

void Streams::finish(Graph& graph, const structure::CodeMap& code,
                     const std::vector<std::vector<trace::InstructionFacts>>& facts) {
  most_bytes_ = std::max(most_bytes_, bytes());
  finish_statements(graph, code, facts);
  finish_accesses(graph);
  finish_values(graph);
  finish_dependences(graph);
  finish_cold(graph);
  finish_limits(graph);
}

void Streams::finish_statements(Graph& graph, const structure::CodeMap& code,
                                const std::vector<std::vector<trace::InstructionFacts>>& facts) {
  using Key =
      std::tuple<Statement::Kind, structure::ContextId, structure::FunctionId, structure::NodeId, std::uint32_t>;
  std::map<Key, StatementId> known;
  std::vector<std::vector<fold::Folded>> domains;
  statement_of_.assign(sites_.size(), kNoStatement);
  for (const DependenceDetails& details : dependences_)
    if (details.from != kLostDefinition) keep(site_of_definition_[details.from]);
  for (SiteId id = 1; id < sites_.size(); ++id) {
    const Site& site = sites_[id];
    if (site.count == 0 || (site.cold && !site.produces)) continue;
    const SiteKey& key = site.key;
    const auto [found, added] = known.try_emplace({key.kind, key.context, key.function, key.node, key.variant},
                                                  static_cast<StatementId>(graph.statements.size()));
    statement_of_[id] = found->second;
    if (added) {
      Statement statement;
      statement.id = found->second;
      statement.kind = site.key.kind;
      statement.context = site.key.context;
      statement.function = site.key.function;
      statement.node = site.key.node;
      statement.place = site.place;
      statement.followed = !site.cold;
      if (site.key.kind != Statement::Kind::kCode) statement.detail = site.key.variant & 0xffff;
      graph.statements.push_back(std::move(statement));
      domains.emplace_back();
    }
    Statement& statement = graph.statements[found->second];
    statement.count += site.count;
    domains[found->second].push_back(domain_of(site));
    if (site.code == nullptr || site.code->instructions <= statement.instructions.size()) continue;
    const PartCode& part = *site.code;
    const trace::Block& block = code.blocks()[part.block];
    statement.local = part.local;
    statement.block = part.block;
    statement.first_instruction = part.first_instruction;
    statement.instructions.clear();
    std::uint64_t address = block.address;
    for (std::size_t i = 0; i < std::size_t{part.first_instruction} + part.instructions; ++i) {
      if (i >= part.first_instruction) statement.instructions.push_back({address, facts[part.block][i].kinds});
      address += block.lengths[i];
    }
  }
  for (Statement& statement : graph.statements) {
    std::vector<fold::Folded>& parts = domains[statement.id];
    const std::uint16_t dimensions = dimensions_of(tree_, statement.context);
    statement.domain = parts.size() == 1 ? std::move(parts[0]) : fold::unite(std::move(parts), {dimensions, 0, 0});
    if (statement.instructions.empty() && statement.place < code.places())
      statement.instructions.push_back({code.last_instruction(statement.place), 0});
  }
}

namespace {

/// The streams of one key, united.
template <class Key, class Item>
struct Groups {
  struct Group {
    Item item;
    fold::Shape shape;
    std::vector<fold::Folded> parts;
  };
  std::map<Key, Group> groups;

  Group& add(const Key& key, Item item, fold::Shape shape, fold::Folded part) {
    const auto [found, added] = groups.try_emplace(key, Group{std::move(item), shape, {}});
    found->second.parts.push_back(std::move(part));
    return found->second;
  }
  template <class Place>
  void into(std::vector<Item>& items, Place&& place) {
    for (auto& [key, group] : groups) {
      fold::Folded whole =
          group.parts.size() == 1 ? std::move(group.parts[0]) : fold::unite(std::move(group.parts), group.shape);
      place(group.item) = std::move(whole);
      items.push_back(std::move(group.item));
    }
  }
};

}  // namespace

void Streams::finish_accesses(Graph& graph) {
  using Key = std::tuple<StatementId, std::uint16_t, std::uint8_t, ObjectId, bool, std::uint32_t>;
  Groups<Key, Access> groups;
  for (const AccessDetails& details : accesses_) {
    const StatementId statement = statement_of_[details.site];
    Access access;
    access.statement = statement;
    access.instruction = details.instruction;
    access.index = details.index;
    access.store = details.store;
    access.guarded = details.guarded;
    access.size = details.size;
    access.object = details.object;
    auto& group =
        groups.add({statement, details.instruction, details.index, details.object, details.store, details.size},
                   std::move(access), streams_[details.stream].shape, folded(details.stream));
    group.item.copies += details.copies;
    group.item.same_block = group.item.same_block && details.same_block;
    group.item.same_offset = group.item.same_offset && details.same_offset;
  }
  groups.into(graph.accesses, [](Access& access) -> fold::Folded& { return access.address; });
}

void Streams::finish_values(Graph& graph) {
  using Key = std::tuple<StatementId, std::uint16_t, std::uint8_t>;
  Groups<Key, Value> groups;
  for (const ValueDetails& details : values_) {
    const StatementId statement = statement_of_[details.site];
    auto& group = groups.add({statement, details.instruction, details.index},
                             {statement, details.instruction, details.index, details.reg, details.width, {}, true},
                             streams_[details.stream].shape, folded(details.stream));
    group.item.steady = group.item.steady && details.steady.steady();
  }
  groups.into(graph.values, [](Value& value) -> fold::Folded& { return value.value; });
}

void Streams::finish_dependences(Graph& graph) {
  using Key = std::tuple<StatementId, std::uint16_t, std::uint8_t, std::uint16_t, StatementId, std::uint16_t>;
  Groups<Key, Dependence> groups;
  for (const DependenceDetails& details : dependences_) {
    const Reader& reader = details.reader;
    Dependence dependence;
    dependence.to = statement_of_[reader.site];
    dependence.from = kNoStatement;
    if (details.from != kLostDefinition) {
      const SiteId source = site_of_definition_[details.from];
      dependence.from = statement_of_[source];
      dependence.from_instruction = static_cast<std::uint16_t>(details.from - sites_[source].first_definition);
    }
    dependence.to_instruction = reader.instruction;
    dependence.operand = reader.operand;
    dependence.lane = reader.lane;
    dependence.kind = reader.kind;
    dependence.address = reader.address;
    dependence.chunks = reader.chunks;
    dependence.object = reader.object;
    const Key key{dependence.to,   dependence.to_instruction, dependence.operand,
                  dependence.lane, dependence.from,           dependence.from_instruction};
    auto& group = groups.add(key, dependence, streams_[details.stream].shape, folded(details.stream));
    Dependence& item = group.item;
    item.more_objects = item.more_objects || details.more_objects || item.object != reader.object;
    item.reloads += details.reloads;
    item.carried.resize(details.carried.size());
    for (std::size_t level = 0; level < details.carried.size(); ++level) item.carried[level] += details.carried[level];
    if (item.late.size() < details.late.size()) item.late.resize(details.late.size());
    for (std::size_t k = 0; k < details.late.size(); ++k) item.late[k] += details.late[k];
  }
  groups.into(graph.dependences, [](Dependence& dependence) -> fold::Folded& { return dependence.map; });
  for (Dependence& dependence : graph.dependences) {
    if (dependence.from != kNoStatement || dependence.map.gave_up) continue;
    dependence.map.gave_up = true;
    dependence.map.why = "its producer is not known: memory limit, or too many producers";
  }
}

void Streams::finish_limits(Graph& graph) {
  std::map<StatementId, std::uint64_t> dropped;
  for (SiteId id = 1; id < sites_.size(); ++id)
    if (sites_[id].dropped > 0) dropped[statement_of_[id]] += sites_[id].dropped;
  for (const auto& [statement, points] : dropped) {
    graph.gave_up.push_back({statement, "accesses, values and dependences", "memory limit: no room for their streams",
                             graph.statements[statement].count * graph.statements[statement].instructions.size()});
    Dependence unknown;
    unknown.from = kNoStatement;
    unknown.to = statement;
    unknown.kind = Dependence::Kind::kMemory;
    unknown.carried = {points};
    unknown.map.points = points;
    unknown.map.gave_up = true;
    unknown.map.why = "memory limit";
    graph.dependences.push_back(std::move(unknown));
  }
}

}  // namespace loopfold::ddg
