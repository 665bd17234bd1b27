#include "ddg/streams.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "support/parallel.h"
#include "support/wide.h"

namespace loopfold::ddg {

namespace {

constexpr DefinitionId kLostDefinition = 0xffffffff;
constexpr const char* kColdReason = "there are more statements than --max-statements";
constexpr std::uint64_t kUnknownKey = ~std::uint64_t{0};

constexpr std::size_t kFoldersAtOnce = 256;

using Box = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// The least or greatest value of a bound over a box, or something beyond it.
std::int64_t extreme(const fold::Affine& bound, const Box& box, bool greatest) {
  Wide sum = bound.constant;
  for (std::size_t k = 0; k < bound.coefficients.size(); ++k) {
    const std::int64_t slope = bound.coefficients[k];
    const Wide along = static_cast<Wide>(slope) * ((slope > 0) == greatest ? box[k].second : box[k].first);
    if (!__builtin_add_overflow(sum, along, &sum)) continue;
    return greatest ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
  }
  return saturated(sum);
}

Box box_of(const fold::Piece& piece) {
  Box box;
  for (const fold::Range& range : piece.ranges)
    box.emplace_back(extreme(range.lower, box, false), extreme(range.upper, box, true));
  return box;
}

/// Ranges that contain all pieces of a domain: those of the only one, or a box.
std::vector<fold::Range> cover_of(const fold::Folded& domain) {
  if (domain.pieces.empty()) return {};
  if (domain.pieces.size() == 1) return domain.pieces.front().ranges;
  Box all = box_of(domain.pieces.front());
  for (const fold::Piece& piece : domain.pieces) {
    const Box own = box_of(piece);
    for (std::size_t k = 0; k < all.size(); ++k)
      all[k] = {std::min(all[k].first, own[k].first), std::max(all[k].second, own[k].second)};
  }
  std::vector<fold::Range> ranges;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const std::vector<std::int64_t> none(k);
    ranges.push_back({{all[k].first, none}, {all[k].second, none}, 1});
  }
  return ranges;
}

/// What a stream costs beside its folder.
constexpr std::uint64_t kStreamBytes = 160;

/// Smaller folders would not shrink when they give up.
constexpr std::uint64_t kWorthGivingUp = 2048;

}  // namespace

/// As dimensions_of() of the tree.
void Streams::know_context(structure::ContextId context) {
  while (contexts_.size() <= context) contexts_.push_back({});
  for (structure::ContextId c = context; c != structure::kNoContext && !contexts_[c].known; c = contexts_[c].parent)
    contexts_[c] = {tree_[c].parent, dimensions_of(tree_, c), true};
}

std::uint16_t Streams::shared_dimensions(structure::ContextId a, structure::ContextId b) const {
  while (a != b) {
    structure::ContextId& later = a > b ? a : b;
    later = contexts_[later].parent;
  }
  return contexts_[a].dimensions;
}

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
  know_context(key.context);
  site.dimensions = contexts_[key.context].dimensions;
  site.first_definition = static_cast<DefinitionId>(site_of_definition_.size());
  site.next = nodes[key.node];
  site.cold = !hot_.empty() && (key.context >= hot_.size() || !hot_[key.context]);
  const auto id = static_cast<SiteId>(sites_.size());
  for (std::size_t i = 0; i < instructions; ++i) site_of_definition_.push_back(id);
  sites_.push_back(std::move(site));
  nodes[key.node] = id;
  return id;
}

void Streams::set_code(SiteId site, const PartCode* code) {
  Site& s = sites_[site];
  if (s.code == nullptr || s.code->instructions < code->instructions) s.code = code;
}

/// Without a folder if there is no room for it.
Streams::Sink Streams::new_stream(Stream::Kind kind, SiteId site, fold::Shape shape) {
  if (full_ && kind != Stream::Kind::kDomain) {
    ++sites_[site].dropped;
    return {};
  }
  Stream stream;
  stream.kind = kind;
  stream.site = site;
  stream.shape = shape;
  stream.folder = fold::make_folder(options_, shape);
  streams_.push_back(std::move(stream));
  sizes_.add();
  const Sink sink{streams_.back().folder.get(), static_cast<StreamId>(streams_.size() - 1), shape};
  if (streams_.size() >= next_limit_) limit(allowed_, known_);
  return sink;
}

/// Takes the point of an instance into the box of a cold site.
void Streams::extend_box(Site& site, const std::int64_t* point) {
  std::vector<std::int64_t>& box = site.box;
  const std::size_t dimensions = site.dimensions;
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

/// The stream of an access and an object that it did not touch before; null if there is no room for it.
Streams::AccessDetails* Streams::new_access(SiteId site, const MemoryAccess& access, ObjectId object) {
  StreamLinks<AccessDetails>& links = at(sites_[site].accesses, access.dense);
  std::uint64_t key = key_of(object);
  if (links.size() >= kMaxObjects) {
    key = kUnknownKey;
    object = kUnknownObject;
    if (AccessDetails* const known = links.find(key)) return known;
  }
  const Sink sink = new_stream(Stream::Kind::kAccess, site, {sites_[site].dimensions, 2, 0, true});
  if (sink.folder == nullptr) return nullptr;
  if (key == kUnknownKey) {
    sink.folder->give_up("in more than 64 objects");
    sizes_.touch(sink.stream);
  }
  AccessDetails& details = accesses_.emplace_back();
  details.sink = sink;
  details.site = site;
  details.instruction = access.instruction;
  details.index = access.index;
  details.store = access.store;
  details.guarded = access.guarded;
  details.size = access.size;
  details.object = object;
  details.first = time_;
  links.insert(key, &details);
  return &details;
}

Streams::ValueDetails* Streams::new_value(SiteId site, const IntegerValue& value) {
  const Sink sink = new_stream(Stream::Kind::kValue, site, {sites_[site].dimensions, 1, 0, true});
  if (sink.folder == nullptr) return nullptr;
  ValueDetails& details =
      values_.emplace_back(ValueDetails{sink, {}, site, value.instruction, value.index, value.reg, value.width, time_});
  at(sites_[site].values, value.dense) = &details;
  return &details;
}

Streams::DependenceDetails* Streams::new_dependence(const Reader& reader, DefinitionId from, fold::Shape shape) {
  const Sink sink = new_stream(Stream::Kind::kDependence, reader.site, shape);
  if (sink.folder == nullptr) return nullptr;
  DependenceDetails& details = dependences_.emplace_back();
  details.sink = sink;
  details.reader = reader;
  details.from = from;
  details.shared = shape.shared;
  details.first = time_;
  details.carried.resize(shape.shared + std::size_t{1});
  at(sites_[reader.site].operands, reader.dense).insert(key_of(from, reader.lane), &details);
  return &details;
}

/// A producer that the operand did not have before. Null if there is no room for it, or there are too many: then the
/// instance is counted here.
Streams::DependenceDetails* Streams::first_dependence(const Reader& reader, DefinitionId from,
                                                      const std::int64_t* point) {
  if (at(sites_[reader.site].operands, reader.dense).size() >= kMaxProducers) {
    lost_dependence(reader, point);
    return nullptr;
  }
  const Site& consumer = sites_[reader.site];
  const Site& source = sites_[site_of_definition_[from]];
  const auto dimensions = static_cast<std::uint16_t>(consumer.dimensions + (reader.chunks ? 1 : 0));
  const std::uint16_t shared = shared_dimensions(source.key.context, consumer.key.context);
  return new_dependence(reader, from, {dimensions, source.dimensions, shared, !reader.chunks});
}

void Streams::late(std::size_t coordinate, std::uint64_t times) {
  DependenceDetails& details = *last_dependence_;
  if (details.late.empty()) details.late.resize(sites_[details.reader.site].dimensions);
  details.late[coordinate] += times;
}

void Streams::lost_dependence(const Reader& reader, const std::int64_t* point) {
  Site& site = sites_[reader.site];
  if (site.cold) return;
  DependenceDetails* details = at(site.operands, reader.dense).find(key_of(kLostDefinition, reader.lane));
  if (details == nullptr) {
    const auto dimensions = static_cast<std::uint16_t>(site.dimensions + (reader.chunks ? 1 : 0));
    details = new_dependence(reader, kLostDefinition, {dimensions, 0, 0, !reader.chunks});
  }
  if (details == nullptr) return;
  details->count(0);
  add(details->sink, point, nullptr);
}

/// Of sites, those that there were when limits were looked at last.
std::uint64_t Streams::bytes() {
  std::uint64_t total =
      sizes_.total([&](std::size_t stream) { return kStreamBytes + streams_[stream].folder->bytes(); });
  for (SiteId id = 0; id < known_.sites; ++id) {
    const Site& site = sites_[id];
    total += sizeof(Site) + site.values.size() * sizeof(site.values[0]) +
             site.accesses.size() * sizeof(site.accesses[0]) + site.operands.size() * sizeof(site.operands[0]);
  }
  return total + known_.definitions * sizeof(SiteId);
}

std::uint64_t Streams::limit(std::uint64_t bytes, Known known) {
  allowed_ = bytes;
  known_ = known;
  next_limit_ = streams_.size() + streams_.size() / 16 + kFewStreams;
  std::uint64_t now = this->bytes();
  most_bytes_ = std::max(most_bytes_, now);
  if (now <= bytes / 10 * 9) return now;
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
    sizes_.touch(id);
    now -= size - std::min(size, static_cast<std::uint64_t>(stream.folder->bytes()));
  }
  full_ = now > bytes / 10 * 9;
  return now;
}

/// Ends all folders, on as many threads as there are jobs.
void Streams::finish_folders() {
  folded_.resize(streams_.size());
  for_each_number(jobs_, streams_.size(), kFoldersAtOnce, [&](std::size_t stream) {
    folded_[stream] = streams_[stream].folder->finish();
    streams_[stream].folder.reset();
  });
}

/// Of a stream of some of the instances of a statement: where it was given up, all of them cover it.
fold::Folded Streams::folded_in_domain(StreamId stream) {
  const std::vector<fold::Range>& cover = sites_[streams_[stream].site].cover;
  const bool covered = streams_[stream].shape.covered;
  fold::Folded result = std::move(folded_[stream]);
  for (fold::Piece& piece : result.pieces)
    if (covered && piece.ranges.empty()) piece.ranges = cover;
  return result;
}

/// Of a cold site: what is known is a box.
fold::Folded Streams::domain_of(const Site& site) {
  if (!site.cold) return std::move(folded_[site.domain.stream]);
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
  for (SiteId id = 1; id < sites_.size(); ++id) {
    const Site& site = sites_[id];
    if (!site.cold || site.count == 0) continue;
    ++sites;
    if (site.code == nullptr) continue;
    const std::uint64_t ran = site.count * site.code->instructions;
    instructions += ran;
    if (statement_of_[id] == kNoStatement) graph.unkept_instructions += ran;
  }
  if (sites == 0) return;
  graph.gave_up.push_back(
      {kNoStatement, "code that ran little: " + std::to_string(sites) + " statements", kColdReason, instructions});
}

void Streams::finish(Graph& graph, const structure::CodeMap& code,
                     const std::vector<std::vector<trace::InstructionFacts>>& facts) {
  known_ = known();
  most_bytes_ = std::max(most_bytes_, bytes());
  finish_folders();
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
    Site& site = sites_[id];
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
    site.cover = cover_of(domains[found->second].back());
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

namespace {

/// Streams in the order of their first points.
template <class Details>
std::vector<Details*> by_first_point(std::deque<Details>& all) {
  std::vector<Details*> order;
  order.reserve(all.size());
  for (Details& details : all) order.push_back(&details);
  std::stable_sort(order.begin(), order.end(), [](const Details* a, const Details* b) { return a->first < b->first; });
  return order;
}

}  // namespace

void Streams::finish_accesses(Graph& graph) {
  using Key = std::tuple<StatementId, std::uint16_t, std::uint8_t, ObjectId, bool, std::uint32_t>;
  Groups<Key, Access> groups;
  for (const AccessDetails* const each : by_first_point(accesses_)) {
    const AccessDetails& details = *each;
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
                   std::move(access), streams_[details.sink.stream].shape, folded_in_domain(details.sink.stream));
    group.item.copies += details.copies;
    group.item.same_block = group.item.same_block && details.same_block;
    group.item.same_offset = group.item.same_offset && details.same_offset;
  }
  groups.into(graph.accesses, [](Access& access) -> fold::Folded& { return access.address; });
}

void Streams::finish_values(Graph& graph) {
  using Key = std::tuple<StatementId, std::uint16_t, std::uint8_t>;
  Groups<Key, Value> groups;
  for (const ValueDetails* const each : by_first_point(values_)) {
    const ValueDetails& details = *each;
    const StatementId statement = statement_of_[details.site];
    auto& group = groups.add({statement, details.instruction, details.index},
                             {statement, details.instruction, details.index, details.reg, details.width, {}, true},
                             streams_[details.sink.stream].shape, folded_in_domain(details.sink.stream));
    group.item.steady = group.item.steady && details.steady.steady();
  }
  groups.into(graph.values, [](Value& value) -> fold::Folded& { return value.value; });
}

void Streams::finish_dependences(Graph& graph) {
  using Key = std::tuple<StatementId, std::uint16_t, std::uint8_t, std::uint16_t, StatementId, std::uint16_t>;
  Groups<Key, Dependence> groups;
  for (DependenceDetails* const each : by_first_point(dependences_)) {
    DependenceDetails& details = *each;
    details.settle();
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
    auto& group =
        groups.add(key, dependence, streams_[details.sink.stream].shape, folded_in_domain(details.sink.stream));
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
