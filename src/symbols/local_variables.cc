#include "symbols/local_variables.h"

#include <dwarf.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "symbols/references.h"
#include "symbols/type_text.h"

namespace loopfold::symbols {
namespace {

constexpr int kDeepest = 64;              // blocks in blocks
constexpr std::int64_t kSavedFrame = 16;  // behind `push rbp; mov rbp, rsp`, rbp is so far below the canonical address

class Finder {
 public:
  Finder(bool trusts_alternate, std::vector<LocalVariable>& found) : references_(trusts_alternate), found_(found) {}

  void function(Dwarf_Die die) {
    find_frame_base(die);
    block(die, ranges_of(die), {}, 0);
  }

 private:
  static std::vector<CodeRange> ranges_of(Dwarf_Die& die) {
    std::vector<CodeRange> ranges;
    Dwarf_Addr base = 0;
    Dwarf_Addr start = 0;
    Dwarf_Addr end = 0;
    for (std::ptrdiff_t at = 0; (at = dwarf_ranges(&die, at, &base, &start, &end)) > 0;) ranges.push_back({start, end});
    return ranges;
  }

  /// What DW_OP_fbreg counts from, as an offset from the canonical frame address.
  void find_frame_base(Dwarf_Die& die) {
    Dwarf_Attribute attribute;
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    if (dwarf_attr(&die, DW_AT_frame_base, &attribute) == nullptr) return;
    if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1) return;
    if (operations[0].atom == DW_OP_call_frame_cfa) frame_base_ = 0;
    if (operations[0].atom == DW_OP_reg6) frame_base_ = -kSavedFrame;
  }

  /// What was inlined, if anything.
  struct Inlined {
    std::vector<CodeRange> code;
    int depth = 0;
  };

  void block(Dwarf_Die& die, const std::vector<CodeRange>& scope, const Inlined& inlined, int depth) {
    if (depth > kDeepest) return;
    Dwarf_Die child;
    for (int more = dwarf_child(&die, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
      switch (dwarf_tag(&child)) {
        case DW_TAG_variable:
        case DW_TAG_formal_parameter:
          variable(child, scope, inlined);
          break;
        case DW_TAG_lexical_block: {
          const std::vector<CodeRange> own = ranges_of(child);
          block(child, own.empty() ? scope : own, inlined, depth + 1);
          break;
        }
        case DW_TAG_inlined_subroutine: {
          const std::vector<CodeRange> own = ranges_of(child);
          const std::vector<CodeRange>& code = own.empty() ? scope : own;
          block(child, code, {code, inlined.depth + 1}, depth + 1);
          break;
        }
        default:
          break;
      }
    }
  }

  void variable(Dwarf_Die& die, const std::vector<CodeRange>& scope, const Inlined& inlined) {
    LocalVariable made;
    const char* name = references_.text(die, DW_AT_name);
    if (name == nullptr) return;
    made.name = name;
    made.parameter = dwarf_tag(&die) == DW_TAG_formal_parameter && inlined.depth == 0;
    made.scope = scope;
    made.inlined = inlined.code;
    made.depth = inlined.depth;
    find_places(die, scope, made);
    if (made.places.empty() && made.somewhere.empty() && made.values.empty()) return;
    describe(die, made);
    found_.push_back(std::move(made));
  }

  void describe(Dwarf_Die die, LocalVariable& made) {
    for (int i = 0; i < kLongestOriginChain; ++i) {
      if (made.size == 0)
        if (const std::optional<Dwarf_Die> type = references_.follow(die, DW_AT_type))
          made.size = type_size(references_, *type);
      if (made.line == 0) {
        int line = 0;
        if (dwarf_decl_line(&die, &line) == 0) made.line = line;
        const char* file = dwarf_decl_file(&die);
        if (file != nullptr) made.file = file;
      }
      const std::optional<Dwarf_Die> origin = references_.origin(die);
      if (!origin) return;
      die = *origin;
    }
  }

  void find_places(Dwarf_Die& die, const std::vector<CodeRange>& scope, LocalVariable& made) {
    Dwarf_Attribute attribute;
    if (dwarf_attr(&die, DW_AT_location, &attribute) == nullptr) return;
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    if (dwarf_getlocation(&attribute, &operations, &count) == 0) {
      for (const CodeRange& range : scope) place(operations, count, range, made);
      return;
    }
    Dwarf_Addr base = 0;
    Dwarf_Addr start = 0;
    Dwarf_Addr end = 0;
    for (std::ptrdiff_t at = 0;
         (at = dwarf_getlocations(&attribute, at, &base, &start, &end, &operations, &count)) > 0;)
      place(operations, count, {start, end}, made);
  }

  void place(const Dwarf_Op* operations, std::size_t count, CodeRange code, LocalVariable& made) const {
    if (is_value(operations, count)) value(operations, count, code, made);
    if (count != 1) return;
    const Dwarf_Op& op = operations[0];
    LocalVariable::Place place;
    place.code = code;
    if (op.atom == DW_OP_fbreg && frame_base_) {
      place.offset = static_cast<std::int64_t>(op.number) + *frame_base_;
    } else if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31) {
      place.in_register = true;
      place.reg = static_cast<std::uint32_t>(op.atom - DW_OP_reg0);
    } else if (op.atom == DW_OP_regx) {
      place.in_register = true;
      place.reg = static_cast<std::uint32_t>(op.number);
    } else {
      if (op.atom == DW_OP_fbreg || (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_bregx)) made.somewhere.push_back(code);
      return;
    }
    made.places.push_back(place);
  }

  static bool is_value(const Dwarf_Op* operations, std::size_t count) {
    if (count == 0) return false;
    return operations[count - 1].atom == DW_OP_stack_value ||
           (count == 1 && operations[0].atom == DW_OP_implicit_value);
  }

  /// From constants and registers only: what is loaded from the frame has been spilled, and is no news.
  static void value(const Dwarf_Op* operations, std::size_t count, CodeRange code, LocalVariable& made) {
    constexpr std::uint64_t kMix = 0x100000001b3;  // of FNV
    LocalVariable::Value value;
    value.code = code;
    if (code.start >= code.end) return;
    for (std::size_t i = 0; i < count; ++i) {
      const Dwarf_Op& op = operations[i];
      switch (op.atom) {
        case DW_OP_fbreg:
        case DW_OP_call_frame_cfa:
        case DW_OP_deref:
        case DW_OP_deref_size:
        case DW_OP_entry_value:
        case DW_OP_GNU_entry_value:
        case DW_OP_implicit_pointer:
        case DW_OP_GNU_implicit_pointer:
          return;
        default:
          break;
      }
      if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31)
        value.registers.push_back(static_cast<std::uint32_t>(op.atom - DW_OP_breg0));
      if (op.atom == DW_OP_bregx) value.registers.push_back(static_cast<std::uint32_t>(op.number));
      if (op.atom == DW_OP_regval_type || op.atom == DW_OP_GNU_regval_type)
        value.registers.push_back(static_cast<std::uint32_t>(op.number));
      value.number = (value.number * kMix + op.atom) * kMix + op.number;
    }
    made.values.push_back(std::move(value));
  }

  References references_;
  std::vector<LocalVariable>& found_;
  std::optional<std::int64_t> frame_base_;
};

/// Where functions may be defined, or scopes that they are in.
bool may_hold_functions(int tag) {
  switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_module:
    case DW_TAG_namespace:
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type:
      return true;
    default:
      return false;
  }
}

/// The innermost function that has the address, below a DIE. Procedures of Fortran's modules, internal ones, lambdas,
/// members of local classes and GCC's nested functions are inside of DIEs that do not have it, and so libdw passes over
/// them.
std::optional<Dwarf_Die> function_below(Dwarf_Die& die, std::uint64_t address, int depth) {
  if (depth > kDeepest) return std::nullopt;
  Dwarf_Die child;
  for (int more = dwarf_child(&die, &child); more == 0; more = dwarf_siblingof(&child, &child)) {
    const int tag = dwarf_tag(&child);
    if (!may_hold_functions(tag)) continue;
    if (std::optional<Dwarf_Die> inner = function_below(child, address, depth + 1)) return inner;
    if (tag == DW_TAG_subprogram && dwarf_haspc(&child, address) > 0) return child;
  }
  return std::nullopt;
}

/// Of a file without a table of what addresses its units have: clang makes none.
bool find_unit(Dwarf* dwarf, std::uint64_t address, Dwarf_Die& found) {
  Dwarf_CU* unit = nullptr;
  while (dwarf_get_units(dwarf, unit, &unit, nullptr, nullptr, &found, nullptr) == 0)
    if (dwarf_tag(&found) == DW_TAG_compile_unit && dwarf_haspc(&found, address) > 0) return true;
  return false;
}

}  // namespace

std::vector<LocalVariable> find_local_variables(Dwarf* dwarf, bool trusts_alternate, std::uint64_t address) {
  std::vector<LocalVariable> found;
  Dwarf_Die unit;
  if (dwarf_addrdie(dwarf, address, &unit) == nullptr && !find_unit(dwarf, address, unit)) return found;
  Dwarf_Die* raw = nullptr;
  const int count = dwarf_getscopes(&unit, address, &raw);
  const std::unique_ptr<Dwarf_Die, decltype(&std::free)> scopes(raw, &std::free);
  for (int i = 0; i < count; ++i) {
    if (dwarf_tag(&raw[i]) != DW_TAG_subprogram) continue;
    Finder(trusts_alternate, found).function(raw[i]);
    return found;
  }
  if (std::optional<Dwarf_Die> function = function_below(unit, address, 0))
    Finder(trusts_alternate, found).function(*function);
  return found;
}

}  // namespace loopfold::symbols
