#include "advise/obstacles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "trace/decode.h"

namespace loopfold::advise {

namespace {

using profile::Object;

constexpr std::uint32_t kNone = ~std::uint32_t{0};
constexpr std::string_view kLetters = "RCBFAP";

/// What was found in one region: by letter, the first example.
class Found {
 public:
  void add(char letter, std::string example) {
    std::string& text = texts_[kLetters.find(letter)];
    if (text.empty()) text = fmt::format("{}: {}", letter, example);
  }

  std::vector<std::string> all() const {
    std::vector<std::string> list;
    std::copy_if(texts_.begin(), texts_.end(), std::back_inserter(list),
                 [](const std::string& text) { return !text.empty(); });
    return list;
  }

 private:
  std::array<std::string, kLetters.size()> texts_;
};

std::string base_name(const std::string& file) { return file.substr(file.find_last_of('/') + 1); }

std::string at(const std::optional<profile::Source>& source) {
  return source ? fmt::format(" at {}:{}", base_name(source->file), source->line) : "";
}

bool varies(const std::vector<profile::Coefficient>& coefficients) {
  return std::any_of(coefficients.begin(), coefficients.end(), [](const auto& c) { return !c || *c != 0; });
}

class Finder {
 public:
  Finder(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow, profile::Profile& profile)
      : graph_(graph), context_(context), flow_(flow), profile_(profile), found_(profile.regions.size()) {}

  void run() {
    find_regions();
    look_at_nodes();
    look_at_flow();
    look_at_domains();
    look_at_accesses();
    look_at_addresses();
    for (profile::Region& region : profile_.regions) region.static_obstacles = found_[region.id].all();
  }

 private:
  /// The region of each node: that of the loops' nodes and of all below.
  void find_regions() {
    region_of_.assign(profile_.tree.size(), kNone);
    for (const profile::Region& region : profile_.regions)
      for (const profile::Loop& loop : region.loops)
        for (const std::uint32_t node : loop.nodes) region_of_[node] = region.id;
    for (profile::TreeNode& node : profile_.tree)
      if (node.parent && region_of_[node.id] == kNone) region_of_[node.id] = region_of_[*node.parent];
  }

  std::uint32_t region_of(ddg::StatementId statement) const {
    return region_of_[context_.nodes[graph_.statements[statement].context]];
  }

  void look_at_nodes() {
    for (const profile::TreeNode& node : profile_.tree) {
      const std::uint32_t region = region_of_[node.id];
      if (region == kNone) continue;
      if (node.kind != profile::TreeNode::Kind::kLoop)
        found_[region].add('R', fmt::format("calls {}{}", node.function, at(node.call_site)));
      if (node.kind == profile::TreeNode::Kind::kRecursion)
        found_[region].add('C', fmt::format("{} calls itself", node.function));
      if (node.irreducible) found_[region].add('C', fmt::format("a loop with several entries{}", at(node.source)));
    }
  }

  void look_at_flow() {
    for (const poly::FlowOfLoop& loop : flow_.loops()) {
      if (loop.loop.loops.empty()) continue;
      const std::uint32_t region = region_of_[context_.nodes[loop.loop.loops.front()]];
      if (region == kNone) continue;
      if (!loop.exits.empty())
        found_[region].add('C', fmt::format("data decide whether a loop goes on{}", place(loop.exits.front())));
      for (const poly::KeptFlow& flow : loop.flows)
        if (flow.kind == poly::KeptFlow::Kind::kControl)
          found_[region].add('B', fmt::format("a condition on data{}", place(flow.from)));
    }
  }

  void look_at_domains() {
    for (const profile::Statement& statement : profile_.statements) {
      const std::uint32_t region = region_of_[statement.node];
      if (region == kNone || statement.exact) continue;
      found_[region].add('B', fmt::format("bounds or conditions that are not affine{}", first_line(statement)));
    }
  }

  void look_at_accesses() {
    std::vector<std::set<std::uint32_t>> used(found_.size());  // by region: objects that are reached by a pointer
    std::vector<std::optional<std::uint32_t>> written(found_.size());
    for (const profile::Access& access : profile_.accesses) {
      const std::uint32_t region = region_of_[profile_.statements[access.statement].node];
      if (region == kNone || is_scalar_in_frame(access)) continue;
      const Object& object = profile_.objects[access.object];
      const bool changes = object.kind == Object::Kind::kHeap && varies(access.block_coefficients);
      if (changes) {
        found_[region].add('P', fmt::format("blocks of {}{}", object.name, at(access.source)));
        moving_.insert({access.statement, access.instruction});
      }
      if (std::any_of(access.coefficients.begin(), access.coefficients.end(), [](const auto& c) { return !c; }))
        found_[region].add('F', fmt::format("an access that is not affine{}", at(access.source)));
      if (object.kind != Object::Kind::kHeap && object.kind != Object::Kind::kUnknown) continue;
      used[region].insert(access.object);
      if (access.kind == profile::Access::Kind::kStore && !written[region]) written[region] = access.object;
    }
    for (std::size_t region = 0; region < found_.size(); ++region) {
      if (!written[region] || used[region].size() < 2) continue;
      const auto other = std::find_if(used[region].begin(), used[region].end(),
                                      [&](std::uint32_t object) { return object != *written[region]; });
      const std::string& name = profile_.objects[*written[region]].name;
      found_[region].add('A', profile_.objects[*other].name == name
                                  ? fmt::format("one block of {} is written beside another", name)
                                  : fmt::format("{} is written beside {}", name, profile_.objects[*other].name));
    }
  }

  bool is_scalar_in_frame(const profile::Access& access) const {
    return profile_.objects[access.object].kind == Object::Kind::kStack && !varies(access.coefficients);
  }

  /// An address that hangs on a value which is no index value, unless that is known to be a row's pointer.
  void look_at_addresses() {
    for (const ddg::Dependence& d : graph_.dependences) {
      if (!d.address || d.from == ddg::kNoStatement) continue;
      const std::uint32_t region = region_of(d.to);
      if (region == kNone || region_of(d.from) != region) continue;
      if (graph_.statements[d.from].kind != ddg::Statement::Kind::kCode || !is_load({d.from, d.from_instruction}))
        continue;
      if (flow_.is_index({d.from, d.from_instruction}) || is_moving({d.to, d.to_instruction})) continue;
      found_[region].add('F', fmt::format("a loaded value says where{}", place({d.to, d.to_instruction})));
    }
  }

  bool is_load(const poly::CodePoint& point) const {
    const std::vector<ddg::Instruction>& instructions = graph_.statements[point.statement].instructions;
    return point.instruction < instructions.size() && (instructions[point.instruction].kinds & trace::kLoad) != 0;
  }

  bool is_moving(const poly::CodePoint& point) const { return moving_.contains({point.statement, point.instruction}); }

  std::string first_line(const profile::Statement& statement) const {
    return statement.source.empty() ? "" : at(statement.source.front());
  }

  std::string place(const poly::CodePoint& point) const {
    const ddg::Statement& statement = graph_.statements[point.statement];
    if (point.instruction >= statement.instructions.size()) return first_line(profile_.statements[point.statement]);
    const symbols::Location& location = context_.locate(statement.instructions[point.instruction].address);
    if (location.line == 0) return first_line(profile_.statements[point.statement]);
    return at(profile::Source{location.file, location.line});
  }

  const ddg::Graph& graph_;
  const poly::Context& context_;
  const poly::RegionFlow& flow_;
  profile::Profile& profile_;
  std::vector<Found> found_;
  std::vector<std::uint32_t> region_of_;                      // by node
  std::set<std::pair<std::uint32_t, std::uint32_t>> moving_;  // accesses in blocks that change: statement, instruction
};

}  // namespace

void find_obstacles(const ddg::Graph& graph, const poly::Context& context, const poly::RegionFlow& flow,
                    profile::Profile& profile) {
  Finder(graph, context, flow, profile).run();
}

}  // namespace loopfold::advise
