// Cuts the loaded segments of a file into pieces, each of one variable or of none, and one section.
//
// How: symbols and debug variables with one start become one variable (data_symbols.h says which name wins). All
// borders of segments, sections and variables cut the segments; a piece between two borders belongs to the innermost
// variable and section that covers it. Neighbours that belong to the same are joined again.
//
// Cost: n log n for n symbols and sections, once per file; a binary search per question. Exactness: that of the tables;
// sizes that reach beyond a segment are cut off.
#include "symbols/data_symbols.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "symbols/interval_index.h"

namespace loopfold::symbols {
namespace {

std::size_t underscores(std::string_view name) { return std::min(name.find_first_not_of('_'), name.size()); }

/// Whether `a` is the better name for an address.
bool is_better(const ElfData& a, const ElfData& b) {
  return std::tuple(-a.rank, underscores(a.name), a.name.size(), a.name) <
         std::tuple(-b.rank, underscores(b.name), b.name.size(), b.name);
}

/// First address behind a range; at most the last address of all.
std::uint64_t end_of(std::uint64_t address, std::uint64_t size) {
  return size <= ~address ? address + size : ~std::uint64_t{0};
}

std::vector<DataTable::Variable> put_together(std::vector<ElfData> symbols, const std::vector<DebugVariable>& debug) {
  std::sort(symbols.begin(), symbols.end(), [](const ElfData& a, const ElfData& b) {
    return a.address != b.address ? a.address < b.address : is_better(a, b);
  });
  std::map<std::uint64_t, DataTable::Variable> by_start;
  for (const ElfData& symbol : symbols) {
    if (symbol.size == 0) continue;
    const auto [place, is_new] = by_start.try_emplace(symbol.address);
    if (is_new) {
      place->second = {symbol.address, symbol.size, symbol.name, DataTable::kNone};
    } else {
      place->second.size = std::max(place->second.size, symbol.size);
    }
  }
  std::vector<DataTable::Variable> parts;
  for (std::uint32_t i = 0; i < debug.size(); ++i) {
    const DebugVariable& variable = debug[i];
    const auto [place, is_new] = by_start.try_emplace(variable.address);
    DataTable::Variable& known = place->second;
    if (is_new) {
      known = {variable.address, variable.size, {}, i};
    } else if (variable.is_part) {
      parts.push_back({variable.address, variable.size, {}, i});
    } else if (known.debug == DataTable::kNone) {
      known.debug = i;
    }
  }
  std::vector<DataTable::Variable> variables;
  for (const auto& [address, variable] : by_start) {
    if (variable.size != 0) variables.push_back(variable);
  }
  for (const DataTable::Variable& part : parts) {
    if (part.size != 0) variables.push_back(part);
  }
  return variables;
}

template <typename Ranges>
IntervalIndex<std::uint32_t> index_of(const Ranges& ranges, std::vector<std::uint64_t>& borders) {
  IntervalIndex<std::uint32_t> index;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    const std::uint64_t end = end_of(ranges[i].address, ranges[i].size);
    index.add(ranges[i].address, end, i);
    borders.push_back(ranges[i].address);
    borders.push_back(end);
  }
  index.build();
  return index;
}

std::uint32_t value_at(const IntervalIndex<std::uint32_t>& index, std::uint64_t address) {
  const auto* found = index.find(address);
  return found != nullptr ? found->value : DataTable::kNone;
}

}  // namespace

DataTable::DataTable(std::vector<FileRange> segments, std::vector<FileRange> sections, std::vector<ElfData> symbols,
                     const std::vector<DebugVariable>& debug)
    : sections_(std::move(sections)), variables_(put_together(std::move(symbols), debug)) {
  const auto first_segment = static_cast<std::uint32_t>(sections_.size());
  std::vector<std::uint64_t> borders;
  const IntervalIndex<std::uint32_t> segment_index = index_of(segments, borders);
  const IntervalIndex<std::uint32_t> section_index = index_of(sections_, borders);
  const IntervalIndex<std::uint32_t> variable_index = index_of(variables_, borders);
  sections_.insert(sections_.end(), segments.begin(), segments.end());
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  for (std::size_t i = 0; i + 1 < borders.size(); ++i) {
    const std::uint32_t segment = value_at(segment_index, borders[i]);
    if (segment == kNone) continue;
    const std::uint32_t section = value_at(section_index, borders[i]);
    Piece piece{borders[i], borders[i + 1] - 1, value_at(variable_index, borders[i]),
                section != kNone ? section : first_segment + segment};
    if (!pieces_.empty() && pieces_.back().last + 1 == piece.start && pieces_.back().variable == piece.variable &&
        pieces_.back().section == piece.section) {
      pieces_.back().last = piece.last;
    } else {
      pieces_.push_back(piece);
    }
  }
}

const DataTable::Piece* DataTable::find(std::uint64_t address) const {
  const auto after = std::upper_bound(pieces_.begin(), pieces_.end(), address,
                                      [](std::uint64_t value, const Piece& piece) { return value < piece.start; });
  if (after == pieces_.begin() || std::prev(after)->last < address) return nullptr;
  return &*std::prev(after);
}

}  // namespace loopfold::symbols
