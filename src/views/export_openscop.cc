#include "views/export_openscop.h"

#include <fmt/format.h>
#include <isl/options.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "poly/isl.h"
#include "views/export_isl.h"
#include "views/openscop_relation.h"
#include "views/words.h"
#include "views/written_order.h"

namespace loopfold::views {

namespace {

using poly::Isl;
using profile::Access;
using profile::Dependence;
using profile::Profile;
using profile::Region;
using profile::Statement;

constexpr unsigned long kMostOperations = 5'000'000;  // of isl, for one region

/// Letters, digits and _ only: an identifier of C.
std::string identifier(const std::string& name) {
  std::string result;
  for (const char c : name) result += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return result.empty() || std::isdigit(static_cast<unsigned char>(result[0])) != 0 ? "_" + result : result;
}

/// A flow that is not through memory, from one statement of the region to another.
struct Flow {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  std::string map;
};

/// Everything about one region; text() is empty if isl gave up.
class Scop {
 public:
  Scop(const Profile& profile, const Words& words, const Region& region)
      : profile_(profile),
        words_(words),
        region_(region),
        statements_(statements_of(profile, region)),
        inside_(statements_.begin(), statements_.end()),
        context_(isl_ctx_alloc()) {
    isl_options_set_on_error(context_.get(), ISL_ON_ERROR_CONTINUE);
    isl_ctx_set_max_operations(context_.get(), kMostOperations);
    for (const profile::Value& value : profile.values)
      if (inside_.count(value.statement) != 0 && value.affine && value.exact)
        affine_.emplace(value.statement, value.instruction);
    for (const Access& access : profile.accesses)
      if (inside_.count(access.statement) != 0) accesses_[access.statement].push_back(&access);
  }

  /// Why the region cannot be written.
  std::optional<std::string> obstacle() {
    for (const std::uint32_t id : statements_) {
      const Statement& statement = profile_.statements[id];
      if (statement.kind != Statement::Kind::kCode) return "it calls the allocator or the system";
      if (!statement.exact) return fmt::format("the iterations of {} are not known exactly", statement.name);
      for (const Access* const access : accesses_[id])
        if (!access->exact) return fmt::format("an access of {} is not affine", statement.name);
    }
    for (const Dependence& dependence : profile_.dependences) {
      if (!dependence.from || inside_.count(*dependence.from) == 0 || inside_.count(dependence.to) == 0) continue;
      if (dependence.kind == Dependence::Kind::kEnvironment) return "it does input or output";
      if (dependence.kind == Dependence::Kind::kMemory || is_counting(dependence)) continue;
      if (!dependence.exact || !dependence.affine)
        return fmt::format("a flow from S{} to S{} is not affine", *dependence.from, dependence.to);
      flows_.push_back({*dependence.from, dependence.to, dependence.map});
      made_.insert(*dependence.from);
    }
    return statements_.empty() ? std::optional<std::string>("it has no statements") : std::nullopt;
  }

  std::string text() {
    choose_elements();
    std::string text =
        fmt::format("<OpenScop>\n\n# Region {}: {}\n# Language\nC\n\n# Context\nCONTEXT\n0 2 0 0 0 0\n\n", region_.id,
                    region_.source ? words_.place(*region_.source) : "?");
    text += fmt::format("# Parameters are not provided\n0\n\n# Number of statements\n{}\n\n", statements_.size());
    const std::vector<std::vector<Time>> order = written_order(profile_, region_, statements_);
    for (std::size_t i = 0; i < statements_.size(); i++) {
      const std::string statement = statement_text(statements_[i], order[i]);
      if (statement.empty()) return "";
      text += statement;
    }
    return text + arrays_text() + "</OpenScop>\n\n";
  }

 private:
  /// All that flows are integers that the counters determine.
  bool is_counting(const Dependence& dependence) const {
    if (dependence.kind != Dependence::Kind::kRegister) return false;
    return std::all_of(dependence.uses.begin(), dependence.uses.end(), [&](const profile::Use& use) {
      return affine_.count({*dependence.from, use.from}) != 0;
    });
  }

  Isl<isl_map> map(const std::string& text) const {
    return Isl<isl_map>(isl_map_read_from_str(context_.get(), text.c_str()));
  }
  Isl<isl_set> domain(const Statement& statement) const {
    return Isl<isl_set>(isl_set_read_from_str(context_.get(), statement.domain.c_str()));
  }
  Isl<isl_map> without_domain(Isl<isl_map> map, const Statement& statement) const {
    return Isl<isl_map>(isl_map_coalesce(isl_map_gist_domain(map.release(), domain(statement).release())));
  }

  /// Bytes per element of each object: the accesses' size, if there is one and all are aligned to it; else 1.
  void choose_elements() {
    std::map<std::uint32_t, std::uint64_t> sizes;
    for (const auto& [statement, list] : accesses_)
      for (const Access* const access : list) {
        const auto [at, is_new] = sizes.try_emplace(access->object, access->size);
        if (!is_new && at->second != access->size) at->second = 1;
      }
    for (const auto& [statement, list] : accesses_)
      for (const Access* const access : list)
        if (!is_aligned(*access, sizes[access->object])) sizes[access->object] = 1;
    elements_ = std::move(sizes);
  }

  bool is_aligned(const Access& access, std::uint64_t size) const {
    if (size <= 1) return true;
    Isl<isl_set> offsets(isl_map_range(map(access_map(profile_, access)).release()));
    const std::string unaligned = fmt::format("{{ O{}[b, o] : o mod {} != 0 }}", access.object, size);
    offsets =
        Isl<isl_set>(isl_set_intersect(offsets.release(), isl_set_read_from_str(context_.get(), unaligned.c_str())));
    return isl_set_is_empty(offsets.get()) == isl_bool_true;
  }

  bool has_blocks(std::uint32_t object) const { return profile_.objects[object].blocks > 1; }

  /// From the block and offset of an object's bytes to the array's number and its subscripts.
  std::string layout(const Access& access) const {
    const std::uint64_t element = elements_.at(access.object);
    const std::uint64_t touched = element == 1 ? access.size : 1;
    const std::string cells = element == 1 ? fmt::format("o <= x < o + {}", touched) : fmt::format("{} x = o", element);
    return fmt::format("{{ O{0}[b, o] -> [{1}, {2}x] : {3} }}", access.object, access.object + 1,
                       has_blocks(access.object) ? "b, " : "", cells);
  }

  std::string access_text(const Access& access, const Statement& statement) {
    used_.insert(access.object);
    Isl<isl_map> cells(isl_map_apply_range(map(access_map(profile_, access)).release(), map(layout(access)).release()));
    const char* const kind = access.kind == Access::Kind::kLoad ? "READ" : access.guarded ? "MAY_WRITE" : "WRITE";
    return openscop_relation(kind, without_domain(std::move(cells), statement));
  }

  std::uint32_t array_of_values(std::uint32_t statement) const {
    return static_cast<std::uint32_t>(profile_.objects.size()) + 1 + statement;
  }

  /// What `statement` made, as an array with its counters for subscripts: S3[i, j] -> [number, i, j].
  Isl<isl_map> values_of(std::uint32_t statement) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < profile_.statements[statement].loops.size(); i++)
      names.push_back(fmt::format("i{}", i));
    std::vector<std::string> cell = {std::to_string(array_of_values(statement))};
    cell.insert(cell.end(), names.begin(), names.end());
    return map(fmt::format("{{ S{}[{}] -> [{}] }}", statement, fmt::join(names, ", "), fmt::join(cell, ", ")));
  }

  std::vector<std::string> relations(const Statement& statement, const std::vector<Time>& times) {
    const auto dimensions = static_cast<unsigned>(statement.loops.size());
    std::vector<std::string> texts = {openscop_relation("DOMAIN", domain(statement), dimensions)};
    std::vector<std::string> names;
    for (unsigned i = 0; i < dimensions; i++) names.push_back(fmt::format("i{}", i));
    std::vector<std::string> rows;
    for (const Time& time : times) rows.push_back(fmt::format("{}{}", time.is_place ? "" : "i", time.value));
    texts.push_back(openscop_relation("SCATTERING", map(fmt::format("{{ {}[{}] -> [{}] }}", statement.name,
                                                                    fmt::join(names, ", "), fmt::join(rows, ", ")))));
    for (const Access* const access : accesses_[statement.id]) texts.push_back(access_text(*access, statement));
    for (const Flow& flow : flows_) {
      if (flow.to != statement.id) continue;
      Isl<isl_map> read(isl_map_apply_range(isl_map_reverse(map(flow.map).release()), values_of(flow.from).release()));
      texts.push_back(openscop_relation("READ", without_domain(std::move(read), statement)));
    }
    if (made_.count(statement.id) != 0) texts.push_back(openscop_relation("WRITE", values_of(statement.id)));
    return texts;
  }

  std::string statement_text(std::uint32_t id, const std::vector<Time>& times) {
    const Statement& statement = profile_.statements[id];
    const std::vector<std::string> texts = relations(statement, times);
    std::vector<std::string> lines;
    for (const profile::Source& source : statement.source) lines.push_back(words_.place(source));
    std::string text = fmt::format("# ---- {}: {}\n# Number of relations\n{}\n\n", statement.name,
                                   fmt::join(lines, ", "), texts.size());
    for (const std::string& relation : texts) {
      if (relation.empty()) return "";
      text += relation;
    }
    std::vector<std::string> names;
    for (std::size_t i = 0; i < statement.loops.size(); i++) names.push_back(fmt::format("i{}", i));
    return text + fmt::format(
                      "# Number of statement extensions\n1\n<body>\n# Number of original iterators\n{}\n"
                      "# Original iterators\n{}\n# Statement body expression\n{}({});\n</body>\n\n",
                      names.size(), fmt::join(names, " "), statement.name, fmt::join(names, ", "));
  }

  std::string arrays_text() const {
    std::vector<std::string> lines;
    for (const std::uint32_t object : used_)
      lines.push_back(fmt::format("{} {}_{}", object + 1, identifier(profile_.objects[object].name), object));
    for (const std::uint32_t statement : made_)
      lines.push_back(fmt::format("{} R{}", array_of_values(statement), statement));
    return fmt::format("# Extensions\n<arrays>\n# Number of arrays\n{}\n# Numbers and names\n{}\n</arrays>\n\n",
                       lines.size(), fmt::join(lines, "\n"));
  }

  const Profile& profile_;
  const Words& words_;
  const Region& region_;
  std::vector<std::uint32_t> statements_;
  std::set<std::uint32_t> inside_;
  poly::IslContext context_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> affine_;  // statement, instruction: an affine integer
  std::map<std::uint32_t, std::vector<const Access*>> accesses_;
  std::map<std::uint32_t, std::uint64_t> elements_;  // by object: bytes
  std::vector<Flow> flows_;
  std::set<std::uint32_t> made_;  // statements whose values flow
  std::set<std::uint32_t> used_;  // objects
};

}  // namespace

OpenScopCounts write_openscop(const Profile& profile, const Writer& writer) {
  const Words words(profile);
  OpenScopCounts counts;
  bool good = writer(fmt::format("# {}: folded by Loopfold, for this run.\n\n", words.command_line()));
  for (const Region& region : profile.regions) {
    if (!good) return counts;
    Scop scop(profile, words, region);
    const std::optional<std::string> obstacle = scop.obstacle();
    const std::string text = obstacle ? "" : scop.text();
    if (text.empty()) {
      counts.left_out++;
      good = writer(
          fmt::format("# Region {} is left out: {}\n\n", region.id, obstacle.value_or("isl's budget was used up")));
    } else {
      counts.written++;
      good = writer(text);
    }
  }
  return counts;
}

}  // namespace loopfold::views
