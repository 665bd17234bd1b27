#include "ddg_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "ddg_fold_check.h"

namespace loopfold::reference {

namespace {

constexpr std::size_t kMostProblems = 20;
constexpr std::int64_t kLargestFrame = std::int64_t{1} << 30;

/// Without the variant, which a graph does not say.
StatementKey key_of(const ddg::Statement& s) { return {s.kind, s.context, s.function, s.node, s.place, s.detail, 0}; }
StatementKey key_of(StatementKey key) {
  key.variant = 0;
  return key;
}

class Comparer {
 public:
  Comparer(const ddg::Graph& graph, const Graph& expected, symbols::Symbolizer& symbolizer, bool copies)
      : graph_(graph), expected_(expected), symbolizer_(symbolizer), copies_(copies) {}

  std::vector<std::string> describe_origins() {
    std::vector<std::string> lines;
    for (const auto& [key, origin] : expected_.origins)
      lines.push_back(fmt::format("{} {} times, carried ({}) rewritten ({}) reread ({}) turns ({})", name(key),
                                  origin.count, fmt::join(origin.carried, ","), fmt::join(origin.rewritten, ","),
                                  fmt::join(origin.reread, ","), fmt::join(origin.turns, ",")));
    return lines;
  }

  Comparison run() {
    check_statements();
    if (result_.differences != 0) return result_;
    check_accesses();
    check_values();
    check_dependences();
    if (copies_) check_origins();
    if (std::string problem = check_objects(labelled_, graph_.objects); !problem.empty()) wrong("{}", problem);
    result_.labelled = labelled_.size();
    return result_;
  }

 private:
  template <class... Arguments>
  void wrong(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (++result_.differences > kMostProblems) return;
    result_.problems.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
  }

  // ---- Names ----------------------------------------------------------------------------------------------------

  /// `S12.3 main+0x1c (demo.c:12)`.
  std::string name(std::uint32_t statement, std::size_t instruction = 0) {
    const Statement& s = expected_.statements[statement];
    static constexpr std::array kKinds = {"", " allocator", " hidden", " system call"};
    std::string where = instruction < s.instructions.size() && s.instructions[instruction].address != 0
                            ? " " + symbolizer_.describe(s.instructions[instruction].address)
                            : fmt::format(" {} at place {}", s.key.detail, s.key.place);
    if (instruction < s.texts.size()) where += fmt::format(" `{}`", s.texts[instruction]);
    return fmt::format("S{}.{}{}{} (context {} node {})", statement, instruction,
                       kKinds[static_cast<std::size_t>(s.key.kind)], where, s.key.context, s.key.node);
  }

  std::string name(const AccessKey& key, const char* what) {
    return fmt::format("{} {} of {}", what, key.index, name(key.statement, key.instruction));
  }

  std::string name(const DependenceKey& key) {
    static constexpr std::array kKinds = {"register", "memory", "environment"};
    return fmt::format("{} dependence of operand {} lane {}{}\n    of   {}\n    from {}\n   ",
                       kKinds[static_cast<std::size_t>(key.kind)], key.operand, key.lane, key.chunks ? " (chunks)" : "",
                       name(key.to, key.to_instruction), name(key.from, key.from_instruction));
  }

  std::string name(const OriginKey& key) {
    return fmt::format("origin of operand {} lane {}\n    of   {}\n    by   {}{}\n    from {}{}\n   ", key.operand,
                       key.lane, name_of_any(key.to, key.to_instruction), name_of_any(key.by, key.by_instruction),
                       key.local ? " (local)" : "", name_of_any(key.from, key.from_instruction),
                       key.load ? " (load)" : "");
  }

  std::string name_of_any(std::uint32_t statement, std::size_t instruction) {
    if (statement == ddg::kNoStatement) return "nothing";
    return statement < expected_.statements.size() ? name(statement, instruction) : fmt::format("S{}?", statement);
  }

  // ---- Statements -----------------------------------------------------------------------------------------------

  void check_statements() {
    for (std::size_t i = 0; i < std::max(graph_.statements.size(), expected_.statements.size()); ++i) {
      if (i >= graph_.statements.size())
        wrong("missing statement: {}", name(static_cast<std::uint32_t>(i)));
      else if (i >= expected_.statements.size())
        wrong("one statement too many: S{}, {}", i, key_text(key_of(graph_.statements[i])));
      else
        check_statement(graph_.statements[i], static_cast<std::uint32_t>(i));
      if (result_.differences > kMostProblems) return;
    }
  }

  static std::string key_text(const StatementKey& key) {
    return fmt::format("kind {} context {} function {} node {} place {} detail {}", static_cast<int>(key.kind),
                       key.context, key.function, key.node, key.place, key.detail);
  }

  void check_statement(const ddg::Statement& s, std::uint32_t id) {
    const Statement& e = expected_.statements[id];
    if (s.id != id) wrong("{}: has id {}", name(id), s.id);
    if (key_of(s) != key_of(e.key)) return wrong("{}: is {}, not {}", name(id), key_text(key_of(s)), key_text(e.key));
    if (s.count != e.domain.count) wrong("{}: count {}, not {}", name(id), s.count, e.domain.count);
    if (s.instructions.size() != e.instructions.size())
      wrong("{}: {} instructions, not {}", name(id), s.instructions.size(), e.instructions.size());
    else if (s.kind == ddg::Statement::Kind::kCode)
      check_instructions(s, e, id);
    if (!s.followed) wrong("{}: is not followed", name(id));
    if (s.kind == ddg::Statement::Kind::kCode) check_facts(s, e, id);
    check_local(s, e, id);
    check_stream(s.domain, e.domain, 0, [&] { return "domain of " + name(id); });
  }

  void check_instructions(const ddg::Statement& s, const Statement& e, std::uint32_t id) {
    for (std::size_t i = 0; i < e.instructions.size(); ++i)
      if (s.instructions[i].address != e.instructions[i].address || s.instructions[i].kinds != e.instructions[i].kinds)
        wrong("{}: instruction at {:#x} of kinds {:#x}, not {:#x}, {:#x}", name(id, i), s.instructions[i].address,
              s.instructions[i].kinds, e.instructions[i].address, e.instructions[i].kinds);
  }

  /// The block that the statement names must have its code where it says.
  void check_facts(const ddg::Statement& s, const Statement& e, std::uint32_t id) {
    if (!graph_.facts) return wrong("{}: there are no facts", name(id));
    if (!e.in_blocks.contains({s.block, s.first_instruction}) || s.block >= graph_.facts->size())
      return wrong("{}: it is not in block {} from instruction {} on", name(id), s.block, s.first_instruction);
    const std::vector<trace::InstructionFacts>& facts = (*graph_.facts)[s.block];
    if (facts.size() < s.first_instruction + e.facts.size())
      return wrong("{}: {} instructions, but block {} has {}", name(id), e.facts.size(), s.block, facts.size());
    for (std::size_t i = 0; i < e.facts.size(); ++i)
      if (!same_code(facts[s.first_instruction + i], e.facts[i])) wrong("{}: has other facts", name(id, i));
  }

  /// But for what depends on the block around it.
  static bool same_code(const trace::InstructionFacts& a, const trace::InstructionFacts& b) {
    return a.kinds == b.kinds && a.transfer == b.transfer && a.reads == b.reads && a.writes == b.writes &&
           a.flags_read == b.flags_read && a.flags_written == b.flags_written;
  }

  void check_local(const ddg::Statement& s, const Statement& e, std::uint32_t id) {
    const std::vector<ddg::LocalFlow> sorted(e.local.begin(), e.local.end());
    if (s.local == sorted) return;
    for (const ddg::LocalFlow& flow : sorted)
      if (std::find(s.local.begin(), s.local.end(), flow) == s.local.end())
        wrong("{}: no local flow from instruction {} to operand {} lane {}", name(id, flow.to), flow.from, flow.operand,
              flow.lane);
    for (const ddg::LocalFlow& flow : s.local)
      if (!e.local.contains(flow))
        wrong("{}: local flow from instruction {} to operand {} lane {}, which there is not", name(id, flow.to),
              flow.from, flow.operand, flow.lane);
    if (!std::is_sorted(s.local.begin(), s.local.end())) wrong("{}: local flow is not sorted", name(id));
  }

  // ---- Streams --------------------------------------------------------------------------------------------------

  template <class Name>
  bool check_stream(const fold::Folded& folded, const Points& points, std::size_t shared, Name name) {
    ++result_.streams;
    result_.points += points.count;
    if (folded.exact()) ++result_.exact;
    const std::string problem = check_folded(folded, points, shared);
    if (!problem.empty()) wrong("{}: {}", name(), problem);
    return problem.empty();
  }

  /// Accesses of one instruction to several objects are one stream of the reference.
  void check_accesses() {
    std::map<AccessKey, std::vector<const ddg::Access*>> found;
    for (const ddg::Access& access : graph_.accesses)
      found[{access.statement, access.instruction, access.index}].push_back(&access);
    for (const auto& [key, streams] : found)
      if (!expected_.accesses.contains(key)) wrong("an access too many: {}", named_or_not(key));
    for (const auto& [key, access] : expected_.accesses) {
      const auto streams = found.find(key);
      if (streams == found.end())
        wrong("missing access: {}, {} points", name(key, "access"), access.address.count);
      else
        check_access(key, access, streams->second);
    }
    const auto order = [](const ddg::Access& a, const ddg::Access& b) {
      return std::tie(a.statement, a.instruction, a.index, a.object) <
             std::tie(b.statement, b.instruction, b.index, b.object);
    };
    if (!std::is_sorted(graph_.accesses.begin(), graph_.accesses.end(), order)) wrong("accesses are not sorted");
  }

  std::string named_or_not(const AccessKey& key) {
    if (key.statement >= expected_.statements.size()) return fmt::format("of statement {}", key.statement);
    return name(key, "number");
  }

  void check_access(const AccessKey& key, const Access& expected, const std::vector<const ddg::Access*>& streams) {
    std::uint64_t sum = 0;
    std::uint64_t copies = 0;
    for (const ddg::Access* stream : streams) {
      sum += stream->address.points;
      copies += stream->copies;
      if (stream->store != expected.store || stream->guarded != expected.guarded || stream->size != expected.size)
        wrong("{}: store {} guarded {} size {}, not {} {} {}", name(key, "access"), stream->store, stream->guarded,
              stream->size, expected.store, expected.guarded, expected.size);
      if (stream->object >= graph_.objects.size())
        return wrong("{}: no object {}", name(key, "access"), stream->object);
    }
    if (sum != expected.address.count)
      return wrong("{}: {} points, not {}", name(key, "access"), sum, expected.address.count);
    if (copies_ && copies != expected.copies)
      wrong("{}: {} of {} are spills or reloads, not {}", name(key, "access"), copies, sum, expected.copies);
    distribute(key, expected, streams);
  }

  /// Finds out which points belong to which object; each object's are then compared as a stream, where it is exact. A
  /// point that only inexact streams contain may belong to any of them.
  void distribute(const AccessKey& key, const Access& expected, const std::vector<const ddg::Access*>& streams) {
    std::vector<Points> parts(streams.size(), Points{expected.address.dimensions, 2, 0, {}});
    for (std::size_t i = 0; i < expected.address.count; ++i) {
      const std::span<const std::int64_t> point = expected.address.point(i);
      std::size_t exact_holders = 0;
      std::size_t holders = 0;
      for (std::size_t s = 0; s < streams.size(); ++s) {
        const fold::Piece* const piece = piece_at(streams[s]->address, point);
        if (piece == nullptr) continue;
        ++holders;
        std::array<std::int64_t, 2> labels{};
        if (!streams[s]->address.exact() || !fold::evaluate(piece->outputs[0], point, labels[0]) ||
            !fold::evaluate(piece->outputs[1], point, labels[1]))
          continue;
        ++exact_holders;
        parts[s].add(point, labels);
        labelled_.push_back({streams[s]->object, labels[0], labels[1],
                             static_cast<std::uint64_t>(expected.address.labels(i)[0]), expected.heap_block[i],
                             expected.moves[i]});
      }
      if (holders == 0 || exact_holders > 1)
        return wrong("{}: the point ({}) is in {} exact streams and {} others, of {} objects", name(key, "access"),
                     fmt::join(point, ","), exact_holders, holders - exact_holders, streams.size());
    }
    for (std::size_t s = 0; s < streams.size(); ++s) {
      if (streams[s]->address.exact()) check_sameness(key, *streams[s], parts[s]);
      if (streams[s]->address.exact())
        check_stream(streams[s]->address, parts[s], 0,
                     [&] { return fmt::format("{} in object {}", name(key, "access"), streams[s]->object); });
      else
        ++result_.streams;
    }
  }

  void check_sameness(const AccessKey& key, const ddg::Access& access, const Points& labels) {
    const bool block = stays_in_entries(labels, 0);
    const bool offset = stays_in_entries(labels, 1);
    if (access.same_block != block || access.same_offset != offset)
      wrong("{} in object {}: same block {} and offset {}, not {} and {}", name(key, "access"), access.object,
            access.same_block, access.same_offset, block, offset);
  }

  /// Is an output the same at all points that agree in all coordinates but the last? In no loop, there is nothing to
  /// agree with.
  static bool stays_in_entries(const Points& points, std::size_t output) {
    if (points.dimensions < 2) return true;
    std::map<std::vector<std::int64_t>, std::int64_t> first;
    for (std::size_t i = 0; i < points.count; ++i) {
      const std::span<const std::int64_t> point = points.point(i);
      const std::int64_t label = points.labels(i)[output];
      if (first.try_emplace({point.begin(), point.end() - 1}, label).first->second != label) return false;
    }
    return true;
  }

  static const fold::Piece* piece_at(const fold::Folded& folded, std::span<const std::int64_t> point) {
    for (const fold::Piece& piece : folded.pieces)
      if (piece.ranges.size() == point.size() && piece.outputs.size() == 2 && fold::contains(piece, point))
        return &piece;
    return nullptr;
  }

  void check_values() {
    std::map<ValueKey, const ddg::Value*> found;
    for (const ddg::Value& value : graph_.values) {
      const ValueKey key{value.statement, value.instruction, value.index};
      if (!found.emplace(key, &value).second) wrong("twice: {}", named_or_not(key));
      if (!expected_.values.contains(key)) wrong("a value too many: {}", named_or_not(key));
    }
    for (const auto& [key, expected] : expected_.values) {
      const auto value = found.find(key);
      if (value == found.end()) {
        wrong("missing value: {}, {} points", name(key, "value"), expected.value.count);
        continue;
      }
      if (value->second->reg != expected.reg || value->second->width != expected.width)
        wrong("{}: register {} width {}, not {} {}", name(key, "value"), value->second->reg, value->second->width,
              expected.reg, expected.width);
      if (value->second->steady != expected.steady)
        wrong("{}: steady is {}, not {}", name(key, "value"), value->second->steady, expected.steady);
      check_stream(value->second->value, expected.value, 0, [&, k = key] { return name(k, "value"); });
    }
  }

  void check_dependences() {
    std::map<DependenceKey, const ddg::Dependence*> found;
    for (const ddg::Dependence& d : graph_.dependences) {
      const DependenceKey key{d.to, d.to_instruction, d.operand, d.lane, d.from, d.from_instruction, d.kind, d.chunks};
      if (!found.emplace(key, &d).second) wrong("twice: {}", name(key));
      if (!expected_.dependences.contains(key)) wrong("{} {} points, there is none", name(key), d.map.points);
    }
    for (const auto& [key, expected] : expected_.dependences) {
      const auto dependence = found.find(key);
      if (dependence == found.end())
        wrong("missing: {} {} points", name(key), expected.map.count);
      else
        check_dependence(key, *dependence->second, expected);
    }
  }

  void check_dependence(const DependenceKey& key, const ddg::Dependence& d, const Dependence& expected) {
    if (d.address != expected.address) wrong("{} address is {}, not {}", name(key), d.address, expected.address);
    if (d.carried != expected.carried)
      wrong("{} carried ({}), not ({})", name(key), fmt::join(d.carried, ","), fmt::join(expected.carried, ","));
    if (d.late != expected.late)
      wrong("{} late ({}), not ({})", name(key), fmt::join(d.late, ","), fmt::join(expected.late, ","));
    if (copies_ && d.reloads != expected.reloads)
      wrong("{} {} reloads, not {}", name(key), d.reloads, expected.reloads);
    check_stream(d.map, expected.map, expected.shared, [&] { return name(key); });
    if (key.kind == ddg::Dependence::Kind::kEnvironment && d.object != ddg::kEnvironmentObject)
      wrong("{} object {}, not the environment", name(key), d.object);
    if (key.kind == ddg::Dependence::Kind::kMemory && !key.chunks) check_object(key, d);
  }

  /// A load that depends on memory accesses the object that it is said to be in; or too many, and then the unknown one.
  void check_object(const DependenceKey& key, const ddg::Dependence& d) {
    const auto is_access = [&](const ddg::Access& access) {
      return access.statement == key.to && access.instruction == key.to_instruction &&
             access.index == key.operand - ddg::kFirstMemoryOperand &&
             (access.object == d.object || access.object == ddg::kUnknownObject);
    };
    if (std::none_of(graph_.accesses.begin(), graph_.accesses.end(), is_access))
      wrong("{} is in object {}, which the load does not access", name(key), d.object);
  }

  // ---- Origins --------------------------------------------------------------------------------------------------

  void check_origins() {
    std::map<OriginKey, const ddg::Origin*> found;
    for (const ddg::Origin& o : graph_.origins) {
      const OriginKey key{o.to,   o.to_instruction,   o.operand, o.lane, o.by, o.by_instruction,
                          o.from, o.from_instruction, o.load,    o.local};
      if (!found.emplace(key, &o).second) wrong("twice: {}", name(key));
      if (!expected_.origins.contains(key))
        wrong("{} carried ({}), there is none", name(key), fmt::join(o.carried, ","));
    }
    for (const auto& [key, expected] : expected_.origins) {
      const auto origin = found.find(key);
      if (origin == found.end())
        wrong("missing: {} {} times, carried ({})", name(key), expected.count, fmt::join(expected.carried, ","));
      else
        check_origin(key, *origin->second, expected);
    }
    check_origin_order();
    result_.origins = expected_.origins.size();
  }

  void check_origin(const OriginKey& key, const ddg::Origin& o, const Origin& expected) {
    const bool made = key.from != ddg::kNoStatement;
    const std::vector<std::uint64_t> carried = made ? expected.carried : std::vector{expected.count};
    if (o.carried != carried)
      wrong("{} carried ({}), not ({})", name(key), fmt::join(o.carried, ","), fmt::join(carried, ","));
    check_counts(key, "rewritten", o.rewritten, expected.rewritten);
    check_counts(key, "reread", o.reread, expected.reread);
    check_counts(key, "turns", o.turns, expected.turns);
    if (o.even != expected.even) wrong("{} even is {}, not {}", name(key), o.even, expected.even);
    for (std::size_t level = 0; level < expected.distances.size(); ++level) {
      if (expected.distances[level].empty()) continue;
      const std::int64_t least = *expected.distances[level].begin();
      const std::int64_t greatest = *expected.distances[level].rbegin();
      if (level >= o.least.size() || level >= o.greatest.size())
        wrong("{} no distances along level {}", name(key), level);
      else if (o.least[level] != least || o.greatest[level] != greatest)
        wrong("{} distances {}..{} along level {}, not {}..{}", name(key), o.least[level], o.greatest[level], level,
              least, greatest);
    }
  }

  /// Missing counts are 0.
  void check_counts(const OriginKey& key, const char* what, std::vector<std::uint64_t> counts,
                    std::vector<std::uint64_t> expected) {
    const std::size_t size = std::max(counts.size(), expected.size());
    counts.resize(size);
    expected.resize(size);
    if (counts != expected)
      wrong("{} {} ({}), not ({})", name(key), what, fmt::join(counts, ","), fmt::join(expected, ","));
  }

  void check_origin_order() {
    const auto order = [](const ddg::Origin& a, const ddg::Origin& b) {
      return std::tie(a.to, a.to_instruction, a.operand, a.lane, a.by, a.by_instruction, a.from, a.from_instruction) <
             std::tie(b.to, b.to_instruction, b.operand, b.lane, b.by, b.by_instruction, b.from, b.from_instruction);
    };
    if (!std::is_sorted(graph_.origins.begin(), graph_.origins.end(), order)) wrong("origins are not sorted");
  }

  const ddg::Graph& graph_;
  const Graph& expected_;
  symbols::Symbolizer& symbolizer_;
  bool copies_;
  std::vector<LabelledAddress> labelled_;
  Comparison result_;
};

}  // namespace

Comparison compare(const ddg::Graph& graph, const Graph& expected, symbols::Symbolizer& symbolizer, bool copies) {
  return Comparer(graph, expected, symbolizer, copies).run();
}

std::vector<std::string> describe_origins(const Graph& expected, symbols::Symbolizer& symbolizer) {
  const ddg::Graph nothing;
  return Comparer(nothing, expected, symbolizer, true).describe_origins();
}

std::string check_objects(const std::vector<LabelledAddress>& accesses, const std::vector<ddg::Object>& objects) {
  using Block = std::pair<ddg::ObjectId, std::int64_t>;
  std::map<std::tuple<Block, std::uint64_t, std::uint64_t>, std::uint64_t> bases;  // where offset 0 is
  std::map<std::uint64_t, Block> block_of;                                         // by heap block
  std::map<std::uint64_t, Block> global_of;                                        // by address
  for (const LabelledAddress& a : accesses) {
    const Block block{a.object, a.block};
    const auto text = [&] {
      return fmt::format("address {:#x} in heap block {} is object {} ({}) block {} offset {}", a.address, a.heap_block,
                         a.object, objects[a.object].name, a.block, a.offset);
    };
    const std::uint64_t base = a.address - static_cast<std::uint64_t>(a.offset);
    if (a.object == ddg::kUnknownObject && base != 0) return text() + ": not known, but the offset is not the address";
    if (a.object == ddg::kUnknownObject) continue;
    if (const auto [found, added] = bases.try_emplace({block, a.heap_block, a.moves}, base);
        !added && found->second != base)
      return fmt::format("{}: the block was at {:#x} before", text(), found->second);
    if (objects[a.object].kind == ddg::Object::Kind::kStack) {
      if (a.offset < -kLargestFrame) return text() + ": no frame is so large";
      continue;
    }
    const bool heap = a.heap_block != 0;
    auto& known = heap ? block_of : global_of;
    if (!heap && objects[a.object].kind != ddg::Object::Kind::kGlobal) continue;
    if (const auto [found, added] = known.try_emplace(heap ? a.heap_block : a.address, block);
        !added && found->second != block)
      return fmt::format("{}: it was object {} block {} before", text(), found->second.first, found->second.second);
  }
  return {};
}

}  // namespace loopfold::reference
