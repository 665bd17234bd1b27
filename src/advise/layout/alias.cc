#include "advise/layout/alias.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "advise/layout/directive.h"
#include "advise/layout/library.h"

namespace loopfold::layout {

namespace {

constexpr int kMostRounds = 200;
constexpr std::size_t kMostCopies = 3;  // calls of calls that have fresh memory of their own

}  // namespace

/// Grows the sets for one context: what the parameters of the region's function are.
class AliasSolver {
 public:
  using Places = Aliases::Places;

  AliasSolver(const Source& source, const Syntax& function, std::string_view text, Aliases& result)
      : source_(source), region_function_(function), text_(text), result_(result) {
    for (const Syntax& one : source_.functions) {
      functions_[one.declaration] = &one;
      by_name_[one.name] = &one;
    }
    for (const Syntax& one : source_.functions) count_names(one);
    for (const Syntax& one : source_.variables) count_names(one);
  }

  /// All contexts, one after the other.
  void solve() {
    std::vector<const Syntax*> calls;
    bool inside = false;
    for (const Syntax& one : source_.functions) find_calls(one, &one == &region_function_, calls, inside);
    const bool reachable = !region_function_.is_static || is_address_taken(region_function_);
    if (inside || calls.empty()) return solve_with(calls, true);
    if (reachable) solve_with({}, true);
    for (const Syntax* call : calls) solve_with({call}, false);
  }

 private:
  // ---- what there is ----

  int place(const std::string& key) {
    const auto [at, is_new] = places_.try_emplace(key, static_cast<int>(held_.size()));
    if (is_new) held_.emplace_back();
    return at->second;
  }

  int variable(const std::string& declaration) {
    const int number = place("variable " + declaration);
    result_.places_[declaration] = number;
    return number;
  }

  static bool is_parameter_list(const Syntax& function, const Syntax& child) {
    return function.kind == SyntaxKind::kFunction && child.kind == SyntaxKind::kVariable;
  }

  static std::vector<const Syntax*> parameters(const Syntax& function) {
    std::vector<const Syntax*> result;
    for (const Syntax& child : function.children)
      if (is_parameter_list(function, child)) result.push_back(&child);
    return result;
  }

  const Syntax* called(const Syntax& call) const {
    if (const auto found = functions_.find(call.declaration); found != functions_.end()) return found->second;
    if (source_.function_keys.count(call.declaration) == 0) return nullptr;
    const auto found = by_name_.find(call.name);
    return found == by_name_.end() ? nullptr : found->second;
  }

  void count_names(const Syntax& node) {
    if (node.kind == SyntaxKind::kName && by_name_.count(node.name) != 0) named_[node.name]++;
    if (node.kind == SyntaxKind::kCall && by_name_.count(node.name) != 0) named_[node.name]--;
    for (const Syntax& child : node.children) count_names(child);
  }

  /// Its name is used otherwise than in calls.
  bool is_address_taken(const Syntax& function) const {
    const auto found = named_.find(function.name);
    return found != named_.end() && found->second > 0;
  }

  void find_calls(const Syntax& node, bool inside, std::vector<const Syntax*>& calls, bool& recursive) const {
    if (node.kind == SyntaxKind::kCall && called(node) == &region_function_) {
      calls.push_back(&node);
      recursive = recursive || inside;
    }
    for (const Syntax& child : node.children) find_calls(child, inside, calls, recursive);
  }

  bool in_macro(const Syntax& node) const {
    return std::any_of(source_.uses.begin(), source_.uses.end(),
                       [&](const MacroUse& use) { return use.begin <= node.begin && node.begin < use.end; });
  }

  // ---- one context ----

  void solve_with(std::vector<const Syntax*> calls, bool from_elsewhere) {
    held_.assign(held_.size(), {});
    returned_.clear();
    escaped_.clear();
    contexts_ = std::move(calls);
    from_elsewhere_ = from_elsewhere;
    std::size_t before = 0;
    for (int round = 0; round < kMostRounds; round++) {
      for (const Syntax& one : source_.variables) declare(one, true);
      for (const Syntax& one : source_.functions) walk_function(one);
      for (std::size_t i = 0; i < copies_.size(); i++) grow_copy(copies_[i]);
      std::size_t now = held_.size();
      for (const Places& places : held_) now += places.size();
      if (now == before) break;
      before = now;
    }
    result_.solutions_.push_back({held_});
    copies_.clear();
    copy_places_.clear();
  }

  void hold(int where, const Places& addresses) {
    held_[static_cast<std::size_t>(where)].insert(addresses.begin(), addresses.end());
  }
  void hold(const Places& where, const Places& addresses) {
    for (const int one : where) hold(one, addresses);
  }
  Places contents(const Places& where) const {
    Places result;
    for (const int one : where)
      result.insert(held_[static_cast<std::size_t>(one)].begin(), held_[static_cast<std::size_t>(one)].end());
    return result;
  }
  static void add(Places& to, const Places& more) { to.insert(more.begin(), more.end()); }

  /// Memory that a pointer from elsewhere leads to; it may hold more pointers to the same.
  Places elsewhere(const Syntax& pointer) {
    if (!pointer.is_pointer) return {};
    const int outside = place("outside " + pointer.declaration);
    if (pointer.leads_to_addresses) hold(outside, {outside});
    return {outside};
  }

  void declare(const Syntax& variable_node, bool global) {
    const int number = variable(variable_node.declaration);
    if (variable_node.is_array) result_.arrays_.insert(number);
    if (variable_node.may_be_address)
      for (const Syntax& child : variable_node.children) hold(number, value(child));
    if (global && !variable_node.is_static) {
      visible_.insert(number);
      hold(number, elsewhere(variable_node));
      hold(number, escaped_);
    }
    if (global || variable_node.is_static) lasting_.insert(number);
  }

  void walk_function(const Syntax& function) {
    current_ = &function;
    const bool is_region = &function == &region_function_;
    const bool outside = is_region ? from_elsewhere_ : !function.is_static;
    const bool by_pointer = is_address_taken(function);
    for (const Syntax* parameter : parameters(function)) {
      const int number = variable(parameter->declaration);
      owners_[number] = &function;
      if (outside) hold(number, elsewhere(*parameter));
      if (by_pointer) hold(number, escaped_);
    }
    for (const Syntax& child : function.children)
      if (!is_parameter_list(function, child)) walk(child, function);
    current_ = nullptr;
  }

  void walk(const Syntax& node, const Syntax& function) {
    if (node.kind == SyntaxKind::kVariable) {
      declare(node, false);
      owners_[variable(node.declaration)] = &function;
    }
    if (node.kind == SyntaxKind::kReturn)
      for (const Syntax& child : node.children) add(returned_[&function], value(child));
    if (may_assign(node)) hold(lvalue(node.children[0]), value(node.children[1]));
    if (node.kind == SyntaxKind::kCall) call(node);
    for (const Syntax& child : node.children) walk(child, function);
  }

  std::string_view operator_behind(const Syntax& left) const {
    const std::size_t at = skip_blank(text_, left.end, text_.size());
    return text_.substr(std::min(at, text_.size()), 2);
  }

  /// Plain and compound assignments; in macros, where the operator is not seen, whatever has two operands.
  bool may_assign(const Syntax& node) const {
    if (node.children.size() != 2) return false;
    if (node.kind == SyntaxKind::kAssignment) return true;
    if (node.kind != SyntaxKind::kBinary) return false;
    const std::string_view sign = operator_behind(node.children[0]);
    return in_macro(node) || in_macro(node.children[0]) || (!sign.empty() && sign[0] == '=' && sign != "==");
  }

  // ---- calls ----

  Places arguments(const Syntax& call) {
    Places result;
    for (std::size_t i = 1; i < call.children.size(); i++) add(result, value(call.children[i]));
    return result;
  }

  void call(const Syntax& call) {
    if (const Syntax* const function = called(call)) return bind(call, *function);
    const bool known = source_.function_keys.count(call.declaration) != 0 || call.name.rfind("__builtin_", 0) == 0;
    if (known && (is_harmless(call.name) || allocates(call.name))) return;
    const Places given = arguments(call);
    Places reachable = given;
    add(reachable, contents(given));
    if (known && keeps_nothing(call.name)) return hold(given, contents(given));
    hold(given, reachable);
    hold(given, {place(fmt::format("call {}", call.begin))});
    add(escaped_, reachable);
    for (const int one : visible_) hold(one, escaped_);
  }

  void bind(const Syntax& call, const Syntax& function) {
    if (&function == &region_function_ && std::find(contexts_.begin(), contexts_.end(), &call) == contexts_.end())
      return;
    const std::vector<const Syntax*> into = parameters(function);
    for (std::size_t i = 0; i < into.size() && i + 1 < call.children.size(); i++)
      hold(variable(into[i]->declaration), value(call.children[i + 1]));
  }

  Places result_of(const Syntax& call) {
    if (const Syntax* const function = called(call)) {
      Places result;
      for (const int one : returned_[function])
        result.insert(is_fresh(one, *function) ? copy(one, call, *function, current_) : one);
      return result;
    }
    const int site = place(fmt::format("call {}", call.begin));
    const bool known = source_.function_keys.count(call.declaration) != 0 || call.name.rfind("__builtin_", 0) == 0;
    if (current_ != nullptr) homes_[site] = current_;
    Places result = {site};
    if (known && allocates(call.name)) {
      if (call.name == "realloc") hold(site, contents(arguments(call)));
      return result;
    }
    if (known && is_harmless(call.name)) return {};
    add(result, arguments(call));
    add(result, contents(arguments(call)));
    add(result, escaped_);
    return result;
  }

  /// Allocated in the function, and held by nothing but variables that only their own functions can name, and by other
  /// memory that was allocated in it.
  bool is_fresh(int memory, const Syntax& function) const {
    if (!is_home(memory, function)) return false;
    for (const auto& [key, holder] : places_) {
      if (held_[static_cast<std::size_t>(holder)].count(memory) == 0 || is_home(holder, function)) continue;
      if (owners_.count(holder) == 0 || lasting_.count(holder) != 0 || is_led_to(holder)) return false;
    }
    return true;
  }
  bool is_home(int memory, const Syntax& function) const {
    const auto home = homes_.find(memory);
    return home != homes_.end() && home->second == &function;
  }
  bool is_led_to(int place) const {
    return std::any_of(held_.begin(), held_.end(), [&](const Places& places) { return places.count(place) != 0; });
  }

  struct Copy {
    int original = 0;
    int copied = 0;
    const Syntax* call = nullptr;
    const Syntax* function = nullptr;
    const Syntax* caller = nullptr;
  };

  /// The memory that this call of the function gets.
  int copy(int memory, const Syntax& call, const Syntax& function, const Syntax* caller) {
    const auto key = std::pair(memory, &call);
    if (const auto found = copy_places_.find(key); found != copy_places_.end()) return found->second;
    const auto depth = depths_.find(memory);
    const std::size_t deep = depth == depths_.end() ? 0 : depth->second;
    if (deep >= kMostCopies || caller == nullptr) return memory;
    const int copied = place(fmt::format("copy {} {}", memory, call.begin));
    homes_[copied] = caller;
    depths_[copied] = deep + 1;
    copy_places_[key] = copied;
    copies_.push_back({memory, copied, &call, &function, caller});
    return copied;
  }

  void grow_copy(Copy made) {
    const Places original = held_[static_cast<std::size_t>(made.original)];
    for (const int one : original)
      hold(made.copied, {is_fresh(one, *made.function) ? copy(one, *made.call, *made.function, made.caller) : one});
  }

  // ---- expressions ----

  Places values(const Syntax& node) {
    Places result;
    for (const Syntax& child : node.children) add(result, value(child));
    return result;
  }

  /// Places that an expression's value may be an address of.
  Places value(const Syntax& node) {
    if (!node.may_be_address && !node.is_statement) return {};
    switch (node.kind) {
      case SyntaxKind::kSizeof:
      case SyntaxKind::kVariable:
        return {};
      case SyntaxKind::kBlock:
        return node.children.empty() ? Places() : value(node.children.back());
      case SyntaxKind::kName:
      case SyntaxKind::kSubscript:
      case SyntaxKind::kMember:
        return node.is_array ? lvalue(node) : contents(lvalue(node));
      case SyntaxKind::kUnary:
        return value_of_unary(node);
      case SyntaxKind::kCall:
        return result_of(node);
      case SyntaxKind::kBinary:
        if (!node.is_pointer && node.children.size() == 2 && node.children[0].is_pointer && node.children[1].is_pointer)
          return {};
        return values(node);
      default:
        return values(node);
    }
  }

  Places value_of_unary(const Syntax& node) {
    if (node.children.empty()) return {};
    const Syntax& operand = node.children[0];
    const char sign = node.begin < text_.size() ? text_[node.begin] : '\0';
    if (!in_macro(node) && sign == '&') return lvalue(operand);
    if (!in_macro(node) && sign == '*') return node.is_array ? value(operand) : contents(value(operand));
    Places result = value(operand);
    if (in_macro(node)) {
      add(result, lvalue(operand));
      add(result, contents(result));
    }
    return result;
  }

  /// Places that an expression designates.
  Places lvalue(const Syntax& node) {
    switch (node.kind) {
      case SyntaxKind::kName:
        if (node.declaration.empty() || source_.function_keys.count(node.declaration) != 0) return {};
        return {known_variable(node)};
      case SyntaxKind::kSubscript:
        return values(node);
      case SyntaxKind::kMember:
        if (node.children.empty()) return {};
        return node.children[0].is_pointer ? value(node.children[0]) : lvalue(node.children[0]);
      case SyntaxKind::kUnary: {
        Places result = node.children.empty() ? Places() : value(node.children[0]);
        if (in_macro(node)) add(result, values(node));
        return result;
      }
      case SyntaxKind::kParentheses:
      case SyntaxKind::kImplicit:
        return node.children.empty() ? Places() : lvalue(node.children.back());
      case SyntaxKind::kCall:
        return result_of(node);
      default: {
        const int literal = place(fmt::format("literal {}", node.begin));
        hold(literal, values(node));
        Places result = {literal};
        for (const Syntax& child : node.children) add(result, lvalue_if_name(child));
        return result;
      }
    }
  }

  Places lvalue_if_name(const Syntax& node) {
    switch (node.kind) {
      case SyntaxKind::kName:
      case SyntaxKind::kSubscript:
      case SyntaxKind::kMember:
      case SyntaxKind::kParentheses:
      case SyntaxKind::kImplicit:
        return lvalue(node);
      default:
        return {};
    }
  }

  /// Variables of headers are set elsewhere.
  int known_variable(const Syntax& name) {
    const bool is_new = places_.count("variable " + name.declaration) == 0;
    const int number = variable(name.declaration);
    if (is_new && name.declaration.rfind(source_.file + ":", 0) != 0) {
      if (name.is_array) result_.arrays_.insert(number);
      visible_.insert(number);
      lasting_.insert(number);
      hold(number, elsewhere(name));
    }
    return number;
  }

  const Source& source_;
  const Syntax& region_function_;
  std::string_view text_;
  Aliases& result_;
  std::map<std::string, const Syntax*> functions_;
  std::map<std::string, const Syntax*> by_name_;
  std::map<std::string, int> named_;  // functions: uses of the name beyond calls
  // Of a context:
  std::vector<const Syntax*> contexts_;
  bool from_elsewhere_ = true;
  std::vector<Places> held_;
  std::map<std::string, int> places_;
  std::map<const Syntax*, Places> returned_;
  std::map<int, const Syntax*> owners_;  // of variables: their function
  std::set<int> lasting_;                // variables that outlive calls
  std::set<int> visible_;                // to other files
  const Syntax* current_ = nullptr;      // function that is walked
  std::map<int, const Syntax*> homes_;   // of allocated memory: the function that does it
  Places escaped_;
  std::vector<Copy> copies_;
  std::map<std::pair<int, const Syntax*>, int> copy_places_;
  std::map<int, std::size_t> depths_;
};

Aliases::Aliases(const Source& source, const Syntax& function, std::string_view text) {
  AliasSolver(source, function, text, *this).solve();
}

std::optional<int> Aliases::place(const std::string& declaration) const {
  const auto found = places_.find(declaration);
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

const Aliases::Places& Aliases::held(const Solution& solution, int place) {
  static const Places kNone;
  const auto number = static_cast<std::size_t>(place);
  return number < solution.held.size() ? solution.held[number] : kNone;
}

/// The elements, and for pointers to rows the pointers.
Aliases::Places Aliases::memory_of(const Solution& solution, const std::string& array, std::size_t dimensions) const {
  const std::optional<int> number = place(array);
  if (!number) return {};
  Places level = arrays_.count(*number) != 0 ? Places{*number} : held(solution, *number);
  Places memory = level;
  for (std::size_t i = 1; i < dimensions; i++) {
    Places below;
    for (const int one : level) below.insert(held(solution, one).begin(), held(solution, one).end());
    memory.insert(below.begin(), below.end());
    level = std::move(below);
  }
  return memory;
}

bool Aliases::overlap(const std::string& one, std::size_t dimensions, const std::string& other,
                      std::size_t other_dimensions) const {
  return std::any_of(solutions_.begin(), solutions_.end(), [&](const Solution& solution) {
    const Places memory = memory_of(solution, one, dimensions);
    const Places more = memory_of(solution, other, other_dimensions);
    return std::any_of(more.begin(), more.end(), [&](int place) { return memory.count(place) != 0; });
  });
}

bool Aliases::leads_into(const std::string& variable, const std::string& array, std::size_t dimensions) const {
  const std::optional<int> from = place(variable);
  if (!from) return false;
  return std::any_of(solutions_.begin(), solutions_.end(), [&](const Solution& solution) {
    const Places memory = memory_of(solution, array, dimensions);
    Places reached = {*from};
    for (std::vector<int> next = {*from}; !next.empty();) {
      const int at = next.back();
      next.pop_back();
      if (memory.count(at) != 0) return true;
      for (const int more : held(solution, at))
        if (reached.insert(more).second) next.push_back(more);
    }
    return false;
  });
}

}  // namespace loopfold::layout
