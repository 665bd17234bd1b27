// Builds sorted tables of a file's functions from three sources that complete each other:
//
// - Symbols of functions: exact, but a stripped file has only those it exports.
// - The unwind table: has all compiled functions, without names. An entry is a function of its own unless a symbol
//   covers its start; it counts as a start if a call can have led there (unwind_table.h).
// - Stubs of the procedure linkage table: functions that jump on.
//
// A `.cold` part has a symbol and a range of its own and belongs to the function it was moved out of, found by name: a
// local function of the same source file, otherwise the global one. If there is neither, the part stays its own owner.
//
// A name is that of the symbol with a size that covers the address (of several at one address the public one: `malloc`,
// not `__libc_malloc`), or the nearest label before it if no sized symbol lies between.
//
// Cost: n log n in the number of symbols and unwind entries, once; then binary searches.
#include "symbols/function_table.h"

#include <elf.h>
#include <gelf.h>

#include <algorithm>
#include <tuple>

#include "symbols/readable_name.h"

namespace loopfold::symbols {
namespace {

/// Of several symbols for one function, the public one.
bool is_better_name(std::string_view name, std::string_view other) {
  const auto rank = [](std::string_view text) {
    const std::string_view plain = text.substr(0, text.find('@'));
    const std::size_t underscores = plain.starts_with("_Z") ? 0 : std::min(plain.find_first_not_of('_'), plain.size());
    return std::tuple(underscores, plain.size(), plain);
  };
  return rank(name) < rank(other);
}

std::string_view without_version(std::string_view name) { return name.substr(0, name.find('@')); }

}  // namespace

std::vector<CodeSection> read_code_sections(Elf* elf) {
  std::vector<CodeSection> sections;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const std::uint64_t end = header.sh_addr + header.sh_size;
    if ((header.sh_flags & SHF_EXECINSTR) != 0 && end > header.sh_addr) sections.push_back({header.sh_addr, end});
  }
  std::sort(sections.begin(), sections.end(),
            [](const CodeSection& a, const CodeSection& b) { return a.start < b.start; });
  return sections;
}

FunctionTable::FunctionTable(std::vector<ElfSymbol> symbols, std::span<const UnwindRange> unwind,
                             std::vector<CodeSection> sections, Plt plt)
    : symbols_(std::move(symbols)), sections_(std::move(sections)), plt_(std::move(plt)) {
  std::erase_if(symbols_, [&](const ElfSymbol& symbol) { return section_of(symbol.address) == nullptr; });
  index_symbols();
  index_functions(unwind);
}

const CodeSection* FunctionTable::section_of(std::uint64_t address) const {
  const auto after = std::upper_bound(sections_.begin(), sections_.end(), address,
                                      [](std::uint64_t value, const CodeSection& s) { return value < s.start; });
  if (after == sections_.begin() || address >= std::prev(after)->end) return nullptr;
  return &*std::prev(after);
}

void FunctionTable::index_symbols() {
  for (std::uint32_t i = 0; i < symbols_.size(); ++i) {
    const ElfSymbol& symbol = symbols_[i];
    if (symbol.is_function) by_name_.emplace(without_version(symbol.name), i);
    if (symbol.size == 0) {
      labels_.push_back(i);
      continue;
    }
    named_.add(symbol.address, symbol.address + symbol.size, i);
    const auto [place, is_new] = preferred_names_.emplace(symbol.address, symbol.name);
    if (!is_new && is_better_name(symbol.name, place->second)) place->second = symbol.name;
  }
  named_.build();
  std::stable_sort(labels_.begin(), labels_.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return symbols_[a].address < symbols_[b].address; });
}

std::uint64_t FunctionTable::owner_of(const ElfSymbol& cold_part) const {
  const auto [begin, end] = by_name_.equal_range(owner_of_cold_part(without_version(cold_part.name)));
  std::unordered_set<std::uint64_t> globals;
  for (auto it = begin; it != end; ++it) {
    const ElfSymbol& candidate = symbols_[it->second];
    if (candidate.is_global) globals.insert(candidate.address);
    if (!candidate.is_global && candidate.source_file == cold_part.source_file) return candidate.address;
  }
  return globals.size() == 1 ? *globals.begin() : cold_part.address;
}

void FunctionTable::add_function(std::uint64_t start, std::uint64_t end, std::uint64_t owner) {
  ranges_.add(start, end, static_cast<std::uint32_t>(functions_.size()));
  functions_.push_back({start, end, owner});
}

/// A symbol without a size reaches to the next function, or to the end of its section.
std::uint64_t FunctionTable::end_of_unsized(std::uint64_t start, std::span<const std::uint64_t> starts) const {
  const auto next = std::upper_bound(starts.begin(), starts.end(), start);
  const CodeSection* section = section_of(start);
  const std::uint64_t limit = section != nullptr ? section->end : start + 1;
  return next == starts.end() ? limit : std::min(limit, *next);
}

void FunctionTable::index_functions(std::span<const UnwindRange> unwind) {
  std::unordered_map<std::uint64_t, std::uint64_t> unwind_ends;
  std::vector<std::uint64_t> starts;
  for (const UnwindRange& range : unwind) {
    unwind_ends.emplace(range.start, range.end);
    starts.push_back(range.start);
  }
  for (const ElfSymbol& symbol : symbols_) {
    if (symbol.is_function || symbol.size != 0) starts.push_back(symbol.address);
  }
  std::sort(starts.begin(), starts.end());

  for (const ElfSymbol& symbol : symbols_) {
    if (!symbol.is_function) continue;
    std::uint64_t end = symbol.address + symbol.size;
    if (symbol.size == 0) {
      const auto unwound = unwind_ends.find(symbol.address);
      end = unwound != unwind_ends.end() ? unwound->second : end_of_unsized(symbol.address, starts);
    }
    const bool is_cold = is_cold_part(without_version(symbol.name));
    if (!is_cold) starts_.insert(symbol.address);
    add_function(symbol.address, end, is_cold ? owner_of(symbol) : symbol.address);
  }
  IntervalIndex<std::uint32_t> by_symbol = ranges_;
  by_symbol.build();
  for (const UnwindRange& range : unwind) {
    if (by_symbol.find(range.start) != nullptr || in_plt(range.start) || section_of(range.start) == nullptr) continue;
    add_function(range.start, range.end, range.start);
    if (range.enters_function) starts_.insert(range.start);
  }
  for (const PltStub& stub : plt_.stubs) {
    add_function(stub.start, stub.end, stub.start);
    if (stub.is_callable) starts_.insert(stub.start);
  }
  ranges_.build();
}

std::optional<FunctionTable::Function> FunctionTable::find(std::uint64_t address) const {
  const auto* found = ranges_.find(address);
  return found != nullptr ? std::optional(functions_[found->value]) : std::nullopt;
}

bool FunctionTable::in_plt(std::uint64_t address) const {
  return std::any_of(plt_.sections.begin(), plt_.sections.end(),
                     [&](const PltSection& section) { return address >= section.start && address < section.end; });
}

std::optional<FunctionTable::Name> FunctionTable::name(std::uint64_t address) const {
  if (const auto* found = named_.find(address); found != nullptr) {
    return Name{preferred_names_.at(found->low), found->low, true, false};
  }
  if (in_plt(address)) {
    const auto after = std::upper_bound(plt_.stubs.begin(), plt_.stubs.end(), address,
                                        [](std::uint64_t value, const PltStub& stub) { return value < stub.start; });
    if (after == plt_.stubs.begin() || address >= std::prev(after)->end) return std::nullopt;
    const PltStub& stub = *std::prev(after);
    if (!stub.name.empty()) return Name{stub.name, stub.start, true, true};
    const auto resolver = preferred_names_.find(stub.resolver);
    if (resolver == preferred_names_.end()) return std::nullopt;
    return Name{resolver->second, stub.start, true, true};
  }
  const CodeSection* section = section_of(address);
  const auto after =
      std::upper_bound(labels_.begin(), labels_.end(), address,
                       [&](std::uint64_t value, std::uint32_t label) { return value < symbols_[label].address; });
  if (section == nullptr || after == labels_.begin()) return std::nullopt;
  const ElfSymbol& label = symbols_[*std::prev(after)];
  const auto& sized = named_.intervals();
  const auto next_sized = std::upper_bound(sized.begin(), sized.end(), address,
                                           [](std::uint64_t value, const auto& range) { return value < range.low; });
  const bool hidden = next_sized != sized.begin() && std::prev(next_sized)->low > label.address;
  if (label.address < section->start || hidden) return std::nullopt;
  return Name{label.name, label.address, false, false};
}

}  // namespace loopfold::symbols
