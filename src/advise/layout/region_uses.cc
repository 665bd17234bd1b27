// Uses of arrays in a region, and obstacles (see region.h).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "advise/layout/region.h"

namespace loopfold::layout {

namespace {

/// Functions of the C library that leave arrays alone which they are not given.
constexpr std::array<std::string_view, 59> kHarmless = {
    "abs",   "labs",   "llabs",  "fabs",  "sqrt",  "cbrt",     "exp",     "exp2",   "log",          "log2",
    "log10", "pow",    "sin",    "cos",   "tan",   "asin",     "acos",    "atan",   "atan2",        "sinh",
    "cosh",  "tanh",   "floor",  "ceil",  "round", "lround",   "trunc",   "rint",   "nearbyint",    "fmod",
    "fmin",  "fmax",   "fma",    "hypot", "ldexp", "copysign", "erf",     "erfc",   "tgamma",       "lgamma",
    "expm1", "log1p",  "fdim",   "isnan", "isinf", "printf",   "fprintf", "puts",   "putchar",      "fputs",
    "fputc", "malloc", "calloc", "free",  "clock", "time",     "rand",    "fflush", "__assert_fail"};

bool is_harmless(std::string name) {
  if (name.rfind("__builtin_", 0) == 0) return true;
  const auto known = [](const std::string& wanted) {
    return std::find(kHarmless.begin(), kHarmless.end(), wanted) != kHarmless.end();
  };
  if (known(name)) return true;
  const bool suffix = !name.empty() && (name.back() == 'f' || name.back() == 'l');
  name.resize(name.empty() ? 0 : name.size() - 1);
  return suffix && known(name);
}

class UseFinder {
 public:
  UseFinder(const Source& source, const ScannedSource& scanned, const Region& region,
            const std::vector<RegionArray>& arrays, std::string_view text)
      : source_(source), scanned_(scanned), region_(region), arrays_(arrays), text_(text) {}

  RegionUses find() {
    find_aliases();
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
    if (node.kind == SyntaxKind::kSizeof) return;
    if (const bool in_region = inside(node.begin); in_region && visit(node, parents)) return;
    const std::size_t before = found_.obstacles.size();
    parents.push_back(&node);
    for (const Syntax& child : node.children) walk(child, parents);
    parents.pop_back();
    if (node.kind == SyntaxKind::kCall && inside(node.begin) && found_.obstacles.size() == before) check_call(node);
  }

  void walk_subscripts(const Chain& chain, const Syntax& node, Parents& parents) {
    parents.push_back(&node);
    for (const Syntax* subscript : chain.subscripts) walk(*subscript, parents);
    parents.pop_back();
  }

  /// True if the node is done with, its children included.
  bool visit(const Syntax& node, Parents& parents) {
    if (const std::optional<Match> matched = match(node)) {
      take(node, *matched, parents);
      walk_subscripts(matched->chain, node, parents);
      return true;
    }
    if (is_unmoved_field(node)) {
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
    } else if (const auto alias = aliases_.find(node.declaration); alias != aliases_.end()) {
      obstacle(node.begin, fmt::format("'{}' may lead into '{}', which is moved", node.name, alias->second));
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
    reference.written = is_written(reference);
    for (const Syntax* subscript : matched.chain.subscripts)
      reference.side_effects.push_back(has_side_effects(*subscript));
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

  /// An assignment's operator stands behind the element, or ++ or -- on either side; fields and parentheses between.
  bool is_written(const Reference& reference) const {
    std::size_t at = blank(reference.end);
    std::size_t before = reference.name;
    while (at < text_.size()) {
      if (text_[at] == '.') {
        at = blank(at + 1);
        while (at < text_.size() && continues_name(text_[at])) at++;
      } else if (text_[at] == '[') {
        const std::size_t close = closing(at);
        if (close == std::string_view::npos) return true;
        at = close + 1;
      } else if (text_[at] == ')' && previous(before) == '(') {
        before = text_.rfind('(', before - 1);
        at++;
      } else {
        break;
      }
      at = blank(at);
    }
    const std::string_view behind = text_.substr(std::min(at, text_.size()), 3);
    const std::string_view two = behind.substr(0, 2);
    if (two == "++" || two == "--" || behind == "<<=" || behind == ">>=") return true;
    if (!behind.empty() && behind[0] == '=' && two != "==") return true;
    constexpr std::string_view kCompound = "+-*/%&|^";
    if (two.size() == 2 && two[1] == '=' && kCompound.find(two[0]) != std::string_view::npos) return true;
    return previous(before) == '+' || previous(before) == '-' ? doubled(before) : false;
  }

  char previous(std::size_t at) const {
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t' || text_[at - 1] == '\n')) at--;
    return at == 0 ? '\0' : text_[at - 1];
  }
  bool doubled(std::size_t at) const {
    while (at > 0 && (text_[at - 1] == ' ' || text_[at - 1] == '\t' || text_[at - 1] == '\n')) at--;
    return at > 1 && text_[at - 1] == text_[at - 2];
  }

  bool is_plain_assignment(const Syntax& node) const {
    if (node.kind != SyntaxKind::kBinary || node.children.size() != 2) return false;
    const std::size_t at = blank(node.children[0].end);
    return at + 1 < text_.size() && text_[at] == '=' && text_[at + 1] != '=';
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
    if (!call.name.empty() && is_harmless(call.name)) return "";
    return call.name.empty() ? "a function pointer" : call.name;
  }

  std::string harmful_inside(const Syntax& node, std::set<std::string>& seen) const {
    if (node.kind == SyntaxKind::kName)
      if (const RegionArray* const array = array_of(node.declaration)) return "it names " + array->name;
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

  /// Pointers are linked if one is made from the other; whatever is linked with a moved array may lead into it.
  void find_aliases() {
    collect_links(*region_.function);
    for (const RegionArray& array : arrays_) aliases_[array.declaration] = array.name;
    for (bool grown = true; grown;) {
      grown = false;
      for (const auto& [one, other] : links_) {
        if (const auto found = aliases_.find(one); found != aliases_.end())
          grown |= aliases_.try_emplace(other, found->second).second;
        if (const auto found = aliases_.find(other); found != aliases_.end())
          grown |= aliases_.try_emplace(one, found->second).second;
      }
    }
    for (const RegionArray& array : arrays_) aliases_.erase(array.declaration);
  }

  void collect_links(const Syntax& node) {
    if (node.kind == SyntaxKind::kVariable && node.is_pointer)
      for (const Syntax& child : node.children) link(node.declaration, child);
    if (is_plain_assignment(node)) {
      const Syntax& left = unwrapped(node.children[0]);
      if (left.kind == SyntaxKind::kName && left.is_pointer) link(left.declaration, node.children[1]);
    }
    for (const Syntax& child : node.children) collect_links(child);
  }

  /// The pointers that a pointer's value is made from. What is loaded from an array of numbers is none; the address of
  /// such an element is.
  void link(const std::string& pointer, const Syntax& value, bool address = false) {
    if (value.kind == SyntaxKind::kSizeof) return;
    if (value.kind == SyntaxKind::kSubscript && value.children.size() == 2) {
      if (value.is_pointer || address) link(pointer, value.children[0], address);
      return;
    }
    if (value.kind == SyntaxKind::kName && value.is_pointer) links_.emplace_back(pointer, value.declaration);
    const bool takes = value.kind == SyntaxKind::kUnary && text_.substr(value.begin, 1) == "&";
    for (const Syntax& child : value.children) link(pointer, child, address || takes);
  }

  // ---- what the parsed program does not show ----

  void find_mentions() {
    for (const OtherLine& line : scanned_.others) {
      if (!inside(line.begin)) continue;
      for (const RegionArray& array : arrays_)
        for (std::size_t at = text_.find(array.name, line.begin); at < line.end; at = text_.find(array.name, at + 1))
          if (word_at(at, array.name)) obstacle(at, fmt::format("'{}' is named in a #{}", array.name, line.keyword));
    }
  }

  const Source& source_;
  const ScannedSource& scanned_;
  const Region& region_;
  const std::vector<RegionArray>& arrays_;
  std::string_view text_;
  RegionUses found_;
  std::vector<std::pair<std::string, std::string>> links_;
  std::map<std::string, std::string> aliases_;  // declaration of a pointer -> the array that it may lead into
};

}  // namespace

RegionUses find_uses(const Source& source, const ScannedSource& scanned, const Region& region,
                     const std::vector<RegionArray>& arrays, std::string_view text) {
  return UseFinder(source, scanned, region, arrays, text).find();
}

}  // namespace loopfold::layout
