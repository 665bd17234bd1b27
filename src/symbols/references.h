// Attributes of DIEs, and of those that they complete or are instances of. Internal to src/symbols.
#pragma once

#include <dwarf.h>
#include <elfutils/libdw.h>

#include <optional>
#include <string>

#include "symbols/readable_name.h"

namespace loopfold::symbols {

inline constexpr int kLongestOriginChain = 16;

inline bool is_in_alternate_file(unsigned form) {
  return form == DW_FORM_GNU_ref_alt || form == DW_FORM_GNU_strp_alt || form == DW_FORM_ref_sup4 ||
         form == DW_FORM_ref_sup8 || form == DW_FORM_strp_sup;
}

/// Follows references and reads names. Into an alternate file only if that is the right one: libdw opens whatever has
/// its path.
class References {
 public:
  explicit References(bool trusts_alternate) : trusts_alternate_(trusts_alternate) {}

  /// The DIE that stands for all instances of a function.
  Dwarf_Die abstract_function(Dwarf_Die die) const {
    for (int i = 0; i < kLongestOriginChain; ++i) {
      const std::optional<Dwarf_Die> origin = follow(die, DW_AT_abstract_origin);
      if (!origin) break;
      die = *origin;
    }
    return die;
  }

  /// The name as the linker sees it, otherwise as the programmer wrote it.
  std::string name_of(Dwarf_Die die) const {
    for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name}) {
      const char* name = text(die, kind);
      if (name != nullptr) return readable_name(name);
    }
    return {};
  }

  /// Whether the DIE itself has the attribute.
  bool has(Dwarf_Die& die, unsigned name, Dwarf_Attribute& attribute) const {
    return dwarf_attr(&die, name, &attribute) != nullptr &&
           (trusts_alternate_ || !is_in_alternate_file(dwarf_whatform(&attribute)));
  }

  /// The DIE that an attribute of this one refers to.
  std::optional<Dwarf_Die> follow(Dwarf_Die& die, unsigned name) const {
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (!has(die, name, attribute) || dwarf_formref_die(&attribute, &origin) == nullptr) return std::nullopt;
    return origin;
  }

  /// The DIE that this one is an instance of or completes.
  std::optional<Dwarf_Die> origin(Dwarf_Die& die) const {
    std::optional<Dwarf_Die> origin = follow(die, DW_AT_abstract_origin);
    return origin ? origin : follow(die, DW_AT_specification);
  }

  /// A text attribute of the DIE or of those that it completes.
  const char* text(Dwarf_Die die, unsigned name) const {
    for (int i = 0; i < kLongestOriginChain; ++i) {
      Dwarf_Attribute attribute;
      if (has(die, name, attribute)) return dwarf_formstring(&attribute);
      const std::optional<Dwarf_Die> next = origin(die);
      if (!next) break;
      die = *next;
    }
    return nullptr;
  }

 private:
  bool trusts_alternate_;
};

}  // namespace loopfold::symbols
