// Uses of arrays in a region, and obstacles (see region.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "advise/layout/alias.h"
#include "advise/layout/library.h"
#include "advise/layout/region.h"

namespace loopfold::layout {

namespace {

class UseFinder {
 public:
  UseFinder(const Source& source, const ScannedSource& scanned, const Region& region,
            const std::vector<RegionArray>& arrays, std::string_view text)
      : source_(source),
        scanned_(scanned),
        region_(region),
        arrays_(arrays),
        text_(text),
        aliases_(source, *region.function, text) {}

  RegionUses find() {
    find_overlaps();
    std::vector<const Syntax*> parents;
    walk(*region_.function, parents);
    find_mentions();
    const auto by_place = [](const auto& a, const auto& b) { return place(a) < place(b); };
    std::stable_sort(found_.references.begin(), found_.references.end(), by_place);
    std::stable_sort(found_.obstacles.begin(), found_.obstacles.end(), by_place);
    const auto same = [](const auto& a, const auto& b) { return place(a) == place(b); };
    found_.references.erase(std::unique(found_.references.begin(), found_.references.end(), same),
                            found_.references.end());
    found_.obstacles.erase(std::unique(found_.obstacles.begin(), found_.obstacles.end(), same), found_.obstacles.end());
    return std::move(found_);
  }

 private:
  using Parents = std::vector<const Syntax*>;
  static std::size_t place(const Reference& reference) { return reference.name; }
  static std::size_t place(const Obstacle& obstacle) { return obstacle.offset; }

  bool inside(std::size_t offset) const { return region_.begin <= offset && offset < region_.end; }
  void obstacle(std::size_t offset, std::string why) { found_.obstacles.push_back({offset, std::move(why)}); }

  /// Any array with this declaration: of several fields of one, the first.
  const RegionArray* array_of(const std::string& declaration) const {
    for (const RegionArray& array : arrays_)
      if (!declaration.empty() && array.declaration == declaration) return &array;
    return nullptr;
  }

  // ---- elements ----

  static const Syntax& unwrapped(const Syntax& node) {
    const bool wrapper = node.kind == SyntaxKind::kImplicit || node.kind == SyntaxKind::kParentheses;
    return wrapper && node.children.size() == 1 ? unwrapped(node.children[0]) : node;
  }

  /// What a chain of subscripts begins with, and the subscripts, outermost first.
  struct Chain {
    const Syntax* base = nullptr;
    std::vector<const Syntax*> subscripts;
  };
  static Chain chain_of(const Syntax& node) {
    Chain chain;
    const Syntax* at = &node;
    while (at->kind == SyntaxKind::kSubscript && at->children.size() == 2) {
      chain.subscripts.insert(chain.subscripts.begin(), &at->children[1]);
      at = &unwrapped(at->children[0]);
    }
    chain.base = at;
    return chain;
  }

  static std::vector<std::string> parts_of(const std::string& field) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    while (begin <= field.size() && !field.empty()) {
      const std::size_t dot = std::min(field.find('.', begin), field.size());
      parts.push_back(field.substr(begin, dot - begin));
      begin = dot + 1;
    }
    return parts;
  }

  /// Is this node a whole element (or field of one) of some array? Which, and its chain.
  struct Match {
    std::size_t array = 0;
    Chain chain;
  };
  std::optional<Match> match(const Syntax& node) const {
    for (std::size_t i = 0; i < arrays_.size(); i++) {
      const Syntax* at = &node;
      const std::vector<std::string> parts = parts_of(arrays_[i].field);
      bool fields = true;
      for (std::size_t p = parts.size(); p-- > 0 && fields;) {
        fields = at->kind == SyntaxKind::kMember && at->name == parts[p] && at->children.size() == 1;
        if (fields) at = &unwrapped(at->children[0]);
      }
      if (!fields || at->kind != SyntaxKind::kSubscript) continue;
      Chain chain = chain_of(*at);
      if (chain.base->kind == SyntaxKind::kName && chain.base->declaration == arrays_[i].declaration &&
          chain.subscripts.size() == arrays_[i].dimensions)
        return Match{i, std::move(chain)};
    }
    return std::nullopt;
  }

  /// P[i].z, of an array of structures with maps for other fields only: neither is z part of one that moves, nor the
  /// other way round.
  bool is_unmoved_field(const Syntax& node) const {
    std::vector<std::string> path;
    const Syntax* at = &node;
    while (at->kind == SyntaxKind::kMember && at->children.size() == 1) {
      path.insert(path.begin(), at->name);
      at = &unwrapped(at->children[0]);
    }
    if (path.empty() || at->kind != SyntaxKind::kSubscript) return false;
    const Chain chain = chain_of(*at);
    if (chain.base->kind != SyntaxKind::kName || array_of(chain.base->declaration) == nullptr) return false;
    return std::all_of(arrays_.begin(), arrays_.end(), [&](const RegionArray& array) {
      if (array.declaration != chain.base->declaration) return true;
      const std::vector<std::string> moved = parts_of(array.field);
      const std::size_t common = std::min(moved.size(), path.size());
      return chain.subscripts.size() == array.dimensions && common > 0 &&
             !std::equal(moved.begin(), moved.begin() + static_cast<std::ptrdiff_t>(common), path.begin());
    });
  }

  static Chain chain_below_fields(const Syntax& node) {
    return node.kind == SyntaxKind::kMember ? chain_below_fields(unwrapped(node.children[0])) : chain_of(node);
  }

  // ---- the walk ----

  void walk(const Syntax& node, Parents& parents) {
    if (node.kind == SyntaxKind::kName) named_.insert(node.begin);
    if (node.kind == SyntaxKind::kVariable) named_.insert(offset_of(node.declaration));
    if (node.kind == SyntaxKind::kSizeof && inside(node.begin) && is_size_of_array(node)) return name_all(node);
    if (const bool in_region = inside(node.begin); in_region && visit(node, parents)) return;
    const std::size_t before = found_.obstacles.size();
    parents.push_back(&node);
    for (const Syntax& child : node.children) walk(child, parents);
    parents.pop_back();
    if (node.kind == SyntaxKind::kCall && inside(node.begin) && found_.obstacles.size() == before) check_call(node);
  }

  /// sizeof A, sizeof(A[0]): the array is still declared, and nothing of it is read.
  bool is_size_of_array(const Syntax& node) const {
    if (node.children.size() != 1) return false;
    const Chain chain = chain_of(unwrapped(node.children[0]));
    return chain.base->kind == SyntaxKind::kName && array_of(chain.base->declaration) != nullptr;
  }

  void name_all(const Syntax& node) {
    if (node.kind == SyntaxKind::kName) named_.insert(node.begin);
    for (const Syntax& child : node.children) name_all(child);
  }

  static std::size_t offset_of(const std::string& declaration) {
    const std::size_t colon = declaration.rfind(':');
    return colon == std::string::npos ? kElsewhere : std::stoul(declaration.substr(colon + 1));
  }

  void walk_subscripts(const Chain& chain, const Syntax& node, Parents& parents) {
    parents.push_back(&node);
    for (const Syntax* subscript : chain.subscripts) walk(*subscript, parents);
    parents.pop_back();
  }

  /// True if the node is done with, its children included.
  bool visit(const Syntax& node, Parents& parents) {
    if (const std::optional<Match> matched = match(node)) {
      named_.insert(matched->chain.base->begin);
      take(node, *matched, parents);
      walk_subscripts(matched->chain, node, parents);
      return true;
    }
    if (is_unmoved_field(node)) {
      named_.insert(chain_below_fields(node).base->begin);
      walk_subscripts(chain_below_fields(node), node, parents);
      return true;
    }
    if (node.kind == SyntaxKind::kName) check_name(node, parents);
    check_control(node, parents);
    return false;
  }

  void check_name(const Syntax& node, const Parents& parents) {
    if (const RegionArray* const array = array_of(node.declaration)) {
      obstacle(node.begin, why_not(*array, parents));
    } else if (const RegionArray* const other = led_into(node.declaration)) {
      obstacle(node.begin, fmt::format("'{}' may lead into '{}', which is moved", node.name, other->name));
    }
  }

  std::string why_not(const RegionArray& array, const Parents& parents) const {
    std::size_t subscripts = 0;
    for (auto parent = parents.rbegin(); parent != parents.rend(); ++parent) {
      const Syntax& node = **parent;
      if (node.kind == SyntaxKind::kSubscript) subscripts++;
      if (node.kind == SyntaxKind::kCall && !node.name.empty())
        return fmt::format("'{}' is passed to {}", array.name, node.name);
      if (node.is_statement) break;
    }
    if (subscripts >= array.dimensions && !array.field.empty())
      return fmt::format("'{}' is used as a whole structure, and its fields are moved", array.name);
    if (subscripts > 0 && subscripts < array.dimensions)
      return fmt::format("'{}' has {} of its {} subscripts here: a row's address cannot be kept", array.name,
                         subscripts, array.dimensions);
    return fmt::format("'{}' is not used as an element with {} subscript{} here: its address escapes", array.name,
                       array.dimensions, array.dimensions == 1 ? "" : "s");
  }

  // ---- one element ----

  void take(const Syntax& node, const Match& matched, const Parents& parents) {
    const RegionArray& array = arrays_[matched.array];
    Reference reference;
    reference.array = matched.array;
    reference.name = matched.chain.base->begin;
    reference.name_length = array.name.size();
    if (!spelled_out(array, node, reference)) {
      obstacle(node.begin,
               fmt::format("'{}' is used through a macro, in parentheses or in an unusual way here; write {}"
                           "{} with its subscripts",
                           array.name, array.name, array.dimensions == 1 ? "[i]" : "[i][j]"));
      return;
    }
    if (address_taken(node, parents)) {
      obstacle(node.begin, fmt::format("the address of an element of '{}' is taken", array.name));
      return;
    }
    if (in_macro(node.begin, [](const MacroUse& use) { return use.stringifies && use.name != "assert"; })) {
      obstacle(node.begin, fmt::format("'{}' is used in a macro that shows the text of its arguments", array.name));
      return;
    }
    reference.written = is_written(node, parents);
    reference.read = !is_only_written(node, parents);
    for (std::size_t i = 0; i < matched.chain.subscripts.size(); i++)
      reference.side_effects.push_back(has_side_effects(*matched.chain.subscripts[i]) ||
                                       assigns_in_macro(reference.subscripts[i]));
    found_.references.push_back(std::move(reference));
  }

  std::size_t blank(std::size_t at) const { return skip_blank(text_, at, text_.size()); }

  /// Past the bracket that closes the one at `open`, or npos.
  std::size_t closing(std::size_t open) const {
    int depth = 0;
    for (std::size_t at = open; at < text_.size();) {
      at = blank(at);
      if (at >= text_.size()) break;
      const char c = text_[at];
      if (c == '"' || c == '\'') {
        at = skip_literal(text_, at, text_.size());
        continue;
      }
      if (c == '[' || c == '(' || c == '{') depth++;
      if (c == ']' || c == ')' || c == '}') depth--;
      if (depth == 0) return at;
      at++;
    }
    return std::string_view::npos;
  }

  bool word_at(std::size_t at, std::string_view word) const {
    return text_.substr(std::min(at, text_.size()), word.size()) == word &&
           (at + word.size() >= text_.size() || !continues_name(text_[at + word.size()])) &&
           (at == 0 || !continues_name(text_[at - 1]));
  }

  /// The text at the place of the node is the array's name, its subscripts and its field, and nothing else.
  bool spelled_out(const RegionArray& array, const Syntax& node, Reference& reference) const {
    std::size_t at = reference.name;
    if (!word_at(at, array.name) || source_.macros.count(array.name) != 0) return false;
    at += array.name.size();
    for (std::size_t i = 0; i < array.dimensions; i++) {
      const std::size_t open = blank(at);
      if (open >= text_.size() || text_[open] != '[') return false;
      const std::size_t close = closing(open);
      if (close == std::string_view::npos || text_[close] != ']') return false;
      reference.subscripts.push_back({open, close});
      at = close + 1;
    }
    for (const std::string& part : parts_of(array.field)) {
      at = blank(at);
      if (at >= text_.size() || text_[at] != '.') return false;
      at = blank(at + 1);
      if (!word_at(at, part)) return false;
      at += part.size();
    }
    reference.end = at;
    return node.begin == reference.name && node.end == reference.end;
  }

  bool address_taken(const Syntax& node, const Parents& parents) const {
    const Syntax* lvalue = &node;
    bool wrapped = false;
    for (auto parent = parents.rbegin(); parent != parents.rend(); ++parent) {
      const Syntax& above = **parent;
      const bool first = !above.children.empty() && &above.children[0] == lvalue;
      if (above.kind == SyntaxKind::kUnary)
        return text_.substr(above.begin, 1) == "&" && text_.substr(above.begin, 2) != "&&";
      if (above.kind == SyntaxKind::kImplicit || above.kind == SyntaxKind::kParentheses) {
        wrapped |= lvalue->is_array && !above.is_array;
      } else if (above.kind == SyntaxKind::kSubscript && first) {
        wrapped = false;
        if (!lvalue->is_array && lvalue->is_pointer) return false;
      } else if (above.kind != SyntaxKind::kMember || lvalue->is_pointer) {
        return wrapped;
      }
      lvalue = &above;
    }
    return wrapped;
  }

  /// The left side of an assignment, or the operand of ++ or --; fields, elements and parentheses between. In macros,
  /// where operators are not seen, if there is any that assigns.
  bool is_written(const Syntax& node, const Parents& parents) const {
    if (in_macro(node.begin, [](const MacroUse& use) { return use.assigns; })) return true;
    const Syntax* lvalue = &node;
    for (auto parent = parents.rbegin(); parent != parents.rend(); ++parent) {
      const Syntax& above = **parent;
      const bool first = !above.children.empty() && &above.children[0] == lvalue;
      if (!first) return false;
      if (above.kind == SyntaxKind::kAssignment || is_plain_assignment(above)) return true;
      if (above.kind == SyntaxKind::kUnary) return is_step(above);
      const bool part = above.kind == SyntaxKind::kMember || above.kind == SyntaxKind::kSubscript ||
                        above.kind == SyntaxKind::kParentheses || above.kind == SyntaxKind::kImplicit;
      if (!part) return false;
      lvalue = &above;
    }
    return false;
  }

  /// The left side of a plain assignment, parentheses between. In macros nothing is sure to be.
  bool is_only_written(const Syntax& node, const Parents& parents) const {
    if (in_macro(node.begin, [](const MacroUse&) { return true; })) return false;
    const Syntax* lvalue = &node;
    for (auto parent = parents.rbegin(); parent != parents.rend(); ++parent) {
      const Syntax& above = **parent;
      if (above.children.empty() || &above.children[0] != lvalue) return false;
      if (is_plain_assignment(above)) return true;
      if (above.kind != SyntaxKind::kParentheses && above.kind != SyntaxKind::kImplicit) return false;
      lvalue = &above;
    }
    return false;
  }

  /// ++ or -- on either side.
  bool is_step(const Syntax& unary) const {
    const auto steps = [&](std::size_t at) {
      const std::string_view sign = text_.substr(std::min(at, text_.size()), 2);
      return sign == "++" || sign == "--";
    };
    return steps(unary.begin) || (!unary.children.empty() && steps(blank(unary.children[0].end)));
  }

  template <typename Asked>
  bool in_macro(std::size_t offset, const Asked& asked) const {
    return std::any_of(source_.uses.begin(), source_.uses.end(),
                       [&](const MacroUse& use) { return use.begin <= offset && offset < use.end && asked(use); });
  }

  bool is_plain_assignment(const Syntax& node) const {
    if (node.kind != SyntaxKind::kBinary || node.children.size() != 2) return false;
    const std::size_t at = blank(node.children[0].end);
    return at + 1 < text_.size() && text_[at] == '=' && text_[at + 1] != '=';
  }

  bool assigns_in_macro(const Reference::Subscript& subscript) const {
    return std::any_of(source_.uses.begin(), source_.uses.end(), [&](const MacroUse& use) {
      return use.assigns && subscript.open < use.begin && use.begin < subscript.close;
    });
  }

  bool has_side_effects(const Syntax& node) const {
    if (node.kind == SyntaxKind::kCall || node.kind == SyntaxKind::kAssignment || is_plain_assignment(node))
      return true;
    if (node.kind == SyntaxKind::kUnary) {
      const std::string_view whole = text_.substr(node.begin, node.end - node.begin);
      if (whole.find("++") != std::string_view::npos || whole.find("--") != std::string_view::npos) return true;
    }
    return std::any_of(node.children.begin(), node.children.end(),
                       [&](const Syntax& child) { return has_side_effects(child); });
  }

  // ---- calls ----

  void check_call(const Syntax& call) {
    std::set<std::string> seen;
    const std::string culprit = harmful(call, seen);
    if (culprit.empty()) return;
    obstacle(call.begin, fmt::format("the call of {} may use arrays that are moved{}",
                                     call.name.empty() ? "a function pointer" : call.name,
                                     culprit == call.name || call.name.empty() ? "" : " (" + culprit + ")"));
  }

  /// Empty if the call leaves the arrays alone, else what may not.
  std::string harmful(const Syntax& call, std::set<std::string>& seen) const {
    for (const Syntax& function : source_.functions) {
      if (call.declaration.empty() || function.name != call.name) continue;
      return seen.insert(function.name).second ? harmful_inside(function, seen) : "";
    }
    const bool function = source_.function_keys.count(call.declaration) != 0 || call.name.rfind("__builtin_", 0) == 0;
    if (function && is_harmless(call.name)) return "";
    return function ? call.name : "a function pointer";
  }

  std::string harmful_inside(const Syntax& node, std::set<std::string>& seen) const {
    if (node.kind == SyntaxKind::kName) {
      if (const RegionArray* const array = array_of(node.declaration)) return "it names " + array->name;
      if (const RegionArray* const array = led_into(node.declaration))
        return fmt::format("its {} may lead into {}", node.name, array->name);
    }
    if (node.kind == SyntaxKind::kCall)
      if (std::string culprit = harmful(node, seen); !culprit.empty()) return "it calls " + culprit;
    for (const Syntax& child : node.children)
      if (std::string culprit = harmful_inside(child, seen); !culprit.empty()) return culprit;
    return "";
  }

  // ---- control ----

  static bool is_loop(SyntaxKind kind) {
    return kind == SyntaxKind::kFor || kind == SyntaxKind::kWhile || kind == SyntaxKind::kDo;
  }

  bool within_own(const Parents& parents, bool loops, bool switches) const {
    return std::any_of(parents.begin(), parents.end(), [&](const Syntax* parent) {
      const bool matters = (loops && is_loop(parent->kind)) || (switches && parent->kind == SyntaxKind::kSwitch);
      return matters && inside(parent->begin);
    });
  }

  void check_control(const Syntax& node, const Parents& parents) {
    switch (node.kind) {
      case SyntaxKind::kReturn:
        return obstacle(node.begin, "return leaves the region");
      case SyntaxKind::kBreak:
        if (!within_own(parents, true, true)) obstacle(node.begin, "break leaves the region");
        return;
      case SyntaxKind::kContinue:
        if (!within_own(parents, true, false)) obstacle(node.begin, "continue leaves the region");
        return;
      case SyntaxKind::kCase:
        if (!within_own(parents, false, true)) obstacle(node.begin, "a case label of a switch outside the region");
        return;
      case SyntaxKind::kAssembly:
        return obstacle(node.begin, "assembly in the region");
      case SyntaxKind::kIndirectGoto:
        return obstacle(node.begin, "a computed goto in the region");
      case SyntaxKind::kGoto:
        if (!inside(label_offset(*region_.function, node.declaration))) obstacle(node.begin, "goto leaves the region");
        return;
      case SyntaxKind::kLabel:
        if (reached_from_outside(*region_.function, node.declaration))
          obstacle(node.begin, fmt::format("the label {} is reached from outside the region", node.name));
        return;
      default:
        return;
    }
  }

  std::size_t label_offset(const Syntax& node, const std::string& declaration) const {
    if (node.kind == SyntaxKind::kLabel && node.declaration == declaration) return node.begin;
    for (const Syntax& child : node.children)
      if (const std::size_t found = label_offset(child, declaration); found != kElsewhere) return found;
    return kElsewhere;
  }

  bool reached_from_outside(const Syntax& node, const std::string& label) const {
    if (node.kind == SyntaxKind::kGoto && node.declaration == label && !inside(node.begin)) return true;
    if (node.kind == SyntaxKind::kIndirectGoto) return true;
    return std::any_of(node.children.begin(), node.children.end(),
                       [&](const Syntax& child) { return reached_from_outside(child, label); });
  }

  // ---- other pointers ----

  /// The first moved array that a variable may lead into, or nullptr.
  const RegionArray* led_into(const std::string& variable) const {
    for (const RegionArray& array : arrays_)
      if (array.declaration != variable && aliases_.leads_into(variable, array.declaration, array.dimensions))
        return &array;
    return nullptr;
  }

  void find_overlaps() {
    for (std::size_t i = 0; i < arrays_.size(); i++)
      for (std::size_t j = i + 1; j < arrays_.size(); j++)
        if (arrays_[i].declaration != arrays_[j].declaration &&
            aliases_.overlap(arrays_[i].declaration, arrays_[i].dimensions, arrays_[j].declaration,
                             arrays_[j].dimensions))
          obstacle(arrays_[j].at,
                   fmt::format("'{}' and '{}' may be the same memory", arrays_[i].name, arrays_[j].name));
  }

  // ---- what the parsed program does not show ----

  /// Every place in the region where an array's name stands, and that is not a name of the parsed program, is one where
  /// the array may be used unseen: other pragmas, macros that drop their arguments, what the preprocessor leaves out.
  void find_mentions() {
    for (std::size_t at = region_.begin; at < region_.end;) {
      const char c = text_[at];
      const std::size_t next = skip_blank(text_, at, region_.end);
      if (next > at) {
        at = next;
      } else if (c == '"' || c == '\'') {
        const std::size_t end = skip_literal(text_, at, region_.end);
        if (in_pragma_operator(at)) check_literal(at, end);
        at = end;
      } else if (continues_name(c)) {
        std::size_t end = at;
        while (end < region_.end && continues_name(text_[end])) end++;
        if (begins_name(c)) check_word(at, text_.substr(at, end - at));
        at = end;
      } else {
        at++;
      }
    }
    for (const OtherLine& line : scanned_.others)
      if (inside(line.begin) && line.keyword == "include") obstacle(line.begin, "an #include in the region");
    for (const MacroUse& use : source_.uses)
      if (use.begin < region_.end && region_.end < use.end) obstacle(use.begin, "the region ends in a macro's use");
  }

  void check_word(std::size_t at, std::string_view word) {
    const auto is_it = [&](const RegionArray& array) { return array.name == word; };
    if (std::none_of(arrays_.begin(), arrays_.end(), is_it) || named_.count(at) != 0 || is_field(at)) return;
    const auto around = std::find_if(scanned_.others.begin(), scanned_.others.end(),
                                     [&](const OtherLine& line) { return line.begin <= at && at < line.end; });
    if (around != scanned_.others.end())
      return obstacle(at, fmt::format("'{}' is named in a #{}", word, around->keyword));
    const auto is_directive = [&](const Directive& directive) { return directive.begin <= at && at < directive.end; };
    if (std::any_of(scanned_.directives.begin(), scanned_.directives.end(), is_directive)) return;
    const auto left_out = [&](const auto& range) { return range.first <= at && at < range.second; };
    const bool skipped = std::any_of(source_.skipped.begin(), source_.skipped.end(), left_out);
    obstacle(at, skipped ? fmt::format("'{}' is named in what the preprocessor leaves out here", word)
                         : fmt::format("'{}' is named here in a way that cannot be followed", word));
  }

  bool is_field(std::size_t at) const {
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t' || text_[at - 1] == '\n')) at--;
    return at > 0 && (text_[at - 1] == '.' || (at > 1 && text_.substr(at - 2, 2) == "->"));
  }

  /// _Pragma("...")
  bool in_pragma_operator(std::size_t literal) const {
    constexpr std::string_view kOperator = "_Pragma";
    std::size_t at = literal;
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '(')) at--;
    return at >= kOperator.size() && text_.substr(at - kOperator.size(), kOperator.size()) == kOperator;
  }

  void check_literal(std::size_t begin, std::size_t end) {
    for (const RegionArray& array : arrays_)
      for (std::size_t at = text_.find(array.name, begin); at < end; at = text_.find(array.name, at + 1))
        if (word_at(at, array.name)) obstacle(at, fmt::format("'{}' is named in a _Pragma", array.name));
  }

  const Source& source_;
  const ScannedSource& scanned_;
  const Region& region_;
  const std::vector<RegionArray>& arrays_;
  std::string_view text_;
  RegionUses found_;
  Aliases aliases_;
  std::set<std::size_t> named_;  // offsets of names that the parsed program has
};

}  // namespace

RegionUses find_uses(const Source& source, const ScannedSource& scanned, const Region& region,
                     const std::vector<RegionArray>& arrays, std::string_view text) {
  return UseFinder(source, scanned, region, arrays, text).find();
}

}  // namespace loopfold::layout
