#include "advise/layout/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "advise/layout/region.h"
#include "advise/layout/resolve.h"
#include "advise/layout/source.h"

namespace loopfold::layout {

namespace {

struct Edit {
  std::size_t offset = 0;
  std::size_t length = 0;
  std::string text;
};

constexpr std::array<std::string_view, 9> kReserved = {"_Bool",     "_Complex",       "_Imaginary",
                                                       "_Atomic",   "_Generic",       "_Alignof",
                                                       "_Noreturn", "_Static_assert", "_Thread_local"};

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

std::set<std::string> words_of(std::string_view text) {
  std::set<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    if (!begins_name(text[at])) {
      at++;
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && continues_name(text[at])) at++;
    words.emplace(text.substr(begin, at - begin));
  }
  return words;
}

/// Each line with white space in front.
std::string indented(const std::string& text, const std::string& indent) {
  std::string result;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    result += indent + text.substr(begin, end - begin);
    begin = end;
  }
  return result;
}

/// A macro's argument may not have a comma outside parentheses.
bool has_bare_comma(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size();) {
    at = skip_blank(text, at, text.size());
    if (at >= text.size()) return false;
    if (text[at] == '"' || text[at] == '\'') {
      at = skip_literal(text, at, text.size());
      continue;
    }
    if (text[at] == '(') depth++;
    if (text[at] == ')') depth--;
    if (text[at] == ',' && depth == 0) return true;
    at++;
  }
  return false;
}

/// A region with its directive and the redistributions inside it.
struct Work {
  Region region;
  std::vector<Resolved*> stages;  // the directive first
  RegionUses uses;                // arrays counted as in the first stage
};

class Rewriter {
 public:
  Rewriter(const std::string& file, std::string_view text, const RewriteOptions& options)
      : file_(file), text_(text), options_(options), context_(isl_ctx_alloc()), names_({}) {}

  Result<Rewritten> run() {
    const Result<ScannedSource> scanned = scan_source(file_, text_);
    if (!scanned) return tl::unexpected<Error>(scanned.error());
    const Result<Source> source = parse_source(file_, text_, options_.compiler);
    if (!source) return tl::unexpected<Error>(source.error());
    const std::vector<const Directive*> directives = active(*scanned, *source);
    if (directives.empty()) return fail(ErrorKind::kBadInput, fmt::format("{}: has no #pragma layout", file_));
    for (const Directive* directive : directives) {
      if (directive->redistributes()) continue;
      if (Result<Region> region = find_region(*source, *scanned, *directive, text_); !region)
        return tl::unexpected<Error>(region.error());
    }
    Result<std::vector<Resolved>> resolved = resolve(file_, text_, directives, options_.compiler);
    if (!resolved) return tl::unexpected<Error>(resolved.error());
    std::set<std::string> taken = words_of(text_);
    taken.insert(source->macros.begin(), source->macros.end());
    taken.insert(kReserved.begin(), kReserved.end());
    names_ = Names(std::move(taken));
    if (Result<void> sorted = sort_stages(*source, *scanned, *resolved); !sorted)
      return tl::unexpected<Error>(sorted.error());
    for (Work& work : works_)
      if (Result<void> done = do_region(*source, *scanned, work); !done) return tl::unexpected<Error>(done.error());
    if (result_.reasons.empty()) {
      include_allocator(*source);
      result_.text = applied();
      if (const Result<Source> again = parse_source(file_, result_.text, options_.compiler); !again)
        return fail(ErrorKind::kBadInput, fmt::format("what would be generated cannot be compiled, so nothing is: {}",
                                                      again.error().message));
    } else if (result_.answer == Answer::kYes) {
      result_.answer = Answer::kNo;
    }
    return std::move(result_);
  }

 private:
  static std::vector<const Directive*> active(const ScannedSource& scanned, const Source& source) {
    std::vector<const Directive*> result;
    for (const Directive& directive : scanned.directives) {
      const bool skipped = std::any_of(source.skipped.begin(), source.skipped.end(), [&](const auto& range) {
        return range.first <= directive.begin && directive.begin < range.second;
      });
      if (!skipped) result.push_back(&directive);
    }
    return result;
  }

  tl::unexpected<Error> refuse(const Place& place, std::string_view why) const {
    return fail(ErrorKind::kBadInput,
                fmt::format("{}:{}:{}: #pragma layout: {}", file_, place.line, place.column, why));
  }

  void object(std::size_t offset, std::string_view why) {
    const Place place = place_of(text_, offset);
    result_.reasons.push_back(fmt::format("{}:{}:{}: {}", file_, place.line, place.column, why));
  }

  /// Each directive's region; redistributions go to the region that they stand in.
  Result<void> sort_stages(const Source& source, const ScannedSource& scanned, std::vector<Resolved>& resolved) {
    for (Resolved& one : resolved) {
      const Directive& directive = *one.directive;
      Work* const around = works_.empty() || directive.begin >= works_.back().region.end ? nullptr : &works_.back();
      if (directive.redistributes()) {
        if (around == nullptr)
          return refuse(directive.place, "redist is for arrays that have a layout; there is none here");
        if (!at_top_level(around->region, directive.begin))
          return refuse(directive.place, "redist must stand directly in the region's block, in no loop or condition");
        if (Result<void> same = check_redistribution(*around->stages[0], one); !same) return same;
        around->stages.push_back(&one);
        continue;
      }
      if (around != nullptr) return refuse(directive.place, "the region of another layout directive is not over yet");
      Result<Region> region = find_region(source, scanned, directive, text_);
      if (!region) return tl::unexpected<Error>(region.error());
      works_.push_back({*region, {&one}, {}});
    }
    return {};
  }

  Result<void> check_redistribution(const Resolved& first, const Resolved& later) const {
    for (std::size_t i = 0; i < later.phis.size(); i++) {
      const Place& place = later.directive->maps[i].place;
      const auto same = [&](const Phi& phi) { return phi.label() == later.phis[i].label(); };
      const auto found = std::find_if(first.phis.begin(), first.phis.end(), same);
      if (found == first.phis.end())
        return refuse(place, fmt::format("'{}' has no layout in this region yet", later.phis[i].label()));
      if (!(found->extents == later.phis[i].extents) || !(found->element == later.phis[i].element))
        return refuse(
            place, fmt::format("'{}' has other sizes or another type where the region begins", later.phis[i].label()));
    }
    return {};
  }

  Result<void> do_region(const Source& source, const ScannedSource& scanned, Work& work) {
    work.uses = find_uses(source, scanned, work.region, work.stages[0]->arrays, text_);
    for (const Resolved* stage : work.stages) prove(*stage, work);
    for (const Obstacle& obstacle : work.uses.obstacles) object(obstacle.offset, obstacle.why);
    check_writes(work);
    check_names(source, work);
    if (result_.answer != Answer::kYes) return {};
    return write(work);
  }

  void prove(const Resolved& stage, const Work& work) {
    DirectiveSummary summary;
    summary.place = stage.directive->place;
    summary.assumed = stage.assumed;
    for (const MapClause& map : stage.directive->maps)
      if (map.transfer == Transfer::kOut)
        summary.assumed.push_back(fmt::format("the region writes all of '{}'", map.array));
    summary.proof = one_to_one(context_.get(), stage.phis, stage.known);
    if (summary.proof.answer != Answer::kYes) {
      object(stage.directive->begin,
             fmt::format("#pragma layout: {}: {}",
                         summary.proof.answer == Answer::kNo ? "not one-to-one" : "not known to be one-to-one",
                         summary.proof.why));
      if (result_.answer != Answer::kNo) result_.answer = summary.proof.answer;
    } else {
      summary.memory = memory_of(stage);
    }
    for (std::size_t i = 0; i < stage.phis.size(); i++) summary.arrays.push_back(summary_of(stage, i, work));
    result_.directives.push_back(std::move(summary));
  }

  ArraySummary summary_of(const Resolved& stage, std::size_t i, const Work& work) const {
    const Phi& phi = stage.phis[i];
    ArraySummary summary;
    summary.label = phi.label();
    summary.transfer = stage.directive->maps[i].transfer;
    std::string extents;
    for (const QuasiAffine& extent : phi.extents) extents += (extents.empty() ? "" : ", ") + extent.isl_text();
    summary.domain = fmt::format("{}[{}]", phi.element.name, extents);
    summary.map = isl_text_of(phi);
    for (const Reference& reference : work.uses.references)
      if (work.stages[0]->phis[reference.array].label() == phi.label()) summary.references++;
    return summary;
  }

  /// How much memory the layout takes, if all sizes are known.
  std::string memory_of(const Resolved& stage) const {
    const Result<LayoutTree> tree = build_tree(context_.get(), stage.phis, stage.known);
    if (!tree) return "";
    const Result<Field> field = field_of(*tree, stage.known);
    if (!field) return "";
    std::int64_t bytes = 0;
    for (const Phi& phi : stage.phis) {
      std::int64_t elements = phi.element.size;
      for (const QuasiAffine& extent : phi.extents) {
        for (const std::string& name : extent.names())
          if (stage.known.count(name) == 0) return "";
        elements *= extent.evaluated(stage.known);
      }
      bytes += elements;
    }
    return fmt::format("{} bytes for {} bytes of elements", grouped(field->bytes()), grouped(bytes));
  }

  void check_writes(const Work& work) {
    const Resolved& first = *work.stages[0];
    for (const Reference& reference : work.uses.references) {
      if (reference.read && first.directive->maps[reference.array].transfer == Transfer::kOut)
        object(reference.name, fmt::format("'{}' is read here, but not copied in: inout instead of out",
                                           first.phis[reference.array].label()));
      if (reference.written && first.directive->maps[reference.array].transfer == Transfer::kIn)
        object(reference.name, fmt::format("'{}' is written here, but only copied in: its map must be inout or out",
                                           first.phis[reference.array].label()));
    }
  }

  void check_names(const Source& source, const Work& work) {
    for (const Resolved* stage : work.stages)
      for (const MapClause& map : stage->directive->maps)
        for (const std::string& index : map.indices)
          if (source.macros.count(index) != 0)
            object(map.place.offset, fmt::format("the index '{}' is a macro here; call it something else", index));
    const bool copied_inside = work.region.is_scop || (work.stages.size() > 1 && work.region.is_block);
    if (copied_inside) check_shadows(*work.region.block, work);
  }

  /// The arrays are copied back inside the block if that is a scop's or has a redistribution: their names must still
  /// mean them there.
  void check_shadows(const Syntax& block, const Work& work) {
    for (const Syntax& statement : block.children)
      for (const Syntax& declared : statement.children)
        for (const RegionArray& array : work.stages[0]->arrays)
          if (statement.kind == SyntaxKind::kDeclarations && declared.kind == SyntaxKind::kVariable &&
              statement.begin >= work.region.begin && statement.begin < work.region.end && declared.name == array.name)
            object(declared.begin, fmt::format("'{}' hides the array that is copied back in this block", array.name));
  }

  // ---- writing ----

  std::string indent_of(std::size_t offset) const {
    std::size_t begin = offset;
    while (begin > 0 && text_[begin - 1] != '\n') begin--;
    const std::string indent(text_.substr(begin, offset - begin));
    return indent.find_first_not_of(" \t") == std::string::npos ? indent : "";
  }

  static std::string quoted(const Directive& directive) {
    std::string text = directive_text(directive);
    for (std::size_t at = text.find(") map("); at != std::string::npos; at = text.find(") map(", at + 1))
      text.replace(at, 2, ")\n          ");
    return fmt::format("/* {} */\n", text);
  }

  Result<void> write(Work& work) {
    std::vector<Generated> groups;
    std::map<std::string, std::size_t> current;  // label -> stage
    std::string epilogue;
    for (std::size_t s = 0; s < work.stages.size(); s++) {
      const Resolved& stage = *work.stages[s];
      Result<Generated> group = generate(context_.get(), stage.phis, stage.known, options_.form, names_, Cells::kOwn,
                                         groups.empty() ? std::map<std::string, std::string>() : groups[0].sizes);
      if (!group) return refuse(stage.directive->place, group.error().message);
      groups.push_back(std::move(*group));
      write_stage(work, s, groups, current);
      for (const Phi& phi : stage.phis) current[phi.label()] = s;
    }
    for (std::size_t i = 0; i < work.stages[0]->phis.size(); i++) {
      const Phi& phi = work.stages[0]->phis[i];
      const Transfer transfer = work.stages[0]->directive->maps[i].transfer;
      if (transfer == Transfer::kIn) continue;
      const std::size_t last = current.at(phi.label());
      epilogue += groups[last].copy_out.at(phi.label());
    }
    if (!epilogue.empty()) epilogue = "// Results back into the original arrays\n" + epilogue;
    for (std::size_t s = groups.size(); s-- > 0;) epilogue += groups[s].release;
    write_epilogue(work, epilogue);
    write_references(work, groups);
    return {};
  }

  void write_stage(const Work& work, std::size_t s, const std::vector<Generated>& groups,
                   const std::map<std::string, std::size_t>& current) {
    const Resolved& stage = *work.stages[s];
    const Generated& group = groups[s];
    std::string text = quoted(*stage.directive) + group.declarations;
    std::string copies;
    for (std::size_t i = 0; i < stage.phis.size(); i++) {
      const Phi& phi = stage.phis[i];
      const Transfer transfer = stage.directive->maps[i].transfer;
      if (transfer == Transfer::kIn || transfer == Transfer::kInOut) copies += group.copy_in.at(phi.label());
      if (transfer != Transfer::kRedistribute) continue;
      const std::string from = moved_element(phi, groups[current.at(phi.label())]);
      copies += copy_loop(phi, group, moved_element(phi, group), from);
    }
    if (!copies.empty()) text += "// Elements into the new layout\n" + copies;
    const bool braces = s == 0 && !work.region.is_scop;
    const std::string own = indent_of(stage.directive->begin);
    std::string whole = indented((braces ? "{\n" : "") + text, own.empty() ? indent_behind(stage) : own);
    whole = whole.substr(own.size());
    whole.pop_back();
    edits_.push_back({stage.directive->begin, stage.directive->end - stage.directive->begin, std::move(whole)});
  }

  /// A directive at the beginning of its line: the code goes with what stands behind it.
  std::string indent_behind(const Resolved& stage) const {
    return indent_of(skip_blank(text_, stage.directive->end, text_.size()));
  }

  void write_epilogue(const Work& work, const std::string& epilogue) {
    const std::string own = indent_of(work.stages[0]->directive->begin);
    const std::string indent = own.empty() ? indent_behind(*work.stages[0]) : own;
    if (work.region.is_scop) {
      edits_.push_back({line_start(work.region.end), 0, indented(epilogue, indent)});
      return;
    }
    const std::string closing = "\n" + indent + "}";
    if (work.stages.size() == 1) {
      edits_.push_back({work.region.end, 0, "\n" + indented(epilogue, indent) + indent + "}"});
      return;
    }
    const std::size_t brace = work.region.end - 1;
    const bool alone = line_start(brace) != brace || (brace > 0 && text_[brace - 1] == '\n');
    edits_.push_back({line_start(brace), 0, (alone ? "" : "\n") + indented(epilogue, indent)});
    edits_.push_back({work.region.end, 0, closing});
  }

  /// Where the line begins, if only white space stands before the offset; else the offset itself.
  std::size_t line_start(std::size_t offset) const {
    std::size_t begin = offset;
    while (begin > 0 && (text_[begin - 1] == ' ' || text_[begin - 1] == '\t')) begin--;
    return begin == 0 || text_[begin - 1] == '\n' ? begin : offset;
  }

  /// Which layout an array has at a place: that of the last directive before it that names the array.
  static std::size_t stage_at(const Work& work, const std::string& label, std::size_t offset) {
    std::size_t result = 0;
    for (std::size_t s = 1; s < work.stages.size(); s++) {
      const Resolved& stage = *work.stages[s];
      const auto same = [&](const Phi& phi) { return phi.label() == label; };
      if (stage.directive->begin < offset && std::any_of(stage.phis.begin(), stage.phis.end(), same)) result = s;
    }
    return result;
  }

  void write_references(const Work& work, const std::vector<Generated>& groups) {
    for (const Reference& reference : work.uses.references) {
      const std::string label = work.stages[0]->phis[reference.array].label();
      const Generated& group = groups[stage_at(work, label, reference.name)];
      const std::vector<int>& uses = group.uses.at(label);
      for (std::size_t i = 0; i < reference.side_effects.size(); i++)
        if (reference.side_effects[i] && uses[i] != 1)
          object(reference.subscripts[i].open,
                 fmt::format("this subscript of '{}' has side effects, and the new layout computes with it {} times",
                             label, uses[i]));
      write_reference(reference, group.macros.at(label));
    }
  }

  void write_reference(const Reference& reference, const std::string& macro) {
    edits_.push_back({reference.name, reference.name_length, macro});
    for (std::size_t i = 0; i < reference.subscripts.size(); i++) {
      const Reference::Subscript& subscript = reference.subscripts[i];
      const bool last = i + 1 == reference.subscripts.size();
      const bool comma = has_bare_comma(text_.substr(subscript.open + 1, subscript.close - subscript.open - 1));
      edits_.push_back({subscript.open, 1, std::string(i == 0 ? "(" : " ") + (comma ? "(" : "")});
      const std::size_t length = last ? reference.end - subscript.close : 1;
      edits_.push_back({subscript.close, length, std::string(comma ? ")" : "") + (last ? ")" : ",")});
    }
  }

  /// malloc, free and abort must be declared where the first region is.
  void include_allocator(const Source& source) {
    if (source.declared.count("malloc") != 0 && source.declared.count("free") != 0 &&
        source.declared.count("abort") != 0)
      return;
    const Syntax& function = *works_[0].region.function;
    edits_.push_back({function.begin, 0, "#include <stdlib.h>\n" + indent_of(function.begin)});
  }

  std::string applied() {
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.offset < b.offset; });
    std::string result;
    std::size_t at = 0;
    for (const Edit& edit : edits_) {
      result += text_.substr(at, edit.offset - at);
      result += edit.text;
      at = edit.offset + edit.length;
    }
    return result + std::string(text_.substr(at));
  }

  const std::string& file_;
  std::string_view text_;
  const RewriteOptions& options_;
  poly::IslContext context_;
  Names names_;
  std::vector<Work> works_;
  std::vector<Edit> edits_;
  Rewritten result_;
};

}  // namespace

Result<Rewritten> rewrite(const std::string& file, std::string_view text, const RewriteOptions& options) {
  return Rewriter(file, text, options).run();
}

}  // namespace loopfold::layout
