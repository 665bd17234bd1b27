// Writes a type from the inside out, as C declares: what stands behind an array is in brackets behind its element.
//
// From what: the chain of DIEs that DW_AT_type links. Each step either names the type (base types, structures,
// typedefs) and ends the text, or wraps what has been written so far: a pointer puts a star before it, an array its
// bounds behind it. Fortran and Rust have their own way to write arrays.
//
// Damaged or very deep types end in "...". Exactness: bounds that are not constants are left out: "[]".
#include "symbols/type_text.h"

#include <dwarf.h>
#include <fmt/core.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <vector>

namespace loopfold::symbols {
namespace {

constexpr int kDeepest = 24;
constexpr std::size_t kMostDimensions = 64;
constexpr std::size_t kMostParameters = 64;

enum class Style { kC, kCpp, kFortran, kRust };

Style style_of(Dwarf_Die& die) {
  Dwarf_Die unit;
  if (dwarf_diecu(&die, &unit, nullptr, nullptr) == nullptr) return Style::kC;
  switch (dwarf_srclang(&unit)) {
    case DW_LANG_C_plus_plus:
    case DW_LANG_C_plus_plus_03:
    case DW_LANG_C_plus_plus_11:
    case DW_LANG_C_plus_plus_14:
    case 0x2b:  // C++17 and C++20, which libdw has no names for yet
    case 0x2d:
      return Style::kCpp;
    case DW_LANG_Fortran77:
    case DW_LANG_Fortran90:
    case DW_LANG_Fortran95:
    case DW_LANG_Fortran03:
    case DW_LANG_Fortran08:
    case 0x2e:  // Fortran 2018
      return Style::kFortran;
    case DW_LANG_Rust:
      return Style::kRust;
    default:
      return Style::kC;
  }
}

bool is_qualifier(int tag) {
  return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
         tag == DW_TAG_atomic_type || tag == DW_TAG_immutable_type || tag == DW_TAG_packed_type;
}

/// Fixed sizes below 8 bytes do not say whether they are signed; compilers use them for bounds that are not negative.
bool has_no_sign(unsigned form) { return form == DW_FORM_data1 || form == DW_FORM_data2 || form == DW_FORM_data4; }

std::optional<std::int64_t> constant(const References& references, Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Sword value = 0;
  if (!references.has(die, name, attribute)) return std::nullopt;
  if (dwarf_whatform(&attribute) == DW_FORM_exprloc) return std::nullopt;
  if (has_no_sign(dwarf_whatform(&attribute))) {
    Dwarf_Word plain = 0;
    if (dwarf_formudata(&attribute, &plain) != 0) return std::nullopt;
    return static_cast<std::int64_t>(plain);
  }
  if (dwarf_formsdata(&attribute, &value) != 0) return std::nullopt;
  return value;
}

struct Dimension {
  std::int64_t lower = 0;
  std::optional<std::int64_t> count;
};

std::vector<Dimension> dimensions_of(const References& references, Dwarf_Die array, Style style) {
  std::vector<Dimension> dimensions;
  Dwarf_Die child;
  if (dwarf_child(&array, &child) != 0) return dimensions;
  do {
    if (dwarf_tag(&child) != DW_TAG_subrange_type) continue;
    Dimension dimension;
    dimension.lower = constant(references, child, DW_AT_lower_bound).value_or(style == Style::kFortran ? 1 : 0);
    dimension.count = constant(references, child, DW_AT_count);
    const std::optional<std::int64_t> upper = constant(references, child, DW_AT_upper_bound);
    std::int64_t span = 0;
    if (!dimension.count && upper && !__builtin_sub_overflow(*upper, dimension.lower, &span) && span >= -1 &&
        !__builtin_add_overflow(span, 1, &span)) {
      dimension.count = span;
    }
    dimensions.push_back(dimension);
  } while (dimensions.size() < kMostDimensions && dwarf_siblingof(&child, &child) == 0);
  return dimensions;
}

/// "a::b::" for what is declared in a namespace or class. Names of types already contain their template arguments.
std::string scope_prefix(Dwarf_Die die) {
  Dwarf_Die* raw_scopes = nullptr;
  const int count = dwarf_getscopes_die(&die, &raw_scopes);
  const std::unique_ptr<Dwarf_Die, decltype(&std::free)> scopes(raw_scopes, &std::free);
  std::string prefix;
  for (int i = 1; i < count; ++i) {
    Dwarf_Die& scope = scopes.get()[i];
    const int tag = dwarf_tag(&scope);
    const bool is_scope =
        tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
    if (!is_scope || dwarf_hasattr(&scope, DW_AT_export_symbols) != 0) continue;
    const char* name = dwarf_diename(&scope);
    if (name != nullptr) prefix = fmt::format("{}::{}", name, prefix);
  }
  return prefix;
}

class Writer {
 public:
  Writer(const References& references, Style style) : references_(references), style_(style) {}

  /// The type with `inner`, what has been written so far, in its place.
  std::string write(const std::optional<Dwarf_Die>& type, const std::string& inner, int depth) const {
    if (!type) return "void" + inner;
    if (depth > kDeepest) return "..." + inner;
    Dwarf_Die die = *type;
    const int tag = dwarf_tag(&die);
    if (is_qualifier(tag)) return write(references_.follow(die, DW_AT_type), inner, depth + 1);
    switch (tag) {
      case DW_TAG_array_type:
        return write_array(die, inner, depth);
      case DW_TAG_subroutine_type:
        return write(references_.follow(die, DW_AT_type), inner + parameters(die, depth), depth + 1);
      case DW_TAG_pointer_type:
        return write_pointer(die, "*", inner, depth);
      case DW_TAG_reference_type:
        return write_pointer(die, "&", inner, depth);
      case DW_TAG_rvalue_reference_type:
        return write_pointer(die, "&&", inner, depth);
      default:
        return name_of(die, tag) + inner;
    }
  }

 private:
  std::string write_pointer(Dwarf_Die& die, const char* sign, const std::string& inner, int depth) const {
    if (const char* name = references_.text(die, DW_AT_name)) return name + inner;  // Rust
    const std::optional<Dwarf_Die> target = unqualified(references_.follow(die, DW_AT_type));
    if (style_ == Style::kFortran) return write(target, inner, depth + 1) + ", pointer";
    if (target) {
      Dwarf_Die copy = *target;
      const int tag = dwarf_tag(&copy);
      if (tag == DW_TAG_array_type || tag == DW_TAG_subroutine_type) {
        return write(target, fmt::format("({}{})", sign, inner), depth + 1);
      }
    }
    return write(target, sign + inner, depth + 1);
  }

  std::string write_array(Dwarf_Die& die, const std::string& inner, int depth) const {
    const std::vector<Dimension> dimensions = dimensions_of(references_, die, style_);
    const std::optional<Dwarf_Die> element = references_.follow(die, DW_AT_type);
    if (style_ == Style::kRust) {
      std::string text = write(element, "", depth + 1);
      for (const Dimension& d : dimensions) text = d.count ? fmt::format("[{}; {}]", text, *d.count) : "[" + text + "]";
      return text + inner;
    }
    std::string bounds;
    for (const Dimension& d : dimensions) {
      if (style_ == Style::kFortran) {
        bounds += bounds.empty() ? "" : ",";
        bounds += !d.count       ? ":"
                  : d.lower == 1 ? fmt::format("{}", *d.count)
                                 : fmt::format("{}:{}", d.lower, d.lower + (*d.count - 1));
      } else {
        bounds += d.count ? fmt::format("[{}]", *d.count) : "[]";
      }
    }
    if (bounds.empty()) bounds = style_ == Style::kFortran ? ":" : "[]";
    if (style_ == Style::kFortran) bounds = "(" + bounds + ")";
    return write(element, inner + bounds, depth + 1);
  }

  std::string parameters(Dwarf_Die function, int depth) const {
    std::string text;
    std::size_t count = 0;
    Dwarf_Die child;
    if (dwarf_child(&function, &child) == 0) {
      do {
        const int tag = dwarf_tag(&child);
        if (tag != DW_TAG_formal_parameter && tag != DW_TAG_unspecified_parameters) continue;
        text += text.empty() ? "" : ", ";
        text += tag == DW_TAG_formal_parameter ? write(references_.follow(child, DW_AT_type), "", depth + 1) : "...";
      } while (++count < kMostParameters && dwarf_siblingof(&child, &child) == 0);
    }
    return "(" + text + ")";
  }

  std::string name_of(Dwarf_Die& die, int tag) const {
    const char* raw_name = references_.text(die, DW_AT_name);
    const std::string name = raw_name != nullptr ? raw_name : "";
    std::string keyword;
    if (tag == DW_TAG_structure_type || tag == DW_TAG_class_type) keyword = "struct";
    if (tag == DW_TAG_union_type) keyword = "union";
    if (tag == DW_TAG_enumeration_type) keyword = "enum";
    if (name.empty()) return keyword.empty() ? "..." : keyword;
    if (style_ == Style::kCpp || style_ == Style::kRust)
      return tag == DW_TAG_base_type ? name : scope_prefix(die) + name;
    return style_ == Style::kFortran || keyword.empty() ? name : keyword + " " + name;
  }

  std::optional<Dwarf_Die> unqualified(std::optional<Dwarf_Die> type) const {
    for (int i = 0; i < kDeepest && type && is_qualifier(dwarf_tag(&*type)); ++i) {
      type = references_.follow(*type, DW_AT_type);
    }
    return type;
  }

  const References& references_;
  Style style_;
};

}  // namespace

std::string type_text(const References& references, Dwarf_Die type) {
  return Writer(references, style_of(type)).write(type, "", 0);
}

std::uint64_t type_size(const References& references, Dwarf_Die type) {
  std::uint64_t factor = 1;
  for (int i = 0; i < kDeepest; ++i) {
    const int tag = dwarf_tag(&type);
    std::uint64_t size = 0;
    if (const std::optional<std::int64_t> bytes = constant(references, type, DW_AT_byte_size)) {
      if (*bytes < 0 || __builtin_mul_overflow(factor, static_cast<std::uint64_t>(*bytes), &size)) return 0;
      return size;
    }
    if (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type) {
      return __builtin_mul_overflow(factor, std::uint64_t{8}, &size) ? 0 : size;
    }
    if (tag == DW_TAG_array_type) {
      const std::vector<Dimension> dimensions = dimensions_of(references, type, style_of(type));
      if (dimensions.empty()) return 0;
      for (const Dimension& d : dimensions) {
        if (!d.count || *d.count < 0) return 0;
        if (__builtin_mul_overflow(factor, static_cast<std::uint64_t>(*d.count), &factor)) return 0;
      }
    } else if (!is_qualifier(tag) && tag != DW_TAG_typedef && tag != DW_TAG_subrange_type) {
      return 0;
    }
    const std::optional<Dwarf_Die> next = references.follow(type, DW_AT_type);
    if (!next) return 0;
    type = *next;
  }
  return 0;
}

}  // namespace loopfold::symbols
